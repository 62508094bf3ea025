/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topk.cl: the k largest of n scores, best first; ties by lower index, NaN last.
 *
 * A key is one 64-bit integer, smaller is better: the score's bits turned so that they order downwards, then
 * the index. So no two keys are equal and any sorting method gives the same, stable order. topk_chunk:  a
 * work-group sorts TOPK_CHUNK keys bitonically (Batcher 1968) in local memory and keeps the best; repeated on
 * what is kept until one chunk remains. For k up to half a chunk. topk_pad, topk_sort, topk_exchange,
 * topk_merge: the same network over global memory, for larger k. topk_count, topk_pick, topk_keep: where n is
 * large, the k-th key first, digit by digit from the top (radix select), then only the k keys up to it, which
 * one of the others sorts. topk_rank:   each key's place is the number of keys before it; no sort and no
 * barriers to speak of. For small n on devices with many cores.
 */
#ifndef TOPK_GROUP
#define TOPK_GROUP 256
#endif
#ifndef TOPK_CHUNK
#define TOPK_CHUNK 2048
#endif

#define NO_KEY ULONG_MAX /* after every key */

inline ulong key_of(float score, int index) {
    const uint bits = score == 0.0f ? 0u : as_uint(score); /* -0 and 0 tie */
    const uint down = isnan(score) ? 0xffffffffu : (bits & 0x80000000u) ? bits : ~(bits | 0x80000000u);
    return ((ulong)down << 32) | (uint)index;
}

/* The j-th step of merging runs of k: compares the pair that work `i` of TOPK_CHUNK / 2 owns. */
inline void exchange(local ulong *keys, int i, int j, bool up) {
    const int a = 2 * i - (i & (j - 1)), b = a + j;
    const ulong x = keys[a], y = keys[b];
    if ((x > y) == up) {
        keys[a] = y;
        keys[b] = x;
    }
}

/* Steps j, j/2, .. 1 of merging runs of `run` keys; the chunk's first key has index `base` of all. */
inline void merge_chunk(local ulong *keys, uint base, uint run, int j) {
    for (; j > 0; j >>= 1) {
        for (int i = get_local_id(0); i < TOPK_CHUNK / 2; i += TOPK_GROUP) {
            const uint at = base + 2 * i - (i & (j - 1));
            exchange(keys, i, j, (at & run) == 0);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

inline void sort_chunk(local ulong *keys, uint base) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint run = 2; run <= TOPK_CHUNK; run <<= 1) merge_chunk(keys, base, run, (int)(run >> 1));
}

inline void write_result(global int2 *restrict result, global const float *restrict scores, int place,
                         ulong key) {
    const int index = (int)(key & 0xffffffffu);
    result[place] = (int2)(index, as_int(scores[index]));
}

/* keys[i] for i < padded: the scores' where `first`, else those that are there; NO_KEY from n on. */
kernel void topk_pad(global const float *restrict scores, const int first, const int n,
                     global ulong *restrict keys, const int padded) {
    const int i = get_global_id(0);
    if (i >= padded) return;
    if (i >= n)
        keys[i] = NO_KEY;
    else if (first)
        keys[i] = key_of(scores[i], i);
}

/* The best `keep` of each chunk of the n keys to out[chunk * keep ..]. The only chunk writes the result
 * instead. */
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

/* Sorts each chunk of `keys` (a power of two of chunks), up and down in turn. */
kernel __attribute__((reqd_work_group_size(TOPK_GROUP, 1, 1))) void topk_sort(global ulong *restrict keys) {
    local ulong chunk[TOPK_CHUNK];
    const uint base = get_group_id(0) * TOPK_CHUNK;
    for (int i = get_local_id(0); i < TOPK_CHUNK; i += TOPK_GROUP) chunk[i] = keys[base + i];
    sort_chunk(chunk, base);
    for (int i = get_local_id(0); i < TOPK_CHUNK; i += TOPK_GROUP) keys[base + i] = chunk[i];
}

/* One step over global memory: pairs j apart, j >= TOPK_CHUNK. */
kernel void topk_exchange(global ulong *restrict keys, const uint run, const uint j) {
    const uint i = get_global_id(0);
    const uint a = 2 * i - (i & (j - 1)), b = a + j;
    const ulong x = keys[a], y = keys[b];
    if ((x > y) == ((a & run) == 0)) {
        keys[a] = y;
        keys[b] = x;
    }
}

/* The steps of merging runs of `run` that stay within a chunk. */
kernel __attribute__((reqd_work_group_size(TOPK_GROUP, 1, 1))) void topk_merge(global ulong *restrict keys,
                                                                               const uint run) {
    local ulong chunk[TOPK_CHUNK];
    const uint base = get_group_id(0) * TOPK_CHUNK;
    for (int i = get_local_id(0); i < TOPK_CHUNK; i += TOPK_GROUP) chunk[i] = keys[base + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    merge_chunk(chunk, base, run, TOPK_CHUNK / 2);
    for (int i = get_local_id(0); i < TOPK_CHUNK; i += TOPK_GROUP) keys[base + i] = chunk[i];
}

kernel void topk_result(global const ulong *restrict keys, global const float *restrict scores, const int k,
                        global int2 *restrict result) {
    const int i = get_global_id(0);
    if (i < k) write_result(result, scores, i, keys[i]);
}

#define RANK_LANES 16 /* work-items that share the counting for one key */
#define RANK_KEYS  (TOPK_GROUP / RANK_LANES)

kernel __attribute__((reqd_work_group_size(TOPK_GROUP, 1, 1))) void
topk_rank(global const float *restrict scores, const int n, const int k, global int2 *restrict result) {
    local int before[RANK_KEYS];
    const int lane = get_local_id(0) % RANK_LANES, slot = get_local_id(0) / RANK_LANES;
    const int index = get_group_id(0) * RANK_KEYS + slot;
    if (lane == 0) before[slot] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (index < n) {
        const ulong key = key_of(scores[index], index);
        int count = 0;
        for (int i = lane; i < n; i += RANK_LANES) count += key_of(scores[i], i) < key;
        atomic_add(&before[slot], count);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0 && index < n && before[slot] < k)
        result[before[slot]] = (int2)(index, as_int(scores[index]));
}

/* A work-group's share of the list while digits are counted: SELECT_GROUP work-items, SELECT_SPAN keys. */
#ifndef SELECT_GROUP
#define SELECT_GROUP 256
#define SELECT_SPAN  8192
#endif
#define DIGIT_BITS 11
#define DIGITS     (1 << DIGIT_BITS)

/* One work-item needs no atomics among its own. */
#if SELECT_GROUP == 1
#define COUNT_UP(place) ++(place)
#else
#define COUNT_UP(place) atomic_inc(&(place))
#endif

/* What is known of the k-th key. The index is cut to its `index_bits`, so that there are fewer digits. */
typedef struct select_state {
    ulong prefix;   /* its digits so far */
    uint remaining; /* its place among the keys with that prefix, from 1 */
    uint kept;      /* keys that topk_keep has written */
} select_state;

inline ulong short_key(float score, int index, int index_bits) {
    const ulong key = key_of(score, index);
    return (key >> 32 << index_bits) | (uint)index;
}

/* histogram[digit] of the keys that begin with the prefix; the digit is `bits` wide, above `shift` more. */
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

/* The digit that holds the k-th key; clears the histogram for the next. One work-group. */
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

/* The keys up to the k-th, in any order: exactly k. */
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
