/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_allocations.c [JOB]: a job (or each of jobs.h), with the n-th allocation failing, for every n there is:
 * each time an error that says memory and a line in the log (or, where it can do without, the same result),
 * nothing left behind, and what survived still works.
 *
 * A job is walked from its start again for every n, so that four short ones cost a quarter of one long one, and
 * ctest runs them beside each other. Linked with -Wl,--wrap for the functions below (CMakeLists.txt): a layer
 * of OpenCL does not see them. The device's memory is made by calls of OpenCL, which test_failures.c lets fail.
 */
#include "jobs.h"
#include "jobs_files.h"

/* ---- The allocators ---- */

static int left = -1; /* allocations until the one that fails; < 0: none does */
static bool failed;
static long live;

/* The places in the code that the allocations of a job come from, one after the other. */
enum { PLACES = 1 << 16 };
static const void *places[PLACES];
static int place_count = -1; /* < 0: they are not listed */

static bool fails(const void *place) {
    if (place_count >= 0 && place_count < PLACES) places[place_count++] = place;
    if (left < 0 || left-- > 0) return false;
    failed = true;
    return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *old);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *old);

static void *counted(void *made) {
    live += made != NULL;
    return made;
}

void *__wrap_malloc(size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size) {
    return fails(__builtin_return_address(0)) ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *old, size_t size) {
    if (fails(__builtin_return_address(0))) return NULL;
    return old == NULL ? counted(__real_realloc(NULL, size)) : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text) {
    return fails(__builtin_return_address(0)) ? NULL : counted(__real_strdup(text));
}

void __wrap_free(void *old) {
    live -= old != NULL;
    __real_free(old);
}

static const char *wanted_job; /* NULL: all */

/* ---- Failing ---- */

static void check_failure(int n, tvlm_status status) {
    if (status != TVLM_ERROR_MEMORY && status != TVLM_ERROR_DEVICE_MEMORY)
        fail_msg("allocation %d failed: status %d (%s)", n, (int)status, last_error);
    if (errors == 0) fail_msg("allocation %d failed: status %d and no line", n, (int)status);
}

static void check_results(int n, const char *when, const results *got, const results *expected) {
    if (memcmp(got, expected, sizeof *got) != 0) fail_msg("allocation %d failed: other results %s", n, when);
}

/* Returns false when there are fewer than n allocations. */
static bool fail_the(int n, const struct job *job, const char *name, const results *expected) {
    const long live_before = live;
    objects o = {0};
    results got;
    if (!job->opens && open_device(job, name, &o) != TVLM_OK) fail_msg("%s", last_error);
    errors = 0;
    failed = false;
    left = n - 1;
    const tvlm_status status = work(job, name, &o, &got);
    left = -1;
    if (status != TVLM_OK)
        check_failure(n, status);
    else
        check_results(n, "all the same", &got, expected);
    const tvlm_status again = work(job, name, &o, &got); /* with what is there */
    if (again != TVLM_OK) fail_msg("allocation %d failed, and then status %d: %s", n, (int)again, last_error);
    check_results(n, "when asked again", &got, expected);
    destroy(&o);
    if (live != live_before) fail_msg("allocation %d failed: %ld left behind", n, live - live_before);
    return failed;
}

/* Whether no allocation before the n-th came from its place. */
static bool is_first_of_its_place(int n) {
    for (int i = 0; i < n - 1; ++i)
        if (places[i] == places[n - 1]) return false;
    return true;
}

/* Lets the first allocation of each place fail: few, so that no check of a result is left to chance. */
static void every_place(const struct job *job, const char *name, const results *expected, int count) {
    int tried = 0;
    for (int n = 1; n <= count; ++n) {
        if (!is_first_of_its_place(n)) continue;
        (void)fail_the(n, job, name, expected);
        ++tried;
    }
    printf("    %s: %d places\n", job->name, tried);
    assert_true(tried > 0);
}

static void every_allocation(const struct job *job, const char *name) {
    objects o = {0};
    results expected;
    if (!job->opens && open_device(job, name, &o) != TVLM_OK) fail_msg("%s", last_error);
    place_count = 0;
    if (work(job, name, &o, &expected) != TVLM_OK) fail_msg("%s", last_error);
    const int count = place_count;
    place_count = -1;
    destroy(&o);
    if (strcmp(name, "reference") == 0) every_place(job, name, &expected, count);
    const int step = test_small() ? 29 : test_quick() ? 37 : test_every();
    int n = (int)test_first(step);
    while (fail_the(n, job, name, &expected)) n += step;
    printf("    %s: %d allocations\n", job->name, n - 1);
    fflush(stdout);
    assert_true(n > 20);
}

static void device_once(const test_target *target, tvlm_device *reference) {
    (void)reference;
    if (is_another_device(target)) each_job(wanted_job, target->device, every_allocation);
}

static bool wants_files(void) {
    return wanted_job != NULL && strcmp(wanted_job, "files") == 0;
}

static void test_reference(void **state) {
    (void)state;
    if (wants_files()) skip();
    each_job(wanted_job, NULL, every_allocation);
}

static void test_opencl(void **state) {
    (void)state;
    if (wants_files()) skip();
    test_on_targets(device_once);
}

static void test_files(void **state) {
    static const struct job job = {"files", keep_files, false, false};
    (void)state;
    if (wanted_job != NULL && !wants_files()) skip();
    const char *const base = getenv("TMPDIR");
    snprintf(job_path, sizeof job_path, "%s/tvlm-job-XXXXXX", base != NULL ? base : "/tmp");
    close(mkstemp(job_path));
    ++jobs_run;
    every_allocation(&job, "reference");
    unlink(job_path);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference), cmocka_unit_test(test_opencl),
                                       cmocka_unit_test(test_files)};
    if (argc > 1) wanted_job = argv[1];
    const int wrong = cmocka_run_group_tests(tests, make_pixels, NULL);
    return wrong == 0 && jobs_run == 0 ? 77 : wrong;
}
