/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pick.c: one component of a slice as a texture of its own: exactly what was written.
 */
#include "support_stage.h"

#include <string.h>

enum { LAYERS = 2, IMAGES = 3 };

static void check(const test_target *target, tvlm_device *device, test_size size, uint64_t *random) {
    tvlm_texture shape = test_shape(size, LAYERS, IMAGES, target->format);
    const size_t texels = test_texels(&shape, 0);
    float *rgba = malloc(4 * texels * sizeof *rgba);
    assert_non_null(rgba);
    shape.levels = 1;
    tvlm_texture *from = test_texture(device, &shape);
    shape.layers = shape.images = 1;
    tvlm_texture *out = test_texture(device, &shape);
    for (int32_t slice = 0; slice < LAYERS * IMAGES; ++slice) {
        /* Whole numbers: halves, too, hold them as they are. */
        for (size_t i = 0; i < 4 * texels; ++i) rgba[i] = (float)(test_random(random) % 2048) - 1000.0f;
        assert_int_equal(device->backend->texture_write(device, from, slice, rgba), TVLM_OK);
    }
    for (int32_t slice = 0; slice < LAYERS * IMAGES; ++slice)
        for (int32_t component = 0; component < 4; ++component) {
            float *expected = test_read(device, from, 0, slice);
            test_poison(device, out);
            assert_int_equal(device->backend->pick(device, from, slice, component, out), TVLM_OK);
            float *got = test_read(device, out, 0, 0);
            for (size_t i = 0; i < texels; ++i) {
                assert_true(got[4 * i] == expected[4 * i + (size_t)component]);
                for (size_t c = 1; c < 4; ++c) assert_true(got[4 * i + c] == 0.0f);
            }
            free(expected);
            free(got);
        }
    device->backend->texture_destroy(device, &from);
    device->backend->texture_destroy(device, &out);
    free(rgba);
}

static void all_sizes(const test_target *target, tvlm_device *reference) {
    static const test_size sizes[] = {{1, 1}, {37, 1}, {1, 29}, {61, 34}};
    uint64_t random = 21;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        check(target, target->device, sizes[i], &random);
        check(target, reference, sizes[i], &random);
    }
}

static void test_all_sizes(void **state) {
    (void)state;
    test_on_targets(all_sizes);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_sizes)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
