/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thumbnail.c: a picture of the source, by the definition: each of its texels is a sum along columns, and of these along a row.
 */
#include <math.h>

#include "core/memory.h"
#include "reference/reference.h"
#include "reference/texture.h"

/* Adds up the texels of each column that are above and below output row `y`, each by its weight: line[width][4]. */
static void add_columns(const tvlm_texture *source, const tvlm_budget_plan *plan, int32_t slice, int32_t y,
                        double *line) {
    const tvlm_budget_picture *const picture = &plan->pictures[0];
    const float *const down = tvlm_budget_entry(plan, &picture->reduce_y, y);
    const int32_t components = 4 * tvlm_level_side(source->width, picture->from);
    for (int32_t i = 0; i < components; ++i) line[i] = 0.0;
    for (int32_t j = 0; j < (int32_t)down[1]; ++j) {
        const double weight = (double)down[TVLM_BUDGET_HEAD + j];
        const float *const row = tvlm_reference_fetch(source, picture->from, slice, 0, (int32_t)down[0] + j);
        for (int32_t i = 0; i < components; ++i) line[i] += weight * (double)row[i];
    }
}

/* Adds up what is left and right of an output's place in a line. */
static void add_up(const float *across, const double *line, double sums[4]) {
    const double *const texels = line + 4 * (ptrdiff_t)across[0];
    for (int32_t i = 0; i < (int32_t)across[1]; ++i)
        for (int c = 0; c < 4; ++c) sums[c] += (double)across[TVLM_BUDGET_HEAD + i] * texels[4 * i + c];
}

tvlm_status tvlm_reference_thumbnail(tvlm_device *device, const tvlm_texture *source,
                                     const tvlm_budget_plan *plan, tvlm_texture *out) {
    const tvlm_budget_picture *const picture = &plan->pictures[0];
    const int32_t from = reference_slice(source, plan->image, 0), to = reference_slice(out, plan->image, 0);
    double *const line =
        tvlm_allocate(4 * (size_t)tvlm_level_side(source->width, picture->from), sizeof *line);
    if (line == NULL) return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for a thumbnail");
    for (int32_t y = 0; y < picture->height; ++y) {
        add_columns(source, plan, from, y, line);
        for (int32_t x = 0; x < picture->width; ++x) {
            double sums[4] = {0.0};
            add_up(tvlm_budget_entry(plan, &picture->reduce_x, x), line, sums);
            for (int c = 0; c < 4; ++c) sums[c] = fmin(fmax(sums[c], 0.0), 1.0);
            tvlm_reference_store(out, 0, to, x, y, sums);
        }
    }
    free(line);
    return TVLM_OK;
}
