/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_temporal.c: what outlives a frame: remembered and moved, stage by stage against the reference; and
 * answers that are known, through a stack.
 */
#include "support_stage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stack_helper.h"
#include "texturevlm/input.h"

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

static void with_levels(const test_pair *pair) {
    test_pair_mips(pair);
    test_pair_equalise(pair);
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

/* The tolerance of each channel of the state: sampled once, sampled, an exponential (3 ulp), which at its
 * reach is 4e-6 or nothing. */
static void state_tolerances(const test_target *target, int32_t side, test_tolerance tolerances[4]) {
    const float sampled = test_sample_tolerance(target, side, 1.0f);
    for (int c = 0; c < 3; ++c) tolerances[c] = (test_tolerance){sampled, sampled, TEST_HALF_ULP};
    tolerances[2] = (test_tolerance){5e-6f, 5e-7f, TEST_HALF_ULP};
    tolerances[3] = (test_tolerance){0.0f, 0.0f, 0.0f};
}

static void check_remember(const test_target *target, tvlm_device *reference, test_size size, bool everything,
                           uint64_t *random) {
    const int32_t images = everything ? 3 : 1, image = everything ? 1 : 0;
    const test_size quarter = {tvlm_level_side(size.width, 2), tvlm_level_side(size.height, 2)};
    test_pair saliency = create(target, reference, quarter, size, images, 0);
    test_pair map = create(target, reference, (test_size){13, 6}, size, 1, 0);
    test_pair temporal = create_cells(target, reference, size, images),
              state = create_cells(target, reference, size, images);
    const test_pair *filled[] = {&saliency, &map, &temporal};
    float positions[2 * POSITIONS];
    test_tolerance tolerances[4];
    for (size_t i = 0; i < 3; ++i) {
        test_pair_fill(filled[i], random, 0.0f, 1.0f, false);
        with_levels(filled[i]);
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
    const test_size half = {tvlm_level_side(size.width, 1), tvlm_level_side(size.height, 1)};
    tvlm_texture shape = test_shape(half, 1, images, target->format);
    shape.levels = 1;
    shape.scalar = true;
    const test_pair pair = test_pair_create(target, reference, &shape);
    test_poison(pair.device, pair.got);
    test_poison(pair.reference, pair.expected);
    return pair;
}

/* Scores of the cells themselves, some of which are no relevance; positions behind other floats; and the luma. */
static void check_remember_scores(const test_target *target, tvlm_device *reference, test_size size,
                                  uint64_t *random) {
    static const char *const luma_names[4] = {"luma", "component 1", "component 2", "component 3"};
    static const test_tolerance exact[4];
    const test_size quarter = {tvlm_level_side(size.width, 2), tvlm_level_side(size.height, 2)};
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
    with_levels(&saliency);
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

/* Flow that changes slowly, some of it without confidence; where it is not sure, it also is nonsense. */
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
    /* Of the source only its extent is looked at. */
    tvlm_texture source = test_shape(size, 1, out->images, out->format);
    tvlm_texture *grids[TVLM_GRID_COUNT] = {[TVLM_GRID_SOURCE] = &source, [TVLM_GRID_FLOW] = flow};
    tvlm_texture *previous[TVLM_PREVIOUS_COUNT] = {[TVLM_PREVIOUS_STATE] = state};
    const tvlm_generate_args args = {.grids = grids, .out = out, .previous = previous, .carry = carry};
    if (device->backend->generate[TVLM_GRID_TEMPORAL](device, &args) != TVLM_OK)
        fail_msg("temporal: %s", test_last_log());
}

static void assert_zero(tvlm_device *device, tvlm_texture *texture, int32_t slice) {
    float *rgba = test_read(device, texture, 0, slice);
    for (size_t i = 0; i < 4 * test_texels(texture, 0); ++i)
        if (rgba[i] != 0.0f) fail_msg("slice %d, [%zu] is %g, not 0", (int)slice, i, (double)rgba[i]);
    free(rgba);
}

/* Where one side finds that the flow leaves the image, or is not sure, and the other does not: its
 * thresholds. */
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
    with_levels(&flow);
    test_pair_fill(&state, random, 0.1f, 1.0f, false);
    move(out.device, size, flow.got, state.got, carry, out.got);
    move(out.reference, size, flow.expected, state.expected, carry, out.expected);
    assert_zero(out.device, out.got, 3); /* nowhere as sure as that */
    forgive_thresholds(&out);
    /* The error of 40 pixels of flow, over a cell, in values of [0, 1]; and the sampler's. */
    const float sampled = test_sample_tolerance(target, size.width, 40.0f / CELL) +
                          test_sample_tolerance(target, size.width, 1.0f);
    const test_tolerance one = {4.0f * sampled + 1e-5f, 2.0f * sampled, TEST_HALF_ULP},
                         tolerances[4] = {one, one, one, {0, 0, 0}};
    test_pair_compare("what is moved", &out, names, tolerances);
    test_poison(out.device, out.got);
    move(out.device, size, NULL, NULL, carry, out.got);
    for (int32_t image = 0; image < 4; ++image) assert_zero(out.device, out.got, image);
    test_pair_destroy(&flow);
    test_pair_destroy(&state);
    test_pair_destroy(&out);
}

static void stages(const test_target *target, tvlm_device *reference) {
    size_t count;
    const test_size *sizes = test_sizes(&count);
    uint64_t random = 151;
    relevance(target, reference);
    for (size_t i = 0; i < count; ++i) {
        check_remember(target, reference, sizes[i], true, &random);
        check_remember(target, reference, sizes[i], false, &random);
        check_remember_scores(target, reference, sizes[i], &random);
        check_move(target, reference, sizes[i], sizes[i], &random);
        check_move(target, reference, sizes[i], (test_size){3, 2}, &random);
    }
}

/* ---- Through a stack ---- */

enum { WIDTH = 200, HEIGHT = 120, COLUMNS = 13, ROWS = 8, CELLS = COLUMNS * ROWS };

static tvlm_stack *temporal_stack(tvlm_device *device, tvlm_format format, const char *layout,
                                  int32_t images) {
    tvlm_stack *stack = NULL;
    assert_int_equal(tvlm_stack_create(device,
                                       tvlm_stack_params(.layout = layout, .width = WIDTH, .height = HEIGHT,
                                                         .images = images, .format = format),
                                       &stack),
                     TVLM_OK);
    return stack;
}

static void set_frame(tvlm_stack *stack, int32_t index, uint64_t seed) {
    uint8_t *pixels = test_random_pixels(&seed, WIDTH, HEIGHT, 3);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    assert_int_equal(tvlm_stack_set_image(stack, index, &image), TVLM_OK);
    free(pixels);
}

/* The same flow everywhere, as a grid of one cell. */
static void set_flow(tvlm_stack *stack, int32_t index, float u, float v, float confidence) {
    const float flow[3] = {u, v, confidence};
    assert_int_equal(
        tvlm_stack_set_grid(stack, index, TVLM_CHANNEL_FLOW_U,
                            tvlm_grid_input(.data = flow, .columns = 1, .rows = 1, .channels = 3)),
        TVLM_OK);
}

static float *cells_of(tvlm_stack *stack, int32_t index, int32_t channel) {
    size_t count;
    float *values = read_level(stack, index, channel, 0, &count);
    assert_int_equal(count, CELLS);
    return values;
}

static void assert_cells(const char *what, const float *got, const float *expected, tvlm_format format) {
    test_compare(what, got, expected, CELLS, format == TVLM_FORMAT_F16 ? 6e-4f : 2e-6f, 3e-4f);
}

/* `from` moved by whole cells; 0 where it comes from outside. */
static void shift(const float *from, int32_t columns, int32_t rows, float *to) {
    for (int32_t y = 0; y < ROWS; ++y)
        for (int32_t x = 0; x < COLUMNS; ++x) {
            const int32_t sx = x + columns, sy = y + rows;
            const bool inside = sx >= 0 && sx < COLUMNS && sy >= 0 && sy < ROWS;
            to[y * COLUMNS + x] = inside ? from[sy * COLUMNS + sx] : 0.0f;
        }
}

/* What was handed in, comes out; a flow of whole cells moves it by exactly that; no confidence clears it. */
static void check_shift(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = temporal_stack(device, format, "prev_relevance,prev_saliency,fixation", 1);
    float map[CELLS], moved[CELLS];
    uint64_t random = 99;
    for (int i = 0; i < CELLS; ++i) map[i] = test_random_unit(&random);
    set_frame(stack, 0, 1);
    float *saliency = cells_of(stack, 0, TVLM_CHANNEL_PREV_SALIENCY);
    for (int i = 0; i < CELLS; ++i) assert_true(saliency[i] == 0.0f); /* a first frame */
    free(saliency);

    float scores[CELLS];
    assert_int_equal(tvlm_score(stack, NULL, NULL, CELLS, scores), TVLM_OK);
    assert_int_equal(tvlm_stack_advance(stack, 0, NULL), TVLM_OK);
    set_frame(stack, 0, 2);
    float *relevance = cells_of(stack, 0, TVLM_CHANNEL_PREV_RELEVANCE);
    assert_cells("the last scores", relevance, scores, format);
    saliency = cells_of(stack, 0, TVLM_CHANNEL_PREV_SALIENCY);

    /* 32 to the left of it, 16 below: columns move by two, rows by one. */
    set_flow(stack, 0, -32.0f, 16.0f, 1.0f);
    float *got = cells_of(stack, 0, TVLM_CHANNEL_PREV_RELEVANCE);
    shift(relevance, -2, 1, moved);
    assert_cells("moved relevance", got, moved, format);
    free(got);
    got = cells_of(stack, 0, TVLM_CHANNEL_PREV_SALIENCY);
    shift(saliency, -2, 1, moved);
    assert_cells("moved saliency", got, moved, format);
    free(got);

    set_flow(stack, 0, -32.0f, 16.0f, 0.4f);
    got = cells_of(stack, 0, TVLM_CHANNEL_PREV_RELEVANCE);
    for (int i = 0; i < CELLS; ++i) assert_true(got[i] == 0.0f);
    free(got);
    set_flow(stack, 0, 5000.0f, 0.0f, 1.0f);
    got = cells_of(stack, 0, TVLM_CHANNEL_PREV_SALIENCY);
    for (int i = 0; i < CELLS; ++i) assert_true(got[i] == 0.0f);
    free(got);

    /* Advancing takes the flow back, and what nobody scored is not relevant. */
    assert_int_equal(
        tvlm_stack_advance(stack, 0, tvlm_advance_params(.relevance = map, .columns = 1, .rows = 1)),
        TVLM_OK);
    set_frame(stack, 0, 3);
    got = cells_of(stack, 0, TVLM_CHANNEL_PREV_RELEVANCE);
    for (int i = 0; i < CELLS; ++i) assert_float_equal(got[i], map[0], 1e-3f);
    free(got);
    assert_int_equal(tvlm_stack_advance(stack, 0, NULL), TVLM_OK);
    got = cells_of(stack, 0, TVLM_CHANNEL_PREV_RELEVANCE);
    for (int i = 0; i < CELLS; ++i) assert_true(got[i] == 0.0f);
    free(got);
    assert_int_equal(tvlm_stack_forget(stack, 0), TVLM_OK);
    got = cells_of(stack, 0, TVLM_CHANNEL_PREV_SALIENCY);
    for (int i = 0; i < CELLS; ++i) assert_true(got[i] == 0.0f);
    free(got);
    free(relevance);
    free(saliency);
    tvlm_stack_destroy(&stack);
}

/* A Gaussian at the centre of a cell, then 0.8, 0.64 ... of it, each time a cell further. */
static void check_decay(tvlm_device *device, tvlm_format format) {
    static const float position[2] = {5.5f * CELL, 3.5f * CELL};
    tvlm_stack *stack = temporal_stack(device, format, "fixation", 1);
    float expected[CELLS], decay = 0.8f;
    const float slack = format == TVLM_FORMAT_F16 ? 2e-3f : 3e-6f;
    set_frame(stack, 0, 1);
    assert_int_equal(
        tvlm_stack_advance(stack, 0, tvlm_advance_params(.positions = position, .position_count = 1)),
        TVLM_OK);
    for (int frame = 0; frame < 5; ++frame) {
        set_frame(stack, 0, (uint64_t)frame);
        if (frame > 0) set_flow(stack, 0, -CELL, 0.0f, 1.0f);
        for (int i = 0; i < CELLS; ++i) {
            const int column = i % COLUMNS, row = i / COLUMNS;
            const float dx = (float)(column - frame - 5) * CELL, dy = (float)(row - 3) * CELL;
            const float gaussian = expf(-(dx * dx + dy * dy) / (2.0f * 24.0f * 24.0f));
            const bool seen = column >= frame && dx * dx + dy * dy < 120.0f * 120.0f;
            expected[i] = seen ? powf(decay, (float)frame) * gaussian : 0.0f;
        }
        float *got = cells_of(stack, 0, TVLM_CHANNEL_FIXATION);
        test_compare("fixation", got, expected, CELLS, slack, slack);
        free(got);
        assert_int_equal(tvlm_stack_advance(stack, 0, NULL), TVLM_OK);
    }
    /* Many at one place are no more than one; a decay of 0 forgets. */
    const float many[] = {40, 40, 40, 40, 40, 40, 40, 40};
    assert_int_equal(tvlm_stack_advance(stack, 0,
                                        tvlm_advance_params(.positions = many, .position_count = 4,
                                                            .decay = TVLM_EXPLICIT_ZERO)),
                     TVLM_OK);
    float *got = cells_of(stack, 0, TVLM_CHANNEL_FIXATION);
    assert_float_equal(got[2 * COLUMNS + 2], 1.0f, 0.0f);
    assert_float_equal(got[2 * COLUMNS + 3], expf(-CELL * CELL / (2.0f * 24.0f * 24.0f)), slack);
    assert_float_equal(got[7 * COLUMNS + 12], 0.0f, 0.0f);
    free(got);
    tvlm_stack_destroy(&stack);
}

/* What tvlm_select chose is what was looked at. */
static void check_selected(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = temporal_stack(device, format, "fixation", 1);
    tvlm_selection *selection = NULL;
    int32_t count;
    set_frame(stack, 0, 11);
    assert_int_equal(
        tvlm_select(stack, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = 3), &selection),
        TVLM_OK);
    const tvlm_position *p = tvlm_selection_positions(selection, &count);
    assert_int_equal(tvlm_stack_advance(stack, 0, tvlm_advance_params(.sigma = 3.0f)), TVLM_OK);
    float *got = cells_of(stack, 0, TVLM_CHANNEL_FIXATION);
    int found = 0;
    for (int i = 0; i < CELLS; ++i) found += got[i] > 0.4f;
    assert_int_equal(found, count);
    for (int32_t i = 0; i < count; ++i) assert_true(got[p[i].row * COLUMNS + p[i].column] > 0.02f);
    free(got);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
}

/* Streams of a batch, in chunks, are what each is alone, to the bit; whoever has no flow, does not move. */
static void check_streams(tvlm_device *device, tvlm_format format) {
    enum { STREAMS = 5 };
    static const int32_t channels[3] = {TVLM_CHANNEL_PREV_RELEVANCE, TVLM_CHANNEL_PREV_SALIENCY,
                                        TVLM_CHANNEL_FIXATION};
    const int32_t slices = device->info.image_slices_max;
    device->info.image_slices_max = 32;
    tvlm_stack *batch = temporal_stack(device, format, "full40", STREAMS);
    device->info.image_slices_max = slices;
    tvlm_stack *single[STREAMS];
    for (int32_t i = 0; i < STREAMS; ++i) single[i] = temporal_stack(device, format, "full40", 1);
    for (int frame = 0; frame < 3; ++frame) {
        for (int32_t i = 0; i < STREAMS; ++i) {
            tvlm_stack *const stacks[2] = {batch, single[i]};
            for (int s = 0; s < 2; ++s) {
                const int32_t index = s == 0 ? i : 0;
                tvlm_selection *selection = NULL;
                set_frame(stacks[s], index, (uint64_t)(10 * frame + i));
                if (frame > 0 && i % 2 == 0) set_flow(stacks[s], index, 7.0f - (float)i, 3.0f, 1.0f);
                assert_int_equal(tvlm_select(stacks[s], NULL,
                                             tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = 7,
                                                                .score.index = index),
                                             &selection),
                                 TVLM_OK);
                tvlm_selection_destroy(&selection);
            }
        }
        for (int32_t i = 0; i < STREAMS; ++i)
            for (int c = 0; c < 3; ++c) {
                float *a = cells_of(batch, i, channels[c]), *b = cells_of(single[i], 0, channels[c]);
                for (int j = 0; j < CELLS; ++j)
                    if (a[j] != b[j])
                        fail_msg("frame %d, image %d, channel %d, [%d]: %g in the batch, %g alone", frame,
                                 (int)i, (int)channels[c], j, (double)a[j], (double)b[j]);
                assert_true((frame == 0) == (a[CELLS / 2] == 0.0f) || c == 2);
                free(a);
                free(b);
            }
        for (int32_t i = 0; i < STREAMS; ++i) {
            assert_int_equal(tvlm_stack_advance(batch, i, NULL), TVLM_OK);
            assert_int_equal(tvlm_stack_advance(single[i], 0, NULL), TVLM_OK);
        }
    }
    tvlm_stack_destroy(&batch);
    for (int32_t i = 0; i < STREAMS; ++i) tvlm_stack_destroy(&single[i]);
}

/* Nothing is kept that nobody reads; what a reader adds, is kept from then on. */
static void check_cost(tvlm_device *device, tvlm_format format) {
    static const int32_t fixation = TVLM_CHANNEL_FIXATION;
    const tvlm_sample_point point = {50, 50, 0, 0};
    tvlm_stack *stack = temporal_stack(device, format, "r,edges", 1);
    tvlm_stack_info before, after;
    float value;
    set_frame(stack, 0, 5);
    assert_int_equal(tvlm_stack_make_all(stack), TVLM_OK);
    assert_int_equal(tvlm_stack_get_info(stack, &before), TVLM_OK);
    assert_int_equal(tvlm_stack_advance(stack, 0, NULL), TVLM_OK);
    assert_int_equal(tvlm_stack_sample(stack, &point, 1, &fixation, 1, &value), TVLM_OK);
    assert_float_equal(value, 0.0f, 0.0f);
    assert_int_equal(tvlm_stack_get_info(stack, &after), TVLM_OK);
    assert_int_equal(before.device_bytes, after.device_bytes);
    assert_int_equal(
        tvlm_stack_advance(stack, 0, tvlm_advance_params(.positions = &point.x, .position_count = 1)),
        TVLM_OK);
    assert_int_equal(tvlm_stack_sample(stack, &point, 1, &fixation, 1, &value), TVLM_OK);
    assert_true(value > 0.8f);
    assert_int_equal(tvlm_stack_get_info(stack, &after), TVLM_OK);
    assert_true(before.device_bytes < after.device_bytes);
    tvlm_stack_destroy(&stack);
}

#define REFUSE(LINE, ...)                                                                                    \
    refused(tvlm_stack_advance(stack, 0, tvlm_advance_params(__VA_ARGS__)), TVLM_ERROR_ARGUMENT, LINE)

static void test_refusals(void **state) {
    static const float bad[4] = {0.5f, NAN, 2.0f, INFINITY};
    tvlm_device *device = open_reference();
    tvlm_stack *stack = temporal_stack(device, TVLM_FORMAT_F32, "full40", 1);
    (void)state;
    REFUSE("relevance of 0x2", .relevance = bad, .rows = 2);
    REFUSE("relevance: value 1 is not finite", .relevance = bad, .columns = 2, .rows = 1);
    REFUSE("positions: value 1 is not finite", .positions = bad, .position_count = 1);
    REFUSE("2 positions, but none given", .position_count = 2);
    REFUSE("-1 positions", .positions = bad, .position_count = -1);
    REFUSE("decay of 2", .decay = bad[2]);
    REFUSE("decay of nan", .decay = bad[1]);
    REFUSE("sigma of -1", .sigma = -1.0f);
    REFUSE("sigma of nan", .sigma = NAN);
    REFUSE("sigma of 1e-20", .sigma = 1e-20f);
    REFUSE("a confidence of inf", .confidence = bad[3]);
    refused(tvlm_stack_advance(stack, 1, NULL), TVLM_ERROR_ARGUMENT, "image 1 of a stack of 1");
    refused(tvlm_stack_forget(stack, -1), TVLM_ERROR_ARGUMENT, "image -1 of a stack of 1");
    assert_int_equal(tvlm_stack_advance(NULL, 0, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_forget(NULL, 0), TVLM_ERROR_ARGUMENT);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

DEVICE_CHECKS(check_shift, check_decay, check_selected, check_streams, check_cost)

static void temporal(const test_target *target, tvlm_device *reference) {
    test_with_tunings(target, reference, stages);
}

static void test_stages(void **state) {
    (void)state;
    test_on_targets(temporal);
}

/* What is known of whole frames: these are large, and the stages above run the same kernels. */
static void test_known(void **state) {
    if (test_small()) skip();
    test_targets(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stages),        cmocka_unit_test(test_reference_f32),
        cmocka_unit_test(test_reference_f16), cmocka_unit_test(test_known),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
