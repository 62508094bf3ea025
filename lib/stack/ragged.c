/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/ragged.h"

#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/inside.h"

tvlm_status tvlm_stack_check_sizes(const tvlm_device *device, struct tvlm_stack_params *params) {
    const tvlm_log *log = &device->log;
    if (params->sizes == NULL) return TVLM_OK;
    if (params->width != 0 || params->height != 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a size of %dx%d beside the sizes of all images",
                         (int)params->width, (int)params->height);
    if (params->fixation != NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a fixation of images of different sizes; each has its own, the middle");
    if (params->images < 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d images of different sizes", (int)params->images);
    if (params->layout == NULL) params->layout = TVLM_LAYOUT_RAGGED;
    for (int32_t i = 0; i < (params->images > 0 ? params->images : 1); ++i) {
        const int32_t width = params->sizes[2 * i], height = params->sizes[2 * i + 1];
        if (width < 1 || height < 1)
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "image %d of a batch has %dx%d pixels", (int)i,
                             (int)width, (int)height);
        if (width > params->width) params->width = width;
        if (height > params->height) params->height = height;
    }
    return TVLM_OK;
}

tvlm_status tvlm_stack_check_ragged(const tvlm_stack *stack, tvlm_grid_mask mask) {
    for (int grid = 0; stack->sizes != NULL && grid < TVLM_GRID_COUNT; ++grid)
        if ((mask >> grid & 1) != 0 && !tvlm_grid_get_info((tvlm_grid)grid)->ragged)
            return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT,
                             "a batch of images of different sizes has no '%s'",
                             tvlm_grid_get_info((tvlm_grid)grid)->name);
    return TVLM_OK;
}

static tvlm_view view_of(int32_t width, int32_t height) {
    const float w = (float)width, h = (float)height;
    return (tvlm_view){.width = w,
                       .height = h,
                       .fixation_x = 0.5f * w,
                       .fixation_y = 0.5f * h,
                       .farthest = (float)hypot((double)(0.5f * w), (double)(0.5f * h))};
}

tvlm_status tvlm_stack_take_sizes(tvlm_stack *stack, const int32_t *sizes) {
    const size_t count = (size_t)stack->images;
    if (sizes == NULL) return TVLM_OK;
    stack->sizes = tvlm_allocate(count, sizeof *stack->sizes);
    stack->views = tvlm_allocate(count, sizeof *stack->views);
    if (stack->sizes == NULL || stack->views == NULL)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for the sizes of a batch");
    memcpy(stack->sizes, sizes, count * sizeof *stack->sizes);
    for (int32_t i = 0; i < stack->images; ++i) {
        stack->views[i] = view_of(stack->sizes[i][0], stack->sizes[i][1]);
        stack->originals[i].width = stack->sizes[i][0];
        stack->originals[i].height = stack->sizes[i][1];
    }
    return TVLM_OK;
}

void tvlm_stack_size_of(const tvlm_stack *stack, int32_t index, int32_t *width, int32_t *height) {
    *width = stack->sizes != NULL ? stack->sizes[index][0] : stack->width;
    *height = stack->sizes != NULL ? stack->sizes[index][1] : stack->height;
}

tvlm_status tvlm_stack_parts(const tvlm_stack *stack, int32_t images, tvlm_texture_part **parts) {
    *parts = NULL;
    if (stack->sizes == NULL) return TVLM_OK;
    *parts = tvlm_allocate((size_t)images, sizeof **parts);
    if (*parts != NULL) return TVLM_OK;
    return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for the sizes of a batch");
}

int32_t tvlm_stack_levels_of(const tvlm_stack *stack, int32_t index) {
    int32_t width, height;
    tvlm_stack_size_of(stack, index, &width, &height);
    return tvlm_level_count(width, height);
}

tvlm_status tvlm_stack_check_image_number(const tvlm_stack *stack, int32_t index) {
    if (index >= 0 && index < stack->images) return TVLM_OK;
    return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "image %d of a stack of %d", (int)index,
                     (int)stack->images);
}

tvlm_status tvlm_stack_working_size(const tvlm_stack *stack, int32_t index, int32_t *width, int32_t *height) {
    TVLM_NEED(NULL, stack);
    TVLM_NEED(&stack->device->log, width);
    TVLM_NEED(&stack->device->log, height);
    TVLM_TRY(tvlm_stack_check_image_number(stack, index));
    tvlm_stack_size_of(stack, index, width, height);
    return TVLM_OK;
}
