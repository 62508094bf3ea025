/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resize.h: how a picture is resized and cut into patches for an encoder. lib/export works these plans out,
 * and the backends follow them.
 */
#ifndef TVLM_CORE_RESIZE_H
#define TVLM_CORE_RESIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One axis of a resize to `size` places. For place o of the result, a table of ints holds from index offset +
 * o * (taps + TVLM_RESIZE_HEAD) on: the first source place, how many there are, and `taps` weights in units
 * of 2^-TVLM_RESIZE_BITS (constants.h), of which those that are not used are 0.
 */
typedef struct tvlm_resize_axis {
    int32_t size;
    int32_t taps;
    int32_t offset;
} tvlm_resize_axis;

/* A resize in two passes, along rows and then along columns; `rows` rows of the source from first_row on are
 * read. */
typedef struct tvlm_resize {
    tvlm_resize_axis x, y;
    int32_t first_row, rows;
    bool columns_first; /* the passes in the other order, on all of the source */
} tvlm_resize;

/*
 * How frames are cut: `frames` frames of width x height RGB bytes, one after another, become rows of numbers
 * in Qwen-VL's permutation (texturevlm/export.h). With temporal = merge = 1 a row is a patch, colour by
 * colour; if also patch = width = height, it is the whole frame as planes.
 */
typedef struct tvlm_patchify {
    int32_t width, height, frames;
    /* Pixels along a side of a patch. */
    int32_t patch;
    /* Frames of a token. Beyond the last frame the last one repeats. */
    int32_t temporal;
    /* Patches along a side of a token. */
    int32_t merge;
    /* Tokens in a row and in a column. Pixels that are left over at the right and bottom are not read. */
    int32_t blocks_x, blocks_y;
    /* How many tokens are written, of merge * merge rows each: the first `count`, and `listed` that a list names. */
    int32_t count, listed;
} tvlm_patchify;

#endif
