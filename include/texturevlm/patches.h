/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patches.h: cuts patches out of the image at given positions, and makes them ready for an encoder.
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

/* What a patch shows where it reaches beyond the image. */
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
    /* The format of the result: F32, which AUTO means too, or F16. */
    tvlm_format format;
    tvlm_border border;
    /* The grid of the thumbnail among the positions, from tvlm_selection_info. 0: if the positions are on the
     * host, the thumbnail's cells are found among them by their places; positions on a device (opencl.h) are not
     * looked at. */
    int32_t thumbnail_columns, thumbnail_rows;
    /* How many of the first positions are cells of this thumbnail: tvlm_selection_info.thumbnail_cells. 0 means
     * thumbnail_columns * thumbnail_rows, which is right if no cell is empty. */
    int32_t thumbnail_cells;
    uint32_t reserved[5];
};
#define tvlm_patches_params(...) TVLM_PARAMS(tvlm_patches_params, __VA_ARGS__)

/* Finds the bytes that `count` patches take. Errors: ARGUMENT (no memory can hold so many; a parameter out of its
 * range), without a line, as there is no log. */
TVLM_API tvlm_status tvlm_patches_size(const struct tvlm_patches_params *params, int32_t count,
                                       size_t *bytes);

/*
 * Cuts a patch of side x side texels out around each position: out[position][channel][side][side], row-major,
 * rows from the top, as floats or as halves (the bits in a uint16_t). Of a position only x, y, size and height are
 * read, in pixels of the image as it was handed in. `params` NULL means the defaults; `capacity` is the number of
 * bytes there is room for. Waits.
 *
 * Texels lie size / side apart, centred on the position. They are read bilinearly from the level that has this
 * distance, max(0, log2(distance)), and trilinearly if it lies between two levels. Identifiers are read from the
 * nearest texel. If the texels of a patch are pixels of the image (size = side, on the grid of pixels), they are
 * copied to the bit.
 *
 * *A budget's thumbnail* (select.h). If the first positions are cells of a thumbnail, they are cut out of the
 * same small picture that the budget has priced. Its r, g and b are read by Lanczos' filter of three lobes, from
 * the coarsest level that has at least three times as many texels along each side, and are clamped to [0, 1]. The
 * cells are found by their places: they are rectangles of one size, row after row, on a grid of that size which
 * covers the image. Cells may be missing from the grid. If some are, the thumbnail's picture must not be more
 * than about twice as large as the image along a side. Smaller rectangles are then read as any other positions
 * are, and a thumbnail that the parameters give is refused.
 *
 * *A budget's tiles* at three quarters of the image's size (those of a nine) and at a third of it are cut in the
 * same way out of the image at that size. They are known by their sizes, which are 4/3 and 3 times the side, and
 * by standing on the grid of such tiles. This is not done for positions on a device (opencl.h), which are not
 * looked at. All other positions are read as the paragraph on texels says.
 *
 * Errors: MEMORY, DEVICE_MEMORY; ARGUMENT, for
 *   - a position, a size or a height that is not finite, a size <= 0, or a height < 0;
 *   - a deviation that is 0 or not finite;
 *   - a thumbnail with more cells than there are positions, or than its grid has;
 *   - a thumbnail with missing cells that is larger than said above;
 *   - a capacity that is too small.
 */
TVLM_API tvlm_status tvlm_patches_extract(tvlm_stack *stack, const tvlm_position *positions, int32_t count,
                                          const struct tvlm_patches_params *params, size_t capacity,
                                          void *out);

/* The picture of a thumbnail. The grid and the empty cells are those that a selection tells (tvlm_selection_info,
 * tvlm_selection_empty). `side` is the side of a cell in texels. */
typedef struct tvlm_thumbnail_grid {
    int32_t columns, rows, side;
    const tvlm_cell *empty; /* [empty_count]; NULL: there are none */
    int32_t empty_count;
} tvlm_thumbnail_grid;

/*
 * Fills the empty cells of a thumbnail's picture, picture[rows * side][columns * side][channels]. Each cell gets
 * one colour, as tvlm_selection_empty (select.h) says: the mean of those texels of its kept neighbours that touch
 * it. A cell without a kept neighbour gets the mean colour of the neighbours that were filled before it. What is
 * in the empty cells before the call does not matter. Needs no device. `log` may be NULL.
 *
 * Errors: ARGUMENT (NULL, no columns, rows, side or channels, a cell outside of the grid, all cells empty),
 * MEMORY.
 */
TVLM_API tvlm_status tvlm_thumbnail_fill(const tvlm_thumbnail_grid *grid, int32_t channels, float *picture,
                                         const tvlm_log *log);

#ifdef __cplusplus
}
#endif
#endif
