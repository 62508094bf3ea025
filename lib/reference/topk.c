/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topk.c: the k largest of n scores, by sorting all that may be among them.
 */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/memory.h"
#include "reference/reference.h"

/* An entry lies in memory as the pair (index, bits of the score) that a result is made of. */
typedef struct entry {
    int32_t index;
    float score;
} entry;
_Static_assert(sizeof(entry) == 2 * sizeof(int32_t), "an entry is a pair of 32-bit words");

/* Orders entries best first. NaN comes after everything else, and equal scores (0 and -0 too) go by their
 * index. */
static int compare(const void *left, const void *right) {
    const entry *a = left, *b = right;
    const int nan_a = isnan(a->score), nan_b = isnan(b->score);
    if (nan_a != nan_b) return nan_a - nan_b;
    if (!nan_a && a->score != b->score) return a->score > b->score ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void sort(entry *entries, int32_t count) {
    qsort(entries, (size_t)count, sizeof *entries, compare);
}

/* How many entries are sorted at a time: k that are kept and as many new ones, but no fewer than SORTED, since
 * calls cost something. Where that would hardly leave any out, it is all of them at once. */
enum { SORTED = 64 };
static int32_t room_for(int32_t n, int32_t k) {
    const int32_t more = k > SORTED ? k : SORTED;
    return n / 4 < more ? n : k + more;
}

/* Gathers entries, and sorts them where there is no room for more. Then the first k are kept, and a score that
 * comes after the last of these is left out from then on. */
tvlm_status tvlm_reference_topk(tvlm_device *device, tvlm_buffer *scores, int32_t n, int32_t k,
                                tvlm_buffer *result) {
    const float *values = reference_data(scores);
    const int32_t room = room_for(n, k);
    entry *entries = tvlm_allocate((size_t)room, sizeof *entries);
    int32_t held = 0;
    bool full = false;
    if (entries == NULL)
        return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "reference: no memory to sort %d of %d scores",
                         room, n);
    for (int32_t i = 0; i < n; ++i) {
        const entry next = {i, values[i]};
        if (full && compare(&entries[k - 1], &next) < 0) continue;
        entries[held++] = next;
        if (held < room) continue;
        sort(entries, held);
        held = k;
        full = true;
    }
    if (!full || held > k) sort(entries, held);
    memcpy(reference_data(result), entries, (size_t)k * sizeof *entries);
    free(entries);
    return TVLM_OK;
}
