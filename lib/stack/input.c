/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.c: texturevlm/input.h. Grids that are handed in are checked, converted and written into their
 * textures. Identifiers are always converted on the host. Other data are converted on the device if they are
 * in its memory, or are features; the rest is converted on the host.
 */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/check.h"
#include "core/learned.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/bytes.h"
#include "stack/chunks.h"
#include "stack/given.h"
#include "stack/grids.h"
#include "stack/input.h"
#include "stack/inside.h"

/* A half-precision float can hold every whole number up to this one. */
#define ID_MAX 2048

/* What is expected of a grid that is handed in for a channel. `low` and `high` are the range of each
 * component, and `name` is what messages call the grid. */
typedef struct input_kind {
    tvlm_grid grid;
    const tvlm_way_in *in;
    float low[4], high[4];
    bool identifier;
    char name[TVLM_CHANNEL_NAME_SIZE];
} input_kind;

/* A grid that is being taken in. Its values are in host memory at `data`, or, if that is NULL, in `buffer` on
 * the device. */
typedef struct job {
    tvlm_stack *stack;
    int32_t index;
    const input_kind *kind;
    const void *data;
    tvlm_buffer *buffer;
    bool replace_nonfinite;
    tvlm_input input;
    tvlm_given size;
} job;

/* ---- Which grid, and what it must be ---- */

/* Returns the grid that a channel is handed in as, or TVLM_GRID_COUNT if it is not handed in. */
static tvlm_grid grid_of_channel(int32_t channel) {
    const tvlm_grid replacement = tvlm_channel_get_replacement(channel).grid;
    const tvlm_grid stored = tvlm_channel_get_place(channel).grid;
    if (replacement != TVLM_GRID_NONE) return replacement;
    return tvlm_grid_is_given(stored) ? stored : TVLM_GRID_COUNT;
}

/* Returns whether identifiers are renumbered. The identifiers of the application's own planes are not: they
 * are written as they are, and must be small. */
static bool is_relabelled(const input_kind *kind) {
    return kind->identifier && kind->grid < TVLM_GRID_USER_0;
}

/* Returns whether the first of several channels holds identifiers that have a meaning elsewhere, which are
 * the numbers of a vocabulary's centres. They are kept as they are, and must fit the stack's format. */
static bool is_numbered(const input_kind *kind) {
    return kind->identifier && kind->in->channels_max > 1;
}

static input_kind user_kind(const tvlm_stack *stack, int32_t plane) {
    const tvlm_user_plane *user = &stack->users[plane];
    input_kind kind = {.grid = (tvlm_grid)(TVLM_GRID_USER_0 + plane),
                       .low = {user->low, user->low, user->low, user->low},
                       .high = {user->high, user->high, user->high, user->high},
                       .identifier = user->reduce == TVLM_REDUCE_MODE};
    kind.in = &tvlm_grid_get_info(kind.grid)->in;
    memcpy(kind.name, user->name, sizeof kind.name);
    return kind;
}

/* Returns what messages call a grid. A grid that replaces another one has the name of that one, a grid of one
 * channel has the name of its channel, and any other grid has its own name. */
static const char *name_of(tvlm_grid grid, const tvlm_channel_info *first) {
    int32_t replaced;
    if (tvlm_grid_get_replaced(grid, &replaced) > 0)
        return tvlm_grid_get_info(tvlm_channel_get_place(replaced).grid)->name;
    return tvlm_grid_get_info(grid)->in.channels_max > 1 ? tvlm_grid_get_info(grid)->name : first->name;
}

static input_kind registered_kind(tvlm_grid grid) {
    input_kind kind = {.grid = grid, .in = &tvlm_grid_get_info(grid)->in};
    const float most = kind.in->limit > 0.0f ? kind.in->limit : INFINITY;
    for (int32_t c = 0; c < 4; ++c) {
        tvlm_channel_info info;
        if (tvlm_channel_get_info(tvlm_grid_get_channel(grid, c), &info) != TVLM_OK) break;
        kind.low[c] = fmaxf(info.low, -most);
        kind.high[c] = fminf(info.high, most);
        if (c > 0) continue;
        kind.identifier = info.identifier;
        snprintf(kind.name, sizeof kind.name, "%s", name_of(grid, &info));
    }
    return kind;
}

static tvlm_status find_kind(const tvlm_stack *stack, int32_t channel, input_kind *kind) {
    tvlm_channel_info info;
    TVLM_TRY(tvlm_stack_check_channel(stack, channel));
    if (channel >= TVLM_CHANNEL_USER_0) {
        *kind = user_kind(stack, channel - TVLM_CHANNEL_USER_0);
        return TVLM_OK;
    }
    const tvlm_grid grid = grid_of_channel(channel);
    if (grid < TVLM_GRID_COUNT && tvlm_grid_get_info(grid)->in.channels_max > 0) {
        *kind = registered_kind(grid);
        return TVLM_OK;
    }
    TVLM_TRY(tvlm_channel_get_info(channel, &info));
    return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "channel '%s' is not one that is handed in",
                     info.name);
}

/* ---- Checks ---- */

static tvlm_status check_shape(const job *j, const struct tvlm_grid_input *input) {
    const tvlm_log *log = &j->stack->device->log;
    const input_kind *kind = j->kind;
    const int32_t channels = input->channels != 0 ? input->channels : 1;
    if (input->columns < 1 || input->rows < 1)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: a grid of %dx%d cells", kind->name,
                         (int)input->columns, (int)input->rows);
    if (channels < kind->in->channels_min || channels > kind->in->channels_max)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: a grid of %d channels; it has %d%s%.0d", kind->name,
                         (int)channels, (int)kind->in->channels_min,
                         kind->in->channels_max > kind->in->channels_min ? " to " : "",
                         kind->in->channels_max > kind->in->channels_min ? (int)kind->in->channels_max : 0);
    if ((int)input->type < 0 || input->type > TVLM_VALUE_F16)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: there is no type %d", kind->name, (int)input->type);
    if ((int64_t)input->columns * input->rows > INT32_MAX / channels)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: a grid of %dx%dx%d values is too large", kind->name,
                         (int)input->columns, (int)input->rows, (int)channels);
    return TVLM_OK;
}

/* Checks the row stride, and whether the last row ends within the buffer. */
static tvlm_status check_rows(job *j, const struct tvlm_grid_input *input, size_t offset) {
    const tvlm_log *log = &j->stack->device->log;
    const size_t value = input->type == TVLM_VALUE_F16 ? 2 : 4;
    const size_t row = (size_t)input->columns * (size_t)j->input.channels * value;
    const size_t stride = input->row_stride != 0 ? input->row_stride : row;
    size_t before;
    if (stride < row || stride % value != 0 || offset % value != 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "%s: a row stride of %zu bytes at offset %zu; rows have %zu bytes, values %zu",
                         j->kind->name, stride, offset, row, value);
    if (!tvlm_multiply((size_t)input->rows - 1, stride, &before) || offset > SIZE_MAX - row ||
        before > SIZE_MAX - row - offset)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: larger than the address space", j->kind->name);
    if (j->buffer != NULL && offset + before + row > j->buffer->bytes)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: the grid reaches beyond the cl_mem's %zu bytes",
                         j->kind->name, j->buffer->bytes);
    j->input.offset = offset;
    j->input.row_stride = stride;
    return TVLM_OK;
}

/* Finds how much of the image the grid covers. */
static tvlm_status check_extent(job *j, const struct tvlm_grid_input *input) {
    const tvlm_stack *stack = j->stack;
    const float width = (float)stack->width, height = (float)stack->height, cell = input->cell;
    j->size.extent_x = width;
    j->size.extent_y = height;
    if (cell == 0.0f) return TVLM_OK;
    if (!(cell > 0.0f) || !isfinite(cell))
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "%s: cells of %g pixels", j->kind->name,
                         (double)cell);
    j->size.extent_x = (float)input->columns * cell;
    j->size.extent_y = (float)input->rows * cell;
    if (fabsf(j->size.extent_x - width) > cell || fabsf(j->size.extent_y - height) > cell)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT,
                         "%s: %dx%d cells of %g pixels cover %gx%g, more than a cell off the image's %dx%d",
                         j->kind->name, (int)input->columns, (int)input->rows, (double)cell,
                         (double)j->size.extent_x, (double)j->size.extent_y, (int)stack->width,
                         (int)stack->height);
    return TVLM_OK;
}

static tvlm_status check_camera(const job *j, const struct tvlm_grid_input *input) {
    if (isfinite(input->fx) && isfinite(input->fy) && isfinite(input->cx) && isfinite(input->cy) &&
        input->fx >= 0.0f && input->fy >= 0.0f)
        return TVLM_OK;
    return tvlm_fail(&j->stack->device->log, TVLM_ERROR_ARGUMENT,
                     "%s: a camera of fx %g, fy %g, cx %g, cy %g", j->kind->name, (double)input->fx,
                     (double)input->fy, (double)input->cx, (double)input->cy);
}

/* Sets the range that values are clamped to: the channel's range, limited to what the stack's format can
 * hold. */
static void set_ranges(job *j) {
    const float most = j->stack->format == TVLM_FORMAT_F32 ? FLT_MAX : TVLM_HALF_MAX;
    for (int c = 0; c < 4; ++c) {
        j->input.low[c] = fmaxf(j->kind->low[c], -most);
        j->input.high[c] = fminf(j->kind->high[c], most);
        j->input.fill[c] = j->kind->in->fill[c];
    }
}

static tvlm_status check(job *j, const struct tvlm_grid_input *input, size_t offset) {
    TVLM_TRY(check_shape(j, input));
    j->input = (tvlm_input){.columns = input->columns,
                            .rows = input->rows,
                            .channels = input->channels != 0 ? input->channels : 1,
                            .half = input->type == TVLM_VALUE_F16,
                            .mode = j->kind->in->mode};
    j->size =
        (tvlm_given){.columns = input->columns, .rows = input->rows, .layers = (j->input.channels + 3) / 4};
    if (tvlm_grid_get_info(j->kind->grid)->vectors) j->size.dimension = j->input.channels;
    j->replace_nonfinite = input->replace_nonfinite;
    set_ranges(j);
    TVLM_TRY(check_rows(j, input, offset));
    TVLM_TRY(check_extent(j, input));
    return check_camera(j, input);
}

static tvlm_status check_finite(const job *j) {
    const tvlm_backend *backend = j->stack->device->backend;
    int64_t bad = -1;
    if (j->replace_nonfinite) return TVLM_OK;
    if (j->data != NULL)
        bad = tvlm_input_check(&j->input, j->data);
    else
        TVLM_TRY(backend->input_check(j->stack->device, j->buffer, &j->input, &bad));
    if (bad < 0) return TVLM_OK;
    const int64_t cell = bad / j->input.channels;
    return tvlm_fail(&j->stack->device->log, TVLM_ERROR_ARGUMENT,
                     "%s: value %lld (row %lld, column %lld, channel %lld) is not finite", j->kind->name,
                     (long long)bad, (long long)(cell / j->input.columns),
                     (long long)(cell % j->input.columns), (long long)(bad % j->input.channels));
}

/* ---- Identifiers ---- */

static int compare_floats(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static int32_t remove_doubles(float *sorted, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; ++i)
        if (i == 0 || sorted[i] != sorted[kept - 1]) sorted[kept++] = sorted[i];
    return (int32_t)kept;
}

/* Replaces each of values[count] by its position among the distinct values in ascending order. */
static tvlm_status relabel(const job *j, float *values, size_t count) {
    const tvlm_log *log = &j->stack->device->log;
    float *sorted = tvlm_allocate(count, sizeof *sorted);
    if (sorted == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for identifiers");
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_floats);
    const int32_t distinct = remove_doubles(sorted, count);
    for (size_t i = 0; distinct <= ID_MAX + 1 && i < count; ++i) {
        const float *found = bsearch(&values[i], sorted, (size_t)distinct, sizeof *sorted, compare_floats);
        values[i] = (float)(found - sorted);
    }
    free(sorted);
    if (distinct <= ID_MAX + 1) return TVLM_OK;
    return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: %d different ids; at most %d fit", j->kind->name,
                     (int)distinct, ID_MAX + 1);
}

/* Reads the identifiers into an array without gaps between rows, and checks them; renumbers them if
 * is_relabelled says so. The caller frees *ids. */
static tvlm_status read_ids(const job *j, float **ids) {
    const tvlm_log *log = &j->stack->device->log;
    const size_t count = (size_t)j->input.columns * (size_t)j->input.rows;
    float *values = tvlm_allocate(count, sizeof *values);
    tvlm_status status = TVLM_OK;
    if (values == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for identifiers");
    for (size_t i = 0; status == TVLM_OK && i < count; ++i) {
        const size_t columns = (size_t)j->input.columns;
        const float value =
            tvlm_input_value(&j->input, j->data, (int32_t)(i % columns), (int32_t)(i / columns), 0);
        /* Adding 0 turns -0 into 0. */
        values[i] = isfinite(value) ? value + 0.0f : 0.0f;
        if (values[i] != floorf(values[i]) || (!is_relabelled(j->kind) && fabsf(values[i]) > (float)ID_MAX))
            status =
                tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: value %zu is %g; ids are whole numbers%s",
                          j->kind->name, i, (double)value, is_relabelled(j->kind) ? "" : " of -2048 .. 2048");
    }
    if (status == TVLM_OK && is_relabelled(j->kind)) status = relabel(j, values, count);
    if (status == TVLM_OK)
        *ids = values;
    else
        free(values);
    return status;
}

/* ---- Into the texture ---- */

/* Converts all cells on the host into layers of four floats, and writes the layers one by one. */
static tvlm_status write_host(const job *j, tvlm_texture *texture) {
    const tvlm_backend *backend = j->stack->device->backend;
    const size_t count = (size_t)texture->width * (size_t)texture->height;
    const int32_t layers = texture->layers, image = j->index - tvlm_stack_chunk(j->stack, j->index)->first;
    float *rgba = tvlm_allocate(count, 4 * (size_t)layers * sizeof *rgba);
    tvlm_status status = TVLM_OK;
    if (rgba == NULL) return tvlm_fail(&j->stack->device->log, TVLM_ERROR_MEMORY, "no memory for a grid");
    for (size_t i = 0; i < count; ++i) {
        float cell[TVLM_EMBEDDING_MAX];
        tvlm_input_convert(&j->input, j->data, (int32_t)(i % (size_t)texture->width),
                           (int32_t)(i / (size_t)texture->width), layers, cell);
        for (int32_t layer = 0; layer < layers; ++layer)
            memcpy(rgba + 4 * ((size_t)layer * count + i), cell + 4 * layer, 4 * sizeof *rgba);
    }
    for (int32_t layer = 0; status == TVLM_OK && layer < layers; ++layer)
        status = backend->texture_write(j->stack->device, texture, image * layers + layer,
                                        rgba + 4 * (size_t)layer * count);
    free(rgba);
    return status;
}

/* Uploads the features' bytes as they are, and converts them on the device, since there are many of them. */
static tvlm_status write_features(const job *j, int32_t image, tvlm_texture *texture) {
    const tvlm_backend *backend = j->stack->device->backend;
    const size_t row = (size_t)j->input.columns * (size_t)j->input.channels * (j->input.half ? 2 : 4);
    const size_t bytes = ((size_t)j->input.rows - 1) * j->input.row_stride + row;
    tvlm_buffer *buffer;
    TVLM_TRY(tvlm_stack_scratch(j->stack, TVLM_SCRATCH_PIXELS, bytes, &buffer));
    TVLM_TRY(backend->buffer_write(j->stack->device, buffer, 0, bytes, j->data));
    return backend->input(j->stack->device, buffer, &j->input, image, texture);
}

static tvlm_status write_texels(const job *j, tvlm_texture *texture) {
    const int32_t image = j->index - tvlm_stack_chunk(j->stack, j->index)->first;
    if (j->data == NULL)
        return j->stack->device->backend->input(j->stack->device, j->buffer, &j->input, image, texture);
    return tvlm_grid_get_info(j->kind->grid)->vectors ? write_features(j, image, texture)
                                                      : write_host(j, texture);
}

static tvlm_status write_grid(const job *j) {
    tvlm_texture *texture;
    TVLM_TRY(tvlm_stack_chunks_fit(j->stack, &j->size, j->kind->name));
    TVLM_TRY(tvlm_stack_given_begin(j->stack, j->index, j->kind->grid, &j->size, j->kind->name, &texture));
    const tvlm_status status = write_texels(j, texture);
    if (status == TVLM_OK) {
        tvlm_stack_given_end(j->stack, j->index, j->kind->grid);
    } else {
        /* After the failure the image has neither the old grid nor the new one. */
        tvlm_stack_given_end(j->stack, j->index, j->kind->grid);
        tvlm_stack_given_clear(j->stack, j->index, j->kind->grid);
    }
    return status;
}

/* Refuses values that cannot be numbers of centres, and numbers that the stack's format cannot hold. */
static tvlm_status check_numbers(const job *j) {
    const bool exact = j->stack->format == TVLM_FORMAT_F32;
    const float most = exact ? j->kind->high[0] : (float)ID_MAX;
    for (int32_t row = 0; row < j->input.rows; ++row)
        for (int32_t column = 0; column < j->input.columns; ++column) {
            const float value = tvlm_input_value(&j->input, j->data, column, row, 0);
            if (!isfinite(value)) continue; /* it becomes 0 */
            if (value != floorf(value) || value < 0.0f || value > most)
                return tvlm_fail(&j->stack->device->log, TVLM_ERROR_ARGUMENT,
                                 "%s: cell %lld has number %g; numbers of centres are whole, of 0 .. %g%s",
                                 j->kind->name, (long long)row * j->input.columns + column, (double)value,
                                 (double)most, exact ? "" : ", and above that in stacks of format f32 alone");
        }
    return TVLM_OK;
}

static tvlm_status write_identifiers(job *j) {
    float *ids = NULL;
    TVLM_TRY(check_finite(j));
    if (is_numbered(j->kind)) {
        TVLM_TRY(check_numbers(j));
        return write_grid(j);
    }
    TVLM_TRY(read_ids(j, &ids));
    j->data = ids;
    j->input.half = false;
    j->input.offset = 0;
    j->input.row_stride = (size_t)j->input.columns * sizeof *ids;
    const tvlm_status status = write_grid(j);
    free(ids);
    return status;
}

/* Identifiers are always taken in on the host, since all of them must be read to find the distinct ones. */
static tvlm_status write_ids(job *j) {
    void *copy = NULL;
    tvlm_status status = TVLM_OK;
    if (j->data == NULL) {
        const size_t bytes = j->buffer->bytes;
        copy = tvlm_allocate(bytes, 1);
        if (copy == NULL)
            return tvlm_fail(&j->stack->device->log, TVLM_ERROR_MEMORY, "no memory for identifiers");
        status = j->stack->device->backend->buffer_read(j->stack->device, j->buffer, 0, bytes, copy);
        j->data = copy;
    }
    if (status == TVLM_OK) status = write_identifiers(j);
    free(copy);
    return status;
}

/* Notes whether none of the features has a direction, so that questions about them can be refused. Values in
 * a buffer are looked at only if they are also checked for values that are not finite, since looking at them
 * waits for the device. */
static tvlm_status note_directions(const job *j) {
    tvlm_stack *const stack = j->stack;
    tvlm_stack_image *const image = &stack->originals[j->index];
    bool any = true;
    if (j->data != NULL)
        any = tvlm_input_directions(&j->input, j->data);
    else if (!j->replace_nonfinite)
        TVLM_TRY(stack->device->backend->input_directions(stack->device, j->buffer, &j->input, &any));
    if (!any) image->pointless = image->changes[TVLM_GRID_FEATURES];
    return TVLM_OK;
}

/* Sets the camera that came with the grid. If no intrinsics are given, the camera's field of view is 53
 * degrees along the longer side, and its optical axis goes through the centre. */
static void set_camera(const job *j, const struct tvlm_grid_input *input) {
    const float width = (float)j->stack->width, height = (float)j->stack->height,
                longer = fmaxf(width, height);
    const bool centre = input->cx == 0.0f && input->cy == 0.0f;
    j->stack->cameras[j->index] = (tvlm_camera){
        .fx = input->fx > 0.0f ? input->fx : longer,
        .fy = input->fy > 0.0f ? input->fy : longer,
        .cx = centre ? 0.5f * width : input->cx,
        .cy = centre ? 0.5f * height : input->cy,
    };
}

/* Makes a job of a grid, and checks all but its values. */
static tvlm_status begin(tvlm_stack *stack, int32_t index, const input_kind *kind,
                         const struct tvlm_grid_input *input, tvlm_buffer *buffer, size_t offset, job *j) {
    *j = (job){.stack = stack, .index = index, .kind = kind, .buffer = buffer};
    if (input == NULL || (buffer == NULL && input->data == NULL))
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "%s: no data", kind->name);
    TVLM_CHECK_RESERVED(&stack->device->log, tvlm_grid_input, input);
    j->data = buffer == NULL ? input->data : NULL;
    return check(j, input, offset);
}

static tvlm_status put(tvlm_stack *stack, int32_t index, const input_kind *kind,
                       const struct tvlm_grid_input *input, tvlm_buffer *buffer, size_t offset) {
    job j;
    TVLM_TRY(begin(stack, index, kind, input, buffer, offset, &j));
    if (kind->identifier) return write_ids(&j);
    TVLM_TRY(check_finite(&j));
    TVLM_TRY(write_grid(&j));
    if (kind->grid == TVLM_GRID_FEATURES) TVLM_TRY(note_directions(&j));
    if (kind->in->camera) set_camera(&j, input);
    return TVLM_OK;
}

tvlm_status tvlm_stack_input(tvlm_stack *stack, int32_t index, int32_t channel,
                             const struct tvlm_grid_input *input, tvlm_buffer *buffer, size_t offset) {
    input_kind kind;
    TVLM_TRY(tvlm_stack_check_index(stack, index));
    TVLM_TRY(find_kind(stack, channel, &kind));
    return put(stack, index, &kind, input, buffer, offset);
}

tvlm_status tvlm_stack_input_check(tvlm_stack *stack, int32_t index, int32_t channel,
                                   const struct tvlm_grid_input *input, tvlm_buffer *buffer, size_t offset) {
    input_kind kind;
    job j;
    TVLM_TRY(tvlm_stack_check_index(stack, index));
    TVLM_TRY(find_kind(stack, channel, &kind));
    TVLM_TRY(begin(stack, index, &kind, input, buffer, offset, &j));
    return check_finite(&j);
}

/* ---- The application's own planes ---- */

static int32_t find_user(const tvlm_stack *stack, const char *name) {
    for (int32_t i = 0; i < stack->user_count; ++i)
        if (strcmp(stack->users[i].name, name) == 0) return i;
    return -1;
}

static tvlm_status check_user(const tvlm_stack *stack, const char *name, float low, float high,
                              tvlm_reduce reduce) {
    const tvlm_log *log = &stack->device->log;
    if (!tvlm_name_is_allowed(name))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "'%.40s' is no name of a plane: letters, digits, '_', '-', '.', '@'",
                         name != NULL ? name : "");
    if (tvlm_name_is_taken(name))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "'%s' is the library's own name", name);
    if (tvlm_learned_find(&stack->learned, name, strlen(name)) >= 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "'%s' is an output of the stack's network", name);
    if (!(low < high) && !(low == 0.0f && high == 0.0f))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: a range of %g .. %g", name, (double)low,
                         (double)high);
    if ((int)reduce < TVLM_MEAN || reduce > TVLM_GAUSSIAN)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: there is no reduction %d", name, (int)reduce);
    return TVLM_OK;
}

/* Refuses a plane if one of the same name exists that differs from it. */
static tvlm_status check_same(const tvlm_log *log, const tvlm_user_plane *known,
                              const tvlm_user_plane *plane) {
    if (known->output != plane->output)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "'%s' is the name of an output of a scorer, and of the application's own plane",
                         plane->name);
    if (known->low != plane->low || known->high != plane->high || known->reduce != plane->reduce)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: it had another range or reduction before",
                         plane->name);
    return TVLM_OK;
}

static tvlm_status put_user(tvlm_stack *stack, int32_t index, const tvlm_user_plane *plane,
                            const struct tvlm_grid_input *input, tvlm_buffer *buffer, size_t offset,
                            int32_t *channel) {
    const tvlm_log *log = &stack->device->log;
    int32_t found = find_user(stack, plane->name);
    const bool known = found >= 0;
    if (known) TVLM_TRY(check_same(log, &stack->users[found], plane));
    if (!plane->output) {
        tvlm_channel_info info = {.low = plane->low, .high = plane->high};
        info.identifier = plane->reduce == TVLM_REDUCE_MODE;
        memcpy(info.name, plane->name, sizeof info.name);
        TVLM_TRY(tvlm_stack_check_plane(stack, &info));
    }
    if (!known && stack->user_count == TVLM_USER_PLANES_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: more than %d planes", plane->name,
                         TVLM_USER_PLANES_MAX);
    if (!known) {
        found = stack->user_count++;
        stack->users[found] = *plane;
    }
    const input_kind kind = user_kind(stack, found);
    const tvlm_status status = put(stack, index, &kind, input, buffer, offset);
    /* After a failure, a plane that was new is forgotten again. */
    if (status != TVLM_OK && !known) --stack->user_count;
    if (status == TVLM_OK && channel != NULL) *channel = TVLM_CHANNEL_USER_0 + found;
    return status;
}

tvlm_status tvlm_stack_input_user(tvlm_stack *stack, int32_t index, const char *name, float low, float high,
                                  tvlm_reduce reduce, const struct tvlm_grid_input *input,
                                  tvlm_buffer *buffer, size_t offset, int32_t *channel) {
    static const uint8_t rules[] = {TVLM_REDUCE_MEAN, TVLM_REDUCE_MAX, TVLM_REDUCE_MIN, TVLM_REDUCE_MODE,
                                    TVLM_REDUCE_GAUSSIAN};
    tvlm_user_plane plane;
    TVLM_TRY(tvlm_stack_check_index(stack, index));
    TVLM_TRY(check_user(stack, name, low, high, reduce));
    memset(&plane, 0, sizeof plane);
    snprintf(plane.name, sizeof plane.name, "%s", name);
    plane.low = low < high ? low : -INFINITY;
    plane.high = low < high ? high : INFINITY;
    plane.reduce = rules[reduce];
    return put_user(stack, index, &plane, input, buffer, offset, channel);
}

tvlm_status tvlm_stack_input_output(tvlm_stack *stack, int32_t index, int32_t number,
                                    const struct tvlm_grid_input *input, tvlm_buffer *buffer, size_t offset) {
    tvlm_user_plane plane;
    memset(&plane, 0, sizeof plane);
    snprintf(plane.name, sizeof plane.name, "output_%d", (int)number);
    plane.low = -INFINITY;
    plane.high = INFINITY;
    plane.reduce = TVLM_REDUCE_MEAN;
    plane.output = true;
    TVLM_TRY(check_user(stack, plane.name, 0.0f, 0.0f, TVLM_MEAN));
    return put_user(stack, index, &plane, input, buffer, offset, NULL);
}

/* ---- input.h ---- */

tvlm_status tvlm_stack_set_grid(tvlm_stack *stack, int32_t index, int32_t channel,
                                const struct tvlm_grid_input *input) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    return tvlm_stack_input(stack, index, channel, input, NULL, 0);
}

tvlm_status tvlm_stack_set_user(tvlm_stack *stack, int32_t index, const char *name, float low, float high,
                                tvlm_reduce reduce, const struct tvlm_grid_input *input, int32_t *channel) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    return tvlm_stack_input_user(stack, index, name, low, high, reduce, input, NULL, 0, channel);
}

tvlm_status tvlm_stack_clear_grid(tvlm_stack *stack, int32_t index, int32_t channel) {
    input_kind kind;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    if (index != -1) TVLM_TRY(tvlm_stack_check_index(stack, index));
    kind.grid = tvlm_channel_get_place(channel).grid;
    /* Words and the previous pass cannot be handed in, but they are kept as if they had been, and can be
     * cleared. */
    if (!tvlm_grid_is_given(kind.grid) || tvlm_grid_get_info(kind.grid)->in.channels_max > 0)
        TVLM_TRY(find_kind(stack, channel, &kind));
    for (int32_t i = 0; i < stack->images; ++i)
        if (index == -1 || index == i) tvlm_stack_given_clear(stack, i, kind.grid);
    return TVLM_OK;
}

tvlm_status tvlm_stack_invalidate(tvlm_stack *stack, int32_t channel) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    TVLM_TRY(tvlm_stack_check_channel(stack, channel));
    const tvlm_grid grid = tvlm_stack_place(stack, channel).grid;
    for (int32_t i = 0; grid < TVLM_GRID_COUNT && i < stack->chunk_count; ++i)
        tvlm_stack_outdate(stack, &stack->chunks[i], TVLM_GRID_BIT(grid));
    return TVLM_OK;
}
