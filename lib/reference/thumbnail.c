/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thumbnail.c: a picture of the source, by the definition: each of its texels is a sum over both axes.
 */
#include <math.h>

#include "reference/reference.h"
#include "reference/texture.h"

static const float *entry_of(const tvlm_budget_plan *plan, const tvlm_budget_axis *axis, int32_t o) {
    return plan->table + axis->offset + (ptrdiff_t)o * (axis->taps + TVLM_BUDGET_HEAD);
}

static void add_up(const tvlm_texture *source, int32_t level, int32_t slice, const float *across,
                   const float *down, double sums[4]) {
    for (int32_t j = 0; j < (int32_t)down[1]; ++j)
        for (int32_t i = 0; i < (int32_t)across[1]; ++i) {
            const float *const texel =
                tvlm_reference_fetch(source, level, slice, (int32_t)across[0] + i, (int32_t)down[0] + j);
            const double weight = (double)across[TVLM_BUDGET_HEAD + i] * (double)down[TVLM_BUDGET_HEAD + j];
            for (int c = 0; c < 4; ++c) sums[c] += weight * (double)texel[c];
        }
}

tvlm_status tvlm_reference_thumbnail(tvlm_device *device, const tvlm_texture *source,
                                     const tvlm_budget_plan *plan, tvlm_texture *out) {
    const tvlm_budget_picture *const picture = &plan->pictures[0];
    const int32_t from = reference_slice(source, plan->image, 0), to = reference_slice(out, plan->image, 0);
    (void)device;
    for (int32_t y = 0; y < picture->height; ++y)
        for (int32_t x = 0; x < picture->width; ++x) {
            double sums[4] = {0.0};
            add_up(source, picture->from, from, entry_of(plan, &picture->reduce_x, x),
                   entry_of(plan, &picture->reduce_y, y), sums);
            for (int c = 0; c < 4; ++c) sums[c] = fmin(fmax(sums[c], 0.0), 1.0);
            tvlm_reference_store(out, 0, to, x, y, sums);
        }
    return TVLM_OK;
}
