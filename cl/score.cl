/* SPDX-License-Identifier: Apache-2.0 */
/*
 * score.cl: scores candidates, the cells of a grid, by their channels.
 *
 * A scoring program is a list of layers. A layer is up to four channels that lie side by side in a texture.
 * It adds min(cap, weight * value) over these channels, and over one tap or the 3x3 neighbourhood, to one of
 * three parts of the score. A layer consists of
 *
 *   - a head of four ints:
 *       x: the reference to its first channel;
 *       y: its part;
 *       z: how many taps it has, 1 or 9, plus 16 times a mask of the channels that have a term;
 *       w: the bits of the level at which it is read; -1: the level of the candidates;
 *   - LAYER_FLOATS floats: a cap for each channel, and a weight for each channel at each of nine taps.
 *
 * Layers stand in the order of their textures (bundle.clh), the position formula last.
 *
 * score_parts runs the program at every candidate and finds the range of each part. A work-item scores RUN
 * candidates in each of ROWS rows: one candidate on GPUs, more on CPUs. score_combine brings the parts to
 * [0, 1] by these ranges. It adds them with weights, and adds a bonus for each candidate. score_rank does
 * that too, and also finds the best of the scores, as topk_rank of topk.cl does. score_add adds a bonus to
 * scores. pass_range and pass_keep make scores a channel of a texture.
 */
// check-kernels: -DRUN=1
// check-kernels: -DRUN=64 -DROWS=8 -DBUNDLE_SIZE=4
// check-kernels: -DRUN=16 -DBUNDLE_UNIT=1
// gpu: -DBUNDLE_SIZE=1
// gpu: -DBUNDLE_SIZE=4
// gpu: -DBUNDLE_SIZE=16
#include "block.clh"
#include "rank.clh"

#ifndef SCORE_GROUP
#define SCORE_GROUP 64
#endif
#define PARTS        TVLM_SCORE_PARTS
#define LAYER_FLOATS 40

/* A float as an integer that orders the same way, so that atomics on integers find ranges. The second
 * function turns it back. */
HELPER int ordered(float value) {
    const int bits = as_int(value);
    return bits ^ ((bits >> 31) & 0x7fffffff);
}
HELPER float unordered(int bits) {
    return as_float(bits ^ ((bits >> 31) & 0x7fffffff));
}

#define TAPS_OF(head)  ((head).z & 15)
#define TERMS_OF(head) ((head).z >> 4)

/* Where a work-item's candidates are: at rows y in pixels and a level of an image. `step` is the size of a
 * cell in pixels, and so the distance of the taps. */
typedef struct place {
    float2 step;
    float y[ROWS], level;
    int image;
} place;

/* The level at which a layer is read. */
HELPER float level_of(int4 head, place at) {
    return head.w < 0 ? at.level : as_float(head.w);
}

#if ROWS > 1
/* Adds the terms of all layers to the sums of their parts, one channel at a time. */
INLINED void score_layers(BUNDLE_IN, global const int *restrict heads, global const float *restrict floats,
                          int layers, const float *x, place at, float (*sums)[BLOCK]) {
    /* One loop goes through the terms of all layers, taps and channels, so that the sampler is inlined
     * once. */
    int tap = 0, channel = 0, next = 0;
#pragma unroll 1
    while (next < layers) {
        const int4 head = vload4(next, heads);
        const int taps = TAPS_OF(head), number = taps == 1 ? 4 : tap;
        if (TERMS_OF(head) >> channel & 1) {
            const float level = level_of(head, at);
            const float cap = floats[next * LAYER_FLOATS + channel];
            const float weight = floats[next * LAYER_FLOATS + 4 * (1 + number) + channel];
            float tap_x[RUN], tap_y[ROWS], values[BLOCK], *sum = sums[head.y];
            for (int i = 0; i < RUN; ++i) tap_x[i] = x[i] + (number % 3 - 1) * at.step.x;
            for (int j = 0; j < ROWS; ++j) tap_y[j] = at.y[j] + (number / 3 - 1) * at.step.y;
            block_gather(BUNDLE, head.x + channel, tap_x, tap_y, level, at.image, values);
            for (int k = 0; k < BLOCK; ++k) {
                const float term = weight * values[k];
                /* This is not min(), since a NaN must stay one. */
                sum[k] += term > cap ? cap : term;
            }
        }
        channel = (channel + 1) & 3;
        tap = channel == 0 ? tap + 1 : tap;
        if (tap < taps) continue;
        tap = 0;
        ++next;
    }
}
#else
/*
 * Adds the terms of one tap, min(cap, weight * value) of four channels, to the sums of their part. An index
 * that is not a constant would put the sums into memory. So on GPUs (RUN 1) each sum is kept in a register,
 * and compares its number with `part`.
 */
HELPER void add_terms(const float4 *values, global const float *restrict floats, int tap, int part,
                      float (*sums)[RUN]) {
    const float4 cap = vload4(0, floats), weight = vload4(1 + tap, floats);
    for (int i = 0; i < RUN; ++i) {
        const float4 terms = weight * values[i];
        /* This is not min(), since a NaN must stay one. */
        const float4 capped = terms > cap ? cap : terms;
        const float all = capped.x + capped.y + capped.z + capped.w;
#if RUN == 1
        for (int p = 0; p < PARTS; ++p) sums[p][i] = p == part ? sums[p][i] + all : sums[p][i];
#else
        sums[part][i] += all;
#endif
    }
}

/* Where tap 0 .. 8 of candidates stands. A single tap is number 4, the candidate itself. */
HELPER float tap_row(const float *x, place at, int tap, float *tap_x) {
    for (int i = 0; i < RUN; ++i) tap_x[i] = x[i] + (tap % 3 - 1) * at.step.x;
    return at.y[0] + (tap / 3 - 1) * at.step.y;
}

/* Adds to the sums the layers that read texture `t`, the n-th of the bundle. These follow each other from
 * layer `next` on. Returns the layer after them. */
INLINED int score_from_(TEXTURE_IN(t), int n, global const int *restrict heads,
                        global const float *restrict floats, int next, int layers, const float *x, place at,
                        float (*sums)[RUN]) {
    for (; next < layers; ++next) {
        const int4 head = vload4(next, heads);
        if (TVLM_REF_TEXTURE(head.x) != n) break;
        const float level = level_of(head, at);
        /* The loop is not unrolled, since each turn inlines the sampler. */
#pragma unroll 1
        for (int tap = TAPS_OF(head) == 1 ? 4 : 0; tap < (TAPS_OF(head) == 1 ? 5 : 9); ++tap) {
            float tap_x[RUN];
            float4 values[RUN];
            const float y = tap_row(x, at, tap, tap_x);
            texture_layer_(TEXTURE(t), head.x, tap_x, y, level, at.image, values);
            add_terms(values, floats + next * LAYER_FLOATS, tap, head.y, sums);
        }
    }
    return next;
}

/* The same for layers of the position formula, which are the last ones. */
HELPER void score_formula(float4 view, float4 formula, global const int *restrict heads,
                          global const float *restrict floats, int next, int layers, const float *x, place at,
                          float (*sums)[RUN]) {
    for (; next < layers; ++next) {
        const int4 head = vload4(next, heads);
#pragma unroll 1
        for (int tap = TAPS_OF(head) == 1 ? 4 : 0; tap < (TAPS_OF(head) == 1 ? 5 : 9); ++tap) {
            float tap_x[RUN];
            float4 values[RUN];
            const float y = tap_row(x, at, tap, tap_x);
            formula_row(view, formula, TVLM_REF_LAYER(head.x), tap_x, y, values);
            add_terms(values, floats + next * LAYER_FLOATS, tap, head.y, sums);
        }
    }
}

INLINED void score_layers(BUNDLE_IN, global const int *restrict heads, global const float *restrict floats,
                          int layers, const float *x, place at, float (*sums)[RUN]) {
    int next = 0;
#ifdef BUNDLE_CHOOSE
    while (next < layers && TVLM_REF_TEXTURE(heads[4 * next]) < BUNDLE_SIZE) {
        BUNDLE_CHOOSE(TVLM_REF_TEXTURE(heads[4 * next]))
        next = score_from_(TEXTURE(chosen), chosen_number, heads, floats, next, layers, x, at, sums);
    }
#else
#define SCORE(n) next = score_from_(TEXTURE(b##n), n, heads, floats, next, layers, x, at, sums);
    BUNDLE_EACH(SCORE)
#undef SCORE
#endif
    score_formula(view, formula, heads, floats, next, layers, x, at, sums);
}
#endif

/*
 * Writes parts[part][candidate], and ranges[turn][part] = (smallest, largest), as ordered integers that begin
 * as an empty range. NaN counts towards no range. `turn` is 0 or 1. `heads` holds the heads of all layers,
 * and floats_at is where the floats begin behind them. size = (columns and rows of candidates). The bits of
 * `used` say which parts are wanted. Work-item n scores RUN candidates in each of ROWS rows; `runs`
 * work-items cover the columns.
 */
kernel __attribute__((reqd_work_group_size(SCORE_GROUP, 1, 1))) void
score_parts(BUNDLE_IN, global const int *restrict heads, const int floats_at, const int layers,
            const int2 size, const float2 step, const float level, const int image, const int runs,
            const int used, global float *restrict parts, global int *restrict ranges, const int turn) {
    local int low[PARTS], high[PARTS];
    global const float *floats = (global const float *)heads + floats_at;
    const int lane = get_local_id(0), item = get_global_id(0);
    if (lane < PARTS) {
        low[lane] = INT_MAX;
        high[lane] = INT_MIN;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < runs * ((size.y + ROWS - 1) / ROWS)) {
        const int first = item % runs * RUN, row = item / runs * ROWS;
        const int columns = min(RUN, size.x - first), rows = min(ROWS, size.y - row);
        place at;
        at.step = step;
        at.level = level;
        at.image = image;
        float x[RUN], sums[PARTS][BLOCK];
        /* The image clips the last cells of a row or column; a candidate is the centre of what remains. */
        for (int i = 0; i < RUN; ++i)
            x[i] = 0.5f * ((first + i) * step.x + min((first + i + 1) * step.x, view.x));
        for (int j = 0; j < ROWS; ++j)
            at.y[j] = 0.5f * ((row + j) * step.y + min((row + j + 1) * step.y, view.y));
        for (int p = 0; p < PARTS; ++p)
            for (int k = 0; k < BLOCK; ++k) sums[p][k] = 0.0f;
        score_layers(BUNDLE, heads, floats, layers, x, at, sums);
#pragma unroll
        for (int p = 0; p < PARTS; ++p) {
            if ((used >> p & 1) == 0) continue;
            int lows[RUN], highs[RUN], least = INT_MAX, most = INT_MIN;
            for (int i = 0; i < RUN; ++i) {
                lows[i] = INT_MAX;
                highs[i] = INT_MIN;
            }
            for (int j = 0; j < rows; ++j)
                for (int i = 0; i < columns; ++i) {
                    const float sum = sums[p][j * RUN + i];
                    const int bits = ordered(sum);
                    parts[(size_t)(p * size.y + row + j) * size.x + first + i] = sum;
                    lows[i] = min(lows[i], isnan(sum) ? INT_MAX : bits);
                    highs[i] = max(highs[i], isnan(sum) ? INT_MIN : bits);
                }
            for (int i = 0; i < RUN; ++i) {
                least = min(least, lows[i]);
                most = max(most, highs[i]);
            }
            atomic_min(&low[p], least);
            atomic_max(&high[p], most);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < PARTS) {
        atomic_min(&ranges[2 * (turn * PARTS + lane)], low[lane]);
        atomic_max(&ranges[2 * (turn * PARTS + lane) + 1], high[lane]);
    }
}

/* What `count` scores are made of: the parts, and their ranges of this turn; the weights of the parts,
 * weights.x .. z, and the bias, weights.w; which parts are brought to [0, 1] (`normalise`); and a bonus for
 * each score, if has_bonus is 1. */
#define COMBINE_IN                                                                                           \
    global const float *restrict parts, global int *restrict all_ranges, const int turn, const int count,    \
        const float4 weights, const int4 normalise, global const float *restrict bonus, const int has_bonus
#define COMBINE parts, all_ranges, turn, count, weights, normalise, bonus, has_bonus

/*
 * Makes `wanted` scores from score `first` on: the bias, plus the weights times the parts, plus the bonus. A
 * part whose `normalise` is 1 is first brought to [0, 1] by its range; one that is equal everywhere
 * becomes 0.
 */
INLINED void combine(COMBINE_IN, int first, const int wanted, float *sums) {
    global const int *ranges = all_ranges + 2 * PARTS * turn;
    const float weight[PARTS] = {weights.x, weights.y, weights.z};
    const int bring[PARTS] = {normalise.x, normalise.y, normalise.z};
    for (int i = 0; i < wanted; ++i) sums[i] = weights.w;
    for (int p = 0; p < PARTS; ++p) {
        global const float *restrict part = parts + (size_t)p * count + first;
        if (weight[p] == 0.0f) continue;
        const float low = unordered(ranges[2 * p]), span = unordered(ranges[2 * p + 1]) - low;
        if (!bring[p])
            for (int i = 0; i < wanted; ++i) sums[i] += weight[p] * part[i];
        else if (span > TVLM_SCORE_FLOOR)
            for (int i = 0; i < wanted; ++i) sums[i] += weight[p] * ((part[i] - low) / span);
        else /* value - value is 0, and NaN stays NaN. */
            for (int i = 0; i < wanted; ++i) sums[i] += weight[p] * (part[i] - part[i]);
    }
    if (has_bonus)
        for (int i = 0; i < wanted; ++i) sums[i] += bonus[first + i];
}
HELPER float combined(COMBINE_IN, int i) {
    float score;
    combine(COMBINE, i, 1, &score);
    return score;
}

/* Empties the ranges of the other turn, which nobody reads now, for the next scores. One work-item does
 * it. */
HELPER void empty_ranges(global int *restrict all_ranges, int turn) {
    if (get_global_id(0) != 0) return;
    for (int p = 0; p < PARTS; ++p) vstore2((int2)(INT_MAX, INT_MIN), PARTS * (1 - turn) + p, all_ranges);
}

/* How many scores a work-item of score_combine makes. */
#define COMBINED (RUN > 1 ? 256 : 1)

/* Writes the scores. Work-item n makes COMBINED of them. */
kernel void score_combine(COMBINE_IN, global float *restrict scores) {
    const int first = get_global_id(0) * COMBINED, wanted = min(COMBINED, count - first);
    float sums[COMBINED];
    empty_ranges(all_ranges, turn);
    if (wanted <= 0) return;
    combine(COMBINE, first, wanted, sums);
    for (int i = 0; i < wanted; ++i) scores[first + i] = sums[i];
}

/*
 * Writes the scores, and the best k of them as pairs (index, bits of the score). Each group makes all scores,
 * since it must know them all to rank its own.
 */
kernel __attribute__((reqd_work_group_size(TOPK_GROUP, 1, 1))) void
score_rank(COMBINE_IN, global float *restrict scores, const int k, global int2 *restrict result) {
    local ulong keys[RANK_SPAN];
    local int before[RANK_KEYS];
    const int index = RANK_INDEX;
    const float score = index < count ? combined(COMBINE, index) : 0.0f;
    const ulong key = key_of(score, index);
    empty_ranges(all_ranges, turn);
#define SCORE(i) combined(COMBINE, i)
    RANK(key, count, SCORE, keys, before);
#undef SCORE
    if (RANK_LANE != 0 || index >= count) return;
    scores[index] = score;
    if (before[RANK_SLOT] < k) result[before[RANK_SLOT]] = (int2)(index, as_int(score));
}

/* Adds a bonus to each of `count` scores. */
kernel void score_add(global float *restrict scores, global const float *restrict bonus, const int count) {
    const int i = get_global_id(0);
    if (i < count) scores[i] += bonus[i];
}

/* How many scores a work-item of pass_range looks at. */
#define PASS_SPAN 64

/* Finds range = (smallest, largest) of `count` scores, as ordered integers that begin as an empty range. NaN
 * does not count. */
kernel void pass_range(global const float *restrict scores, const int count, global int *restrict range) {
    const int first = get_global_id(0) * PASS_SPAN;
    int least = INT_MAX, most = INT_MIN;
    for (int i = first; i < min(first + PASS_SPAN, count); ++i) {
        if (isnan(scores[i])) continue;
        least = min(least, ordered(scores[i]));
        most = max(most, ordered(scores[i]));
    }
    if (least > most) return;
    atomic_min(&range[0], least);
    atomic_max(&range[1], most);
}

/* Writes scores, brought to [0, 1] by their range, as one image of a texture. NaN becomes 0, and so do scores
 * that are all equal. Work-item (x, y) makes one texel. */
kernel void pass_keep(global const float *restrict scores, global const int *restrict range, const int image,
                      TEXTURE_OUT(result)) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= result_size.x || y >= result_size.y) return;
    const float score = scores[y * result_size.x + x], low = unordered(range[0]);
    const float span = range[0] <= range[1] ? unordered(range[1]) - low : 0.0f;
    const float value = span > TVLM_SCORE_FLOOR && !isnan(score) ? (score - low) / span : 0.0f;
    texel_store(result, x, y, image * result_size.z, (float4)(value, 0.0f, 0.0f, 0.0f));
}
