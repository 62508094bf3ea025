/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames.c FRAME...: looks at a video, frame by frame. Each frame keeps what it can from the one before. A
 * line for each frame says what was found, and where the best position is.
 */
#include <inttypes.h>
#include <stdio.h>

#include <texturevlm/io.h>
#include <texturevlm/texturevlm.h>

static tvlm_status show(tvlm_stream *stream, const tvlm_image *frame) {
    tvlm_stream_report report;
    tvlm_selection *selection = NULL;
    int32_t count = 0;
    tvlm_status status = tvlm_stream_push(stream, 0, frame, NULL, &report);
    if (status == TVLM_OK)
        status = tvlm_stream_select(stream, 0, NULL, tvlm_select_params(.k = 8), &selection);
    if (status != TVLM_OK) return status;
    const tvlm_position *p = tvlm_selection_positions(selection, &count);
    printf("frame %" PRId64 "%s%s, %d of %d tiles changed: %g %g\n", report.frame,
           report.keyframe ? " (keyframe)" : "", report.cut ? " (cut)" : "", (int)report.changed,
           (int)report.tiles, p[0].x, p[0].y);
    tvlm_selection_destroy(&selection);
    return TVLM_OK;
}

int main(int argc, char **argv) {
    const tvlm_log *log = tvlm_log_stderr();
    tvlm_device *device = NULL;
    tvlm_stream *stream = NULL;
    tvlm_status status = tvlm_device_open(tvlm_device_params(.log = log), &device);
    for (int i = 1; status == TVLM_OK && i < argc; ++i) {
        tvlm_image *frame = NULL;
        status = tvlm_image_load(argv[i], log, &frame);
        if (status == TVLM_OK && stream == NULL)
            status = tvlm_stream_create(device, frame->width, frame->height, NULL, &stream);
        if (status == TVLM_OK) status = show(stream, frame);
        tvlm_image_destroy(&frame);
    }
    tvlm_stream_destroy(&stream);
    tvlm_device_destroy(&device);
    return status == TVLM_OK ? 0 : 1;
}
