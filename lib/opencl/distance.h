/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distance.h: the stage after the mask, for tests with masks that no picture makes.
 */
#ifndef TVLM_OPENCL_DISTANCE_H
#define TVLM_OPENCL_DISTANCE_H

#include "opencl/backend.h"

/* mask: a bit a pixel, 32 rows of a column in a word: word (image, row / 32, x). */
tvlm_status tvlm_opencl_distance_of_mask(opencl_device *device, cl_mem mask, const tvlm_texture *out);

#endif
