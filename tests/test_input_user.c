/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_input_user.c: planes of the application's own (input.h): named, read, packed and scored like any other
 * channel, and refused where they are none.
 */
#include <math.h>

#include "input_helper.h"
#include "stack/inside.h"

static void check_user(tvlm_device *device, tvlm_format format) {
    static const float heat[] = {-3, 0, 1, 9}, clamped[] = {-1, 0, 1, 2}, ids[] = {5, 5, 9, 5};
    const struct tvlm_grid_input input = {.data = heat, .columns = 2, .rows = 2};
    const struct tvlm_grid_input labels = {.data = ids, .columns = 4, .rows = 1};
    tvlm_stack *stack = small_stack(device, format, 2);
    tvlm_channel_info info;
    int32_t channel = -7, second = -7, list[4] = {0}, count = 0;
    assert_int_equal(tvlm_stack_set_user(stack, 0, "heat", -1, 2, TVLM_MAX, &input, &channel), TVLM_OK);
    assert_int_equal(channel, TVLM_CHANNEL_USER_0);
    assert_int_equal(tvlm_stack_set_user(stack, 1, "my-ids", 0, 0, TVLM_MODE, &labels, &second), TVLM_OK);
    assert_int_equal(second, TVLM_CHANNEL_USER_0 + 1);
    expect_level(stack, 0, channel, 0, clamped, 4, "heat");
    expect_level(stack, 0, channel, 1, (const float[]){2}, 1, "heat by max");
    expect_zero(stack, 1, channel);
    expect_level(stack, 1, second, 1, (const float[]){5, 5}, 2, "ids by mode");
    assert_int_equal(tvlm_stack_channel_find(stack, "heat"), channel);
    assert_int_equal(tvlm_stack_channel_find(stack, "edges"), TVLM_CHANNEL_EDGES);
    assert_int_equal(tvlm_stack_channel_find(stack, "cold"), TVLM_CHANNEL_NONE);
    assert_int_equal(tvlm_stack_get_channel_info(stack, second, &info), TVLM_OK);
    assert_true(strcmp(info.name, "my-ids") == 0 && strcmp(info.family, "user") == 0 && info.identifier);
    assert_int_equal(tvlm_stack_parse(stack, "edges, heat ,my-ids,r", 4, list, &count), TVLM_OK);
    assert_true(count == 4 && list[0] == 3 && list[1] == channel && list[2] == second && list[3] == 0);
    assert_int_equal(tvlm_stack_parse(stack, "heat", 4, list, &count), TVLM_OK);
    assert_true(count == 1 && list[0] == channel);
    assert_int_equal(tvlm_stack_parse(stack, "visual12", 0, NULL, &count), TVLM_OK);
    assert_int_equal(count, 12);
    refused(tvlm_stack_parse(stack, "heat,edgs", 4, list, &count), TVLM_ERROR_ARGUMENT,
            "did you mean 'edges'?");

    /* Sampled, packed and scored like any other. */
    const tvlm_sample_point point = {35, 20, 0, 0};
    const float weight = 1;
    const tvlm_scorer scorer = {.channel_count = 1, .taps = 1, .channels = &channel, .weights = &weight};
    float got = 0, plane[4] = {0}, scores[6];
    tvlm_packed *packed = NULL;
    assert_int_equal(tvlm_stack_sample(stack, &point, 1, &channel, 1, &got), TVLM_OK);
    assert_true(fabsf(got - 2.0f) <= 1e-3f);
    assert_int_equal(
        tvlm_stack_pack(stack,
                        tvlm_pack_params(.channels = &channel, .channel_count = 1, .width = 2, .height = 2),
                        &packed),
        TVLM_OK);
    assert_int_equal(tvlm_packed_read(packed, 0, 4, plane), TVLM_OK);
    tvlm_packed_destroy(&packed);
    assert_true(plane[3] == 2.0f);
    assert_int_equal(
        tvlm_score(stack, NULL, &(struct tvlm_score_params){.scorer = &scorer, .stride = 16}, 6, scores),
        TVLM_OK);
    assert_true(scores[5] > scores[0]);

    /* Refused, and then nothing has changed. */
    refused(tvlm_stack_set_user(stack, 0, "heat", 0, 2, TVLM_MAX, &input, NULL), TVLM_ERROR_ARGUMENT,
            "another range");
    refused(tvlm_stack_set_user(stack, 0, "edges", 0, 1, TVLM_MEAN, &input, NULL), TVLM_ERROR_ARGUMENT,
            "own name");
    refused(tvlm_stack_set_user(stack, 0, "full40", 0, 1, TVLM_MEAN, &input, NULL), TVLM_ERROR_ARGUMENT,
            "own name");
    refused(tvlm_stack_set_user(stack, 0, "a,b", 0, 1, TVLM_MEAN, &input, NULL), TVLM_ERROR_ARGUMENT,
            "no name");
    refused(tvlm_stack_set_user(stack, 0, "", 0, 1, TVLM_MEAN, &input, NULL), TVLM_ERROR_ARGUMENT, "no name");
    refused(tvlm_stack_set_user(stack, 0, "a2345678901234567890123456789012", 0, 1, TVLM_MEAN, &input, NULL),
            TVLM_ERROR_ARGUMENT, "no name");
    refused(tvlm_stack_set_user(stack, 0, "new", 1, 0, TVLM_MEAN, &input, NULL), TVLM_ERROR_ARGUMENT,
            "range");
    refused(tvlm_stack_set_user(stack, 0, "new", 0, 1, (tvlm_reduce)5, &input, NULL), TVLM_ERROR_ARGUMENT,
            "reduction");
    refused(tvlm_stack_set_user(stack, 0, "new", 0, 1, TVLM_MEAN, NULL, NULL), TVLM_ERROR_ARGUMENT,
            "no data");
    refused(tvlm_stack_set_user(stack, 0, "new", 0, 0, TVLM_MODE,
                                tvlm_grid_input(.data = (const float[]){2049}, .columns = 1, .rows = 1),
                                NULL),
            TVLM_ERROR_ARGUMENT, "of -2048 .. 2048");
    assert_int_equal(stack->user_count, 2);
    for (int32_t i = 2; i < TVLM_USER_PLANES_MAX; ++i) {
        char name[8];
        snprintf(name, sizeof name, "p%d", (int)i);
        assert_int_equal(tvlm_stack_set_user(stack, 0, name, 0, 0, TVLM_MEAN, &input, NULL), TVLM_OK);
    }
    refused(tvlm_stack_set_user(stack, 0, "onemore", 0, 1, TVLM_MEAN, &input, NULL), TVLM_ERROR_ARGUMENT,
            "16 planes");
    assert_int_equal(tvlm_stack_clear_grid(stack, -1, channel), TVLM_OK);
    expect_zero(stack, 0, channel);
    tvlm_stack_destroy(&stack);
}

DEVICE_CHECKS(check_user)

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference_f32),
                                       cmocka_unit_test(test_reference_f16), cmocka_unit_test(test_targets)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
