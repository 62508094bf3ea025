/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counts.c: how often each function was called, and what went to the devices.
 */
#include "layer.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    atomic_long count;
    _Atomic(const char *) name;
} functions[LAYER_FUNCTIONS];

static atomic_long blocked, stalled, written_bytes, read_bytes, held;

static const char *path; /* NULL: nobody asks */

void layer_count(int number, const char *name) {
    atomic_store(&functions[number].name, name);
    atomic_fetch_add(&functions[number].count, 1);
}

void layer_count_moved(cl_bool blocking, size_t written, size_t read) {
    if (blocking == CL_TRUE) atomic_fetch_add(&blocked, 1);
    atomic_fetch_add(&written_bytes, (long)written);
    atomic_fetch_add(&read_bytes, (long)read);
}

void layer_count_stall(void) {
    atomic_fetch_add(&stalled, 1);
}

void layer_count_held(int change) {
    atomic_fetch_add(&held, change);
}

long layer_held(void) {
    return atomic_load(&held);
}

/* The calls of functions whose names begin so. */
static long calls_of(const char *begin) {
    long calls = 0;
    for (int i = 0; i < LAYER_FUNCTIONS; ++i) {
        const char *const name = functions[i].name;
        if (name != NULL && strncmp(name, begin, strlen(begin)) == 0) calls += functions[i].count;
    }
    return calls;
}

layer_commands layer_get_commands(void) {
    return (layer_commands){.kernels = calls_of("clEnqueueNDRangeKernel"),
                            .writes = calls_of("clEnqueueWrite"),
                            .reads = calls_of("clEnqueueRead"),
                            .others = calls_of("clEnqueueCopy") + calls_of("clEnqueueFill"),
                            .waits = calls_of("clFinish") + atomic_load(&blocked),
                            .stalls = atomic_load(&stalled),
                            .memory = calls_of("clCreateBuffer") + calls_of("clCreateImage"),
                            .builds = calls_of("clBuildProgram"),
                            .written = atomic_load(&written_bytes),
                            .read = atomic_load(&read_bytes)};
}

static void write_counts(void) {
    FILE *const file = fopen(path, "w");
    long calls = 0;
    if (file == NULL) return;
    for (int i = 0; i < LAYER_FUNCTIONS; ++i) {
        const char *const name = functions[i].name;
        const long count = functions[i].count;
        if (name == NULL) continue;
        fprintf(file, "%s %ld\n", name, count);
        if (strncmp(name, "clRe", 4) != 0) calls += count; /* clRetain and clRelease */
    }
    fprintf(file, "calls %ld\n", calls);
    fclose(file);
}

void layer_counts_start(void) {
    path = getenv("TVLM_LAYER_COUNTS");
    if (path != NULL && path[0] != '\0') (void)atexit(write_counts);
}
