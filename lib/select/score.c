/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scores as programs for the backend: groups of up to four channels, added to parts, combined.
 */
#include "select/score.h"

#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/learned.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "select/mapped.h"
#include "select/outputs.h"
#include "select/pass.h"
#include "select/scorer.h"
#include "stack/bundle.h"
#include "stack/frame.h"
#include "stack/grids.h"
#include "stack/make.h"
#include "stack/query.h"

#define CENTRE (TVLM_SCORE_TAPS / 2)

/* ---- Candidates ---- */

static tvlm_status dense_candidates(const tvlm_stack *stack, int32_t level, tvlm_candidates *candidates) {
    int32_t width, height;
    TVLM_TRY(tvlm_stack_level_size(stack, level, &width, &height));
    *candidates = (tvlm_candidates){width,
                                    height,
                                    (float)tvlm_stack_width(stack) / (float)width,
                                    (float)tvlm_stack_height(stack) / (float)height,
                                    (float)level,
                                    0};
    return TVLM_OK;
}

/* Every cell begins inside the image. The last one may be clipped, but it is never empty. */
static int32_t cells_along(int32_t side, float stride) {
    return (int32_t)ceil((double)side / (double)stride);
}

static tvlm_status cell_candidates(const tvlm_stack *stack, float stride, tvlm_candidates *candidates) {
    if (stride == 0.0f) stride = TVLM_STRIDE_DEFAULT;
    if (!(stride >= 1.0f) || !isfinite(stride))
        return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_ARGUMENT, "stride %g; it is at least 1 pixel",
                         (double)stride);
    const float level = fminf(log2f(stride), (float)(tvlm_stack_levels(stack) - 1));
    *candidates = (tvlm_candidates){cells_along(tvlm_stack_width(stack), stride),
                                    cells_along(tvlm_stack_height(stack), stride),
                                    stride,
                                    stride,
                                    level,
                                    0};
    return TVLM_OK;
}

tvlm_status tvlm_score_candidates(const tvlm_stack *stack, const struct tvlm_score_params *params,
                                  tvlm_candidates *candidates) {
    const tvlm_log *const log = tvlm_stack_log(stack);
    TVLM_CHECK_RESERVED(log, tvlm_score_params, params);
    TVLM_TRY(tvlm_stack_check_index(stack, params->index));
    if (params->dense && params->stride != 0.0f)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a stride of %g with dense: the candidates are the texels of a level",
                         (double)params->stride);
    if (!params->dense && params->level != 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "level %d without dense: the candidates are the cells of a stride",
                         (int)params->level);
    if (params->dense)
        TVLM_TRY(dense_candidates(stack, params->level, candidates));
    else
        TVLM_TRY(cell_candidates(stack, params->stride, candidates));
    if ((int64_t)candidates->columns * candidates->rows > INT32_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d x %d candidates are too many",
                         (int)candidates->columns, (int)candidates->rows);
    candidates->image = tvlm_stack_image_number(stack, params->index);
    return TVLM_OK;
}

static double cell_centre(int32_t c, float step, int32_t side) {
    const double begin = c * (double)step, end = fmin((c + 1) * (double)step, (double)side);
    return 0.5 * (begin + end);
}

void tvlm_candidate_centre(const tvlm_stack *stack, const tvlm_candidates *candidates, int32_t number,
                           double *x, double *y) {
    /* NOLINTNEXTLINE(clang-analyzer-*): there is a column where there is a candidate */
    const int32_t column = number % candidates->columns, row = number / candidates->columns;
    *x = cell_centre(column, candidates->step_x, tvlm_stack_width(stack));
    *y = cell_centre(row, candidates->step_y, tvlm_stack_height(stack));
}

/* ---- Programs ---- */

typedef tvlm_score_program program;

void tvlm_score_program_free(tvlm_score_program *p) {
    free(p->groups);
    free(p->channels);
    free(p->refs);
}

static tvlm_status program_allocate(const tvlm_log *log, program *p, int32_t capacity) {
    p->capacity = capacity;
    p->groups = tvlm_allocate((size_t)capacity, sizeof *p->groups);
    p->channels = tvlm_allocate((size_t)capacity, 4 * sizeof *p->channels);
    p->refs = tvlm_allocate((size_t)capacity, 4 * sizeof *p->refs);
    if (p->groups != NULL && p->channels != NULL && p->refs != NULL) return TVLM_OK;
    return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for a scorer of %d channels", 4 * (int)capacity);
}

static tvlm_score_group *add_group(program *p, int32_t part, int32_t taps) {
    tvlm_score_group *group = &p->groups[p->count];
    for (int c = 0; c < 4; ++c) {
        p->channels[4 * p->count + c] = TVLM_CHANNEL_NONE;
        group->cap[c] = INFINITY;
    }
    group->part = part;
    group->taps = taps;
    ++p->count;
    return group;
}

/* Sets a term of the default: `weight` times the channel at the candidate itself, at most `cap`. */
static void set_term(program *p, tvlm_score_group *group, int place, int32_t channel, float weight,
                     float cap) {
    p->channels[4 * (group - p->groups) + place] = channel;
    group->weight[CENTRE][place] = weight;
    group->cap[place] = cap;
}

/*
 * The three parts of doc/channels.md, "Scores". Constants fall away, since each part is brought to [0, 1]:
 *   I = 0.5 entropy + 0.5 min(1, 4 edges) = 0.5 entropy + min(0.5, 2 edges)
 *   P = 0.7 saliency + 0.3 (1 - eccentricity), of which 0.7 saliency - 0.3 eccentricity is left
 *   Q = query_similarity, where there is a query
 */
static void three_parts(program *p, const float weights[3], bool query) {
    tvlm_score_group *group;
    if (weights[0] > 0.0f) {
        group = add_group(p, 0, 1);
        set_term(p, group, 0, TVLM_CHANNEL_ENTROPY, TVLM_SCORE_ENTROPY, INFINITY);
        set_term(p, group, 1, TVLM_CHANNEL_EDGES, TVLM_SCORE_EDGES * TVLM_SCORE_EDGES_GAIN, TVLM_SCORE_EDGES);
    }
    if (weights[1] > 0.0f) {
        group = add_group(p, 1, 1);
        set_term(p, group, 0, TVLM_CHANNEL_SALIENCY, TVLM_SCORE_SALIENCY, INFINITY);
        set_term(p, group, 1, TVLM_CHANNEL_ECCENTRICITY, -TVLM_SCORE_ECCENTRICITY, INFINITY);
    }
    if (weights[2] > 0.0f && query)
        set_term(p, add_group(p, 2, 1), 0, TVLM_CHANNEL_QUERY_SIMILARITY, 1.0f, INFINITY);
    for (int32_t g = 0; g < p->count; ++g) {
        const int32_t part = p->groups[g].part;
        p->combination.weight[part] = weights[part];
        p->combination.normalise[part] = true;
    }
}

static tvlm_status three_part_program(const tvlm_log *log, const float *weights, bool query, program *p) {
    static const float still[3] = TVLM_WEIGHTS_STILL, asked[3] = TVLM_WEIGHTS_QUERY;
    if (weights == NULL) weights = query ? asked : still;
    TVLM_TRY(tvlm_check_weights(log, weights));
    TVLM_TRY(program_allocate(log, p, TVLM_SCORE_PARTS));
    three_parts(p, weights, query);
    return TVLM_OK;
}

/* ---- Linear scorers ---- */

/* Gives the next channel of a linear program its place, *used, and the group that it lies in. */
static tvlm_score_group *next_place(program *p, int32_t taps, int32_t *used, int *place, int32_t channel) {
    *place = (int)(*used % 4);
    tvlm_score_group *group = *place == 0 ? add_group(p, 0, taps) : &p->groups[p->count - 1];
    p->channels[*used] = channel;
    ++*used;
    return group;
}

tvlm_status tvlm_score_program_linear(const tvlm_stack *stack, int32_t index, const tvlm_scorer *scorer,
                                      bool query, tvlm_score_program *p) {
    int32_t used = 0;
    int place;
    *p = (program){0};
    TVLM_TRY(program_allocate(tvlm_stack_log(stack), p, scorer->channel_count / 4 + 1));
    for (int32_t c = 0; c < scorer->channel_count; ++c) {
        bool has = false;
        if (tvlm_scorer_reads(scorer, c))
            TVLM_TRY(tvlm_scorer_find_input(stack, index, scorer->channels[c], query, &has));
        if (!has) continue;
        tvlm_score_group *group = next_place(p, scorer->taps, &used, &place, scorer->channels[c]);
        const float *weights = scorer->weights + (size_t)c * (size_t)scorer->taps;
        if (scorer->levels != NULL && scorer->levels[c] >= 0.0f) {
            group->has_level[place] = true;
            group->level[place] = fminf(scorer->levels[c], (float)(tvlm_stack_levels(stack) - 1));
        }
        if (scorer->taps == 1) group->weight[CENTRE][place] = weights[0];
        for (int32_t tap = 0; scorer->taps > 1 && tap < scorer->taps; ++tap)
            group->weight[tap][place] = weights[tap];
    }
    if (query && scorer->similarity_weight != 0.0f) {
        tvlm_score_group *group = next_place(p, scorer->taps, &used, &place, TVLM_CHANNEL_QUERY_SIMILARITY);
        group->weight[CENTRE][place] = scorer->similarity_weight;
    }
    p->combination.bias = scorer->bias;
    p->combination.weight[0] = 1.0f;
    return TVLM_OK;
}

tvlm_status tvlm_score_program_make(const tvlm_stack *stack, const struct tvlm_query *query,
                                    const struct tvlm_score_params *params, tvlm_score_program *p) {
    const tvlm_log *log = tvlm_stack_log(stack);
    const bool asked = query != NULL;
    tvlm_scorer scorer;
    float *weights = NULL;
    *p = (program){0};
    if (params->scorer == NULL) return three_part_program(log, params->weights, asked, p);
    if (params->scorer->network != NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a scorer that is a network: no weights say what each channel adds to its score");
    TVLM_TRY(tvlm_scorer_for_query(stack, params, query, &scorer, &weights));
    scorer = tvlm_scorer_output(&scorer, 0);
    const tvlm_status status = tvlm_score_program_linear(stack, params->index, &scorer, asked, p);
    free(weights);
    return status;
}

/* ---- Running ---- */

/* Whether positions at a level of the image read further levels of a texture than its level 0. Kernels find
 * in float where level 0 ends, and the reference in double. It is true if either reads further levels. */
static bool reads_levels(const tvlm_texture *texture, float level) {
    const float x = texture->extent_x / (float)texture->width, y = texture->extent_y / (float)texture->height;
    const double wide = (double)texture->extent_x / texture->width;
    const double high = (double)texture->extent_y / texture->height;
    return level > fmaxf(0.0f, fmaxf(log2f(x), log2f(y))) || level > fmax(0.0, fmax(log2(wide), log2(high)));
}

/* The highest level of the image at which a program reads a channel, where candidates are at `level`. */
static float highest_level(const program *p, int32_t channel, float level) {
    float highest = 0.0f;
    for (int32_t i = 0; i < 4 * p->count; ++i) {
        const tvlm_score_group *const group = &p->groups[i / 4];
        if (p->channels[i] == channel)
            highest = fmaxf(highest, group->has_level[i % 4] ? group->level[i % 4] : level);
    }
    return highest;
}

/* The grids of the program's channels that are to be made. The query's level 0 is made elsewhere (query.c).
 * If no further level is read, its grid is left out. */
static tvlm_grid_mask grids_to_make(const tvlm_stack *stack, int32_t index, const program *p, float level) {
    const tvlm_grid_mask mask = tvlm_stack_grids_of(stack, p->channels, 4 * p->count);
    const tvlm_texture *query = tvlm_stack_made(stack, index, TVLM_GRID_QUERY);
    if (query == NULL || reads_levels(query, highest_level(p, TVLM_CHANNEL_QUERY_SIMILARITY, level)))
        return mask;
    return mask & ~TVLM_GRID_BIT(TVLM_GRID_QUERY);
}

/* If all weights are 0, there is one group, which adds 0. So backends need no special case for this. */
static tvlm_status resolve_refs(tvlm_stack *stack, int32_t index, program *p, float level,
                                tvlm_bundle *bundle) {
    int32_t taken;
    if (p->count == 0) (void)add_group(p, 0, 1);
    TVLM_TRY(tvlm_stack_make(stack, index, grids_to_make(stack, index, p, level)));
    tvlm_stack_bundle(stack, index, p->channels, 4 * p->count, bundle, p->refs, &taken);
    if (taken < 4 * p->count)
        return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_UNSUPPORTED,
                         "a scorer that reads more than %d textures; give weight to fewer families",
                         (int)tvlm_stack_bundle_limit(stack));
    for (int32_t g = 0; g < p->count; ++g)
        memcpy(p->groups[g].refs, p->refs + 4 * (size_t)g, sizeof p->groups[g].refs);
    return TVLM_OK;
}

/* Brings to the device what a stream adds to the scores of positions that stay (lib/video/stream_steady.c).
 * *bonus is NULL where the stream adds nothing to these candidates. */
static tvlm_status bring_bonus(tvlm_stack *stack, int32_t index, const tvlm_candidates *candidates,
                               tvlm_buffer **bonus) {
    const tvlm_backend *backend = tvlm_stack_device(stack)->backend;
    const float *values = tvlm_stack_bonus(stack, index, candidates);
    const size_t bytes = (size_t)tvlm_candidate_count(candidates) * sizeof *values;
    *bonus = NULL;
    if (values == NULL) return TVLM_OK;
    TVLM_TRY(tvlm_stack_scratch(stack, TVLM_SCRATCH_SAMPLES, bytes, bonus));
    return backend->buffer_write(tvlm_stack_device(stack), *bonus, 0, bytes, values);
}

/* Notes that the image has scores, and keeps them for the next pass where that is asked for. */
static tvlm_status keep(tvlm_stack *stack, const struct tvlm_score_params *params,
                        const tvlm_candidates *candidates, tvlm_buffer *scores) {
    tvlm_stack_mark_scored(stack, params->index);
    return params->keep_pass ? tvlm_pass_keep(stack, params->index, candidates, scores) : TVLM_OK;
}

/* Ranks scores in a buffer, if a ranking is asked for. */
static tvlm_status rank(tvlm_stack *stack, const tvlm_candidates *candidates, tvlm_buffer *scores,
                        const tvlm_ranking *ranking) {
    tvlm_device *const device = tvlm_stack_device(stack);
    if (ranking == NULL) return TVLM_OK;
    return device->backend->topk(device, scores, tvlm_candidate_count(candidates), ranking->k,
                                 ranking->result);
}

tvlm_status tvlm_score_finish(tvlm_stack *stack, const struct tvlm_score_params *params,
                              const tvlm_candidates *candidates, const tvlm_ranking *ranking,
                              tvlm_buffer *scores) {
    tvlm_device *const device = tvlm_stack_device(stack);
    tvlm_buffer *bonus;
    TVLM_TRY(bring_bonus(stack, params->index, candidates, &bonus));
    if (bonus != NULL)
        TVLM_TRY(device->backend->score_add(device, scores, bonus, tvlm_candidate_count(candidates)));
    TVLM_TRY(rank(stack, candidates, scores, ranking));
    return keep(stack, params, candidates, scores);
}

tvlm_status tvlm_score_map(tvlm_stack *stack, int32_t index, const tvlm_candidates *candidates,
                           tvlm_score_program *p, tvlm_buffer *scores) {
    tvlm_device *device = tvlm_stack_device(stack);
    tvlm_bundle bundle;
    TVLM_TRY(resolve_refs(stack, index, p, candidates->level, &bundle));
    return device->backend->score(device, &bundle, p->groups, p->count, &p->combination, candidates, NULL,
                                  scores);
}

/* What scores are made of. Where two of these are equal byte for byte, the scores are equal, too. Textures
 * hold the same values as long as none of their grids went out of date. */
typedef struct ingredients {
    const tvlm_texture *textures[TVLM_BUNDLE_MAX];
    uint64_t outdated;
    tvlm_candidates candidates;
    float view[8]; /* size of the image, fixation, what is farthest from it, and rotary positions */
    float bias, weight[TVLM_SCORE_PARTS];
    int32_t normalise[TVLM_SCORE_PARTS];
    tvlm_score_group groups[]; /* the program's */
} ingredients;

/*
 * Returns what the scores are made of, or NULL where that cannot be said:
 * - where they read the answer to a question, which comes from the caller's vectors,
 * - where a bonus is added to the scores themselves,
 * - where there is no memory.
 */
static ingredients *ingredients_of(const tvlm_stack *stack, int32_t index, const tvlm_candidates *candidates,
                                   const program *p, const tvlm_bundle *bundle, size_t *bytes) {
    const tvlm_grid_mask mask = tvlm_stack_grids_of(stack, p->channels, 4 * p->count);
    const float view[8] = {bundle->width,
                           bundle->height,
                           bundle->fixation_x,
                           bundle->fixation_y,
                           bundle->farthest,
                           bundle->rope.theta,
                           (float)bundle->rope.dimension,
                           bundle->rope.patch};
    if ((mask & TVLM_GRID_BIT(TVLM_GRID_QUERY)) != 0 || tvlm_stack_bonus(stack, index, candidates) != NULL)
        return NULL;
    *bytes = sizeof(ingredients) + (size_t)p->count * sizeof *p->groups;
    ingredients *made_of = tvlm_allocate(*bytes, 1);
    if (made_of == NULL) return NULL;
    for (int32_t i = 0; i < bundle->count; ++i) made_of->textures[i] = bundle->textures[i];
    made_of->outdated = tvlm_stack_outdated(stack, index, mask);
    made_of->candidates = *candidates;
    memcpy(made_of->view, view, sizeof view);
    made_of->bias = p->combination.bias;
    for (int part = 0; part < TVLM_SCORE_PARTS; ++part) {
        made_of->weight[part] = p->combination.weight[part];
        made_of->normalise[part] = p->combination.normalise[part];
    }
    memcpy(made_of->groups, p->groups, (size_t)p->count * sizeof *p->groups);
    return made_of;
}

static tvlm_status compute(tvlm_stack *stack, int32_t index, const tvlm_candidates *candidates, program *p,
                           const tvlm_bundle *bundle, const tvlm_ranking *ranking, tvlm_buffer **scores) {
    tvlm_device *device = tvlm_stack_device(stack);
    TVLM_TRY(tvlm_stack_scores(stack, index, candidates, scores));
    TVLM_TRY(bring_bonus(stack, index, candidates, &p->combination.bonus));
    return device->backend->score(device, bundle, p->groups, p->count, &p->combination, candidates, ranking,
                                  *scores);
}

/* Makes the scores, unless scores made of the same are there already. */
static tvlm_status run(tvlm_stack *stack, const struct tvlm_score_params *params,
                       const tvlm_candidates *candidates, program *p, const tvlm_ranking *ranking,
                       tvlm_buffer **scores) {
    const int32_t index = params->index;
    tvlm_bundle bundle;
    size_t bytes = 0;
    tvlm_status status = TVLM_OK;
    TVLM_TRY(resolve_refs(stack, index, p, candidates->level, &bundle));
    ingredients *made_of = ingredients_of(stack, index, candidates, p, &bundle, &bytes);
    *scores = tvlm_stack_scores_of(stack, index, made_of, bytes);
    if (*scores == NULL)
        status = compute(stack, index, candidates, p, &bundle, ranking, scores);
    else
        status = rank(stack, candidates, *scores, ranking);
    if (status == TVLM_OK) status = keep(stack, params, candidates, *scores);
    if (status == TVLM_OK)
        tvlm_stack_scores_made_of(stack, index, made_of, bytes);
    else
        free(made_of);
    return status;
}

/* Scores by one program. With `ask` the question is put to the image first. */
static tvlm_status score_by_program(tvlm_stack *stack, const struct tvlm_query *query, bool ask,
                                    const struct tvlm_score_params *params, const tvlm_candidates *candidates,
                                    const tvlm_ranking *ranking, tvlm_buffer **scores) {
    program p;
    tvlm_status status = tvlm_score_program_make(stack, query, params, &p);
    if (status == TVLM_OK && ask) status = tvlm_query_upload(stack, params->index, query);
    if (status == TVLM_OK) status = run(stack, params, candidates, &p, ranking, scores);
    tvlm_score_program_free(&p);
    return status;
}

static tvlm_status score(tvlm_stack *stack, const struct tvlm_query *query, bool ask,
                         const struct tvlm_score_params *params, const tvlm_candidates *candidates,
                         const tvlm_ranking *ranking, tvlm_buffer **scores) {
    const struct tvlm_network *const network = params->scorer != NULL ? params->scorer->network : NULL;
    if (network != NULL && tvlm_network_scorer == NULL)
        return tvlm_learned_check(network, tvlm_stack_log(stack));
    if (network != NULL) return tvlm_network_scorer(stack, query, ask, params, candidates, ranking, scores);
    TVLM_TRY(score_by_program(stack, query, ask, params, candidates, ranking, scores));
    return params->scorer != NULL && params->scorer->outputs > 1
               ? tvlm_outputs_of_linear(stack, query, params, candidates)
               : TVLM_OK;
}

tvlm_status tvlm_score_enqueue(tvlm_stack *stack, const struct tvlm_query *query,
                               const struct tvlm_score_params *params, const tvlm_candidates *candidates,
                               const tvlm_ranking *ranking, tvlm_buffer **scores) {
    return score(stack, query, true, params, candidates, ranking, scores);
}

tvlm_status tvlm_score_again(tvlm_stack *stack, const struct tvlm_query *query,
                             const struct tvlm_score_params *params, const tvlm_candidates *candidates,
                             const tvlm_ranking *ranking, tvlm_buffer **scores) {
    return score(stack, query, false, params, candidates, ranking, scores);
}

/* ---- score.h ---- */

static const struct tvlm_score_params defaults = {0};

tvlm_status tvlm_score_size(const tvlm_stack *stack, const struct tvlm_score_params *params, int32_t *columns,
                            int32_t *rows) {
    tvlm_candidates candidates;
    TVLM_NEED(NULL, stack);
    TVLM_NEED(tvlm_stack_log(stack), columns);
    TVLM_NEED(tvlm_stack_log(stack), rows);
    TVLM_TRY(tvlm_score_candidates(stack, params != NULL ? params : &defaults, &candidates));
    *columns = candidates.columns;
    *rows = candidates.rows;
    return TVLM_OK;
}

tvlm_status tvlm_score(tvlm_stack *stack, const struct tvlm_query *query,
                       const struct tvlm_score_params *params, size_t capacity, float *scores) {
    tvlm_candidates candidates;
    tvlm_buffer *buffer = NULL;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    TVLM_NEED(tvlm_stack_log(stack), scores);
    if (params == NULL) params = &defaults;
    TVLM_TRY(tvlm_score_candidates(stack, params, &candidates));
    const size_t count = (size_t)tvlm_candidate_count(&candidates);
    if (capacity < count)
        return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_ARGUMENT,
                         "room for %zu scores; there are %zu candidates", capacity, count);
    tvlm_device *device = tvlm_stack_device(stack);
    TVLM_TRY(tvlm_score_enqueue(stack, query, params, &candidates, NULL, &buffer));
    return device->backend->buffer_read(device, buffer, 0, count * sizeof *scores, scores);
}
