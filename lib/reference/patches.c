/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patches.c: square patches of any channels, normalised and in planes, for an encoder.
 */
#include <math.h>

#include "core/half.h"
#include "reference/reference.h"
#include "reference/sample.h"

/* A coordinate in an image that is mirrored at its edges: every second copy of it is the other way round. */
static double reflected(double x, double side) {
    const double copy = floor(x / side), into = x - copy * side;
    return fmod(copy, 2) == 0 ? into : side - into;
}

static void store(const tvlm_patch_plan *plan, void *out, size_t index, double value) {
    if (plan->format == TVLM_FORMAT_F16)
        ((uint16_t *)out)[index] = tvlm_half_from_float((float)value);
    else
        ((float *)out)[index] = (float)value;
}

tvlm_status tvlm_reference_patches(tvlm_device *device, const tvlm_bundle *bundle,
                                   const tvlm_patch_plan *plan, tvlm_buffer *places, int32_t count,
                                   tvlm_buffer *out) {
    (void)device;
    const tvlm_patch_place *place = reference_data(places);
    const int32_t side = plan->side;
    for (int32_t n = 0; n < count; ++n) {
        size_t index = (size_t)place[n].number * (size_t)plan->channels * (size_t)side * (size_t)side;
        for (int32_t c = 0; c < plan->channels; ++c)
            for (int32_t y = 0; y < side; ++y)
                for (int32_t x = 0; x < side; ++x) {
                    const tvlm_patch_place *p = &place[n];
                    reference_point at = {(double)p->at.x + (x + 0.5 - 0.5 * side) * (double)p->step_x,
                                          (double)p->at.y + (y + 0.5 - 0.5 * side) * (double)p->step_y,
                                          (double)p->at.level, (int32_t)p->at.image};
                    if (plan->reflect) {
                        at.x = reflected(at.x, (double)bundle->width);
                        at.y = reflected(at.y, (double)bundle->height);
                    }
                    const double value = tvlm_reference_sample_at(bundle, plan->refs[c], &at);
                    store(plan, reference_data(out), index++,
                          (value - (double)plan->mean[c]) / (double)plan->deviation[c]);
                }
    }
    return TVLM_OK;
}
