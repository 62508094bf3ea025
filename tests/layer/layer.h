/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layer.h: an OpenCL layer for tests. It stands between the loader (ocl-icd 2.3 or later, OPENCL_LAYERS) and
 * the drivers, and sees every call of a program as well as those of the libraries that it loads (CLBlast).
 *
 *     OPENCL_LAYERS=build/tests/layer/libtvlm_layer.so TVLM_LAYER_FAIL=100 tvlm select photo.jpg
 *
 * calls.c wraps the functions that lib/opencl/loader.h lists. Each ability has a file of its own:
 *
 *   - failures.c lets a call fail:
 *       TVLM_LAYER_FAIL=N   the N-th call
 *       TVLM_LAYER_LOSE=N   the N-th call, and from then on all calls to its device, which has vanished. Where
 *                           the call is about no device (clGetPlatformIDs), all calls
 *       TVLM_LAYER_ERROR=E  the error, a number (default: -5, CL_OUT_OF_RESOURCES, as NVIDIA's driver says)
 *     Calls that retain and release fail nobody, and do not count. A call that fails does not reach the
 *     driver, but for those that only wait.
 *   - counts.c counts them: TVLM_LAYER_COUNTS=FILE gets, when the process ends, a line "NAME COUNT" for each
 *     function that was called, and the line "calls COUNT" of the calls that can fail.
 *
 * An ability that changes what functions do (another device type, an extension) takes its place in
 * clInitLayer: it is given the table of functions below it, and replaces some of them.
 */
#ifndef TVLM_TESTS_LAYER_H
#define TVLM_TESTS_LAYER_H

#include <CL/cl_icd.h>

/* The kinds of handles that calls are about. */
typedef enum layer_kind {
    LAYER_PLATFORM,
    LAYER_DEVICE,
    LAYER_CONTEXT,
    LAYER_QUEUE,
    LAYER_MEMORY,
    LAYER_PROGRAM,
    LAYER_KERNEL,
    LAYER_EVENT
} layer_kind;

/* What a call is about: a handle, which may be NULL. */
typedef struct layer_object {
    layer_kind kind;
    void *handle;
} layer_object;

/* calls.c: replaces the functions of `table` by ones that ask failures.c and tell counts.c, and then call those
 * of `below`, which must stay. */
void layer_wrap_calls(const cl_icd_dispatch *below, cl_icd_dispatch *table);

/* failures.c: the error that a call has to fail with, or CL_SUCCESS. It is asked once a call. */
cl_int layer_failure(const cl_icd_dispatch *below, layer_object object);
/* Reads the variables above. */
void layer_failures_start(void);

/* counts.c: notes a call. */
void layer_count(int which, const char *name);
void layer_counts_start(void);

/*
 * For a test that has the layer in its own process (tests/layer_helper.h): the n-th call from now on fails, or
 * with `lose` is the first that does; 0: none does. Gives how many calls that can fail there were since this
 * was last called.
 */
__attribute__((visibility("default"))) long tvlm_layer_fail(long n, int lose);
/* How many calls have failed since then. */
__attribute__((visibility("default"))) long tvlm_layer_failed(void);

#endif
