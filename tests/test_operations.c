/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_operations.c: every operation of the list has a test that notices when it does nothing, and a row of
 * the benchmark that runs it. Every family of kernels is such a test, and so has a row; and every row of a
 * single operation is in the list, and so has a test.
 *
 * Nothing is taken on trust: the program that the list names runs once more with the operation left out
 * ($TVLM_TEST_WITHOUT), and must fail; and the row runs with the operation refusing, and must reach it.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../bench/program/bench_stages.h"
#include "operations.h"
#include "support_stage.h"

/* ---- Rows of the benchmark ---- */

static bool reached;

static tvlm_status refuse(void) {
    reached = true;
    return TVLM_ERROR_DEVICE;
}

static const bench_stage *find_row(const bench_stage *stages, int32_t count, const char *name) {
    for (int32_t i = 0; i < count; ++i)
        if (strcmp(stages[i].name, name) == 0) return &stages[i];
    return NULL;
}

/* Refused first, then run as it is: what a refusal left behind must not hurt the rows that follow. */
static bool row_runs(struct bench *bench, const bench_stage *row, const test_operation *operation) {
    const tvlm_backend *real = bench->device->backend;
    tvlm_backend refusing = *real;
    test_replace(&refusing, operation, refuse);
    reached = false;
    bench->device->backend = &refusing;
    (void)row->run(bench, row->argument);
    bench->device->backend = real;
    if (row->run(bench, row->argument) != TVLM_OK || real->finish(bench->device) != TVLM_OK)
        fail_msg("the row \"%s\" of the benchmark fails: %s", row->name, test_last_log());
    return reached;
}

/* How many of the rows that run a single operation are those of none in the list. */
static int rows_without_operation(const struct bench *bench) {
    bench_stage rows[BENCH_STAGES_MAX];
    int32_t count = 0;
    int missing = 0;
    bench_operations_list(bench, rows, &count);
    for (int32_t i = 0; i < count; ++i) {
        size_t at = 0;
        while (at < TEST_OPERATIONS && strcmp(test_operations[at].row, rows[i].name) != 0) ++at;
        if (at < TEST_OPERATIONS) continue;
        print_error("the row \"%s\" of the benchmark runs no operation of the list\n", rows[i].name);
        ++missing;
    }
    return missing;
}

/* The rows ran on an OpenCL device: there is one. */
static bool done;

static void rows_on(const test_target *target, tvlm_device *reference) {
    uint64_t random = 1;
    const tvlm_image image = {
        .pixels = test_random_pixels(&random, 112, 84, 3), .width = 112, .height = 84, .channels = 3};
    bench_stage stages[BENCH_STAGES_MAX];
    struct bench bench;
    int missing = 0;
    (void)reference;
    if (!done && test_is_opencl(target->device)) {
        assert_int_equal(bench_prepare(target->device, &image, target->format, &bench), TVLM_OK);
        const int32_t count = bench_list(&bench, stages);
        assert_true(count < BENCH_STAGES_MAX); /* all fit */
        for (size_t i = 0; i < TEST_OPERATIONS; ++i) {
            const test_operation *const operation = &test_operations[i];
            if (strcmp(operation->name, "destroy") == 0) continue; /* once in a program: no row */
            const bench_stage *row = find_row(stages, count, operation->row);
            if (row != NULL && row_runs(&bench, row, operation)) continue;
            print_error("%s: %s \"%s\"\n", operation->name,
                        row == NULL ? "the benchmark has no row" : "is not run by the row", operation->row);
            ++missing;
        }
        missing += rows_without_operation(&bench);
        bench_release(&bench);
        done = true;
    }
    free((void *)(uintptr_t)image.pixels);
    assert_int_equal(missing, 0);
}

static void have_rows(void **state) {
    (void)state;
    test_on_targets(rows_on);
}

/* ---- Families ---- */

/* The test of each family in kernels/; CMake makes the list. */
#define X(family) "test_" #family,
static const char *const families[] = {
#include "families.inc"
};
#undef X

static void are_families_listed(void **state) {
    int missing = 0;
    (void)state;
    for (size_t i = 0; i < sizeof families / sizeof families[0]; ++i) {
        size_t at = 0;
        while (at < TEST_OPERATIONS && strcmp(test_operations[at].test, families[i]) != 0) ++at;
        if (at < TEST_OPERATIONS) continue;
        print_error("%s is the test of no operation, and has no row of the benchmark\n", families[i]);
        ++missing;
    }
    assert_int_equal(missing, 0);
}

/* ---- Tests ---- */

/* Where the test programs are: beside this one. */
static char folder[4096];

/* How the program ends without the operation: its exit status, or 128 and the signal. */
static int run_without(const char *program, const char *operation) {
    int status = 0;
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const struct rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        /* Whether a test notices does not depend on the device, but each device leaves some cases out. */
        unsetenv("TVLM_TEST_DEVICES");
        /* Nor are some tests in both pairs of storage and format, of which this program may have the other one. */
        unsetenv("TVLM_TEST_PAIR");
        setenv("TVLM_TEST_WITHOUT", operation, 1);
        setenv("CMOCKA_TEST_ABORT", "1", 1); /* the first failure is enough */
        setenv("TVLM_TEST_SMALL", "1", 1);
        setenv("TVLM_TEST_QUICK", "1", 1);
        if (freopen("/dev/null", "w", stdout) == NULL || freopen("/dev/null", "w", stderr) == NULL) _exit(77);
        alarm(120);
        execl(program, program, (char *)NULL);
        _exit(77);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void have_tests(void **state) {
    int missing = 0;
    (void)state;
    if (!done) skip(); /* The operations of the reference are never left out. */
    for (size_t i = 0; i < TEST_OPERATIONS; ++i) {
        const test_operation *const operation = &test_operations[i];
        const char *only = getenv("TVLM_TEST_OPERATION");
        struct stat found;
        char program[5000];
        if (only != NULL && strcmp(only, operation->name) != 0) continue;
        snprintf(program, sizeof program, "%s/%s", folder, operation->test);
        const bool there = stat(program, &found) == 0;
        const int code = there ? run_without(program, operation->name) : 0;
        if (there && code != 0 && code != 77 && code != 128 + SIGALRM) continue;
        print_error("%s: %s %s\n", operation->name, operation->test,
                    !there       ? "is no test program"
                    : code == 0  ? "passes without it"
                    : code == 77 ? "is skipped"
                                 : "hangs without it");
        ++missing;
    }
    assert_int_equal(missing, 0);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(are_families_listed), cmocka_unit_test(have_rows),
                                       cmocka_unit_test(have_tests)};
    (void)argc;
    const char *slash = strrchr(argv[0], '/');
    snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - argv[0]) : 1,
             slash != NULL ? argv[0] : ".");
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
