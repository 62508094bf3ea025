/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_device_bytes.c: whether images may be bytes is asked when the first stack of bytes is made, once, or with test_all when
 * the device is opened; and what follows where the driver refuses, memory is short, or the device is lost meanwhile.
 *
 * The first OpenCL device poses as a GPU (layer/pose.c), whose storage is images.
 */
#include <stdio.h>
#include <string.h>

#include <CL/cl.h>

#include "layer_helper.h"
#include "opencl/backend.h"
#include "support_stage.h"
#include "texturevlm/stack.h"

static const layer_control *layer;

static tvlm_device *opened(const struct tvlm_device_params *params) {
    struct tvlm_device_params logging = *params;
    tvlm_device *device = NULL;
    logging.log = &test_log;
    if (tvlm_device_open(&logging, &device) != TVLM_OK) fail_msg("%s", test_last_log());
    assert_int_equal(device->info.storage, TVLM_STORAGE_IMAGE);
    return device;
}

/* How many of the device's self-tests are about images of bytes, and how many of those passed. */
static int tests_of_bytes(const tvlm_device *device, int *passed) {
    int count = 0;
    *passed = 0;
    for (int32_t i = 0; i < device->info.self_test_count; ++i) {
        const tvlm_self_test *const test = &device->info.self_tests[i];
        if (strcmp(test->name, "bytes_image") != 0) continue;
        ++count;
        *passed += test->passed;
    }
    return count;
}

/* Makes a stack, which makes no texture yet. */
static tvlm_status make(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = NULL;
    const tvlm_status status = tvlm_stack_create(
        device, tvlm_stack_params(.layout = "r", .width = 8, .height = 8, .format = format), &stack);
    tvlm_stack_destroy(&stack);
    return status;
}

static void test_asked_once(void **state) {
    int passed;
    (void)state;
    tvlm_device *device = opened(tvlm_device_params(.log = NULL));
    layer_commands before = layer->commands();
    assert_int_equal(make(device, TVLM_FORMAT_F16), TVLM_OK);
    assert_int_equal(commands_after(layer, before).kernels, 0);
    assert_int_equal(tests_of_bytes(device, &passed), 0);
    assert_int_equal(make(device, TVLM_FORMAT_U8), TVLM_OK);
    const layer_commands made = commands_after(layer, before);
    /* An image of four components and one of one, of both kinds of bytes, and the answers. */
    printf("    %ld kernels, %ld waits, %ld allocations, %ld builds\n", made.kernels, made.waits, made.memory,
           made.builds);
    assert_true(made.kernels == 2 && made.waits == 1 && made.memory == 5 && made.builds == 1);
    assert_int_equal(tests_of_bytes(device, &passed), 1);
    assert_int_equal(passed, 1);
    before = layer->commands();
    assert_int_equal(make(device, TVLM_FORMAT_U8), TVLM_OK);
    assert_int_equal(commands_after(layer, before).kernels, 0);
    assert_int_equal(tests_of_bytes(device, &passed), 1);
    tvlm_device_destroy(&device);
}

/* How much memory a stack of bytes needs depends on which images there are. */
static void test_asked_by_need(void **state) {
    int passed;
    uint64_t bytes = 0;
    (void)state;
    tvlm_device *device = opened(tvlm_device_params(.log = NULL));
    assert_int_equal(
        tvlm_stack_need(device, tvlm_stack_params(.width = 8, .height = 8, .format = TVLM_FORMAT_U8), &bytes),
        TVLM_OK);
    assert_true(bytes > 0);
    assert_int_equal(tests_of_bytes(device, &passed), 1);
    tvlm_device_destroy(&device);
}

static void test_all(void **state) {
    int passed;
    (void)state;
    tvlm_device *device = opened(tvlm_device_params(.test_all = true));
    assert_int_equal(tests_of_bytes(device, &passed), 1);
    assert_int_equal(passed, 1);
    const layer_commands before = layer->commands();
    assert_int_equal(make(device, TVLM_FORMAT_U8), TVLM_OK);
    assert_int_equal(commands_after(layer, before).kernels, 0);
    tvlm_device_destroy(&device);
}

/* What is known of the driver's floats stays. */
static void test_refused(void **state) {
    int passed;
    (void)state;
    /* Without a cache of ours, whose program would be suspected first, and built and asked once more. */
    tvlm_device *device = opened(tvlm_device_params(.cache_dir = ""));
    layer->let_fail_only(1, 0, "clEnqueueNDRangeKernel", CL_INVALID_KERNEL_ARGS);
    assert_int_equal(make(device, TVLM_FORMAT_U8), TVLM_ERROR_UNSUPPORTED);
    assert_int_equal(layer->failed(), 1);
    layer->let_fail(0, 0);
    assert_non_null(strstr(test_last_log(), "images of bytes do not pass the self-test"));
    assert_int_equal(make(device, TVLM_FORMAT_U8), TVLM_ERROR_UNSUPPORTED);
    assert_int_equal(tests_of_bytes(device, &passed), 1);
    assert_int_equal(passed, 0);
    assert_int_equal(make(device, TVLM_FORMAT_F16), TVLM_OK);
    tvlm_device_destroy(&device);
}

/* A driver whose answers are wrong. */
static void test_wrong(void **state) {
    int passed;
    (void)state;
    tvlm_device *device = opened(tvlm_device_params(.cache_dir = ""));
    layer->spoil(1);
    const tvlm_status status = make(device, TVLM_FORMAT_U8);
    layer->spoil(0);
    assert_int_equal(status, TVLM_ERROR_UNSUPPORTED);
    assert_int_equal(tests_of_bytes(device, &passed), 1);
    assert_int_equal(passed, 0);
    tvlm_device_destroy(&device);
}

/* Memory that is short says nothing about the driver: the next stack asks again. */
static void test_no_memory(void **state) {
    int passed;
    (void)state;
    tvlm_device *device = opened(tvlm_device_params(.log = NULL));
    const long held = layer->held();
    for (long n = 1; n <= 4; ++n) {
        layer->let_fail_only(n, 0, "clCreateImage", CL_MEM_OBJECT_ALLOCATION_FAILURE);
        assert_int_equal(make(device, TVLM_FORMAT_U8), TVLM_ERROR_DEVICE_MEMORY);
        assert_int_equal(layer->failed(), 1);
        layer->let_fail(0, 0);
        assert_non_null(strstr(test_last_log(), "out of memory in the self-test of bytes"));
        assert_int_equal(tests_of_bytes(device, &passed), 0);
        assert_int_equal(layer->held(), held);
    }
    assert_int_equal(make(device, TVLM_FORMAT_U8), TVLM_OK);
    assert_int_equal(tests_of_bytes(device, &passed), 1);
    tvlm_device_destroy(&device);
}

static void test_lost(void **state) {
    tvlm_status status = TVLM_ERROR_LOST;
    int tried = 0;
    (void)state;
    for (long n = 1; status == TVLM_ERROR_LOST; n += 5) {
        tvlm_device *device = opened(tvlm_device_params(.log = NULL));
        layer->let_fail(n, 1);
        status = make(device, TVLM_FORMAT_U8);
        layer->let_fail(0, 0);
        if (status != TVLM_OK && strstr(test_last_log(), "it went in the self-test") == NULL)
            fail_msg("call %ld: status %d: %s", n, (int)status, test_last_log());
        ++tried;
        tvlm_device_destroy(&device);
    }
    assert_int_equal(status, TVLM_OK);
    assert_true(tried > 4);
}

/* Whether there is a device that keeps images of bytes. */
static bool has_bytes(void) {
    tvlm_device *device = NULL;
    int passed = 0;
    const tvlm_status status = tvlm_device_open(tvlm_device_params(.test_all = true), &device);
    const bool has = status == TVLM_OK && test_is_opencl(device) && tests_of_bytes(device, &passed) == 1;
    tvlm_device_destroy(&device);
    return has && passed == 1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asked_once), cmocka_unit_test(test_asked_by_need),
        cmocka_unit_test(test_all),        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_wrong),      cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_lost)};
    setenv("TVLM_LAYER_GPU", "1", 1);
    layer = use_layer();
    if (layer == NULL) return 77;
    if (!has_bytes()) {
        printf("SKIPPED: no OpenCL device with images of bytes\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
