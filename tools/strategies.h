/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strategies.h: the choices of --strategy. They are the strategies of the library, under the library's names.
 */
#ifndef TVLM_TOOLS_STRATEGIES_H
#define TVLM_TOOLS_STRATEGIES_H

#include "texturevlm/select.h"
#include "tool.h"

/* The names, ended by NULL. strategies_name fills them in, before options are parsed. */
#define STRATEGIES_MAX 15
extern const char *strategies[STRATEGIES_MAX + 1];
void strategies_name(void);

/* Whether all strategies are among these: the bit 1 << TVLM_STRATEGY_GRID stands for the grid, and so on. */
bool strategies_all(uint32_t strategies_of);

/* Writes the names of strategies into an empty text: with `last` before the last of them, and `comma` before the
 * others. */
void strategies_list(uint32_t strategies_of, const char *comma, const char *last, char *text, size_t size);

/* An option that not every strategy reads. */
typedef struct strategy_option {
    const char *name;      /* the option as it is typed */
    const char *parameter; /* the name of the parameter that it sets, or that it goes with */
    bool given;
} strategy_option;

/* Refuses an option, as it is typed, if the strategy is none of `readers` (1 << strategy for each). `asked` says whether
 * the strategy was asked for; otherwise it is the default. */
int strategies_read(struct tool *tool, tvlm_strategy strategy, bool asked, const char *option,
                    uint32_t readers);

/* Refuses the first of `count` options that is given although the strategy does not read it. `asked` says
 * whether the strategy was asked for; otherwise it is the default. */
int strategies_check(struct tool *tool, tvlm_strategy strategy, bool asked, const strategy_option *options,
                     int count);

#endif
