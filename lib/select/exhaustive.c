/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exhaustive strategy: every texel of a level is a candidate. What it chooses is what all others are
 * measured by.
 */
#include "select/select.h"

tvlm_status tvlm_exhaustive_score(const tvlm_log *log, const struct tvlm_select_params *params,
                                  struct tvlm_score_params *score) {
    if (params->score.stride != 0.0f)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a stride of %g pixels: the strategy exhaustive takes a level, not a stride",
                         (double)params->score.stride);
    score->dense = true;
    return TVLM_OK;
}
