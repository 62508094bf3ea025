/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_layout.h: finds the names of the channels that a score reads, for the layout of the stack that is
 * asked.
 */
#ifndef TVLM_TOOLS_SELECT_LAYOUT_H
#define TVLM_TOOLS_SELECT_LAYOUT_H

#include "select_budget.h"
#include "tool.h"

/* Adds to a layout the names of those channels that it lacks. `what` names the reader of the channels, for
 * the error if there is no room. */
int layout_add(struct tool *tool, const char *what, const int32_t *channels, int32_t count, char *layout,
               size_t size);

/* The channels that a scorer names: how many there are, and the i-th of them. */
int32_t scorer_channels(const tvlm_scorer *scorer);
int32_t scorer_channel(const tvlm_scorer *scorer, int32_t i);
/* Whether a scorer reads the i-th of its channels for every question. A network reads all of them. */
bool scorer_weighs(const tvlm_scorer *scorer, int32_t i);

/* Writes the names of the channels to which a scorer from the file `path` gives a weight other than 0, or to
 * which a query may give one. If there is no such channel, it writes all channels of the scorer, since a
 * stack needs at least one. */
int scorer_layout(struct tool *tool, const char *path, const tvlm_scorer *scorer, char *layout, size_t size);

/* Writes the names of the channels that the three parts of the score read (doc/channels.md, "Scores"). A part
 * of weight 0 is left out. `asked` says whether there is a query. */
void parts_layout(const option_triple *weights, bool asked, char *layout, size_t size);

/* Writes the name of the channel that a budget reads beside the image, which says what matters. `asked` is as
 * above. */
int emphasis_layout(struct tool *tool, const struct tvlm_budget_params *budget, bool asked, char *layout,
                    size_t size);

#endif
