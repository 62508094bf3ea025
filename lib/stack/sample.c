/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.c: samples any channels at any points.
 */
#include <math.h>

#include "core/check.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/inside.h"
#include "stack/places.h"
#include "stack/ragged.h"

/*
 * Infinite coordinates are clamped to this. Finite ones are not clamped to the image here: kernels clamp
 * points to the edge when they read, since each grid has an edge of its own, and the edge of a grid of cells
 * may lie beyond that of the image.
 */
#define FAR 1e9f

static tvlm_status check_points(const tvlm_stack *stack, const tvlm_sample_point *points, int32_t count) {
    for (int32_t i = 0; i < count; ++i) {
        const tvlm_sample_point *p = &points[i];
        if (isnan(p->x) || isnan(p->y) || isnan(p->level))
            return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "point %d is not a number", (int)i);
        TVLM_TRY(tvlm_stack_check_image_number(stack, p->index));
    }
    return TVLM_OK;
}

static float between(float value, float low, float high) {
    return fminf(fmaxf(value, low), high);
}

static int32_t image_of(const void *list, int32_t i) {
    return ((const tvlm_sample_point *)list)[i].index;
}

static void write_point(const tvlm_stack *stack, const void *list, int32_t i, int32_t first, void *place) {
    const tvlm_sample_point *const p = (const tvlm_sample_point *)list + i;
    *(tvlm_point *)place =
        (tvlm_point){between(p->x, -FAR, FAR), between(p->y, -FAR, FAR),
                     between(p->level, 0.0f, (float)(tvlm_stack_levels_of(stack, p->index) - 1)),
                     (float)(p->index - first)};
}

tvlm_status tvlm_stack_sample(tvlm_stack *stack, const tvlm_sample_point *points, int32_t count,
                              const int32_t *channels, int32_t channel_count, float *out) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    if (count < 0 || channel_count < 0)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "%d points and %d channels", (int)count,
                         (int)channel_count);
    if (count == 0 || channel_count == 0) return TVLM_OK;
    TVLM_NEED(&stack->device->log, points);
    TVLM_NEED(&stack->device->log, channels);
    TVLM_NEED(&stack->device->log, out);
    TVLM_TRY(check_points(stack, points, count));
    const tvlm_places places = {
        "points", points, count, image_of, write_point, sizeof(tvlm_point), stack->device->backend->sample};
    return tvlm_stack_read_places(stack, &places, channels, channel_count, out);
}
