/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c: what limits the memory of this process: what is there, and the job that it may be in.
 */
#include "platform/memory.h"

#include <windows.h>

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* What a job that limits its processes leaves this one. How much the process has is told by the same call that tells how much it
 * had at most: what it gave back is not counted as left. */
static uint64_t job_room(void) {
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION job;
    if (!QueryInformationJobObject(NULL, JobObjectExtendedLimitInformation, &job, sizeof job, NULL))
        return UINT64_MAX;
    uint64_t room = UINT64_MAX;
    if ((job.BasicLimitInformation.LimitFlags & JOB_OBJECT_LIMIT_PROCESS_MEMORY) != 0)
        room = job.ProcessMemoryLimit > job.PeakProcessMemoryUsed
                   ? job.ProcessMemoryLimit - job.PeakProcessMemoryUsed
                   : 0;
    if ((job.BasicLimitInformation.LimitFlags & JOB_OBJECT_LIMIT_JOB_MEMORY) != 0)
        room = least(room, job.JobMemoryLimit > job.PeakJobMemoryUsed
                               ? job.JobMemoryLimit - job.PeakJobMemoryUsed
                               : 0);
    return room;
}

void tvlm_memory_return(void) {} /* Windows takes large blocks back by itself */

uint64_t tvlm_host_memory(void) {
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    return GlobalMemoryStatusEx(&status) ? status.ullTotalPhys : PTRDIFF_MAX;
}

uint64_t tvlm_host_room(void) {
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    if (!GlobalMemoryStatusEx(&status)) return job_room();
    return least(least(status.ullAvailPhys, status.ullAvailPageFile),
                 least(status.ullAvailVirtual, job_room()));
}
