/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attend.cl: attention over the vectors of a grid, which reads coarse levels first, and finer ones only where
 * it counts (texturevlm/lab/attend.h defines it). A *row* is one head of one query. The *area* of a cell says how
 * many cells of the last level the cell stands for; lib/lab/attention.h says how areas are handed on from
 * level to level.
 *
 * gemm.cl or CLBlast multiplies the queries with the keys of the first level. The rest is done here:
 *
 *   1. attend_choose chooses the cells of a level that hand their areas on.
 *   2. attend_refine gives the cells of the next level their areas and their scores.
 *   3. attend_softmax makes a part of each score.
 *   4. attend_values adds up the values of all cells, each times its part. attend_map adds up the parts
 *      themselves.
 *
 * The kernels work on a block of rows. Each row has `total` numbers of two kinds, one for each cell of all
 * levels:
 *
 *   - scores. The softmax puts each cell's part into the place of its score;
 *   - areas. The area of a cell that was chosen to hand on its area has a minus.
 *
 * GROUP work-items share a row, or CELLS cells of a row; on CPUs GROUP is 1. In attend_values a work-group
 * makes WIDTH * RUN components of a row, and its LANES lanes divide the cells among themselves.
 */
// check-kernels: -DGROUP=1 -DWIDTH=1 -DLANES=1 -DRUN=64
// check-kernels: -DGROUP=64 -DWIDTH=16 -DLANES=8 -DRUN=4
#include "helper.clh"

#ifndef GROUP
#define GROUP 64
#define WIDTH 16
#define LANES 8
#define RUN   4
#endif
/* How many cells of a row a work-group scores. */
#define CELLS 64
/* How many terms are added before their sum is added to others: long sums of floats drift. */
#define TERMS 64

#define ROW_KERNEL kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))

/* ---- Which cells are chosen ---- */

/* A whole number for each score, so that numbers order as scores do. 0 and -0 have the same number. */
HELPER uint key_of(float score) {
    const uint bits = as_uint(score + 0.0f);
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

/* The sum of all work-items' parts. Every work-item gets it, and all must come here, since it has
 * barriers. */
HELPER int sum_of(int part, local int *sum) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) *sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(sum, part);
    barrier(CLK_LOCAL_MEM_FENCE);
    return *sum;
}

/*
 * Chooses cells of one level. Those of the `cells` cells from `at` on that have an area are candidates. A
 * share of them is chosen: those with the highest scores, and of equal scores the first. `share` is in
 * 65536ths. The number of chosen cells is rounded, and is at least one; with share 0 it is none. The areas of
 * chosen cells get a minus. Where `area` is not 0, all cells get this area first.
 *
 * The lowest key that is chosen is found bit by bit. Of the cells that have just this key, only the first
 * ones are still wanted. `end` is the cell before which enough of them lie. It is found by halving.
 * Work-group n makes row n.
 */
ROW_KERNEL void attend_choose(global const float *restrict scores, global float *restrict areas,
                              const int total, const int at, const int cells, const int share,
                              const float area) {
    local int sum;
    const int lane = get_local_id(0);
    scores += (size_t)get_group_id(0) * total + at;
    areas += (size_t)get_group_id(0) * total + at;
    int part = 0;
    for (int i = lane; i < cells; i += GROUP) {
        if (area != 0.0f) areas[i] = area;
        part += areas[i] > 0.0f;
    }
    const int present = sum_of(part, &sum);
    int wanted = share > 0 ? max(1, (int)(((long)present * share + 32768) / 65536)) : 0;
    uint key = 0;
    for (int bit = 31; bit >= 0; --bit) {
        const uint higher = key | 1u << bit;
        part = 0;
        for (int i = lane; i < cells; i += GROUP) part += areas[i] > 0.0f && key_of(scores[i]) >= higher;
        if (sum_of(part, &sum) >= wanted) key = higher;
    }
    part = 0;
    for (int i = lane; i < cells; i += GROUP) part += areas[i] > 0.0f && key_of(scores[i]) > key;
    wanted -= sum_of(part, &sum);
    int end = 0;
    for (int step = 65536; step > 0; step /= 2) {
        part = 0;
        for (int i = lane; i < min(end + step, cells); i += GROUP)
            part += areas[i] > 0.0f && key_of(scores[i]) == key;
        if (sum_of(part, &sum) <= wanted) end += step;
    }
    for (int i = lane; i < cells; i += GROUP) {
        const uint own = key_of(scores[i]);
        if (share > 0 && areas[i] > 0.0f && (own > key || (own == key && i < end))) areas[i] = -areas[i];
    }
}

/* ---- What they hand on ---- */

/* How long the overlap of two cells is along a side that two grids divide. Cell `from` is one of `count`
 * cells, and cell `to` one of `others` cells. The unit is the side over count * others. Where the cells do
 * not overlap, it is 0 or less. */
HELPER int units_in(uint from, uint count, uint to, uint others) {
    return (int)min((from + 1) * others, (to + 1) * count) - (int)max(from * others, to * count);
}

/* What cell (x, y) of a grid of `to` cells gets of the values of a grid of `from` cells. Each value is
 * divided among the cells that overlap its cell, in proportion to the overlap. With sign 1 only values above
 * 0 count, with sign -1 only values below 0. Units stay below 2^32: a level has at most 65536 cells, and the
 * level above it half as many along a side. */
HELPER float handed_on(global const float *values, int2 from, int2 to, int x, int y, float sign) {
    if (from.x == to.x && from.y == to.y) return max(0.0f, sign * values[y * from.x + x]);
    const int left = (int)((uint)x * (uint)from.x / (uint)to.x),
              top = (int)((uint)y * (uint)from.y / (uint)to.y);
    float sum = 0.0f;
    for (int v = top; v < min(from.y, top + 2); ++v)
        for (int u = left; u < min(from.x, left + 2); ++u) {
            const float value = sign * values[v * from.x + u];
            if (!(value > 0.0f)) continue;
            const int across = units_in(u, from.x, x, to.x), down = units_in(v, from.y, y, to.y);
            if (across > 0 && down > 0) sum += value * ((float)(across * down) / (float)(to.x * to.y));
        }
    return sum;
}

/*
 * Gives the cells of the next level their areas. Those that have an area get a score, too: the product of the
 * row's query with the cell's key, times `scale`. `query` is where the first query of the block begins, `key`
 * where the key of the level's first cell begins, and `size` is how many components a head has. Work-group
 * (n, row) makes CELLS cells.
 */
ROW_KERNEL void attend_refine(global float *restrict scores, global float *restrict areas, const int total,
                              const int at_from, const int2 from, const int at_to, const int2 to,
                              global const float *restrict queries, const ulong query,
                              global const float *restrict keys, const ulong key, const int heads,
                              const int size, const float scale) {
    const int row = get_group_id(1), head = row % heads, first = (int)get_group_id(0) * CELLS;
    const int dimension = heads * size;
    const size_t place = (size_t)row * total;
    queries += query + (ulong)(row / heads) * dimension + head * size;
    keys += key + head * size;
    for (int i = first + (int)get_local_id(0); i < min(first + CELLS, to.x * to.y); i += GROUP) {
        const float area = handed_on(areas + place + at_from, from, to, i % to.x, i / to.x, -1.0f);
        areas[place + at_to + i] = area;
        if (area == 0.0f) continue;
        global const float *own = keys + (ulong)i * dimension;
        float16 sums = 0.0f, others = 0.0f; /* two sums, so that neither waits for the other */
        int c = 0;
        for (; c + 32 <= size; c += 32) {
            sums += vload16(0, queries + c) * vload16(0, own + c);
            others += vload16(0, queries + c + 16) * vload16(0, own + c + 16);
        }
        sums += others;
        const float8 eight = sums.lo + sums.hi;
        const float4 four = eight.lo + eight.hi;
        float sum = (four.x + four.y) + (four.z + four.w);
        for (; c < size; ++c) sum += queries[c] * own[c];
        scores[place + at_to + i] = scale * sum;
    }
}

/* ---- The softmax ---- */

/*
 * Makes parts of the scores of cells begin .. end - 1, in their place: a part is scale * area * exp(score),
 * over the sum of area * exp(score) of all these cells. It is 0 where a cell has no area. With `all`, cells
 * that handed on their areas still count with these areas. reads[reads_at + row] becomes how many keys and
 * how many values are read. Where `begin` is not 0, these are added to the numbers that are there. Work-group
 * n makes row n.
 */
ROW_KERNEL void attend_softmax(global float *restrict scores, global const float *restrict areas,
                               const int total, const int begin, const int end, const float scale,
                               const int all, global int2 *restrict reads, const int reads_at) {
    local float parts[GROUP];
    local int sum_there;
    const int row = get_group_id(0), lane = get_local_id(0);
    scores += (size_t)row * total;
    areas += (size_t)row * total;
    float most = -INFINITY, sum = 0.0f;
    int keys = 0, values = 0;
    for (int i = begin + lane; i < end; i += GROUP) {
        const bool counts = areas[i] > 0.0f || (all && areas[i] < 0.0f);
        keys += areas[i] != 0.0f;
        values += counts;
        if (counts) most = max(most, scores[i]);
    }
    keys = sum_of(keys, &sum_there);
    values = sum_of(values, &sum_there);
    parts[lane] = most;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < GROUP; ++i) most = max(most, parts[i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int first = begin + lane; first < end; first += GROUP * TERMS) {
        float some = 0.0f;
        for (int i = first; i < min(end, first + GROUP * TERMS); i += GROUP) {
            const bool counts = areas[i] > 0.0f || (all && areas[i] < 0.0f);
            const float term = counts ? fabs(areas[i]) * exp(scores[i] - most) : 0.0f;
            scores[i] = term;
            some += term;
        }
        sum += some;
    }
    parts[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = 0.0f;
    for (int i = 0; i < GROUP; ++i) sum += parts[i];
    for (int i = begin + lane; i < end; i += GROUP) scores[i] *= scale / sum;
    reads += reads_at + row;
    if (lane == 0) *reads = (begin > 0 ? *reads : (int2)(0)) + (int2)(keys, values);
}

/* ---- What comes out ---- */

/*
 * Adds the values of the cells of a level, each times its part, to out[row]. `value` is where the value of
 * the level's first cell begins, and `size` is how many components a head has. Work-group (n, row) makes
 * WIDTH * RUN components. Each of its lanes takes every LANES-th cell, and their sums are added in the order
 * of the lanes.
 */
kernel __attribute__((reqd_work_group_size(WIDTH, LANES, 1))) void
attend_values(global const float *restrict parts, const int total, const int at, const int cells,
              global const float *restrict values, const ulong value, const int heads, const int size,
              global float *restrict out, const ulong out_at) {
    local float there[LANES * RUN * WIDTH];
    const int row = get_group_id(1), x = get_local_id(0), lane = get_local_id(1);
    const int dimension = heads * size, first = (int)get_group_id(0) * WIDTH * RUN + x;
    const int count = clamp((size - first + WIDTH - 1) / WIDTH, 0, RUN);
    const int head_at = (row % heads) * size + first;
    float sums[RUN];
    for (int k = 0; k < RUN; ++k) sums[k] = 0.0f;
    parts += (size_t)row * total + at;
    values += value + head_at;
    for (int i = lane; i < cells; i += LANES) {
        const float part = parts[i];
        if (part == 0.0f) continue;
        global const float *own = values + (ulong)i * dimension;
        if (count == RUN) {
            for (int k = 0; k < RUN; ++k) sums[k] += part * own[k * WIDTH];
        } else {
            for (int k = 0; k < RUN; ++k)
                if (k < count) sums[k] += part * own[k * WIDTH];
        }
    }
    for (int k = 0; k < RUN; ++k) there[(lane * RUN + k) * WIDTH + x] = sums[k];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane != 0) return;
    out += out_at + (ulong)(row / heads) * dimension + head_at;
    for (int k = 0; k < count; ++k) {
        float sum = there[k * WIDTH + x];
        for (int n = 1; n < LANES; ++n) sum += there[(n * RUN + k) * WIDTH + x];
        out[k * WIDTH] += sum;
    }
}

/* Adds up what the parts of `rows` rows at one level give to each cell of the map, times `scale`. With
 * `begins` 1 the sum replaces the map's value, else it is added to it. Work-item i makes cell i of the
 * map. */
kernel void attend_map(global const float *restrict parts, const int total, const int at, const int2 from,
                       const int2 to, const int rows, const float scale, const int begins,
                       global float *restrict map) {
    const int i = get_global_id(0);
    float sum = 0.0f;
    if (i >= to.x * to.y) return;
    for (int first = 0; first < rows; first += TERMS) {
        float some = 0.0f;
        for (int row = first; row < min(rows, first + TERMS); ++row)
            some += handed_on(parts + (size_t)row * total + at, from, to, i % to.x, i / to.x, 1.0f);
        sum += some;
    }
    map[i] = (begins ? 0.0f : map[i]) + scale * sum;
}
