/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_lost.c: a device that vanishes (layer/layer.h): what says so, and how work goes on with another one.
 */
#include <stdio.h>
#include <string.h>

#include "choose_helper.h"
#include "layer_helper.h"

static const layer_control *layer;
/* The only device is lost in the middle of a selection: every call says so, and the reference goes on. */
static void test_going_on(void **state) {
    tvlm_position none[K];
    tvlm_device *device = opened(NULL), *another = NULL;
    const int32_t index = test_device_info(device)->index;
    (void)state;
    nothing_said();
    layer->let_fail(40, 1);
    for (int i = 0; i < 2; ++i) assert_int_equal(choose(device, none), TVLM_ERROR_LOST);
    assert_int_equal(tvlm_device_finish(device), TVLM_ERROR_LOST);
    assert_true(said.errors >= 3 && said.warnings == 0);
    assert_non_null(strstr(said.last, "is lost"));
    nothing_said();
    assert_int_equal(tvlm_device_open_another(index, tvlm_device_params(.log = &noting), &another), TVLM_OK);
    assert_true(said.errors == 0 && said.warnings == 1);
    assert_int_equal(test_device_info(another)->type, TVLM_DEVICE_REFERENCE);
    assert_non_null(strstr(said.last, "the reference device works instead"));
    check_reference(another);
    tvlm_device_destroy(&device);
    tvlm_device_destroy(&another);
    layer->let_fail(0, 0);
}

/* A device that answers again is not passed over: only the one that was lost is. */
static void test_in_a_circle(void **state) {
    tvlm_device *another = NULL;
    int32_t count = 0;
    (void)state;
    assert_int_equal(tvlm_device_list(0, NULL, &count), TVLM_OK);
    nothing_said();
    assert_int_equal(tvlm_device_open_another(-1, tvlm_device_params(.log = &noting), &another), TVLM_OK);
    assert_int_equal(test_device_info(another)->index, 0);
    assert_true(said.errors == 0 && said.warnings == 1);
    tvlm_device_destroy(&another);
    assert_int_equal(tvlm_device_open_another(0, tvlm_device_params(.log = &noting), &another), TVLM_OK);
    assert_int_equal(test_device_info(another)->index, 1); /* the reference, where there is one device */
    tvlm_device_destroy(&another);
}

/* A driver that fails while the device is opened. */
static void test_opening(void **state) {
    tvlm_device *device = NULL;
    (void)state;
    layer->let_fail(0, 0);
    tvlm_device_destroy(&(tvlm_device *){opened(NULL)});
    const long calls = layer->let_fail(0, 0);
    for (long n = 1; n < calls; n += 13) {
        nothing_said();
        layer->let_fail(n, 1);
        tvlm_status status = tvlm_device_open(tvlm_device_params(.log = &noting), &device);
        if (status == TVLM_OK || said.errors != 1) fail_msg("call %ld: %d lines", n, said.errors);
        nothing_said();
        layer->let_fail(n, 1);
        status = tvlm_device_open(tvlm_device_params(.fallback = true, .log = &noting), &device);
        layer->let_fail(0, 0);
        if (status != TVLM_OK || said.errors != 0 || said.warnings != 1)
            fail_msg("call %ld: %s", n, said.last);
        check_reference(device);
        tvlm_device_destroy(&device);
    }
}

/* A driver that errs: the device opens, and passes no self-test. */
static void test_self_test(void **state) {
    tvlm_device *device = NULL;
    (void)state;
    nothing_said();
    layer->spoil(1);
    tvlm_status status = tvlm_device_open(tvlm_device_params(.log = &noting), &device);
    if (status != TVLM_ERROR_UNSUPPORTED || said.errors != 1 ||
        strstr(said.last, "no storage passes the self-test") == NULL)
        fail_msg("status %d: %s", (int)status, said.last);
    nothing_said();
    status = tvlm_device_open(tvlm_device_params(.fallback = true, .log = &noting), &device);
    if (status != TVLM_OK || said.errors != 0 || said.warnings != 1) fail_msg("%s", said.last);
    assert_non_null(strstr(said.last, "no storage passes the self-test ("));
    assert_non_null(strstr(said.last, "): the reference device works instead"));
    check_reference(device);
    tvlm_device_destroy(&device);
    /* One that the caller wants in a storage is refused. */
    status = tvlm_device_open(
        tvlm_device_params(.storage = TVLM_STORAGE_BUFFER, .fallback = true, .log = &noting), &device);
    layer->spoil(0);
    assert_int_equal(status, TVLM_ERROR_UNSUPPORTED);
    assert_non_null(strstr(said.last, "buffer storage does not pass the self-test"));
    assert_null(device);
}

/* Once is enough where the driver cannot even say which devices there are: no number means another one then. */
static void test_listing(void **state) {
    tvlm_device *device = NULL;
    (void)state;
    for (long n = 1; n <= 2; ++n) {
        nothing_said();
        layer->let_fail(n, 1);
        const tvlm_status status = tvlm_device_open(tvlm_device_params(.name = "0", .log = &noting), &device);
        layer->let_fail(0, 0);
        if (status != TVLM_ERROR_DEVICE_MEMORY || strstr(said.last, "cannot be listed") == NULL)
            fail_msg("call %ld: status %d: %s", n, (int)status, said.last);
    }
}

/* What the caller mistook stays an error. */
static void test_mistakes(void **state) {
    tvlm_device *device = NULL;
    (void)state;
    const struct tvlm_device_params unknown = {.name = "no such device", .fallback = true, .log = &noting};
    const struct tvlm_device_params mipmapped = {
        .storage = TVLM_STORAGE_MIPMAPPED, .fallback = true, .log = &noting};
    nothing_said();
    assert_int_equal(tvlm_device_open(&unknown, &device), TVLM_ERROR_NO_DEVICE);
    assert_non_null(strstr(said.last, "no such device"));
    tvlm_device *plain = opened(NULL);
    const bool has_levels = test_device_info(plain)->mipmap_extension;
    tvlm_device_destroy(&plain);
    if (!has_levels) assert_int_equal(tvlm_device_open(&mipmapped, &device), TVLM_ERROR_UNSUPPORTED);
    assert_null(device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_going_on), cmocka_unit_test(test_in_a_circle),
                                       cmocka_unit_test(test_opening),  cmocka_unit_test(test_self_test),
                                       cmocka_unit_test(test_listing),  cmocka_unit_test(test_mistakes)};
    int32_t count = 0;
    make_pixels();
    layer = use_layer();
    if (layer == NULL || tvlm_device_list(0, NULL, &count) != TVLM_OK) return 77;
    if (count != 2) {
        printf("SKIPPED: %d OpenCL devices; these tests lose the only one\n", (int)count - 1);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
