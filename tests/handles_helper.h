/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handles_helper.h: lists of calls that take a handle and else nothing. Each is made three times: with no handle,
 * while another thread has the device, and while nobody has it. It has the program's main, too.
 */
#ifndef TEST_HANDLES_HELPER_H
#define TEST_HANDLES_HELPER_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "core/owner.h"
#include "stack_helper.h"

typedef void check_function(tvlm_status status, const char *function);

/* ---- With no handle ---- */

static inline void check_absent(tvlm_status status, const char *function) {
    if (status != TVLM_ERROR_ARGUMENT)
        fail_msg("%s takes no handle for one: status %d", function, (int)status);
}

/* ---- While another thread has the device ---- */

/* Static, since a check that fails leaves the test while the thread still holds the device: the thread ends then, too. */
static struct holder {
    tvlm_device *device;
    pthread_t thread;
    atomic_int state,
        may_leave; /* state: 0 until it has tried to enter; 1: it has the device; -1: it has not */
} holder;

static inline void let_go(void) {
    atomic_store(&holder.may_leave, 1);
}

static inline void check_held(tvlm_status status, const char *function) {
    const bool told = strstr(test_last_log(), "another thread is using the device") != NULL &&
                      strstr(test_last_log(), function) != NULL;
    if (status != TVLM_ERROR_ARGUMENT || !told) let_go();
    if (status != TVLM_ERROR_ARGUMENT ||
        strstr(test_last_log(), "another thread is using the device") == NULL)
        fail_msg("%s works while another thread has the device: status %d, \"%s\"", function, (int)status,
                 test_last_log());
    if (strstr(test_last_log(), function) == NULL)
        fail_msg("the line of %s does not name it: %s", function, test_last_log());
}

static inline void *hold_in_thread(void *unused) {
    tvlm_device *entered = NULL;
    (void)unused;
    const tvlm_status status = tvlm_device_enter(holder.device, "a test", &entered);
    atomic_store(&holder.state, status == TVLM_OK ? 1 : -1);
    while (status == TVLM_OK && !atomic_load(&holder.may_leave)) (void)sched_yield();
    tvlm_device_leave(&entered);
    return NULL;
}

static inline void begin_to_hold(tvlm_device *device) {
    holder.device = device;
    atomic_store(&holder.state, 0);
    atomic_store(&holder.may_leave, 0);
    assert_int_equal(pthread_create(&holder.thread, NULL, hold_in_thread, NULL), 0);
    while (atomic_load(&holder.state) == 0) (void)sched_yield();
    assert_int_equal(atomic_load(&holder.state), 1);
}

static inline void end_to_hold(void) {
    atomic_store(&holder.may_leave, 1);
    assert_int_equal(pthread_join(holder.thread, NULL), 0);
}

/* ---- While nobody has it ---- */

/* Some functions have nothing more to ask for. The others say in a line what is missing. */
static inline void check_free(tvlm_status status, const char *function) {
    if (status != TVLM_OK && status != TVLM_ERROR_ARGUMENT && status != TVLM_ERROR_UNSUPPORTED)
        fail_msg("%s with nothing but a handle: status %d, \"%s\"", function, (int)status, test_last_log());
}

/* ---- The tests ---- */

/* What each program has: its handles, those that it needs of a device (of NULL: none), and the list of calls. */
typedef struct handles handles;
static const handles *make_handles(tvlm_device *device);
static void free_handles(void);
static void call_all(const handles *h, check_function *check);

static void test_no_handle(void **state) {
    (void)state;
    call_all(make_handles(NULL), check_absent);
}

static void work_with(tvlm_device *device) {
    const handles *const h = make_handles(device);
    begin_to_hold(device);
    call_all(h, check_held);
    end_to_hold();
    assert_int_equal(tvlm_device_finish(device), TVLM_OK); /* and then it works again */
    call_all(h, check_free);
    free_handles();
}

static void test_reference(void **state) {
    tvlm_device *device = open_reference();
    (void)state;
    work_with(device);
    tvlm_device_destroy(&device);
}

static void on_each(const test_target *target, tvlm_device *reference) {
    (void)reference;
    work_with(target->device);
}

static void test_each_device(void **state) {
    (void)state;
    if (test_for_each_target(on_each) == 0) skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_handle), cmocka_unit_test(test_reference),
                                       cmocka_unit_test(test_each_device)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
