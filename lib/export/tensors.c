/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensors.c: the tensors of a run: their shapes, and reading them to the host.
 */
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "core/wrap.h"
#include "export/inside.h"

typedef enum kind {
    VALUES,
    GRIDS,
    INDICES,
    SELECTED,
    POSITIONS,
    IMAGES,
    CHOSEN_SCORES,
    VECTORS,
    SCORES,
    SOURCES,
    SCALES,
    SIZES,
    KINDS
} kind;

static const char *const names[KINDS] = {"pixel_values",          "image_grid_thw",     "selected_indices",
                                         "selected_pixel_values", "selected_positions", "selected_images",
                                         "selected_scores",       "visual_tokens",      "scores",
                                         "picture_source",        "picture_scale",      "image_sizes"};

/* Returns whether an export has that tensor. */
static bool has(const tvlm_export *export, kind what) {
    switch (what) {
    case GRIDS: return tvlm_export_family(&export->processor) != EXPORT_SQUARE;
    case SOURCES:
    case SCALES: return tvlm_export_has_roles(export);
    case SIZES: return export->processor.padded;
    case VECTORS: return export->projection != NULL;
    default: return true;
    }
}

/* Returns the kind of tensor number `index`, or KINDS if there is no such tensor. */
static kind kind_of(const tvlm_export *export, int32_t index) {
    int what = 0;
    for (; what < KINDS; ++what)
        if (has(export, (kind)what) && index-- == 0) break;
    return (kind)what;
}

int32_t tvlm_export_tensor_count(const tvlm_export *export) {
    int32_t count = 0;
    for (int what = 0; export != NULL && export->count > 0 && what < KINDS; ++what)
        count += has(export, (kind)what);
    return count;
}

static int64_t selected_count(const tvlm_export *export) {
    int64_t count = 0;
    for (int32_t i = 0; i < export->count; ++i) count += export->listed[i]->info.selected;
    return count;
}

/* Returns the shape of the values of `tokens` tokens. There is a row for each patch or, if tokens are crops,
 * three planes for each crop. */
static tvlm_export_tensor values_of(const tvlm_export *export, int64_t tokens) {
    const int64_t patch = export->patch, patches = (int64_t) export->merge * export->merge;
    if (tvlm_export_family(&export->processor) == EXPORT_CROPS)
        return (tvlm_export_tensor){.rank = 4, .shape = {tokens, 3, patch, patch}};
    return (tvlm_export_tensor){
        .rank = 2, .shape = {tokens * patches, 3 * (int64_t) export->processor.temporal * patch * patch}};
}

static tvlm_export_tensor shape_of(const tvlm_export *export, kind what) {
    const tvlm_export_processor *p = &export->processor;
    const int64_t selected = selected_count(export), tokens = tvlm_export_tokens(export);
    const int64_t pictures = export->count;
    switch (what) {
    case VALUES:
        if (tvlm_export_family(p) == EXPORT_SQUARE)
            return (tvlm_export_tensor){.rank = 4, .shape = {pictures, 3, p->side, p->side}};
        return values_of(export, tokens);
    case GRIDS: return (tvlm_export_tensor){.integer = true, .rank = 2, .shape = {pictures, 3}};
    case SELECTED: return values_of(export, selected);
    case POSITIONS: return (tvlm_export_tensor){.integer = true, .rank = 2, .shape = {selected, 3}};
    case CHOSEN_SCORES: return (tvlm_export_tensor){.rank = 1, .shape = {selected}};
    case VECTORS: return (tvlm_export_tensor){.rank = 2, .shape = {selected, export->vector_size}};
    case SCORES: return (tvlm_export_tensor){.rank = 1, .shape = {tokens}};
    case SOURCES: return (tvlm_export_tensor){.integer = true, .rank = 1, .shape = {pictures}};
    case SCALES: return (tvlm_export_tensor){.rank = 2, .shape = {pictures, 2}};
    case SIZES: return (tvlm_export_tensor){.integer = true, .rank = 2, .shape = {export->images, 2}};
    default: return (tvlm_export_tensor){.integer = true, .rank = 1, .shape = {selected}};
    }
}

tvlm_status tvlm_export_get_tensor(const tvlm_export *export, int32_t index, tvlm_export_tensor *tensor) {
    TVLM_NEED(NULL, export);
    TVLM_NEED(&export->device->log, tensor);
    if (index < 0 || index >= tvlm_export_tensor_count(export))
        return tvlm_fail(&export->device->log, TVLM_ERROR_ARGUMENT,
                         "there is no tensor %d; the last run made %d", (int)index,
                         (int)tvlm_export_tensor_count(export));
    const kind what = kind_of(export, index);
    *tensor = shape_of(export, what);
    tensor->name = names[what];
    if (export->video && what == VALUES) tensor->name = "pixel_values_videos";
    if (export->video && what == GRIDS) tensor->name = "video_grid_thw";
    if (tvlm_export_family(&export->processor) == EXPORT_CROPS && what == GRIDS) tensor->name = "crop_grids";
    tensor->bytes = tensor->integer ? sizeof(int64_t) : sizeof(float);
    for (int32_t i = 0; i < tensor->rank; ++i) tensor->bytes *= (size_t)tensor->shape[i];
    return TVLM_OK;
}

/* ---- Reading ---- */

static tvlm_status read_buffer(tvlm_export *export, tvlm_buffer *buffer, size_t floats, float **to) {
    float *const begin = *to;
    *to += floats;
    if (floats == 0) return TVLM_OK;
    return export->device->backend->buffer_read(export->device, buffer, 0, floats * sizeof(float), begin);
}

/* Returns whether a tensor is on the device. */
static bool is_there(kind what) {
    return what == VALUES || what == SELECTED;
}

/* Returns the buffer that holds a picture's part of a tensor that is on the device. Sets *floats to the
 * number of floats in that part. */
static tvlm_buffer *part_of(const tvlm_export *export, const export_picture *picture, kind what,
                            size_t *floats) {
    const tvlm_export_processor *p = &export->processor;
    const size_t token =
        3 * (size_t)p->temporal * (size_t)(export->patch * export->patch * export->merge * export->merge);
    const size_t planes = 3 * (size_t)p->side * (size_t)p->side;
    const size_t all = tvlm_export_family(p) == EXPORT_SQUARE ? planes : (size_t)picture->info.tokens * token;
    *floats = what == VALUES ? all : (size_t)picture->info.selected * token;
    return what == VALUES ? picture->values : picture->selected;
}

/* Reads a picture's part of a tensor of floats to *to, and moves *to behind it. */
static tvlm_status read_floats(tvlm_export *export, const export_picture *picture, kind what, float **to) {
    const tvlm_export_picture *const info = &picture->info;
    if (is_there(what)) {
        size_t floats;
        tvlm_buffer *const part = part_of(export, picture, what, &floats);
        return read_buffer(export, part, floats, to);
    }
    if (what == SCALES) {
        *(*to)++ = info->scale_h;
        *(*to)++ = info->scale_w;
    } else if (what == SCORES) {
        memcpy(*to, picture->scores, (size_t)info->tokens * sizeof **to);
        *to += info->tokens;
    } else if (what == VECTORS) {
        const size_t numbers = (size_t)info->selected * (size_t) export->vector_size;
        memcpy(*to, picture->vectors, numbers * sizeof **to);
        *to += numbers;
    } else {
        for (int32_t i = 0; i < info->selected; ++i) *(*to)++ = picture->scores[picture->chosen[i]];
    }
    return TVLM_OK;
}

/* Writes the position (t, h, w) of a token. `token` counts from 0 in its picture. */
static int64_t *write_position(const tvlm_export *export, const tvlm_export_picture *info, int32_t token,
                               int64_t *to) {
    const int32_t columns = info->grid_w / export->merge, rows = info->grid_h / export->merge;
    *to++ = token / (columns * rows);
    *to++ = token / columns % rows;
    *to++ = token % columns;
    return to;
}

/* Writes a tensor's part that has one entry for the whole picture. */
static int64_t *write_once(const export_picture *picture, kind what, int64_t *to) {
    const tvlm_export_picture *info = &picture->info;
    if (what == SOURCES) {
        *to++ = info->source;
    } else {
        *to++ = info->grid_t;
        *to++ = info->grid_h;
        *to++ = info->grid_w;
    }
    return to;
}

static int64_t *write_integers(const tvlm_export *export, int32_t index, kind what, int64_t *to) {
    const export_picture *picture = export->listed[index];
    const tvlm_export_picture *info = &picture->info;
    if (what == GRIDS || what == SOURCES) return write_once(picture, what, to);
    for (int32_t i = 0; i < info->selected; ++i) {
        if (what == POSITIONS)
            to = write_position(export, info, picture->chosen[i], to);
        else
            *to++ = what == IMAGES ? index : (int64_t)info->first_token + picture->chosen[i];
    }
    return to;
}

/* Writes the sizes, h and w, of the images as they were handed in. */
static void write_sizes(const tvlm_export *export, int64_t *to) {
    for (int32_t i = 0; i < export->images; ++i) {
        const export_picture *const full = tvlm_export_at(export, i, EXPORT_FULL);
        *to++ = full->image_height;
        *to++ = full->image_width;
    }
}

tvlm_status tvlm_export_read(tvlm_export *export, int32_t index, size_t capacity, void *data) {
    tvlm_export_tensor tensor;
    TVLM_NEED(NULL, export);
    TVLM_ENTER(export->device);
    TVLM_NEED(&export->device->log, data);
    TVLM_TRY(tvlm_export_get_tensor(export, index, &tensor));
    if (capacity < tensor.bytes)
        return tvlm_fail(&export->device->log, TVLM_ERROR_ARGUMENT, "room for %zu bytes; %s has %zu",
                         capacity, tensor.name, tensor.bytes);
    const kind what = kind_of(export, index);
    float *floats = data;
    int64_t *integers = data;
    if (what == SIZES) {
        write_sizes(export, integers);
        return TVLM_OK;
    }
    for (int32_t i = 0; i < export->count; ++i) {
        if (tensor.integer)
            integers = write_integers(export, i, what, integers);
        else
            TVLM_TRY(read_floats(export, export->listed[i], what, &floats));
    }
    return TVLM_OK;
}

/* ---- Into memory of the device ---- */

/* Copies the pictures' parts of a tensor into `out`, from byte `at` on, one behind the other. */
static tvlm_status copy_parts(tvlm_export *export, kind what, tvlm_buffer *out, size_t at) {
    for (int32_t i = 0; i < export->count; ++i) {
        size_t floats;
        tvlm_buffer *const part = part_of(export, export->listed[i], what, &floats);
        if (floats > 0)
            TVLM_TRY(export->device->backend->buffer_copy(export->device, part, 0, out, at,
                                                          floats * sizeof(float)));
        at += floats * sizeof(float);
    }
    return TVLM_OK;
}

/* Sends a tensor that is on the host into `out`, from byte `at` on. */
static tvlm_status send(tvlm_export *export, const tvlm_export_tensor *tensor, int32_t index,
                        tvlm_buffer *out, size_t at) {
    void *const data = tvlm_allocate(tensor->bytes, 1);
    if (data == NULL)
        return tvlm_fail(&export->device->log, TVLM_ERROR_MEMORY, "no memory for %s", tensor->name);
    tvlm_status status = tvlm_export_read(export, index, tensor->bytes, data);
    if (status == TVLM_OK)
        status = export->device->backend->buffer_write(export->device, out, at, tensor->bytes, data);
    free(data);
    return status;
}

tvlm_status tvlm_export_read_there(tvlm_export *export, int32_t index, const struct tvlm_memory *memory) {
    tvlm_export_tensor tensor;
    tvlm_buffer *out = NULL;
    TVLM_TRY(tvlm_export_get_tensor(export, index, &tensor));
    TVLM_TRY(tvlm_wrap(export->device, tensor.name, memory, tensor.bytes, true, &out));
    const kind what = kind_of(export, index);
    const tvlm_status status = is_there(what) ? copy_parts(export, what, out, memory->byte_offset)
                                              : send(export, &tensor, index, out, memory->byte_offset);
    export->device->backend->buffer_destroy(export->device, &out);
    return status;
}
