/* SPDX-License-Identifier: Apache-2.0 */
/*
 * temporal.c: what outlives a frame is remembered and moved, stage by stage against the reference.
 * ../test_temporal_stack.c has known answers.
 */
#include <math.h>
#include <string.h>

#include "kernels/family.h"

enum { CELL = TVLM_CELL };

static const char *const names[4] = {"prev_relevance", "prev_saliency", "fixation", "component 3"};

static test_pair create(const test_target *target, tvlm_device *reference, test_size grid, test_size extent,
                        int32_t images, int32_t levels) {
    tvlm_texture shape = test_shape(grid, 1, images, target->format);
    shape.extent_x = (float)extent.width;
    shape.extent_y = (float)extent.height;
    if (levels > 0) shape.levels = levels;
    const test_pair pair = test_pair_create(target, reference, &shape);
    test_poison(pair.device, pair.got);
    test_poison(pair.reference, pair.expected);
    return pair;
}

/* The cells of an image, as lib/stack/grids.c has them. */
static test_pair create_cells(const test_target *target, tvlm_device *reference, test_size size,
                              int32_t images) {
    const test_size cells = {(size.width - 1) / CELL + 1, (size.height - 1) / CELL + 1};
    return create(target, reference, cells, (test_size){cells.width * CELL, cells.height * CELL}, images, 0);
}

/* ---- Stages ---- */

enum { SCORES = 19 * 7, POSITIONS = 40 };

static void relevance(const test_target *target, tvlm_device *reference) {
    static const test_tolerance exact[4];
    test_pair out = create(target, reference, (test_size){19, 7}, (test_size){300, 100}, 1, 0);
    float scores[SCORES];
    uint64_t random = 15;
    for (int i = 0; i < SCORES; ++i) scores[i] = 3.0f * test_random_unit(&random) - 1.0f;
    scores[3] = NAN;
    scores[4] = INFINITY;
    scores[5] = -INFINITY;
    tvlm_buffer *got = test_buffer(target->device, sizeof scores, scores);
    tvlm_buffer *expected = test_buffer(reference, sizeof scores, scores);
    assert_int_equal(target->device->backend->relevance(target->device, got, out.got), TVLM_OK);
    assert_int_equal(reference->backend->relevance(reference, expected, out.expected), TVLM_OK);
    test_pair_compare("a map of scores", &out, names, exact);
    test_buffer_take(target->device, &got, sizeof scores, scores);
    test_buffer_take(reference, &expected, sizeof scores, scores);
    test_pair_destroy(&out);
}

/* The tolerance of each channel of the state. The first two are sampled. The third is an exponential (3 ulp),
 * which at the end of its reach is 4e-6 or 0. The last is exact. */
static void state_tolerances(const test_target *target, int32_t side, test_tolerance tolerances[4]) {
    const float sampled = test_sample_tolerance(target, side, 1.0f);
    for (int c = 0; c < 3; ++c) tolerances[c] = (test_tolerance){sampled, sampled, TEST_HALF_ULP};
    tolerances[2] = (test_tolerance){5e-6f, 5e-7f, TEST_HALF_ULP};
    tolerances[3] = (test_tolerance){0.0f, 0.0f, 0.0f};
}

static void check_remember(const test_target *target, tvlm_device *reference, test_size size, bool everything,
                           uint64_t *random) {
    const int32_t images = everything ? 3 : 1, image = everything ? 1 : 0;
    const test_size quarter = test_level_size(size, 2);
    test_pair saliency = create(target, reference, quarter, size, images, 0);
    test_pair map = create(target, reference, (test_size){13, 6}, size, 1, 0);
    test_pair temporal = create_cells(target, reference, size, images),
              state = create_cells(target, reference, size, images);
    const test_pair *filled[] = {&saliency, &map, &temporal};
    float positions[2 * POSITIONS];
    test_tolerance tolerances[4];
    for (size_t i = 0; i < 3; ++i) {
        test_pair_fill(filled[i], random, 0.0f, 1.0f, false);
        test_pair_levels(filled[i]);
    }
    for (int i = 0; i < POSITIONS; ++i) {
        positions[2 * i] = (test_random_unit(random) * 1.4f - 0.2f) * (float)size.width;
        positions[2 * i + 1] = (test_random_unit(random) * 1.4f - 0.2f) * (float)size.height;
    }
    tvlm_buffer *got = test_buffer(target->device, sizeof positions, positions);
    tvlm_buffer *expected = test_buffer(reference, sizeof positions, positions);
    tvlm_remember_args args = {.image = image,
                               .component = everything ? 2 : 0,
                               .count = everything ? POSITIONS : 1,
                               .decay = 0.7f,
                               .sigma = 9.0f};
    test_pair_fill(&state, random, 0.0f, 1.0f, false); /* the other images stay as they are */
    args.saliency = saliency.got;
    args.positions = got;
    if (everything) args.relevance = map.got, args.temporal = temporal.got;
    args.state = state.got;
    assert_int_equal(target->device->backend->remember(target->device, &args), TVLM_OK);
    args.saliency = saliency.expected;
    args.positions = expected;
    if (everything) args.relevance = map.expected, args.temporal = temporal.expected;
    args.state = state.expected;
    assert_int_equal(reference->backend->remember(reference, &args), TVLM_OK);
    state_tolerances(target, size.width > size.height ? size.width : size.height, tolerances);
    test_pair_compare("what is remembered", &state, names, tolerances);
    test_buffer_take(target->device, &got, sizeof positions, positions);
    test_buffer_take(reference, &expected, sizeof positions, positions);
    test_pair_destroy(&saliency);
    test_pair_destroy(&map);
    test_pair_destroy(&temporal);
    test_pair_destroy(&state);
}

static test_pair create_luma(const test_target *target, tvlm_device *reference, test_size size,
                             int32_t images) {
    const test_size half = test_level_size(size, 1);
    tvlm_texture shape = test_shape(half, 1, images, target->format);
    shape.levels = 1;
    shape.scalar = true;
    const test_pair pair = test_pair_create(target, reference, &shape);
    test_poison(pair.device, pair.got);
    test_poison(pair.reference, pair.expected);
    return pair;
}

/* Remembers scores of the cells themselves, some of which cannot be a relevance; positions that lie behind
 * other floats; and the luma. */
static void check_remember_scores(const test_target *target, tvlm_device *reference, test_size size,
                                  uint64_t *random) {
    static const char *const luma_names[4] = {"luma", "component 1", "component 2", "component 3"};
    static const test_tolerance exact[4];
    const test_size quarter = test_level_size(size, 2);
    const int32_t images = 2, image = 1;
    test_pair saliency = create(target, reference, quarter, size, images, 0);
    test_pair source = test_source(target, reference, size, images, TEST_PICTURE_RANDOM, random);
    test_pair state = create_cells(target, reference, size, images),
              luma = create_luma(target, reference, size, images);
    const size_t cells = test_texels(state.got, 0);
    float positions[3 + 2 * POSITIONS], *scores = malloc(cells * sizeof *scores);
    test_tolerance tolerances[4];
    assert_non_null(scores);
    for (size_t i = 0; i < cells; ++i)
        scores[i] = i % 7 == 3 ? NAN : i % 7 == 5 ? INFINITY : 2.0f * test_random_unit(random) - 0.5f;
    for (int i = 0; i < 3 + 2 * POSITIONS; ++i) positions[i] = test_random_unit(random) * (float)size.width;
    test_pair_fill(&saliency, random, 0.0f, 1.0f, false);
    test_pair_levels(&saliency);
    test_pair_fill(&state, random, 0.0f, 1.0f, false); /* the other images stay as they are */
    test_pair_fill(&luma, random, 0.0f, 1.0f, false);
    tvlm_buffer *got[] = {test_buffer(target->device, cells * sizeof *scores, scores),
                          test_buffer(target->device, sizeof positions, positions)};
    tvlm_buffer *expected[] = {test_buffer(reference, cells * sizeof *scores, scores),
                               test_buffer(reference, sizeof positions, positions)};
    tvlm_remember_args args = {.luma = luma.got,
                               .state = state.got,
                               .image = image,
                               .source = source.got,
                               .scores = got[0],
                               .saliency = saliency.got,
                               .positions = got[1],
                               .positions_at = 3,
                               .count = POSITIONS,
                               .decay = 0.7f,
                               .sigma = 9.0f};
    assert_int_equal(target->device->backend->remember(target->device, &args), TVLM_OK);
    args.luma = luma.expected, args.state = state.expected, args.source = source.expected;
    args.saliency = saliency.expected, args.scores = expected[0], args.positions = expected[1];
    assert_int_equal(reference->backend->remember(reference, &args), TVLM_OK);
    state_tolerances(target, size.width > size.height ? size.width : size.height, tolerances);
    tolerances[0] = (test_tolerance){0.0f, 0.0f, TEST_HALF_ULP};
    test_pair_compare("what is remembered of scores", &state, names, tolerances);
    test_pair_compare("the luma beside it", &luma, luma_names, exact);
    test_buffer_take(target->device, &got[0], cells * sizeof *scores, scores);
    test_buffer_take(target->device, &got[1], sizeof positions, positions);
    test_buffer_take(reference, &expected[0], cells * sizeof *scores, scores);
    test_buffer_take(reference, &expected[1], sizeof positions, positions);
    test_pair_destroy(&saliency);
    test_pair_destroy(&source);
    test_pair_destroy(&state);
    test_pair_destroy(&luma);
    free(scores);
}

/* Fills in a flow that changes slowly. A part of it has no confidence, and nonsense for vectors. */
static void fill_flow(const test_pair *flow, uint64_t *random) {
    const int32_t width = flow->got->width, height = flow->got->height;
    float *rgba = calloc((size_t)width * (size_t)height, 4 * sizeof *rgba);
    assert_non_null(rgba);
    for (int32_t slice = 0; slice < flow->got->images; ++slice) {
        const float u = 60.0f * test_random_unit(random) - 30.0f,
                    v = 60.0f * test_random_unit(random) - 30.0f;
        for (int32_t i = 0; i < width * height; ++i) {
            const float along = (float)(i % width) / (float)width, down = (float)(i / width) / (float)height;
            const bool lost = slice == 1 && down > 0.5f;
            rgba[4 * i] = lost ? 1e4f : u + 9.0f * along;
            rgba[4 * i + 1] = lost ? -1e4f : v + 7.0f * down;
            rgba[4 * i + 2] = lost ? 0.0f : 0.9f;
        }
        test_pair_write(flow, slice, rgba);
    }
    free(rgba);
}

static void move(tvlm_device *device, test_size size, tvlm_texture *flow, tvlm_texture *state,
                 const tvlm_carry *carry, tvlm_texture *out) {
    /* Only the extent of the source is read. */
    tvlm_texture source = test_shape(size, 1, out->images, out->format);
    tvlm_texture *grids[TVLM_GRID_COUNT] = {[TVLM_GRID_SOURCE] = &source, [TVLM_GRID_FLOW] = flow};
    tvlm_texture *previous[TVLM_PREVIOUS_COUNT] = {[TVLM_PREVIOUS_STATE] = state};
    const tvlm_generate_args args = {.grids = grids, .out = out, .previous = previous, .carry = carry};
    if (device->backend->generate[TVLM_GRID_TEMPORAL](device, &args) != TVLM_OK)
        fail_msg("temporal: %s", test_last_log());
}

/* At a threshold, only one of device and reference may find that the flow leaves the image or is not sure.
 * Such cells are taken over from the reference; they must be few. */
static void forgive_thresholds(const test_pair *out) {
    for (int32_t slice = 0; slice < out->got->images; ++slice) {
        const size_t texels = test_texels(out->got, 0);
        float *got = test_read(out->device, out->got, 0, slice),
              *expected = test_read(out->reference, out->expected, 0, slice);
        size_t differ = 0;
        for (size_t i = 0; i < texels; ++i) {
            float *a = got + 4 * i;
            const float *b = expected + 4 * i;
            if ((a[0] + a[1] + a[2] == 0.0f) == (b[0] + b[1] + b[2] == 0.0f)) continue;
            memcpy(a, b, 4 * sizeof *a);
            ++differ;
        }
        if (differ > 1 + texels / 50)
            fail_msg("slice %d: %zu of %zu cells are valid on one side only", (int)slice, differ, texels);
        if (differ > 0)
            assert_int_equal(out->device->backend->texture_write(out->device, out->got, slice, got), TVLM_OK);
        free(got);
        free(expected);
    }
}

static void check_move(const test_target *target, tvlm_device *reference, test_size size, test_size grid,
                       uint64_t *random) {
    static const tvlm_carry carry[4] = {{true, 0.5f}, {true, 0.5f}, {false, 0.5f}, {true, 0.95f}};
    test_pair flow = create(target, reference, grid, size, 4, 0),
              state = create_cells(target, reference, size, 4);
    test_pair out = create_cells(target, reference, size, 4);
    fill_flow(&flow, random);
    test_pair_levels(&flow);
    test_pair_fill(&state, random, 0.1f, 1.0f, false);
    move(out.device, size, flow.got, state.got, carry, out.got);
    move(out.reference, size, flow.expected, state.expected, carry, out.expected);
    test_is_zero(out.device, out.got, 3); /* the flow is nowhere sure enough */
    forgive_thresholds(&out);
    /* The flow has up to 40 pixels. Its error, as a share of a cell, moves values of [0, 1]. The sampler adds
     * its own error. */
    const float sampled = test_sample_tolerance(target, size.width, 40.0f / (float)CELL) +
                          test_sample_tolerance(target, size.width, 1.0f);
    const test_tolerance one = {4.0f * sampled + 1e-5f, 2.0f * sampled, TEST_HALF_ULP},
                         tolerances[4] = {one, one, one, {0, 0, 0}};
    test_pair_compare("what is moved", &out, names, tolerances);
    test_poison(out.device, out.got);
    move(out.device, size, NULL, NULL, carry, out.got);
    for (int32_t image = 0; image < 4; ++image) test_is_zero(out.device, out.got, image);
    test_pair_destroy(&flow);
    test_pair_destroy(&state);
    test_pair_destroy(&out);
}

static void stages(const test_trial *trial) {
    const test_target *const target = trial->target;
    check_remember(target, trial->reference, trial->size, true, trial->random);
    check_remember(target, trial->reference, trial->size, false, trial->random);
    check_remember_scores(target, trial->reference, trial->size, trial->random);
    check_move(target, trial->reference, trial->size, trial->size, trial->random);
    check_move(target, trial->reference, trial->size, (test_size){3, 2}, trial->random);
}

TEST_FAMILY(temporal, {"a map of scores", TEST_TUNED, .body = relevance},
            {"remembered and moved", TEST_TUNED, .trial = stages, .seed = 151})
