/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/jobs.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/try.h"
#include "core/tuner.h"
#include "stack/frame.h"

enum { DIMENSION = 768, QUERIES = 100, PATCH = 16, BEST = TVLM_K_DEFAULT };

static const int32_t stages[] = {
    TVLM_TUNED_LEVELS,   TVLM_TUNED_SOURCE,  TVLM_GRID_VISUAL,    TVLM_GRID_SALIENCY,  TVLM_TUNED_SCORE,
    TVLM_TUNED_TOPK,     TVLM_TUNED_LOSSES,  TVLM_GRID_ENTROPY,   TVLM_GRID_LAPLACIAN, TVLM_GRID_GRADIENT,
    TVLM_GRID_DISTANCE,  TVLM_GRID_TEXT,     TVLM_GRID_CLUSTER,   TVLM_GRID_SHARPNESS, TVLM_TUNED_FLOW,
    TVLM_GRID_MOTION,    TVLM_GRID_TEMPORAL, TVLM_GRID_OCCLUSION, TVLM_GRID_NORMAL,    TVLM_TUNED_FEATURES,
    TVLM_TUNED_PRODUCTS, TVLM_TUNED_PATCHES, TVLM_TUNED_PACK,     TVLM_TUNED_EXPORT};

int32_t tvlm_tune_job_count(void) {
    return (int32_t)(sizeof stages / sizeof *stages);
}

int32_t tvlm_tune_job_stage(int32_t number) {
    return stages[number];
}

int32_t tvlm_tune_job_side(int32_t stage, int32_t size) {
    static const int32_t sides[TVLM_TUNED_SIZES] = {512, 1024, 2560};
    if (stage == TVLM_TUNED_EXPORT && size == 2) return 0; /* models do not take pictures of that size */
    return sides[size];
}

static float noise(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / 16777216.0f;
}

static float *random_values(size_t count) {
    uint32_t state = 1;
    float *values = tvlm_allocate(count, sizeof *values);
    for (size_t i = 0; values != NULL && i < count; ++i) values[i] = noise(&state) - 0.5f;
    return values;
}

static tvlm_status no_memory(const tune_job *job) {
    return tvlm_fail(&job->device->log, TVLM_ERROR_MEMORY, "out of memory for a picture to tune with");
}

/* Draws blocks of several sizes and some noise, so that the picture has flat areas, edges and texture. */
static tvlm_status draw(tune_job *job) {
    uint32_t state = 1;
    const int32_t side = job->side;
    job->pixels = tvlm_allocate(3 * (size_t)side, (size_t)side);
    if (job->pixels == NULL) return no_memory(job);
    uint8_t *at = job->pixels;
    for (int32_t y = 0; y < side; ++y)
        for (int32_t x = 0; x < side; ++x)
            for (int32_t c = 0; c < 3; ++c) {
                const int32_t block = ((x >> 5) * 7 + (y >> 4) * 5 + c * 3) % 11, slope = (x + 2 * y) >> 4;
                const float grain = (x ^ y) & 256 ? 40.0f * noise(&state) : 0.0f;
                *at++ = (uint8_t)((14 * block + slope % 50 + (int32_t)grain) & 255);
            }
    job->image = (tvlm_image){.pixels = job->pixels, .width = side, .height = side, .channels = 3};
    return TVLM_OK;
}

static tvlm_status make_stack(tune_job *job, const char *layout) {
    return tvlm_stack_create_for_image(job->device, &job->image, tvlm_stack_params(.layout = layout),
                                       &job->stack);
}

/* ---- Families ---- */

/* Lists the names of a grid's channels that are available. Returns the first of these channels. */
static int32_t list_channels(int32_t grid, char *names, size_t size) {
    int32_t first = -1;
    size_t length = 0;
    names[0] = '\0';
    for (int32_t channel = 0; channel < TVLM_CHANNEL_USER_0; ++channel) {
        tvlm_channel_info info;
        if ((int32_t)tvlm_channel_get_place(channel).grid != grid ||
            tvlm_channel_get_info(channel, &info) != TVLM_OK || !info.available)
            continue;
        if (first < 0) first = channel;
        length += (size_t)snprintf(names + length, size - length, "%s%s", length > 0 ? "," : "", info.name);
    }
    return first;
}

/* Gives the stack an earlier frame in which positions were selected, a flow to that frame at half the size,
 * and a depth. */
static tvlm_status make_past(tune_job *job) {
    const int32_t side = job->side, half = side / 2;
    tvlm_selection *selection = NULL;
    job->values = random_values((size_t)side * (size_t)side);
    if (job->values == NULL) return no_memory(job);
    for (size_t i = 0; i < (size_t)side * (size_t)side; ++i) job->values[i] += 1.0f;
    TVLM_TRY(tvlm_select(job->stack, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID), &selection));
    tvlm_selection_destroy(&selection);
    TVLM_TRY(tvlm_stack_advance(job->stack, 0, NULL));
    TVLM_TRY(tvlm_stack_set_image(job->stack, 0, &job->image));
    TVLM_TRY(tvlm_stack_set_grid(
        job->stack, 0, TVLM_CHANNEL_FLOW_U,
        tvlm_grid_input(.data = job->values, .columns = half, .rows = half, .channels = 3)));
    return tvlm_stack_set_grid(job->stack, 0, TVLM_CHANNEL_DEPTH,
                               tvlm_grid_input(.data = job->values, .columns = side, .rows = side));
}

static bool has_past(int32_t stage) {
    return stage == TVLM_GRID_MOTION || stage == TVLM_GRID_TEMPORAL || stage == TVLM_GRID_OCCLUSION ||
           stage == TVLM_GRID_NORMAL;
}

static tvlm_status prepare_family(tune_job *job) {
    char names[1024];
    job->channel = list_channels(job->stage, names, sizeof names);
    TVLM_TRY(make_stack(job, names));
    if (has_past(job->stage)) TVLM_TRY(make_past(job));
    return tvlm_stack_make_all(job->stack);
}

static tvlm_status run_family(tune_job *job) {
    TVLM_TRY(tvlm_stack_invalidate(job->stack, job->channel));
    return tvlm_stack_make_all(job->stack);
}

/* ---- The other stages ---- */

static tvlm_status prepare_image(tune_job *job) {
    return make_stack(job, "r");
}

/* Sets a new image, and makes its levels. */
static tvlm_status run_image(tune_job *job) {
    TVLM_TRY(tvlm_stack_set_image(job->stack, 0, &job->image));
    return tvlm_stack_make_all(job->stack);
}

static tvlm_status choose(tune_job *job, tvlm_strategy strategy, const struct tvlm_query *query) {
    tvlm_selection *selection = NULL;
    const tvlm_status status =
        tvlm_select(job->stack, query, tvlm_select_params(.strategy = strategy), &selection);
    tvlm_selection_destroy(&selection);
    return status;
}

static tvlm_status run_selection(tune_job *job) {
    TVLM_TRY(tvlm_stack_set_image(job->stack, 0, &job->image));
    return choose(job, TVLM_STRATEGY_GRID, NULL);
}

static tvlm_status run_budget(tune_job *job) {
    return choose(job, TVLM_STRATEGY_BUDGET, NULL);
}

static tvlm_status prepare_scores(tune_job *job) {
    TVLM_TRY(make_stack(job, "r"));
    job->out = tvlm_allocate((size_t)job->side * (size_t)job->side / TVLM_TUNED_CELL, sizeof *job->out);
    return job->out != NULL ? TVLM_OK : no_memory(job);
}

static tvlm_status run_scores(tune_job *job) {
    tvlm_stack_scores_made_of(job->stack, 0, NULL, 0); /* otherwise the last scores would be used again */
    return tvlm_score(job->stack, NULL, NULL, (size_t)job->side * (size_t)job->side / TVLM_TUNED_CELL,
                      job->out);
}

/* Makes as many scores as the picture has cells. The largest size has 2^20 scores instead: selections may
 * have to choose from lists that are much longer than that picture's cells. */
static tvlm_status prepare_topk(tune_job *job) {
    job->count = job->side > 2048 ? 1 << 20 : job->side * job->side / TVLM_TUNED_CELL;
    job->values = random_values((size_t)job->count);
    job->out = tvlm_allocate(BEST, sizeof(int32_t));
    return job->values != NULL && job->out != NULL ? TVLM_OK : no_memory(job);
}

static tvlm_status run_topk(tune_job *job) {
    return tvlm_topk(job->device, job->values, job->count, BEST, (int32_t *)job->out, NULL);
}

static tvlm_status prepare_flow(tune_job *job) {
    TVLM_TRY(tvlm_stack_create(
        job->device, tvlm_stack_params(.layout = "r", .width = job->side, .height = job->side, .images = 2),
        &job->stack));
    tvlm_image part = job->image;
    part.row_stride = 3 * (size_t)job->side;
    part.width -= 6;
    part.height -= 6;
    TVLM_TRY(tvlm_stack_set_image(job->stack, 0, &job->image));
    return tvlm_stack_set_image(job->stack, 1, &part);
}

static tvlm_status run_flow(tune_job *job) {
    return tvlm_flow_compute(job->stack, 0, job->stack, 1, NULL, &job->flow);
}

/* Makes features with a cell for each patch. Their first vectors also serve as questions. */
static tvlm_status prepare_features(tune_job *job) {
    const int32_t side = job->side / PATCH;
    job->count = side * side;
    TVLM_TRY(make_stack(job, "r"));
    job->values = random_values((size_t)job->count * DIMENSION);
    job->out = tvlm_allocate((size_t)job->count * QUERIES, sizeof *job->out);
    if (job->values == NULL || job->out == NULL) return no_memory(job);
    return tvlm_stack_set_grid(
        job->stack, 0, TVLM_CHANNEL_FEATURE_0,
        tvlm_grid_input(.data = job->values, .columns = side, .rows = side, .channels = DIMENSION));
}

static tvlm_status run_question(tune_job *job) {
    return choose(job, TVLM_STRATEGY_GRID, tvlm_query(.vectors = job->values, .dimension = DIMENSION));
}

static tvlm_status run_questions(tune_job *job) {
    return tvlm_similarity(job->stack, 0, job->values, QUERIES, DIMENSION, (size_t)job->count * QUERIES,
                           job->out);
}

static tvlm_status prepare_patches(tune_job *job) {
    const int32_t columns = job->side / PATCH;
    job->count = columns * columns;
    job->positions = tvlm_allocate((size_t)job->count, sizeof *job->positions);
    job->out = tvlm_allocate((size_t)job->count * 3 * PATCH * PATCH, sizeof *job->out);
    if (job->positions == NULL || job->out == NULL) return no_memory(job);
    for (int32_t i = 0; i < job->count; ++i)
        job->positions[i] = (tvlm_position){.x = (float)(PATCH * (i % columns)) + 9.5f,
                                            .y = (float)(PATCH * (i / columns)) + 7.25f,
                                            .size = 24.0f};
    return make_stack(job, "r");
}

static tvlm_status run_patches(tune_job *job) {
    return tvlm_patches_extract(job->stack, job->positions, job->count, NULL,
                                (size_t)job->count * 3 * PATCH * PATCH * sizeof *job->out, job->out);
}

static tvlm_status prepare_pack(tune_job *job) {
    TVLM_TRY(make_stack(job, "r,g,b,edges,low,saliency,entropy,text"));
    return tvlm_stack_make_all(job->stack);
}

static tvlm_status run_pack(tune_job *job) {
    tvlm_packed_destroy(&job->packed);
    return tvlm_stack_pack(job->stack, NULL, &job->packed);
}

static tvlm_status prepare_export(tune_job *job) {
    return tvlm_export_create(job->device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL), &job->exported);
}

static tvlm_status run_export(tune_job *job) {
    return tvlm_export_run(job->exported, &job->image, 1, NULL, NULL);
}

/* ---- jobs.h ---- */

typedef tvlm_status step(tune_job *job);
static const struct {
    step *prepare, *run;
} steps[TVLM_TUNED_COUNT + 1] = {[TVLM_TUNED_LEVELS] = {prepare_image, run_image},
                                 [TVLM_TUNED_SOURCE] = {prepare_image, run_image},
                                 [TVLM_TUNED_SCORE] = {prepare_scores, run_scores},
                                 [TVLM_TUNED_TOPK] = {prepare_topk, run_topk},
                                 [TVLM_TUNED_LOSSES] = {prepare_image, run_budget},
                                 [TVLM_TUNED_FLOW] = {prepare_flow, run_flow},
                                 [TVLM_TUNED_FEATURES] = {prepare_features, run_question},
                                 [TVLM_TUNED_PRODUCTS] = {prepare_features, run_questions},
                                 [TVLM_TUNED_PATCHES] = {prepare_patches, run_patches},
                                 [TVLM_TUNED_PACK] = {prepare_pack, run_pack},
                                 [TVLM_TUNED_EXPORT] = {prepare_export, run_export},
                                 [TVLM_TUNED_COUNT] = {prepare_image, run_selection}};

tvlm_status tvlm_tune_job_prepare(tvlm_device *device, int32_t stage, int32_t side, tune_job *job) {
    *job = (tune_job){.device = device, .stage = stage, .side = side};
    TVLM_TRY(draw(job));
    return steps[stage].prepare != NULL ? steps[stage].prepare(job) : prepare_family(job);
}

tvlm_status tvlm_tune_job_run(tune_job *job) {
    return steps[job->stage].run != NULL ? steps[job->stage].run(job) : run_family(job);
}

void tvlm_tune_job_release(tune_job *job) {
    tvlm_packed_destroy(&job->packed);
    tvlm_flow_destroy(&job->flow);
    tvlm_export_destroy(&job->exported);
    tvlm_stack_destroy(&job->stack);
    free(job->pixels);
    free(job->values);
    free(job->out);
    free(job->positions);
    *job = (tune_job){0};
}
