/* SPDX-License-Identifier: Apache-2.0 */
/*
 * footprint.c: probes along a line, against the reference. ../test_footprint_stack.c tests what a footprint
 * returns.
 */
#include <math.h>

#include "kernels/family.h"
#include "lab/operations.h"

static tvlm_footprint_place random_place(const tvlm_bundle *bundle, uint64_t *random) {
    const float angle = 6.2831853f * test_random_unit(random), step = 6.0f * test_random_unit(random);
    return (tvlm_footprint_place){.at = {bundle->width * (1.4f * test_random_unit(random) - 0.2f),
                                         bundle->height * (1.4f * test_random_unit(random) - 0.2f),
                                         6.0f * test_random_unit(random), (float)(test_random(random) % 3)},
                                  .step_x = step * cosf(angle),
                                  .step_y = step * sinf(angle),
                                  .probes = (float)(1 + test_random(random) % 16)};
}

static void *run_footprint(tvlm_device *device, const tvlm_bundle *bundle, const int32_t *refs,
                           int32_t count4, const tvlm_footprint_place *places, int32_t count) {
    const size_t bytes = (size_t)count * 4 * (size_t)count4 * sizeof(float);
    void *got = malloc(bytes);
    assert_non_null(got);
    tvlm_buffer *in = test_buffer(device, (size_t)count * sizeof *places, places);
    tvlm_buffer *out = test_buffer(device, bytes, NULL);
    if (device->backend->lab->footprint(device, bundle, refs, count4, in, count, out) != TVLM_OK)
        fail_msg("footprints: %s", test_last_log());
    test_buffer_take(device, &out, bytes, got);
    device->backend->buffer_destroy(device, &in);
    return got;
}

static void bundles(const test_target *target, tvlm_device *reference) {
    static const int32_t counts[] = {0, 1, 3};
    uint64_t random = 17;
    for (size_t n = 0; n < (test_small() ? 2 : 3); ++n) {
        const int32_t count4 = n % 2 == 0 ? 1 : 3, count = test_small() ? 4 : 150;
        int32_t refs[12];
        tvlm_footprint_place places[150];
        test_bundle bundle = test_bundle_create(target, reference, counts[n], false, -1.0f, 1.0f, &random);
        for (int32_t i = 0; i < 4 * count4; ++i)
            refs[i] = test_random_ref(&bundle.got, i > 0 ? refs[i - 1] : -1, &random);
        for (int32_t i = 0; i < count; ++i) places[i] = random_place(&bundle.got, &random);
        float *got = run_footprint(target->device, &bundle.got, refs, count4, places, count);
        float *expected = run_footprint(reference, &bundle.expected, refs, count4, places, count);
        /* The tolerance is that of one sample. A sum of up to 16 probes adds its rounding, and the roots in
         * the weights are 3 ulp. */
        const float maximum = test_sample_tolerance(target, bundle.side, 2.0f) + 3e-6f;
        test_compare("footprints", got, expected, (size_t)count * 4 * (size_t)count4, maximum, maximum / 4);
        free(got);
        free(expected);
        test_bundle_destroy(&bundle);
    }
}

TEST_FAMILY(footprint, {"bundles", .body = bundles})
