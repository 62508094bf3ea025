/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scorers that are networks. The network's inputs are packed into a texture with one texel for each
 * candidate. All outputs are made before any of them becomes a plane, since a scorer may read the planes that
 * the previous question left.
 */
#include "lab/score_network.h"

#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "lab/operations.h"
#include "select/outputs.h"
#include "select/scorer.h"
#include "stack/bundle.h"
#include "stack/frame.h"
#include "stack/grids.h"
#include "stack/make.h"
#include "stack/query.h"

/* Returns whether a scorer has nothing beside its network. A network has its own weights, so the rest would
 * be ignored. */
static bool is_network_alone(const tvlm_scorer *scorer) {
    return scorer->channel_count == 0 && scorer->channels == NULL && scorer->taps == 0 &&
           scorer->weights == NULL && scorer->bias == 0.0f && scorer->similarity_weight == 0.0f &&
           scorer->query_weights == NULL && scorer->dimension == 0 && scorer->query_taps == 0 &&
           scorer->outputs == 0 && scorer->levels == NULL;
}

static tvlm_status check(const tvlm_stack *stack, const struct tvlm_score_params *params) {
    const tvlm_log *const log = tvlm_stack_log(stack);
    const tvlm_scorer *const scorer = params->scorer;
    const tvlm_network *const network = scorer->network;
    TVLM_CHECK_RESERVED(log, tvlm_scorer, scorer);
    if (params->weights != NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "weights and a scorer: a scorer has weights of its own");
    if (!is_network_alone(scorer))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a scorer that is a network, and has weights beside it, which would be ignored");
    TVLM_TRY(tvlm_network_check(network, log));
    if (network->output_count > 1 + TVLM_USER_PLANES_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a scorer of %d outputs; 1 to %d are possible",
                         (int)network->output_count, 1 + TVLM_USER_PLANES_MAX);
    for (int32_t i = 0; i < network->layer_count; ++i)
        if (network->layers[i].stride != 1)
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                             "layer %d of a scorer's network has a stride of %d; it makes a value for each "
                             "candidate",
                             (int)i, (int)network->layers[i].stride);
    return TVLM_OK;
}

/* Finds the channels of the inputs, as references into a bundle. A channel without input reads as 0. */
static tvlm_status find_inputs(tvlm_stack *stack, int32_t index, bool asked, const tvlm_network *network,
                               tvlm_bundle *bundle, int32_t refs[TVLM_NETWORK_INPUTS_MAX]) {
    int32_t channels[TVLM_NETWORK_INPUTS_MAX], taken;
    const int32_t count = (network->input_count + 3) / 4 * 4;
    for (int32_t i = 0; i < count; ++i) {
        bool has = false;
        if (i < network->input_count)
            TVLM_TRY(tvlm_scorer_find_input(stack, index, network->inputs[i], asked, &has));
        channels[i] = has ? network->inputs[i] : TVLM_CHANNEL_NONE;
    }
    TVLM_TRY(tvlm_stack_make(stack, index, tvlm_stack_grids_of(stack, channels, count)));
    tvlm_stack_bundle(stack, index, channels, count, bundle, refs, &taken);
    if (taken == count) return TVLM_OK;
    return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_UNSUPPORTED,
                     "a scorer that reads more than %d textures; read fewer families",
                     (int)tvlm_stack_bundle_limit(stack));
}

/* Packs what the network reads of each candidate. */
static tvlm_status pack_inputs(tvlm_stack *stack, int32_t index, bool asked, const tvlm_network *network,
                               const tvlm_candidates *candidates, tvlm_texture **inputs) {
    tvlm_device *const device = tvlm_stack_device(stack);
    const tvlm_texture shape = {.width = candidates->columns,
                                .height = candidates->rows,
                                .layers = (network->input_count + 3) / 4,
                                .images = 1,
                                .levels = 1,
                                .format = tvlm_stack_texel_format(stack),
                                .extent_x = (float)candidates->columns * candidates->step_x,
                                .extent_y = (float)candidates->rows * candidates->step_y};
    int32_t refs[TVLM_NETWORK_INPUTS_MAX];
    tvlm_bundle bundle;
    TVLM_TRY(find_inputs(stack, index, asked, network, &bundle, refs));
    TVLM_TRY(tvlm_stack_candidates(stack, &shape, inputs));
    return device->backend->pack_slot(device, &bundle, refs, candidates->level, candidates->image, 0,
                                      *inputs);
}

/* Makes all outputs. *scores belongs to the stack. `asked`: there is a question, which has been put to the
 * image. */
static tvlm_status make_outputs(tvlm_stack *stack, bool asked, const struct tvlm_score_params *params,
                                const tvlm_candidates *candidates, tvlm_buffer **scores) {
    tvlm_device *const device = tvlm_stack_device(stack);
    const tvlm_network *const network = params->scorer->network;
    const size_t bytes = (size_t)tvlm_candidate_count(candidates) * sizeof(float);
    tvlm_texture *inputs;
    tvlm_buffer *planes;
    TVLM_TRY(pack_inputs(stack, params->index, asked, network, candidates, &inputs));
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_OUTPUTS, (size_t)network->output_count * bytes, &planes));
    TVLM_TRY(device->backend->lab->network(device, network, inputs, planes));
    TVLM_TRY(tvlm_stack_scores(stack, params->index, candidates, scores));
    TVLM_TRY(device->backend->buffer_copy(device, planes, 0, *scores, 0, bytes));
    return tvlm_outputs_keep(stack, params, candidates, network->output_count, planes, bytes);
}

tvlm_status tvlm_score_by_network(tvlm_stack *stack, const struct tvlm_query *query, bool ask,
                                  const struct tvlm_score_params *params, const tvlm_candidates *candidates,
                                  const tvlm_ranking *ranking, tvlm_buffer **scores) {
    TVLM_TRY(check(stack, params));
    if (ask) TVLM_TRY(tvlm_query_upload(stack, params->index, query));
    TVLM_TRY(make_outputs(stack, query != NULL, params, candidates, scores));
    return tvlm_score_finish(stack, params, candidates, ranking, *scores);
}
