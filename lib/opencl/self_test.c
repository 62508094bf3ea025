/* SPDX-License-Identifier: Apache-2.0 */
/*
 * self_test.c: runs kernels with known answers before any work starts, so that what a driver gets wrong is
 * switched off here and not met later. doc/drivers.md says what drivers were found to get wrong.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/half.h"
#include "core/try.h"
#include "opencl/backend.h"

enum { WIDTH = 5, HEIGHT = 3, SLICES = 8 };

/* Adds a result to the device's list of self-tests. `format` takes one double. */
static void report(opencl_device *device, const char *name, bool passed, const char *format, double value) {
    tvlm_device_info *info = &device->base.info;
    if (info->self_test_count == TVLM_SELF_TESTS_MAX) return;
    tvlm_self_test *test = &info->self_tests[info->self_test_count++];
    snprintf(test->name, sizeof test->name, "%s", name);
    test->passed = passed;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    snprintf(test->detail, sizeof test->detail, format, value);
#pragma GCC diagnostic pop
}

static void pattern(int x, int y, int slice, float texel[4]) {
    texel[0] = (float)x;
    texel[1] = (float)y;
    texel[2] = (float)slice;
    texel[3] = 0.5f * (float)x + 0.25f * (float)y;
}

static tvlm_texture shape_of(tvlm_format format, int32_t levels) {
    tvlm_texture shape = {.width = WIDTH,
                          .height = HEIGHT,
                          .layers = 1,
                          .images = SLICES,
                          .levels = levels,
                          .format = format,
                          .extent_x = WIDTH,
                          .extent_y = HEIGHT};
    return shape;
}

/* Makes a texture that a kernel has filled with the pattern. */
static tvlm_status filled(opencl_device *device, tvlm_format format, int32_t levels, tvlm_texture **texture) {
    const tvlm_texture shape = shape_of(format, levels);
    const size_t size[3] = {WIDTH, HEIGHT, SLICES};
    opencl_call call;
    TVLM_TRY(tvlm_opencl_texture_create(&device->base, &shape, texture));
    tvlm_status status = tvlm_opencl_call_begin(device, "self_test.cl", "self_test_write", format, "", &call);
    if (status == TVLM_OK) {
        tvlm_opencl_call_output(&call, *texture);
        status = tvlm_opencl_call_run(&call, 3, size, NULL);
    }
    if (status != TVLM_OK) tvlm_opencl_texture_destroy(&device->base, texture);
    return status;
}

/* Runs a kernel with the arguments texture, points (unless NULL) and out, and reads back `count` results. */
static tvlm_status read_back(opencl_device *device, const char *kernel, const tvlm_texture *texture,
                             const cl_float4 *points, const size_t *size, size_t count, cl_float4 *results) {
    tvlm_buffer *in = NULL, *out = NULL;
    opencl_call call;
    const size_t bytes = count * sizeof(cl_float4);
    tvlm_status status = tvlm_opencl_buffer_create(&device->base, bytes, &out);
    if (status == TVLM_OK && points != NULL) {
        status = tvlm_opencl_buffer_create(&device->base, bytes, &in);
        if (status == TVLM_OK) status = tvlm_opencl_buffer_write(&device->base, in, 0, bytes, points);
    }
    if (status == TVLM_OK)
        status = tvlm_opencl_call_begin(device, "self_test.cl", kernel, texture->format, "", &call);
    if (status == TVLM_OK) {
        tvlm_opencl_call_input(&call, texture);
        if (points != NULL) tvlm_opencl_call_memory(&call, ((opencl_buffer *)in)->memory);
        tvlm_opencl_call_memory(&call, ((opencl_buffer *)out)->memory);
        status = tvlm_opencl_call_run(&call, points != NULL ? 1 : 3, size, NULL);
    }
    if (status == TVLM_OK) status = tvlm_opencl_buffer_read(&device->base, out, 0, bytes, results);
    tvlm_opencl_buffer_destroy(&device->base, &in);
    tvlm_opencl_buffer_destroy(&device->base, &out);
    return status;
}

/* Tests that every texel of every slice comes back as it was written. */
static tvlm_status test_slices(opencl_device *device, const tvlm_texture *texture, const char *name,
                               bool *passed) {
    const size_t size[3] = {WIDTH, HEIGHT, SLICES};
    cl_float4 got[WIDTH * HEIGHT * SLICES];
    memset(got, 0xff, sizeof got);
    int wrong = 0;
    TVLM_TRY(read_back(device, "self_test_fetch", texture, NULL, size, WIDTH * HEIGHT * SLICES, got));
    for (int i = 0; i < WIDTH * HEIGHT * SLICES; ++i) {
        float expected[4];
        pattern(i % WIDTH, i / WIDTH % HEIGHT, i / (WIDTH * HEIGHT), expected);
        wrong += memcmp(&got[i], expected, sizeof expected) != 0; /* NOLINT(bugprone-*,cert-*): bits */
    }
    report(device, name, wrong == 0, "%.0f of 120 texels wrong", wrong);
    *passed = *passed && wrong == 0;
    return TVLM_OK;
}

/* Tests bilinear reads. The pattern is linear in x and y, so that reads between centres have a known
 * answer. */
static tvlm_status test_bilinear(opencl_device *device, const tvlm_texture *texture, const char *name,
                                 bool *passed) {
    enum { COUNT = 64 };
    const size_t size[1] = {COUNT};
    cl_float4 points[COUNT], got[COUNT];
    double worst = 0.0;
    for (int i = 0; i < COUNT; ++i)
        points[i] = (cl_float4){
            {0.5f + (float)(i % 13) * 0.3071f, 0.5f + (float)(i % 7) * 0.2913f, (float)(i % SLICES), 0.0f}};
    TVLM_TRY(read_back(device, "self_test_bilinear", texture, points, size, COUNT, got));
    for (int i = 0; i < COUNT; ++i) {
        const float x = points[i].s[0] - 0.5f, y = points[i].s[1] - 0.5f;
        const double expected[4] = {x, y, points[i].s[2], 0.5 * x + 0.25 * y};
        for (int c = 0; c < 4; ++c) {
            const double error = fabs(got[i].s[c] - expected[c]);
            /* NaN counts as the worst. */
            worst = error <= worst ? worst : error;
        }
    }
    /* Weights of 8 fractional bits, the fewest that hardware has, are off by at most 1/256 of a step of 1. */
    const bool good = worst <= 1.0 / 250.0;
    report(device, name, good, "largest error %.2g of a step", worst);
    *passed = *passed && good;
    return TVLM_OK;
}

/* Stores values that lie between two halves in each row of a texture, by a kernel, and reads the rows back. */
static tvlm_status store_halves(opencl_device *device, const cl_float4 *values, float *rows) {
    const size_t size[2] = {WIDTH, HEIGHT}, bytes = WIDTH * sizeof *values;
    const tvlm_texture shape = shape_of(TVLM_FORMAT_F16, 1);
    tvlm_texture *texture = NULL;
    tvlm_buffer *buffer = NULL;
    opencl_call call;
    TVLM_TRY(tvlm_opencl_texture_create(&device->base, &shape, &texture));
    tvlm_status status = tvlm_opencl_buffer_create(&device->base, bytes, &buffer);
    if (status == TVLM_OK) status = tvlm_opencl_buffer_write(&device->base, buffer, 0, bytes, values);
    if (status == TVLM_OK)
        status =
            tvlm_opencl_call_begin(device, "self_test.cl", "self_test_store", TVLM_FORMAT_F16, "", &call);
    if (status == TVLM_OK) {
        tvlm_opencl_call_memory(&call, ((opencl_buffer *)buffer)->memory);
        tvlm_opencl_call_output(&call, texture);
        status = tvlm_opencl_call_run(&call, 2, size, NULL);
    }
    if (status == TVLM_OK) status = tvlm_opencl_texture_read(&device->base, texture, 0, 0, rows);
    tvlm_opencl_buffer_destroy(&device->base, &buffer);
    tvlm_opencl_texture_destroy(&device->base, &texture);
    return status;
}

/*
 * Tests whether values are stored as the nearest half, ties to even, as the reference stores them. OpenCL
 * lets images round otherwise; then kernels round before they write. More than a unit in the last place is a
 * failure.
 */
static tvlm_status test_half(opencl_device *device, const char *name, bool *passed, bool *nearest) {
    static const float values[WIDTH] = {0.1f, 1.00048828125f, 1.00146484375f, 0.7777f, 0.3333333f};
    float rows[WIDTH * HEIGHT * 4];
    cl_float4 in[WIDTH];
    double worst = 0.0;
    for (int i = 0; i < WIDTH; ++i) in[i] = (cl_float4){{values[i], -values[i], values[i], 0.0f}};
    TVLM_TRY(store_halves(device, in, rows));
    for (int i = 0; i < WIDTH; ++i)
        for (int c = 0; c < 4; ++c) {
            const double expected = (double)tvlm_half_to_float(tvlm_half_from_float(in[i].s[c]));
            const double error = fabs((double)rows[4 * i + c] - expected);
            worst = error <= worst ? worst : error;
        }
    const bool good = worst <= 1.0 / 1024.0;
    *nearest = worst == 0.0;
    report(device, name, good,
           *nearest ? "to the nearest, ties to even" : "off by up to %.2g: kernels round before they write",
           worst);
    *passed = *passed && good;
    return TVLM_OK;
}

/* Makes a texture with levels: at the left border of each slice one texel is IMPULSE in the last component. */
#define IMPULSE 12.0f
static tvlm_status with_levels(opencl_device *device, tvlm_texture **texture) {
    const tvlm_texture shape = shape_of(TVLM_FORMAT_F32, 3);
    TVLM_TRY(tvlm_opencl_texture_create(&device->base, &shape, texture));
    tvlm_status status = TVLM_OK;
    for (int slice = 0; slice < SLICES && status == TVLM_OK; ++slice) {
        float texels[WIDTH * HEIGHT][4];
        for (int i = 0; i < WIDTH * HEIGHT; ++i) {
            pattern(i % WIDTH, i / WIDTH, slice, texels[i]);
            texels[i][3] = i == WIDTH ? IMPULSE : 0.0f;
        }
        status = tvlm_opencl_texture_write(&device->base, *texture, slice, texels[0]);
    }
    return status == TVLM_OK ? tvlm_opencl_mips(&device->base, *texture) : status;
}

/*
 * Tests reads of mipmapped textures at the left border of the middle row, at whole levels, at a half, and beyond
 * the last. The levels have 5 x 3, 2 x 1 and 1 x 1 texels, so the first texel is the mean of one pixel, of two and
 * a half columns, and of all: x and the impulse's share differ at each, and a driver that ignores the level, or
 * takes another, does not pass. The slice is the same at all.
 */
static tvlm_status test_levels(opencl_device *device, bool *passed) {
    enum { COUNT = 4 };
    const size_t size[1] = {COUNT};
    tvlm_texture *texture = NULL;
    cl_float4 got[COUNT];
    const cl_float4 points[COUNT] = {{{0.5f, 1.5f, 1.0f, 0.0f}},
                                     {{0.5f, 1.5f, 3.0f, 1.0f}},
                                     {{0.5f, 1.5f, 7.0f, 1.5f}},
                                     {{0.5f, 1.5f, 0.0f, 9.0f}}};
    static const double x[COUNT] = {0.0, 0.8, 1.4, 2.0}, share[COUNT] = {1.0, 2.0 / 15, 1.5 / 15, 1.0 / 15};
    tvlm_status status = with_levels(device, &texture);
    if (status == TVLM_OK) status = read_back(device, "self_test_sample", texture, points, size, COUNT, got);
    if (status == TVLM_OK) {
        double worst = 0.0;
        for (int i = 0; i < COUNT; ++i) {
            const double errors[3] = {fabs(got[i].s[0] - x[i]), fabs(got[i].s[2] - (double)points[i].s[2]),
                                      fabs(got[i].s[3] / (double)IMPULSE - share[i])};
            for (int c = 0; c < 3; ++c) worst = errors[c] <= worst ? worst : errors[c];
        }
        const bool good = worst <= 0.02;
        report(device, "levels", good, "largest error %.2g", worst);
        *passed = *passed && good;
    }
    tvlm_opencl_texture_destroy(&device->base, &texture);
    return status;
}

/* Runs a kernel that has one work-item, whose arguments are set, and reads the 4 bytes that it writes. */
static tvlm_status read_number(opencl_device *device, opencl_call *call, void *number) {
    const size_t one = 1;
    tvlm_buffer *out = NULL;
    TVLM_TRY(tvlm_opencl_buffer_create(&device->base, sizeof(cl_float), &out));
    tvlm_opencl_call_memory(call, ((opencl_buffer *)out)->memory);
    tvlm_status status = tvlm_opencl_call_run(call, 1, &one, NULL);
    if (status == TVLM_OK) status = tvlm_opencl_buffer_read(&device->base, out, 0, sizeof(cl_float), number);
    tvlm_opencl_buffer_destroy(&device->base, &out);
    return status;
}

/*
 * Tests that a product is rounded before something is added to it, as kernels ask for (FP_CONTRACT): with one
 * rounding for both results would differ from device to device in their last bits. (1 + 2^-12)^2 is 1 + 2^-11
 * + 2^-24, of which float drops the last. The device is opened all the same.
 */
static tvlm_status test_contraction(opencl_device *device) {
    const float a = 1.0f + 1.0f / 4096.0f, c = -(1.0f + 1.0f / 2048.0f);
    float got = -1.0f;
    opencl_call call;
    TVLM_TRY(
        tvlm_opencl_call_begin(device, "self_test.cl", "self_test_contraction", TVLM_FORMAT_F32, "", &call));
    tvlm_opencl_call_float(&call, a);
    tvlm_opencl_call_float(&call, a);
    tvlm_opencl_call_float(&call, c);
    TVLM_TRY(read_number(device, &call, &got));
    report(device, "contraction", got == 0.0f,
           got == 0.0f ? "products are rounded before sums"
                       : "a * b + c is off by %.2g: last bits may differ",
           (double)got);
    return TVLM_OK;
}

/*
 * Tests a long loop. Mesa's llvmpipe (22.3) silently ends a kernel's loops after 65535 turns, all loops
 * counted together. Such a device gets many work-items that do little each, as a GPU does.
 */
static tvlm_status test_loops(opencl_device *device) {
    enum { TURNS = 1 << 17 };
    uint32_t expected = 1, got = 0;
    opencl_call call;
    for (int i = 0; i < TURNS; ++i) expected = expected * 1664525u + 1013904223u;
    TVLM_TRY(tvlm_opencl_call_begin(device, "self_test.cl", "self_test_loop", TVLM_FORMAT_F32, "", &call));
    tvlm_opencl_call_int(&call, TURNS);
    TVLM_TRY(read_number(device, &call, &got));
    device->short_loops = got != expected;
    report(device, "long_loops", got == expected,
           got == expected ? "%.0f turns" : "fewer than %.0f turns: many work-items do little each", TURNS);
    return TVLM_OK;
}

/* Runs all tests of the storage that the device has now. */
static tvlm_status test_storage(opencl_device *device, const char *storage, bool *passed, bool *nearest) {
    tvlm_texture *texture = NULL;
    char name[32];
    *passed = true;
    for (int half = 0; half < 2; ++half) {
        TVLM_TRY(filled(device, half ? TVLM_FORMAT_F16 : TVLM_FORMAT_F32, 1, &texture));
        snprintf(name, sizeof name, "%s_slices_f%d", storage, half ? 16 : 32);
        tvlm_status status = test_slices(device, texture, name, passed);
        snprintf(name, sizeof name, "%s_bilinear_f%d", storage, half ? 16 : 32);
        if (status == TVLM_OK) status = test_bilinear(device, texture, name, passed);
        tvlm_opencl_texture_destroy(&device->base, &texture);
        TVLM_TRY(status);
    }
    snprintf(name, sizeof name, "%s_half", storage);
    TVLM_TRY(test_half(device, name, passed, nearest));
    if (device->base.info.storage == TVLM_STORAGE_BUFFER) {
        TVLM_TRY(test_loops(device));
        TVLM_TRY(test_contraction(device));
    }
    return device->base.info.storage == TVLM_STORAGE_MIPMAPPED ? test_levels(device, passed) : TVLM_OK;
}

static tvlm_status probe_once(opencl_device *device, tvlm_storage storage, bool *able, bool *nearest) {
    /*
     * A driver that refuses a step of a test fails that test, which is no reason not to open the device. But
     * every device has buffers. If kernels come from a folder, or memory is short, what goes wrong with
     * buffers is not the driver's doing, and it is reported.
     */
    const bool buffers = storage == TVLM_STORAGE_BUFFER;
    const tvlm_log log = device->base.log;
    if (!buffers || device->kernel_dir == NULL) device->base.log = (tvlm_log){NULL, NULL};
    device->base.info.storage = storage;
    device->cl_std = tvlm_opencl_language(device, storage);
    tvlm_status status = tvlm_opencl_empty_create(device);
    if (status == TVLM_OK) status = test_storage(device, tvlm_storage_name(storage), able, nearest);
    tvlm_opencl_texture_destroy(&device->base, &device->empty);
    /* The next storage builds programs of its own. */
    tvlm_opencl_programs_destroy(device);
    device->base.log = log;
    if (status != TVLM_OK && buffers && device->kernel_dir != NULL) return status;
    if (status == TVLM_ERROR_LOST)
        return tvlm_fail(&log, status, "the device '%s' is lost: it went in the self-test",
                         device->base.info.name);
    if (status == TVLM_ERROR_MEMORY || (buffers && status == TVLM_ERROR_DEVICE_MEMORY))
        return tvlm_fail(&log, status, "%s: out of memory in the self-test", device->base.info.name);
    if (status == TVLM_ERROR_DEVICE_MEMORY) {
        /* What says nothing about the driver must not cost the storage without a word. */
        *able = false;
        report(device, tvlm_storage_name(storage), false, "out of device memory: not tested", 0.0);
        tvlm_log_message(&log, TVLM_LOG_WARNING,
                         "%s: no device memory to test storage '%s', which is not used therefore",
                         device->base.info.name, tvlm_storage_name(storage));
    } else if (status != TVLM_OK) {
        *able = false;
        report(device, tvlm_storage_name(storage), false, "the driver refused (status %.0f)", (double)status);
    }
    return TVLM_OK;
}

/*
 * A program from the cache on disk may be why a test fails: then it is run again with programs that are built
 * anew, and take the place of those. If that helps, all other programs of the device are built anew, too.
 */
static tvlm_status probe(opencl_device *device, tvlm_storage storage, bool *able, bool *nearest) {
    const int32_t before = device->base.info.self_test_count;
    device->cache_used = false;
    const tvlm_status first = probe_once(device, storage, able, nearest);
    if ((first == TVLM_OK && *able) || first == TVLM_ERROR_LOST || !device->cache_used) return first;
    device->base.info.self_test_count = before;
    device->cache_distrusted = true;
    const tvlm_status second = probe_once(device, storage, able, nearest);
    device->cache_distrusted = second == TVLM_OK && *able;
    return second;
}

tvlm_status tvlm_opencl_self_test(opencl_device *device, bool images_matter, opencl_abilities *abilities) {
    const tvlm_device_info *info = &device->base.info;
    bool nearest = false;
    *abilities = (opencl_abilities){false, false, false, false};
    TVLM_TRY(probe(device, TVLM_STORAGE_BUFFER, &abilities->buffer, &nearest));
    if ((images_matter || !abilities->buffer) && info->images && info->image_slices_max >= SLICES)
        TVLM_TRY(probe(device, TVLM_STORAGE_IMAGE, &abilities->image, &abilities->image_rounds));
    /* Mip levels are never tried without the extension, since PoCL 3.1 aborts the process on them. */
    if (abilities->image && info->mipmap_extension && device->mip_sampler != NULL)
        TVLM_TRY(probe(device, TVLM_STORAGE_MIPMAPPED, &abilities->mipmapped, &nearest));
    return TVLM_OK;
}
