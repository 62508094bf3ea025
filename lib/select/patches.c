/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patches: positions become centres and steps on the working image, and channels become a bundle. The backend
 * cuts as many patches at a time as fit into a bounded buffer.
 */
#include "texturevlm/patches.h"

#include <math.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "select/patches.h"
#include "select/thumbnail.h"
#include "stack/bundle.h"
#include "stack/grids.h"
#include "stack/make.h"
#include "stack/stack.h"

#define BATCH_BYTES ((size_t)64 << 20) /* of results that one launch makes */
#define SIDE_MAX    1024
#define FAR         1e6f /* pixels: floats beyond it are no positions */

static const int32_t rgb[] = {TVLM_CHANNEL_R, TVLM_CHANNEL_G, TVLM_CHANNEL_B};

/* What the source's channels are cut out of: the source itself, or a picture that is made of it. */
typedef enum picture {
    FROM_SOURCE,
    FROM_THUMBNAIL,
    FROM_FRACTION, /* the first of them */
    PICTURES = FROM_FRACTION + TVLM_FRACTIONS
} picture;

typedef struct cutting {
    tvlm_stack *stack;
    const tvlm_position *positions; /* NULL: positions are those of `list` */
    tvlm_position_list list;
    bool unchecked; /* the list */
    int32_t count, side;
    const int32_t *channels;
    int32_t channel_count;
    const float *given_mean, *given_deviation;
    tvlm_format format;
    bool reflect;
    size_t element;
    /* The results go to the host, or into a buffer of the device from byte `offset` on. */
    unsigned char *out;
    tvlm_buffer *there;
    size_t offset;
    int32_t batch;                    /* how many patches one launch cuts */
    int32_t cells;                    /* how many of the first patches are cells of a thumbnail */
    tvlm_texture *pictures[PICTURES]; /* NULL: the source is read */
    /* [channel_count, rounded up to 4] of each. */
    int32_t *refs;
    float *mean, *deviation;
    tvlm_patch_place *places; /* [batch] */
} cutting;

static int32_t side_of(const struct tvlm_patches_params *params) {
    return params->side > 0 ? params->side : (int32_t)TVLM_PATCH_DEFAULT;
}

static int32_t channels_of(const struct tvlm_patches_params *params) {
    return params->channels != NULL ? params->channel_count : 3;
}

static size_t element_of(const struct tvlm_patches_params *params) {
    return params->format == TVLM_FORMAT_F16 ? sizeof(uint16_t) : sizeof(float);
}

static const struct tvlm_patches_params defaults = {0};

static bool has_numbers(const struct tvlm_patches_params *params) {
    return (int)params->format >= TVLM_FORMAT_AUTO && params->format <= TVLM_FORMAT_F32 &&
           (int)params->border >= TVLM_BORDER_CLAMP && params->border <= TVLM_BORDER_REFLECT;
}

tvlm_status tvlm_patches_size(const struct tvlm_patches_params *params, int32_t count, size_t *bytes) {
    if (params == NULL) params = &defaults;
    TVLM_NEED(NULL, bytes);
    if (count < 0 || params->side < 0 || params->side > SIDE_MAX || channels_of(params) < 1 ||
        channels_of(params) > TVLM_LAYOUT_CHANNELS_MAX || !has_numbers(params))
        return TVLM_ERROR_ARGUMENT; /* without a log */
    const size_t area = (size_t)side_of(params) * (size_t)side_of(params);
    return tvlm_multiply((size_t)count, area * (size_t)channels_of(params) * element_of(params), bytes)
               ? TVLM_OK
               : TVLM_ERROR_ARGUMENT;
}

/* ---- Checks ---- */

static tvlm_status check_norms(const tvlm_log *log, const struct tvlm_patches_params *params) {
    for (int32_t c = 0; c < channels_of(params); ++c) {
        if (params->mean != NULL && !isfinite(params->mean[c]))
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "mean %d of patches is %g", (int)c,
                             (double)params->mean[c]);
        if (params->deviation != NULL && (!isfinite(params->deviation[c]) || params->deviation[c] == 0.0f))
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "deviation %d of patches is %g", (int)c,
                             (double)params->deviation[c]);
    }
    return TVLM_OK;
}

/* The thumbnail that the parameters give. If they do not say how many of its cells are positions, all cells
 * are, up to the largest possible number of positions. */
static tvlm_thumbnail thumbnail_given(const struct tvlm_patches_params *params) {
    const int64_t all = (int64_t)params->thumbnail_columns * params->thumbnail_rows;
    const int32_t most = all < INT32_MAX ? (int32_t)all : INT32_MAX;
    return (tvlm_thumbnail){params->thumbnail_columns, params->thumbnail_rows,
                            params->thumbnail_cells != 0 ? params->thumbnail_cells : most};
}

static tvlm_status check_thumbnail(const tvlm_stack *stack, const struct tvlm_patches_params *params,
                                   int32_t count) {
    const tvlm_log *const log = tvlm_stack_log(stack);
    const tvlm_thumbnail t = thumbnail_given(params);
    if (t.columns == 0 && t.rows == 0 && t.cells == 0) return TVLM_OK;
    if (t.columns < 1 || t.rows < 1 || t.cells < 1 || t.cells > (int64_t)t.columns * t.rows ||
        t.cells > count)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d cells of a thumbnail of %d x %d among %d positions",
                         (int)t.cells, (int)t.columns, (int)t.rows, (int)count);
    if (tvlm_thumbnail_fits(stack, &t, side_of(params))) return TVLM_OK;
    return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                     "a thumbnail of %d x %d cells of side %d, some of them empty, of %d x %d pixels",
                     (int)t.columns, (int)t.rows, (int)side_of(params), (int)tvlm_stack_width(stack),
                     (int)tvlm_stack_height(stack));
}

/* `positions` NULL: they are on the device, and checked there. */
static tvlm_status check(const tvlm_stack *stack, const tvlm_position *positions, int32_t count,
                         const struct tvlm_patches_params *params, size_t capacity) {
    const tvlm_log *log = tvlm_stack_log(stack);
    size_t bytes;
    TVLM_TRY(tvlm_stack_check_index(stack, params->index));
    TVLM_CHECK_RESERVED(log, tvlm_patches_params, params);
    if (params->channels == NULL && params->channel_count != 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d channels of patches, but none given",
                         (int)params->channel_count);
    if (params->side < 0 || params->side > SIDE_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "patches of side %d; 1 to %d are possible",
                         (int)params->side, SIDE_MAX);
    if (!has_numbers(params))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "there is no format %d or no border %d",
                         (int)params->format, (int)params->border);
    if (tvlm_patches_size(params, count, &bytes) != TVLM_OK)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d patches of %d channels", (int)count,
                         (int)channels_of(params));
    if (capacity < bytes)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "room for %zu bytes of patches; there are %zu", capacity,
                         bytes);
    TVLM_TRY(check_norms(log, params));
    TVLM_TRY(check_thumbnail(stack, params, count));
    for (int32_t c = 0; params->channels != NULL && c < params->channel_count; ++c)
        TVLM_TRY(tvlm_stack_check_channel(stack, params->channels[c]));
    for (int32_t i = 0; positions != NULL && i < count; ++i) {
        const tvlm_position *p = &positions[i];
        if (!isfinite(p->x) || !isfinite(p->y) || !isfinite(p->size) || !(p->size > 0.0f))
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "position %d is %g,%g with a size of %g", (int)i,
                             (double)p->x, (double)p->y, (double)p->size);
        if (!isfinite(p->height) || p->height < 0.0f)
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "position %d has a height of %g", (int)i,
                             (double)p->height);
        TVLM_CHECK_RESERVED(log, tvlm_position, p);
    }
    return TVLM_OK;
}

/* ---- Cutting ---- */

static float between(double value, double low, double high) {
    return (float)fmin(fmax(value, low), high);
}

/* The distance between a patch's texels, in pixels of the working image. In a square it is the same along
 * both sides. */
static double step_of(const cutting *c, const tvlm_original *original, const tvlm_position *p, bool down) {
    const double square = (double)p->size / sqrt(original->scale_x * original->scale_y);
    const double side = p->height == 0.0f ? square
                        : down            ? (double)p->height / original->scale_y
                                          : (double)p->size / original->scale_x;
    return fmin(side / c->side, (double)FAR);
}

static picture picture_of(const cutting *c, int32_t image, int32_t i) {
    if (i < c->cells) return FROM_THUMBNAIL;
    for (int f = 0; f < TVLM_FRACTIONS; ++f)
        if (c->pictures[FROM_FRACTION + f] != NULL &&
            tvlm_is_of_fraction(c->stack, image, &c->positions[i], c->side, (tvlm_fraction)f))
            return (picture)(FROM_FRACTION + f);
    return FROM_SOURCE;
}

/* Works out the places of those of a batch's positions that are cut out of a picture. Returns how many they
 * are. */
static int32_t place_batch(const cutting *c, int32_t first, int32_t count, picture from, int32_t image) {
    const tvlm_stack *stack = c->stack;
    const tvlm_original original = tvlm_stack_original(stack, image);
    int32_t placed = 0;
    for (int32_t i = 0; i < count; ++i) {
        const tvlm_position *p = &c->positions[first + i];
        const double across = step_of(c, &original, p, false), down = step_of(c, &original, p, true);
        if (picture_of(c, image, first + i) != from) continue;
        c->places[placed++] =
            (tvlm_patch_place){.at = {between((double)p->x / original.scale_x, (double)-FAR, (double)FAR),
                                      between((double)p->y / original.scale_y, (double)-FAR, (double)FAR),
                                      between(log2(fmax(across, down)), 0.0, tvlm_stack_levels(stack) - 1),
                                      (float)tvlm_stack_image_number(stack, image)},
                               .step_x = (float)across,
                               .step_y = (float)down,
                               .number = i};
    }
    return placed;
}

/* Does the same on the device, for positions that are in its memory. */
static tvlm_status place_list(const cutting *c, int32_t first, int32_t count, tvlm_buffer *places) {
    tvlm_device *const device = tvlm_stack_device(c->stack);
    tvlm_position_list list = c->list;
    int32_t bad = -1;
    list.offset += (size_t)first * sizeof(tvlm_position);
    list.count = count;
    TVLM_TRY(device->backend->patch_places(device, &list, places, c->unchecked ? NULL : &bad));
    if (bad < 0) return TVLM_OK;
    return tvlm_fail(&device->log, TVLM_ERROR_ARGUMENT,
                     "position %d has a number that is not finite, no size above 0, or a height below 0",
                     (int)(first + bad));
}

/* Sends the places of those of a batch's positions that are cut out of the picture `from`. *placed says how
 * many they are. A batch of positions on the device is all cut out of one picture. */
static tvlm_status send_batch(const cutting *c, int32_t first, int32_t count, picture from, int32_t image,
                              tvlm_buffer *places, int32_t *placed) {
    tvlm_device *const device = tvlm_stack_device(c->stack);
    if (c->positions == NULL) {
        *placed = picture_of(c, image, first) == from ? count : 0;
        return *placed > 0 ? place_list(c, first, count, places) : TVLM_OK;
    }
    *placed = place_batch(c, first, count, from, image);
    if (*placed == 0) return TVLM_OK;
    return device->backend->buffer_write(device, places, 0, (size_t)*placed * sizeof *c->places, c->places);
}

/* Hands over `count` rows of `part` bytes, which lie `row` bytes apart in the result, from byte `at` on. */
static tvlm_status hand_over(const cutting *c, tvlm_buffer *results, size_t at, size_t row, size_t part,
                             int32_t count) {
    const tvlm_device *device = tvlm_stack_device(c->stack);
    const tvlm_backend *backend = device->backend;
    const size_t bytes = part * (size_t)count;
    tvlm_status status = TVLM_OK;
    if (results == c->there) return status;
    if (c->there != NULL && part == row)
        return backend->buffer_copy(tvlm_stack_device(c->stack), results, 0, c->there, c->offset + at, bytes);
    for (int32_t i = 0; c->there != NULL && status == TVLM_OK && i < count; ++i)
        status = backend->buffer_copy(tvlm_stack_device(c->stack), results, part * (size_t)i, c->there,
                                      c->offset + at + row * (size_t)i, part);
    if (c->there != NULL) return status;
    if (part == row) return backend->buffer_read(tvlm_stack_device(c->stack), results, 0, bytes, c->out + at);
    unsigned char *received = tvlm_allocate((size_t)count, part);
    if (received == NULL)
        return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for %d patches", (int)count);
    status = backend->buffer_read(tvlm_stack_device(c->stack), results, 0, bytes, received);
    for (int32_t i = 0; status == TVLM_OK && i < count; ++i)
        memcpy(c->out + at + row * (size_t)i, received + part * (size_t)i, part);
    free(received);
    return status;
}

static int32_t smaller(int32_t a, int32_t b) {
    return a < b ? a : b;
}

/* Lets a bundle read a picture where it reads the source. */
static tvlm_bundle reading(const cutting *c, int32_t image, picture from, const tvlm_bundle *bundle) {
    const tvlm_texture *const source = tvlm_stack_made(c->stack, image, TVLM_GRID_SOURCE);
    tvlm_bundle changed = *bundle;
    for (int32_t i = 0; c->pictures[from] != NULL && i < changed.count; ++i)
        if (changed.textures[i] == source) changed.textures[i] = c->pictures[from];
    return changed;
}

/* Cuts a batch out of each picture, with the channels of a bundle. */
static tvlm_status cut_batch(const cutting *c, int32_t image, int32_t first, int32_t count,
                             const tvlm_bundle *bundle, const tvlm_patch_plan *plan, tvlm_buffer *results) {
    tvlm_device *const device = tvlm_stack_device(c->stack);
    tvlm_buffer *places;
    TVLM_TRY(tvlm_stack_scratch(c->stack, TVLM_SCRATCH_POINTS, (size_t)count * sizeof *c->places, &places));
    for (int from = 0; from < PICTURES; ++from) {
        const tvlm_bundle read = reading(c, image, (picture)from, bundle);
        int32_t placed;
        TVLM_TRY(send_batch(c, first, count, (picture)from, image, places, &placed));
        if (placed > 0) TVLM_TRY(device->backend->patches(device, &read, plan, places, placed, results));
    }
    return TVLM_OK;
}

/* Cuts `taken` channels of a batch out, from `first_channel` on. */
static tvlm_status launch(const cutting *c, int32_t image, const tvlm_bundle *bundle, int32_t first_channel,
                          int32_t taken, int32_t first, int32_t count) {
    const size_t plane = (size_t)c->side * (size_t)c->side * c->element;
    const size_t row = plane * (size_t)c->channel_count, part = plane * (size_t)taken;
    const tvlm_patch_plan plan = {c->side, taken,        (taken + 3) / 4, c->refs,
                                  c->mean, c->deviation, c->reflect,      c->format};
    tvlm_buffer *results;
    for (int32_t i = 0; i < 4 * plan.count4; ++i) {
        const bool used = i < taken;
        if (!used) c->refs[i] = TVLM_REF_ZERO;
        c->mean[i] = used && c->given_mean != NULL ? c->given_mean[first_channel + i] : 0.0f;
        c->deviation[i] = used && c->given_deviation != NULL ? c->given_deviation[first_channel + i] : 1.0f;
    }
    /* If one batch makes all of it, it is written where the result is wanted. */
    const bool in_place =
        c->there != NULL && c->offset == 0 && taken == c->channel_count && count == c->count;
    if (in_place)
        results = c->there;
    else
        TVLM_TRY(tvlm_stack_scratch(c->stack, TVLM_SCRATCH_SAMPLES, part * (size_t)count, &results));
    TVLM_TRY(cut_batch(c, image, first, count, bundle, &plan, results));
    return hand_over(c, results, row * (size_t)first + plane * (size_t)first_channel, row, part, count);
}

static tvlm_status cut_all(const cutting *c, int32_t image) {
    for (int32_t first = 0, count = 0; first < c->count; first += count) {
        /* On the device positions are not sorted: the cells of a thumbnail are a batch of their own. */
        const bool cells = c->positions == NULL && first < c->cells;
        count = smaller((cells ? c->cells : c->count) - first, c->batch);
        for (int32_t channel = 0, taken; channel < c->channel_count; channel += taken) {
            tvlm_bundle bundle;
            tvlm_stack_bundle(c->stack, image, c->channels + channel, c->channel_count - channel, &bundle,
                              c->refs, &taken);
            TVLM_TRY(launch(c, image, &bundle, channel, taken, first, count));
        }
    }
    return TVLM_OK;
}

/* Makes the thumbnail whose cells the first positions are, where it is not the image itself. */
static tvlm_status make_thumbnail(cutting *c, const struct tvlm_patches_params *params) {
    const int32_t width = tvlm_stack_width(c->stack), height = tvlm_stack_height(c->stack);
    tvlm_thumbnail thumbnail = thumbnail_given(params);
    if (thumbnail.columns == 0 && c->positions != NULL)
        thumbnail = tvlm_thumbnail_of(c->stack, params->index, c->positions, c->count, c->side);
    const tvlm_budget_size size = tvlm_thumbnail_size(&thumbnail, c->side);
    if (thumbnail.columns == 0 || (size.width == width && size.height == height)) return TVLM_OK;
    c->cells = thumbnail.cells;
    return tvlm_picture_make(c->stack, params->index, &size, &c->pictures[FROM_THUMBNAIL]);
}

/* Makes the image at a fraction of its size, where some position is a tile of it. */
static tvlm_status make_fraction(cutting *c, int32_t image, tvlm_fraction fraction) {
    const tvlm_budget_size size =
        tvlm_fraction_size(fraction, tvlm_stack_width(c->stack), tvlm_stack_height(c->stack));
    for (int32_t i = c->cells; c->positions != NULL && i < c->count; ++i)
        if (tvlm_is_of_fraction(c->stack, image, &c->positions[i], c->side, fraction))
            return tvlm_picture_make(c->stack, image, &size, &c->pictures[FROM_FRACTION + (int)fraction]);
    return TVLM_OK;
}

/* Makes the grids that the patches are cut out of, and the pictures that take the place of the source. */
static tvlm_status make_grids(cutting *c, const struct tvlm_patches_params *params) {
    const tvlm_grid_mask grids = tvlm_stack_grids_of(c->stack, c->channels, c->channel_count);
    TVLM_TRY(tvlm_stack_make(c->stack, params->index, grids));
    if ((grids & TVLM_GRID_BIT(TVLM_GRID_SOURCE)) == 0) return TVLM_OK;
    TVLM_TRY(make_thumbnail(c, params));
    for (int f = 0; f < TVLM_FRACTIONS; ++f) TVLM_TRY(make_fraction(c, params->index, (tvlm_fraction)f));
    return TVLM_OK;
}

static tvlm_status reserve(cutting *c) {
    const size_t width = ((size_t)c->channel_count + 3) / 4 * 4;
    const size_t patch = (size_t)c->side * (size_t)c->side * (size_t)c->channel_count * c->element;
    const size_t fit = patch < BATCH_BYTES ? BATCH_BYTES / patch : 1;
    c->batch = (size_t)c->count < fit ? c->count : (int32_t)fit;
    c->refs = tvlm_allocate(width, sizeof *c->refs);
    c->mean = tvlm_allocate(width, sizeof *c->mean);
    c->deviation = tvlm_allocate(width, sizeof *c->deviation);
    c->places = tvlm_allocate((size_t)c->batch, sizeof *c->places);
    if (c->refs != NULL && c->mean != NULL && c->deviation != NULL && c->places != NULL) return TVLM_OK;
    return tvlm_fail(tvlm_stack_log(c->stack), TVLM_ERROR_MEMORY, "no memory for %d patches", (int)c->count);
}

/* The positions on the device that are cut out of image `index`. */
static tvlm_position_list list_of(const tvlm_stack *stack, const tvlm_patches_at *at, int32_t index,
                                  int32_t side) {
    const tvlm_original original = tvlm_stack_original(stack, index);
    return (tvlm_position_list){.positions = at->list,
                                .offset = at->list_offset,
                                .side = side,
                                .image = tvlm_stack_image_number(stack, index),
                                .scale_x = (float)original.scale_x,
                                .scale_y = (float)original.scale_y,
                                .scale_size = (float)sqrt(original.scale_x * original.scale_y),
                                .highest_level = (float)(tvlm_stack_levels(stack) - 1)};
}

/* Cuts patches out into `out`, or into `there` from byte `offset` on. The target has room for `capacity`
 * bytes. */
static tvlm_status extract(tvlm_stack *stack, const tvlm_patches_at *at, int32_t count,
                           const struct tvlm_patches_params *params, size_t capacity, void *out,
                           tvlm_buffer *there, size_t offset) {
    TVLM_TRY(check(stack, at->positions, count, params, capacity));
    cutting c = {.stack = stack,
                 .positions = at->positions,
                 .list = list_of(stack, at, params->index, side_of(params)),
                 .unchecked = at->unchecked,
                 .count = count,
                 .side = side_of(params),
                 .channels = params->channels != NULL ? params->channels : rgb,
                 .channel_count = channels_of(params),
                 .given_mean = params->mean,
                 .given_deviation = params->deviation,
                 .format = params->format == TVLM_FORMAT_F16 ? TVLM_FORMAT_F16 : TVLM_FORMAT_F32,
                 .reflect = params->border == TVLM_BORDER_REFLECT,
                 .element = element_of(params),
                 .out = out,
                 .there = there,
                 .offset = offset};
    tvlm_status status = reserve(&c);
    if (status == TVLM_OK) status = make_grids(&c, params);
    if (status == TVLM_OK) status = cut_all(&c, params->index);
    for (int i = 0; i < PICTURES; ++i)
        if (c.pictures[i] != NULL)
            tvlm_stack_device(stack)->backend->texture_destroy(tvlm_stack_device(stack), &c.pictures[i]);
    free(c.refs);
    free(c.mean);
    free(c.deviation);
    free(c.places);
    return status;
}

tvlm_status tvlm_patches_extract(tvlm_stack *stack, const tvlm_position *positions, int32_t count,
                                 const struct tvlm_patches_params *params, size_t capacity, void *out) {
    if (params == NULL) params = &defaults;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    if (count < 0) return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_ARGUMENT, "%d positions", (int)count);
    if (count == 0) return TVLM_OK;
    TVLM_NEED(tvlm_stack_log(stack), positions);
    TVLM_NEED(tvlm_stack_log(stack), out);
    return extract(stack, &(tvlm_patches_at){.positions = positions}, count, params, capacity, out, NULL, 0);
}

tvlm_status tvlm_patches_into(tvlm_stack *stack, const tvlm_patches_at *at, int32_t count,
                              const struct tvlm_patches_params *params, tvlm_buffer *there, size_t offset) {
    if (params == NULL) params = &defaults;
    if (count == 0) return TVLM_OK;
    if (offset % element_of(params) != 0 || offset > there->bytes)
        return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_ARGUMENT,
                         "patches from byte %zu of a cl_mem of %zu on; numbers have %zu", offset,
                         there->bytes, element_of(params));
    return extract(stack, at, count, params, there->bytes - offset, NULL, there, offset);
}
