/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failures.c: lets the n-th call fail, or takes a device away with it.
 */
#include "layer.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static atomic_long calls, failed; /* since layer_let_fail */
static long fails_at;             /* 0: nothing fails */
static const char *only;          /* the functions whose calls count; NULL: all */
static bool lasting;
static cl_int usual_error = CL_OUT_OF_RESOURCES, error;
static atomic_bool is_lost;
static cl_device_id lost; /* NULL while is_lost: every device */

static long begin(long n, bool lose, const char *names, cl_int failure) {
    fails_at = n;
    lasting = lose;
    only = names;
    error = failure;
    atomic_store(&is_lost, false);
    atomic_store(&failed, 0);
    return atomic_exchange(&calls, 0);
}

long layer_let_fail(long n, int lose) {
    return begin(n, lose != 0, NULL, usual_error);
}

void layer_let_fail_only(long n, int lose, const char *names, int failure) {
    (void)begin(n, lose != 0, names, failure);
}

long layer_failed(void) {
    return atomic_load(&failed);
}

static long number_in(const char *name, long otherwise) {
    const char *const text = getenv(name);
    return text != NULL && text[0] != '\0' ? strtol(text, NULL, 10) : otherwise;
}

void layer_failures_start(void) {
    const long lose = number_in("TVLM_LAYER_LOSE", 0);
    usual_error = (cl_int)number_in("TVLM_LAYER_ERROR", CL_OUT_OF_RESOURCES);
    (void)layer_let_fail(lose > 0 ? lose : number_in("TVLM_LAYER_FAIL", 0), lose > 0);
}

/* The (first) device of a context. */
static cl_device_id device_of_context(const cl_icd_dispatch *below, cl_context context) {
    cl_device_id devices[16] = {NULL};
    if (below->clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof devices, devices, NULL) != CL_SUCCESS)
        return NULL;
    return devices[0];
}

static cl_context context_of(const cl_icd_dispatch *below, layer_object object) {
    void *const handle = object.handle;
    cl_context context = NULL;
    cl_int known = CL_INVALID_VALUE;
    switch (object.kind) {
    case LAYER_CONTEXT: return handle;
    case LAYER_QUEUE:
        known = below->clGetCommandQueueInfo(handle, CL_QUEUE_CONTEXT, sizeof(cl_context), &context, NULL);
        break;
    case LAYER_MEMORY:
        known = below->clGetMemObjectInfo(handle, CL_MEM_CONTEXT, sizeof(cl_context), &context, NULL);
        break;
    case LAYER_PROGRAM:
        known = below->clGetProgramInfo(handle, CL_PROGRAM_CONTEXT, sizeof(cl_context), &context, NULL);
        break;
    case LAYER_KERNEL:
        known = below->clGetKernelInfo(handle, CL_KERNEL_CONTEXT, sizeof(cl_context), &context, NULL);
        break;
    case LAYER_EVENT:
        known = below->clGetEventInfo(handle, CL_EVENT_CONTEXT, sizeof(cl_context), &context, NULL);
        break;
    case LAYER_PLATFORM:
    case LAYER_DEVICE: break;
    }
    return known == CL_SUCCESS ? context : NULL;
}

/* NULL: it is about no device. */
static cl_device_id device_of(const cl_icd_dispatch *below, layer_object object) {
    if (object.handle == NULL) return NULL;
    if (object.kind == LAYER_DEVICE) return object.handle;
    const cl_context context = context_of(below, object);
    return context != NULL ? device_of_context(below, context) : NULL;
}

/* Whether a list that commas separate has a name. */
static bool has_name(const char *list, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = strstr(list, name); at != NULL; at = strstr(at + 1, name))
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0')) return true;
    return false;
}

static bool fails(const cl_icd_dispatch *below, const char *name, layer_object object) {
    if (only != NULL && !has_name(only, name)) return false;
    const long number = atomic_fetch_add(&calls, 1) + 1;
    if (atomic_load(&is_lost)) return lost == NULL || device_of(below, object) == lost;
    if (number != fails_at) return false;
    if (lasting) {
        lost = device_of(below, object);
        atomic_store(&is_lost, true);
    }
    return true;
}

void layer_lose(cl_device_id device) {
    error = usual_error;
    only = NULL;
    lost = device;
    atomic_store(&is_lost, true);
}

cl_int layer_failure(const cl_icd_dispatch *below, const char *name, layer_object object) {
    if (!fails(below, name, object)) return CL_SUCCESS;
    atomic_fetch_add(&failed, 1);
    return error;
}
