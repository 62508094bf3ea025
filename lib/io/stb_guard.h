/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stb_guard.h: keeps stb_image and stb_image_write from crashing, aborting or leaking.
 *
 * Both use some memory without checking whether they got it, and they assert() conditions that a damaged file
 * may break. The guard knows every block that they hold. So a failed allocation or assertion can leave them
 * by longjmp, and no memory is lost:
 *
 *     tvlm_io_guard_begin(guard, SIZE_MAX);
 *     if (setjmp(guard->escape) == 0)
 *         call->result = stbi_...();
 *     else
 *         call->result = NULL;
 *     call->block = tvlm_io_guard_end(guard, call->result);
 *
 * The guard and the results must belong to the caller of the function that does this: after a longjmp, the
 * function's own local variables cannot be relied on. stb passes no context to its allocator, so that a
 * thread-local pointer says which guard is in force.
 */
#ifndef TVLM_IO_STB_GUARD_H
#define TVLM_IO_STB_GUARD_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct tvlm_io_guard {
    jmp_buf escape;
    struct tvlm_io_guard_block *blocks; /* all blocks that stb holds */
    size_t largest;                     /* the most bytes that a block may have */
    bool out_of_memory;                 /* stb was left because there was no memory */
    bool too_large;                     /* stb was left because it asked for a larger block */
} tvlm_io_guard;

/* Puts the guard in force on this thread. stb gets no block of more than `largest` bytes. */
void tvlm_io_guard_begin(tvlm_io_guard *guard, size_t largest);

/*
 * Releases every block except the one of `result`, and returns the pointer by which free() releases that one.
 * If `result` is NULL, it releases all blocks and returns NULL.
 */
void *tvlm_io_guard_end(tvlm_io_guard *guard, void *result);

/*
 * stb is compiled with these functions. Memory is zeroed, so that pixels that a damaged file leaves out are
 * black, and not whatever was in memory before.
 */
void *tvlm_io_guard_malloc(size_t size);
void *tvlm_io_guard_realloc(void *memory, size_t size);
void tvlm_io_guard_free(void *memory);
void tvlm_io_guard_assert(bool truth);

#endif
