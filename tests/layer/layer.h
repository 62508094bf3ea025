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
 *     function that was called, and the line "calls COUNT" of the calls that can fail. A test asks for more
 *     (control.h): commands by their kind, waits, bytes, handles that are held.
 *   - sharing.c is a driver that shares memory with OpenGL and Vulkan, for tests alone (control.h).
 *   - pose.c is a driver of GPUs: with TVLM_LAYER_GPU=1 each device says that it is one; with TVLM_LAYER_NO_BYTES=1 none
 *     has images of signed bytes; with TVLM_LAYER_NAMES=N (and not as a GPU) names have N bytes.
 *   - mipmaps.c is a driver with cl_khr_mipmap_image: TVLM_LAYER_MIPMAPS=1; with `flat` its reads ignore the lod.
 *   - spoil.c is a driver that errs: with TVLM_LAYER_SPOIL=1 what is read from buffers is wrong, so that no
 *     storage passes the self-test.
 *   - kernels.c notes them: TVLM_LAYER_KERNELS=FILE gets a line for each kernel that a program makes, appended.
 *   - times.c tells when commands began and ended, for tests alone (control.h).
 *   - told.c and launches.c are drivers that were met in the field (doc/drivers.md). Of each fault control.h says what it is:
 *       TVLM_LAYER_PLATFORM_VERSION=30 TVLM_LAYER_DEVICE_VERSION=20   what OpenCL they say to be, here 3.0 and 2.0
 *       TVLM_LAYER_UNKNOWN=N                                          a query, as a number, that clGetDeviceInfo refuses
 *       TVLM_LAYER_HALF_MEMORY=1, TVLM_LAYER_LOCAL_IS_GLOBAL=1        what devices say of their memory
 *       TVLM_LAYER_FEW_REGISTERS=N                                    the largest group of kernels that ask for none
 *       TVLM_LAYER_EMPTY_ABORTS=1, TVLM_LAYER_SLOW_US=N               what becomes of empty and of slow launches
 *       TVLM_LAYER_NO_PRODUCTS=1                                      CLBlast's kernels do nothing
 *
 * An ability that changes what functions do (another device type, an extension) takes its place in
 * clInitLayer: it is given the table of functions below it, and replaces some of them.
 */
#ifndef TVLM_TESTS_LAYER_H
#define TVLM_TESTS_LAYER_H

#include <stddef.h>

#include <CL/cl_icd.h>

#include "control.h"

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

/* The numbers of functions are below this; from LAYER_OWN_FUNCTIONS on they are none of calls.c. */
enum { LAYER_FUNCTIONS = 128, LAYER_OWN_FUNCTIONS = 100 };

/* calls.c: replaces the functions of `table` by ones that do what layer_before does, and then call those of
 * `below`, which must stay. */
void layer_wrap_calls(const cl_icd_dispatch *below, cl_icd_dispatch *table);
/* What comes before each call: it is counted, told to who listens, and may have to fail (CL_SUCCESS: not). */
cl_int layer_before(int number, const char *name, layer_object object);

/* failures.c: the error that a call has to fail with, or CL_SUCCESS. It is asked once a call. */
cl_int layer_failure(const cl_icd_dispatch *below, const char *name, layer_object object);
/* Reads the variables above. */
void layer_failures_start(void);
long layer_let_fail(long n, int lose);
void layer_let_fail_only(long n, int lose, const char *names, int error);
/* From now on all calls to this device fail, as with TVLM_LAYER_LOSE. */
void layer_lose(cl_device_id device);
long layer_failed(void);

/* counts.c: notes a call. */
void layer_count(int number, const char *name);
/* Notes what a command moves, in bytes of buffers, and whether the host waits for it. */
void layer_count_moved(cl_bool blocking, size_t written, size_t read);
/* Notes a wait for commands that have not ended yet. */
void layer_count_stall(void);
/* Notes that a handle is held once more (1), or once less (-1). */
void layer_count_held(int change);
void layer_counts_start(void);
layer_commands layer_get_commands(void);
long layer_held(void);

/* sharing.c */
void layer_wrap_sharing(const cl_icd_dispatch *below, cl_icd_dispatch *table);
void layer_share(int shares);

/* pose.c */
void layer_wrap_pose(const cl_icd_dispatch *below, cl_icd_dispatch *table);

/* mipmaps.c */
void layer_wrap_mipmaps(const cl_icd_dispatch *below, cl_icd_dispatch *table);

/* spoil.c */
void layer_wrap_spoil(const cl_icd_dispatch *below, cl_icd_dispatch *table);
void layer_spoil(int spoils);

/* kernels.c */
void layer_wrap_kernels(const cl_icd_dispatch *below, cl_icd_dispatch *table);

/* times.c */
void layer_wrap_times(const cl_icd_dispatch *below, cl_icd_dispatch *table);
void layer_time(int times);
int layer_get_times(layer_command_time *times, int capacity);

/* told.c: what drivers of the field do. */
extern layer_faults layer_told;
void layer_faults_start(void);
int layer_get_queries(unsigned *list, int capacity);
void layer_wrap_told(const cl_icd_dispatch *below, cl_icd_dispatch *table);

/* launches.c */
void layer_wrap_launches(const cl_icd_dispatch *below, cl_icd_dispatch *table);

/* calls.c */
void layer_listen(layer_listener *listener);

#endif
