/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clip/camera.h: how the whole frame moves (camera.c).
 *
 * A map says where what is seen at a place was before: at (a x + b y + c, d x + e y + f). Places are in pixels, and the
 * middle of the first pixel is (1/2, 1/2).
 */
#ifndef TVLM_CLIP_CAMERA_H
#define TVLM_CLIP_CAMERA_H

#include <stdbool.h>

#include "texturevlm/image.h"

typedef struct clip_map {
    double at[6]; /* a, b, c, d, e, f */
} clip_map;

/* Of a frame that does not move. */
extern const clip_map tvlm_clip_still;

static inline void tvlm_clip_map_apply(const clip_map *map, double x, double y, double *to_x, double *to_y) {
    const double *const a = map->at;
    *to_x = a[0] * x + a[1] * y + a[2];
    *to_y = a[3] * x + a[4] * y + a[5];
}

/* The map that goes on from where the first one leads. */
clip_map tvlm_clip_map_then(const clip_map *first, const clip_map *then);

/* A part of the way, 0 to 1. */
clip_map tvlm_clip_map_part(const clip_map *map, double part);

/* Whether a map is tvlm_clip_still, to the bit. */
bool tvlm_clip_map_still(const clip_map *map);

/* The same map where a pixel is as wide as `across` of those that it becomes, and as high as `down` of them. */
clip_map tvlm_clip_map_scaled(const clip_map *map, double across, double down);

enum { CLIP_VIEW_SIZES = 8 };

typedef struct clip_plane {
    int32_t width, height;
    float *luma;
} clip_plane;

/* The luma of a frame at several sizes, each half as wide as the one before. A pixel of the first is `scale` pixels of the
 * frame wide. */
typedef struct clip_view {
    int32_t count, scale;
    clip_plane sizes[CLIP_VIEW_SIZES];
} clip_view;

/* false: no memory. The view is to be freed in any case. */
bool tvlm_clip_view_make(const tvlm_image *image, clip_view *view);
void tvlm_clip_view_free(clip_view *view);

/* Finds how the frame moved, in its pixels: a map from the later view to the earlier one, both of frames of one size.
 * tvlm_clip_still if nothing explains what is seen much better than a camera that stands still. false: no memory. */
bool tvlm_clip_view_motion(const clip_view *before, const clip_view *now, clip_map *map);

#endif
