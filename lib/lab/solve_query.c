/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights that a question gives: z = b + w . x + (M q) . y. Here x are the standardised values of a cell, y
 * the values over their deviation, and q the direction of the question. The mean is not subtracted from y.
 * Subtracting it would change the scores of all cells by one number that depends on the question, and a
 * scorer has no place for that number.
 *
 * With a penalty on the squares of M, the best M lies in the span of the questions. So M = A B, where B is an
 * orthonormal basis of that span and |M| = |A|, and only A is searched for.
 */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "lab/descend.h"
#include "lab/fit.h"

#define STEPS_MAX   400
#define INDEPENDENT 1e-4 /* the least length of what a question adds to the span of the earlier ones */

typedef struct asking {
    const tvlm_lesson *lesson;
    size_t width, dimension, rank;
    double *basis;       /* [rank][dimension] */
    double *coordinates; /* [images of the fit][rank]: each question in that basis, t */
    /* [2][width]: first w + A t of one question, in the units of the values; then the slopes. */
    double *weights;
} asking;

/* ---- The span of the questions ---- */

static double product(const double *a, const double *b, size_t size) {
    double sum = 0.0;
    for (size_t i = 0; i < size; ++i) sum += a[i] * b[i];
    return sum;
}

/* Subtracts from a vector the part of it that lies in the span of the basis. It does so twice, since after
 * the first time errors of rounding are left (Parlett 1998, section 6.9). */
static void take_off(const asking *a, double *vector) {
    for (int twice = 0; twice < 2; ++twice)
        for (size_t r = 0; r < a->rank; ++r) {
            const double *const row = a->basis + r * a->dimension;
            const double part = product(row, vector, a->dimension);
            for (size_t d = 0; d < a->dimension; ++d) vector[d] -= part * row[d];
        }
}

/* Gram-Schmidt over the questions that are learnt from. `basis` has room for a row for each of them. */
static void find_basis(asking *a) {
    const tvlm_fit_image *image;
    for (int32_t number = -1; (image = tvlm_lesson_next(a->lesson, &number)) != NULL;) {
        double *const row = a->basis + a->rank * a->dimension;
        if (a->rank == a->dimension) return;
        for (size_t d = 0; d < a->dimension; ++d) row[d] = (double)image->vector[d];
        take_off(a, row);
        const double length = sqrt(product(row, row, a->dimension));
        if (length < INDEPENDENT) continue;
        for (size_t d = 0; d < a->dimension; ++d) row[d] /= length;
        ++a->rank;
    }
}

static void find_coordinates(asking *a) {
    const tvlm_fit_image *image;
    for (int32_t number = -1; (image = tvlm_lesson_next(a->lesson, &number)) != NULL;)
        for (size_t r = 0; r < a->rank; ++r) {
            double sum = 0.0;
            for (size_t d = 0; d < a->dimension; ++d)
                sum += a->basis[r * a->dimension + d] * (double)image->vector[d];
            a->coordinates[(size_t)number * a->rank + r] = sum;
        }
}

/* ---- The slope ---- */

/* Writes the weights that a question gives to the values, and returns the bias. The solution `at` is w, then
 * A as [width][rank], then b. */
static double weights_of(const asking *a, const double *at, const double *t) {
    const tvlm_lesson *const lesson = a->lesson;
    const double *const matrix = at + a->width;
    double bias = at[a->width * (1 + a->rank)];
    for (size_t i = 0; i < a->width; ++i) {
        a->weights[i] = (at[i] + product(matrix + i * a->rank, t, a->rank)) * lesson->scale[i];
        bias -= at[i] * lesson->scale[i] * lesson->mean[i];
    }
    return bias;
}

/* Adds what an image adds to the loss and to the gradient. */
static double add_image(const asking *a, const tvlm_fit_image *image, const double *at, const double *t,
                        double *gradient) {
    const tvlm_lesson *const lesson = a->lesson;
    const double bias = weights_of(a, at, t), weight = 1.0 / image->cells / lesson->images;
    double *const slopes = a->weights + a->width;
    double sum = 0.0, all = 0.0;
    memset(slopes, 0, a->width * sizeof *slopes);
    for (int32_t n = 0; n < image->cells; ++n) {
        const float *const values = image->values + (size_t)n * a->width;
        double z = bias, slope;
        for (size_t i = 0; i < a->width; ++i) z += a->weights[i] * (double)values[i];
        sum += weight * tvlm_cross_entropy(z, (double)image->share[n], &slope);
        all += weight * slope;
        for (size_t i = 0; i < a->width; ++i) slopes[i] += weight * slope * (double)values[i];
    }
    for (size_t i = 0; i < a->width; ++i) {
        gradient[i] += (slopes[i] - all * lesson->mean[i]) * lesson->scale[i];
        for (size_t r = 0; r < a->rank; ++r)
            gradient[a->width + i * a->rank + r] += slopes[i] * lesson->scale[i] * t[r];
    }
    gradient[a->width * (1 + a->rank)] += all;
    return sum;
}

static double slope_of(void *user, const double *at, double *gradient) {
    const asking *const a = user;
    const size_t weights = a->width * (1 + a->rank);
    const tvlm_fit_image *image;
    double sum = 0.0;
    for (size_t i = 0; i < weights; ++i) {
        gradient[i] = a->lesson->l2 * at[i];
        sum += 0.5 * a->lesson->l2 * at[i] * at[i];
    }
    gradient[weights] = 0.0;
    for (int32_t number = -1; (image = tvlm_lesson_next(a->lesson, &number)) != NULL;)
        sum += add_image(a, image, at, a->coordinates + (size_t)number * a->rank, gradient);
    return sum;
}

/* ---- The scorer ---- */

/* Brings the solution to the channels' own units, and orders it by channel instead of by tap. */
static void fold_back(const asking *a, const double *at, tvlm_fit *fit) {
    const tvlm_lesson *const lesson = a->lesson;
    const size_t channels = (size_t)fit->channel_count, taps = (size_t)fit->taps;
    double bias = at[a->width * (1 + a->rank)];
    for (size_t i = 0; i < a->width; ++i) {
        const size_t to = i % channels * taps + i / channels;
        fit->weights[to] = (float)(at[i] * lesson->scale[i]);
        bias -= at[i] * lesson->scale[i] * lesson->mean[i];
        for (size_t d = 0; d < a->dimension; ++d) {
            double sum = 0.0;
            for (size_t r = 0; r < a->rank; ++r)
                sum += at[a->width + i * a->rank + r] * a->basis[r * a->dimension + d];
            fit->matrix[to * a->dimension + d] = (float)(sum * lesson->scale[i]);
        }
    }
    fit->scorer = (tvlm_scorer){.channel_count = fit->channel_count,
                                .channels = fit->channels,
                                .taps = fit->taps,
                                .weights = fit->weights,
                                .bias = (float)bias,
                                .query_weights = fit->matrix,
                                .query_taps = fit->taps,
                                .dimension = fit->dimension};
}

static tvlm_status solve(asking *a, tvlm_fit *fit) {
    find_basis(a);
    find_coordinates(a);
    const size_t size = a->width * (1 + a->rank) + 1;
    double *const at = tvlm_allocate(size, sizeof *at);
    if (at == NULL || size > INT32_MAX) {
        free(at);
        return tvlm_fail(fit->log, TVLM_ERROR_MEMORY, "no memory to solve for %zu weights", size);
    }
    const tvlm_status status = tvlm_descend(fit->log, slope_of, a, (int32_t)size, STEPS_MAX, at, NULL);
    if (status == TVLM_OK) fold_back(a, at, fit);
    free(at);
    return status;
}

tvlm_status tvlm_solve_query(const tvlm_lesson *lesson, tvlm_fit *fit) {
    asking a = {.lesson = lesson, .width = (size_t)lesson->width, .dimension = (size_t)fit->dimension};
    const size_t rows = (size_t)lesson->images;
    tvlm_status status = TVLM_OK;
    a.basis = tvlm_allocate(rows * a.dimension, sizeof *a.basis);
    a.coordinates = tvlm_allocate((size_t)fit->image_count * rows, sizeof *a.coordinates);
    a.weights = tvlm_allocate(2 * a.width, sizeof *a.weights);
    if (fit->matrix == NULL) fit->matrix = tvlm_allocate(a.width * a.dimension, sizeof *fit->matrix);
    if (a.basis == NULL || a.coordinates == NULL || a.weights == NULL || fit->matrix == NULL)
        status = tvlm_fail(fit->log, TVLM_ERROR_MEMORY, "no memory for %d questions of %d numbers",
                           (int)lesson->images, (int)fit->dimension);
    if (status == TVLM_OK) status = solve(&a, fit);
    free(a.basis);
    free(a.coordinates);
    free(a.weights);
    return status;
}
