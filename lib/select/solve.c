/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logistic regression by Newton's method. Shares are targets between 0 and 1, so that a cell that is half
 * object pulls to even odds.
 */
#include <lapacke.h>
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "select/fit.h"

#define STEPS_MAX    100
#define HALVINGS_MAX 30
#define CONVERGED    1e-9  /* the largest change of a standardised weight, at which it ends */
#define DEVIATION    1e-6  /* a channel of less is constant: half floats resolve no less near 0 */
#define RIDGE_BIAS   1e-12 /* keeps the Hessian definite where all odds have become certain */

typedef struct problem {
    const tvlm_fit *fit;
    const uint8_t *held_out;
    double l2;
    int32_t width; /* how many weights there are: channels * taps, in the order of the values */
    int32_t size;  /* the same with the bias */
    int32_t images;
    double *mean, *scale;       /* [width]; a scale of 0 says that the value is constant */
    double *row;                /* [size]: a cell's values, standardised, and 1 */
    double *gradient, *hessian; /* [size] and [size][size], of which the upper triangle is used */
    double *solution, *trial;   /* [size] */
} problem;

static void problem_free(problem *p) {
    free(p->mean);
    free(p->scale);
    free(p->row);
    free(p->gradient);
    free(p->hessian);
    free(p->solution);
    free(p->trial);
}

static tvlm_status problem_allocate(problem *p) {
    const size_t size = (size_t)p->size, each = sizeof(double);
    p->mean = tvlm_allocate(size, each);
    p->scale = tvlm_allocate(size, each);
    p->row = tvlm_allocate(size, each);
    p->gradient = tvlm_allocate(size, each);
    p->hessian = tvlm_allocate(size, size * each);
    p->solution = tvlm_allocate(size, each);
    p->trial = tvlm_allocate(size, each);
    if (p->mean != NULL && p->scale != NULL && p->row != NULL && p->gradient != NULL && p->hessian != NULL &&
        p->solution != NULL && p->trial != NULL)
        return TVLM_OK;
    return tvlm_fail(p->fit->log, TVLM_ERROR_MEMORY, "no memory to solve for %d weights", (int)p->size);
}

/* Returns the next image after number *at that is learnt from; NULL where there is none. */
static const tvlm_fit_image *next_image(const problem *p, int32_t *at) {
    while (++*at < p->fit->image_count)
        if (p->held_out == NULL || p->held_out[*at] == 0) return &p->fit->images[*at];
    return NULL;
}

static tvlm_status check_targets(problem *p) {
    double objects = 0.0;
    const tvlm_fit_image *image;
    for (int32_t at = -1; (image = next_image(p, &at)) != NULL; ++p->images) {
        double sum = 0.0;
        for (int32_t i = 0; i < image->cells; ++i) sum += (double)image->share[i];
        objects += sum / image->cells;
    }
    if (p->images == 0) return tvlm_fail(p->fit->log, TVLM_ERROR_ARGUMENT, "no image to learn from");
    if (objects > 0.0 && objects < p->images) return TVLM_OK;
    return tvlm_fail(p->fit->log, TVLM_ERROR_ARGUMENT,
                     objects > 0.0 ? "the images to learn from hold nothing but objects"
                                   : "the images to learn from hold no object");
}

/* Finds the mean and 1 / deviation of every value. Each image weighs the same. */
static void standardise(problem *p) {
    const tvlm_fit_image *image;
    const size_t width = (size_t)p->width;
    for (int32_t at = -1; (image = next_image(p, &at)) != NULL;)
        for (size_t i = 0; i < (size_t)image->cells * width; ++i)
            p->mean[i % width] += (double)image->values[i] / image->cells / p->images;
    for (int32_t at = -1; (image = next_image(p, &at)) != NULL;)
        for (size_t i = 0; i < (size_t)image->cells * width; ++i) {
            const double d = (double)image->values[i] - p->mean[i % width];
            p->scale[i % width] += d * d / image->cells / p->images;
        }
    for (size_t i = 0; i < width; ++i) {
        const double deviation = sqrt(p->scale[i]);
        p->scale[i] = deviation > DEVIATION ? 1.0 / deviation : 0.0;
    }
}

static double read_row(const problem *p, const float *values, const double *weights) {
    double sum = weights[p->width];
    for (int32_t i = 0; i < p->width; ++i) {
        p->row[i] = ((double)values[i] - p->mean[i]) * p->scale[i];
        sum += p->row[i] * weights[i];
    }
    p->row[p->width] = 1.0;
    return sum;
}

/* The cross entropy of odds exp(z) against a share is log(1 + exp(z)) - share z, here without overflow. */
static double cross_entropy(double z, double share) {
    return fmax(z, 0.0) + log1p(exp(-fabs(z))) - share * z;
}

static double penalty(const problem *p, const double *weights) {
    double sum = 0.0;
    for (int32_t i = 0; i < p->width; ++i) sum += weights[i] * weights[i];
    return 0.5 * p->l2 * sum;
}

static double loss(const problem *p, const double *weights) {
    double sum = penalty(p, weights);
    const tvlm_fit_image *image;
    for (int32_t at = -1; (image = next_image(p, &at)) != NULL;)
        for (int32_t i = 0; i < image->cells; ++i) {
            const double z = read_row(p, image->values + (size_t)i * (size_t)p->width, weights);
            sum += cross_entropy(z, (double)image->share[i]) / image->cells / p->images;
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
        p->gradient[i] = bias ? 0.0 : p->l2 * p->solution[i];
        p->hessian[i * size + i] = bias ? RIDGE_BIAS : p->l2;
    }
    for (int32_t at = -1; (image = next_image(p, &at)) != NULL;) {
        const double weight = 1.0 / image->cells / p->images;
        for (int32_t i = 0; i < image->cells; ++i) {
            const double z = read_row(p, image->values + (size_t)i * (size_t)p->width, p->solution);
            const double chance = 1.0 / (1.0 + exp(-z));
            sum += weight * cross_entropy(z, (double)image->share[i]);
            add_row(p, weight * (chance - (double)image->share[i]), weight * chance * (1.0 - chance));
        }
    }
    return sum;
}

/* Takes the step off the solution, or half of it, and half again, where the loss would grow. Returns the
 * largest change. */
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
            return tvlm_fail(p->fit->log, TVLM_ERROR_ARGUMENT,
                             "no solution for these cells (LAPACK: %d); a larger l2 would have one",
                             (int)info);
        if (descend(p, before) < CONVERGED) return TVLM_OK;
    }
    tvlm_log_message(p->fit->log, TVLM_LOG_WARNING, "the fit did not settle in %d steps", STEPS_MAX);
    return TVLM_OK;
}

/* Brings the weights to the channels' own units, and orders them by channel instead of by tap. */
static tvlm_status fold_back(const problem *p, tvlm_fit *fit) {
    double bias = p->solution[p->width];
    for (int32_t i = 0; i < p->width; ++i) {
        const int32_t channel = i % fit->channel_count, tap = i / fit->channel_count;
        const double weight = p->solution[i] * p->scale[i];
        fit->weights[channel * fit->taps + tap] = (float)weight;
        bias -= weight * p->mean[i];
    }
    fit->scorer = (tvlm_scorer){.channel_count = fit->channel_count,
                                .channels = fit->channels,
                                .taps = fit->taps,
                                .weights = fit->weights,
                                .bias = (float)bias};
    return TVLM_OK;
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
    problem p = {.fit = fit,
                 .held_out = params->held_out,
                 .l2 = (double)(params->l2 > 0.0f ? params->l2 : TVLM_FIT_L2),
                 .width = fit->channel_count * fit->taps,
                 .size = fit->channel_count * fit->taps + 1};
    tvlm_status status = check_targets(&p);
    if (status == TVLM_OK) status = problem_allocate(&p);
    if (status == TVLM_OK) {
        standardise(&p);
        status = newton(&p);
    }
    if (status == TVLM_OK) status = fold_back(&p, fit);
    if (status == TVLM_OK) *scorer = &fit->scorer;
    problem_free(&p);
    return status;
}
