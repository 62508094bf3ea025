/* SPDX-License-Identifier: Apache-2.0 */
/*
 * merge.h: an encoder's tokens, merged where a selection says that little is lost.
 *
 * The encoder has seen the whole image. Its tokens are the features of a stack (input.h: tvlm_stack_set_grid of
 * TVLM_CHANNEL_FEATURE_0), and a selection with squares of several sizes (select.h: the strategies budget, quadtree
 * and foveated, an overview) says which of them become one:
 *
 *     tvlm_select(stack, NULL, tvlm_select_params(.k = 64, .strategy = TVLM_STRATEGY_QUADTREE), &selection);
 *     float *tokens = malloc((size_t)64 * 768 * sizeof *tokens); // one for each position
 *     tvlm_merged_token *merged = malloc(64 * sizeof *merged);
 *     tvlm_merge_tokens(stack, selection, NULL, (size_t)64 * 768, tokens, merged);
 *
 * Each token belongs to the smallest position in whose square its centre lies, the first of equal ones; and what a
 * position stands for is the mean of the tokens that belong to it. No token is counted twice: a thumbnail's cell
 * stands for what of it is in no tile. This is the average that token merging makes (ToMe: Bolya et al. 2023;
 * VisionZip: Yang et al. 2025), along the squares of a selection in place of pairs that are alike. Tokens that lie
 * in no square, as with the strategy grid, or in an empty cell of a thumbnail and in no tile, are left out.
 *
 * It is read from the levels of the tokens, as far up as both sides of their grid are even: a square of 4 x 4
 * tokens at a multiple of its side is one texel. Where the levels are no means (tvlm_stack_set_reduce), each token is
 * read by itself.
 */
#ifndef TEXTUREVLM_MERGE_H
#define TEXTUREVLM_MERGE_H

#include "select.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All zero means the defaults. */
struct tvlm_merge_params {
    /* Which image of the batch. */
    int32_t index;
    /* Each position stands for all of its square, whatever other squares lie in it; tokens may count more than
     * once. */
    bool whole;
    uint64_t reserved[4];
};
#define tvlm_merge_params(...) TVLM_PARAMS(tvlm_merge_params, __VA_ARGS__)

/* What a position stands for. */
typedef struct tvlm_merged_token {
    /* The mean place of its tokens, in columns and rows of their grid: the first token is at 0, 0. Of a position
     * that stands for none, that of its centre. */
    float x, y;
    /* How many tokens it stands for. 0: others have all of them, and its vector is 0. With attention that is
     * proportional to it (ToMe), log(count) is added to the scores. */
    int32_t count;
    /* How many texels, of whatever levels, it was read from. */
    int32_t texels;
    uint32_t reserved[4];
} tvlm_merged_token;

/*
 * Merges: tokens[position * D + i], D the dimension of the features, where there is room for `capacity` floats, and
 * merged[position], where there is room for all positions of the selection (tvlm_selection_positions). A square
 * smaller than a token, in which no centre lies, has the token at its own centre. The selection is one of that
 * image. Waits. The thread that calls it has the stack's device.
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
