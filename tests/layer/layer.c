/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layer.c: what the loader asks of a layer: its version and name, and its table of functions. And what a test
 * in the same process finds: control.h.
 */
#include "layer.h"

#include <string.h>

#include <CL/cl_layer.h>

#define EXPORTED __attribute__((visibility("default")))

extern EXPORTED const layer_control tvlm_layer;
const layer_control tvlm_layer = {.let_fail = layer_let_fail,
                                  .let_fail_only = layer_let_fail_only,
                                  .failed = layer_failed,
                                  .commands = layer_get_commands,
                                  .held = layer_held,
                                  .listen = layer_listen,
                                  .share = layer_share,
                                  .spoil = layer_spoil,
                                  .time = layer_time,
                                  .times = layer_get_times,
                                  .faults = &layer_told,
                                  .queries = layer_get_queries};

static cl_int give(const void *value, size_t bytes, size_t size, void *place, size_t *needed) {
    if (place != NULL && size < bytes) return CL_INVALID_VALUE;
    if (place != NULL) memcpy(place, value, bytes);
    if (needed != NULL) *needed = bytes;
    return CL_SUCCESS;
}

EXPORTED cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t size, void *value, size_t *needed) {
    static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    static const char name[] = "texturevlm tests";
    if (what == CL_LAYER_API_VERSION) return give(&version, sizeof version, size, value, needed);
    if (what == CL_LAYER_NAME) return give(name, sizeof name, size, value, needed);
    return CL_INVALID_VALUE;
}

EXPORTED cl_int CL_API_CALL clInitLayer(cl_uint count, const cl_icd_dispatch *target, cl_uint *layer_count,
                                        const cl_icd_dispatch **layer) {
    static cl_icd_dispatch driver, timed, posing, mipmapped, spoiled, shared, noted, told, launched, table;
    if (target == NULL || layer_count == NULL || layer == NULL ||
        count < sizeof table / sizeof table.clGetPlatformIDs)
        return CL_INVALID_VALUE;
    driver = timed = *target;
    layer_wrap_times(&driver, &timed);
    posing = timed;
    layer_wrap_pose(&timed, &posing);
    mipmapped = posing;
    layer_wrap_mipmaps(&posing, &mipmapped);
    spoiled = mipmapped;
    layer_wrap_spoil(&mipmapped, &spoiled);
    shared = spoiled;
    layer_wrap_sharing(&spoiled, &shared);
    noted = shared;
    layer_wrap_kernels(&shared, &noted);
    told = noted;
    layer_wrap_told(&noted, &told);
    launched = told;
    layer_wrap_launches(&told, &launched);
    table = launched;
    layer_wrap_calls(&launched, &table);
    layer_faults_start();
    layer_failures_start();
    layer_counts_start();
    *layer = &table;
    *layer_count = sizeof table / sizeof table.clGetPlatformIDs;
    return CL_SUCCESS;
}
