/* SPDX-License-Identifier: Apache-2.0 */
/*
 * room.h: how much of the host's memory there is for this process.
 */
#ifndef TVLM_CORE_ROOM_H
#define TVLM_CORE_ROOM_H

#include <stdint.h>

/*
 * Returns how many bytes this process can still take: the least of what its limits (RLIMIT_AS, RLIMIT_DATA)
 * and those of its control groups leave, and of what is free or can be made free. UINT64_MAX where none of
 * them can be found out.
 */
uint64_t tvlm_host_room(void);

/*
 * The part of it that control groups leave, of either version, each group and those that it is in: `list` is a
 * file as /proc/self/cgroup, `root` the folder where they are mounted. What is missing, or is no number, limits
 * nothing.
 */
uint64_t tvlm_groups_room(const char *list, const char *root);

#endif
