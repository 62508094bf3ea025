/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_device_memory.c: a device that has no memory for the self-test of images (layer/layer.h). It poses as a GPU,
 * which would take images: that it takes buffers has to be said, and said to be no fault of the driver.
 */
#include <string.h>

#include <CL/cl.h>

#include "layer_helper.h"
#include "log_helper.h"

static const layer_control *layer;

/* The self-test of the images, of which there is to be one. */
static const tvlm_self_test *test_of_images(const tvlm_device_info *info) {
    const tvlm_self_test *found = NULL;
    for (int32_t i = 0; i < info->self_test_count; ++i)
        if (strcmp(info->self_tests[i].name, "image") == 0) {
            assert_null(found);
            found = &info->self_tests[i];
        }
    return found;
}

/* Opens the device where each image from the first on is refused with an error. */
static tvlm_device *open_without_images(cl_int error) {
    tvlm_device *device = NULL;
    nothing_said();
    layer->let_fail_only(1, 1, "clCreateImage", error);
    /* Without a cache of ours, whose program would be suspected first, and built and asked once more. */
    const tvlm_status status = tvlm_device_open(tvlm_device_params(.cache_dir = "", .log = &noting), &device);
    assert_true(layer->failed() > 0);
    layer->let_fail(0, 0);
    if (status != TVLM_OK || said.errors != 0) fail_msg("status %d: %s", (int)status, said.last);
    assert_int_equal(device->info.storage, TVLM_STORAGE_BUFFER);
    return device;
}

static void test_no_memory(void **state) {
    (void)state;
    tvlm_device *device = open_without_images(CL_MEM_OBJECT_ALLOCATION_FAILURE);
    const tvlm_self_test *const test = test_of_images(&device->info);
    assert_int_equal(said.warnings, 1);
    assert_non_null(strstr(said.last, "no device memory to test storage 'image'"));
    assert_non_null(test);
    assert_false(test->passed);
    assert_string_equal(test->detail, "out of device memory: not tested");
    tvlm_device_destroy(&device);
}

/* A driver that cannot make them is told from that. */
static void test_refused(void **state) {
    (void)state;
    tvlm_device *device = open_without_images(CL_INVALID_OPERATION);
    const tvlm_self_test *const test = test_of_images(&device->info);
    assert_int_equal(said.warnings, 0);
    assert_non_null(test);
    assert_false(test->passed);
    assert_non_null(strstr(test->detail, "the driver refused"));
    tvlm_device_destroy(&device);
}

/* With memory for them the device has images, so that the tests above are about what they say. */
static void test_memory(void **state) {
    tvlm_device *device = NULL;
    (void)state;
    nothing_said();
    if (tvlm_device_open(tvlm_device_params(.log = &noting), &device) != TVLM_OK) fail_msg("%s", said.last);
    assert_int_equal(device->info.storage, TVLM_STORAGE_IMAGE);
    assert_int_equal(said.warnings, 0);
    assert_null(test_of_images(&device->info));
    tvlm_device_destroy(&device);
}

static bool has_device(void) {
    tvlm_device *device = NULL;
    const bool has = tvlm_device_open(tvlm_device_params(.log = &noting), &device) == TVLM_OK &&
                     strcmp(device->backend->name, "opencl") == 0 && device->info.images;
    tvlm_device_destroy(&device);
    return has;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory), cmocka_unit_test(test_no_memory),
                                       cmocka_unit_test(test_refused)};
    setenv("TVLM_LAYER_GPU", "1", 1);
    layer = use_layer();
    if (layer == NULL) return 77;
    if (!has_device()) {
        printf("SKIPPED: no OpenCL device with images\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
