/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pool.c: jobs in a pool of reference devices: in which order they begin and end, in which threads, how many
 * there are at once; jobs that fail, devices that a job says are lost, cancelling, and destroying while jobs
 * run. test_pool_select.c has images, test_pool_devices.c devices that vanish. `gcc -fsanitize=thread` finds
 * nothing here and in test_pool_select.c on the reference (ci/full, row threads).
 */
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

static void start(void) {
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

static void keep_most(atomic_int *most, int value) {
    int old = atomic_load(most);
    while (value > old && !atomic_compare_exchange_weak(most, &old, value)) {
    }
}

static void wait_at_gate(int gate) {
    pthread_mutex_lock(&all.mutex);
    ++all.before_gate;
    pthread_cond_broadcast(&all.changed);
    while (all.gates < gate) pthread_cond_wait(&all.changed, &all.mutex);
    pthread_mutex_unlock(&all.mutex);
}

static void open_gates(int gates) {
    pthread_mutex_lock(&all.mutex);
    all.gates = gates;
    pthread_cond_broadcast(&all.changed);
    pthread_mutex_unlock(&all.mutex);
}

static void open_gate(void) {
    open_gates(1);
}

/* Waits until so many jobs have come to a gate. */
static void await_gate(int count) {
    pthread_mutex_lock(&all.mutex);
    while (all.before_gate < count) pthread_cond_wait(&all.changed, &all.mutex);
    pthread_mutex_unlock(&all.mutex);
}

static void pause_for(long nanoseconds) {
    (void)nanosleep(&(struct timespec){.tv_nsec = nanoseconds}, NULL);
}

static tvlm_status run(void *user, const tvlm_pool_place *place) {
    watched *const w = user;
    keep_most(&all.most, atomic_load(&all.inside));
    keep_most(&all.together, atomic_fetch_add(&all.running, 1) + 1);
    w->begun = atomic_fetch_add(&all.moment, 1);
    const int runs = atomic_fetch_add(&w->runs, 1);
    if (*place->kept == NULL) *place->kept = malloc(1);
    assert_non_null(place->device);
    if (w->waits > 0) wait_at_gate(w->waits);
    while (w->after > 0 && atomic_load(&all.jobs[w->after].dones) == 0) pause_for(100000);
    pause_for(1000 * (100 + 7919L * (w - all.jobs) % 700)); /* some take longer than those behind them */
    atomic_fetch_sub(&all.running, 1);
    if (w->status != TVLM_OK)
        tvlm_log_message(&place->device->log, TVLM_LOG_ERROR, "job %d failed", (int)(w - all.jobs));
    return runs < w->losses ? TVLM_ERROR_LOST : w->status;
}

static tvlm_status ahead(void *user, const tvlm_pool_place *place) {
    watched *const w = user;
    assert_non_null(place->device);
    atomic_fetch_add(&w->aheads, 1);
    tvlm_log_message(&place->device->log, TVLM_LOG_ERROR, "nobody hears this");
    return TVLM_ERROR_DEVICE;
}

static void done(void *user, const tvlm_job_result *result) {
    watched *const w = user;
    atomic_fetch_add(&w->dones, 1);
    w->ended = atomic_fetch_add(&all.moment, 1);
    w->thread = pthread_self();
    w->result = *result;
    snprintf(w->message, sizeof w->message, "%s", result->message);
    atomic_fetch_sub(&all.inside, 1);
}

static void release(void *user, void *kept) {
    (void)user;
    atomic_fetch_add(&all.released, 1);
    free(kept);
}

static tvlm_pool *pool_of(struct tvlm_pool_params params, bool fallback) {
    const struct tvlm_device_params open = {.log = &noting, .fallback = fallback};
    tvlm_pool *pool = NULL;
    if (params.devices == NULL) params.devices = "reference,reference";
    params.open = &open;
    params.release = release;
    if (tvlm_pool_create(&params, &pool) != TVLM_OK) fail_msg("%s", said.last);
    return pool;
}

static tvlm_status submit(tvlm_pool *pool, int number) {
    watched *const w = &all.jobs[number];
    atomic_fetch_add(&all.inside, 1);
    const tvlm_status status = tvlm_pool_submit(
        pool, tvlm_job(.run = run, .done = done, .ahead = w->begins_ahead ? ahead : NULL, .user = w));
    if (status != TVLM_OK) atomic_fetch_sub(&all.inside, 1);
    return status;
}

static void submit_all(tvlm_pool *pool, int count) {
    for (int i = 0; i < count; ++i) assert_int_equal(submit(pool, i), TVLM_OK);
}

/* Each of the first `count` jobs was answered once, in this thread, after those before it. */
static void check_order(int count) {
    for (int i = 0; i < count; ++i) {
        const watched *const w = &all.jobs[i];
        if (atomic_load(&w->dones) != 1) fail_msg("job %d has %d answers", i, atomic_load(&w->dones));
        assert_int_equal(w->result.number, i);
        assert_true(pthread_equal(w->thread, pthread_self()));
        if (i > 0 && w->ended < all.jobs[i - 1].ended) fail_msg("job %d is answered before the last one", i);
    }
}

static void check_status(int number, tvlm_status expected) {
    if (all.jobs[number].result.status != expected)
        fail_msg("job %d: %s, not %s", number, tvlm_status_string(all.jobs[number].result.status),
                 tvlm_status_string(expected));
}

/* ---- Order ---- */

static void check_all_well(tvlm_pool *pool) {
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

static void test_order(void **state) {
    (void)state;
    for (int capacity = 0; capacity <= 3; ++capacity) {
        tvlm_pool *pool = pool_of((struct tvlm_pool_params){.capacity = capacity}, false);
        const int expected = capacity > 0 ? capacity : 8;
        start();
        for (int i = 0; i < JOBS; ++i) all.jobs[i].begins_ahead = i % 3 != 0;
        submit_all(pool, JOBS);
        check_all_well(pool);
        if (atomic_load(&all.most) > expected + 1) /* with the one that is being submitted */
            fail_msg("%d jobs in a pool of %d", atomic_load(&all.most), expected);
        assert_in_range(atomic_load(&all.together), 1, expected < 2 ? 1 : 2);
        tvlm_pool_destroy(&pool);
        assert_null(pool);
    }
}

/* Two jobs that wait for each other end: two devices work at the same time. */
static void test_at_the_same_time(void **state) {
    (void)state;
    tvlm_pool *pool = pool_of((struct tvlm_pool_params){0}, false);
    start();
    for (int i = 0; i < 2; ++i) all.jobs[i].waits = 1;
    submit_all(pool, 2);
    await_gate(2);
    open_gate();
    assert_int_equal(tvlm_pool_finish(pool), TVLM_OK);
    check_order(2);
    tvlm_pool_destroy(&pool);
}

/* What is over is delivered without anything to submit; what is not is not awaited, nor what stands behind it. */
static void test_deliver(void **state) {
    (void)state;
    tvlm_pool *pool = pool_of((struct tvlm_pool_params){.devices = "reference,reference"}, false);
    start();
    assert_int_equal(tvlm_pool_deliver(pool), TVLM_OK);
    all.jobs[1].waits = 1;
    for (int i = 0; i < 3; ++i) assert_int_equal(submit(pool, i), TVLM_OK);
    await_gate(1);
    while (atomic_load(&all.jobs[0].dones) == 0) assert_int_equal(tvlm_pool_deliver(pool), TVLM_OK);
    while (atomic_load(&all.jobs[2].runs) == 0) pause_for(1000000);
    assert_int_equal(tvlm_pool_deliver(pool), TVLM_OK);
    assert_int_equal(atomic_load(&all.jobs[1].dones) + atomic_load(&all.jobs[2].dones), 0);
    open_gate();
    while (atomic_load(&all.jobs[2].dones) == 0) assert_int_equal(tvlm_pool_deliver(pool), TVLM_OK);
    check_order(3);
    assert_int_equal(tvlm_pool_deliver(NULL), TVLM_ERROR_ARGUMENT);
    tvlm_pool_destroy(&pool);
}

/* A job is begun ahead where enough wait, before the one that runs is over; what it says then is forgotten. */
static void test_ahead(void **state) {
    (void)state;
    tvlm_pool *pool = pool_of((struct tvlm_pool_params){.devices = "reference"}, false);
    start();
    for (int i = 0; i < 4; ++i) all.jobs[i].begins_ahead = true;
    all.jobs[0].waits = 1;
    assert_int_equal(submit(pool, 0), TVLM_OK);
    await_gate(1); /* nobody waited then */
    for (int i = 1; i < 4; ++i) assert_int_equal(submit(pool, i), TVLM_OK);
    assert_int_equal(atomic_load(&all.jobs[1].aheads), 0);
    open_gate();
    assert_int_equal(tvlm_pool_finish(pool), TVLM_OK);
    check_order(4);
    for (int i = 0; i < 4; ++i) {
        assert_int_equal(atomic_load(&all.jobs[i].aheads), i >= 2);
        assert_string_equal(all.jobs[i].message, "");
    }
    assert_int_equal(said.errors, 0);
    tvlm_pool_destroy(&pool);
}

/* Of two devices: a job is begun ahead where the other device will not miss it, and not else. */
static void check_hoarding(int waiting) {
    tvlm_pool *pool = pool_of((struct tvlm_pool_params){0}, false);
    start();
    for (int i = 2; i < 5; ++i) all.jobs[i].begins_ahead = true;
    all.jobs[0].waits = all.jobs[2].waits = 2;
    all.jobs[1].waits = 1;
    assert_int_equal(submit(pool, 0), TVLM_OK);
    assert_int_equal(submit(pool, 1), TVLM_OK);
    await_gate(2);
    for (int i = 2; i < 3 + waiting; ++i) assert_int_equal(submit(pool, i), TVLM_OK);
    open_gates(1); /* one device goes on to job 2, behind which so many wait; the other is still busy */
    await_gate(3);
    assert_int_equal(atomic_load(&all.jobs[3].aheads), waiting >= 2);
    open_gates(2);
    assert_int_equal(tvlm_pool_finish(pool), TVLM_OK);
    check_order(3 + waiting);
    tvlm_pool_destroy(&pool);
}

static void test_ahead_of_two(void **state) {
    (void)state;
    check_hoarding(1);
    check_hoarding(2);
}

static void *submit_some(void *argument) {
    tvlm_pool *const pool = argument;
    for (int i = 0; i < JOBS / 2; ++i)
        if (submit(pool, i) != TVLM_OK) return pool;
    return NULL;
}

/* Two threads submit and finish: every job is answered once, one at a time. */
static void test_two_submit(void **state) {
    (void)state;
    pthread_t other;
    void *failed;
    tvlm_pool *pool = pool_of((struct tvlm_pool_params){.capacity = 3}, false);
    start();
    assert_int_equal(pthread_create(&other, NULL, submit_some, pool), 0);
    for (int i = JOBS / 2; i < JOBS; ++i) assert_int_equal(submit(pool, i), TVLM_OK);
    assert_int_equal(tvlm_pool_finish(pool), TVLM_OK);
    pthread_join(other, &failed);
    assert_null(failed);
    assert_int_equal(tvlm_pool_finish(pool), TVLM_OK);
    for (int i = 0; i < JOBS; ++i) assert_int_equal(atomic_load(&all.jobs[i].dones), 1);
    tvlm_pool_destroy(&pool);
}

/* ---- Errors ---- */

static void test_failing(void **state) {
    (void)state;
    tvlm_pool *pool = pool_of((struct tvlm_pool_params){0}, false);
    start();
    all.jobs[5].status = TVLM_ERROR_FORMAT;
    all.jobs[3].status = TVLM_ERROR_IO;
    submit_all(pool, 10);
    assert_int_equal(tvlm_pool_finish(pool), TVLM_ERROR_IO);
    assert_int_equal(tvlm_pool_finish(pool), TVLM_OK);
    check_order(10);
    for (int i = 0; i < 10; ++i)
        check_status(i, i == 3 ? TVLM_ERROR_IO : i == 5 ? TVLM_ERROR_FORMAT : TVLM_OK);
    assert_string_equal(all.jobs[3].message, "job 3 failed");
    assert_string_equal(all.jobs[5].message, "job 5 failed");
    assert_int_equal(said.errors, 2);
    assert_string_equal(said.last, "job 5 failed"); /* in the order of the jobs */
    tvlm_pool_destroy(&pool);
}

/* Those before the first that fails are done, those that have not begun are not, and no more are taken. */
static void test_stop(void **state) {
    (void)state;
    tvlm_pool *pool = pool_of((struct tvlm_pool_params){.capacity = 30, .stop = true}, false);
    start();
    all.jobs[0].waits = 1;
    all.jobs[3].waits = 1;
    all.jobs[3].status = TVLM_ERROR_IO;
    submit_all(pool, 30);
    await_gate(2); /* both devices are busy; 1 and 2 are done, all behind 3 wait */
    open_gate();
    assert_int_equal(tvlm_pool_finish(pool), TVLM_ERROR_IO);
    check_order(30);
    for (int i = 0; i < 3; ++i) check_status(i, TVLM_OK);
    check_status(3, TVLM_ERROR_IO);
    check_status(29, TVLM_ERROR_CANCELLED);
    for (int i = 4; i < 30; ++i)
        check_status(i, atomic_load(&all.jobs[i].runs) > 0 ? TVLM_OK : TVLM_ERROR_CANCELLED);
    assert_int_equal(all.jobs[29].result.device, NEVER);
    assert_int_equal(submit(pool, 30), TVLM_ERROR_CANCELLED);
    assert_non_null(strstr(said.last, "job 3 failed"));
    assert_int_equal(atomic_load(&all.jobs[30].dones), 0);
    tvlm_pool_destroy(&pool);
}

/* Waits until so many jobs have run. */
static void await_jobs(tvlm_pool *pool, int64_t count) {
    int64_t jobs = 0;
    while (jobs < count) {
        jobs = 0;
        for (int32_t i = 0; i < tvlm_pool_device_count(pool); ++i) {
            tvlm_pool_device_info info;
            assert_int_equal(tvlm_pool_get_device_info(pool, i, &info), TVLM_OK);
            jobs += info.jobs;
        }
        pause_for(100000);
    }
}

/* Two fail, the later one first: the earlier one is what stopped the pool. */
static void test_stopped_by_the_first(void **state) {
    (void)state;
    tvlm_pool *pool = pool_of((struct tvlm_pool_params){.capacity = 20, .stop = true}, false);
    start();
    all.jobs[0].waits = 2;
    all.jobs[0].status = TVLM_ERROR_IO;
    all.jobs[1].waits = 1;
    all.jobs[1].status = TVLM_ERROR_FORMAT;
    submit_all(pool, 10);
    await_gate(2);
    open_gates(1);
    await_jobs(pool, 1);
    open_gates(2);
    assert_int_equal(tvlm_pool_finish(pool), TVLM_ERROR_IO);
    check_order(10);
    check_status(1, TVLM_ERROR_FORMAT);
    for (int i = 2; i < 10; ++i) check_status(i, TVLM_ERROR_CANCELLED);
    assert_int_equal(submit(pool, 10), TVLM_ERROR_CANCELLED);
    assert_non_null(strstr(said.last, "job 0 failed"));
    tvlm_pool_destroy(&pool);
}

/* A device is lost with a job behind one that failed meanwhile: no other device does it. */
static void test_stopped_while_lost(void **state) {
    (void)state;
    tvlm_pool *pool = pool_of((struct tvlm_pool_params){.capacity = 20, .stop = true}, false);
    start();
    all.jobs[1].waits = all.jobs[2].waits = 1;
    all.jobs[1].status = TVLM_ERROR_IO;
    all.jobs[2].losses = 1;
    all.jobs[2].after = 1;
    submit_all(pool, 6);
    await_gate(2);
    open_gate();
    assert_int_equal(tvlm_pool_finish(pool), TVLM_ERROR_IO);
    check_order(6);
    check_status(0, TVLM_OK);
    for (int i = 2; i < 6; ++i) check_status(i, TVLM_ERROR_CANCELLED);
    assert_int_equal(atomic_load(&all.jobs[2].runs), 1);
    tvlm_pool_destroy(&pool);
}

/* A device is lost with a job, and then one behind that fails: it stops only what is behind it. */
static void test_lost_before_stop(void **state) {
    (void)state;
    tvlm_pool_device_info info[2] = {0};
    tvlm_pool *pool = pool_of((struct tvlm_pool_params){.capacity = 20, .stop = true}, false);
    start();
    all.jobs[0].waits = 1;
    all.jobs[0].losses = 1;
    all.jobs[1].waits = 2;
    all.jobs[1].status = TVLM_ERROR_IO;
    submit_all(pool, 4);
    await_gate(2);
    open_gates(1);
    while (info[0].lost + info[1].lost == 0) {
        for (int i = 0; i < 2; ++i) assert_int_equal(tvlm_pool_get_device_info(pool, i, &info[i]), TVLM_OK);
        pause_for(100000);
    }
    pause_for(20000000); /* the job is put back a moment after that */
    open_gates(2);
    assert_int_equal(tvlm_pool_finish(pool), TVLM_ERROR_IO);
    check_order(4);
    check_status(0, TVLM_OK);
    check_status(1, TVLM_ERROR_IO);
    for (int i = 2; i < 4; ++i) check_status(i, TVLM_ERROR_CANCELLED);
    assert_int_equal(atomic_load(&all.jobs[0].runs), 2);
    tvlm_pool_destroy(&pool);
}

/* ---- The log ---- */

static struct { atomic_int inside, most, lines; } writing;

static void write_slowly(void *user, tvlm_log_level level, const char *message) {
    (void)user, (void)message;
    if (level != TVLM_LOG_WARNING) return;
    keep_most(&writing.most, atomic_fetch_add(&writing.inside, 1) + 1);
    pause_for(1000000);
    atomic_fetch_sub(&writing.inside, 1);
    atomic_fetch_add(&writing.lines, 1);
}

static tvlm_status warn(void *user, const tvlm_pool_place *place) {
    (void)user;
    for (int i = 0; i < 20; ++i) tvlm_log_message(&place->device->log, TVLM_LOG_WARNING, "line %d", i);
    return TVLM_OK;
}

/* Two devices have much to say: the application's log is never called by both at once. */
static void test_log_in_turn(void **state) {
    (void)state;
    const tvlm_log slow = {write_slowly, NULL};
    tvlm_pool *pool = NULL;
    assert_int_equal(tvlm_pool_create(tvlm_pool_params(.devices = "reference,reference",
                                                       .open = tvlm_device_params(.log = &slow)),
                                      &pool),
                     TVLM_OK);
    for (int i = 0; i < 2; ++i)
        assert_int_equal(tvlm_pool_submit(pool, &(struct tvlm_job){.run = warn}), TVLM_OK);
    assert_int_equal(tvlm_pool_finish(pool), TVLM_OK);
    tvlm_pool_destroy(&pool);
    assert_int_equal(atomic_load(&writing.lines), 40);
    assert_int_equal(atomic_load(&writing.most), 1);
}

/* ---- Lost devices ---- */

/* A device is lost with the job that it runs and the one that it began ahead: the other one does both. */
static void test_lost(void **state) {
    (void)state;
    tvlm_pool_device_info info[2];
    int losses = 0;
    tvlm_pool *pool = pool_of((struct tvlm_pool_params){.capacity = 20}, false);
    start();
    for (int i = 0; i < 20; ++i) all.jobs[i].begins_ahead = true;
    all.jobs[9].losses = 1;
    submit_all(pool, 20);
    assert_int_equal(tvlm_pool_finish(pool), TVLM_OK);
    check_order(20);
    for (int i = 0; i < 20; ++i) {
        check_status(i, TVLM_OK);
        assert_int_equal(atomic_load(&all.jobs[i].runs), i == 9 ? 2 : 1);
        if (i <= 9) assert_int_equal(all.jobs[i].result.lost, i == 9);
        losses += all.jobs[i].result.lost;
    }
    assert_in_range(losses, 1, 2); /* with that of what was begun ahead, if there was something */
    for (int i = 0; i < 2; ++i) assert_int_equal(tvlm_pool_get_device_info(pool, i, &info[i]), TVLM_OK);
    assert_int_equal(info[0].lost + info[1].lost, 1);
    assert_int_equal(info[0].jobs + info[1].jobs, 20);
    assert_true(said.errors == 0 && said.warnings == 1);
    assert_non_null(strstr(said.last, "its jobs go to the 1 other device of the pool"));
    assert_int_equal(atomic_load(&all.released), 1); /* what was kept with the lost one */
    tvlm_pool_destroy(&pool);
    assert_int_equal(atomic_load(&all.released), 2);
}

/* One of three is lost: the line says how many are left. */
static void test_lost_of_three(void **state) {
    (void)state;
    tvlm_pool *pool = pool_of((struct tvlm_pool_params){.devices = "reference,reference,reference"}, false);
    start();
    all.jobs[0].losses = 1;
    submit_all(pool, 1);
    assert_int_equal(tvlm_pool_finish(pool), TVLM_OK);
    assert_true(said.errors == 0 && said.warnings == 1);
    assert_non_null(strstr(said.last, "its jobs go to the 2 other devices of the pool"));
    tvlm_pool_destroy(&pool);
}

/* No device is left: what is not done says so, and the pool takes nothing more. */
static void test_all_lost(void **state) {
    (void)state;
    tvlm_pool *pool = pool_of((struct tvlm_pool_params){.capacity = 20}, false);
    start();
    all.jobs[4].losses = 2;
    submit_all(pool, 20);
    assert_int_equal(tvlm_pool_finish(pool), TVLM_ERROR_LOST);
    check_order(20);
    for (int i = 0; i < 20; ++i)
        check_status(i, atomic_load(&all.jobs[i].runs) == 1 ? TVLM_OK : TVLM_ERROR_LOST);
    check_status(19, TVLM_ERROR_LOST);
    assert_int_equal(atomic_load(&all.jobs[4].runs), 2);
    assert_int_equal(all.jobs[4].result.lost, 2);
    assert_string_equal(all.jobs[19].message, "no device of the pool is left");
    assert_int_equal(submit(pool, 20), TVLM_ERROR_LOST);
    assert_int_equal(atomic_load(&all.jobs[20].dones), 0);
    tvlm_pool_destroy(&pool);
}

/* With a fallback the last one is replaced. */
static void test_replaced(void **state) {
    (void)state;
    tvlm_pool *pool = pool_of((struct tvlm_pool_params){.capacity = 20}, true);
    start();
    all.jobs[4].losses = 3;
    all.jobs[12].losses = 1;
    submit_all(pool, 20);
    assert_int_equal(tvlm_pool_finish(pool), TVLM_OK);
    check_order(20);
    for (int i = 0; i < 20; ++i) check_status(i, TVLM_OK);
    assert_int_equal(atomic_load(&all.jobs[4].runs), 4);
    assert_int_equal(all.jobs[4].result.lost, 3);
    assert_int_equal(submit(pool, 20), TVLM_OK);
    assert_int_equal(tvlm_pool_finish(pool), TVLM_OK);
    assert_int_equal(said.errors, 0);
    tvlm_pool_destroy(&pool);
}

/* A device is lost with a job, and with the one that it began ahead: the one that takes its place does both as if
 * nothing had happened, in their order, and begins the second one ahead itself. */
static void test_begun_ahead_again(void **state) {
    (void)state;
    tvlm_pool *pool = pool_of((struct tvlm_pool_params){.devices = "reference", .capacity = 20}, true);
    start();
    for (int i = 1; i < 4; ++i) all.jobs[i].begins_ahead = true;
    all.jobs[0].waits = 1;
    all.jobs[1].losses = 1;
    submit_all(pool, 1);
    await_gate(1); /* the others are submitted when it runs, so that it is known what is begun ahead */
    for (int i = 1; i < 4; ++i) assert_int_equal(submit(pool, i), TVLM_OK);
    open_gate();
    assert_int_equal(tvlm_pool_finish(pool), TVLM_OK);
    check_order(4);
    assert_int_equal(atomic_load(&all.jobs[1].runs), 2);
    for (int i = 1; i < 4; ++i) {
        assert_int_equal(all.jobs[i].result.lost, i <= 2);
        assert_int_equal(atomic_load(&all.jobs[i].aheads), i == 1 ? 0 : i == 2 ? 2 : 1);
        assert_true(all.jobs[i].begun > all.jobs[i - 1].begun);
    }
    tvlm_pool_destroy(&pool);
}

/* A job that loses every device ends. */
static void test_without_end(void **state) {
    (void)state;
    tvlm_pool *pool = pool_of((struct tvlm_pool_params){0}, true);
    start();
    all.jobs[0].losses = 1000;
    assert_int_equal(submit(pool, 0), TVLM_OK);
    assert_int_equal(tvlm_pool_finish(pool), TVLM_ERROR_LOST);
    assert_int_equal(atomic_load(&all.jobs[0].runs), 2 + 16);
    tvlm_pool_destroy(&pool);
}

/* ---- Ending early ---- */

static void test_cancel(void **state) {
    (void)state;
    tvlm_pool *pool = pool_of((struct tvlm_pool_params){.capacity = 20}, false);
    start();
    for (int i = 0; i < 2; ++i) all.jobs[i].waits = 1;
    submit_all(pool, 10);
    await_gate(2);
    tvlm_pool_cancel(pool);
    open_gate();
    for (int i = 10; i < 15; ++i) assert_int_equal(submit(pool, i), TVLM_OK);
    assert_int_equal(tvlm_pool_finish(pool), TVLM_ERROR_CANCELLED);
    check_order(15);
    for (int i = 0; i < 15; ++i) check_status(i, i < 2 || i >= 10 ? TVLM_OK : TVLM_ERROR_CANCELLED);
    for (int i = 2; i < 10; ++i) assert_int_equal(atomic_load(&all.jobs[i].runs), 0);
    assert_int_equal(said.errors, 0);
    tvlm_pool_destroy(&pool);
    tvlm_pool_cancel(NULL);
}

static void *open_later(void *argument) {
    (void)argument;
    pause_for(20 * 1000 * 1000);
    open_gate();
    return NULL;
}

/* Those that run are waited for, and each is answered before the pool is gone. */
static void test_destroy_early(void **state) {
    (void)state;
    pthread_t other;
    tvlm_pool *pool = pool_of((struct tvlm_pool_params){.capacity = 20}, false);
    start();
    for (int i = 0; i < 2; ++i) all.jobs[i].waits = 1;
    submit_all(pool, 20);
    await_gate(2);
    assert_int_equal(pthread_create(&other, NULL, open_later, NULL), 0);
    tvlm_pool_destroy(&pool);
    pthread_join(other, NULL);
    assert_null(pool);
    check_order(20);
    for (int i = 0; i < 20; ++i) check_status(i, i < 2 ? TVLM_OK : TVLM_ERROR_CANCELLED);
    assert_int_equal(atomic_load(&all.released), 2);
    tvlm_pool_destroy(&pool);
    tvlm_pool_destroy(NULL);
}

/* ---- Refusals ---- */

typedef struct caller {
    tvlm_pool *pool;
    tvlm_status submitted, finished, selected, done_submitted;
} caller;

static tvlm_status nothing(void *user, const tvlm_pool_place *place) {
    (void)user;
    (void)place;
    return TVLM_OK;
}

static tvlm_status call_from_within(void *user, const tvlm_pool_place *place) {
    caller *const c = user;
    (void)place;
    c->submitted = tvlm_pool_submit(c->pool, tvlm_job(.run = nothing));
    c->finished = tvlm_pool_finish(c->pool);
    static uint8_t pixels[16 * 16];
    const tvlm_image image = {.pixels = pixels, .width = 16, .height = 16, .channels = 1};
    tvlm_selection *selection = NULL;
    c->selected = tvlm_pool_select(c->pool, &image, 1, NULL, NULL, &selection, NULL);
    return TVLM_OK;
}

static void submit_from_done(void *user, const tvlm_job_result *result) {
    caller *const c = user;
    (void)result;
    c->done_submitted = tvlm_pool_submit(c->pool, tvlm_job(.run = nothing));
}

/* What would wait for itself. */
static void test_from_within(void **state) {
    (void)state;
    tvlm_pool *pool = pool_of((struct tvlm_pool_params){.capacity = 1}, false);
    caller c = {.pool = pool};
    start();
    assert_int_equal(
        tvlm_pool_submit(pool, tvlm_job(.run = call_from_within, .done = submit_from_done, .user = &c)),
        TVLM_OK);
    assert_int_equal(tvlm_pool_finish(pool), TVLM_OK);
    assert_int_equal(c.submitted, TVLM_ERROR_ARGUMENT);
    assert_int_equal(c.finished, TVLM_ERROR_ARGUMENT);
    assert_int_equal(c.selected, TVLM_ERROR_ARGUMENT);
    assert_int_equal(c.done_submitted, TVLM_ERROR_ARGUMENT);
    assert_non_null(strstr(said.last, "tvlm_pool_submit: called by a job"));
    tvlm_pool_destroy(&pool);
}

static void refuse(struct tvlm_pool_params params, tvlm_status expected, const char *words) {
    tvlm_pool *pool = NULL;
    params.open = tvlm_device_params(.log = &noting);
    nothing_said();
    const tvlm_status status = tvlm_pool_create(&params, &pool);
    if (status != expected || pool != NULL || said.errors != 1 || strstr(said.last, words) == NULL)
        fail_msg("status %d, %d errors: '%s', not '%s'", (int)status, said.errors, said.last, words);
}

static void test_refusals(void **state) {
    (void)state;
    tvlm_device *none[1] = {NULL};
    tvlm_pool_device_info info;
    refuse((struct tvlm_pool_params){.devices = "reference,"}, TVLM_ERROR_ARGUMENT, "'reference,'");
    refuse((struct tvlm_pool_params){.devices = ","}, TVLM_ERROR_ARGUMENT, "a name of 0 bytes");
    /* The longest name, which no device has, and a longer one. */
    char name[257];
    memset(name, 'x', sizeof name);
    name[256] = '\0';
    refuse((struct tvlm_pool_params){.devices = name}, TVLM_ERROR_ARGUMENT, "a name of 256 bytes");
    refuse((struct tvlm_pool_params){.devices = name + 1}, TVLM_ERROR_NO_DEVICE, "no ");
    refuse((struct tvlm_pool_params){.devices = "reference", .capacity = -1}, TVLM_ERROR_ARGUMENT, "-1 jobs");
    refuse((struct tvlm_pool_params){.devices = "reference,no such device"}, TVLM_ERROR_NO_DEVICE, "no ");
    refuse((struct tvlm_pool_params){.opened = none}, TVLM_ERROR_ARGUMENT, "0 devices");
    refuse((struct tvlm_pool_params){.opened = none, .opened_count = 1}, TVLM_ERROR_ARGUMENT, "is NULL");
    refuse((struct tvlm_pool_params){.opened = none, .opened_count = 1, .devices = "all"},
           TVLM_ERROR_ARGUMENT, "of 'all'");
    refuse((struct tvlm_pool_params){.reserved = {1}}, TVLM_ERROR_ARGUMENT, "tvlm_pool_params: its reserved");
    assert_int_equal(tvlm_pool_create(NULL, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_pool_submit(NULL, tvlm_job(.run = nothing)), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_pool_finish(NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_pool_device_count(NULL), 0);
    tvlm_pool *pool = pool_of((struct tvlm_pool_params){0}, false);
    assert_int_equal(tvlm_pool_submit(pool, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_pool_submit(pool, tvlm_job(.user = pool)), TVLM_ERROR_ARGUMENT);
    assert_non_null(strstr(said.last, "run is NULL"));
    assert_int_equal(tvlm_pool_submit(pool, tvlm_job(.run = nothing, .reserved = {1})), TVLM_ERROR_ARGUMENT);
    assert_non_null(strstr(said.last, "tvlm_job: its reserved"));
    assert_int_equal(tvlm_pool_get_device_info(pool, 2, &info), TVLM_ERROR_ARGUMENT);
    assert_non_null(strstr(said.last, "device 2 of a pool of 2"));
    assert_int_equal(tvlm_pool_get_device_info(pool, -1, &info), TVLM_ERROR_ARGUMENT);
    assert_non_null(strstr(said.last, "device -1 of a pool of 2"));
    assert_int_equal(tvlm_pool_finish(pool), TVLM_OK);
    tvlm_pool_destroy(&pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_at_the_same_time),
        cmocka_unit_test(test_deliver),
        cmocka_unit_test(test_ahead),
        cmocka_unit_test(test_two_submit),
        cmocka_unit_test(test_failing),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_stopped_by_the_first),
        cmocka_unit_test(test_stopped_while_lost),
        cmocka_unit_test(test_lost_before_stop),
        cmocka_unit_test(test_log_in_turn),
        cmocka_unit_test(test_ahead_of_two),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_lost_of_three),
        cmocka_unit_test(test_all_lost),
        cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_begun_ahead_again),
        cmocka_unit_test(test_without_end),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_destroy_early),
        cmocka_unit_test(test_from_within),
        cmocka_unit_test(test_refusals),
    };
    setenv("OCL_ICD_VENDORS", "/nonexistent",
           1); /* where another device is looked for, there is the reference */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
