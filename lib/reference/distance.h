/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distance.h: the second stage of the distance, which begins with the mask of edge pixels. It is here so that
 * tests can give it masks that no picture makes.
 */
#ifndef TVLM_REFERENCE_DISTANCE_H
#define TVLM_REFERENCE_DISTANCE_H

#include "core/backend.h"

/* Makes the distance of one image from mask[height * width], which is true for edge pixels. It takes time and
 * memory in proportion to the number of pixels. Returns false when there is no memory. */
bool tvlm_reference_distance_of_mask(const bool *mask, int32_t image, tvlm_texture *out);

#endif
