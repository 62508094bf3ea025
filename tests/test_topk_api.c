/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tvlm_topk against qsort, on the reference device and every device under test; and what it refuses.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

typedef struct entry {
    float score;
    int32_t index;
} entry;

/* Best first, ties by lower index, NaN last. */
static int by_rank(const void *left, const void *right) {
    const entry *a = left, *b = right;
    if (isnan(a->score) != isnan(b->score)) return isnan(a->score) ? 1 : -1;
    if (!isnan(a->score) && a->score != b->score) return a->score > b->score ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void check_topk(tvlm_device *device, const float *scores, int32_t n, int32_t k) {
    entry *expected = calloc((size_t)n, sizeof *expected);
    int32_t *indices = calloc((size_t)k + 1, sizeof *indices);
    float *values = calloc((size_t)k + 1, sizeof *values);
    assert_non_null(expected);
    assert_non_null(indices);
    assert_non_null(values);
    for (int32_t i = 0; i < n; ++i) expected[i] = (entry){scores[i], i};
    qsort(expected, (size_t)n, sizeof *expected, by_rank);
    indices[k] = -7;
    values[k] = -7.0f;
    assert_int_equal(tvlm_topk(device, scores, n, k, indices, values), TVLM_OK);
    for (int32_t i = 0; i < k; ++i) {
        if (indices[i] != expected[i].index)
            fail_msg("n %d, k %d: rank %d is %d, expected %d", (int)n, (int)k, (int)i, (int)indices[i],
                     (int)expected[i].index);
        assert_true(values[i] == expected[i].score || (isnan(values[i]) && isnan(expected[i].score)));
    }
    assert_true(indices[k] == -7 && values[k] == -7.0f);
    assert_int_equal(tvlm_topk(device, scores, n, k, indices, NULL), TVLM_OK);
    assert_int_equal(indices[0], expected[0].index);
    free(expected);
    free(indices);
    free(values);
}

/* kind 0: random; 1: few values, so many ties; 2: with NaN and infinities; 3: all equal; 4: rising; 5: falling, in
 * pairs; 6: one outlier; 7: NaN but for a few. */
enum { KINDS = 8 };
static float *make_scores(uint64_t *seed, int32_t n, int kind) {
    float *scores = malloc((size_t)n * sizeof *scores);
    assert_non_null(scores);
    for (int32_t i = 0; i < n; ++i) {
        const float unit = test_random_unit(seed);
        switch (kind) {
        case 1: scores[i] = floorf(4.0f * unit) - 2.0f; break;
        case 2: scores[i] = unit; break;
        case 3: scores[i] = 0.5f; break;
        case 4: scores[i] = (float)i; break;
        case 5: scores[i] = (float)(-i / 2); break;
        case 6: scores[i] = i == n / 2 ? 1e30f : unit; break;
        case 7: scores[i] = i % 100 == 99 ? unit : NAN; break;
        default: scores[i] = 2.0f * unit - 1.0f;
        }
        if (kind == 2 && i % 5 == 0) scores[i] = i % 10 == 0 ? NAN : i % 3 == 0 ? INFINITY : -INFINITY;
        if (kind == 1 && scores[i] == 0.0f && i % 2 == 0) scores[i] = -0.0f;
    }
    return scores;
}

static void check_device(tvlm_device *device) {
    static const int32_t sizes[] = {1, 2, 3, 31, 64, 255, 1000, 4096, 5000, 70001};
    uint64_t seed = 43;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
        const int32_t n = sizes[s];
        if (test_small() && n > 1000) continue;
        for (int kind = 0; kind < KINDS; ++kind) {
            float *scores = make_scores(&seed, n, kind);
            const int32_t ks[] = {1, n / 3 + 1, n < 273 ? n : 273, n};
            for (size_t i = 0; i < sizeof ks / sizeof ks[0]; ++i) check_topk(device, scores, n, ks[i]);
            free(scores);
        }
    }
}

static void test_reference(void **state) {
    tvlm_device *device = NULL;
    (void)state;
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "reference"), &device), TVLM_OK);
    check_device(device);
    tvlm_device_destroy(&device);
}

static void on_target(const test_target *target, tvlm_device *reference) {
    (void)reference;
    if (target->format == TVLM_FORMAT_F32) check_device(target->device); /* scores are float in either */
}

static void test_targets(void **state) {
    (void)state;
    if (test_for_each_target(on_target) == 0) skip();
}

static void refused(tvlm_device *device, int32_t n, int32_t k, const char *line) {
    static const float scores[4] = {0};
    int32_t indices[4];
    assert_int_equal(tvlm_topk(device, scores, n, k, indices, NULL), TVLM_ERROR_ARGUMENT);
    if (strstr(test_last_log(), line) == NULL) fail_msg("'%s' does not say '%s'", test_last_log(), line);
}

static void test_refusals(void **state) {
    static const float score = 0.0f;
    tvlm_device *device = NULL;
    int32_t index;
    (void)state;
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "reference", .log = &test_log), &device),
                     TVLM_OK);
    refused(device, 4, 0, "k is 0");
    refused(device, 4, -2, "k is -2");
    refused(device, 4, 5, "k is 5, but there are only 4 scores");
    refused(device, 0, 1, "n is 0");
    refused(device, 1 << 28, 1, "n is 268435456");
    assert_int_equal(tvlm_topk(NULL, &score, 1, 1, &index, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_topk(device, NULL, 1, 1, &index, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_topk(device, &score, 1, 1, NULL, NULL), TVLM_ERROR_ARGUMENT);
    tvlm_device_destroy(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference), cmocka_unit_test(test_targets),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
