/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two tables that everything else is derived from. A new family is its rows in `grids` and `rows`, its
 * line in TVLM_GENERATED_GRIDS (registry.h), and a function of that name in each backend.
 */
#include "core/registry.h"
#include "core/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/constants.h"
#include "texturevlm/layout.h"

#define BIT(ID) TVLM_GRID_BIT(TVLM_GRID_##ID)
#define REDUCE_MEAN                                                                                          \
    { TVLM_REDUCE_MEAN, TVLM_REDUCE_MEAN, TVLM_REDUCE_MEAN, TVLM_REDUCE_MEAN }

#define REDUCE_MAX                                                                                           \
    { TVLM_REDUCE_MAX, TVLM_REDUCE_MAX, TVLM_REDUCE_MAX, TVLM_REDUCE_MAX }

#define REDUCE_MODE                                                                                          \
    { TVLM_REDUCE_MODE, TVLM_REDUCE_MODE, TVLM_REDUCE_MODE, TVLM_REDUCE_MODE }

#define REDUCE_MIN                                                                                           \
    { TVLM_REDUCE_MIN, TVLM_REDUCE_MIN, TVLM_REDUCE_MIN, TVLM_REDUCE_MIN }

/* ---- Grids: name, size, layers, reduce, needs, reach ---- */

static const tvlm_grid_info grids[TVLM_GRID_COUNT] = {
    [TVLM_GRID_SOURCE] = {"source", TVLM_SIZE_IMAGE, 1, REDUCE_MEAN, 0, 0},
    /* flow_u, flow_v, flow_confidence */
    [TVLM_GRID_FLOW] = {"flow", TVLM_SIZE_GIVEN, 1, REDUCE_MEAN, 0, 0},
    [TVLM_GRID_ATTENTION_PREV] = {"attention_prev", TVLM_SIZE_GIVEN, 1, REDUCE_MEAN, 0, 0},
    [TVLM_GRID_ATTENTION] = {"attention", TVLM_SIZE_GIVEN, 1, REDUCE_MEAN, 0, 0},
    [TVLM_GRID_GAZE] = {"gaze", TVLM_SIZE_GIVEN, 1, REDUCE_MEAN, 0, 0},
    /* as many layers as the vectors handed in need */
    [TVLM_GRID_EMBEDDING] = {"embedding", TVLM_SIZE_GIVEN, TVLM_EMBEDDING_MAX / 4, REDUCE_MEAN, 0, 0},
    [TVLM_GRID_DEPTH] = {"depth", TVLM_SIZE_GIVEN, 1, REDUCE_MEAN, 0, 0},
    [TVLM_GRID_OBJECT] = {"object", TVLM_SIZE_GIVEN, 1, REDUCE_MODE, 0, 0},
    /* as many layers as the vectors need; levels only once a channel is read (stack/features.c) */
    [TVLM_GRID_FEATURES] = {"features", TVLM_SIZE_GIVEN, TVLM_FEATURES_MAX / 4, REDUCE_MEAN, 0, 0},
    [TVLM_GRID_WORDS] = {"words", TVLM_SIZE_GIVEN, TVLM_WORDS_MAX / 4, REDUCE_MEAN, 0, 0},
    [TVLM_GRID_PREVIOUS_PASS] = {"previous_pass", TVLM_SIZE_GIVEN, 1, REDUCE_MEAN, 0, 0},
    /* edges, edges_inv, high, low: the 5x5 binomial looks two pixels away */
    [TVLM_GRID_VISUAL] = {"visual", TVLM_SIZE_IMAGE, 1, REDUCE_MEAN, BIT(SOURCE), 2},
    /* scaled by the image's maximum, hence the whole image */
    [TVLM_GRID_SALIENCY] = {"saliency", TVLM_SIZE_QUARTER, 1, REDUCE_MEAN, BIT(SOURCE), -1},
    [TVLM_GRID_LAPLACIAN] = {"laplacian", TVLM_SIZE_IMAGE, 1, REDUCE_MEAN, BIT(SOURCE), 1},
    [TVLM_GRID_ENTROPY] = {"entropy", TVLM_SIZE_CELLS, 1, REDUCE_MEAN, BIT(SOURCE), 0},
    [TVLM_GRID_GRADIENT] = {"gradient", TVLM_SIZE_IMAGE, 1, REDUCE_MEAN, BIT(SOURCE), 1},
    [TVLM_GRID_DISTANCE] = {"distance", TVLM_SIZE_IMAGE, 1, REDUCE_MIN, BIT(VISUAL), -1},
    /* these two also need the previous frame, which is no grid: tvlm_generate_args.previous */
    [TVLM_GRID_MOTION] = {"motion", TVLM_SIZE_HALF, 1, REDUCE_MAX, BIT(SOURCE), 1},
    [TVLM_GRID_TEMPORAL] = {"temporal", TVLM_SIZE_CELLS, 1, REDUCE_MEAN, BIT(SOURCE) | BIT(FLOW), -1},
    [TVLM_GRID_OCCLUSION] = {"occlusion", TVLM_SIZE_DEPTH, 1, REDUCE_MAX, BIT(DEPTH), 1},
    [TVLM_GRID_NORMAL] = {"normal", TVLM_SIZE_DEPTH, 1, REDUCE_MEAN, BIT(DEPTH), 1},
    [TVLM_GRID_MOTION_MAP] = {"motion_map", TVLM_SIZE_GIVEN, 1, REDUCE_MAX, 0, 0},
    [TVLM_GRID_SALIENCY_MAP] = {"saliency_map", TVLM_SIZE_GIVEN, 1, REDUCE_MEAN, 0, 0},
    [TVLM_GRID_TEXT_MAP] = {"text_map", TVLM_SIZE_GIVEN, 1, REDUCE_MAX, 0, 0},
    [TVLM_GRID_OCCLUSION_MAP] = {"occlusion_map", TVLM_SIZE_GIVEN, 1, REDUCE_MAX, 0, 0},
    [TVLM_GRID_NORMAL_MAP] = {"normal_map", TVLM_SIZE_GIVEN, 1, REDUCE_MEAN, 0, 0},
    /* id, distance, size, boundary */
    [TVLM_GRID_CLUSTER] = {"cluster",
                           TVLM_SIZE_IMAGE,
                           1,
                           {TVLM_REDUCE_MODE, TVLM_REDUCE_MEAN, TVLM_REDUCE_MEAN, TVLM_REDUCE_MAX},
                           BIT(SOURCE),
                           -1},
    /* windows of the coarsest level, their quiet neighbours, what marks grow by; and as a level's blocks do
     * not lie on the image's pixels, somewhat more */
    [TVLM_GRID_TEXT] = {"text", TVLM_SIZE_QUARTER, 1, REDUCE_MAX, BIT(SOURCE),
                        (TVLM_TEXT_APART + TVLM_TEXT_RY + TVLM_TEXT_GROW_Y + 3) * TVLM_TEXT_BLOCK
                            << (TVLM_TEXT_LEVELS - 1)},
    [TVLM_GRID_QUERY] = {"query", TVLM_SIZE_GIVEN, 1, REDUCE_MEAN, 0, 0},
};

/* The application's own planes: all alike, but for the reduction that comes with each (tvlm_stack_set_user).
 */
static const tvlm_grid_info user_grid = {"user", TVLM_SIZE_GIVEN, 1, REDUCE_MEAN, 0, 0};

/* ---- Channels: runs of numbers with one name, or one name and an index ---- */

typedef struct channel_row {
    int32_t first, count; /* numbers first .. first + count - 1 */
    int32_t index;        /* of the first one in its name (embedding_16); -1: the name stands alone */
    const char *name, *family;
    float low, high;
    bool identifier;
    tvlm_channel_place place; /* of the first one; a run fills components, then layers */
} channel_row;

/* One channel of a grid, or of a formula. */
#define STORED(NUMBER, NAME, FAMILY, LOW, HIGH, GRID, LAYER, COMPONENT)                                      \
    {                                                                                                        \
        NUMBER, 1, -1, NAME, FAMILY, LOW, HIGH, false, {                                                     \
            TVLM_GRID_##GRID, LAYER, COMPONENT                                                               \
        }                                                                                                    \
    }
#define STORED_RUN(NUMBER, COUNT, INDEX, NAME, FAMILY, LOW, HIGH, GRID, LAYER)                               \
    {                                                                                                        \
        NUMBER, COUNT, INDEX, NAME, FAMILY, LOW, HIGH, false, {                                              \
            TVLM_GRID_##GRID, LAYER, 0                                                                       \
        }                                                                                                    \
    }
#define STORED_ID(NUMBER, NAME, FAMILY, LOW, HIGH, GRID, LAYER, COMPONENT)                                   \
    {                                                                                                        \
        NUMBER, 1, -1, NAME, FAMILY, LOW, HIGH, true, {                                                      \
            TVLM_GRID_##GRID, LAYER, COMPONENT                                                               \
        }                                                                                                    \
    }
#define FORMULA(NUMBER, NAME, FAMILY, COMPONENT)                                                             \
    {                                                                                                        \
        NUMBER, 1, -1, NAME, FAMILY, 0.0f, 1.0f, false, {                                                    \
            TVLM_GRID_FORMULA, 0, COMPONENT                                                                  \
        }                                                                                                    \
    }
/* By number, ascending: a search may stop early. */
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
    const int32_t position = row->place.layer * 4 + row->place.component + channel - row->first;
    place.grid = row->place.grid;
    place.layer = position / 4;
    place.component = position % 4;
    return place;
}

/* Needs stand before what needs them, so one pass downwards collects them all. */
tvlm_grid_mask tvlm_grids_with_needs(tvlm_grid_mask mask) {
    for (int grid = TVLM_GRID_COUNT - 1; grid >= 0; --grid)
        if ((mask & TVLM_GRID_BIT(grid)) != 0) mask |= grids[grid].needs;
    return mask;
}

/* And one pass upwards what needs them. A replacing grid may hold some of what it replaces. */
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

tvlm_channel_place tvlm_channel_get_replacement(int32_t channel) {
#define TRY(ID, FIRST, COUNT)                                                                                \
    if (channel >= (FIRST) && channel < (FIRST) + (COUNT))                                                   \
        return (tvlm_channel_place){TVLM_GRID_##ID, 0, channel - (FIRST)};
    TVLM_REPLACING_GRIDS(TRY)
#undef TRY
    return (tvlm_channel_place){TVLM_GRID_NONE, 0, 0};
}

bool tvlm_grid_is_given(tvlm_grid grid) {
    return grid < TVLM_GRID_COUNT && grid != TVLM_GRID_QUERY &&
           tvlm_grid_get_info(grid)->size == TVLM_SIZE_GIVEN;
}

bool tvlm_grid_is_unit(tvlm_grid grid) {
    return grid == TVLM_GRID_EMBEDDING || grid == TVLM_GRID_NORMAL || grid == TVLM_GRID_NORMAL_MAP;
}

/* ---- layout.h: single channels ---- */

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
    return TVLM_OK;
}

/* "word_17" to 17 when `name` is `stem`_N with N written as we write it (no sign, no leading zero); else -1.
 */
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
