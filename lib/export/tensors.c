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

typedef enum kind { VALUES, GRIDS, INDICES, SELECTED, POSITIONS, IMAGES, CHOSEN_SCORES, SCORES, KINDS } kind;

static const char *const names[KINDS] = {
    "pixel_values",       "image_grid_thw",  "selected_indices", "selected_pixel_values",
    "selected_positions", "selected_images", "selected_scores",  "scores"};

static bool is_qwen(const tvlm_export *export) {
    return export->processor.side == 0;
}

/* The kind of tensor number `index`. Only Qwen-VL has grids. */
static kind kind_of(const tvlm_export *export, int32_t index) {
    return (kind)(is_qwen(export) || index < GRIDS ? index : index + 1);
}

int32_t tvlm_export_tensor_count(const tvlm_export *export) {
    return export == NULL || export->count == 0 ? 0 : is_qwen(export) ? KINDS : KINDS - 1;
}

static int64_t selected_count(const tvlm_export *export) {
    int64_t count = 0;
    for (int32_t i = 0; i < export->count; ++i) count += export->pictures[i].info.selected;
    return count;
}

static int64_t token_count(const tvlm_export *export) {
    const tvlm_export_picture *last = &export->pictures[export->count - 1].info;
    return (int64_t)last->first_token + last->tokens;
}

static tvlm_export_tensor shape_of(const tvlm_export *export, kind what) {
    const tvlm_export_processor *p = &export->processor;
    const int64_t patches = (int64_t)p->merge * p->merge, selected = selected_count(export);
    const int64_t columns = 3 * (int64_t)p->temporal * p->patch * p->patch;
    switch (what) {
    case VALUES:
        if (!is_qwen(export))
            return (tvlm_export_tensor){.rank = 4, .shape = {export->count, 3, p->side, p->side}};
        return (tvlm_export_tensor){.rank = 2, .shape = {token_count(export) * patches, columns}};
    case GRIDS: return (tvlm_export_tensor){.integer = true, .rank = 2, .shape = {export->count, 3}};
    case SELECTED: return (tvlm_export_tensor){.rank = 2, .shape = {selected * patches, columns}};
    case POSITIONS: return (tvlm_export_tensor){.integer = true, .rank = 2, .shape = {selected, 3}};
    case CHOSEN_SCORES: return (tvlm_export_tensor){.rank = 1, .shape = {selected}};
    case SCORES: return (tvlm_export_tensor){.rank = 1, .shape = {token_count(export)}};
    default: return (tvlm_export_tensor){.integer = true, .rank = 1, .shape = {selected}};
    }
}

tvlm_status tvlm_export_get_tensor(const tvlm_export *export, int32_t index, tvlm_export_tensor *tensor) {
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
    tensor->bytes = tensor->integer ? sizeof(int64_t) : sizeof(float);
    for (int32_t i = 0; i < tensor->rank; ++i) tensor->bytes *= (size_t)tensor->shape[i];
    return TVLM_OK;
}

/* ---- Reading ---- */

static tvlm_status read_buffer(tvlm_export *export, tvlm_buffer *buffer, size_t floats, float **to) {
    float *const begin = *to;
    *to += floats;
    return export->device->backend->buffer_read(export->device, buffer, 0, floats * sizeof(float), begin);
}

/* The buffer that holds a picture's part of VALUES or SELECTED, and how many floats that is. NULL: the tensor
 * is on the host. */
static tvlm_buffer *part_of(const tvlm_export *export, const export_picture *picture, kind what,
                            size_t *floats) {
    const tvlm_export_processor *p = &export->processor;
    const size_t token = 3 * (size_t)p->temporal * (size_t)(p->patch * p->patch * p->merge * p->merge);
    const size_t planes = 3 * (size_t)p->side * (size_t)p->side;
    const size_t all = is_qwen(export) ? (size_t)picture->info.tokens * token : planes;
    *floats = what == VALUES ? all : (size_t)picture->info.selected * token;
    return what == VALUES ? picture->values : what == SELECTED ? picture->selected : NULL;
}

/* Reads a picture's part of a tensor of floats. *to moves behind it. */
static tvlm_status read_floats(tvlm_export *export, const export_picture *picture, kind what, float **to) {
    const size_t tokens = (size_t)picture->info.tokens, selected = (size_t)picture->info.selected;
    size_t floats;
    tvlm_buffer *const part = part_of(export, picture, what, &floats);
    if (part != NULL) return read_buffer(export, part, floats, to);
    if (what == SCORES) {
        memcpy(*to, picture->scores, tokens * sizeof **to);
        *to += tokens;
        return TVLM_OK;
    }
    for (size_t i = 0; i < selected; ++i) *(*to)++ = picture->scores[picture->chosen[i]];
    return TVLM_OK;
}

/* Writes the position (t, h, w) of a token, which is counted from 0 in its picture. */
static int64_t *write_position(const tvlm_export *export, const tvlm_export_picture *info, int32_t token,
                               int64_t *to) {
    const int32_t columns = info->grid_w / export->processor.merge;
    const int32_t rows = info->grid_h / export->processor.merge;
    *to++ = token / (columns * rows);
    *to++ = token / columns % rows;
    *to++ = token % columns;
    return to;
}

static int64_t *write_integers(const tvlm_export *export, int32_t index, kind what, int64_t *to) {
    const export_picture *picture = &export->pictures[index];
    const tvlm_export_picture *info = &picture->info;
    if (what == GRIDS) {
        *to++ = info->grid_t;
        *to++ = info->grid_h;
        *to++ = info->grid_w;
        return to;
    }
    for (int32_t i = 0; i < info->selected; ++i) {
        if (what == POSITIONS)
            to = write_position(export, info, picture->chosen[i], to);
        else
            *to++ = what == IMAGES ? index : (int64_t)info->first_token + picture->chosen[i];
    }
    return to;
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
    for (int32_t i = 0; i < export->count; ++i) {
        if (tensor.integer)
            integers = write_integers(export, i, what, integers);
        else
            TVLM_TRY(read_floats(export, &export->pictures[i], what, &floats));
    }
    return TVLM_OK;
}

/* ---- Into memory of the device ---- */

/* Copies the pictures' parts of a tensor one behind the other. */
static tvlm_status copy_parts(tvlm_export *export, kind what, tvlm_buffer *out, size_t at) {
    for (int32_t i = 0; i < export->count; ++i) {
        size_t floats;
        tvlm_buffer *const part = part_of(export, &export->pictures[i], what, &floats);
        TVLM_TRY(
            export->device->backend->buffer_copy(export->device, part, 0, out, at, floats * sizeof(float)));
        at += floats * sizeof(float);
    }
    return TVLM_OK;
}

/* Sends a tensor that is on the host. */
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
    const tvlm_status status = what == VALUES || what == SELECTED
                                   ? copy_parts(export, what, out, memory->byte_offset)
                                   : send(export, &tensor, index, out, memory->byte_offset);
    export->device->backend->buffer_destroy(export->device, &out);
    return status;
}
