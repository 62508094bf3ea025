/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colormap.h: colours for numbers.
 */
#ifndef TVLM_TOOLS_COLORMAP_H
#define TVLM_TOOLS_COLORMAP_H

#include <stdint.h>

typedef struct color {
    uint8_t r, g, b;
} color;

/* From black at 0 to white at 1. t is clamped to [0, 1]; NaN counts as 0. */
color colormap_gray(float t);

/* Viridis and inferno of Matplotlib, from dark to yellow. They are perceptually uniform, and people who are
 * colour-blind can read them. t is clamped to [0, 1]; NaN counts as 0. */
color colormap_viridis(float t);
color colormap_inferno(float t);

/* Blue at -1, light gray at 0, red at 1 (Moreland 2009). t is clamped to [-1, 1]; NaN counts as 0. */
color colormap_diverging(float t);

/* Gives each identifier a colour of its own. Neighbouring numbers get hues that are far apart. */
color colormap_identifier(int32_t id);

#endif
