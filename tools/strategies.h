/* strategies.h: the choices of --strategy. They are the library's strategies, under the library's names. */
#ifndef TVLM_TOOLS_STRATEGIES_H
#define TVLM_TOOLS_STRATEGIES_H

#include "texturevlm/select.h"

/* The names, ending with NULL. strategies_name fills them in, before options are parsed. */
#define STRATEGIES_MAX 15
extern const char *strategies[STRATEGIES_MAX + 1];
void strategies_name(void);

/* The strategy at that position of the names. */
tvlm_strategy strategies_at(int choice);

#endif
