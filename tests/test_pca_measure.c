/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pca_measure.c: what `tvlm-lab pca validate` says of a basis: its figures by their definitions, of whole numbers, for
 * which all sums are exact; and the plot, pixel by pixel. tools/lab/pca_measure.c is compiled into this program.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pca.h"
#include "support.h"

enum { DIMENSION = 11, K = 10, MOST = 5000, QUERIES = 3 };

/* Vectors, and the coordinates that the basis gives them: signed axes, so that they are whole numbers, too. */
static float vectors[MOST][DIMENSION], queries[QUERIES][DIMENSION], components[K][DIMENSION], mean[DIMENSION];
static double coordinates[MOST][K];
static int32_t count;

static int32_t whole(uint64_t *random, int32_t most) {
    return (int32_t)floorf(test_random_unit(random) * (float)(2 * most + 1)) - most;
}

static tvlm_basis *make_basis(bool centred) {
    tvlm_basis *basis = NULL;
    memset(components, 0, sizeof components);
    for (int32_t i = 0; i < K; ++i) components[i][(7 * i + 3) % DIMENSION] = i % 2 == 0 ? 1.0f : -1.0f;
    for (int32_t d = 0; d < DIMENSION; ++d) mean[d] = centred ? (float)(d % 3) : 0.0f;
    const struct tvlm_basis_params params = {
        .components = &components[0][0], .mean = mean, .dimension = DIMENSION, .k = K, .centred = centred};
    assert_int_equal(tvlm_basis_create(&params, NULL, &basis), TVLM_OK);
    return basis;
}

/* Whole numbers, larger along some axes than along others; each thirteenth vector is 0. */
static void make_vectors(int32_t number, uint64_t random) {
    count = number;
    for (int32_t n = 0; n < count; ++n)
        for (int32_t d = 0; d < DIMENSION; ++d)
            vectors[n][d] = n % 13 == 12 ? 0.0f : (float)whole(&random, 2 + 3 * (d % 4));
    for (int32_t q = 0; q < QUERIES; ++q)
        for (int32_t d = 0; d < DIMENSION; ++d) queries[q][d] = (float)whole(&random, 5);
}

static void project(void) {
    for (int32_t n = 0; n < count; ++n)
        for (int32_t i = 0; i < K; ++i) {
            coordinates[n][i] = 0.0;
            for (int32_t d = 0; d < DIMENSION; ++d)
                coordinates[n][i] += (double)components[i][d] * ((double)vectors[n][d] - (double)mean[d]);
        }
}

static double square_of(const double *v, int32_t length) {
    double sum = 0.0;
    for (int32_t i = 0; i < length; ++i) sum += v[i] * v[i];
    return sum;
}

/* ---- By definition ---- */

static double rest_of(int32_t n) {
    double rest[DIMENSION];
    for (int32_t d = 0; d < DIMENSION; ++d) rest[d] = (double)vectors[n][d] - (double)mean[d];
    return square_of(rest, DIMENSION);
}

static double length_of(int32_t n) {
    double v[DIMENSION];
    for (int32_t d = 0; d < DIMENSION; ++d) v[d] = (double)vectors[n][d];
    return sqrt(square_of(v, DIMENSION));
}

static double divided(double a, double b) {
    return b > 0.0 ? a / b : 0.0;
}

static void find_loss(int32_t k, pca_figures *f) {
    double all = 0.0, kept = 0.0, first = 0.0;
    f->error = 0.0;
    for (int32_t n = 0; n < count; ++n) {
        const double along = square_of(coordinates[n], k);
        all += rest_of(n);
        kept += along;
        first += coordinates[n][0] * coordinates[n][0];
        f->error += divided(sqrt(rest_of(n) - along), length_of(n)) / count;
    }
    f->variance = divided(kept, all);
    f->largest = divided(first, all);
}

static double product_of(const float *a, const float *b) {
    double sum = 0.0;
    for (int32_t d = 0; d < DIMENSION; ++d) sum += (double)a[d] * (double)b[d];
    return sum;
}

static double product_of_coordinates(const double *a, const double *b, int32_t k) {
    double sum = 0.0;
    for (int32_t i = 0; i < k; ++i) sum += a[i] * b[i];
    return sum;
}

/* Marks the `wanted` largest values but value `own`; of equal ones those of lower numbers. */
static void mark_largest(const double *values, int32_t number, int32_t own, int32_t wanted, bool *marks) {
    for (int32_t i = 0; i < number; ++i) marks[i] = false;
    for (int32_t n = 0; n < wanted; ++n) {
        int32_t best = -1;
        for (int32_t i = 0; i < number; ++i)
            if (i != own && !marks[i] && (best < 0 || values[i] > values[best])) best = i;
        marks[best] = true;
    }
}

/* Of 1000 vectors, evenly spread, the ten nearest of 4096, evenly spread. */
static double find_neighbours(int32_t k) {
    enum { PROBES = 1000, CANDIDATES = 4096, NEAREST = 10 };
    static double full[CANDIDATES], close[CANDIDATES], lengths[CANDIDATES], shorter[CANDIDATES];
    static bool nearest[CANDIDATES], nearest_of_close[CANDIDATES];
    static int32_t number[CANDIDATES];
    const int32_t candidates = count < CANDIDATES ? count : CANDIDATES,
                  probes = count < PROBES ? count : PROBES;
    const int32_t wanted = candidates > NEAREST ? NEAREST : candidates - 1;
    int64_t common = 0;
    if (wanted == 0) return 1.0;
    for (int32_t i = 0; i < candidates; ++i) {
        number[i] = (int32_t)((int64_t)i * count / candidates);
        lengths[i] = length_of(number[i]);
        shorter[i] = sqrt(square_of(coordinates[number[i]], k));
    }
    for (int32_t p = 0; p < probes; ++p) {
        const int32_t own = (int32_t)((int64_t)p * candidates / probes), probe = number[own];
        for (int32_t i = 0; i < candidates; ++i) {
            const double *const c = coordinates[number[i]];
            full[i] = divided(product_of(vectors[probe], vectors[number[i]]), lengths[i]);
            close[i] = divided(product_of_coordinates(coordinates[probe], c, k), shorter[i]);
        }
        mark_largest(full, candidates, own, wanted, nearest);
        mark_largest(close, candidates, own, wanted, nearest_of_close);
        for (int32_t i = 0; i < candidates; ++i) common += nearest[i] && nearest_of_close[i];
    }
    return (double)common / wanted / probes;
}

/* The ranks of values, the largest first; equal ones share the mean of theirs. */
static void rank_all(const double *values, double *ranks) {
    for (int32_t i = 0; i < count; ++i) {
        int32_t larger = 0, equal = 0;
        for (int32_t j = 0; j < count; ++j) {
            larger += values[j] > values[i];
            equal += values[j] == values[i];
        }
        ranks[i] = larger + 0.5 * (equal - 1);
    }
}

static void find_relevance(int32_t k, pca_figures *f) {
    static double exact[MOST], close[MOST], a[MOST], b[MOST];
    static bool best[MOST], best_of_close[MOST];
    f->rank = f->top = 0.0;
    for (int32_t q = 0; q < QUERIES; ++q) {
        double along[K], ab = 0.0, aa = 0.0, bb = 0.0;
        int32_t both = 0;
        const int32_t top = count < 64 ? count : 64;
        for (int32_t i = 0; i < K; ++i) along[i] = product_of(components[i], queries[q]);
        for (int32_t n = 0; n < count; ++n) {
            exact[n] = divided(product_of(queries[q], vectors[n]), length_of(n));
            close[n] = divided(product_of_coordinates(along, coordinates[n], k), sqrt(rest_of(n)));
        }
        rank_all(exact, a);
        rank_all(close, b);
        for (int32_t n = 0; n < count; ++n) {
            ab += (a[n] - 0.5 * (count - 1)) * (b[n] - 0.5 * (count - 1));
            aa += (a[n] - 0.5 * (count - 1)) * (a[n] - 0.5 * (count - 1));
            bb += (b[n] - 0.5 * (count - 1)) * (b[n] - 0.5 * (count - 1));
        }
        mark_largest(exact, count, -1, top, best);
        mark_largest(close, count, -1, top, best_of_close);
        for (int32_t n = 0; n < count; ++n) both += best[n] && best_of_close[n];
        f->rank += (aa > 0.0 && bb > 0.0 ? ab / sqrt(aa * bb) : aa == bb ? 1.0 : 0.0) / QUERIES;
        f->top += (double)both / top / QUERIES;
    }
}

static void compare(const char *what, double is, double wanted) {
    if (!(fabs(is - wanted) <= 1e-9)) fail_msg("%s of %d vectors: %.12g, not %.12g", what, count, is, wanted);
}

/* Compares all figures with the definitions; those of queries where they are asked. */
static void check_figures(const tvlm_basis *basis, bool asked) {
    static const int32_t sizes[] = {4, K, 1, 8};
    enum { TABLES = sizeof sizes / sizeof *sizes };
    const int tables = asked ? TABLES : 2;
    pca_figures found[TABLES], wanted;
    const vector_file features = {"f", count, DIMENSION, 0, {0}, &vectors[0][0]};
    const vector_file none = {0}, all = {"q", QUERIES, DIMENSION, 0, {0}, &queries[0][0]};
    for (int t = 0; t < tables; ++t) found[t] = (pca_figures){.k = sizes[t]};
    project();
    assert_true(pca_measure(basis, &features, asked ? &all : &none, found, tables));
    for (int t = 0; t < tables; ++t) {
        find_loss(sizes[t], &wanted);
        compare("the variance", found[t].variance, wanted.variance);
        compare("the error", found[t].error, wanted.error);
        compare("the largest", found[t].largest, wanted.largest);
        compare("the neighbours", found[t].neighbours, find_neighbours(sizes[t]));
        assert_true(asked || (isnan(found[t].rank) && isnan(found[t].top)));
        if (!asked) continue;
        find_relevance(sizes[t], &wanted);
        compare("the ranks", found[t].rank, wanted.rank);
        compare("the top", found[t].top, wanted.top);
    }
}

static void figures_are_those_of_their_definitions(void **state) {
    static const int32_t counts[] = {1, 2, 10, 11, 12, 63, 64, 65, 200};
    (void)state;
    for (int32_t i = 0; i < (int32_t)(sizeof counts / sizeof *counts); ++i) {
        tvlm_basis *basis = make_basis(i % 2 == 0);
        make_vectors(counts[i], (uint64_t)counts[i]);
        check_figures(basis, true);
        tvlm_basis_destroy(&basis);
    }
}

/* Of more vectors than are compared, some are left out, evenly. */
static void many_vectors_are_sampled(void **state) {
    tvlm_basis *basis = make_basis(false);
    (void)state;
    make_vectors(test_small() ? 1100 : MOST, 9);
    check_figures(basis, false);
    tvlm_basis_destroy(&basis);
}

/* Where no vector has a place of its own, both orders say the same; where only one of them has none, nothing. */
static void equal_vectors_have_equal_ranks(void **state) {
    tvlm_basis *basis = make_basis(true);
    (void)state;
    make_vectors(5, 3);
    for (int32_t n = 0; n < count; ++n)
        for (int32_t d = 0; d < DIMENSION; ++d) vectors[n][d] = (float)d;
    check_figures(basis, true);
    for (int32_t n = 0; n < count; ++n)
        for (int32_t d = 0; d < DIMENSION; ++d) vectors[n][d] = (float)((n + 1) * d);
    check_figures(basis, true);
    for (int32_t n = 0; n < count; ++n)
        for (int32_t d = 0; d < DIMENSION; ++d) vectors[n][d] = mean[d];
    check_figures(basis, true);
    tvlm_basis_destroy(&basis);
}

static void the_curve_adds_up(void **state) {
    double curve[K];
    (void)state;
    for (int centred = 0; centred < 2; ++centred) {
        tvlm_basis *basis = make_basis(centred);
        make_vectors(50, 5);
        project();
        const vector_file features = {"f", count, DIMENSION, 0, {0}, &vectors[0][0]};
        assert_true(pca_curve(basis, &features, curve));
        for (int32_t i = 0; i < K; ++i) {
            pca_figures wanted;
            find_loss(i + 1, &wanted);
            compare("the curve", curve[i], wanted.variance);
        }
        for (int32_t n = 0; n < count; ++n)
            for (int32_t d = 0; d < DIMENSION; ++d) vectors[n][d] = mean[d];
        assert_true(pca_curve(basis, &features, curve));
        for (int32_t i = 0; i < K; ++i) compare("the curve of nothing", curve[i], 0.0);
        tvlm_basis_destroy(&basis);
    }
}

/* ---- The plot ---- */

/* A digest of all pixels (FNV-1a). Where the plot is meant to look otherwise, see it (`tvlm-lab pca validate --plot`), and
 * write the digest here that the failure tells. */
static void check_plot(int32_t k, double first, double step, const char *title, uint64_t wanted) {
    static uint8_t rgb[3 * PCA_PLOT_WIDTH * PCA_PLOT_HEIGHT];
    double *const curve = malloc((size_t)k * sizeof *curve);
    uint64_t digest = UINT64_C(14695981039346656037);
    assert_non_null(curve);
    for (int32_t i = 0; i < k; ++i) curve[i] = first + step * i;
    assert_true(pca_plot(curve, k, title, rgb));
    for (size_t i = 0; i < sizeof rgb; ++i) digest = (digest ^ rgb[i]) * UINT64_C(1099511628211);
    free(curve);
    if (digest != wanted) fail_msg("the plot of %d components is 0x%016llx", k, (unsigned long long)digest);
}

static void plots_look_as_they_did(void **state) {
    (void)state;
    check_plot(1, 0.4, 0.0, "one", UINT64_C(0xe84f5df62af149fb));
    check_plot(2, 0.25, 0.5, "two", UINT64_C(0xdb0a95bf7f959476));
    check_plot(3, 0.5, 0.25, "three", UINT64_C(0x3868de4887c17a97));
    check_plot(12, 0.127, 0.0793, "variance of twelve", UINT64_C(0x027ccbd031cd136b));
    check_plot(100, 0.2, 0.0085, "a hundred", UINT64_C(0xae777b3ee6192fc5));
    check_plot(250, 0.003, 0.001, "two hundred and fifty", UINT64_C(0x9e030a6fcefcef43));
    check_plot(4, 0.9, 0.2, "more than all", UINT64_C(0xa7b857ea4c4a8f00));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_those_of_their_definitions),
        cmocka_unit_test(many_vectors_are_sampled),
        cmocka_unit_test(equal_vectors_have_equal_ranks),
        cmocka_unit_test(the_curve_adds_up),
        cmocka_unit_test(plots_look_as_they_did),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
