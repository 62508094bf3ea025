#include "strategies.h"

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
