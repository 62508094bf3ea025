/* SPDX-License-Identifier: Apache-2.0 */
/*
 * family.h: what the test of a family of kernels says of itself. Each file of this folder has one, named after its file
 * of cl/: a row for each thing that must hold, and where it is tried. ../test_kernels.c makes the loops.
 */
#ifndef TVLM_TESTS_KERNELS_FAMILY_H
#define TVLM_TESTS_KERNELS_FAMILY_H

#include "support_stage.h"

struct opencl_tuning;

/* Where a row is tried. Without any it is on every target: each device, storage and format. */
enum {
    TEST_TUNED = 1,   /* twice: with tiles, runs and work-groups as on a CPU and as on a GPU */
    TEST_BUFFERS = 2, /* once for a device: nothing of it lies in textures, whatever they are */
    TEST_OPENCL = 4,  /* not where the reference is the device under test: it looks behind the seam */
    TEST_LARGE = 8    /* not in an interpreter, for which it is too large */
};

/* One of the sizes, and what a row makes its inputs of. */
typedef struct test_trial {
    const test_target *target;
    tvlm_device *reference;
    size_t index; /* of the size */
    test_size size;
    int32_t images;       /* a batch of random pictures, and one of the others */
    test_picture picture; /* random, where the row does not ask for all */
    uint64_t *random;
} test_trial;

/* The source of a trial with its levels, identical on both. */
test_pair test_trial_source(const test_trial *trial);

/* Where a row is tried, and one of `body`, `trial`, `components` and `known`. */
typedef struct test_row {
    const char *name;
    unsigned where;
    test_body *body;
    /* At all sizes, the usual ones or those of a list that ends with 0 x 0; of all pictures where `pictures`. */
    void (*trial)(const test_trial *trial);
    const test_size *sizes;
    uint64_t seed;
    bool pictures;
    /* A grid that is made of the source alone (test_generated): names and tolerances of its components. */
    const char *const *components;
    const test_tolerance *tolerances;
    tvlm_grid grid;
    /* Answers that are known from elsewhere: once, on the reference. */
    void (*known)(tvlm_device *device);
    /* Sets the tuning of an OpenCL device to the n-th of those to try, from 0; false where there are no more. */
    bool (*tune)(const test_target *target, struct opencl_tuning *tuning, int n);
} test_row;

typedef struct test_family {
    const char *name;
    const test_row *rows;
    size_t count;
} test_family;

/* Stands at the end of the family's file, with its rows. */
#define TEST_FAMILY(family, ...)                                                                             \
    static const test_row rows_of_family[] = {__VA_ARGS__};                                                  \
    const test_family test_family_##family = {#family, rows_of_family,                                       \
                                              sizeof rows_of_family / sizeof rows_of_family[0]};

#endif
