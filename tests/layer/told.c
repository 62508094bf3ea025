/* SPDX-License-Identifier: Apache-2.0 */
/*
 * told.c: drivers that tell what they have as some were met to (layer_faults in control.h): a platform of a newer
 * version than its devices, queries that a driver does not know, a half of the memory, local memory that is global.
 * What a device of an old version does not have is refused, or ends the process as a function that is NULL would.
 */
#include "layer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUERIES_MAX = 256, OF_2_0 = 20, OF_3_0 = 30 };

layer_faults layer_told;

static const cl_icd_dispatch *next;

static long number_in(const char *name) {
    const char *const text = getenv(name);
    return text != NULL ? strtol(text, NULL, 10) : 0;
}

void layer_faults_start(void) {
    layer_told = (layer_faults){.platform_version = (int)number_in("TVLM_LAYER_PLATFORM_VERSION"),
                                .device_version = (int)number_in("TVLM_LAYER_DEVICE_VERSION"),
                                .unknown = (unsigned)number_in("TVLM_LAYER_UNKNOWN"),
                                .half_memory = (int)number_in("TVLM_LAYER_HALF_MEMORY"),
                                .local_is_global = (int)number_in("TVLM_LAYER_LOCAL_IS_GLOBAL"),
                                .few_registers = (int)number_in("TVLM_LAYER_FEW_REGISTERS"),
                                .empty_aborts = (int)number_in("TVLM_LAYER_EMPTY_ABORTS"),
                                .slow_us = number_in("TVLM_LAYER_SLOW_US"),
                                .no_products = (int)number_in("TVLM_LAYER_NO_PRODUCTS")};
}

/* ---- Which queries there were ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned queries[QUERIES_MAX];
static int query_count;

static void note(unsigned query) {
    pthread_mutex_lock(&mutex);
    int i = 0;
    while (i < query_count && queries[i] != query) ++i;
    if (i == query_count && i < QUERIES_MAX) queries[query_count++] = query;
    pthread_mutex_unlock(&mutex);
}

int layer_get_queries(unsigned *list, int capacity) {
    pthread_mutex_lock(&mutex);
    const int count = query_count < capacity ? query_count : capacity;
    memcpy(list, queries, (size_t)count * sizeof *list);
    pthread_mutex_unlock(&mutex);
    return count;
}

/* ---- What is told ---- */

/* The version in which a query came, by the numbers that OpenCL's headers give to them one after the other; those of
 * extensions are elsewhere. */
static int version_of_query(cl_device_info what) {
    if (what >= CL_DEVICE_NUMERIC_VERSION && what < 0x1100) return OF_3_0;
    return what >= CL_DEVICE_IMAGE_PITCH_ALIGNMENT && what < CL_DEVICE_NUMERIC_VERSION ? OF_2_0 : 0;
}

static int is_newer(int version) {
    return layer_told.device_version > 0 && version > layer_told.device_version;
}

/* Puts the version into a text of the driver's, "OpenCL 3.0 and more", which keeps its length. */
static void put_version(int version, size_t size, void *value) {
    char *const text = value;
    if (value == NULL || version == 0 || size < sizeof "OpenCL 1.2") return;
    text[7] = (char)('0' + version / 10);
    text[9] = (char)('0' + version % 10);
}

static void put_size(cl_ulong number, void *value) {
    memcpy(value, &number, sizeof number);
}

/* The least that OpenCL allows a device to have, which is what Mali's have. */
static void put_local(cl_device_info what, void *value) {
    const size_t group = 256;
    const cl_device_local_mem_type type = CL_GLOBAL;
    if (what == CL_DEVICE_LOCAL_MEM_TYPE) memcpy(value, &type, sizeof type);
    if (what == CL_DEVICE_LOCAL_MEM_SIZE) put_size(32768, value);
    if (what == CL_DEVICE_MAX_WORK_GROUP_SIZE) memcpy(value, &group, sizeof group);
}

static cl_int CL_API_CALL device_info(cl_device_id id, cl_device_info what, size_t size, void *value,
                                      size_t *needed) {
    cl_ulong memory;
    note(what);
    if ((layer_told.unknown != 0 && what == layer_told.unknown) || is_newer(version_of_query(what)))
        return CL_INVALID_VALUE;
    const cl_int error = next->clGetDeviceInfo(id, what, size, value, needed);
    if (error != CL_SUCCESS || value == NULL) return error;
    if (what == CL_DEVICE_VERSION) put_version(layer_told.device_version, size, value);
    if (what == CL_DEVICE_GLOBAL_MEM_SIZE && layer_told.half_memory) {
        memcpy(&memory, value, sizeof memory);
        put_size(memory / 2, value);
    }
    if (layer_told.local_is_global) put_local(what, value);
    return error;
}

static cl_int CL_API_CALL platform_info(cl_platform_id id, cl_platform_info what, size_t size, void *value,
                                        size_t *needed) {
    const cl_int error = next->clGetPlatformInfo(id, what, size, value, needed);
    if (error == CL_SUCCESS && what == CL_PLATFORM_VERSION)
        put_version(layer_told.platform_version, size, value);
    return error;
}

/* ---- What an old device does not have ---- */

/* The version that -cl-std=CL2.0 asks for; 0: none. */
static int version_of_options(const char *options) {
    const char *const at = options != NULL ? strstr(options, "-cl-std=CL") : NULL;
    return at != NULL ? (at[10] - '0') * 10 + (at[12] - '0') : 0;
}

/* What a device of OpenCL 2.0 compiles, the one below compiles as its own language: PoCL 3.1 has 3.0, and does not know
 * vload of 2.0. */
static void take_newest(char *options) {
    char *const at = strstr(options, "-cl-std=CL2.0");
    if (at != NULL) at[10] = '3';
}

static cl_int CL_API_CALL build_program(cl_program program, cl_uint count, const cl_device_id *devices,
                                        const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                                        void *user) {
    char own[4096];
    if (is_newer(version_of_options(options))) return CL_INVALID_BUILD_OPTIONS;
    if (layer_told.device_version == 0 || options == NULL || strlen(options) >= sizeof own)
        return next->clBuildProgram(program, count, devices, options, notify, user);
    memcpy(own, options, strlen(options) + 1);
    take_newest(own);
    return next->clBuildProgram(program, count, devices, own, notify, user);
}

/* A driver of OpenCL 1.2 has no such function. The loader has one, and calls what is not there. */
static cl_sampler CL_API_CALL create_sampler(cl_context context, const cl_sampler_properties *properties,
                                             cl_int *error) {
    if (is_newer(OF_2_0)) {
        fprintf(stderr, "clCreateSamplerWithProperties: the driver has no such function\n");
        abort();
    }
    return next->clCreateSamplerWithProperties(context, properties, error);
}

void layer_wrap_told(const cl_icd_dispatch *below, cl_icd_dispatch *table) {
    next = below;
    table->clGetDeviceInfo = device_info;
    table->clGetPlatformInfo = platform_info;
    table->clBuildProgram = build_program;
    table->clCreateSamplerWithProperties = create_sampler;
}
