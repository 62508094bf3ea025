/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video_gaze.h: where somebody looked, from a text file. Each line is "time,x,y": seconds since the first
 * frame, and pixels of the frame, with commas, blanks or tabs between them. '#' begins a comment. x and y are
 * "nan" while the eyes are shut.
 */
#ifndef TVLM_TOOLS_VIDEO_GAZE_H
#define TVLM_TOOLS_VIDEO_GAZE_H

#include "tool.h"

typedef struct video_gaze {
    double *samples; /* [count][time, x, y]: times do not fall */
    size_t count, at;
} video_gaze;

int video_gaze_read(struct tool *tool, const char *path, video_gaze *gaze);

/*
 * Takes what was looked at between the last call's time and this one's: points[2 * i] and points[2 * i + 1]
 * are x and y, of the last `capacity` samples at most. Where nothing was measured in between, it is what was
 * looked at before. Returns how many points there are: 0 while the eyes are shut. Times must not fall.
 */
int32_t video_gaze_take(video_gaze *gaze, double time, int32_t capacity, float *points);
void video_gaze_release(video_gaze *gaze);

#endif
