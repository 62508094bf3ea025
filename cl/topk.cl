/*
 * topk.cl: the k largest of n scores, best first; ties by lower index, NaN last.
 *
 * A key is one 64-bit integer, smaller is better: the score's bits turned so that they order downwards, then the
 * index. So no two keys are equal and any sorting method gives the same, stable order.
 *   topk_chunk:  a work-group sorts TOPK_CHUNK keys bitonically (Batcher 1968) in local memory and keeps the best;
 *                repeated on what is kept until one chunk remains. For k up to half a chunk.
 *   topk_sort, topk_exchange, topk_merge: the same network over global memory, for larger k.
 *   topk_rank:   each key's place is the number of keys before it; no sort and no barriers to speak of. For small n
 *                on devices with many cores.
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

inline void write_result(global int2 *restrict result, global const float *restrict scores, int place, ulong key) {
    const int index = (int)(key & 0xffffffffu);
    result[place] = (int2)(index, as_int(scores[index]));
}

/* keys[i] for i < padded; NO_KEY from n on. */
kernel void topk_keys(global const float *restrict scores, const int n, global ulong *restrict keys, const int padded) {
    const int i = get_global_id(0);
    if (i < padded) keys[i] = i < n ? key_of(scores[i], i) : NO_KEY;
}

/* The best `keep` of each chunk of the n keys to out[chunk * keep ..]. The only chunk writes the result instead. */
kernel __attribute__((reqd_work_group_size(TOPK_GROUP, 1, 1)))
void topk_chunk(global const float *restrict scores, global const ulong *restrict keys, const int first, const int n,
                const int keep, global ulong *restrict out, global int2 *restrict result) {
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
kernel __attribute__((reqd_work_group_size(TOPK_GROUP, 1, 1)))
void topk_sort(global ulong *restrict keys) {
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
kernel __attribute__((reqd_work_group_size(TOPK_GROUP, 1, 1)))
void topk_merge(global ulong *restrict keys, const uint run) {
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

kernel __attribute__((reqd_work_group_size(TOPK_GROUP, 1, 1)))
void topk_rank(global const float *restrict scores, const int n, const int k, global int2 *restrict result) {
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
