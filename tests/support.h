/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support.h: what all tests share: the devices to run on, random pictures, and comparisons that say what
 * differs.
 *
 * $TVLM_TEST_DEVICES says which devices tests run on:
 *   unset   the first OpenCL CPU device that is not a simulator
 *   all     every OpenCL device
 *   other   the device of that name or index, as tvlm_device_params takes it
 * Where the first two find none, the tests of devices are skipped, never passed; a device that is named must
 * be there. $TVLM_TEST_SMALL=1 asks for sizes that an interpreter (Oclgrind) can afford. $TVLM_TEST_STORAGE
 * names the only storage to run in ("buffer", "image", "mipmapped").
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

/* Keeps the last line, and prints warnings and errors to stderr when $TVLM_TEST_VERBOSE is set. */
extern const tvlm_log test_log;
const char *test_last_log(void);

/* Returns the information about an open device. It is valid until the next call. */
const tvlm_device_info *test_device_info(const tvlm_device *device);

bool test_small(void);

/* Whether a sample is enough of what takes minutes: $TVLM_TEST_QUICK is set, as ci/test does. ci/full runs
 * all. */
bool test_quick(void);

/* Of the allocations or calls that a test lets fail, one by one, every how many-th it tries: $TVLM_TEST_EVERY, 1 where
 * that is not set. */
int test_every(void);
/* The number of the first of those, where every `step`-th is tried: another one at each turn ($TVLM_TEST_TURN, a
 * number that grows), so that `step` turns try all. */
long test_first(long step);

/* One device under test in one storage and format. */
typedef struct test_target {
    tvlm_device *device;
    tvlm_format format;
} test_target;

/* Opens the default device. Where there is none, as in a static build for musl, the test that runs is skipped. */
tvlm_device *test_default_device(void);

/*
 * Runs `body` for every device under test in each storage that it can do and in both formats, and prints
 * which. Returns how many there were; the caller skips when that is 0. All calls of `body` get the same
 * reference device.
 */
typedef void test_body(const test_target *target, tvlm_device *reference);
int test_for_each_target(test_body *body);
int test_targets_seen(void); /* how many targets all calls so far ran on */

/* Random numbers by splitmix64, which are the same for the same state. */
uint64_t test_random(uint64_t *state);
float test_random_unit(uint64_t *state); /* in [0, 1) */

/* Makes a random picture of bytes with edges, flats and noise. The caller frees it. */
uint8_t *test_random_pixels(uint64_t *state, int32_t width, int32_t height, int32_t channels);

/* Fails unless |got - expected| is at most `maximum` everywhere and at most `mean` on average. NaN or Inf in
 * either fails first. `what` names the comparison. */
void test_compare(const char *what, const float *got, const float *expected, size_t count, float maximum,
                  float mean);

/* Finds ../shared/data/NAME beside the checkout, or under $TVLM_SHARED. False when it is not there. */
/* The folder of the source, and that of the build. */
extern const char test_source_dir[], test_binary_dir[];

bool test_shared_path(const char *name, char *path, size_t size);

#endif
