/* SPDX-License-Identifier: Apache-2.0 */
#include "strategies.h"

#include <stdio.h>
#include <string.h>

#include "lab.h"
#include "texturevlm/select.h"

const char *strategies[STRATEGIES_MAX + 1];

void strategies_name(void) {
    for (int i = 0; i < STRATEGIES_MAX; ++i) {
        const char *const name = tvlm_strategy_name((tvlm_strategy)(TVLM_STRATEGY_GRID + i));
        if (tvlm_strategy_find(name) < 0) break;
        strategies[i] = name;
    }
}

/* The strategies that read a parameter of the library's table. */
static uint32_t readers_of(const char *name) {
    const tvlm_parameter *p;
    for (int32_t i = 0; (p = tvlm_parameter_at(i)) != NULL; ++i)
        if (strcmp(p->name, name) == 0) return p->strategies;
    return 0;
}

bool strategies_all(uint32_t strategies_of) {
    for (int i = 0; strategies[i] != NULL; ++i)
        if ((strategies_of >> tvlm_strategy_find(strategies[i]) & 1u) == 0) return false;
    return true;
}

void strategies_list(uint32_t strategies_of, const char *comma, const char *last, char *text, size_t size) {
    for (int i = 0; strategies[i] != NULL; ++i) {
        const int number = tvlm_strategy_find(strategies[i]);
        const size_t used = strlen(text);
        if ((strategies_of >> number & 1u) == 0) continue;
        snprintf(text + used, size - used, "%s%s",
                 used == 0                     ? ""
                 : strategies_of >> number > 1 ? comma
                                               : last,
                 strategies[i]);
    }
}

int strategies_read(struct tool *tool, tvlm_strategy strategy, bool asked, const char *option,
                    uint32_t readers) {
    char names[256] = "";
    if ((readers >> strategy & 1u) != 0) return TOOL_DONE;
    strategies_list(readers, " or ", " or ", names, sizeof names);
    return tool_usage(tool, "%s is for --strategy %s, not for %s%s", option, names,
                      tvlm_strategy_name(strategy), asked ? "" : ", which is the default");
}

int strategies_check(struct tool *tool, tvlm_strategy strategy, bool asked, const strategy_option *options,
                     int count) {
    int code = strategy == TVLM_STRATEGY_FOVEATED ? lab_check(tool, "--strategy foveated") : TOOL_DONE;
    for (int i = 0; code == TOOL_DONE && i < count; ++i)
        if (options[i].given)
            code = strategies_read(tool, strategy, asked, options[i].name, readers_of(options[i].parameter));
    return code;
}
