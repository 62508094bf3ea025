/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a scorer is learnt from. Shares are targets between 0 and 1: a cell that is half object pulls the
 * score towards even odds.
 */
#include <math.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "lab/fit.h"

#define DEVIATION 1e-6 /* a value that deviates less is constant: half floats resolve no less near 0 */

const tvlm_fit_image *tvlm_lesson_next(const tvlm_lesson *lesson, int32_t *at) {
    while (++*at < lesson->fit->image_count)
        if (lesson->held_out == NULL || lesson->held_out[*at] == 0) return &lesson->fit->images[*at];
    return NULL;
}

static tvlm_status check_targets(tvlm_lesson *lesson) {
    const tvlm_log *const log = lesson->fit->log;
    double objects = 0.0;
    const tvlm_fit_image *image;
    for (int32_t at = -1; (image = tvlm_lesson_next(lesson, &at)) != NULL; ++lesson->images) {
        double sum = 0.0;
        for (int32_t i = 0; i < image->cells; ++i) sum += (double)image->share[i];
        objects += sum / image->cells;
    }
    if (lesson->images == 0) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "no image to learn from");
    if (objects > 0.0 && objects < lesson->images) return TVLM_OK;
    return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                     objects > 0.0 ? "the images to learn from hold nothing but objects"
                                   : "the images to learn from hold no object");
}

/* Finds the mean and 1 / deviation of every value. Each image weighs the same. */
static void standardise(tvlm_lesson *lesson) {
    const tvlm_fit_image *image;
    const size_t width = (size_t)lesson->width;
    for (int32_t at = -1; (image = tvlm_lesson_next(lesson, &at)) != NULL;)
        for (size_t i = 0; i < (size_t)image->cells * width; ++i)
            lesson->mean[i % width] += (double)image->values[i] / image->cells / lesson->images;
    for (int32_t at = -1; (image = tvlm_lesson_next(lesson, &at)) != NULL;)
        for (size_t i = 0; i < (size_t)image->cells * width; ++i) {
            const double d = (double)image->values[i] - lesson->mean[i % width];
            lesson->scale[i % width] += d * d / image->cells / lesson->images;
        }
    for (size_t i = 0; i < width; ++i) {
        const double deviation = sqrt(lesson->scale[i]);
        lesson->scale[i] = deviation > DEVIATION ? 1.0 / deviation : 0.0;
    }
}

tvlm_status tvlm_lesson_open(const tvlm_fit *fit, const uint8_t *held_out, double l2, tvlm_lesson *lesson) {
    *lesson =
        (tvlm_lesson){.fit = fit, .held_out = held_out, .l2 = l2, .width = fit->channel_count * fit->taps};
    TVLM_TRY(check_targets(lesson));
    lesson->mean = tvlm_allocate((size_t)lesson->width, sizeof(double));
    lesson->scale = tvlm_allocate((size_t)lesson->width, sizeof(double));
    if (lesson->mean == NULL || lesson->scale == NULL)
        return tvlm_fail(fit->log, TVLM_ERROR_MEMORY, "no memory to solve for %d weights",
                         (int)lesson->width);
    standardise(lesson);
    return TVLM_OK;
}

void tvlm_lesson_close(tvlm_lesson *lesson) {
    free(lesson->mean);
    free(lesson->scale);
}

double tvlm_cross_entropy(double z, double share, double *slope) {
    *slope = 1.0 / (1.0 + exp(-z)) - share;
    return fmax(z, 0.0) + log1p(exp(-fabs(z))) - share * z;
}
