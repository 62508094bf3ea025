/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/attention.h: the arguments of the operation `attend`: attention over the vectors of a grid, which
 * reads coarse levels first, and finer ones only where it counts (texturevlm/lab/attend.h has the definition).
 *
 * A *row* is one head of one query: row = query * heads + head. A row has an *area* for each cell of every
 * level: how many cells of the last level that cell stands for. In the first level all cells have the same
 * area. Then areas are handed on, level after level:
 *
 *   - Of the cells that have an area, the share with the highest scores is chosen.
 *   - A chosen cell hands its area on to the cells of the next level that lie below it, in proportion to how
 *     much of it each of them covers.
 *   - From then on a chosen cell has no area itself, unless `mix` is not 0.
 */
#ifndef TVLM_LAB_ATTENTION_H
#define TVLM_LAB_ATTENTION_H

#include <stddef.h>
#include <stdint.h>

/* The most levels that are read, and the most cells that one level has. A driver may end longer loops
 * early. */
#define TVLM_ATTENTION_LEVELS 17
#define TVLM_ATTENTION_CELLS  65536
#define TVLM_ATTENTION_HEADS  256
/* The whole number that stands for a share of 1. */
#define TVLM_ATTENTION_WHOLE 65536

struct tvlm_buffer;

typedef struct tvlm_attention_level {
    int32_t columns, rows;
    int32_t first; /* the index of its first cell in keys and values */
} tvlm_attention_level;

typedef struct tvlm_attention {
    struct tvlm_buffer *queries;       /* [count][key_dimension] */
    struct tvlm_buffer *keys, *values; /* [cells of all levels][key_dimension], [..][value_dimension] */
    struct tvlm_buffer *out;           /* [count][value_dimension] */
    struct tvlm_buffer *map; /* [cells of the last level]: the mean of all rows, sum 1; NULL: none is made */
    struct tvlm_buffer *reads; /* [count * heads][2] int32: how many keys and how many values were read */
    int32_t count, heads, key_dimension, value_dimension;
    /* The levels that are read, the coarsest first. */
    int32_t level_count;
    tvlm_attention_level levels[TVLM_ATTENTION_LEVELS];
    /* The share of the cells that is chosen, in units of 1 / TVLM_ATTENTION_WHOLE: see
     * tvlm_attention_chosen. */
    int32_t share;
    /* 0: there is one softmax over all cells that have an area. Otherwise there are two levels, and each has
     * a softmax of its own. The result is then `mix` times what all cells of the first level give, plus 1 -
     * mix times what the cells below the chosen ones give. */
    float mix;
    float scale; /* what products of queries and keys are multiplied by */
} tvlm_attention;

/* How many of `present` cells are chosen: their number times the share, rounded, but at least one. */
static inline int32_t tvlm_attention_chosen(int32_t share, int32_t present) {
    const int64_t chosen = ((int64_t)present * share + TVLM_ATTENTION_WHOLE / 2) / TVLM_ATTENTION_WHOLE;
    return chosen > 0 ? (int32_t)chosen : 1;
}

#endif
