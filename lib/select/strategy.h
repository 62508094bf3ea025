/*
 * select/strategy.h: which strategy chooses.
 */
#ifndef TVLM_SELECT_STRATEGY_H
#define TVLM_SELECT_STRATEGY_H

#include "texturevlm/select.h"

/* The strategy that TVLM_STRATEGY_DEFAULT means; any other is itself. */
tvlm_strategy tvlm_strategy_meant(tvlm_strategy strategy);

#endif
