/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backward.c: the gradients of samples of a texture, point after point.
 */
#include "core/memory.h"
#include "lab/operations.h"
#include "lab/reference/pyramid.h"
#include "reference/reference.h"

static reference_pyramid shape_of(const tvlm_backward *b) {
    return (reference_pyramid){.width = b->texture->width,
                               .height = b->texture->height,
                               .levels = b->texture->levels,
                               .components = 4 * b->layers,
                               .extent_x = (double)b->texture->extent_x,
                               .extent_y = (double)b->texture->extent_y};
}

/* Copies the layers that count, of all levels as they are stored. */
static void copy_texels(const tvlm_backward *b, int32_t image, reference_pyramid *p) {
    double *to = p->texels;
    for (int32_t level = 0; level < p->levels; ++level)
        for (int32_t y = 0; y < tvlm_level_side(p->height, level); ++y)
            for (int32_t x = 0; x < tvlm_level_side(p->width, level); ++x)
                for (int32_t layer = b->first_layer; layer < b->first_layer + b->layers; ++layer) {
                    const float *const texel = tvlm_reference_fetch(
                        b->texture, level, reference_slice(b->texture, image, layer), x, y);
                    for (int c = 0; c < 4; ++c) *to++ = (double)texel[c];
                }
}

static void each_point(const tvlm_backward *b, const reference_pyramid *values, reference_pyramid *gradients,
                       double *given) {
    const float *from = reference_data(b->gradients);
    for (int32_t i = 0; i < b->count; ++i) {
        const tvlm_point *const at = &b->points[i];
        const reference_taps taps =
            tvlm_reference_find_taps(gradients, (double)at->x, (double)at->y, (double)at->level);
        for (int32_t c = 0; c < gradients->components; ++c) given[c] = (double)*from++;
        if (b->texels != NULL) tvlm_reference_scatter(gradients, &taps, given);
        if (b->steps != NULL) {
            float *const out = (float *)reference_data(b->steps) + 4 * (size_t)i;
            double step[3];
            tvlm_reference_step(values, &taps, given, step);
            for (int n = 0; n < 3; ++n) out[n] = (float)step[n];
            out[3] = 0.0f;
        }
    }
}

tvlm_status tvlm_reference_sample_backward(tvlm_device *device, const tvlm_backward *b) {
    reference_pyramid values = shape_of(b), gradients = values;
    double *const given = tvlm_allocate((size_t)gradients.components, sizeof *given);
    const bool made = tvlm_reference_pyramid_allocate(&values) && tvlm_reference_pyramid_allocate(&gradients);
    if (made && given != NULL) {
        copy_texels(b, b->count > 0 ? (int32_t)b->points[0].image : 0, &values);
        each_point(b, &values, &gradients, given);
        tvlm_reference_pyramid_hand_down(&gradients);
        const size_t texels = (size_t)gradients.width * (size_t)gradients.height;
        for (size_t i = 0; b->texels != NULL && i < texels * (size_t)gradients.components; ++i)
            ((float *)reference_data(b->texels))[i] = (float)gradients.texels[i];
    }
    free(values.texels);
    free(gradients.texels);
    free(given);
    return made && given != NULL
               ? TVLM_OK
               : tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory for gradients of %d x %d texels",
                           (int)gradients.width, (int)gradients.height);
}
