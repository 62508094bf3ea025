/* SPDX-License-Identifier: Apache-2.0 */
/*
 * follow.c: launches cl/follow.cl.
 */
#include "core/try.h"
#include "opencl/backend.h"

tvlm_status tvlm_opencl_follow(tvlm_device *base, const tvlm_follow *follow) {
    const size_t size = (size_t)follow->count;
    opencl_call call;
    if (follow->count == 0) return TVLM_OK;
    TVLM_TRY(tvlm_opencl_call_begin((opencl_device *)base, "follow.cl", "follow", follow->flow->format, "",
                                    &call));
    tvlm_opencl_call_input(&call, follow->flow);
    tvlm_opencl_call_float(&call, follow->level);
    tvlm_opencl_call_float(&call, follow->confidence);
    tvlm_opencl_call_int(&call, follow->steps);
    tvlm_opencl_call_int4(&call, (int32_t)follow->from_offset, follow->from_stride,
                          (int32_t)follow->to_offset, follow->count);
    tvlm_opencl_call_memory(&call, ((const opencl_buffer *)follow->from)->memory);
    tvlm_opencl_call_memory(&call, ((const opencl_buffer *)follow->to)->memory);
    return tvlm_opencl_call_run(&call, 1, &size, NULL);
}
