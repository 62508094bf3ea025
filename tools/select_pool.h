/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_pool.h: `tvlm select` with several devices (texturevlm/pool.h): images are read in the order in which they
 * are named, go to whichever device is free, and are answered in that order.
 */
#ifndef TVLM_TOOLS_SELECT_POOL_H
#define TVLM_TOOLS_SELECT_POOL_H

#include "select_answer.h"

/* Whether --device, or else $TVLM_DEVICE, names more than one device: "all", or names with commas between. */
bool select_pool_wanted(const tool_common *common);

/* Answers all questions about all images, and writes what is asked for. */
int select_pool_run(select_run *run, int count, char *const *paths);

#endif
