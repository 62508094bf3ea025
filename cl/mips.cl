/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mips.cl: makes the further levels of a texture, each from the level before, by area. Each component has a
 * rule of its own (TVLM_REDUCE_*):
 *
 *   - mean: the exact average over the area; where a side is odd, this is the polyphase box filter of three
 *     taps;
 *   - max and min: over all texels that the area touches;
 *   - mode: the value that covers most of the area, and of values that tie the lowest;
 *   - Gaussian: the average over the area of the level before smoothed by (1 2 1) / 4 along both axes.
 *
 * Three kernels share that work:
 *
 *   - mips_level makes one level, or on CPUs some. On CPUs it makes all of them: there a launch is cheap and
 *     local memory is not.
 *   - mips_tile makes up to three levels in one launch, since on GPUs a launch takes longer than a small
 *     level. A work-group keeps what it made in local memory, with the border that odd sides need.
 *   - mips_tail makes all levels that are left once one work-group can make them.
 *
 * The latter two make levels of several textures in one launch, for the same reason. Compiled with
 * FROM_PIXELS there is mips_tile alone. It then makes level 0 as well: it makes the source of one image from
 * the pixels that were handed in (source.cl), with its first levels.
 *
 * A Gaussian reads beyond the tiles of the latter two, so mips_level alone makes its levels.
 *
 * The host compiles with MIPS_RULE = the rule that all components of all textures share, or with MIPS_MIXED
 * where they differ; then `rules` has the rule of each component. levels.clh knows where the levels are.
 */
// check-kernels: -DMIPS_RULE=5
// check-kernels: -DMIPS_RULE=5 -DTEXTURES=8
// check-kernels: -DMIPS_RULE=5 -DTEXTURES=8 -DTAIL_LANES=1024
// gpu: -DTAIL_LANES=1024
// gpu: -DFROM_PIXELS=1 -DPIXEL_TYPE=0 -DPIXEL_CHANNELS=3
// gpu: -DMIPS_RULE=5 -DTEXTURES=8 -DTAIL_LANES=1024
// check-kernels: -DMIPS_RULE=4 -DRUN=64
// check-kernels: -DMIPS_RULE=5 -DRUN=64 -DRAGGED=1
// check-kernels: -DMIPS_RULE=0 -DRUN=64 -DTILE_LIST=1
// check-kernels: -DMIPS_RULE=0 -DTEXTURES=4
// check-kernels: -DMIPS_RULE=0 -DFROM_PIXELS=1
// check-kernels: -DMIPS_RULE=0 -DSCALAR=1
// check-kernels: -DMIPS_RULE=5 -DTEXTURES=2 -DLEVELS_BYTES=1
// check-kernels: -DMIPS_RULE=0 -DSCALAR=0 -DLEVELS_BYTES=2
#include "levels.clh"
#include "pixels.clh"
#include "region.clh"

/* How many texels of a row a work-item of mips_level makes: 1 on GPUs. */
#ifndef RUN
#define RUN 1
#endif

#define MIPS_MIXED 5
#ifndef MIPS_RULE
#define MIPS_RULE MIPS_MIXED
#endif

/*
 * Along an axis of `side` texels, texel i of the next level covers `taps_of` texels from 2i on. Tap number
 * `tap` has the area `tap_area`, and all taps together have `area_of`. Where the side is even there are two
 * equal areas. Where it is odd there are three, which shift with i. A side of 1 stays as it is.
 */
HELPER int taps_of(int side) {
    return side == 1 ? 1 : 2 + (side & 1);
}
HELPER int area_of(int side) {
    return side == 1 ? 1 : (side & 1) ? side : 2;
}
HELPER int tap_area(int side, int i, int tap) {
    if (!(side & 1) || side == 1) return 1;
    return tap == 0 ? side / 2 - i : tap == 1 ? side / 2 : i + 1;
}

#if MIPS_RULE == MIPS_MIXED || MIPS_RULE == TVLM_REDUCE_GAUSSIAN
/* smooth_area is the weight of a tap where the level before is smoothed by (1 2 1) / 4 first. There is then
 * one more tap at either end, with the numbers -1 and taps_of. area_inside is 0 for these two taps, and
 * tap_area for the others. */
HELPER int area_inside(int side, int i, int tap) {
    return tap < 0 || tap >= taps_of(side) ? 0 : tap_area(side, i, tap);
}
HELPER float smooth_area(int side, int i, int tap) {
    const int area =
        area_inside(side, i, tap - 1) + 2 * area_inside(side, i, tap) + area_inside(side, i, tap + 1);
    return area / (4.0f * area_of(side));
}

/* Sets `value` to texel (i, j) as REDUCE (below) does, by the rule of a Gaussian. */
#define GAUSSIAN(value, w, h, i, j, LOAD)                                                                    \
    do {                                                                                                     \
        value = 0.0f;                                                                                        \
        for (int dy = -1; dy <= taps_of(h); ++dy) {                                                          \
            const int from_y = clamp(2 * (j) + dy, 0, (h)-1);                                                \
            float4 row = 0.0f;                                                                               \
            for (int dx = -1; dx <= taps_of(w); ++dx)                                                        \
                row += LOAD(clamp(2 * (i) + dx, 0, (w)-1), from_y) * smooth_area(w, i, dx);                  \
            value += row * smooth_area(h, j, dy);                                                            \
        }                                                                                                    \
    } while (0)
#endif

#if MIPS_RULE == MIPS_MIXED || MIPS_RULE == TVLM_REDUCE_MODE
/* The mode of four equal areas: the lowest value that occurs at least twice, else the lowest of all. Two
 * pairs tie, and three equal values are found as a pair. */
HELPER float4 mode_of_four(float4 a, float4 b, float4 c, float4 d) {
    const float4 none = INFINITY;
    const float4 first = min(min(select(none, a, a == b), select(none, a, a == c)), select(none, a, a == d));
    const float4 others = min(min(select(none, b, b == c), select(none, b, b == d)), select(none, c, c == d));
    const float4 twice = min(first, others), least = min(min(a, b), min(c, d));
    return select(twice, least, twice == none);
}

/* Reduces four equal areas by the rule of each component. */
HELPER float4 reduce_four(float4 a, float4 b, float4 c, float4 d, int4 rules) {
    float4 value = 0.25f * ((a + b) + (c + d));
    value = select(value, max(max(a, b), max(c, d)), rules == TVLM_REDUCE_MAX);
    value = select(value, min(min(a, b), min(c, d)), rules == TVLM_REDUCE_MIN);
    if (any(rules == TVLM_REDUCE_MODE))
        value = select(value, mode_of_four(a, b, c, d), rules == TVLM_REDUCE_MODE);
    return value;
}

/*
 * MODE sets those components of `value` whose rule is the mode to the value with the largest area. Of values
 * that tie it takes the lowest. CPUs KEEP the texels in arrays. On a GPU such arrays would lie in memory, and
 * all textures of a launch would become slower (doc/registers.md). So there each texel is read again for each
 * texel that it is compared with.
 */
#if RUN > 1
HELPER float mode_of(const float *values, const int *areas, int count) {
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

#define MODE_OF(value, component, rules, texels, areas, count)                                               \
    if ((rules).component == TVLM_REDUCE_MODE) {                                                             \
        float own[9];                                                                                        \
        for (int tap = 0; tap < (count); ++tap) own[tap] = (texels)[tap].component;                          \
        (value).component = mode_of(own, areas, count);                                                      \
    }
#define KEPT                                                                                                 \
    float4 kept[9];                                                                                          \
    int areas[9], taps = 0;
#define KEEP(texel, area)                                                                                    \
    kept[taps] = texel;                                                                                      \
    areas[taps++] = area;
#define MODE(value, w, h, i, j, rules, LOAD)                                                                 \
    MODE_OF(value, s0, rules, kept, areas, taps)                                                             \
    MODE_OF(value, s1, rules, kept, areas, taps)                                                             \
    MODE_OF(value, s2, rules, kept, areas, taps)                                                             \
    MODE_OF(value, s3, rules, kept, areas, taps)
#else
#define KEPT
#define KEEP(texel, area)

/* For each component, the area of the texels that equal `own`. LOAD names variables of the kernel (n, w, t),
 * so no variable here may have the name of one of them. */
#define AREA_OF(area, own, w, h, i, j, LOAD)                                                                 \
    for (int tap = 0, x = 0, y = 0; tap < taps_of(w) * taps_of(h); ++tap, ++x) {                             \
        if (x == taps_of(w)) x = 0, ++y;                                                                     \
        area += select((int4)(0), (int4)(tap_area(w, i, x) * tap_area(h, j, y)),                             \
                       LOAD(2 * (i) + x, 2 * (j) + y) == own);                                               \
    }
#define MODE(value, w, h, i, j, rules, LOAD)                                                                 \
    if (any((rules) == TVLM_REDUCE_MODE)) {                                                                  \
        float4 mode = 0.0f;                                                                                  \
        int4 most_area = -1;                                                                                 \
        for (int from = 0, dx = 0, dy = 0; from < taps_of(w) * taps_of(h); ++from, ++dx) {                   \
            if (dx == taps_of(w)) dx = 0, ++dy;                                                              \
            const float4 own = LOAD(2 * (i) + dx, 2 * (j) + dy);                                             \
            int4 area = 0;                                                                                   \
            AREA_OF(area, own, w, h, i, j, LOAD)                                                             \
            const int4 better = (area > most_area) | ((area == most_area) & (own < mode));                   \
            most_area = select(most_area, area, better);                                                     \
            mode = select(mode, own, better);                                                                \
        }                                                                                                    \
        value = select(value, mode, (rules) == TVLM_REDUCE_MODE);                                            \
    }
#endif
#endif

/*
 * REDUCE sets `value` to texel (i, j) of the level after one of w x h texels, which LOAD(x, y) reads. It is a
 * macro because OpenCL C has no function pointers. REDUCE_FOUR is the short form for four equal areas.
 */
#if MIPS_RULE == TVLM_REDUCE_MEAN
#define REDUCE_FOUR(a, b, c, d, rules) (0.25f * (((a) + (b)) + ((c) + (d))))
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
#define REDUCE_FOUR(a, b, c, d, rules) FURTHEST(FURTHEST(a, b), FURTHEST(c, d))
#define REDUCE(value, w, h, i, j, rules, LOAD)                                                               \
    do {                                                                                                     \
        value = LOAD(2 * (i), 2 * (j));                                                                      \
        for (int dy = 0; dy < taps_of(h); ++dy)                                                              \
            for (int dx = 0; dx < taps_of(w); ++dx)                                                          \
                value = FURTHEST(value, LOAD(2 * (i) + dx, 2 * (j) + dy));                                   \
    } while (0)
#elif MIPS_RULE == TVLM_REDUCE_GAUSSIAN
#define REDUCE(value, w, h, i, j, rules, LOAD) GAUSSIAN(value, w, h, i, j, LOAD)
#else
#define REDUCE_FOUR(a, b, c, d, rules) reduce_four(a, b, c, d, rules)
#define REDUCE(value, w, h, i, j, rules, LOAD)                                                               \
    do {                                                                                                     \
        if ((((w) | (h)) & 1) == 0) {                                                                        \
            value = reduce_four(LOAD(2 * (i), 2 * (j)), LOAD(2 * (i) + 1, 2 * (j)),                          \
                                LOAD(2 * (i), 2 * (j) + 1), LOAD(2 * (i) + 1, 2 * (j) + 1), rules);          \
            break;                                                                                           \
        }                                                                                                    \
        KEPT float4 mean = 0.0f, most = -INFINITY, least = INFINITY;                                         \
        for (int dy = 0; dy < taps_of(h); ++dy) {                                                            \
            float4 row = 0.0f;                                                                               \
            for (int dx = 0; dx < taps_of(w); ++dx) {                                                        \
                const float4 texel = LOAD(2 * (i) + dx, 2 * (j) + dy);                                       \
                KEEP(texel, tap_area(w, i, dx) * tap_area(h, j, dy))                                         \
                row += texel * (tap_area(w, i, dx) / (float)area_of(w));                                     \
                most = max(most, texel);                                                                     \
                least = min(least, texel);                                                                   \
            }                                                                                                \
            mean += row * (tap_area(h, j, dy) / (float)area_of(h));                                          \
        }                                                                                                    \
        value = mean;                                                                                        \
        value = select(value, most, (rules) == TVLM_REDUCE_MAX);                                             \
        value = select(value, least, (rules) == TVLM_REDUCE_MIN);                                            \
        MODE(value, w, h, i, j, rules, LOAD)                                                                 \
    } while (0)
#endif

#if MIPS_RULE == MIPS_MIXED
#define SOME_GAUSSIAN(rules) any((rules) == TVLM_REDUCE_GAUSSIAN)
#else
#define SOME_GAUSSIAN(rules) 0
#endif

#if defined(LEVELS_IN_PLACE) && defined(REDUCE_FOUR) && defined(SCALAR) &&                                   \
    (!SCALAR || MIPS_RULE <= TVLM_REDUCE_MIN)
#define IN_PLACE
#if SCALAR
#define PLACE_LOAD(index)         SCALAR_LOAD(from, index)
#define PLACE_STORE(index, value) SCALAR_STORE(to, index, value)
#else
#define PLACE_LOAD(index)         TEXEL_LOAD(from, index)
#define PLACE_STORE(index, value) TEXEL_STORE(to, index, value)
#endif
/*
 * Makes `count` texels, from number `out` on, of a level after one whose sides are both even. Each has four
 * equal areas in two rows, which are read in place. The first row begins with number `top`, and the second
 * one `row` texels later. `from` and `to` are the same buffer. They are restrict, since the two levels do not
 * overlap, and compilers vectorise the loop only where they know.
 */
INLINED void reduce_in_place(global const texel_t *restrict from, size_t top, size_t row,
                             global texel_t *restrict to, size_t out, size_t count, int4 rules) {
    for (size_t i = 0; i < count; ++i) { /* size_t: compilers recompute a 32-bit index in each turn */
        const size_t at = top + 2 * i;
        PLACE_STORE(out + i, REDUCE_FOUR(PLACE_LOAD(at), PLACE_LOAD(at + 1), PLACE_LOAD(at + row),
                                         PLACE_LOAD(at + row + 1), rules));
    }
}
#endif

/* How many levels a launch of mips_level makes. It is more than one only where they can be made in place. */
#if defined(IN_PLACE) && RUN > 1
#define LEVELS_MADE plan0.w
#else
#define LEVELS_MADE 1
#endif

/*
 * Makes the level of one texture that follows the one that its plan names. Work-item (n, j, slice) makes RUN
 * texels of row j. Where all sides are even, a launch can make more levels: then a work-item makes the RUN
 * texels of as many rows as lie above one row of the last level, and what lies above them in each level. So
 * it reads what it has just written, which a CPU still has in its cache, and a CPU has fewer launches.
 */
#ifndef FROM_PIXELS
kernel void mips_level(LEVELS_IO REGION_IN) {
    texture_levels t = levels_of(0, size0, plan0);
    const int made = LEVELS_MADE, rows = 1 << (made - 1);
    const int first = ITEM_X * RUN, j = ITEM_Y * rows, slice = ITEM_Z, level = t.level;
    LEVELS_OF_IMAGE(t, slice / t.size.z)
    const int w = level_side(t.size.x, level), h = level_side(t.size.y, level);
    const int next_w = level_side(t.size.x, level + 1), next_h = level_side(t.size.y, level + 1);
    if (first >= next_w || j >= next_h || level + 1 >= t.size.w) return;
#ifdef IN_PLACE
    if ((w % 2 == 0) & (h % 2 == 0) & !SOME_GAUSSIAN(t.rules)) {
        for (int n = 0; n < made; ++n)
            for (int row = j >> n; row < (j + rows) >> n; ++row)
                reduce_in_place(data0, level_index(t, level + n, 2 * (first >> n), 2 * row, slice), w >> n,
                                data0, level_index(t, level + n + 1, first >> n, row, slice),
                                min(RUN, next_w - first) >> n, t.rules);
        return;
    }
#endif
    for (int i = first; i < min(first + RUN, next_w); ++i) {
        float4 value;
#define LOAD(x, y) level_load(LEVELS, t, level, x, y, slice)
        REDUCE(value, w, h, i, j, t.rules, LOAD);
#if MIPS_RULE == MIPS_MIXED
        if (SOME_GAUSSIAN(t.rules)) {
            float4 smoothed;
            GAUSSIAN(smoothed, w, h, i, j, LOAD);
            value = select(value, smoothed, t.rules == TVLM_REDUCE_GAUSSIAN);
        }
#endif
#undef LOAD
        level_store(LEVELS, t, level + 1, level + 1, i, j, slice, value);
    }
}
#endif

/* A program with SCALAR is for mips_level alone, or, with FROM_PIXELS, for mips_tile. It has no other
 * kernels, since a CPU would compile them for nothing when it makes its first levels. */
#if MIPS_RULE != TVLM_REDUCE_GAUSSIAN && (!defined(SCALAR) || defined(FROM_PIXELS))

/*
 * A work-group of mips_tile makes TILE x TILE texels of its first level, half as many in each direction of
 * the second, and a quarter of the third. Later levels with odd sides need a border as well. So 4 texels of
 * the third level may need SPAN_2 = 2 * 4 + 1 of the second, and these SPAN_1 = 2 * 9 + 1 of the first.
 * Texels of the border are not stored, since another group does so.
 */
#define TILE        16
#define TILE_LEVELS 3
#define SPAN_1      19
#define SPAN_2      9

/* How many texels along a side of a level are needed for `span` texels of the next level. It is the same
 * number for both sides. */
HELPER int span_below(int span, int w, int h) {
    return span == 0 ? 0 : 2 * span + ((w | h) & 1);
}

/*
 * Makes up to TILE_LEVELS levels of each texture from the one that its plan names. Groups are numbered
 * texture after texture, slice after slice and row after row. Work-items divide the texels of each level
 * among themselves. Each of them passes every barrier and reaches the end. After a return between barriers,
 * PoCL 3.1 still runs the rest of the kernel for the work-items that have returned.
 *
 * With FROM_PIXELS a group also makes the 2 TILE x 2 TILE texels of level 0 beneath its first level, of image
 * `image`. Row 0 of the pixels begins at byte `offset`, and rows begin `row_stride` bytes apart. Pixels are
 * read again for the first level, rounded as level 0 keeps them.
 */
#ifdef FROM_PIXELS
#define PIXELS_IN                                                                                            \
    , global const uchar *restrict pixels, const ulong offset, const ulong row_stride, const int image
#define LOAD_FIRST(x, y)                                                                                     \
    texel_round(source_of((global const pixel_t *)(pixels + offset + (y)*row_stride) + (x)*PIXEL_CHANNELS))
#else
#define PIXELS_IN
#define LOAD_FIRST(x, y) level_load(LEVELS, t, level, x, y, slice)
#endif
kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void mips_tile(LEVELS_IO PIXELS_IN REGION_IN) {
    local float4 first[SPAN_1 * SPAN_1], second[SPAN_2 * SPAN_2];
    const int lane = get_local_id(1) * TILE + get_local_id(0), lanes = TILE * TILE;
#ifdef TILE_LIST
    const texture_levels t = levels_of(0, size0, plan0);
    const int gx = GROUP_X, gy = GROUP_Y, slice = GROUP_Z;
#elif defined(FROM_PIXELS)
    const texture_levels t = levels_of(0, size0, plan0);
    const int gx = GROUP_X, gy = GROUP_Y, slice = image * t.size.z;
#else
    int group = get_group_id(0);
    const texture_levels t = levels_of_group(LEVELS, TILE, &group);
    const int columns = tiles_along(level_side(t.size.x, t.level + 1), TILE);
    const int rows = tiles_along(level_side(t.size.y, t.level + 1), TILE);
    const int gx = group % columns, gy = group / columns % rows, slice = group / columns / rows;
#endif
    const int level = t.level, made = min(TILE_LEVELS, t.size.w - 1 - level);
    const int w0 = level_side(t.size.x, level), h0 = level_side(t.size.y, level);
    const int w1 = level_side(t.size.x, level + 1), h1 = level_side(t.size.y, level + 1);
    const int w2 = level_side(t.size.x, level + 2), h2 = level_side(t.size.y, level + 2);
    const int w3 = level_side(t.size.x, level + 3), h3 = level_side(t.size.y, level + 3);
    const int span3 = made == 3 ? TILE / 4 : 0;
    const int span2 = made == 1 ? 0 : max(TILE / 2, span_below(span3, w2, h2));
    const int span1 = max(TILE, span_below(span2, w1, h1));

#ifdef FROM_PIXELS
    for (int y = 2 * TILE * gy + (int)get_local_id(1); y < min(2 * TILE * (gy + 1), h0); y += TILE)
        for (int x = 2 * TILE * gx + (int)get_local_id(0); x < min(2 * TILE * (gx + 1), w0); x += TILE)
            level_0_store(LEVELS, t, x, y, slice, LOAD_FIRST(x, y));
#endif
    for (int at = lane; at < span1 * span1; at += lanes) {
        const int tx = at % span1, ty = at / span1, i = TILE * gx + tx, j = TILE * gy + ty;
        if (i < w1 && j < h1) {
            float4 value;
            REDUCE(value, w0, h0, i, j, t.rules, LOAD_FIRST);
            first[ty * SPAN_1 + tx] = texel_round(value);
            if (tx < TILE && ty < TILE) level_store(LEVELS, t, level + 1, level + made, i, j, slice, value);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int at = lane; at < span2 * span2; at += lanes) {
        const int tx = at % span2, ty = at / span2, i = TILE / 2 * gx + tx, j = TILE / 2 * gy + ty;
        if (i < w2 && j < h2) {
            float4 value;
#define LOAD(x, y) first[((y)-TILE * gy) * SPAN_1 + (x)-TILE * gx]
            REDUCE(value, w1, h1, i, j, t.rules, LOAD);
#undef LOAD
            second[ty * SPAN_2 + tx] = texel_round(value);
            if (tx < TILE / 2 && ty < TILE / 2)
                level_store(LEVELS, t, level + 2, level + made, i, j, slice, value);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    for (int at = lane; at < span3 * span3; at += lanes) {
        const int i = TILE / 4 * gx + at % (TILE / 4), j = TILE / 4 * gy + at / (TILE / 4);
        if (i < w3 && j < h3) {
            float4 value;
#define LOAD(x, y) second[((y)-TILE / 2 * gy) * SPAN_2 + (x)-TILE / 2 * gx]
            REDUCE(value, w2, h2, i, j, t.rules, LOAD);
#undef LOAD
            level_store(LEVELS, t, level + 3, level + made, i, j, slice, value);
        }
    }
}

#ifndef FROM_PIXELS
/* mips_tail begins where the first level that it makes has at most 2 * TAIL texels along each side. */
#define TAIL 32

/* How many work-items that work-group has. There are many, since nothing else runs beside the few work-groups
 * of a tail. So they hide how long a GPU's memory takes to answer. */
#ifndef TAIL_LANES
#define TAIL_LANES 256
#endif

/*
 * Makes all levels after the one that a texture's plan names, with one work-group for each slice. Levels of
 * at most TAIL texels a side alternate between two arrays in local memory, since each is made from the one
 * before. If the first level is larger, it is made in global memory, and the work-group reads it there again.
 */
kernel __attribute__((reqd_work_group_size(TAIL_LANES, 1, 1))) void mips_tail(LEVELS_IO REGION_IN) {
    local float4 odd[TAIL * TAIL], even[TAIL * TAIL / 4];
    const int lane = get_local_id(0);
#ifdef TILE_LIST
    const texture_levels t = levels_of(0, size0, plan0);
    const int slice = GROUP_Z;
#else
    int group = get_group_id(0);
    const texture_levels t = levels_of_group(LEVELS, 0, &group);
    const int slice = group;
#endif
    const int level = t.level;
    const bool large = level_side(t.size.x, level + 1) > TAIL || level_side(t.size.y, level + 1) > TAIL;
    const int in_memory = large ? level + 1 : level;
    for (int n = level + 1; n < t.size.w; ++n) {
        const int w = level_side(t.size.x, n - 1), h = level_side(t.size.y, n - 1);
        const int nw = level_side(t.size.x, n), nh = level_side(t.size.y, n);
        const bool to_odd = (n - in_memory) & 1;
        for (int at = lane; at < nw * nh; at += TAIL_LANES) {
            const int i = at % nw, j = at / nw;
            float4 value;
            if (j >= nh) continue; /* Asked again: PoCL 3.1 lets all work-items in once (doc/drivers.md). */
            if (n <= in_memory + 1) {
#define LOAD(x, y) level_load(LEVELS, t, n - 1, x, y, slice)
                REDUCE(value, w, h, i, j, t.rules, LOAD);
#undef LOAD
            } else {
#define LOAD(x, y) (to_odd ? even[(y)*w + (x)] : odd[(y)*w + (x)])
                REDUCE(value, w, h, i, j, t.rules, LOAD);
#undef LOAD
            }
            if (n > in_memory) {
                if (to_odd)
                    odd[at] = texel_round(value);
                else
                    even[at] = texel_round(value);
            }
            level_store(LEVELS, t, n, in_memory, i, j, slice, value);
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
}
#endif
#endif
