/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logistic regression by Newton's method, and tvlm_fit_solve, which says how a fit is solved.
 */
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "lab/fit.h"

#define STEPS_MAX    100
#define HALVINGS_MAX 30
#define CONVERGED    1e-9  /* it ends when no standardised weight changes by as much */
#define RIDGE_BIAS   1e-12 /* keeps the Hessian definite where all odds have become certain */

typedef struct problem {
    const tvlm_lesson *lesson;
    int32_t width;              /* how many weights there are */
    int32_t size;               /* how many numbers a solution has: the weights and the bias */
    double *row;                /* [size]: a cell's values, standardised, and 1 */
    double *gradient, *hessian; /* [size]; [size][size], only its upper triangle */
    double *solution, *trial;   /* [size]; the solution is the caller's */
} problem;

static void problem_free(problem *p) {
    free(p->row);
    free(p->gradient);
    free(p->hessian);
    free(p->trial);
}

static tvlm_status problem_allocate(problem *p) {
    const size_t size = (size_t)p->size, each = sizeof(double);
    p->row = tvlm_allocate(size, each);
    p->gradient = tvlm_allocate(size, each);
    p->hessian = tvlm_allocate(size, size * each);
    p->trial = tvlm_allocate(size, each);
    if (p->row != NULL && p->gradient != NULL && p->hessian != NULL && p->trial != NULL) return TVLM_OK;
    return tvlm_fail(p->lesson->fit->log, TVLM_ERROR_MEMORY, "no memory to solve for %d weights",
                     (int)p->size);
}

static double read_row(const problem *p, const float *values, const double *weights) {
    double sum = weights[p->width];
    for (int32_t i = 0; i < p->width; ++i) {
        p->row[i] = ((double)values[i] - p->lesson->mean[i]) * p->lesson->scale[i];
        sum += p->row[i] * weights[i];
    }
    p->row[p->width] = 1.0;
    return sum;
}

static double penalty(const problem *p, const double *weights) {
    double sum = 0.0;
    for (int32_t i = 0; i < p->width; ++i) sum += weights[i] * weights[i];
    return 0.5 * p->lesson->l2 * sum;
}

static double loss(const problem *p, const double *weights) {
    double sum = penalty(p, weights);
    const tvlm_fit_image *image;
    for (int32_t at = -1; (image = tvlm_lesson_next(p->lesson, &at)) != NULL;)
        for (int32_t i = 0; i < image->cells; ++i) {
            const double z = read_row(p, image->values + (size_t)i * (size_t)p->width, weights);
            double slope;
            sum += tvlm_cross_entropy(z, (double)image->share[i], &slope) / image->cells / p->lesson->images;
        }
    return sum;
}

/* Adds one cell's part to the gradient and the Hessian. */
static void add_row(problem *p, double residual, double curvature) {
    const int32_t size = p->size;
    const double *const row = p->row;
    for (int32_t i = 0; i < size; ++i) {
        double *const line = p->hessian + (size_t)i * (size_t)size;
        const double factor = curvature * row[i];
        p->gradient[i] += residual * row[i];
        for (int32_t j = i; j < size; ++j) line[j] += factor * row[j];
    }
}

/* Computes the gradient and the Hessian at the solution, and returns the loss there. */
static double differentiate(problem *p) {
    const size_t size = (size_t)p->size;
    double sum = penalty(p, p->solution);
    const tvlm_fit_image *image;
    memset(p->hessian, 0, size * size * sizeof(double));
    for (size_t i = 0; i < size; ++i) {
        const bool bias = i == (size_t)p->width;
        p->gradient[i] = bias ? 0.0 : p->lesson->l2 * p->solution[i];
        p->hessian[i * size + i] = bias ? RIDGE_BIAS : p->lesson->l2;
    }
    for (int32_t at = -1; (image = tvlm_lesson_next(p->lesson, &at)) != NULL;) {
        const double weight = 1.0 / image->cells / p->lesson->images;
        for (int32_t i = 0; i < image->cells; ++i) {
            const double z = read_row(p, image->values + (size_t)i * (size_t)p->width, p->solution);
            const double share = (double)image->share[i];
            double slope;
            sum += weight * tvlm_cross_entropy(z, share, &slope);
            add_row(p, weight * slope, weight * (slope + share) * (1.0 - slope - share));
        }
    }
    return sum;
}

/* Subtracts the step from the solution. While the loss would grow, the step is halved. Returns the largest
 * change. */
static double descend(problem *p, double before) {
    double factor = 1.0, change = 0.0;
    for (int i = 0; i < HALVINGS_MAX; ++i, factor *= 0.5) {
        for (int32_t j = 0; j < p->size; ++j) p->trial[j] = p->solution[j] - factor * p->gradient[j];
        if (loss(p, p->trial) <= before + 1e-14) break;
    }
    for (int32_t j = 0; j < p->size; ++j) change = fmax(change, fabs(p->trial[j] - p->solution[j]));
    memcpy(p->solution, p->trial, (size_t)p->size * sizeof(double));
    return change;
}

static tvlm_status newton(problem *p) {
    for (int i = 0; i < STEPS_MAX; ++i) {
        const double before = differentiate(p);
        /* The upper triangle of rows is the lower one of columns. */
        const lapack_int info =
            LAPACKE_dposv(LAPACK_COL_MAJOR, 'L', p->size, 1, p->hessian, p->size, p->gradient, p->size);
        if (info != 0)
            return tvlm_fail(p->lesson->fit->log, TVLM_ERROR_ARGUMENT,
                             "no solution for these cells (LAPACK: %d); a larger l2 would have one",
                             (int)info);
        if (descend(p, before) < CONVERGED) return TVLM_OK;
    }
    tvlm_log_message(p->lesson->fit->log, TVLM_LOG_WARNING, "the fit did not settle in %d steps", STEPS_MAX);
    return TVLM_OK;
}

tvlm_status tvlm_solve_linear(const tvlm_lesson *lesson, double *solution) {
    problem p = {.lesson = lesson, .width = lesson->width, .size = lesson->width + 1, .solution = solution};
    tvlm_status status = problem_allocate(&p);
    if (status == TVLM_OK) status = newton(&p);
    problem_free(&p);
    return status;
}

/* Brings the weights to the channels' own units, and orders them by channel instead of by tap. */
static void fold_back(const tvlm_lesson *lesson, const double *solution, tvlm_fit *fit) {
    double bias = solution[lesson->width];
    for (int32_t i = 0; i < lesson->width; ++i) {
        const int32_t channel = i % fit->channel_count, tap = i / fit->channel_count;
        const double weight = solution[i] * lesson->scale[i];
        fit->weights[channel * fit->taps + tap] = (float)weight;
        bias -= weight * lesson->mean[i];
    }
    fit->scorer = (tvlm_scorer){.channel_count = fit->channel_count,
                                .channels = fit->channels,
                                .taps = fit->taps,
                                .weights = fit->weights,
                                .bias = (float)bias};
}

static tvlm_status solve_linear(const tvlm_lesson *lesson, tvlm_fit *fit) {
    double *const solution = tvlm_allocate((size_t)lesson->width + 1, sizeof *solution);
    if (solution == NULL)
        return tvlm_fail(fit->log, TVLM_ERROR_MEMORY, "no memory to solve for %d weights",
                         (int)lesson->width);
    const tvlm_status status = tvlm_solve_linear(lesson, solution);
    if (status == TVLM_OK) fold_back(lesson, solution, fit);
    free(solution);
    return status;
}

tvlm_status tvlm_fit_solve(tvlm_fit *fit, const struct tvlm_fit_solve_params *params,
                           const tvlm_scorer **scorer) {
    static const struct tvlm_fit_solve_params defaults = {0};
    TVLM_NEED(NULL, fit);
    TVLM_NEED(fit->log, scorer);
    if (params == NULL) params = &defaults;
    TVLM_CHECK_RESERVED(fit->log, tvlm_fit_solve_params, params);
    if (!(params->l2 >= 0.0f) || !isfinite(params->l2))
        return tvlm_fail(fit->log, TVLM_ERROR_ARGUMENT, "l2 %g; it is positive", (double)params->l2);
    const float usual = fit->hidden > 0      ? TVLM_FIT_HIDDEN_L2
                        : fit->query_weights ? TVLM_FIT_QUERY_L2
                                             : TVLM_FIT_L2;
    tvlm_lesson lesson;
    tvlm_status status =
        tvlm_lesson_open(fit, params->held_out, (double)(params->l2 > 0.0f ? params->l2 : usual), &lesson);
    if (status == TVLM_OK)
        status = fit->hidden > 0      ? tvlm_solve_hidden(&lesson, fit)
                 : fit->query_weights ? tvlm_solve_query(&lesson, fit)
                                      : solve_linear(&lesson, fit);
    if (status == TVLM_OK) *scorer = &fit->scorer;
    tvlm_lesson_close(&lesson);
    return status;
}
