/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stb_guard.h: keeps stb_image and stb_image_write from crashing, aborting or leaking.
 *
 * Both use some memory without looking whether they got it, and assert() what a damaged file may break. Here
 * every block they hold is known, so that a failed allocation or assertion leaves them by longjmp and nothing
 * is lost:
 *
 *     tvlm_io_guard_begin(guard);
 *     if (setjmp(guard->escape) == 0)
 *         call->result = stbi_...();
 *     else
 *         call->result = NULL;
 *     call->block = tvlm_io_guard_end(guard, call->result);
 *
 * The guard and the results belong to the caller of the function that does this: after a longjmp its own
 * locals could not be relied on. stb passes no context to its allocator, so a thread-local pointer says which
 * guard is in force.
 */
#ifndef TVLM_IO_STB_GUARD_H
#define TVLM_IO_STB_GUARD_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct tvlm_io_guard {
    jmp_buf escape;
    struct tvlm_io_guard_block *blocks; /* all that stb holds */
    bool out_of_memory;                 /* why it was left, if it was */
} tvlm_io_guard;

void tvlm_io_guard_begin(tvlm_io_guard *guard);

/*
 * Releases every block but the one of `result` (NULL: all), and returns what free() takes for that one.
 * Memory from stb is zeroed, so that pixels that a damaged file leaves out are black and not whatever was
 * there.
 */
void *tvlm_io_guard_end(tvlm_io_guard *guard, void *result);

/* What stb is compiled with. */
void *tvlm_io_guard_malloc(size_t size);
void *tvlm_io_guard_realloc(void *memory, size_t size);
void tvlm_io_guard_free(void *memory);
void tvlm_io_guard_assert(bool truth);

#endif
