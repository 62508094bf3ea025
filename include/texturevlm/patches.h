/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patches.h: what stands at positions, cut out and made ready for an encoder.
 *
 *     size_t bytes;
 *     tvlm_patches_size(NULL, count, &bytes);   // 3 x 16 x 16 floats a position: r, g, b
 *     float *patches = malloc(bytes);
 *     tvlm_patches_extract(stack, positions, count, NULL, bytes, patches);
 */
#ifndef TEXTUREVLM_PATCHES_H
#define TEXTUREVLM_PATCHES_H

#include "select.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a patch shows of the places beyond the image. */
typedef enum tvlm_border {
    TVLM_BORDER_CLAMP = 0, /* The pixel of the edge. */
    TVLM_BORDER_REFLECT    /* The mirror of the image, with the edge's pixel twice (NumPy's "symmetric"). */
} tvlm_border;

/* All zero means patches of 16 x 16 texels of r, g, b, from 0 to 1. */
struct tvlm_patches_params {
    /* Which image of the batch. */
    int32_t index;
    /* The side of a patch in texels, 1 .. 1024; 0 means 16. */
    int32_t side;
    /* Any channels of the stack. NULL means r, g, b. */
    const int32_t *channels;
    int32_t channel_count;
    /* [channels]: each channel's values have the mean taken off, and are then divided by the deviation, which
     * must not be 0. NULL means 0 and 1. */
    const float *mean;
    const float *deviation;
    /* Of the result: F32, which AUTO means too, or F16. */
    tvlm_format format;
    tvlm_border border;
    /* The grid of a thumbnail, as tvlm_selection_info says it. 0: its cells are found among positions on the host;
     * those on a device (opencl.h) are not looked at. */
    int32_t thumbnail_columns, thumbnail_rows;
    /* How many of the positions, the first ones, are cells of it: info.thumbnail_cells. 0: columns * rows, where none is
     * empty. */
    int32_t thumbnail_cells;
    uint32_t reserved[5];
};
#define tvlm_patches_params(...) TVLM_PARAMS(tvlm_patches_params, __VA_ARGS__)

/* The bytes that `count` patches take. ARGUMENT (without a line, as there is no log) where no memory can hold so many,
 * and for parameters out of their ranges. */
TVLM_API tvlm_status tvlm_patches_size(const struct tvlm_patches_params *params, int32_t count,
                                       size_t *bytes);

/*
 * Cuts a square of side x side texels out around each position: out[position][channel][side][side],
 * row-major, rows from the top, as floats or as halves (the bits in a uint16_t). Of a position only x, y, size
 * and height are read, in pixels of the image as it was handed in. `params` NULL means the defaults; `capacity` is
 * the number of bytes there is room for. Waits.
 *
 * Texels lie size / side apart, centred on the position. They are read bilinearly from the level of that
 * distance, max(0, log2), and trilinearly where that lies between two levels; identifiers are read from the
 * nearest texel. Where texels of a patch are pixels of the image (size = side, on the grid of pixels), they
 * are copied to the bit.
 *
 * The cells of a budget's thumbnail, where they come first, are cut out of that picture as the budget prices it: r, g and
 * b are then read by Lanczos' filter of three lobes, from the coarsest level that has at least three times its texels,
 * and are clamped to [0, 1]. They are found by their places: rectangles of one size, row after row on the grid of their
 * size, which covers the image; cells of the grid may be missing. Where some are, the thumbnail's picture must not be
 * more than about twice as large as the image along a side: smaller rectangles are read as any others are, and a thumbnail
 * that is given is refused.
 *
 * Tiles at three quarters of the image's size (of a nine, select.h) and at a third of it, whose sizes are 4/3 and 3 times
 * the side and which stand on the grid of such tiles, are cut in the same way out of the image at that size; not of
 * positions on a device (opencl.h), which are not looked at. All else is read as any other position is.
 *
 * Errors: ARGUMENT (a position or a size that is not finite, size <= 0, a deviation that is 0 or not finite,
 * a thumbnail with more cells than positions, or than its grid has, or larger than that, a capacity that is too small), MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_patches_extract(tvlm_stack *stack, const tvlm_position *positions, int32_t count,
                                          const struct tvlm_patches_params *params, size_t capacity,
                                          void *out);

/* The picture of a thumbnail: its grid and its empty cells, as a selection says them, and the side of a cell in texels. */
typedef struct tvlm_thumbnail_grid {
    int32_t columns, rows, side;
    const tvlm_cell *empty; /* [empty_count] NULL: there are none */
    int32_t empty_count;
} tvlm_thumbnail_grid;

/*
 * Fills the empty cells of a thumbnail's picture, picture[rows * side][columns * side][channels], each with one colour, as
 * tvlm_selection_empty (select.h) says it: the mean of the texels beside it of those neighbours that are kept; where
 * there are none, of the colours of those that are filled before it. What is in them does not matter. Needs no device.
 *
 * `log` may be NULL.
 *
 * Errors: ARGUMENT (NULL, no columns, rows, side or channels, a cell outside of the grid, all cells empty), MEMORY.
 */
TVLM_API tvlm_status tvlm_thumbnail_fill(const tvlm_thumbnail_grid *grid, int32_t channels, float *picture,
                                         const tvlm_log *log);

#ifdef __cplusplus
}
#endif
#endif
