/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/resample.h: an image in another size, on the host.
 */
#ifndef TVLM_STACK_RESAMPLE_H
#define TVLM_STACK_RESAMPLE_H

#include "texturevlm/image.h"

/*
 * Resamples an image to width x height. Along an axis that shrinks it takes the exact area average, and along
 * one that grows it interpolates linearly. The result is what a source holds: composited on white, clamped to
 * [0, 1], with NaN as 0. *pixels are row-major floats, which the caller frees. *channels is 1 if the image is
 * gray, and otherwise 3. It fails with MEMORY if there is none.
 */
tvlm_status tvlm_resample(const tvlm_image *image, int32_t width, int32_t height, float **pixels,
                          int32_t *channels);

#endif
