/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/budget_plan.h: pictures of an image as plans for the backend (core/budget.h).
 */
#ifndef TVLM_SELECT_BUDGET_PLAN_H
#define TVLM_SELECT_BUDGET_PLAN_H

#include <stdbool.h>

#include "core/backend.h"

/* The size of a picture in texels. It is reduced and enlarged by Lanczos' filter of three lobes. One that has
 * the size of a level is that level. `texel` is the side of a texel in pixels; 0: so that the texels are the image, and
 * no more. Else the last texels may lie across the border. */
typedef struct tvlm_budget_size {
    int32_t width, height;
    double texel;
} tvlm_budget_size;

/*
 * Plans pictures of an image of the source, for tiles of `patch` pixels, at least TVLM_BUDGET_BLOCKS. Of `count` pictures
 * it takes as many, but at least one, as need no more than TVLM_BUDGET_TEXELS_MAX floats between the passes:
 * plan->count says how many. tvlm_budget_plan_free is due where it returns true; false: no memory.
 */
#define TVLM_BUDGET_TEXELS_MAX ((size_t)64 << 20)
bool tvlm_budget_plan_make(const tvlm_texture *source, int32_t image, int32_t patch,
                           const tvlm_budget_size *sizes, int32_t count, tvlm_budget_plan *plan);
/* The correlation of detail in tiles of so many pixels at which half is read (core/constants.h). */
float tvlm_budget_legible(int32_t patch);

void tvlm_budget_plan_free(tvlm_budget_plan *plan);

#endif
