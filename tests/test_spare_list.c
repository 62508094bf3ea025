/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_spare_list.c: which memory is kept for whom, which gives way, and how large new memory is made, on a device that is made
 * up here: memory objects are numbers, and what would release them notes them (-Wl,--wrap, CMakeLists.txt).
 */
#include <string.h>

#include "opencl/backend.h"
#include "support.h"

static uintptr_t released[64];
static int releases;

void __wrap_tvlm_opencl_release(const opencl_device *device, cl_mem memory);
void __wrap_tvlm_opencl_release(const opencl_device *device, cl_mem memory) {
    (void)device;
    assert_true(releases < 64);
    released[releases++] = (uintptr_t)memory;
}

static cl_mem number(uintptr_t n) {
    return (cl_mem)n;
}

/* A device that keeps memory, of which so many bytes are in use, and were at most. */
static opencl_device device_of(size_t held, size_t most) {
    opencl_device device;
    memset(&device, 0, sizeof device);
    device.spares.kept = true;
    device.base.held = held;
    device.base.held_most = most;
    releases = 0;
    return device;
}

static opencl_memory_kind buffer_of(size_t bytes) {
    return (opencl_memory_kind){.bytes = bytes};
}

static opencl_memory_kind image_of(void) {
    return (opencl_memory_kind){
        .bytes = 100, .slices = 2, .width = 5, .height = 3, .levels = 1, .order = CL_RGBA, .type = CL_FLOAT};
}

static void give(opencl_device *device, uintptr_t n, size_t bytes) {
    const opencl_memory_kind kind = buffer_of(bytes);
    tvlm_opencl_spare_give(device, number(n), &kind);
}

/* Takes a buffer of so many bytes: its number, or 0; *bytes becomes its size. */
static uintptr_t take(opencl_device *device, size_t *bytes) {
    opencl_memory_kind kind = buffer_of(*bytes);
    const cl_mem memory = tvlm_opencl_spare_take(device, &kind);
    *bytes = kind.bytes;
    return (uintptr_t)memory;
}

static void expect_taken(opencl_device *device, size_t wanted, uintptr_t n, size_t bytes) {
    size_t got = wanted;
    const uintptr_t taken = take(device, &got);
    if (taken != n || got != bytes)
        fail_msg("%zu bytes: %d of %zu bytes, not %d of %zu", wanted, (int)taken, got, (int)n, bytes);
}

/* The smallest that is large enough, of equal ones the oldest; the others stay in their order. */
static void takes_the_smallest(void **state) {
    opencl_device device = device_of(0, 10000);
    (void)state;
    give(&device, 1, 500);
    give(&device, 2, 300);
    give(&device, 3, 400);
    give(&device, 4, 300);
    give(&device, 5, 200);
    assert_true(device.spares.count == 5 && device.spares.bytes == 1700);
    expect_taken(&device, 300, 2, 300);
    expect_taken(&device, 250, 4, 300);
    expect_taken(&device, 301, 3, 400);
    assert_true(device.spares.count == 2 && device.spares.bytes == 700);
    assert_true(device.spares.all[0].memory == number(1) && device.spares.all[1].memory == number(5));
    expect_taken(&device, 1, 5, 200);
    expect_taken(&device, 501, 0, 512); /* none: the size of a new one */
    expect_taken(&device, 500, 1, 500);
    assert_true(device.spares.count == 0 && device.spares.bytes == 0 && releases == 0);
}

/* An image serves only an image of the same kind, and no buffer serves one. */
static void takes_the_same_kind(void **state) {
    const opencl_memory_kind kind = image_of(), other[] = {{100, 2, 6, 3, 1, CL_RGBA, CL_FLOAT},
                                                           {100, 2, 5, 4, 1, CL_RGBA, CL_FLOAT},
                                                           {100, 3, 5, 3, 1, CL_RGBA, CL_FLOAT},
                                                           {100, 2, 5, 3, 2, CL_RGBA, CL_FLOAT},
                                                           {100, 2, 5, 3, 1, CL_R, CL_FLOAT},
                                                           {100, 2, 5, 3, 1, CL_RGBA, CL_HALF_FLOAT}};
    opencl_device device = device_of(0, 10000);
    (void)state;
    tvlm_opencl_spare_give(&device, number(7), &kind);
    for (size_t i = 0; i < sizeof other / sizeof *other; ++i) {
        opencl_memory_kind wanted = other[i];
        if (tvlm_opencl_spare_take(&device, &wanted) != NULL) fail_msg("it serves another kind, %d", (int)i);
        assert_true(wanted.bytes == 100); /* which is not rounded */
    }
    expect_taken(&device, 50, 0, 56);
    opencl_memory_kind wanted = kind;
    wanted.bytes = 90;
    assert_true(tvlm_opencl_spare_take(&device, &wanted) == number(7) && wanted.bytes == 100);
    give(&device, 8, 1000);
    wanted = kind;
    assert_null(tvlm_opencl_spare_take(&device, &wanted));
}

/* New buffers are up to a quarter larger: a multiple of a power of two that is an eighth of them at least. */
static void rounds_new_buffers(void **state) {
    static const size_t rows[][2] = {{1, 1},       {7, 7},       {8, 8},       {9, 9},
                                     {15, 15},     {16, 16},     {17, 18},     {31, 32},
                                     {33, 36},     {64, 64},     {65, 72},     {100, 112},
                                     {127, 128},   {128, 128},   {129, 144},   {1000, 1024},
                                     {1025, 1152}, {4095, 4096}, {4096, 4096}, {SIZE_MAX, SIZE_MAX}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        opencl_device device = device_of(0, 0);
        expect_taken(&device, rows[i][0], 0, rows[i][1]);
        device.spares.kept = false;
        expect_taken(&device, rows[i][0], 0, rows[i][0]);
    }
}

/* What is spare and what is in use are together never more than what was in use at most: the oldest gives way. */
static void gives_way(void **state) {
    opencl_device device = device_of(300, 1000);
    (void)state;
    for (uintptr_t n = 1; n <= 7; ++n) give(&device, n, 100);
    assert_true(device.spares.count == 7 && releases == 0); /* just full */
    give(&device, 8, 100);
    assert_true(device.spares.count == 7 && releases == 1 && released[0] == 1 && device.spares.bytes == 700);
    assert_true(device.spares.all[0].memory == number(2) && device.spares.all[6].memory == number(8));
    expect_taken(&device, 128, 0, 128); /* a new one takes the place of two */
    assert_true(device.spares.count == 5 && releases == 3 && released[1] == 2 && released[2] == 3);
    device.base.held = 900;
    give(&device, 9, 100);
    assert_true(device.spares.count == 1 && releases == 8 && device.spares.all[0].memory == number(9));
    give(&device, 10, 1001); /* larger than all that was ever in use */
    assert_true(device.spares.count == 1 && releases == 9 && released[8] == 10);
    give(&device, 11, 1000);
    assert_true(device.spares.count == 1 && releases == 10 && released[9] == 9);
    give(&device, 0, 50); /* NULL */
    assert_true(device.spares.count == 1 && releases == 10 && device.spares.bytes == 1000);
    assert_true(tvlm_opencl_spares_release(&device));
    assert_true(device.spares.count == 0 && device.spares.bytes == 0 && releases == 11 && released[10] == 11);
    assert_false(tvlm_opencl_spares_release(&device));
    device.spares.kept = false;
    give(&device, 12, 10);
    assert_true(device.spares.count == 0 && releases == 12 && released[11] == 12);
}

static void keeps_so_many(void **state) {
    opencl_device device = device_of(0, 10000);
    (void)state;
    for (uintptr_t n = 1; n <= SPARES_MAX; ++n) give(&device, n, n);
    assert_true(device.spares.count == SPARES_MAX && releases == 0);
    give(&device, 100, 100);
    assert_true(device.spares.count == SPARES_MAX && releases == 1 && released[0] == 1);
    assert_true(device.spares.all[0].memory == number(2) &&
                device.spares.all[SPARES_MAX - 1].memory == number(100));
    assert_true(device.spares.bytes == SPARES_MAX * (SPARES_MAX + 1) / 2 - 1 + 100);
    assert_true(tvlm_opencl_spares_release(&device));
    for (int i = 1; i < SPARES_MAX; ++i) assert_int_equal(released[i], i + 1);
    assert_true(releases == 1 + SPARES_MAX && released[SPARES_MAX] == 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_the_smallest), cmocka_unit_test(takes_the_same_kind),
        cmocka_unit_test(rounds_new_buffers), cmocka_unit_test(gives_way),
        cmocka_unit_test(keeps_so_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
