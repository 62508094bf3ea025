/* SPDX-License-Identifier: Apache-2.0 */
#include "strategies.h"

#include <stdio.h>
#include <string.h>

#include "lab.h"
#include "texturevlm/parameter.h"

const char *strategies[STRATEGIES_MAX + 1];

void strategies_name(void) {
    for (int i = 0; i < STRATEGIES_MAX; ++i) {
        const char *const name = tvlm_strategy_name((tvlm_strategy)(TVLM_STRATEGY_GRID + i));
        if (tvlm_strategy_find(name) < 0) break;
        strategies[i] = name;
    }
}

/* Whether a strategy reads a parameter of the library's table. */
static bool reads(tvlm_strategy strategy, const char *name) {
    const tvlm_parameter *p;
    for (int32_t i = 0; (p = tvlm_parameter_at(i)) != NULL; ++i)
        if (strcmp(p->name, name) == 0) return (p->strategies >> strategy & 1u) != 0;
    return true;
}

static int refuse(struct tool *tool, const strategy_option *option, const char *strategy, bool asked) {
    char readers[256] = "";
    size_t used = 0;
    for (int i = 0; strategies[i] != NULL && used < sizeof readers; ++i)
        if (reads((tvlm_strategy)tvlm_strategy_find(strategies[i]), option->parameter))
            used += (size_t)snprintf(readers + used, sizeof readers - used, "%s%s", used > 0 ? " or " : "",
                                     strategies[i]);
    return tool_usage(tool, "%s is for --strategy %s, not for %s%s", option->name, readers, strategy,
                      asked ? "" : ", which is the default");
}

int strategies_check(struct tool *tool, tvlm_strategy strategy, bool asked, const strategy_option *options,
                     int count) {
    const int there = strategy == TVLM_STRATEGY_FOVEATED ? lab_check(tool, "--strategy foveated") : TOOL_DONE;
    if (there != TOOL_DONE) return there;
    for (int i = 0; i < count; ++i)
        if (options[i].given && !reads(strategy, options[i].parameter))
            return refuse(tool, &options[i], tvlm_strategy_name(strategy), asked);
    return TOOL_DONE;
}
