/* SPDX-License-Identifier: Apache-2.0 */
/*
 * motion.cl: the absolute difference of luma from that of the previous frame, at most 1, on the source's
 * level 1.
 *
 * The previous frame is a scalar texture of that size, which temporal_remember (temporal.cl) fills: luma, and
 * -1 where an image of the batch has no previous frame, so that its motion is 0. Work-items make RUN texels
 * of a row: 1 on GPUs, more on CPUs, where the loops over them vectorise.
 */
#include "motion.clh"
#include "region.clh"

// check-kernels: -DRUN=1
// check-kernels: -DRUN=16
// check-kernels: -DTILE_LIST=1

#ifndef RUN
#define RUN 1
#endif

/* The luma of RUN texels of a row from x on. Beyond the row's end the last texel repeats. */
HELPER void luma_row(TEXTURE_IN(source), int4 place, int slice, int level, int x, int y, float *luma) {
#if RUN == 16
    if (x + 16 <= place.x) {
        vstore16(texels_w_16_(TEXTURE(source), place, slice, level, x, y), 0, luma);
        return;
    }
#endif
    for (int i = 0; i < RUN; ++i) luma[i] = texel_fetch_at_(TEXTURE(source), place, slice, level, x + i, y).w;
}

/* Writes the channel of all images. Work-item (n, y, image) makes RUN texels of row y. */
kernel void motion(TEXTURE_IN(source), TEXTURE_IN(previous), TEXTURE_OUT(result) REGION_IN) {
    const int first = ITEM_X * RUN, y = ITEM_Y, image = ITEM_Z;
    if (first >= result_size.x || y >= result_size.y) return;
    const int slice = image * source_size.z, level = half_level(source_size);
    const int4 now = level_place_(TEXTURE(source), slice, level),
               before = level_place_(TEXTURE(previous), image, 0);
    float luma[RUN];
    luma_row(TEXTURE(source), now, slice, level, first, y, luma);
    for (int i = 0; i < min(RUN, result_size.x - first); ++i) {
        const float last = texel_scalar_inside_(TEXTURE(previous), before, image, 0, first + i, y);
        texel_store_scalar(result, first + i, y, image, last < 0.0f ? 0.0f : min(1.0f, fabs(luma[i] - last)));
    }
}

/* Writes 0 everywhere. It runs where no image of the batch has a previous frame. Work-item (x, y, image)
 * makes a texel. */
kernel void motion_none(TEXTURE_OUT(result) REGION_IN) {
    const int x = ITEM_X, y = ITEM_Y, image = ITEM_Z;
    if (x < result_size.x && y < result_size.y) texel_store_scalar(result, x, y, image, 0.0f);
}
