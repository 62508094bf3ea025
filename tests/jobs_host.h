/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs_host.h: the jobs of an application whose pixels, features and results are on the host.
 */
#ifndef TVLM_TESTS_JOBS_HOST_H
#define TVLM_TESTS_JOBS_HOST_H

#include "jobs_common.h"
#include "texturevlm/export.h"
#include "texturevlm/lab/attend.h"
#include "texturevlm/lab/backward.h"
#include "texturevlm/lab/codec.h"
#include "texturevlm/lab/fit.h"
#include "texturevlm/lab/footprint.h"
#include "texturevlm/lab/merge.h"
#include "texturevlm/lab/ridge.h"
#include "texturevlm/lab/trainer.h"
#include "texturevlm/lab/vocab.h"

/* An export of several pictures. */
static tvlm_status picture(const objects *o, const tvlm_image *image,
                           const struct tvlm_export_params *params) {
    tvlm_export *export = NULL;
    int64_t chosen[4] = {-1, -1, -1, -1};
    TVLM_TRY(tvlm_export_create(o->device, params, &export));
    tvlm_status status = tvlm_export_run(export, image, 1, NULL, NULL);
    if (status == TVLM_OK) status = tvlm_export_read(export, 2, sizeof chosen, chosen);
    if (status == TVLM_OK) assert_true(tvlm_export_picture_count(export) > 1 && chosen[0] == 0);
    tvlm_export_destroy(&export);
    return status;
}

/* An export of two of its tokens, asked of features. */
static tvlm_status process(objects *o, results *r) {
    static const float features[6] = {1, 0, 0, 1, 1, 1}, vector[2] = {1, 0};
    static const struct tvlm_grid_input grid = {.data = features, .columns = 3, .rows = 1, .channels = 2};
    static const struct tvlm_query query = {.vectors = vector, .dimension = 2};
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    if (o->export == NULL)
        TVLM_TRY(tvlm_export_create(o->device, tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL, .budget = 2),
                                    &o->export));
    TVLM_TRY(tvlm_export_run(o->export, &image, 1, &grid, &query));
    TVLM_TRY(tvlm_export_read(o->export, 0, sizeof r->values, r->values));
    TVLM_TRY(tvlm_export_read(o->export, 2, sizeof r->tokens, r->tokens));
    TVLM_TRY(tvlm_export_read(o->export, 3, sizeof r->chosen, r->chosen));
    TVLM_TRY(tvlm_export_read(o->export, 7, sizeof r->scores, r->scores));
    TVLM_TRY(picture(
        o, &image,
        tvlm_export_params(.model = TVLM_EXPORT_QWEN2_VL, .budget = 4, .strategy = TVLM_STRATEGY_BUDGET)));
    return picture(
        o, &image,
        tvlm_export_params(.model = TVLM_EXPORT_LLAVA_ONEVISION, .budget = 8, .side = 16, .patch = 8));
}

/* What two pictures of an image lose: asked after the stack is gone. */
static tvlm_status foresee(objects *o, results *r) {
    static const tvlm_picture pictures[2] = {{2, 2}, {4, 3}};
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    tvlm_prediction *prediction = NULL;
    int32_t few = -1;
    if (o->stack == NULL) TVLM_TRY(tvlm_stack_create_for_image(o->device, &image, NULL, &o->stack));
    TVLM_TRY(tvlm_stack_set_image(o->stack, 0, &image));
    TVLM_TRY(tvlm_predict(o->stack, NULL, tvlm_select_params(.patch = 8), pictures, 2, &prediction));
    tvlm_stack_destroy(&o->stack);
    tvlm_status status = tvlm_prediction_keep(prediction, 1, PICTURE_TOKENS / 2, r->kept, &r->lost[0]);
    if (status == TVLM_OK) status = tvlm_prediction_loss(prediction, 0, NULL, &r->lost[1]);
    if (status == TVLM_OK) status = tvlm_prediction_least(prediction, 1, 0.5f, &few);
    if (status == TVLM_OK) assert_in_range(few, 1, PICTURE_TOKENS);
    if (status == TVLM_OK) status = tvlm_prediction_shown(prediction, 1, r->kept, r->shown);
    tvlm_prediction_destroy(&prediction);
    return status;
}

/* A budget of patches of 8 pixels, and what a cell of its thumbnail shows. */
static tvlm_status spend(objects *o, struct tvlm_select_params params) {
    static const int32_t green = TVLM_CHANNEL_G;
    static float cut_out[WIDTH * HEIGHT];
    tvlm_selection *selection = NULL;
    int32_t count = 0;
    params.strategy = TVLM_STRATEGY_BUDGET;
    params.patch = 8.0f;
    TVLM_TRY(tvlm_select(o->stack, NULL, &params, &selection));
    const tvlm_position *const positions = tvlm_selection_positions(selection, &count);
    const tvlm_status status = tvlm_patches_extract(
        o->stack, positions, count, tvlm_patches_params(.side = 4, .channels = &green, .channel_count = 1),
        sizeof cut_out, cut_out);
    tvlm_selection_destroy(&selection);
    assert_true(count > 0);
    if (status != TVLM_OK) return status;
    float thumbnail[4] = {1.0f};
    const tvlm_cell empty[3] = {{1, 0}, {0, 1}, {1, 1}};
    return tvlm_thumbnail_fill(&(tvlm_thumbnail_grid){2, 2, 1, empty, 3}, 1, thumbnail, &job_log);
}

/* Squares that cover the image, and a patch of each. */
static tvlm_status cut(objects *o, results *r, tvlm_strategy strategy) {
    static const int32_t channel[1] = {TVLM_CHANNEL_R};
    const struct tvlm_patches_params patches = {.side = 4, .channels = channel, .channel_count = 1};
    tvlm_selection *selection = NULL;
    int32_t count = 0;
    TVLM_TRY(tvlm_select(
        o->stack, NULL,
        tvlm_select_params(.k = SQUARES, .strategy = strategy, .score.stride = 4.0f, .patch = 4.0f),
        &selection));
    const tvlm_position *positions = tvlm_selection_positions(selection, &count);
    assert_in_range(count, 1, SQUARES);
    memset(r->squares, 0, sizeof r->squares);
    memcpy(r->squares, positions, (size_t)count * sizeof *positions);
    const tvlm_status status =
        tvlm_patches_extract(o->stack, positions, count, &patches, sizeof r->patches, r->patches);
    tvlm_selection_destroy(&selection);
    return status;
}

/* A cascade for two queries in a stack of a session: one it has or makes. */
static tvlm_status search(objects *o, int which, tvlm_position *found) {
    static const float features[12] = {1, 0, 0, 1, 1, 1, 0, 2, 3, 1, 0, 0}, vectors[4] = {1, 0, 0.5f, 1};
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT - which, .channels = 3};
    tvlm_stack *stack;
    tvlm_selection *selection = NULL;
    TVLM_TRY(tvlm_session_stack(o->session, &image, tvlm_stack_params(.layout = "edges", .clusters = 4), NULL,
                                0, &stack, NULL));
    TVLM_TRY(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0,
                                 tvlm_grid_input(.data = features, .columns = 3, .rows = 2, .channels = 2)));
    TVLM_TRY(tvlm_select(stack, tvlm_query(.vectors = vectors, .count = 2, .dimension = 2),
                         tvlm_select_params(.k = K, .score.stride = 4.0f, .strategy = TVLM_STRATEGY_CASCADE,
                                            .best.diversity = 0.5f),
                         &selection));
    keep_positions(selection, found);
    tvlm_selection_destroy(&selection);
    return TVLM_OK;
}

/* Two images in turn; without a session, or with the one that a failure has left. */
static tvlm_status remember(objects *o, results *r) {
    if (o->session == NULL) TVLM_TRY(tvlm_session_create(o->device, NULL, &o->session));
    for (int i = 0; i < 2; ++i) TVLM_TRY(search(o, i, r->found[i]));
    return TVLM_OK;
}

/* Frames of a stream with features, regions and a volume: pushed, or sent ahead. */
static tvlm_status watch_frame(tvlm_stream *stream, int frame, results *r) {
    static const float features[12] = {1, 0, 0, 1, 1, 1, 0, 2, 3, 1, 0, 0};
    static const uint8_t mask[6] = {1, 0, 0, 0, 1, 1};
    const tvlm_image image = {.pixels = pixels + 3 * (FRAMES - frame),
                              .width = STREAM_WIDTH,
                              .height = STREAM_HEIGHT,
                              .channels = 3,
                              .type = TVLM_PIXEL_U8};
    tvlm_selection *selection = NULL;
    if (frame == 1) TVLM_TRY(tvlm_stream_send(stream, 0, &image));
    TVLM_TRY(tvlm_stream_push(stream, 0, frame == 1 ? NULL : &image, NULL, NULL));
    if (frame != 1)
        TVLM_TRY(tvlm_stream_set_features(
            stream, 0, TVLM_CHANNEL_FEATURE_0,
            tvlm_grid_input(.data = features, .columns = 3, .rows = 2, .channels = 2),
            frame > 0 ? mask : NULL));
    TVLM_TRY(tvlm_stream_select(
        stream, 0, NULL,
        tvlm_select_params(.k = K, .score.stride = 4.0f, .patch = 4.0f, .best.overview = 0.4f), &selection));
    keep_positions(selection, r->seen[frame]);
    tvlm_selection_destroy(&selection);
    return TVLM_OK;
}

static tvlm_status watch(objects *o, results *r) {
    static const tvlm_volume_point point = {10.0f, 7.0f, 0.5f};
    const struct tvlm_stream_params params = {.layout = "edges,cluster_id,motion",
                                              .clusters = 4,
                                              .volume = "edges",
                                              .volume_frames = 2,
                                              .look_back = true};
    tvlm_stream *stream = NULL;
    TVLM_TRY(tvlm_stream_create(o->device, STREAM_WIDTH, STREAM_HEIGHT, &params, &stream));
    tvlm_status status = TVLM_OK;
    for (int frame = 0; status == TVLM_OK && frame < FRAMES; ++frame) status = watch_frame(stream, frame, r);
    if (status == TVLM_OK) status = tvlm_stream_volume_sample(stream, 0, &point, 1, &r->past);
    tvlm_stream_destroy(&stream);
    return status;
}

/* A budget for a video of a few frames. */
static tvlm_status hold(objects *o, results *r) {
    tvlm_clip *clip = NULL;
    int32_t count = 0;
    TVLM_TRY(tvlm_clip_create(o->device, STREAM_WIDTH, STREAM_HEIGHT,
                              tvlm_clip_params(.k = CLIP_TOKENS, .frames = FRAMES, .patch = 8.0f), &clip));
    tvlm_status status = TVLM_OK;
    for (int frame = 0; status == TVLM_OK && frame < FRAMES; ++frame) {
        const tvlm_image image = {.pixels = pixels + 3 * (FRAMES - frame),
                                  .width = STREAM_WIDTH,
                                  .height = STREAM_HEIGHT,
                                  .channels = 3};
        status = tvlm_clip_push(clip, &image);
    }
    if (status == TVLM_OK) status = tvlm_clip_end(clip);
    const tvlm_clip_token *const tokens = tvlm_clip_tokens(clip, &count);
    if (status == TVLM_OK) memcpy(r->clip, tokens, (size_t)count * sizeof *tokens);
    tvlm_clip_destroy(&clip);
    return status;
}

/* ---- Learning ---- */

static float made_feature(int i) {
    return (float)(i * 7919 % 101) / 101.0f - 0.4f;
}

static tvlm_status train(tvlm_trainer *trainer, const float *vectors, tvlm_basis **basis) {
    for (int32_t pass = 0; pass < tvlm_trainer_passes(trainer); ++pass) {
        if (pass > 0) TVLM_TRY(tvlm_trainer_next_pass(trainer));
        TVLM_TRY(tvlm_trainer_add(trainer, vectors, CELLS));
    }
    return tvlm_trainer_finish(trainer, basis);
}

/* Merges the features along the best cells. */
static tvlm_status merge_features(tvlm_stack *stack, results *r) {
    tvlm_selection *selection = NULL;
    TVLM_TRY(tvlm_select(stack, NULL,
                         tvlm_select_params(.k = K, .strategy = TVLM_STRATEGY_QUADTREE, .patch = 6.0f,
                                            .score = {.stride = 6.0f}),
                         &selection));
    const tvlm_status status =
        tvlm_merge_tokens(stack, selection, NULL, (size_t)K * DIMENSION, r->tokens_merged, r->merged);
    tvlm_selection_destroy(&selection);
    return status;
}

/* The gradients of two points of one component. */
static tvlm_status go_back(tvlm_stack *stack, results *r) {
    const tvlm_sample_point points[2] = {{5.0f, 6.0f, 3.0f, 0}, {20.0f, 12.0f, 4.2f, 0}};
    const int32_t channel = TVLM_CHANNEL_FEATURE_0 + 5;
    const float gradients[2] = {1.0f, -2.0f};
    return tvlm_sample_backward(stack,
                                tvlm_sample_backward_params(.points = points, .count = 2,
                                                            .channels = &channel, .channel_count = 1,
                                                            .gradients = gradients),
                                CELLS, r->texel_gradients, r->point_gradients);
}

/* Learns a projection of two rows, and applies one. */
static tvlm_status project(const objects *o, tvlm_stack *stack, const tvlm_basis *basis, results *r) {
    const float x[6] = {1.0f, 2.0f, -1.0f, 0.5f, 1.0f, 3.0f}, y[2] = {2.0f, -1.0f};
    const int32_t channels[2] = {TVLM_CHANNEL_EMBEDDING_0, TVLM_CHANNEL_EMBEDDING_0 + 1};
    const tvlm_sample_point point = {5.0f, 6.0f, 1.0f, 0};
    tvlm_projection *projection = NULL;
    TVLM_TRY(tvlm_ridge(o->device, tvlm_ridge_params(.count = 2, .inputs = 3, .outputs = 1, .x = x, .y = y),
                        r->ridge, r->ridge_bias));
    TVLM_TRY(tvlm_projection_create(tvlm_projection_params(.channels = channels, .channel_count = 2,
                                                           .outputs = 2, .weights = x, .basis = basis),
                                    &job_log, &projection));
    const tvlm_status status = tvlm_projection_apply(projection, stack, &point, 1, 2, r->projected);
    tvlm_projection_destroy(&projection);
    return status;
}

/* Trains a vocabulary, finds the nearest centres, and asks it. */
static tvlm_status learn_vocab(const objects *o, tvlm_stack *stack, const float *vectors, results *r) {
    tvlm_vocab_trainer *trainer = NULL;
    tvlm_vocab *vocab = NULL;
    TVLM_TRY(tvlm_vocab_trainer_create(
        o->device, tvlm_vocab_trainer_params(.dimension = DIMENSION, .count = 3, .rounds = 2), &trainer));
    tvlm_status status = tvlm_vocab_trainer_add(trainer, vectors, CELLS);
    if (status == TVLM_OK) status = tvlm_vocab_trainer_finish(trainer, &vocab);
    if (status == TVLM_OK)
        status = tvlm_vocab_assign(o->device, vocab, vectors, CELLS, r->assigned, r->residuals);
    if (status == TVLM_OK) status = tvlm_stack_assign(stack, 0, vocab);
    if (status == TVLM_OK) status = tvlm_vocab_ask(vocab, &job_log, vectors, 1, r->answers);
    tvlm_vocab_destroy(&vocab);
    tvlm_vocab_trainer_destroy(&trainer);
    return status;
}

/* Answers from a basis of the features; then the features are asked for one of their own. */
static tvlm_status learn_basis(const objects *o, tvlm_stack *stack, results *r) {
    float vectors[CELLS * DIMENSION];
    tvlm_trainer *trainer = NULL;
    tvlm_basis *basis = NULL, *own = NULL;
    for (int i = 0; i < CELLS * DIMENSION; ++i) vectors[i] = made_feature(i);
    TVLM_TRY(tvlm_stack_set_grid(
        stack, 0, TVLM_CHANNEL_FEATURE_0,
        tvlm_grid_input(.data = vectors, .columns = COLUMNS, .rows = ROWS, .channels = DIMENSION)));
    tvlm_status status =
        tvlm_trainer_create(o->device, tvlm_trainer_params(.dimension = DIMENSION, .k = 2), &trainer);
    if (status == TVLM_OK) status = train(trainer, vectors, &basis);
    if (status == TVLM_OK) tvlm_basis_project(basis, vectors, 1, r->vectors);
    if (status == TVLM_OK) status = tvlm_basis_of_image(stack, 0, tvlm_image_basis_params(.k = 2), &own);
    if (status == TVLM_OK) tvlm_basis_project(own, vectors, 1, r->vectors + 2);
    if (status == TVLM_OK) status = tvlm_stack_embed(stack, 0, basis);
    if (status == TVLM_OK)
        status = tvlm_similarity(stack, 0, vectors + DIMENSION, 1, DIMENSION, CELLS, r->similarity);
    if (status == TVLM_OK)
        status = tvlm_attend(stack, NULL,
                             tvlm_attend_params(.queries = vectors + DIMENSION, .dimension = DIMENSION,
                                                .level = 1, .fine = 0.5f, .keep = true),
                             DIMENSION, r->attended, NULL, &r->attention);
    if (status == TVLM_OK) status = go_back(stack, r);
    if (status == TVLM_OK) status = project(o, stack, basis, r);
    if (status == TVLM_OK) status = learn_vocab(o, stack, vectors, r);
    if (status == TVLM_OK) status = merge_features(stack, r);
    tvlm_basis_destroy(&own);
    tvlm_basis_destroy(&basis);
    tvlm_trainer_destroy(&trainer);
    return status;
}

static tvlm_status learn_weights(tvlm_stack *stack, results *r) {
    const int32_t channels[2] = {tvlm_channel_find("edges"), tvlm_channel_find("entropy")};
    const tvlm_scorer *scorer = NULL;
    tvlm_fit *fit = NULL;
    float share[CELLS];
    int32_t columns, rows;
    for (int i = 0; i < CELLS; ++i) share[i] = i % 3 == 0;
    TVLM_TRY(tvlm_score_size(stack, tvlm_score_params(.stride = 6.0f), &columns, &rows));
    assert_int_equal(columns * rows, CELLS);
    TVLM_TRY(tvlm_fit_create(tvlm_fit_params(.channels = channels, .channel_count = 2, .stride = 6.0f),
                             &job_log, &fit));
    tvlm_status status = tvlm_fit_add(fit, stack, 0, share, columns, rows);
    if (status == TVLM_OK) status = tvlm_fit_solve(fit, NULL, &scorer);
    if (status == TVLM_OK) memcpy(r->weights, scorer->weights, sizeof r->weights);
    tvlm_fit_destroy(&fit);
    return status;
}

/* Trains a codec of five channels on the stack, which keeps one scorer, and scores by another one of its codes, which
 * are handed in as features. */
static tvlm_status score_codes(tvlm_stack *stack, tvlm_codec_trainer *trainer, const tvlm_scorer *scorer,
                               results *r) {
    float codes[CELLS * 2];
    tvlm_codec *codec = NULL;
    tvlm_scorer *folded = NULL;
    TVLM_TRY(tvlm_codec_trainer_add(trainer, stack, 0));
    tvlm_status status = tvlm_codec_trainer_finish(trainer, &codec);
    for (int i = 0; i < CELLS * 2; ++i) codes[i] = made_feature(i);
    if (status == TVLM_OK) status = tvlm_codec_fold(codec, scorer, TVLM_CHANNEL_FEATURE_0, &job_log, &folded);
    if (status == TVLM_OK)
        status = tvlm_stack_set_grid(
            stack, 0, TVLM_CHANNEL_FEATURE_0,
            tvlm_grid_input(.data = codes, .columns = COLUMNS, .rows = ROWS, .channels = 2));
    if (status == TVLM_OK)
        status =
            tvlm_score(stack, NULL, tvlm_score_params(.stride = 6.0f, .scorer = folded), CELLS, r->coded);
    tvlm_codec_free_scorer(&folded);
    tvlm_codec_destroy(&codec);
    return status;
}

static tvlm_status code(tvlm_stack *stack, results *r) {
    static const float weights[2] = {0.5f, -1.0f};
    const int32_t channels[5] = {TVLM_CHANNEL_EDGES, TVLM_CHANNEL_ENTROPY, TVLM_CHANNEL_R, TVLM_CHANNEL_G,
                                 TVLM_CHANNEL_LOW};
    const tvlm_scorer scorer = {.channel_count = 2, .channels = channels, .taps = 1, .weights = weights},
                      *const kept = &scorer;
    tvlm_codec_trainer *trainer = NULL;
    TVLM_TRY(tvlm_codec_trainer_create(tvlm_codec_trainer_params(.channels = channels, .channel_count = 5,
                                                                 .k = 2, .scorers = &kept, .scorer_count = 1),
                                       &job_log, &trainer));
    const tvlm_status status = score_codes(stack, trainer, &scorer, r);
    tvlm_codec_trainer_destroy(&trainer);
    return status;
}

/* What a network that learnt says of the cells. */
static tvlm_status learn_network(tvlm_stack *stack, results *r) {
    const int32_t channels[2] = {tvlm_channel_find("edges"), tvlm_channel_find("entropy")};
    const struct tvlm_fit_params params = {
        .channels = channels, .channel_count = 2, .stride = 6.0f, .taps = 9, .hidden = 2};
    const tvlm_scorer *scorer = NULL;
    tvlm_fit *fit = NULL;
    float share[CELLS];
    for (int i = 0; i < CELLS; ++i) share[i] = i % 3 == 0;
    TVLM_TRY(tvlm_fit_create(&params, &job_log, &fit));
    tvlm_status status = tvlm_fit_add(fit, stack, 0, share, COLUMNS, ROWS);
    if (status == TVLM_OK) status = tvlm_fit_solve(fit, tvlm_fit_solve_params(.l2 = 0.1f), &scorer);
    if (status == TVLM_OK)
        status =
            tvlm_score(stack, NULL, tvlm_score_params(.stride = 6.0f, .scorer = scorer), CELLS, r->networked);
    tvlm_fit_destroy(&fit);
    return status;
}

/* The two outputs of a scorer whose weights a question gives. */
static tvlm_status ask_for_outputs(tvlm_stack *stack, const struct tvlm_query *query,
                                   const tvlm_scorer *learnt, results *r) {
    float weights[2 * 2] = {0.0f}, matrix[2 * 2 * DIMENSION];
    tvlm_scorer scorer = *learnt;
    memcpy(weights, learnt->weights, 2 * sizeof *weights);
    for (int i = 0; i < 2; ++i)
        memcpy(matrix + (size_t)i * 2 * DIMENSION, learnt->query_weights, 2 * DIMENSION * sizeof *matrix);
    scorer.weights = weights;
    scorer.query_weights = matrix;
    scorer.outputs = 2;
    TVLM_TRY(tvlm_score(stack, query, tvlm_score_params(.stride = 6.0f, .scorer = &scorer), CELLS, r->asked));
    return tvlm_stack_read(stack, 0, tvlm_stack_channel_find(stack, "output_1"), 0, CELLS, r->asked + CELLS);
}

/* Weights that a question gives. The stack has features. */
static tvlm_status learn_query_weights(tvlm_stack *stack, results *r) {
    const int32_t channels[2] = {tvlm_channel_find("edges"), tvlm_channel_find("query_similarity")};
    const struct tvlm_fit_params params = {
        .channels = channels, .channel_count = 2, .stride = 6.0f, .query_weights = true};
    float share[CELLS], vector[DIMENSION];
    const struct tvlm_query query = {.vectors = vector, .dimension = DIMENSION};
    const tvlm_scorer *scorer = NULL;
    tvlm_fit *fit = NULL;
    for (int i = 0; i < CELLS; ++i) share[i] = i % 3 == 0;
    for (int i = 0; i < DIMENSION; ++i) vector[i] = made_feature(i);
    TVLM_TRY(tvlm_fit_create(&params, &job_log, &fit));
    tvlm_status status = tvlm_fit_add_query(fit, stack, 0, &query, share, COLUMNS, ROWS);
    if (status == TVLM_OK) status = tvlm_fit_solve(fit, tvlm_fit_solve_params(.l2 = 0.1f), &scorer);
    if (status == TVLM_OK) status = ask_for_outputs(stack, &query, scorer, r);
    tvlm_fit_destroy(&fit);
    return status;
}

/* A stack with a network: blurred red. */
static tvlm_status create_learning(objects *o) {
    static const float weights[9] = {0.1f, 0.1f, 0.1f, 0.1f, 0.2f, 0.1f, 0.1f, 0.1f, 0.1f};
    static const tvlm_network_layer layer = {
        .inputs = 1, .outputs = 1, .side = 3, .stride = 1, .weights = weights};
    static const int32_t input = TVLM_CHANNEL_R;
    static const char *const output = "red";
    static const tvlm_network network = {.inputs = &input,
                                         .input_count = 1,
                                         .outputs = &output,
                                         .output_count = 1,
                                         .layers = &layer,
                                         .layer_count = 1};
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    return tvlm_stack_create_for_image(
        o->device, &image,
        tvlm_stack_params(.layout = "edges,entropy,red", .width = 36, .height = 24, .network = &network),
        &o->stack);
}

static tvlm_status learn(objects *o, results *r) {
    if (o->stack == NULL) TVLM_TRY(create_learning(o));
    TVLM_TRY(tvlm_stack_read(o->stack, 0, TVLM_CHANNEL_LEARNED_0, 0, 36 * 24, r->learned));
    TVLM_TRY(learn_basis(o, o->stack, r));
    TVLM_TRY(learn_query_weights(o->stack, r)); /* of these features: `code` puts others in their place */
    TVLM_TRY(code(o->stack, r));
    TVLM_TRY(learn_weights(o->stack, r));
    return learn_network(o->stack, r);
}

/* ---- All channels ---- */

static tvlm_status move(tvlm_stack *stack, results *r) {
    static const tvlm_sample_point point = {.x = 20.0f, .y = 11.0f};
    const int32_t channels[2] = {TVLM_CHANNEL_FLOW_U, TVLM_CHANNEL_FLOW_V};
    tvlm_footprint footprint;
    const float size = 6.0f;
    tvlm_flow *flow = NULL;
    TVLM_TRY(tvlm_flow_compute(stack, 0, stack, 1, NULL, &flow));
    tvlm_status status = tvlm_stack_set_flow(stack, 0, flow);
    tvlm_flow_destroy(&flow);
    if (status == TVLM_OK) status = tvlm_stack_sample(stack, &point, 1, channels, 2, r->moved);
    if (status == TVLM_OK) status = tvlm_stack_structure(stack, &point, &size, 1, &footprint);
    if (status == TVLM_OK) status = tvlm_stack_sample_footprint(stack, &footprint, 1, channels, 2, r->axes);
    return status;
}

/* Every channel of a stack of two images, after a part of one was replaced. */
static tvlm_status generate(objects *o, results *r) {
    tvlm_image images[2] = {
        {.pixels = pixels, .width = STREAM_WIDTH, .height = STREAM_HEIGHT, .channels = 3}};
    images[1] = images[0];
    images[1].pixels = pixels + 3;
    if (o->stack == NULL)
        TVLM_TRY(tvlm_stack_create(o->device,
                                   tvlm_stack_params(.layout = "full40", .width = STREAM_WIDTH,
                                                     .height = STREAM_HEIGHT, .images = 2, .clusters = 4),
                                   &o->stack));
    for (int32_t i = 0; i < 2; ++i) TVLM_TRY(tvlm_stack_set_image(o->stack, i, &images[i]));
    TVLM_TRY(move(o->stack, r));
    TVLM_TRY(tvlm_stack_update_image(o->stack, 1, &images[0], NULL, NULL));
    tvlm_packed_destroy(&o->packed);
    TVLM_TRY(tvlm_stack_pack(o->stack, tvlm_pack_params(.width = 5, .height = 4), &o->packed));
    return tvlm_packed_read(o->packed, 1, sizeof r->all / sizeof *r->all, r->all);
}

/* ---- Images of different sizes ---- */

/* A batch in which one image is resampled and one is black. */
static tvlm_status make_ragged(objects *o, results *r) {
    static const int32_t sizes[RAGGED][2] = {{STACK_WIDTH, STACK_HEIGHT}, {5, 17}, {1, 2}};
    static const tvlm_sample_point points[RAGGED_POINTS] = {{3.5f, 4.5f, 0.5f, 1},  {20.0f, 11.0f, 2.0f, 0},
                                                            {0.5f, 0.5f, 0.0f, 2},  {9.0f, -2.0f, 7.0f, 1},
                                                            {8.0f, 20.0f, 0.0f, 0}, {5.0f, 17.0f, 1.5f, 1}};
    const int32_t edges = TVLM_CHANNEL_EDGES, read[2] = {TVLM_CHANNEL_ENTROPY, TVLM_CHANNEL_X};
    tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    if (o->stack == NULL)
        TVLM_TRY(tvlm_stack_create(
            o->device,
            tvlm_stack_params(.layout = "edges,entropy,sharpness", .images = RAGGED, .sizes = sizes[0]),
            &o->stack));
    TVLM_TRY(tvlm_stack_set_image(o->stack, 0, &image));
    image.row_stride = 3 * WIDTH;
    image.width = sizes[1][0];
    image.height = sizes[1][1];
    TVLM_TRY(tvlm_stack_set_image(o->stack, 1, &image));
    tvlm_packed_destroy(&o->packed);
    TVLM_TRY(tvlm_stack_pack(o->stack, NULL, &o->packed));
    TVLM_TRY(tvlm_packed_read(o->packed, 1, RAGGED_FLOATS, r->ragged));
    TVLM_TRY(tvlm_stack_read(o->stack, 0, edges, 1, sizeof r->ragged_edges / sizeof(float), r->ragged_edges));
    /* One after the other: fewer small writes would not come to each of their stages again after one that failed. */
    for (int i = 0; i < RAGGED_POINTS; ++i)
        TVLM_TRY(tvlm_stack_sample(o->stack, &points[i], 1, read, 2, r->ragged_samples[i]));
    return TVLM_OK;
}

/* ---- Bytes ---- */

/* Grids of bytes, of signed ones and of half, after a part of a frame was replaced. */
static tvlm_status keep_bytes(objects *o, results *r) {
    static const tvlm_sample_point points[2] = {{3.5f, 4.5f, 0.5f, 0}, {20.0f, 11.0f, 2.0f, 0}};
    const int32_t read[3] = {TVLM_CHANNEL_EDGE_X, TVLM_CHANNEL_SALIENCY, TVLM_CHANNEL_CLUSTER_ID};
    tvlm_image image = {.pixels = pixels,
                        .width = STACK_WIDTH,
                        .height = STACK_HEIGHT,
                        .channels = 3,
                        .row_stride = 3 * WIDTH};
    if (o->stack == NULL)
        TVLM_TRY(tvlm_stack_create(o->device,
                                   tvlm_stack_params(.layout = "r,edges,edge_x,saliency,cluster_id",
                                                     .width = STACK_WIDTH, .height = STACK_HEIGHT,
                                                     .clusters = 4, .format = TVLM_FORMAT_U8),
                                   &o->stack));
    TVLM_TRY(tvlm_stack_set_image(o->stack, 0, &image));
    TVLM_TRY(tvlm_stack_make_all(o->stack));
    image.pixels = pixels + 3;
    TVLM_TRY(tvlm_stack_update_image(o->stack, 0, &image, NULL, NULL));
    tvlm_packed_destroy(&o->packed);
    TVLM_TRY(tvlm_stack_pack(o->stack, tvlm_pack_params(.width = 9, .height = 7), &o->packed));
    TVLM_TRY(tvlm_packed_read(o->packed, 0, BYTES_FLOATS, r->bytes));
    TVLM_TRY(tvlm_stack_read(o->stack, 0, TVLM_CHANNEL_EDGES, 0, STACK_WIDTH * STACK_HEIGHT, r->bytes_edges));
    return tvlm_stack_sample(o->stack, points, 2, read, 3, r->bytes_samples);
}

/* ---- A selection ---- */

/* The strategies that ask a stack, and all that is read from one. */
static tvlm_status ask(objects *o, results *r) {
    static const float similarity[6] = {0.1f, -0.3f, 0.9f, 0.2f, 0.5f, -1.0f}, scores[5] = {1, 5, 2, 4, 3};
    static const tvlm_sample_point points[2] = {{3.5f, 4.5f, 0.5f, 0}, {20.0f, 11.0f, 2.0f, 0}};
    const int32_t channels[2] = {tvlm_channel_find("low"), tvlm_channel_find("entropy")};
    int32_t count = 0;
    tvlm_selection_destroy(&o->selection);
    tvlm_packed_destroy(&o->packed);
    const struct tvlm_query query = {.similarity = similarity, .columns = 3, .rows = 2};
    const struct tvlm_select_params apart = {.k = K,
                                             .strategy = TVLM_STRATEGY_GRID,
                                             .score.stride = 4.0f,
                                             .best.min_distance = 5.0f,
                                             .best.diversity = 0.3f};
    TVLM_TRY(tvlm_select(o->stack, &query, &apart, &o->selection));
    const tvlm_position *positions = tvlm_selection_positions(o->selection, &count);
    assert_int_equal(count, K);
    memcpy(r->positions, positions, sizeof r->positions);
    TVLM_TRY(tvlm_explain(o->stack, &query, &apart, o->selection, K * REASONS, r->reasons, &count));
    assert_int_equal(count, REASONS);
    TVLM_TRY(
        tvlm_stack_read(o->stack, 0, tvlm_channel_find("edges"), 0, STACK_WIDTH * STACK_HEIGHT, r->texels));
    TVLM_TRY(tvlm_stack_sample(o->stack, points, 2, channels, 2, r->samples));
    TVLM_TRY(tvlm_stack_pack(o->stack, tvlm_pack_params(.width = 9, .height = 7), &o->packed));
    TVLM_TRY(tvlm_packed_read(o->packed, 0, 9 * 7 * CHANNELS, r->packed));
    TVLM_TRY(cut(o, r, TVLM_STRATEGY_QUADTREE));
    TVLM_TRY(cut(o, r, TVLM_STRATEGY_FOVEATED));
    TVLM_TRY(spend(o, (struct tvlm_select_params){.budget.share = 0.5f, .budget.emphasis = 2.0f}));
    TVLM_TRY(spend(o, (struct tvlm_select_params){.budget.tolerance = 0.5f}));
    TVLM_TRY(spend(o, (struct tvlm_select_params){.budget.tolerance = TVLM_EXPLICIT_ZERO}));
    return tvlm_topk(o->device, scores, 5, 2, r->indices, r->best);
}

static tvlm_status choose(objects *o, results *r) {
    const tvlm_image image = {.pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3};
    if (o->stack == NULL)
        TVLM_TRY(tvlm_stack_create_for_image(o->device, &image,
                                             tvlm_stack_params(.layout = "edges,low,saliency,entropy,x",
                                                               .width = STACK_WIDTH, .height = STACK_HEIGHT),
                                             &o->stack));
    return ask(o, r);
}

/* ---- A pool ---- */

/* An image that is sent ahead of its stack's. */
static tvlm_status send_ahead(objects *o, const tvlm_image *image, results *r) {
    if (o->stack == NULL)
        TVLM_TRY(
            tvlm_stack_create_for_image(o->device, image, tvlm_stack_params(.layout = "edges"), &o->stack));
    TVLM_TRY(tvlm_stack_send_image(o->stack, 0, &image[2])); /* which is resampled */
    TVLM_TRY(tvlm_stack_set_image(o->stack, 0, NULL));
    return tvlm_stack_read(o->stack, 0, TVLM_CHANNEL_R, 0, STACK_WIDTH * STACK_HEIGHT, r->texels);
}

/* Images of two sizes, by a pool of the one device; one job at a time, so that each run makes the same calls. */
static tvlm_status share(objects *o, results *r) {
    const struct tvlm_device_params logging = {.log = &job_log};
    const struct tvlm_stack_params stack = {.layout = "edges,entropy"};
    const struct tvlm_select_params params = {.k = K, .strategy = TVLM_STRATEGY_GRID, .score.stride = 4.0f};
    tvlm_selection *selections[SHARED] = {NULL};
    tvlm_image images[SHARED];
    tvlm_pool *pool = NULL;
    for (int i = 0; i < SHARED; ++i)
        images[i] = (tvlm_image){.pixels = pixels + 3 * i,
                                 .width = 20,
                                 .height = 18 + (i == 2),
                                 .channels = 3,
                                 .row_stride = 3 * WIDTH};
    TVLM_TRY(send_ahead(o, images, r));
    TVLM_TRY(tvlm_pool_create(
        tvlm_pool_params(.opened = &o->device, .opened_count = 1, .capacity = 1, .open = &logging), &pool));
    const tvlm_status status = tvlm_pool_select(pool, images, SHARED, &stack, &params, selections, NULL);
    for (int i = 0; i < SHARED; ++i) {
        if (status == TVLM_OK) keep_positions(selections[i], r->shared[i]);
        tvlm_selection_destroy(&selections[i]);
    }
    tvlm_pool_destroy(&pool);
    return status;
}

#endif
