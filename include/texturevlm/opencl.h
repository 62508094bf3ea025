/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl.h: for applications that have an OpenCL context of their own. The only header that needs OpenCL's.
 *
 * Nothing is copied: the library works in the application's context and queue, reads its cl_mem, and hands
 * its own out. Handles that are handed out stay the library's, valid until the stack (or packed array)
 * changes or goes; retain none beyond that. Work is enqueued in order on the queue that was given.
 *
 * A cl_mem that is handed in is a buffer of the device's context which kernels may use as it is said here: one
 * that is CL_MEM_WRITE_ONLY is not read, and one that is CL_MEM_READ_ONLY not written. All else is refused
 * with ARGUMENT and a line.
 */
#ifndef TEXTUREVLM_OPENCL_H
#define TEXTUREVLM_OPENCL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>

#include "delta.h"
#include "export.h"
#include "input.h"
#include "patches.h"
#include "stack.h"
#include "stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Opens a device in the application's context, with its in-order queue; both are retained until the device is
 * destroyed. params->name is not read. Errors as tvlm_device_open; ARGUMENT for a queue of another context or
 * device, or one that runs out of order.
 */
TVLM_API tvlm_status tvlm_device_open_opencl(cl_context context, cl_device_id id, cl_command_queue queue,
                                             const struct tvlm_device_params *params, tvlm_device **device);

/*
 * As tvlm_stack_set_image, with the pixels in a buffer on the device; image->pixels is not read, and the size
 * must be the stack's. The kernel that reads the buffer has been enqueued when it returns, not more.
 */
TVLM_API tvlm_status tvlm_stack_set_image_opencl(tvlm_stack *stack, int32_t index, const tvlm_image *image,
                                                 cl_mem pixels, size_t byte_offset);

/*
 * As tvlm_stack_update_image (delta.h), with the frame in a buffer on the device: it is compared there, with
 * the source as it was stored: r, g, b after alpha was composited, and luma. A frame before it may have come
 * in any way. Waits until it is known which tiles changed. The rest as tvlm_stack_set_image_opencl.
 */
TVLM_API tvlm_status tvlm_stack_update_image_opencl(tvlm_stack *stack, int32_t index, const tvlm_image *image,
                                                    cl_mem pixels, size_t byte_offset,
                                                    const struct tvlm_update_params *params,
                                                    tvlm_delta_report *report);

/*
 * As tvlm_stack_set_grid and tvlm_stack_set_user, with the grid in a buffer on the device, from byte_offset
 * on; input->data is not read. With replace_nonfinite the kernel that reads the buffer has been enqueued when
 * they return; without it, and for identifiers, they wait.
 */
TVLM_API tvlm_status tvlm_stack_set_grid_opencl(tvlm_stack *stack, int32_t index, int32_t channel,
                                                const struct tvlm_grid_input *input, cl_mem data,
                                                size_t byte_offset);
TVLM_API tvlm_status tvlm_stack_set_user_opencl(tvlm_stack *stack, int32_t index, const char *name, float low,
                                                float high, tvlm_reduce reduce,
                                                const struct tvlm_grid_input *input, cl_mem data,
                                                size_t byte_offset, int32_t *channel);

/*
 * As tvlm_stream_set_features (stream.h), with the vectors in a buffer on the device, from byte_offset on;
 * input->data is not read, mask is the host's. With input->replace_nonfinite the kernel that reads the buffer
 * has been enqueued when it returns; without it, it waits.
 */
TVLM_API tvlm_status tvlm_stream_set_features_opencl(tvlm_stream *stream, int32_t camera, int32_t channel,
                                                     const struct tvlm_grid_input *input, cl_mem data,
                                                     size_t byte_offset, const uint8_t *mask);

/*
 * As tvlm_patches_extract (patches.h), into a buffer on the device, from byte_offset (a whole number of
 * elements) on: the kernels that write it have been enqueued when it returns. One launch writes it in place
 * where byte_offset is 0, the channels lie in at most 16 textures and the result has at most 64 MiB;
 * otherwise it is copied on the device. Errors: as there; ARGUMENT for a buffer that is too small.
 */
TVLM_API tvlm_status tvlm_patches_extract_opencl(tvlm_stack *stack, const tvlm_position *positions,
                                                 int32_t count, const struct tvlm_patches_params *params,
                                                 cl_mem out, size_t byte_offset);

/* Where a family's texels are. */
typedef struct tvlm_opencl_texture {
    tvlm_storage storage;
    tvlm_format format;
    cl_mem base; /* image, mipmapped: the array (of level 0); buffer: everything, level after level, in each
                    level slice after slice, row after row, four components a texel */
    cl_mem rest; /* image: levels 1 and up side by side in one array: level 1 at (0, 0), level n at
                    (w_1, h_2 + ... + h_(n-1)); NULL otherwise, and when there is one level */
    int32_t width, height; /* of level 0 of the grid */
    int32_t levels;
    int32_t layers, images;   /* slice = image * layers + layer */
    int32_t first_image;      /* the batch's image that is image 0 in here */
    int32_t layer, component; /* of the channel asked for */
    uint64_t reserved[4];
} tvlm_opencl_texture;

/* The texture that holds a channel of image `index`; generates it. Of vectors (embedding, normals) level 0
 * holds unit vectors, further levels their means: whoever reads those makes them unit. ARGUMENT for channels
 * that are not stored. */
TVLM_API tvlm_status tvlm_stack_get_opencl(tvlm_stack *stack, int32_t index, int32_t channel,
                                           tvlm_opencl_texture *texture);
TVLM_API tvlm_status tvlm_packed_get_opencl(tvlm_packed *packed, int32_t index, tvlm_opencl_texture *texture);

/*
 * The floats of one picture (or of the video) of the last run, where they are: its part of pixel_values and
 * of selected_pixel_values (export.h), row-major from byte 0 on; the buffers may be larger. Either may be
 * NULL. Valid until the next run. ARGUMENT for a picture that there is not.
 */
TVLM_API tvlm_status tvlm_export_get_opencl(tvlm_export *exported, int32_t picture, cl_mem *values,
                                            cl_mem *selected);

#ifdef __cplusplus
}
#endif
#endif
