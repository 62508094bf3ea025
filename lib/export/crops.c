/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crops.c: models that take a small picture of the whole image, and also the image as crops of that picture's
 * size. This file finds which crops their processors cut, and selects those that the budget pays for.
 */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "export/inside.h"
#include "select/budget.h"

/* ---- Schemes ---- */

/* How many crops an image has across and down. */
typedef struct crop_grid {
    int32_t columns, rows;
} crop_grid;

/*
 * The function select_best_resolution of transformers (4.47.1), applied to all grids of up to `crops` crops
 * along each side. It takes the grid that shows most of the image's pixels and, among such grids, the one
 * with the fewest pixels beside the image. It computes in double, operation by operation as Python does.
 */
static crop_grid padded_grid(const tvlm_export_processor *p, int32_t width, int32_t height) {
    const double w = width, h = height;
    crop_grid best = {1, 1};
    int64_t most = 0, least_wasted = INT64_MAX;
    for (int32_t rows = 1; rows <= p->crops; ++rows)
        for (int32_t columns = 1; columns <= p->crops; ++columns) {
            const int64_t across = (int64_t)columns * p->side, down = (int64_t)rows * p->side;
            const double scale = fmin((double)across / w, (double)down / h);
            const int64_t shown = (int64_t)(w * scale) * (int64_t)(h * scale);
            const int64_t all = (int64_t)width * height, useful = shown < all ? shown : all;
            const int64_t wasted = across * down - useful;
            if (useful < most || (useful == most && wasted >= least_wasted)) continue;
            most = useful;
            least_wasted = wasted;
            best = (crop_grid){columns, rows};
        }
    return best;
}

/*
 * The function get_optimal_tiled_canvas of transformers (GotOcr2ImageProcessor of 4.57.1, which InternVL
 * uses). It goes through all grids of up to `crops` crops, those with the fewest crops first, and takes the
 * one whose aspect ratio is nearest to the image's. Of equally near grids it takes a later one only if the
 * image has more than half as many pixels as that grid.
 */
static crop_grid stretched_grid(const tvlm_export_processor *p, int32_t width, int32_t height) {
    const double shape = (double)width / (double)height, area = (double)width * (double)height;
    double nearest = INFINITY;
    crop_grid best = {1, 1};
    for (int32_t crops = 1; crops <= p->crops; ++crops)
        for (int32_t columns = 1; columns <= crops; ++columns) {
            const int32_t rows = crops / columns;
            if (columns * rows != crops) continue;
            const double away = fabs(shape - (double)columns / (double)rows);
            const bool large = area > 0.5 * p->side * p->side * columns * rows;
            if (away < nearest || (away == nearest && large)) best = (crop_grid){columns, rows};
            nearest = fmin(nearest, away);
        }
    return best;
}

tvlm_status tvlm_crop_grid(const tvlm_export_processor *processor, int32_t width, int32_t height,
                           const tvlm_log *log, int32_t *columns, int32_t *rows) {
    TVLM_NEED(log, processor);
    TVLM_CHECK_RESERVED(log, tvlm_export_processor, processor);
    TVLM_NEED(log, columns);
    TVLM_NEED(log, rows);
    if (processor->crops < 1 || processor->crops > EXPORT_CROPS_MAX || processor->side < 1 ||
        processor->side > EXPORT_SIDE_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d crops of %d pixels", (int)processor->crops,
                         (int)processor->side);
    if (width < 1 || height < 1)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a picture of %dx%d pixels", (int)width, (int)height);
    const crop_grid grid =
        processor->padded ? padded_grid(processor, width, height) : stretched_grid(processor, width, height);
    *columns = grid.columns;
    *rows = grid.rows;
    return TVLM_OK;
}

/* Returns where the crops lie in the resized image, which keeps its shape (_get_patch_output_size and
 * _get_padding_size of transformers). The image is in their middle. If the padding is odd, the right or lower
 * side has one pixel more of the padding. */
static export_place padded_place(int32_t width, int32_t height, int64_t across, int64_t down) {
    const double scale_w = (double)across / width, scale_h = (double)down / height;
    export_place at = {.width = across, .height = down, .black = true};
    if (scale_w < scale_h)
        at.height = (int64_t)fmin(ceil(height * scale_w), (double)down);
    else
        at.width = (int64_t)fmin(ceil(width * scale_h), (double)across);
    at.left = -((across - at.width) / 2);
    at.top = -((down - at.height) / 2);
    return at;
}

tvlm_status tvlm_export_cut(const tvlm_export *export, const tvlm_image *image, export_picture *picture) {
    const tvlm_export_processor *const p = &export->processor;
    tvlm_export_picture *const info = &picture->info;
    int32_t columns, rows;
    TVLM_TRY(tvlm_crop_grid(p, image->width, image->height, &export->device->log, &columns, &rows));
    info->width = columns * p->side;
    info->height = rows * p->side;
    picture->place = p->padded ? padded_place(image->width, image->height, info->width, info->height)
                               : (export_place){.width = info->width, .height = info->height};
    return TVLM_OK;
}

/* Padded crops always have a thumbnail. Others have one if there are several crops. */
bool tvlm_export_has_thumbnail(const tvlm_export *export, const export_picture *full) {
    return export->processor.padded || full->info.tokens > 1;
}

/* ---- Gains ---- */

/* The side of the tiles whose losses are measured. */
#define TILE 16

/* Returns the crop that contains the middle of a tile. */
static int32_t crop_of(const export_picture *full, int32_t side, int32_t column, int32_t row) {
    const int32_t x = column * TILE + TILE / 2 - (int32_t)full->place.left;
    const int32_t y = row * TILE + TILE / 2 - (int32_t)full->place.top;
    const int32_t across = x / side < full->info.grid_w ? x / side : full->info.grid_w - 1;
    const int32_t down = y / side < full->info.grid_h ? y / side : full->info.grid_h - 1;
    return down * full->info.grid_w + across;
}

/* Scores each crop by how much of it the thumbnail loses, as a share of all that the thumbnail loses. Sets
 * *share to all that the thumbnail loses, as a share of what a thumbnail of one patch would lose. */
static tvlm_status score_crops(tvlm_export *export, const struct tvlm_query *query, export_picture *full,
                               double *share) {
    const int32_t side = export->processor.side, cells = side / TILE > 1 ? side / TILE : 1;
    const int32_t columns = ((int32_t)full->place.width + TILE - 1) / TILE;
    const int32_t rows = ((int32_t)full->place.height + TILE - 1) / TILE;
    tvlm_task task = {.stack = export->stack, .query = query, .params = export->spending};
    float *lost = NULL;
    task.params.patch = TILE;
    const tvlm_status status = tvlm_budget_under(&task, cells, cells, &lost, share);
    for (int32_t i = 0; status == TVLM_OK && i < columns * rows; ++i)
        full->scores[crop_of(full, side, i % columns, i / columns)] += lost[i];
    free(lost);
    return status;
}

static int rising(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Selects as many crops as the tolerance demands. It leaves out those crops of which the thumbnail loses
 * least. */
static tvlm_status tolerate(const tvlm_export *export, double share, export_picture *full) {
    const double tolerance =
        (double)fmaxf(export->spending.budget.tolerance, 0.0f); /* TVLM_EXPLICIT_ZERO becomes 0 */
    const int32_t crops = full->info.tokens;
    float *const scores = tvlm_allocate((size_t)crops, sizeof *scores);
    if (scores == NULL)
        return tvlm_fail(&export->device->log, TVLM_ERROR_MEMORY, "no memory for %d crops", (int)crops);
    memcpy(scores, full->scores, (size_t)crops * sizeof *scores);
    qsort(scores, (size_t)crops, sizeof *scores, rising);
    double lost = 0.0;
    int32_t left_out = 0;
    while (left_out < crops && (lost + (double)scores[left_out]) * share <= tolerance)
        lost += (double)scores[left_out++];
    full->info.selected = crops - left_out;
    free(scores);
    return TVLM_OK;
}

/* ---- Pictures ---- */

/* Makes the thumbnail, which is always selected. */
static tvlm_status make_thumbnail(tvlm_export *export, const tvlm_image *image, const export_picture *full,
                                  export_picture *thumbnail) {
    const int32_t side = export->processor.side;
    thumbnail->frames = 1;
    thumbnail->first_image = full->first_image;
    thumbnail->place = (export_place){.width = side, .height = side};
    thumbnail->info = (tvlm_export_picture){.width = side,
                                            .height = side,
                                            .grid_t = 1,
                                            .grid_h = 1,
                                            .grid_w = 1,
                                            .tokens = 1,
                                            .selected = 1,
                                            .source = full->info.source,
                                            .scale_h = (float)side / (float)full->place.height,
                                            .scale_w = (float)side / (float)full->place.width};
    TVLM_TRY(tvlm_export_room(export, thumbnail));
    thumbnail->chosen[0] = 0;
    thumbnail->scores[0] = 1.0f;
    TVLM_TRY(tvlm_export_reserve(export->device, 3 * (size_t)side * (size_t)side, &thumbnail->bytes));
    TVLM_TRY(tvlm_export_resize(export, image, 0, thumbnail));
    return tvlm_export_patches(export, thumbnail);
}

tvlm_status tvlm_export_crop(tvlm_export *export, const tvlm_image *image,
                             const struct tvlm_grid_input *features, const struct tvlm_query *queries,
                             export_picture *full) {
    const bool has = tvlm_export_has_thumbnail(export, full);
    double share = 0.0;
    full->info.selected = full->granted - has;
    TVLM_TRY(tvlm_export_room(export, full));
    TVLM_TRY(tvlm_export_look(export, features, full, 0));
    TVLM_TRY(score_crops(export, tvlm_export_question(queries, 0), full, &share));
    if (has && export->spending.budget.tolerance != 0.0f) TVLM_TRY(tolerate(export, share, full));
    if (!has) full->scores[0] = 1.0f; /* a single crop is its own thumbnail */
    if (full->info.selected > 0) TVLM_TRY(tvlm_export_choose(export, full));
    TVLM_TRY(tvlm_export_patches(export, full));
    if (!has) return TVLM_OK;
    return make_thumbnail(export, image, full, tvlm_export_at(export, full->info.source, EXPORT_THUMBNAIL));
}
