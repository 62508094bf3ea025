/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video_files.h: folders with a file for each frame: vectors and flow that come in, masks that go out.
 */
#ifndef TVLM_TOOLS_VIDEO_FILES_H
#define TVLM_TOOLS_VIDEO_FILES_H

#include "texturevlm/stream.h"
#include "tool.h"
#include "video_frames.h"

/* Refuses a folder that is not there, before any work. NULL is fine. */
int video_folder_check(struct tool *tool, const char *path);
/* Makes a folder, where there is none, before any work. */
int video_folder_make(struct tool *tool, const char *path);

/* Names the file of a frame: FOLDER/STEM.ending for STEM.jpg, FOLDER/frame-000012.ending for frame 12 of a
 * video. False: the name is too long. */
bool video_file_name(const char *folder, const char *ending, const video_frame *frame, bool video, char *path,
                     size_t size);

/* A frame's flow. Its values are u and v, in pixels of the working image, and confidence. */
typedef struct video_flow {
    struct tvlm_grid_input grid;
    float *values;
    size_t capacity;
} video_flow;

/* Reads the .flo of a frame, which has its size: the flow to the frame before. Unknown vectors get confidence
 * 0. */
int video_flow_read(struct tool *tool, const char *path, const tvlm_image *image, int32_t width,
                    int32_t height, video_flow *flow);
void video_flow_release(video_flow *flow);

/* Features of some cells. A cell of which all numbers are NaN has none; `input` has zeros there. */
typedef struct video_partial {
    struct tvlm_grid_input input;
    uint8_t *mask; /* 0 in cells without features; NULL: all have some */
    void *values;  /* the values with zeros in those cells; NULL: the input's own values */
} video_partial;

int video_partial_take(struct tool *tool, const struct tvlm_grid_input *input, video_partial *partial);
void video_partial_release(video_partial *partial);

/* Notes before any work the mask that a frame from a file will have: two frames of one name, whose masks would be one
 * file, are refused. */
int video_mask_note(struct tool *tool, const char *folder, const char *frame);

/* Writes which cells of the present frame need new features, as an array of uint8: 1 for these, 0 for others.
 */
int video_mask_write(struct tool *tool, const char *path, const tvlm_stream *stream,
                     const tvlm_stream_report *report);

#endif
