/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support.h: what all tests share: the devices to run on, random pictures, comparisons that say what differs.
 *
 * Which devices: $TVLM_TEST_DEVICES unset: the first OpenCL CPU device that is not a simulator; "all": every
 * OpenCL device; otherwise a name or index as tvlm_device_params takes it. $TVLM_TEST_SMALL=1: sizes that an
 * interpreter (Oclgrind) can afford. Without any OpenCL device the tests of devices are skipped, never
 * passed.
 */
#ifndef TVLM_TESTS_SUPPORT_H
#define TVLM_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/backend.h"
#include "texturevlm/texturevlm.h"

/* Prints warnings and errors to stderr when $TVLM_TEST_VERBOSE is set; the last line is kept in any case. */
extern const tvlm_log test_log;
const char *test_last_log(void);

/* Of an open device; valid until the next call. */
const tvlm_device_info *test_device_info(const tvlm_device *device);

bool test_small(void);

/* $TVLM_TEST_QUICK, which ci/test sets: a sample of what takes minutes, all of it in ci/full. */
bool test_quick(void);

/* One device under test in one storage and format. */
typedef struct test_target {
    tvlm_device *device;
    tvlm_format format;
} test_target;

/*
 * Runs `body` for every device under test in each storage that it can do and in both formats; prints which.
 * Returns how many there were; the caller skips when that is 0. The reference device of `reference` is opened
 * once.
 */
typedef void test_body(const test_target *target, tvlm_device *reference);
int test_for_each_target(test_body *body);
int test_targets_seen(void); /* by all calls so far */

/* Deterministic random numbers: splitmix64. */
uint64_t test_random(uint64_t *state);
float test_random_unit(uint64_t *state); /* [0, 1) */

/* Random smooth-and-noisy RGB(A) bytes: edges, flats and noise. free() them. */
uint8_t *test_random_pixels(uint64_t *state, int32_t width, int32_t height, int32_t channels);

/* Fails unless |a - b| <= maximum everywhere and the mean is <= mean; NaN or Inf in either fails first.
 * `what` names it. */
void test_compare(const char *what, const float *got, const float *expected, size_t count, float maximum,
                  float mean);

/* ../shared/data/NAME beside the checkout (or under $TVLM_SHARED); false when it is not there. */
bool test_shared_path(const char *name, char *path, size_t size);

#endif
