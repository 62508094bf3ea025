/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interop.c: the public function of texturevlm/opencl.h that concerns patches. The only file of this folder
 * that sees an OpenCL header; it calls OpenCL no more than its neighbours do: handles pass through the
 * backend as void *.
 */
#include "core/check.h"
#include "core/owner.h"
#include "core/try.h"
#include "texturevlm/opencl.h"

#include "select/patches.h"
#include "stack/stack.h"

tvlm_status tvlm_patches_extract_opencl(tvlm_stack *stack, const tvlm_position *positions, int32_t count,
                                        const struct tvlm_patches_params *params, cl_mem out,
                                        size_t byte_offset) {
    tvlm_buffer *buffer = NULL;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    TVLM_NEED(tvlm_stack_log(stack), out);
    if (count > 0) TVLM_NEED(tvlm_stack_log(stack), positions);
    if (count < 0) return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_ARGUMENT, "%d positions", (int)count);
    tvlm_device *device = tvlm_stack_device(stack);
    TVLM_TRY(device->backend->buffer_wrap(device, out, true, &buffer));
    const tvlm_status status = tvlm_patches_into(stack, positions, count, params, buffer, byte_offset);
    device->backend->buffer_destroy(device, &buffer);
    return status;
}
