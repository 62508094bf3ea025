/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_budget_kept.c: the weights that stacks keep (select/budget_plan.h). A stack that has answered before answers
 * as a new one does, for other numbers, patches and images; a plan that takes weights over is that which has none.
 */
#include "select/budget.h"
#include "stack_helper.h"
#include "support_stage.h"

enum { WIDTH = 208, HEIGHT = 144 };

static tvlm_selection *selected(tvlm_stack *stack, int32_t k, int32_t patch) {
    tvlm_selection *selection = NULL;
    const struct tvlm_select_params params = {
        .k = k, .strategy = TVLM_STRATEGY_BUDGET, .patch = (float)patch};
    if (tvlm_select(stack, NULL, &params, &selection) != TVLM_OK) fail_msg("%s", test_last_log());
    return selection;
}

/* Whether a stack answers as a new one of the same image does. */
static void check_as_new(tvlm_stack *stack, const tvlm_image *image, tvlm_format format, int32_t k,
                         int32_t patch) {
    tvlm_stack *fresh = stack_of(tvlm_stack_device(stack), format, image);
    tvlm_selection *got = selected(stack, k, patch), *expected = selected(fresh, k, patch);
    int32_t counts[2];
    const tvlm_position *const a = tvlm_selection_positions(got, &counts[0]);
    const tvlm_position *const b = tvlm_selection_positions(expected, &counts[1]);
    assert_int_equal(counts[0], counts[1]);
    assert_memory_equal(a, b, (size_t)counts[0] * sizeof *a);
    tvlm_selection_destroy(&got);
    tvlm_selection_destroy(&expected);
    tvlm_stack_destroy(&fresh);
}

static void check_kept(tvlm_device *device, tvlm_format format) {
    static const int32_t asked[][2] = {{40, 16}, {40, 16}, {90, 16}, {40, 12}, {40, 16}};
    uint64_t random = 5;
    uint8_t *pixels[2];
    for (int i = 0; i < 2; ++i) pixels[i] = test_random_pixels(&random, WIDTH, HEIGHT, 3);
    const tvlm_image images[] = {u8_image(pixels[0], WIDTH, HEIGHT, 3),
                                 u8_image(pixels[1], WIDTH, HEIGHT, 3)};
    tvlm_stack *stack = stack_of(device, format, &images[0]);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; ++i) {
        check_as_new(stack, &images[0], format, asked[i][0], asked[i][1]);
        assert_non_null(tvlm_stack_common_slot(stack)->data);
    }
    assert_int_equal(tvlm_stack_set_image(stack, 0, &images[1]), TVLM_OK);
    check_as_new(stack, &images[1], format, 40, 16);
    tvlm_stack_destroy(&stack);
    for (int i = 0; i < 2; ++i) free(pixels[i]);
}

DEVICE_CHECKS(check_kept)

/* Of three axes two are known. They are not computed again: numbers that no filter has are there afterwards. */
static void test_taken_over(void **state) {
    const tvlm_texture shape = test_shape((test_size){97, 61}, 1, 1, TVLM_FORMAT_F32);
    const tvlm_budget_size first[] = {{40, 30, 0.0}}, next[] = {{20, 30, 0.0}, {40, 30, 0.0}};
    tvlm_budget_plan before, alone, after;
    (void)state;
    assert_true(tvlm_budget_plan_make(&shape, 0, 16, first, 1, NULL, &before));
    assert_true(tvlm_budget_plan_make(&shape, 0, 16, next, 2, NULL, &alone));
    assert_true(tvlm_budget_plan_make(&shape, 0, 16, next, 2, before.weights, &after));
    assert_int_equal(alone.table_floats, after.table_floats);
    assert_memory_equal(alone.table, after.table, alone.table_floats * sizeof *alone.table);
    tvlm_budget_plan_free(&after);
    float *const known = (float *)(uintptr_t)before.table + before.pictures[0].enlarge_x.offset;
    known[TVLM_BUDGET_HEAD] = 4711.0f;
    assert_true(tvlm_budget_plan_make(&shape, 0, 16, next, 2, before.weights, &after));
    assert_true(after.table[after.pictures[1].enlarge_x.offset + TVLM_BUDGET_HEAD] == 4711.0f);
    assert_true(after.table[after.pictures[0].enlarge_x.offset + TVLM_BUDGET_HEAD] != 4711.0f);
    tvlm_budget_plan_free(&before);
    tvlm_budget_plan_free(&alone);
    tvlm_budget_plan_free(&after);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference_f32),
                                       cmocka_unit_test(test_reference_f16), cmocka_unit_test(test_targets),
                                       cmocka_unit_test(test_taken_over)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
