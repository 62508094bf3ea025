/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Outputs of scorers beside the score. A linear scorer has a program for each output. All outputs are made
 * before any of them becomes a plane, since a scorer may read the planes of the question before.
 */
#include "select/outputs.h"

#include "core/memory.h"
#include "core/try.h"
#include "select/mapped.h"
#include "select/score.h"
#include "select/scorer.h"
#include "stack/bundle.h"
#include "stack/frame.h"
#include "stack/grids.h"
#include "stack/input.h"
#include "stack/make.h"

/* ---- Planes ---- */

static size_t plane_bytes(const tvlm_candidates *candidates) {
    return (size_t)tvlm_candidate_count(candidates) * sizeof(float);
}

tvlm_status tvlm_outputs_keep(tvlm_stack *stack, const struct tvlm_score_params *params,
                              const tvlm_candidates *candidates, int32_t outputs, tvlm_buffer *planes,
                              size_t offset) {
    /* With `dense`, candidates are the texels of a level, which cover the image exactly. Otherwise they are
     * cells, which may reach beyond it. */
    const struct tvlm_grid_input input = {.columns = candidates->columns,
                                          .rows = candidates->rows,
                                          .cell = params->dense ? 0.0f : candidates->step_x,
                                          .replace_nonfinite = true};
    for (int32_t o = 1; o < outputs; ++o)
        TVLM_TRY(tvlm_stack_input_output(stack, params->index, o, &input, planes,
                                         offset + (size_t)(o - 1) * plane_bytes(candidates)));
    return TVLM_OK;
}

/* ---- Linear scorers ---- */

/* Makes one output in `scores`, and copies it to its place behind the others. */
static tvlm_status make_output(tvlm_stack *stack, int32_t index, bool asked, const tvlm_scorer *scorer,
                               int32_t output, const tvlm_candidates *candidates, tvlm_buffer *scores,
                               tvlm_buffer *planes) {
    tvlm_device *const device = tvlm_stack_device(stack);
    const tvlm_scorer one = tvlm_scorer_output(scorer, output);
    const size_t bytes = plane_bytes(candidates);
    tvlm_score_program p;
    tvlm_status status = tvlm_score_program_linear(stack, index, &one, asked, &p);
    if (status == TVLM_OK) status = tvlm_score_map(stack, index, candidates, &p, scores);
    tvlm_score_program_free(&p);
    if (status != TVLM_OK) return status;
    return device->backend->buffer_copy(device, scores, 0, planes, (size_t)(output - 1) * bytes, bytes);
}

static tvlm_status make_outputs(tvlm_stack *stack, bool asked, const struct tvlm_score_params *params,
                                const tvlm_scorer *scorer, const tvlm_candidates *candidates) {
    const size_t bytes = plane_bytes(candidates);
    tvlm_buffer *scores, *planes;
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_SCORES, bytes, &scores));
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_OUTPUTS, (size_t)(scorer->outputs - 1) * bytes, &planes));
    for (int32_t o = 1; o < scorer->outputs; ++o)
        TVLM_TRY(make_output(stack, params->index, asked, scorer, o, candidates, scores, planes));
    return tvlm_outputs_keep(stack, params, candidates, scorer->outputs, planes, 0);
}

tvlm_status tvlm_outputs_of_linear(tvlm_stack *stack, const struct tvlm_query *query,
                                   const struct tvlm_score_params *params,
                                   const tvlm_candidates *candidates) {
    tvlm_scorer scorer;
    float *weights;
    TVLM_TRY(tvlm_scorer_for_query(stack, params, query, &scorer, &weights));
    const tvlm_status status = make_outputs(stack, query != NULL, params, &scorer, candidates);
    free(weights);
    return status;
}
