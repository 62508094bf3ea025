/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resize.h: how a picture is resized and cut into patches for an encoder: what lib/export works out and the
 * backends follow.
 */
#ifndef TVLM_CORE_RESIZE_H
#define TVLM_CORE_RESIZE_H

#include <stddef.h>
#include <stdint.h>

/*
 * One axis of a resize. For output o the table holds, from int `offset` + o * (taps + TVLM_RESIZE_HEAD) on:
 * the first source pixel, how many count, and the weight of each in units of 2^-TVLM_RESIZE_BITS
 * (constants.h).
 */
typedef struct tvlm_resize_axis {
    int32_t size; /* outputs */
    int32_t taps; /* weights of each, unused ones 0 */
    int32_t offset;
} tvlm_resize_axis;

typedef struct tvlm_resize {
    tvlm_resize_axis x, y;
    int32_t first_row, rows; /* of the source that are read */
} tvlm_resize;

/*
 * Frames of width x height RGB bytes, one after another, cut into rows of numbers in Qwen-VL's permutation
 * (texturevlm/export.h). With temporal = merge = 1 a row is a patch, channel by channel; with patch = width =
 * height, too, it is the whole frame as planes.
 */
typedef struct tvlm_patchify {
    int32_t width, height, frames;
    int32_t patch;    /* pixels a side */
    int32_t temporal; /* frames a token; beyond the last frame the last repeats */
    int32_t merge;    /* patches a side of a token */
    int32_t blocks_x,
        blocks_y;  /* tokens a row and a column; what is left at the right and bottom is not read */
    int32_t count; /* of tokens that are written: merge * merge rows each */
} tvlm_patchify;

#endif
