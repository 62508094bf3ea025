/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/attention.h: what the operation `attend` is told: attention over the vectors of a grid, coarse first and
 * finer where it counts (texturevlm/attend.h has the definition).
 *
 * A *row* is one head of one query: row = query * heads + head. Of each row every level has an *area* for each
 * of its cells: how many cells of the last level it stands for. In the first level that is the same for all
 * cells. Then, level after level, the share of those cells that have an area and the highest scores hand it on
 * to the cells below them, each as much as it covers of them, and have none themselves.
 */
#ifndef TVLM_CORE_ATTENTION_H
#define TVLM_CORE_ATTENTION_H

#include <stddef.h>
#include <stdint.h>

/* The most levels that are read, and the most cells that one has: a driver may end longer loops early. */
#define TVLM_ATTENTION_LEVELS 17
#define TVLM_ATTENTION_CELLS  65536
#define TVLM_ATTENTION_HEADS  256
/* What a share of 1 is as a whole number. */
#define TVLM_ATTENTION_WHOLE 65536

struct tvlm_buffer;

typedef struct tvlm_attention_level {
    int32_t columns, rows;
    int32_t first; /* which cell of keys and values is its first */
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
    /* The share that goes on to the next level, in TVLM_ATTENTION_WHOLE-ths: tvlm_attention_chosen. */
    int32_t share;
    /* Not 0, with two levels: `mix` times what all of the first level give, and 1 - mix times what the cells
     * below the chosen ones give, each with a softmax of its own. 0: one softmax over what is left. */
    float mix;
    float scale; /* of the products of queries and keys */
} tvlm_attention;

/* How many of `present` cells are chosen: the share of them, rounded, and at least one. */
static inline int32_t tvlm_attention_chosen(int32_t share, int32_t present) {
    const int64_t chosen = ((int64_t)present * share + TVLM_ATTENTION_WHOLE / 2) / TVLM_ATTENTION_WHOLE;
    return chosen > 0 ? (int32_t)chosen : 1;
}

#endif
