/* SPDX-License-Identifier: Apache-2.0 */
#include "select/heap.h"

static bool before(const tvlm_heap *heap, int32_t a, int32_t b) {
    return heap->before(heap->user, a, b);
}

static void sink(tvlm_heap *heap, int32_t at) {
    int32_t *const items = heap->items;
    const int32_t item = items[at];
    for (int32_t child = 2 * at + 1; child < heap->count; child = 2 * at + 1) {
        if (child + 1 < heap->count && before(heap, items[child + 1], items[child])) ++child;
        if (!before(heap, items[child], item)) break;
        items[at] = items[child];
        at = child;
    }
    items[at] = item;
}

void tvlm_heap_order_all(tvlm_heap *heap) {
    for (int32_t at = heap->count / 2; at-- > 0;) sink(heap, at);
}

void tvlm_heap_push(tvlm_heap *heap, int32_t item) {
    int32_t *const items = heap->items, at = heap->count++;
    for (; at > 0 && before(heap, item, items[(at - 1) / 2]); at = (at - 1) / 2)
        items[at] = items[(at - 1) / 2];
    items[at] = item;
}

int32_t tvlm_heap_pop(tvlm_heap *heap) {
    const int32_t top = heap->items[0];
    heap->items[0] = heap->items[--heap->count];
    if (heap->count > 0) sink(heap, 0);
    return top;
}

void tvlm_heap_sink_top(tvlm_heap *heap) {
    sink(heap, 0);
}
