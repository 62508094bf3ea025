/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_temporal_stack.c: what outlives a frame, through a stack: answers that are known, and what is refused.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stack_helper.h"
#include "texturevlm/input.h"

enum { CELL = TVLM_CELL };

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

/* ---- On the reference alone ---- */

/* A map of the whole image at a place: linear between the middles of its cells. */
static float map_at(const float *map, int32_t columns, int32_t rows, float x, float y) {
    const float column = fminf(fmaxf(x * (float)columns / WIDTH - 0.5f, 0.0f), (float)(columns - 1)),
                row = fminf(fmaxf(y * (float)rows / HEIGHT - 0.5f, 0.0f), (float)(rows - 1));
    const int32_t left = (int32_t)column, top = (int32_t)row, right = left + (left + 1 < columns),
                  below = top + (top + 1 < rows);
    const float u = column - (float)left, v = row - (float)top;
    return (1.0f - v) * ((1.0f - u) * map[top * columns + left] + u * map[top * columns + right]) +
           v * ((1.0f - u) * map[below * columns + left] + u * map[below * columns + right]);
}

/* Relevances of sizes that have something in common, one after the other: each is read in its own. */
static void test_maps(void **state) {
    static const int32_t sizes[][2] = {{2, 1}, {2, 2}, {3, 2}, {3, 1}, {1, 3}};
    static const float map[6] = {0.25f, 0.75f, 1.0f, 0.0f, 0.5f, 0.125f};
    float checkered[50 * 30], expected[CELLS];
    tvlm_device *device = open_reference();
    tvlm_stack *stack = temporal_stack(device, TVLM_FORMAT_F32, "prev_relevance", 1);
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
        const int32_t columns = sizes[s][0], rows = sizes[s][1];
        assert_int_equal(
            tvlm_stack_advance(stack, 0,
                               tvlm_advance_params(.relevance = map, .columns = columns, .rows = rows)),
            TVLM_OK);
        for (int i = 0; i < CELLS; ++i)
            expected[i] = map_at(map, columns, rows, fminf(((float)(i % COLUMNS) + 0.5f) * CELL, WIDTH),
                                 fminf(((float)(i / COLUMNS) + 0.5f) * CELL, HEIGHT));
        float *got = cells_of(stack, 0, TVLM_CHANNEL_PREV_RELEVANCE);
        test_compare("a map", got, expected, CELLS, 1e-5f, 1e-5f);
        free(got);
    }
    /* Of cells of 4 pixels, one half 0 and the other 1, cells of 16 pixels are the mean. */
    for (int i = 0; i < 50 * 30; ++i) checkered[i] = (float)((i % 50 + i / 50) % 2);
    assert_int_equal(
        tvlm_stack_advance(stack, 0, tvlm_advance_params(.relevance = checkered, .columns = 50, .rows = 30)),
        TVLM_OK);
    for (int i = 0; i < CELLS; ++i) expected[i] = 0.5f;
    float *got = cells_of(stack, 0, TVLM_CHANNEL_PREV_RELEVANCE);
    test_compare("a fine map", got, expected, CELLS, 1e-5f, 1e-5f);
    free(got);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* Positions are in pixels of the image as it was handed in: of 50 x 60, which was enlarged by 4 and 2. */
static void test_positions_of_the_original(void **state) {
    static const float positions[4] = {5.5f * CELL / 4, 3.5f * CELL / 2, 10.5f * CELL / 4, 1.5f * CELL / 2};
    uint64_t seed = 3;
    uint8_t *pixels = test_random_pixels(&seed, 50, 60, 3);
    const tvlm_image image = u8_image(pixels, 50, 60, 3);
    tvlm_device *device = open_reference();
    tvlm_stack *stack = temporal_stack(device, TVLM_FORMAT_F32, "fixation", 1);
    (void)state;
    assert_int_equal(tvlm_stack_set_image(stack, 0, &image), TVLM_OK);
    assert_int_equal(
        tvlm_stack_advance(stack, 0,
                           tvlm_advance_params(.positions = positions, .position_count = 2, .sigma = 2.0f)),
        TVLM_OK);
    float *got = cells_of(stack, 0, TVLM_CHANNEL_FIXATION);
    for (int i = 0; i < CELLS; ++i) /* 8 sigma from cell to cell */
        assert_float_equal(got[i], i == 3 * COLUMNS + 5 || i == COLUMNS + 10 ? 1.0f : 0.0f, 1e-6f);
    free(got);
    free(pixels);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* A flow counts from the confidence on that is asked for. */
static void test_confidence(void **state) {
    static const float map[1] = {0.75f};
    tvlm_device *device = open_reference();
    tvlm_stack *stack = temporal_stack(device, TVLM_FORMAT_F32, "prev_relevance", 1);
    (void)state;
    for (int sure = 0; sure < 2; ++sure) {
        assert_int_equal(tvlm_stack_advance(stack, 0,
                                            tvlm_advance_params(.relevance = map, .columns = 1, .rows = 1,
                                                                .confidence = sure ? 0.3f : 0.45f)),
                         TVLM_OK);
        set_flow(stack, 0, -CELL, 0.0f, 0.4f);
        float *got = cells_of(stack, 0, TVLM_CHANNEL_PREV_RELEVANCE);
        for (int i = 0; i < CELLS; ++i) /* what comes from the left of the image is not known */
            assert_float_equal(got[i], (sure && i % COLUMNS > 0 ? 0.75f : 0.0f), 1e-6f);
        free(got);
    }
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

static void expect_known(tvlm_stack *stack, int32_t index, int32_t channel, bool expected) {
    bool has = !expected;
    assert_int_equal(tvlm_stack_has_channel(stack, index, channel, &has), TVLM_OK);
    assert_int_equal(has, expected);
}

/* Each image of a batch has a frame before it, or none: in the first chunk (images 0 and 1) and in the second. */
static void test_known_of_each(void **state) {
    static const int32_t channels[] = {TVLM_CHANNEL_MOTION, TVLM_CHANNEL_PREV_SALIENCY};
    tvlm_device *device = open_reference();
    device->info.image_slices_max = 32;
    tvlm_stack *stack = temporal_stack(device, TVLM_FORMAT_F32, "motion,prev_saliency", 4);
    (void)state;
    for (int32_t i = 0; i < 4; ++i) set_frame(stack, i, 7 + (uint64_t)i);
    for (int32_t i = 0; i < 4; ++i) expect_known(stack, i, channels[i % 2], false);
    assert_int_equal(tvlm_stack_advance(stack, 0, NULL), TVLM_OK);
    assert_int_equal(tvlm_stack_advance(stack, 2, NULL), TVLM_OK);
    assert_int_equal(tvlm_stack_advance(stack, 3, NULL), TVLM_OK);
    for (int32_t i = 0; i < 4; ++i) set_frame(stack, i, 70 + (uint64_t)i);
    assert_int_equal(tvlm_stack_forget(stack, 3), TVLM_OK);
    for (int c = 0; c < 2; ++c)
        for (int32_t i = 0; i < 4; ++i) {
            size_t count;
            expect_known(stack, i, channels[c], i % 2 == 0);
            float *got = read_level(stack, i, channels[c], 0, &count), most = 0.0f;
            for (size_t k = 0; k < count; ++k) most = fmaxf(most, got[k]);
            free(got);
            assert_int_equal(most > 0.0f, i % 2 == 0);
        }
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

#define REFUSE(LINE, ...)                                                                                    \
    refused(tvlm_stack_advance(stack, 0, tvlm_advance_params(__VA_ARGS__)), TVLM_ERROR_ARGUMENT, LINE)

static void test_refusals(void **state) {
    static const float bad[4] = {0.5f, NAN, 2.0f, INFINITY}, first[2] = {NAN, 0.5f};
    tvlm_device *device = open_reference();
    tvlm_stack *stack = temporal_stack(device, TVLM_FORMAT_F32, "full40", 1);
    (void)state;
    REFUSE("relevance of 0x2", .relevance = bad, .rows = 2);
    REFUSE("relevance: value 1 is not finite", .relevance = bad, .columns = 2, .rows = 1);
    REFUSE("positions: value 1 is not finite", .positions = bad, .position_count = 1);
    REFUSE("relevance: value 0 is not finite", .relevance = first, .columns = 2, .rows = 1);
    REFUSE("positions: value 0 is not finite", .positions = first, .position_count = 1);
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

/* Whole frames are large, and kernels/temporal.c runs the same kernels. */
static void test_known(void **state) {
    if (test_small()) skip();
    test_targets(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_f32), cmocka_unit_test(test_reference_f16),
        cmocka_unit_test(test_known),         cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_maps),          cmocka_unit_test(test_positions_of_the_original),
        cmocka_unit_test(test_confidence),    cmocka_unit_test(test_known_of_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
