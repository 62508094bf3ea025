/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_events.h: measures what a stage asks of an OpenCL device: how many commands, how often the host
 * waits, and how long the commands took by the device's own clock.
 */
#ifndef TVLM_TOOLS_BENCH_EVENTS_H
#define TVLM_TOOLS_BENCH_EVENTS_H

#include "core/backend.h"

typedef struct bench_commands {
    int32_t kernels;
    int32_t transfers; /* copies, fills, reads and writes */
    int32_t waits;     /* waits for the queue or an event, including reads and writes that block */
    double seconds;    /* from each command's start to its end, all added up; 0: the driver does not know */
} bench_commands;

/* Further numbers about the device: its clocks in MHz, and the bytes of its cache. 0: not known. */
typedef struct bench_clocks {
    int32_t most, now;
    double cache_bytes;
} bench_clocks;
bench_clocks bench_clocks_of(const tvlm_device *device);

/* From here to bench_events_end the commands of the device are counted, and go through a queue that takes
 * their times. Nothing else may be in flight. Returns false if the device is not one of OpenCL, or has no
 * such queue. */
bool bench_events_begin(tvlm_device *device);
void bench_events_end(tvlm_device *device, bench_commands *commands);

#endif
