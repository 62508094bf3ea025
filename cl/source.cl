/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.cl: makes the channels r, g, b and luma from the pixels that were handed in, and finds the tiles of
 * a new frame that differ from the last one.
 *
 * The host compiles for PIXEL_TYPE and PIXEL_CHANNELS (pixels.clh). In all kernels, row 0 of the pixels
 * begins at byte `offset`, and rows begin `row_stride` bytes apart. On GPUs mips.cl makes the source with its
 * first levels.
 */
// check-kernels: -DTILE_LIST=1
// check-kernels: -DRAGGED=1 -DRUN=16
// check-kernels: -DTILE_LIST=1 -DPIXEL_TYPE=2 -DPIXEL_CHANNELS=4
// gpu: -DTILE_LIST=1
#include "pixels.clh"
#include "region.clh"
#include "run.clh"
#include "texture.clh"

/* How many pixels of a row a work-item of `source` makes: 1 on GPUs, more on CPUs, where loops of so many turns
 * vectorise. */
#ifndef RUN
#define RUN 1
#endif

/* Writes level 0 of one image. Work-item (n, y) makes RUN pixels of row y, as far as the row has them. */
kernel void source(global const uchar *restrict pixels, const ulong offset, const ulong row_stride,
                   const int image, TEXTURE_OUT(result)) {
    const int x = (int)get_global_id(0) * RUN, y = get_global_id(1);
    OUTPUT_OF_IMAGE(result, image)
    if (x >= result_size.x || y >= result_size.y) return;
    const int slice = SLICE_OF(result, image), count = min(RUN, result_size.x - x);
    global const pixel_t *pixel =
        (global const pixel_t *)(pixels + offset + y * row_stride) + x * PIXEL_CHANNELS;
    if (RUN == 1 || count < RUN) {
        for (int i = 0; i < count; ++i)
            texel_store(result, x + i, y, slice, source_of(pixel + i * PIXEL_CHANNELS));
        return;
    }
    float r[RUN], g[RUN], b[RUN], luma[RUN];
    for (int i = 0; i < RUN; ++i) {
        const float4 texel = source_of(pixel + i * PIXEL_CHANNELS);
        r[i] = texel.x;
        g[i] = texel.y;
        b[i] = texel.z;
        luma[i] = texel.w;
    }
    run_store(result, x, y, slice, RUN, r, g, b, luma);
}

#ifdef TILE_LIST
/*
 * Writes only the listed tiles of level 0. Tiles are `side` x `side` pixels. A work-group makes `rows` rows
 * of one tile, and its work-items stride over them in both directions. An entry of the list (region.clh)
 * counts x in tiles and y in such parts; its z is the number of the tile.
 *
 * With `packed` the buffer holds only the listed tiles, tile after tile in the order of their numbers, each
 * with side * side pixels even where the image ends sooner. Otherwise the buffer holds the whole image.
 */
kernel void source_tiles(global const uchar *restrict pixels, const ulong offset, const ulong row_stride,
                         const int image, const int side, const int rows, const int packed,
                         TEXTURE_OUT(result) REGION_IN) {
    const int left = GROUP_X * side, top = GROUP_Y * rows;
    const int right = min(left + side, result_size.x), bottom = min(top + rows, result_size.y);
    const ulong pixel_bytes = PIXEL_CHANNELS * sizeof(pixel_t);
    const ulong stride = packed ? side * pixel_bytes : row_stride;
    const ulong before =
        packed ? ((ulong)GROUP_Z * side + top % side) * stride : top * stride + left * pixel_bytes;
    for (int y = top + (int)get_local_id(1); y < bottom; y += get_local_size(1)) {
        global const pixel_t *row = (global const pixel_t *)(pixels + offset + before + (y - top) * stride);
        for (int x = left + (int)get_local_id(0); x < right; x += get_local_size(0))
            texel_store(result, x, y, image * result_size.z, source_of(row + (x - left) * PIXEL_CHANNELS));
    }
}
#endif

/*
 * Compares new pixels with the source: sets changed[row * columns + column] to 1 for each tile of side x side
 * pixels where any component, luma included, differs by more than `threshold`. `columns` is the number of
 * tiles in a row of them, and `changed` begins as 0. Work-group (x, y) looks at `rows` rows of a tile, where
 * `rows` divides `side`; y counts in units of so many rows.
 */
kernel void source_changed(global const uchar *restrict pixels, const ulong offset, const ulong row_stride,
                           const int image, const int side, const int rows, TEXTURE_IN(source),
                           const float threshold, global int *restrict changed) {
    const int left = (int)get_group_id(0) * side, top = (int)get_group_id(1) * rows;
    const int right = min(left + side, source_size.x), bottom = min(top + rows, source_size.y);
    const int4 place = level_place_(TEXTURE(source), image * source_size.z, 0);
    int differs = 0;
    for (int y = top + (int)get_local_id(1); y < bottom; y += get_local_size(1)) {
        global const pixel_t *row = (global const pixel_t *)(pixels + offset + y * row_stride);
        for (int x = left + (int)get_local_id(0); x < right; x += get_local_size(0)) {
            const float4 now = texel_rounded(source, source_of(row + x * PIXEL_CHANNELS));
            const float4 away =
                fabs(now - texel_inside_(TEXTURE(source), place, image * source_size.z, 0, x, y));
            differs |= max(max(away.x, away.y), max(away.z, away.w)) > threshold;
        }
    }
    if (differs) atomic_or(changed + top / side * ((source_size.x + side - 1) / side) + get_group_id(0), 1);
}
