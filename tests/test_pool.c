/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pool.c: jobs in a pool of reference devices: in which order they begin and end, in which threads, how many
 * there are at once, and what a pool refuses. test_pool_lost.c has jobs that fail or lose their device,
 * test_pool_select.c images, test_pool_devices.c devices that vanish. `gcc -fsanitize=thread` finds nothing here, in
 * test_pool_lost.c and, on the reference, in test_pool_select.c (ci/full, row threads).
 */
#include "pool_jobs_helper.h"

/* ---- Order ---- */

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
        cmocka_unit_test(test_order),        cmocka_unit_test(test_at_the_same_time),
        cmocka_unit_test(test_deliver),      cmocka_unit_test(test_ahead),
        cmocka_unit_test(test_ahead_of_two), cmocka_unit_test(test_two_submit),
        cmocka_unit_test(test_log_in_turn),  cmocka_unit_test(test_from_within),
        cmocka_unit_test(test_refusals),
    };
    setenv("OCL_ICD_VENDORS", "/nonexistent",
           1); /* where another device is looked for, there is the reference */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
