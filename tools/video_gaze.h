/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video_gaze.h: where somebody looked, from a text file: "time,x,y" a line: seconds since the first frame,
 * pixels of the frame. Commas, blanks or tabs; '#' begins a comment; x and y "nan" while the eyes are shut.
 */
#ifndef TVLM_TOOLS_VIDEO_GAZE_H
#define TVLM_TOOLS_VIDEO_GAZE_H

#include "tool.h"

typedef struct video_gaze {
    double *samples; /* time, x, y; times do not fall */
    size_t count, at;
} video_gaze;

int video_gaze_read(struct tool *tool, const char *path, video_gaze *gaze);

/*
 * What was looked at between the last call's time and this one's, x, y each, the last `capacity` of them;
 * where nothing was measured in between, what was before. 0 while the eyes are shut. Times do not fall.
 */
int32_t video_gaze_take(video_gaze *gaze, double time, int32_t capacity, float *points);
void video_gaze_release(video_gaze *gaze);

#endif
