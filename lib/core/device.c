/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device.c: the functions of device.h that are the same for every backend. Opening is in stack/open.c, which
 * sees both backends.
 */
#include "texturevlm/device.h"

#include "core/backend.h"
#include "core/check.h"
#include "core/owner.h"

tvlm_status tvlm_device_check_params(const struct tvlm_device_params *params) {
    TVLM_CHECK_RESERVED(params->log, tvlm_device_params, params);
    if ((int)params->storage < TVLM_STORAGE_AUTO || params->storage > TVLM_STORAGE_MIPMAPPED)
        return tvlm_fail(params->log, TVLM_ERROR_ARGUMENT, "there is no storage %d", (int)params->storage);
    if ((int)params->format < TVLM_FORMAT_AUTO || params->format > TVLM_FORMAT_U8)
        return tvlm_fail(params->log, TVLM_ERROR_ARGUMENT, "there are no stacks of format %d",
                         (int)params->format);
    return TVLM_OK;
}

void tvlm_device_destroy(tvlm_device **device) {
    tvlm_device *entered = NULL; /* no cleanup leaves the device, since it is gone then */
    if (device == NULL || *device == NULL) return;
    tvlm_device_enter_to_free(*device, __func__, &entered);
    entered->backend->destroy(entered);
    *device = NULL;
}

tvlm_status tvlm_device_get_info(const tvlm_device *device, tvlm_device_info *info) {
    TVLM_NEED(NULL, device);
    TVLM_NEED(&device->log, info);
    *info = device->info;
    return TVLM_OK;
}

tvlm_status tvlm_device_finish(tvlm_device *device) {
    TVLM_NEED(NULL, device);
    TVLM_ENTER(device);
    return device->backend->finish(device);
}

const char *tvlm_storage_name(tvlm_storage storage) {
    switch (storage) {
    case TVLM_STORAGE_IMAGE: return "image";
    case TVLM_STORAGE_BUFFER: return "buffer";
    case TVLM_STORAGE_MIPMAPPED: return "mipmapped";
    case TVLM_STORAGE_AUTO: return "auto";
    }
    return "unknown";
}

const char *tvlm_format_name(tvlm_format format) {
    switch (format) {
    case TVLM_FORMAT_F16: return "f16";
    case TVLM_FORMAT_F32: return "f32";
    case TVLM_FORMAT_U8: return "u8";
    case TVLM_FORMAT_S8: return "s8";
    case TVLM_FORMAT_AUTO: return "auto";
    }
    return "unknown";
}
