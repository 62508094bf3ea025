/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topk.cl: finds the k largest of n scores, best first. Of equal scores the lower index comes first, and NaN
 * comes last. The result is pairs (index, bits of the score).
 *
 * All methods compare keys (topk.clh), and so find the same. The host picks one by n and k
 * (lib/opencl/topk.c); on CPUs it is mostly that of topk_best.cl.
 *
 *   - topk_chunk sorts TOPK_CHUNK keys in local memory with a bitonic network (Batcher 1968) and keeps the
 *     best k. The host repeats it on the keys that were kept, until one chunk is left. k must be at most half
 *     a chunk.
 *   - topk_pad, topk_sort, topk_exchange, topk_merge and topk_result run the same network over global memory,
 *     for larger k.
 *   - topk_count, topk_pick and topk_keep are for large n: they find the k-th key digit by digit from the top
 *     (radix select), and keep only the k keys up to it, which one of the other methods then sorts.
 *   - topk_rank counts how many keys come before each key, which is the key's place. It is for small n on
 *     devices with many cores, since it compares every pair. score_rank of score.cl does the same as it makes
 *     scores.
 *
 * For the radix select on CPUs a group is one work-item, which loops over a long part of the list.
 */
#include "rank.clh"

#ifndef TOPK_CHUNK
#define TOPK_CHUNK 2048
#endif

/* Compares and exchanges pair `i` of the TOPK_CHUNK / 2 pairs of keys that lie `j` apart. */
HELPER void exchange(local ulong *keys, int i, int j, bool up) {
    const int a = 2 * i - (i & (j - 1)), b = a + j;
    const ulong x = keys[a], y = keys[b];
    if ((x > y) == up) {
        keys[a] = y;
        keys[b] = x;
    }
}

/* Takes steps j, j / 2, .. 1 of merging a chunk into runs of `run` keys that go up and down in turn. `base`
 * is the index of the chunk's first key among all. */
HELPER void merge_chunk(local ulong *keys, uint base, uint run, int j) {
    for (; j > 0; j >>= 1) {
        for (int i = get_local_id(0); i < TOPK_CHUNK / 2; i += TOPK_GROUP) {
            const uint at = base + 2 * i - (i & (j - 1));
            exchange(keys, i, j, (at & run) == 0);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

/* Sorts a chunk: upwards, or downwards where bit TOPK_CHUNK of `base` is set. */
HELPER void sort_chunk(local ulong *keys, uint base) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint run = 2; run <= TOPK_CHUNK; run <<= 1) merge_chunk(keys, base, run, (int)(run >> 1));
}

/*
 * Fills keys[i] for i < padded. From n on they become NO_KEY. Before that they become the keys of the scores
 * if `first` is set, and otherwise stay as they are. Work-item i makes one key.
 */
kernel void topk_pad(global const float *restrict scores, const int first, const int n,
                     global ulong *restrict keys, const int padded) {
    const int i = get_global_id(0);
    if (i >= padded) return;
    if (i >= n)
        keys[i] = NO_KEY;
    else if (first)
        keys[i] = key_of(scores[i], i);
}

/*
 * Writes the best `keep` keys of each chunk of n to out[chunk * keep] and up. Where there is only one chunk
 * it writes the result instead. The keys are those of the scores if `first` is set, else `keys`. A work-group
 * makes one chunk.
 */
kernel __attribute__((reqd_work_group_size(TOPK_GROUP, 1, 1))) void
topk_chunk(global const float *restrict scores, global const ulong *restrict keys, const int first,
           const int n, const int keep, global ulong *restrict out, global int2 *restrict result) {
    local ulong chunk[TOPK_CHUNK];
    const int start = get_group_id(0) * TOPK_CHUNK;
    for (int i = get_local_id(0); i < TOPK_CHUNK; i += TOPK_GROUP) {
        const int at = start + i;
        chunk[i] = at >= n ? NO_KEY : first ? key_of(scores[at], at) : keys[at];
    }
    sort_chunk(chunk, 0);
    for (int i = get_local_id(0); i < keep; i += TOPK_GROUP) {
        if (get_num_groups(0) == 1)
            write_result(result, scores, i, chunk[i]);
        else
            out[get_group_id(0) * keep + i] = chunk[i];
    }
}

/* Sorts each chunk of `keys`, up and down in turn. There is a power of two of chunks, one for each
 * work-group. */
kernel __attribute__((reqd_work_group_size(TOPK_GROUP, 1, 1))) void topk_sort(global ulong *restrict keys) {
    local ulong chunk[TOPK_CHUNK];
    const uint base = get_group_id(0) * TOPK_CHUNK;
    for (int i = get_local_id(0); i < TOPK_CHUNK; i += TOPK_GROUP) chunk[i] = keys[base + i];
    sort_chunk(chunk, base);
    for (int i = get_local_id(0); i < TOPK_CHUNK; i += TOPK_GROUP) keys[base + i] = chunk[i];
}

/* Takes one step of merging into runs of `run` keys in global memory, for j >= TOPK_CHUNK. Work-item i
 * compares and exchanges one pair of keys j apart. */
kernel void topk_exchange(global ulong *restrict keys, const uint run, const uint j) {
    const uint i = get_global_id(0);
    const uint a = 2 * i - (i & (j - 1)), b = a + j;
    const ulong x = keys[a], y = keys[b];
    if ((x > y) == ((a & run) == 0)) {
        keys[a] = y;
        keys[b] = x;
    }
}

/* Takes the steps of merging into runs of `run` keys that stay within a chunk. A work-group makes one
 * chunk. */
kernel __attribute__((reqd_work_group_size(TOPK_GROUP, 1, 1))) void topk_merge(global ulong *restrict keys,
                                                                               const uint run) {
    local ulong chunk[TOPK_CHUNK];
    const uint base = get_group_id(0) * TOPK_CHUNK;
    for (int i = get_local_id(0); i < TOPK_CHUNK; i += TOPK_GROUP) chunk[i] = keys[base + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    merge_chunk(chunk, base, run, TOPK_CHUNK / 2);
    for (int i = get_local_id(0); i < TOPK_CHUNK; i += TOPK_GROUP) keys[base + i] = chunk[i];
}

/* Writes the first k of sorted keys as the result. Work-item i writes one. */
kernel void topk_result(global const ulong *restrict keys, global const float *restrict scores, const int k,
                        global int2 *restrict result) {
    const int i = get_global_id(0);
    if (i < k) write_result(result, scores, i, keys[i]);
}

/* Counts the keys before each key. Keys that have fewer than k keys before them are written to the result. */
kernel __attribute__((reqd_work_group_size(TOPK_GROUP, 1, 1))) void
topk_rank(global const float *restrict scores, const int n, const int k, global int2 *restrict result) {
    local ulong keys[RANK_SPAN];
    local int before[RANK_KEYS];
    const int index = RANK_INDEX;
    const float score = index < n ? scores[index] : 0.0f;
    const ulong key = key_of(score, index);
#define SCORE(i) scores[i]
    RANK(key, n, SCORE, keys, before);
#undef SCORE
    if (RANK_LANE == 0 && index < n && before[RANK_SLOT] < k)
        result[before[RANK_SLOT]] = (int2)(index, as_int(score));
}

/* While digits are counted, a work-group of SELECT_GROUP work-items goes over SELECT_SPAN keys. */
#ifndef SELECT_GROUP
#define SELECT_GROUP 256
#define SELECT_SPAN  8192
#endif
#define DIGIT_BITS 11
#define DIGITS     (1 << DIGIT_BITS)

/* A group of one work-item needs no atomics in local memory. */
#if SELECT_GROUP == 1
#define COUNT_UP(place) ++(place)
#else
#define COUNT_UP(place) atomic_inc(&(place))
#endif

/* What is known of the k-th key. */
typedef struct select_state {
    /* Its digits so far, from the top. */
    ulong prefix;
    /* Its place among the keys that begin with that prefix, from 1. */
    uint remaining;
    /* How many keys topk_keep has written. */
    uint kept;
} select_state;

/* A key whose index has only `index_bits` bits, so that there are fewer digits. */
HELPER ulong short_key(float score, int index, int index_bits) {
    const ulong key = key_of(score, index);
    return (key >> 32 << index_bits) | (uint)index;
}

/*
 * Adds up histogram[digit] of the keys that begin with the prefix. The digit is `bits` wide and stands above
 * `shift` further bits. A group counts in local memory first.
 */
kernel __attribute__((reqd_work_group_size(SELECT_GROUP, 1, 1))) void
topk_count(global const float *restrict scores, const int n, const int index_bits, const int shift,
           const int bits, global const select_state *restrict state, global uint *restrict histogram) {
    local uint counts[DIGITS];
    const int lane = get_local_id(0), start = get_group_id(0) * SELECT_SPAN,
              end = min(start + SELECT_SPAN, n);
    for (int digit = lane; digit < DIGITS; digit += SELECT_GROUP) counts[digit] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong prefix = state->prefix;
    const uint mask = (1u << bits) - 1u;
    for (int i = start + lane; i < end; i += SELECT_GROUP) {
        const ulong key = short_key(scores[i], i, index_bits) >> shift;
        if (key >> bits == prefix) COUNT_UP(counts[(uint)key & mask]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int digit = lane; digit < DIGITS; digit += SELECT_GROUP)
        if (counts[digit] != 0) atomic_add(&histogram[digit], counts[digit]);
}

/*
 * Finds the digit of the k-th key, appends it to the prefix, and clears the histogram for the next digit. One
 * work-group runs: its work-items sum shares of the histogram, and the first one walks over shares and then
 * over digits.
 */
kernel __attribute__((reqd_work_group_size(TOPK_GROUP, 1, 1))) void
topk_pick(const int bits, global select_state *restrict state, global uint *restrict histogram) {
    local uint sums[TOPK_GROUP];
    const int lane = get_local_id(0), share = DIGITS / TOPK_GROUP;
    uint sum = 0;
    for (int i = 0; i < share; ++i) sum += histogram[lane * share + i];
    sums[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0) {
        uint remaining = state->remaining;
        int digit = 0;
        for (; sums[digit / share] < remaining; digit += share) remaining -= sums[digit / share];
        for (; histogram[digit] < remaining; ++digit) remaining -= histogram[digit];
        state->prefix = (state->prefix << bits) | (uint)digit;
        state->remaining = remaining;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (int i = 0; i < share; ++i) histogram[lane * share + i] = 0;
}

/* Writes the keys up to the k-th, which are exactly k, in any order. */
kernel __attribute__((reqd_work_group_size(SELECT_GROUP, 1, 1))) void
topk_keep(global const float *restrict scores, const int n, const int index_bits,
          global select_state *restrict state, global ulong *restrict keys) {
    const int lane = get_local_id(0), start = get_group_id(0) * SELECT_SPAN,
              end = min(start + SELECT_SPAN, n);
    const ulong last = state->prefix;
    for (int i = start + lane; i < end; i += SELECT_GROUP)
        if (short_key(scores[i], i, index_bits) <= last)
            keys[atomic_inc(&state->kept)] = key_of(scores[i], i);
}
