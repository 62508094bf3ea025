/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choose.c: scores the tokens of pictures, shares the budget among the pictures, and chooses tokens.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "export/inside.h"
#include "stack/query.h"
#include "stack/stack.h"
#include "stack/upload.h"

/* Without a budget, one token of so many is selected. */
#define DEFAULT_SHARE 4

/* ---- Scores ---- */

/* Makes a stack of the processed size. Its layout is what the default score reads; the channels of a scorer
 * are added when it reads them. */
static tvlm_status size_stack(tvlm_export *export, const tvlm_export_picture *info) {
    const struct tvlm_stack_params params = {.layout = "edges,saliency,eccentricity,entropy",
                                             .width = info->width,
                                             .height = info->height,
                                             .format = export->format};
    if (export->stack != NULL && tvlm_stack_width(export->stack) == info->width &&
        tvlm_stack_height(export->stack) == info->height)
        return TVLM_OK;
    tvlm_stack_destroy(&export->stack);
    return tvlm_stack_create(export->device, &params, &export->stack);
}

/* The candidates of one frame, whose cells begin at the corners of tokens. There may be one more column and
 * row than there are of tokens, where pixels are left over. */
typedef struct cells {
    int32_t columns, rows;
    float *scores;
} cells;

/* Sets the features of a frame. A frame without any does not keep those of the frame before. */
static tvlm_status set_features(tvlm_export *export, const struct tvlm_grid_input *features) {
    if (features != NULL && features->data != NULL)
        return tvlm_stack_set_grid(export->stack, 0, TVLM_CHANNEL_FEATURE_0, features);
    return tvlm_stack_clear_grid(export->stack, 0, TVLM_CHANNEL_FEATURE_0);
}

static tvlm_status score_frame(tvlm_export *export, const struct tvlm_grid_input *features,
                               const struct tvlm_query *query, const export_picture *picture, int32_t frame,
                               cells *c) {
    const tvlm_export_picture *info = &picture->info;
    const size_t row = (size_t)info->width * 3, bytes = row * (size_t)info->height;
    const tvlm_pixels pixels = {info->width, info->height, 3, TVLM_PIXEL_U8, bytes * (size_t)frame, row};
    const struct tvlm_score_params params = {.stride =
                                                 (float)(export->processor.patch * export->processor.merge),
                                             .weights = export->weighted ? export->weights : NULL,
                                             .scorer = export->scorer};
    TVLM_TRY(tvlm_stack_source_from_buffer(export->stack, 0, picture->bytes, &pixels));
    TVLM_TRY(set_features(export, features));
    TVLM_TRY(tvlm_score_size(export->stack, &params, &c->columns, &c->rows));
    const size_t count = (size_t)c->columns * (size_t)c->rows;
    if (c->scores == NULL) c->scores = tvlm_allocate(count, sizeof *c->scores);
    if (c->scores == NULL)
        return tvlm_fail(&export->device->log, TVLM_ERROR_MEMORY, "no memory for %zu scores", count);
    return tvlm_score(export->stack, query, &params, count, c->scores);
}

/* Takes the scores of a frame. A token of several frames has the best of its scores. */
static void keep_best(const tvlm_export *export, export_picture *picture, int32_t frame, const cells *c) {
    const int32_t merge = export->processor.merge, temporal = export->processor.temporal;
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
    tvlm_status status = size_stack(export, &picture->info);
    for (int32_t frame = 0; status == TVLM_OK && frame < picture->frames; ++frame) {
        export->current = picture->first_image + frame;
        const bool asked =
            queries != NULL && (queries[frame].similarity != NULL || tvlm_query_has_vectors(&queries[frame]));
        status = score_frame(export, features != NULL ? &features[frame] : NULL,
                             asked ? &queries[frame] : NULL, picture, frame, &c);
        if (status == TVLM_OK) keep_best(export, picture, frame, &c);
    }
    free(c.scores);
    return status;
}

/* ---- Budget ---- */

static int64_t token_count(const tvlm_export *export) {
    const tvlm_export_picture *last = &export->pictures[export->count - 1].info;
    return (int64_t)last->first_token + last->tokens;
}

/*
 * Shares the budget in proportion to tokens, rounded down, but at least 1. If the pictures that were rounded
 * up to 1 bring it over the budget, that is taken from the picture with most. What is left over goes to
 * pictures in their order.
 */
static void share(tvlm_export *export, int64_t tokens) {
    int64_t left = export->budget;
    for (int32_t i = 0; i < export->count; ++i) {
        tvlm_export_picture *info = &export->pictures[i].info;
        const int64_t part = (int64_t) export->budget * info->tokens / tokens;
        info->selected = (int32_t)(part > 1 ? part : 1);
        left -= info->selected;
    }
    for (; left < 0; ++left) {
        tvlm_export_picture *most = &export->pictures[0].info;
        for (int32_t i = 1; i < export->count; ++i)
            if (export->pictures[i].info.selected > most->selected) most = &export->pictures[i].info;
        --most->selected;
    }
    for (int32_t i = 0; left > 0; i = (i + 1) % export->count) {
        tvlm_export_picture *info = &export->pictures[i].info;
        /* Some picture has room, since the budget is less than all tokens. */
        if (info->selected == info->tokens) continue;
        ++info->selected;
        --left;
    }
}

tvlm_status tvlm_export_share(tvlm_export *export) {
    const int64_t tokens = token_count(export);
    if (export->budget > 0 && export->budget < export->count)
        return tvlm_fail(&export->device->log, TVLM_ERROR_ARGUMENT,
                         "a budget of %d tokens for %d pictures; each has at least one", (int)export->budget,
                         (int)export->count);
    if (export->budget > 0 && export->budget < tokens) {
        share(export, tokens);
        return TVLM_OK;
    }
    const bool every = export->all || export->budget > 0;
    for (int32_t i = 0; i < export->count; ++i) {
        tvlm_export_picture *info = &export->pictures[i].info;
        const int32_t part = info->tokens / DEFAULT_SHARE;
        info->selected = every ? info->tokens : part > 1 ? part : 1;
    }
    return TVLM_OK;
}

/* ---- Choice ---- */

static int rising(const void *a, const void *b) {
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

tvlm_status tvlm_export_choose(tvlm_export *export, export_picture *picture) {
    const int32_t tokens = picture->info.tokens, selected = picture->info.selected;
    int32_t *chosen = realloc(picture->chosen, (size_t)selected * sizeof *chosen);
    if (chosen == NULL)
        return tvlm_fail(&export->device->log, TVLM_ERROR_MEMORY, "no memory for %d tokens", (int)selected);
    picture->chosen = chosen;
    if (selected < tokens) {
        TVLM_TRY(tvlm_topk(export->device, picture->scores, tokens, selected, chosen, NULL));
        qsort(chosen, (size_t)selected, sizeof *chosen, rising);
    } else {
        for (int32_t i = 0; i < tokens; ++i) chosen[i] = i;
    }
    return TVLM_OK;
}
