/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logpolar.c: places rings and sectors around a fixation, as footprints, and puts their samples back.
 */
#include "texturevlm/lab/logpolar.h"

#include <math.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "stack/stack.h"
#include "texturevlm/lab/footprint.h"

#define TURN        6.283185307179586
#define SAMPLES_MAX (1 << 28)

static const int32_t colours[] = {TVLM_CHANNEL_R, TVLM_CHANNEL_G, TVLM_CHANNEL_B};
static const struct tvlm_logpolar_params defaults = {0};

/* ---- What the parameters mean ---- */

static float farthest_corner(const tvlm_stack *stack, float x, float y) {
    const float width = (float)tvlm_stack_width(stack), height = (float)tvlm_stack_height(stack);
    return hypotf(fmaxf(fabsf(x), fabsf(width - x)), fmaxf(fabsf(y), fabsf(height - y)));
}

static tvlm_status check_place(const tvlm_log *log, const tvlm_logpolar_info *info) {
    if (!isfinite(info->x) || !isfinite(info->y))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a fixation that is not finite");
    if (!(info->inner > 0.0f) || !(info->outer > info->inner) || !isfinite(info->outer))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "an inner length of %g and an outer one of %g pixels; they grow from above 0",
                         (double)info->inner, (double)info->outer);
    return TVLM_OK;
}

static tvlm_status check_counts(const tvlm_log *log, const tvlm_logpolar_info *info) {
    if (info->rings < 1 || info->sectors < 3 || info->channel_count < 1)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "%d rings, %d sectors and %d channels; there are at least 1, 3 and 1",
                         (int)info->rings, (int)info->sectors, (int)info->channel_count);
    if ((double)info->rings * (double)info->sectors * (double)info->channel_count > SAMPLES_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d rings, %d sectors and %d channels are too many",
                         (int)info->rings, (int)info->sectors, (int)info->channel_count);
    return TVLM_OK;
}

/* Returns the number of sectors with which steps along a ring are as long as steps to the next ring. This
 * holds far from the fixation. */
static int32_t sectors_for(const tvlm_logpolar_info *info) {
    const double sectors = round(TURN * info->rings / log((double)info->outer / (double)info->inner));
    return sectors < 3.0 ? 3 : sectors > SAMPLES_MAX ? SAMPLES_MAX : (int32_t)sectors;
}

static tvlm_status find_info(const tvlm_stack *stack, const struct tvlm_logpolar_params *params,
                             tvlm_logpolar_info *info) {
    const tvlm_log *const log = tvlm_stack_log(stack);
    TVLM_CHECK_RESERVED(log, tvlm_logpolar_params, params);
    TVLM_TRY(tvlm_stack_check_index(stack, params->index));
    tvlm_logpolar_info found = {
        .x = params->fixation != NULL ? params->fixation[0] : 0.5f * (float)tvlm_stack_width(stack),
        .y = params->fixation != NULL ? params->fixation[1] : 0.5f * (float)tvlm_stack_height(stack),
        .inner = params->inner != 0.0f ? params->inner : 1.0f,
        .outer = params->outer,
        .rings = params->rings != 0 ? params->rings : TVLM_LOGPOLAR_RINGS,
        .sectors = params->sectors,
        .channel_count = params->channels != NULL ? params->channel_count : 3};
    if (found.outer == 0.0f) found.outer = farthest_corner(stack, found.x, found.y) + found.inner;
    TVLM_TRY(check_place(log, &found));
    if (found.sectors == 0 && found.rings >= 1) found.sectors = sectors_for(&found);
    TVLM_TRY(check_counts(log, &found));
    *info = found;
    return TVLM_OK;
}

tvlm_status tvlm_logpolar_get_info(const tvlm_stack *stack, const struct tvlm_logpolar_params *params,
                                   tvlm_logpolar_info *info) {
    TVLM_NEED(NULL, stack);
    TVLM_NEED(tvlm_stack_log(stack), info);
    return find_info(stack, params != NULL ? params : &defaults, info);
}

/* ---- Sampling ---- */

/* Returns the logarithm of the factor by which distances grow from ring to ring. */
static double growth_of(const tvlm_logpolar_info *info) {
    return log((double)info->outer / (double)info->inner) / info->rings;
}

/* Returns the ellipse that reaches from a sample to its neighbours. */
static tvlm_footprint footprint_of(const tvlm_logpolar_info *info, int32_t index, int32_t ring,
                                   int32_t sector) {
    const double growth = growth_of(info), inner = (double)info->inner, r = inner * expm1(growth * ring);
    const double angle = TURN * sector / info->sectors, c = cos(angle), s = sin(angle);
    const double along = (r + inner) * growth, across = r * TURN / info->sectors;
    return (tvlm_footprint){.x = (float)((double)info->x + r * c),
                            .y = (float)((double)info->y + r * s),
                            .u = {(float)(along * c), (float)(along * s)},
                            .v = {(float)(-across * s), (float)(across * c)},
                            .index = index};
}

static tvlm_status sample_areas(tvlm_stack *stack, const tvlm_logpolar_info *info, int32_t index,
                                const int32_t *channels, float *samples) {
    const int32_t count = info->rings * info->sectors;
    tvlm_footprint *const places = tvlm_allocate((size_t)count, sizeof *places);
    if (places == NULL)
        return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_MEMORY, "no memory for %d samples", (int)count);
    for (int32_t i = 0; i < count; ++i)
        places[i] = footprint_of(info, index, i % info->rings, i / info->rings);
    const tvlm_status status =
        tvlm_stack_sample_footprint(stack, places, count, channels, info->channel_count, samples);
    free(places);
    return status;
}

static tvlm_status sample_points(tvlm_stack *stack, const tvlm_logpolar_info *info, int32_t index,
                                 const int32_t *channels, float *samples) {
    const int32_t count = info->rings * info->sectors;
    tvlm_sample_point *const places = tvlm_allocate((size_t)count, sizeof *places);
    if (places == NULL)
        return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_MEMORY, "no memory for %d samples", (int)count);
    for (int32_t i = 0; i < count; ++i) {
        const tvlm_footprint at = footprint_of(info, index, i % info->rings, i / info->rings);
        places[i] = (tvlm_sample_point){.x = at.x, .y = at.y, .index = index};
    }
    const tvlm_status status =
        tvlm_stack_sample(stack, places, count, channels, info->channel_count, samples);
    free(places);
    return status;
}

tvlm_status tvlm_logpolar(tvlm_stack *stack, const struct tvlm_logpolar_params *params, size_t capacity,
                          float *samples) {
    tvlm_logpolar_info info;
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(tvlm_stack_device(stack));
    TVLM_NEED(tvlm_stack_log(stack), samples);
    if (params == NULL) params = &defaults;
    TVLM_TRY(find_info(stack, params, &info));
    const size_t needed = (size_t)info.rings * (size_t)info.sectors * (size_t)info.channel_count;
    if (capacity < needed)
        return tvlm_fail(tvlm_stack_log(stack), TVLM_ERROR_ARGUMENT, "room for %zu numbers; there are %zu",
                         capacity, needed);
    const int32_t *const channels = params->channels != NULL ? params->channels : colours;
    return params->plain ? sample_points(stack, &info, params->index, channels, samples)
                         : sample_areas(stack, &info, params->index, channels, samples);
}

/* ---- Back ---- */

/* Where a place lies among the samples, in steps from the first ring and the first sector. */
typedef struct spot {
    double ring, sector;
} spot;

static spot spot_of(const tvlm_logpolar_info *info, double growth, double x, double y) {
    const double dx = x - (double)info->x, dy = y - (double)info->y;
    const double turn = atan2(dy, dx) / TURN;
    const double ring = log1p(hypot(dx, dy) / (double)info->inner) / growth;
    return (spot){fmin(ring, info->rings - 1), (turn < 0.0 ? turn + 1.0 : turn) * info->sectors};
}

static void blend(const tvlm_logpolar_info *info, const float *samples, spot at, float *pixel) {
    const int32_t ring = (int32_t)at.ring, next = ring + 1 < info->rings ? ring + 1 : ring;
    const int32_t sector = (int32_t)at.sector % info->sectors, beside = (sector + 1) % info->sectors;
    const double a = at.ring - ring, b = at.sector - floor(at.sector);
    const float *const row = samples + (size_t)sector * (size_t)info->rings * (size_t)info->channel_count,
                       *const other =
                           samples + (size_t)beside * (size_t)info->rings * (size_t)info->channel_count;
    for (int32_t c = 0; c < info->channel_count; ++c) {
        const int32_t here = ring * info->channel_count + c, there = next * info->channel_count + c;
        const double first = (double)row[here] + a * ((double)row[there] - (double)row[here]);
        const double second = (double)other[here] + a * ((double)other[there] - (double)other[here]);
        pixel[c] = (float)(first + b * (second - first));
    }
}

tvlm_status tvlm_logpolar_back(const tvlm_logpolar_info *info, const float *samples, int32_t image_width,
                               int32_t image_height, int32_t width, int32_t height, float *image) {
    if (info == NULL || samples == NULL || image == NULL || image_width < 1 || image_height < 1 ||
        width < 1 || height < 1 || check_place(NULL, info) != TVLM_OK || check_counts(NULL, info) != TVLM_OK)
        return TVLM_ERROR_ARGUMENT;
    const double growth = growth_of(info);
    for (int32_t y = 0; y < height; ++y)
        for (int32_t x = 0; x < width; ++x) {
            const spot at =
                spot_of(info, growth, (x + 0.5) * image_width / width, (y + 0.5) * image_height / height);
            blend(info, samples, at,
                  image + ((size_t)y * (size_t)width + (size_t)x) * (size_t)info->channel_count);
        }
    return TVLM_OK;
}
