/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_kernels.c: the tests of all kernels: a table of families, and the loops over devices, tunings, sizes and pictures.
 *
 *     test_kernels [FAMILY]
 *
 * runs one family or all. Each family is a test of ctest, test_FAMILY, and a link of that name leads here, which runs
 * that family alone. A device under test is compared with the reference from identical inputs; kernels/family.h says
 * what a family is.
 */
#include <stdio.h>
#include <string.h>

#include "kernels/family.h"
#include "opencl/backend.h"

/* CMake makes families.inc from the files in kernels/. It has X(name) for each of them. */
#define X(family) extern const test_family test_family_##family;
#include "families.inc"
#undef X
#define X(family) &test_family_##family,
static const test_family *const families[] = {
#include "families.inc"
};
#undef X
enum { FAMILIES = sizeof families / sizeof families[0] };

/* The row that is running. It is kept here, since bodies are told only the target and the reference. */
static const test_row *row;

static bool fits(const test_target *target) {
    const bool once =
        target->format == TVLM_FORMAT_F32 && target->device->info.storage == TVLM_STORAGE_BUFFER;
    return (once || (row->where & TEST_BUFFERS) == 0) &&
           (test_is_opencl(target->device) || (row->where & TEST_OPENCL) == 0);
}

test_pair test_trial_source(const test_trial *trial) {
    return test_source(trial->target, trial->reference, trial->size, trial->images, trial->picture,
                       trial->random);
}

static const test_size *sizes_of(const test_row *of, size_t *count) {
    if (of->sizes == NULL) return test_sizes(count);
    for (*count = 0; of->sizes[*count].width > 0;) ++*count;
    return of->sizes;
}

static void all_sizes(const test_target *target, tvlm_device *reference) {
    size_t count;
    const test_size *const sizes = sizes_of(row, &count);
    uint64_t random = row->seed;
    for (size_t i = 0; i < count; ++i)
        for (int picture = 0; picture < (row->pictures ? TEST_PICTURES : 1); ++picture)
            row->trial(&(test_trial){.target = target,
                                     .reference = reference,
                                     .index = i,
                                     .size = sizes[i],
                                     .images = picture == TEST_PICTURE_RANDOM ? 3 : 1,
                                     .picture = (test_picture)picture,
                                     .random = &random});
}

static void generated(const test_target *target, tvlm_device *reference) {
    test_generated(target, reference, row->grid, row->components, row->tolerances);
}

/* Runs the body with each tuning of the row. Runs it once if the device is not an OpenCL device, and has
 * nothing to tune. */
static void with_tunings(const test_target *target, tvlm_device *reference, test_body *body) {
    if (!test_is_opencl(target->device)) {
        body(target, reference);
        return;
    }
    opencl_tuning *const tuning = &((opencl_device *)target->device)->tuning;
    const opencl_tuning usual = *tuning;
    for (int n = 0; row->tune(target, tuning, n); ++n) {
        body(target, reference);
        *tuning = usual;
    }
    *tuning = usual;
}

static void on_target(const test_target *target, tvlm_device *reference) {
    test_body *const body = row->trial != NULL ? all_sizes : row->components != NULL ? generated : row->body;
    if (!fits(target)) return;
    if (row->tune != NULL)
        with_tunings(target, reference, body);
    else if ((row->where & TEST_TUNED) != 0)
        test_with_tunings(target, reference, body);
    else
        body(target, reference);
}

static void run_known(void) {
    tvlm_device *device = NULL;
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "reference", .log = &test_log), &device),
                     TVLM_OK);
    row->known(device);
    tvlm_device_destroy(&device);
}

static void run_row(void **state) {
    row = *state;
    if (test_small() && (row->where & TEST_LARGE) != 0) skip();
    if (row->known != NULL)
        run_known();
    else
        test_on_targets(on_target);
}

/* Returns how many rows failed. */
static int run_family(const test_family *family) {
    struct CMUnitTest *const tests = calloc(family->count, sizeof *tests);
    if (tests == NULL) return 1;
    for (size_t i = 0; i < family->count; ++i)
        tests[i] = (struct CMUnitTest){.name = family->rows[i].name,
                                       .test_func = run_row,
                                       .initial_state = (void *)(uintptr_t)&family->rows[i]};
    const int failed = _cmocka_run_group_tests(family->name, tests, family->count, NULL, NULL);
    free(tests);
    return failed;
}

static const test_family *find(const char *name) {
    for (size_t i = 0; i < FAMILIES; ++i)
        if (strcmp(families[i]->name, name) == 0) return families[i];
    return NULL;
}

/* Finds the family by the name of the link that started this program. NULL: it was started by its own
 * name. */
static const test_family *find_by_link(const char *program) {
    static const char start[] = "test_";
    const char *const slash = strrchr(program, '/'), *const name = slash != NULL ? slash + 1 : program;
    return strncmp(name, start, strlen(start)) == 0 ? find(name + strlen(start)) : NULL;
}

int main(int argc, char **argv) {
    const test_family *const family = argc > 1 ? find(argv[1]) : find_by_link(argv[0]);
    int failed = 0;
    if (argc > 1 && family == NULL) {
        fprintf(stderr, "there is no family %s\n", argv[1]);
        return 2;
    }
    for (size_t i = 0; i < FAMILIES; ++i)
        if (family == NULL || family == families[i]) failed += run_family(families[i]);
    return test_exit(failed);
}
