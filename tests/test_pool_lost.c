/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_pool_lost.c: jobs in a pool of reference devices that fail, devices that a job says are lost, cancelling, and
 * destroying while jobs run.
 */
#include "pool_jobs_helper.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failing),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_stopped_by_the_first),
        cmocka_unit_test(test_stopped_while_lost),
        cmocka_unit_test(test_lost_before_stop),
        cmocka_unit_test(test_lost),
        cmocka_unit_test(test_lost_of_three),
        cmocka_unit_test(test_all_lost),
        cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_begun_ahead_again),
        cmocka_unit_test(test_without_end),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_destroy_early),
    };
    setenv("OCL_ICD_VENDORS", "/nonexistent",
           1); /* where another device is looked for, there is the reference */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
