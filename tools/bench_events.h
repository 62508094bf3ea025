/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_events.h: what a stage asks of an OpenCL device: how many commands, how often the host waits, and how long the
 * device says that the commands took.
 */
#ifndef TVLM_TOOLS_BENCH_EVENTS_H
#define TVLM_TOOLS_BENCH_EVENTS_H

#include "core/backend.h"

typedef struct bench_commands {
    int32_t kernels;
    int32_t transfers; /* copies, fills, reads and writes */
    int32_t waits;     /* for the queue or for an event, reads and writes that block included */
    double seconds;    /* from each command's start to its end, all added up; 0: the driver does not know */
} bench_commands;

/* What is known of the device besides: MHz, and the bytes of its cache; 0: not known. */
typedef struct bench_clocks {
    int32_t most, now;
    double cache_bytes;
} bench_clocks;
bench_clocks bench_clocks_of(const tvlm_device *device);

/* From here to bench_events_end the commands of the device go through a queue that takes their times, and are
 * counted. False: the device is none of OpenCL, or has no such queue. Nothing else may be in flight. */
bool bench_events_begin(tvlm_device *device);
void bench_events_end(tvlm_device *device, bench_commands *commands);

#endif
