/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attend.c: attention over the features of one stack as keys, with those of another stack as values. This
 * file checks the parameters, plans which levels are read, and hands out the results. The backend does the
 * rest.
 */
#include "texturevlm/lab/attend.h"

#include <math.h>
#include <stdint.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "lab/operations.h"
#include "stack/features.h"
#include "stack/make.h"
#include "stack/stack.h"

/* An attention that is being computed. `given` are the parameters with the defaults filled in. */
typedef struct task {
    tvlm_stack *stack, *values_stack;
    tvlm_device *device;
    const tvlm_log *log;
    struct tvlm_attend_params given;
    tvlm_features keys, values;
    int32_t columns, rows, levels; /* of the grid of the keys */
    tvlm_attention plan;
} task;

static int32_t cells_of(const task *t) {
    return t->columns * t->rows;
}

/* ---- Checks ---- */

/* Returns 1 / the root of a head's dimension. If the dimension or the number of heads is wrong, the value
 * does not matter: they are refused later. */
static float usual_scale(const struct tvlm_attend_params *p) {
    return p->dimension >= 1 && p->heads >= 1 ? (float)sqrt((double)p->heads / (double)p->dimension) : 1.0f;
}

static tvlm_status check_queries(const task *t) {
    const struct tvlm_attend_params *const p = &t->given;
    if (p->queries == NULL || p->count < 1 || p->dimension < 1)
        return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "%s of %d queries of %d dimensions",
                         p->queries != NULL ? "an array" : "no array", (int)p->count, (int)p->dimension);
    const size_t count = (size_t)p->count * (size_t)p->dimension;
    for (size_t i = 0; i < count; ++i)
        if (!(fabsf(p->queries[i]) <= TVLM_FEATURE_LIMIT))
            return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT,
                             "query %zu: value %zu is %g; it must be finite, and at most 1e15",
                             i / (size_t)p->dimension, i % (size_t)p->dimension, (double)p->queries[i]);
    return TVLM_OK;
}

static tvlm_status check_numbers(const task *t) {
    const struct tvlm_attend_params *const p = &t->given;
    if (p->heads < 1 || p->heads > TVLM_ATTENTION_HEADS)
        return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "%d heads; there are 1 to %d", (int)p->heads,
                         TVLM_ATTENTION_HEADS);
    if (!(p->fine > 0.0f && p->fine <= 1.0f))
        return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "a fine share of %g; it is above 0 and at most 1",
                         (double)p->fine);
    if (!(p->scale > 0.0f && p->scale <= TVLM_FEATURE_LIMIT))
        return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "a scale of %g; it is above 0, and at most 1e15",
                         (double)p->scale);
    if (!(p->mix >= 0.0f && p->mix < 1.0f))
        return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "a mix of %g; it is from 0 to below 1", (double)p->mix);
    if (p->mix > 0.0f && (p->steps || p->level == 0))
        return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "a mix %s",
                         p->steps ? "of steps: it has two levels" : "without a coarse level");
    return TVLM_OK;
}

static tvlm_status check_dimensions(const task *t) {
    const struct tvlm_attend_params *const p = &t->given;
    if (p->dimension != t->keys.dimension)
        return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "queries of %d dimensions, but the keys have %d",
                         (int)p->dimension, (int)t->keys.dimension);
    if (t->keys.dimension % p->heads != 0 || t->values.dimension % p->heads != 0)
        return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT,
                         "%d heads of keys of %d dimensions and values of %d: both must be multiples of it",
                         (int)p->heads, (int)t->keys.dimension, (int)t->values.dimension);
    return TVLM_OK;
}

static tvlm_status check_grids(const task *t) {
    const tvlm_texture *const values = t->values.texture;
    if (values->width != t->columns || values->height != t->rows)
        return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "keys of %d x %d cells and values of %d x %d",
                         (int)t->columns, (int)t->rows, (int)values->width, (int)values->height);
    if (t->columns > TVLM_ATTENTION_CELLS / t->rows)
        return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "keys of %d x %d cells; at most %d can be attended to",
                         (int)t->columns, (int)t->rows, TVLM_ATTENTION_CELLS);
    if (t->given.level < 0 || t->given.level >= t->levels)
        return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "level %d of keys of %d x %d cells, which have 0 to %d",
                         (int)t->given.level, (int)t->columns, (int)t->rows, (int)t->levels - 1);
    return TVLM_OK;
}

/* Finds the features of a stack, with all their levels if a level other than 0 is read. */
static tvlm_status find_features(const task *t, tvlm_stack *stack, tvlm_features *features) {
    TVLM_TRY(tvlm_stack_features(stack, t->given.index, features));
    if (t->given.level == 0) return TVLM_OK;
    TVLM_TRY(tvlm_stack_make(stack, t->given.index, TVLM_GRID_BIT(TVLM_GRID_FEATURES)));
    return tvlm_stack_features(stack, t->given.index, features);
}

/* Refuses features whose levels are not means: a coarse cell stands for the cells below it by their mean. */
static tvlm_status check_means(const task *t, const tvlm_stack *stack) {
    if (t->given.level == 0 || tvlm_stack_features_are_means(stack)) return TVLM_OK;
    return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT,
                     "attention to level %d of features whose levels are no means (tvlm_stack_set_reduce)",
                     (int)t->given.level);
}

static tvlm_status check(task *t) {
    TVLM_TRY(check_numbers(t));
    TVLM_TRY(check_queries(t));
    TVLM_TRY(check_means(t, t->stack));
    TVLM_TRY(check_means(t, t->values_stack));
    TVLM_TRY(find_features(t, t->stack, &t->keys));
    TVLM_TRY(find_features(t, t->values_stack, &t->values));
    t->columns = t->keys.texture->width;
    t->rows = t->keys.texture->height;
    t->levels = tvlm_level_count(t->columns, t->rows);
    TVLM_TRY(check_grids(t));
    return check_dimensions(t);
}

/* ---- The plan ---- */

/* Adds a level to those that the plan reads. */
static void read_level(task *t, int32_t level) {
    tvlm_attention_level *const added = &t->plan.levels[t->plan.level_count++];
    *added = (tvlm_attention_level){.columns = tvlm_level_side(t->columns, level),
                                    .rows = tvlm_level_side(t->rows, level)};
    for (int32_t n = 0; n < level; ++n)
        added->first += tvlm_level_side(t->columns, n) * tvlm_level_side(t->rows, n);
}

static tvlm_status bring(task *t, tvlm_scratch which, size_t count, const float *numbers,
                         tvlm_buffer **buffer) {
    TVLM_TRY(tvlm_stack_scratch(t->stack, which, count * sizeof(float), buffer));
    if (numbers == NULL) return TVLM_OK;
    return t->device->backend->buffer_write(t->device, *buffer, 0, count * sizeof(float), numbers);
}

static tvlm_status make_plan(task *t, bool map) {
    const struct tvlm_attend_params *const p = &t->given;
    tvlm_attention *const plan = &t->plan;
    *plan = (tvlm_attention){.count = p->count,
                             .heads = p->heads,
                             .key_dimension = t->keys.dimension,
                             .value_dimension = t->values.dimension,
                             .share = (int32_t)lround((double)p->fine * TVLM_ATTENTION_WHOLE),
                             .mix = p->mix,
                             .scale = p->scale};
    for (int32_t level = p->level; level > 0; level = p->steps ? level - 1 : 0) read_level(t, level);
    read_level(t, 0);
    TVLM_TRY(tvlm_stack_features_matrices(t->stack, &t->keys, p->level + 1, &plan->keys));
    TVLM_TRY(tvlm_stack_features_matrices(t->values_stack, &t->values, p->level + 1, &plan->values));
    const size_t count = (size_t)p->count;
    TVLM_TRY(bring(t, TVLM_SCRATCH_QUERIES, count * (size_t)p->dimension, p->queries, &plan->queries));
    TVLM_TRY(bring(t, TVLM_SCRATCH_SAMPLES, count * (size_t)plan->value_dimension, NULL, &plan->out));
    TVLM_TRY(bring(t, TVLM_SCRATCH_RANKING, 2 * count * (size_t)p->heads, NULL, &plan->reads));
    if (map) TVLM_TRY(bring(t, TVLM_SCRATCH_SCORES, (size_t)cells_of(t), NULL, &plan->map));
    return TVLM_OK;
}

/* ---- Results ---- */

static tvlm_status read_info(const task *t, tvlm_attend_info *info) {
    const tvlm_attention *const plan = &t->plan;
    const size_t rows = (size_t)plan->count * (size_t)plan->heads;
    int32_t *const reads = tvlm_allocate(rows, 2 * sizeof *reads);
    double sums[2] = {0.0, 0.0};
    if (reads == NULL) return tvlm_fail(t->log, TVLM_ERROR_MEMORY, "no memory for %zu rows", rows);
    const tvlm_status status =
        t->device->backend->buffer_read(t->device, plan->reads, 0, rows * 2 * sizeof *reads, reads);
    for (size_t i = 0; i < 2 * rows; ++i) sums[i % 2] += (double)reads[i] / (double)rows;
    free(reads);
    if (status != TVLM_OK) return status;
    const double key = plan->key_dimension, value = plan->value_dimension;
    *info = (tvlm_attend_info){.columns = t->columns,
                               .rows = t->rows,
                               .dimension = plan->value_dimension,
                               .heads = plan->heads,
                               .keys = sums[0],
                               .values = sums[1],
                               .bytes = (sums[0] * key + sums[1] * value) / (cells_of(t) * (key + value))};
    return TVLM_OK;
}

/* Sets a map as the channel `attention`, scaled so that its largest value is 1. Its grid covers the image as
 * the grid of the keys does. */
static tvlm_status keep_map(const task *t, const float *map) {
    float *const scaled = tvlm_allocate((size_t)cells_of(t), sizeof *scaled), most = 0.0f;
    if (scaled == NULL) return tvlm_fail(t->log, TVLM_ERROR_MEMORY, "no memory for a map");
    for (int32_t i = 0; i < cells_of(t); ++i) most = fmaxf(most, map[i]);
    for (int32_t i = 0; i < cells_of(t); ++i) scaled[i] = map[i] / most;
    const tvlm_status status =
        tvlm_stack_set_grid(t->stack, t->given.index, TVLM_CHANNEL_ATTENTION,
                            tvlm_grid_input(.data = scaled, .columns = t->columns, .rows = t->rows,
                                            .cell = tvlm_stack_features_cell(t->stack, t->keys.texture)));
    free(scaled);
    return status;
}

static tvlm_status read_map(const task *t, float *map) {
    const size_t bytes = (size_t)cells_of(t) * sizeof *map;
    float *const read = map != NULL ? map : tvlm_allocate(bytes, 1);
    if (read == NULL) return tvlm_fail(t->log, TVLM_ERROR_MEMORY, "no memory for a map");
    tvlm_status status = t->device->backend->buffer_read(t->device, t->plan.map, 0, bytes, read);
    if (status == TVLM_OK && t->given.keep) status = keep_map(t, read);
    if (read != map) free(read);
    return status;
}

static tvlm_status attend(task *t, size_t capacity, float *out, float *map, tvlm_attend_info *info) {
    const size_t count = (size_t)t->given.count * (size_t)t->values.dimension;
    const bool mapped = map != NULL || t->given.keep;
    if (capacity < count)
        return tvlm_fail(t->log, TVLM_ERROR_ARGUMENT, "room for %zu numbers; there are %d x %d", capacity,
                         (int)t->given.count, (int)t->values.dimension);
    TVLM_TRY(make_plan(t, mapped));
    TVLM_TRY(t->device->backend->lab->attend(t->device, &t->plan));
    TVLM_TRY(t->device->backend->buffer_read(t->device, t->plan.out, 0, count * sizeof *out, out));
    if (info != NULL) TVLM_TRY(read_info(t, info));
    return mapped ? read_map(t, map) : TVLM_OK;
}

tvlm_status tvlm_attend(tvlm_stack *keys, tvlm_stack *values, const struct tvlm_attend_params *params,
                        size_t capacity, float *out, float *map, tvlm_attend_info *info) {
    TVLM_NEED(NULL, keys);
    TVLM_ENTER(tvlm_stack_device(keys));
    const tvlm_log *const log = tvlm_stack_log(keys);
    TVLM_NEED(log, params);
    TVLM_NEED(log, out);
    TVLM_CHECK_RESERVED(log, tvlm_attend_params, params);
    task t = {.stack = keys,
              .values_stack = values != NULL ? values : keys,
              .device = tvlm_stack_device(keys),
              .log = log,
              .given = *params};
    if (tvlm_stack_device(t.values_stack) != t.device)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "keys and values on two devices");
    if (t.given.count == 0) t.given.count = 1;
    if (t.given.heads == 0) t.given.heads = 1;
    if (t.given.fine == 0.0f) t.given.fine = TVLM_ATTEND_FINE_DEFAULT;
    if (t.given.scale == 0.0f) t.given.scale = usual_scale(&t.given);
    TVLM_TRY(check(&t));
    return attend(&t, capacity, out, map, info);
}
