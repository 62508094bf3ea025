/* SPDX-License-Identifier: Apache-2.0 */
/*
 * similarity.c: cosines of the encoder's vectors with other vectors, by their definition.
 */
#include <math.h>

#include "reference/reference.h"
#include "reference/texture.h"

/* Component i of the vector of a cell of a level. */
static double component_at(const tvlm_features *features, int32_t level, int32_t x, int32_t y, int32_t i) {
    const int32_t slice = reference_slice(features->texture, features->image, i / 4);
    return (double)tvlm_reference_fetch(features->texture, level, slice, x, y)[i % 4];
}

static double component(const tvlm_features *features, int32_t x, int32_t y, int32_t i) {
    return component_at(features, 0, x, y, i);
}

static int32_t cells_of(const tvlm_features *features) {
    return features->texture->width * features->texture->height;
}

/* Where the inverse lengths of the image's vectors begin. */
static float *inverse_of(const tvlm_features *features) {
    return (float *)reference_data(features->inverse) + (size_t)features->image * (size_t)cells_of(features);
}

static double clamp_cosine(double value) {
    return fmin(fmax(value, -1.0), 1.0);
}

tvlm_status tvlm_reference_feature_lengths(tvlm_device *device, const tvlm_features *features) {
    const int32_t width = features->texture->width;
    (void)device;
    for (int32_t cell = 0; cell < cells_of(features); ++cell) {
        double sum = 0.0;
        for (int32_t i = 0; i < features->dimension; ++i) {
            const double value = component(features, cell % width, cell / width, i);
            sum += value * value;
        }
        const double length = sqrt(sum);
        inverse_of(features)[cell] = length >= (double)TVLM_FEATURE_FLOOR ? (float)(1.0 / length) : 0.0f;
    }
    return TVLM_OK;
}

/* The length of the difference of a vector and `mean`, or -1 if a value is not finite. */
static double length_less(const float *vector, const float *mean, int32_t dimension) {
    double sum = 0.0;
    for (int32_t i = 0; i < dimension; ++i) {
        const float value = mean != NULL ? vector[i] - mean[i] : vector[i];
        if (!isfinite(value)) return -1.0;
        sum += (double)value * (double)value;
    }
    return sqrt(sum);
}

tvlm_status tvlm_reference_unit_vectors(tvlm_device *device, const tvlm_units *units, int32_t *bad) {
    const float *const vectors =
        (const float *)(const void *)((const char *)reference_data(units->vectors) + units->offset);
    const float *const mean = units->mean != NULL ? reference_data(units->mean) : NULL;
    float *const out = reference_data(units->out);
    int32_t first = -1;
    (void)device;
    for (int32_t n = 0; n < units->count; ++n) {
        const float *const vector = vectors + (size_t)n * (size_t)units->dimension;
        const double length = length_less(vector, mean, units->dimension);
        const bool good = length >= (double)TVLM_FEATURE_FLOOR;
        if (!good && first < 0) first = n;
        for (int32_t i = 0; i < units->stride; ++i) {
            double unit = 0.0;
            if (good && i < units->dimension)
                unit = (double)(mean != NULL ? vector[i] - mean[i] : vector[i]) / length;
            out[(size_t)n * (size_t)units->stride + (size_t)i] = (float)unit;
        }
    }
    if (bad != NULL) *bad = first;
    return TVLM_OK;
}

tvlm_status tvlm_reference_feature_matrix(tvlm_device *device, const tvlm_features *features, int32_t level,
                                          tvlm_buffer *matrix, size_t offset) {
    const int32_t width = tvlm_level_side(features->texture->width, level);
    const int32_t cells = width * tvlm_level_side(features->texture->height, level);
    float *out = (float *)reference_data(matrix) + offset;
    (void)device;
    for (int32_t cell = 0; cell < cells; ++cell)
        for (int32_t i = 0; i < features->dimension; ++i)
            *out++ = (float)component_at(features, level, cell % width, cell / width, i);
    return TVLM_OK;
}

static double cosine(const tvlm_features *features, const float *unit, int32_t cell) {
    const int32_t width = features->texture->width;
    double sum = 0.0;
    for (int32_t i = 0; i < features->dimension; ++i)
        sum += component(features, cell % width, cell / width, i) * (double)unit[i];
    return clamp_cosine(sum * (double)inverse_of(features)[cell]);
}

tvlm_status tvlm_reference_similarity_cells(tvlm_device *device, const tvlm_features *features,
                                            tvlm_buffer *query, tvlm_buffer *cells, int32_t count,
                                            tvlm_buffer *cosines) {
    const int32_t *const chosen = reference_data(cells);
    float *const out = reference_data(cosines);
    (void)device;
    for (int32_t n = 0; n < count; ++n) out[n] = (float)cosine(features, reference_data(query), chosen[n]);
    return TVLM_OK;
}

tvlm_status tvlm_reference_similarity(tvlm_device *device, const tvlm_features *features, tvlm_buffer *query,
                                      tvlm_texture *out) {
    const int32_t width = features->texture->width;
    const float *unit = reference_data(query);
    (void)device;
    for (int32_t cell = 0; cell < cells_of(features); ++cell) {
        const double texel[4] = {cosine(features, unit, cell), 0.0, 0.0, 0.0};
        tvlm_reference_store(out, 0, reference_slice(out, features->image, 0), cell % width, cell / width,
                             texel);
    }
    return TVLM_OK;
}

tvlm_status tvlm_reference_cosines(tvlm_device *device, const tvlm_features *features, tvlm_buffer *products,
                                   int32_t count) {
    const int32_t cells = cells_of(features);
    float *values = reference_data(products);
    (void)device;
    for (int32_t query = 0; query < count; ++query)
        for (int32_t cell = 0; cell < cells; ++cell, ++values)
            *values = (float)clamp_cosine((double)*values * (double)inverse_of(features)[cell]);
    return TVLM_OK;
}

/* The largest or the mean of the `count` cosines of a cell, which lie `cells` floats apart. */
static double combined(const float *cosines, int32_t count, size_t cells, int32_t how) {
    double most = (double)cosines[0], sum = 0.0;
    for (int32_t n = 0; n < count; ++n) {
        const double cosine = (double)cosines[(size_t)n * cells];
        most = fmax(most, cosine);
        sum += cosine;
    }
    return how == TVLM_MAPS_MAX ? most : sum / count;
}

tvlm_status tvlm_reference_maps(tvlm_device *device, tvlm_buffer *cosines, int32_t count, int32_t how,
                                int32_t image, tvlm_texture *out) {
    const size_t cells = (size_t)out->width * (size_t)out->height;
    const float *values = reference_data(cosines);
    (void)device;
    for (size_t cell = 0; cell < cells; ++cell)
        for (int32_t layer = 0; layer < out->layers; ++layer) {
            double texel[4] = {0.0, 0.0, 0.0, 0.0};
            if (how != TVLM_MAPS_EACH) texel[0] = combined(values + cell, count, cells, how);
            for (int32_t c = 0; how == TVLM_MAPS_EACH && c < 4 && 4 * layer + c < count; ++c)
                texel[c] = (double)values[(size_t)(4 * layer + c) * cells + cell];
            tvlm_reference_store(out, 0, reference_slice(out, image, layer), (int32_t)cell % out->width,
                                 (int32_t)cell / out->width, texel);
        }
    return TVLM_OK;
}
