/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of the strategies, and the checks of a strategy and its parameters. parameters.c says which
 * strategy reads which parameters.
 */
#include "select/strategy.h"

#include <string.h>

#include "core/backend.h"
#include "core/try.h"
#include "select/parameters.h"

static const char *const names[TVLM_STRATEGY_COUNT] = {
    [TVLM_STRATEGY_GRID] = "grid",         [TVLM_STRATEGY_FOVEATED] = "foveated",
    [TVLM_STRATEGY_QUADTREE] = "quadtree", [TVLM_STRATEGY_EXHAUSTIVE] = "exhaustive",
    [TVLM_STRATEGY_CASCADE] = "cascade",   [TVLM_STRATEGY_BUDGET] = "budget",
};

tvlm_status tvlm_strategy_check(const tvlm_log *log, const struct tvlm_select_params *params) {
    const tvlm_strategy meant = tvlm_strategy_meant(params);
    const bool unasked = params->strategy == TVLM_STRATEGY_DEFAULT && params->best.overview == 0.0f;
    if ((int)meant <= TVLM_STRATEGY_DEFAULT || (int)meant >= TVLM_STRATEGY_COUNT)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "there is no strategy %d", (int)params->strategy);
    TVLM_TRY(tvlm_parameters_check(log, params, meant, unasked));
    if (tvlm_choosers[meant].choose == NULL)
        return tvlm_fail(log, TVLM_ERROR_UNSUPPORTED,
                         "the strategy %s is of the lab, which this build leaves out (TVLM_WITH_LAB)",
                         names[meant]);
    return tvlm_choosers[meant].check != NULL ? tvlm_choosers[meant].check(log, params) : TVLM_OK;
}

/* ---- texturevlm/select.h ---- */

const char *tvlm_strategy_name(tvlm_strategy number) {
    const int known = number == TVLM_STRATEGY_DEFAULT ? (int)TVLM_STRATEGY_USUAL : (int)number;
    return known > TVLM_STRATEGY_DEFAULT && known < TVLM_STRATEGY_COUNT ? names[known] : "unknown";
}

int tvlm_strategy_find(const char *name) {
    for (int i = TVLM_STRATEGY_GRID; name != NULL && i < TVLM_STRATEGY_COUNT; ++i)
        if (strcmp(name, names[i]) == 0) return i;
    return -1;
}
