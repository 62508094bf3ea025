/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader.c: finds OpenCL's functions. Those of the library that $TVLM_OPENCL names are taken, if it is set. Otherwise those that the
 * program has already come first, since it may be linked to OpenCL, or have a simulator preloaded; then the installed loader of
 * drivers (platform/library.h) is loaded.
 */
#define TVLM_OPENCL_OWN_NAMES /* the names are those of the table's members here */
#include "opencl/loader.h"

#include <stddef.h>
#include <stdio.h>

#include "platform/environment.h"
#include "platform/library.h"

tvlm_opencl_table tvlm_opencl_functions;
void *tvlm_opencl_library;

typedef struct entry {
    const char *name;
    size_t offset; /* of its pointer in the table */
    bool needed;
} entry;

#define NEEDED(name) {#name, offsetof(tvlm_opencl_table, name), true},
#define NEWER(name)  {#name, offsetof(tvlm_opencl_table, name), false},
static const entry entries[] = {TVLM_OPENCL_FUNCTIONS(NEEDED) TVLM_OPENCL_NEWER_FUNCTIONS(NEWER)};
#undef NEEDED
#undef NEWER

/* Fills the table from a library. False where a function that is needed is not there. */
static bool fill(void *library, tvlm_opencl_table *table) {
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; ++i)
        if (!tvlm_library_find(library, entries[i].name, (char *)table + entries[i].offset) &&
            entries[i].needed)
            return false;
    return true;
}

/* Takes the functions of a library. Libraries stay loaded, since drivers do. */
static bool take(void *library) {
    tvlm_opencl_table table;
    if (library == NULL || !fill(library, &table)) return false;
    tvlm_opencl_functions = table;
    tvlm_opencl_library = library;
    return true;
}

const char *tvlm_opencl_named(void) {
    return tvlm_variable("TVLM_OPENCL");
}

bool tvlm_opencl_load(void) {
    static bool tried, found;
    const char *const named = tvlm_opencl_named();
    if (tried) return found;
    tried = true;
    if (named != NULL) return found = take(tvlm_library_open(named));
    found = take(tvlm_library_of_program());
    for (const char *const *name = tvlm_library_opencl; !found && *name != NULL; ++name)
        found = take(tvlm_library_open(*name));
    return found;
}
