/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool/inside.h: what a pool is made of. The public header is texturevlm/pool.h.
 *
 *   open.c    which devices there are, and which one takes the place of a lost one
 *   worker.c  the thread of a device
 *   queue.c   what the application's threads do: they hand in jobs, and take results
 *   pool.c    creating and destroying
 *   select.c  selections of many images
 *
 * The jobs are in a ring buffer, in the order in which they were submitted. What is marked "under the mutex"
 * may be read and written only by a thread that holds the mutex. A thread that changes a job's state wakes
 * all threads that wait (`changed`).
 */
#ifndef TVLM_POOL_INSIDE_H
#define TVLM_POOL_INSIDE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/backend.h"
#include "texturevlm/pool.h"

/* Room for a line of the log, which is cut off where tvlm_log_message cuts it off. */
enum { TVLM_POOL_LINE = 1024 };

/* The most devices that take the place of lost ones. A replacement may be lost in turn, since only the
 * reference cannot be lost. So there must be a limit. */
enum { TVLM_POOL_REPLACED_MAX = 16 };

typedef enum pool_state {
    POOL_WAITS, /* the job waits for a device */
    POOL_BEGUN, /* a device has it: its `ahead` or `run` was called */
    POOL_OVER
} pool_state;

typedef struct pool_job {
    struct tvlm_job job;
    /* The job is one of the library's own (select.c). Its errors are not reported by tvlm_pool_finish, and do
     * not stop other jobs. */
    bool own;
    pool_state state; /* under the mutex; while it is BEGUN, what follows belongs to the worker */
    tvlm_job_result result;
    char line[TVLM_POOL_LINE];
} pool_job;

/* A device with its thread. */
typedef struct pool_worker {
    struct tvlm_pool *pool;
    int32_t number;
    pthread_t thread;
    bool started;
    tvlm_device *device;        /* NULL: it is lost */
    bool opened_here;           /* otherwise the device is the application's, and gets its log back */
    tvlm_log log;               /* the log that the device had before */
    pool_job *current;          /* the job that the device's errors belong to; NULL: none */
    void *kept;                 /* what the application's jobs keep with the device */
    void *stacks;               /* what select.c keeps with the device */
    tvlm_pool_device_info info; /* under the mutex */
} pool_worker;

struct tvlm_pool {
    struct tvlm_pool_params params;
    struct tvlm_device_params open; /* its log is `turns`, or NULL */
    tvlm_log log, turns;            /* the application's log, and one that calls it one at a time */
    pthread_mutex_t log_mutex;

    pthread_mutex_t mutex;
    pthread_cond_t changed;

    pool_worker *workers; /* [worker_count] */
    int32_t worker_count;

    /* Under the mutex. */
    pool_job *jobs; /* [capacity]: jobs `first` to `last` - 1; job n is at n % capacity */
    int64_t capacity, first, last;
    int64_t stopped_by; /* the first job that failed and stops all later ones; -1: there is none */
    tvlm_status first_error;
    int32_t alive, replaced; /* the devices that are not lost; how often one took a lost one's place */
    bool delivering;         /* a thread calls `done` */
    bool ends;               /* no more jobs will come */
    int64_t selections;      /* how often tvlm_pool_select was called */
};

/* Returns the job of a number that is at least pool->first and below pool->last. */
static inline pool_job *tvlm_pool_job_at(const tvlm_pool *pool, int64_t number) {
    return &pool->jobs[number % pool->capacity];
}

/* ---- open.c ---- */

/* Fills in the workers. Their threads do not run yet. */
tvlm_status tvlm_pool_open(tvlm_pool *pool);

/* Closes a worker's device, and frees what jobs kept with it. */
void tvlm_pool_close(pool_worker *worker);

/* Opens another device for a worker. The worker's own device must be closed, and must have been the pool's
 * last. */
tvlm_status tvlm_pool_replace(pool_worker *worker);

/* ---- worker.c ---- */

/* The function of a thread of the pool. Its argument is the pool_worker. */
void *tvlm_pool_work(void *worker);

/* ---- queue.c ---- */

/* Refuses a call of `function` from within a job of the pool: such a call would wait for itself. */
tvlm_status tvlm_pool_check_outside(const tvlm_pool *pool, const char *function);

/* Ends all jobs from number `from` on that have not begun. The mutex must be held. */
void tvlm_pool_end_waiting(tvlm_pool *pool, int64_t from, tvlm_status status);

/* The first function notes that the thread is in `run`, `ahead` or `done` of a pool, and returns the pool in
 * whose callback it was before, or NULL. The second goes back to that one. */
const tvlm_pool *tvlm_pool_enter_callback(const tvlm_pool *pool);
void tvlm_pool_leave_callback(const tvlm_pool *before);

tvlm_status tvlm_pool_take(tvlm_pool *pool, const char *function, const struct tvlm_job *job, bool own);

/* Waits until all jobs are over, and calls their `done`. */
void tvlm_pool_wait(tvlm_pool *pool);

/* ---- select.c ---- */

/* Frees the stacks of a worker. Its device must not be closed yet. */
void tvlm_pool_release_stacks(pool_worker *worker);

#endif
