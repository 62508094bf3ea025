/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_pictures.h: what `tvlm export` is about: image files, or the frames of a video.
 */
#ifndef TVLM_TOOLS_EXPORT_PICTURES_H
#define TVLM_TOOLS_EXPORT_PICTURES_H

#include "texturevlm/io.h"
#include "tool.h"

/* As many as Qwen-VL's own tools take of one video: all of them are in memory at once. */
#define EXPORT_FRAMES_MAX 768

typedef struct export_pictures {
    int count;
    tvlm_image *images;  /* side by side */
    tvlm_image **loaded; /* of files: what has to be destroyed */
    bool of_video;       /* images are copies, whose pixels have to be freed */
} export_pictures;

/* Every file is an image; with `among_frames` a frame. */
int export_pictures_load(struct tool *tool, char *const *paths, int count, bool among_frames,
                         export_pictures *pictures);

/* Every `every`-th frame, if the file is a video; *pictures stays empty if it is not. */
int export_pictures_decode(struct tool *tool, char *const *path, int32_t every, export_pictures *pictures);

void export_pictures_release(export_pictures *pictures);

#endif
