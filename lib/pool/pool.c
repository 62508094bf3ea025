/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.c: creates and destroys pools, and describes their devices.
 */
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "pool/inside.h"

/* The default number of jobs for each device: one that runs, one that is begun ahead, and two that keep the
 * device busy while results are taken. */
enum { JOBS_EACH = 4 };

/* Writes to the application's log, with one call at a time. */
static void write_in_turn(void *user, tvlm_log_level level, const char *message) {
    tvlm_pool *const pool = user;
    pthread_mutex_lock(&pool->log_mutex);
    pool->log.write(pool->log.user, level, message);
    pthread_mutex_unlock(&pool->log_mutex);
}

static tvlm_status reserve_jobs(tvlm_pool *pool) {
    const int64_t asked = pool->params.capacity;
    pool->capacity = asked > 0 ? asked : (int64_t)JOBS_EACH * pool->worker_count;
    pool->jobs = tvlm_allocate((size_t)pool->capacity, sizeof *pool->jobs);
    if (pool->jobs != NULL) return TVLM_OK;
    return tvlm_fail(pool->open.log, TVLM_ERROR_MEMORY, "no memory for %lld jobs", (long long)pool->capacity);
}

static tvlm_status start_threads(tvlm_pool *pool) {
    for (int32_t i = 0; i < pool->worker_count; ++i) {
        pool_worker *const worker = &pool->workers[i];
        const int error = pthread_create(&worker->thread, NULL, tvlm_pool_work, worker);
        if (error != 0)
            return tvlm_fail(pool->open.log, TVLM_ERROR_MEMORY, "no thread for device %d of a pool: %s",
                             (int)i, strerror(error));
        worker->started = true;
    }
    return TVLM_OK;
}

static tvlm_status fill(tvlm_pool *pool) {
    TVLM_TRY(tvlm_pool_open(pool));
    pool->alive = pool->worker_count;
    pool->stopped_by = -1;
    TVLM_TRY(reserve_jobs(pool));
    return start_threads(pool);
}

static tvlm_status check_params(const struct tvlm_pool_params *params, const tvlm_log *log) {
    TVLM_CHECK_RESERVED(log, tvlm_pool_params, params);
    TVLM_CHECK_RESERVED(log, tvlm_device_params, params->open);
    if (params->capacity < 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a pool of %d jobs", (int)params->capacity);
    if (params->opened != NULL && params->devices != NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a pool of open devices and of '%s'", params->devices);
    return TVLM_OK;
}

tvlm_status tvlm_pool_create(const struct tvlm_pool_params *params, tvlm_pool **pool) {
    static const struct tvlm_pool_params none = {0};
    static const struct tvlm_device_params defaults = {0};
    if (params == NULL) params = &none;
    const tvlm_log *log = params->open != NULL ? params->open->log : NULL;
    TVLM_NEED(log, pool);
    TVLM_TRY(check_params(params, log));
    tvlm_pool *made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for a pool");
    made->params = *params;
    made->open = params->open != NULL ? *params->open : defaults;
    if (log != NULL) made->log = *log;
    const tvlm_log in_turn = {write_in_turn, made};
    made->turns = in_turn;
    made->open.log = made->log.write != NULL ? &made->turns : NULL;
    pthread_mutex_init(&made->log_mutex, NULL);
    pthread_mutex_init(&made->mutex, NULL);
    pthread_cond_init(&made->changed, NULL);
    const tvlm_status status = fill(made);
    if (status != TVLM_OK)
        tvlm_pool_destroy(&made);
    else
        *pool = made;
    return status;
}

/* Ends all threads. Threads close their devices themselves; the devices of threads that never started are
 * closed here. */
static void end_threads(tvlm_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    pool->ends = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->mutex);
    for (int32_t i = 0; i < pool->worker_count; ++i) {
        pool_worker *const worker = &pool->workers[i];
        if (worker->started) pthread_join(worker->thread, NULL);
        tvlm_pool_close(worker);
    }
}

void tvlm_pool_destroy(tvlm_pool **pool) {
    if (pool == NULL || *pool == NULL) return;
    tvlm_pool *const p = *pool;
    tvlm_pool_cancel(p);
    if (p->jobs != NULL) tvlm_pool_wait(p);
    end_threads(p);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->mutex);
    pthread_mutex_destroy(&p->log_mutex);
    free(p->jobs);
    free(p->workers);
    free(p);
    *pool = NULL;
}

int32_t tvlm_pool_device_count(const tvlm_pool *pool) {
    return pool != NULL ? pool->worker_count : 0;
}

tvlm_status tvlm_pool_get_device_info(tvlm_pool *pool, int32_t number, tvlm_pool_device_info *info) {
    TVLM_NEED(NULL, pool);
    TVLM_NEED(pool->open.log, info);
    if (number < 0 || number >= pool->worker_count)
        return tvlm_fail(pool->open.log, TVLM_ERROR_ARGUMENT, "device %d of a pool of %d", (int)number,
                         (int)pool->worker_count);
    pthread_mutex_lock(&pool->mutex);
    *info = pool->workers[number].info;
    pthread_mutex_unlock(&pool->mutex);
    return TVLM_OK;
}
