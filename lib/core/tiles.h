/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tiles.h: which part of an image changed, and what of a grid lies above it.
 *
 * An image is cut into squares; of each it is known whether it changed. Along one axis a column (or row) of
 * squares becomes a span of texels of any level of any grid: so all that follows is one-dimensional.
 */
#ifndef TVLM_CORE_TILES_H
#define TVLM_CORE_TILES_H

#include <stdint.h>

#include "core/registry.h"

/* Sides of tiles are multiples of it: no work-group's rows then belong to two. */
#define TVLM_TILE_STEP 16

typedef struct tvlm_tiles {
    int32_t width, height; /* of the image, pixels */
    int32_t side;          /* of a tile; those at the right and bottom edge are cut off */
    int32_t columns, rows;
    int32_t count;          /* of those that changed */
    const uint8_t *changed; /* [rows * columns], row-major: not 0 where it did */
    int32_t image;          /* of the chunk */
    int32_t reach;          /* what is made of them differs so many pixels around them */
    uint64_t serial;        /* not 0; two with the same one have the same tiles */
    int64_t *texels;        /* NULL, or how many of level 0 were made; added to by those who make them */
} tvlm_tiles;

/* Texels first .. last. */
typedef struct tvlm_span {
    int32_t first, last;
} tvlm_span;

/* Texels of an axis of `side` texels, of which some lie beyond its ends. */
static inline tvlm_span tvlm_span_clip(int32_t first, int32_t last, int32_t side) {
    return (tvlm_span){first > 0 ? first : 0, last < side - 1 ? last : side - 1};
}

/* The texels of the next level that one of those belongs to: a side of 2m + 1 becomes m texels of three. */
static inline tvlm_span tvlm_span_above(tvlm_span span, int32_t side) {
    if (side == 1) return (tvlm_span){0, 0};
    const int32_t before = side % 2 == 0 ? span.first / 2 : (span.first - 1 + (span.first == 0)) / 2;
    return tvlm_span_clip(before, span.last / 2, side / 2);
}

/*
 * Tile number `tile` of an axis of `pixels`, grown by `reach` pixels, on level `level` of a grid of `side`
 * texels over `extent` pixels: of the image's size, or that of one of its levels, or of cells.
 */
tvlm_span tvlm_tile_span(int32_t tile, int32_t tile_side, int32_t pixels, int32_t reach, int32_t side,
                         float extent, int32_t level);

/* How far a grid made from the source looks in an image of that size, through all grids between; -1: the
 * whole image. */
int32_t tvlm_grid_reach(tvlm_grid grid, int32_t width, int32_t height);

#endif
