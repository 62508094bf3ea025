/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_features.c: the stages of questions to an image. The image's features are 64 x 64 x 768, as an
 * encoder makes them from 1024 x 1024 pixels.
 */
#include "bench_stages.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/try.h"
#include "select/score.h"
#include "stack/features.h"
#include "stack/stack.h"
#include "texturevlm/features.h"
#include "texturevlm/lab/attend.h"
#include "texturevlm/lab/backward.h"
#include "texturevlm/lab/trainer.h"

enum { SIDE = 64, CELLS = SIDE * SIDE, DIMENSION = 768, QUERIES = 100 };

struct bench_features {
    tvlm_stack *stack; /* holds the image, and the channels that the default score reads */
    uint16_t *halves;  /* [CELLS * DIMENSION]: the vectors as they come from the host */
    float *queries;    /* [QUERIES * DIMENSION] */
    float *attended;   /* the same */
    float *texels;     /* [DIMENSION * CELLS]: gradients */
    tvlm_texture *map;
    tvlm_buffer *matrix; /* [CELLS * DIMENSION]: the vectors as floats */
    tvlm_basis *basis;   /* the basis of the image's own features */
};

/* Fills in random numbers. The time does not depend on their values. */
static void fill(struct bench_features *f) {
    uint32_t state = 1;
    for (size_t i = 0; i < (size_t)CELLS * DIMENSION; ++i) {
        state = state * 1664525u + 1013904223u;
        f->halves[i] = (uint16_t)(0x3000u + (state >> 20 & 0x0bffu) + (state >> 31 << 15)); /* +-2^-3 .. 1 */
    }
    for (size_t i = 0; i < (size_t)QUERIES * DIMENSION; ++i) {
        state = state * 1664525u + 1013904223u;
        f->queries[i] = (float)(state >> 8) / 16777216.0f - 0.5f;
    }
}

static tvlm_status set_features(const struct bench_features *f) {
    return tvlm_stack_set_grid(f->stack, 0, TVLM_CHANNEL_FEATURE_0,
                               tvlm_grid_input(.data = f->halves, .columns = SIDE, .rows = SIDE,
                                               .channels = DIMENSION, .type = TVLM_VALUE_F16));
}

/* Asks only for the best cells, which is the cheapest question. */
static tvlm_status ask(struct bench_features *f, const tvlm_basis *basis, tvlm_strategy strategy) {
    tvlm_selection *selection = NULL;
    const tvlm_status status =
        tvlm_select(f->stack, tvlm_query(.vectors = f->queries, .dimension = DIMENSION, .basis = basis),
                    tvlm_select_params(.strategy = strategy), &selection);
    tvlm_selection_destroy(&selection);
    return status;
}

tvlm_status bench_features_prepare(struct bench *bench) {
    struct bench_features *const f = calloc(1, sizeof *f);
    bench->features = f;
    if (f != NULL) {
        f->halves = malloc((size_t)CELLS * DIMENSION * sizeof *f->halves);
        f->queries = malloc((size_t)QUERIES * DIMENSION * sizeof *f->queries);
        f->attended = malloc((size_t)QUERIES * DIMENSION * sizeof *f->attended);
        f->texels = malloc((size_t)CELLS * DIMENSION * sizeof *f->texels);
    }
    if (f == NULL || f->halves == NULL || f->queries == NULL || f->attended == NULL || f->texels == NULL)
        return tvlm_fail(&bench->device->log, TVLM_ERROR_MEMORY, "no memory for features");
    fill(f);
    const struct tvlm_stack_params params = {.layout = "edges,saliency,eccentricity,entropy",
                                             .width = bench->image->width,
                                             .height = bench->image->height,
                                             .format = bench->stack->format};
    TVLM_TRY(tvlm_stack_create(bench->device, &params, &f->stack));
    TVLM_TRY(tvlm_stack_set_image(f->stack, 0, bench->image));
    TVLM_TRY(set_features(f));
    const tvlm_texture shape = {.width = SIDE,
                                .height = SIDE,
                                .layers = 1,
                                .images = 1,
                                .levels = 1,
                                .format = bench->stack->format,
                                .extent_x = (float)bench->image->width,
                                .extent_y = (float)bench->image->height};
    TVLM_TRY(bench->device->backend->texture_create(bench->device, &shape, &f->map));
    TVLM_TRY(bench->device->backend->buffer_create(bench->device, (size_t)CELLS * DIMENSION * sizeof(float),
                                                   &f->matrix));
    TVLM_TRY(tvlm_basis_of_image(f->stack, 0, NULL, &f->basis));
    TVLM_TRY(tvlm_stack_embed(f->stack, 0, f->basis));
    return ask(f, NULL, TVLM_STRATEGY_GRID);
}

void bench_features_release(struct bench *bench) {
    struct bench_features *const f = bench->features;
    if (f == NULL) return;
    if (f->map != NULL) bench->device->backend->texture_destroy(bench->device, &f->map);
    bench->device->backend->buffer_destroy(bench->device, &f->matrix);
    tvlm_basis_destroy(&f->basis);
    tvlm_stack_destroy(&f->stack);
    free(f->halves);
    free(f->queries);
    free(f->attended);
    free(f->texels);
    free(f);
}

/* ---- What is run ---- */

static tvlm_status run_upload(struct bench *bench, int32_t unused) {
    (void)unused;
    return set_features(bench->features);
}

static tvlm_status run_lengths(struct bench *bench, int32_t unused) {
    tvlm_features features;
    (void)unused;
    TVLM_TRY(tvlm_stack_features(bench->features->stack, 0, &features));
    return bench->device->backend->feature_lengths(bench->device, &features);
}

static tvlm_status run_matrix(struct bench *bench, int32_t unused) {
    tvlm_features features;
    (void)unused;
    TVLM_TRY(tvlm_stack_features(bench->features->stack, 0, &features));
    return bench->device->backend->feature_matrix(bench->device, &features, 0, bench->features->matrix, 0);
}

/* Runs only the kernel. The vector of the query is still on the device from the last question. */
static tvlm_status run_similarity(struct bench *bench, int32_t unused) {
    struct bench_features *const f = bench->features;
    tvlm_features features;
    tvlm_buffer *query;
    (void)unused;
    TVLM_TRY(tvlm_stack_features(f->stack, 0, &features));
    TVLM_TRY(tvlm_stack_scratch(f->stack, TVLM_SCRATCH_QUERIES, DIMENSION * sizeof(float), &query));
    return bench->device->backend->similarity(bench->device, &features, query, f->map);
}

static tvlm_status run_cosines(struct bench *bench, int32_t unused) {
    struct bench_features *const f = bench->features;
    tvlm_features features;
    tvlm_buffer *cosines;
    (void)unused;
    TVLM_TRY(tvlm_stack_features(f->stack, 0, &features));
    const tvlm_vectors asked = {.vectors = f->queries, .count = QUERIES, .dimension = DIMENSION};
    return tvlm_stack_cosines(f->stack, &features, &asked, &cosines);
}

/* Attends with the hundred queries. A fifth of the cells of level 2 is read in detail. */
static tvlm_status run_attention(struct bench *bench, int32_t unused) {
    struct bench_features *const f = bench->features;
    (void)unused;
    return tvlm_attend(
        f->stack, NULL,
        tvlm_attend_params(.queries = f->queries, .count = QUERIES, .dimension = DIMENSION, .level = 2),
        (size_t)QUERIES * DIMENSION, f->attended, NULL, NULL);
}

/* Computes the gradients of all components, for the texels and for the points. There are as many points as
 * queries, at levels of all kinds. */
static tvlm_status run_sample_backward(struct bench *bench, int32_t unused) {
    struct bench_features *const f = bench->features;
    tvlm_sample_point points[QUERIES];
    int32_t channels[DIMENSION];
    float steps[QUERIES * 3];
    (void)unused;
    for (int32_t i = 0; i < QUERIES; ++i)
        points[i] = (tvlm_sample_point){(float)(bench->image->width * i) / QUERIES,
                                        (float)(bench->image->height * (i * 37 % QUERIES)) / QUERIES,
                                        4.0f + 0.05f * (float)i, 0};
    for (int32_t c = 0; c < DIMENSION; ++c) channels[c] = TVLM_CHANNEL_FEATURE_0 + c;
    return tvlm_sample_backward(f->stack,
                                tvlm_sample_backward_params(.points = points, .count = QUERIES,
                                                            .channels = channels, .channel_count = DIMENSION,
                                                            .gradients = f->queries),
                                (size_t)CELLS * DIMENSION, f->texels, steps);
}

static tvlm_status run_basis(struct bench *bench, int32_t unused) {
    (void)unused;
    tvlm_basis_destroy(&bench->features->basis);
    return tvlm_basis_of_image(bench->features->stack, 0, NULL, &bench->features->basis);
}

static tvlm_status run_projection(struct bench *bench, int32_t unused) {
    (void)unused;
    return tvlm_stack_embed(bench->features->stack, 0, bench->features->basis);
}

/* Asks as run_ask does, but the embedding answers in place of the features. */
static tvlm_status run_ask_embedded(struct bench *bench, int32_t unused) {
    (void)unused;
    return ask(bench->features, bench->features->basis, TVLM_STRATEGY_GRID);
}

static tvlm_status run_ask(struct bench *bench, int32_t unused) {
    (void)unused;
    return ask(bench->features, NULL, TVLM_STRATEGY_GRID);
}

static tvlm_status run_cascade(struct bench *bench, int32_t unused) {
    (void)unused;
    return ask(bench->features, NULL, TVLM_STRATEGY_CASCADE);
}

/* ---- The list ---- */

void bench_features_list(const struct bench *bench, bench_stage *stages, int32_t *count) {
    const double values = (double)CELLS * DIMENSION, texel = bench->stack->format == TVLM_FORMAT_F32 ? 16 : 8;
    const double stored = values / 4.0 * texel, map = CELLS * texel;
    bench_add(stages, count, "features upload", "", run_upload, 0, 2.0 * values + stored);
    bench_add(stages, count, "features lengths", "", run_lengths, 0, stored + 4.0 * CELLS);
    bench_add(stages, count, "features matrix", "", run_matrix, 0, stored + 4.0 * values);
    bench_add(stages, count, "similarity", "", run_similarity, 0, stored + map + 4.0 * CELLS);
    bench_add(stages, count, "100 queries", "", run_cosines, 0,
              4.0 * (values + QUERIES * (CELLS + (double)DIMENSION)));
    bench_add(stages, count, "attention", "", run_attention, 0,
              4.0 * (2.0 * 0.25 * values + 2.0 * QUERIES * (double)DIMENSION));
    bench_add(stages, count, "sample backward", "", run_sample_backward, 0,
              4.0 * (1.33 * values + 8.0 * QUERIES * (double)DIMENSION));
    bench_add(stages, count, "a further query", "", run_ask, 0, stored + map);
    bench_add(stages, count, "a query by cascade", "", run_cascade, 0,
              stored / 7.0); /* at most a seventh of the features is read */
    /* The range finder reads the features twice in each of its six rounds, and once more for the shares: 13
     * times. */
    bench_add(stages, count, "image basis", "", run_basis, 0, 4.0 * values * 13.0);
    bench_add(stages, count, "projection", "", run_projection, 0,
              4.0 * values + TVLM_BASIS_K_DEFAULT / 4 * map);
    bench_add(stages, count, "a query to the embedding", "", run_ask_embedded, 0,
              (TVLM_BASIS_K_DEFAULT / 4 + 1) * map);
}
