/* SPDX-License-Identifier: Apache-2.0 */
/*
 * self_test_levels.c: the self-test's question about the levels of mipmapped textures, which self_test.c asks
 * last. It is the only question that needs a kernel of the library (mips.cl), and textures with levels.
 */
#include <math.h>

#include "core/try.h"
#include "opencl/backend.h"

enum { WIDTH = 5, HEIGHT = 3, SLICES = 8, LEVELS = 3, POINTS = 4 };

/* The value of the last component in one texel at the left border of each slice; everywhere else it is 0. The
 * first component is x, and the third is the slice. */
#define IMPULSE 12.0f

static tvlm_status with_levels(opencl_device *device, tvlm_texture **texture) {
    const tvlm_texture shape = {.width = WIDTH,
                                .height = HEIGHT,
                                .layers = 1,
                                .images = SLICES,
                                .levels = LEVELS,
                                .format = TVLM_FORMAT_F32,
                                .extent_x = WIDTH,
                                .extent_y = HEIGHT};
    TVLM_TRY(tvlm_opencl_texture_create(&device->base, &shape, texture));
    tvlm_status status = TVLM_OK;
    for (int slice = 0; slice < SLICES && status == TVLM_OK; ++slice) {
        cl_float4 texels[WIDTH * HEIGHT];
        for (int i = 0; i < WIDTH * HEIGHT; ++i)
            texels[i] = (cl_float4){{(float)(i % WIDTH), 0.0f, (float)slice, i == WIDTH ? IMPULSE : 0.0f}};
        status = tvlm_opencl_texture_write(&device->base, *texture, slice, texels[0].s);
    }
    return status == TVLM_OK ? tvlm_opencl_mips(&device->base, texture, 1) : status;
}

/* Samples the texture at the points. */
static tvlm_status sample(opencl_device *device, const tvlm_texture *texture, const cl_float4 points[POINTS],
                          cl_float4 results[POINTS]) {
    const size_t bytes = POINTS * sizeof *points, count = POINTS;
    tvlm_buffer *in = NULL, *out = NULL;
    opencl_call call;
    tvlm_status status = tvlm_opencl_buffer_create(&device->base, bytes, &in);
    if (status == TVLM_OK) status = tvlm_opencl_buffer_create(&device->base, bytes, &out);
    if (status == TVLM_OK) status = tvlm_opencl_buffer_write(&device->base, in, 0, bytes, points);
    if (status == TVLM_OK)
        status = tvlm_opencl_call_begin(device, "self_test.cl", "self_test_sample", TVLM_FORMAT_F32,
                                        "-DSELF_TEST_IMAGES=0", &call);
    if (status == TVLM_OK) {
        tvlm_opencl_call_input(&call, texture);
        tvlm_opencl_call_memory(&call, ((opencl_buffer *)in)->memory);
        tvlm_opencl_call_memory(&call, ((opencl_buffer *)out)->memory);
        status = tvlm_opencl_call_run(&call, 1, &count, NULL);
    }
    if (status == TVLM_OK) status = tvlm_opencl_buffer_read(&device->base, out, 0, bytes, results);
    tvlm_opencl_buffer_destroy(&device->base, &in);
    tvlm_opencl_buffer_destroy(&device->base, &out);
    return status;
}

/*
 * Reads at the left border of the middle row: at whole levels, at a half, and beyond the last level. The
 * levels have 5 x 3, 2 x 1 and 1 x 1 texels. So the first texel of each is the mean of one pixel, of two and
 * a half columns, and of all pixels. x and the impulse's share differ at each level. Therefore a driver that
 * ignores the level, or takes another one, is found. The slice is the same at all levels.
 */
tvlm_status tvlm_opencl_levels_error(opencl_device *device, double *worst) {
    static const cl_float4 points[POINTS] = {{{0.5f, 1.5f, 1.0f, 0.0f}},
                                             {{0.5f, 1.5f, 3.0f, 1.0f}},
                                             {{0.5f, 1.5f, 7.0f, 1.5f}},
                                             {{0.5f, 1.5f, 0.0f, 9.0f}}};
    static const double x[POINTS] = {0.0, 0.8, 1.4, 2.0}, share[POINTS] = {1.0, 2.0 / 15, 1.5 / 15, 1.0 / 15};
    tvlm_texture *texture = NULL;
    cl_float4 got[POINTS];
    tvlm_status status = with_levels(device, &texture);
    if (status == TVLM_OK) status = sample(device, texture, points, got);
    *worst = 0.0;
    for (int i = 0; i < POINTS && status == TVLM_OK; ++i) {
        const double errors[3] = {fabs(got[i].s[0] - x[i]), fabs(got[i].s[2] - (double)points[i].s[2]),
                                  fabs(got[i].s[3] / (double)IMPULSE - share[i])};
        for (int c = 0; c < 3; ++c) *worst = tvlm_opencl_larger(*worst, errors[c]);
    }
    tvlm_opencl_texture_destroy(&device->base, &texture);
    return status;
}
