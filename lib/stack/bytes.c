/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/bytes.h"

#include "core/learned.h"
#include "core/try.h"
#include "stack/inside.h"

tvlm_range tvlm_learned_range(const tvlm_learned *learned, tvlm_grid grid) {
    if (grid == TVLM_GRID_LEARNED) return learned->bounded ? TVLM_RANGE_UNIT : TVLM_RANGE_ANY;
    return tvlm_grid_range(grid);
}

tvlm_range tvlm_stack_range(const tvlm_stack *stack, tvlm_grid grid) {
    tvlm_channel_info info;
    if (grid < TVLM_GRID_USER_0 || grid > TVLM_GRID_USER_LAST)
        return tvlm_learned_range(&stack->learned, grid);
    const int32_t plane = TVLM_CHANNEL_USER_0 + (int32_t)(grid - TVLM_GRID_USER_0);
    if (plane - TVLM_CHANNEL_USER_0 >= stack->user_count ||
        tvlm_stack_get_channel_info(stack, plane, &info) != TVLM_OK)
        return TVLM_RANGE_ANY;
    return tvlm_range_of(&info);
}

tvlm_status tvlm_stack_check_plane(const tvlm_stack *stack, const tvlm_channel_info *plane) {
    if (stack->format != TVLM_FORMAT_U8 || plane->identifier || tvlm_range_of(plane) != TVLM_RANGE_ANY)
        return TVLM_OK;
    return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT,
                     "'%s' has the range %g .. %g: format u8 holds channels within 0 .. 1 or -1 .. 1",
                     plane->name, (double)plane->low, (double)plane->high);
}

tvlm_status tvlm_stack_check_bytes(const tvlm_stack *stack) {
    tvlm_device *const device = stack->device;
    if (stack->format != TVLM_FORMAT_U8) return TVLM_OK;
    TVLM_TRY(device->backend->ask_bytes(device));
    if (!device->stores_bytes)
        return tvlm_fail(&device->log, TVLM_ERROR_UNSUPPORTED,
                         "%s: images of bytes do not pass the self-test; format u8 needs storage buffer here",
                         device->info.name);
    for (int32_t i = 0; i < stack->channel_count; ++i) {
        tvlm_channel_info info;
        TVLM_TRY(tvlm_stack_get_channel_info(stack, stack->channels[i], &info));
        TVLM_TRY(tvlm_stack_check_plane(stack, &info));
    }
    return TVLM_OK;
}
