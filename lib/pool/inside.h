/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool/inside.h: what a pool is made of. The public header is texturevlm/pool.h.
 *
 *   open.c    which devices there are, and what takes the place of a lost one
 *   worker.c  the thread of a device
 *   queue.c   jobs on their way in and results on their way out, in the application's threads
 *   pool.c    creating and destroying
 *   select.c  selections of many images
 *
 * The jobs stand in a ring, in the order in which they were submitted. All that is marked so is read and
 * written by who holds the mutex, and whoever changes a job's state tells all who wait (`changed`).
 */
#ifndef TVLM_POOL_INSIDE_H
#define TVLM_POOL_INSIDE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/backend.h"
#include "texturevlm/pool.h"

/* A line of the library, cut as tvlm_log_message cuts it. */
enum { TVLM_POOL_LINE = 1024 };

/* Replacements that are lost in turn end somewhere: it is the reference that cannot be lost. */
enum { TVLM_POOL_REPLACED_MAX = 16 };

typedef enum pool_state {
    POOL_WAITS, /* for a device */
    POOL_BEGUN, /* a device has it: its `ahead` or `run` was called */
    POOL_OVER
} pool_state;

typedef struct pool_job {
    struct tvlm_job job;
    /* Of the library's own (select.c): its errors are not those of tvlm_pool_finish, and stop nobody. */
    bool own;
    pool_state state; /* under the mutex; all that follows is the worker's while it has begun */
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
    bool opened_here;           /* else it is the application's, and gets its log back */
    tvlm_log log;               /* what the device logged to before */
    pool_job *current;          /* whose errors those of the device are; NULL: nobody's */
    void *kept;                 /* of the application's jobs */
    void *stacks;               /* of select.c */
    tvlm_pool_device_info info; /* under the mutex */
} pool_worker;

struct tvlm_pool {
    struct tvlm_pool_params params;
    struct tvlm_device_params open; /* whose log is `turns`, or NULL */
    tvlm_log log, turns;            /* the application's, and the one that takes turns with it */
    pthread_mutex_t log_mutex;

    pthread_mutex_t mutex;
    pthread_cond_t changed;

    pool_worker *workers; /* [worker_count] */
    int32_t worker_count;

    /* Under the mutex. */
    pool_job *jobs; /* [capacity]: job n stands in n % capacity, from `first` on to `last`, without that */
    int64_t capacity, first, last;
    int64_t stopped_by; /* the first job that failed and stops those behind it; -1: none did */
    tvlm_status first_error;
    int32_t alive, replaced; /* devices that are not lost; how many others took a place */
    bool delivering;         /* a thread calls `done` */
    bool ends;               /* no more jobs will come */
    int64_t selections;      /* how often tvlm_pool_select was called */
};

/* The job of a number between first and last. */
static inline pool_job *tvlm_pool_job_at(const tvlm_pool *pool, int64_t number) {
    return &pool->jobs[number % pool->capacity];
}

/* ---- open.c ---- */

/* Fills in the workers, whose threads do not run yet. */
tvlm_status tvlm_pool_open(tvlm_pool *pool);

/* Closes a worker's device, and frees what jobs kept with it. */
void tvlm_pool_close(pool_worker *worker);

/* Opens another device where the worker's, which is closed, was the last one. */
tvlm_status tvlm_pool_replace(pool_worker *worker);

/* ---- worker.c ---- */

/* What a thread of the pool does; its argument is the pool_worker. */
void *tvlm_pool_work(void *worker);

/* ---- queue.c ---- */

/* Ends the jobs from a number on that have not begun. The mutex is held. */
void tvlm_pool_end_waiting(tvlm_pool *pool, int64_t from, tvlm_status status);

/* The pool in whose `run`, `ahead` or `done` the thread is, or NULL. */
const tvlm_pool *tvlm_pool_enter_callback(const tvlm_pool *pool);
void tvlm_pool_leave_callback(const tvlm_pool *before);

tvlm_status tvlm_pool_take(tvlm_pool *pool, const char *function, const struct tvlm_job *job, bool own);

/* Waits until all jobs are over, and calls their `done`. */
void tvlm_pool_wait(tvlm_pool *pool);

/* ---- select.c ---- */

/* Frees the stacks of a worker, whose device is still there. */
void tvlm_pool_release_stacks(pool_worker *worker);

#endif
