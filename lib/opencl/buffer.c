/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer.c: buffers in device memory, and the scratch memory that stages share.
 */
#include <string.h>

#include "core/try.h"
#include "opencl/backend.h"

tvlm_status tvlm_opencl_buffer_create(tvlm_device *base, size_t bytes, tvlm_buffer **buffer) {
    opencl_device *device = (opencl_device *)base;
    cl_int error = CL_SUCCESS;
    opencl_buffer *made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return tvlm_fail(&base->log, TVLM_ERROR_MEMORY, "out of memory for a buffer");
    made->base.bytes = bytes;
    made->memory = tvlm_opencl_new_buffer(device, bytes > 0 ? bytes : 1, &error);
    if (error != CL_SUCCESS) {
        free(made);
        tvlm_log_message(&base->log, TVLM_LOG_INFO, "a buffer of %zu bytes cannot be had", bytes);
        return tvlm_opencl_fail(base, error, "clCreateBuffer");
    }
    tvlm_device_takes(base, bytes);
    *buffer = &made->base;
    return TVLM_OK;
}

/* What lines in the log call the kinds of memory. */
static const char *kind_of_memory(cl_mem_object_type type) {
    switch (type) {
    case CL_MEM_OBJECT_IMAGE1D:
    case CL_MEM_OBJECT_IMAGE1D_BUFFER:
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
    case CL_MEM_OBJECT_IMAGE2D:
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
    case CL_MEM_OBJECT_IMAGE3D: return "an image";
    case CL_MEM_OBJECT_PIPE: return "a pipe";
    default: return "no buffer";
    }
}

/* Checks the kind of memory, since drivers crash, or read what they like, where a kernel gets an image for a
 * buffer. If `image` is not NULL, an image will do as well, and *image becomes whether the memory is one. */
static tvlm_status check_kind(const opencl_device *device, cl_mem memory, bool written, bool *image) {
    const tvlm_log *log = &device->base.log;
    cl_mem_object_type type = 0;
    cl_mem_flags flags = 0;
    cl_int error = clGetMemObjectInfo(memory, CL_MEM_TYPE, sizeof type, &type, NULL);
    if (error == CL_SUCCESS) error = clGetMemObjectInfo(memory, CL_MEM_FLAGS, sizeof flags, &flags, NULL);
    if (error != CL_SUCCESS) return tvlm_opencl_fail(&device->base, error, "the cl_mem handed in");
    if (image != NULL) *image = type == CL_MEM_OBJECT_IMAGE2D;
    if (type != CL_MEM_OBJECT_BUFFER && (image == NULL || !*image))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the cl_mem is %s; a buffer%s is needed",
                         kind_of_memory(type), image != NULL ? " or an image2d" : "");
    if ((flags & CL_MEM_WRITE_ONLY) != 0 && !written)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the cl_mem is CL_MEM_WRITE_ONLY; kernels would read it");
    if ((flags & CL_MEM_READ_ONLY) != 0 && written)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the cl_mem is CL_MEM_READ_ONLY; kernels would write it");
    return TVLM_OK;
}

tvlm_status tvlm_opencl_wrap(opencl_device *device, cl_mem memory, bool written, bool *image,
                             tvlm_buffer **buffer) {
    const tvlm_log *log = &device->base.log;
    cl_context context = NULL;
    size_t bytes = 0;
    cl_int error = clGetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof(cl_context), &context, NULL);
    if (error == CL_SUCCESS) error = clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    if (error != CL_SUCCESS) return tvlm_opencl_fail(&device->base, error, "the cl_mem handed in");
    if (context != device->context)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the cl_mem belongs to another context than the device");
    TVLM_TRY(check_kind(device, memory, written, image));
    opencl_buffer *made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "out of memory for a buffer");
    clRetainMemObject(memory);
    made->base.bytes = bytes;
    made->memory = memory;
    made->wrapped = true;
    *buffer = &made->base;
    return TVLM_OK;
}

tvlm_status tvlm_opencl_buffer_wrap(tvlm_device *base, void *handle, bool written, tvlm_buffer **buffer) {
    return tvlm_opencl_wrap((opencl_device *)base, handle, written, NULL, buffer);
}

/* Waits for an event, if there is one, and lets go of it. */
static cl_int await(cl_event *event) {
    if (*event == NULL) return CL_SUCCESS;
    const cl_int error = clWaitForEvents(1, event);
    clReleaseEvent(*event);
    *event = NULL;
    return error;
}

void tvlm_opencl_release(const opencl_device *device, cl_mem memory) {
    if (memory == NULL) return;
    if (device->releases_early) (void)tvlm_opencl_wait(device, device->queue);
    clReleaseMemObject(memory);
}

void tvlm_opencl_buffer_destroy(tvlm_device *device, tvlm_buffer **buffer) {
    if (*buffer == NULL) return;
    /* After this call the caller may free the host memory that is being sent. Nobody needs to know whether it
     * arrived. */
    (void)await(&((opencl_buffer *)*buffer)->arrival);
    tvlm_opencl_unshare((opencl_device *)device, (opencl_buffer *)*buffer);
    if (((opencl_buffer *)*buffer)->wrapped) {
        clReleaseMemObject(((opencl_buffer *)*buffer)->memory); /* the application has it still */
    } else {
        tvlm_device_gives(device, (*buffer)->bytes);
        tvlm_opencl_release((opencl_device *)device, ((opencl_buffer *)*buffer)->memory);
    }
    free(*buffer);
    *buffer = NULL;
}

/* Waits until nothing is sent from a stage any more. Fails where what was sent did not arrive. */
static tvlm_status wait_for_stage(opencl_device *device, int stage) {
    const cl_int error = await(&device->staging.sent[stage]);
    return error == CL_SUCCESS ? TVLM_OK : tvlm_opencl_fail(&device->base, error, "clWaitForEvents");
}

/* Gives host memory to send from; NULL when there is none. */
static tvlm_status free_stage(opencl_device *device, int stage, char **host) {
    opencl_staging *staging = &device->staging;
    TVLM_TRY(wait_for_stage(device, stage));
    if (staging->host[stage] == NULL) staging->host[stage] = tvlm_allocate(STAGE_BYTES, 1);
    *host = staging->host[stage];
    return TVLM_OK;
}

/* Makes pinned memory. Where the driver refuses it, writes do without it. */
static void make_pinned(opencl_device *device) {
    opencl_pinned *pinned = &device->pinned;
    const size_t bytes = (size_t)PIECES * PIECE_BYTES;
    cl_int error = CL_SUCCESS;
    if (pinned->memory != NULL || pinned->refused) return;
    pinned->memory =
        clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &error);
    if (error == CL_SUCCESS)
        pinned->host = clEnqueueMapBuffer(device->queue, pinned->memory, CL_TRUE, CL_MAP_WRITE, 0, bytes, 0,
                                          NULL, NULL, &error);
    if (error == CL_SUCCESS) return;
    if (pinned->memory != NULL) clReleaseMemObject(pinned->memory);
    *pinned = (opencl_pinned){.refused = true};
}

/* Writes through pinned memory: while one piece is on its way, the next one is filled. */
static tvlm_status write_pinned(opencl_device *device, cl_mem memory, size_t offset, size_t bytes,
                                const char *host) {
    opencl_pinned *pinned = &device->pinned;
    for (size_t done = 0; done < bytes; done += PIECE_BYTES) {
        const size_t left = bytes - done, size = left < PIECE_BYTES ? left : PIECE_BYTES;
        char *piece = pinned->host + (size_t)pinned->next * PIECE_BYTES;
        cl_event *sent = &pinned->sent[pinned->next];
        cl_int error = await(sent);
        if (error == CL_SUCCESS) {
            memcpy(piece, host + done, size);
            error = clEnqueueWriteBuffer(device->queue, memory, CL_FALSE, offset + done, size, piece, 0, NULL,
                                         sent);
        }
        if (error != CL_SUCCESS) return tvlm_opencl_fail(&device->base, error, "clEnqueueWriteBuffer");
        (void)clFlush(device->queue);
        pinned->next = (pinned->next + 1) % PIECES;
    }
    return TVLM_OK;
}

tvlm_status tvlm_opencl_write(opencl_device *device, cl_mem memory, size_t offset, size_t bytes,
                              const void *host) {
    opencl_staging *staging = &device->staging;
    const int stage = staging->next;
    char *copy = NULL;
    cl_int error;
    if (bytes == 0) return TVLM_OK;
    if (bytes <= STAGE_BYTES) TVLM_TRY(free_stage(device, stage, &copy));
    if (bytes > STAGE_BYTES && device->base.info.type == TVLM_DEVICE_GPU) {
        make_pinned(device);
        if (device->pinned.host != NULL) return write_pinned(device, memory, offset, bytes, host);
    }
    if (copy == NULL) {
        error = clEnqueueWriteBuffer(device->queue, memory, CL_TRUE, offset, bytes, host, 0, NULL, NULL);
    } else {
        memcpy(copy, host, bytes);
        error = clEnqueueWriteBuffer(device->queue, memory, CL_FALSE, offset, bytes, copy, 0, NULL,
                                     &staging->sent[stage]);
        /* After a failed write the same stage is the next one. Otherwise it would stay without an event for a
         * whole round. Jobs with few writes would then hold one handle less than before the failure
         * (test_failures). */
        if (error == CL_SUCCESS) staging->next = (stage + 1) % STAGES;
    }
    return error == CL_SUCCESS ? TVLM_OK : tvlm_opencl_fail(&device->base, error, "clEnqueueWriteBuffer");
}

void tvlm_opencl_staging_release(opencl_device *device) {
    for (int stage = 0; stage < STAGES; ++stage) {
        (void)await(&device->staging.sent[stage]); /* nobody needs what was sent any more */
        free(device->staging.host[stage]);
    }
    opencl_pinned *pinned = &device->pinned;
    for (int piece = 0; piece < PIECES; ++piece) (void)await(&pinned->sent[piece]);
    if (pinned->memory == NULL) return;
    (void)clEnqueueUnmapMemObject(device->queue, pinned->memory, pinned->host, 0, NULL, NULL);
    clReleaseMemObject(pinned->memory);
}

tvlm_status tvlm_opencl_buffer_write(tvlm_device *base, tvlm_buffer *buffer, size_t offset, size_t bytes,
                                     const void *host) {
    return tvlm_opencl_write((opencl_device *)base, ((opencl_buffer *)buffer)->memory, offset, bytes, host);
}

/* Makes the second queue when it is first needed, since most devices never get a stream. As in device.c it
 * uses the function of OpenCL 1.2. */
static tvlm_status open_uploads(opencl_device *device) {
    cl_int error = CL_SUCCESS;
    if (device->uploads != NULL) return TVLM_OK;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    device->uploads = clCreateCommandQueue(device->context, device->id, 0, &error);
#pragma GCC diagnostic pop
    if (error != CL_SUCCESS) device->uploads = NULL;
    return error == CL_SUCCESS ? TVLM_OK : tvlm_opencl_fail(&device->base, error, "clCreateCommandQueue");
}

tvlm_status tvlm_opencl_buffer_send(tvlm_device *base, tvlm_buffer *buffer, size_t bytes, const void *host) {
    opencl_device *device = (opencl_device *)base;
    opencl_buffer *to = (opencl_buffer *)buffer;
    TVLM_TRY(tvlm_opencl_buffer_arrive(base, buffer));
    TVLM_TRY(open_uploads(device));
    cl_int error =
        clEnqueueWriteBuffer(device->uploads, to->memory, CL_FALSE, 0, bytes, host, 0, NULL, &to->arrival);
    if (error != CL_SUCCESS) {
        to->arrival = NULL;
        return tvlm_opencl_fail(base, error, "clEnqueueWriteBuffer");
    }
    clFlush(device->uploads);
    return TVLM_OK;
}

tvlm_status tvlm_opencl_buffer_arrive(tvlm_device *base, tvlm_buffer *buffer) {
    const cl_int error = await(&((opencl_buffer *)buffer)->arrival);
    return error == CL_SUCCESS ? TVLM_OK : tvlm_opencl_fail(base, error, "clWaitForEvents");
}

tvlm_status tvlm_opencl_buffer_read(tvlm_device *base, tvlm_buffer *buffer, size_t offset, size_t bytes,
                                    void *host) {
    return tvlm_opencl_read((opencl_device *)base, ((opencl_buffer *)buffer)->memory, offset, bytes, host);
}

tvlm_status tvlm_opencl_read(opencl_device *device, cl_mem memory, size_t offset, size_t bytes, void *host) {
    if (bytes == 0) return TVLM_OK;
    device->unsent = false;
    const cl_int error =
        clEnqueueReadBuffer(device->queue, memory, CL_TRUE, offset, bytes, host, 0, NULL, NULL);
    return error == CL_SUCCESS ? TVLM_OK : tvlm_opencl_fail(&device->base, error, "clEnqueueReadBuffer");
}

tvlm_status tvlm_opencl_least_begin(opencl_device *device, const int32_t *least, cl_mem *memory) {
    const cl_int none = TVLM_INPUT_NONE;
    TVLM_TRY(tvlm_opencl_scratch(device, SCRATCH_C, sizeof none, memory));
    if (least == NULL) return TVLM_OK;
    return tvlm_opencl_write(device, *memory, 0, sizeof none, &none);
}

tvlm_status tvlm_opencl_least_end(opencl_device *device, cl_mem memory, int32_t *least) {
    cl_int found = TVLM_INPUT_NONE;
    if (least == NULL) return TVLM_OK;
    TVLM_TRY(tvlm_opencl_read(device, memory, 0, sizeof found, &found));
    *least = found == TVLM_INPUT_NONE ? -1 : found;
    return TVLM_OK;
}

tvlm_status tvlm_opencl_buffer_copy(tvlm_device *base, tvlm_buffer *from, size_t from_offset, tvlm_buffer *to,
                                    size_t to_offset, size_t bytes) {
    opencl_device *device = (opencl_device *)base;
    if (bytes == 0) return TVLM_OK;
    device->unsent = true;
    const cl_int error =
        clEnqueueCopyBuffer(device->queue, ((opencl_buffer *)from)->memory, ((opencl_buffer *)to)->memory,
                            from_offset, to_offset, bytes, 0, NULL, NULL);
    return error == CL_SUCCESS ? TVLM_OK : tvlm_opencl_fail(base, error, "clEnqueueCopyBuffer");
}

tvlm_status tvlm_opencl_scratch(opencl_device *device, int which, size_t bytes, cl_mem *memory) {
    cl_int error = CL_SUCCESS;
    if (device->scratch_bytes[which] < bytes) {
        /* OpenCL frees the old memory when the kernels that use it are done. */
        const cl_mem grown = tvlm_opencl_new_buffer(device, bytes, &error);
        if (error != CL_SUCCESS) return tvlm_opencl_fail(&device->base, error, "scratch memory");
        tvlm_device_takes(&device->base, bytes);
        tvlm_device_gives(&device->base, device->scratch_bytes[which]);
        tvlm_opencl_release(device, device->scratch[which]);
        device->scratch[which] = grown;
        device->scratch_bytes[which] = bytes;
    }
    *memory = device->scratch[which];
    return TVLM_OK;
}

tvlm_status tvlm_opencl_keep(opencl_device *device, int which, opencl_kept *kept, size_t bytes,
                             const void *host, cl_mem *memory) {
    TVLM_TRY(tvlm_opencl_scratch(device, which, bytes > 0 ? bytes : 1, memory));
    if (kept->host != NULL && kept->bytes == bytes && memcmp(kept->host, host, bytes) == 0) return TVLM_OK;
    free(kept->host);
    kept->host = NULL;
    TVLM_TRY(tvlm_opencl_write(device, *memory, 0, bytes, host));
    /* Without memory for the copy the next call writes the same content again. */
    kept->host = tvlm_allocate(bytes > 0 ? bytes : 1, 1);
    kept->bytes = bytes;
    if (kept->host != NULL) memcpy(kept->host, host, bytes);
    return TVLM_OK;
}

tvlm_status tvlm_opencl_buffer_native(tvlm_device *device, tvlm_buffer *buffer, void **handle) {
    (void)device;
    *handle = ((opencl_buffer *)buffer)->memory;
    return TVLM_OK;
}

tvlm_status tvlm_opencl_between(opencl_device *device, const tvlm_generate_args *args, tvlm_product product,
                                int which, size_t bytes, cl_mem *memory) {
    if (!args->keep) return tvlm_opencl_scratch(device, which, bytes, memory);
    TVLM_TRY(tvlm_product_reserve(&device->base, args, product, bytes));
    *memory = ((opencl_buffer *)args->products[product])->memory;
    return TVLM_OK;
}
