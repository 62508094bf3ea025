/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.h: reads channels of several textures (a bundle) at a point of the image.
 */
#ifndef TVLM_REFERENCE_SAMPLE_H
#define TVLM_REFERENCE_SAMPLE_H

#include "core/backend.h"

/* A point of the image in pixels, a level of the image, and an image of the bundle. */
typedef struct reference_point {
    double x, y, level;
    int32_t image;
} reference_point;

/* The value of the channel that `ref` (TVLM_REF) names, at a point. References below 0 give 0. */
double tvlm_reference_sample_at(const tvlm_bundle *bundle, int32_t ref, const reference_point *point);

#endif
