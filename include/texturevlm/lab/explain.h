/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/explain.h: says why positions were chosen: how much each channel adds to the score of each position.
 *
 *     int32_t channels;
 *     tvlm_explain(stack, query, &params, selection, 0, NULL, &channels);
 *     tvlm_reason *reasons = malloc((size_t)count * channels * sizeof *reasons);
 *     tvlm_explain(stack, query, &params, selection, count * channels, reasons, &channels);
 *     // reasons[position * channels + i] is what channel i adds to the score of that position.
 *
 * This header is of the lab: it may change in any version.
 */
#ifndef TEXTUREVLM_LAB_EXPLAIN_H
#define TEXTUREVLM_LAB_EXPLAIN_H

#include "texturevlm/select.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What one channel adds to the score of one position. */
typedef struct tvlm_reason {
    int32_t channel;
    /* The channel's value at the position, as the score reads it. For a cell it is the value at the cell's
     * centre. For a square it is the mean over the cells under it. */
    float value;
    /* How much the score rises where the value rises by 1.
     *   - For the default score (score.h) that is the channel's factor in its part, times the part's weight,
     *     divided by the part's range over the candidates.
     *   - For a scorer it is the channel's weight; with 9 taps it is the sum of its weights. */
    float weight;
    /* How much the channel adds to the score: weight * value, but no more than the channel's cap, as `edges` has
     * one (doc/channels.md, "Scores"). With 9 taps it is what all of them add together. */
    float share;
    uint32_t reserved[4];
} tvlm_reason;

/*
 * Explains the scores of a selection: reasons[position * *channel_count + i] is about channel i of a position. All
 * positions have the same channels, in the same order: those whose weight is not 0. There may be none. For the
 * strategy budget there are none: its tiles themselves say what was lost before and after (tvlm_position).
 *
 * The score of a position is the sum of its shares, and one more number that belongs to no channel. That number
 * comes from a scorer's bias, from the least value of each part over the candidates, and from a stream's bonus
 * for positions that stay (stream.h). For the cascade, which reads candidates on the host, the shares are right up
 * to a few thousandths.
 *
 * `stack`, `query` and `params` are those that the selection was made from, and the image is unchanged. A strategy
 * of TVLM_STRATEGY_DEFAULT in `params` means the one that chose. The question becomes the stack's present one.
 * There is room for `capacity` reasons. With 0 only *channel_count is set, and `reasons` may be NULL. The call
 * waits. Errors: those of tvlm_select; ARGUMENT (a capacity that is too small, params of another strategy than the
 * selection's; scores of one's own, or a scorer that is a network, for all strategies but the budget).
 */
TVLM_API tvlm_status tvlm_explain(tvlm_stack *stack, const struct tvlm_query *query,
                                  const struct tvlm_select_params *params, const tvlm_selection *selection,
                                  int32_t capacity, tvlm_reason *reasons, int32_t *channel_count);

#ifdef __cplusplus
}
#endif
#endif
