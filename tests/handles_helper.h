/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handles_helper.h: lists of calls, each of which takes a handle and else nothing, made three times: with no
 * handle, while another thread has the device, and while nobody has it.
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

static inline void check_held(tvlm_status status, const char *function) {
    if (status != TVLM_ERROR_ARGUMENT ||
        strstr(test_last_log(), "another thread is using the device") == NULL)
        fail_msg("%s works while another thread has the device: status %d, \"%s\"", function, (int)status,
                 test_last_log());
    if (strstr(test_last_log(), function) == NULL)
        fail_msg("the line of %s does not name it: %s", function, test_last_log());
}

typedef struct holder {
    tvlm_device *device;
    pthread_t thread;
    atomic_int has, may_leave;
} holder;

static inline void *hold_in_thread(void *argument) {
    holder *const h = argument;
    tvlm_device *entered = NULL;
    if (tvlm_device_enter(h->device, "a test", &entered) == TVLM_OK) atomic_store(&h->has, 1);
    while (!atomic_load(&h->may_leave)) (void)sched_yield();
    tvlm_device_leave(&entered);
    return NULL;
}

static inline void begin_to_hold(holder *h, tvlm_device *device) {
    *h = (holder){.device = device};
    assert_int_equal(pthread_create(&h->thread, NULL, hold_in_thread, h), 0);
    while (!atomic_load(&h->has)) (void)sched_yield();
}

static inline void end_to_hold(holder *h) {
    atomic_store(&h->may_leave, 1);
    assert_int_equal(pthread_join(h->thread, NULL), 0);
}

/* ---- While nobody has it ---- */

/* Some functions have nothing more to ask for. The others say in a line what is missing. */
static inline void check_free(tvlm_status status, const char *function) {
    if (status != TVLM_OK && status != TVLM_ERROR_ARGUMENT && status != TVLM_ERROR_UNSUPPORTED)
        fail_msg("%s with nothing but a handle: status %d, \"%s\"", function, (int)status, test_last_log());
}

#endif
