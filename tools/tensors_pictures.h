/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensors_pictures.h: the pictures of `tvlm tensors`: image files, or the frames of a video.
 */
#ifndef TVLM_TOOLS_TENSORS_PICTURES_H
#define TVLM_TOOLS_TENSORS_PICTURES_H

#include "texturevlm/io.h"
#include "tool.h"

/* How many frames Qwen-VL's own tools take of one video. All of them are in memory at once. */
#define EXPORT_FRAMES_MAX 768

typedef struct export_pictures {
    int count;
    tvlm_image *images;  /* [count] */
    tvlm_image **loaded; /* [count]: images of files, which must be destroyed; NULL for a video */
    bool of_video;       /* whether the images are copies of frames, whose pixels must be freed */
} export_pictures;

/* Loads files, each of which must be an image. `among_frames` says that they are frames of one video; the
 * error about a file that is no image then says so. */
int export_pictures_load(struct tool *tool, char *const *paths, int count, bool among_frames,
                         export_pictures *pictures);

/* Decodes every `every`-th frame of the file, if it is a video. If it is not, *pictures stays empty. */
int export_pictures_decode(struct tool *tool, char *const *path, int32_t every, export_pictures *pictures);

void export_pictures_release(export_pictures *pictures);

#endif
