/* SPDX-License-Identifier: Apache-2.0 */
#include "io/stb_guard.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct tvlm_io_guard_block {
    struct tvlm_io_guard_block *previous, *next;
    size_t size;
};

/* The size of a block's header. It is rounded up, so that what follows the header is aligned for any type. */
#define ALIGNMENT (_Alignof(max_align_t) > 16 ? _Alignof(max_align_t) : (size_t)16)
#define HEADER    ((sizeof(struct tvlm_io_guard_block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)

static _Thread_local tvlm_io_guard *in_force;

static struct tvlm_io_guard_block *block_of(void *memory) {
    return (struct tvlm_io_guard_block *)(void *)((uint8_t *)memory - HEADER);
}

static void *memory_of(struct tvlm_io_guard_block *block) {
    return (uint8_t *)block + HEADER;
}

static void link_block(struct tvlm_io_guard_block *block) {
    block->previous = NULL;
    block->next = in_force->blocks;
    if (block->next != NULL) block->next->previous = block;
    in_force->blocks = block;
}

static void unlink_block(struct tvlm_io_guard_block *block) {
    if (block->previous != NULL) block->previous->next = block->next;
    if (block->next != NULL) block->next->previous = block->previous;
    if (in_force->blocks == block) in_force->blocks = block->next;
}

static _Noreturn void leave(void) {
    longjmp(in_force->escape, 1);
}

static _Noreturn void leave_without_memory(void) {
    in_force->out_of_memory = true;
    leave();
}

static void check_size(size_t size) {
    if (size <= in_force->largest && size <= SIZE_MAX - HEADER) return;
    in_force->too_large = true;
    leave();
}

void tvlm_io_guard_begin(tvlm_io_guard *guard, size_t largest) {
    guard->blocks = NULL;
    guard->largest = largest;
    guard->out_of_memory = guard->too_large = false;
    in_force = guard;
}

void *tvlm_io_guard_end(tvlm_io_guard *guard, void *result) {
    struct tvlm_io_guard_block *kept = NULL;
    if (result != NULL) {
        kept = block_of(result);
        unlink_block(kept);
    }
    while (guard->blocks != NULL) {
        struct tvlm_io_guard_block *block = guard->blocks;
        guard->blocks = block->next;
        free(block);
    }
    in_force = NULL;
    return kept;
}

void *tvlm_io_guard_malloc(size_t size) {
    check_size(size);
    struct tvlm_io_guard_block *block = calloc(1, HEADER + size);
    if (block == NULL) leave_without_memory();
    block->size = size;
    link_block(block);
    return memory_of(block);
}

void *tvlm_io_guard_realloc(void *memory, size_t size) {
    if (memory == NULL) return tvlm_io_guard_malloc(size);
    check_size(size);
    struct tvlm_io_guard_block *old = block_of(memory);
    size_t had = old->size;
    unlink_block(old);
    struct tvlm_io_guard_block *block = realloc(old, HEADER + size);
    if (block == NULL) {
        link_block(old); /* stb still holds it; the guard's end releases it */
        leave_without_memory();
    }
    block->size = size;
    link_block(block);
    if (size > had) memset((uint8_t *)memory_of(block) + had, 0, size - had);
    return memory_of(block);
}

void tvlm_io_guard_free(void *memory) {
    if (memory == NULL) return;
    unlink_block(block_of(memory));
    free(block_of(memory));
}

void tvlm_io_guard_assert(bool truth) {
    if (!truth) leave();
}
