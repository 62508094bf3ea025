/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pick.c: one component of a slice becomes a texture of its own, with exactly the values that were written.
 */
#include "kernels/family.h"

#include <string.h>

enum { LAYERS = 2, IMAGES = 3 };

static void check(const test_trial *trial, tvlm_device *device) {
    tvlm_texture shape = test_shape(trial->size, LAYERS, IMAGES, trial->target->format);
    const size_t texels = test_texels(&shape, 0);
    float *rgba = malloc(4 * texels * sizeof *rgba);
    assert_non_null(rgba);
    shape.levels = 1;
    tvlm_texture *from = test_texture(device, &shape);
    shape.layers = shape.images = 1;
    tvlm_texture *out = test_texture(device, &shape);
    for (int32_t slice = 0; slice < LAYERS * IMAGES; ++slice) {
        /* Whole numbers: halves, too, hold them as they are. */
        for (size_t i = 0; i < 4 * texels; ++i)
            rgba[i] = (float)(test_random(trial->random) % 2048) - 1000.0f;
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

static void pick(const test_trial *trial) {
    check(trial, trial->target->device);
    check(trial, trial->reference);
}

static const test_size sizes[] = {{1, 1}, {37, 1}, {1, 29}, {61, 34}, {0, 0}};

TEST_FAMILY(pick, {"pick", .trial = pick, .sizes = sizes, .seed = 21})
