/* SPDX-License-Identifier: Apache-2.0 */
/*
 * storage.c: which storage a device has its texels in, and what follows from that.
 */
#include <stdio.h>
#include <string.h>

#include "opencl/backend.h"

int32_t tvlm_opencl_version(const tvlm_device_info *info) {
    static const char begin[] = "OpenCL ";
    const char *const at = info->version + sizeof begin - 1;
    if (strncmp(info->version, begin, sizeof begin - 1) != 0 || at[0] < '1' || at[0] > '9' || at[1] != '.' ||
        at[2] < '0' || at[2] > '9')
        return 0;
    return 10 * (at[0] - '0') + at[2] - '0';
}

const char *tvlm_opencl_language(const opencl_device *device, tvlm_storage storage) {
    if (storage != TVLM_STORAGE_MIPMAPPED) return "CL1.2";
    return tvlm_opencl_version(&device->base.info) >= 30 ? "CL3.0" : "CL2.0";
}

void tvlm_opencl_take_bytes(opencl_device *device, const opencl_ability *ability) {
    for (int format = TVLM_FORMAT_F16; format <= TVLM_FORMAT_S8; ++format)
        device->base.stores_scalar[format] = tvlm_opencl_stores_scalar(device, (tvlm_format)format);
    device->base.stores_bytes = ability->asked_bytes && ability->bytes;
    device->asked_bytes = ability->asked_bytes;
}

static bool tested_images(const tvlm_device_info *info) {
    for (int32_t i = 0; i < info->self_test_count; ++i)
        if (strncmp(info->self_tests[i].name, "image", 5) == 0) return true;
    return false;
}

/* The storage that is chosen where none is asked for, and why. `tuned` is the storage that was found to be
 * the fastest, or AUTO. Where stacks will be of bytes, a storage is chosen that holds them. */
static tvlm_storage default_storage(const tvlm_device_info *info, tvlm_format format, tvlm_storage tuned,
                                    const opencl_ability able[], const char **reason) {
    const bool gpu = info->type == TVLM_DEVICE_GPU, bytes = format == TVLM_FORMAT_U8;
    bool can[TVLM_STORAGE_MIPMAPPED + 1];
    for (int i = 0; i <= TVLM_STORAGE_MIPMAPPED; ++i) can[i] = able[i].works && (!bytes || able[i].bytes);
    if (tuned != TVLM_STORAGE_AUTO && can[tuned]) {
        *reason = "it was the fastest when the device was tuned";
        return tuned;
    }
    if (gpu && can[TVLM_STORAGE_MIPMAPPED]) {
        *reason = "the hardware filters between levels, and passes the self-test";
        return TVLM_STORAGE_MIPMAPPED;
    }
    if (gpu && can[TVLM_STORAGE_IMAGE]) {
        *reason = "a GPU filters images in hardware";
        return TVLM_STORAGE_IMAGE;
    }
    *reason = !gpu                             ? "images are emulated on a device that is no GPU"
              : able[TVLM_STORAGE_IMAGE].works ? "images of bytes fail the self-test"
                                               : "images fail the self-test";
    return TVLM_STORAGE_BUFFER;
}

/* What went wrong with buffers, which every device has. */
static const char *why_no_buffers(const tvlm_device_info *info) {
    for (int32_t i = 0; i < info->self_test_count; ++i) {
        const tvlm_self_test *const test = &info->self_tests[i];
        if (!test->passed && strncmp(test->name, "buffer", 6) == 0) return test->detail;
    }
    return "wrong answers";
}

tvlm_status tvlm_opencl_choose_storage(opencl_device *device, const struct tvlm_device_params *params,
                                       tvlm_storage tuned, const opencl_ability able[]) {
    tvlm_storage asked = params->storage;
    tvlm_device_info *info = &device->base.info;
    const char *reason = "asked for";
    if (asked != TVLM_STORAGE_AUTO && !able[asked].works)
        return tvlm_fail(&device->base.log, TVLM_ERROR_UNSUPPORTED,
                         "%s: %s storage does not pass the self-test", info->name, tvlm_storage_name(asked));
    if (asked == TVLM_STORAGE_AUTO) {
        asked = default_storage(info, params->format, tuned, able, &reason);
        if (!able[asked].works)
            return tvlm_fail(&device->base.log, TVLM_ERROR_UNSUPPORTED,
                             "%s: no storage passes the self-test (%s)", info->name, why_no_buffers(info));
    }
    info->images = info->images && (able[TVLM_STORAGE_IMAGE].works || !tested_images(info));
    info->storage = asked;
    snprintf(info->storage_reason, sizeof info->storage_reason, "%s", reason);
    return TVLM_OK;
}
