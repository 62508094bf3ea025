/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pick.c: copies one component of a texture into a texture of its own.
 */
#include "reference/reference.h"
#include "reference/texture.h"

tvlm_status tvlm_reference_pick(tvlm_device *device, const tvlm_texture *from, int32_t slice,
                                int32_t component, tvlm_texture *out) {
    (void)device;
    for (int32_t y = 0; y < out->height; ++y)
        for (int32_t x = 0; x < out->width; ++x) {
            const double value[4] = {(double)tvlm_reference_fetch(from, 0, slice, x, y)[component], 0, 0, 0};
            tvlm_reference_store(out, 0, 0, x, y, value);
        }
    return TVLM_OK;
}
