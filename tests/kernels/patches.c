/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patches.c: patches of bundles against the reference. ../test_patches_stack.c tests patches of stacks.
 */
#include <math.h>

#include "core/half.h"
#include "kernels/family.h"

enum { PLACES = 7, CHANNELS_MAX = 12 };

typedef struct plan_arrays {
    int32_t refs[CHANNELS_MAX];
    float mean[CHANNELS_MAX], deviation[CHANNELS_MAX];
    tvlm_patch_place places[PLACES];
} plan_arrays;

static plan_arrays random_plan(const tvlm_bundle *bundle, uint64_t *random) {
    plan_arrays a;
    for (int32_t i = 0; i < CHANNELS_MAX; ++i) {
        a.refs[i] = test_random_ref(bundle, i > 0 ? a.refs[i - 1] : -1, random);
        a.mean[i] = test_random_unit(random) - 0.5f;
        a.deviation[i] = 0.5f + test_random_unit(random);
    }
    for (int32_t i = 0; i < PLACES; ++i) {
        /* Steps of 1 on the pixel grid, and other steps between pixels; some are far beyond the image. */
        const float step = i % 3 == 0 ? 1.0f : 0.3f + 4.0f * test_random_unit(random);
        const float x = bundle->width * (1.6f * test_random_unit(random) - 0.3f),
                    y = bundle->height * (1.6f * test_random_unit(random) - 0.3f);
        a.places[i] = (tvlm_patch_place){.number = (i + 1) % PLACES,
                                         .at = {i % 3 == 0 ? floorf(x) : x, i % 3 == 0 ? floorf(y) : y,
                                                fmaxf(0.0f, log2f(step)), (float)(test_random(random) % 3)},
                                         .step_x = step,
                                         .step_y = step};
    }
    return a;
}

/* Returns the patches of all places as floats, in whatever format they are stored. free() them. */
static float *run_patches(tvlm_device *device, const tvlm_bundle *bundle, const plan_arrays *a, int32_t side,
                          int32_t channels, bool reflect, tvlm_format format) {
    const size_t values = (size_t)PLACES * (size_t)channels * (size_t)side * (size_t)side;
    const size_t bytes = values * (format == TVLM_FORMAT_F16 ? 2 : 4);
    const tvlm_patch_plan plan = {side,    channels, (channels + 3) / 4, a->refs, a->mean, a->deviation,
                                  reflect, format};
    uint16_t *halves = malloc(bytes);
    float *floats = malloc(values * sizeof *floats);
    assert_non_null(halves);
    assert_non_null(floats);
    tvlm_buffer *in = test_buffer(device, sizeof a->places, a->places);
    tvlm_buffer *out = test_buffer(device, bytes, NULL);
    if (device->backend->patches(device, bundle, &plan, in, PLACES, out) != TVLM_OK)
        fail_msg("patches: %s", test_last_log());
    test_buffer_take(device, &out, bytes, format == TVLM_FORMAT_F16 ? (void *)halves : floats);
    device->backend->buffer_destroy(device, &in);
    if (format == TVLM_FORMAT_F16) tvlm_half_to_floats(halves, floats, values);
    free(halves);
    return floats;
}

static void bundles(const test_target *target, tvlm_device *reference) {
    static const int32_t counts[] = {0, 1, 3, 1}, sides[] = {1, 5, 16, 14}, channels[] = {3, 4, 12, 7};
    uint64_t random = 23;
    for (int n = 0; n < (test_small() ? 2 : 4); ++n) {
        test_bundle bundle = test_bundle_create(target, reference, counts[n], false, -1.0f, 1.0f, &random);
        /* Each bundle is tried in one way, since every way is another program, which takes time to
         * compile. */
        for (int way = n; way <= n; ++way) {
            const bool reflect = (way & 1) != 0;
            const tvlm_format format = (way & 2) != 0 ? TVLM_FORMAT_F16 : TVLM_FORMAT_F32;
            const plan_arrays a = random_plan(&bundle.got, &random);
            float *got = run_patches(target->device, &bundle.got, &a, sides[n], channels[n], reflect, format);
            float *expected =
                run_patches(reference, &bundle.expected, &a, sides[n], channels[n], reflect, format);
            /* Samples are divided by a deviation of at least a half. Reflection rounds coordinates once more.
             * Halves are below 4. */
            const float maximum = 3.0f * test_sample_tolerance(target, bundle.side, 2.0f) + 1e-6f +
                                  (format == TVLM_FORMAT_F16 ? 2e-3f : 0.0f);
            test_compare("patches", got, expected,
                         (size_t)PLACES * (size_t)channels[n] * (size_t)sides[n] * (size_t)sides[n], maximum,
                         maximum / 4);
            free(got);
            free(expected);
        }
        test_bundle_destroy(&bundle);
    }
}

TEST_FAMILY(patches, {"bundles", TEST_TUNED, .body = bundles})
