/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h: the stages of the text family, for tests that compare each on identical inputs.
 */
#ifndef TVLM_REFERENCE_TEXT_H
#define TVLM_REFERENCE_TEXT_H

#include "core/backend.h"

/* Sums over one block of a level: TVLM_TEXT_BRIGHT and so on. */
typedef struct reference_strokes {
    int64_t sums[TVLM_TEXT_SUMS];
} reference_strokes;

/* The blocks of one level of one image. */
typedef struct reference_blocks {
    int32_t columns, rows;
    reference_strokes *strokes;
    bool *marks, *grown;
} reference_blocks;

/* Undefined contents; what is NULL of the three after it: no memory. */
reference_blocks reference_blocks_create(const tvlm_texture *source, int32_t level);
void reference_blocks_destroy(reference_blocks *blocks);

void reference_text_strokes(const tvlm_texture *source, int32_t slice, int32_t level,
                            reference_blocks *blocks);
/* How far above the threshold (1) a block is; marked where it is more than 1. */
double reference_text_ratio(const reference_blocks *blocks, int32_t column, int32_t row);
void reference_text_mark(reference_blocks *blocks);
void reference_text_grow(reference_blocks *blocks);
/* levels[n]: the blocks of level n */
void reference_text_combine(const reference_blocks *levels, int32_t count, const tvlm_texture *source,
                            int32_t image, tvlm_texture *out);

#endif
