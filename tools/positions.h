/* SPDX-License-Identifier: Apache-2.0 */
/*
 * positions.h: writes the positions of a selection as JSON.
 */
#ifndef TVLM_TOOLS_POSITIONS_H
#define TVLM_TOOLS_POSITIONS_H

#include "json.h"
#include "texturevlm/lab/footprint.h"
#include "texturevlm/select.h"
#include "tool.h"

/* Refuse scores that have overflowed. JSON has no numbers for such scores, and their order has no meaning. */
int positions_check(struct tool *tool, const tvlm_position *positions, int32_t count);
int scores_check(struct tool *tool, const float *scores, size_t count);

/* Writes "positions": [{"x", "y", "level", "score", "size", "height", "cell": [column, row], "axes"}, ...]. A
 * position has "height" only if it is not a square, "cell" only if it has a cell, and "axes" only if `axes`
 * [count] is not NULL. With `flat` all of it stands on one line. */
void positions_write(json_writer *json, const tvlm_position *positions, int32_t count,
                     const tvlm_footprint *axes, bool flat);

/* Writes "stages": the cost of the selection, if its strategy counts that. */
void stages_write(json_writer *json, const tvlm_selection *selection);

#endif
