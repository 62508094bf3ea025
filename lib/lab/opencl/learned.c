/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learned.c: launches cl/lab/learned.cl. A network is cut into runs of layers. Each run is one launch, and keeps
 * what lies between its layers in local memory. What lies between runs is in buffers. These are kept small: a
 * large image is made block by block.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "lab/network.h"
#include "lab/operations.h"
#include "opencl/backend.h"

/* The numbers of a layer, as in learned.cl. */
enum { INPUTS = 0, CHANNELS, SIDE, STRIDE, ACTIVATION, WEIGHTS, TILE, SCALE, OFFSET, WIDTH, HEIGHT, FIELDS };

enum { LAYERS = TVLM_NETWORK_LAYERS_MAX };

/* A value that is moved from or to global memory costs about as much as this many products. */
#define MOVE_COST 16.0

/* Blocks are not cut into smaller ones than this. */
enum { BLOCK_MIN = 64 };

/* How a work-group works. */
typedef struct shape {
    int32_t group, vector, places;
    size_t local_bytes; /* what tiles may take */
} shape;

/* The tile that a run of layers reads, and the tiles that these layers make, in places. local[] has the bytes
 * of the two tiles that take turns. */
typedef struct tiles {
    int32_t side[LAYERS + 1], scale[LAYERS + 1], offset[LAYERS + 1]; /* [0] is the tile that is read */
    size_t local[2];
} tiles;

/* Layers [first, first + count), whose last one makes tiles of `tile` x `tile` places. */
typedef struct layer_run {
    int32_t first, count, tile;
    double cost;
} layer_run;

/* What a network reads, and where its outputs go: to a texture, or to planes of floats, one plane for each
 * output. */
typedef struct work {
    const tvlm_network *network;
    const tvlm_texture *inputs;
    const tvlm_texture *out; /* NULL: to the planes */
    cl_mem planes;
    int32_t images;
    tvlm_format format;
} work;

typedef struct plan {
    const tvlm_network *network;
    shape shape;
    int32_t width[LAYERS + 1], height[LAYERS + 1], channels[LAYERS + 1]; /* [0]: the network's inputs */
    layer_run runs[LAYERS];
    int32_t count;
} plan;

/* On CPUs a work-item works with whole vectors, and tiles stay in the cache of its core. */
static shape shape_of(const opencl_device *device) {
    const bool serial = device->tuning.run > 1;
    const size_t most = serial ? 256 << 10 : 32 << 10, there = (size_t)device->base.info.local_bytes;
    return (shape){.group = serial ? 1 : 64,
                   .vector = serial ? 16 : 4,
                   .places = serial ? 8 : 4,
                   .local_bytes =
                       (there < most ? there : most) - 512}; /* some drivers keep arguments there */
}

/* ---- Tiles ---- */

static tiles tiles_of(const plan *p, int32_t first, int32_t count, int32_t tile) {
    tiles t = {.local = {0, 0}};
    t.side[count] = tile;
    t.scale[count] = 1;
    for (int32_t i = count - 1; i >= 0; --i) {
        const tvlm_network_layer *const layer = &p->network->layers[first + i];
        t.side[i] = (t.side[i + 1] - 1) * layer->stride + layer->side;
        t.scale[i] = t.scale[i + 1] * layer->stride;
        t.offset[i] = t.offset[i + 1] * layer->stride - layer->side / 2;
    }
    for (int32_t i = 0; i <= count; ++i) {
        const size_t bytes =
            (size_t)t.side[i] * (size_t)t.side[i] * (size_t)p->channels[first + i] * sizeof(float);
        if (bytes > t.local[i % 2]) t.local[i % 2] = bytes;
    }
    return t;
}

/* What all tiles of these layers cost, in products. */
static double cost_of(const plan *p, int32_t first, int32_t count, const tiles *t) {
    const int32_t tile = t->side[count], end = first + count;
    double each = 0.0;
    for (int32_t i = 1; i <= count; ++i) {
        const tvlm_network_layer *const layer = &p->network->layers[first + i - 1];
        const int32_t all = t->side[i] * t->side[i];
        const int32_t places = (all + p->shape.places - 1) / p->shape.places * p->shape.places;
        each += (double)places * layer->side * layer->side * layer->inputs * p->channels[first + i];
    }
    each += MOVE_COST *
            ((double)t->side[0] * t->side[0] * p->channels[first] + (double)tile * tile * p->channels[end]);
    return each * ceil((double)p->width[end] / tile) * ceil((double)p->height[end] / tile);
}

/* Finds the cheapest tiles that local memory holds. If there are none, the cost is INFINITY. */
static layer_run run_of(const plan *p, int32_t first, int32_t count) {
    static const int32_t sides[] = {1, 2, 4, 8, 12, 16, 24, 32, 48, 64};
    layer_run best = {first, count, 0, INFINITY};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; ++i) {
        const tiles t = tiles_of(p, first, count, sides[i]);
        if (t.local[0] + t.local[1] > p->shape.local_bytes) continue;
        const double cost = cost_of(p, first, count, &t);
        if (cost < best.cost) best.tile = sides[i], best.cost = cost;
    }
    return best;
}

/* Cuts the network into the cheapest runs. One layer alone always fits: its inputs are at most 9 times
 * TVLM_NETWORK_HIDDEN_MAX values. */
static void choose_runs(plan *p) {
    const int32_t layers = p->network->layer_count;
    layer_run last[LAYERS + 1] = {{0}};
    double cost[LAYERS + 1] = {0.0};
    int32_t end = layers;
    for (int32_t i = 1; i <= layers; ++i) {
        cost[i] = INFINITY;
        for (int32_t first = 0; first < i; ++first) {
            const layer_run candidate = run_of(p, first, i - first);
            if (cost[first] + candidate.cost >= cost[i]) continue;
            cost[i] = cost[first] + candidate.cost;
            last[i] = candidate;
        }
    }
    for (; end > 0; end = last[end].first) ++p->count;
    end = layers;
    for (int32_t i = p->count - 1; i >= 0; --i, end = p->runs[i + 1].first) p->runs[i] = last[end];
}

static plan plan_of(const opencl_device *device, const work *job) {
    const tvlm_network *const network = job->network;
    plan p = {.network = network, .shape = shape_of(device)};
    p.width[0] = job->inputs->width;
    p.height[0] = job->inputs->height;
    p.channels[0] = network->input_count;
    for (int32_t i = 0; i < network->layer_count; ++i) {
        const tvlm_network_layer *const layer = &network->layers[i];
        p.width[i + 1] = tvlm_layer_side(layer, p.width[i]);
        p.height[i + 1] = tvlm_layer_side(layer, p.height[i]);
        p.channels[i + 1] = (layer->outputs + p.shape.vector - 1) / p.shape.vector * p.shape.vector;
    }
    choose_runs(&p);
    return p;
}

/* ---- What the device gets of the network ---- */

static size_t weight_floats(const plan *p, int32_t layer) {
    const tvlm_network_layer *const l = &p->network->layers[layer];
    return (size_t)p->channels[layer + 1] * ((size_t)l->inputs * (size_t)(l->side * l->side) + 1);
}

/* Writes a layer's bias and weights in the order in which the kernel reads them. */
static void write_weights(const plan *p, int32_t number, float *to) {
    const tvlm_network_layer *const layer = &p->network->layers[number];
    const int32_t taps = layer->side * layer->side, vector = p->shape.vector;
    for (int32_t part = 0; part < p->channels[number + 1]; part += vector) {
        for (int32_t o = part; o < part + vector; ++o)
            *to++ = layer->bias != NULL && o < layer->outputs ? layer->bias[o] : 0.0f;
        for (int32_t tap = 0; tap < taps; ++tap)
            for (int32_t i = 0; i < layer->inputs; ++i)
                for (int32_t o = part; o < part + vector; ++o)
                    *to++ = o < layer->outputs ? layer->weights[(o * layer->inputs + i) * taps + tap] : 0.0f;
    }
}

static void write_layers(const plan *p, int32_t *fields) {
    size_t weights = (size_t)p->network->layer_count * FIELDS;
    for (int32_t r = 0; r < p->count; ++r) {
        const layer_run *const run = &p->runs[r];
        const tiles t = tiles_of(p, run->first, run->count, run->tile);
        for (int32_t i = 1; i <= run->count; ++i) {
            const int32_t number = run->first + i - 1;
            const tvlm_network_layer *const layer = &p->network->layers[number];
            const int32_t all[FIELDS] = {[INPUTS] = layer->inputs,
                                         [CHANNELS] = p->channels[number + 1],
                                         [SIDE] = layer->side,
                                         [STRIDE] = layer->stride,
                                         [ACTIVATION] = (int32_t)layer->activation,
                                         [WEIGHTS] = (int32_t)weights,
                                         [TILE] = t.side[i],
                                         [SCALE] = t.scale[i],
                                         [OFFSET] = t.offset[i],
                                         [WIDTH] = p->width[number + 1],
                                         [HEIGHT] = p->height[number + 1]};
            memcpy(fields + (size_t)number * FIELDS, all, sizeof all);
            weights += weight_floats(p, number);
        }
    }
}

/* Sends the network to the device, unless the last one that was sent is the same. */
static tvlm_status upload(opencl_device *device, const plan *p, cl_mem *memory) {
    size_t words = (size_t)p->network->layer_count * FIELDS;
    for (int32_t i = 0; i < p->network->layer_count; ++i) words += weight_floats(p, i);
    int32_t *const all = tvlm_allocate(words, sizeof *all);
    if (all == NULL)
        return tvlm_fail(&device->base.log, TVLM_ERROR_MEMORY, "no memory for a network's weights");
    write_layers(p, all);
    for (int32_t i = 0; i < p->network->layer_count; ++i)
        write_weights(p, i, (float *)all + all[i * FIELDS + WEIGHTS]);
    const tvlm_status status =
        tvlm_opencl_keep(device, SCRATCH_NETWORK, &device->network, words * sizeof *all, all, memory);
    free(all);
    return status;
}

/* ---- Launches ---- */

/* A block of places in what a layer reads or makes: the first place, and how many there are along each
 * axis. */
typedef struct block {
    int32_t x, y, width, height;
} block;

static void along(const tiles *one, int32_t side, int32_t *first, int32_t *count) {
    const int32_t begin = *first * one->scale[0] + one->offset[0];
    const int32_t end = (*first + *count - 1) * one->scale[0] + one->offset[0] + one->side[0];
    *first = begin > 0 ? begin : 0;
    *count = (end < side ? end : side) - *first;
}

/* Returns the part of its input that a run needs to make the block `made`. */
static block block_read(const plan *p, const layer_run *run, block made) {
    const tiles one = tiles_of(p, run->first, run->count, 1);
    along(&one, p->width[run->first], &made.x, &made.width);
    along(&one, p->height[run->first], &made.y, &made.height);
    return made;
}

/* Returns whether a run writes to a buffer. If so, run r writes buffer number (r + 1) % 2. */
static bool goes_to_buffer(const plan *p, const work *job, int32_t r) {
    return r + 1 < p->count || job->out == NULL;
}

/* Finds the block that each run makes for the block `whole` of the network's output. bytes[] gets the bytes
 * of the two buffers that take turns. */
static void follow_back(const plan *p, const work *job, block whole, block made[LAYERS], size_t bytes[2]) {
    bytes[0] = bytes[1] = 0;
    made[p->count - 1] = whole;
    for (int32_t r = p->count - 1; r >= 0; --r) {
        const layer_run *const run = &p->runs[r];
        const size_t needed = (size_t)job->images * (size_t)made[r].width * (size_t)made[r].height *
                              (size_t)p->channels[run->first + run->count] * sizeof(float);
        if (goes_to_buffer(p, job, r) && needed > bytes[(r + 1) % 2]) bytes[(r + 1) % 2] = needed;
        if (r > 0) made[r - 1] = block_read(p, run, made[r]);
    }
}

static tvlm_status launch(opencl_device *device, const plan *p, int32_t r, const work *job, cl_mem network,
                          const cl_mem between[2], const block made[LAYERS]) {
    const layer_run *const run = &p->runs[r];
    const tiles t = tiles_of(p, run->first, run->count, run->tile);
    const bool from_buffer = r > 0, to_buffer = goes_to_buffer(p, job, r);
    char options[128];
    opencl_call call;
    snprintf(options, sizeof options, "-DFROM_BUFFER=%d -DTO_BUFFER=%d -DGROUP=%d -DVECTOR=%d -DPLACES=%d %s",
             from_buffer, to_buffer, (int)p->shape.group, (int)p->shape.vector, (int)p->shape.places,
             tvlm_opencl_ragged_option(job->inputs));
    TVLM_TRY(tvlm_opencl_call_begin(device, "lab/learned.cl", "learned", job->format, options, &call));
    if (from_buffer)
        tvlm_opencl_call_memory(&call, between[r % 2]);
    else
        tvlm_opencl_call_input(&call, job->inputs);
    if (to_buffer)
        tvlm_opencl_call_memory(&call, between[(r + 1) % 2]);
    else
        tvlm_opencl_call_output(&call, job->out);
    tvlm_opencl_call_memory(&call, network);
    tvlm_opencl_call_memory(&call, network);
    tvlm_opencl_call_int(&call, run->first);
    tvlm_opencl_call_int(&call, run->count);
    if (from_buffer)
        tvlm_opencl_call_int4(&call, made[r - 1].x, made[r - 1].y, made[r - 1].width, made[r - 1].height);
    else
        tvlm_opencl_call_int4(&call, 0, 0, p->width[0], p->height[0]);
    tvlm_opencl_call_int4(&call, t.side[0], t.scale[0], t.offset[0], p->channels[run->first]);
    tvlm_opencl_call_int4(&call, made[r].x, made[r].y, made[r].width, made[r].height);
    tvlm_opencl_call_int(&call, p->network->output_count);
    tvlm_opencl_call_float(&call, tvlm_network_limit(job->format));
    tvlm_opencl_call_bytes(&call, t.local[0], NULL);
    tvlm_opencl_call_bytes(&call, t.local[1], NULL);
    tvlm_opencl_call_parts(&call, job->inputs); /* needed even if this launch reads a buffer */
    const size_t group[3] = {(size_t)p->shape.group, 1, 1};
    const size_t size[3] = {(size_t)((made[r].width + run->tile - 1) / run->tile) * group[0],
                            (size_t)((made[r].height + run->tile - 1) / run->tile), (size_t)job->images};
    return tvlm_opencl_call_run(&call, 3, size, group);
}

/* Returns the sides of the largest blocks for which the buffers between runs are small enough. */
static block block_side(const plan *p, const work *job) {
    block made[LAYERS], side = {0, 0, p->width[p->network->layer_count], p->height[p->network->layer_count]};
    for (;;) {
        size_t bytes[2];
        follow_back(p, job, side, made, bytes);
        if (bytes[0] + bytes[1] <= TVLM_NETWORK_WORK || (side.width <= BLOCK_MIN && side.height <= BLOCK_MIN))
            return side;
        if (side.height >= side.width)
            side.height = (side.height + 1) / 2;
        else
            side.width = (side.width + 1) / 2;
    }
}

/* Copies what the last run left in a buffer to the planes. */
static tvlm_status write_planes(opencl_device *device, const plan *p, const work *job, cl_mem from,
                                block made) {
    const int32_t layers = p->network->layer_count;
    const cl_int2 size = {{p->width[layers], p->height[layers]}};
    opencl_call call;
    TVLM_TRY(tvlm_opencl_call_begin(device, "lab/learned.cl", "learned_planes", job->format,
                                    "-DFROM_BUFFER=1 -DTO_BUFFER=1", &call));
    tvlm_opencl_call_memory(&call, from);
    tvlm_opencl_call_int(&call, p->channels[layers]);
    tvlm_opencl_call_int4(&call, made.x, made.y, made.width, made.height);
    tvlm_opencl_call_bytes(&call, sizeof size, &size);
    tvlm_opencl_call_memory(&call, job->planes);
    return tvlm_opencl_call_run_pixels(&call, made.width, made.height, p->network->output_count);
}

static tvlm_status make_block(opencl_device *device, const plan *p, const work *job, cl_mem network,
                              block whole) {
    block made[LAYERS];
    cl_mem between[2] = {NULL, NULL};
    size_t bytes[2];
    follow_back(p, job, whole, made, bytes);
    if (bytes[0] > 0) TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_A, bytes[0], &between[0]));
    if (bytes[1] > 0) TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_B, bytes[1], &between[1]));
    for (int32_t r = 0; r < p->count; ++r) TVLM_TRY(launch(device, p, r, job, network, between, made));
    return job->out != NULL ? TVLM_OK : write_planes(device, p, job, between[p->count % 2], whole);
}

static tvlm_status make(opencl_device *device, const work *job) {
    const plan p = plan_of(device, job);
    const block side = block_side(&p, job);
    const int32_t width = p.width[p.network->layer_count], height = p.height[p.network->layer_count];
    cl_mem network;
    TVLM_TRY(upload(device, &p, &network));
    for (int32_t y = 0; y < height; y += side.height)
        for (int32_t x = 0; x < width; x += side.width) {
            const block whole = {x, y, side.width < width - x ? side.width : width - x,
                                 side.height < height - y ? side.height : height - y};
            TVLM_TRY(make_block(device, &p, job, network, whole));
        }
    return TVLM_OK;
}

tvlm_status tvlm_opencl_learned(tvlm_device *base, const tvlm_generate_args *args) {
    OPENCL_TUNED(base, TVLM_GRID_LEARNED,
                 (double)args->out->extent_x * args->out->extent_y * args->out->images);
    const work job = {.network = args->network,
                      .inputs = args->inputs,
                      .out = args->out,
                      .images = args->out->images,
                      .format = args->out->format};
    return make((opencl_device *)base, &job);
}

tvlm_status tvlm_opencl_network(tvlm_device *base, const tvlm_network *network, const tvlm_texture *inputs,
                                tvlm_buffer *planes) {
    const work job = {.network = network,
                      .inputs = inputs,
                      .planes = ((opencl_buffer *)planes)->memory,
                      .images = 1,
                      .format = inputs->format};
    return make((opencl_device *)base, &job);
}
