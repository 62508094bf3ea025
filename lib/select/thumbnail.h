/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/thumbnail.h: pictures of an image, which are a budget's thumbnail and the image at fractions of its
 * size. They are made by the filter with which the budget measures what they lose.
 */
#ifndef TVLM_SELECT_THUMBNAIL_H
#define TVLM_SELECT_THUMBNAIL_H

#include "select/budget_plan.h"
#include "stack/stack.h"
#include "texturevlm/select.h"

/* The grid of a thumbnail, and how many of its cells are positions; the others are empty. All are 0 where
 * there is no thumbnail. */
typedef struct tvlm_thumbnail {
    int32_t columns, rows, cells;
} tvlm_thumbnail;

/*
 * Says whether what looks like a thumbnail is likely to be one. Either all its cells are positions, or its
 * picture, of `side` texels a cell, is at most about twice as large as the image along each side. The limit
 * is there because any rectangle may happen to stand on a grid of rectangles of its size.
 */
bool tvlm_thumbnail_fits(const tvlm_stack *stack, const tvlm_thumbnail *thumbnail, int32_t side);

/* Finds the thumbnail whose cells the first positions are. Such positions are rectangles of one size. They
 * stand row after row on a grid of that size, which covers image `index`. A thumbnail that does not fit
 * (tvlm_thumbnail_fits) does not count. If there is no thumbnail, all members of the result are 0. */
tvlm_thumbnail tvlm_thumbnail_of(const tvlm_stack *stack, int32_t index, const tvlm_position *positions,
                                 int32_t count, int32_t side);

/* Finds the size of a thumbnail's picture with side x side texels a cell. Where the image has fewer pixels
 * along a side than that, the picture is larger than the image. */
tvlm_budget_size tvlm_thumbnail_size(const tvlm_thumbnail *thumbnail, int32_t side);

/* The fractions of an image's size, between those of its levels, at which there are tiles. The image is
 * reduced to them by Lanczos' filter. */
typedef enum tvlm_fraction { TVLM_THREE_QUARTERS, TVLM_THIRD, TVLM_FRACTIONS } tvlm_fraction;

/* Says whether a position is a tile of the image at a fraction of its size. Such a tile is a square with a
 * side of `side` texels of that picture, which stands on the grid of such squares. */
bool tvlm_is_of_fraction(const tvlm_stack *stack, int32_t index, const tvlm_position *position, int32_t side,
                         tvlm_fraction fraction);

/* Finds the size of the image at a fraction. */
tvlm_budget_size tvlm_fraction_size(tvlm_fraction fraction, int32_t width, int32_t height);

/* Makes a picture of image `index`, whose source must have been made. The texture has as many images as that
 * source. The caller destroys it. */
tvlm_status tvlm_picture_make(tvlm_stack *stack, int32_t index, const tvlm_budget_size *size,
                              tvlm_texture **made);

#endif
