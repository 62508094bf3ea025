/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delta.h: puts the next frame of a video into a stack, where most of the picture is as it was. Only the parts
 * that changed are uploaded, and channels are made again only around them.
 *
 *     tvlm_stack_advance(stack, 0, NULL);                       // temporal.h
 *     tvlm_stack_update_image(stack, 0, &frame, NULL, &report); // instead of tvlm_stack_set_image
 *     tvlm_select(stack, NULL, NULL, &selection);
 *
 * A stream (stream.h) does this by itself.
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

/* With the defaults, all zero, the result is that of tvlm_stack_set_image, bit for bit. */
struct tvlm_update_params {
    /* The side of the square tiles that are compared, in pixels: a multiple of 16, up to 4096. 0 means 64. The
     * side is cut down to the stack's shorter side, rounded up to a multiple of 16, if it is longer. */
    int32_t tile;
    /* A tile has changed if a value in it differs by more than this: 0 .. 1, where 1 is the difference of black
     * and white. */
    float threshold;
    /* Nothing is compared, and everything is made again, as by tvlm_stack_set_image. */
    bool full;
    /*
     * How long saliency and clusters, which depend on the whole image, are carried over from an earlier frame.
     * They are kept as long as the tiles that changed since they were made, over all frames together, are at
     * most this share of the image. A tile that changes in two frames counts twice, so shares above 1 are
     * possible. With 0 they are made again with every change, which is most of the work (see "How much is
     * saved" below).
     */
    float saliency_share, cluster_share;
    /* Saliency and clusters are also made again after so many frames with changes; 0 means 30. */
    int32_t carried_frames;
    uint64_t reserved[4];
};
#define tvlm_update_params(...) TVLM_PARAMS(tvlm_update_params, __VA_ARGS__)

/*
 * What became of a family:
 *   - PARTS: it was made again around the tiles that changed.
 *   - WHOLE: all of it was made again.
 *   - CARRIED: it stayed as it was, though the image is another one.
 *   - LATER: it is out of date, and all of it will be made when something reads it.
 */
typedef enum tvlm_update {
    TVLM_UPDATE_PARTS = 0,
    TVLM_UPDATE_WHOLE,
    TVLM_UPDATE_CARRIED,
    TVLM_UPDATE_LATER
} tvlm_update;

#define TVLM_DELTA_FAMILIES 24

/* What became of a family that was up to date before. */
typedef struct tvlm_delta_family {
    /* Its name as in layout.h, or "source". A family of several grids has an entry for each of them. */
    const char *name;
    tvlm_update update;
    /* How many texels of level 0 were made again, and how many there are. Work-groups make whole blocks of
     * texels, so some are made again that need not be. */
    int64_t texels, all;
    uint64_t reserved[4];
} tvlm_delta_family;

typedef struct tvlm_delta_report {
    /* How many tiles were compared, and how many of them changed. */
    int32_t tiles, changed;
    /* The image was taken whole, as by tvlm_stack_set_image. */
    bool whole;
    /* Bytes of pixels that were uploaded. */
    size_t bytes_uploaded;
    int32_t family_count;
    tvlm_delta_family families[TVLM_DELTA_FAMILIES];
    uint64_t reserved[4];
} tvlm_delta_report;

/*
 * Puts a frame into image `index`, as tvlm_stack_set_image does, but makes only the parts that changed.
 *   - The frame is compared with the one before, tile by tile, on the host. The values that were handed in are
 *     compared, of all channels, alpha too.
 *   - A tile that did not change keeps its old pixels. So with a threshold above 0, small differences add up
 *     over the frames until they exceed it.
 *   - Channels that were up to date are made again where their texels differ, and in the levels above. Other
 *     channels are made in full when they are read, as ever.
 *   - With threshold 0 and both shares 0, every channel at every level is the same, bit for bit, as after
 *     tvlm_stack_set_image.
 *
 * `params` NULL means all defaults. `report` may be NULL. The call reads the image's pixels before it returns; the
 * work on the device is only enqueued. After an error other than ARGUMENT the image is undefined until the next
 * call, which takes it whole. Errors: those of tvlm_stack_set_image; ARGUMENT (tile, threshold, shares).
 *
 * *How much is saved* depends on which channels are read, and on the shares. Saliency and clusters take most of a
 * frame's time. With both shares 0 they are made for the whole image with every change: where they are read,
 * making the other channels in parts then saves next to nothing. For example, a frame of temporal34 at 1024x1024
 * with 10 % of its tiles changing, on two CPU cores (tvlm bench --video), takes
 *   - 162 ms in full;
 *   - 155 ms in parts;
 *   - 7 ms while saliency and clusters are carried over.
 * If each frame changes a part p of the tiles, and the share is s, saliency and clusters are made again once in
 * about s / p + 1 frames.
 *
 * *How far changes reach.*
 *   - Families that filter the image look one or two pixels beyond a tile.
 *   - Families with one texel for each cell, or at half the image's size, are made again at the texels that have a
 *     changed pixel in them.
 *   - Text looks 352 pixels far on its coarsest level; on the finer levels it is made only where needed.
 *   - Distance looks as far as an eighth of the image's longer side and 4 pixels more.
 *   - A family that is made from another one looks as far as both together.
 *
 * *What is not made in parts*, but in full when it is read next:
 *   - everything of an image with a side of more than 65535 pixels;
 *   - saliency, which is scaled by the largest contrast of the image, and clusters, since regions may move
 *     anywhere. Where they are carried over, they are those of an earlier frame, and so are the region table
 *     and the labels. In a batch they are made for all images at once, so a change of another image makes
 *     them again, too;
 *   - prev_relevance, prev_saliency and fixation, which follow the flow, and are small;
 *   - motion after tvlm_stack_advance, since it is then compared with another frame;
 *   - in a batch, a channel that was handed in for some of the images (input.h) and is generated for the others.
 *
 * *What is taken whole*, as by tvlm_stack_set_image:
 *   - the first frame, and a frame after tvlm_stack_set_image;
 *   - a frame with another number of channels or another type;
 *   - a frame of which more than six tenths of the tiles changed, if the stack has one image. A batch that the
 *     device cannot hold at once is held in chunks; there it is the frame's chunk that must have one image.
 * Frames of another size than the stack's are resampled on the host first, and then compared.
 *
 * *Memory.* A copy of the last frame is kept in host memory. Families that are made after the first call keep the
 * intermediate results of their stages on the device: about 4 bytes for each pixel where text and distance are
 * read.
 */
TVLM_API tvlm_status tvlm_stack_update_image(tvlm_stack *stack, int32_t index, const tvlm_image *image,
                                             const struct tvlm_update_params *params,
                                             tvlm_delta_report *report);

#ifdef __cplusplus
}
#endif
#endif
