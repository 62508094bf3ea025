/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_scales.h: the scales at which a budget's tiles show the image, and what its positions are called.
 */
#ifndef TVLM_TOOLS_BUDGET_SCALES_H
#define TVLM_TOOLS_BUDGET_SCALES_H

#include <stddef.h>
#include <stdint.h>

#include "texturevlm/select.h"

/* The scales of tiles, from fine to coarse. An entry says how many texels a tile has for how many pixels
 * along a side, and what the scale is called. At three quarters only nine tiles together fill whole pixels.
 * Scales that are levels are reduced by area, and those between levels by Lanczos' filter. */
enum { BUDGET_SCALES = 5 };
typedef struct budget_scale {
    int32_t texels, pixels;
    const char *name;
    bool between;
} budget_scale;
extern const budget_scale budget_scales[BUDGET_SCALES];

/* Finds the scale of a tile. */
int budget_scale_of(const tvlm_position *tile);

/* Writes a text about a budget's positions, such as "4 x 3 thumbnail, 2 empty, 150 tiles". Returns its
 * length, as snprintf does. */
int budget_title(int32_t columns, int32_t rows, int32_t cells, int32_t count, char *text, size_t size);

#endif
