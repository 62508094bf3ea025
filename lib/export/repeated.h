/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export/repeated.h: which tokens of a picture repeat the one to the left of them, or the one above. They are
 * the tokens along a line, an edge or a rule of a form: who sees their neighbour sees what they show.
 * PixelPrune (arXiv 2604.00886) leaves out patches for the same reason. It compares the pixels of a resized
 * picture; here the image is asked, once for pictures of all sizes.
 */
#ifndef TVLM_EXPORT_REPEATED_H
#define TVLM_EXPORT_REPEATED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "select/budget_blank.h"

/* For each texel of `ink` (select/budget_blank.h), row after row: how many texels to the left of it are equal
 * to it without a gap (`left`), and how many above it (`above`); at most UINT16_MAX. */
typedef struct tvlm_repeated {
    int32_t wide, high;
    uint16_t *left, *above;
} tvlm_repeated;

/* What a token repeats: one of the two, both or none. */
enum { TVLM_REPEATS_LEFT = 1, TVLM_REPEATS_ABOVE = 2 };
enum { TVLM_REPEATED_TEXELS = 3 };

/* Makes what the function below needs, once for an image; it does not need `ink` afterwards. To be freed in
 * either case. False: no memory. */
bool tvlm_repeated_make(const tvlm_budget_ink *ink, tvlm_repeated *repeated);

static inline void tvlm_repeated_free(tvlm_repeated *repeated) {
    free(repeated->left);
    free(repeated->above);
    *repeated = (tvlm_repeated){0};
}

/* Sets repeats[row * columns + column] for each token of a picture of columns x rows tokens. A token repeats
 * the one to the left if no row of the texels that the two touch changes; and the one above if no column
 * does. Texels are equal if their colours are, and how much finer detail they hide is. That is only to be
 * relied on for several texels in a row: tokens of less than TVLM_REPEATED_TEXELS texels along a side repeat
 * none. */
void tvlm_repeated_find(const tvlm_repeated *repeated, int32_t columns, int32_t rows, uint8_t *repeats);

#endif
