/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video_files.h: folders with a file for each frame: vectors and flow that are read, and masks that are
 * written.
 */
#ifndef TVLM_TOOLS_VIDEO_FILES_H
#define TVLM_TOOLS_VIDEO_FILES_H

#include "texturevlm/stream.h"
#include "tool.h"
#include "video_frames.h"

/* Refuses a folder that does not exist, before any work. NULL is fine. */
int video_folder_check(struct tool *tool, const char *path);
/* Makes a folder if it does not exist, before any work. */
int video_folder_make(struct tool *tool, const char *path);

/* Makes the name of a frame's file: FOLDER/STEM.ending for STEM.jpg, or FOLDER/frame-000012.ending for frame
 * 12 of a video. Returns false if the name is too long. */
bool video_file_name(const char *folder, const char *ending, const video_frame *frame, bool video, char *path,
                     size_t size);

/* The flow of a frame. Its values are u and v, in pixels of the working image, and a confidence. */
typedef struct video_flow {
    struct tvlm_grid_input grid;
    float *values;
    size_t capacity;
} video_flow;

/* Reads the .flo file of a frame, the flow to the frame before. The file must have the size of the frame.
 * Unknown vectors get the confidence 0. */
int video_flow_read(struct tool *tool, const char *path, const tvlm_image *image, int32_t width,
                    int32_t height, video_flow *flow);
void video_flow_release(video_flow *flow);

/* Features of some cells. A cell whose numbers are all NaN has no features; `input` has zeros there. */
typedef struct video_partial {
    struct tvlm_grid_input input;
    uint8_t *mask; /* 0 in cells without features; NULL: all cells have features */
    void *values;  /* the values with zeros in those cells; NULL: the input's own values */
} video_partial;

int video_partial_take(struct tool *tool, const struct tvlm_grid_input *input, video_partial *partial);
void video_partial_release(video_partial *partial);

/* Notes the file of the mask that a frame from a file will have, before any work. Two frames of one name are
 * refused, since their masks would be the same file. */
int video_mask_note(struct tool *tool, const char *folder, const char *frame);

/* Writes which cells of the present frame need new features, as an array of uint8: 1 for these cells, and 0
 * for all others. */
int video_mask_write(struct tool *tool, const char *path, const tvlm_stream *stream,
                     const tvlm_stream_report *report);

#endif
