/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl.h: for applications that have an OpenCL context of their own. This is the only header that needs
 * OpenCL's headers.
 *
 * Nothing is copied: the library works in the application's context and queue, reads the application's cl_mem,
 * and hands out its own. A handle that is handed out stays the library's. It is valid until the stack (or the
 * packed array) changes or is destroyed, and must not be retained beyond that. Work is enqueued in order on the
 * queue that was given.
 *
 * A cl_mem that is handed in is a buffer of the device's context; for pixels, it may also be an image2d. It must
 * have the access that the function needs: CL_MEM_WRITE_ONLY is refused where kernels read it, and
 * CL_MEM_READ_ONLY where they write it. What does not fit is refused with ARGUMENT and a line.
 *
 * *Other queues.* No function takes a list of events, because the queue does:
 *
 *     clEnqueueBarrierWithWaitList(queue, 1, &written, NULL); // what follows waits for the camera's queue
 *     tvlm_stream_push_opencl(stream, 0, &frame, NULL, NULL);
 *     clEnqueueMarkerWithWaitList(queue, 0, NULL, &done);     // complete when all before it is
 *     clFlush(queue);                                         // before another queue waits for `done`
 *
 * `queue` is the one that was given. `written` is an event of any queue of the context. `done` goes into the wait
 * lists of the commands in other queues that write over the frame, or that read what was handed out.
 */
#ifndef TEXTUREVLM_OPENCL_H
#define TEXTUREVLM_OPENCL_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>

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

/* ---- Frames ---- */

/* The matrix by which luma was made. The weights of red and blue are 0.299 and 0.114 for BT.601, and 0.2126 and
 * 0.0722 for BT.709. */
typedef enum tvlm_opencl_matrix { TVLM_OPENCL_BT601 = 0, TVLM_OPENCL_BT709 } tvlm_opencl_matrix;

/*
 * Whether memory is shared with another interface. The application has then made the cl_mem from an object of that
 * interface, by one of these extensions:
 *   - cl_khr_gl_sharing: clCreateFromGLTexture, clCreateFromGLBuffer;
 *   - cl_khr_external_memory: CL_EXTERNAL_MEMORY_HANDLE_*_KHR, for Vulkan.
 *
 * The library acquires the memory on the given queue before its kernels read it, and releases it after them. The
 * other interface must be done with it before the call (by glFinish, or by a semaphore that the queue waits for).
 * It may use the memory again when what the call enqueued is done ("Other queues" above).
 */
typedef enum tvlm_opencl_sharing {
    TVLM_OPENCL_NOT_SHARED = 0, /* or the application acquires and releases it itself */
    TVLM_OPENCL_GL,
    TVLM_OPENCL_EXTERNAL
} tvlm_opencl_sharing;

/*
 * A frame on the device, as an application, a camera, a decoder, OpenGL or Vulkan has it:
 *
 *   - pixels in a buffer: {.memory = m, .image = {.width = w, .height = h, .channels = 4}};
 *   - an image2d: {.memory = m}. Its channels are CL_R or CL_LUMINANCE (gray), CL_RGB, CL_RGBx, CL_RGBA,
 *     CL_BGRA, CL_ARGB or CL_ABGR, of CL_UNORM_INT8, CL_UNORM_INT16, CL_HALF_FLOAT or CL_FLOAT;
 *   - NV12 in a buffer: {.memory = m, .nv12 = true, .image = {.width = w, .height = h}}: `height` rows of
 *     luma bytes, then (height + 1) / 2 rows of (width + 1) / 2 pairs of bytes, Cb and Cr;
 *   - NV12 in two image2d of CL_UNORM_INT8: {.memory = luma, .chroma = pairs, .nv12 = true}: CL_R and CL_RG,
 *     or where a device has no such images any of the above, with luma in red, and Cb in red and Cr in green.
 *
 * Values and alpha are taken as image.h says. A frame of any other size than the stack's is resampled, as
 * tvlm_stack_set_image does it: by area where it shrinks, linearly where it grows.
 *
 * *Colours of NV12*, with luma Y and chroma Cb, Cr as bytes, kr and kb the matrix's weights of red and blue, and
 * kg = 1 - kr - kb:
 *
 *     y = (Y - 16) / 219, b = (Cb - 128) / 224, r = (Cr - 128) / 224
 *     in full range: y = Y / 255, b = (Cb - 128) / 255, r = (Cr - 128) / 255
 *     red = y + 2 (1 - kr) r, blue = y + 2 (1 - kb) b, green = (y - kr red - kb blue) / kg
 *
 * Each colour is clamped to [0, 1]. A pair belongs to 2 x 2 pixels alike; chroma is not interpolated.
 */
typedef struct tvlm_opencl_frame {
    cl_mem memory;
    /* What is read of it depends on the memory:
     *   - a buffer of pixels: width, height, channels, type and row_stride;
     *   - a buffer of NV12: width, height, and row_stride, which is that of the luma;
     *   - an image2d: width and height. Both may be 0; otherwise they must be the image2d's own.
     *
     * All other members, such as pixels, are not read. */
    tvlm_image image;
    /* Bytes before the first row in a buffer. Values must be aligned. */
    size_t offset;
    bool nv12;
    /* NV12 only: bytes use all of 0 .. 255, and not the studio range of 16 .. 235 for luma and 16 .. 240 for
     * chroma. */
    bool full_range;
    tvlm_opencl_matrix matrix;
    /* NV12 only: where the pairs are. NULL: in `memory`, too. */
    cl_mem chroma;
    /* NV12 only: where the pairs are in a buffer. If they are in `memory`, an offset of 0 means right behind the
     * rows of luma. A stride of 0 means that of the luma, or the bytes of a row if these are more. */
    size_t chroma_offset, chroma_stride;
    /* It holds for both planes. */
    tvlm_opencl_sharing sharing;
    uint64_t reserved[8];
} tvlm_opencl_frame;

/*
 * Does what tvlm_stack_set_image does, with a frame on the device. When it returns, the kernels that read the
 * frame have been enqueued, but need not be done. A buffer of pixels that has the stack's size is read as it is.
 * Any other frame is converted on the device first, into memory of 12 bytes a pixel that the stack keeps.
 * Errors: those of tvlm_stack_set_image;
 *   - ARGUMENT: memory of another kind, format, size or access, or too small;
 *   - UNSUPPORTED: a device without the extension that `sharing` names; a frame some hundred times larger than the
 *     stack on a driver that ends long loops.
 */
TVLM_API tvlm_status tvlm_stack_set_frame_opencl(tvlm_stack *stack, int32_t index,
                                                 const tvlm_opencl_frame *frame);

/*
 * Does what tvlm_stack_update_image (stack.h) does, with a frame on the device. The frame is compared there with
 * the stored source, that is with r, g, b after alpha was composited, and with luma. It does not matter how the
 * frame before it came in. The call waits until it is known which tiles changed. In all else it is like
 * tvlm_stack_set_frame_opencl.
 */
TVLM_API tvlm_status tvlm_stack_update_frame_opencl(tvlm_stack *stack, int32_t index,
                                                    const tvlm_opencl_frame *frame,
                                                    const struct tvlm_update_params *params,
                                                    tvlm_delta_report *report);

/* These are short for the two functions above, with the frame
 * {.memory = pixels, .image = *image, .offset = byte_offset}. */
TVLM_API tvlm_status tvlm_stack_set_image_opencl(tvlm_stack *stack, int32_t index, const tvlm_image *image,
                                                 cl_mem pixels, size_t byte_offset);
TVLM_API tvlm_status tvlm_stack_update_image_opencl(tvlm_stack *stack, int32_t index, const tvlm_image *image,
                                                    cl_mem pixels, size_t byte_offset,
                                                    const struct tvlm_update_params *params,
                                                    tvlm_delta_report *report);

/*
 * Does what tvlm_stream_push (stream.h) does, with a frame on the device. Between keyframes it is compared there
 * with the frame before, as by tvlm_stack_update_frame_opencl, which makes the call wait once more. A frame that
 * is nearly all new is taken whole, as in tvlm_stream_push. When the call returns, nothing reads the frame any
 * more. Frames from the host and from the device may follow each other. Errors: those of tvlm_stream_push and of
 * tvlm_stack_set_frame_opencl; after ARGUMENT or UNSUPPORTED it is as if the frame never came.
 */
TVLM_API tvlm_status tvlm_stream_push_opencl(tvlm_stream *stream, int32_t camera,
                                             const tvlm_opencl_frame *frame,
                                             const struct tvlm_push_params *params,
                                             tvlm_stream_report *report);

/*
 * Does what tvlm_stream_send does, with a frame on the device. Such a frame need not be transferred: it is
 * converted into the stream's own memory, on the given queue. When the call returns, this work has been enqueued,
 * and no later work reads the frame ("Other queues" above). tvlm_stream_push with `image` NULL takes it in.
 * Errors: those of tvlm_stream_send and of tvlm_stack_set_frame_opencl.
 */
TVLM_API tvlm_status tvlm_stream_send_opencl(tvlm_stream *stream, int32_t camera,
                                             const tvlm_opencl_frame *frame);

/*
 * Do what tvlm_stack_set_grid and tvlm_stack_set_user do, with the grid in a buffer on the device, from
 * byte_offset on; input->data is not read. With replace_nonfinite, the kernel that reads the buffer has been
 * enqueued when they return. Without it, and for identifiers, they wait. Only if they wait, they check whether any
 * of the encoder's vectors has a direction that a question can be compared with.
 */
TVLM_API tvlm_status tvlm_stack_set_grid_opencl(tvlm_stack *stack, int32_t index, int32_t channel,
                                                const struct tvlm_grid_input *input, cl_mem data,
                                                size_t byte_offset);
TVLM_API tvlm_status tvlm_stack_set_user_opencl(tvlm_stack *stack, int32_t index, const char *name, float low,
                                                float high, tvlm_reduce reduce,
                                                const struct tvlm_grid_input *input, cl_mem data,
                                                size_t byte_offset, int32_t *channel);

/*
 * Does what tvlm_stream_set_features (stream.h) does, with the vectors in a buffer on the device, from byte_offset
 * on. input->data is not read; `mask` is in host memory. With input->replace_nonfinite, the kernel that reads the
 * buffer has been enqueued when it returns. Without it, the call waits.
 */
TVLM_API tvlm_status tvlm_stream_set_features_opencl(tvlm_stream *stream, int32_t camera, int32_t channel,
                                                     const struct tvlm_grid_input *input, cl_mem data,
                                                     size_t byte_offset, const uint8_t *mask);

/*
 * Does what tvlm_patches_extract (patches.h) does, into a buffer on the device, from byte_offset (a whole number
 * of elements) on. When it returns, the kernels that write the buffer have been enqueued.
 *
 * The patches are written in place if byte_offset is 0, the channels lie in at most 16 textures, and the result
 * has at most 64 MiB. This takes one launch, or for the positions of a budget one launch for each picture.
 * Otherwise the patches are copied on the device. Errors: those of tvlm_patches_extract; ARGUMENT also for a
 * buffer that is too small.
 */
TVLM_API tvlm_status tvlm_patches_extract_opencl(tvlm_stack *stack, const tvlm_position *positions,
                                                 int32_t count, const struct tvlm_patches_params *params,
                                                 cl_mem out, size_t byte_offset);

/* ---- From the stack to the chosen patches ----
 *
 * A query's vectors (tvlm_query.vectors_in) and the application's own scores (tvlm_select_params.scores) may also
 * be in memory of the device (struct tvlm_memory, device.h). If they are, and are `unchecked`, a selection by the
 * grid or the exhaustive strategy goes from the camera's buffer to the patches without the host: no value is
 * copied to it or from it, and nothing waits.
 */

/*
 * Does what tvlm_score (score.h) does, into a buffer on the device, from byte_offset (a multiple of 4) on. The
 * scores are copied there on the device. When it returns, the work that writes the buffer has been enqueued.
 * Errors: those of tvlm_score; ARGUMENT also for a buffer that is too small.
 */
TVLM_API tvlm_status tvlm_score_opencl(tvlm_stack *stack, const struct tvlm_query *query,
                                       const struct tvlm_score_params *params, cl_mem out,
                                       size_t byte_offset);

/*
 * Does what tvlm_topk (score.h) does, from `n` floats in a buffer on the device into another buffer. The ranking
 * is `k` pairs of 8 bytes, the best first: the index as an int, then the score as a float. Offsets are multiples
 * of 4. Scores or a ranking that do not begin at byte 0 are copied on the device. The buffers may not overlap.
 * When it returns, the work has been enqueued. Errors: those of tvlm_topk; ARGUMENT also for a buffer that is too
 * small.
 */
TVLM_API tvlm_status tvlm_topk_opencl(tvlm_device *device, cl_mem scores, size_t scores_offset, int32_t n,
                                      int32_t k, cl_mem ranking, size_t ranking_offset);

/*
 * Does what tvlm_select (select.h) does, with the positions in a buffer on the device, from byte_offset (a
 * multiple of 4) on. Each position takes 48 bytes there, as the struct tvlm_position: floats x, y, level, score,
 * size, ints column, row, floats height, lost_before, lost_after, and two words that are 0. *count becomes the
 * number of positions; `count` may be NULL.
 *
 * Where the choice is made depends on the strategy:
 *   - Grid and exhaustive, without min_distance, overview and diversity, choose on the device. The work has been
 *     enqueued when the call returns. Coordinates are rounded as floats there: if cells are not whole pixels of
 *     the image, they may differ from those of tvlm_select by a few units in the last place.
 *   - All others, the default among them, choose on the host. The call waits, and sends the positions.
 *
 * Errors: those of tvlm_select; ARGUMENT also for a buffer that is too small, and for keep_scores, since there is
 * no selection that could keep them.
 */
TVLM_API tvlm_status tvlm_select_opencl(tvlm_stack *stack, const struct tvlm_query *query,
                                        const struct tvlm_select_params *params, cl_mem positions,
                                        size_t byte_offset, int32_t *count);

/*
 * Does what tvlm_patches_extract_opencl does, at positions in a buffer on the device. They lie there as
 * tvlm_select_opencl writes them; of each only x, y, size and height are read. The positions are not searched for
 * what a budget has chosen:
 *   - a thumbnail is known only by params->thumbnail_columns, thumbnail_rows and, if some of its cells are empty,
 *     thumbnail_cells;
 *   - tiles at three quarters or at a third of the image's size are read as any other positions are.
 *
 * The call waits for the check of the positions, unless they are `unchecked`. In that case, a wrong position is
 * cut out at the upper left corner.
 */
TVLM_API tvlm_status tvlm_patches_extract_at_opencl(tvlm_stack *stack, const struct tvlm_memory *positions,
                                                    int32_t count, const struct tvlm_patches_params *params,
                                                    cl_mem out, size_t byte_offset);

/* Where a family's texels are. */
typedef struct tvlm_opencl_texture {
    tvlm_storage storage;
    /* F16, F32, U8 (CL_UNORM_INT8) or S8 (CL_SNORM_INT8); never AUTO. */
    tvlm_format format;
    /* What it holds depends on the storage:
     *   - image: an array with level 0;
     *   - mipmapped: the mipmapped array;
     *   - buffer: everything. Levels follow each other; within a level slices, within a slice rows, and within a
     *     row texels, with the `components` of a texel side by side. */
    cl_mem base;
    /* Only with the storage image, and with more than one level; else NULL. It is one array that holds levels 1
     * and up side by side: level 1 at (0, 0), and level n at (w_1, h_2 + ... + h_(n-1)). */
    cl_mem rest;
    /* The size of level 0 of the grid. */
    int32_t width, height;
    int32_t levels;
    /* The slice of a layer is image * layers + layer. */
    int32_t layers, images;
    /* Which image of the batch is image 0 in here. */
    int32_t first_image;
    /* Where the channel that was asked for is. */
    int32_t layer, component;
    /* How many components a texel has: 4 or 1. It is 1 for grids with one channel, if they are in images and the
     * driver has images of CL_R, or if they are in buffers and large. */
    int32_t components;
    uint32_t reserved[7];
} tvlm_opencl_texture;

/* Tell the texture that holds a channel of image `index`, or an image of a packed array. The channel is made if
 * need be. For vectors (embeddings, normals), level 0 holds unit vectors, and further levels hold their means:
 * whoever reads these must scale them to unit length. Errors: ARGUMENT also for channels that are not stored, and
 * for batches of images of different sizes. */
TVLM_API tvlm_status tvlm_stack_get_opencl(tvlm_stack *stack, int32_t index, int32_t channel,
                                           tvlm_opencl_texture *texture);
TVLM_API tvlm_status tvlm_packed_get_opencl(tvlm_packed *packed, int32_t index, tvlm_opencl_texture *texture);

/*
 * Hands out the buffers with the floats of one picture (or of the video) of the last run: its part of pixel_values
 * and of selected_pixel_values (export.h), row-major from byte 0 on. The buffers may be larger than that. `values`
 * and `selected` may be NULL. *selected becomes NULL if no token of the picture is selected. The buffers are valid
 * until the next run. Errors: ARGUMENT (there is no such picture).
 */
TVLM_API tvlm_status tvlm_export_get_opencl(tvlm_export *exported, int32_t picture, cl_mem *values,
                                            cl_mem *selected);

/*
 * Does what tvlm_export_read (export.h) does, into a buffer on the device, from byte_offset (a multiple of 4) on.
 * pixel_values and selected_pixel_values are copied on the device, one picture's part behind the other's, and
 * this work has been enqueued when it returns. The small tensors are sent from the host. tvlm_export_get_opencl
 * hands the floats out without a copy. Errors: those of tvlm_export_read; ARGUMENT also for a buffer that is too
 * small.
 */
TVLM_API tvlm_status tvlm_export_read_opencl(tvlm_export *exported, int32_t index, cl_mem data,
                                             size_t byte_offset);

#ifdef __cplusplus
}
#endif
#endif
