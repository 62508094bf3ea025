/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logpolar.h: an image as an eye sees it: rings around a fixation, farther and farther apart, cut into sectors
 * of one angle.
 *
 *     tvlm_logpolar_info info;
 *     tvlm_logpolar_get_info(stack, NULL, &info); // rings and sectors around the middle
 *     float *samples = malloc((size_t)info.sectors * info.rings * 3 * sizeof *samples);
 *     tvlm_logpolar(stack, NULL, (size_t)info.sectors * info.rings * 3, samples);
 *
 * Ring i has the radius r = inner * ((outer / inner)^(i / rings) - 1), i = 0 .. rings - 1: the first one is the
 * fixation, and the steps grow as r + inner, as the resolution of the retina falls. Sector j has the angle
 * a = 2 pi j / sectors, which turns from the x axis towards the y axis, that is down. The sample is at
 * (x + r cos a, y + r sin a). With inner = 1 these are the places of OpenCV's warpPolar with WARP_POLAR_LOG, a
 * destination of `rings` columns and `sectors` rows, and outer as its maxRadius (whose pixels have their
 * centres at whole numbers, and these at + 0.5).
 *
 * Each sample is the average of what lies between it and its neighbours (footprint.h: an ellipse as long as
 * the step to the next ring and as wide as that to the next sector), so that far rings, which are coarse, do
 * not alias. Beyond the image its edge goes on.
 */
#ifndef TEXTUREVLM_LOGPOLAR_H
#define TEXTUREVLM_LOGPOLAR_H

#include "stack.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TVLM_LOGPOLAR_RINGS 128

/* All zero means the defaults: the colours around the middle of the first image. */
struct tvlm_logpolar_params {
    /* Which image of the batch. */
    int32_t index;
    /* The fixation, x and y, in pixels of the working image; NULL means its middle. It may lie outside. */
    const float *fixation;
    /* Lengths in pixels, 0 < inner < outer. 0 means 1, and as much as makes the rings reach the farthest
     * corner. */
    float inner, outer;
    /* How many there are, at least 1 ring and 3 sectors. 0 means 128, and as many sectors as make samples about as
     * long as they are wide. */
    int32_t rings, sectors;
    /* Samples are single points of the image itself, bilinear, as warpPolar takes them: they alias. */
    bool plain;
    /* The channels; NULL means r, g, b. */
    const int32_t *channels;
    int32_t channel_count;
    uint64_t reserved[4];
};
#define tvlm_logpolar_params(...) TVLM_PARAMS(tvlm_logpolar_params, __VA_ARGS__)

/* What the parameters mean for an image. */
typedef struct tvlm_logpolar_info {
    float x, y, inner, outer;
    int32_t rings, sectors, channel_count;
    uint32_t reserved[5];
} tvlm_logpolar_info;

/* Finds it without any work. `params` NULL means all defaults. Errors: ARGUMENT. */
TVLM_API tvlm_status tvlm_logpolar_get_info(const tvlm_stack *stack,
                                            const struct tvlm_logpolar_params *params,
                                            tvlm_logpolar_info *info);

/*
 * Writes samples[(sector * rings + ring) * channel_count + c]; there is room for `capacity` floats. Waits.
 * Errors: ARGUMENT (what is said above, a channel, an index, a capacity that is too small), MEMORY,
 * DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_logpolar(tvlm_stack *stack, const struct tvlm_logpolar_params *params,
                                   size_t capacity, float *samples);

/*
 * Makes an image of samples again, for looking at: image[(y * width + x) * channel_count + c], which covers the
 * working image of image_width x image_height pixels. It is bilinear between the samples, and beyond the last
 * ring it is that ring. It uses no device and no log. Errors: ARGUMENT (NULL, sizes below 1,
 * an info that is none).
 */
TVLM_API tvlm_status tvlm_logpolar_back(const tvlm_logpolar_info *info, const float *samples,
                                        int32_t image_width, int32_t image_height, int32_t width,
                                        int32_t height, float *image);

#ifdef __cplusplus
}
#endif
#endif
