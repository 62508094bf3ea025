/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whole.h: whether a file of video was cut off, or is torn. FFmpeg takes what is missing at the end of most containers for their end,
 * and passes over what it cannot read in their middle without a word.
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

/*
 * Whether in `path`, an ordinary file of Matroska, WebM, AVI, Ogg or FLV, something stands between the parts that is none, or a page
 * of Ogg or a cluster of Matroska has a wrong checksum; where is *at then. All heads of its parts are read, and all bytes that a
 * checksum covers. Content that has none is for decoders to judge.
 */
bool video_is_torn(const char *path, int64_t *at);

#endif
