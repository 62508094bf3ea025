/* SPDX-License-Identifier: Apache-2.0 */
/*
 * without_opencl.c: what lib/stack/open.c finds in a build without OpenCL, as on a machine that has none.
 */
#include "core/check.h"
#include "opencl/open.h"

tvlm_status tvlm_opencl_open(const char *choice, const struct tvlm_device_params *params,
                             tvlm_device **device) {
    (void)device;
    if (choice == NULL)
        return tvlm_fail(params->log, TVLM_ERROR_NO_DEVICE,
                         "no OpenCL device: this build is without OpenCL, and has 'reference'");
    return tvlm_fail(params->log, TVLM_ERROR_NO_DEVICE,
                     "no device '%s': this build is without OpenCL, and has 'reference'", choice);
}

int32_t tvlm_opencl_list(int32_t capacity, tvlm_device_info *infos) {
    (void)capacity, (void)infos;
    return 0;
}

int32_t tvlm_opencl_index(const char *choice) {
    (void)choice;
    return -1;
}
