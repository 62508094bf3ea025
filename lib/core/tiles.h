/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiles.h: which part of an image changed, and which texels of a grid are made from it.
 *
 * An image is cut into squares, the tiles, and it is known which of them changed. Along one axis, a column or
 * row of tiles becomes a span of texels at any level of any grid, so the functions here look at one axis at a
 * time.
 */
#ifndef TVLM_CORE_TILES_H
#define TVLM_CORE_TILES_H

#include <stdint.h>

#include "core/registry.h"

/* The sides of tiles are multiples of this, so that the rows of a work-group never belong to two tiles. */
#define TVLM_TILE_STEP 16

/* Images with a longer side are made whole: places in lists of changed parts have 16 bits along each axis. */
#define TVLM_TILED_SIDE_MAX 65535

typedef struct tvlm_tiles {
    /* The size of the image, in pixels. */
    int32_t width, height;
    /* The side of a tile in pixels. The image cuts off those at its right and bottom edge. */
    int32_t side;
    /* How many tiles there are in a row and in a column. */
    int32_t columns, rows;
    /* How many tiles changed, and which: changed[row * columns + column] is not 0 for them. */
    int32_t count;
    const uint8_t *changed;
    /* The image of the chunk that they belong to. */
    int32_t image;
    /* What is made from the tiles changes up to this many pixels around them. */
    int32_t reach;
    /* Two structs with the same serial have the same tiles. A serial is not 0. */
    uint64_t serial;
    /* NULL, or a sum to which those who make texels of level 0 add how many they made. */
    int64_t *texels;
} tvlm_tiles;

/* The texels first .. last of an axis. */
typedef struct tvlm_span {
    int32_t first, last;
} tvlm_span;

/* The texels first .. last, less those that lie beyond the ends of an axis of `side` texels. */
static inline tvlm_span tvlm_span_clip(int32_t first, int32_t last, int32_t side) {
    return (tvlm_span){first > 0 ? first : 0, last < side - 1 ? last : side - 1};
}

/* The texels of the next level that are made from any texel of a span. A texel of that level is made from two
 * texels, or from three where the side is odd. */
static inline tvlm_span tvlm_span_above(tvlm_span span, int32_t side) {
    if (side == 1) return (tvlm_span){0, 0};
    const int32_t before = side % 2 == 0 ? span.first / 2 : (span.first - 1 + (span.first == 0)) / 2;
    return tvlm_span_clip(before, span.last / 2, side / 2);
}

/*
 * The texels that tile number `tile` touches along an axis of `pixels` pixels, when it is grown by `reach`
 * pixels: on level `level` of a grid of `side` texels over `extent` pixels. The grid has the image's size, or
 * that of one of its levels, or consists of cells.
 */
tvlm_span tvlm_tile_span(int32_t tile, int32_t tile_side, int32_t pixels, int32_t reach, int32_t side,
                         float extent, int32_t level);

/* How many pixels a texel of a grid looks beyond its own place in an image of this size, through all grids
 * that lie between it and the source. -1 means the whole image. */
int32_t tvlm_grid_reach(tvlm_grid grid, int32_t width, int32_t height);

#endif
