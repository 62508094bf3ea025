/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/pick.h: choosing from a ranking where not simply the best are wanted: those that are far enough from
 * each other, or that differ.
 */
#ifndef TVLM_SELECT_PICK_H
#define TVLM_SELECT_PICK_H

#include "select/likeness.h"

/*
 * Moves what is chosen to the front of the ranking, in the order in which it is chosen: *kept of it, at most
 * k. `distance` and `diversity`, 0 where they do not count, are min_distance and diversity of
 * texturevlm/select.h.
 */
tvlm_status tvlm_pick(const tvlm_pick_from *from, int32_t k, float distance, float diversity, int32_t *kept);

#endif
