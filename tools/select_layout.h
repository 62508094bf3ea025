/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_layout.h: the names of the channels that a score reads, for the stack that it is asked of.
 */
#ifndef TVLM_TOOLS_SELECT_LAYOUT_H
#define TVLM_TOOLS_SELECT_LAYOUT_H

#include "tool.h"

/* Of a scorer from file `path`: those of weight other than 0; all of them when there is none, since a stack
 * has at least one. */
int scorer_layout(struct tool *tool, const char *path, const tvlm_scorer *scorer, char *layout, size_t size);

/* Of the three parts (doc/channels.md, "Scores"; `asked`: there is a query): a part of weight 0 is not looked
 * at.
 */
void parts_layout(const option_triple *weights, bool asked, char *layout, size_t size);

#endif
