/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Learning a scorer: which cells there are, and how much of each is object.
 */
#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/random.h"
#include "core/try.h"
#include "lab/fit.h"
#include "select/mapped.h"
#include "select/score.h"
#include "stack/query.h"
#include "stack/stack.h"

#define CHANNELS_MAX 256 /* the Hessian of 9 taps is 42 MB then */
#define VALUES_BATCH (1 << 22)

/* ---- The fit ---- */

static tvlm_status check_channels(const tvlm_log *log, const int32_t *channels, int32_t count) {
    if (count < 1 || count > CHANNELS_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a fit of %d channels; 1 to %d are possible", (int)count,
                         CHANNELS_MAX);
    for (int32_t i = 0; i < count; ++i) {
        tvlm_channel_info info;
        if (tvlm_channel_get_info(channels[i], &info) != TVLM_OK)
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "there is no channel %d", (int)channels[i]);
        if (info.identifier)
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s is an identifier: no weight makes sense of it",
                             info.name);
        for (int32_t j = 0; j < i; ++j)
            if (channels[j] == channels[i])
                return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the channel %s stands twice", info.name);
    }
    return TVLM_OK;
}

static tvlm_status check_hidden(const tvlm_log *log, const struct tvlm_fit_params *params) {
    if (params->hidden < 0 || params->hidden > TVLM_FIT_HIDDEN_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a fit of %d hidden values; 1 to %d are possible",
                         (int)params->hidden, TVLM_FIT_HIDDEN_MAX);
    if (params->hidden > 0 && params->query_weights)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a fit of hidden values and of query weights");
    if (params->hidden > 0 && params->channel_count > TVLM_NETWORK_INPUTS_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a fit of %d channels with hidden values; 1 to %d are possible",
                         (int)params->channel_count, TVLM_NETWORK_INPUTS_MAX);
    return TVLM_OK;
}

static tvlm_status check_params(const tvlm_log *log, const struct tvlm_fit_params *params) {
    TVLM_TRY(check_hidden(log, params));
    if (params->taps != 0 && params->taps != 1 && params->taps != TVLM_SCORE_TAPS)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a fit of %d taps; 1 or 9 are possible",
                         (int)params->taps);
    if (params->stride != 0.0f && (!(params->stride >= 1.0f) || !isfinite(params->stride)))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "stride %g; it is at least 1 pixel",
                         (double)params->stride);
    if (params->channels != NULL) return check_channels(log, params->channels, params->channel_count);
    if (params->channel_count != 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d channels of a fit, but none given",
                         (int)params->channel_count);
    return TVLM_OK;
}

/* How many weights a solution has. */
static size_t weight_count(const tvlm_fit *fit) {
    const size_t width = (size_t)fit->channel_count * (size_t)fit->taps, hidden = (size_t)fit->hidden;
    return hidden > 0 ? hidden * (width + 2) + 1 : width;
}

static tvlm_status take_channels(tvlm_fit *fit, const struct tvlm_fit_params *params) {
    const char *const usual = fit->query_weights ? TVLM_FIT_QUERY_CHANNELS : TVLM_FIT_CHANNELS;
    int32_t count = params->channel_count;
    if (params->channels == NULL) TVLM_TRY(tvlm_layout_parse(usual, fit->log, 0, NULL, &count));
    fit->channel_count = count;
    fit->channels = tvlm_allocate((size_t)count, sizeof *fit->channels);
    fit->weights = tvlm_allocate(weight_count(fit), sizeof *fit->weights);
    if (fit->channels == NULL || fit->weights == NULL)
        return tvlm_fail(fit->log, TVLM_ERROR_MEMORY, "no memory for a fit of %d channels", (int)count);
    if (params->channels == NULL) return tvlm_layout_parse(usual, fit->log, count, fit->channels, &count);
    memcpy(fit->channels, params->channels, (size_t)count * sizeof *fit->channels);
    return TVLM_OK;
}

tvlm_status tvlm_fit_create(const struct tvlm_fit_params *params, const tvlm_log *log, tvlm_fit **fit) {
    static const struct tvlm_fit_params defaults = {0};
    TVLM_NEED(log, fit);
    if (params == NULL) params = &defaults;
    TVLM_CHECK_RESERVED(log, tvlm_fit_params, params);
    TVLM_TRY(check_params(log, params));
    tvlm_fit *made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for a fit");
    if (log != NULL) made->said = *log;
    made->log = &made->said;
    made->taps = params->taps != 0 ? params->taps : 1;
    made->stride = params->stride;
    made->hidden = params->hidden;
    made->query_weights = params->query_weights;
    const tvlm_status status = take_channels(made, params);
    if (status != TVLM_OK)
        tvlm_fit_destroy(&made);
    else
        *fit = made;
    return status;
}

static void release_image(const tvlm_fit_image *image) {
    free(image->values);
    free(image->share);
    free(image->vector);
}

void tvlm_fit_destroy(tvlm_fit **fit) {
    if (fit == NULL || *fit == NULL) return;
    for (int32_t i = 0; i < (*fit)->image_count; ++i) release_image(&(*fit)->images[i]);
    free((*fit)->images);
    free((*fit)->channels);
    free((*fit)->weights);
    free((*fit)->matrix);
    free(*fit);
    *fit = NULL;
}

const int32_t *tvlm_fit_channels(const tvlm_fit *fit, int32_t *count) {
    if (count != NULL) *count = fit != NULL ? fit->channel_count : 0;
    return fit != NULL ? fit->channels : NULL;
}

int32_t tvlm_fit_images(const tvlm_fit *fit) {
    return fit != NULL ? fit->image_count : 0;
}

/* ---- Cells ---- */

static tvlm_status check_share(const tvlm_fit *fit, const tvlm_candidates *grid, const float *share,
                               int32_t columns, int32_t rows, int32_t *known) {
    if (columns != grid->columns || rows != grid->rows)
        return tvlm_fail(fit->log, TVLM_ERROR_ARGUMENT, "shares of %d x %d cells; the image has %d x %d",
                         (int)columns, (int)rows, (int)grid->columns, (int)grid->rows);
    *known = 0;
    for (int32_t i = 0; i < columns * rows; ++i) {
        if (isnan(share[i])) continue;
        if (!(share[i] >= 0.0f && share[i] <= 1.0f))
            return tvlm_fail(fit->log, TVLM_ERROR_ARGUMENT, "share %d is %g; it is in 0 .. 1, or NaN", (int)i,
                             (double)share[i]);
        ++*known;
    }
    if (*known > 0) return TVLM_OK;
    return tvlm_fail(fit->log, TVLM_ERROR_ARGUMENT, "no cell of the image is known");
}

/* Returns the centre of the part of a cell that lies in the image, as cl/score.cl and lib/reference/score.c
 * compute it. */
static float centre(int32_t cell, float step, int32_t side) {
    return 0.5f * ((float)cell * step + fminf((float)(cell + 1) * step, (float)side));
}

/* Returns whether tap `tap` of a cell is beyond all cells. A network reads 0 there. */
static bool is_beyond(const tvlm_candidates *grid, int32_t cell, int32_t tap) {
    const int32_t column = cell % grid->columns + tap % 3 - 1, row = cell / grid->columns + tap / 3 - 1;
    return column < 0 || column >= grid->columns || row < 0 || row >= grid->rows;
}

/* Returns the point of a tap of a cell. For a network this is the centre of a neighbouring cell, otherwise a
 * place that is one step away. */
static tvlm_sample_point tap_point(const tvlm_fit *fit, const tvlm_stack *stack, const tvlm_candidates *grid,
                                   int32_t index, int32_t cell, int32_t tap) {
    const int32_t dx = tap % 3 - 1, dy = tap / 3 - 1;
    const bool other = fit->hidden > 0 && !is_beyond(grid, cell, tap);
    const int32_t column = cell % grid->columns + (other ? dx : 0),
                  row = cell / grid->columns + (other ? dy : 0);
    const float x = centre(column, grid->step_x, tvlm_stack_width(stack)),
                y = centre(row, grid->step_y, tvlm_stack_height(stack));
    return (tvlm_sample_point){x + (other ? 0.0f : (float)dx * grid->step_x),
                               y + (other ? 0.0f : (float)dy * grid->step_y), grid->level, index};
}

/* Lists the points at which a scorer reads a cell. */
static void cell_points(const tvlm_fit *fit, const tvlm_stack *stack, const tvlm_candidates *grid,
                        int32_t index, int32_t cell, tvlm_sample_point *points) {
    for (int32_t tap = 0; tap < fit->taps; ++tap)
        points[tap] = tap_point(fit, stack, grid, index, cell, fit->taps == 1 ? TVLM_SCORE_TAPS / 2 : tap);
}

/* Sets to 0 what a network reads beyond all cells. */
static void clear_beyond(const tvlm_fit *fit, const tvlm_candidates *grid, int32_t cell, float *values) {
    for (int32_t tap = 0; fit->hidden > 0 && fit->taps > 1 && tap < fit->taps; ++tap)
        if (is_beyond(grid, cell, tap))
            memset(values + (size_t)tap * (size_t)fit->channel_count, 0,
                   (size_t)fit->channel_count * sizeof *values);
}

/* Fills in image->values of the cells in `cells`, a batch at a time. */
static tvlm_status sample_cells(const tvlm_fit *fit, tvlm_stack *stack, int32_t index,
                                const tvlm_candidates *grid, const int32_t *cells, tvlm_fit_image *image) {
    const size_t width = (size_t)fit->channel_count * (size_t)fit->taps;
    const int32_t most = (int32_t)(VALUES_BATCH / width), batch = most < image->cells ? most : image->cells;
    tvlm_sample_point *points = tvlm_allocate((size_t)batch * (size_t)fit->taps, sizeof *points);
    tvlm_status status = TVLM_OK;
    if (points == NULL) return tvlm_fail(fit->log, TVLM_ERROR_MEMORY, "no memory for %d cells", (int)batch);
    for (int32_t first = 0; status == TVLM_OK && first < image->cells; first += batch) {
        const int32_t count = image->cells - first < batch ? image->cells - first : batch;
        for (int32_t i = 0; i < count; ++i)
            cell_points(fit, stack, grid, index, cells[first + i], points + (size_t)i * (size_t)fit->taps);
        status = tvlm_stack_sample(stack, points, count * fit->taps, fit->channels, fit->channel_count,
                                   image->values + (size_t)first * width);
        for (int32_t i = first; status == TVLM_OK && i < first + count; ++i)
            clear_beyond(fit, grid, cells[i], image->values + (size_t)i * width);
    }
    free(points);
    return status;
}

static tvlm_status take_image(tvlm_fit *fit, tvlm_stack *stack, int32_t index, const tvlm_candidates *grid,
                              const float *share, tvlm_fit_image *image) {
    const size_t width = (size_t)fit->channel_count * (size_t)fit->taps;
    int32_t *cells = tvlm_allocate((size_t)image->cells, sizeof *cells), known = 0;
    image->share = tvlm_allocate((size_t)image->cells, sizeof *image->share);
    image->values = tvlm_allocate((size_t)image->cells, width * sizeof *image->values);
    tvlm_status status = TVLM_OK;
    if (cells == NULL || image->share == NULL || image->values == NULL)
        status = tvlm_fail(fit->log, TVLM_ERROR_MEMORY, "no memory for %d cells of %zu values",
                           (int)image->cells, width);
    for (int32_t i = 0; status == TVLM_OK && known < image->cells; ++i) {
        if (isnan(share[i])) continue;
        image->share[known] = share[i];
        cells[known++] = i;
    }
    if (status == TVLM_OK) status = sample_cells(fit, stack, index, grid, cells, image);
    for (size_t i = 0; status == TVLM_OK && i < (size_t)image->cells * width; ++i)
        if (!isfinite(image->values[i]))
            status = tvlm_fail(fit->log, TVLM_ERROR_ARGUMENT, "a value of channel %d is not finite",
                               (int)fit->channels[i % (size_t)fit->channel_count]);
    free(cells);
    return status;
}

static tvlm_status make_room(tvlm_fit *fit) {
    if (fit->image_count < fit->image_capacity) return TVLM_OK;
    const int32_t capacity = fit->image_capacity > 0 ? 2 * fit->image_capacity : 16;
    tvlm_fit_image *images =
        capacity < INT32_MAX / 2 ? realloc(fit->images, (size_t)capacity * sizeof *images) : NULL;
    if (images == NULL) return tvlm_fail(fit->log, TVLM_ERROR_MEMORY, "no memory for more images");
    fit->images = images;
    fit->image_capacity = capacity;
    return TVLM_OK;
}

/* Keeps the direction of the question that an image was asked. */
static tvlm_status take_question(tvlm_fit *fit, tvlm_device *device, const struct tvlm_query *query,
                                 tvlm_fit_image *image) {
    const size_t dimension = (size_t)query->dimension;
    double *const mean = tvlm_allocate(dimension, sizeof *mean);
    image->vector = tvlm_allocate(dimension, sizeof *image->vector);
    tvlm_status status = TVLM_OK;
    if (mean == NULL || image->vector == NULL)
        status = tvlm_fail(fit->log, TVLM_ERROR_MEMORY, "no memory for a question of %zu numbers", dimension);
    if (status == TVLM_OK) status = tvlm_query_direction(device, query, mean);
    for (size_t d = 0; status == TVLM_OK && d < dimension; ++d) image->vector[d] = (float)mean[d];
    free(mean);
    return status;
}

static tvlm_status check_question(const tvlm_fit *fit, const struct tvlm_query *query) {
    TVLM_NEED(fit->log, query);
    if (!fit->query_weights)
        return tvlm_fail(fit->log, TVLM_ERROR_ARGUMENT,
                         "a question to a fit that learns no query weights, and would not hear it");
    if (!tvlm_query_has_vectors(query) || query->dimension < 1 || query->dimension > TVLM_FEATURES_MAX)
        return tvlm_fail(fit->log, TVLM_ERROR_ARGUMENT,
                         "a question without vectors: query weights are learnt from vectors");
    if (fit->dimension != 0 && query->dimension != fit->dimension)
        return tvlm_fail(fit->log, TVLM_ERROR_ARGUMENT, "a question of %d dimensions; those before have %d",
                         (int)query->dimension, (int)fit->dimension);
    return TVLM_OK;
}

/* Adds an image. `query` is the question that the image was asked, or NULL. */
static tvlm_status add(tvlm_fit *fit, tvlm_stack *stack, int32_t index, const struct tvlm_query *query,
                       const float *share, int32_t columns, int32_t rows) {
    const struct tvlm_score_params params = {.index = index, .stride = fit->stride};
    tvlm_candidates grid;
    tvlm_fit_image image = {0};
    TVLM_TRY(tvlm_score_candidates(stack, &params, &grid));
    TVLM_TRY(check_share(fit, &grid, share, columns, rows, &image.cells));
    TVLM_TRY(make_room(fit));
    tvlm_status status = TVLM_OK;
    if (query != NULL) status = take_question(fit, tvlm_stack_device(stack), query, &image);
    if (status == TVLM_OK && query != NULL) status = tvlm_query_upload(stack, index, query);
    if (status == TVLM_OK) status = take_image(fit, stack, index, &grid, share, &image);
    if (status != TVLM_OK) {
        release_image(&image);
        return status;
    }
    fit->images[fit->image_count++] = image;
    if (query != NULL) fit->dimension = query->dimension;
    return TVLM_OK;
}

tvlm_status tvlm_fit_add(tvlm_fit *fit, tvlm_stack *stack, int32_t index, const float *share, int32_t columns,
                         int32_t rows) {
    TVLM_NEED(NULL, fit);
    TVLM_NEED(fit->log, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    TVLM_NEED(fit->log, share);
    if (fit->query_weights)
        return tvlm_fail(fit->log, TVLM_ERROR_ARGUMENT,
                         "an image without a question, in a fit of query weights");
    return add(fit, stack, index, NULL, share, columns, rows);
}

tvlm_status tvlm_fit_add_query(tvlm_fit *fit, tvlm_stack *stack, int32_t index,
                               const struct tvlm_query *query, const float *share, int32_t columns,
                               int32_t rows) {
    TVLM_NEED(NULL, fit);
    TVLM_NEED(fit->log, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    TVLM_NEED(fit->log, share);
    TVLM_TRY(check_question(fit, query));
    return add(fit, stack, index, query, share, columns, rows);
}

/* ---- Held out ---- */

/* Each image is held out with the chance (still wanted) / (still to come), so that exactly `wanted` of them
 * are. */
tvlm_status tvlm_fit_split(int32_t images, float share, uint64_t seed, uint8_t *held_out) {
    TVLM_NEED(NULL, held_out);
    if (images < 1 || !(share > 0.0f && share < 1.0f)) return TVLM_ERROR_ARGUMENT; /* without a log */
    int32_t wanted = (int32_t)lround((double)share * (double)images);
    if (wanted < 1) wanted = 1;
    if (wanted >= images) wanted = images - 1;
    for (int32_t i = 0; i < images; ++i) {
        held_out[i] = tvlm_random(&seed) % (uint64_t)(images - i) < (uint64_t)wanted;
        wanted -= held_out[i];
    }
    return TVLM_OK;
}
