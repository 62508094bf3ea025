/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topk_best.cl: finds the k largest of n scores as topk.cl does, on CPUs. A work-item goes over a long span
 * of scores alone, and keeps the best k of it. Where one span holds all scores, the host launches it once.
 * Otherwise it launches it twice: for spans of the scores, and then for one span of the keys that these kept.
 *
 * A work-item gathers keys in a pool of 2 k. Where the pool is full, quickselect (Hoare 1961) brings the best
 * k to its front. From then on only scores that are better than the last of these k are gathered. Where
 * scores are in no order, soon hardly any score is better. So most of the time goes into comparing 16 scores
 * at a time with one number.
 */
// check-kernels: -DTOPK_CHUNK=2048
#include "topk.clh"

#ifndef TOPK_CHUNK
#define TOPK_CHUNK 2048
#endif

/* ORDERED is a score's bits as an integer that orders as scores do. ordered_of is the same for the score that
 * a key was made from; there -0 has become 0, and every NaN the least integer. */
#define ORDERED(bits) ((bits) ^ (((bits) >> 31) & 0x7fffffff))
HELPER int ordered_of(ulong key) {
    return as_int(~(uint)(key >> 32) ^ 0x80000000u);
}

/* Brings the smallest k of n keys to the front, the largest of them to place k - 1; 0 < k <= n. */
HELPER void quickselect(local ulong *keys, int n, int k) {
    int low = 0, high = n - 1;
    while (low < high) {
        const ulong pivot = keys[(low + high) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (keys[i] < pivot) ++i;
            while (pivot < keys[j]) --j;
            if (i > j) break;
            const ulong moved = keys[i];
            keys[i++] = keys[j];
            keys[j--] = moved;
        }
        /* Place k - 1 is in the left part, in the right part, or between them. In the last case it is
         * final. */
        if (k - 1 > j) low = i;
        if (k - 1 < i) high = j;
    }
}

/* Sorts n keys (Shell 1959, with the gaps of Ciura 2001). */
HELPER void sort(local ulong *keys, int n) {
    const int gaps[] = {701, 301, 132, 57, 23, 10, 4, 1};
    for (int g = 0; g < 8; ++g)
        for (int i = gaps[g]; i < n; ++i) {
            const ulong key = keys[i];
            int at = i;
            for (; at >= gaps[g] && keys[at - gaps[g]] > key; at -= gaps[g]) keys[at] = keys[at - gaps[g]];
            keys[at] = key;
        }
}

/* Whether the scores at i .. i + 15 are all at most `limit`, as ORDERED has them. */
HELPER bool none_above(global const float *restrict scores, int i, int limit) {
    const int16 bits = as_int16(vload16(0, scores + i));
    return !any(ORDERED(bits) > limit);
}

/*
 * Keeps the best k of each span of n scores (`first`), or of n keys. Where there is one group it writes the
 * result, sorted. Otherwise it writes keys in any order from out[group * k] on, with NO_KEY behind them where
 * a span has fewer than k. k is at most TOPK_CHUNK / 2.
 */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
topk_best(global const float *restrict scores, global const ulong *restrict keys, const int first,
          const int n, const int span, const int k, global ulong *restrict out,
          global int2 *restrict result) {
    local ulong pool[TOPK_CHUNK];
    const int start = get_group_id(0) * span, end = min(start + span, n);
    ulong limit = NO_KEY;
    int held = 0;
    for (int i = start; i < end;) {
        /* Before the first selection everything is gathered. A later score that equals the limit comes after
         * it, since its index is larger. */
        if (first && limit != NO_KEY && i + 16 <= end && none_above(scores, i, ordered_of(limit))) {
            i += 16;
            continue;
        }
        for (const int stop = min(i + 16, end); i < stop; ++i) {
            const ulong key = first ? key_of(scores[i], i) : keys[i];
            if (key >= limit) continue;
            pool[held++] = key;
            if (held < 2 * k) continue;
            quickselect(pool, held, k);
            held = k;
            limit = pool[k - 1];
        }
    }
    if (held > k) quickselect(pool, held, k);
    held = min(held, k);
    if (get_num_groups(0) == 1) sort(pool, held);
    for (int i = 0; i < k; ++i) {
        const ulong key = i < held ? pool[i] : NO_KEY;
        if (get_num_groups(0) == 1)
            write_result(result, scores, i, key);
        else
            out[get_group_id(0) * k + i] = key;
    }
}
