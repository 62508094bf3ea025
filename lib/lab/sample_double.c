/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_double.c: sampling and its gradients for applications, in double from end to end. It does what
 * backward.c and sample.c do, but rounds nothing to float.
 */
#include <math.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "lab/reference/pyramid.h"
#include "texturevlm/lab/backward.h"

/* The most texels that can be sampled here: a copy of them is made, with levels. */
#define TEXELS_MAX ((int64_t)1 << 28)

static tvlm_status check_finite(const tvlm_log *log, const char *what, const double *values, size_t count) {
    for (size_t i = 0; i < count; ++i)
        if (!isfinite(values[i]))
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s %zu is %g; it must be finite", what, i, values[i]);
    return TVLM_OK;
}

static tvlm_status check(const struct tvlm_sample_double_params *p, const reference_pyramid *shape) {
    if (p->width < 1 || p->height < 1 || p->channels < 1 || p->count < 0 ||
        (int64_t)p->width * p->height > TEXELS_MAX)
        return tvlm_fail(p->log, TVLM_ERROR_ARGUMENT, "%d x %d texels of %d channels, and %d points",
                         (int)p->width, (int)p->height, (int)p->channels, (int)p->count);
    TVLM_NEED(p->log, p->texels);
    if (p->count > 0) TVLM_NEED(p->log, p->points);
    for (int32_t i = 0; i < 3 * p->count; ++i)
        if (isnan(p->points[i]))
            return tvlm_fail(p->log, TVLM_ERROR_ARGUMENT, "point %d is not a number", (int)(i / 3));
    return check_finite(p->log, "texel value", p->texels,
                        (size_t)shape->width * (size_t)shape->height * (size_t)p->channels);
}

static tvlm_status no_memory(const struct tvlm_sample_double_params *p) {
    return tvlm_fail(p->log, TVLM_ERROR_MEMORY, "no memory for %d x %d texels of %d channels", (int)p->width,
                     (int)p->height, (int)p->channels);
}

/* Copies the texels, and makes their levels. */
static tvlm_status begin(const struct tvlm_sample_double_params *p, reference_pyramid *values) {
    *values = (reference_pyramid){
        .width = p->width,
        .height = p->height,
        .levels = p->width > 0 && p->height > 0 ? tvlm_level_count(p->width, p->height) : 0,
        .components = p->channels,
        .extent_x = p->width,
        .extent_y = p->height};
    TVLM_TRY(check(p, values));
    if (!tvlm_reference_pyramid_allocate(values)) return no_memory(p);
    const size_t count = (size_t)p->width * (size_t)p->height * (size_t)p->channels;
    for (size_t i = 0; i < count; ++i) values->texels[i] = p->texels[i];
    tvlm_reference_pyramid_reduce(values);
    return TVLM_OK;
}

static reference_taps taps_of(const reference_pyramid *values, const double *point) {
    return tvlm_reference_find_taps(values, point[0], point[1], point[2]);
}

tvlm_status tvlm_sample_double(const struct tvlm_sample_double_params *params, double *out) {
    reference_pyramid values;
    TVLM_NEED(NULL, params);
    TVLM_CHECK_RESERVED(params->log, tvlm_sample_double_params, params);
    TVLM_NEED(params->log, out);
    TVLM_TRY(begin(params, &values));
    for (size_t i = 0; i < (size_t)params->count; ++i) {
        const reference_taps taps = taps_of(&values, params->points + 3 * i);
        tvlm_reference_gather(&values, &taps, out + i * (size_t)params->channels);
    }
    free(values.texels);
    return TVLM_OK;
}

/* Makes the gradients of the texels in a pyramid of their own. */
static tvlm_status find_texels(const struct tvlm_sample_double_params *p, const reference_pyramid *values,
                               const double *given, double *texels) {
    reference_pyramid sums = *values;
    if (!tvlm_reference_pyramid_allocate(&sums)) return no_memory(p);
    for (size_t i = 0; i < (size_t)p->count; ++i) {
        const reference_taps taps = taps_of(values, p->points + 3 * i);
        tvlm_reference_scatter(&sums, &taps, given + i * (size_t)p->channels);
    }
    tvlm_reference_pyramid_hand_down(&sums);
    const size_t count = (size_t)p->width * (size_t)p->height * (size_t)p->channels;
    for (size_t i = 0; i < count; ++i) texels[i] = sums.texels[i];
    free(sums.texels);
    return TVLM_OK;
}

tvlm_status tvlm_sample_double_backward(const struct tvlm_sample_double_params *params,
                                        const double *gradients, double *texels, double *points) {
    reference_pyramid values;
    TVLM_NEED(NULL, params);
    TVLM_CHECK_RESERVED(params->log, tvlm_sample_double_params, params);
    if (params->count > 0) TVLM_NEED(params->log, gradients);
    TVLM_TRY(begin(params, &values));
    const size_t channels = (size_t)params->channels, count = (size_t)params->count;
    tvlm_status status = check_finite(params->log, "gradient", gradients, count * channels);
    if (status == TVLM_OK && texels != NULL) status = find_texels(params, &values, gradients, texels);
    for (size_t i = 0; status == TVLM_OK && points != NULL && i < count; ++i) {
        const reference_taps taps = taps_of(&values, params->points + 3 * i);
        tvlm_reference_step(&values, &taps, gradients + i * channels, points + 3 * i);
    }
    free(values.texels);
    return status;
}
