/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public top-K: scores of the host, or in memory of the device, are ranked on the device.
 */
#include <math.h>
#include <stdbool.h>

#include "core/backend.h"
#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "core/wrap.h"
#include "select/ranking.h"
#include "texturevlm/score.h"

static tvlm_status rank(tvlm_device *device, const float *scores, int32_t n, int32_t k,
                        tvlm_ranked *ranking) {
    const tvlm_backend *backend = device->backend;
    tvlm_buffer *values = NULL, *result = NULL;
    const size_t bytes = (size_t)n * sizeof *scores, result_bytes = (size_t)k * sizeof *ranking;
    tvlm_status status = backend->buffer_create(device, bytes, &values);
    if (status == TVLM_OK) status = backend->buffer_create(device, result_bytes, &result);
    if (status == TVLM_OK) status = backend->buffer_write(device, values, 0, bytes, scores);
    if (status == TVLM_OK) status = backend->topk(device, values, n, k, result);
    if (status == TVLM_OK) status = backend->buffer_read(device, result, 0, result_bytes, ranking);
    backend->buffer_destroy(device, &values);
    backend->buffer_destroy(device, &result);
    return status;
}

static tvlm_status check_counts(const tvlm_log *log, int32_t n, int32_t k) {
    if (n < 1 || n >= TVLM_TOPK_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "n is %d; 1 to %d are possible", (int)n,
                         TVLM_TOPK_MAX - 1);
    if (k < 1) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "k is %d; it is at least 1", (int)k);
    if (k > n)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "k is %d, but there are only %d scores", (int)k, (int)n);
    return TVLM_OK;
}

tvlm_status tvlm_topk(tvlm_device *device, const float *scores, int32_t n, int32_t k, int32_t *indices,
                      float *values) {
    TVLM_NEED(NULL, device);
    TVLM_ENTER(device);
    TVLM_NEED(&device->log, scores);
    TVLM_NEED(&device->log, indices);
    TVLM_TRY(check_counts(&device->log, n, k));
    tvlm_ranked *ranking = tvlm_allocate((size_t)k, sizeof *ranking);
    if (ranking == NULL)
        return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for a ranking of %d", (int)k);
    const tvlm_status status = rank(device, scores, n, k, ranking);
    for (int32_t i = 0; status == TVLM_OK && i < k; ++i) {
        indices[i] = ranking[i].index;
        if (values != NULL) values[i] = ranking[i].score;
    }
    free(ranking);
    return status;
}

/* ---- On the host ---- */

int tvlm_ranked_compare(const void *a, const void *b) {
    const tvlm_ranked *const p = a, *const q = b;
    const bool p_nan = isnan(p->score), q_nan = isnan(q->score);
    if (p_nan != q_nan) return p_nan ? 1 : -1;
    if (!p_nan && p->score != q->score) return p->score > q->score ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

/* ---- On the device ---- */

/* Ranks from and into buffers of the application. Where the data do not begin at the first byte, they go
 * through a buffer of the library's, since kernels know no offsets. */
static tvlm_status rank_there(tvlm_device *device, tvlm_buffer *scores, size_t scores_offset, int32_t n,
                              int32_t k, tvlm_buffer *ranking, size_t ranking_offset) {
    const tvlm_backend *backend = device->backend;
    const size_t bytes = (size_t)n * sizeof(float), result_bytes = (size_t)k * sizeof(tvlm_ranked);
    tvlm_buffer *values = NULL, *result = NULL;
    tvlm_status status = TVLM_OK;
    if (scores_offset > 0) status = backend->buffer_create(device, bytes, &values);
    if (status == TVLM_OK && ranking_offset > 0)
        status = backend->buffer_create(device, result_bytes, &result);
    if (status == TVLM_OK && values != NULL)
        status = backend->buffer_copy(device, scores, scores_offset, values, 0, bytes);
    if (status == TVLM_OK)
        status =
            backend->topk(device, values != NULL ? values : scores, n, k, result != NULL ? result : ranking);
    if (status == TVLM_OK && result != NULL)
        status = backend->buffer_copy(device, result, 0, ranking, ranking_offset, result_bytes);
    backend->buffer_destroy(device, &values);
    backend->buffer_destroy(device, &result);
    return status;
}

tvlm_status tvlm_topk_there(tvlm_device *device, const struct tvlm_memory *scores, int32_t n, int32_t k,
                            const struct tvlm_memory *ranking) {
    tvlm_buffer *from = NULL, *to = NULL;
    TVLM_TRY(check_counts(&device->log, n, k));
    TVLM_TRY(tvlm_wrap(device, "scores", scores, (size_t)n * sizeof(float), false, &from));
    tvlm_status status =
        tvlm_wrap(device, "the ranking", ranking, (size_t)k * sizeof(tvlm_ranked), true, &to);
    if (status == TVLM_OK)
        status = rank_there(device, from, scores->byte_offset, n, k, to, ranking->byte_offset);
    device->backend->buffer_destroy(device, &from);
    device->backend->buffer_destroy(device, &to);
    return status;
}
