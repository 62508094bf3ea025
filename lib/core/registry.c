/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry.c: the two tables that everything else is derived from, `grids` and, for their channels, `rows`. A
 * new family is its entries there and in TVLM_CORE_GRIDS (registry.h), and a function of its name in
 * each backend.
 */
#include "core/registry.h"
#include "core/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/constants.h"
#include "texturevlm/channels.h"

#define BIT(ID) TVLM_GRID_BIT(TVLM_GRID_##ID)

#define ALL_FOUR(HOW)                                                                                        \
    { TVLM_REDUCE_##HOW, TVLM_REDUCE_##HOW, TVLM_REDUCE_##HOW, TVLM_REDUCE_##HOW }

/* ---- Grids ---- */

/* These are the first six members of an entry. */
#define GRID(NAME, SIZE, LAYERS, REDUCE, NEEDS, REACH)                                                       \
    .name = NAME, .size = TVLM_SIZE_##SIZE, .layers = LAYERS, .reduce = REDUCE, .needs = NEEDS, .reach = REACH

#define MEAN ALL_FOUR(MEAN)
#define MAX  ALL_FOUR(MAX)
#define MIN  ALL_FOUR(MIN)
#define MODE ALL_FOUR(MODE)

/* These are ways in: CLAMPED is for cells of one value, VECTORS for cells of 1 to MANY values. */
#define CLAMPED                                                                                              \
    { .channels_min = 1, .channels_max = 1, .mode = TVLM_INPUT_CLAMP }
#define VECTORS(MANY) .channels_min = 1, .channels_max = MANY

static const tvlm_grid_info grids[TVLM_GRID_COUNT] = {
    [TVLM_GRID_SOURCE] = {GRID("source", IMAGE, 1, MEAN, 0, 0), .ragged = true},
    /* The components are flow_u, flow_v and flow_confidence, which is 1 if it is not handed in. */
    [TVLM_GRID_FLOW] = {GRID("flow", GIVEN, 1, MEAN, 0, 0), .in = {.channels_min = 2,
                                                                   .channels_max = 3,
                                                                   .mode = TVLM_INPUT_CLAMP,
                                                                   .fill = {0.0f, 0.0f, 1.0f, 0.0f}}},
    [TVLM_GRID_ATTENTION_PREV] = {GRID("attention_prev", GIVEN, 1, MEAN, 0, 0), .scalar = true,
                                  .in = CLAMPED},
    [TVLM_GRID_ATTENTION] = {GRID("attention", GIVEN, 1, MEAN, 0, 0), .scalar = true, .in = CLAMPED},
    [TVLM_GRID_GAZE] = {GRID("gaze", GIVEN, 1, MEAN, 0, 0), .scalar = true, .in = CLAMPED},
    /* It has as many layers as the vectors that are handed in need, up to this number. */
    [TVLM_GRID_EMBEDDING] = {GRID("embedding", GIVEN, TVLM_EMBEDDING_MAX / 4, MEAN, 0, 0), .unit = true,
                             .guides = true, .streamed = 1 + TVLM_STREAMED_EMBEDDING,
                             .in = {VECTORS(TVLM_EMBEDDING_MAX), .mode = TVLM_INPUT_UNIT}},
    [TVLM_GRID_DEPTH] = {GRID("depth", GIVEN, 1, MEAN, 0, 0), .scalar = true,
                         .in = {VECTORS(1), .mode = TVLM_INPUT_CLAMP, .camera = true}},
    [TVLM_GRID_OBJECT] = {GRID("object", GIVEN, 1, MODE, 0, 0), .scalar = true, .in = CLAMPED},
    /* It has as many layers as the vectors that are handed in need, up to this number. */
    [TVLM_GRID_FEATURES] = {GRID("features", GIVEN, TVLM_FEATURES_MAX / 4, MEAN, 0, 0), .guides = true,
                            .vectors = true, .streamed = 1 + TVLM_STREAMED_FEATURES,
                            .in = {VECTORS(TVLM_FEATURES_MAX), .mode = TVLM_INPUT_CLAMP,
                                   .limit = TVLM_FEATURE_LIMIT}},
    /* The components are the number of the nearest centre and the residual. */
    [TVLM_GRID_VOCAB] = {.name = "vocab",
                         .size = TVLM_SIZE_GIVEN,
                         .layers = 1,
                         .reduce = {TVLM_REDUCE_MODE, TVLM_REDUCE_MEAN, TVLM_REDUCE_MEAN, TVLM_REDUCE_MEAN},
                         .in = {VECTORS(2), .mode = TVLM_INPUT_CLAMP}},
    [TVLM_GRID_WORDS] = {GRID("words", GIVEN, TVLM_WORDS_MAX / 4, MEAN, 0, 0), .follows = BIT(FEATURES)},
    [TVLM_GRID_PREVIOUS_PASS] = {GRID("previous_pass", GIVEN, 1, MEAN, 0, 0), .scalar = true},
    /* The components are edges, edges_inv, high and low. The 5 x 5 binomial filter reaches two pixels. */
    [TVLM_GRID_VISUAL] = {GRID("visual", IMAGE, 1, MEAN, BIT(SOURCE), 2), .ragged = true, .level_0 = true},
    /* Saliency is scaled by its maximum over the image, so each texel depends on the whole image. */
    [TVLM_GRID_SALIENCY] = {GRID("saliency", QUARTER, 1, MEAN, BIT(SOURCE), -1),
                            .carried = 1 + TVLM_CARRIED_SALIENCY, .work = 3.0f},
    [TVLM_GRID_LAPLACIAN] = {GRID("laplacian", IMAGE, 1, MEAN, BIT(SOURCE), 1), .scalar = true,
                             .scalar_buffer = true, .ragged = true, .level_0 = true},
    [TVLM_GRID_ENTROPY] = {GRID("entropy", CELLS, 1, MEAN, BIT(SOURCE), 0), .scalar = true, .ragged = true,
                           .level_0 = true, .beside = 1 + (int)TVLM_GRID_VISUAL},
    [TVLM_GRID_GRADIENT] = {GRID("gradient", IMAGE, 1, MEAN, BIT(SOURCE), 1), .ragged = true,
                            .level_0 = true},
    /* The distance saturates at a share of the image's longer side, so nothing farther away counts. The reach
     * of 2 is added because a pixel is an edge pixel or not depending on its neighbours. */
    [TVLM_GRID_DISTANCE] = {GRID("distance", IMAGE, 1, MIN, BIT(VISUAL), 2), .scalar = true,
                            .scalar_buffer = true, .level_0 = true,
                            .reach_share = (int32_t)TVLM_DISTANCE_SHARE, .stages = true, .guides = true,
                            .work = 12.5f}, /* in images with long sides; others take 2 */
    [TVLM_GRID_MOTION] = {GRID("motion", HALF, 1, MAX, BIT(SOURCE), 1), .scalar = true, .scalar_buffer = true,
                          .previous = 1 + TVLM_PREVIOUS_LUMA},
    [TVLM_GRID_TEMPORAL] = {GRID("temporal", CELLS, 1, MEAN, BIT(SOURCE) | BIT(FLOW), -1),
                            .previous = 1 + TVLM_PREVIOUS_STATE},
    [TVLM_GRID_OCCLUSION] = {GRID("occlusion", LIKE, 1, MAX, BIT(DEPTH), 1), .scalar = true, .level_0 = true,
                             .like = TVLM_GRID_DEPTH},
    [TVLM_GRID_NORMAL] = {GRID("normal", LIKE, 1, MEAN, BIT(DEPTH), 1), .level_0 = true,
                          .like = TVLM_GRID_DEPTH, .unit = true},
    [TVLM_GRID_MOTION_MAP] = {GRID("motion_map", GIVEN, 1, MAX, 0, 0), .scalar = true, .in = CLAMPED},
    [TVLM_GRID_SALIENCY_MAP] = {GRID("saliency_map", GIVEN, 1, MEAN, 0, 0), .scalar = true, .in = CLAMPED},
    [TVLM_GRID_TEXT_MAP] = {GRID("text_map", GIVEN, 1, MAX, 0, 0), .scalar = true,
                            .in = {VECTORS(1), .mode = TVLM_INPUT_BINARY}},
    [TVLM_GRID_OCCLUSION_MAP] = {GRID("occlusion_map", GIVEN, 1, MAX, 0, 0), .scalar = true, .in = CLAMPED},
    [TVLM_GRID_NORMAL_MAP] = {GRID("normal_map", GIVEN, 1, MEAN, 0, 0), .unit = true,
                              .in = {.channels_min = 3, .channels_max = 3, .mode = TVLM_INPUT_UNIT}},
    /* The components are the id, the distance, the size and the boundary. */
    [TVLM_GRID_CLUSTER] = {.name = "cluster",
                           .size = TVLM_SIZE_IMAGE,
                           .layers = 1,
                           .reduce = {TVLM_REDUCE_MODE, TVLM_REDUCE_MEAN, TVLM_REDUCE_MEAN, TVLM_REDUCE_MAX},
                           .needs = BIT(SOURCE),
                           .reach = -1,
                           .guides = true,
                           .carried = 1 + TVLM_CARRIED_CLUSTER,
                           .work = 24.0f},
    /* The reach is that of the coarsest level. It adds up a window, its quiet neighbours, and the blocks that
     * marks grow by. A margin is added, because the blocks of a level do not lie exactly on the image's
     * pixels. */
    [TVLM_GRID_TEXT] = {GRID("text", QUARTER, 1, MAX, BIT(SOURCE),
                             (TVLM_TEXT_APART + TVLM_TEXT_RY + TVLM_TEXT_GROW_Y + 3) * TVLM_TEXT_BLOCK
                                 << (TVLM_TEXT_LEVELS - 1)),
                        .scalar = true, .scalar_buffer = true, .stages = true, .work = 4.0f},
    /*
     * The scale spreads the values of cells over the range. In 34 photographs (objects, people, street signs)
     * one cell in nine reaches 1, and the median is 0.05. A cell reaches 1 if the laplacian's deviation is
     * 1/16. If the photographs are blurred by a Gaussian of 2 pixels, all but one cell in a hundred are below
     * 0.013.
     */
    [TVLM_GRID_SHARPNESS] = {GRID("sharpness", CELLS, 1, MEAN, BIT(LAPLACIAN), 0), .scalar = true,
                             .ragged = true, .level_0 = true, .scale = 256.0f},
    /* It has as many layers as the network has outputs, up to this number. */
    [TVLM_GRID_LEARNED] = {GRID("learned", NETWORK, TVLM_LEARNED_MAX / 4, MEAN, 0, -1), .ragged = true},
    [TVLM_GRID_QUERY] = {GRID("query", QUESTION, 1, MEAN, 0, 0), .scalar = true},
};

/* The application's own planes all have this entry; each one's reduction and range come with it
 * (tvlm_stack_set_user). */
static const tvlm_grid_info user_grid = {GRID("user", GIVEN, 1, MEAN, 0, 0), .scalar = true, .in = CLAMPED};

/* ---- Channels: runs of numbers with one name, or one name and an index ---- */

typedef struct channel_row {
    /* The row is for the channels first .. first + count - 1. */
    int32_t first, count;
    /* The index of the first one in its name (16 in embedding_16), or -1 if the name has no index. */
    int32_t index;
    const char *name, *family;
    float low, high;
    bool identifier;
    /* The place of the first channel. A run of channels fills the components of a layer, and then those of
     * the next layer. Where `layers` is set it fills one component of successive layers instead. */
    tvlm_channel_place place;
    bool layers;
} channel_row;

/* STORED, STORED_ID and FORMULA are one channel, of a grid or of a formula. STORED_RUN and FORMULA_RUN are
 * several. */
#define STORED(NUMBER, NAME, FAMILY, LOW, HIGH, GRID, LAYER, COMPONENT)                                      \
    { NUMBER, 1, -1, NAME, FAMILY, LOW, HIGH, false, {TVLM_GRID_##GRID, LAYER, COMPONENT}, false }
#define STORED_RUN(NUMBER, COUNT, INDEX, NAME, FAMILY, LOW, HIGH, GRID, LAYER)                               \
    { NUMBER, COUNT, INDEX, NAME, FAMILY, LOW, HIGH, false, {TVLM_GRID_##GRID, LAYER, 0}, false }
#define STORED_ID(NUMBER, NAME, FAMILY, LOW, HIGH, GRID, LAYER, COMPONENT)                                   \
    { NUMBER, 1, -1, NAME, FAMILY, LOW, HIGH, true, {TVLM_GRID_##GRID, LAYER, COMPONENT}, false }
#define FORMULA(NUMBER, NAME, FAMILY, COMPONENT)                                                             \
    { NUMBER, 1, -1, NAME, FAMILY, 0.0f, 1.0f, false, {TVLM_GRID_FORMULA, 0, COMPONENT}, false }
#define FORMULA_RUN(NUMBER, COUNT, NAME, FAMILY, LAYER, COMPONENT)                                           \
    { NUMBER, COUNT, 0, NAME, FAMILY, 0.0f, 1.0f, false, {TVLM_GRID_FORMULA, LAYER, COMPONENT}, true }
/* The rows are in ascending order of their numbers, so a search can stop early. */
static const channel_row rows[] = {
    STORED(0, "r", "visual", 0.0f, 1.0f, SOURCE, 0, 0),
    STORED(1, "g", "visual", 0.0f, 1.0f, SOURCE, 0, 1),
    STORED(2, "b", "visual", 0.0f, 1.0f, SOURCE, 0, 2),
    STORED(3, "edges", "visual", 0.0f, 1.0f, VISUAL, 0, 0),
    STORED(4, "edges_inv", "visual", 0.0f, 1.0f, VISUAL, 0, 1),
    STORED(5, "high", "visual", 0.0f, 1.0f, VISUAL, 0, 2),
    STORED(6, "low", "visual", 0.0f, 1.0f, VISUAL, 0, 3),
    STORED(7, "motion", "motion", 0.0f, 1.0f, MOTION, 0, 0),
    STORED(8, "saliency", "saliency", 0.0f, 1.0f, SALIENCY, 0, 0),
    FORMULA(9, "x", "position", 0),
    FORMULA(10, "y", "position", 1),
    FORMULA(11, "eccentricity", "position", 2),
    STORED_ID(12, "cluster_id", "cluster", 0.0f, 2047.0f, CLUSTER, 0, 0),
    STORED(13, "cluster_distance", "cluster", 0.0f, 1.0f, CLUSTER, 0, 1),
    STORED(14, "cluster_size", "cluster", 0.0f, 1.0f, CLUSTER, 0, 2),
    STORED(15, "prev_relevance", "temporal", 0.0f, 1.0f, TEMPORAL, 0, 0),
    STORED(16, "prev_saliency", "temporal", 0.0f, 1.0f, TEMPORAL, 0, 1),
    STORED(17, "fixation", "temporal", 0.0f, 1.0f, TEMPORAL, 0, 2),
    STORED_RUN(TVLM_CHANNEL_EMBEDDING_0, 16, 0, "embedding", "embedding", -1.0f, 1.0f, EMBEDDING, 0),
    STORED(34, "distance", "distance", 0.0f, 1.0f, DISTANCE, 0, 0),
    STORED(35, "attention_prev", "attention", 0.0f, 1.0f, ATTENTION_PREV, 0, 0),
    STORED(36, "attention", "attention", 0.0f, 1.0f, ATTENTION, 0, 0),
    STORED(37, "gaze", "attention", 0.0f, 1.0f, GAZE, 0, 0),
    STORED(38, "boundary", "cluster", 0.0f, 1.0f, CLUSTER, 0, 3),
    STORED(39, "text", "text", 0.0f, 1.0f, TEXT, 0, 0),
    STORED(40, "laplacian", "detail", -1.0f, 1.0f, LAPLACIAN, 0, 0),
    STORED(41, "entropy", "detail", 0.0f, 1.0f, ENTROPY, 0, 0),
    STORED(42, "edge_x", "gradient", -1.0f, 1.0f, GRADIENT, 0, 0),
    STORED(43, "edge_y", "gradient", -1.0f, 1.0f, GRADIENT, 0, 1),
    STORED(44, "rgb_var", "gradient", 0.0f, 1.0f, GRADIENT, 0, 2),
    STORED(45, "rgb_mean", "gradient", 0.0f, 1.0f, GRADIENT, 0, 3),
    STORED(46, "saliency_fine", "saliency", 0.0f, 1.0f, SALIENCY, 0, 1),
    STORED(47, "saliency_mid", "saliency", 0.0f, 1.0f, SALIENCY, 0, 2),
    STORED(48, "saliency_coarse", "saliency", 0.0f, 1.0f, SALIENCY, 0, 3),
    STORED(49, "flow_u", "motion", -INFINITY, INFINITY, FLOW, 0, 0),
    STORED(50, "flow_v", "motion", -INFINITY, INFINITY, FLOW, 0, 1),
    STORED(51, "flow_confidence", "motion", 0.0f, 1.0f, FLOW, 0, 2),
    STORED(52, "depth", "scene", -INFINITY, INFINITY, DEPTH, 0, 0),
    STORED(53, "occlusion", "scene", 0.0f, 1.0f, OCCLUSION, 0, 0),
    STORED_ID(54, "object_id", "scene", 0.0f, 2048.0f, OBJECT, 0, 0),
    STORED(55, "normal_x", "scene", -1.0f, 1.0f, NORMAL, 0, 0),
    STORED(56, "normal_y", "scene", -1.0f, 1.0f, NORMAL, 0, 1),
    STORED(57, "normal_z", "scene", -1.0f, 1.0f, NORMAL, 0, 2),
    STORED(58, "query_similarity", "query", -1.0f, 1.0f, QUERY, 0, 0),
    STORED(59, "previous_pass", "query", 0.0f, 1.0f, PREVIOUS_PASS, 0, 0),
    STORED_RUN(TVLM_CHANNEL_WORD_0, TVLM_WORDS_MAX, 0, "word", "words", -1.0f, 1.0f, WORDS, 0),
    STORED_RUN(TVLM_CHANNEL_FEATURE_0, TVLM_FEATURES_MAX, 0, "feature", "features", -INFINITY, INFINITY,
               FEATURES, 0),
    STORED_RUN(TVLM_CHANNEL_EMBEDDING_16, TVLM_EMBEDDING_MAX - 16, 16, "embedding", "embedding", -1.0f, 1.0f,
               EMBEDDING, 4),
    STORED(TVLM_CHANNEL_SHARPNESS, "sharpness", "detail", 0.0f, 1.0f, SHARPNESS, 0, 0),
    STORED_RUN(TVLM_CHANNEL_LEARNED_0, TVLM_LEARNED_MAX, 0, "learned", "learned", -INFINITY, INFINITY,
               LEARNED, 0),
    FORMULA_RUN(TVLM_CHANNEL_ROPE_X_COS_0, TVLM_ROPE_MAX, "rope_x_cos", "position", TVLM_FORMULA_ROPE, 0),
    FORMULA_RUN(TVLM_CHANNEL_ROPE_X_SIN_0, TVLM_ROPE_MAX, "rope_x_sin", "position", TVLM_FORMULA_ROPE, 1),
    FORMULA_RUN(TVLM_CHANNEL_ROPE_Y_COS_0, TVLM_ROPE_MAX, "rope_y_cos", "position", TVLM_FORMULA_ROPE, 2),
    FORMULA_RUN(TVLM_CHANNEL_ROPE_Y_SIN_0, TVLM_ROPE_MAX, "rope_y_sin", "position", TVLM_FORMULA_ROPE, 3),
    STORED_ID(TVLM_CHANNEL_VOCAB_ID, "vocab_id", "vocab", 0.0f, 65535.0f, VOCAB, 0, 0),
    STORED(TVLM_CHANNEL_VOCAB_RESIDUAL, "vocab_residual", "vocab", 0.0f, 2.0f, VOCAB, 0, 1),
};

#define ROW_COUNT (sizeof rows / sizeof rows[0])

static const channel_row *find_row(int32_t channel) {
    for (size_t i = 0; i < ROW_COUNT && rows[i].first <= channel; ++i)
        if (channel - rows[i].first < rows[i].count) return &rows[i];
    return NULL;
}

const tvlm_grid_info *tvlm_grid_get_info(tvlm_grid grid) {
    return grid >= TVLM_GRID_USER_0 && grid <= TVLM_GRID_USER_LAST ? &user_grid : &grids[grid];
}

tvlm_channel_place tvlm_channel_get_place(int32_t channel) {
    const channel_row *row = find_row(channel);
    tvlm_channel_place place = {TVLM_GRID_NONE, 0, 0};
    if (row == NULL || row->place.grid == TVLM_GRID_NONE) return place;
    const int32_t number = channel - row->first;
    const int32_t position =
        row->place.layer * 4 + row->place.component + (row->layers ? 4 * number : number);
    place.grid = row->place.grid;
    place.layer = position / 4;
    place.component = position % 4;
    return place;
}

/* A grid stands after all grids that it needs, so one downward pass collects them all. */
tvlm_grid_mask tvlm_grids_with_needs(tvlm_grid_mask mask) {
    for (int grid = TVLM_GRID_COUNT - 1; grid >= 0; --grid)
        if ((mask & TVLM_GRID_BIT(grid)) != 0) mask |= grids[grid].needs;
    return mask;
}

/* One upward pass collects all dependents. A replacing grid counts as a dependent of the grid that it
 * replaces: it holds that grid's channels for the images for which nothing was handed in. */
tvlm_grid_mask tvlm_grids_with_dependents(tvlm_grid_mask mask) {
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid) {
        int32_t first;
        if (tvlm_grid_get_replaced((tvlm_grid)grid, &first) > 0) {
            const tvlm_grid made = tvlm_channel_get_place(first).grid;
            if (made < TVLM_GRID_COUNT && (mask & TVLM_GRID_BIT(made)) != 0) mask |= TVLM_GRID_BIT(grid);
        }
        if ((mask & grids[grid].needs) != 0) mask |= TVLM_GRID_BIT(grid);
    }
    return mask;
}

/* ---- What is handed in ---- */

int32_t tvlm_grid_get_replaced(tvlm_grid grid, int32_t *first) {
#define CASE(ID, FIRST, COUNT)                                                                               \
    case TVLM_GRID_##ID: *first = FIRST; return COUNT;
    switch ((int)grid) {
        TVLM_REPLACING_GRIDS(CASE)
    default: return 0;
    }
#undef CASE
}

int32_t tvlm_grid_get_channel(tvlm_grid grid, int32_t position) {
    int32_t first;
    const int32_t replaced = tvlm_grid_get_replaced(grid, &first);
    if (replaced > 0) return position < replaced ? first + position : TVLM_CHANNEL_NONE;
    for (size_t i = 0; i < ROW_COUNT; ++i) {
        const int32_t after = position - (4 * rows[i].place.layer + rows[i].place.component);
        if (rows[i].place.grid == grid && after >= 0 && after < rows[i].count) return rows[i].first + after;
    }
    return TVLM_CHANNEL_NONE;
}

tvlm_channel_place tvlm_channel_get_replacement(int32_t channel) {
#define TRY(ID, FIRST, COUNT)                                                                                \
    if (channel >= (FIRST) && channel < (FIRST) + (COUNT))                                                   \
        return (tvlm_channel_place){TVLM_GRID_##ID, 0, channel - (FIRST)};
    TVLM_REPLACING_GRIDS(TRY)
#undef TRY
    return (tvlm_channel_place){TVLM_GRID_NONE, 0, 0};
}

tvlm_range tvlm_range_of(const tvlm_channel_info *info) {
    if (info->identifier || !(info->low >= -1.0f && info->high <= 1.0f)) return TVLM_RANGE_ANY;
    return info->low >= 0.0f ? TVLM_RANGE_UNIT : TVLM_RANGE_SIGNED;
}

tvlm_range tvlm_grid_range(tvlm_grid grid) {
    tvlm_range all = TVLM_RANGE_ANY;
    int32_t first = 0;
    const int32_t replaced = tvlm_grid_get_replaced(grid, &first);
    if (tvlm_grid_get_info(grid)->size == TVLM_SIZE_QUESTION) return all;
    for (size_t i = 0; i < ROW_COUNT; ++i) {
        tvlm_channel_info info;
        const bool in_place = first >= rows[i].first && first < rows[i].first + rows[i].count;
        if (replaced > 0 ? !in_place : rows[i].place.grid != grid) continue;
        if (tvlm_channel_get_info(rows[i].first, &info) != TVLM_OK) continue; /* cannot fail */
        const tvlm_range range = tvlm_range_of(&info);
        if (range == TVLM_RANGE_ANY) return TVLM_RANGE_ANY;
        all = range > all ? range : all;
    }
    return all;
}

bool tvlm_grid_is_given(tvlm_grid grid) {
    return grid < TVLM_GRID_COUNT && tvlm_grid_get_info(grid)->size == TVLM_SIZE_GIVEN;
}

bool tvlm_grid_is_unit(tvlm_grid grid) {
    return grid < TVLM_GRID_COUNT && tvlm_grid_get_info(grid)->unit;
}

tvlm_grid_mask tvlm_grids_that_guide(void) {
    tvlm_grid_mask mask = 0;
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid)
        if (grids[grid].guides) mask |= TVLM_GRID_BIT(grid);
    return mask;
}

#define GRID_OF(FIELD, WHICH)                                                                                \
    int grid = 0;                                                                                            \
    while (grids[grid].FIELD != 1 + (int)(WHICH)) ++grid;                                                    \
    return (tvlm_grid)grid

tvlm_grid tvlm_grid_of_previous(tvlm_previous which) {
    GRID_OF(previous, which);
}

tvlm_grid tvlm_grid_of_carried(tvlm_carried which) {
    GRID_OF(carried, which);
}

tvlm_grid tvlm_grid_of_streamed(tvlm_streamed which) {
    GRID_OF(streamed, which);
}

bool tvlm_grid_is_local(tvlm_grid grid) {
    const tvlm_grid_info *info = tvlm_grid_get_info(grid);
    bool of_source = false;
    for (int need = 0; need < TVLM_GRID_COUNT; ++need) {
        if ((info->needs & TVLM_GRID_BIT(need)) == 0) continue;
        if (need == TVLM_GRID_SOURCE || tvlm_grid_is_local((tvlm_grid)need))
            of_source = true;
        else
            return false;
    }
    return of_source && info->reach >= 0;
}

/* ---- channels.h: single channels ---- */

static bool is_handed_in(const tvlm_grid_info *grid) {
    return grid->size == TVLM_SIZE_GIVEN || grid->size == TVLM_SIZE_LIKE || grid->size == TVLM_SIZE_QUESTION;
}

tvlm_status tvlm_channel_get_info(int32_t channel, tvlm_channel_info *info) {
    const channel_row *row = find_row(channel);
    TVLM_NEED(NULL, row);
    TVLM_NEED(NULL, info);
    memset(info, 0, sizeof *info);
    if (row->index < 0)
        snprintf(info->name, sizeof info->name, "%s", row->name);
    else
        snprintf(info->name, sizeof info->name, "%s_%d", row->name, (int)(row->index + channel - row->first));
    info->family = row->family;
    info->channel = channel;
    info->low = row->low;
    info->high = row->high;
    info->identifier = row->identifier;
    info->available =
        row->place.grid != TVLM_GRID_NONE || tvlm_channel_get_replacement(channel).grid != TVLM_GRID_NONE;
    info->handed_in = row->place.grid < TVLM_GRID_COUNT && is_handed_in(tvlm_grid_get_info(row->place.grid));
    return TVLM_OK;
}

/* Returns 17 for "word_17", if `name` is `stem`_N with N written as the library writes it (no sign, no
 * leading zero); otherwise -1. */
static int32_t name_index(const char *name, const char *stem) {
    const size_t length = strlen(stem);
    if (strncmp(name, stem, length) != 0 || name[length] != '_') return -1;
    const char *digits = name + length + 1;
    const size_t count = strspn(digits, "0123456789");
    if (count == 0 || count > 5 || digits[count] != '\0' || (count > 1 && digits[0] == '0')) return -1;
    return (int32_t)strtol(digits, NULL, 10);
}

int32_t tvlm_channel_find(const char *name) {
    if (name == NULL) return TVLM_CHANNEL_NONE;
    for (size_t i = 0; i < ROW_COUNT; ++i) {
        const channel_row *row = &rows[i];
        if (row->index < 0) {
            if (strcmp(name, row->name) == 0) return row->first;
            continue;
        }
        const int32_t index = name_index(name, row->name);
        if (index >= row->index && index - row->index < row->count) return row->first + index - row->index;
    }
    return TVLM_CHANNEL_NONE;
}
