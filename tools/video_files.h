/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video_files.h: folders with a file for each frame: vectors and flow that come in, masks that go out.
 */
#ifndef TVLM_TOOLS_VIDEO_FILES_H
#define TVLM_TOOLS_VIDEO_FILES_H

#include "texturevlm/stream.h"
#include "tool.h"
#include "video_frames.h"

/* Before any work. check: refuses a folder that is not there; NULL is fine. make: makes it if need be.
 * distinct: refuses an output that is an input; NULL is fine. */
int video_folder_check(struct tool *tool, const char *path);
int video_folder_make(struct tool *tool, const char *path);

/* FOLDER/STEM.ending for STEM.jpg, FOLDER/frame-000012.ending for frame 12 of a video. False: too long. */
bool video_file_name(const char *folder, const char *ending, const video_frame *frame, bool video, char *path,
                     size_t size);

/* A frame's flow, read into `grid`: u, v in pixels of the working image, and confidence. */
typedef struct video_flow {
    struct tvlm_grid_input grid;
    float *values;
    size_t capacity;
} video_flow;

/* The .flo of a frame, of its size, to the frame before it; unknown vectors have confidence 0. */
int video_flow_read(struct tool *tool, const char *path, const tvlm_image *image, int32_t width,
                    int32_t height, video_flow *flow);
void video_flow_release(video_flow *flow);

/* Features of some cells: where all numbers of a cell are NaN there are none. `input` has 0 there. */
typedef struct video_partial {
    struct tvlm_grid_input input;
    uint8_t *mask; /* 0 in cells without; NULL: there are none such */
    void *values;  /* of the input; NULL: its own */
} video_partial;

int video_partial_take(struct tool *tool, const struct tvlm_grid_input *input, video_partial *partial);
void video_partial_release(video_partial *partial);

/* The cells of the present frame that need new features, as uint8: 1, others 0. */
int video_mask_write(struct tool *tool, const char *path, const tvlm_stream *stream,
                     const tvlm_stream_report *report);

#endif
