/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.c: what the application's threads do: they hand in jobs, and take the results.
 */
#include <stdio.h>
#include <string.h>

#include "core/check.h"
#include "core/try.h"
#include "pool/inside.h"

/* ---- Calls from within ---- */

static _Thread_local const tvlm_pool *inside;

const tvlm_pool *tvlm_pool_enter_callback(const tvlm_pool *pool) {
    const tvlm_pool *const before = inside;
    inside = pool;
    return before;
}

void tvlm_pool_leave_callback(const tvlm_pool *before) {
    inside = before;
}

tvlm_status tvlm_pool_check_outside(const tvlm_pool *pool, const char *function) {
    if (inside != pool) return TVLM_OK;
    return tvlm_fail(pool->open.log, TVLM_ERROR_ARGUMENT, "%s: called by a job of the pool", function);
}

/* ---- Results ---- */

static void note_error(tvlm_pool *pool, const pool_job *job) {
    if (pool->first_error == TVLM_OK && !job->own) pool->first_error = job->result.status;
}

/* Calls `done` of the oldest job, which must be over. The mutex must be held; it is released during the
 * call. */
static void deliver(tvlm_pool *pool) {
    pool_job *const job = tvlm_pool_job_at(pool, pool->first);
    pool->delivering = true;
    note_error(pool, job);
    pthread_mutex_unlock(&pool->mutex);
    job->result.message = job->line;
    if (job->result.status == TVLM_OK) job->line[0] = '\0';
    if (job->line[0] != '\0') tvlm_log_message(pool->open.log, TVLM_LOG_ERROR, "%s", job->line);
    if (job->job.done != NULL) {
        const tvlm_pool *const before = tvlm_pool_enter_callback(pool);
        job->job.done(job->job.user, &job->result);
        tvlm_pool_leave_callback(before);
    }
    pthread_mutex_lock(&pool->mutex);
    pool->delivering = false;
    ++pool->first;
    pthread_cond_broadcast(&pool->changed);
}

/* Delivers the results of jobs that are over, and waits as long as there are more than `most` jobs. The mutex
 * must be held. */
static void deliver_until(tvlm_pool *pool, int64_t most) {
    for (;;) {
        const bool any = pool->first < pool->last;
        if (any && !pool->delivering && tvlm_pool_job_at(pool, pool->first)->state == POOL_OVER)
            deliver(pool);
        else if (pool->last - pool->first <= most)
            return;
        else
            pthread_cond_wait(&pool->changed, &pool->mutex);
    }
}

void tvlm_pool_wait(tvlm_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    deliver_until(pool, 0);
    pthread_mutex_unlock(&pool->mutex);
}

/* ---- Jobs ---- */

/* Fails if the pool takes no more jobs. The mutex must be held. */
static tvlm_status check_open(const tvlm_pool *pool) {
    if (pool->stopped_by >= 0)
        return tvlm_fail(pool->open.log, TVLM_ERROR_CANCELLED, "the pool takes no more jobs: job %lld failed",
                         (long long)pool->stopped_by);
    if (pool->alive == 0)
        return tvlm_fail(pool->open.log, TVLM_ERROR_LOST,
                         "the pool takes no more jobs: none of its devices is left");
    return TVLM_OK;
}

tvlm_status tvlm_pool_take(tvlm_pool *pool, const char *function, const struct tvlm_job *job, bool own) {
    TVLM_TRY(tvlm_pool_check_outside(pool, function));
    pthread_mutex_lock(&pool->mutex);
    deliver_until(pool, pool->capacity - 1);
    const tvlm_status status = check_open(pool);
    if (status == TVLM_OK) {
        pool_job *const place = tvlm_pool_job_at(pool, pool->last);
        memset(place, 0, sizeof *place);
        place->job = *job;
        place->own = own;
        place->result.number = pool->last++;
        place->result.device = -1;
        pthread_cond_broadcast(&pool->changed);
    }
    pthread_mutex_unlock(&pool->mutex);
    return status;
}

/* ---- texturevlm/pool.h ---- */

tvlm_status tvlm_pool_submit(tvlm_pool *pool, const struct tvlm_job *job) {
    TVLM_NEED(NULL, pool);
    TVLM_NEED(pool->open.log, job);
    TVLM_NEED(pool->open.log, job->run);
    TVLM_CHECK_RESERVED(pool->open.log, tvlm_job, job);
    return tvlm_pool_take(pool, __func__, job, false);
}

tvlm_status tvlm_pool_deliver(tvlm_pool *pool) {
    TVLM_NEED(NULL, pool);
    TVLM_TRY(tvlm_pool_check_outside(pool, __func__));
    pthread_mutex_lock(&pool->mutex);
    deliver_until(pool, INT64_MAX);
    pthread_mutex_unlock(&pool->mutex);
    return TVLM_OK;
}

tvlm_status tvlm_pool_finish(tvlm_pool *pool) {
    TVLM_NEED(NULL, pool);
    TVLM_TRY(tvlm_pool_check_outside(pool, __func__));
    tvlm_pool_wait(pool);
    pthread_mutex_lock(&pool->mutex);
    const tvlm_status status = pool->first_error;
    pool->first_error = TVLM_OK;
    pthread_mutex_unlock(&pool->mutex);
    return status;
}

void tvlm_pool_end_waiting(tvlm_pool *pool, int64_t from, tvlm_status status) {
    for (int64_t n = from > pool->first ? from : pool->first; n < pool->last; ++n) {
        pool_job *const job = tvlm_pool_job_at(pool, n);
        if (job->state != POOL_WAITS) continue;
        job->state = POOL_OVER;
        job->result.status = status;
        job->result.device = -1;
        if (status != TVLM_ERROR_LOST)
            job->line[0] = '\0';
        else if (job->line[0] == '\0')
            snprintf(job->line, sizeof job->line, "no device of the pool is left");
    }
    pthread_cond_broadcast(&pool->changed);
}

void tvlm_pool_cancel(tvlm_pool *pool) {
    if (pool == NULL) return;
    pthread_mutex_lock(&pool->mutex);
    tvlm_pool_end_waiting(pool, pool->first, TVLM_ERROR_CANCELLED);
    pthread_mutex_unlock(&pool->mutex);
}
