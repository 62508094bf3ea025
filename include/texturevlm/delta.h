/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delta.h: the next frame of a video into a stack, where most of it is as it was: only what changed is
 * uploaded, and only what lies around it is made again.
 *
 *     tvlm_stack_advance(stack, 0, NULL);                       // temporal.h
 *     tvlm_stack_update_image(stack, 0, &frame, NULL, &report); // instead of tvlm_stack_set_image
 *     tvlm_select(stack, NULL, NULL, &selection);
 */
#ifndef TEXTUREVLM_DELTA_H
#define TEXTUREVLM_DELTA_H

#include <stdbool.h>

#include "stack.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TVLM_TILE_DEFAULT   64
#define TVLM_CARRIED_FRAMES 30

/* All zero: everything is as after tvlm_stack_set_image, bit for bit. */
struct tvlm_update_params {
    int32_t tile;    /* side of the squares that are compared, pixels: a multiple of 16, up to 4096; 0: 64. At
                        most the stack's shorter side, rounded up to 16 */
    float threshold; /* 0..1: a tile changed where a value differs by more, black to white being 1 */
    bool full;       /* as tvlm_stack_set_image: nothing is compared, all is made again */
    /* What depends on the whole image (below) is carried over as long as the tiles that changed since it was
     * made are, all frames together, at most this share of the image (a tile that changes in two frames
     * counts twice; above 1 is possible). 0: it is made again with every change, which is most of the work
     * (see "How much is saved"). */
    float saliency_share, cluster_share;
    int32_t carried_frames; /* and for at most so many frames with changes; 0: 30 */
    uint64_t reserved[4];
};
#define tvlm_update_params(...) TVLM_PARAMS(tvlm_update_params, __VA_ARGS__)

typedef enum tvlm_update {
    TVLM_UPDATE_PARTS = 0, /* made again around the tiles that changed */
    TVLM_UPDATE_WHOLE,     /* made again, all of it */
    TVLM_UPDATE_CARRIED,   /* as it was, though the image is another */
    TVLM_UPDATE_LATER      /* out of date: made, all of it, when something reads it */
} tvlm_update;

#define TVLM_DELTA_FAMILIES 24

/* What became of a family that was up to date before. */
typedef struct tvlm_delta_family {
    const char *name; /* as in layout.h, or source; of families with several grids each by itself */
    tvlm_update update;
    int64_t texels, all; /* of level 0 that were made again, and how many there are. Work-groups make blocks,
                            so that some are made that need not be. */
    uint64_t reserved[4];
} tvlm_delta_family;

typedef struct tvlm_delta_report {
    int32_t tiles, changed;
    bool whole;            /* the image was taken as by tvlm_stack_set_image */
    size_t bytes_uploaded; /* of pixels */
    int32_t family_count;
    tvlm_delta_family families[TVLM_DELTA_FAMILIES];
    uint64_t reserved[4];
} tvlm_delta_report;

/*
 * Puts a frame into image `index`, as tvlm_stack_set_image, but compared with the one before, tile by tile,
 * on the host, in the values that were handed in (all channels, alpha too). A tile that did not change keeps
 * the pixels that it has, so that small differences add up until they exceed the threshold. What was up to
 * date then is made again where its texels differ, and in the levels above; what was not is made in full when
 * it is read, as ever.
 *
 * With threshold 0 and both shares 0 every channel at every level is the same, bit for bit, as after
 * tvlm_stack_set_image. How far a family looks: visual, laplacian, gradient one or two pixels, entropy its
 * cell, motion its texel of half size, text 352 pixels (its coarsest level; what is finer is made only where
 * needed), distance an eighth of the image's longer side and 4.
 *
 * Not made in parts, but in full when read next:
 * - saliency (scaled by the image's largest contrast) and clusters (regions may move anywhere), unless they
 * are carried over: then they are those of an earlier frame. The region table and the labels are carried with
 * the clusters.
 *   In a batch they are made for all images at once, so that another image's change makes them anew too.
 * - prev_relevance, prev_saliency, fixation: they follow the flow, and are small.
 * - motion after tvlm_stack_advance, since the frame that it is compared with is another.
 * - what is generated for the images of a batch for which nothing was handed in, where for others it was
 * (input.h).
 *
 * How much is saved hangs on what is read, and on the shares. Saliency and clusters take most of a frame's
 * time, and are made of all of it with every change: where they are read and both shares are 0, parts save
 * next to nothing. A frame of temporal34, 1024x1024, 10 % of its tiles changing, two CPU cores (tvlm bench
 * --video): 162 ms in full, 155 in parts, 7 while both are carried over. With a share of s a frame that
 * changes a part p of the tiles makes them again once in about s / p + 1 frames.
 *
 * Taken whole, as by tvlm_stack_set_image: the first frame; one after tvlm_stack_set_image; one with another
 * number of channels or type; one where more than six tenths of the tiles changed, if the stack (a chunk of
 * it, in batches that the device cannot hold at once) has one image. Frames of another size than the stack's
 * are resampled on the host, and then compared. A copy of the last frame is kept in host memory; families
 * made after the first call keep what lies between their stages on the device (about 4 bytes a pixel where
 * text and distance are read).
 *
 * `params` NULL: all defaults. `report` may be NULL. Only enqueues, but for what is handed in. After an error
 * other than of arguments the image is undefined until the next call, which takes it whole. Errors: as
 * tvlm_stack_set_image; ARGUMENT (tile, threshold, shares).
 */
TVLM_API tvlm_status tvlm_stack_update_image(tvlm_stack *stack, int32_t index, const tvlm_image *image,
                                             const struct tvlm_update_params *params,
                                             tvlm_delta_report *report);

#ifdef __cplusplus
}
#endif
#endif
