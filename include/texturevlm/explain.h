/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain.h: why positions were chosen: what each channel adds to the score of each.
 *
 *     int32_t channels;
 *     tvlm_explain(stack, query, &params, selection, 0, NULL, &channels);
 *     tvlm_reason *reasons = malloc((size_t)count * channels * sizeof *reasons);
 *     tvlm_explain(stack, query, &params, selection, count * channels, reasons, &channels);
 *     // reasons[position * channels + i] is what channel i adds to the score of that position.
 */
#ifndef TEXTUREVLM_EXPLAIN_H
#define TEXTUREVLM_EXPLAIN_H

#include "select.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What one channel adds to the score of one position. */
typedef struct tvlm_reason {
    int32_t channel;
    /* The channel at the position, as the score reads it: of a cell at its centre, of a square the mean of the
     * cells under it. */
    float value;
    /* What the score rises by where the value rises by 1: the part's weight, divided by the part's range over
     * the candidates, times the channel's factor in the part; or the scorer's weight, of 9 taps their sum. */
    float weight;
    /* What the channel adds: weight * value, but no more than its cap (doc/channels.md, "Scores": edges), and
     * with 9 taps what all of them add. */
    float share;
    uint32_t reserved[4];
} tvlm_reason;

/*
 * Explains the scores of a selection: reasons[position * *channel_count + i]. All positions have the same
 * channels, those whose weight is not 0, in the same order; there may be none, and a budget has none: its
 * tiles say themselves what was lost before and after (tvlm_position). The score of a position is the
 * sum of its shares and one number more, that has no channel: what a scorer's bias, the least value of each
 * part over the candidates, and a stream's bonus for positions that stay (stream.h) come to. For the cascade,
 * which reads candidates on the host, the shares are right up to a few thousandths.
 *
 * `stack`, `query` and `params` are what the selection was made from, with the image as it was;
 * TVLM_STRATEGY_DEFAULT in them is the strategy that chose. The question becomes the stack's present one. `capacity` is how many reasons there is room for. With 0 only
 * *channel_count is set, and `reasons` may be NULL. Waits. Errors: those of tvlm_select; ARGUMENT (a capacity
 * that is too small, params of another strategy than the selection's).
 */
TVLM_API tvlm_status tvlm_explain(tvlm_stack *stack, const struct tvlm_query *query,
                                  const struct tvlm_select_params *params, const tvlm_selection *selection,
                                  int32_t capacity, tvlm_reason *reasons, int32_t *channel_count);

#ifdef __cplusplus
}
#endif
#endif
