/*
 * registry.h: the one table of families: what each stores, how large, how it is reduced, what it needs.
 *
 * A family stores one texture array for each grid size among its channels: a *grid*. The grids are the nodes that the
 * stack orders, generates and invalidates. A new family is an entry here and, for each of its generated grids, a
 * function of that name in each backend (the tables there are made from TVLM_GENERATED_GRIDS).
 */
#ifndef TVLM_CORE_REGISTRY_H
#define TVLM_CORE_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "texturevlm/layout.h"

/* Grids that a backend generates from other grids; X(ID, function name). In an order that satisfies every need. */
#define TVLM_GENERATED_GRIDS(X)                                                                                       \
    X(VISUAL, visual)                                                                                                 \
    X(SALIENCY, saliency)                                                                                             \
    X(LAPLACIAN, laplacian)                                                                                           \
    X(ENTROPY, entropy)                                                                                               \
    X(GRADIENT, gradient)                                                                                             \
    X(DISTANCE, distance)

#define TVLM_GRID_ENUM(ID, name) TVLM_GRID_##ID,
typedef enum tvlm_grid {
    TVLM_GRID_SOURCE = 0, /* r, g, b, luma: handed in */
    TVLM_GENERATED_GRIDS(TVLM_GRID_ENUM)
    TVLM_GRID_QUERY, /* query_similarity: handed in with each question */
    TVLM_GRID_COUNT,
    TVLM_GRID_FORMULA, /* position: never stored */
    TVLM_GRID_NONE     /* not made by this version: 0 everywhere */
} tvlm_grid;

typedef enum tvlm_grid_size {
    TVLM_SIZE_IMAGE = 0, /* the image's */
    TVLM_SIZE_QUARTER,   /* the image's level 2 */
    TVLM_SIZE_CELLS,     /* one texel a cell of 16 x 16 pixels; the extent is cells * 16 */
    TVLM_SIZE_GIVEN      /* as handed in */
} tvlm_grid_size;

typedef struct tvlm_grid_info {
    const char *name;
    tvlm_grid_size size;
    int32_t layers;
    uint8_t reduce[4];        /* TVLM_REDUCE_*, per component of every layer; MODE also means sampled nearest */
    uint32_t needs;           /* bits 1 << tvlm_grid, with all their levels */
    int32_t reach;            /* pixels of level 0 that a texel looks beyond its own place; -1: the whole image */
} tvlm_grid_info;

/* Where a channel is stored. */
typedef struct tvlm_channel_place {
    tvlm_grid grid;
    int32_t layer, component;
} tvlm_channel_place;

const tvlm_grid_info *tvlm_grid_get_info(tvlm_grid grid);

/* `channel` must be one that tvlm_channel_get_info knows. */
tvlm_channel_place tvlm_channel_get_place(int32_t channel);

/* The grids in `mask` and all that they need, directly or not. */
uint32_t tvlm_grids_with_needs(uint32_t mask);

#endif
