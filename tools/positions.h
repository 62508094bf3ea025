/* SPDX-License-Identifier: Apache-2.0 */
/*
 * positions.h: the positions of a selection as JSON.
 */
#ifndef TVLM_TOOLS_POSITIONS_H
#define TVLM_TOOLS_POSITIONS_H

#include "json.h"
#include "texturevlm/footprint.h"
#include "texturevlm/select.h"

/* "positions": [{"x", "y", "level", "score", "size", "cell": [column, row], "axes"}, ...]; `cell` only where
 * there is one; `axes` [count] or NULL; `flat`: on one line. */
void positions_write(json_writer *json, const tvlm_position *positions, int32_t count,
                     const tvlm_footprint *axes, bool flat);

/* "stages": what it cost, where the strategy counts. */
void stages_write(json_writer *json, const tvlm_selection *selection);

#endif
