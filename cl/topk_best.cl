/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topk_best.cl: finds the k largest of n scores as topk.cl does, on CPUs. A work-item goes over a long span
 * of scores alone, and keeps the best k of it. Where one span holds all scores, the host launches it once.
 * Otherwise it launches it twice: for spans of the scores, and then for one span of the keys that these kept.
 * Before that topk_bound looks at a sample of the scores, since a span that knows nothing of the others keeps
 * its own best k, of which most are not among the best of all.
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
INLINED void quickselect(local ulong *keys, int n, int k) {
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
 * The most that a score may be, as ORDERED has it, for its key not to come before `limit` if it stands at place i
 * or later. Of the limit's own score that depends on the place: a key's lower half is one. Where the place is before
 * the limit's it is less than that score; then -0, which ORDERED makes -1 of, counts as 0 does.
 */
HELPER int skipped_at(ulong limit, int i) {
    const int ordered = ordered_of(limit);
    return (uint)limit <= (uint)i ? ordered : ordered - (ordered == 0 ? 2 : 1);
}

/*
 * Gathers the best k of the scores, or of the keys, from `start` on, of those whose keys come before `limit`. They
 * are in the pool's first places, in any order. Returns how many there are, which is at most k.
 */
INLINED int gather(global const float *restrict scores, global const ulong *restrict keys, const bool first,
                   const int start, const int end, const int k, ulong limit, local ulong *pool) {
    int held = 0;
    for (int i = start; i < end;) {
        /* Without a limit everything is gathered. */
        if (first && limit != NO_KEY && i + 16 <= end && none_above(scores, i, skipped_at(limit, i))) {
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
    return min(held, k);
}

/* Where a sample has this place of `count` places, which are spread over n scores. It is somewhere else in
 * each step, by the golden ratio, so that no column of a map of scores is all that is seen. */
HELPER int place_of_sample(int i, int n, int count) {
    const uint step = n / count;
    return i * (int)step + (int)mul_hi((uint)i * 2654435769u, step);
}

/*
 * Finds a key before which at least k of n scores' keys should be, so that others need no look: the one at place
 * `rank`, from 1, among the keys of a sample of `count` scores. bound[0] becomes the number after it, or NO_KEY
 * where it is a NaN's. rank < count <= min(n, TOPK_CHUNK). One work-item runs.
 */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void topk_bound(global const float *restrict scores,
                                                                      const int n, const int count,
                                                                      const int rank,
                                                                      global ulong *restrict bound) {
    local ulong pool[TOPK_CHUNK];
    for (int i = 0; i < count; ++i) {
        const int at = place_of_sample(i, n, count);
        pool[i] = key_of(scores[at], at);
    }
    quickselect(pool, count, rank);
    const ulong key = pool[rank - 1];
    bound[0] = key >> 32 == 0xffffffff ? NO_KEY : key + 1;
}

/*
 * Keeps the best k of each span of n scores (`first`), or of n keys. Where there is one group it writes the
 * result, sorted. Otherwise it writes keys in any order from out[group * k] on, with NO_KEY behind them where
 * a span has fewer than k. k is at most TOPK_CHUNK / 2.
 *
 * With `bounded`, spans of scores keep no key from bound[0] on (topk_bound). Where the group that is given the
 * keys finds fewer than k, the bound was too near to the best, and it goes over all `total` scores itself.
 */
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
topk_best(global const float *restrict scores, global const ulong *restrict keys, const int first,
          const int n, const int span, const int k, const int total, const int bounded,
          global const ulong *restrict bound, global ulong *restrict out, global int2 *restrict result) {
    local ulong pool[TOPK_CHUNK];
    const int start = get_group_id(0) * span, end = min(start + span, n);
    int held = gather(scores, keys, first, start, end, k, first && bounded ? bound[0] : NO_KEY, pool);
    if (!first && held < k) held = gather(scores, keys, true, 0, total, k, NO_KEY, pool);
    if (get_num_groups(0) == 1) sort(pool, held);
    for (int i = 0; i < k; ++i) {
        const ulong key = i < held ? pool[i] : NO_KEY;
        if (get_num_groups(0) == 1)
            write_result(result, scores, i, key);
        else
            out[get_group_id(0) * k + i] = key;
    }
}
