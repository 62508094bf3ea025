/* SPDX-License-Identifier: Apache-2.0 */
/*
 * motion.c: the difference of luma from that of the previous frame, on the source's level 1.
 */
#include <math.h>

#include "reference/filter.h"
#include "reference/reference.h"

/* Luma of the source's level 1, or of level 0 of a source that is a single texel. */
static double half_luma(const tvlm_texture *source, int32_t image, int32_t x, int32_t y) {
    const int32_t level = source->levels > 1 ? 1 : 0;
    return tvlm_reference_fetch(source, level, reference_slice(source, image, 0), x, y)[3];
}

tvlm_status tvlm_reference_motion(tvlm_device *device, const tvlm_generate_args *args) {
    const tvlm_texture *source = args->grids[TVLM_GRID_SOURCE];
    const tvlm_texture *previous = args->previous != NULL ? args->previous[TVLM_PREVIOUS_LUMA] : NULL;
    tvlm_texture *out = args->out;
    (void)device;
    for (int32_t image = 0; image < out->images; ++image)
        for (int32_t y = 0; y < out->height; ++y)
            for (int32_t x = 0; x < out->width; ++x) {
                const float *last = previous != NULL ? tvlm_reference_fetch(previous, 0, image, x, y) : NULL;
                double value[4] = {0, 0, 0, 0};
                if (last != NULL && last[0] >= 0.0f)
                    value[0] = fabs(half_luma(source, image, x, y) - (double)last[0]);
                tvlm_reference_store(out, 0, image, x, y, value);
            }
    return TVLM_OK;
}

void tvlm_reference_remember_luma(const tvlm_texture *source, int32_t image, tvlm_texture *out) {
    for (int32_t y = 0; y < out->height; ++y)
        for (int32_t x = 0; x < out->width; ++x) {
            const double value[4] = {half_luma(source, image, x, y), 0, 0, 0};
            tvlm_reference_store(out, 0, image, x, y, value);
        }
}
