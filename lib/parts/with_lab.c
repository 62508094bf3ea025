/* SPDX-License-Identifier: Apache-2.0 */
/*
 * with_lab.c: the tables of a build with the lab. They name what the core and the lab are made of, so that
 * nothing in the core needs to. without_lab.c takes the place of this file in a build without the lab.
 */
#include "lab/foveated.h"

const tvlm_chooser tvlm_choosers[TVLM_STRATEGY_COUNT] = {
    TVLM_CORE_CHOOSERS, [TVLM_STRATEGY_FOVEATED] = {NULL, tvlm_choose_foveated}};
