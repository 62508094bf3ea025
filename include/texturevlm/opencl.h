/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl.h: for applications that have an OpenCL context of their own. The only header that needs OpenCL's.
 *
 * Nothing is copied: the library works in the application's context and queue, reads its cl_mem, and hands
 * its own out. Handles that are handed out stay the library's, valid until the stack (or packed array)
 * changes or goes; retain none beyond that. Work is enqueued in order on the queue that was given.
 *
 * A cl_mem that is handed in is a buffer of the device's context (of pixels, also an image2d) which kernels may
 * use as it is said here: one that is CL_MEM_WRITE_ONLY is not read, and one that is CL_MEM_READ_ONLY not
 * written. All else is refused with ARGUMENT and a line.
 *
 * *Other queues.* No function takes a list of events, because the queue does:
 *
 *     clEnqueueBarrierWithWaitList(queue, 1, &written, NULL); // what follows waits for the camera's queue
 *     tvlm_stream_push_opencl(stream, 0, &frame, NULL, NULL);
 *     clEnqueueMarkerWithWaitList(queue, 0, NULL, &done);     // complete when all before it is
 *     clFlush(queue);                                         // before another queue waits for `done`
 *
 * `queue` is the one that was given, `written` an event of any queue of the context, and `done` goes into the
 * wait lists of whatever writes over the frame, or reads what was handed out, in another queue.
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

/* ---- Frames ---- */

/* The matrix that luma is made by: its weights of red and blue are 0.299 and 0.114 (BT.601), or 0.2126 and
 * 0.0722 (BT.709). */
typedef enum tvlm_opencl_matrix { TVLM_OPENCL_BT601 = 0, TVLM_OPENCL_BT709 } tvlm_opencl_matrix;

/*
 * Memory that the application has made of another interface's object (clCreateFromGLTexture, clCreateFromGLBuffer;
 * CL_EXTERNAL_MEMORY_HANDLE_*_KHR, for Vulkan), by the extension cl_khr_gl_sharing or cl_khr_external_memory.
 * The library acquires it on the given queue before its kernels read it, and releases it after them. The other
 * interface must have done with it before the call (glFinish; a semaphore that the queue waits for), and it
 * may go on when what the call enqueued is done ("Other queues" above).
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
 * *Colours of NV12*, with luma Y and chroma Cb, Cr as bytes, kr and kb as the matrix says, kg = 1 - kr - kb:
 *
 *     y = (Y - 16) / 219, b = (Cb - 128) / 224, r = (Cr - 128) / 224; in full range Y / 255 and / 255
 *     red = y + 2 (1 - kr) r, blue = y + 2 (1 - kb) b, green = (y - kr red - kb blue) / kg
 *
 * clamped to [0, 1] each. A pair belongs to 2 x 2 pixels alike; chroma is not interpolated.
 */
typedef struct tvlm_opencl_frame {
    cl_mem memory;
    /* The size; and in a buffer of pixels channels, type and row_stride, of NV12 the luma's row_stride. Of an
     * image2d the size may be 0, and must be its own otherwise. The rest, and pixels, is not read. */
    tvlm_image image;
    size_t offset; /* bytes before the first row in a buffer; values are aligned */
    bool nv12;
    bool full_range; /* of NV12: bytes use all of 0 .. 255, and not the studio's 16 .. 235 and 16 .. 240 */
    tvlm_opencl_matrix matrix;
    cl_mem chroma; /* of NV12; NULL: the pairs are in `memory`, too */
    /* Of the pairs in a buffer. Where they are in `memory`, an offset of 0 means right behind the rows of luma.
     * A stride of 0 means the luma's, or what a row takes if that is more. */
    size_t chroma_offset, chroma_stride;
    tvlm_opencl_sharing sharing; /* of both planes */
    uint64_t reserved[8];
} tvlm_opencl_frame;

/*
 * As tvlm_stack_set_image, with a frame on the device. The kernels that read it have been enqueued when it
 * returns, not more. A buffer of pixels of the stack's size is read as it is; all else is converted on the
 * device first, into memory of 12 bytes a pixel that the stack keeps.
 * Errors: those of tvlm_stack_set_image; ARGUMENT (memory of another kind, format, size or access, or too
 * small); UNSUPPORTED (a device without the extension that `sharing` names; a frame some hundred times larger
 * than the stack on a driver that ends long loops).
 */
TVLM_API tvlm_status tvlm_stack_set_frame_opencl(tvlm_stack *stack, int32_t index,
                                                 const tvlm_opencl_frame *frame);

/*
 * As tvlm_stack_update_image (delta.h), with a frame on the device: it is compared there, with the source as
 * it was stored: r, g, b after alpha was composited, and luma. A frame before it may have come in any way.
 * Waits until it is known which tiles changed. The rest as tvlm_stack_set_frame_opencl.
 */
TVLM_API tvlm_status tvlm_stack_update_frame_opencl(tvlm_stack *stack, int32_t index,
                                                    const tvlm_opencl_frame *frame,
                                                    const struct tvlm_update_params *params,
                                                    tvlm_delta_report *report);

/* Short for the two before, with the frame {.memory = pixels, .image = *image, .offset = byte_offset}. */
TVLM_API tvlm_status tvlm_stack_set_image_opencl(tvlm_stack *stack, int32_t index, const tvlm_image *image,
                                                 cl_mem pixels, size_t byte_offset);
TVLM_API tvlm_status tvlm_stack_update_image_opencl(tvlm_stack *stack, int32_t index, const tvlm_image *image,
                                                    cl_mem pixels, size_t byte_offset,
                                                    const struct tvlm_update_params *params,
                                                    tvlm_delta_report *report);

/*
 * As tvlm_stream_push (stream.h), with a frame on the device. Between keyframes it is compared there with the
 * frame before, as by tvlm_stack_update_frame_opencl, which makes the call wait once more; a frame that is
 * nearly all new is taken whole, as ever. What reads the frame is done when the call returns. Frames from the
 * host and from the device may follow each other. Errors: as there; those of tvlm_stack_set_frame_opencl, and
 * after ARGUMENT or UNSUPPORTED it is as if the frame never came.
 */
TVLM_API tvlm_status tvlm_stream_push_opencl(tvlm_stream *stream, int32_t camera,
                                             const tvlm_opencl_frame *frame,
                                             const struct tvlm_push_params *params,
                                             tvlm_stream_report *report);

/*
 * As tvlm_stream_send, with a frame on the device, which need not travel: it is converted to the stream's own
 * memory, on the given queue. What does so has been enqueued when the call returns, and nothing reads the
 * frame after that ("Other queues" above). tvlm_stream_push with `image` NULL takes it in. Errors: as there;
 * those of tvlm_stack_set_frame_opencl.
 */
TVLM_API tvlm_status tvlm_stream_send_opencl(tvlm_stream *stream, int32_t camera,
                                             const tvlm_opencl_frame *frame);

/*
 * As tvlm_stack_set_grid and tvlm_stack_set_user, with the grid in a buffer on the device, from byte_offset
 * on; input->data is not read. With replace_nonfinite the kernel that reads the buffer has been enqueued when
 * they return; without it, and for identifiers, they wait. Whether any of the encoder's vectors has a
 * direction that a question can be compared with is looked at only where they wait.
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
 * where byte_offset is 0, the channels lie in at most 16 textures and the result has at most 64 MiB (a budget's
 * positions take a launch for each picture); otherwise it is copied on the device. Errors: as there; ARGUMENT for a buffer
 * that is too small.
 */
TVLM_API tvlm_status tvlm_patches_extract_opencl(tvlm_stack *stack, const tvlm_position *positions,
                                                 int32_t count, const struct tvlm_patches_params *params,
                                                 cl_mem out, size_t byte_offset);

/* ---- From the stack to the chosen patches ----
 *
 * What is asked comes in as struct tvlm_memory (device.h) too: a query's vectors (tvlm_query.vectors_in), and
 * scores of one's own (tvlm_select_params.scores). With it, and with `unchecked`, a selection by the grid or
 * the exhaustive strategy goes from the camera's buffer to the patches without the host: no value is copied to
 * it or from it, and nothing waits.
 */

/*
 * As tvlm_score (score.h), into a buffer on the device from byte_offset (a multiple of 4) on, by a copy on the
 * device: the work that writes it has been enqueued when it returns. Errors: as there; ARGUMENT for a buffer
 * that is too small.
 */
TVLM_API tvlm_status tvlm_score_opencl(tvlm_stack *stack, const struct tvlm_query *query,
                                       const struct tvlm_score_params *params, cl_mem out,
                                       size_t byte_offset);

/*
 * As tvlm_topk (score.h), from `n` floats in a buffer on the device into one. The ranking is `k` pairs of 8
 * bytes, the best first: the index as an int, then the score as a float. Offsets are multiples of 4. The work
 * has been enqueued when it returns; what does not begin at byte 0 is copied on the device. The buffers may
 * not overlap. Errors: as there; ARGUMENT for a buffer that is too small.
 */
TVLM_API tvlm_status tvlm_topk_opencl(tvlm_device *device, cl_mem scores, size_t scores_offset, int32_t n,
                                      int32_t k, cl_mem ranking, size_t ranking_offset);

/*
 * As tvlm_select (select.h), with the positions in a buffer on the device, from byte_offset (a multiple of 4)
 * on. They lie there as the structs do, 48 bytes each: floats x, y, level, score, size, ints column, row, floats
 * height, lost_before, lost_after, and two words that are 0. *count is how many there are; it may be NULL.
 *
 * The strategies grid and exhaustive, without min_distance, overview and diversity, choose on the device: the
 * work has been enqueued when it returns. Coordinates are rounded as floats there: where cells are not whole pixels of
 * the image, they may differ from tvlm_select's by a few units in the last place. All else, the default
 * among it, chooses on the host, waits, and sends what it chose. Errors: as tvlm_select; ARGUMENT for a buffer
 * that is too small, and for keep_scores, since there is no selection that could keep them.
 */
TVLM_API tvlm_status tvlm_select_opencl(tvlm_stack *stack, const struct tvlm_query *query,
                                        const struct tvlm_select_params *params, cl_mem positions,
                                        size_t byte_offset, int32_t *count);

/*
 * As tvlm_patches_extract_opencl, at positions in a buffer on the device, which lie there as
 * tvlm_select_opencl writes them; of each only x, y, size and height are read. A thumbnail's cells are known by
 * params->thumbnail_columns, rows and, where some are empty, thumbnail_cells alone; tiles at three quarters or at a third
 * of the image's size are read as any others are. It waits for the check of the positions, unless they are
 * `unchecked`: what is no position is then cut out at the upper left corner.
 */
TVLM_API tvlm_status tvlm_patches_extract_at_opencl(tvlm_stack *stack, const struct tvlm_memory *positions,
                                                    int32_t count, const struct tvlm_patches_params *params,
                                                    cl_mem out, size_t byte_offset);

/* Where a family's texels are. */
typedef struct tvlm_opencl_texture {
    tvlm_storage storage;
    tvlm_format format; /* F16, F32, U8 (CL_UNORM_INT8) or S8 (CL_SNORM_INT8); never AUTO */
    cl_mem base; /* image, mipmapped: the array (of level 0); buffer: everything, level after level, in each
                    level slice after slice, row after row, `components` of a texel side by side */
    cl_mem rest; /* image: levels 1 and up side by side in one array: level 1 at (0, 0), level n at
                    (w_1, h_2 + ... + h_(n-1)); NULL otherwise, and when there is one level */
    int32_t width, height; /* of level 0 of the grid */
    int32_t levels;
    int32_t layers, images;   /* slice = image * layers + layer */
    int32_t first_image;      /* the batch's image that is image 0 in here */
    int32_t layer, component; /* of the channel asked for */
    int32_t
        components; /* of a texel: 4; 1 of grids with one channel, where the driver has images of CL_R, and in
                                 buffers of the large ones */
    uint32_t reserved[7];
} tvlm_opencl_texture;

/* The texture that holds a channel of image `index`; generates it. Of vectors (embedding, normals) level 0
 * holds unit vectors, further levels their means: whoever reads those makes them unit. ARGUMENT for channels
 * that are not stored, and for batches of images of different sizes. */
TVLM_API tvlm_status tvlm_stack_get_opencl(tvlm_stack *stack, int32_t index, int32_t channel,
                                           tvlm_opencl_texture *texture);
TVLM_API tvlm_status tvlm_packed_get_opencl(tvlm_packed *packed, int32_t index, tvlm_opencl_texture *texture);

/*
 * The floats of one picture (or of the video) of the last run, where they are: its part of pixel_values and
 * of selected_pixel_values (export.h), row-major from byte 0 on; the buffers may be larger. Either may be
 * NULL. *selected becomes NULL where no token of the picture is selected. Valid until the next run. ARGUMENT for
 * a picture that there is not.
 */
TVLM_API tvlm_status tvlm_export_get_opencl(tvlm_export *exported, int32_t picture, cl_mem *values,
                                            cl_mem *selected);

/*
 * As tvlm_export_read (export.h), into a buffer on the device, from byte_offset (a multiple of 4) on. Both
 * pixel_values are copied on the device, one picture's part behind the other's, and the work has been
 * enqueued when it returns; the small tensors are sent. Who wants no copy takes tvlm_export_get_opencl.
 * Errors: as there; ARGUMENT for a buffer that is too small.
 */
TVLM_API tvlm_status tvlm_export_read_opencl(tvlm_export *exported, int32_t index, cl_mem data,
                                             size_t byte_offset);

#ifdef __cplusplus
}
#endif
#endif
