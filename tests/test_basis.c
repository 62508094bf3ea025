/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_basis.c: bases on every device: against the singular vectors of the same numbers by LAPACK's own SVD
 * in double; streamed in pieces; files; an image's own; embeddings and the answers from them; what is
 * refused.
 */
#include "support.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lab/basis.h"
#include "stack/stack.h"
#include "texturevlm/io.h"
#include "texturevlm/io_basis.h"
#include "texturevlm/lab/trainer.h"

enum { COUNT = 700, DIMENSION = 40, K = 6 };

static int devices_seen;

/* ---- Data ---- */

/* Vectors about a mean that is large beside what varies; the variance falls from component to component of a
 * mixed basis, with a gap after K. free() them. */
static float *make_vectors(int32_t count, int32_t dimension, float mean, uint64_t *random) {
    float *mix = malloc((size_t)dimension * (size_t)dimension * sizeof *mix);
    float *vectors = calloc((size_t)count * (size_t)dimension, sizeof *vectors);
    assert_non_null(mix);
    assert_non_null(vectors);
    for (int32_t i = 0; i < dimension * dimension; ++i) mix[i] = test_random_unit(random) - 0.5f;
    for (int32_t n = 0; n < count; ++n)
        for (int32_t i = 0; i < dimension; ++i) {
            const float amount = (test_random_unit(random) - 0.5f) * (i < K ? 4.0f / (float)(i + 1) : 0.1f);
            for (int32_t d = 0; d < dimension; ++d)
                vectors[(size_t)n * (size_t)dimension + (size_t)d] +=
                    amount * mix[i * dimension + d] + (i == 0 ? mean * mix[dimension + d] : 0.0f);
        }
    free(mix);
    return vectors;
}

/* The first right singular vectors by LAPACK, rows of `out` [k * dimension], and each one's share of the
 * squares. */
static void exact(const float *vectors, int32_t count, int32_t dimension, bool centred, int32_t k,
                  double *out, double *shares) {
    const size_t size = (size_t)count * (size_t)dimension;
    double *a = malloc(size * sizeof *a), *s = malloc((size_t)dimension * sizeof *s), total = 0.0;
    double *vt = malloc((size_t)dimension * (size_t)dimension * sizeof *vt),
           *super = malloc((size_t)dimension * sizeof *super), u;
    for (size_t i = 0; i < size; ++i) a[i] = (double)vectors[i];
    for (int32_t d = 0; centred && d < dimension; ++d) {
        double mean = 0.0;
        for (int32_t n = 0; n < count; ++n) mean += a[n * dimension + d] / count;
        for (int32_t n = 0; n < count; ++n) a[n * dimension + d] -= mean;
    }
    assert_int_equal(LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'A', count, dimension, a, dimension, s, &u, 1, vt,
                                    dimension, super),
                     0);
    for (int32_t i = 0; i < dimension; ++i) total += s[i] * s[i];
    memcpy(out, vt, (size_t)k * (size_t)dimension * sizeof *out);
    for (int32_t i = 0; i < k; ++i) shares[i] = s[i] * s[i] / total;
    free(a);
    free(s);
    free(vt);
    free(super);
}

/* The largest angle between two subspaces: its sine is the largest length that a unit vector of one has
 * outside of the other: sqrt(k) times the largest row is a bound that is good enough. */
static double angle(const float *rows, const double *truth, int32_t k, int32_t dimension) {
    double worst = 0.0;
    for (int32_t i = 0; i < k; ++i) {
        double *left = malloc((size_t)dimension * sizeof *left), sum = 0.0;
        for (int32_t d = 0; d < dimension; ++d) left[d] = (double)rows[i * dimension + d];
        for (int32_t j = 0; j < k; ++j) {
            double along = 0.0;
            for (int32_t d = 0; d < dimension; ++d)
                along += (double)rows[i * dimension + d] * truth[j * dimension + d];
            for (int32_t d = 0; d < dimension; ++d) left[d] -= along * truth[j * dimension + d];
        }
        for (int32_t d = 0; d < dimension; ++d) sum += left[d] * left[d];
        worst = fmax(worst, sqrt(sum));
        free(left);
    }
    return worst * sqrt((double)k);
}

static void expect_orthonormal(const struct tvlm_basis_params *p) {
    for (int32_t i = 0; i < p->k; ++i)
        for (int32_t j = 0; j <= i; ++j) {
            double sum = 0.0;
            for (int32_t d = 0; d < p->dimension; ++d)
                sum +=
                    (double)p->components[i * p->dimension + d] * (double)p->components[j * p->dimension + d];
            if (!(fabs(sum - (i == j ? 1.0 : 0.0)) < 1e-6))
                fail_msg("rows %d and %d: product %g", (int)j, (int)i, sum);
        }
}

/* ---- Training ---- */

static tvlm_basis *train(tvlm_device *device, const float *vectors, int32_t count, int32_t dimension,
                         struct tvlm_trainer_params params) {
    tvlm_trainer *trainer = NULL;
    tvlm_basis *basis = NULL;
    params.dimension = dimension;
    if (tvlm_trainer_create(device, &params, &trainer) != TVLM_OK) fail_msg("%s", test_last_log());
    for (int32_t pass = 0; pass < tvlm_trainer_passes(trainer); ++pass) {
        if (pass > 0) assert_int_equal(tvlm_trainer_next_pass(trainer), TVLM_OK);
        for (int32_t n = 0; n < count; n += 97) /* in pieces that fit no block */
            assert_int_equal(tvlm_trainer_add(trainer, vectors + (size_t)n * (size_t)dimension,
                                              count - n < 97 ? count - n : 97),
                             TVLM_OK);
    }
    if (tvlm_trainer_finish(trainer, &basis) != TVLM_OK) fail_msg("%s", test_last_log());
    tvlm_trainer_destroy(&trainer);
    return basis;
}

static void check_training(tvlm_device *device, int32_t count, bool centred, tvlm_basis_method method) {
    uint64_t random = 3;
    double truth[K * DIMENSION], shares[K];
    struct tvlm_basis_params p;
    /* Centred, a mean fifty times what varies: its square would leave no digits of a float sum. */
    float *vectors = make_vectors(count, DIMENSION, centred ? 50.0f : 3.0f, &random);
    exact(vectors, count, DIMENSION, centred, K, truth, shares);
    tvlm_basis *basis = train(device, vectors, count, DIMENSION,
                              (struct tvlm_trainer_params){.k = K, .centred = centred, .method = method});
    tvlm_basis_get_params(basis, &p);
    assert_int_equal(p.k, K);
    assert_int_equal(p.vectors, count);
    assert_int_equal(p.centred, centred);
    expect_orthonormal(&p);
    const double off = angle(p.components, truth, K, DIMENSION);
    printf("    %d vectors, %s, %s: angle %.2g\n", (int)count, centred ? "centred" : "not centred", p.method,
           off);
    if (!(off < 1e-4)) fail_msg("%s: the subspaces are %g apart", p.method, off);
    for (int i = 0; i < K; ++i)
        if (!(fabs((double)p.variance[i] - shares[i]) < 1e-5))
            fail_msg("component %d: share %g instead of %g", i, (double)p.variance[i], shares[i]);
    for (int32_t d = 0; d < DIMENSION; ++d) {
        double mean = 0.0;
        for (int32_t n = 0; centred && n < count; ++n) mean += (double)vectors[n * DIMENSION + d] / count;
        if (!(fabs((double)p.mean[d] - mean) < 1e-5 * (1.0 + fabs(mean))))
            fail_msg("mean %d: %g, not %g", (int)d, (double)p.mean[d], mean);
    }
    tvlm_basis_destroy(&basis);
    free(vectors);
}

/* ---- An image ---- */

static tvlm_stack *featured(tvlm_device *device, tvlm_format format, const float *vectors, int32_t columns,
                            int32_t rows, int32_t dimension, float cell) {
    tvlm_stack *stack = NULL;
    if (tvlm_stack_create(device, tvlm_stack_params(.width = 97, .height = 61, .images = 2, .format = format),
                          &stack) != TVLM_OK)
        fail_msg("%s", test_last_log());
    for (int32_t i = 0; i < 2; ++i)
        if (tvlm_stack_set_grid(stack, i, TVLM_CHANNEL_FEATURE_0,
                                tvlm_grid_input(.data = vectors, .columns = columns, .rows = rows,
                                                .channels = dimension, .cell = cell)) != TVLM_OK)
            fail_msg("%s", test_last_log());
    return stack;
}

static void check_image(const test_target *target, tvlm_device *device) {
    enum { COLUMNS = 21, ROWS = 13, CELLS = COLUMNS * ROWS };
    uint64_t random = 8;
    double truth[K * DIMENSION], shares[K];
    struct tvlm_basis_params p;
    const bool half = target->format == TVLM_FORMAT_F16;
    float *vectors = make_vectors(CELLS, DIMENSION, 3.0f, &random), answers[2][CELLS];
    tvlm_stack *stack = featured(device, target->format, vectors, COLUMNS, ROWS, DIMENSION, 0.0f);
    tvlm_basis *basis = NULL;
    exact(vectors, CELLS, DIMENSION, false, K, truth, shares);
    if (tvlm_basis_of_image(stack, 1, tvlm_image_basis_params(.k = K), &basis) != TVLM_OK)
        fail_msg("%s", test_last_log());
    tvlm_basis_get_params(basis, &p);
    expect_orthonormal(&p);
    /* What counts of a range finder after two rounds is what it holds; half features are themselves 5e-4 off.
     */
    const double off = angle(p.components, truth, K, DIMENSION);
    printf("    an image's: angle %.2g\n", off);
    if (!(off < (half ? 2e-2 : 1e-3))) fail_msg("an image's basis is %g away from its singular vectors", off);
    for (int i = 0; i < K; ++i)
        if (!(fabs((double)p.variance[i] - shares[i]) < 1e-3))
            fail_msg("share %d: %g, not %g", i, (double)p.variance[i], shares[i]);

    /* The answer from the embedding is (V q) . (V x) / (|q| |x|). */
    if (tvlm_stack_embed(stack, 1, basis) != TVLM_OK) fail_msg("%s", test_last_log());
    const float *q = vectors + 5 * DIMENSION;
    const int32_t channel = TVLM_CHANNEL_QUERY_SIMILARITY;
    tvlm_sample_point points[CELLS];
    for (int32_t i = 0; i < CELLS; ++i)
        points[i] = (tvlm_sample_point){97.0f * ((float)(i % COLUMNS) + 0.5f) / COLUMNS,
                                        61.0f * ((float)(i / COLUMNS) + 0.5f) / ROWS, 0.0f, 1};
    for (int many = 0; many < 2; ++many) {
        float both[2 * DIMENSION];
        memcpy(both, q, DIMENSION * sizeof *q);
        for (int d = 0; d < DIMENSION; ++d) both[DIMENSION + d] = -q[d];
        if (tvlm_score(
                stack,
                tvlm_query(.vectors = both, .count = many ? 2 : 1, .dimension = DIMENSION, .basis = basis),
                tvlm_score_params(.index = 1), sizeof answers[0] / sizeof(float), answers[0]) != TVLM_OK)
            fail_msg("%s", test_last_log());
        if (tvlm_stack_sample(stack, points, CELLS, &channel, 1, answers[many]) != TVLM_OK)
            fail_msg("%s", test_last_log());
        for (int32_t i = 0; i < CELLS; ++i) {
            float vq[K], vx[K];
            double sum = 0.0, qq = 0.0, xx = 0.0;
            const float *x = vectors + i * DIMENSION;
            tvlm_basis_project(basis, q, 1, vq);
            tvlm_basis_project(basis, x, 1, vx);
            for (int k = 0; k < K; ++k) sum += (double)vq[k] * (double)vx[k];
            for (int d = 0; d < DIMENSION; ++d)
                qq += (double)q[d] * (double)q[d], xx += (double)x[d] * (double)x[d];
            const double wanted = many ? fabs(sum) / sqrt(qq * xx) : sum / sqrt(qq * xx);
            if (!(fabs((double)answers[many][i] - wanted) < (half ? 3e-3 : 2e-5)))
                fail_msg("cell %d: %g instead of %g", (int)i, (double)answers[many][i], wanted);
        }
    }
    tvlm_basis_destroy(&basis);

    /* The span of the queries comes first: what is asked along it is exact, whatever k is. */
    float two[2 * DIMENSION];
    memcpy(two, q, DIMENSION * sizeof *q);
    for (int d = 0; d < DIMENSION; ++d) two[DIMENSION + d] = 2.0f * q[d]; /* depends on the first */
    if (tvlm_basis_of_image(
            stack, 0,
            tvlm_image_basis_params(.k = 3, .queries = two, .query_count = 2, .query_dimension = DIMENSION),
            &basis) != TVLM_OK)
        fail_msg("%s", test_last_log());
    tvlm_basis_get_params(basis, &p);
    expect_orthonormal(&p);
    double along = 0.0, length = 0.0;
    for (int d = 0; d < DIMENSION; ++d)
        along += (double)q[d] * (double)p.components[d], length += (double)q[d] * (double)q[d];
    assert_true(fabs(fabs(along) / sqrt(length) - 1.0) < 1e-6);
    tvlm_basis_destroy(&basis);

    /* Refusals, one line each. */
    tvlm_basis *none = NULL;
    float bad[DIMENSION] = {NAN}, zero[DIMENSION] = {0};
    assert_int_equal(tvlm_basis_of_image(stack, 0, tvlm_image_basis_params(.k = DIMENSION + 1), &none),
                     TVLM_ERROR_ARGUMENT);
    assert_non_null(strstr(test_last_log(), "41 components"));
    assert_int_equal(
        tvlm_basis_of_image(stack, 0, tvlm_image_basis_params(.queries = bad, .query_dimension = DIMENSION),
                            &none),
        TVLM_ERROR_ARGUMENT);
    assert_non_null(strstr(test_last_log(), "not finite"));
    assert_int_equal(
        tvlm_basis_of_image(stack, 0, tvlm_image_basis_params(.queries = zero, .query_dimension = DIMENSION),
                            &none),
        TVLM_ERROR_ARGUMENT);
    assert_non_null(strstr(test_last_log(), "zero vectors"));
    assert_int_equal(
        tvlm_basis_of_image(stack, 0, tvlm_image_basis_params(.queries = bad, .query_dimension = 7), &none),
        TVLM_ERROR_ARGUMENT);
    assert_non_null(strstr(test_last_log(), "7 dimensions"));
    assert_int_equal(tvlm_stack_clear_grid(stack, -1, TVLM_CHANNEL_FEATURE_0), TVLM_OK);
    assert_int_equal(tvlm_basis_of_image(stack, 0, NULL, &none), TVLM_ERROR_ARGUMENT);
    assert_non_null(strstr(test_last_log(), "no features"));
    assert_null(none);
    tvlm_stack_destroy(&stack);
    free(vectors);
}

/* Features that are all the same, or 0, or fewer than the range finder's columns: directions all the same. */
static void check_degenerate(const test_target *target, tvlm_device *device) {
    float vectors[6 * 8] = {0};
    for (int kind = 0; kind < 2; ++kind) {
        tvlm_basis *basis = NULL;
        struct tvlm_basis_params p;
        for (int i = 0; kind == 1 && i < 48; ++i) vectors[i] = (float)(i % 8);
        tvlm_stack *stack = featured(device, target->format, vectors, 3, 2, 8, 0.0f);
        if (tvlm_basis_of_image(stack, 0, tvlm_image_basis_params(.k = 5), &basis) != TVLM_OK)
            fail_msg("%s", test_last_log());
        tvlm_basis_get_params(basis, &p);
        expect_orthonormal(&p);
        if (tvlm_stack_embed(stack, 0, basis) != TVLM_OK) fail_msg("%s", test_last_log());
        tvlm_basis_destroy(&basis);
        tvlm_stack_destroy(&stack);
    }
}

/* ---- Everything on a target ---- */

static void everything(const test_target *target, tvlm_device *reference) {
    (void)reference;
    ++devices_seen;
    check_image(target, target->device);
    check_degenerate(target, target->device);
    if (target->format != TVLM_FORMAT_F32 || target->device->info.storage != TVLM_STORAGE_BUFFER) return;
    const int32_t counts[] = {COUNT, 2500}; /* within a block, and several */
    for (int i = 0; i < 2; ++i)
        for (int centred = 0; centred < 2; ++centred) {
            check_training(target->device, counts[i], centred, TVLM_BASIS_COVARIANCE);
            check_training(target->device, counts[i], centred, TVLM_BASIS_RANGE_FINDER);
        }
}

static void test_devices(void **state) {
    (void)state;
    if (test_for_each_target(everything) == 0) skip();
}

/* Four vectors of four dimensions from which nothing can be learnt. */
static void expect_no_basis(tvlm_device *device, const float *vectors, bool centred, tvlm_basis_method method,
                            const char *words) {
    tvlm_trainer *trainer = NULL;
    tvlm_basis *basis = NULL;
    assert_int_equal(
        tvlm_trainer_create(device,
                            tvlm_trainer_params(.dimension = 4, .k = 2, .centred = centred, .method = method),
                            &trainer),
        TVLM_OK);
    for (int32_t pass = 0; pass < tvlm_trainer_passes(trainer); ++pass) {
        if (pass > 0) assert_int_equal(tvlm_trainer_next_pass(trainer), TVLM_OK);
        assert_int_equal(tvlm_trainer_add(trainer, vectors, 4), TVLM_OK);
    }
    assert_int_equal(tvlm_trainer_finish(trainer, &basis), TVLM_ERROR_ARGUMENT);
    if (strstr(test_last_log(), words) == NULL) fail_msg("'%s' is not in '%s'", words, test_last_log());
    assert_null(basis);
    tvlm_trainer_destroy(&trainer);
}

static void test_reference(void **state) {
    (void)state;
    tvlm_device *device = NULL;
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "reference", .log = &test_log), &device),
                     TVLM_OK);
    ++devices_seen;
    const test_target target = {device, TVLM_FORMAT_F32};
    check_image(&target, device);
    check_training(device, COUNT, true, TVLM_BASIS_COVARIANCE);

    tvlm_trainer *trainer = NULL;
    tvlm_basis *basis = NULL;
    float numbers[8] = {1, 2, 3, 4, 5, 6, 7, INFINITY};
    assert_int_equal(tvlm_trainer_create(device, tvlm_trainer_params(.dimension = 4, .k = 5), &trainer),
                     TVLM_ERROR_ARGUMENT);
    assert_non_null(strstr(test_last_log(), "5 components"));
    assert_int_equal(tvlm_trainer_create(device, tvlm_trainer_params(.dimension = 4, .k = 2), &trainer),
                     TVLM_OK);
    assert_int_equal(tvlm_trainer_add(trainer, numbers, 1), TVLM_OK);
    assert_int_equal(tvlm_trainer_finish(trainer, &basis), TVLM_ERROR_ARGUMENT);
    assert_non_null(strstr(test_last_log(), "1 vectors are too few for 2"));
    tvlm_trainer_destroy(&trainer);
    assert_int_equal(
        tvlm_trainer_create(device, tvlm_trainer_params(.dimension = 4, .k = 1, .centred = true), &trainer),
        TVLM_OK);
    assert_int_equal(tvlm_trainer_add(trainer, numbers, 1), TVLM_OK);
    assert_int_equal(tvlm_trainer_finish(trainer, &basis), TVLM_ERROR_ARGUMENT);
    assert_non_null(strstr(test_last_log(), "1 vectors are too few for 1 components, centred"));
    assert_int_equal(tvlm_trainer_add(trainer, numbers + 4, 1), TVLM_ERROR_ARGUMENT);
    assert_non_null(strstr(test_last_log(), "vector 1: component 3 is not finite"));
    tvlm_trainer_destroy(&trainer);
    assert_int_equal(tvlm_trainer_create(device, tvlm_trainer_params(.dimension = 2, .k = 1), &trainer),
                     TVLM_OK);
    assert_int_equal(tvlm_trainer_add(trainer, numbers, 3), TVLM_OK);
    assert_int_equal(tvlm_trainer_finish(trainer, &basis), TVLM_OK);
    tvlm_basis_destroy(&basis);
    /* The sums are no longer those of the vectors. */
    assert_int_equal(tvlm_trainer_finish(trainer, &basis), TVLM_ERROR_ARGUMENT);
    assert_non_null(strstr(test_last_log(), "the basis of these vectors was made already"));
    assert_int_equal(tvlm_trainer_add(trainer, numbers, 1), TVLM_ERROR_ARGUMENT);
    assert_null(basis);
    tvlm_trainer_destroy(&trainer);

    const float zeros[16] = {0}, alike[16] = {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4};
    expect_no_basis(device, zeros, false, TVLM_BASIS_COVARIANCE, "4 vectors, all of them 0");
    expect_no_basis(device, zeros, false, TVLM_BASIS_RANGE_FINDER, "4 vectors, all of them 0");
    expect_no_basis(device, alike, true, TVLM_BASIS_COVARIANCE, "4 vectors, all of them alike");
    expect_no_basis(device, alike, true, TVLM_BASIS_RANGE_FINDER, "4 vectors, all of them alike");
    tvlm_device_destroy(&device);
}

/* ---- Files ---- */

/* Shares of the variance are 0 to 1, up to rounding. */
static void check_shares(const char *path, const float *components) {
    static const struct {
        float share;
        bool good;
    } rows[] = {{0.0f, true},      {1.0f, true},     {-1e-7f, true},    {1.0000002f, true}, {-1e30f, false},
                {-0.0011f, false}, {1.0011f, false}, {INFINITY, false}, {NAN, false}};
    const tvlm_metadata format = {"format", "texturevlm.basis"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const float ratio[2] = {0.5f, rows[i].share};
        const tvlm_tensor tensors[] = {
            {.name = "components", .type = TVLM_ELEMENT_F32, .rank = 2, .shape = {2, 3}, .data = components},
            {.name = "explained_variance_ratio",
             .type = TVLM_ELEMENT_F32,
             .rank = 1,
             .shape = {2},
             .data = ratio}};
        tvlm_basis *basis = NULL;
        assert_int_equal(tvlm_safetensors_write(path, tensors, 2, &format, 1, &test_log), TVLM_OK);
        assert_int_equal(tvlm_basis_load(path, &test_log, &basis),
                         rows[i].good ? TVLM_OK : TVLM_ERROR_FORMAT);
        assert_true((basis != NULL) == rows[i].good);
        if (!rows[i].good) {
            assert_non_null(strstr(test_last_log(), "number 1 of its variance is"));
            assert_non_null(strstr(test_last_log(), path));
        }
        tvlm_basis_destroy(&basis);
    }
}

static void test_files(void **state) {
    (void)state;
    float components[2 * 3] = {1, 0, 0, 0, 0.6f, 0.8f}, mean[3] = {1, 2, 3}, ratio[2] = {0.5f, 0.25f};
    char path[] = "/tmp/tvlm-basis-XXXXXX";
    tvlm_basis *basis = NULL, *again = NULL;
    struct tvlm_basis_params p;
    close(mkstemp(path));
    assert_int_equal(tvlm_basis_create(tvlm_basis_params(.dimension = 3, .k = 2, .centred = true,
                                                         .vectors = 12, .method = "covariance", .mean = mean,
                                                         .components = components, .variance = ratio),
                                       &test_log, &basis),
                     TVLM_OK);
    assert_int_equal(tvlm_basis_save(path, basis, &test_log), TVLM_OK);
    assert_int_equal(tvlm_basis_load(path, &test_log, &again), TVLM_OK);
    tvlm_basis_get_params(again, &p);
    assert_int_equal(p.vectors, 12);
    assert_true(p.centred);
    assert_string_equal(p.method, "covariance");
    assert_memory_equal(p.components, components, sizeof components);
    assert_memory_equal(p.mean, mean, sizeof mean);
    assert_memory_equal(p.variance, ratio, sizeof ratio);
    tvlm_basis_destroy(&again);
    tvlm_basis_destroy(&basis);

    /* What scikit-learn has: doubles, and no more metadata than the format. */
    double wide[6] = {1, 0, 0, 0, 0.6, 0.8}, wide_mean[3] = {0, 0, 0.5};
    tvlm_tensor tensors[] = {
        {.name = "components", .type = TVLM_ELEMENT_F64, .rank = 2, .shape = {2, 3}, .data = wide},
        {.name = "mean", .type = TVLM_ELEMENT_F64, .rank = 1, .shape = {3}, .data = wide_mean}};
    const tvlm_metadata format = {"format", "texturevlm.basis"};
    assert_int_equal(tvlm_safetensors_write(path, tensors, 2, &format, 1, &test_log), TVLM_OK);
    assert_int_equal(tvlm_basis_load(path, &test_log, &again), TVLM_OK);
    tvlm_basis_get_params(again, &p);
    assert_true(p.centred);
    tvlm_basis_destroy(&again);

    wide[0] = 1.1;
    assert_int_equal(tvlm_safetensors_write(path, tensors, 2, &format, 1, &test_log), TVLM_OK);
    assert_int_equal(tvlm_basis_load(path, &test_log, &again), TVLM_ERROR_FORMAT);
    assert_non_null(strstr(test_last_log(), "not orthonormal"));
    assert_non_null(strstr(test_last_log(), path));
    wide[0] = NAN;
    assert_int_equal(tvlm_safetensors_write(path, tensors, 2, &format, 1, &test_log), TVLM_OK);
    assert_int_equal(tvlm_basis_load(path, &test_log, &again), TVLM_ERROR_FORMAT);
    assert_non_null(strstr(test_last_log(), "not finite"));
    wide[0] = 1.0;
    wide_mean[1] = 1e30;
    assert_int_equal(tvlm_safetensors_write(path, tensors, 2, &format, 1, &test_log), TVLM_OK);
    assert_int_equal(tvlm_basis_load(path, &test_log, &again), TVLM_ERROR_FORMAT);
    assert_non_null(strstr(test_last_log(), "number 1 of its mean is 1e+30, beyond 1e+15"));
    /* Every number of a file is checked, also a mean that is not read. */
    const tvlm_metadata not_centred[] = {format, {"centred", "false"}};
    wide_mean[1] = NAN;
    assert_int_equal(tvlm_safetensors_write(path, tensors, 2, not_centred, 2, &test_log), TVLM_OK);
    assert_int_equal(tvlm_basis_load(path, &test_log, &again), TVLM_ERROR_FORMAT);
    assert_non_null(strstr(test_last_log(), "number 1 of its mean is not finite"));
    wide_mean[1] = 0.0;
    check_shares(path, components);
    tensors[1].shape[0] = 2;
    assert_int_equal(tvlm_safetensors_write(path, tensors, 2, &format, 1, &test_log), TVLM_OK);
    assert_int_equal(tvlm_basis_load(path, &test_log, &again), TVLM_ERROR_FORMAT);
    assert_non_null(strstr(test_last_log(), "'mean'"));
    assert_int_equal(tvlm_safetensors_write(path, tensors, 1, NULL, 0, &test_log), TVLM_OK);
    assert_int_equal(tvlm_basis_load(path, &test_log, &again), TVLM_ERROR_FORMAT);
    assert_non_null(strstr(test_last_log(), "is not a basis"));
    assert_null(again);
    unlink(path);
}

/* A basis made from `components`, and one read from a file of them: both are there, or both are refused, and
 * the one from the file is the other. `words`: what a refusal says; of a size in numbers, which a file's refusal has otherwise. */
static void check_size(const char *path, const float *components, int32_t k, int32_t dimension,
                       const char *words) {
    const tvlm_metadata format = {"format", "texturevlm.basis"};
    const tvlm_tensor tensor = {.name = "components",
                                .type = TVLM_ELEMENT_F32,
                                .rank = 2,
                                .shape = {k, dimension},
                                .data = components};
    struct tvlm_basis_params p;
    tvlm_basis *basis = NULL;
    const tvlm_status made = tvlm_basis_create(
        tvlm_basis_params(.dimension = dimension, .k = k, .components = components), &test_log, &basis);
    if (made != (words == NULL ? TVLM_OK : TVLM_ERROR_ARGUMENT) ||
        (words != NULL && strstr(test_last_log(), words) == NULL))
        fail_msg("%d x %d: status %d: %s", (int)k, (int)dimension, (int)made, test_last_log());
    tvlm_basis_destroy(&basis);
    assert_int_equal(tvlm_safetensors_write(path, &tensor, 1, &format, 1, &test_log), TVLM_OK);
    const tvlm_status read = tvlm_basis_load(path, &test_log, &basis);
    if (read != (words == NULL ? TVLM_OK : TVLM_ERROR_FORMAT))
        fail_msg("a file of %d x %d: status %d: %s", (int)k, (int)dimension, (int)read, test_last_log());
    if (basis == NULL) {
        assert_non_null(strstr(test_last_log(), words[0] <= '9' ? "k <= D <= 65536" : words));
        return;
    }
    tvlm_basis_get_params(basis, &p);
    assert_true(p.k == k && p.dimension == dimension);
    assert_memory_equal(p.components, components, (size_t)(k * dimension) * sizeof *components);
    tvlm_basis_destroy(&basis);
}

/* The smallest and the largest bases, and those beyond; and how far from orthonormal one may be. */
static void test_sizes(void **state) {
    (void)state;
    static float long_one[TVLM_BASIS_DIMENSION_MAX + 1];
    static const float square[3 * 2] = {1, 0, 0, 1, 0.6f, 0.8f};
    char path[] = "/tmp/tvlm-basis-XXXXXX";
    close(mkstemp(path));
    long_one[0] = 1.0f;
    check_size(path, long_one, 1, 1, NULL);
    check_size(path, square, 0, 2, "0 components in 2 dimensions");
    check_size(path, square, 2, 2, NULL);
    check_size(path, square, 3, 2, "3 components in 2 dimensions");
    check_size(path, long_one, 1, TVLM_BASIS_DIMENSION_MAX, NULL);
    check_size(path, long_one, 1, TVLM_BASIS_DIMENSION_MAX + 1, "1 components in 65537 dimensions");
    /* Products up to 0.001 from what they should be are rounding, of a component with itself and with others. */
    for (int other = 0; other < 2; ++other)
        for (int beyond = 0; beyond < 2; ++beyond) {
            const float off = beyond ? 0.00105f : 0.00095f;
            const float nearly[2 * 2] = {1.0f, 0.0f, other ? off : 0.0f, other ? 1.0f : sqrtf(1.0f - off)};
            check_size(path, nearly, 2, 2, beyond ? "are not orthonormal" : NULL);
        }
    unlink(path);
}

/* The mean, the variance and the fourth moment of a normal distribution: 0, 1 and 3. */
static void test_normal_numbers(void **state) {
    enum { NUMBERS = 100000 };
    float *const numbers = malloc(NUMBERS * sizeof *numbers);
    double sum = 0.0, squares = 0.0, fourth = 0.0;
    (void)state;
    assert_non_null(numbers);
    tvlm_normal_numbers(numbers, NUMBERS);
    for (int i = 0; i < NUMBERS; ++i) {
        const double square = (double)numbers[i] * (double)numbers[i];
        sum += (double)numbers[i];
        squares += square;
        fourth += square * square;
    }
    assert_true(fabs(sum / NUMBERS) < 0.02);
    assert_true(fabs(squares / NUMBERS - 1.0) < 0.03);
    assert_true(fabs(fourth / NUMBERS - 3.0) < 0.2);
    free(numbers);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_files), cmocka_unit_test(test_normal_numbers),
                                       cmocka_unit_test(test_sizes), cmocka_unit_test(test_reference),
                                       cmocka_unit_test(test_devices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
