/* SPDX-License-Identifier: Apache-2.0 */
/*
 * score.c: scoring programs at grids of candidates, against the reference.
 */
#include "kernels/family.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GROUPS_MAX = 6 };

typedef struct program {
    tvlm_score_group groups[GROUPS_MAX];
    int32_t count;
    tvlm_score_combination combination;
} program;

static program random_program(const tvlm_bundle *bundle, uint64_t *random) {
    program made = {.count = 1 + (int32_t)(test_random(random) % GROUPS_MAX)};
    for (int32_t g = 0; g < made.count; ++g) {
        tvlm_score_group *group = &made.groups[g];
        group->part = g % TVLM_SCORE_PARTS;
        group->taps = test_random(random) % 3 == 0 ? TVLM_SCORE_TAPS : 1;
        for (int c = 0; c < 4; ++c) {
            group->refs[c] = test_random_ref(bundle, c > 0 ? group->refs[c - 1] : -1, random);
            group->cap[c] = test_random(random) % 4 == 0 ? 0.4f * test_random_unit(random) : INFINITY;
            /* Some channels of a layer share a level; others have levels of their own, some beyond the
             * last. */
            group->has_level[c] = test_random(random) % 3 == 0;
            group->level[c] = (float)(test_random(random) % 3) * 4.0f * test_random_unit(random);
            for (int tap = 0; tap < TVLM_SCORE_TAPS; ++tap)
                group->weight[tap][c] = 2.0f * test_random_unit(random) - 0.6f;
        }
    }
    made.combination.bias = test_random_unit(random);
    for (int p = 0; p < TVLM_SCORE_PARTS; ++p) {
        made.combination.weight[p] =
            p > 0 && test_random(random) % 5 == 0 ? 0.0f : test_random_unit(random) + 0.1f;
        made.combination.normalise[p] = test_random(random) % 2 == 0;
    }
    return made;
}

/* An entry of a ranking. */
typedef struct ranked {
    int32_t index;
    float score;
} ranked;

/* The order of a ranking: the larger score comes first. Of two equal scores the lower index comes first. NaN
 * comes last. */
static int before(const void *a, const void *b) {
    const ranked *const x = a, *const y = b;
    if (isnan(x->score) != isnan(y->score)) return isnan(x->score) ? 1 : -1;
    if (!isnan(x->score) && x->score != y->score) return x->score > y->score ? -1 : 1;
    return x->index - y->index;
}

/* The ranking must be that of the scores, to the bit. */
static void check_ranking(const float *scores, int32_t count, const ranked *got, int32_t k) {
    ranked *all = malloc((size_t)count * sizeof *all);
    assert_non_null(all);
    for (int32_t i = 0; i < count; ++i) all[i] = (ranked){i, scores[i]};
    qsort(all, (size_t)count, sizeof *all, before);
    for (int32_t i = 0; i < k; ++i)
        if (memcmp(&all[i], &got[i], sizeof *all) != 0)
            fail_msg("place %d of %d: candidate %d (%.9g), not %d (%.9g)", (int)i, (int)k, (int)got[i].index,
                     (double)got[i].score, (int)all[i].index, (double)all[i].score);
    free(all);
}

/* Returns the scores. They are made without and with a ranking, which is checked, and must not change them.
 * free() them. */
static float *score_on(tvlm_device *device, const tvlm_bundle *bundle, const program *p,
                       const tvlm_candidates *candidates) {
    const int32_t count = candidates->columns * candidates->rows, k = (count + 1) / 2;
    const size_t bytes = (size_t)count * sizeof(float);
    float *scores = malloc(bytes), *again = malloc(bytes);
    ranked *best = malloc((size_t)k * sizeof *best);
    assert_true(scores != NULL && again != NULL && best != NULL);
    tvlm_buffer *out = test_buffer(device, bytes, NULL);
    tvlm_buffer *result = test_buffer(device, (size_t)k * sizeof *best, NULL);
    const tvlm_ranking ranking = {k, result};
    for (int with = 0; with < 2; ++with) {
        if (device->backend->score(device, bundle, p->groups, p->count, &p->combination, candidates,
                                   with ? &ranking : NULL, out) != TVLM_OK)
            fail_msg("scoring: %s", test_last_log());
        assert_int_equal(device->backend->buffer_read(device, out, 0, bytes, with ? again : scores), TVLM_OK);
    }
    device->backend->buffer_destroy(device, &out);
    test_buffer_take(device, &result, (size_t)k * sizeof *best, best);
    for (int32_t i = 0; i < count; ++i)
        if (scores[i] != again[i] && !(isnan(scores[i]) && isnan(again[i])))
            fail_msg("candidate %d: %.9g, and %.9g with a ranking", (int)i, (double)scores[i],
                     (double)again[i]);
    check_ranking(again, count, best, k);
    free(again);
    free(best);
    return scores;
}

/* Largest minus smallest value of one part over the candidates. */
static float span_of(tvlm_device *reference, const tvlm_bundle *bundle, const program *p,
                     const tvlm_candidates *candidates, int part) {
    program alone = *p;
    memset(&alone.combination, 0, sizeof alone.combination);
    alone.combination.weight[part] = 1.0f;
    float *values = score_on(reference, bundle, &alone, candidates), low = INFINITY, high = -INFINITY;
    for (int32_t i = 0; i < candidates->columns * candidates->rows; ++i)
        low = fminf(low, values[i]), high = fmaxf(high, values[i]);
    free(values);
    return high - low;
}

/*
 * Each term of a sum is off by the error of its sample times its weight. These errors are independent, so
 * their squares add up; the worst may be twice that. Normalising stretches a part by its span, whose ends are
 * off themselves.
 */
static test_tolerance tolerance_of(const test_target *target, tvlm_device *reference,
                                   const test_bundle *bundle, const program *p,
                                   const tvlm_candidates *candidates) {
    const float sample = test_sample_tolerance(target, bundle->side, 1.0f) + 3e-7f;
    float maximum = 1e-6f;
    for (int part = 0; part < TVLM_SCORE_PARTS; ++part) {
        const float span = span_of(reference, &bundle->expected, p, candidates, part);
        float squares = 0.0f;
        for (int32_t g = 0; g < p->count; ++g)
            for (int tap = 0; tap < TVLM_SCORE_TAPS; ++tap)
                for (int c = 0; c < 4 && p->groups[g].part == part; ++c)
                    if (p->groups[g].taps == TVLM_SCORE_TAPS || tap == TVLM_SCORE_TAPS / 2)
                        squares += p->groups[g].weight[tap][c] * p->groups[g].weight[tap][c];
        const float stretch = !p->combination.normalise[part] ? 1.0f
                              : span > TVLM_SCORE_FLOOR       ? 2.0f / span
                                                              : 0.0f;
        maximum += p->combination.weight[part] * 2.0f * sqrtf(squares) * sample * stretch;
    }
    return (test_tolerance){maximum, maximum / 8.0f, 0.0f};
}

static void compare(const test_target *target, tvlm_device *reference, const test_bundle *bundle,
                    const program *p, const tvlm_candidates *candidates) {
    float *got = score_on(target->device, &bundle->got, p, candidates);
    float *expected = score_on(reference, &bundle->expected, p, candidates);
    char what[120];
    snprintf(what, sizeof what, "score of %dx%d candidates, level %g, image %d, %d textures, %d groups",
             (int)candidates->columns, (int)candidates->rows, (double)candidates->level,
             (int)candidates->image, (int)bundle->got.count, (int)p->count);
    test_compare_stage(what, got, expected, (size_t)candidates->columns * (size_t)candidates->rows, 1,
                       tolerance_of(target, reference, bundle, p, candidates), false);
    free(got);
    free(expected);
}

/* Returns cells of a stride over the bundle's 97 x 61 pixels. The last one of a row or column may be
 * clipped. */
static tvlm_candidates cells(float stride, float level, int32_t image) {
    return (tvlm_candidates){.columns = (int32_t)ceilf(97.0f / stride),
                             .rows = (int32_t)ceilf(61.0f / stride),
                             .step_x = stride,
                             .step_y = stride,
                             .level = level,
                             .image = image};
}

static void random_programs(const test_target *target, tvlm_device *reference) {
    static const int32_t counts[] = {0, 1, 3, 9};
    uint64_t random = 8;
    for (size_t i = 0; i < (test_small() ? 3 : sizeof counts / sizeof counts[0]); ++i) {
        test_bundle bundle = test_bundle_create(target, reference, counts[i], false, 0.0f, 1.0f, &random);
        const tvlm_candidates all[] = {cells(16.0f, 4.0f, 0), cells(7.5f, 2.9f, 1), cells(97.0f, 6.0f, 2),
                                       cells(1.0f, 0.0f, 2), cells(3.0f, 1.58f, 1)};
        for (size_t c = 0; c < (test_small() ? 1 : sizeof all / sizeof all[0]); ++c)
            for (int round = 0; round < (test_small() ? 1 : 3); ++round) {
                const program p = random_program(&bundle.got, &random);
                compare(target, reference, &bundle, &p, &all[c]);
            }
        test_bundle_destroy(&bundle);
    }
}

/* ---- Known answers ---- */

static program one_channel(int32_t ref, bool normalise) {
    program p = {.count = 1};
    p.groups[0] = (tvlm_score_group){.refs = {ref, TVLM_REF_ZERO, TVLM_REF_ZERO, TVLM_REF_ZERO},
                                     .taps = 1,
                                     .cap = {INFINITY, INFINITY, INFINITY, INFINITY},
                                     .weight = {[4] = {1.0f}}};
    p.combination = (tvlm_score_combination){.bias = 0.25f, .weight = {1.0f}, .normalise = {normalise}};
    return p;
}

/* Makes a row of `count` texels, one for each candidate. */
static tvlm_texture *row_of(const test_target *target, const float *row, int32_t count) {
    tvlm_texture shape = test_shape((test_size){count, 1}, 1, 1, target->format);
    shape.levels = 1;
    tvlm_texture *texture = test_texture(target->device, &shape);
    float *rgba = calloc((size_t)count * 4, sizeof *rgba);
    assert_non_null(rgba);
    for (size_t i = 0; i < (size_t)count; ++i) rgba[4 * i] = row[i];
    assert_int_equal(target->device->backend->texture_write(target->device, texture, 0, rgba), TVLM_OK);
    free(rgba);
    return texture;
}

static float *score_row(const test_target *target, const float *row, int32_t count, const program *p) {
    tvlm_texture *texture = row_of(target, row, count);
    const tvlm_bundle bundle = {
        .count = 1, .textures = {texture}, .width = (float)count, .height = 1.0f, .farthest = 1.0f};
    const tvlm_candidates candidates = {.columns = count, .rows = 1, .step_x = 1.0f, .step_y = 1.0f};
    float *scores = score_on(target->device, &bundle, p, &candidates);
    target->device->backend->texture_destroy(target->device, &texture);
    return scores;
}

/* A part that is equal everywhere, but for rounding, adds nothing to the scores. */
static void all_equal(const test_target *target, tvlm_device *reference) {
    enum { COUNT = 37 };
    const program p = one_channel(TVLM_REF(0, 0, 0), true);
    float row[COUNT];
    (void)reference;
    for (int i = 0; i < COUNT; ++i) row[i] = 0.7f;
    float *got = score_row(target, row, COUNT, &p);
    for (int i = 0; i < COUNT; ++i)
        if (got[i] != 0.25f) fail_msg("all equal: candidate %d scores %.9g", i, (double)got[i]);
    free(got);
}

/*
 * What a NaN does:
 * - It takes no part in the range, and stays a NaN, whether it is capped or not.
 * - The candidate beside it may become one, too, since a filter's weight of 0 does not hide it.
 * - It does nothing in a part of weight 0, which is not read.
 */
static void not_a_number(const test_target *target, tvlm_device *reference) {
    enum { COUNT = 9 };
    const float row[COUNT] = {2.0f, 4.0f, 3.0f, 2.5f, 3.5f, 3.0f, NAN, NAN, NAN};
    const double expected[5] = {0.25, 1.25, 0.75, 0.5, 1.0};
    (void)reference;
    for (int capped = 0; capped < 2; ++capped) {
        program p = one_channel(TVLM_REF(0, 0, 0), true);
        if (capped) p.groups[0].cap[0] = 4.0f;
        float *got = score_row(target, row, COUNT, &p);
        for (int i = 0; i < 5; ++i)
            if (!(fabs((double)got[i] - expected[i]) <= 0.01))
                fail_msg("candidate %d scores %g", i, (double)got[i]);
        assert_true(isnan(got[7]) && isnan(got[8]));
        free(got);
    }
    program p = one_channel(TVLM_REF(TVLM_BUNDLE_FORMULA, 0, 3), false);
    p.count = 2;
    p.groups[1] = one_channel(TVLM_REF(0, 0, 0), false).groups[0];
    p.groups[1].part = 1; /* of weight 0 */
    float *got = score_row(target, row, COUNT, &p);
    for (int i = 0; i < COUNT; ++i) assert_true(got[i] == 0.25f);
    free(got);
}

/* There are more candidates than a launch has work-items in flight. Each must get its own score. */
static void many(const test_target *target, tvlm_device *reference) {
    const tvlm_bundle bundle = {.width = 1001.0f, .height = 333.0f, .farthest = 1.0f};
    program p = one_channel(TVLM_REF(TVLM_BUNDLE_FORMULA, 0, 0), false);
    p.groups[0].refs[1] = TVLM_REF(TVLM_BUNDLE_FORMULA, 0, 1);
    p.groups[0].weight[4][1] = 2.0f;
    const tvlm_candidates candidates = {.columns = 1001, .rows = 333, .step_x = 1.0f, .step_y = 1.0f};
    const size_t count = (size_t)candidates.columns * (size_t)candidates.rows;
    float *got = score_on(target->device, &bundle, &p, &candidates);
    float *expected = score_on(reference, &bundle, &p, &candidates);
    /* Two divisions of 2.5 ulp below 1, one of which counts twice, and two sums below 4. */
    test_compare_stage("score of 333333 candidates", got, expected, count, 1,
                       (test_tolerance){1.5e-6f, 3e-7f, 0.0f}, false);
    free(got);
    free(expected);
}

/* A bonus is added to the scores by one sum of floats. */
static void bonus(const test_target *target, tvlm_device *reference) {
    enum { COUNT = 300 };
    program p = one_channel(TVLM_REF(0, 0, 0), true);
    float row[COUNT], more[COUNT];
    (void)reference;
    for (int i = 0; i < COUNT; ++i) {
        row[i] = (float)(i * 37 % COUNT) / (float)COUNT;
        more[i] = (float)(i * 61 % COUNT) / (float)COUNT;
    }
    float *plain = score_row(target, row, COUNT, &p);
    p.combination.bonus = test_buffer(target->device, sizeof more, more);
    float *got = score_row(target, row, COUNT, &p);
    for (int i = 0; i < COUNT; ++i)
        if (got[i] != plain[i] + more[i])
            fail_msg("candidate %d: %.9g + %.9g = %.9g", i, (double)plain[i], (double)more[i],
                     (double)got[i]);
    target->device->backend->buffer_destroy(target->device, &p.combination.bonus);
    free(plain);
    free(got);
}

TEST_FAMILY(score, {"random programs", TEST_TUNED, .body = random_programs},
            {"all equal", TEST_TUNED, .body = all_equal}, {"not a number", TEST_TUNED, .body = not_a_number},
            {"bonus", TEST_TUNED, .body = bonus}, {"many", TEST_TUNED | TEST_LARGE, .body = many})
