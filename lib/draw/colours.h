/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colours.h: colours for numbers.
 */
#ifndef TVLM_DRAW_COLOURS_H
#define TVLM_DRAW_COLOURS_H

#include <stdint.h>

typedef struct tvlm_colour {
    uint8_t r, g, b;
} tvlm_colour;

/* From black at 0 to white at 1. t is clamped to [0, 1]; NaN counts as 0. */
tvlm_colour tvlm_colours_gray(float t);

/* Viridis and inferno of Matplotlib, from dark to yellow. They are perceptually uniform, and people who are
 * colour-blind can read them. t is clamped to [0, 1]; NaN counts as 0. */
tvlm_colour tvlm_colours_viridis(float t);
tvlm_colour tvlm_colours_inferno(float t);

/* The part of inferno that ranks have, from the last rank at 0 to the first at 1. Beyond these it goes on to the ends of
 * inferno, which levels coarser than those of tiles have. */
tvlm_colour tvlm_colours_rank(float t);

/* Blue at -1, light gray at 0, red at 1 (Moreland 2009). t is clamped to [-1, 1]; NaN counts as 0. */
tvlm_colour tvlm_colours_diverging(float t);

/* Gives each identifier a colour of its own. Neighbouring numbers get hues that are far apart. */
tvlm_colour tvlm_colours_identifier(int32_t id);

#endif
