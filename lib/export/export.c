/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.c: the parameters of an export, and its runs.
 */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "export/inside.h"
#include "stack/upload.h"

/* ---- Making and releasing ---- */

static tvlm_status check_score(const tvlm_log *log, const struct tvlm_score_params *score) {
    if (score->index != 0 || score->stride != 0.0f || score->level != 0 || score->dense || score->keep_pass)
        return tvlm_fail(
            log, TVLM_ERROR_ARGUMENT,
            "an export scores its tokens: of the score's parameters it takes weights and scorer");
    for (int i = 0; score->weights != NULL && i < 3; ++i)
        if (!(score->weights[i] >= 0.0f) || !isfinite(score->weights[i]))
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "weight %d is %g; weights are finite and not negative",
                             i, (double)score->weights[i]);
    return TVLM_OK;
}

static tvlm_status check_params(const tvlm_log *log, const struct tvlm_export_params *params) {
    if ((int)params->model < 0 || (int)params->model >= TVLM_EXPORT_MODELS)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "there is no model %d", (int)params->model);
    if (params->budget < 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a budget of %d tokens; it is at least 1",
                         (int)params->budget);
    if (params->all && params->budget > 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "all tokens, and a budget of %d", (int)params->budget);
    return check_score(log, &params->score);
}

/* Sets the limits that are given. If only one is given, the other gives way to it. */
static void set_limits(const struct tvlm_export_params *params, int64_t *least, int64_t *most) {
    if (params->min_pixels > 0) *least = params->min_pixels;
    if (params->max_pixels > 0) *most = params->max_pixels;
    if (params->min_pixels == 0 && *least > *most) *least = *most;
    if (params->max_pixels == 0 && *most < *least) *most = *least;
}

/* The processor of the model, with what was asked for in place of its defaults. */
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
    if (params->side < 0 || params->side > 16384 || params->patch < 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a side of %d and a patch of %d pixels", (int)params->side,
                         (int)params->patch);
    if (params->side > 0) p->side = params->side;
    if (params->patch > 0) p->patch = params->patch;
    if (!free_size && p->patch > p->side)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a side of %d is under one patch (%d)", (int)p->side,
                         (int)p->patch);
    if (!free_size) return TVLM_OK;
    /* Videos have limits of their own. */
    const bool own = params->video && p->video_max_pixels > 0;
    set_limits(params, own ? &p->video_min_pixels : &p->min_pixels,
               own ? &p->video_max_pixels : &p->max_pixels);
    return TVLM_OK;
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
    tvlm_export *made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for an export");
    made->device = device;
    made->current = -1;
    made->model = params->model;
    made->processor = processor;
    made->budget = params->budget;
    made->all = params->all;
    made->video = params->video;
    made->format = params->format;
    made->scorer = params->score.scorer;
    made->weighted = params->score.weights != NULL;
    if (made->weighted) memcpy(made->weights, params->score.weights, sizeof made->weights);
    *export = made;
    return TVLM_OK;
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
    }
    free(e->pictures);
    release_buffer(e->device, &e->upload);
    release_buffer(e->device, &e->table);
    release_buffer(e->device, &e->lookup);
    release_buffer(e->device, &e->tokens);
    tvlm_stack_destroy(&e->stack);
    free(e);
    *export = NULL;
}

/* ---- A run ---- */

static tvlm_status no_memory(const tvlm_export *export) {
    return tvlm_fail(&export->device->log, TVLM_ERROR_MEMORY, "no memory for an export's pictures");
}

static tvlm_status make_room(tvlm_export *export, int32_t count) {
    if (count <= export->capacity) return TVLM_OK;
    export_picture *pictures = realloc(export->pictures, (size_t)count * sizeof *pictures);
    if (pictures == NULL) return no_memory(export);
    memset(pictures + export->capacity, 0, (size_t)(count - export->capacity) * sizeof *pictures);
    export->pictures = pictures;
    export->capacity = count;
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

static int32_t picture_frames(const tvlm_export *export, int32_t images) {
    return export->video ? images : 1;
}

/* Finds the sizes and tokens of all pictures before any work is done. */
static tvlm_status measure(tvlm_export *export, const tvlm_image *images, int32_t pictures, int32_t frames) {
    int64_t tokens = 0;
    for (int32_t i = 0; i < pictures; ++i) {
        export_picture *picture = &export->pictures[i];
        export->current = export->video ? -1 : i;
        TVLM_TRY(tvlm_export_measure(export, &images[i], frames, &picture->info));
        picture->frames = frames;
        picture->first_image = i;
        picture->info.first_token = (int32_t)tokens;
        tokens += picture->info.tokens;
        if (tokens > INT32_MAX)
            return tvlm_fail(&export->device->log, TVLM_ERROR_ARGUMENT, "%lld tokens are too many",
                             (long long)tokens);
    }
    return TVLM_OK;
}

static tvlm_status run_picture(tvlm_export *export, const tvlm_image *images,
                               const struct tvlm_grid_input *features, const struct tvlm_query *queries,
                               export_picture *picture) {
    const size_t pixels = (size_t)picture->info.width * (size_t)picture->info.height;
    float *scores = realloc(picture->scores, (size_t)picture->info.tokens * sizeof *scores);
    if (scores == NULL) return no_memory(export);
    picture->scores = scores;
    TVLM_TRY(tvlm_export_reserve(export->device, pixels * 3 * (size_t)picture->frames, &picture->bytes));
    for (int32_t frame = 0; frame < picture->frames; ++frame) {
        export->current = picture->first_image + frame;
        TVLM_TRY(tvlm_export_frame(export, &images[frame], frame, picture));
    }
    TVLM_TRY(tvlm_export_score(export, features, queries, picture));
    export->current = export->video ? -1 : picture->first_image;
    TVLM_TRY(tvlm_export_choose(export, picture));
    return tvlm_export_patches(export, picture);
}

static tvlm_status run(tvlm_export *export, const tvlm_image *images, int32_t count,
                       const struct tvlm_grid_input *features, const struct tvlm_query *queries) {
    const int32_t frames = picture_frames(export, count), pictures = export->video ? 1 : count;
    TVLM_TRY(make_room(export, pictures));
    TVLM_TRY(measure(export, images, pictures, frames));
    export->count = pictures;
    export->current = -1;
    TVLM_TRY(tvlm_export_share(export));
    for (int32_t i = 0; i < pictures; ++i)
        TVLM_TRY(run_picture(export, images + i, features != NULL ? features + i : NULL,
                             queries != NULL ? queries + i : NULL, &export->pictures[i]));
    return TVLM_OK;
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
    *picture = export->pictures[index].info;
    return TVLM_OK;
}
