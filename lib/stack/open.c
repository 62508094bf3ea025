/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.c: tvlm_device_open and tvlm_device_list. Beside the tables in lib/parts it is the only file of the
 * library that knows both backends.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/attempt.h"
#include "core/backend.h"
#include "core/check.h"
#include "core/try.h"
#include "opencl/open.h"
#include "texturevlm/device.h"

/* Returns the name of the device that is asked for, or NULL for the default. */
static const char *choice_of(const struct tvlm_device_params *params) {
    const char *name = params->name != NULL ? params->name : getenv("TVLM_DEVICE");
    return name != NULL && name[0] != '\0' ? name : NULL;
}

/* Returns whether a choice means the reference. It may be its name, or its index, which is the one after the
 * last OpenCL device. If the choice is a number, *index becomes the reference's index. Otherwise it becomes
 * -1, because OpenCL would have to be asked for it, which loads every driver. */
static bool means_reference(const char *choice, int32_t *index) {
    *index = -1;
    if (choice == NULL) return false;
    if (strcasecmp(choice, "reference") == 0) return true;
    if (strspn(choice, "0123456789") != strlen(choice) || strlen(choice) > 9) return false;
    *index = tvlm_opencl_list(0, NULL);
    return strtol(choice, NULL, 10) == *index;
}

/* ---- Going on with another device ---- */

static tvlm_status try_to_open(const char *choice, const struct tvlm_device_params *params,
                               tvlm_attempt *kept, tvlm_device **device) {
    struct tvlm_device_params quiet = *params;
    tvlm_attempt_begin(kept, params->log);
    quiet.log = &kept->log;
    TVLM_TRY(tvlm_opencl_open(choice, &quiet, device));
    (*device)->log = params->log != NULL ? *params->log : (tvlm_log){NULL, NULL};
    return TVLM_OK;
}

static tvlm_status open_reference(int32_t index, const struct tvlm_device_params *params,
                                  tvlm_device **device) {
    TVLM_TRY(tvlm_reference_open(params, device));
    (*device)->info.index = index;
    return TVLM_OK;
}

/* Opens the next device after the one with that index, or else the reference. Logs which one it is, and the
 * reason. */
static tvlm_status open_another(int32_t index, const char *reason, const struct tvlm_device_params *params,
                                tvlm_device **device) {
    const int32_t count = tvlm_opencl_list(0, NULL);
    for (int32_t i = 1; i <= count; ++i) {
        const int32_t next = (index + i) % count;
        char choice[16];
        tvlm_attempt kept;
        snprintf(choice, sizeof choice, "%d", (int)next);
        if (next == index || try_to_open(choice, params, &kept, device) != TVLM_OK) continue;
        tvlm_log_message(params->log, TVLM_LOG_WARNING, "%s: the device '%s' works instead", reason,
                         (*device)->info.name);
        return TVLM_OK;
    }
    tvlm_log_message(params->log, TVLM_LOG_WARNING, "%s: the reference device works instead, which is slow",
                     reason);
    return open_reference(count > 0 ? count : 0, params, device);
}

/* Returns whether no other device would help: a parameter is wrong, or there is no memory. A device that can
 * do too little is passed over, but not if the caller asked for a storage. */
static bool is_asked_wrongly(tvlm_status status, const struct tvlm_device_params *params) {
    if (status == TVLM_ERROR_UNSUPPORTED) return params->storage != TVLM_STORAGE_AUTO;
    return status == TVLM_ERROR_ARGUMENT || status == TVLM_ERROR_MEMORY;
}

static tvlm_status open_or_another(const char *choice, const struct tvlm_device_params *params,
                                   tvlm_device **device) {
    tvlm_attempt kept;
    const int32_t count = tvlm_opencl_list(0, NULL);
    if (count <= 0) return open_another(-1, "no OpenCL device", params, device);
    const tvlm_status status = try_to_open(choice, params, &kept, device);
    if (status == TVLM_OK) return status;
    /* The index is below 0 if the choice means none of the devices, or if they cannot be listed any more. */
    const int32_t index = tvlm_opencl_index(choice);
    if (is_asked_wrongly(status, params) || (index < 0 && status == TVLM_ERROR_NO_DEVICE))
        return tvlm_fail(params->log, status, "%s", kept.error);
    return open_another(index, kept.error, params, device);
}

/* ---- device.h ---- */

static tvlm_status check_params(const struct tvlm_device_params *params, tvlm_device **device) {
    TVLM_NEED(params->log, device);
    return tvlm_device_check_params(params);
}

static const struct tvlm_device_params defaults = {0};

tvlm_status tvlm_device_open(const struct tvlm_device_params *params, tvlm_device **device) {
    if (params == NULL) params = &defaults;
    TVLM_TRY(check_params(params, device));
    const char *choice = choice_of(params);
    int32_t index;
    if (means_reference(choice, &index)) return open_reference(index, params, device);
    return params->fallback ? open_or_another(choice, params, device)
                            : tvlm_opencl_open(choice, params, device);
}

tvlm_status tvlm_device_open_another(int32_t index, const struct tvlm_device_params *params,
                                     tvlm_device **device) {
    if (params == NULL) params = &defaults;
    TVLM_TRY(check_params(params, device));
    return open_another(index < 0 ? -1 : index, "the device is lost", params, device);
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
    int32_t opencl = tvlm_opencl_list(capacity, infos);
    if (opencl < 0) opencl = 0; /* an error counts as having no driver */
    if (infos != NULL && opencl < capacity) TVLM_TRY(reference_info(opencl, &infos[opencl]));
    *count = opencl + 1;
    return TVLM_OK;
}
