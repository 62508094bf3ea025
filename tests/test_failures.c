/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_failures.c [JOB]: each job of jobs.h, with the n-th call of OpenCL failing, for every n there is. Once:
 * then there is an error and a line (or, where the library can do without that call, the same result), and the
 * same device, asked again with all that is there, answers as if nothing had been. And from then on, as of a
 * device that is unplugged: then it says that it is lost, and goes on saying so.
 *
 * The results are those of the device; its positions are the reference's.
 */
#include "jobs.h"
#include "layer_helper.h"

static test_layer layer;
static const char *wanted_job; /* NULL: all */

/* ---- One failure ---- */

static void check_line(long n, tvlm_status status) {
    if (errors == 0) fail_msg("call %ld failed: status %d and no line", n, (int)status);
}

static void check_same(long n, const char *when, const results *got, const results *expected) {
    if (memcmp(got, expected, sizeof *got) != 0) fail_msg("call %ld failed: other results %s", n, when);
}

/* Returns whether there is an n-th call. `warm`: a device that has its programs and goes on from failure to
 * failure, or NULL: one is opened. */
static bool fail_once(long n, const struct job *job, const char *name, tvlm_device *warm,
                      const results *expected) {
    objects o = {.device = warm};
    results got;
    if (o.device == NULL && !job->opens && open_device(name, &o) != TVLM_OK) fail_msg("%s", last_error);
    errors = 0;
    layer.let_fail(n, 0);
    const tvlm_status status = work(job, name, &o, &got);
    const bool failed = layer.failed() > 0;
    layer.let_fail(0, 0);
    if (status == TVLM_ERROR_LOST) fail_msg("call %ld failed once: %s", n, last_error);
    if (status != TVLM_OK)
        check_line(n, status);
    else
        check_same(n, "all the same", &got, expected);
    if (work(job, name, &o, &got) != TVLM_OK) fail_msg("call %ld failed once, and then: %s", n, last_error);
    check_same(n, "when asked again", &got, expected);
    if (warm != NULL) o.device = NULL;
    destroy(&o);
    return failed;
}

/* Whether there is an error, which from then on says that the device is lost. */
static void check_loss(long n, tvlm_status status, bool opened) {
    if (status == TVLM_OK) fail_msg("call %ld and all after it failed, and nobody noticed", n);
    check_line(n, status);
    if (opened && status != TVLM_ERROR_LOST) fail_msg("call %ld and all after it failed: %s", n, last_error);
}

static bool lose(long n, const struct job *job, const char *name, const results *expected) {
    objects o = {0};
    results got;
    if (!job->opens && open_device(name, &o) != TVLM_OK) fail_msg("%s", last_error);
    errors = 0;
    layer.let_fail(n, 1);
    tvlm_status status = work(job, name, &o, &got);
    const bool failed = layer.failed() > 0;
    if (!failed || status == TVLM_OK) { /* the last calls need not be missed */
        layer.let_fail(0, 0);
        check_same(n, "all the same", &got, expected);
    } else {
        check_loss(n, status, o.device != NULL);
        errors = 0;
        status = work(job, name, &o, &got);
        check_loss(n, status, o.device != NULL);
    }
    destroy(&o);
    layer.let_fail(0, 0);
    return failed;
}

/* ---- All failures ---- */

static void check_places(const char *what, const tvlm_position *got, const tvlm_position *expected,
                         int count) {
    for (int i = 0; i < count; ++i)
        if (got[i].x != expected[i].x || got[i].y != expected[i].y)
            fail_msg("%s: position %d is at %g %g, the reference's at %g %g", what, i, (double)got[i].x,
                     (double)got[i].y, (double)expected[i].x, (double)expected[i].y);
}

static void check_positions(const struct job *job, const results *got) {
    objects o = {0};
    results reference;
    if (work(job, "reference", &o, &reference) != TVLM_OK) fail_msg("%s", last_error);
    destroy(&o);
    check_places(job->name, got->positions, reference.positions, K);
    for (int i = 0; i < 2; ++i) check_places(job->name, got->found[i], reference.found[i], K);
    for (int i = 0; i < FRAMES; ++i) check_places(job->name, got->seen[i], reference.seen[i], K);
}

/* How many calls a sample leaves out from one that fails to the next. A device that has to be opened, and to
 * build its programs, takes ten times as long. */
static long step_of(bool warm) {
    if (!test_quick() && !test_small()) return warm ? test_every() : 10 * test_every() - 9;
    return warm ? 97 : 997;
}

static void every_call(const struct job *job, const char *name) {
    objects o = {0};
    results expected;
    long n = 1;
    if (work(job, name, &o, &expected) != TVLM_OK) fail_msg("%s", last_error);
    check_positions(job, &expected);
    tvlm_device *warm = o.device;
    o.device = NULL;
    destroy(&o);
    while (fail_once(n, job, name, warm, &expected)) n += step_of(true);
    printf("    %s: fewer than %ld calls", job->name, n);
    fflush(stdout);
    tvlm_device_destroy(&warm);
    for (n = 1; fail_once(n, job, name, NULL, &expected);) n += step_of(false);
    printf(", and %ld with those of opening a device and of building programs\n", n);
    fflush(stdout);
    for (n = 1; lose(n, job, name, &expected);) n += step_of(false);
    assert_true(n > 300);
}

static void device_once(const test_target *target, tvlm_device *reference) {
    static int32_t last = -1;
    char name[16];
    int count = 0;
    (void)reference;
    if (!test_is_opencl(target->device) || target->device->info.index == last) return;
    last = target->device->info.index;
    snprintf(name, sizeof name, "%d", (int)last);
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; ++i) {
        if (wanted_job != NULL && strcmp(jobs[i].name, wanted_job) != 0) continue;
        every_call(&jobs[i], name);
        ++count;
    }
    if (count == 0) fail_msg("there is no job %s", wanted_job);
}

static void test_calls(void **state) {
    int32_t count;
    (void)state;
    assert_int_equal(tvlm_device_list(0, NULL, &count), TVLM_OK);
    if (!find_layer(&layer)) skip();
    test_on_targets(device_once);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls)};
    if (argc > 1) wanted_job = argv[1];
    return cmocka_run_group_tests(tests, make_pixels, NULL);
}
