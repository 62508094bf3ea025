/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_attend.c: attention over the vectors of grids. Exact attention is compared with a softmax in double, a
 * coarse level with the definition written down for sides that are even; ties; what is refused; and the channel that
 * the map becomes. kernels/attend_reference.c compares devices with the reference.
 */
#include "attend_helper.h"

/* ---- Against the definition ---- */

/* What a row attends to: `n` cells that are each the mean of some of level 0, and how many these are. */
typedef struct cells {
    int32_t n;
    const double *k, *v, *counts;
} cells;

static void softmax_row(const problem *p, int32_t query, int32_t head, const cells *c, double *out) {
    const int32_t keys = p->keys / p->heads, values = p->values / p->heads;
    double *scores = malloc((size_t)c->n * sizeof *scores), most = -INFINITY, sum = 0.0;
    assert_non_null(scores);
    for (int32_t j = 0; j < c->n; ++j) {
        double dot = 0.0;
        for (int32_t i = 0; i < keys; ++i)
            dot += (double)p->q[query * p->keys + head * keys + i] * c->k[j * p->keys + head * keys + i];
        scores[j] = dot / sqrt(keys);
        most = fmax(most, scores[j]);
    }
    for (int32_t j = 0; j < c->n; ++j) sum += scores[j] = c->counts[j] * exp(scores[j] - most);
    for (int32_t i = 0; i < values; ++i) {
        double value = 0.0;
        for (int32_t j = 0; j < c->n; ++j) value += scores[j] / sum * c->v[j * p->values + head * values + i];
        out[query * p->values + head * values + i] = value;
    }
    free(scores);
}

/* The largest |got - expected| over the largest |expected|. */
static double error_of(const float *got, const double *expected, size_t count) {
    double most = 0.0, error = 0.0;
    for (size_t i = 0; i < count; ++i) {
        assert_true(isfinite(got[i]));
        most = fmax(most, fabs(expected[i]));
        error = fmax(error, fabs((double)got[i] - expected[i]));
    }
    return error / most;
}

static double *doubles(const float *values, size_t count) {
    double *made = malloc(count * sizeof *made);
    assert_non_null(made);
    for (size_t i = 0; i < count; ++i) made[i] = (double)values[i];
    return made;
}

/* Level 0, and everything in detail, is exact attention: also where sides are odd, and step by step. */
static void check_exact(tvlm_device *device, tvlm_format format) {
    static const int32_t sizes[][6] = {{1, 1, 3, 2, 2, 1}, {13, 7, 12, 20, 5, 4}, {16, 8, 33, 64, 3, 1}};
    if (format == TVLM_FORMAT_F16) return; /* whose vectors are others */
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
        const int32_t *const z = sizes[s];
        problem p = make_problem(7 + s, z[0], z[1], z[2], z[3], z[4], z[5]);
        const size_t all = (size_t)(p.columns * p.rows), count = (size_t)(p.count * p.values);
        double *k = doubles(p.k, all * (size_t)p.keys), *v = doubles(p.v, all * (size_t)p.values);
        double *ones = malloc(all * sizeof *ones), *expected = malloc(count * sizeof *expected);
        assert_true(ones != NULL && expected != NULL);
        for (size_t i = 0; i < all; ++i) ones[i] = 1.0;
        const cells c = {(int32_t)all, k, v, ones};
        for (int32_t row = 0; row < p.count * p.heads; ++row)
            softmax_row(&p, row / p.heads, row % p.heads, &c, expected);
        for (int how = 0; how < (z[0] > 1 ? 4 : 1); ++how) {
            const struct tvlm_attend_params params = {.level = how == 0   ? 0
                                                               : how == 1 ? 1
                                                                          : 3,
                                                      .fine = 1.0f,
                                                      .steps = how == 3};
            answer a = attend(device, format, &p, params);
            const double error = error_of(a.out, expected, count);
            if (error > 1e-5) fail_msg("%d x %d, way %d: off by %g", (int)z[0], (int)z[1], how, error);
            assert_true(fabs(a.info.values - (double)all) < 1e-9);
            if (how == 0) assert_true(fabs(a.info.bytes - 1.0) < 1e-9);
            free_answer(&a);
        }
        free(k);
        free(v);
        free(ones);
        free(expected);
        free_problem(&p);
    }
}

enum { SIDE = 8, COARSE = 4, KEYS = 6, VALUES = 4, QUERIES = 3 };

/* The mean of 2 x 2 cells of a grid of SIDE x SIDE. */
static double mean_of(const float *vectors, int32_t dimension, int32_t cell, int32_t i) {
    double sum = 0.0;
    for (int n = 0; n < 4; ++n) {
        const int32_t x = 2 * (cell % COARSE) + n % 2, y = 2 * (cell / COARSE) + n / 2;
        sum += (double)vectors[(y * SIDE + x) * dimension + i];
    }
    return sum / 4.0;
}

/* Which coarse cells have the `wanted` highest products with a query, found by counting better ones. */
static void find_best(const problem *p, int32_t query, int32_t wanted, bool best[COARSE * COARSE]) {
    double scores[COARSE * COARSE];
    for (int32_t cell = 0; cell < COARSE * COARSE; ++cell) {
        scores[cell] = 0.0;
        for (int32_t i = 0; i < KEYS; ++i)
            scores[cell] += (double)p->q[query * KEYS + i] * mean_of(p->k, KEYS, cell, i);
    }
    for (int32_t cell = 0; cell < COARSE * COARSE; ++cell) {
        int better = 0;
        for (int32_t other = 0; other < COARSE * COARSE; ++other)
            better += scores[other] > scores[cell] || (scores[other] == scores[cell] && other < cell);
        best[cell] = better < wanted;
    }
}

/* Lists what a query attends to: `coarse` cells, but for the best ones where `whole` is false, and the cells of level 0
 * of the best where `fine` is true. Returns how many. */
static int32_t list(const problem *p, const bool best[COARSE * COARSE], bool coarse, bool whole, bool fine,
                    double k[][KEYS], double v[][VALUES], double *counts) {
    int32_t n = 0;
    for (int32_t cell = 0; coarse && cell < COARSE * COARSE; ++cell) {
        if (best[cell] && !whole) continue;
        for (int32_t i = 0; i < KEYS; ++i) k[n][i] = mean_of(p->k, KEYS, cell, i);
        for (int32_t i = 0; i < VALUES; ++i) v[n][i] = mean_of(p->v, VALUES, cell, i);
        counts[n++] = 4.0;
    }
    for (int32_t cell = 0; fine && cell < SIDE * SIDE; ++cell) {
        if (!best[cell / SIDE / 2 * COARSE + cell % SIDE / 2]) continue;
        for (int32_t i = 0; i < KEYS; ++i) k[n][i] = (double)p->k[cell * KEYS + i];
        for (int32_t i = 0; i < VALUES; ++i) v[n][i] = (double)p->v[cell * VALUES + i];
        counts[n++] = 1.0;
    }
    return n;
}

static void attend_listed(const problem *p, int32_t query, const bool best[COARSE * COARSE], bool coarse,
                          bool whole, bool fine, double *out) {
    static double k[SIDE * SIDE + COARSE * COARSE][KEYS], v[SIDE * SIDE + COARSE * COARSE][VALUES];
    double counts[SIDE * SIDE + COARSE * COARSE];
    const cells c = {list(p, best, coarse, whole, fine, k, v, counts), k[0], v[0], counts};
    softmax_row(p, query, 0, &c, out);
}

/* A level of 4 x 4 over 8 x 8 cells, five of which (0.3 of 16 is 4.8) are looked at in detail; and the mix. */
static void check_definition(tvlm_device *device, tvlm_format format) {
    problem p = make_problem(3, SIDE, SIDE, KEYS, VALUES, QUERIES, 1);
    double expected[QUERIES * VALUES], coarse[QUERIES * VALUES], fine[QUERIES * VALUES];
    bool best[COARSE * COARSE];
    if (format == TVLM_FORMAT_F32) {
        for (int32_t query = 0; query < QUERIES; ++query) {
            find_best(&p, query, 5, best);
            attend_listed(&p, query, best, true, false, true, expected);
            attend_listed(&p, query, best, true, true, false, coarse);
            attend_listed(&p, query, best, false, false, true, fine);
        }
        answer a = attend(device, format, &p, (struct tvlm_attend_params){.level = 1, .fine = 0.3f});
        assert_true(error_of(a.out, expected, QUERIES * VALUES) < 1e-5);
        assert_true(fabs(a.info.keys - (16 + 20)) < 1e-9 && fabs(a.info.values - (11 + 20)) < 1e-9);
        assert_true(fabs(a.info.bytes - (36.0 * KEYS + 31.0 * VALUES) / (64.0 * (KEYS + VALUES))) < 1e-9);
        free_answer(&a);
        for (int i = 0; i < QUERIES * VALUES; ++i) expected[i] = 0.7 * coarse[i] + 0.3 * fine[i];
        a = attend(device, format, &p, (struct tvlm_attend_params){.level = 1, .fine = 0.3f, .mix = 0.7f});
        assert_true(error_of(a.out, expected, QUERIES * VALUES) < 1e-5);
        assert_true(fabs(a.info.keys - 36) < 1e-9 && fabs(a.info.values - 36) < 1e-9);
        free_answer(&a);
    }
    free_problem(&p);
}

/* ---- Ties, the channel, and other images ---- */

/* Where all cells are alike, the first ones are looked at; and what comes out is their vector. */
static void check_ties(tvlm_device *device, tvlm_format format) {
    problem p = make_problem(1, 8, 4, 2, 2, 1, 1);
    for (int i = 0; i < 64; ++i) p.k[i] = 0.5f, p.v[i] = i % 2 ? 3.0f : 1.0f;
    answer a = attend(device, format, &p, (struct tvlm_attend_params){.level = 1, .fine = 0.25f});
    assert_true(fabsf(a.out[0] - 1.0f) < 1e-5f && fabsf(a.out[1] - 3.0f) < 1e-5f);
    for (int i = 0; i < 32; ++i) assert_true(fabsf(a.map[i] - 1.0f / 32.0f) < 1e-7f);
    assert_true(fabs(a.info.values - (6 + 8)) < 1e-9);
    free_answer(&a);
    free_problem(&p);
}

/* Features of the second image of a batch, which covers pixels: the map becomes a channel of that image alone. */
static void check_channel(tvlm_device *device, tvlm_format format) {
    problem p = make_problem(5, 6, 4, 8, 8, 2, 1);
    float out[2 * 8], map[24], read[24], most = 0.0f;
    tvlm_stack *stack = NULL;
    bool has;
    assert_int_equal(
        tvlm_stack_create(device, tvlm_stack_params(.width = 60, .height = 40, .images = 2, .format = format),
                          &stack),
        TVLM_OK);
    assert_int_equal(
        tvlm_stack_set_grid(stack, 1, TVLM_CHANNEL_FEATURE_0,
                            tvlm_grid_input(.data = p.k, .columns = 6, .rows = 4, .channels = 8)),
        TVLM_OK);
    const struct tvlm_attend_params params = {
        .index = 1, .queries = p.q, .count = 2, .dimension = 8, .level = 1, .keep = true};
    assert_int_equal(tvlm_attend(stack, NULL, &params, 16, out, map, NULL), TVLM_OK);
    assert_int_equal(tvlm_stack_has_channel(stack, 1, TVLM_CHANNEL_ATTENTION, &has), TVLM_OK);
    assert_true(has);
    assert_int_equal(tvlm_stack_has_channel(stack, 0, TVLM_CHANNEL_ATTENTION, &has), TVLM_OK);
    assert_false(has);
    assert_int_equal(tvlm_stack_read(stack, 1, TVLM_CHANNEL_ATTENTION, 0, 24, read), TVLM_OK);
    for (int i = 0; i < 24; ++i) most = fmaxf(most, map[i]);
    for (int i = 0; i < 24; ++i) map[i] /= most;
    test_compare("attention", read, map, 24, 1e-3f, 5e-4f);
    /* Other features: the copy of the vectors is made anew. */
    float before[16];
    memcpy(before, out, sizeof before);
    assert_int_equal(
        tvlm_stack_set_grid(stack, 1, TVLM_CHANNEL_FEATURE_0,
                            tvlm_grid_input(.data = p.v, .columns = 6, .rows = 4, .channels = 8)),
        TVLM_OK);
    assert_int_equal(tvlm_attend(stack, NULL, &params, 16, out, NULL, NULL), TVLM_OK);
    assert_memory_not_equal(before, out, sizeof out);
    tvlm_stack_destroy(&stack);
    free_problem(&p);
}

/* ---- What is refused ---- */

static void check_refusals(tvlm_device *device, tvlm_format format) {
    problem p = make_problem(2, 12, 5, 6, 6, 2, 1), narrow = p;
    float out[12];
    narrow.columns = 11;
    tvlm_stack *keys = grid_stack(device, format, &p, p.k, 6),
               *few = grid_stack(device, format, &narrow, p.k, 6);
    tvlm_stack *none = NULL;
    assert_int_equal(
        tvlm_stack_create(device, tvlm_stack_params(.layout = "x", .width = 12, .height = 5), &none),
        TVLM_OK);
    const struct tvlm_attend_params fits = {.queries = p.q, .count = 2, .dimension = 6};
#define REFUSED(line, ...)                                                                                   \
    do {                                                                                                     \
        struct tvlm_attend_params bad = fits;                                                                \
        __VA_ARGS__;                                                                                         \
        refused(tvlm_attend(keys, values, &bad, 12, out, NULL, NULL), TVLM_ERROR_ARGUMENT, line);            \
    } while (0)
    tvlm_stack *values = NULL;
    REFUSED("level 4 of keys of 12 x 5 cells, which have 0 to 3", bad.level = 4);
    REFUSED("level -1 of keys", bad.level = -1);
    REFUSED("a fine share of 1.5; it is above 0 and at most 1", bad.fine = 1.5f);
    REFUSED("a fine share of -0.1", bad.fine = -0.1f);
    REFUSED("a fine share of nan", bad.fine = NAN);
    REFUSED("a scale of -1; it is above 0", bad.scale = -1.0f);
    REFUSED("a scale of nan", bad.scale = NAN);
    REFUSED("a scale of inf", bad.scale = INFINITY);
    REFUSED("a mix of 1; it is from 0 to below 1", bad.mix = 1.0f);
    REFUSED("a mix of nan", bad.mix = NAN);
    REFUSED("a mix without a coarse level", bad.mix = 0.7f);
    REFUSED("a mix of steps", bad.mix = 0.7f; bad.level = 2; bad.steps = true);
    REFUSED("-1 heads; there are 1 to 256", bad.heads = -1);
    REFUSED("257 heads", bad.heads = 257);
    REFUSED("4 heads of keys of 6 dimensions and values of 6", bad.heads = 4);
    REFUSED("queries of 5 dimensions, but the keys have 6", bad.dimension = 5);
    REFUSED("no array of 2 queries", bad.queries = NULL);
    REFUSED("an array of -2 queries", bad.count = -2);
    REFUSED("image 1 of a stack of 1", bad.index = 1);
    REFUSED("reserved words", bad.reserved[2] = 1);
    values = few;
    REFUSED("keys of 12 x 5 cells and values of 11 x 5", (void)0);
    values = none;
    REFUSED("image 0 has no features", (void)0);
    values = NULL;
    refused(tvlm_attend(keys, NULL, &fits, 11, out, NULL, NULL), TVLM_ERROR_ARGUMENT,
            "room for 11 numbers; there are 2 x 6");
    assert_int_equal(tvlm_stack_set_reduce(keys, TVLM_GAUSSIAN), TVLM_OK);
    REFUSED("attention to level 1 of features whose levels are no means", bad.level = 1);
    assert_int_equal(tvlm_attend(keys, NULL, &fits, 12, out, NULL, NULL), TVLM_OK);
    assert_int_equal(tvlm_stack_set_reduce(keys, TVLM_MEAN), TVLM_OK);
    p.q[8] = NAN;
    REFUSED("query 1: value 2 is nan", (void)0);
    p.q[8] = 2e15f;
    REFUSED("query 1: value 2 is 2e+15", (void)0);
    refused(tvlm_attend(keys, NULL, NULL, 12, out, NULL, NULL), TVLM_ERROR_ARGUMENT, "params is NULL");
    refused(tvlm_attend(keys, NULL, &fits, 12, NULL, NULL, NULL), TVLM_ERROR_ARGUMENT, "out is NULL");
    assert_int_equal(tvlm_attend(NULL, NULL, &fits, 12, out, NULL, NULL), TVLM_ERROR_ARGUMENT);
    tvlm_stack_destroy(&none);
    tvlm_stack_destroy(&few);
    tvlm_stack_destroy(&keys);
    free_problem(&p);
}

/* A scale is a factor of the queries; and the size of features is what was set. */
static void check_scale(tvlm_device *device, tvlm_format format) {
    problem p = make_problem(6, 10, 6, 9, 7, 3, 1);
    answer scaled = attend(device, format, &p, (struct tvlm_attend_params){.level = 1, .scale = 0.75f});
    for (int i = 0; i < 27; ++i) p.q[i] *= 0.75f * 3.0f; /* the root of 9 */
    answer longer = attend(device, format, &p, (struct tvlm_attend_params){.level = 1});
    test_compare("scaled", scaled.out, longer.out, 21, 1e-5f, 2e-6f);
    free_answer(&scaled);
    free_answer(&longer);
    tvlm_stack *stack = grid_stack(device, format, &p, p.v, 7);
    int32_t columns, rows, dimension;
    assert_int_equal(tvlm_stack_get_features(stack, 0, &columns, &rows, &dimension), TVLM_OK);
    assert_true(columns == 10 && rows == 6 && dimension == 7);
    refused(tvlm_stack_get_features(stack, 0, &columns, &rows, NULL), TVLM_ERROR_ARGUMENT,
            "dimension is NULL");
    assert_int_equal(tvlm_stack_clear_grid(stack, 0, TVLM_CHANNEL_FEATURE_0), TVLM_OK);
    refused(tvlm_stack_get_features(stack, 0, &columns, &rows, &dimension), TVLM_ERROR_ARGUMENT,
            "image 0 has no features");
    tvlm_stack_destroy(&stack);
    free_problem(&p);
}

DEVICE_CHECKS(check_exact, check_definition, check_ties, check_channel, check_scale, check_refusals)

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference_f32),
                                       cmocka_unit_test(test_reference_f16), cmocka_unit_test(test_targets)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
