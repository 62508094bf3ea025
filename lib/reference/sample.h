/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.h: reading channels of several families at a position (the bundle sampler).
 */
#ifndef TVLM_REFERENCE_SAMPLE_H
#define TVLM_REFERENCE_SAMPLE_H

#include "core/backend.h"

/* A position of the image in pixels, a level of the image, an image of the bundle. */
typedef struct reference_point {
    double x, y, level;
    int32_t image;
} reference_point;

/* The channel TVLM_REF `ref` there; 0 for refs below 0. */
double reference_sample(const tvlm_bundle *bundle, int32_t ref, const reference_point *point);

#endif
