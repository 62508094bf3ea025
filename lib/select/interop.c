/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interop.c: the public functions of texturevlm/opencl.h that concern scores, positions and patches. It is
 * the only file of this folder that includes an OpenCL header. Like the other files it makes no calls of
 * OpenCL: handles pass through the backend as void *.
 */
#include "core/check.h"
#include "core/owner.h"
#include "core/try.h"
#include "core/wrap.h"
#include "texturevlm/opencl.h"

#include "select/patches.h"
#include "select/ranking.h"
#include "select/score.h"
#include "select/select.h"
#include "stack/stack.h"

tvlm_status tvlm_score_opencl(tvlm_stack *stack, const struct tvlm_query *query,
                              const struct tvlm_score_params *params, cl_mem out, size_t byte_offset) {
    static const struct tvlm_score_params defaults = {0};
    const struct tvlm_memory memory = {.memory = out, .byte_offset = byte_offset};
    tvlm_candidates candidates;
    tvlm_buffer *scores = NULL, *buffer = NULL;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    TVLM_NEED(tvlm_stack_log(stack), out);
    if (params == NULL) params = &defaults;
    TVLM_TRY(tvlm_score_candidates(stack, params, &candidates));
    const size_t bytes = (size_t)tvlm_candidate_count(&candidates) * sizeof(float);
    tvlm_device *const device = tvlm_stack_device(stack);
    TVLM_TRY(tvlm_wrap(device, "scores", &memory, bytes, true, &buffer));
    tvlm_status status = tvlm_score_enqueue(stack, query, params, &candidates, NULL, &scores);
    if (status == TVLM_OK)
        status = device->backend->buffer_copy(device, scores, 0, buffer, byte_offset, bytes);
    device->backend->buffer_destroy(device, &buffer);
    return status;
}

tvlm_status tvlm_topk_opencl(tvlm_device *device, cl_mem scores, size_t scores_offset, int32_t n, int32_t k,
                             cl_mem ranking, size_t ranking_offset) {
    TVLM_NEED(NULL, device);
    TVLM_ENTER(device);
    TVLM_NEED(&device->log, scores);
    TVLM_NEED(&device->log, ranking);
    return tvlm_topk_there(device, tvlm_memory(.memory = scores, .byte_offset = scores_offset), n, k,
                           tvlm_memory(.memory = ranking, .byte_offset = ranking_offset));
}

tvlm_status tvlm_select_opencl(tvlm_stack *stack, const struct tvlm_query *query,
                               const struct tvlm_select_params *params, cl_mem positions, size_t byte_offset,
                               int32_t *count) {
    const struct tvlm_memory memory = {.memory = positions, .byte_offset = byte_offset};
    tvlm_buffer *buffer = NULL;
    int32_t chosen = 0;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    TVLM_NEED(tvlm_stack_log(stack), positions);
    tvlm_device *const device = tvlm_stack_device(stack);
    TVLM_TRY(tvlm_wrap(device, "positions", &memory, sizeof(tvlm_position), true, &buffer));
    const tvlm_status status = tvlm_select_into(stack, query, params, buffer, byte_offset, &chosen);
    device->backend->buffer_destroy(device, &buffer);
    if (status == TVLM_OK && count != NULL) *count = chosen;
    return status;
}

/* Cuts patches out into an application's buffer. */
static tvlm_status cut(tvlm_stack *stack, const tvlm_patches_at *at, int32_t count,
                       const struct tvlm_patches_params *params, cl_mem out, size_t byte_offset) {
    tvlm_device *const device = tvlm_stack_device(stack);
    tvlm_buffer *buffer = NULL;
    TVLM_TRY(device->backend->buffer_wrap(device, out, true, &buffer));
    const tvlm_status status = tvlm_patches_into(stack, at, count, params, buffer, byte_offset);
    device->backend->buffer_destroy(device, &buffer);
    return status;
}

tvlm_status tvlm_patches_extract_opencl(tvlm_stack *stack, const tvlm_position *positions, int32_t count,
                                        const struct tvlm_patches_params *params, cl_mem out,
                                        size_t byte_offset) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    TVLM_NEED(tvlm_stack_log(stack), out);
    if (count > 0) TVLM_NEED(tvlm_stack_log(stack), positions);
    if (count < 0) return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_ARGUMENT, "%d positions", (int)count);
    return cut(stack, &(tvlm_patches_at){.positions = positions}, count, params, out, byte_offset);
}

tvlm_status tvlm_patches_extract_at_opencl(tvlm_stack *stack, const struct tvlm_memory *positions,
                                           int32_t count, const struct tvlm_patches_params *params,
                                           cl_mem out, size_t byte_offset) {
    tvlm_patches_at at = {0};
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    TVLM_NEED(tvlm_stack_log(stack), positions);
    TVLM_NEED(tvlm_stack_log(stack), out);
    if (count < 0) return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_ARGUMENT, "%d positions", (int)count);
    tvlm_device *const device = tvlm_stack_device(stack);
    TVLM_TRY(
        tvlm_wrap(device, "positions", positions, (size_t)count * sizeof(tvlm_position), false, &at.list));
    at.list_offset = positions->byte_offset;
    at.unchecked = positions->unchecked;
    const tvlm_status status = cut(stack, &at, count, params, out, byte_offset);
    device->backend->buffer_destroy(device, &at.list);
    return status;
}
