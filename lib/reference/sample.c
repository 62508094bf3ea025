/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.c: reads channels of several textures at points of the image, and packs them into one texture.
 */
#include "reference/sample.h"

#include <math.h>

#include "core/formula.h"
#include "reference/reference.h"
#include "reference/texture.h"

static double clamp(double value, double low, double high) {
    return fmin(fmax(value, low), high);
}

/* The texture's own level for a level of the image. Level 0 of a coarser grid counts as that level of the
 * image whose texels are as large as the grid's. */
static double own_level(const tvlm_texture *texture, double level) {
    const double shrink_x = log2((double)texture->extent_x / texture->width);
    const double shrink_y = log2((double)texture->extent_y / texture->height);
    return clamp(level - fmax(0, fmax(shrink_x, shrink_y)), 0, texture->levels - 1);
}

/* A position in pixels as texels of a level: at level n, x lies at x * W_n / extent. */
static double texel_coordinate(double position, int32_t side, float extent) {
    return position * side / (double)extent;
}

static double bilinear(const tvlm_texture *texture, int32_t level, int32_t slice, int component,
                       const reference_point *point) {
    const int32_t width = tvlm_level_side(texture->width, level),
                  height = tvlm_level_side(texture->height, level);
    const reference_between x =
        tvlm_reference_locate(texel_coordinate(point->x, width, texture->extent_x), width);
    const reference_between y =
        tvlm_reference_locate(texel_coordinate(point->y, height, texture->extent_y), height);
    const double above =
        reference_lerp(tvlm_reference_fetch(texture, level, slice, x.first, y.first)[component],
                       tvlm_reference_fetch(texture, level, slice, x.second, y.first)[component], x.fraction);
    const double below = reference_lerp(
        tvlm_reference_fetch(texture, level, slice, x.first, y.second)[component],
        tvlm_reference_fetch(texture, level, slice, x.second, y.second)[component], x.fraction);
    return reference_lerp(above, below, y.fraction);
}

static double trilinear(const tvlm_texture *texture, double level, int32_t slice, int component,
                        const reference_point *point) {
    const int32_t lower = (int32_t)floor(level);
    const double fraction = level - lower, value = bilinear(texture, lower, slice, component, point);
    if (fraction <= 0) return value;
    return reference_lerp(value, bilinear(texture, lower + 1, slice, component, point), fraction);
}

/* The index of the texel that a position lies in. */
static int32_t nearest_index(double position, int32_t side, float extent) {
    return (int32_t)clamp(floor(texel_coordinate(position, side, extent)), 0, side - 1);
}

static double nearest(const tvlm_texture *texture, double level, int32_t slice, int component,
                      const reference_point *point) {
    const int32_t n = (int32_t)floor(level + 0.5);
    const int32_t width = tvlm_level_side(texture->width, n), height = tvlm_level_side(texture->height, n);
    return tvlm_reference_fetch(texture, n, slice, nearest_index(point->x, width, texture->extent_x),
                                nearest_index(point->y, height, texture->extent_y))[component];
}

/* One channel of a vector that is scaled to unit length; 0 if the vector is too short to have a direction. */
static double of_unit(const tvlm_texture *texture, double level, int32_t ref, const reference_point *point) {
    double squares = 0, wanted = 0;
    for (int32_t layer = 0; layer < TVLM_REF_LAYERS(ref); ++layer)
        for (int component = 0; component < 4; ++component) {
            const double value =
                trilinear(texture, level, reference_slice(texture, point->image, layer), component, point);
            if (layer == TVLM_REF_LAYER(ref) && component == TVLM_REF_COMPONENT(ref)) wanted = value;
            squares += value * value;
        }
    return sqrt(squares) >= (double)TVLM_UNIT_FLOOR ? wanted / sqrt(squares) : 0;
}

double tvlm_reference_sample_at(const tvlm_bundle *bundle, int32_t ref, const reference_point *point) {
    if (ref < 0) return 0;
    const int component = TVLM_REF_COMPONENT(ref);
    if (TVLM_REF_TEXTURE(ref) == TVLM_BUNDLE_FORMULA) return tvlm_formula_at(bundle, ref, point->x, point->y);
    const tvlm_texture *texture = bundle->textures[TVLM_REF_TEXTURE(ref)];
    const double level = own_level(texture, point->level);
    if (TVLM_REF_LAYERS(ref) > 0) return of_unit(texture, level, ref, point);
    const int32_t slice = reference_slice(texture, point->image, TVLM_REF_LAYER(ref));
    if (texture->reduce[component] == TVLM_REDUCE_MODE)
        return nearest(texture, level, slice, component, point);
    return trilinear(texture, level, slice, component, point);
}

/* One image of a ragged bundle as a bundle of its own, whose textures lie in `alone`. */
static tvlm_bundle bundle_of_image(const tvlm_bundle *bundle, int32_t image,
                                   reference_texture alone[TVLM_BUNDLE_MAX]) {
    const tvlm_view *const view = &bundle->views[image];
    tvlm_bundle one = *bundle;
    for (int32_t i = 0; i < bundle->count; ++i) {
        alone[i] = tvlm_reference_image(bundle->textures[i], image);
        one.textures[i] = &alone[i].base;
    }
    one.width = view->width;
    one.height = view->height;
    one.fixation_x = view->fixation_x;
    one.fixation_y = view->fixation_y;
    one.farthest = view->farthest;
    one.views = NULL;
    return one;
}

static void sample_point(const tvlm_bundle *bundle, const int32_t *refs, int32_t count, const tvlm_point *at,
                         float *values) {
    const reference_point point = {at->x, at->y, at->level, (int32_t)at->image};
    for (int32_t c = 0; c < count; ++c) values[c] = (float)tvlm_reference_sample_at(bundle, refs[c], &point);
}

tvlm_status tvlm_reference_sample(tvlm_device *device, const tvlm_bundle *bundle, const int32_t *refs,
                                  int32_t count4, tvlm_buffer *points, int32_t count, tvlm_buffer *out) {
    (void)device;
    const tvlm_point *at = reference_data(points);
    float *values = reference_data(out);
    for (int32_t i = 0; i < count; ++i, values += 4 * (size_t)count4) {
        reference_texture alone[TVLM_BUNDLE_MAX];
        tvlm_point point = at[i];
        if (bundle->views == NULL) {
            sample_point(bundle, refs, 4 * count4, &point, values);
            continue;
        }
        const tvlm_bundle one = bundle_of_image(bundle, (int32_t)point.image, alone);
        point.image = 0.0f;
        sample_point(&one, refs, 4 * count4, &point, values);
    }
    return TVLM_OK;
}

/* Makes all layers of one texel (i, j). */
static void pack_texel(const tvlm_bundle *bundle, const int32_t *refs, const reference_point *point,
                       int32_t image, int32_t i, int32_t j, tvlm_texture *out) {
    for (int32_t layer = 0; layer < out->layers; ++layer) {
        double value[4];
        for (int c = 0; c < 4; ++c) value[c] = tvlm_reference_sample_at(bundle, refs[4 * layer + c], point);
        tvlm_reference_store(out, 0, reference_slice(out, image, layer), i, j, value);
    }
}

/* The middle of that part of texel i of the result that lies in the image. */
static double texel_centre(int32_t i, int32_t side, float extent, float image_side) {
    const double step = (double)extent / side;
    return 0.5 * (i * step + fmin((i + 1) * step, (double)image_side));
}

/* Packs image `from` of the bundle into image `to` of the result. */
static void pack_image(const tvlm_bundle *bundle, const int32_t *refs, float level, int32_t from, int32_t to,
                       tvlm_texture *out) {
    for (int32_t j = 0; j < out->height; ++j)
        for (int32_t i = 0; i < out->width; ++i) {
            const reference_point point = {texel_centre(i, out->width, out->extent_x, bundle->width),
                                           texel_centre(j, out->height, out->extent_y, bundle->height), level,
                                           from};
            pack_texel(bundle, refs, &point, to, i, j, out);
        }
}

tvlm_status tvlm_reference_pack(tvlm_device *device, const tvlm_bundle *bundle, const int32_t *refs,
                                float level, tvlm_texture *out) {
    (void)device;
    for (int32_t image = 0; image < out->images; ++image) {
        reference_texture alone[TVLM_BUNDLE_MAX], packed;
        if (bundle->views == NULL) {
            pack_image(bundle, refs, level, image, image, out);
            continue;
        }
        const tvlm_bundle one = bundle_of_image(bundle, image, alone);
        packed = tvlm_reference_image(out, image);
        const int32_t levels = tvlm_level_count((int32_t)one.width, (int32_t)one.height);
        pack_image(&one, refs, fminf(level, (float)(levels - 1)), 0, 0, &packed.base);
    }
    return TVLM_OK;
}

tvlm_status tvlm_reference_pack_slot(tvlm_device *device, const tvlm_bundle *bundle, const int32_t *refs,
                                     float level, int32_t from, int32_t to, tvlm_texture *out) {
    (void)device;
    pack_image(bundle, refs, level, from, to, out);
    return TVLM_OK;
}
