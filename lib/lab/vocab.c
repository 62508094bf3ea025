/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vocab.c: creates vocabularies, and answers what they are asked.
 */
#include "lab/vocab.h"

#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"

/* `params.centres` points to the array that follows. */
struct tvlm_vocab {
    struct tvlm_vocab_params params;
    float centres[];
};

/* ---- Creating a vocabulary ---- */

static tvlm_status check(const struct tvlm_vocab_params *p, const tvlm_log *log) {
    const double longest = 1.001;
    if (p->dimension < 1 || p->dimension > TVLM_BASIS_DIMENSION_MAX || p->count < 1 ||
        p->count > TVLM_VOCAB_COUNT_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a vocabulary of %d centres of %d dimensions",
                         (int)p->count, (int)p->dimension);
    if (p->vectors < 0 || !(p->error >= 0.0f && p->error <= 4.0f))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a vocabulary of %lld vectors, with an error of %g",
                         (long long)p->vectors, (double)p->error);
    TVLM_NEED(log, p->centres);
    for (int32_t j = 0; j < p->count; ++j) {
        const float *const centre = p->centres + (size_t)j * (size_t)p->dimension;
        for (int32_t d = 0; d < p->dimension; ++d)
            if (!isfinite(centre[d]))
                return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "centre %d: component %d is not finite", (int)j,
                                 (int)d);
        const double length = sqrt(tvlm_vocab_product(centre, centre, p->dimension));
        if (length > longest)
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                             "centre %d has a length of %g; means of vectors of length 1 have at most 1",
                             (int)j, length);
    }
    return TVLM_OK;
}

tvlm_status tvlm_vocab_create(const struct tvlm_vocab_params *params, const tvlm_log *log,
                              tvlm_vocab **vocab) {
    TVLM_NEED(log, params);
    TVLM_NEED(log, vocab);
    TVLM_CHECK_RESERVED(log, tvlm_vocab_params, params);
    TVLM_TRY(check(params, log));
    const size_t numbers = (size_t)params->count * (size_t)params->dimension;
    tvlm_vocab *const made = tvlm_allocate(1, sizeof *made + numbers * sizeof *made->centres);
    if (made == NULL)
        return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for a vocabulary of %d centres of %d dimensions",
                         (int)params->count, (int)params->dimension);
    memcpy(made->centres, params->centres, numbers * sizeof *made->centres);
    made->params = *params;
    made->params.centres = made->centres;
    *vocab = made;
    return TVLM_OK;
}

void tvlm_vocab_destroy(tvlm_vocab **vocab) {
    if (vocab == NULL) return;
    free(*vocab);
    *vocab = NULL;
}

tvlm_status tvlm_vocab_get_params(const tvlm_vocab *vocab, struct tvlm_vocab_params *params) {
    TVLM_NEED(NULL, vocab);
    TVLM_NEED(NULL, params);
    *params = vocab->params;
    return TVLM_OK;
}

/* ---- Using a vocabulary ---- */

static tvlm_status assign(tvlm_matcher *matcher, const float *vectors, int64_t count, int32_t *ids,
                          float *residuals) {
    const size_t width = (size_t)matcher->dimension;
    for (int64_t first = 0; first < count; first += matcher->rows) {
        const int32_t rows = count - first < matcher->rows ? (int32_t)(count - first) : matcher->rows;
        for (int32_t i = 0; i < rows; ++i)
            (void)tvlm_vocab_unit(vectors + (size_t)(first + i) * width, matcher->dimension,
                                  matcher->block + (size_t)i * width);
        TVLM_TRY(tvlm_matcher_match(matcher, rows, ids + first, residuals + first));
        for (int32_t i = 0; i < rows; ++i) residuals[first + i] = sqrtf(residuals[first + i]);
    }
    return TVLM_OK;
}

tvlm_status tvlm_vocab_assign(tvlm_device *device, const tvlm_vocab *vocab, const float *vectors,
                              int64_t count, int32_t *ids, float *residuals) {
    TVLM_NEED(NULL, device);
    TVLM_ENTER(device);
    const tvlm_log *const log = &device->log;
    TVLM_NEED(log, vocab);
    if (count < 0) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%lld vectors to assign", (long long)count);
    if (count == 0) return TVLM_OK;
    TVLM_NEED(log, vectors);
    TVLM_NEED(log, ids);
    const struct tvlm_vocab_params *const p = &vocab->params;
    for (int64_t i = 0; i < count; ++i)
        TVLM_TRY(tvlm_vocab_check_vector(log, vectors + (size_t)i * (size_t)p->dimension, p->dimension, i));
    float *own = NULL;
    if (residuals == NULL) {
        own = residuals = tvlm_allocate((size_t)count, sizeof *own);
        if (own == NULL)
            return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for %lld vectors", (long long)count);
    }
    tvlm_matcher matcher;
    tvlm_status status = tvlm_matcher_open(device, p->dimension, p->count, &matcher);
    if (status == TVLM_OK) status = tvlm_matcher_set(&matcher, p->centres);
    if (status == TVLM_OK) status = assign(&matcher, vectors, count, ids, residuals);
    tvlm_matcher_close(&matcher);
    free(own);
    return status;
}

/* Returns the length of a question. If it is a zero vector or not finite, logs that and returns 0. */
static double length_of(const tvlm_log *log, const float *question, int32_t dimension, int32_t number) {
    for (int32_t d = 0; d < dimension; ++d)
        if (!isfinite(question[d])) {
            tvlm_log_message(log, TVLM_LOG_ERROR, "question %d: component %d is not finite", (int)number,
                             (int)d);
            return 0.0;
        }
    const double length = sqrt(tvlm_vocab_product(question, question, dimension));
    if (length > 0.0) return length;
    tvlm_log_message(log, TVLM_LOG_ERROR, "question %d is a zero vector", (int)number);
    return 0.0;
}

tvlm_status tvlm_vocab_ask(const tvlm_vocab *vocab, const tvlm_log *log, const float *questions,
                           int32_t count, float *answers) {
    TVLM_NEED(log, vocab);
    if (count < 0) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d questions", (int)count);
    if (count == 0) return TVLM_OK;
    TVLM_NEED(log, questions);
    TVLM_NEED(log, answers);
    const size_t width = (size_t)vocab->params.dimension, centres = (size_t)vocab->params.count;
    /* All questions are checked before the first answer is written. */
    for (int32_t q = 0; q < count; ++q)
        if (!(length_of(log, questions + (size_t)q * width, vocab->params.dimension, q) > 0.0))
            return TVLM_ERROR_ARGUMENT;
    for (int32_t q = 0; q < count; ++q) {
        const float *const question = questions + (size_t)q * width;
        const double length = length_of(log, question, vocab->params.dimension, q);
        for (size_t j = 0; j < centres; ++j)
            answers[(size_t)q * centres + j] =
                (float)(tvlm_vocab_product(question, vocab->centres + j * width, vocab->params.dimension) /
                        length);
    }
    return TVLM_OK;
}
