/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pool_select.c: selections of many images by a pool: to the bit those of one device, whatever the sizes and
 * their order; images that fail; and pools of an OpenCL device that is opened twice.
 */
#include "pool_helper.h"

static tvlm_pool *pool_of(const char *devices, int32_t capacity) {
    tvlm_pool *pool = NULL;
    if (tvlm_pool_create(tvlm_pool_params(.devices = devices, .capacity = capacity,
                                          .open = tvlm_device_params(.log = &noting)),
                         &pool) != TVLM_OK)
        fail_msg("%s", said.last);
    return pool;
}

/* ---- The same as one device ---- */

static void check_equal(const char *devices, const char *alone, const struct tvlm_select_params *params) {
    tvlm_selection *expected[PICTURES] = {NULL}, *got[PICTURES] = {NULL};
    tvlm_status statuses[PICTURES];
    nothing_said();
    select_alone(alone, params, expected);
    for (int32_t capacity = 0; capacity < 4; capacity += 3) {
        tvlm_pool *pool = pool_of(devices, capacity);
        if (tvlm_pool_select(pool, pictures, PICTURES, &small_stack, params, got, NULL) != TVLM_OK)
            fail_msg("%s", said.last);
        check_same_places(got, expected);
        destroy_selections(got);
        /* Again, with the stacks that there may be, and with a report. */
        assert_int_equal(tvlm_pool_select(pool, pictures, PICTURES, &small_stack, params, got, statuses),
                         TVLM_OK);
        check_same_places(got, expected);
        for (int i = 0; i < PICTURES; ++i) assert_int_equal(statuses[i], TVLM_OK);
        destroy_selections(got);
        tvlm_pool_destroy(&pool);
    }
    assert_int_equal(said.errors, 0);
    destroy_selections(expected);
}

static void test_equal(void **state) {
    (void)state;
    check_equal("reference", "reference", &few_places);
    check_equal("reference,reference", "reference", &few_places);
    check_equal("reference,reference,reference", "reference", tvlm_select_params(.k = 12, .patch = 8));
}

/* Other parameters than those of the stacks that are kept. */
static void test_other_parameters(void **state) {
    (void)state;
    tvlm_selection *got[PICTURES] = {NULL};
    tvlm_selection_info info;
    tvlm_pool *pool = pool_of("reference", 0);
    for (int32_t side = 20; side <= 40; side += 20) {
        const struct tvlm_stack_params stack = {.layout = small_stack.layout, .width = side, .height = side};
        assert_int_equal(tvlm_pool_select(pool, pictures, PICTURES, &stack, &few_places, got, NULL), TVLM_OK);
        for (int i = 0; i < PICTURES; ++i) {
            int32_t count;
            const tvlm_position *at = tvlm_selection_positions(got[i], &count);
            assert_int_equal(tvlm_selection_get_info(got[i], &info), TVLM_OK);
            assert_true(info.width == pictures[i].width && info.height == pictures[i].height);
            assert_int_equal(count, 9);
            for (int p = 0; p < 9; ++p) assert_true(at[p].column < (side + 7) / 8);
        }
        destroy_selections(got);
    }
    tvlm_pool_destroy(&pool);
}

/* Pictures of one width and two heights, and of one height and two widths, in turn. */
static void test_one_side_in_common(void **state) {
    (void)state;
    enum { COUNT = 6 };
    for (int turned = 0; turned < 2; ++turned) {
        tvlm_selection *got[COUNT] = {NULL};
        tvlm_image images[COUNT];
        tvlm_device *device = NULL;
        tvlm_pool *pool = pool_of("reference", 0);
        assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "reference", .log = &noting), &device),
                         TVLM_OK);
        for (int i = 0; i < COUNT; ++i) {
            const int32_t other = i % 2 == 0 ? 24 : i == 3 ? 40 : 56;
            images[i] = (tvlm_image){.pixels = picture_bytes[i],
                                     .width = turned ? other : 40,
                                     .height = turned ? 40 : other,
                                     .channels = 3};
        }
        assert_int_equal(tvlm_pool_select(pool, images, COUNT, &small_stack, &few_places, got, NULL),
                         TVLM_OK);
        for (int i = 0; i < COUNT; ++i) {
            tvlm_selection *alone = NULL;
            tvlm_stack *stack = NULL;
            int32_t count = 0, others = 0;
            assert_int_equal(tvlm_stack_create_for_image(device, &images[i], &small_stack, &stack), TVLM_OK);
            assert_int_equal(tvlm_select(stack, NULL, &few_places, &alone), TVLM_OK);
            const tvlm_position *a = tvlm_selection_positions(got[i], &count);
            const tvlm_position *b = tvlm_selection_positions(alone, &others);
            if (count != others || memcmp(a, b, (size_t)count * sizeof *a) != 0)
                fail_msg("picture %d of %dx%d: other positions than those of one device", i,
                         (int)images[i].width, (int)images[i].height);
            tvlm_selection_destroy(&alone);
            tvlm_selection_destroy(&got[i]);
            tvlm_stack_destroy(&stack);
        }
        tvlm_pool_destroy(&pool);
        tvlm_device_destroy(&device);
    }
}

/* ---- What fails ---- */

static void test_failing(void **state) {
    (void)state;
    tvlm_selection *got[PICTURES] = {NULL}, *expected[PICTURES] = {NULL};
    tvlm_status statuses[PICTURES];
    tvlm_image spoiled[PICTURES];
    tvlm_pool *pool = pool_of("reference,reference", 0);
    memcpy(spoiled, pictures, sizeof spoiled);
    spoiled[4].channels = 7;
    spoiled[9].pixels = NULL;
    select_alone("reference", &few_places, expected);
    nothing_said();
    assert_int_equal(tvlm_pool_select(pool, spoiled, PICTURES, &small_stack, &few_places, got, statuses),
                     TVLM_OK);
    assert_int_equal(said.errors, 2);
    assert_non_null(strstr(said.last, "no pixels"));
    for (int i = 0; i < PICTURES; ++i) {
        const bool fails = i == 4 || i == 9;
        assert_int_equal(statuses[i], fails ? TVLM_ERROR_ARGUMENT : TVLM_OK);
        assert_int_equal(got[i] == NULL, fails);
    }
    got[4] = expected[4];
    got[9] = expected[9];
    check_same_places(got, expected);
    got[4] = got[9] = NULL;
    destroy_selections(got);
    /* Without a report the first error counts, and nothing is left. */
    nothing_said();
    assert_int_equal(tvlm_pool_select(pool, spoiled, PICTURES, &small_stack, &few_places, got, NULL),
                     TVLM_ERROR_ARGUMENT);
    /* On a busy machine one device may have come to the tenth picture before the other one came to the fifth. */
    assert_true(said.errors == 1 || said.errors == 2);
    if (said.errors == 1) assert_non_null(strstr(said.last, "7 channels"));
    for (int i = 0; i < PICTURES; ++i) assert_null(got[i]);
    /* These are no jobs of the application. */
    assert_int_equal(tvlm_pool_finish(pool), TVLM_OK);
    assert_int_equal(tvlm_pool_select(pool, pictures, PICTURES, &small_stack, &few_places, got, NULL),
                     TVLM_OK);
    check_same_places(got, expected);
    destroy_selections(got);
    destroy_selections(expected);
    tvlm_pool_destroy(&pool);
}

/* Whichever fails, what was on its way behind it is dropped, and the pool goes on. */
static void test_each_failing(void **state) {
    (void)state;
    tvlm_selection *got[PICTURES] = {NULL}, *expected[PICTURES] = {NULL};
    tvlm_pool *pool = pool_of("reference", PICTURES);
    select_alone("reference", &few_places, expected);
    for (int bad = 0; bad < PICTURES; ++bad) {
        tvlm_image spoiled[PICTURES];
        memcpy(spoiled, pictures, sizeof spoiled);
        spoiled[bad].channels = 0;
        assert_int_equal(tvlm_pool_select(pool, spoiled, PICTURES, &small_stack, &few_places, got, NULL),
                         TVLM_ERROR_ARGUMENT);
        assert_non_null(strstr(said.last, "0 channels"));
        assert_int_equal(tvlm_pool_select(pool, pictures, PICTURES, &small_stack, &few_places, got, NULL),
                         TVLM_OK);
        check_same_places(got, expected);
        destroy_selections(got);
    }
    destroy_selections(expected);
    tvlm_pool_destroy(&pool);
}

static void refuses(tvlm_status status, const char *words) {
    if (status != TVLM_ERROR_ARGUMENT || strstr(said.last, words) == NULL)
        fail_msg("%s: '%s', not '%s'", tvlm_status_string(status), said.last, words);
    nothing_said();
}

static void test_refusals(void **state) {
    (void)state;
    tvlm_selection *got[PICTURES] = {NULL};
    tvlm_pool *pool = pool_of("reference", 0);
    refuses(tvlm_pool_select(pool, pictures, -1, NULL, NULL, got, NULL), "-1 images");
    refuses(tvlm_pool_select(pool, NULL, 1, NULL, NULL, got, NULL), "images is NULL");
    refuses(tvlm_pool_select(pool, pictures, 1, NULL, NULL, NULL, NULL), "selections is NULL");
    refuses(tvlm_pool_select(pool, pictures, 1, tvlm_stack_params(.reserved = {1}), NULL, got, NULL),
            "tvlm_stack_params: its");
    refuses(tvlm_pool_select(pool, pictures, 1, NULL, tvlm_select_params(.reserved = {1}), got, NULL),
            "tvlm_select_params: its");
    assert_int_equal(tvlm_pool_select(NULL, pictures, 1, NULL, NULL, got, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_pool_select(pool, NULL, 0, NULL, NULL, NULL, NULL), TVLM_OK);
    tvlm_pool_destroy(&pool);
}

/* ---- OpenCL devices ---- */

static void on_target(const test_target *target, tvlm_device *reference) {
    static int32_t last = -1;
    const int32_t index = target->device->info.index;
    char twice[32], name[16];
    (void)reference;
    if (target->device->info.type == TVLM_DEVICE_REFERENCE || index == last) return;
    last = index;
    snprintf(name, sizeof name, "%d", (int)index);
    snprintf(twice, sizeof twice, "%d,%d", (int)index, (int)index);
    check_equal(name, name, &few_places);
    check_equal(twice, name, tvlm_select_params(.k = 12, .patch = 8));
}

static void test_targets(void **state) {
    (void)state;
    if (test_for_each_target(on_target) == 0) skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal),
        cmocka_unit_test(test_other_parameters),
        cmocka_unit_test(test_one_side_in_common),
        cmocka_unit_test(test_failing),
        cmocka_unit_test(test_each_failing),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_targets),
    };
    make_pictures();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
