/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warp.c: vectors are moved along a flow and blended, against the reference; and answers that are known.
 */
#include "kernels/family.h"

#include <math.h>
#include <string.h>

enum { LAYERS = 3 };

static const char *const names[4] = {"component 0", "component 1", "component 2", "component 3"};

typedef struct grid {
    test_size image, cells;
    float cell; /* in pixels; 0: the cells cover just the image */
} grid;

static test_pair create(const test_target *target, tvlm_device *reference, const grid *g, int32_t layers) {
    tvlm_texture shape = test_shape(g->cells, layers, 1, target->format);
    shape.extent_x = g->cell > 0.0f ? g->cell * (float)g->cells.width : (float)g->image.width;
    shape.extent_y = g->cell > 0.0f ? g->cell * (float)g->cells.height : (float)g->image.height;
    const test_pair pair = test_pair_create(target, reference, &shape);
    test_poison(pair.device, pair.got);
    test_poison(pair.reference, pair.expected);
    return pair;
}

/* Makes a flow that is nearly the same everywhere. It is unsure in the lower third, and far too long in one
 * corner. */
static test_pair create_flow(const test_target *target, tvlm_device *reference, const grid *g,
                             uint64_t *random) {
    const test_size half = test_level_size(g->image, 1);
    tvlm_texture shape = test_shape(half, 1, 1, target->format);
    shape.extent_x = (float)g->image.width;
    shape.extent_y = (float)g->image.height;
    const test_pair pair = test_pair_create(target, reference, &shape);
    const int32_t count = half.width * half.height;
    float *rgba = calloc((size_t)count, 4 * sizeof *rgba);
    const float u = 20.0f * test_random_unit(random) - 10.0f, v = 20.0f * test_random_unit(random) - 10.0f;
    for (int32_t i = 0; i < count; ++i) {
        const float across = (float)(i % half.width) / (float)half.width,
                    down = (float)(i / half.width) / (float)half.height;
        rgba[4 * i] = across < 0.2f && down < 0.2f ? 300.0f : u + across;
        rgba[4 * i + 1] = v - down;
        rgba[4 * i + 2] = down > 0.67f ? 0.1f : 0.9f;
    }
    test_pair_write(&pair, 0, rgba);
    test_pair_levels(&pair);
    free(rgba);
    return pair;
}

/* Fills in vectors, and known[] for three of four cells. The vectors of the other cells are 0. */
static void fill(const test_pair *from, float *known, uint64_t *random) {
    const size_t cells = test_texels(from->got, 0);
    float *rgba = calloc(cells, 4 * sizeof *rgba);
    for (size_t i = 0; i < cells; ++i) known[i] = test_random_unit(random) < 0.75f ? 1.0f : 0.0f;
    for (int32_t layer = 0; layer < from->got->layers; ++layer) {
        for (size_t i = 0; i < 4 * cells; ++i)
            rgba[i] = known[i / 4] * (2.0f * test_random_unit(random) - 1.0f);
        test_pair_write(from, layer, rgba);
    }
    free(rgba);
}

/* At a threshold, cells may be known on one side only. These are taken over from the reference; they must be
 * few. */
static void forgive_thresholds(const test_pair *out, const float *got, const float *expected) {
    const size_t cells = test_texels(out->got, 0);
    size_t differ = 0;
    for (size_t i = 0; i < cells; ++i) {
        assert_true(got[4 * i + 2] == 0.0f || got[4 * i + 2] == 1.0f);
        differ += got[4 * i + 2] != expected[4 * i + 2];
    }
    if (differ > 1 + cells / 50) fail_msg("%zu of %zu cells are known on one side only", differ, cells);
    for (int32_t layer = 0; differ > 0 && layer < out->got->layers; ++layer) {
        float *a = test_read(out->device, out->got, 0, layer),
              *b = test_read(out->reference, out->expected, 0, layer);
        for (size_t i = 0; i < cells; ++i)
            if (got[4 * i + 2] != expected[4 * i + 2]) memcpy(a + 4 * i, b + 4 * i, 4 * sizeof *a);
        assert_int_equal(out->device->backend->texture_write(out->device, out->got, layer, a), TVLM_OK);
        free(a);
        free(b);
    }
}

/* `path` and `next` have four floats for each cell. */
static void warp(tvlm_device *device, const grid *g, const tvlm_texture *from, const tvlm_texture *flow,
                 tvlm_texture *out, const float *known, const float *path, float *next) {
    const size_t bytes = test_texels(from, 0) * sizeof *known;
    tvlm_buffer *in = test_buffer(device, bytes, known), *before = test_buffer(device, 4 * bytes, path),
                *result = test_buffer(device, 4 * bytes, NULL);
    const tvlm_warp args = {.from = from,
                            .flow = flow,
                            .width = (float)g->image.width,
                            .height = (float)g->image.height,
                            .confidence = 0.5f,
                            .longest = 60.0f,
                            .known = in,
                            .path = before,
                            .next = result};
    if (device->backend->warp(device, &args, out) != TVLM_OK) fail_msg("warp: %s", test_last_log());
    float *unused = malloc(4 * bytes);
    test_buffer_take(device, &result, 4 * bytes, next);
    test_buffer_take(device, &in, bytes, unused);
    test_buffer_take(device, &before, 4 * bytes, unused);
    free(unused);
}

/* Fills in a path that leads to places around, and is known in two cells of three. */
static void fill_path(float *path, size_t cells, uint64_t *random) {
    for (size_t i = 0; i < cells; ++i) {
        const bool known = test_random_unit(random) < 0.67f;
        path[4 * i] = known ? 6.0f * test_random_unit(random) - 3.0f : 0.0f;
        path[4 * i + 1] = known ? 6.0f * test_random_unit(random) - 3.0f : 0.0f;
        path[4 * i + 2] = known;
    }
}

static void check_warp(const test_target *target, tvlm_device *reference, const grid *g, uint64_t *random) {
    test_pair from = create(target, reference, g, LAYERS), out = create(target, reference, g, LAYERS),
              flow = create_flow(target, reference, g, random);
    const size_t cells = test_texels(from.got, 0);
    float *known = calloc(cells, 13 * sizeof *known), *path = known + cells, *got = path + 4 * cells,
          *expected = got + 4 * cells;
    fill(&from, known, random);
    fill_path(path, cells, random);
    warp(from.device, g, from.got, flow.got, out.got, known, path, got);
    warp(from.reference, g, from.expected, flow.expected, out.expected, known, path, expected);
    forgive_thresholds(&out, got, expected);
    /* The flow has up to 12 pixels, and is in half; the error of its filter counts as a share of a cell.
     * Vectors are sampled, and divided by at least half a cell. */
    const int32_t side = g->image.width > g->image.height ? g->image.width : g->image.height;
    const float step =
        fminf(from.got->extent_x / (float)g->cells.width, from.got->extent_y / (float)g->cells.height);
    const float sampled = 2.0f * test_sample_tolerance(target, side, 2.0f) +
                          8.0f * test_sample_tolerance(target, side, 12.0f) / fminf(step, 12.0f);
    const test_tolerance one = {4.0f * sampled + 2e-5f, sampled + 1e-5f, TEST_HALF_ULP},
                         tolerances[4] = {one, one, one, one};
    test_pair_compare("vectors moved", &out, names, tolerances);

    for (size_t i = 0; i < cells; ++i) /* paths, in pixels, come from a flow in the stack's format */
        for (size_t c = 0; c < 2 && got[4 * i + 2] == expected[4 * i + 2]; ++c)
            if (!(fabsf(got[4 * i + c] - expected[4 * i + c]) <=
                  1e-3f + 8.0f * test_sample_tolerance(target, side, 12.0f)))
                fail_msg("path of cell %zu: %g, not %g", i, (double)got[4 * i + c],
                         (double)expected[4 * i + c]);

    /* If nothing moves, all is exactly as it was. */
    for (size_t i = 0; i < 4 * cells; ++i) path[i] = i % 4 == 2 ? known[i / 4] : 0.0f;
    warp(from.device, g, from.got, NULL, out.got, known, path, got);
    for (size_t i = 0; i < 4 * cells; ++i) assert_true(got[i] == path[i]);
    for (int32_t layer = 0; layer < LAYERS; ++layer) {
        float *a = test_read(from.device, from.got, 0, layer), *b = test_read(out.device, out.got, 0, layer);
        for (size_t i = 0; i < 4 * cells; ++i) assert_true(a[i] == b[i]);
        free(a);
        free(b);
    }
    free(known);
    test_pair_destroy(&from);
    test_pair_destroy(&out);
    test_pair_destroy(&flow);
}

static void check_blend(const test_target *target, tvlm_device *reference, const grid *g, uint64_t *random) {
    test_pair old = create(target, reference, g, LAYERS), fresh = create(target, reference, g, LAYERS),
              out = create(target, reference, g, LAYERS);
    const size_t cells = test_texels(old.got, 0), bytes = cells * sizeof(float);
    float *weights = calloc(cells, sizeof *weights);
    test_pair_fill(&old, random, -1.0f, 1.0f, false);
    test_pair_fill(&fresh, random, -1.0f, 1.0f, false);
    for (size_t i = 0; i < cells; ++i) weights[i] = i % 3 == 0 ? 0.0f : i % 3 == 1 ? 1.0f : 0.7f;
    tvlm_buffer *got = test_buffer(target->device, bytes, weights),
                *expected = test_buffer(reference, bytes, weights);
    assert_int_equal(target->device->backend->blend(target->device, old.got, fresh.got, got, out.got),
                     TVLM_OK);
    assert_int_equal(
        reference->backend->blend(reference, old.expected, fresh.expected, expected, out.expected), TVLM_OK);
    const test_tolerance one = {2e-7f, 1e-7f, TEST_HALF_ULP}, tolerances[4] = {one, one, one, one};
    test_pair_compare("vectors blended", &out, names, tolerances);
    test_buffer_take(target->device, &got, bytes, weights);
    test_buffer_take(reference, &expected, bytes, weights);
    free(weights);
    test_pair_destroy(&old);
    test_pair_destroy(&fresh);
    test_pair_destroy(&out);
}

static void stages(const test_target *target, tvlm_device *reference) {
    static const grid grids[] = {{{97, 61}, {7, 5}, 0.0f},
                                 {{97, 61}, {7, 4}, 14.0f},
                                 {{1, 1}, {1, 1}, 0.0f},
                                 {{130, 33}, {65, 17}, 0.0f},
                                 {{40, 200}, {3, 13}, 16.0f}};
    uint64_t random = 77;
    for (size_t i = 0; i < sizeof grids / sizeof grids[0]; ++i) {
        check_warp(target, reference, &grids[i], &random);
        check_blend(target, reference, &grids[i], &random);
    }
}

TEST_FAMILY(warp, {"warp and blend", .body = stages})
