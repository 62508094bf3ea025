/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_add.c: the function by which every file of the benchmark adds its stages to the list.
 */
#include "bench_stages.h"

#include <stdio.h>

void bench_add(bench_stage *stages, int32_t *count, const char *name, const char *suffix,
               tvlm_status (*run)(struct bench *, int32_t), int32_t argument, double bytes) {
    bench_stage *const stage = &stages[*count];
    if (*count == BENCH_STAGES_MAX) return;
    snprintf(stage->name, sizeof stage->name, "%s%s", name, suffix);
    stage->run = run;
    stage->argument = argument;
    stage->bytes = bytes;
    ++*count;
}
