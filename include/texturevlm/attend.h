/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attend.h: attention of any queries over the vectors of an image, which reads them coarsely first and finely
 * only where it counts.
 *
 * Keys and values are grids of vectors: the features (input.h: tvlm_stack_set_grid of TVLM_CHANNEL_FEATURE_0) of
 * two stacks, or of one and the same. A stack may be as large as the grid and hold nothing else:
 *
 *     tvlm_stack_create(device, tvlm_stack_params(.width = 64, .height = 64, .layout = "x"), &keys);
 *     tvlm_stack_set_grid(keys, 0, TVLM_CHANNEL_FEATURE_0,
 *                         tvlm_grid_input(.data = k, .columns = 64, .rows = 64, .channels = 768));
 *     tvlm_attend(keys, NULL, tvlm_attend_params(.queries = q, .count = 100, .dimension = 768, .level = 2),
 *                 (size_t)100 * 768, out, NULL, NULL);
 *
 * Each head of each query goes its own way. It compares itself with all cells of the coarse level, each the mean
 * of the vectors that it covers. The best `fine` share of these cells is replaced by their cells of level 0. Over
 * what is left there is one softmax, in which a cell counts as often as the n cells of level 0 that it covers:
 *
 *     p_j = n_j exp(q . k_j / sqrt(d)) / (the sum of these),  out = sum over j of p_j v_j
 *
 * where d is the dimension of a head (or with `scale` in place of 1 / sqrt(d)). With level 0, or with fine = 1, this is scaled dot-product attention
 * (Vaswani et al. 2017) exactly. A mean stands for its cells the better, the more these are alike: neighbours in
 * an image are, random vectors are not, and there it fails.
 *
 * Where the sides of the grid are odd, cells of one level cover cells of the next in part (doc/design.md,
 * "Levels"), n_j is no whole number, and a cell of level 0 that was replaced in part counts in part.
 */
#ifndef TEXTUREVLM_ATTEND_H
#define TEXTUREVLM_ATTEND_H

#include "embed.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TVLM_ATTEND_FINE_DEFAULT 0.2f

/* All zero, but for queries, count and dimension, means exact attention with one head. */
struct tvlm_attend_params {
    /* Which image of the batch, of the keys as of the values. */
    int32_t index;
    /* [count * dimension]: the queries, of the keys' dimension, each value at most 1e15 in size, read during the
     * call only. A count of 0 means 1. */
    const float *queries;
    int32_t count, dimension;
    /* How many parts of the vectors attend for themselves, 1 .. 256; the dimensions of keys and values are
     * multiples of it. 0 means 1. */
    int32_t heads;
    /* The coarse level: from 0, which means exact attention, to the last level of the grid. */
    int32_t level;
    /* The share of the coarse cells that is replaced, above 0 and at most 1; it is rounded to whole cells, and at
     * least one. 0 means 0.2. With level 0 there is nothing to replace. */
    float fine;
    /* Cells are replaced by those of the next level, the best share of these by those below them, and so on down
     * to level 0, which then sees about fine^level of the cells. */
    bool steps;
    /* Not 0, but below 1: in place of the one softmax, mix times the result of all coarse cells plus (1 - mix)
     * times that of the fine ones alone. It is here to be compared with; it is not exact even with fine = 1.
     * Refused with steps and with level 0. */
    float mix;
    /* Makes the map the channel `attention` of the keys' image (input.h), divided by its largest value. */
    bool keep;
    /* What q . k is multiplied by, > 0 and finite; 0 means 1 / sqrt(d). */
    float scale;
    uint64_t reserved[6];
};
#define tvlm_attend_params(...) TVLM_PARAMS(tvlm_attend_params, __VA_ARGS__)

/* What an attention has read, and how large its map is. */
typedef struct tvlm_attend_info {
    int32_t columns, rows;
    /* The dimension of the values, and so of what comes out; and how many heads there were. */
    int32_t dimension, heads;
    /* How many keys, and how many values, a head of a query has read on average; exact attention reads columns *
     * rows of each. */
    double keys, values;
    /* The bytes that those are, as a share of those that exact attention reads. */
    double bytes;
    uint64_t reserved[4];
} tvlm_attend_info;

/*
 * Attends: out[query * D + i], D the dimension of the values, where there is room for `capacity` floats. `values`
 * NULL: the values are the keys. `map` [rows * columns], or NULL, gets how much of the attention of all queries
 * and heads goes to each cell of level 0, on average: its sum is 1. What a coarse cell gets is spread over the
 * cells that it covers. `info` may be NULL.
 *
 * The call waits. The device keeps a copy of the vectors as floats, with the levels that were read, until the
 * features are set anew. Sums are in float (in double on the reference). The thread that calls it has the device of
 * the keys, which is also that of the values.
 *
 * Errors: ARGUMENT (no features; a coarse level of features whose levels are no means, see tvlm_stack_set_reduce; grids of two sizes, or of more than 65536 cells; another dimension than the
 * keys'; what the struct above refuses; a capacity that is too small), MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_attend(tvlm_stack *keys, tvlm_stack *values,
                                 const struct tvlm_attend_params *params, size_t capacity, float *out,
                                 float *map, tvlm_attend_info *info);

#ifdef __cplusplus
}
#endif
#endif
