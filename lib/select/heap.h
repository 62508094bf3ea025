/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.h: a binary heap of numbers (of leaves, candidates, tiles). The one that comes before all others is on
 * top. The caller decides what the numbers stand for, and so their order. Where no two are equal in that
 * order, what comes out does not depend on how they were put in.
 */
#ifndef TEXTUREVLM_SELECT_HEAP_H
#define TEXTUREVLM_SELECT_HEAP_H

#include <stdbool.h>
#include <stdint.h>

/* Says whether number a comes before number b. */
typedef bool tvlm_heap_order(const void *user, int32_t a, int32_t b);

typedef struct tvlm_heap {
    tvlm_heap_order *before;
    const void *user; /* handed to `before` */
    int32_t *items;   /* the caller's, with room for all that are pushed; items[0] is on top */
    int32_t count;
} tvlm_heap;

/* Turns the `count` items into a heap. They may be in any order before. */
void tvlm_heap_order_all(tvlm_heap *heap);

/* Puts one more into the heap. */
void tvlm_heap_push(tvlm_heap *heap, int32_t item);

/* Takes the top away and returns it. There must be one. */
int32_t tvlm_heap_pop(tvlm_heap *heap);

/* Moves the item on top to its right place, after it has come to rank lower than before. There must be
 * one. */
void tvlm_heap_sink_top(tvlm_heap *heap);

#endif
