/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h: the stages of the text family, for tests that compare each of them on equal inputs.
 */
#ifndef TVLM_REFERENCE_TEXT_H
#define TVLM_REFERENCE_TEXT_H

#include "core/backend.h"

/* The six sums over one block of a level, by TVLM_TEXT_BRIGHT and so on. */
typedef struct reference_strokes {
    int64_t sums[TVLM_TEXT_SUMS];
} reference_strokes;

/* The blocks of one level of one image. */
typedef struct reference_blocks {
    int32_t columns, rows;
    reference_strokes *strokes;
    bool *marks, *grown;
} reference_blocks;

/* Makes room for the blocks of a level, with undefined contents. When there is no memory, at least one of the
 * three arrays is NULL. tvlm_reference_blocks_destroy frees the others. */
reference_blocks tvlm_reference_blocks_create(const tvlm_texture *source, int32_t level);
void tvlm_reference_blocks_destroy(reference_blocks *blocks);

/* Makes the sums of one level of one slice. */
void tvlm_reference_text_strokes(const tvlm_texture *source, int32_t slice, int32_t level,
                                 reference_blocks *blocks);
/* How strongly a block looks like text, divided by what is needed. A block is marked where this ratio is more
 * than 1. */
double tvlm_reference_text_ratio(const reference_blocks *blocks, int32_t column, int32_t row);

/* Marks blocks by their sums, and grows marks. */
void tvlm_reference_text_mark(reference_blocks *blocks);
void tvlm_reference_text_grow(reference_blocks *blocks);

/* Makes the channel of one image from levels[0 .. count - 1]. */
void tvlm_reference_text_combine(const reference_blocks *levels, int32_t count, const tvlm_texture *source,
                                 int32_t image, tvlm_texture *out);

#endif
