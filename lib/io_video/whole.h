/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whole.h: whether a file of video was cut off. FFmpeg takes what is missing at the end of most containers for their end.
 */
#ifndef TVLM_IO_VIDEO_WHOLE_H
#define TVLM_IO_VIDEO_WHOLE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether `path` is an ordinary file of MP4 and its relatives, Matroska, WebM, AVI or Ogg that ends before the end that its
 * parts tell. Then *size is how many bytes it has. False also where nothing tells, as of a live stream that was recorded.
 */
bool video_is_cut(const char *path, int64_t *size);

#endif
