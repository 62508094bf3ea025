/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait.c: waiting for a queue.
 */
#include "opencl/backend.h"

cl_int tvlm_opencl_wait(const opencl_device *device, cl_command_queue queue) {
    if (device->finishes_early) (void)clEnqueueMarkerWithWaitList(queue, 0, NULL, NULL);
    return clFinish(queue);
}
