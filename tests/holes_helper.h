/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holes_helper.h: selections made by hand: a thumbnail with empty cells, and a tile of each scale.
 */
#ifndef TVLM_TESTS_HOLES_HELPER_H
#define TVLM_TESTS_HOLES_HELPER_H

#include <math.h>
#include <stdlib.h>

#include "select/selection.h"

/* Tiles: the scale in pixels a texel, and the place on the grid of such tiles. */
enum { HOLES_TILES = 5 };
static const struct {
    float pixels;
    int32_t column, row;
} holes_tiles[HOLES_TILES] = {{1, 2, 1}, {3, 1, 0}, {2, 0, 1}, {3, 0, 1}, {4, 2, 0}};

/* Whether a cell is empty: some are at the border, some within, and some beside each other. */
static inline bool holes_at(int32_t column, int32_t row) {
    return (column + 2 * row) % 5 == 1 || (column + 2 * row) % 5 == 2;
}

/* A selection of an image, of at least 12 x 6 patches. The caller destroys it. NULL: no memory. */
static inline tvlm_selection *holes_selection(int32_t width, int32_t height, int32_t columns, int32_t rows,
                                              float patch) {
    const size_t cells = (size_t)columns * (size_t)rows;
    tvlm_selection *s = calloc(1, sizeof *s);
    if (s == NULL) return NULL;
    s->info = (tvlm_selection_info){.width = width,
                                    .height = height,
                                    .strategy = TVLM_STRATEGY_BUDGET,
                                    .thumbnail_columns = columns,
                                    .thumbnail_rows = rows};
    s->positions = calloc(cells + HOLES_TILES, sizeof *s->positions);
    s->empty = calloc(cells, sizeof *s->empty);
    if (s->positions == NULL || s->empty == NULL) {
        tvlm_selection_destroy(&s);
        return NULL;
    }
    const float wide = (float)width / (float)columns, high = (float)height / (float)rows;
    for (int32_t i = 0; i < columns * rows; ++i) {
        const int32_t column = i % columns, row = i / columns;
        if (holes_at(column, row))
            s->empty[s->empty_count++] = (tvlm_cell){column, row};
        else
            s->positions[s->count++] = (tvlm_position){.x = wide * ((float)column + 0.5f),
                                                       .y = high * ((float)row + 0.5f),
                                                       .level = log2f(fmaxf(wide, high) / patch),
                                                       .score = 1.0f,
                                                       .size = wide,
                                                       .column = -1,
                                                       .row = -1,
                                                       .height = high};
    }
    s->info.thumbnail_cells = s->count;
    for (int n = 0; n < HOLES_TILES; ++n) {
        const float size = holes_tiles[n].pixels * patch;
        s->positions[s->count++] = (tvlm_position){.x = ((float)holes_tiles[n].column + 0.5f) * size,
                                                   .y = ((float)holes_tiles[n].row + 0.5f) * size,
                                                   .level = log2f(holes_tiles[n].pixels),
                                                   .score = 0.5f / (float)(n + 1),
                                                   .size = size,
                                                   .column = -1,
                                                   .row = -1};
    }
    return s;
}

#endif
