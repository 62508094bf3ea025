/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thumbnail.cl: makes a picture of an image's source. The source is reduced along columns, then along rows,
 * and clamped to [0, 1]. losses.cl makes the same picture of luma alone, to find what it loses
 * (lib/core/budget.h). A work-item makes one texel.
 *
 * The host makes a table of weights (Lanczos' filter: lib/select/budget_plan.c). axis = (index of the axis in
 * the table, taps). For place o of the result the table has TVLM_BUDGET_HEAD + taps floats, from index
 * axis.x + o * (axis.y + TVLM_BUDGET_HEAD) on: the first source place, how many source places there are, and
 * their weights.
 */
#include "texture.clh"

/* Reduces the columns of a level to `height` rows. Work-item (x, y) makes texel x of row y. */
kernel void thumbnail_columns(global const float *restrict table, const int2 axis, TEXTURE_IN(source),
                              const int slice, const int level, const int height,
                              global float4 *restrict between) {
    const int x = get_global_id(0), y = get_global_id(1);
    const int4 place = level_place_(TEXTURE(source), slice, level);
    if (x >= place.x || y >= height) return;
    global const float *entry = table + axis.x + y * (axis.y + TVLM_BUDGET_HEAD);
    const int first = (int)entry[0], count = (int)entry[1];
    float4 sum = 0.0f;
    for (int n = 0; n < count; ++n)
        sum +=
            entry[TVLM_BUDGET_HEAD + n] * texel_inside_(TEXTURE(source), place, slice, level, x, first + n);
    between[(size_t)y * place.x + x] = sum;
}

/* Reduces the rows that thumbnail_columns made, which have `width` texels. Work-item (x, y) makes texel (x,
 * y) of the picture. */
kernel void thumbnail_rows(global const float *restrict table, const int2 axis,
                           global const float4 *restrict between, const int width, const int image,
                           TEXTURE_OUT(result)) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= result_size.x || y >= result_size.y) return;
    global const float *entry = table + axis.x + x * (axis.y + TVLM_BUDGET_HEAD);
    global const float4 *from = between + (size_t)y * width + (int)entry[0];
    const int count = (int)entry[1];
    float4 sum = 0.0f;
    for (int n = 0; n < count; ++n) sum += entry[TVLM_BUDGET_HEAD + n] * from[n];
    texel_store(result, x, y, image * result_size.z, clamp(sum, 0.0f, 1.0f));
}
