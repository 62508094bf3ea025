/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.c: tvlm_device_open and tvlm_device_list. It is the only file that knows both backends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/backend.h"
#include "core/check.h"
#include "core/try.h"
#include "opencl/open.h"
#include "texturevlm/device.h"

/* The name of the device that is asked for; NULL means the default. */
static const char *choice_of(const struct tvlm_device_params *params) {
    const char *name = params->name != NULL ? params->name : getenv("TVLM_DEVICE");
    return name != NULL && name[0] != '\0' ? name : NULL;
}

/* Whether a choice means the reference: by its name, or by the index after the last OpenCL device, which
 * *index becomes. OpenCL is only asked if a number was given: it loads every driver. */
static bool means_reference(const char *choice, int32_t *index) {
    *index = -1;
    if (choice == NULL) return false;
    if (strcasecmp(choice, "reference") == 0) return true;
    if (strspn(choice, "0123456789") != strlen(choice) || strlen(choice) > 9) return false;
    *index = tvlm_opencl_list(0, NULL);
    return strtol(choice, NULL, 10) == *index;
}

tvlm_status tvlm_device_open(const struct tvlm_device_params *params, tvlm_device **device) {
    static const struct tvlm_device_params defaults = {0};
    if (params == NULL) params = &defaults;
    TVLM_NEED(params->log, device);
    TVLM_CHECK_RESERVED(params->log, tvlm_device_params, params);
    if ((int)params->storage < TVLM_STORAGE_AUTO || params->storage > TVLM_STORAGE_MIPMAPPED)
        return tvlm_fail(params->log, TVLM_ERROR_ARGUMENT, "there is no storage %d", (int)params->storage);
    const char *choice = choice_of(params);
    int32_t index;
    if (!means_reference(choice, &index)) {
        if (!params->fallback || tvlm_opencl_list(0, NULL) > 0)
            return tvlm_opencl_open(choice, params, device);
        index = 0;
        tvlm_log_message(params->log, TVLM_LOG_WARNING,
                         "no OpenCL device: the reference device works instead, which is slow");
    }
    TVLM_TRY(tvlm_reference_open(params, device));
    (*device)->info.index = index;
    return TVLM_OK;
}

/* Describes the reference by opening it, which takes no time. */
static tvlm_status reference_info(int32_t index, tvlm_device_info *info) {
    tvlm_device *device = NULL;
    TVLM_TRY(tvlm_reference_open(tvlm_device_params(.name = "reference"), &device));
    *info = device->info;
    tvlm_device_destroy(&device);
    info->index = index;
    info->storage = TVLM_STORAGE_AUTO;
    info->storage_reason[0] = '\0';
    info->self_test_count = 0;
    return TVLM_OK;
}

tvlm_status tvlm_device_list(int32_t capacity, tvlm_device_info *infos, int32_t *count) {
    TVLM_NEED(NULL, count);
    if (capacity > 0) TVLM_NEED(NULL, infos);
    if (capacity < 0) return TVLM_ERROR_ARGUMENT; /* there is no log yet that could say why */
    const int32_t opencl = tvlm_opencl_list(capacity, infos);
    if (infos != NULL && opencl < capacity) TVLM_TRY(reference_info(opencl, &infos[opencl]));
    *count = opencl + 1;
    return TVLM_OK;
}
