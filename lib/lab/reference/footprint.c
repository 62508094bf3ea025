/* SPDX-License-Identifier: Apache-2.0 */
/*
 * footprint.c: averages channels over ellipses, by probes along the longer axis.
 */
#include <math.h>

#include "lab/operations.h"
#include "reference/reference.h"
#include "reference/sample.h"

/* The average of the probes of one ellipse, each weighted by the width of the ellipse where it stands. */
static double average(const tvlm_bundle *bundle, int32_t ref, const tvlm_footprint_place *place) {
    const int32_t probes = (int32_t)place->probes;
    double sum = 0, weights = 0;
    for (int32_t i = 0; i < probes; ++i) {
        const double along = i - 0.5 * (probes - 1), t = 2 * along / probes, weight = sqrt(1 - t * t);
        const reference_point at = {(double)place->at.x + along * (double)place->step_x,
                                    (double)place->at.y + along * (double)place->step_y,
                                    (double)place->at.level, (int32_t)place->at.image};
        sum += weight * tvlm_reference_sample_at(bundle, ref, &at);
        weights += weight;
    }
    return sum / weights;
}

tvlm_status tvlm_reference_footprint(tvlm_device *device, const tvlm_bundle *bundle, const int32_t *refs,
                                     int32_t count4, tvlm_buffer *places, int32_t count, tvlm_buffer *out) {
    (void)device;
    const tvlm_footprint_place *place = reference_data(places);
    float *values = reference_data(out);
    for (int32_t i = 0; i < count; ++i)
        for (int32_t c = 0; c < 4 * count4; ++c) *values++ = (float)average(bundle, refs[c], &place[i]);
    return TVLM_OK;
}
