/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h: the host's memory, and how much of it there is for this process.
 */
#ifndef TVLM_PLATFORM_MEMORY_H
#define TVLM_PLATFORM_MEMORY_H

#include <stdint.h>

/*
 * Returns how many more bytes this process can take. That is the least of:
 *
 *   - what its limits leave (RLIMIT_AS and RLIMIT_DATA; on Windows those of its job, and its address space; in a browser those of the
 *     module);
 *   - what the limits of its control groups leave, on Linux;
 *   - the host's memory that is free or can be made free.
 *
 * Returns UINT64_MAX where none of them can be found out.
 */
uint64_t tvlm_host_room(void);

/* Makes blocks of more than 16 MiB that are freed from now on go back to the system. Left alone, glibc keeps those of up to 32 MiB,
 * and 64 MiB for each thread. Smaller ones stay: they hold what is decoded at a fraction, and for the next image the system would
 * have to clear their pages again, which took a sixth of the time of a batch. */
void tvlm_memory_return(void);

/* Returns the bytes of the host's memory, or, where they cannot be found out, the most that can be addressed. */
uint64_t tvlm_host_memory(void);

/*
 * On POSIX systems alone. Returns how many more bytes the limits of control groups of either version leave. It looks at the process's
 * own groups and at all groups that contain them. `list` is a file in the form of /proc/self/cgroup, and
 * `root` is the folder where the groups are mounted. A file that is missing, or that holds no number, limits
 * nothing.
 */
uint64_t tvlm_groups_room(const char *list, const char *root);

#endif
