/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_pool.h: `tvlm select` with several devices (texturevlm/pool.h). Images are read in the order in
 * which they are named. Each goes to a device that is free. Answers are written in the order of the images.
 */
#ifndef TVLM_TOOLS_SELECT_POOL_H
#define TVLM_TOOLS_SELECT_POOL_H

#include "select_answer.h"

/* Whether --device, or else $TVLM_DEVICE, names more than one device: "all", or several names with commas
 * between them. */
bool select_pool_wanted(const tool_common *common);

/* Answers all questions about all images, and writes all outputs that are asked for. */
int select_pool_run(select_run *run, int count, char *const *paths);

#endif
