/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_driver_queries.c: drivers that tell of their devices what some were met to tell (layer/told.c, doc/drivers.md): a
 * query that they do not know, a platform of a newer OpenCL than its devices, a half of the memory. The device works,
 * or one line says why not.
 */
#include <stdio.h>
#include <string.h>

#include <CL/cl.h>

#include "choose_helper.h"
#include "layer_helper.h"

static const layer_control *layer;

static int drivers_own(void **state) {
    (void)state;
    *layer->faults = (layer_faults){0};
    return 0;
}

/* ---- Queries that a driver does not know ---- */

/* What is left of a driver that does not know a query: its device is listed, and works without a line, or is refused in one. */
static void check_without(unsigned query) {
    tvlm_device_info infos[2];
    int32_t count = 0;
    tvlm_device *device = NULL;
    layer->faults->unknown = query;
    assert_int_equal(tvlm_device_list(2, infos, &count), TVLM_OK);
    assert_int_equal(count, 2); /* with the reference */
    nothing_said();
    const tvlm_status status = tvlm_device_open(tvlm_device_params(.name = "0", .log = &noting), &device);
    const int told = said.errors + said.warnings;
    layer->faults->unknown = 0;
    if (query == CL_DEVICE_PLATFORM) {
        if (status == TVLM_OK || told != 1 || strstr(said.last, "CL_DEVICE_PLATFORM") == NULL)
            fail_msg("without its platform: status %d, %d lines: %s", (int)status, told, said.last);
        return;
    }
    if (status != TVLM_OK || told != 0)
        fail_msg("query 0x%x: status %d, %d lines: %s", query, (int)status, told, said.last);
    check_reference(device);
    tvlm_device_destroy(&device);
}

/* Each query that the library makes, in turn. */
static void test_unknown_queries(void **state) {
    unsigned queries[64];
    (void)state;
    tvlm_device_destroy(&(tvlm_device *){opened("0")});
    const int count = layer->queries(queries, 64);
    assert_in_range(count, 15, 63); /* fewer: the layer has not seen them */
    for (int i = 0; i < count; ++i) check_without(queries[i]);
}

/* The texts that are not told, and what follows from what is not: no images, and the least local memory. */
static void test_what_is_unknown(void **state) {
    tvlm_device *device;
    (void)state;
    layer->faults->unknown = CL_DEVICE_NAME;
    device = opened("0");
    assert_string_equal(device->info.name, "unknown");
    tvlm_device_destroy(&device);
    layer->faults->unknown = CL_DEVICE_IMAGE_MAX_ARRAY_SIZE;
    device = opened("0");
    assert_false(device->info.images);
    assert_int_equal(device->info.storage, TVLM_STORAGE_BUFFER);
    tvlm_device_destroy(&device);
    layer->faults->unknown = CL_DEVICE_LOCAL_MEM_SIZE;
    device = opened("0");
    assert_int_equal(device->info.local_bytes, 32768);
    tvlm_device_destroy(&device);
}

/* ---- Versions ---- */

/* A platform of OpenCL 3.0 whose devices have 2.0. They have images with levels, as a device of 3.0 has, and the kernels
 * of those need OpenCL C 2.0 or newer: the device's, since a build for 3.0 is refused. */
static void test_platform_is_newer(void **state) {
    (void)state;
    tvlm_device *device = opened("0");
    const tvlm_storage storage =
        device->info.storage; /* of Intel's driver the layer's levels do not pass the self-test */
    tvlm_device_destroy(&device);
    layer->faults->platform_version = 30;
    layer->faults->device_version = 20;
    nothing_said();
    device = opened("0");
    assert_int_equal(said.errors + said.warnings, 0);
    assert_int_equal(strncmp(device->info.version, "OpenCL 2.0 ", 11), 0);
    assert_int_equal(device->info.storage, storage);
    check_reference(device);
    tvlm_device_destroy(&device);
}

/* And with OpenCL 1.2, of which Apple's and older drivers are: there is no sampler for levels, and a loader that is
 * newer than the driver would call a function that is not there. */
static void test_device_is_old(void **state) {
    (void)state;
    for (int platform = 12; platform <= 30; platform += 18) {
        layer->faults->platform_version = platform;
        layer->faults->device_version = 12;
        nothing_said();
        tvlm_device *device = opened("0");
        assert_int_equal(said.errors + said.warnings, 0);
        assert_int_equal(strncmp(device->info.version, "OpenCL 1.2 ", 11), 0);
        assert_int_equal(device->info.storage, TVLM_STORAGE_IMAGE);
        check_reference(device);
        tvlm_device_destroy(&device);
    }
}

/* ---- Memory ---- */

/* The largest size of a square image, without a word or a byte of memory. */
static int32_t largest(tvlm_device *device, uint64_t memory_max) {
    int32_t width = 40000, height = 40000;
    assert_int_equal(
        tvlm_stack_largest_size(device, tvlm_stack_params(.memory_max = memory_max), &width, &height),
        TVLM_OK);
    assert_int_equal(width, height);
    return width;
}

/* A driver that counts a half of the memory: a stack of an image becomes smaller, unless the caller knows better. */
static void test_half_the_memory(void **state) {
    tvlm_device *device = NULL;
    (void)state;
    device = opened("0");
    const uint64_t whole = device->info.memory_bytes;
    tvlm_device_destroy(&device);
    layer->faults->half_memory = 1;
    device = opened("0");
    assert_int_equal(device->info.memory_bytes, whole / 2);
    check_reference(device);
    /* All of it is more than one allocation or an image may have: in sixteenths, so that memory is what counts. */
    const int32_t told = largest(device, device->info.memory_bytes / 16);
    assert_true(told > 0 && told < 40000);
    assert_true(largest(device, whole / 16) > told);
    assert_true(largest(device, whole) >= largest(device, 0));
    tvlm_device_destroy(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_unknown_queries, drivers_own),
                                       cmocka_unit_test_setup(test_what_is_unknown, drivers_own),
                                       cmocka_unit_test_setup(test_platform_is_newer, drivers_own),
                                       cmocka_unit_test_setup(test_device_is_old, drivers_own),
                                       cmocka_unit_test_setup(test_half_the_memory, drivers_own)};
    int32_t count = 0;
    make_pixels();
    setenv("TVLM_LAYER_GPU", "1", 1);
    setenv("TVLM_LAYER_MIPMAPS", "1", 1);
    layer = use_layer();
    if (layer == NULL || tvlm_device_list(0, NULL, &count) != TVLM_OK) return 77;
    if (count != 2) {
        printf("SKIPPED: %d OpenCL devices; these tests want one, PoCL\n", (int)count - 1);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
