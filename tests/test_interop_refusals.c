/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_interop_refusals.c: frames on the device that are refused, each with its line; the stack stays as it was.
 */
#include "frames_helper.h"

static void refuse_image(const application *app, tvlm_stack *stack, cl_channel_order order,
                         cl_channel_type type, const char *why) {
    cl_mem image = make_image(app, order, type, WIDTH, HEIGHT, NULL);
    if (image == NULL) {
        printf("    has no images of order 0x%x and type 0x%x\n", (unsigned)order, (unsigned)type);
        return;
    }
    refused(stack, (tvlm_opencl_frame){.memory = image}, TVLM_ERROR_ARGUMENT, why);
    clReleaseMemObject(image);
}

static cl_mem image_of(const application *app, cl_mem_flags flags, cl_mem_object_type type) {
    const cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
    const cl_image_desc shape = {.image_type = type,
                                 .image_width = WIDTH,
                                 .image_height = HEIGHT,
                                 .image_depth = 2,
                                 .image_array_size = 2};
    cl_mem image = clCreateImage(app->context, flags, &format, &shape, NULL, NULL);
    assert_non_null(image);
    return image;
}

static void check_images_refused(const application *app, tvlm_stack *stack) {
    refuse_image(app, stack, CL_RGBA, CL_UNSIGNED_INT8, "channel type");
    refuse_image(app, stack, CL_RGBA, CL_SIGNED_INT32, "channel type");
    refuse_image(app, stack, CL_sRGBA, CL_UNORM_INT8, "sRGB");
    refuse_image(app, stack, CL_INTENSITY, CL_UNORM_INT8, "channel order");
    refuse_image(app, stack, CL_RG, CL_UNORM_INT8, "two channels");
    cl_mem write_only = image_of(app, CL_MEM_WRITE_ONLY, CL_MEM_OBJECT_IMAGE2D);
    cl_mem array = image_of(app, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D_ARRAY);
    cl_mem plain = image_of(app, CL_MEM_READ_ONLY, CL_MEM_OBJECT_IMAGE2D);
    cl_mem buffer = clCreateBuffer(app->context, CL_MEM_READ_WRITE, WIDTH * HEIGHT, NULL, NULL);
    refused(stack, (tvlm_opencl_frame){.memory = write_only}, TVLM_ERROR_ARGUMENT, "CL_MEM_WRITE_ONLY");
    refused(stack, (tvlm_opencl_frame){.memory = array}, TVLM_ERROR_ARGUMENT, "a buffer or an image2d");
    refused(stack, (tvlm_opencl_frame){.memory = plain, .image = {.width = WIDTH - 1, .height = HEIGHT}},
            TVLM_ERROR_ARGUMENT, "the image is 75 x 49");
    refused(stack, (tvlm_opencl_frame){.memory = plain, .offset = 4}, TVLM_ERROR_ARGUMENT, "4 bytes into");
    refused(stack, (tvlm_opencl_frame){.memory = plain, .nv12 = true}, TVLM_ERROR_ARGUMENT,
            "no image of chroma");
    refused(stack, (tvlm_opencl_frame){.memory = plain, .chroma = buffer, .nv12 = true}, TVLM_ERROR_ARGUMENT,
            "the other a buffer");
    refused(stack, (tvlm_opencl_frame){.memory = plain, .chroma = array, .nv12 = true}, TVLM_ERROR_ARGUMENT,
            "a buffer or an image2d");
    cl_mem luma = make_image(app, CL_R, CL_UNORM_INT8, WIDTH, HEIGHT, NULL);
    cl_mem chroma = make_image(app, CL_RGBA, CL_UNORM_INT8, WIDTH / 2, HEIGHT / 2, NULL);
    cl_mem wide = make_image(app, CL_RGBA, CL_UNORM_INT16, (WIDTH + 1) / 2, (HEIGHT + 1) / 2, NULL);
    refused(stack, (tvlm_opencl_frame){.memory = plain, .chroma = chroma, .nv12 = true}, TVLM_ERROR_ARGUMENT,
            "it has 38x25");
    refused(stack, (tvlm_opencl_frame){.memory = plain, .chroma = wide, .nv12 = true}, TVLM_ERROR_ARGUMENT,
            "other than 8 bits");
    if (luma != NULL)
        refused(stack, (tvlm_opencl_frame){.memory = plain, .chroma = luma, .nv12 = true},
                TVLM_ERROR_ARGUMENT, "one channel");
    const cl_mem all[] = {write_only, array, plain, buffer, luma, chroma, wide};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i)
        if (all[i] != NULL) clReleaseMemObject(all[i]);
}

static void check_buffers_refused(const application *app, tvlm_stack *stack) {
    enum { BYTES = WIDTH * HEIGHT * 3 / 2 };
    cl_mem memory = clCreateBuffer(app->context, CL_MEM_READ_WRITE, BYTES, NULL, NULL);
    const tvlm_image size = {.width = WIDTH, .height = HEIGHT, .channels = 1};
    assert_non_null(memory);
    refused(stack, (tvlm_opencl_frame){.image = size}, TVLM_ERROR_ARGUMENT, "without a cl_mem");
    refused(stack, (tvlm_opencl_frame){.memory = memory}, TVLM_ERROR_ARGUMENT, "0x0 pixels");
    refused(stack, (tvlm_opencl_frame){.memory = memory, .image = {.width = 9, .height = 9}},
            TVLM_ERROR_ARGUMENT, "0 channels");
    refused(stack,
            (tvlm_opencl_frame){.memory = memory, .image = {.width = WIDTH, .height = HEIGHT, .channels = 2}},
            TVLM_ERROR_ARGUMENT, "beyond the cl_mem's");
    refused(stack, (tvlm_opencl_frame){.memory = memory, .image = size, .nv12 = true}, TVLM_ERROR_ARGUMENT,
            "beyond the cl_mem's"); /* sides are odd: there are more pairs than for a quarter of the pixels */
    refused(stack,
            (tvlm_opencl_frame){.memory = memory, .image = size, .nv12 = true, .chroma_offset = SIZE_MAX - 1},
            TVLM_ERROR_ARGUMENT, "beyond the cl_mem's");
    refused(stack, (tvlm_opencl_frame){.memory = memory, .image = size, .nv12 = true, .chroma_stride = 75},
            TVLM_ERROR_ARGUMENT, "75 bytes");
    refused(stack, (tvlm_opencl_frame){.memory = memory, .image = size, .matrix = (tvlm_opencl_matrix)2},
            TVLM_ERROR_ARGUMENT, "no matrix 2");
    refused(stack, (tvlm_opencl_frame){.memory = memory, .image = size, .sharing = (tvlm_opencl_sharing)3},
            TVLM_ERROR_ARGUMENT, "no sharing 3");
    refused(stack, (tvlm_opencl_frame){.memory = memory, .image = size, .reserved = {0, 1}},
            TVLM_ERROR_ARGUMENT, "tvlm_opencl_frame: its reserved");
    refused(stack,
            (tvlm_opencl_frame){.memory = memory,
                                .image = {.width = 9, .height = 9, .channels = 1, .reserved = {1}}},
            TVLM_ERROR_ARGUMENT, "tvlm_image: its reserved");
    clReleaseMemObject(memory);
}

static void refusals(const test_target *target) {
    application app = start_on(target);
    tvlm_stack *stack = open_stack(&app);
    poison(stack);
    check_buffers_refused(&app, stack);
    if (target->device->info.images) check_images_refused(&app, stack);
    tvlm_stack_destroy(&stack);
    stop(&app);
}
ON_EACH_DEVICE(refusals)

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refusals)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
