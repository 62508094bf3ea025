/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topk.c: the k largest of n scores, by sorting all of them.
 */
#include <math.h>
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

tvlm_status tvlm_reference_topk(tvlm_device *device, tvlm_buffer *scores, int32_t n, int32_t k,
                                tvlm_buffer *result) {
    const float *values = reference_data(scores);
    entry *entries = tvlm_allocate((size_t)n, sizeof *entries);
    if (entries == NULL)
        return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "reference: no memory to sort %d scores", n);
    for (int32_t i = 0; i < n; ++i) entries[i] = (entry){i, values[i]};
    qsort(entries, (size_t)n, sizeof *entries, compare);
    memcpy(reference_data(result), entries, (size_t)k * sizeof *entries);
    free(entries);
    return TVLM_OK;
}
