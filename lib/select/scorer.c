/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scorers: what can be wrong with them, and which channels they read.
 */
#include "select/scorer.h"

#include <math.h>

#include "core/check.h"
#include "core/try.h"
#include "stack/frame.h"
#include "stack/grids.h"
#include "texturevlm/input.h"

static tvlm_status check_numbers(const tvlm_log *log, const tvlm_scorer *scorer) {
    if (scorer->channel_count < 0 || scorer->channel_count > TVLM_LAYOUT_CHANNELS_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a scorer of %d channels", (int)scorer->channel_count);
    if (scorer->taps != 1 && scorer->taps != TVLM_SCORE_TAPS)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a scorer of %d taps; 1 or 9 are possible",
                         (int)scorer->taps);
    if (scorer->outputs < 1 || scorer->outputs > 1 + TVLM_USER_PLANES_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a scorer of %d outputs; 1 to %d are possible",
                         (int)scorer->outputs, 1 + TVLM_USER_PLANES_MAX);
    if (scorer->channel_count > 0 && (scorer->channels == NULL || scorer->weights == NULL))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a scorer without channels or weights");
    const char *wrong = tvlm_wrong_weight(scorer->bias);
    if (wrong == NULL) wrong = tvlm_wrong_weight(scorer->similarity_weight);
    if (wrong != NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a scorer's bias or similarity weight %s", wrong);
    return TVLM_OK;
}

tvlm_status tvlm_scorer_check(const tvlm_stack *stack, const tvlm_scorer *scorer) {
    const tvlm_log *log = tvlm_stack_log(stack);
    TVLM_TRY(check_numbers(log, scorer));
    for (int32_t c = 0; c < scorer->channel_count; ++c) {
        TVLM_TRY(tvlm_stack_check_channel(stack, scorer->channels[c]));
        if (scorer->levels != NULL && scorer->levels[c] != -1.0f &&
            !(scorer->levels[c] >= 0.0f && isfinite(scorer->levels[c])))
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                             "a scorer's level of channel %d is %g; it is 0 or more, or -1",
                             (int)scorer->channels[c], (double)scorer->levels[c]);
    }
    for (int32_t i = 0; i < scorer->outputs * scorer->channel_count * scorer->taps; ++i)
        if (tvlm_wrong_weight(scorer->weights[i]) != NULL)
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a scorer's weight of channel %d %s",
                             (int)scorer->channels[i / scorer->taps % scorer->channel_count],
                             tvlm_wrong_weight(scorer->weights[i]));
    return TVLM_OK;
}

bool tvlm_scorer_reads(const tvlm_scorer *scorer, int32_t c) {
    for (int32_t tap = 0; tap < scorer->taps; ++tap)
        if (scorer->weights[c * scorer->taps + tap] != 0.0f) return true;
    return false;
}

tvlm_scorer tvlm_scorer_output(const tvlm_scorer *scorer, int32_t output) {
    tvlm_scorer one = *scorer;
    one.weights += (size_t)output * (size_t)scorer->channel_count * (size_t)scorer->taps;
    one.outputs = 1;
    if (output > 0) one.bias = one.similarity_weight = 0.0f;
    return one;
}

/* A still image without the channel's input is refused, since its score would be that of another scorer.
 * Three cases are not refused. A stream may have frames before the input comes, previous_pass is missing in
 * the first pass, and a query brings query_similarity. */
tvlm_status tvlm_scorer_find_input(const tvlm_stack *stack, int32_t index, int32_t channel, bool query,
                                   bool *has) {
    tvlm_channel_info info;
    *has = tvlm_stack_place(stack, channel).grid != TVLM_GRID_NONE;
    if (tvlm_stack_is_streamed(stack) || channel == TVLM_CHANNEL_PREVIOUS_PASS ||
        (query && channel == TVLM_CHANNEL_QUERY_SIMILARITY))
        return TVLM_OK;
    TVLM_TRY(tvlm_stack_has_channel(stack, index, channel, has));
    if (*has) return TVLM_OK;
    TVLM_TRY(tvlm_stack_get_channel_info(stack, channel, &info));
    return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_ARGUMENT,
                     "the scorer weighs %s (%d), for which the image has no input", info.name, (int)channel);
}
