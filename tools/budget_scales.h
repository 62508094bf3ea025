/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_scales.h: the scales at which a budget's tiles show the image.
 */
#ifndef TVLM_TOOLS_BUDGET_SCALES_H
#define TVLM_TOOLS_BUDGET_SCALES_H

#include "texturevlm/select.h"

/* The scales of tiles, from fine to coarse: a tile is so many texels of so many pixels along a side, and it is
 * `name`. Of three quarters only nine tiles together fill whole pixels. Those between levels are reduced by Lanczos'
 * filter, levels by area. */
enum { BUDGET_SCALES = 5 };
typedef struct budget_scale {
    int32_t texels, pixels;
    const char *name;
    bool between;
} budget_scale;
extern const budget_scale budget_scales[BUDGET_SCALES];

/* Finds that of a tile. */
int budget_scale_of(const tvlm_position *tile);

#endif
