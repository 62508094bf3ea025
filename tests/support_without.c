/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support_without.c: with $TVLM_TEST_WITHOUT=NAME, that operation does nothing on every OpenCL device that
 * the program opens, and says that it went well. test_operations.c runs the programs so, to see them fail.
 */
#include <stdlib.h>

#include "operations.h"
#include "texturevlm/opencl.h"

static tvlm_status do_nothing(void) {
    return TVLM_OK;
}

static void leave_out(tvlm_device *device) {
    static tvlm_backend table;
    const char *name = getenv("TVLM_TEST_WITHOUT");
    if (name == NULL || strcmp(device->backend->name, "opencl") != 0) return;
    table = *device->backend;
    for (size_t i = 0; i < TEST_OPERATIONS; ++i)
        if (strcmp(test_operations[i].name, name) == 0) test_replace(&table, &test_operations[i], do_nothing);
    device->backend = &table;
}

/* These stand before the library's functions: -Wl,--wrap in CMakeLists.txt. */
tvlm_status __real_tvlm_device_open(const struct tvlm_device_params *params, tvlm_device **device);
tvlm_status __wrap_tvlm_device_open(const struct tvlm_device_params *params, tvlm_device **device);
tvlm_status __wrap_tvlm_device_open(const struct tvlm_device_params *params, tvlm_device **device) {
    const tvlm_status status = __real_tvlm_device_open(params, device);
    if (status == TVLM_OK) leave_out(*device);
    return status;
}

tvlm_status __real_tvlm_device_open_opencl(cl_context context, cl_device_id id, cl_command_queue queue,
                                           const struct tvlm_device_params *params, tvlm_device **device);
tvlm_status __wrap_tvlm_device_open_opencl(cl_context context, cl_device_id id, cl_command_queue queue,
                                           const struct tvlm_device_params *params, tvlm_device **device);
tvlm_status __wrap_tvlm_device_open_opencl(cl_context context, cl_device_id id, cl_command_queue queue,
                                           const struct tvlm_device_params *params, tvlm_device **device) {
    const tvlm_status status = __real_tvlm_device_open_opencl(context, id, queue, params, device);
    if (status == TVLM_OK) leave_out(*device);
    return status;
}
