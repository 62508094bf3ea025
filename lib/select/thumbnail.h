/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/thumbnail.h: a budget's thumbnail, and the image at fractions of its size, as pictures, by the filter that
 * the budget prices them with.
 */
#ifndef TVLM_SELECT_THUMBNAIL_H
#define TVLM_SELECT_THUMBNAIL_H

#include "select/budget_plan.h"
#include "stack/stack.h"
#include "texturevlm/select.h"

/* The grid of a thumbnail, and how many of its cells are positions; the others are empty. All are 0 where there is none. */
typedef struct tvlm_thumbnail {
    int32_t columns, rows, cells;
} tvlm_thumbnail;

/* Says whether all cells of a thumbnail are positions, or its picture of `side` texels a cell is at most about twice as
 * large as the image along each side: any rectangle may stand on the grid of its own size. */
bool tvlm_thumbnail_fits(const tvlm_stack *stack, const tvlm_thumbnail *thumbnail, int32_t side);

/* Finds the thumbnail that the first positions are cells of: rectangles of one size, row after row on the grid of their
 * size, which covers image `index`. It fits. */
tvlm_thumbnail tvlm_thumbnail_of(const tvlm_stack *stack, int32_t index, const tvlm_position *positions,
                                 int32_t count, int32_t side);

/* Finds the size of a picture with side x side texels a cell. Along a side of which an image has fewer pixels the picture
 * is larger than the image. */
tvlm_budget_size tvlm_thumbnail_size(const tvlm_thumbnail *thumbnail, int32_t side);

/* The fractions of its size, between levels, at which an image has tiles: pictures that are reduced by Lanczos' filter. */
typedef enum tvlm_fraction { TVLM_THREE_QUARTERS, TVLM_THIRD, TVLM_FRACTIONS } tvlm_fraction;

/* Says whether a square is a tile of the image at a fraction of its size, of which `side` texels are a tile's: one that
 * stands on the grid of such tiles. */
bool tvlm_is_of_fraction(const tvlm_stack *stack, int32_t index, const tvlm_position *position, int32_t side,
                         tvlm_fraction fraction);

/* Finds the size of the image at a fraction. */
tvlm_budget_size tvlm_fraction_size(tvlm_fraction fraction, int32_t width, int32_t height);

/* Makes a picture of image `index` in a texture of as many images as the image's source, which has been made. The caller
 * destroys it. */
tvlm_status tvlm_picture_make(tvlm_stack *stack, int32_t index, const tvlm_budget_size *size,
                              tvlm_texture **made);

#endif
