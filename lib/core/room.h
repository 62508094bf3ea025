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

#endif
