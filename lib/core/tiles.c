/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiles.c: which texels of a grid a changed tile touches.
 */
#include "core/tiles.h"

#include "core/backend.h"

/* Finds the level of an axis of `pixels` pixels that has `side` texels. Returns -1 if there is no such level;
 * the grid then consists of cells. */
static int32_t level_of(int32_t side, float extent, int32_t pixels) {
    int32_t level = 0;
    if (extent != (float)pixels) return -1;
    while (tvlm_level_side(pixels, level) > side) ++level;
    return tvlm_level_side(pixels, level) == side ? level : -1;
}

tvlm_span tvlm_tile_span(int32_t tile, int32_t tile_side, int32_t pixels, int32_t reach, int32_t side,
                         float extent, int32_t level) {
    const int32_t first = tile * tile_side;
    tvlm_span span = tvlm_span_clip(first - reach, first + tile_side - 1 + reach, pixels);
    const int32_t steps = level_of(side, extent, pixels);
    if (steps < 0) {
        const float texel = extent / (float)side;
        span =
            tvlm_span_clip((int32_t)((float)span.first / texel), (int32_t)((float)span.last / texel), side);
    }
    for (int32_t n = 0; n < steps; ++n) span = tvlm_span_above(span, tvlm_level_side(pixels, n));
    for (int32_t n = 0; n < level; ++n) span = tvlm_span_above(span, tvlm_level_side(side, n));
    return span;
}

int32_t tvlm_grid_reach(tvlm_grid grid, int32_t width, int32_t height) {
    const tvlm_grid_info *info = tvlm_grid_get_info(grid);
    int32_t reach = info->reach, most = 0;
    if (reach < 0) return -1;
    if (info->reach_share > 0) reach += (width > height ? width : height) / info->reach_share;
    for (int need = 0; need < TVLM_GRID_COUNT; ++need) {
        if ((info->needs & TVLM_GRID_BIT(need)) == 0) continue;
        const int32_t further = tvlm_grid_reach((tvlm_grid)need, width, height);
        if (further < 0) return -1;
        if (further > most) most = further;
    }
    return reach + most;
}
