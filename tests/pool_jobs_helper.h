/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_jobs_helper.h: jobs of a pool that are watched: when and where they run, wait, fail, lose their device and are answered.
 */
#ifndef TVLM_TESTS_POOL_JOBS_HELPER_H
#define TVLM_TESTS_POOL_JOBS_HELPER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "pool_helper.h"

enum { JOBS = 40, NEVER = -1 };

/* ---- Jobs that are watched ---- */

/* What a job does, and what became of it. */
typedef struct watched {
    tvlm_status status; /* what it gives */
    int losses;         /* how often it says first that its device is lost */
    bool begins_ahead;
    int waits; /* for the gate of that number; 0: for none */
    int after; /* waits until that job was answered; 0: for none */

    atomic_int runs, aheads, dones;
    int begun, ended; /* the moments when it began last, and when `done` was called */
    pthread_t thread;
    tvlm_job_result result;
    char message[256];
} watched;

static struct {
    watched jobs[JOBS];
    atomic_int moment;            /* counts what happens */
    atomic_int inside;            /* jobs that were submitted and are not done */
    atomic_int most;              /* and the most there ever were */
    atomic_int running, together; /* jobs that run at the same time, and the most there ever were */
    atomic_int released;          /* what was kept with devices and released */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int gates; /* so many are open */
    int before_gate;
} all = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static inline void start(void) {
    memset(all.jobs, 0, sizeof all.jobs);
    atomic_store(&all.moment, 0);
    atomic_store(&all.inside, 0);
    atomic_store(&all.most, 0);
    atomic_store(&all.running, 0);
    atomic_store(&all.together, 0);
    atomic_store(&all.released, 0);
    all.gates = 0;
    all.before_gate = 0;
    nothing_said();
}

static inline void keep_most(atomic_int *most, int value) {
    int old = atomic_load(most);
    while (value > old && !atomic_compare_exchange_weak(most, &old, value)) {
    }
}

static inline void wait_at_gate(int gate) {
    pthread_mutex_lock(&all.mutex);
    ++all.before_gate;
    pthread_cond_broadcast(&all.changed);
    while (all.gates < gate) pthread_cond_wait(&all.changed, &all.mutex);
    pthread_mutex_unlock(&all.mutex);
}

static inline void open_gates(int gates) {
    pthread_mutex_lock(&all.mutex);
    all.gates = gates;
    pthread_cond_broadcast(&all.changed);
    pthread_mutex_unlock(&all.mutex);
}

static inline void open_gate(void) {
    open_gates(1);
}

/* Waits until so many jobs have come to a gate. */
static inline void await_gate(int count) {
    pthread_mutex_lock(&all.mutex);
    while (all.before_gate < count) pthread_cond_wait(&all.changed, &all.mutex);
    pthread_mutex_unlock(&all.mutex);
}

static inline void pause_for(long nanoseconds) {
    (void)nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL);
}

static inline tvlm_status run(void *user, const tvlm_pool_place *place) {
    watched *const w = user;
    keep_most(&all.most, atomic_load(&all.inside));
    keep_most(&all.together, atomic_fetch_add(&all.running, 1) + 1);
    w->begun = atomic_fetch_add(&all.moment, 1);
    const int runs = atomic_fetch_add(&w->runs, 1);
    if (*place->kept == NULL) *place->kept = malloc(1);
    assert_non_null(place->device);
    if (w->waits > 0) wait_at_gate(w->waits);
    while (w->after > 0 && atomic_load(&all.jobs[w->after].dones) == 0) pause_for(100000);
    pause_for(1000 * (100 + 7919 * (int)(w - all.jobs) % 700)); /* some take longer than those behind them */
    atomic_fetch_sub(&all.running, 1);
    if (w->status != TVLM_OK)
        tvlm_log_message(&place->device->log, TVLM_LOG_ERROR, "job %d failed", (int)(w - all.jobs));
    return runs < w->losses ? TVLM_ERROR_LOST : w->status;
}

static inline tvlm_status ahead(void *user, const tvlm_pool_place *place) {
    watched *const w = user;
    assert_non_null(place->device);
    atomic_fetch_add(&w->aheads, 1);
    tvlm_log_message(&place->device->log, TVLM_LOG_ERROR, "nobody hears this");
    return TVLM_ERROR_DEVICE;
}

static inline void done(void *user, const tvlm_job_result *result) {
    watched *const w = user;
    atomic_fetch_add(&w->dones, 1);
    w->ended = atomic_fetch_add(&all.moment, 1);
    w->thread = pthread_self();
    w->result = *result;
    snprintf(w->message, sizeof w->message, "%s", result->message);
    atomic_fetch_sub(&all.inside, 1);
}

static inline void release(void *user, void *kept) {
    (void)user;
    atomic_fetch_add(&all.released, 1);
    free(kept);
}

static inline tvlm_pool *pool_of(struct tvlm_pool_params params, bool fallback) {
    const struct tvlm_device_params open = {.log = &noting, .fallback = fallback};
    tvlm_pool *pool = NULL;
    if (params.devices == NULL) params.devices = "reference,reference";
    params.open = &open;
    params.release = release;
    if (tvlm_pool_create(&params, &pool) != TVLM_OK) fail_msg("%s", said.last);
    return pool;
}

static inline tvlm_status submit(tvlm_pool *pool, int number) {
    watched *const w = &all.jobs[number];
    atomic_fetch_add(&all.inside, 1);
    const tvlm_status status = tvlm_pool_submit(
        pool, tvlm_job(.run = run, .done = done, .ahead = w->begins_ahead ? ahead : NULL, .user = w));
    if (status != TVLM_OK) atomic_fetch_sub(&all.inside, 1);
    return status;
}

static inline void submit_all(tvlm_pool *pool, int count) {
    for (int i = 0; i < count; ++i) assert_int_equal(submit(pool, i), TVLM_OK);
}

/* Each of the first `count` jobs was answered once, in this thread, after those before it. */
static inline void check_order(int count) {
    for (int i = 0; i < count; ++i) {
        const watched *const w = &all.jobs[i];
        if (atomic_load(&w->dones) != 1) fail_msg("job %d has %d answers", i, atomic_load(&w->dones));
        assert_int_equal(w->result.number, i);
        assert_true(pthread_equal(w->thread, pthread_self()));
        if (i > 0 && w->ended < all.jobs[i - 1].ended) fail_msg("job %d is answered before the last one", i);
    }
}

static inline void check_status(int number, tvlm_status expected) {
    if (all.jobs[number].result.status != expected)
        fail_msg("job %d: %s, not %s", number, tvlm_status_string(all.jobs[number].result.status),
                 tvlm_status_string(expected));
}

static inline void check_all_well(tvlm_pool *pool) {
    int64_t jobs = 0;
    assert_int_equal(tvlm_pool_finish(pool), TVLM_OK);
    check_order(JOBS);
    for (int i = 0; i < JOBS; ++i) {
        check_status(i, TVLM_OK);
        assert_int_equal(atomic_load(&all.jobs[i].runs), 1);
        assert_string_equal(all.jobs[i].message, "");
    }
    for (int32_t i = 0; i < tvlm_pool_device_count(pool); ++i) {
        tvlm_pool_device_info info;
        assert_int_equal(tvlm_pool_get_device_info(pool, i, &info), TVLM_OK);
        assert_false(info.lost);
        assert_int_equal(info.device.type, TVLM_DEVICE_REFERENCE);
        jobs += info.jobs;
    }
    assert_int_equal(jobs, JOBS);
    assert_int_equal(said.errors, 0);
}

#endif
