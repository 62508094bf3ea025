/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counts.c: how often each function was called.
 */
#include "layer.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTIONS = 128 };

static struct {
    atomic_long count;
    _Atomic(const char *) name;
} functions[FUNCTIONS];

static const char *path; /* NULL: nobody asks */

void layer_count(int which, const char *name) {
    atomic_store(&functions[which].name, name);
    atomic_fetch_add(&functions[which].count, 1);
}

static void write_counts(void) {
    FILE *const file = fopen(path, "w");
    long calls = 0;
    if (file == NULL) return;
    for (int i = 0; i < FUNCTIONS; ++i) {
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
