/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/attend.h: attention of any queries over the vectors of an image. It reads the vectors coarsely first, and
 * finely only where that counts.
 *
 * Keys and values are grids of vectors: the features of two stacks, or of one stack that serves as both (input.h:
 * tvlm_stack_set_grid of TVLM_CHANNEL_FEATURE_0). A stack may have the size of the grid and hold nothing else:
 *
 *     tvlm_stack_create(device, tvlm_stack_params(.width = 64, .height = 64, .layout = "x"), &keys);
 *     tvlm_stack_set_grid(keys, 0, TVLM_CHANNEL_FEATURE_0,
 *                         tvlm_grid_input(.data = k, .columns = 64, .rows = 64, .channels = 768));
 *     tvlm_attend(keys, NULL, tvlm_attend_params(.queries = q, .count = 100, .dimension = 768, .level = 2),
 *                 (size_t)100 * 768, out, NULL, NULL);
 *
 * Each head of each query chooses for itself what it reads:
 *
 *   1. It is compared with all cells of the coarse level. Such a cell is the mean of the vectors that it covers.
 *   2. The best `fine` share of these cells is replaced by the cells of level 0 that they cover.
 *   3. One softmax is taken over the coarse cells that are left and the fine ones that replaced the others. A
 *      cell that covers n cells of level 0 counts n times.
 *
 * With d the dimension of a head, that is
 *
 *     p_j = n_j exp(q . k_j / sqrt(d)) / (the sum of these),  out = sum over j of p_j v_j
 *
 * `scale` takes the place of 1 / sqrt(d) where it is given. With level 0, or with fine = 1, this is exactly scaled
 * dot-product attention (Vaswani et al. 2017). Otherwise it is close to that where the vectors under a coarse cell
 * are alike, since their mean then stands for all of them. Neighbours in an image are alike. Random vectors are
 * not, and with them it fails.
 *
 * Where the sides of the grid are odd, a cell of one level covers some cells of the finer level only in part
 * (doc/design.md, "Levels"). Then n_j is not a whole number. A cell of level 0 counts only with that part of it
 * that lies under cells that were replaced.
 *
 * This header is of the lab: it may change in any version.
 */
#ifndef TEXTUREVLM_LAB_ATTEND_H
#define TEXTUREVLM_LAB_ATTEND_H

#include "texturevlm/features.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TVLM_ATTEND_FINE_DEFAULT 0.2f

/* With all but queries, count and dimension zero, this is exact attention with one head. */
struct tvlm_attend_params {
    /* Which image of the batch is read. It is the same for the keys and for the values. */
    int32_t index;
    /* [count * dimension]: the queries. `dimension` is that of the keys. Each value is finite, and at most 1e15 in
     * size. They are read during the call only. A count of 0 means 1. */
    const float *queries;
    int32_t count, dimension;
    /* The number of heads, 1 .. 256: each vector is cut into so many parts of equal length, and each part
     * attends on its own. The dimension of the keys and that of the values are multiples of it. 0 means 1. */
    int32_t heads;
    /* The coarse level: from 0, which means exact attention, to the last level of the grid. */
    int32_t level;
    /* The share of the coarse cells that is replaced, above 0 and at most 1. It is rounded to whole cells, and is
     * at least one cell. 0 means 0.2. With level 0 there is nothing to replace. */
    float fine;
    /* Goes down one level at a time, instead of from the coarse level to level 0 at once. The best `fine` share
     * of the coarse cells is replaced by cells of the next finer level, the best `fine` share of those by cells
     * of the level below, and so on. About fine^level of the cells of level 0 are then read. */
    bool steps;
    /* 0: there is one softmax, as above. Above 0 and below 1: there are two, and the result is mix times what all
     * coarse cells give, plus (1 - mix) times what the fine cells alone give. This method is here for comparisons.
     * It is not exact even with fine = 1. It is refused with steps, and with level 0. */
    float mix;
    /* Sets the channel `attention` of the keys' image (input.h) to the map (see tvlm_attend), divided by the map's
     * largest value. */
    bool keep;
    /* What q . k is multiplied by: above 0, and at most 1e15. 0 means 1 / sqrt(d). */
    float scale;
    uint64_t reserved[6];
};
#define tvlm_attend_params(...) TVLM_PARAMS(tvlm_attend_params, __VA_ARGS__)

/* What an attention has read, and how large its map is. */
typedef struct tvlm_attend_info {
    /* The size of the grid of keys, and so of the map. */
    int32_t columns, rows;
    /* The dimension of the values, which is also that of the results, and the number of heads. */
    int32_t dimension, heads;
    /* How many keys and how many values one head of one query has read, on average. Exact attention reads columns
     * times rows of each. */
    double keys, values;
    /* The bytes of these keys and values, as a share of the bytes that exact attention reads. */
    double bytes;
    uint64_t reserved[4];
} tvlm_attend_info;

/*
 * Attends, and writes the results to out[query * D + i], where D is the dimension of the values.
 *
 *   - `values` may be NULL: then the keys are the values, too.
 *   - `out` has room for `capacity` floats.
 *   - `map` is NULL, or [rows * columns]. It gets the share of the attention that goes to each cell of level 0, as
 *     the mean over all queries and heads; its sum is 1. The attention to a coarse cell is spread over the cells
 *     that it covers.
 *   - `info` may be NULL.
 *
 * The call waits. The device keeps a copy of the vectors as floats, with the levels that were read, until the
 * features are set anew. Sums are in float (in double on the reference device). Keys and values are on one device,
 * which the calling thread has to itself during the call (device.h).
 *
 * Errors: MEMORY, DEVICE_MEMORY, and ARGUMENT for
 *   - an image without features;
 *   - a coarse level of features whose levels are not means (tvlm_stack_set_reduce);
 *   - keys and values on grids of different sizes, or of more than 65536 cells;
 *   - queries of another dimension than the keys;
 *   - what the struct above refuses;
 *   - a capacity that is too small.
 */
TVLM_API tvlm_status tvlm_attend(tvlm_stack *keys, tvlm_stack *values,
                                 const struct tvlm_attend_params *params, size_t capacity, float *out,
                                 float *map, tvlm_attend_info *info);

#ifdef __cplusplus
}
#endif
#endif
