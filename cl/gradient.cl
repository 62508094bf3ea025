/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gradient.cl: four channels for each pixel of the source, from its 3x3 neighbourhood (at the image's edge
 * pixels repeat):
 *
 *   - edge_x and edge_y: Sobel's derivatives of luma, over 4, with their sign;
 *   - rgb_var: four times the variance of the 27 values r, g and b, at most 1;
 *   - rgb_mean: their mean.
 *
 * The layout is that of tile.clh: a work-group loads a tile of pixels and the pixels around it into local
 * memory, and makes the tile from there.
 */
// check-kernels: -DGROUP_W=16 -DGROUP_H=16
// check-kernels: -DGROUP_W=1 -DGROUP_H=1 -DTILE_W=64 -DTILE_H=16
// check-kernels: -DTILE_LIST=1
// check-kernels: -DRAGGED=1
#include "run.clh"
#include "tile.clh"

#define BORDER 1
#define W      BORDERED_W(BORDER)

/* The sum of the 3x3 neighbourhood of p[0] in an array with the tile's border. */
HELPER float box_sum(local const float *p) {
    return (p[-W - 1] + p[-W] + p[-W + 1]) + (p[-1] + p[0] + p[1]) + (p[W - 1] + p[W] + p[W + 1]);
}

/* How many pixels a group of one work-item loads and makes at a time, in loops that vectorise. */
#if GROUP_W == 1 && TILE_W % 16 == 0
#define STEP 16
#else
#define STEP 1
#endif

/* What is kept of the pixels of a tile and its border: luma, and the sum and the sum of squares of the three
 * colours. Mid-gray is subtracted from colours, so that the variance loses less to rounding. */
#define KEEP(at, r, g, b, w)                                                                                 \
    do {                                                                                                     \
        const float red = (r)-0.5f, green = (g)-0.5f, blue = (b)-0.5f;                                       \
        luma[at] = (w);                                                                                      \
        sums[at] = red + green + blue;                                                                       \
        squares[at] = red * red + green * green + blue * blue;                                               \
    } while (0)

/* Loads a tile and its border. */
INLINED void load(TEXTURE_IN(source), int slice, int left, int top, local float *luma, local float *sums,
                  local float *squares) {
    const int4 place = level_place_(TEXTURE(source), slice, 0);
    if (STEP > 1 && left >= 0 && left + W <= place.x) {
        float r[STEP], g[STEP], b[STEP], w[STEP];
        for (int ty = 0; ty < BORDERED_H(BORDER); ++ty)
            for (int tx = 0; tx < W; tx += STEP) {
                const int first = min(tx, W - STEP); /* the last ones of a row overlap those before */
                const int row = clamp(top + ty, 0, place.y - 1);
                run_load(source, place, slice, 0, row * place.x + left + first, STEP, r, g, b, w);
                for (int i = 0; i < STEP; ++i) KEEP(ty * W + first + i, r[i], g[i], b[i], w[i]);
            }
        return;
    }
    FOR_BORDERED(BORDER, tx, ty) {
        const float4 texel = texel_fetch_at_(TEXTURE(source), place, slice, 0, left + tx, top + ty);
        KEEP(BORDERED_AT(BORDER, tx, ty), texel.x, texel.y, texel.z, texel.w);
    }
}

/* The four channels of a pixel, whose place in local memory the pointers are at. */
HELPER float4 channels_of(local const float *luma, local const float *sums, local const float *squares) {
    local const float *up = luma - W, *down = luma + W;
    const float gx = (up[1] - up[-1]) + 2.0f * (luma[1] - luma[-1]) + (down[1] - down[-1]);
    const float gy = (down[-1] - up[-1]) + 2.0f * (down[0] - up[0]) + (down[1] - up[1]);
    const float mean = box_sum(sums) / 27.0f;
    const float variance = box_sum(squares) / 27.0f - mean * mean;
    return (float4)(0.25f * gx, 0.25f * gy, clamp(4.0f * variance, 0.0f, 1.0f),
                    clamp(mean + 0.5f, 0.0f, 1.0f));
}

/* Writes a tile. */
TILE_KERNEL void gradient(TEXTURE_IN(source), TEXTURE_OUT(result) REGION_IN) {
    local float luma[BORDERED(BORDER)], sums[BORDERED(BORDER)], squares[BORDERED(BORDER)];
    const int image = GROUP_Z;
    INPUT_OF_IMAGE(source, image)
    OUTPUT_OF_IMAGE(result, image)
    const int slice = SLICE_OF(result, image);
    load(TEXTURE(source), SLICE_OF(source, image), TILE_X - BORDER, TILE_Y - BORDER, luma, sums, squares);
    barrier(CLK_LOCAL_MEM_FENCE);

#if STEP > 1
    const int rows = min(TILE_H, result_size.y - TILE_Y), columns = min(TILE_W, result_size.x - TILE_X);
    for (int ty = 0; ty < rows; ++ty)
        for (int tx = 0; tx < columns; tx += STEP) {
            const int at = BORDERED_AT(BORDER, tx + BORDER, ty + BORDER), count = min(STEP, columns - tx);
            float x[STEP], y[STEP], z[STEP], w[STEP];
            for (int i = 0; i < STEP; ++i) {
                const float4 value = channels_of(luma + at + i, sums + at + i, squares + at + i);
                x[i] = value.x;
                y[i] = value.y;
                z[i] = value.z;
                w[i] = value.w;
            }
            if (count == STEP)
                run_store(result, TILE_X + tx, TILE_Y + ty, slice, STEP, x, y, z, w);
            else
                run_store(result, TILE_X + tx, TILE_Y + ty, slice, count, x, y, z, w);
        }
#else
    FOR_TILE(result_size, tx, ty) {
        const int at = BORDERED_AT(BORDER, tx + BORDER, ty + BORDER);
        texel_store(result, TILE_X + tx, TILE_Y + ty, slice, channels_of(luma + at, sums + at, squares + at));
    }
#endif
}
