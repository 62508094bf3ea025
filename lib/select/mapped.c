/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scorers that a query changes: a matrix takes its vector to weights.
 */
#include "select/mapped.h"

#include <string.h>

#include "core/backend.h"
#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "stack/features.h"
#include "stack/query.h"

static tvlm_status check_matrix(const tvlm_log *log, const tvlm_scorer *scorer,
                                const struct tvlm_query *query) {
    if (scorer->channel_count < 0 || scorer->channel_count > TVLM_LAYOUT_CHANNELS_MAX ||
        scorer->weights == NULL || (scorer->taps != 1 && scorer->taps != TVLM_SCORE_TAPS))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "query weights of a scorer without channels or weights");
    if (scorer->dimension < 1 || scorer->dimension > TVLM_FEATURES_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "query weights for vectors of %d dimensions",
                         (int)scorer->dimension);
    if (query->dimension != scorer->dimension)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "the query has %d dimensions; the scorer's query weights are for %d",
                         (int)query->dimension, (int)scorer->dimension);
    return TVLM_OK;
}

/* M^T times the mean of the unit vectors, onto the centre taps. */
static void add_matrix(const tvlm_scorer *scorer, const float *vectors, int32_t count, float *weights) {
    const size_t channels = (size_t)scorer->channel_count, taps = (size_t)scorer->taps;
    for (size_t c = 0; c < channels; ++c) {
        double sum = 0.0;
        for (int32_t v = 0; v < count; ++v)
            for (size_t d = 0; d < (size_t)scorer->dimension; ++d)
                sum += (double)vectors[(size_t)v * (size_t)scorer->dimension + d] *
                       (double)scorer->query_weights[d * channels + c];
        weights[c * taps + taps / 2] += (float)(sum / count);
    }
}

tvlm_status tvlm_scorer_for_query(tvlm_device *device, const tvlm_scorer *scorer,
                                  const struct tvlm_query *query, tvlm_scorer *resolved, float **weights) {
    const tvlm_log *const log = &device->log;
    TVLM_CHECK_RESERVED(log, tvlm_scorer, scorer);
    *resolved = *scorer;
    if (resolved->taps == 0) resolved->taps = 1;
    scorer = resolved;
    *weights = NULL;
    if (scorer->query_weights == NULL || scorer->channel_count == 0 || query == NULL ||
        !tvlm_query_has_vectors(query))
        return TVLM_OK;
    TVLM_TRY(check_matrix(log, scorer, query));
    const int32_t count = query->count > 0 ? query->count : 1;
    const size_t all = (size_t)scorer->channel_count * (size_t)scorer->taps;
    float *const made = tvlm_allocate(all, sizeof *made);
    float *const vectors = tvlm_allocate((size_t)count * (size_t)query->dimension, sizeof *vectors);
    tvlm_status status = TVLM_OK;
    if (made == NULL || vectors == NULL)
        status = tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for %zu weights", all);
    const float *asked;
    float *owned = NULL;
    if (status == TVLM_OK) status = tvlm_query_vectors(device, query, &asked, &owned);
    if (status == TVLM_OK)
        status = tvlm_unit_vectors(log, count > 1 ? "query" : "the query", asked, count, query->dimension,
                                   query->mean, query->dimension, vectors);
    free(owned);
    if (status == TVLM_OK) {
        memcpy(made, scorer->weights, all * sizeof *made);
        add_matrix(scorer, vectors, count, made);
        resolved->weights = *weights = made;
    } else {
        free(made);
    }
    free(vectors);
    return status;
}
