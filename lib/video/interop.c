/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interop.c: the public functions of texturevlm/opencl.h that concern streams. It is the only file of this
 * folder that includes an OpenCL header, and it does not call OpenCL: handles pass through the backend as
 * void *.
 */
#include "core/check.h"
#include "core/owner.h"
#include "core/try.h"
#include "texturevlm/opencl.h"

#include "video/inside.h"

tvlm_status tvlm_stream_set_features_opencl(tvlm_stream *stream, int32_t camera, int32_t channel,
                                            const struct tvlm_grid_input *input, cl_mem data,
                                            size_t byte_offset, const uint8_t *mask) {
    tvlm_buffer *buffer = NULL;
    TVLM_NEED(NULL, stream);
    TVLM_ENTER(stream->device);
    TVLM_NEED(&stream->device->log, input);
    TVLM_NEED(&stream->device->log, data);
    TVLM_TRY(stream->device->backend->buffer_wrap(stream->device, data, false, &buffer));
    const tvlm_status status =
        tvlm_stream_put_features(stream, camera, channel, input, buffer, byte_offset, mask);
    stream->device->backend->buffer_destroy(stream->device, &buffer);
    return status;
}

tvlm_status tvlm_stream_push_opencl(tvlm_stream *stream, int32_t camera, const tvlm_opencl_frame *frame,
                                    const struct tvlm_push_params *params, tvlm_stream_report *report) {
    tvlm_planes planes;
    TVLM_NEED(NULL, stream);
    TVLM_ENTER(stream->device);
    TVLM_NEED(&stream->device->log, frame);
    TVLM_TRY(tvlm_stack_open_frame(stream->device, frame, &planes));
    const tvlm_status status =
        tvlm_stream_push_frame(stream, camera, &(stream_frame){.planes = &planes}, params, report);
    tvlm_stack_close_frame(stream->device, &planes);
    return status;
}

tvlm_status tvlm_stream_send_opencl(tvlm_stream *stream, int32_t camera, const tvlm_opencl_frame *frame) {
    tvlm_planes planes;
    TVLM_NEED(NULL, stream);
    TVLM_ENTER(stream->device);
    TVLM_NEED(&stream->device->log, frame);
    TVLM_TRY(tvlm_stack_open_frame(stream->device, frame, &planes));
    const tvlm_status status = tvlm_stream_take(stream, camera, &planes);
    tvlm_stack_close_frame(stream->device, &planes);
    return status;
}
