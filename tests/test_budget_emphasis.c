/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_budget_emphasis.c: how much each tile matters, from numbers that are known: what a question finds counts from the
 * median on, of an even number of tiles from the lower one of the two in the middle on, and never from above the half.
 */
#include <math.h>
#include <string.h>

#include "select/budget.h"
#include "support.h"

/* Of scores that a question has made, in place. */
static void importance(float *scores, int32_t count) {
    const struct tvlm_query query = {0};
    const tvlm_task task = {.query = &query};
    tvlm_budget_importance(&task, scores, count);
}

static void expect(const float *scores, int32_t count, float from, float to) {
    float got[8];
    memcpy(got, scores, (size_t)count * sizeof *got);
    importance(got, count);
    for (int32_t i = 0; i < count; ++i) {
        const float share =
            isfinite(scores[i]) ? fminf(fmaxf((scores[i] - from) / (to - from), 0.0f), 1.0f) : 0.0f;
        if (!(fabsf(got[i] - share * share) < 1e-5f))
            fail_msg("tile %d of %d: %g matters %g, not %g", (int)i, (int)count, (double)scores[i],
                     (double)got[i], (double)(share * share));
    }
}

static void test_median(void **state) {
    (void)state;
    expect((float[]){0.0f, 0.2f, 0.4f, 1.0f}, 4, 0.2f, 1.0f);
    expect((float[]){1.0f, 0.0f, 0.3f}, 3, 0.3f, 1.0f);
    expect((float[]){0.1f, 0.9f}, 2, 0.1f, 0.9f);
    expect((float[]){0.4f, 0.1f, 0.4f, 0.2f, 0.9f, 0.3f}, 6, 0.3f, 0.9f);
    expect((float[]){-1.0f, -0.5f, -0.25f, 3.0f, 2.0f, -0.75f}, 6, -0.5f, 3.0f);
}

/* Where half of the tiles or more are high, the median would hide them. */
static void test_at_most_half(void **state) {
    (void)state;
    expect((float[]){0.0f, 0.8f, 0.9f, 1.0f}, 4, 0.5f, 1.0f);
    expect((float[]){0.0f, 1.0f, 1.0f}, 3, 0.5f, 1.0f);
}

/* What is not finite does not matter, and moves no median. */
static void test_not_finite(void **state) {
    (void)state;
    expect((float[]){0.0f, NAN, 0.2f, 0.4f, 1.0f}, 5, 0.2f, 1.0f);
    expect((float[]){0.0f, -INFINITY, 0.2f, 0.4f, 1.0f}, 5, 0.2f, 1.0f);
}

/* Where all are equal nothing does. */
static void test_equal(void **state) {
    float scores[] = {0.5f, 0.5f, 0.5f};
    (void)state;
    importance(scores, 3);
    for (int i = 0; i < 3; ++i) assert_true(scores[i] == 0.0f);
}

static void expect_shares(const tvlm_task *task, const float *scores, const float *expected) {
    float got[5];
    memcpy(got, scores, sizeof got);
    tvlm_budget_importance(task, got, 5);
    for (int i = 0; i < 5; ++i)
        if (!(fabsf(got[i] - expected[i]) < 1e-6f)) fail_msg("tile %d matters %g", i, (double)got[i]);
}

/* Scores of one's own count from the least to the most of them, a channel from the least to the most that it may have. A query
 * beside them is not what counts. */
static void test_other_meanings(void **state) {
    static const float scores[] = {3.0f, -1.0f, 0.5f, NAN, INFINITY},
                       own[] = {1.0f, 0.0f, 0.375f, 0.0f, 1.0f}, clamped[] = {1.0f, 0.0f, 0.5f, 0.0f, 1.0f};
    const struct tvlm_query query = {0};
    const tvlm_scorer scorer = {0};
    const struct tvlm_scores given = {0};
    tvlm_task task = {.params.scores = &given};
    (void)state;
    expect_shares(&task, scores, own);
    task.query = &query;
    expect_shares(&task, scores, own);
    task.params.scores = NULL;
    task.params.score.scorer = &scorer;
    expect_shares(&task, scores, own);
    task.params.budget.emphasis_channel = TVLM_CHANNEL_SALIENCY;
    expect_shares(&task, scores, clamped);
    task = (tvlm_task){0}; /* saliency, where nothing is said */
    expect_shares(&task, scores, clamped);
    task.params.budget.emphasis_channel = 2000000000; /* a plane's, whose range nobody knows */
    expect_shares(&task, scores, own);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_median), cmocka_unit_test(test_at_most_half),
                                       cmocka_unit_test(test_not_finite), cmocka_unit_test(test_equal),
                                       cmocka_unit_test(test_other_meanings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
