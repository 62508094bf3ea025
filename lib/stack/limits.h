/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/limits.h: what fits a device: its images, its largest allocation, and its memory.
 */
#ifndef TVLM_STACK_LIMITS_H
#define TVLM_STACK_LIMITS_H

#include "core/backend.h"
#include "texturevlm/stack.h"

/* Refuses what is out of its range in the parameters of a stack, but for its size, which may not be chosen yet, and what
 * takes its own look (layout, fixation, network, sizes). */
tvlm_status tvlm_stack_check_options(const tvlm_log *log, const struct tvlm_stack_params *params);

/* Returns the format that suits the device where `format` is AUTO. Any other format stays as it is. */
tvlm_format tvlm_stack_format(const tvlm_device *device, tvlm_format format);

/* Fails with a line that names the limit when a stack of that size does not fit the device. */
tvlm_status tvlm_stack_check_size(const tvlm_device *device, int32_t width, int32_t height,
                                  tvlm_format format);

/* Returns whether it does, without a line. */
bool tvlm_stack_size_fits(const tvlm_device *device, int32_t width, int32_t height, tvlm_format format);

/* Returns how many images of that size one chunk may hold when a texture has up to `layers` layers: at
 * least 1. */
int32_t tvlm_stack_chunk_limit(const tvlm_device *device, int32_t width, int32_t height, tvlm_format format,
                               int32_t layers);

/* ---- Memory: memory.c ---- */

/* Returns how many bytes of the device's memory there are for stacks; INFINITY where that is not known. */
double tvlm_stack_memory(const tvlm_device *device);

/* What a stack is to hold, by which its size is found. */
typedef struct tvlm_stack_demand {
    const tvlm_device *device;
    tvlm_format format;
    tvlm_grid_mask grids; /* those of its layout, and what they need */
    const tvlm_network *network;
    int32_t images;
    /* An image that comes at its own size is sent as it is, so many bytes for each pixel; any other is
     * resampled, and so is every image where `pixel_bytes` is 0. */
    int32_t width, height, pixel_bytes;
    int32_t max_side; /* 0: none */
    double memory;    /* how many bytes it may take */
} tvlm_stack_demand;

/* Fills in what the parameters say, but for the image, which is one that has to be resampled. Fails as
 * tvlm_stack_need does. */
tvlm_status tvlm_stack_demand_of(tvlm_device *device, const struct tvlm_stack_params *params,
                                 tvlm_stack_demand *demand);

/* Returns how many bytes a stack of that size takes. */
double tvlm_stack_bytes_of(const tvlm_stack_demand *demand, int32_t width, int32_t height);

/* What made a size smaller. */
typedef enum tvlm_stack_bound {
    TVLM_BOUND_NONE = 0,
    TVLM_BOUND_SIDE,  /* max_side */
    TVLM_BOUND_IMAGE, /* the device's images, or its largest allocation */
    TVLM_BOUND_MEMORY
} tvlm_stack_bound;

/* Shrinks width x height to the largest size of the same shape that fits. Returns what the last bound was. */
tvlm_stack_bound tvlm_stack_largest(const tvlm_stack_demand *demand, int32_t *width, int32_t *height);

#endif
