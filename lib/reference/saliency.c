/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saliency.c: four maps of what stands out: centre-surround contrast at three scales, and `saliency`, which
 * adds the cues of the border (core/constants.h defines them at TVLM_SALIENCY_*).
 */
#include <math.h>

#include "core/colour.h"
#include "core/memory.h"
#include "reference/reference.h"
#include "reference/texture.h"

/* One level of one image in L*a*b*. `texels` is NULL when there was no memory. */
typedef struct lab_level {
    int32_t width, height;
    reference_lab *texels;
} lab_level;

reference_lab tvlm_reference_lab(const float rgb[3]) {
    double lab[3];
    tvlm_lab(rgb, lab);
    return (reference_lab){lab[0], lab[1], lab[2]};
}

static lab_level lab_level_make(const tvlm_texture *source, int32_t level, int32_t slice) {
    lab_level made = {tvlm_level_side(source->width, level), tvlm_level_side(source->height, level), NULL};
    made.texels = tvlm_allocate((size_t)made.width * (size_t)made.height, sizeof *made.texels);
    if (made.texels == NULL) return made;
    reference_lab *texel = made.texels;
    for (int32_t y = 0; y < made.height; ++y)
        for (int32_t x = 0; x < made.width; ++x)
            *texel++ = tvlm_reference_lab(tvlm_reference_fetch(source, level, slice, x, y));
    return made;
}

static reference_lab lab_lerp(const reference_lab *p, const reference_lab *q, double t) {
    return (reference_lab){reference_lerp(p->l, q->l, t), reference_lerp(p->a, q->a, t),
                           reference_lerp(p->b, q->b, t)};
}

/* The bilinear colour at (u, v) in texels. */
static reference_lab lab_at(const lab_level *level, double u, double v) {
    const reference_between x = tvlm_reference_locate(u, level->width),
                            y = tvlm_reference_locate(v, level->height);
    const reference_lab *top = level->texels + (size_t)y.first * (size_t)level->width;
    const reference_lab *bottom = level->texels + (size_t)y.second * (size_t)level->width;
    const reference_lab above = lab_lerp(top + x.first, top + x.second, x.fraction);
    const reference_lab below = lab_lerp(bottom + x.first, bottom + x.second, x.fraction);
    return lab_lerp(&above, &below, y.fraction);
}

/* The contrast of the centre with the surround at a point, which is given as shares of the image's sides. */
static double contrast(const lab_level *centre, const lab_level *surround, double across, double down) {
    const reference_lab p = lab_at(centre, across * centre->width, down * centre->height);
    const reference_lab q = lab_at(surround, across * surround->width, down * surround->height);
    const double l = p.l - q.l, a = p.a - q.a, b = p.b - q.b;
    return fmin(1, sqrt(l * l + a * a + b * b) / (double)TVLM_SALIENCY_RANGE);
}

/* The level `step` levels coarser than another, or the last one. */
static int32_t level_above(const tvlm_texture *source, int32_t level, int32_t step) {
    return level + step < source->levels ? level + step : source->levels - 1;
}

/* Makes the contrast of one scale: values[texel][scale + 1]. Returns false when there is no memory. */
static bool make_scale(const tvlm_texture *source, int32_t slice, int32_t scale, const tvlm_texture *out,
                       double (*values)[4]) {
    const int32_t c = level_above(source, TVLM_SALIENCY_CENTRE_LEVEL, scale);
    const int32_t r = level_above(source, c, TVLM_SALIENCY_SURROUND_STEP);
    const lab_level centre = lab_level_make(source, c, slice), surround = lab_level_make(source, r, slice);
    const bool made = centre.texels != NULL && surround.texels != NULL;
    for (int32_t y = 0; made && y < out->height; ++y)
        for (int32_t x = 0; x < out->width; ++x)
            (*values++)[scale + 1] =
                contrast(&centre, &surround, (x + 0.5) / out->width, (y + 0.5) / out->height);
    free(centre.texels);
    free(surround.texels);
    return made;
}

/* Divides each component by its maximum over the image. A component that is flat becomes 0. */
static void scale_to_maximum(double (*values)[4], size_t count) {
    for (int c = 0; c < 4; ++c) {
        double maximum = 0;
        for (size_t i = 0; i < count; ++i) maximum = fmax(maximum, values[i][c]);
        for (size_t i = 0; i < count; ++i)
            values[i][c] = maximum > TVLM_SALIENCY_FLOOR ? values[i][c] / maximum : 0;
    }
}

/* ---- What stands out from the border ---- */

/* The first level, from the finest centre level on, that has no side longer than SIDE. */
static int32_t prior_level(const tvlm_texture *source) {
    int32_t level = level_above(source, TVLM_SALIENCY_CENTRE_LEVEL, 0);
    while (tvlm_level_side(source->width, level) > TVLM_SALIENCY_SIDE ||
           tvlm_level_side(source->height, level) > TVLM_SALIENCY_SIDE)
        ++level;
    return level;
}

/* The colours along one side of the image: their mean and the inverse of their covariance. */
typedef struct side_colours {
    double mean[3], inverse[3][3];
} side_colours;

typedef struct rectangle {
    int32_t x, y, width, height;
} rectangle;

/* The strip of texels along a side: 0 top, 1 bottom, 2 left, 3 right. */
static rectangle side_strip(const lab_level *level, int side) {
    const int32_t w = level->width, h = level->height, longer = w > h ? w : h;
    const int32_t wanted = longer / TVLM_SALIENCY_STRIP > 1 ? longer / TVLM_SALIENCY_STRIP : 1;
    const int32_t rows = wanted < h ? wanted : h, columns = wanted < w ? wanted : w;
    switch (side) {
    case 0: return (rectangle){0, 0, w, rows};
    case 1: return (rectangle){0, h - rows, w, rows};
    case 2: return (rectangle){0, 0, columns, h};
    default: return (rectangle){w - columns, 0, columns, h};
    }
}

/* apart = colour - mean */
static void lab_from(const reference_lab *colour, const double mean[3], double apart[3]) {
    apart[0] = colour->l - mean[0];
    apart[1] = colour->a - mean[1];
    apart[2] = colour->b - mean[2];
}

/* For each texel of a strip, adds d[i] * d[j] to sums[i][j] and d[j] to sums[3][j]. Here d is the texel's
 * colour less `mean`. */
static void add_products(const lab_level *level, rectangle strip, const double mean[3], double sums[4][3]) {
    for (int32_t y = strip.y; y < strip.y + strip.height; ++y)
        for (int32_t x = strip.x; x < strip.x + strip.width; ++x) {
            double apart[3];
            lab_from(&level->texels[(size_t)y * (size_t)level->width + (size_t)x], mean, apart);
            for (int j = 0; j < 3; ++j) {
                for (int i = 0; i < 3; ++i) sums[i][j] += apart[i] * apart[j];
                sums[3][j] += apart[j];
            }
        }
}

/* The inverse of the first three rows of m, as the adjugate over the determinant. */
static void invert(double m[4][3], double inverse[3][3]) {
    double determinant = 0;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            inverse[j][i] = m[a][c] * m[b][d] - m[a][d] * m[b][c];
        }
    for (int j = 0; j < 3; ++j) determinant += m[0][j] * inverse[j][0];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) inverse[i][j] /= determinant;
}

static side_colours describe_side(const lab_level *level, int side) {
    side_colours colours = {{0, 0, 0}, {{0}}};
    const rectangle strip = side_strip(level, side);
    const double count = (double)strip.width * strip.height, origin[3] = {0, 0, 0};
    double sums[4][3] = {{0}}, covariance[4][3] = {{0}};
    add_products(level, strip, origin, sums);
    for (int i = 0; i < 3; ++i) colours.mean[i] = sums[3][i] / count;
    add_products(level, strip, colours.mean, covariance);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) covariance[i][j] /= count;
        covariance[i][i] += (double)TVLM_SALIENCY_SPREAD;
    }
    invert(covariance, colours.inverse);
    return colours;
}

/* The Mahalanobis distance of a colour from those along a side. */
static double distance_to_side(const reference_lab *colour, const side_colours *side) {
    double apart[3], square = 0;
    lab_from(colour, side->mean, apart);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) square += apart[i] * side->inverse[i][j] * apart[j];
    return sqrt(fmax(0, square));
}

/* The distance of each texel's colour from those along the nearest side. */
static void border_distances(const lab_level *level, double *distances) {
    const size_t count = (size_t)level->width * (size_t)level->height;
    for (size_t i = 0; i < count; ++i) distances[i] = INFINITY;
    for (int side = 0; side < 4; ++side) {
        const side_colours colours = describe_side(level, side);
        for (size_t i = 0; i < count; ++i)
            distances[i] = fmin(distances[i], distance_to_side(&level->texels[i], &colours));
    }
}

/* Lowers the cost of texel `to` if it is cheaper to reach by way of its neighbour `from`. */
static void relax(const lab_level *level, double *costs, int32_t to_x, int32_t to_y, int32_t from_x,
                  int32_t from_y) {
    const size_t to = (size_t)to_y * (size_t)level->width + (size_t)to_x;
    const size_t from = (size_t)from_y * (size_t)level->width + (size_t)from_x;
    const reference_lab p = level->texels[to], q = level->texels[from];
    const double l = p.l - q.l, a = p.a - q.a, b = p.b - q.b;
    const double step = fmax(0, sqrt(l * l + a * a + b * b) - (double)TVLM_SALIENCY_STEP_FREE);
    costs[to] = fmin(costs[to], costs[from] + step);
}

/* The cost of the cheapest path found from the border to each texel. */
static void path_costs(const lab_level *level, double *costs) {
    const int32_t w = level->width, h = level->height;
    for (int32_t y = 0; y < h; ++y)
        for (int32_t x = 0; x < w; ++x)
            costs[(size_t)y * (size_t)w + (size_t)x] =
                x == 0 || y == 0 || x == w - 1 || y == h - 1 ? 0 : (double)TVLM_SALIENCY_UNREACHED;
    for (int round = 0; round < TVLM_SALIENCY_ROUNDS; ++round) {
        for (int32_t y = 1; y < h; ++y)
            for (int32_t x = 0; x < w; ++x) relax(level, costs, x, y, x, y - 1);
        for (int32_t y = h - 2; y >= 0; --y)
            for (int32_t x = 0; x < w; ++x) relax(level, costs, x, y, x, y + 1);
        for (int32_t x = 1; x < w; ++x)
            for (int32_t y = 0; y < h; ++y) relax(level, costs, x, y, x - 1, y);
        for (int32_t x = w - 2; x >= 0; --x)
            for (int32_t y = 0; y < h; ++y) relax(level, costs, x, y, x + 1, y);
    }
}

/* Adds weight * values to `sum`, over the largest of the values or over `floor`, whichever is larger. */
static void add_scaled(const double *values, size_t count, double floor, double weight, double *sum) {
    double largest = floor;
    for (size_t i = 0; i < count; ++i) largest = fmax(largest, values[i]);
    for (size_t i = 0; i < count; ++i) sum[i] += weight * values[i] / largest;
}

/* The bilinear value at (u, v) in texels of a plane that has the level's size. */
static double plane_at(const lab_level *level, const double *plane, double u, double v) {
    const reference_between x = tvlm_reference_locate(u, level->width),
                            y = tvlm_reference_locate(v, level->height);
    const double *top = plane + (size_t)y.first * (size_t)level->width;
    const double *bottom = plane + (size_t)y.second * (size_t)level->width;
    return reference_lerp(reference_lerp(top[x.first], top[x.second], x.fraction),
                          reference_lerp(bottom[x.first], bottom[x.second], x.fraction), y.fraction);
}

/* Makes the two cues of the border: values[texel][0]. Returns false when there is no memory. */
static bool make_prior(const tvlm_texture *source, int32_t slice, const tvlm_texture *out,
                       double (*values)[4]) {
    const lab_level level = lab_level_make(source, prior_level(source), slice);
    const size_t count = (size_t)level.width * (size_t)level.height;
    double *prior = tvlm_allocate(count, sizeof *prior), *part = tvlm_allocate(count, sizeof *part);
    const bool made = level.texels != NULL && prior != NULL && part != NULL;
    if (made) {
        path_costs(&level, part);
        add_scaled(part, count, (double)TVLM_SALIENCY_PATH_FLOOR, 1, prior);
        border_distances(&level, part);
        add_scaled(part, count, (double)TVLM_SALIENCY_BORDER_FLOOR, (double)TVLM_SALIENCY_BORDER_WEIGHT,
                   prior);
        for (int32_t y = 0; y < out->height; ++y)
            for (int32_t x = 0; x < out->width; ++x)
                (*values++)[0] = plane_at(&level, prior, (x + 0.5) / out->width * level.width,
                                          (y + 0.5) / out->height * level.height);
    }
    free(level.texels);
    free(prior);
    free(part);
    return made;
}

/* ---- All together ---- */

static bool make_image(const tvlm_texture *source, int32_t image, tvlm_texture *out, double (*values)[4]) {
    const size_t count = (size_t)out->width * (size_t)out->height;
    if (!make_prior(source, reference_slice(source, image, 0), out, values)) return false;
    for (int32_t scale = 0; scale < TVLM_SALIENCY_SCALES; ++scale)
        if (!make_scale(source, reference_slice(source, image, 0), scale, out, values)) return false;
    for (size_t i = 0; i < count; ++i)
        values[i][0] += (double)TVLM_SALIENCY_CONTRAST_WEIGHT * (values[i][1] + values[i][2] + values[i][3]) /
                        TVLM_SALIENCY_SCALES;
    scale_to_maximum(values, count);
    for (int32_t y = 0; y < out->height; ++y)
        for (int32_t x = 0; x < out->width; ++x)
            tvlm_reference_store(out, 0, reference_slice(out, image, 0), x, y, *values++);
    return true;
}

tvlm_status tvlm_reference_saliency(tvlm_device *device, const tvlm_generate_args *args) {
    tvlm_texture *const *grids = args->grids;
    tvlm_texture *out = args->out;
    double(*values)[4] = tvlm_allocate((size_t)out->width * (size_t)out->height, sizeof *values);
    bool made = values != NULL;
    for (int32_t image = 0; made && image < out->images; ++image)
        made = make_image(grids[TVLM_GRID_SOURCE], image, out, values);
    free(values);
    return made ? TVLM_OK
                : tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "reference: no memory for the saliency");
}
