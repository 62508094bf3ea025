/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/merge.h: an encoder's tokens, merged where a selection says that little is lost.
 *
 * The encoder has seen the whole image. Its tokens are the features of a stack (input.h: tvlm_stack_set_grid of
 * TVLM_CHANNEL_FEATURE_0). A selection with squares of several sizes says which tokens become one (select.h: the
 * strategies budget, quadtree and foveated, or an overview):
 *
 *     tvlm_select(stack, NULL, tvlm_select_params(.k = 64, .strategy = TVLM_STRATEGY_QUADTREE), &selection);
 *     float *tokens = malloc((size_t)64 * 768 * sizeof *tokens); // one for each position
 *     tvlm_merged_token *merged = malloc(64 * sizeof *merged);
 *     tvlm_merge_tokens(stack, selection, NULL, (size_t)64 * 768, tokens, merged);
 *
 * Each token belongs to the smallest square that holds its centre. If several squares of one size hold it, the
 * square that comes first in the selection gets it. A position becomes the mean of the tokens that belong to it.
 * So no token is counted twice: a cell of a thumbnail stands for those of its tokens that are in no tile. Tokens
 * that lie in no square are left out. This happens with the strategy grid, and in empty cells of a thumbnail
 * where there is no tile.
 *
 * This is the average of token merging (ToMe: Bolya et al. 2023; VisionZip: Yang et al. 2025), but tokens are
 * grouped by the squares of a selection and not by pairs that are alike.
 *
 * The means are read from the mip levels of the features, as far up as both sides of their grid can be halved
 * evenly. There a square of 4 x 4 tokens that begins at a multiple of its side is one texel. If the levels are not
 * means (tvlm_stack_set_reduce), each token is read by itself.
 *
 * This header is of the lab: it may change in any version.
 */
#ifndef TEXTUREVLM_LAB_MERGE_H
#define TEXTUREVLM_LAB_MERGE_H

#include "texturevlm/select.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All zero means the defaults. */
struct tvlm_merge_params {
    /* Which image of the batch. */
    int32_t index;
    /* If set, each position stands for all tokens of its square, whatever other squares lie in it. Tokens may then
     * count more than once. */
    bool whole;
    uint64_t reserved[4];
};
#define tvlm_merge_params(...) TVLM_PARAMS(tvlm_merge_params, __VA_ARGS__)

/* What a position stands for. */
typedef struct tvlm_merged_token {
    /* The mean place of its tokens, in columns and rows of their grid: the first token is at 0, 0. If it stands
     * for no token, the place of its centre. */
    float x, y;
    /* How many tokens it stands for. 0: all tokens of its square belong to other positions, and its vector is 0.
     * A model with proportional attention (ToMe) adds log(count) to the attention scores. */
    int32_t count;
    /* From how many texels, of any level, its mean was read. */
    int32_t texels;
    uint32_t reserved[4];
} tvlm_merged_token;

/*
 * Merges the tokens of an image along a selection of the same image, and waits. It writes
 *   - tokens[position * D + i], with D the dimension of the features. There is room for `capacity` floats;
 *   - merged[position], which has room for all positions of the selection (tvlm_selection_positions).
 *
 * A square that is smaller than a token may hold no token's centre: it then has the token at its own centre. The
 * calling thread must be the one that has the stack's device (device.h).
 *
 * Errors: ARGUMENT (no features, an index, a capacity that is too small, a selection of an image of another size),
 * MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_merge_tokens(tvlm_stack *stack, const tvlm_selection *selection,
                                       const struct tvlm_merge_params *params, size_t capacity, float *tokens,
                                       tvlm_merged_token *merged);

#ifdef __cplusplus
}
#endif
#endif
