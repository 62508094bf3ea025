/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colormap.h: numbers to colours.
 */
#ifndef TVLM_TOOLS_COLORMAP_H
#define TVLM_TOOLS_COLORMAP_H

#include <stdint.h>

typedef struct color {
    uint8_t r, g, b;
} color;

/* t in [0, 1], clamped; NaN is 0. */
color colormap_gray(float t);

/* Perceptually uniform, dark violet to yellow, readable by the colour-blind: matplotlib's viridis and
 * inferno. */
color colormap_viridis(float t);
color colormap_inferno(float t);

/* t in [-1, 1], clamped; NaN is 0: blue, light gray at 0, red (Moreland 2009). */
color colormap_diverging(float t);

/* A colour of its own for each identifier; neighbours in number are far apart in hue. */
color colormap_identifier(int32_t id);

#endif
