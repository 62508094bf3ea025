/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_failures.c [JOB]: each job of jobs.h, with the n-th call of OpenCL failing, for every n there is. Once:
 * then there is an error and a line (or, where the library can do without that call, the same result), and the
 * same device, asked again with all that is there, answers as if nothing had been. And from then on, as of a
 * device that is unplugged: then it says that it is lost, and goes on saying so. No handle is left behind.
 *
 * The results are those of the device; its positions are the reference's.
 */
#include "jobs.h"
#include "layer_helper.h"

static const layer_control *layer;
static const char *wanted_job; /* NULL: all */

/* ---- One failure ---- */

static void check_line(long n, tvlm_status status) {
    if (errors == 0) fail_msg("call %ld failed: status %d and no line", n, (int)status);
}

static void check_same(long n, const char *when, const results *got, const results *expected) {
    if (memcmp(got, expected, sizeof *got) != 0) fail_msg("call %ld failed: other results %s", n, when);
}

static void check_held(long n, long before) {
    if (layer->held() != before)
        fail_msg("call %ld failed: %ld handles are left behind", n, layer->held() - before);
}

/* Which calls fail: any, or those that make memory, as on a device that has none left. */
typedef enum which_calls { ANY_CALL, MEMORY_CALLS } which_calls;

static void let_fail(long n, which_calls which) {
    if (which == ANY_CALL)
        layer->let_fail(n, 0);
    else
        layer->let_fail_only(n, 0, "clCreateBuffer,clCreateImage", CL_MEM_OBJECT_ALLOCATION_FAILURE);
}

static void check_status(long n, tvlm_status status, which_calls which) {
    if (status == TVLM_ERROR_LOST) fail_msg("call %ld failed once: %s", n, last_error);
    if (which == MEMORY_CALLS && status != TVLM_ERROR_DEVICE_MEMORY)
        fail_msg("memory %ld could not be made: status %d: %s", n, (int)status, last_error);
    check_line(n, status);
}

/* Returns whether there is an n-th call. `warm`: a device that has its programs and goes on from failure to
 * failure, or NULL: one is opened. */
static bool fail_once(long n, which_calls which, const struct job *job, const char *name, tvlm_device *warm,
                      const results *expected) {
    const long held = layer->held();
    objects o = {.device = warm};
    results got;
    if (o.device == NULL && !job->opens && open_device(job, name, &o) != TVLM_OK) fail_msg("%s", last_error);
    errors = 0;
    let_fail(n, which);
    const tvlm_status status = work(job, name, &o, &got);
    const bool failed = layer->failed() > 0;
    layer->let_fail(0, 0);
    if (status != TVLM_OK)
        check_status(n, status, which);
    else
        check_same(n, "all the same", &got, expected);
    if (work(job, name, &o, &got) != TVLM_OK) fail_msg("call %ld failed once, and then: %s", n, last_error);
    check_same(n, "when asked again", &got, expected);
    if (warm != NULL) o.device = NULL;
    destroy(&o);
    check_held(n, held);
    return failed;
}

/* Whether there is an error, which from then on says that the device is lost. */
static void check_loss(long n, tvlm_status status, bool opened) {
    if (status == TVLM_OK) fail_msg("call %ld and all after it failed, and nobody noticed", n);
    check_line(n, status);
    if (opened && status != TVLM_ERROR_LOST) fail_msg("call %ld and all after it failed: %s", n, last_error);
}

static bool lose(long n, const struct job *job, const char *name, const results *expected) {
    const long held = layer->held();
    objects o = {0};
    results got;
    if (!job->opens && open_device(job, name, &o) != TVLM_OK) fail_msg("%s", last_error);
    errors = 0;
    layer->let_fail(n, 1);
    tvlm_status status = work(job, name, &o, &got);
    const bool failed = layer->failed() > 0;
    if (!failed || status == TVLM_OK) { /* the last calls need not be missed */
        layer->let_fail(0, 0);
        check_same(n, "all the same", &got, expected);
    } else {
        check_loss(n, status, o.device != NULL);
        errors = 0;
        status = work(job, name, &o, &got);
        check_loss(n, status, o.device != NULL);
    }
    destroy(&o);
    layer->let_fail(0, 0);
    check_held(n, held);
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
    if (job->opencl) return; /* test_interop_images.c and its like compare what comes from there */
    if (work(job, "reference", &o, &reference) != TVLM_OK) fail_msg("%s", last_error);
    destroy(&o);
    check_places(job->name, got->positions, reference.positions, K);
    for (int i = 0; i < 2; ++i) check_places(job->name, got->found[i], reference.found[i], K);
    for (int i = 0; i < FRAMES; ++i) check_places(job->name, got->seen[i], reference.seen[i], K);
    for (int i = 0; i < SHARED; ++i) check_places(job->name, got->shared[i], reference.shared[i], K);
    assert_memory_equal(got->clip, reference.clip, sizeof got->clip);
}

/* How many calls a sample leaves out from one that fails to the next. A device that has to be opened, and to
 * build its programs, takes ten times as long. */
static long step_of(bool warm) {
    if (!test_quick() && !test_small()) return warm ? test_every() : 10 * test_every() - 9;
    return warm ? 97 : 997;
}

/* There are few of these. */
static long memory_step(void) {
    return test_quick() || test_small() ? 7 : 1 + test_every() / 8;
}

/* Does a job until it leaves nothing more on the device than the time before: each of the stages of small writes
 * (lib/opencl/buffer.c) keeps an event once it was used. */
static void warm_up(const struct job *job, const char *name, objects *o, results *expected) {
    long held = 0;
    for (int i = 0; i < 10 && layer->held() != held; ++i) {
        held = layer->held();
        if (work(job, name, o, expected) != TVLM_OK) fail_msg("%s", last_error);
    }
}

static void every_call(const struct job *job, const char *name) {
    objects o = {0};
    results expected;
    long n = test_first(step_of(true)), made = test_first(memory_step());
    warm_up(job, name, &o, &expected);
    check_positions(job, &expected);
    tvlm_device *warm = o.device;
    o.device = NULL;
    destroy(&o);
    while (fail_once(n, ANY_CALL, job, name, warm, &expected)) n += step_of(true);
    printf("    %s: fewer than %ld calls", job->name, n);
    while (fail_once(made, MEMORY_CALLS, job, name, job->opens ? NULL : warm, &expected))
        made += memory_step();
    printf(", %ld of which make memory", made);
    fflush(stdout);
    tvlm_device_destroy(&warm);
    for (n = test_first(step_of(false)); fail_once(n, ANY_CALL, job, name, NULL, &expected);)
        n += step_of(false);
    printf(", and %ld with those of opening a device and of building programs\n", n);
    fflush(stdout);
    for (n = test_first(step_of(false)); lose(n, job, name, &expected);) n += step_of(false);
    assert_true(n > 100 && made > 3);
}

static void device_once(const test_target *target, tvlm_device *reference) {
    (void)reference;
    if (is_another_device(target)) each_job(wanted_job, target->device, every_call);
}

static void test_calls(void **state) {
    (void)state;
    layer->share(1);
    shares = true;
    test_on_targets(device_once);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls)};
    if (argc > 1) wanted_job = argv[1];
    setenv("TVLM_LAYER_EMPTY_ABORTS", "1", 1); /* no job launches a kernel over nothing */
    layer = use_layer();
    if (layer == NULL) return 77;
    const int wrong = cmocka_run_group_tests(tests, make_pixels, NULL);
    return wrong == 0 && jobs_run == 0 ? 77 : wrong;
}
