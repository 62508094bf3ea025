/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/budget_plan.h: pictures of an image as plans for the backend (core/budget.h).
 */
#ifndef TVLM_SELECT_BUDGET_PLAN_H
#define TVLM_SELECT_BUDGET_PLAN_H

#include <stdbool.h>

#include "core/backend.h"

/* The size of a picture in texels. The picture is reduced from the image, and enlarged to its size again, by
 * Lanczos' filter of three lobes. A picture that has the size of a level is that level. `texel` is the side
 * of a texel in pixels; the last texels may then lie across the image's border. 0: the texels cover exactly
 * the image. */
typedef struct tvlm_budget_size {
    int32_t width, height;
    double texel;
} tvlm_budget_size;

/* The weights of a plan, which are its table. They depend on sizes alone. Nothing else that the host does for
 * a choice takes longer to compute. So the next plan takes over the weights that it needs. */
typedef struct tvlm_budget_weights tvlm_budget_weights;

/* Releases weights, or does nothing for NULL. Its parameter is void * so that a tvlm_slot can call it. */
void tvlm_budget_weights_free(void *weights);

/*
 * Plans pictures of an image of the source, for tiles of `patch` pixels, which is at least
 * TVLM_BUDGET_BLOCKS. It takes pictures in order, as many of the `count` as together need at most
 * TVLM_BUDGET_TEXELS_MAX floats between the passes, but at least one. plan->count says how many it took.
 * `before` are the weights of an earlier plan, or NULL. Returns false if there is no memory. Where it returns
 * true, tvlm_budget_plan_free is due. That also releases plan->weights, unless the caller took them and set
 * plan->weights to NULL.
 */
#define TVLM_BUDGET_TEXELS_MAX ((size_t)64 << 20)
bool tvlm_budget_plan_make(const tvlm_texture *source, int32_t image, int32_t patch,
                           const tvlm_budget_size *sizes, int32_t count, const tvlm_budget_weights *before,
                           tvlm_budget_plan *plan);
/* The same with the weights of an earlier plan: those that it lacks are added behind them, and none is moved, so that
 * what has been written to a device stays there. The weights stay the caller's, and plan->weights is NULL. False: there
 * is no memory, or they would become more than twice those that they began as. They are as they were then. */
bool tvlm_budget_plan_go_on(const tvlm_texture *source, int32_t image, int32_t patch,
                            const tvlm_budget_size *sizes, int32_t count, tvlm_budget_weights *weights,
                            tvlm_budget_plan *plan);
void tvlm_budget_plan_free(tvlm_budget_plan *plan);

#endif
