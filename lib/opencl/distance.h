/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distance.h: the stage of the distance that follows the mask of edge pixels. It is here for tests, with
 * masks that no picture makes.
 */
#ifndef TVLM_OPENCL_DISTANCE_H
#define TVLM_OPENCL_DISTANCE_H

#include "opencl/backend.h"

/* Makes the distance from a mask that has a bit for each pixel: 32 rows of a column in word (image, row / 32,
 * x). */
tvlm_status tvlm_opencl_distance_of_mask(opencl_device *device, cl_mem mask, const tvlm_texture *out);

#endif
