/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h: the colour of a pixel in a buffer.
 */
#ifndef TVLM_REFERENCE_SOURCE_H
#define TVLM_REFERENCE_SOURCE_H

#include "core/operands.h"

/* Finds red, green and blue in [0, 1] of pixel (x, y), composited on white. */
void tvlm_reference_rgb(tvlm_buffer *pixels, const tvlm_pixels *layout, int32_t x, int32_t y, double rgb[3]);

#endif
