/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_layout.h: the names of the channels that a score reads, for the stack that it is asked of.
 */
#ifndef TVLM_TOOLS_SELECT_LAYOUT_H
#define TVLM_TOOLS_SELECT_LAYOUT_H

#include "select_budget.h"
#include "tool.h"

/* Adds the names of channels to a layout that has not got them. `what` reads them, for the error where there is no room. */
int layout_add(struct tool *tool, const char *what, const int32_t *channels, int32_t count, char *layout,
               size_t size);

/* The channels that a scorer names: how many, and the i-th of them. */
int32_t scorer_channels(const tvlm_scorer *scorer);
int32_t scorer_channel(const tvlm_scorer *scorer, int32_t i);
/* Whether it reads the i-th of them, whatever is asked. A network reads all. */
bool scorer_weighs(const tvlm_scorer *scorer, int32_t i);

/* Writes the names of the channels to which a scorer from file `path` gives a weight other than 0, or a query may. Where it
 * gives none, they are all of its channels, since a stack has at least one. */
int scorer_layout(struct tool *tool, const char *path, const tvlm_scorer *scorer, char *layout, size_t size);

/* Writes the names of the channels that the three parts of the score read (doc/channels.md, "Scores"). A part
 * of weight 0 is not looked at. `asked` says whether there is a query. */
void parts_layout(const option_triple *weights, bool asked, char *layout, size_t size);

/* Writes the name of the channel that a budget reads beside the image: the one that says what matters. `asked` as
 * above. */
int emphasis_layout(struct tool *tool, const budget_emphasis *emphasis, bool asked, char *layout,
                    size_t size);

#endif
