/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video_gaze.h: reads from a text file where somebody looked. Each line is "time,x,y": seconds since the
 * first frame, and pixels of the frame. Commas, blanks or tabs separate them. '#' begins a comment. x and y
 * are "nan" while the eyes are shut.
 */
#ifndef TVLM_TOOLS_VIDEO_GAZE_H
#define TVLM_TOOLS_VIDEO_GAZE_H

#include "tool.h"

typedef struct video_gaze {
    double *samples; /* [count][time, x, y], in the order of time */
    size_t count, at;
} video_gaze;

int video_gaze_read(struct tool *tool, const char *path, video_gaze *gaze);

/*
 * Gives the points that were looked at between the time of the last call and that of this call, and returns
 * how many there are. points[2 * i] and points[2 * i + 1] are x and y. They are of the last `capacity`
 * samples at most. If nothing was measured in between, it gives the point that was looked at before. Returns
 * 0 while the eyes are shut. Times must not fall.
 */
int32_t video_gaze_take(video_gaze *gaze, double time, int32_t capacity, float *points);
void video_gaze_release(video_gaze *gaze);

#endif
