/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/thumbnail.h: a budget's thumbnail, and the image at three quarters, as pictures, by the filter that the budget
 * prices them with.
 */
#ifndef TVLM_SELECT_THUMBNAIL_H
#define TVLM_SELECT_THUMBNAIL_H

#include "select/budget_plan.h"
#include "stack/stack.h"
#include "texturevlm/select.h"

/* The columns and rows of a thumbnail; both are 0 where there is none. */
typedef struct tvlm_thumbnail {
    int32_t columns, rows;
} tvlm_thumbnail;

/* Finds the thumbnail that the first positions are the cells of: rectangles of one size that cover image `index`, row
 * after row. */
tvlm_thumbnail tvlm_thumbnail_of(const tvlm_stack *stack, int32_t index, const tvlm_position *positions,
                                 int32_t count);

/* Finds the size of a picture with side x side texels a cell. Along a side of which an image has fewer pixels the picture
 * is larger than the image. */
tvlm_budget_size tvlm_thumbnail_size(const tvlm_thumbnail *thumbnail, int32_t side);

/* Says whether a square is a tile of the image at three quarters of its size, of which `side` texels are a tile's: one
 * that stands on the grid of such tiles. */
bool tvlm_is_ninth(const tvlm_stack *stack, int32_t index, const tvlm_position *position, int32_t side);

/* Finds the size of the image at three quarters. */
tvlm_budget_size tvlm_three_quarters(int32_t width, int32_t height);

/* Makes a picture of image `index` in a texture of as many images as the image's source, which has been made. The caller
 * destroys it. */
tvlm_status tvlm_picture_make(tvlm_stack *stack, int32_t index, const tvlm_budget_size *size,
                              tvlm_texture **made);

#endif
