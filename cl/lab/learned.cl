/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learned.cl: runs some convolutional layers of a network (texturevlm/lab/network.h) tile by tile. The values
 * between the layers stay in local memory.
 *
 * One launch runs several layers. A work-group makes one tile of the last layer's output. It loads the values
 * that the first layer reads for this tile. Each layer then writes what the next one reads, so the tiles of
 * earlier layers are larger. Where local memory cannot hold all layers, there are several launches. The
 * values between two launches are in a buffer of floats (lib/lab/opencl/learned.c decides which layers a
 * launch runs).
 *
 * Values of one place lie beside each other: value c of place (x, y) is at (y * width + x) * channels + c.
 * The number of channels that a layer makes is rounded up to whole vectors. The channels that this adds are
 * not read.
 *
 * With RAGGED (texture.clh) each image has sizes of its own at each layer. Values of a tile beyond the image
 * are 0, in buffers too.
 */
// check-kernels: -DFROM_BUFFER=0 -DTO_BUFFER=0
// check-kernels: -DFROM_BUFFER=1 -DTO_BUFFER=0
// check-kernels: -DFROM_BUFFER=0 -DTO_BUFFER=1 -DGROUP=1 -DVECTOR=16 -DPLACES=8
// check-kernels: -DFROM_BUFFER=1 -DTO_BUFFER=1 -DGROUP=1 -DVECTOR=16 -DPLACES=8
// check-kernels: -DFROM_BUFFER=0 -DTO_BUFFER=0 -DRAGGED=1
// check-kernels: -DFROM_BUFFER=1 -DTO_BUFFER=1 -DRAGGED=1
// gpu: -DFROM_BUFFER=0 -DTO_BUFFER=0
// gpu: -DFROM_BUFFER=1 -DTO_BUFFER=1
#include "texture.clh"

/* A work-item makes VECTOR channels of PLACES places at a time: as vectors on CPUs, where a work-group is one
 * work-item. */
#ifndef GROUP
#define GROUP 64
#endif
#ifndef VECTOR
#define VECTOR 4
#define PLACES 4
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define vector_t    JOIN(float, VECTOR)
#define LOAD        JOIN(vload, VECTOR)
#define STORE       JOIN(vstore, VECTOR)

/* The members of a layer, as lib/lab/opencl/learned.c writes it. Its tile is the tile of its output. */
#define INPUTS     0 /* how many channels it reads */
#define CHANNELS   1 /* how many it makes, rounded up to whole vectors */
#define SIDE       2
#define STRIDE     3
#define ACTIVATION 4
#define WEIGHTS    5 /* where its weights begin; its bias stands before them */
#define TILE       6 /* the side of the tile */
#define SCALE      7 /* its tile begins at SCALE times where the launch's tile begins, plus OFFSET */
#define OFFSET     8
#define WIDTH      9 /* of the whole output */
#define HEIGHT     10
#define FIELDS     11

#if FROM_BUFFER
#define FROM global const float *from_base
#else
#define FROM TEXTURE_IN(inputs)
#endif
#if TO_BUFFER
#define TO global float *to_base
#else
#define TO TEXTURE_OUT(result)
#endif

/* SIZE_HERE is how many places the image has in the output of a layer. For images of different sizes it is
 * computed from layer to layer by SIZE_AFTER. That begins with the sizes of the network's inputs, which all
 * launches are given. */
#ifdef RAGGED
#define SIZES_IN                  , global const float4 *restrict sizes
#define SIZE_AFTER(layer, before) (((before)-1) / (layer)[STRIDE] + 1)
#define SIZE_HERE(layer, size)    (size)
#define SIZE_OF_INPUTS(image)     as_int4(sizes[PART_SIZE * (image)]).xy
#else
#define SIZES_IN
#define SIZE_AFTER(layer, before) (before)
#define SIZE_HERE(layer, size)    ((int2)((layer)[WIDTH], (layer)[HEIGHT]))
#define SIZE_OF_INPUTS(image)     ((int2)(0))
#endif

/* Whether a place of a layer's tile lies in the image. */
HELPER bool is_inside(global const int *layer, int2 size, int2 corner, int place) {
    const int y = place / layer[TILE], x = place - y * layer[TILE];
    const int2 here = SIZE_HERE(layer, size);
    return corner.x + x >= 0 && corner.x + x < here.x && corner.y + y >= 0 && corner.y + y < here.y;
}

/*
 * Makes a layer's tile, whose first place is `corner`. It reads the tile `from`, which is `width` places wide
 * and has `channels` values a place. Where the tile that it makes reaches beyond the image it is 0, which is
 * what the next layer must read there.
 */
HELPER void run_layer(global const int *layer, global const float *weights, local const float *from,
                      int width, int channels, local float *to, int2 size, int2 corner) {
    const int tile = layer[TILE], inputs = layer[INPUTS], side = layer[SIDE], stride = layer[STRIDE];
    const int made = layer[CHANNELS], activation = layer[ACTIVATION];
    const int all = tile * tile, runs = (all + PLACES - 1) / PLACES;
    const float least = activation == TVLM_NETWORK_RELU ? 0.0f : -INFINITY;
    for (int n = (int)get_local_id(0); n < runs * (made / VECTOR); n += GROUP) {
        const int part = n / runs, first = (n - part * runs) * PLACES;
        /* The bias. After it follows a vector for each row, column and channel of the kernel. */
        global const float *line = weights + layer[WEIGHTS] + part * (side * side * inputs + 1) * VECTOR;
        /* These arrays stay in registers if all indices into them are constants. So loops over them are short
         * and unrolled. */
        int at[PLACES];
        vector_t sums[PLACES];
        local float *out = to + first * made + part * VECTOR;
#pragma unroll
        for (int p = 0; p < PLACES; ++p) {
            /* Beyond the last place a run computes the last place again, and does not store it. */
            const int place = min(first + p, all - 1), y = place / tile, x = place - y * tile;
            at[p] = (y * width + x) * stride * channels;
            sums[p] = LOAD(0, line);
        }
        for (int v = 0; v < side; ++v)
            for (int u = 0; u < side; ++u) {
                local const float *values = from + (v * width + u) * channels;
                for (int c = 0; c < inputs; ++c) {
                    line += VECTOR;
                    const vector_t weight = LOAD(0, line);
#pragma unroll
                    for (int p = 0; p < PLACES; ++p)
                        sums[p] = mad((vector_t)(values[at[p] + c]), weight, sums[p]);
                }
            }
#pragma unroll
        for (int p = 0; p < PLACES; ++p)
            if (first + p < all)
                STORE(is_inside(layer, size, corner, first + p) ? fmax(sums[p], (vector_t)(least))
                                                                : (vector_t)(0.0f),
                      0, out + p * made);
        for (int p = 0; activation == TVLM_NETWORK_SIGMOID && p < min(PLACES, all - first); ++p)
            if (is_inside(layer, size, corner, first + p))
                STORE((vector_t)(1.0f) / ((vector_t)(1.0f) + exp(-LOAD(0, out + p * made))), 0,
                      out + p * made);
    }
}

/*
 * Runs `count` layers from `first` on. Work-group (x, y, image) makes tile (x, y) of `made` (first place,
 * width and height) of the last layer's output.
 *
 *   read    the places of what the first layer reads: of the whole buffer, or of level 0 of the texture
 *   source  the tile that the first layer reads: its side, scale and offset, as for a layer, and how many
 *           channels it has
 *   stored  how many channels are stored; in a buffer they are `channels` of the last layer
 *   limit   stored values are clamped to +-limit
 *   a, b    room for the tiles, which take turns
 */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
learned(FROM, TO, global const int *layers, global const float *weights, const int first, const int count,
        ALL_ALIKE int4 read, const int4 source, const int4 made, const int stored, const float limit,
        local float *a, local float *b SIZES_IN) {
    const int item = (int)get_local_id(0), image = (int)get_group_id(2);
    global const int *last = layers + (first + count - 1) * FIELDS;
    const int2 begin =
        (int2)(made.x + (int)get_group_id(0) * last[TILE], made.y + (int)get_group_id(1) * last[TILE]);
    const int2 corner = begin * source.y + source.z;
    local float *from = a, *to = b;
    int width = source.x, channels = source.w;
    int2 size = SIZE_OF_INPUTS(image); /* of what a layer reads */
    for (int l = 0; l < first; ++l) size = SIZE_AFTER(layers + l * FIELDS, size);
#if !FROM_BUFFER
    INPUT_OF_IMAGE(inputs, image)
#ifdef RAGGED
    read.zw = size;
#endif
#endif
#if !TO_BUFFER
    OUTPUT_OF_IMAGE(result, image)
#endif

    for (int n = item; n < width * width; n += GROUP) {
        const int y = n / width, x = n - y * width;
        const int2 place = corner + (int2)(x, y) - read.xy;
        const bool inside = place.x >= 0 && place.x < read.z && place.y >= 0 && place.y < read.w;
#if FROM_BUFFER
        global const float *values =
            from_base +
            ((ulong)(image * read.w + place.y) * (ulong)read.z + (ulong)place.x) * (ulong)channels;
        for (int c = 0; c < channels; ++c) from[n * channels + c] = inside ? values[c] : 0.0f;
#else
        for (int layer = 0; layer < inputs_size.z; ++layer) {
            float values[4] = {0.0f, 0.0f, 0.0f, 0.0f};
            if (inside)
                vstore4(texel_fetch(inputs, place.x, place.y, SLICE_OF(inputs, image) + layer, 0), 0, values);
            for (int c = 0; c < 4; ++c)
                if (4 * layer + c < channels) from[n * channels + 4 * layer + c] = values[c];
        }
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int l = first; l < first + count; ++l) {
        global const int *layer = layers + l * FIELDS;
        size = SIZE_AFTER(layer, size);
        run_layer(layer, weights, from, width, channels, to, size, begin * layer[SCALE] + layer[OFFSET]);
        barrier(CLK_LOCAL_MEM_FENCE);
        local float *const read_next = to;
        to = from;
        from = read_next;
        width = layer[TILE];
        channels = layer[CHANNELS];
    }

    for (int n = item; n < width * width; n += GROUP) {
        const int y = n / width, x = n - y * width;
        const int2 place = begin + (int2)(x, y);
        if (place.x >= made.x + made.z || place.y >= made.y + made.w) continue;
#if defined(RAGGED) && !TO_BUFFER
        if (place.x >= size.x || place.y >= size.y) continue;
#endif
#if TO_BUFFER
        global float *values = to_base + ((ulong)(image * made.w + place.y - made.y) * (ulong)made.z +
                                          (ulong)(place.x - made.x)) *
                                             (ulong)channels;
        for (int c = 0; c < channels; ++c) values[c] = from[n * channels + c];
#else
        for (int layer = 0; layer < result_size.z; ++layer) {
            float values[4];
            for (int c = 0; c < 4; ++c) {
                const float value = 4 * layer + c < stored ? from[n * channels + 4 * layer + c] : 0.0f;
                values[c] = fmin(fmax(value, -limit), limit);
            }
            texel_store(result, place.x, place.y, SLICE_OF(result, image) + layer, vload4(0, values));
        }
#endif
    }
}

/*
 * Copies the first channels of the values that a launch left in a buffer to planes. Value c of a place goes
 * to plane c, which has size.x x size.y places. `made` says which places the buffer holds: the first one,
 * width and height. Work-item (x, y, c) copies one value.
 */
kernel void learned_planes(global const float *restrict from, const int channels, const int4 made,
                           const int2 size, global float *restrict planes) {
    const int x = get_global_id(0), y = get_global_id(1), c = get_global_id(2);
    if (x >= made.z || y >= made.w) return;
    planes[((ulong)c * (ulong)size.y + (ulong)(made.y + y)) * (ulong)size.x + (ulong)(made.x + x)] =
        from[((ulong)y * (ulong)made.z + (ulong)x) * (ulong)channels + (ulong)c];
}
