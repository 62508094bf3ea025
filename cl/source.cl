/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.cl: the pixels that were handed in -> r, g, b, luma.
 *
 * Compiled for PIXEL_TYPE (TVLM_PIXELS_*) and PIXEL_CHANNELS (1 gray, 2 gray + alpha, 3 RGB, 4 RGBA). Values
 * stay encoded (sRGB); alpha is composited on white; floats are clamped, NaN becomes 0. One work-item a
 * pixel.
 */
// check-kernels: -DTILE_LIST=1
// check-kernels: -DTILE_LIST=1 -DPIXEL_TYPE=2 -DPIXEL_CHANNELS=4
#include "region.clh"
#include "texture.clh"

#ifndef PIXEL_TYPE
#define PIXEL_TYPE     TVLM_PIXELS_U8
#define PIXEL_CHANNELS 3
#endif

#if PIXEL_TYPE == TVLM_PIXELS_U8
typedef uchar pixel_t;
#define UNIT(value) ((value) / 255.0f)
#elif PIXEL_TYPE == TVLM_PIXELS_U16
typedef ushort pixel_t;
#define UNIT(value) ((value) / 65535.0f)
#else
typedef float pixel_t;
#define UNIT(value) ((value) >= 0.0f ? min((value), 1.0f) : 0.0f) /* NaN compares false */
#endif

/* r, g, b and luma of one pixel. */
inline float4 source_of(global const pixel_t *pixel) {
    float r = UNIT(pixel[0]);
#if PIXEL_CHANNELS >= 3
    float g = UNIT(pixel[1]), b = UNIT(pixel[2]);
#else
    float g = r, b = r;
#endif
#if PIXEL_CHANNELS == 2 || PIXEL_CHANNELS == 4
    const float alpha = UNIT(pixel[PIXEL_CHANNELS - 1]), white = 1.0f - alpha;
    r = r * alpha + white;
    g = g * alpha + white;
    b = b * alpha + white;
#endif
    const float luma = TVLM_LUMA_R * r + TVLM_LUMA_G * g + TVLM_LUMA_B * b;
    return (float4)(r, g, b, clamp(luma, 0.0f, 1.0f));
}

kernel void source(global const uchar *restrict pixels, const ulong offset, const ulong row_stride,
                   const int image, TEXTURE_OUT(result)) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= result_size.x || y >= result_size.y) return;
    global const pixel_t *pixel =
        (global const pixel_t *)(pixels + offset + y * row_stride) + x * PIXEL_CHANNELS;
    texel_store(result, x, y, image * result_size.z, source_of(pixel));
}

#ifdef TILE_LIST
/*
 * Parts of tiles, `rows` rows of a tile each: a group's work-items do every so many pixels of every so many
 * rows. The entries' z is the number of the tile. packed: each tile has its pixels for itself, tile after
 * tile in that order, side x side of them, also where the image ends before; otherwise they lie where they
 * lie in the whole image.
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
 * Which tiles of the image, `side` pixels wide, differ from the source by more than `threshold` in any
 * component: 1 into changed[row * columns + column]. A work-group looks at `rows` rows of a tile.
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
            const float4 now = texel_round(source_of(row + x * PIXEL_CHANNELS));
            const float4 away =
                fabs(now - texel_inside_(TEXTURE(source), place, image * source_size.z, 0, x, y));
            differs |= max(max(away.x, away.y), max(away.z, away.w)) > threshold;
        }
    }
    if (differs) atomic_or(changed + top / side * ((source_size.x + side - 1) / side) + get_group_id(0), 1);
}
