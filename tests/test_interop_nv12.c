/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_interop_nv12.c: frames of NV12 on the device, in one buffer, in two, and in two images, against the
 * formulas of texturevlm/opencl.h.
 */
#include <math.h>

#include "frames_helper.h"

/* One colour by the formulas of opencl.h, in double. */
static void colour_of(const tvlm_opencl_frame *f, int y, int cb, int cr, float rgb[3]) {
    const bool bt709 = f->matrix == TVLM_OPENCL_BT709;
    const double kr = bt709 ? 0.2126 : 0.299, kb = bt709 ? 0.0722 : 0.114;
    const double luma = f->full_range ? y / 255.0 : (y - 16) / 219.0;
    const double b = (cb - 128) / (f->full_range ? 255.0 : 224.0);
    const double r = (cr - 128) / (f->full_range ? 255.0 : 224.0);
    const double red = luma + 2 * (1 - kr) * r, blue = luma + 2 * (1 - kb) * b;
    const double green = (luma - kr * red - kb * blue) / (1 - kr - kb);
    const double all[3] = {red, green, blue};
    for (int c = 0; c < 3; ++c) rgb[c] = (float)fmin(fmax(all[c], 0), 1);
}

/* The pixels as RGB floats. */
static void convert(const tvlm_opencl_frame *f, const unsigned char *luma, const unsigned char *pairs,
                    int32_t width, int32_t height, float *rgb) {
    const int32_t columns = (width + 1) / 2;
    for (int32_t y = 0; y < height; ++y)
        for (int32_t x = 0; x < width; ++x) {
            const unsigned char *pair = pairs + 2 * ((y / 2) * columns + x / 2);
            colour_of(f, luma[y * width + x], pair[0], pair[1], rgb + 3 * (y * width + x));
        }
}

/* An image of one or two channels; where the device has none, one of four. */
static cl_mem plane_image(const application *app, cl_channel_order order, size_t channels, int32_t width,
                          int32_t height, const unsigned char *bytes) {
    static unsigned char texels[4 * MOST];
    cl_mem image = make_image(app, order, CL_UNORM_INT8, width, height, bytes);
    if (image != NULL) return image;
    printf("    has no images of %zu channels\n", channels);
    for (size_t i = 0; i < (size_t)width * (size_t)height; ++i)
        for (size_t c = 0; c < 4; ++c) texels[4 * i + c] = c < channels ? bytes[channels * i + c] : 77;
    image = make_image(app, CL_RGBA, CL_UNORM_INT8, width, height, texels);
    assert_non_null(image);
    return image;
}

/* In one buffer without and with gaps, in two, and in two images: all the same, and as the formulas say. */
static void check_nv12(const application *app, int32_t width, int32_t height, tvlm_opencl_matrix matrix,
                       bool full_range, bool images) {
    static unsigned char bytes[2 * MOST], apart[4 * MOST];
    static float rgb[MOST * 3];
    uint64_t random = (uint64_t)(10 * width + height);
    const size_t columns = ((size_t)width + 1) / 2, rows = ((size_t)height + 1) / 2;
    const size_t luma = (size_t)width * (size_t)height, all = luma + 2 * columns * rows;
    const size_t stride = (size_t)width + 11, second = 3 + stride * (size_t)height + 5;
    for (size_t i = 0; i < all; ++i) bytes[i] = (unsigned char)test_random(&random);
    tvlm_opencl_frame frame = {.nv12 = true,
                               .full_range = full_range,
                               .matrix = matrix,
                               .image = {.width = width, .height = height}};
    convert(&frame, bytes, bytes + luma, width, height, rgb);
    const tvlm_image host = {
        .pixels = rgb, .width = width, .height = height, .channels = 3, .type = TVLM_PIXEL_F32};
    tvlm_stack *expected = open_stack(app);
    check(tvlm_stack_set_image(expected, 0, &host));

    cl_mem pairs = make_buffer(app, bytes + luma, 2 * columns * rows);
    frame.memory = make_buffer(app, bytes, all);
    frame.chroma_stride = 2 * columns;
    check_frame(app, "NV12 in one buffer", frame, expected);
    frame.chroma = pairs;
    check_frame(app, "NV12 in two buffers", frame, expected);
    clReleaseMemObject(pairs);
    clReleaseMemObject(frame.memory);

    for (size_t y = 0; y < (size_t)height; ++y)
        memcpy(apart + 3 + y * stride, bytes + y * (size_t)width, (size_t)width);
    for (size_t y = 0; y < rows; ++y)
        memcpy(apart + second + y * (stride + 2), bytes + luma + y * 2 * columns, 2 * columns);
    frame.memory = make_buffer(app, apart, second + rows * (stride + 2));
    frame.chroma = NULL;
    frame.offset = 3;
    frame.image.row_stride = stride;
    frame.chroma_offset = second;
    frame.chroma_stride = stride + 2;
    check_frame(app, "NV12 with gaps", frame, expected);
    clReleaseMemObject(frame.memory);

    frame = (tvlm_opencl_frame){.nv12 = true, .full_range = full_range, .matrix = matrix};
    if (images) {
        frame.memory = plane_image(app, CL_R, 1, width, height, bytes);
        frame.chroma = plane_image(app, CL_RG, 2, (int32_t)columns, (int32_t)rows, bytes + luma);
        check_frame(app, "NV12 in two images", frame, expected);
    }
    if (frame.memory != NULL) clReleaseMemObject(frame.memory);
    if (frame.chroma != NULL) clReleaseMemObject(frame.chroma);
    tvlm_stack_destroy(&expected);
}

static void nv12(const test_target *target) {
    const bool images = target->device->info.images;
    application app = start_on(target);
    check_nv12(&app, WIDTH, HEIGHT, TVLM_OPENCL_BT601, false, images);
    check_nv12(&app, WIDTH, HEIGHT, TVLM_OPENCL_BT601, true, images);
    check_nv12(&app, 160, 90, TVLM_OPENCL_BT709, false, images);
    check_nv12(&app, 33, 31, TVLM_OPENCL_BT709, true, images);
    stop(&app);
}
ON_EACH_DEVICE(nv12)

/* The defaults of NV12 in one buffer with even sides: chroma right behind, rows as far apart as the luma's. */
static void nv12_defaults(const test_target *target) {
    enum { SIDE = 8 };
    static unsigned char bytes[SIDE * SIDE * 3 / 2];
    application app = start_on(target);
    static float rgb[SIDE * SIDE * 3];
    uint64_t random = 6;
    for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = (unsigned char)test_random(&random);
    tvlm_opencl_frame frame = {.memory = make_buffer(&app, bytes, sizeof bytes),
                               .nv12 = true,
                               .image = {.width = SIDE, .height = SIDE}};
    convert(&frame, bytes, bytes + SIDE * SIDE, SIDE, SIDE, rgb);
    const tvlm_image host = {
        .pixels = rgb, .width = SIDE, .height = SIDE, .channels = 3, .type = TVLM_PIXEL_F32};
    tvlm_stack *expected = open_stack(&app);
    check(tvlm_stack_set_image(expected, 0, &host));
    check_frame(&app, "NV12 by default", frame, expected);
    clReleaseMemObject(frame.memory);
    tvlm_stack_destroy(&expected);
    stop(&app);
}
ON_EACH_DEVICE(nv12_defaults)

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nv12), cmocka_unit_test(test_nv12_defaults)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
