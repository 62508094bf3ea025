/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.h: the OpenCL backend's way in, for lib/stack/open.c.
 */
#ifndef TVLM_OPENCL_OPEN_H
#define TVLM_OPENCL_OPEN_H

#include "core/backend.h"

/* Opens a device. `choice` is an index, part of a text (device.h), or NULL for the default. */
tvlm_status tvlm_opencl_open(const char *choice, const struct tvlm_device_params *params,
                             tvlm_device **device);

/* Describes up to `capacity` devices without opening them. Returns how many devices there are, or -1 where
 * the driver fails to list them. */
int32_t tvlm_opencl_list(int32_t capacity, tvlm_device_info *infos);

/* The index of the device that a choice means, or -1. */
int32_t tvlm_opencl_index(const char *choice);

#endif
