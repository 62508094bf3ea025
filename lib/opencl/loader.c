/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader.c: finds OpenCL's functions. Those that the program has already come first, since it may be linked
 * to OpenCL, or have a simulator preloaded. Otherwise the installed loader of drivers (libOpenCL.so.1) is
 * loaded.
 */
#define TVLM_OPENCL_OWN_NAMES /* the names are those of the table's members here */
#include "opencl/loader.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

tvlm_opencl_table tvlm_opencl_functions;

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
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; ++i) {
        void *const symbol = dlsym(library, entries[i].name);
        if (symbol == NULL && entries[i].needed) return false;
        /* ISO C has no cast from an object pointer to a function pointer. */
        memcpy((char *)table + entries[i].offset, &symbol, sizeof symbol);
    }
    return true;
}

bool tvlm_opencl_load(void) {
    static bool tried, found;
    tvlm_opencl_table table;
    if (tried) return found;
    void *library = dlopen(NULL, RTLD_LAZY);
    found = library != NULL && fill(library, &table);
    if (!found) {
        library = dlopen("libOpenCL.so.1", RTLD_LAZY | RTLD_LOCAL); /* drivers stay loaded */
        found = library != NULL && fill(library, &table);
    }
    if (found) tvlm_opencl_functions = table;
    tried = true;
    return found;
}
