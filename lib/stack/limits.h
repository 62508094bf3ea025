/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/limits.h: what fits a device: its images, its largest allocation, and its memory.
 */
#ifndef TVLM_STACK_LIMITS_H
#define TVLM_STACK_LIMITS_H

#include "core/backend.h"
#include "core/learned.h"
#include "texturevlm/stack.h"

/*
 * Refuses parameters of a stack that are out of range. It does not check
 * - the size, which may not be chosen yet;
 * - layout, fixation, network and sizes, which have checks of their own.
 */
tvlm_status tvlm_stack_check_options(const tvlm_log *log, const struct tvlm_stack_params *params);

/* If `format` is AUTO, returns the format that suits the device. Any other format is returned as it is. */
tvlm_format tvlm_stack_format(const tvlm_device *device, tvlm_format format);

/* Fails if a stack of that size does not fit the device, with a line that names the limit. */
tvlm_status tvlm_stack_check_size(const tvlm_device *device, int32_t width, int32_t height,
                                  tvlm_format format);

/* Returns whether a stack of that size fits the device, and logs nothing. */
bool tvlm_stack_size_fits(const tvlm_device *device, int32_t width, int32_t height, tvlm_format format);

/* Returns how many images of that size one chunk may hold if a texture has up to `layers` layers. It is at
 * least 1. */
int32_t tvlm_stack_chunk_limit(const tvlm_device *device, int32_t width, int32_t height, tvlm_format format,
                               int32_t layers);

/* Returns how many images of that size are best made at once: on CPUs as many as their caches hold, and at
 * least 1. GPUs gain by large launches, so there it is INT32_MAX. */
int32_t tvlm_stack_cached_images(const tvlm_device *device, int32_t width, int32_t height,
                                 tvlm_format format);

/* ---- Memory: memory.c ---- */

/* Returns how many bytes of the device's memory stacks may take; INFINITY if that is not known. */
double tvlm_stack_memory(const tvlm_device *device);

/* What a stack is to hold. The memory that it needs, and its largest size, follow from this. */
typedef struct tvlm_stack_demand {
    const tvlm_device *device;
    tvlm_format format;
    tvlm_grid_mask grids;               /* the grids of its layout, and those that they need */
    const struct tvlm_network *network; /* NULL: there is none */
    tvlm_learned learned;               /* what it reads and makes */
    int32_t images;
    /* The image that is to be uploaded: its size, and how many bytes each pixel has. It is sent as it is if
     * the stack has its size, and otherwise resampled. If `pixel_bytes` is 0, it is always resampled. */
    int32_t width, height, pixel_bytes;
    int32_t max_side; /* 0: none */
    double memory;    /* how many bytes it may take */
} tvlm_stack_demand;

/* Fills in the demand from the parameters. The image in it counts as one that has to be resampled. The errors
 * are those of tvlm_stack_need. */
tvlm_status tvlm_stack_demand_of(tvlm_device *device, const struct tvlm_stack_params *params,
                                 tvlm_stack_demand *demand);

/* Returns how many bytes a stack of that size takes. */
double tvlm_stack_bytes_of(const tvlm_stack_demand *demand, int32_t width, int32_t height);

/* The limit that made a size smaller. */
typedef enum tvlm_stack_bound {
    TVLM_BOUND_NONE = 0,
    TVLM_BOUND_SIDE,  /* max_side */
    TVLM_BOUND_IMAGE, /* the device's images, or its largest allocation */
    TVLM_BOUND_MEMORY
} tvlm_stack_bound;

/* Shrinks width x height to the largest size of the same shape that fits. Returns the bound that decided this
 * size, or TVLM_BOUND_NONE if the size did not shrink. */
tvlm_stack_bound tvlm_stack_largest(const tvlm_stack_demand *demand, int32_t *width, int32_t *height);

#endif
