/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c: a module's memory in a browser, which grows up to the maximum that the module was linked with.
 */
#include "platform/memory.h"

#include <emscripten/heap.h>
#include <malloc.h>

uint64_t tvlm_host_room(void) {
    /* What it has grown to and malloc has not handed out, and what it may still grow by. */
    const uint64_t unused = (uint64_t)mallinfo().fordblks;
    return unused + emscripten_get_heap_max() - emscripten_get_heap_size();
}

void tvlm_memory_return(void) {} /* It never shrinks. */

uint64_t tvlm_host_memory(void) {
    return emscripten_get_heap_max();
}
