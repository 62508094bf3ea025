/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scorers that a query changes: a matrix turns the query's vector into weights.
 */
#include "select/mapped.h"

#include <string.h>

#include "core/backend.h"
#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "select/scorer.h"
#include "stack/features.h"
#include "stack/query.h"

static size_t weight_count(const tvlm_scorer *scorer) {
    return (size_t)scorer->outputs * (size_t)scorer->channel_count * (size_t)scorer->taps;
}

static tvlm_status check_matrix(const tvlm_log *log, const tvlm_scorer *scorer) {
    if (scorer->dimension < 1 || scorer->dimension > TVLM_FEATURES_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "query weights for vectors of %d dimensions",
                         (int)scorer->dimension);
    if (scorer->query_taps == scorer->taps || (scorer->query_taps == 0 && scorer->outputs == 1))
        return TVLM_OK;
    return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                     "query weights of %d taps for a scorer of %d outputs and %d taps",
                     (int)scorer->query_taps, (int)scorer->outputs, (int)scorer->taps);
}

/* Adds the scorer's matrix times the mean of the query's unit vectors to the weights. Sums are in double. */
static void add_matrix(const tvlm_scorer *scorer, const double *mean, float *weights) {
    const size_t channels = (size_t)scorer->channel_count, taps = (size_t)scorer->taps,
                 dimension = (size_t)scorer->dimension;
    const bool all = scorer->query_taps != 0;
    for (size_t i = 0; i < (all ? weight_count(scorer) : channels); ++i) {
        double sum = 0.0;
        for (size_t d = 0; d < dimension; ++d)
            sum += mean[d] * (double)scorer->query_weights[all ? i * dimension + d : d * channels + i];
        weights[all ? i : i * taps + taps / 2] += (float)sum;
    }
}

tvlm_status tvlm_query_direction(tvlm_device *device, const struct tvlm_query *query, double *mean) {
    const int32_t count = query->count > 0 ? query->count : 1;
    const size_t dimension = (size_t)query->dimension;
    const float *asked;
    float *owned = NULL;
    float *const vectors = tvlm_allocate((size_t)count * dimension, sizeof *vectors);
    tvlm_status status = TVLM_OK;
    if (vectors == NULL)
        status = tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for %d vectors", (int)count);
    if (status == TVLM_OK) status = tvlm_query_vectors(device, query, &asked, &owned);
    if (status == TVLM_OK)
        status = tvlm_unit_vectors(&device->log, count > 1 ? "query" : "the query", asked, count,
                                   query->dimension, query->mean, query->dimension, vectors);
    for (size_t i = 0; i < dimension; ++i) mean[i] = 0.0;
    for (size_t i = 0; status == TVLM_OK && i < (size_t)count * dimension; ++i)
        mean[i % dimension] += (double)vectors[i] / count;
    free(owned);
    free(vectors);
    return status;
}

/* Makes the weights that the query gives a scorer with a matrix. */
static tvlm_status ask(tvlm_device *device, const tvlm_scorer *scorer, const struct tvlm_query *query,
                       float **weights) {
    const tvlm_log *const log = &device->log;
    if (query->dimension != scorer->dimension)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "the query has %d dimensions; the scorer's query weights are for %d",
                         (int)query->dimension, (int)scorer->dimension);
    const size_t all = weight_count(scorer);
    float *const made = tvlm_allocate(all, sizeof *made);
    double *const mean = tvlm_allocate((size_t)query->dimension, sizeof *mean);
    tvlm_status status = TVLM_OK;
    if (made == NULL || mean == NULL)
        status = tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for %zu weights", all);
    if (status == TVLM_OK) status = tvlm_query_direction(device, query, mean);
    if (status == TVLM_OK) {
        memcpy(made, scorer->weights, all * sizeof *made);
        add_matrix(scorer, mean, made);
        *weights = made;
    } else {
        free(made);
    }
    free(mean);
    return status;
}

tvlm_status tvlm_scorer_for_query(const tvlm_stack *stack, const struct tvlm_score_params *params,
                                  const struct tvlm_query *query, tvlm_scorer *resolved, float **weights) {
    const tvlm_log *const log = tvlm_stack_log(stack);
    *weights = NULL;
    if (params->weights != NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "weights and a scorer: a scorer has weights of its own");
    TVLM_CHECK_RESERVED(log, tvlm_scorer, params->scorer);
    *resolved = *params->scorer;
    if (resolved->taps == 0) resolved->taps = 1;
    if (resolved->outputs == 0) resolved->outputs = 1;
    TVLM_TRY(tvlm_scorer_check(stack, resolved));
    if (resolved->query_weights == NULL || resolved->channel_count == 0 || query == NULL ||
        !tvlm_query_has_vectors(query))
        return TVLM_OK;
    TVLM_TRY(check_matrix(log, resolved));
    TVLM_TRY(ask(tvlm_stack_device(stack), resolved, query, weights));
    resolved->weights = *weights;
    /* The scorer is checked again, since the matrix may hold numbers that are not finite. */
    const tvlm_status status = tvlm_scorer_check(stack, resolved);
    if (status == TVLM_OK) return TVLM_OK;
    free(*weights);
    *weights = NULL;
    return status;
}
