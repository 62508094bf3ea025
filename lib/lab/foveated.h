/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foveated.h: the steps of placing positions around fixations: first places, as a sunflower or in rings, and the
 * spreading that follows. All lengths in pixels. And the strategy that does it with an image.
 */
#ifndef TVLM_LAB_FOVEATED_H
#define TVLM_LAB_FOVEATED_H

#include <stdbool.h>
#include <stdint.h>

#include "select/choose.h"
#include "texturevlm/lab/foveated.h"

#define TVLM_FIXATIONS_MAX 64

typedef struct tvlm_fovea {
    double width, height;
    double x[TVLM_FIXATIONS_MAX], y[TVLM_FIXATIONS_MAX];
    int32_t fixations;
    double e0;
    double turn; /* by which the first places are turned, in radians */
} tvlm_fovea;

typedef struct tvlm_placed {
    double x, y, size;
} tvlm_placed;

/* The distance from the nearest fixation. */
double tvlm_fovea_eccentricity(const tvlm_fovea *fovea, double x, double y);

/*
 * How far from fixation f one gets in a direction (a unit vector) before the image ends, or another fixation
 * is nearer.
 */
double tvlm_fovea_reach(const tvlm_fovea *fovea, int32_t f, double dx, double dy);

/*
 * The first places. Each makes exactly `k` places. At the distance e from the nearest fixation, neighbours
 * lie *spacing * (e + e0) apart. False: no memory.
 */
bool tvlm_fovea_sunflower(const tvlm_fovea *fovea, int32_t k, tvlm_placed *placed, double *spacing);
bool tvlm_fovea_log_polar(const tvlm_fovea *fovea, int32_t k, tvlm_placed *placed, double *spacing);

/* Fewer squares than this are few: most of them touch the border of the image. */
#define TVLM_FOVEA_FEW 200

/* Moves the places apart and sets their sizes. Returns false without memory. */
bool tvlm_fovea_spread(const tvlm_fovea *fovea, double spacing, int32_t k, tvlm_placed *placed);

/* How near squares come to what is allowed: the part of the image that they leave bare, over 5 %, or the part
 * that they cover twice, over 25 %, whichever is larger. Up to 1 they are right. Counted at 64 x 64
 * points. */
double tvlm_fovea_fault(const tvlm_fovea *fovea, int32_t k, const tvlm_placed *placed);

tvlm_choose_function tvlm_choose_foveated;

#endif
