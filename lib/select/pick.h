/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/pick.h: choosing from a ranking where not simply the best candidates are wanted, but such as are far
 * enough from each other, or differ.
 */
#ifndef TVLM_SELECT_PICK_H
#define TVLM_SELECT_PICK_H

#include "select/likeness.h"

/*
 * Moves the chosen candidates to the front of the ranking, in the order in which they are chosen. *kept says
 * how many they are, at most k. `distance` and `diversity` are min_distance and diversity of
 * texturevlm/select.h; at 0 they do not count.
 */
tvlm_status tvlm_pick(const tvlm_pick_from *from, int32_t k, float distance, float diversity, int32_t *kept);

#endif
