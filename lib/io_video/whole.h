/* SPDX-License-Identifier: Apache-2.0 */
/*
 * whole.h: finds whether a video file was cut off, or is damaged in the middle. FFmpeg does not say so: if
 * the end of a file is missing, it takes most containers for complete, and it skips whatever it cannot read
 * in the middle.
 */
#ifndef TVLM_IO_VIDEO_WHOLE_H
#define TVLM_IO_VIDEO_WHOLE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Returns whether a file ends before the end that its parts tell. Then *size is how many bytes it has. The
 * file must be an ordinary one, and be MP4 or one of its relatives, Matroska, WebM, AVI or Ogg. It also
 * returns false if nothing tells where the file ends, as in a live stream that was recorded.
 */
bool video_is_cut(const char *path, int64_t *size);

/*
 * Returns whether a file is damaged in the middle, and sets *at to where. The file must be an ordinary one,
 * and be Matroska, WebM, AVI, Ogg or FLV. It counts as damaged
 * - if there is something between its parts that cannot be a part;
 * - if a page of Ogg or a cluster of Matroska has a wrong checksum.
 *
 * The heads of all parts are read, and all bytes that a checksum covers. Whether content without a checksum
 * is damaged is for decoders to find.
 */
bool video_is_torn(const char *path, int64_t *at);

#endif
