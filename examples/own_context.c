/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_context.c PHOTO: works in an OpenCL context of the application's own. The stack's channels come out as
 * one packed array on the device, for the application's kernels. Nothing is copied to the host. Exit code 77:
 * there is no OpenCL device.
 */
#include <stdio.h>

#include <texturevlm/io.h>
#include <texturevlm/opencl.h>
#include <texturevlm/texturevlm.h>

int main(int argc, char **argv) {
    const tvlm_log *log = tvlm_log_stderr();
    cl_platform_id platform = NULL;
    cl_device_id id = NULL;
    tvlm_image *image = NULL;
    tvlm_device *device = NULL;
    tvlm_stack *stack = NULL;
    tvlm_packed *packed = NULL;
    tvlm_opencl_texture texture;
    if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &id, NULL) != CL_SUCCESS)
        return 77;
    cl_context context = clCreateContext(NULL, 1, &id, NULL, NULL, NULL);
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, id, NULL, NULL);
    if (argc < 2 || tvlm_image_load(argv[1], log, &image) != TVLM_OK ||
        tvlm_device_open_opencl(context, id, queue, tvlm_device_params(.log = log), &device) != TVLM_OK ||
        tvlm_stack_create_for_image(
            device, image, tvlm_stack_params(.layout = "r,g,b,edges,saliency,distance"), &stack) != TVLM_OK ||
        tvlm_stack_pack(stack, tvlm_pack_params(.level = 1.0f), &packed) != TVLM_OK ||
        tvlm_packed_get_opencl(packed, 0, &texture) != TVLM_OK)
        return 1;
    /* texture.base is a cl_mem: an image array, or a buffer, as texture.storage says. Kernels of your own that
     * are enqueued on `queue` from here on read what was packed. */
    printf("%s: %d x %d texels, %d slices of four channels\n", tvlm_storage_name(texture.storage),
           (int)texture.width, (int)texture.height, (int)(texture.layers * texture.images));
    tvlm_packed_destroy(&packed);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
    tvlm_image_destroy(&image);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}
