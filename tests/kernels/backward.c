/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backward.c: the gradients of sampling on every device against the reference. Every run must give the same
 * bits. ../test_backward_stack.c tests what they are the gradients of.
 */
#include <math.h>
#include <stdio.h>

#include "kernels/family.h"
#include "lab/operations.h"

typedef struct found {
    float *texels, *steps;
} found;

static found run_operation(tvlm_device *device, const tvlm_backward *asked, const float *gradients) {
    tvlm_backward b = *asked;
    const size_t width = 4 * (size_t)b.layers, count = (size_t)b.count;
    const size_t texels = (size_t)b.texture->width * (size_t)b.texture->height * width;
    found f = {malloc(texels * sizeof(float)), malloc(4 * count * sizeof(float))};
    assert_true(f.texels != NULL && f.steps != NULL);
    b.gradients = test_buffer(device, count * width * sizeof(float), gradients);
    b.texels = test_buffer(device, texels * sizeof(float), NULL);
    b.steps = test_buffer(device, 4 * count * sizeof(float), NULL);
    if (device->backend->lab->sample_backward(device, &b) != TVLM_OK) fail_msg("%s", test_last_log());
    test_buffer_take(device, &b.texels, texels * sizeof(float), f.texels);
    test_buffer_take(device, &b.steps, 4 * count * sizeof(float), f.steps);
    device->backend->buffer_destroy(device, &b.gradients);
    return f;
}

static void free_found(found *f) {
    free(f->texels);
    free(f->steps);
}

/* Points inside, outside and on corners. A point gets a whole level only if that is clamped, or if the
 * texture has a texel for each pixel. In other textures rounding would decide on which side of a whole level
 * of the texture the point lies, and so which of two slopes it has. */
static tvlm_point operation_point(const tvlm_texture *t, int32_t image, uint64_t *random) {
    tvlm_point p = {t->extent_x * (1.4f * test_random_unit(random) - 0.2f),
                    t->extent_y * (1.4f * test_random_unit(random) - 0.2f), 8.0f * test_random_unit(random),
                    (float)image};
    switch (test_random(random) % 8) {
    case 0: p.x = 0.0f, p.y = t->extent_y; break;
    case 1: p.x = 1e6f, p.y = -1e6f; break;
    case 2: p.level = 0.0f; break;
    case 3: p.level = 40.0f; break;
    case 4:
        if (t->extent_x == (float)t->width && t->extent_y == (float)t->height)
            p.level = floorf(p.level), p.x = floorf(p.x) + 0.25f, p.y = floorf(p.y) + 0.75f;
        break;
    default: break;
    }
    return p;
}

/*
 * A texel gets a sum of up to `count` products of a weight and a gradient. Gradients are below 1 in size, and
 * the device computes in floats. A step is made of differences of texels, which are below 2 in size, times
 * gradients. In a side of 300 texels a float tells a place to 4e-5 of a texel.
 */
static void compare_operation(const test_target *target, tvlm_device *reference, const tvlm_texture *shape,
                              int32_t count, uint64_t *random) {
    const test_pair pair = test_pair_create(target, reference, shape);
    const int32_t image = (int32_t)(test_random(random) % (uint64_t)shape->images);
    tvlm_point *const points = malloc((size_t)count * sizeof *points);
    tvlm_backward asked = {.texture = pair.got,
                           .first_layer = shape->layers > 1,
                           .layers = shape->layers - (shape->layers > 1),
                           .points = points,
                           .count = count};
    const size_t width = 4 * (size_t)asked.layers;
    float *const gradients = malloc((size_t)count * width * sizeof *gradients);
    assert_true(points != NULL && gradients != NULL);
    test_pair_fill(&pair, random, -1.0f, 1.0f, false);
    test_pair_levels(&pair);
    for (int32_t i = 0; i < count; ++i) points[i] = operation_point(shape, image, random);
    for (size_t i = 0; i < (size_t)count * width; ++i) gradients[i] = 2.0f * test_random_unit(random) - 1.0f;
    found got = run_operation(target->device, &asked, gradients);
    found again = run_operation(target->device, &asked, gradients);
    asked.texture = pair.expected;
    found expected = run_operation(reference, &asked, gradients);
    const size_t texels = test_texels(shape, 0) * width;
    assert_memory_equal(got.texels, again.texels, texels * sizeof(float));
    assert_memory_equal(got.steps, again.steps, 4 * (size_t)count * sizeof(float));
    char what[96];
    snprintf(what, sizeof what, "%d points of %dx%dx%d", (int)count, (int)shape->width, (int)shape->height,
             (int)shape->layers);
    const float sum = 1e-6f * sqrtf((float)count) + 2e-6f, step = 4e-5f * (float)width;
    test_compare(what, got.texels, expected.texels, texels, 4.0f * sum, sum);
    test_compare(what, got.steps, expected.steps, 4 * (size_t)count, step, step / 20.0f);
    free_found(&got);
    free_found(&again);
    free_found(&expected);
    free(points);
    free(gradients);
    test_pair pairs = pair;
    test_pair_destroy(&pairs);
}

static void all_sizes(const test_trial *trial) {
    const int32_t i = (int32_t)trial->index;
    tvlm_texture shape = test_shape(trial->size, 1 + i % 3, 1 + i % 2, trial->target->format);
    if (i % 3 == 1) { /* a texel stands for 3.7 pixels */
        shape.extent_x *= 3.7f;
        shape.extent_y *= 3.7f;
    }
    compare_operation(trial->target, trial->reference, &shape, test_small() ? 20 : 200, trial->random);
}

/* So many points in one texel that its segments (lib/lab/opencl/backward.c) are longer than the shortest. */
static void one_texel(const test_target *target, tvlm_device *reference) {
    uint64_t random = 12;
    const tvlm_texture one = test_shape((test_size){3, 2}, 1, 1, target->format);
    compare_operation(target, reference, &one, test_small() ? 600 : 20000, &random);
}

TEST_FAMILY(backward, {"all sizes", .trial = all_sizes, .seed = 11}, {"one texel", .body = one_texel})
