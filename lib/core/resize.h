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
 * One axis of a resize to `size` places. A table of ints has an entry for each place o of the result, which
 * begins at index offset + o * (taps + TVLM_RESIZE_HEAD):
 *
 *   - the first source place;
 *   - how many source places there are;
 *   - `taps` weights in units of 2^-TVLM_RESIZE_BITS (constants.h); the unused ones are 0.
 */
typedef struct tvlm_resize_axis {
    int32_t size;
    int32_t taps;
    int32_t offset;
} tvlm_resize_axis;

/* A resize in two passes, along rows and then along columns. Only `rows` rows of the source are read, from
 * first_row on. */
typedef struct tvlm_resize {
    tvlm_resize_axis x, y;
    int32_t first_row, rows;
    bool columns_first; /* the passes are in the other order, and read all rows */
} tvlm_resize;

/*
 * How frames are cut into patches. `frames` frames of width x height RGB bytes lie one after another. They
 * become rows of numbers in Qwen-VL's permutation (texturevlm/export.h). With temporal = merge = 1 a row is a
 * patch, colour by colour. If patch = width = height as well, the row is the whole frame as planes.
 */
typedef struct tvlm_patchify {
    int32_t width, height, frames;
    /* Pixels along a side of a patch. */
    int32_t patch;
    /* How many frames a token has. The last frame stands for those that are missing at the end. */
    int32_t temporal;
    /* Patches along a side of a token. */
    int32_t merge;
    /* Tokens in a row and in a column. Pixels that are left over at the right and bottom are not read. */
    int32_t blocks_x, blocks_y;
    /* How many tokens are written, each of merge * merge rows: the first `count`, and the `listed` ones that
     * a list names. */
    int32_t count, listed;
} tvlm_patchify;

#endif
