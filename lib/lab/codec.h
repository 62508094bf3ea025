/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/codec.h: the checks that codecs and their trainer share.
 */
#ifndef TVLM_LAB_CODEC_H
#define TVLM_LAB_CODEC_H

#include "texturevlm/lab/codec.h"

static inline int32_t tvlm_codec_taps(const tvlm_scorer *scorer) {
    return scorer->taps == 0 ? 1 : scorer->taps;
}

/* Refuses channels that no codec can have, and numbers of channels, numbers of codes, and levels that are out
 * of range. */
tvlm_status tvlm_codec_check_channels(const tvlm_log *log, const int32_t *channels, int32_t count, int32_t k,
                                      int32_t level);

/* Refuses a scorer that cannot read codes of these channels. */
tvlm_status tvlm_codec_check_scorer(const tvlm_log *log, const int32_t *channels, int32_t count,
                                    const tvlm_scorer *scorer);

/* Refuses an image that has no input for one of the channels. */
tvlm_status tvlm_codec_check_inputs(const tvlm_log *log, const int32_t *channels, int32_t count,
                                    const tvlm_stack *stack, int32_t index);

#endif
