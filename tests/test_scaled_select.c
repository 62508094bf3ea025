/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_scaled_select.c: selections of an image that the stack scales down, differently along its sides, against those of an image
 * that is what the stack made of it: the same positions, in pixels of the image that was handed in. On the reference.
 */
#include "stack/frame.h"
#include "stack_helper.h"

enum { WIDTH = 403, HEIGHT = 301, LONGEST = 200 };

/* Strokes in the upper half, a slope below: some tiles are worth much, others nothing. */
static void draw(uint8_t *pixels) {
    uint64_t random = 4;
    for (int i = 0; i < WIDTH * HEIGHT; ++i) {
        const int x = i % WIDTH, y = i / WIDTH;
        const bool stroke = y < HEIGHT / 2 && x > WIDTH / 3 && (x / 3 + y / 5) % 3 == 0;
        const int gray = stroke ? (int)(test_random(&random) % 90) : 200 - x / 4;
        for (int c = 0; c < 3; ++c) pixels[3 * i + c] = (uint8_t)(gray + 5 * c);
    }
}

/* What a stack made of its image: [height][width][3]. */
static float *made_of(tvlm_stack *stack) {
    const size_t texels = (size_t)tvlm_stack_width(stack) * (size_t)tvlm_stack_height(stack);
    static const int32_t channels[] = {TVLM_CHANNEL_R, TVLM_CHANNEL_G, TVLM_CHANNEL_B};
    float *const pixels = malloc(3 * texels * sizeof *pixels);
    assert_non_null(pixels);
    for (int c = 0; c < 3; ++c) {
        size_t count;
        float *const plane = read_level(stack, 0, channels[c], 0, &count);
        assert_int_equal(count, texels);
        for (size_t i = 0; i < texels; ++i) pixels[3 * i + (size_t)c] = plane[i];
        free(plane);
    }
    return pixels;
}

static bool is_near(float got, double expected) {
    return fabs((double)got - expected) <= 1e-5 * fmax(1.0, fabs(expected));
}

/* Rectangles are scaled along both sides, squares keep their area; all else stays. */
static void check_position(const tvlm_position *got, const tvlm_position *expected, double across,
                           double down) {
    const double size = expected->height > 0.0f ? across : sqrt(across * down);
    assert_true(is_near(got->x, (double)expected->x * across) && is_near(got->y, (double)expected->y * down));
    assert_true(is_near(got->size, (double)expected->size * size));
    assert_true(is_near(got->height, (double)expected->height * down));
    assert_true(got->level == expected->level && got->score == expected->score);
    assert_true(got->lost_before == expected->lost_before && got->lost_after == expected->lost_after);
    assert_true(got->column == expected->column && got->row == expected->row);
}

/* The places that are kept for the next frame are in pixels of the working image. */
static void check_kept(tvlm_stack *scaled, tvlm_stack *plain, const tvlm_position *expected, int32_t count) {
    const float *kept, *others;
    int32_t kept_count, other_count;
    assert_int_equal(tvlm_stack_positions(scaled, 0, &kept, &kept_count), TVLM_OK);
    assert_int_equal(tvlm_stack_positions(plain, 0, &others, &other_count), TVLM_OK);
    assert_int_equal(kept_count, other_count);
    assert_true(kept_count > 0 && kept_count <= count);
    for (int32_t i = 0; i < kept_count;
         ++i) { /* the last ones: not cells of a thumbnail, nor squares of an overview */
        const tvlm_position *const p = &expected[count - kept_count + i];
        assert_true(is_near(kept[2 * i], (double)p->x) && is_near(kept[2 * i + 1], (double)p->y));
        assert_true(is_near(kept[2 * i], (double)others[2 * i]) &&
                    is_near(kept[2 * i + 1], (double)others[2 * i + 1]));
    }
}

static void compare(tvlm_stack *scaled, tvlm_stack *plain, const struct tvlm_select_params *params) {
    const double across = (double)WIDTH / tvlm_stack_width(scaled),
                 down = (double)HEIGHT / tvlm_stack_height(scaled);
    tvlm_selection *got = NULL, *expected = NULL;
    int32_t count, expected_count, empty, expected_empty, columns[2], rows[2];
    assert_int_equal(tvlm_select(scaled, NULL, params, &got), TVLM_OK);
    assert_int_equal(tvlm_select(plain, NULL, params, &expected), TVLM_OK);
    const tvlm_position *const p = tvlm_selection_positions(got, &count), *const q = tvlm_selection_positions(
                                                                              expected, &expected_count);
    assert_int_equal(count, expected_count);
    for (int32_t i = 0; i < count; ++i) check_position(&p[i], &q[i], across, down);
    check_kept(scaled, plain, q, count);
    const tvlm_cell *const a = tvlm_selection_empty(got, &empty), *const b = tvlm_selection_empty(
                                                                      expected, &expected_empty);
    assert_int_equal(empty, expected_empty);
    if (empty > 0) assert_memory_equal(a, b, (size_t)empty * sizeof *a);
    const float *const s = tvlm_selection_scores(got, &columns[0], &rows[0]), *const t =
                                                                                  tvlm_selection_scores(
                                                                                      expected, &columns[1],
                                                                                      &rows[1]);
    assert_true((s != NULL) == params->keep_scores && columns[0] == columns[1] && rows[0] == rows[1]);
    if (s != NULL) assert_memory_equal(s, t, (size_t)(columns[0] * rows[0]) * sizeof *s);
    tvlm_selection_destroy(&got);
    tvlm_selection_destroy(&expected);
}

static void test_scaled(void **state) {
    static uint8_t pixels[WIDTH * HEIGHT * 3];
    tvlm_device *device = open_reference();
    tvlm_stack *scaled = NULL;
    (void)state;
    draw(pixels);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    assert_int_equal(
        tvlm_stack_create_for_image(
            device, &image, tvlm_stack_params(.format = TVLM_FORMAT_F32, .max_side = LONGEST), &scaled),
        TVLM_OK);
    assert_int_equal(tvlm_stack_width(scaled), LONGEST);
    float *const working = made_of(scaled);
    const tvlm_image made = {.pixels = working,
                             .width = tvlm_stack_width(scaled),
                             .height = tvlm_stack_height(scaled),
                             .channels = 3,
                             .type = TVLM_PIXEL_F32};
    assert_true((double)WIDTH / made.width != (double)HEIGHT / made.height);
    tvlm_stack *plain = stack_of(device, TVLM_FORMAT_F32, &made);
    static const tvlm_strategy strategies[] = {TVLM_STRATEGY_BUDGET, TVLM_STRATEGY_GRID,
                                               TVLM_STRATEGY_QUADTREE, TVLM_STRATEGY_CASCADE,
                                               TVLM_STRATEGY_EXHAUSTIVE};
    for (size_t i = 0; i < sizeof strategies / sizeof *strategies; ++i)
        for (int scores = 0; scores < 2; ++scores)
            compare(scaled, plain,
                    tvlm_select_params(.strategy = strategies[i], .k = 30, .keep_scores = scores > 0));
    compare(scaled, plain,
            tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = 30, .best.overview = 0.4f));
    compare(scaled, plain, tvlm_select_params(.strategy = TVLM_STRATEGY_BUDGET, .k = 80, .patch = 8.0f));
    compare(scaled, plain, tvlm_select_params(.strategy = TVLM_STRATEGY_BUDGET, .budget.tolerance = 0.3f));
    compare(scaled, plain, tvlm_select_params(.strategy = TVLM_STRATEGY_BUDGET, .k = 10000));
    free(working);
    tvlm_stack_destroy(&plain);
    tvlm_stack_destroy(&scaled);
    tvlm_device_destroy(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scaled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
