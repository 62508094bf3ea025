/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_video.h: `tvlm bench --video`: measures frames of a video, with and without delta updates.
 */
#ifndef TVLM_TOOLS_BENCH_VIDEO_H
#define TVLM_TOOLS_BENCH_VIDEO_H

#include "tool.h"

struct bench_video_options {
    const tool_common *common;
    const char *folder; /* the folder of real frames; NULL: there are none */
    int32_t width, height, repeat;
};

int bench_video(struct tool *tool, const struct bench_video_options *options);

#endif
