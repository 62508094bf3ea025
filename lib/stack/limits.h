/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/limits.h: what fits a device.
 */
#ifndef TVLM_STACK_LIMITS_H
#define TVLM_STACK_LIMITS_H

#include "core/backend.h"

/* Returns the format that suits the device where `format` is AUTO. Any other format stays as it is. */
tvlm_format tvlm_stack_format(const tvlm_device *device, tvlm_format format);

/* Fails with a line that names the limit when a stack of that size does not fit the device. */
tvlm_status tvlm_stack_check_size(const tvlm_device *device, int32_t width, int32_t height,
                                  tvlm_format format);

/* Shrinks width x height to the largest size of the same shape that the device can hold. */
void tvlm_stack_largest(const tvlm_device *device, tvlm_format format, int32_t *width, int32_t *height);

/* Returns how many images of that size one chunk may hold when a texture has up to `layers` layers: at
 * least 1. */
int32_t tvlm_stack_chunk_limit(const tvlm_device *device, int32_t width, int32_t height, tvlm_format format,
                               int32_t layers);

#endif
