/* SPDX-License-Identifier: Apache-2.0 */
#include "strategies.h"

#include <stdio.h>

const char *strategies[STRATEGIES_MAX + 1];

void strategies_name(void) {
    for (int i = 0; i < STRATEGIES_MAX; ++i) {
        const char *const name = tvlm_strategy_name(strategies_at(i));
        if (tvlm_strategy_find(name) != (int)strategies_at(i)) return;
        strategies[i] = name;
    }
}

tvlm_strategy strategies_at(int choice) {
    return (tvlm_strategy)(TVLM_STRATEGY_GRID + choice);
}

static int refuse(struct tool *tool, const strategy_option *option, const char *strategy) {
    char readers[256] = "";
    size_t used = 0;
    for (int i = 0; strategies[i] != NULL && used < sizeof readers; ++i)
        if (tvlm_strategy_reads(strategies_at(i), option->parameter))
            used += (size_t)snprintf(readers + used, sizeof readers - used, "%s%s", used > 0 ? " or " : "",
                                     strategies[i]);
    return tool_usage(tool, "--%s is for --strategy %s, not for %s", option->name, readers, strategy);
}

int strategies_check(struct tool *tool, tvlm_strategy strategy, const strategy_option *options, int count) {
    for (int i = 0; i < count; ++i)
        if (options[i].given && !tvlm_strategy_reads(strategy, options[i].parameter))
            return refuse(tool, &options[i], tvlm_strategy_name(strategy));
    return TOOL_DONE;
}
