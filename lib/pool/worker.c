/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker.c: the thread of a device: which job comes next, which one is begun ahead, and what happens to the
 * jobs of a lost device.
 */
#include <string.h>

#include "pool/inside.h"

/* ---- Which job comes next ---- */

/* Returns the oldest job that waits, or NULL. The mutex must be held. */
static pool_job *oldest(tvlm_pool *pool) {
    for (int64_t n = pool->first; n < pool->last; ++n)
        if (tvlm_pool_job_at(pool, n)->state == POOL_WAITS) return tvlm_pool_job_at(pool, n);
    return NULL;
}

static int64_t count_waiting(const tvlm_pool *pool) {
    int64_t count = 0;
    for (int64_t n = pool->first; n < pool->last; ++n)
        count += tvlm_pool_job_at(pool, n)->state == POOL_WAITS;
    return count;
}

static pool_job *begin(pool_job *job) {
    if (job != NULL) job->state = POOL_BEGUN;
    return job;
}

/* Waits for a job. Returns NULL if no more jobs will come. The mutex must be held. */
static pool_job *await_job(tvlm_pool *pool) {
    pool_job *job;
    while ((job = oldest(pool)) == NULL && !pool->ends) pthread_cond_wait(&pool->changed, &pool->mutex);
    return begin(job);
}

/* Returns the job after the present one, or NULL. It takes that job only if the job can be begun ahead, and
 * if enough jobs wait that no other device is left without one. The mutex must be held. */
static pool_job *next_job(tvlm_pool *pool) {
    pool_job *const job = count_waiting(pool) >= pool->alive ? oldest(pool) : NULL;
    return job != NULL && job->job.ahead != NULL ? begin(job) : NULL;
}

/* ---- One job ---- */

static tvlm_status call(pool_worker *worker, pool_job *job,
                        tvlm_status (*function)(void *user, const tvlm_pool_place *place)) {
    const tvlm_pool_place place = {.device = worker->device,
                                   .number = worker->number,
                                   .kept = job->own ? &worker->stacks : &worker->kept};
    const tvlm_pool *const before = tvlm_pool_enter_callback(worker->pool);
    job->line[0] = '\0'; /* if an earlier error still matters, it comes again now */
    worker->current = job;
    const tvlm_status status = function(job->job.user, &place);
    worker->current = NULL;
    tvlm_pool_leave_callback(before);
    return status;
}

/* Ends a job. If it failed, it may stop the jobs after it. The mutex must be held. */
static void end_job(pool_worker *worker, pool_job *job, tvlm_status status) {
    tvlm_pool *const pool = worker->pool;
    job->state = POOL_OVER;
    job->result.status = status;
    job->result.device = worker->number;
    ++worker->info.jobs;
    if (status != TVLM_OK && pool->params.stop && !job->own &&
        (pool->stopped_by < 0 || job->result.number < pool->stopped_by)) {
        pool->stopped_by = job->result.number;
        tvlm_pool_end_waiting(pool, job->result.number + 1, TVLM_ERROR_CANCELLED);
    }
    pthread_cond_broadcast(&pool->changed);
}

/* ---- A lost device ---- */

/* Puts a job back into the queue. It is cancelled if, in the meantime, an earlier job failed and stops it.
 * The mutex must be held. */
static void put_back(tvlm_pool *pool, pool_job *job) {
    if (job == NULL) return;
    ++job->result.lost;
    job->state = POOL_WAITS;
    if (pool->stopped_by >= 0 && job->result.number > pool->stopped_by)
        tvlm_pool_end_waiting(pool, job->result.number, TVLM_ERROR_CANCELLED);
}

/* Logs that a device is lost. This is only an information, and not a warning,
 * - if another device takes its place, since opening that one logs a warning;
 * - if it was the only device, since its jobs report the error. */
static void say_lost(const pool_worker *worker, const pool_job *job, int32_t alive, bool replaced) {
    const tvlm_log *log = worker->pool->open.log;
    const char *why = job->line[0] != '\0' ? job->line : "a job says that its device is lost";
    if (replaced || worker->pool->worker_count == 1)
        tvlm_log_message(log, TVLM_LOG_INFO, "%s ('%s')", why, worker->info.device.name);
    else if (alive > 0)
        tvlm_log_message(log, TVLM_LOG_WARNING, "%s: its jobs go to the %d other device%s of the pool ('%s')",
                         why, (int)alive, alive > 1 ? "s" : "", worker->info.device.name);
    else
        tvlm_log_message(log, TVLM_LOG_WARNING, "%s: no device of the pool is left ('%s')", why,
                         worker->info.device.name);
}

/* Returns whether the lost device was the last one, and another may take its place. If so, the other one
 * counts as alive already, so that nobody gives up in the meantime. The mutex must be held. */
static bool may_be_replaced(tvlm_pool *pool) {
    if (pool->alive > 0 || !pool->open.fallback || pool->replaced == TVLM_POOL_REPLACED_MAX) return false;
    ++pool->alive;
    ++pool->replaced;
    return true;
}

/* Closes the lost device, and then puts its jobs back. The jobs must wait for that: until the device is
 * closed, it may still use what belongs to them. Returns whether there is another device for the thread. The
 * mutex must be held; it is released while devices are closed and opened. */
static bool lose(pool_worker *worker, pool_job *job, pool_job *next) {
    tvlm_pool *const pool = worker->pool;
    const int32_t others = --pool->alive;
    bool replaced = may_be_replaced(pool);
    worker->info.lost = true;
    pthread_mutex_unlock(&pool->mutex);
    say_lost(worker, job, others, replaced);
    tvlm_pool_close(worker);
    const bool failed = replaced && tvlm_pool_replace(worker) != TVLM_OK;
    pthread_mutex_lock(&pool->mutex);
    if (failed) --pool->alive, replaced = false;
    put_back(pool, job);
    put_back(pool, next);
    if (pool->alive == 0) tvlm_pool_end_waiting(pool, pool->first, TVLM_ERROR_LOST);
    pthread_cond_broadcast(&pool->changed);
    return replaced;
}

/* ---- pool/inside.h ---- */

/* Runs jobs until there are no more, or the device is lost and no other takes its place. */
void *tvlm_pool_work(void *argument) {
    pool_worker *const worker = argument;
    tvlm_pool *const pool = worker->pool;
    pool_job *job = NULL, *next = NULL;
    pthread_mutex_lock(&pool->mutex);
    while ((job = next != NULL ? next : await_job(pool)) != NULL) {
        tvlm_status ahead = TVLM_OK;
        next = next_job(pool);
        pthread_mutex_unlock(&pool->mutex);
        if (next != NULL) ahead = call(worker, next, next->job.ahead);
        const tvlm_status status = ahead == TVLM_ERROR_LOST ? ahead : call(worker, job, job->job.run);
        pthread_mutex_lock(&pool->mutex);
        if (status != TVLM_ERROR_LOST) {
            end_job(worker, job, status);
        } else {
            if (!lose(worker, job, next)) break;
            next = NULL;
        }
    }
    pthread_mutex_unlock(&pool->mutex);
    tvlm_pool_close(worker);
    return NULL;
}
