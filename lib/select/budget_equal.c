/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_equal.c: tiles whose pixels equal those of a neighbour. In the same way PixelPrune (arXiv
 * 2604.00886) drops patches that are predicted by their neighbours.
 */
#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "select/budget.h"

/* Where a tile lies in the image, in pixels. */
typedef struct place {
    int32_t x, y, width, height;
} place;

static place place_of(const tvlm_budget *budget, int32_t tile) {
    const int32_t x = tile % budget->tree.columns * budget->patch;
    const int32_t y = tile / budget->tree.columns * budget->patch;
    const int32_t right = budget->source->width - x, below = budget->source->height - y;
    return (place){x, y, right < budget->patch ? right : budget->patch,
                   below < budget->patch ? below : budget->patch};
}

/* Whether two tiles have the same size and the same texels. */
static bool are_equal(const tvlm_budget *budget, const float *rgba, int32_t a, int32_t b) {
    const place p = place_of(budget, a), q = place_of(budget, b);
    const size_t width = (size_t)budget->source->width;
    if (p.width != q.width || p.height != q.height) return false;
    for (int32_t y = 0; y < p.height; ++y)
        if (memcmp(rgba + ((size_t)(p.y + y) * width + (size_t)p.x) * 4,
                   rgba + ((size_t)(q.y + y) * width + (size_t)q.x) * 4,
                   (size_t)p.width * 4 * sizeof *rgba) != 0)
            return false;
    return true;
}

tvlm_status tvlm_budget_pixels(const tvlm_budget *budget, float **rgba) {
    const tvlm_stack *const stack = budget->task->stack;
    tvlm_device *const device = tvlm_stack_device(stack);
    const size_t pixels = (size_t)budget->source->width * (size_t)budget->source->height;
    const int32_t image = tvlm_stack_image_number(stack, budget->task->params.score.index);
    *rgba = tvlm_allocate(pixels, 4 * sizeof **rgba);
    if (*rgba == NULL) return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for %zu pixels", pixels);
    return device->backend->texture_read(device, (tvlm_texture *)(uintptr_t)budget->source, 0,
                                         image * budget->source->layers, *rgba);
}

tvlm_status tvlm_budget_equal(tvlm_budget *budget) {
    const int32_t columns = budget->tree.columns;
    int32_t *const origin = budget->origin = tvlm_allocate((size_t)budget->tiles, sizeof *origin);
    float *rgba = NULL;
    tvlm_status status = TVLM_OK;
    if (origin == NULL)
        status = tvlm_fail(tvlm_stack_log(budget->task->stack), TVLM_ERROR_MEMORY, "no memory for %d tiles",
                           (int)budget->tiles);
    if (status == TVLM_OK) status = tvlm_budget_pixels(budget, &rgba);
    for (int32_t i = 0; status == TVLM_OK && i < budget->tiles; ++i) {
        origin[i] = i;
        if (i % columns > 0 && are_equal(budget, rgba, i, i - 1))
            origin[i] = origin[i - 1];
        else if (i >= columns && are_equal(budget, rgba, i, i - columns))
            origin[i] = origin[i - columns];
    }
    free(rgba);
    return status;
}
