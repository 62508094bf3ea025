/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/logpolar.h: samples an image as an eye does: on rings around a fixation that lie farther and farther apart, and
 * are cut into sectors of equal angle.
 *
 *     tvlm_logpolar_info info;
 *     tvlm_logpolar_get_info(stack, NULL, &info); // rings and sectors around the middle
 *     float *samples = malloc((size_t)info.sectors * info.rings * 3 * sizeof *samples);
 *     tvlm_logpolar(stack, NULL, (size_t)info.sectors * info.rings * 3, samples);
 *
 * Ring i has the radius r = inner * ((outer / inner)^(i / rings) - 1), i = 0 .. rings - 1. So the first ring is
 * the fixation itself. The steps between rings grow as r + inner does, which follows how the resolution of the
 * retina falls. Sector j has the angle a = 2 pi j / sectors, which turns from the x axis towards the y axis, that
 * is down. The sample of both is at (x + r cos a, y + r sin a).
 *
 * With inner = 1 these are the places of OpenCV's warpPolar with WARP_POLAR_LOG, a destination of `rings` columns
 * and `sectors` rows, and outer as its maxRadius. OpenCV's pixels have their centres at whole numbers, and those
 * of this library at + 0.5.
 *
 * Each sample is the average of what lies between it and its neighbours, so that the coarse outer rings do not
 * alias. The average is taken over an ellipse (lab/footprint.h) that is as long as the step to the next ring and as
 * wide as the step to the next sector. Beyond the border of the image, its edge is repeated.
 *
 * This header is of the lab: it may change in any version.
 */
#ifndef TEXTUREVLM_LAB_LOGPOLAR_H
#define TEXTUREVLM_LAB_LOGPOLAR_H

#include "texturevlm/stack.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TVLM_LOGPOLAR_RINGS 128

/* All zero means the defaults: the colours around the middle of the first image. */
struct tvlm_logpolar_params {
    /* Which image of the batch. */
    int32_t index;
    /* The fixation, x and y, in pixels of the working image; NULL means the middle of the image. It may lie
     * outside the image. */
    const float *fixation;
    /* Lengths in pixels, 0 < inner < outer. For `inner`, 0 means 1. For `outer`, 0 means that the rings reach the
     * farthest corner of the image. */
    float inner, outer;
    /* At least 1 ring and 3 sectors. 0 means 128 rings, and as many sectors as make samples about as long as they
     * are wide. */
    int32_t rings, sectors;
    /* If set, samples are single points of level 0, read bilinearly as warpPolar does, and so they alias. */
    bool plain;
    /* The channels; NULL means r, g, b. */
    const int32_t *channels;
    int32_t channel_count;
    uint64_t reserved[4];
};
#define tvlm_logpolar_params(...) TVLM_PARAMS(tvlm_logpolar_params, __VA_ARGS__)

/* The values that the parameters stand for in an image, with all defaults filled in. */
typedef struct tvlm_logpolar_info {
    float x, y, inner, outer;
    int32_t rings, sectors, channel_count;
    uint32_t reserved[5];
} tvlm_logpolar_info;

/* Fills *info without sampling anything. `params` NULL means all defaults. Errors: ARGUMENT. */
TVLM_API tvlm_status tvlm_logpolar_get_info(const tvlm_stack *stack,
                                            const struct tvlm_logpolar_params *params,
                                            tvlm_logpolar_info *info);

/*
 * Writes samples[(sector * rings + ring) * channel_count + c]; there is room for `capacity` floats. Waits.
 * Errors: ARGUMENT (a parameter out of its range, a channel, an index, a capacity that is too small), MEMORY,
 * DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_logpolar(tvlm_stack *stack, const struct tvlm_logpolar_params *params,
                                   size_t capacity, float *samples);

/*
 * Turns samples back into an image to look at: image[(y * width + x) * channel_count + c]. It covers the whole
 * working image, which has image_width x image_height pixels. Between the samples it is bilinear, and beyond the
 * last ring it repeats that ring. It uses no device and no log. Errors: ARGUMENT (NULL, sizes below 1, an *info
 * with values out of their ranges).
 */
TVLM_API tvlm_status tvlm_logpolar_back(const tvlm_logpolar_info *info, const float *samples,
                                        int32_t image_width, int32_t image_height, int32_t width,
                                        int32_t height, float *image);

#ifdef __cplusplus
}
#endif
#endif
