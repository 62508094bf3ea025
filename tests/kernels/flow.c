/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.c: optical flow against the reference, stage by stage. ../test_flow_stack.c tests it with motions that
 * are known.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/family.h"

/* Makes the second source: the first one moved by (3, -2) texels if `moved`, otherwise another picture. */
static test_pair second_source(const test_target *target, tvlm_device *reference, const test_pair *first,
                               test_picture picture, bool moved, uint64_t *random) {
    const tvlm_texture *shape = first->got;
    test_pair pair = test_source(target, reference, (test_size){shape->width, shape->height}, shape->images,
                                 picture, random);
    if (!moved) return pair;
    for (int32_t slice = 0; slice < shape->images; ++slice) {
        float *from = test_read(first->reference, first->expected, 0, slice);
        float *to = malloc(4 * test_texels(shape, 0) * sizeof *to);
        assert_non_null(to);
        for (int32_t y = 0; y < shape->height; ++y)
            for (int32_t x = 0; x < shape->width; ++x) {
                const int32_t fx = x >= 3 ? x - 3 : 0, fy = y + 2 < shape->height ? y + 2 : shape->height - 1;
                memcpy(to + 4 * (y * shape->width + x), from + 4 * (fy * shape->width + fx), 4 * sizeof *to);
            }
        test_pair_write(&pair, slice, to);
        free(from);
        free(to);
    }
    test_pair_levels(&pair);
    return pair;
}

static float *flow_of(tvlm_device *device, tvlm_texture *from, tvlm_texture *to, int32_t image,
                      tvlm_flow_args args, size_t count) {
    float *values = malloc(count * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < count; ++i) values[i] = NAN;
    args.from = from;
    args.to = to;
    args.from_image = 0;
    args.to_image = image;
    args.out = test_buffer(device, count * sizeof *values, values);
    if (device->backend->flow(device, &args) != TVLM_OK) fail_msg("flow: %s", test_last_log());
    test_buffer_take(device, &args.out, count * sizeof *values, values);
    return values;
}

/* The operation can write the flow into a stack's grid, too. The grid must then be the same as if the flow
 * had been handed in, and other images of the grid must stay as they are. */
static void check_grid(tvlm_device *device, tvlm_texture *from, tvlm_texture *to, tvlm_flow_args args,
                       tvlm_format format) {
    const test_size size = {tvlm_level_side(from->width, args.finest),
                            tvlm_level_side(from->height, args.finest)};
    const size_t texels = (size_t)size.width * (size_t)size.height;
    const float most = 2.5f; /* so that some of it is clamped */
    tvlm_texture shape = test_shape(size, 1, 2, format), *grid = NULL, *expected = NULL;
    assert_int_equal(device->backend->texture_create(device, &shape, &grid), TVLM_OK);
    assert_int_equal(device->backend->texture_create(device, &shape, &expected), TVLM_OK);
    test_poison(device, grid);
    test_poison(device, expected);
    args.from = from;
    args.to = to;
    args.out = test_buffer(device, 3 * texels * sizeof(float), NULL);
    args.grid = grid;
    args.grid_image = 1;
    args.limit = most;
    if (device->backend->flow(device, &args) != TVLM_OK) fail_msg("flow: %s", test_last_log());
    const tvlm_input input = {.columns = size.width,
                              .rows = size.height,
                              .channels = 3,
                              .mode = TVLM_INPUT_CLAMP,
                              .row_stride = 3 * sizeof(float) * (size_t)size.width,
                              .low = {-most, -most, 0.0f, 0.0f},
                              .high = {most, most, 1.0f, 0.0f}};
    assert_int_equal(device->backend->input(device, args.out, &input, 1, expected), TVLM_OK);
    for (int32_t slice = 0; slice < 2; ++slice) {
        float *got = test_read(device, grid, 0, slice), *want = test_read(device, expected, 0, slice);
        if (memcmp(got, want, 4 * texels * sizeof *got) != 0) fail_msg("the grid differs, slice %d", slice);
        free(got);
        free(want);
    }
    device->backend->buffer_destroy(device, &args.out);
    device->backend->texture_destroy(device, &grid);
    device->backend->texture_destroy(device, &expected);
}

/*
 * Counts the texels that differ by more than float's rounding of positions; few may. If a patch compares two
 * errors that are all but equal, or stands still over no texture, a device may decide otherwise. A refinement
 * carries the difference to the texels around, and further levels multiply it.
 */
static void compare_share(const char *what, const float *got, const float *expected, size_t texels,
                          float tolerance, float share) {
    size_t differ = 0;
    double worst = 0.0;
    for (size_t i = 0; i < 3 * texels; ++i)
        if (!isfinite(got[i]) || !isfinite(expected[i]))
            fail_msg("%s: [%zu] is %g, expected %g", what, i, (double)got[i], (double)expected[i]);
    for (size_t i = 0; i < texels; ++i) {
        float most = 0.0f;
        for (size_t c = 0; c < 3; ++c) most = fmaxf(most, fabsf(got[3 * i + c] - expected[3 * i + c]));
        if (got[3 * i + 2] < 0.0f || got[3 * i + 2] > 1.0f)
            fail_msg("%s: texel %zu has the confidence %g", what, i, (double)got[3 * i + 2]);
        differ += most > tolerance;
        worst = fmax(worst, (double)most);
    }
    if (getenv("TVLM_TEST_FIGURES") != NULL)
        printf("FIGURES\t%zu of %zu differ, the most %.3g\t%s\n", differ, texels, worst, what);
    if ((double)differ > (double)share * (double)texels + 2.0)
        fail_msg("%s: %zu of %zu texels differ by more than %g, the most %g", what, differ, texels,
                 (double)tolerance, worst);
}

/* Compares three cases: the patches of one level; one level with a refinement; several levels. */
static void check_pair(const test_pair *from, const test_pair *to, bool moved) {
    const char *const name = moved ? "moved" : "another";
    static const struct {
        int32_t finest, levels, refinements;
        float tolerance, share;
    } stages[] = {{1, 0, 0, 2e-3f, 0.04f}, {0, 0, 1, 4e-3f, 0.04f}, {1, 9, 4, 2e-2f, 0.05f}};
    for (size_t s = 0; s < sizeof stages / sizeof stages[0]; ++s) {
        const int32_t last = from->got->levels - 1,
                      finest = stages[s].finest < last ? stages[s].finest : last;
        const int32_t wanted = finest + stages[s].levels;
        tvlm_flow_args args = {.finest = finest, .coarsest = finest, .refinements = stages[s].refinements};
        while (args.coarsest < wanted && args.coarsest < last &&
               tvlm_level_side(from->got->width, args.coarsest + 1) >= 12)
            ++args.coarsest;
        const size_t texels = (size_t)tvlm_level_side(from->got->width, finest) *
                              (size_t)tvlm_level_side(from->got->height, finest);
        const int32_t image = from->got->images - 1;
        float *got = flow_of(from->device, from->got, to->got, image, args, 3 * texels);
        float *expected = flow_of(from->reference, from->expected, to->expected, image, args, 3 * texels);
        char what[120];
        snprintf(what, sizeof what, "flow, stage %zu, %s, %dx%d", s, name, (int)from->got->width,
                 (int)from->got->height);
        compare_share(what, got, expected, texels, stages[s].tolerance, stages[s].share);
        if (s == 1) {
            check_grid(from->device, from->got, to->got, args, from->got->format);
            check_grid(from->reference, from->expected, to->expected, args, from->got->format);
        }
        free(got);
        free(expected);
    }
}

static void stages(const test_target *target, tvlm_device *reference) {
    static const test_size sizes[] = {{1, 1}, {1, 37}, {53, 1}, {7, 5}, {31, 64}, {97, 61}, {203, 131}};
    uint64_t random = 5050;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        if (test_small() && sizes[i].width > 60) break;
        for (int moved = 0; moved < 2; ++moved) {
            const int32_t images = i % 2 == 0 ? 1 : 2;
            test_pair from = test_source(target, reference, sizes[i], images, TEST_PICTURE_RANDOM, &random);
            test_pair to = second_source(target, reference, &from, TEST_PICTURE_RANDOM, moved != 0, &random);
            check_pair(&from, &to, moved != 0);
            test_pair_destroy(&from);
            test_pair_destroy(&to);
        }
    }
}

TEST_FAMILY(flow, {"stages", TEST_TUNED, .body = stages})
