/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mips.cl: each level from the one before: mean (exact area average, the polyphase three-tap box where a side
 * is odd), max, min, or mode (area-weighted, ties to the lower value), chosen for each component.
 *
 * mips_tile makes up to three levels in one launch: a work-group keeps what it made in local memory, with the
 * border that odd sides need, as a launch a level is bound by launch latency. mips_tail makes all that is
 * left once a level fits one work-group. mips_level makes one level, one work-item a texel: better on CPUs,
 * where a launch is cheap and local memory is not.
 *
 * Levels are read from level 0, or from where they are carried between launches: in buffer storage the
 * texture itself, otherwise a scratch buffer that holds levels CARRY_FIRST.. as buffer storage would (an
 * image is never read while it is written). Of a texture that is made in parts it is the texture's own, and
 * keeps the other parts. In mip-mapped storage the host copies the levels from the scratch buffer.
 *
 * Compiled with MIPS_RULE for the rule that all components have, or MIPS_MIXED (as `rules` says).
 */
// check-kernels: -DMIPS_RULE=4
// check-kernels: -DMIPS_RULE=0 -DRUN=64 -DTILE_LIST=1 -DCARRY_FIRST=3
#include "region.clh"
#include "texture.clh"

#define MIPS_MIXED 4
#ifndef MIPS_RULE
#define MIPS_RULE MIPS_MIXED
#endif
/* The first level in the scratch buffer. */
#ifndef CARRY_FIRST
#define CARRY_FIRST 1
#endif

#if TVLM_STORAGE == STORAGE_BUFFER
#define LEVELS_IO global texel_t *data
#define LEVELS    data
#elif TVLM_STORAGE == STORAGE_IMAGE
#define LEVELS_IO read_only image2d_array_t base, write_only image2d_array_t rest, global texel_t *scratch
#define LEVELS    base, rest, scratch
#else
#define LEVELS_IO read_only image2d_array_t base, global texel_t *scratch
#define LEVELS    base, scratch
#endif

inline float4 level_load(LEVELS_IO, int4 size, int slices, int level, int x, int y, int slice) {
    const int w = level_side(size.x, level), h = level_side(size.y, level);
#if TVLM_STORAGE == STORAGE_BUFFER
    return TEXEL_LOAD(data, level_offset(size, slices, level) + (slice * h + y) * w + x);
#else
    if (level == 0) return read_imagef(base, nearest_sampler, (int4)(x, y, slice, 0));
    const int skipped = level_offset(size, slices, CARRY_FIRST);
    return TEXEL_LOAD(scratch, level_offset(size, slices, level) - skipped + (slice * h + y) * w + x);
#endif
}

/* `carry`: the level that the next launch reads. */
inline void level_store(LEVELS_IO, int4 size, int slices, int level, int carry, int x, int y, int slice,
                        float4 value) {
    const int w = level_side(size.x, level), h = level_side(size.y, level);
#if TVLM_STORAGE == STORAGE_BUFFER
    TEXEL_STORE(data, level_offset(size, slices, level) + (slice * h + y) * w + x, value);
#else
#if TVLM_STORAGE == STORAGE_IMAGE
    const int2 corner = level_corner(size, level);
    write_imagef(rest, (int4)(corner.x + x, corner.y + y, slice, 0), TEXEL_TO_IMAGE(value));
    if (level != carry) return;
#endif
    const int skipped = level_offset(size, slices, CARRY_FIRST);
    TEXEL_STORE(scratch, level_offset(size, slices, level) - skipped + (slice * h + y) * w + x, value);
#endif
}

/* Along one axis of `side` texels, texel i of the next level covers taps 2i .. with these areas, of `area_of`
 * in all. */
inline int taps_of(int side) {
    return side == 1 ? 1 : 2 + (side & 1);
}
inline int area_of(int side) {
    return side == 1 ? 1 : (side & 1) ? side : 2;
}
inline int tap_area(int side, int i, int tap) {
    if (!(side & 1) || side == 1) return 1;
    return tap == 0 ? side / 2 - i : tap == 1 ? side / 2 : i + 1;
}

#if MIPS_RULE == MIPS_MIXED || MIPS_RULE == TVLM_REDUCE_MODE
/* The value with the largest area, the lower of those that tie. */
inline float mode_of(const float *values, const int *areas, int count) {
    float best = values[0];
    int most = -1;
    for (int a = 0; a < count; ++a) {
        int area = 0;
        for (int b = 0; b < count; ++b) area += values[b] == values[a] ? areas[b] : 0;
        if (area > most || (area == most && values[a] < best)) {
            most = area;
            best = values[a];
        }
    }
    return best;
}

/* Four equal areas: the lowest value that is there twice, else the lowest. */
inline float4 mode_of_four(float4 a, float4 b, float4 c, float4 d) {
    const float4 none = INFINITY;
    const float4 first = min(min(select(none, a, a == b), select(none, a, a == c)), select(none, a, a == d));
    const float4 others = min(min(select(none, b, b == c), select(none, b, b == d)), select(none, c, c == d));
    const float4 twice = min(first, others), least = min(min(a, b), min(c, d));
    return select(twice, least, twice == none);
}

/* By the rule of each component. */
inline float4 reduce_four(float4 a, float4 b, float4 c, float4 d, int4 rules) {
    float4 value = 0.25f * ((a + b) + (c + d));
    value = select(value, max(max(a, b), max(c, d)), rules == TVLM_REDUCE_MAX);
    value = select(value, min(min(a, b), min(c, d)), rules == TVLM_REDUCE_MIN);
    if (any(rules == TVLM_REDUCE_MODE))
        value = select(value, mode_of_four(a, b, c, d), rules == TVLM_REDUCE_MODE);
    return value;
}

/* `component` of texels, where that is a mode. */
#define MODE_OF(value, component, rules, texels, areas, count)                                               \
    if ((rules).component == TVLM_REDUCE_MODE) {                                                             \
        float own[9];                                                                                        \
        for (int tap = 0; tap < (count); ++tap) own[tap] = (texels)[tap].component;                          \
        (value).component = mode_of(own, areas, count);                                                      \
    }
#endif

/*
 * The body of a reduction, whatever LOAD(x, y) reads: texel (i, j) of the level after one of w x h texels. A
 * macro, since OpenCL C has no functions as arguments.
 */
#if MIPS_RULE == TVLM_REDUCE_MEAN
#define REDUCE_FOUR(a, b, c, d) (0.25f * (((a) + (b)) + ((c) + (d))))
#define REDUCE(value, w, h, i, j, rules, LOAD)                                                               \
    do {                                                                                                     \
        value = 0.0f;                                                                                        \
        for (int dy = 0; dy < taps_of(h); ++dy) {                                                            \
            float4 row = 0.0f;                                                                               \
            for (int dx = 0; dx < taps_of(w); ++dx)                                                          \
                row += LOAD(2 * (i) + dx, 2 * (j) + dy) * (tap_area(w, i, dx) / (float)area_of(w));          \
            value += row * (tap_area(h, j, dy) / (float)area_of(h));                                         \
        }                                                                                                    \
    } while (0)
#elif MIPS_RULE == TVLM_REDUCE_MAX || MIPS_RULE == TVLM_REDUCE_MIN
#if MIPS_RULE == TVLM_REDUCE_MAX
#define FURTHEST(a, b) max(a, b)
#else
#define FURTHEST(a, b) min(a, b)
#endif
#define REDUCE_FOUR(a, b, c, d) FURTHEST(FURTHEST(a, b), FURTHEST(c, d))
#define REDUCE(value, w, h, i, j, rules, LOAD)                                                               \
    do {                                                                                                     \
        value = LOAD(2 * (i), 2 * (j));                                                                      \
        for (int dy = 0; dy < taps_of(h); ++dy)                                                              \
            for (int dx = 0; dx < taps_of(w); ++dx)                                                          \
                value = FURTHEST(value, LOAD(2 * (i) + dx, 2 * (j) + dy));                                   \
    } while (0)
#else
#define REDUCE_FOUR(a, b, c, d) reduce_four(a, b, c, d, rules)
#define REDUCE(value, w, h, i, j, rules, LOAD)                                                               \
    do {                                                                                                     \
        if ((((w) | (h)) & 1) == 0) {                                                                        \
            value = reduce_four(LOAD(2 * (i), 2 * (j)), LOAD(2 * (i) + 1, 2 * (j)),                          \
                                LOAD(2 * (i), 2 * (j) + 1), LOAD(2 * (i) + 1, 2 * (j) + 1), rules);          \
            break;                                                                                           \
        }                                                                                                    \
        float4 texels[9], mean = 0.0f, most = -INFINITY, least = INFINITY;                                   \
        int areas[9], taps = 0;                                                                              \
        for (int dy = 0; dy < taps_of(h); ++dy)                                                              \
            for (int dx = 0; dx < taps_of(w); ++dx, ++taps) {                                                \
                texels[taps] = LOAD(2 * (i) + dx, 2 * (j) + dy);                                             \
                areas[taps] = tap_area(w, i, dx) * tap_area(h, j, dy);                                       \
                mean += texels[taps] * (tap_area(w, i, dx) / (float)area_of(w)) *                            \
                        (tap_area(h, j, dy) / (float)area_of(h));                                            \
                most = max(most, texels[taps]);                                                              \
                least = min(least, texels[taps]);                                                            \
            }                                                                                                \
        value = mean;                                                                                        \
        value = select(value, most, (rules) == TVLM_REDUCE_MAX);                                             \
        value = select(value, least, (rules) == TVLM_REDUCE_MIN);                                            \
        MODE_OF(value, s0, rules, texels, areas, taps)                                                       \
        MODE_OF(value, s1, rules, texels, areas, taps)                                                       \
        MODE_OF(value, s2, rules, texels, areas, taps)                                                       \
        MODE_OF(value, s3, rules, texels, areas, taps)                                                       \
    } while (0)
#endif

/* Level `level` + 1 from `level`. Work-item RUN texels of a row; z is the slice. */
#ifndef RUN
#define RUN 1
#endif
kernel void mips_level(LEVELS_IO, const int4 size, const int slices, const int level,
                       const int4 rules REGION_IN) {
    const int first = ITEM_X * RUN, j = ITEM_Y, slice = ITEM_Z;
    const int w = level_side(size.x, level), h = level_side(size.y, level);
    const int next_w = level_side(size.x, level + 1), next_h = level_side(size.y, level + 1);
    if (first >= next_w || j >= next_h) return;
#if TVLM_STORAGE == STORAGE_BUFFER && defined(REDUCE_FOUR)
    /* Even sides: two rows in, one out, where they lie. */
    if ((w % 2 == 0) & (h % 2 == 0)) {
        const int top = level_offset(size, slices, level) + (slice * h + 2 * j) * w;
        const int out = level_offset(size, slices, level + 1) + (slice * next_h + j) * next_w;
        for (int i = first; i < min(first + RUN, next_w); ++i) {
            const int at = top + 2 * i;
            TEXEL_STORE(data, out + i,
                        REDUCE_FOUR(TEXEL_LOAD(data, at), TEXEL_LOAD(data, at + 1), TEXEL_LOAD(data, at + w),
                                    TEXEL_LOAD(data, at + w + 1)));
        }
        return;
    }
#endif
    for (int i = first; i < min(first + RUN, next_w); ++i) {
        float4 value;
#define LOAD(x, y) level_load(LEVELS, size, slices, level, x, y, slice)
        REDUCE(value, w, h, i, j, rules, LOAD);
#undef LOAD
        level_store(LEVELS, size, slices, level + 1, level + 1, i, j, slice, value);
    }
}

#define TILE   16 /* a work-group's own texels of the first level it makes; half as many of the second, ... */
#define SPAN_1 19 /* with the border: 2 * 9 + 1 */
#define SPAN_2 9  /* 2 * 4 + 1 */

/*
 * Levels `level` + 1 .. `level` + `made` (1 to 3) from `level`. Every work-item comes to every barrier and to
 * the end: PoCL 3.1 runs what follows a return between barriers for work-items that have returned.
 */
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void mips_tile(LEVELS_IO, const int4 size,
                                                                           const int slices, const int level,
                                                                           const int made,
                                                                           const int4 rules REGION_IN) {
    local float4 first[SPAN_1 * SPAN_1], second[SPAN_2 * SPAN_2];
    const int lane = get_local_id(1) * TILE + get_local_id(0), lanes = TILE * TILE;
    const int gx = GROUP_X, gy = GROUP_Y, slice = GROUP_Z;
    const int w0 = level_side(size.x, level), h0 = level_side(size.y, level);
    const int w1 = level_side(size.x, level + 1), h1 = level_side(size.y, level + 1);
    const int w2 = level_side(size.x, level + 2), h2 = level_side(size.y, level + 2);
    const int w3 = level_side(size.x, level + 3), h3 = level_side(size.y, level + 3);
    const int span1 = made == 1 ? TILE : SPAN_1, span2 = made == 1 ? 0 : SPAN_2,
              span3 = made == 3 ? TILE / 4 : 0;

    for (int at = lane; at < span1 * span1; at += lanes) {
        const int tx = at % span1, ty = at / span1, i = TILE * gx + tx, j = TILE * gy + ty;
        if (i < w1 && j < h1) {
            float4 value;
#define LOAD(x, y) level_load(LEVELS, size, slices, level, x, y, slice)
            REDUCE(value, w0, h0, i, j, rules, LOAD);
#undef LOAD
            first[ty * SPAN_1 + tx] = texel_round(value);
            if (tx < TILE && ty < TILE)
                level_store(LEVELS, size, slices, level + 1, level + made, i, j, slice, value);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int at = lane; at < span2 * span2; at += lanes) {
        const int tx = at % SPAN_2, ty = at / SPAN_2, i = TILE / 2 * gx + tx, j = TILE / 2 * gy + ty;
        if (i < w2 && j < h2) {
            float4 value;
#define LOAD(x, y) first[((y)-TILE * gy) * SPAN_1 + (x)-TILE * gx]
            REDUCE(value, w1, h1, i, j, rules, LOAD);
#undef LOAD
            second[at] = texel_round(value);
            if (tx < TILE / 2 && ty < TILE / 2)
                level_store(LEVELS, size, slices, level + 2, level + made, i, j, slice, value);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int at = lane; at < span3 * span3; at += lanes) {
        const int i = TILE / 4 * gx + at % (TILE / 4), j = TILE / 4 * gy + at / (TILE / 4);
        if (i < w3 && j < h3) {
            float4 value;
#define LOAD(x, y) second[((y)-TILE / 2 * gy) * SPAN_2 + (x)-TILE / 2 * gx]
            REDUCE(value, w2, h2, i, j, rules, LOAD);
#undef LOAD
            level_store(LEVELS, size, slices, level + 3, level + made, i, j, slice, value);
        }
    }
}

#define TAIL       32 /* level `level` + 1 is at most so large */
#define TAIL_LANES 256

/* All levels after `level`, in one work-group a slice. */
kernel __attribute__((reqd_work_group_size(TAIL_LANES, 1, 1))) void
mips_tail(LEVELS_IO, const int4 size, const int slices, const int level, const int4 rules REGION_IN) {
    local float4 odd[TAIL * TAIL], even[TAIL * TAIL / 4];
    const int lane = get_local_id(0), slice = GROUP_Z;
    for (int n = level + 1; n < size.w; ++n) {
        const int w = level_side(size.x, n - 1), h = level_side(size.y, n - 1);
        const int nw = level_side(size.x, n), nh = level_side(size.y, n);
        const bool to_odd = (n - level) & 1;
        for (int at = lane; at < nw * nh; at += TAIL_LANES) {
            const int i = at % nw, j = at / nw;
            float4 value;
            if (n == level + 1) {
#define LOAD(x, y) level_load(LEVELS, size, slices, level, x, y, slice)
                REDUCE(value, w, h, i, j, rules, LOAD);
#undef LOAD
            } else {
#define LOAD(x, y) (to_odd ? even[(y)*w + (x)] : odd[(y)*w + (x)])
                REDUCE(value, w, h, i, j, rules, LOAD);
#undef LOAD
            }
            if (to_odd)
                odd[at] = texel_round(value);
            else
                even[at] = texel_round(value);
            level_store(LEVELS, size, slices, n, -1, i, j, slice, value);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
