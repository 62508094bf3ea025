/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts what a score reads: texels of the layers that its channels lie in, and vectors of the features. What
 * caches save is not taken off, so a texel that several places read counts for each of them.
 */
#include <math.h>

#include "core/learned.h"
#include "core/try.h"
#include "select/cost.h"
#include "stack/embedding.h"
#include "stack/features.h"
#include "stack/grids.h"
#include "stack/query.h"

/* Whether a channel of the same part, before place `at` of the program, lies in the same layer of a texture.
 * Such a layer is read once, however many of its channels a part has. */
static bool counted_before(const tvlm_stack *stack, const tvlm_score_program *p, int32_t at) {
    const tvlm_channel_place place = tvlm_stack_place(stack, p->channels[at]);
    for (int32_t i = 0; i < at; ++i) {
        if (p->channels[i] == TVLM_CHANNEL_NONE) continue;
        const tvlm_channel_place other = tvlm_stack_place(stack, p->channels[i]);
        const bool same_part = p->groups[i / 4].part == p->groups[at / 4].part;
        if (other.grid == place.grid && other.layer == place.layer && same_part) return true;
    }
    return false;
}

/* A sample reads four texels of a level. Where it lies between two levels, it reads four of each. */
static size_t sample_bytes(const tvlm_device *device, const tvlm_texture *texture, float level) {
    const float bias = fmaxf(log2f(texture->extent_x / (float)texture->width),
                             log2f(texture->extent_y / (float)texture->height));
    const float own = fminf(fmaxf(level - fmaxf(bias, 0.0f), 0.0f), (float)(texture->levels - 1));
    return 4 * tvlm_texel_bytes(device, texture) * (own > floorf(own) ? 2 : 1);
}

size_t tvlm_cost_of_candidate(const tvlm_stack *stack, int32_t index, const tvlm_score_program *program,
                              float level) {
    size_t bytes = 0;
    for (int32_t i = 0; i < 4 * program->count; ++i) {
        if (program->channels[i] == TVLM_CHANNEL_NONE) continue;
        const tvlm_channel_place place = tvlm_stack_place(stack, program->channels[i]);
        if (place.grid >= TVLM_GRID_COUNT) continue;
        const tvlm_texture *const texture = tvlm_stack_made(stack, index, place.grid);
        if (texture == NULL) continue;
        const size_t taps = (size_t)program->groups[i / 4].taps;
        const size_t layers = tvlm_grid_is_unit(place.grid) ? (size_t)texture->layers : 1;
        if (!counted_before(stack, program, i))
            bytes += taps * layers * sample_bytes(tvlm_stack_device(stack), texture, level);
    }
    return bytes;
}

/* The texels of vectors always have four components: vectors are never stored as scalars. */
size_t tvlm_cost_of_vector(const tvlm_features *features) {
    const size_t texel = 4 * tvlm_component_bytes(tvlm_texture_format(features->texture));
    return (size_t)features->texture->layers * texel + sizeof(float);
}

/* A query of one vector reads all vectors of the image once. A query of several vectors reads a matrix of
 * floats that holds the image's vectors, once for the whole query. */
static tvlm_status answer_bytes(tvlm_stack *stack, int32_t index, const struct tvlm_query *query,
                                size_t *bytes) {
    tvlm_features features;
    TVLM_TRY(query->basis != NULL ? tvlm_stack_embedded(stack, index, &features)
                                  : tvlm_stack_features(stack, index, &features));
    const size_t cells = (size_t)features.texture->width * (size_t)features.texture->height;
    const size_t one = query->count > 1 ? (size_t)features.dimension * sizeof(float) + sizeof(float)
                                        : tvlm_cost_of_vector(&features);
    *bytes += cells * one;
    return TVLM_OK;
}

/* A program that reads what a score reads. A network reads each of its inputs once at a candidate. */
static tvlm_status reading(const tvlm_stack *stack, const struct tvlm_query *query,
                           const struct tvlm_score_params *params, tvlm_score_program *program) {
    float ones[TVLM_LEARNED_INPUTS_MAX];
    if (params->scorer == NULL || params->scorer->network == NULL)
        return tvlm_score_program_make(stack, query, params, program);
    const tvlm_learned network = tvlm_networks.describe(params->scorer->network);
    const tvlm_scorer inputs = {.channel_count = network.input_count,
                                .channels = network.inputs,
                                .taps = 1,
                                .weights = ones,
                                .outputs = 1};
    for (int32_t i = 0; i < network.input_count; ++i) ones[i] = 1.0f;
    return tvlm_score_program_linear(stack, params->index, &inputs, query != NULL, program);
}

tvlm_status tvlm_cost_of_score(tvlm_stack *stack, const struct tvlm_query *query,
                               const struct tvlm_score_params *params, const tvlm_candidates *candidates,
                               size_t *bytes) {
    const size_t outputs =
        params->scorer != NULL && params->scorer->outputs > 1 ? (size_t)params->scorer->outputs : 1;
    tvlm_score_program program;
    tvlm_status status = reading(stack, query, params, &program);
    *bytes = 0;
    if (status == TVLM_OK)
        *bytes = outputs * (size_t)tvlm_candidate_count(candidates) *
                 tvlm_cost_of_candidate(stack, params->index, &program, candidates->level);
    if (status == TVLM_OK && query != NULL && tvlm_query_has_vectors(query))
        status = answer_bytes(stack, params->index, query, bytes);
    tvlm_score_program_free(&program);
    return status;
}
