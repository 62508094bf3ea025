/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/parameters.h: checks of parameters by their table. The public header is texturevlm/select.h.
 */
#ifndef TVLM_SELECT_PARAMETERS_H
#define TVLM_SELECT_PARAMETERS_H

#include "texturevlm/select.h"

/* Refuses values outside the range of their parameter, and a parameter that is given although the strategy does not
 * read it. `unasked` says that the strategy is the default, since none was asked for. */
tvlm_status tvlm_parameters_check(const tvlm_log *log, const struct tvlm_select_params *params,
                                  tvlm_strategy strategy, bool unasked);

#endif
