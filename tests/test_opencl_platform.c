/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_opencl_platform.c: which devices there are, which one a choice means, and what is said of them, by drivers that
 * are made up here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opencl/backend.h"
#include "opencl/open.h"
#include "support.h"

/* ---- The drivers ---- */

enum { MANY = 70 };

typedef struct made_device {
    int platform;
    cl_device_type type;
    const char *name, *version, *extensions;
    bool images;
} made_device;

static struct {
    made_device devices[MANY];
    int count;
    const char *platforms[3];
    int platform_count;
    cl_int list_error, error_of[3], info_error;
    cl_device_info failing; /* what a device does not say: info_error in its place */
} world;

static cl_platform_id platform_of(int number) {
    return (cl_platform_id)(uintptr_t)(number + 1); /* NOLINT(performance-no-int-to-ptr) */
}

static CL_API_ENTRY cl_int CL_API_CALL platform_ids(cl_uint room, cl_platform_id *ids, cl_uint *count) {
    if (world.list_error != CL_SUCCESS) return world.list_error;
    for (int i = 0; i < world.platform_count && i < (int)room; ++i) ids[i] = platform_of(i % 3);
    *count = (cl_uint)world.platform_count;
    return CL_SUCCESS;
}

static CL_API_ENTRY cl_int CL_API_CALL device_ids(cl_platform_id platform, cl_device_type type, cl_uint room,
                                                  cl_device_id *ids, cl_uint *count) {
    const int number = (int)(uintptr_t)platform - 1;
    (void)type;
    if (world.error_of[number] != CL_SUCCESS) return world.error_of[number];
    *count = 0;
    for (int i = 0; i < world.count; ++i)
        if (world.devices[i].platform == number && (*count)++ < room)
            ids[*count - 1] = (cl_device_id)&world.devices[i];
    return *count > 0 ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

static cl_int give(const void *from, size_t bytes, size_t size, void *value, size_t *told) {
    if (told != NULL) *told = bytes;
    if (value != NULL && size < bytes) return CL_INVALID_VALUE;
    if (value != NULL) memcpy(value, from, bytes);
    return CL_SUCCESS;
}

static cl_int give_text(const char *text, size_t size, void *value, size_t *told) {
    return give(text, strlen(text) + 1, size, value, told);
}

static cl_int give_size(size_t number, size_t size, void *value, size_t *told) {
    return give(&number, sizeof number, size, value, told);
}

static cl_int give_ulong(cl_ulong number, size_t size, void *value, size_t *told) {
    return give(&number, sizeof number, size, value, told);
}

static CL_API_ENTRY cl_int CL_API_CALL device_info(cl_device_id id, cl_device_info what, size_t size,
                                                   void *value, size_t *told) {
    const made_device *const device = (const made_device *)id;
    const cl_platform_id platform = platform_of(device->platform);
    const cl_bool images = device->images;
    const cl_uint units = 12;
    if (what == world.failing && world.info_error != CL_SUCCESS) return world.info_error;
    switch (what) {
    case CL_DEVICE_TYPE: return give(&device->type, sizeof device->type, size, value, told);
    case CL_DEVICE_NAME: return give_text(device->name, size, value, told);
    case CL_DRIVER_VERSION: return give_text(" 1.2.3", size, value, told);
    case CL_DEVICE_VERSION: return give_text(device->version, size, value, told);
    case CL_DEVICE_PLATFORM: return give(&platform, sizeof platform, size, value, told);
    case CL_DEVICE_GLOBAL_MEM_SIZE: return give_ulong(4000, size, value, told);
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE: return give_ulong(1000, size, value, told);
    case CL_DEVICE_LOCAL_MEM_SIZE: return give_ulong(300, size, value, told);
    case CL_DEVICE_MAX_COMPUTE_UNITS: return give(&units, sizeof units, size, value, told);
    case CL_DEVICE_IMAGE_SUPPORT: return give(&images, sizeof images, size, value, told);
    case CL_DEVICE_EXTENSIONS:
        if (device->extensions == NULL) return give("", 0, size, value, told);
        return give_text(device->extensions, size, value, told);
    case CL_DEVICE_IMAGE2D_MAX_WIDTH: return give_size(INT32_MAX, size, value, told);
    case CL_DEVICE_IMAGE2D_MAX_HEIGHT: return give_size((size_t)INT32_MAX + 1, size, value, told);
    case CL_DEVICE_IMAGE_MAX_ARRAY_SIZE: return give_size(2048, size, value, told);
    default: return CL_INVALID_VALUE;
    }
}

static CL_API_ENTRY cl_int CL_API_CALL platform_info(cl_platform_id id, cl_platform_info what, size_t size,
                                                     void *value, size_t *told) {
    assert_int_equal(what, CL_PLATFORM_NAME);
    return give_text(world.platforms[(int)(uintptr_t)id - 1], size, value, told);
}

/* A CPU and a card on one platform, and a GPU on another one. */
static int set_world(void **state) {
    static const made_device devices[3] = {
        {0, CL_DEVICE_TYPE_CPU, "  Acme Central", "OpenCL 3.0 PoCL 3.1", "cl_khr_fp64", false},
        {0, CL_DEVICE_TYPE_ACCELERATOR, "Card", "OpenCL 1.2", NULL, true},
        {1, CL_DEVICE_TYPE_GPU, "Zeta of compute", "OpenCL 2.1 NEO ", "cl_khr_fp16", true}};
    (void)state;
    memset(&world, 0, sizeof world);
    memcpy(world.devices, devices, sizeof devices);
    world.count = 3;
    world.platforms[0] = " Acme Compute", world.platforms[1] = "Beta", world.platforms[2] = "Gamma";
    world.platform_count = 2;
    clGetPlatformIDs = platform_ids;
    clGetDeviceIDs = device_ids;
    clGetDeviceInfo = device_info;
    clGetPlatformInfo = platform_info;
    return 0;
}

/* ---- Lists ---- */

static void test_list(void **state) {
    tvlm_device_info infos[3];
    (void)state;
    memset(infos, 0x55, sizeof infos);
    assert_int_equal(tvlm_opencl_list(1, infos), 3);
    assert_int_equal(infos[1].index, 0x55555555); /* there was room for one */
    assert_int_equal(tvlm_opencl_list(0, NULL), 3);
    assert_int_equal(tvlm_opencl_list(3, infos), 3);
    assert_true(infos[0].index == 0 && infos[0].type == TVLM_DEVICE_CPU && !infos[0].images);
    assert_true(infos[1].index == 1 && infos[1].type == TVLM_DEVICE_OTHER && infos[1].images);
    assert_true(infos[2].index == 2 && infos[2].type == TVLM_DEVICE_GPU && infos[2].images);
    assert_string_equal(infos[0].name, "Acme Central");
    assert_string_equal(infos[0].platform, "Acme Compute");
    assert_string_equal(infos[0].version, "OpenCL 3.0 PoCL 3.1");
    assert_string_equal(infos[2].platform, "Beta");
    assert_string_equal(infos[2].driver, "1.2.3");
    assert_true(infos[1].memory_bytes == 4000 && infos[1].allocation_max == 1000);
    assert_true(infos[1].local_bytes == 300 && infos[1].compute_units == 12);
    assert_true(infos[0].image_width_max == 0 && infos[0].image_height_max == 0);
    assert_int_equal(infos[0].image_slices_max, 0);
    assert_true(infos[1].image_width_max == INT32_MAX && infos[1].image_height_max == INT32_MAX);
    assert_int_equal(infos[1].image_slices_max, 2048);
}

/* Names are cut to the room that there is for them. */
static void test_long_names(void **state) {
    enum { LONG = 1000 };
    char name[LONG + 1];
    tvlm_device_info info;
    (void)state;
    for (int i = 0; i < LONG; ++i) name[i] = (char)('a' + i % 26);
    name[LONG] = '\0';
    world.devices[0].name = name;
    world.platforms[0] = name;
    assert_int_equal(tvlm_opencl_list(1, &info), 3);
    assert_int_equal(strlen(info.name), sizeof info.name - 1);
    assert_memory_equal(info.name, name, sizeof info.name - 1);
    assert_int_equal(strlen(info.platform), sizeof info.platform - 1);
    assert_memory_equal(info.platform, name, sizeof info.platform - 1);
}

/* The first thing that a device fails to say is its error. */
static void test_silent_devices(void **state) {
    static const cl_device_info asked[] = {CL_DEVICE_TYPE,
                                           CL_DEVICE_NAME,
                                           CL_DRIVER_VERSION,
                                           CL_DEVICE_VERSION,
                                           CL_DEVICE_PLATFORM,
                                           CL_DEVICE_GLOBAL_MEM_SIZE,
                                           CL_DEVICE_MAX_MEM_ALLOC_SIZE,
                                           CL_DEVICE_LOCAL_MEM_SIZE,
                                           CL_DEVICE_MAX_COMPUTE_UNITS,
                                           CL_DEVICE_IMAGE_SUPPORT,
                                           CL_DEVICE_EXTENSIONS,
                                           CL_DEVICE_IMAGE2D_MAX_WIDTH,
                                           CL_DEVICE_IMAGE2D_MAX_HEIGHT,
                                           CL_DEVICE_IMAGE_MAX_ARRAY_SIZE};
    tvlm_device_info info;
    (void)state;
    assert_int_equal(tvlm_opencl_describe((cl_device_id)&world.devices[1], 5, &info), CL_SUCCESS);
    assert_int_equal(info.index, 5);
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; ++i) {
        world.failing = asked[i];
        world.info_error = CL_OUT_OF_RESOURCES;
        assert_int_equal(tvlm_opencl_describe((cl_device_id)&world.devices[1], 0, &info),
                         CL_OUT_OF_RESOURCES);
        /* What its driver does not know is none. */
        world.info_error = CL_INVALID_VALUE;
        assert_int_equal(tvlm_opencl_describe((cl_device_id)&world.devices[1], 0, &info), CL_SUCCESS);
        assert_true((strcmp(info.name, "unknown") == 0) == (asked[i] == CL_DEVICE_NAME));
        assert_true((strcmp(info.platform, "unknown") == 0) == (asked[i] == CL_DEVICE_PLATFORM));
        assert_int_equal(info.local_bytes, asked[i] == CL_DEVICE_LOCAL_MEM_SIZE ? 32768 : 300);
        const bool of_images =
            asked[i] == CL_DEVICE_IMAGE_SUPPORT || asked[i] == CL_DEVICE_IMAGE2D_MAX_WIDTH ||
            asked[i] == CL_DEVICE_IMAGE2D_MAX_HEIGHT || asked[i] == CL_DEVICE_IMAGE_MAX_ARRAY_SIZE;
        assert_int_equal(info.images, !of_images);
    }
    assert_int_equal(tvlm_opencl_list(1, &info), 3); /* it is there all the same */
}

/* Drivers that fail are passed over, unless there is no device then; to have none is no failure. */
static void test_failing_drivers(void **state) {
    tvlm_device_info infos[3];
    cl_device_id id;
    int32_t index;
    (void)state;
    world.error_of[0] = CL_OUT_OF_HOST_MEMORY;
    assert_int_equal(tvlm_opencl_list(3, infos), 1);
    assert_string_equal(infos[0].name, "Zeta of compute");
    world.error_of[1] = CL_DEVICE_NOT_FOUND;
    assert_int_equal(tvlm_opencl_list(3, infos), -1);
    assert_int_equal(tvlm_opencl_find(NULL, &test_log, &id, &index), TVLM_ERROR_MEMORY);
    assert_non_null(strstr(test_last_log(), "the devices cannot be listed: CL_OUT_OF_HOST_MEMORY"));
    world.error_of[0] = CL_DEVICE_NOT_FOUND;
    assert_int_equal(tvlm_opencl_list(3, infos), 0);
    world.list_error = -1001; /* there is no platform */
    assert_int_equal(tvlm_opencl_list(3, infos), 0);
    world.list_error = CL_INVALID_VALUE;
    assert_int_equal(tvlm_opencl_list(3, infos), -1);
}

/* More devices and platforms than are listed. */
static void test_many_devices(void **state) {
    tvlm_device_info infos[MANY];
    (void)state;
    for (int i = 0; i < MANY; ++i) {
        world.devices[i] = world.devices[1];
        world.devices[i].platform = i < 60 ? 0 : 1;
    }
    world.count = MANY;
    assert_int_equal(tvlm_opencl_list(MANY, infos), 64);
    assert_true(infos[63].index == 63 && strcmp(infos[63].platform, "Beta") == 0);
    world.count = 3;
    world.platform_count = 17; /* of which 16 are asked: the first one six times, the others five */
    world.devices[0].platform = world.devices[1].platform = 0;
    world.devices[2].platform = 2;
    assert_int_equal(tvlm_opencl_list(0, NULL), 6 * 2 + 5);
}

/* ---- Choices ---- */

static void expect_found(const char *choice, int32_t expected) {
    cl_device_id id = NULL;
    int32_t index = -7;
    assert_int_equal(tvlm_opencl_index(choice), expected);
    const tvlm_status status = tvlm_opencl_find(choice, &test_log, &id, &index);
    assert_int_equal(status, expected < 0 ? TVLM_ERROR_NO_DEVICE : TVLM_OK);
    if (expected >= 0) assert_ptr_equal(id, &world.devices[expected]);
    if (expected >= 0) assert_int_equal(index, expected);
}

static void test_choices(void **state) {
    (void)state;
    expect_found("0", 0);
    expect_found("2", 2);
    expect_found("3", -1);
    assert_non_null(
        strstr(test_last_log(),
               "no device '3'; there are 0 'Acme Central', 1 'Card', 2 'Zeta of compute', and 'reference'"));
    expect_found("-1", -1);
    expect_found("2x", -1);
    expect_found("cArD", 1);
    expect_found("central", 0);
    expect_found("acme compute", 0); /* a platform */
    expect_found("compute", 2);      /* a name comes before a platform */
    expect_found("beta", 2);
    expect_found("pocl", 0); /* what a version says, behind its number */
    expect_found("NEO ", 2);
    expect_found("OpenCL", -1);
    expect_found("2.1", -1);
    expect_found("gamma", -1);
}

/* The first GPU, else the first CPU, else the first device. */
static void test_default(void **state) {
    (void)state;
    expect_found(NULL, 2);
    expect_found("", 2);
    world.devices[0].type = CL_DEVICE_TYPE_GPU;
    expect_found(NULL, 0);
    world.devices[0].type = world.devices[2].type = CL_DEVICE_TYPE_ACCELERATOR;
    expect_found(NULL, 0);
    world.devices[2].type = CL_DEVICE_TYPE_CPU;
    expect_found(NULL, 2);
    world.devices[1].type = CL_DEVICE_TYPE_CPU;
    expect_found(NULL, 1);
}

/* ---- Extensions ---- */

static void expect_extension(const char *list, bool expected) {
    bool has = !expected;
    world.devices[0].extensions = list;
    assert_int_equal(tvlm_opencl_device_has((cl_device_id)&world.devices[0], "cl_khr_x", &has), CL_SUCCESS);
    if (has != expected) fail_msg("'%s'", list != NULL ? list : "(none)");
}

static void test_extensions(void **state) {
    (void)state;
    expect_extension("cl_khr_x", true);
    expect_extension("a cl_khr_x", true);
    expect_extension("cl_khr_x b", true);
    expect_extension("a cl_khr_x b", true);
    expect_extension("cl_khr_x_writes cl_khr_x", true);
    expect_extension("cl_khr_x_writes", false);
    expect_extension("acl_khr_x", false);
    expect_extension("a acl_khr_x cl_khr_xb b", false);
    expect_extension("", false);
    expect_extension(NULL, false);
}

/* ---- No device ---- */

static void expect_line(const char *words, const char *none) {
    cl_device_id id;
    int32_t index;
    assert_int_equal(tvlm_opencl_find(NULL, &test_log, &id, &index), TVLM_ERROR_NO_DEVICE);
    if (strstr(test_last_log(), words) == NULL || (none != NULL && strstr(test_last_log(), none) != NULL))
        fail_msg("'%s'", test_last_log());
}

/* Without a device it is said where PoCL cannot write, if that is so: below /proc nobody can. */
static void test_no_device(void **state) {
    static const char *const names[3] = {"POCL_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
    char *kept[3], folder[64];
    (void)state;
    for (int i = 0; i < 3; ++i) {
        const char *const value = getenv(names[i]);
        kept[i] = value != NULL ? strdup(value) : NULL;
        (void)unsetenv(names[i]);
    }
    world.count = 0;
    expect_line("no OpenCL device: install your GPU's OpenCL driver", "PoCL has none");
    (void)setenv("HOME", "/proc/none", 1);
    expect_line("and /proc/none/.cache/pocl/kcache cannot be written", NULL);
    (void)setenv("XDG_CACHE_HOME", "/proc/other", 1);
    expect_line("and /proc/other/pocl/kcache cannot be written", NULL);
    (void)setenv("POCL_CACHE_DIR", "/proc/third", 1);
    expect_line("and /proc/third cannot be written", NULL);
    (void)setenv("POCL_CACHE_DIR", "", 1); /* as if it were not set */
    expect_line("and /proc/other/pocl/kcache cannot be written", NULL);
    snprintf(folder, sizeof folder, "/tmp/tvlm-none-%d/a/b", (int)getpid()); /* which could be made */
    (void)setenv("POCL_CACHE_DIR", folder, 1);
    expect_line("no OpenCL device: install your GPU's OpenCL driver", "PoCL has none");
    (void)setenv("POCL_CACHE_DIR", "/tmp", 1);
    expect_line("no OpenCL device: install your GPU's OpenCL driver", "PoCL has none");
    for (int i = 0; i < 3; ++i) {
        if (kept[i] != NULL)
            (void)setenv(names[i], kept[i], 1);
        else
            (void)unsetenv(names[i]);
        free(kept[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_list, set_world),
        cmocka_unit_test_setup(test_long_names, set_world),
        cmocka_unit_test_setup(test_silent_devices, set_world),
        cmocka_unit_test_setup(test_failing_drivers, set_world),
        cmocka_unit_test_setup(test_many_devices, set_world),
        cmocka_unit_test_setup(test_choices, set_world),
        cmocka_unit_test_setup(test_default, set_world),
        cmocka_unit_test_setup(test_extensions, set_world),
        cmocka_unit_test_setup(test_no_device, set_world),
    };
    if (!tvlm_opencl_load()) return 77; /* its functions would be found later, in place of these */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
