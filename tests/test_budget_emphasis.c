/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_budget_emphasis.c: how much each tile matters, from numbers that are known: what a question finds counts from the
 * median on, of an even number of tiles from the lower one of the two in the middle on, and never from above the half. And how
 * strongly it counts, and which scores it is made of, on an image whose channels are known.
 */
#include <math.h>
#include <string.h>

#include "select/budget.h"
#include "stack/grids.h"
#include "stack/make.h"
#include "stack_helper.h"

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

/* ---- On an image ---- */

enum { SIDE = 64, TILES = 16 };

/* An image of 4 x 4 tiles, of which the g of each is a multiple of 15, and of which a query finds as many 15ths. */
typedef struct asked {
    tvlm_device *device;
    tvlm_stack *stack;
    float similar[TILES];
    struct tvlm_query query;
} asked;

static asked ask(void) {
    static uint8_t pixels[SIDE * SIDE * 3];
    asked a = {.device = open_reference()};
    for (int i = 0; i < SIDE * SIDE; ++i) {
        const int tile = i / SIDE / 16 * 4 + i % SIDE / 16;
        pixels[3 * i] = 99;
        pixels[3 * i + 1] = (uint8_t)(15 * tile);
    }
    for (int tile = 0; tile < TILES; ++tile) a.similar[tile] = (float)tile / 15.0f;
    const tvlm_image image = u8_image(pixels, SIDE, SIDE, 3);
    a.stack = stack_of(a.device, TVLM_FORMAT_F32, &image);
    assert_int_equal(tvlm_stack_make(a.stack, 0, TVLM_GRID_BIT(TVLM_GRID_SOURCE)), TVLM_OK);
    a.query = (struct tvlm_query){.columns = 4, .rows = 4};
    return a;
}

static void release(asked *a) {
    tvlm_stack_destroy(&a->stack);
    tvlm_device_destroy(&a->device);
}

static const int32_t green = TVLM_CHANNEL_G;
static const float two = 2.0f;
static const tvlm_scorer of_green = {.channel_count = 1, .channels = &green, .taps = 1, .weights = &two};
static const struct tvlm_scores own = {.columns = 4, .rows = 4};

/* NULL: it is as strong as expected. */
static void expect_strength(const tvlm_task *task, double expected, const char *line) {
    double emphasis = -1.0;
    if (line != NULL) {
        refused(tvlm_budget_find_emphasis(task, &emphasis), TVLM_ERROR_ARGUMENT, line);
        return;
    }
    assert_int_equal(tvlm_budget_find_emphasis(task, &emphasis), TVLM_OK);
    assert_true(emphasis == expected);
}

/* Where nothing is said, a channel has none, a query 300, and a scorer or scores 32. Of a channel that has no input none is
 * asked, beside a query one alone. */
static void test_strength(void **state) {
    asked a = ask();
    tvlm_task task = {.stack = a.stack, .params = {.patch = 16.0f}};
    (void)state;
    expect_strength(&task, 0.0, NULL);
    task.params.budget.emphasis = 2.5f;
    expect_strength(&task, 2.5, NULL);
    task.params.budget.emphasis_channel = TVLM_CHANNEL_QUERY_SIMILARITY;
    expect_strength(&task, 0.0,
                    "an emphasis on the channel query_similarity (58), for which the image has no input");
    task.query = &a.query;
    expect_strength(&task, 2.5, NULL);
    task.params.budget.emphasis_channel = TVLM_CHANNEL_DEPTH;
    expect_strength(&task, 0.0, "an emphasis on a channel, and a query");
    task.query = NULL;
    expect_strength(&task, 0.0, "an emphasis on the channel depth (52), for which the image has no input");
    task.params.budget.emphasis = TVLM_EXPLICIT_ZERO;
    expect_strength(&task, 0.0, NULL);
    task.params.score.scorer = &of_green;
    expect_strength(&task, 0.0, "an emphasis on a channel, and a scorer");
    task.params.budget.emphasis_channel = 0;
    expect_strength(&task, 0.0, NULL);
    task.params.budget.emphasis = 0.0f;
    expect_strength(&task, 32.0, NULL);
    task.params.score.scorer = NULL;
    task.params.scores = &own;
    expect_strength(&task, 32.0, NULL);
    task.params.scores = NULL;
    task.query = &a.query;
    expect_strength(&task, 300.0, NULL);
    task.params.budget.emphasis = 7.0f;
    expect_strength(&task, 7.0, NULL);
    release(&a);
}

/* Each tile's score, as many steps of that size as its number. */
static void expect_scores(const tvlm_task *task, double step) {
    tvlm_device *const device = tvlm_stack_device(task->stack);
    tvlm_buffer *scores;
    float got[TILES];
    assert_int_equal(tvlm_budget_score(task, &scores), TVLM_OK);
    assert_int_equal(device->backend->buffer_read(device, scores, 0, sizeof got, got), TVLM_OK);
    for (int tile = 0; tile < TILES; ++tile)
        if (fabs((double)got[tile] - step * tile) > 1e-6) fail_msg("tile %d: %g", tile, (double)got[tile]);
}

/* A channel as it is, what a scorer makes of it, scores as they are given, and of a query what it finds alone. */
static void test_scores(void **state) {
    asked a = ask();
    tvlm_task task = {.stack = a.stack,
                      .params = {.patch = 16.0f, .budget.emphasis_channel = TVLM_CHANNEL_G}};
    struct tvlm_scores given = own;
    (void)state;
    a.query.similarity = given.values = a.similar;
    expect_scores(&task, 15.0 / 255.0);
    task.params.budget.emphasis_channel = 0;
    task.params.score.scorer = &of_green;
    expect_scores(&task, 30.0 / 255.0);
    task.params.score.scorer = NULL;
    task.query = &a.query;
    expect_scores(&task, 1.0 / 15.0);
    task.query = NULL;
    task.params.scores = &given;
    expect_scores(&task, 1.0 / 15.0);
    release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median),         cmocka_unit_test(test_at_most_half),
        cmocka_unit_test(test_not_finite),     cmocka_unit_test(test_equal),
        cmocka_unit_test(test_other_meanings), cmocka_unit_test(test_strength),
        cmocka_unit_test(test_scores)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
