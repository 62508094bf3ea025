/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export/repeated.h: which tokens of a picture repeat the one to the left of them, or the one above. They are
 * the tokens along a line, an edge or a rule of a form: who sees their neighbour sees what they show.
 * PixelPrune (arXiv 2604.00886) leaves out patches for the same reason. It compares the pixels of a resized
 * picture; here the pixels of the image are compared, once for pictures of all sizes.
 */
#ifndef TVLM_EXPORT_REPEATED_H
#define TVLM_EXPORT_REPEATED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* For each pixel of an image, row after row: how many pixels to the left of it are equal to it without a gap
 * (`left`), and how many above it (`above`); at most UINT16_MAX. */
typedef struct tvlm_repeated {
    int32_t width, height;
    uint16_t *left, *above;
} tvlm_repeated;

/* What a token repeats: one of the two, both or none. */
enum { TVLM_REPEATS_LEFT = 1, TVLM_REPEATS_ABOVE = 2 };
/* Tokens of fewer pixels than this along a side repeat none: between so few pixels a picture shows what the
 * image does not have. */
enum { TVLM_REPEATED_PIXELS = 4 };

/* Makes what the function below needs, once for an image: rgba[height * width * 4]. All four numbers are
 * compared. It does not need `rgba` afterwards. To be freed in either case. False: no memory. */
bool tvlm_repeated_make(const float *rgba, int32_t width, int32_t height, tvlm_repeated *repeated);

static inline void tvlm_repeated_free(tvlm_repeated *repeated) {
    free(repeated->left);
    free(repeated->above);
    *repeated = (tvlm_repeated){0};
}

/* Sets repeats[row * columns + column] for each token of a picture of columns x rows tokens. A token repeats
 * the one to the left if no row of the pixels that the two touch changes; and the one above if no column
 * does. */
void tvlm_repeated_find(const tvlm_repeated *repeated, int32_t columns, int32_t rows, uint8_t *repeats);

#endif
