/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls_input.h: what fuzz_calls.c calls the library with, made of an input's bytes: mostly numbers that are valid or at a
 * border, now and then one that is wrong. What a struct points to is valid until the next one of its kind is made.
 */
#ifndef TVLM_FUZZ_CALLS_INPUT_H
#define TVLM_FUZZ_CALLS_INPUT_H

#include "input.h"
#include "texturevlm/lab/network.h"
#include "texturevlm/texturevlm.h"

enum { SIDE_MAX = 24, FLOATS = 1 << 16, FEW = 4 };

/* Results go here, and values come from here: finite ones but for some that the bytes choose. */
static float out[FLOATS];
static float values[FLOATS];
static uint8_t pixels[SIDE_MAX * SIDE_MAX * 4 * 4 * 2];

/* ---- Numbers ---- */

/* 0 to `most`, and now and then a number that is none of these. */
static int32_t count_of(input *from, int32_t most) {
    static const int32_t wrong[] = {-1, INT32_MIN, -2, -1000};
    const uint8_t byte = next_byte(from);
    return byte < 224 ? byte % (most + 1) : wrong[byte % 4];
}

/* A number that does not say how much is read. */
static int32_t any_int(input *from) {
    static const int32_t known[] = {-1,   INT32_MAX, INT32_MIN, 255,   256,   257,
                                    2048, 2049,      4096,      65535, 65536, 1 << 20};
    const uint8_t byte = next_byte(from);
    return byte < 160 ? byte % 20 : known[byte % 12];
}

static int number_of(input *from, int last) {
    static const int wrong[] = {-1, 1000, INT32_MAX, INT32_MIN};
    const uint8_t byte = next_byte(from);
    return byte < 232 ? byte % (last + 1) : byte < 240 ? last + 1 : wrong[byte % 4];
}

static int32_t channel_of(input *from) {
    static const int32_t known[] = {TVLM_CHANNEL_FEATURE_0,
                                    TVLM_CHANNEL_EMBEDDING_16,
                                    TVLM_CHANNEL_SHARPNESS,
                                    65536,
                                    65537,
                                    -1,
                                    INT32_MAX,
                                    INT32_MIN};
    const uint8_t byte = next_byte(from);
    return byte < 140 ? byte : known[byte % 8];
}

/* Which image of a batch: there are up to three. */
static int32_t index_of(input *from) {
    return next_byte(from) < 192 ? 0 : any_int(from);
}

static bool yes(input *from) {
    return (next_byte(from) & 1) != 0;
}

static uint64_t reserved(input *from) {
    return next_byte(from) == 255;
}

/* Room for what comes out: enough of it, or less. */
static size_t room(input *from) {
    return next_byte(from) < 192 ? FLOATS : next_byte(from);
}

static int32_t channels_of(input *from, int32_t channels[FEW]) {
    const int32_t count = count_of(from, FEW);
    for (int i = 0; i < FEW; ++i) channels[i] = channel_of(from);
    return count;
}

/* Up to FEW numbers that a caller hands in; NULL where there are none. */
static const float *floats_of(input *from, float floats[2 * FEW], int32_t *count) {
    *count = count_of(from, FEW);
    for (int i = 0; i < 2 * FEW; ++i) floats[i] = next_float(from);
    return next_byte(from) < 208 ? floats : NULL;
}

/* ---- Structs ---- */

static tvlm_image image_of(input *from) {
    static const size_t bytes[] = {1, 2, 4};
    tvlm_image image = {.pixels = pixels,
                        .width = 1 + next_byte(from) % SIDE_MAX,
                        .height = 1 + next_byte(from) % SIDE_MAX,
                        .channels = 1 + next_byte(from) % 4,
                        .type = (tvlm_pixel_type)(next_byte(from) % 3)};
    const size_t row = (size_t)image.width * (size_t)image.channels * bytes[image.type];
    switch (next_byte(from)) {
    case 255: image.pixels = NULL; break;
    case 254: image.width = count_of(from, 0); break;
    case 253: image.height = count_of(from, 0); break;
    case 252: image.channels = any_int(from) % 5 == 0 ? 5 : 0; break;
    case 251: image.type = (tvlm_pixel_type)number_of(from, 0); break; /* the narrowest, or none */
    case 250: image.row_stride = 2 * row; break;
    case 249: image.row_stride = row - 1; break;
    case 248: image.of_width = any_int(from), image.of_height = any_int(from); break;
    case 247: image.reserved[0] = 1; break;
    default: break;
    }
    return image;
}

static const tvlm_network *network_of(input *from) {
    static float weights[256 * FEW * 9];
    static int32_t inputs[FEW];
    static const char *const names[] = {"one", "two", "three", "r"};
    static tvlm_network_layer layers[2];
    static tvlm_network network;
    network = (tvlm_network){.inputs = inputs,
                             .input_count = channels_of(from, inputs),
                             .level = any_int(from),
                             .outputs = names,
                             .output_count = count_of(from, FEW),
                             .layers = layers,
                             .layer_count = count_of(from, 2)};
    for (int i = 0; i < 2; ++i)
        layers[i] = (tvlm_network_layer){.inputs = count_of(from, FEW),
                                         .outputs = next_byte(from) < 240 ? count_of(from, 8) : any_int(from),
                                         .side = count_of(from, 3),
                                         .stride = any_int(from),
                                         .activation = (tvlm_activation)number_of(from, 2),
                                         .weights = weights};
    return &network;
}

static const char *layout_of(input *from) {
    static const char *const layouts[] = {"r,g,b,edges", "visual12",   "cluster15",        "patch13",
                                          "mvp13",       "temporal34", "learned_0,x",      "full40",
                                          "r,nothing",   "",           "distance,entropy", NULL};
    return layouts[next_byte(from) % 12];
}

static struct tvlm_stack_params stack_of(input *from) {
    static float fixation[2];
    static int32_t sizes[2 * FEW];
    struct tvlm_stack_params params = {.layout = layout_of(from)};
    const uint8_t flags = next_byte(from);
    if (flags & 1) params.format = (tvlm_format)number_of(from, TVLM_FORMAT_S8);
    if (flags & 2) params.clusters = any_int(from), params.compactness = next_float(from);
    if (flags & 4) params.images = count_of(from, 3);
    if (flags & 8) params.width = count_of(from, SIDE_MAX), params.height = count_of(from, SIDE_MAX);
    if (flags & 16) params.max_side = any_int(from), params.memory_max = (uint64_t)any_int(from);
    if (flags & 32) {
        for (int i = 0; i < 2; ++i) fixation[i] = next_float(from);
        params.fixation = fixation;
    }
    if (flags & 64) params.network = network_of(from);
    if ((flags & 128) && yes(from)) {
        for (int i = 0; i < 2 * FEW; ++i) sizes[i] = count_of(from, SIDE_MAX);
        params.sizes = sizes;
    }
    params.reserved[0] = (uint32_t)reserved(from);
    return params;
}

static struct tvlm_grid_input grid_of(input *from) {
    struct tvlm_grid_input grid = {.data = next_byte(from) < 240 ? values : NULL,
                                   .columns = count_of(from, 8),
                                   .rows = count_of(from, 8),
                                   .channels = count_of(from, 8),
                                   .type = (tvlm_value_type)number_of(from, 1)};
    const uint8_t flags = next_byte(from);
    if (flags & 1) grid.row_stride = next_byte(from) * 4u;
    if (flags & 2) grid.cell = next_float(from);
    grid.replace_nonfinite = (flags & 4) != 0;
    if (flags & 8) grid.fx = next_float(from), grid.fy = next_float(from);
    if (flags & 16) grid.cx = next_float(from), grid.cy = next_float(from);
    grid.reserved[0] = reserved(from);
    return grid;
}

/* Puts a few of the numbers that are worth trying among the values. */
static void stir(input *from) {
    for (int i = 0; i < FLOATS; ++i) values[i] = (float)(i * 7 % 16) / 16.0f;
    for (int i = next_byte(from) % 8; i > 0; --i) values[next_byte(from)] = next_float(from);
}

static struct tvlm_query query_of(input *from) {
    struct tvlm_query query = {.combine = (tvlm_query_combine)number_of(from, 1)};
    const uint8_t flags = next_byte(from);
    if (flags & 1) query.similarity = values;
    if (flags & 2) query.columns = count_of(from, 8), query.rows = count_of(from, 8);
    if (flags & 4) query.vectors = values;
    if (flags & 8) query.count = count_of(from, 4), query.dimension = count_of(from, 8);
    if (flags & 16) query.mean = values + 100;
    query.reserved[0] = reserved(from);
    return query;
}

static const tvlm_scorer *scorer_of(input *from) {
    static int32_t channels[FEW];
    static tvlm_scorer scorer;
    scorer = (tvlm_scorer){.channel_count = channels_of(from, channels),
                           .channels = channels,
                           .taps = any_int(from),
                           .weights = values,
                           .bias = next_float(from),
                           .similarity_weight = next_float(from),
                           .outputs = any_int(from)};
    const uint8_t flags = next_byte(from);
    if (flags & 1) scorer.query_weights = values;
    if (flags & 2) scorer.dimension = count_of(from, 8), scorer.query_taps = any_int(from);
    if (flags & 4) scorer.levels = values;
    if (flags & 8) scorer = (tvlm_scorer){.network = network_of(from)};
    return &scorer;
}

static struct tvlm_score_params score_of(input *from) {
    struct tvlm_score_params score = {.index = index_of(from)};
    const uint8_t flags = next_byte(from);
    if (flags & 1) score.stride = next_float(from);
    if (flags & 2) score.level = any_int(from);
    score.dense = (flags & 4) != 0;
    if (flags & 8) score.weights = values;
    if (flags & 16) score.scorer = scorer_of(from);
    score.keep_pass = (flags & 32) != 0;
    score.reserved[0] = reserved(from);
    return score;
}

static struct tvlm_select_params select_of(input *from) {
    static float fixations[2 * FEW];
    static struct tvlm_scores scores;
    struct tvlm_select_params params = {.k = any_int(from),
                                        .strategy = (tvlm_strategy)number_of(from, TVLM_STRATEGY_BUDGET)};
    const uint8_t flags = next_byte(from), more = next_byte(from);
    if (flags & 1) params.score = score_of(from);
    if (flags & 2) params.patch = next_float(from);
    params.keep_scores = (flags & 4) != 0;
    if (flags & 8) params.best.min_distance = next_float(from);
    if (flags & 16) params.best.overview = next_float(from);
    if (flags & 32) params.foveated.fixations = floats_of(from, fixations, &params.foveated.fixation_count);
    if (flags & 64) params.foveated.e0 = next_float(from);
    if (flags & 128) params.foveated.arrangement = (tvlm_arrangement)number_of(from, 1);
    if (more & 1)
        params.cascade.keep_regions = any_int(from), params.cascade.cull_distance = next_float(from);
    params.cascade.cover = (more & 2) != 0;
    if (more & 4) params.best.diversity = next_float(from);
    if (more & 8) params.budget.share = next_float(from);
    if (more & 16) params.budget.tolerance = next_float(from);
    if (more & 32)
        params.budget.emphasis = next_float(from), params.budget.emphasis_channel = channel_of(from);
    if (more & 128) {
        scores =
            (struct tvlm_scores){.values = values, .columns = count_of(from, 8), .rows = count_of(from, 8)};
        params.scores = &scores;
    }
    params.reserved[0] = reserved(from);
    return params;
}

static struct tvlm_update_params update_of(input *from) {
    return (struct tvlm_update_params){.tile = any_int(from),
                                       .threshold = next_float(from),
                                       .full = yes(from),
                                       .saliency_share = next_float(from),
                                       .cluster_share = next_float(from),
                                       .carried_frames = any_int(from),
                                       .reserved = {reserved(from)}};
}

#endif
