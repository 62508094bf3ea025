/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose.c: scores the tokens of pictures, shares the budget among the pictures, and chooses tokens.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "export/inside.h"
#include "select/budget.h"
#include "select/ranking.h"
#include "stack/query.h"
#include "stack/stack.h"
#include "stack/upload.h"

/* If no budget is given, one in this many tokens is selected. */
#define DEFAULT_SHARE 4

/* ---- Scores ---- */

/* Makes a stack of that size, unless the last one can be used again. Its layout has the channels that the
 * default score reads. The channels that a scorer needs are added when it reads them. */
static tvlm_status size_stack(tvlm_export *export, int32_t width, int32_t height) {
    const struct tvlm_stack_params params = {.layout = "edges,saliency,eccentricity,entropy",
                                             .width = width,
                                             .height = height,
                                             .format = export->format,
                                             .clusters = export->inputs.clusters,
                                             .network = export->inputs.network};
    if (export->inputs.set == NULL && export->stack != NULL && tvlm_stack_width(export->stack) == width &&
        tvlm_stack_height(export->stack) == height)
        return TVLM_OK;
    tvlm_stack_destroy(&export->stack);
    return tvlm_stack_create(export->device, &params, &export->stack);
}

/* The candidates of one frame. Their cells begin at the corners of tokens. If pixels are left over beside the
 * last tokens, there is one more column or row of candidates than of tokens. */
typedef struct cells {
    int32_t columns, rows;
    float *scores;
} cells;

/* Sets the features of a frame. If it has none, those of the frame before are cleared. */
static tvlm_status set_features(tvlm_export *export, const struct tvlm_grid_input *features) {
    if (features != NULL && features->data != NULL)
        return tvlm_stack_set_grid(export->stack, 0, TVLM_CHANNEL_FEATURE_0, features);
    return tvlm_stack_clear_grid(export->stack, 0, TVLM_CHANNEL_FEATURE_0);
}

tvlm_status tvlm_export_look(tvlm_export *export, const struct tvlm_grid_input *features,
                             const export_picture *picture, int32_t frame) {
    const tvlm_export_picture *info = &picture->info;
    const export_place *const at = &picture->place;
    const size_t row = (size_t)info->width * 3, bytes = row * (size_t)info->height;
    tvlm_pixels pixels = {info->width, info->height, 3, TVLM_PIXEL_U8, bytes * (size_t)frame, row};
    if (at->black) { /* the black around the image is not part of it */
        pixels.width = (int32_t)at->width;
        pixels.height = (int32_t)at->height;
        pixels.offset += (size_t)-at->top * row + (size_t)-at->left * 3;
    }
    TVLM_TRY(size_stack(export, pixels.width, pixels.height));
    TVLM_TRY(tvlm_stack_source_from_buffer(export->stack, 0, picture->bytes, &pixels));
    TVLM_TRY(set_features(export, features));
    if (export->inputs.set == NULL) return TVLM_OK;
    return export->inputs.set(export->inputs.user, picture->first_image + frame, export->stack);
}

const struct tvlm_query *tvlm_export_question(const struct tvlm_query *queries, int32_t frame) {
    const bool asked =
        queries != NULL && (queries[frame].similarity != NULL || tvlm_query_has_vectors(&queries[frame]));
    return asked ? &queries[frame] : NULL;
}

static tvlm_status score_frame(tvlm_export *export, const struct tvlm_grid_input *features,
                               const struct tvlm_query *query, const export_picture *picture, int32_t frame,
                               cells *c) {
    const struct tvlm_score_params params = {.stride = (float)(export->patch * export->merge),
                                             .weights = export->weighted ? export->weights : NULL,
                                             .scorer = export->scorer};
    TVLM_TRY(tvlm_export_look(export, features, picture, frame));
    TVLM_TRY(tvlm_score_size(export->stack, &params, &c->columns, &c->rows));
    const size_t count = (size_t)c->columns * (size_t)c->rows;
    if (c->scores == NULL) c->scores = tvlm_allocate(count, sizeof *c->scores);
    if (c->scores == NULL)
        return tvlm_fail(&export->device->log, TVLM_ERROR_MEMORY, "no memory for %zu scores", count);
    return tvlm_score(export->stack, query, &params, count, c->scores);
}

/* Takes over the scores of a frame. A token that covers several frames gets its best score among them. */
static void keep_best(const tvlm_export *export, export_picture *picture, int32_t frame, const cells *c) {
    const int32_t merge = export->merge, temporal = export->processor.temporal;
    const int32_t columns = picture->info.grid_w / merge, rows = picture->info.grid_h / merge;
    float *scores = picture->scores + (size_t)(frame / temporal) * (size_t)(columns * rows);
    for (int32_t y = 0; y < rows; ++y)
        for (int32_t x = 0; x < columns; ++x) {
            const float score = c->scores[(size_t)y * (size_t)c->columns + (size_t)x];
            float *best = &scores[y * columns + x];
            *best = frame % temporal == 0 ? score : fmaxf(*best, score);
        }
}

tvlm_status tvlm_export_score(tvlm_export *export, const struct tvlm_grid_input *features,
                              const struct tvlm_query *queries, export_picture *picture) {
    cells c = {0};
    tvlm_status status = TVLM_OK;
    for (int32_t frame = 0; status == TVLM_OK && frame < picture->frames; ++frame) {
        export->current = picture->first_image + frame;
        status = score_frame(export, features != NULL ? &features[frame] : NULL,
                             tvlm_export_question(queries, frame), picture, frame, &c);
        if (status == TVLM_OK) keep_best(export, picture, frame, &c);
    }
    free(c.scores);
    return status;
}

/* ---- Budget ---- */

/*
 * Shares the budget among the images in proportion to their tokens. Each part is rounded down, but is at
 * least 1. If parts that were raised to 1 bring the sum over the budget, the surplus is taken, one token at a
 * time, from the image that has most. What is left over goes to the images in their order, one token at a
 * time.
 */
static void share(tvlm_export *export, int64_t tokens) {
    int64_t left = export->budget;
    for (int32_t i = 0; i < export->images; ++i) {
        export_picture *const full = &export->pictures[i];
        const int64_t part = (int64_t) export->budget * full->all / tokens;
        full->granted = (int32_t)(part > 1 ? part : 1);
        left -= full->granted;
    }
    for (; left < 0; ++left) {
        export_picture *most = &export->pictures[0];
        for (int32_t i = 1; i < export->images; ++i)
            if (export->pictures[i].granted > most->granted) most = &export->pictures[i];
        --most->granted;
    }
    for (int32_t i = 0; left > 0; i = (i + 1) % export->images) {
        export_picture *const full = &export->pictures[i];
        /* The loop ends, since the budget is less than all tokens, so that some image has room. */
        if (full->granted == full->all) continue;
        ++full->granted;
        --left;
    }
}

static const char *unit_of(const tvlm_export *export) {
    return tvlm_export_family(&export->processor) == EXPORT_CROPS ? "crops" : "tokens";
}

/* Grants each image a share of its tokens or crops. */
static tvlm_status take_share(tvlm_export *export) {
    const float part = export->spending.budget.share;
    for (int32_t i = 0; i < export->images; ++i) {
        export_picture *const full = &export->pictures[i];
        full->granted = (int32_t)tvlm_budget_count(part, full->all);
        if (full->granted > 0) continue;
        export->current = i;
        return tvlm_fail(&export->device->log, TVLM_ERROR_ARGUMENT, "a share of %g of %d %s is less than one",
                         (double)part, (int)full->all, unit_of(export));
    }
    return TVLM_OK;
}

tvlm_status tvlm_export_share(tvlm_export *export) {
    int64_t tokens = 0;
    if (export->spending.budget.share != 0.0f) return take_share(export);
    for (int32_t i = 0; i < export->images; ++i) tokens += export->pictures[i].all;
    if (export->budget > 0 && export->budget < export->images)
        return tvlm_fail(&export->device->log, TVLM_ERROR_ARGUMENT,
                         "a budget of %d %s for %d pictures; each has at least one", (int)export->budget,
                         unit_of(export), (int)export->images);
    if (export->budget > 0 && export->budget < tokens) {
        share(export, tokens);
        return TVLM_OK;
    }
    /* How many tokens a tolerance takes is known only once the losses are known. So all tokens are
     * granted. */
    const bool every = export->all || export->budget > 0 || export->spending.budget.tolerance != 0.0f;
    for (int32_t i = 0; i < export->images; ++i) {
        export_picture *const full = &export->pictures[i];
        const int32_t part = full->all / DEFAULT_SHARE;
        full->granted = every ? full->all : part > 1 ? part : 1;
    }
    return TVLM_OK;
}

/* ---- Choice ---- */

static tvlm_status no_memory(const tvlm_export *export, const export_picture *picture) {
    return tvlm_fail(&export->device->log, TVLM_ERROR_MEMORY, "no memory for %d tokens",
                     (int)picture->info.tokens);
}

tvlm_status tvlm_export_room(const tvlm_export *export, export_picture *picture) {
    const size_t tokens = (size_t)picture->info.tokens, selected = (size_t)picture->info.selected;
    float *const scores = realloc(picture->scores, tokens * sizeof *scores);
    if (scores == NULL) return no_memory(export, picture);
    picture->scores = scores;
    int32_t *const chosen = realloc(picture->chosen, (selected > 0 ? selected : 1) * sizeof *chosen);
    if (chosen == NULL) return no_memory(export, picture);
    picture->chosen = chosen;
    memset(scores, 0, tokens * sizeof *scores);
    return TVLM_OK;
}

static int rising(const void *a, const void *b) {
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

void tvlm_export_sort(export_picture *picture) {
    qsort(picture->chosen, (size_t)picture->info.selected, sizeof *picture->chosen, rising);
}

/* Ranks on the host, where the scores are. Ranking a few thousand scores takes less time than a device takes
 * to answer. */
tvlm_status tvlm_export_choose(tvlm_export *export, export_picture *picture) {
    const int32_t tokens = picture->info.tokens;
    tvlm_ranked *const ranking = tvlm_allocate((size_t)tokens, sizeof *ranking);
    if (ranking == NULL) return no_memory(export, picture);
    for (int32_t i = 0; i < tokens; ++i) ranking[i] = (tvlm_ranked){i, picture->scores[i]};
    qsort(ranking, (size_t)tokens, sizeof *ranking, tvlm_ranked_compare);
    for (int32_t i = 0; i < picture->info.selected; ++i) picture->chosen[i] = ranking[i].index;
    free(ranking);
    tvlm_export_sort(picture);
    return TVLM_OK;
}
