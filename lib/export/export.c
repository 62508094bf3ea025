/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c: the parameters of an export, and its runs.
 */
#include <string.h>

#include "core/check.h"
#include "core/learned.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "export/inside.h"
#include "select/strategy.h"
#include "stack/upload.h"

/* ---- Making and releasing ---- */

static tvlm_status check_score(const tvlm_log *log, const struct tvlm_score_params *score) {
    if (score->index != 0 || score->stride != 0.0f || score->level != 0 || score->dense || score->keep_pass)
        return tvlm_fail(
            log, TVLM_ERROR_ARGUMENT,
            "an export scores its tokens: of the score's parameters it takes weights and scorer");
    TVLM_TRY(tvlm_check_weights(log, score->weights));
    return score->scorer != NULL ? tvlm_learned_check(score->scorer->network, log) : TVLM_OK;
}

/* Whether the parameters mean the strategy budget where they name none. A share means it only of pictures of
 * Qwen-VL: of what else is not cut, the grid takes a share of the tokens. */
static bool says_budget(const struct tvlm_export_params *params, export_family family) {
    const struct tvlm_budget_params *const spending = &params->spending;
    const bool several = family == EXPORT_BLOCKS && !params->video;
    return (spending->share != 0.0f && several) || spending->tolerance != 0.0f ||
           spending->emphasis != 0.0f || spending->emphasis_channel != 0;
}

/* Returns the strategy. If none is named, it is `budget` for models that take crops, and also if the other
 * parameters mean it and not all tokens are asked for. Else it is `grid`. */
static tvlm_strategy strategy_of(const struct tvlm_export_params *params,
                                 const tvlm_export_processor *processor) {
    if (params->strategy != TVLM_STRATEGY_DEFAULT) return params->strategy;
    const export_family family = tvlm_export_family(processor);
    const bool budget = family == EXPORT_CROPS || (!params->all && says_budget(params, family));
    return budget ? TVLM_STRATEGY_BUDGET : TVLM_STRATEGY_GRID;
}

/* Returns the parameters for tvlm_select, without the number and the side of tokens. */
static struct tvlm_select_params spending_of(const struct tvlm_export_params *params,
                                             tvlm_strategy strategy) {
    return (struct tvlm_select_params){
        .strategy = strategy, .budget = params->spending, .score.scorer = params->score.scorer};
}

/* Refuses what tvlm_select would refuse. The grid of an export takes a share, too, of each image's tokens. */
static tvlm_status check_spending(const tvlm_log *log, const struct tvlm_export_params *params,
                                  tvlm_strategy strategy) {
    struct tvlm_select_params spending = spending_of(params, strategy);
    if (strategy == TVLM_STRATEGY_GRID) {
        const struct tvlm_select_params alone = {.strategy = TVLM_STRATEGY_BUDGET,
                                                 .budget.share = spending.budget.share};
        TVLM_TRY(tvlm_strategy_check(log, &alone));
        spending.budget.share = 0.0f;
    }
    return tvlm_strategy_check(log, &spending);
}

/* Refuses a strategy that does not fit the model or the other parameters. */
static tvlm_status check_strategy(const tvlm_log *log, const struct tvlm_export_params *params,
                                  const tvlm_export_processor *processor) {
    const char *const name = tvlm_export_model_name(params->model);
    const export_family family = tvlm_export_family(processor);
    const tvlm_strategy strategy = strategy_of(params, processor);
    if (strategy != TVLM_STRATEGY_GRID && strategy != TVLM_STRATEGY_BUDGET)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "an export chooses by grid or budget, not by %s (%d)",
                         tvlm_strategy_name(strategy), (int)strategy);
    if (params->spending.tolerance != 0.0f &&
        (strategy == TVLM_STRATEGY_GRID || family == EXPORT_SQUARE || params->video))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a tolerance is of what the strategy budget loses; tokens of %s are chosen by their "
                         "score here: give a budget or a share",
                         params->video ? "a video" : name);
    if (strategy == TVLM_STRATEGY_BUDGET && family == EXPORT_SQUARE)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "%s takes one picture of %dx%d pixels: no strategy budget, which needs several",
                         name, (int)processor->side, (int)processor->side);
    if (strategy == TVLM_STRATEGY_GRID && family == EXPORT_CROPS)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s takes crops: they are chosen by budget, not by grid",
                         name);
    if (strategy == TVLM_STRATEGY_BUDGET && params->video)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the strategy budget is for pictures, not for a video");
    if (strategy == TVLM_STRATEGY_BUDGET && params->score.weights != NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "the strategy budget goes by what is lost: weights would change nothing");
    return check_spending(log, params, strategy);
}

static tvlm_status check_params(const tvlm_log *log, const struct tvlm_export_params *params) {
    if ((int)params->model < 0 || (int)params->model >= TVLM_EXPORT_MODELS)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "there is no model %d", (int)params->model);
    if (params->pillow < 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "there is no Pillow %d", (int)params->pillow);
    if (params->budget < 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a budget of %d tokens; it is at least 1",
                         (int)params->budget);
    if (params->all && params->budget > 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "all tokens, and a budget of %d", (int)params->budget);
    TVLM_CHECK_RESERVED(log, tvlm_budget_params, &params->spending);
    if (params->all + (params->budget > 0) + (params->spending.share != 0.0f) +
            (params->spending.tolerance != 0.0f) >
        1)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a budget, all tokens, a share and a tolerance exclude each other");
    if ((int)params->format < TVLM_FORMAT_AUTO || params->format > TVLM_FORMAT_U8)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "there are no stacks of format %d", (int)params->format);
    return check_score(log, &params->score);
}

/* Sets the limits that are given. If only one is given, and the default of the other contradicts it, the
 * other becomes equal to it. */
static void set_limits(const struct tvlm_export_params *params, int64_t *least, int64_t *most) {
    if (params->min_pixels > 0) *least = params->min_pixels;
    if (params->max_pixels > 0) *most = params->max_pixels;
    if (params->min_pixels == 0 && *least > *most) *least = *most;
    if (params->max_pixels == 0 && *most < *least) *most = *least;
}

/* Finds the processor of the model, and replaces its defaults by what the caller asked for. */
static tvlm_status resolve(const tvlm_log *log, const struct tvlm_export_params *params,
                           tvlm_export_processor *p) {
    const char *const name = tvlm_export_model_name(params->model);
    TVLM_TRY(tvlm_export_processor_get(params->model, p));
    const bool free_size = p->side == 0;
    if (!free_size && (params->min_pixels != 0 || params->max_pixels != 0))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s has one size: no limits of pixels", name);
    if (!free_size && params->video) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s takes no video", name);
    if (free_size && (params->side != 0 || params->patch != 0))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s has its own size and patch", name);
    if (params->min_pixels < 0 || params->max_pixels < 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "limits of pixels below 0");
    if (params->side < 0 || params->side > EXPORT_SIDE_MAX || params->patch < 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a side of %d and a patch of %d pixels", (int)params->side,
                         (int)params->patch);
    if (params->side > 0) p->side = params->side;
    if (params->patch > 0) p->patch = params->patch;
    if (!free_size && (int64_t)p->patch * p->merge > p->side)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a side of %d is under one %s (%lld)", (int)p->side,
                         p->merge > 1 ? "token" : "patch", (long long)p->patch * p->merge);
    if (!free_size) return TVLM_OK;
    /* Videos have limits of their own. */
    const bool own = params->video && p->video_max_pixels > 0;
    set_limits(params, own ? &p->video_min_pixels : &p->min_pixels,
               own ? &p->video_max_pixels : &p->max_pixels);
    return TVLM_OK;
}

/* Sets the unit that is selected: a token of the language model or, if the model takes crops, a crop. The
 * language model has `crop_tokens` tokens for a crop. */
static void set_unit(tvlm_export *export) {
    const tvlm_export_processor *const p = &export->processor;
    const bool crops = tvlm_export_family(p) == EXPORT_CROPS;
    const int32_t tokens = p->side / (p->patch * p->merge);
    export->patch = crops ? p->side : p->patch;
    export->merge = crops ? 1 : p->merge;
    export->crop_tokens = crops ? tokens * tokens : 1;
}

/* Sets the budget, which is given in tokens. If the model takes crops, it becomes the number of crops whose
 * tokens fit. */
static tvlm_status set_budget(tvlm_export *export, int32_t budget) {
    export->budget = budget / export->crop_tokens;
    if (budget == 0 || export->budget > 0) return TVLM_OK;
    return tvlm_fail(&export->device->log, TVLM_ERROR_ARGUMENT,
                     "a budget of %d tokens; each crop of %s has %d, and one is the least", (int)budget,
                     tvlm_export_model_name(export->model), (int)export->crop_tokens);
}

tvlm_status tvlm_export_create(tvlm_device *device, const struct tvlm_export_params *params,
                               tvlm_export **export) {
    static const struct tvlm_export_params defaults = {0};
    tvlm_export_processor processor;
    TVLM_NEED(NULL, device);
    TVLM_NEED(&device->log, export);
    if (params == NULL) params = &defaults;
    TVLM_CHECK_RESERVED(&device->log, tvlm_export_params, params);
    TVLM_TRY(check_params(&device->log, params));
    TVLM_TRY(resolve(&device->log, params, &processor));
    TVLM_TRY(check_strategy(&device->log, params, &processor));
    tvlm_export *made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for an export");
    made->device = device;
    made->current = -1;
    made->model = params->model;
    made->processor = processor;
    set_unit(made);
    made->strategy = strategy_of(params, &processor);
    made->spending = spending_of(params, made->strategy);
    made->all = params->all;
    made->video = params->video;
    made->pillow = params->pillow;
    made->format = params->format;
    made->scorer = params->score.scorer;
    made->weighted = params->score.weights != NULL;
    if (made->weighted) memcpy(made->weights, params->score.weights, sizeof made->weights);
    const tvlm_status status = set_budget(made, params->budget);
    if (status == TVLM_OK)
        *export = made;
    else
        free(made);
    return status;
}

static void release_buffer(tvlm_device *device, tvlm_buffer **buffer) {
    if (*buffer != NULL) device->backend->buffer_destroy(device, buffer);
}

void tvlm_export_destroy(tvlm_export **export) {
    if (export == NULL || *export == NULL) return;
    TVLM_ENTER_TO_FREE((*export)->device);
    tvlm_export *const e = *export;
    for (int32_t i = 0; i < e->capacity; ++i) {
        export_picture *picture = &e->pictures[i];
        release_buffer(e->device, &picture->bytes);
        release_buffer(e->device, &picture->values);
        release_buffer(e->device, &picture->selected);
        free(picture->scores);
        free(picture->chosen);
        free(picture->vectors);
    }
    free(e->pictures);
    free(e->listed);
    release_buffer(e->device, &e->upload);
    release_buffer(e->device, &e->table);
    release_buffer(e->device, &e->lookup);
    release_buffer(e->device, &e->tokens);
    tvlm_stack_destroy(&e->stack);
    free(e);
    *export = NULL;
}

tvlm_status tvlm_export_set_inputs(tvlm_export *export, const struct tvlm_export_inputs *inputs) {
    static const struct tvlm_export_inputs none = {0};
    TVLM_NEED(NULL, export);
    TVLM_ENTER(export->device);
    if (inputs == NULL) inputs = &none;
    TVLM_CHECK_RESERVED(&export->device->log, tvlm_export_inputs, inputs);
    export->inputs = *inputs;
    tvlm_stack_destroy(&export->stack); /* it holds the former inputs; the next stack gets the new ones */
    return TVLM_OK;
}

tvlm_status tvlm_export_set_overview(tvlm_export *export, float share) {
    TVLM_NEED(NULL, export);
    TVLM_ENTER(export->device);
    const tvlm_log *const log = &export->device->log;
    if (!(share >= 0.0f && share <= 1.0f))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "an overview of %g; it is a share of the tokens, from 0 to 1", (double)share);
    if (share > 0.0f && tvlm_export_family(&export->processor) != EXPORT_BLOCKS)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s takes no overview, which is a picture of its own",
                         tvlm_export_model_name(export->model));
    if (share > 0.0f && (export->strategy != TVLM_STRATEGY_GRID || export->video || export->all))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "an overview is for the grid's choice of tokens of images");
    export->overview = share;
    export->count = 0;
    return TVLM_OK;
}

/* ---- A run ---- */

static tvlm_status no_memory(const tvlm_export *export) {
    return tvlm_fail(&export->device->log, TVLM_ERROR_MEMORY, "no memory for an export's pictures");
}

/* Makes room for the pictures of that many images. */
static tvlm_status make_room(tvlm_export *export, int32_t images) {
    const int64_t count = (int64_t)images * (tvlm_export_has_roles(export) ? EXPORT_ROLES : 1);
    if (count > INT32_MAX) return no_memory(export);
    if (count <= export->capacity) return TVLM_OK;
    export_picture *pictures = realloc(export->pictures, (size_t)count * sizeof *pictures);
    if (pictures == NULL) return no_memory(export);
    export->pictures = pictures;
    export_picture **listed = realloc(export->listed, (size_t)count * sizeof(export_picture *));
    if (listed == NULL) return no_memory(export);
    export->listed = listed;
    memset(pictures + export->capacity, 0, ((size_t)count - (size_t) export->capacity) * sizeof *pictures);
    export->capacity = (int32_t)count;
    return TVLM_OK;
}

static tvlm_status check_images(tvlm_export *export, const tvlm_image *images, int32_t count) {
    const tvlm_log *log = &export->device->log;
    size_t row;
    if (count < 1) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "no pictures");
    for (int32_t i = 0; i < count; ++i) {
        export->current = i;
        TVLM_TRY(tvlm_stack_check_image(log, &images[i], &row));
        if (export->video && (images[i].width != images[0].width || images[i].height != images[0].height))
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "frame %d has %dx%d pixels, the first one %dx%d",
                             (int)i, (int)images[i].width, (int)images[i].height, (int)images[0].width,
                             (int)images[0].height);
    }
    return TVLM_OK;
}

/* Finds the sizes and the numbers of tokens of all full pictures before any other work is done. There are no
 * pictures of other roles yet. */
static tvlm_status measure(tvlm_export *export, const tvlm_image *images, int32_t frames) {
    const bool crops = tvlm_export_family(&export->processor) == EXPORT_CROPS;
    int64_t tokens = 0;
    for (int32_t i = 0; i < export->capacity; ++i) export->pictures[i].info = (tvlm_export_picture){0};
    for (int32_t i = 0; i < export->images; ++i) {
        export_picture *const full = tvlm_export_at(export, i, EXPORT_FULL);
        export->current = export->video ? -1 : i;
        TVLM_TRY(tvlm_export_measure(export, &images[i], frames, full));
        full->frames = frames;
        full->first_image = i;
        full->image_width = images[i].width;
        full->image_height = images[i].height;
        full->info.source = i;
        full->info.scale_h = full->info.scale_w = 1.0f;
        full->all = full->info.tokens;
        if (crops && tvlm_export_has_thumbnail(export, full)) ++full->all;
        tokens += full->all;
        if (tokens > INT32_MAX)
            return tvlm_fail(&export->device->log, TVLM_ERROR_ARGUMENT, "%lld tokens are too many",
                             (long long)tokens);
    }
    return TVLM_OK;
}

/* Resizes the frames of the full picture of an image. */
static tvlm_status process(tvlm_export *export, const tvlm_image *images, export_picture *picture) {
    const size_t pixels = (size_t)picture->info.width * (size_t)picture->info.height;
    TVLM_TRY(tvlm_export_reserve(export->device, pixels * 3 * (size_t)picture->frames, &picture->bytes));
    for (int32_t frame = 0; frame < picture->frames; ++frame) {
        export->current = picture->first_image + frame;
        TVLM_TRY(tvlm_export_send(export, &images[frame]));
        TVLM_TRY(tvlm_export_resize(export, &images[frame], frame, picture));
    }
    return TVLM_OK;
}

/* Makes the pictures of an image, chooses tokens of them, and makes the values. */
static tvlm_status choose_tokens(tvlm_export *export, const tvlm_image *images,
                                 const struct tvlm_grid_input *features, const struct tvlm_query *queries,
                                 export_picture *full) {
    TVLM_TRY(process(export, images, full));
    if (tvlm_export_family(&export->processor) == EXPORT_CROPS)
        return tvlm_export_crop(export, images, features, queries, full);
    if (export->strategy == TVLM_STRATEGY_BUDGET)
        return tvlm_export_spend(export, images, features, queries, full);
    if (export->overview > 0.0f) return tvlm_export_oversee(export, images, features, queries, full);
    full->info.selected = full->granted;
    TVLM_TRY(tvlm_export_room(export, full));
    TVLM_TRY(tvlm_export_score(export, features, queries, full));
    export->current = export->video ? -1 : full->first_image;
    TVLM_TRY(tvlm_export_choose(export, full));
    return tvlm_export_patches(export, full);
}

static tvlm_status run_picture(tvlm_export *export, const tvlm_image *images,
                               const struct tvlm_grid_input *features, const struct tvlm_query *queries,
                               export_picture *full) {
    TVLM_TRY(choose_tokens(export, images, features, queries, full));
    return export->projection != NULL ? tvlm_export_projector(export, full) : TVLM_OK;
}

/* Returns the order of an image's pictures, which is that of the model's processor. */
static const export_role *order_of(const tvlm_export *export) {
    static const export_role thumbnail_first[EXPORT_ROLES] = {
        EXPORT_THUMBNAIL, EXPORT_FULL, EXPORT_THREE_QUARTERS, EXPORT_HALF, EXPORT_THIRD, EXPORT_QUARTER};
    static const export_role full_first[EXPORT_ROLES] = {EXPORT_FULL, EXPORT_THUMBNAIL, EXPORT_THREE_QUARTERS,
                                                         EXPORT_HALF, EXPORT_THIRD,     EXPORT_QUARTER};
    const bool last = tvlm_export_family(&export->processor) == EXPORT_CROPS && !export->processor.padded;
    return last || !tvlm_export_has_roles(export) ? full_first : thumbnail_first;
}

/* Lists the pictures that exist, in the order of the tensors, and numbers their tokens. */
static tvlm_status list_pictures(tvlm_export *export) {
    const export_role *const order = order_of(export);
    const int roles = tvlm_export_has_roles(export) ? EXPORT_ROLES : 1;
    int32_t count = 0;
    int64_t tokens = 0;
    for (int32_t i = 0; i < export->images; ++i)
        for (int r = 0; r < roles; ++r) {
            export_picture *const picture = tvlm_export_at(export, i, order[r]);
            if (picture->info.tokens == 0) continue;
            picture->info.first_token = (int32_t)tokens;
            tokens += picture->info.tokens;
            export->listed[count++] = picture;
        }
    if (tokens > INT32_MAX)
        return tvlm_fail(&export->device->log, TVLM_ERROR_ARGUMENT, "%lld tokens are too many",
                         (long long)tokens);
    export->count = count;
    return TVLM_OK;
}

static tvlm_status run(tvlm_export *export, const tvlm_image *images, int32_t count,
                       const struct tvlm_grid_input *features, const struct tvlm_query *queries) {
    export->images = export->video ? 1 : count;
    TVLM_TRY(make_room(export, export->images));
    TVLM_TRY(measure(export, images, export->video ? count : 1));
    export->current = -1;
    TVLM_TRY(tvlm_export_share(export));
    for (int32_t i = 0; i < export->images; ++i)
        TVLM_TRY(run_picture(export, images + i, features != NULL ? features + i : NULL,
                             queries != NULL ? queries + i : NULL, tvlm_export_at(export, i, EXPORT_FULL)));
    export->current = -1;
    return list_pictures(export);
}

tvlm_status tvlm_export_run(tvlm_export *export, const tvlm_image *images, int32_t count,
                            const struct tvlm_grid_input *features, const struct tvlm_query *queries) {
    TVLM_NEED(NULL, export);
    TVLM_ENTER(export->device);
    if (count > 0) TVLM_NEED(&export->device->log, images);
    export->count = 0;
    export->current = -1;
    TVLM_TRY(check_images(export, images, count));
    export->current = -1;
    const tvlm_status status = run(export, images, count, features, queries);
    if (status != TVLM_OK)
        export->count = 0;
    else
        export->current = -1;
    return status;
}

int32_t tvlm_export_failed_image(const tvlm_export *export) {
    return export != NULL ? export->current : -1;
}

int32_t tvlm_export_picture_count(const tvlm_export *export) {
    return export != NULL ? export->count : 0;
}

tvlm_status tvlm_export_get_picture(const tvlm_export *export, int32_t index, tvlm_export_picture *picture) {
    TVLM_NEED(NULL, export);
    TVLM_NEED(&export->device->log, picture);
    if (index < 0 || index >= export->count)
        return tvlm_fail(&export->device->log, TVLM_ERROR_ARGUMENT,
                         "there is no picture %d; the last run had %d", (int)index, (int)export->count);
    *picture = export->listed[index]->info;
    return TVLM_OK;
}
