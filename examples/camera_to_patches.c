/* SPDX-License-Identifier: Apache-2.0 */
/*
 * camera_to_patches.c PHOTO: cuts patches from a camera's buffer into an encoder's, in an OpenCL context of
 * the application's own. The photo stands for the camera. Once its pixels are in a cl_mem, nothing comes back
 * to the host but what is printed. The strategy is the grid, since the budget, which is the default, needs
 * the host. Exit code 77: there is no OpenCL device.
 */
#include <stdio.h>

#include <texturevlm/io.h>
#include <texturevlm/opencl.h>
#include <texturevlm/texturevlm.h>

enum { K = 8, SIDE = 16, PATCH = 3 * SIDE * SIDE };

int main(int argc, char **argv) {
    const tvlm_log *log = tvlm_log_stderr();
    static float patches[K][PATCH];
    cl_platform_id platform = NULL;
    cl_device_id id = NULL;
    tvlm_image *image = NULL;
    tvlm_device *device = NULL;
    tvlm_stack *stack = NULL;
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &id, NULL) != CL_SUCCESS)
        return 77;
    cl_context context = clCreateContext(NULL, 1, &id, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, id, NULL, NULL);
    if (argc < 2 || tvlm_image_load(argv[1], log, &image) != TVLM_OK) return 1;

    /* A camera's driver, a decoder or kernels of your own would have filled this. */
    const size_t bytes = (size_t)image->width * (size_t)image->height * (size_t)image->channels;
    cl_mem camera = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes,
                                   (void *)(uintptr_t)image->pixels, NULL);
    cl_mem positions = clCreateBuffer(context, CL_MEM_READ_WRITE, K * sizeof(tvlm_position), NULL, NULL);
    cl_mem encoder = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof patches, NULL, NULL);

    /* `unchecked`: the library wrote these positions, so it need not wait to check them. */
    const struct tvlm_memory chosen = {.memory = positions, .unchecked = true};
    const struct tvlm_stack_params params = {.width = image->width, .height = image->height};
    int32_t count = 0;
    if (tvlm_device_open_opencl(context, id, queue, tvlm_device_params(.log = log), &device) != TVLM_OK ||
        tvlm_stack_create(device, &params, &stack) != TVLM_OK ||
        tvlm_stack_set_image_opencl(stack, 0, image, camera, 0) != TVLM_OK ||
        tvlm_select_opencl(stack, NULL, tvlm_select_params(.k = K, .strategy = TVLM_STRATEGY_GRID), positions,
                           0, &count) != TVLM_OK ||
        tvlm_patches_extract_at_opencl(stack, &chosen, count, tvlm_patches_params(.side = SIDE), encoder,
                                       0) != TVLM_OK)
        return 1;
    /* The work is in `queue`: what is enqueued there from here on, such as an encoder's kernels, finds the
     * patches. Here they are read, to have something to print. */
    clEnqueueReadBuffer(queue, encoder, CL_TRUE, 0, sizeof patches, patches, 0, NULL, NULL);
    for (int32_t i = 0; i < count; ++i)
        printf("%d: r %.2f g %.2f b %.2f\n", (int)i, (double)patches[i][0], (double)patches[i][SIDE * SIDE],
               (double)patches[i][2 * SIDE * SIDE]);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
    tvlm_image_destroy(&image);
    clReleaseMemObject(camera);
    clReleaseMemObject(positions);
    clReleaseMemObject(encoder);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
