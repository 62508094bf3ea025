#include <math.h>

#include "core/memory.h"
#include "reference/reference.h"
#include "reference/texture.h"

/* One level of one image in L*a*b*. */
typedef struct lab_level {
    int32_t width, height;
    reference_lab *texels;
} lab_level;

static double linear(double encoded) {
    if (encoded <= (double)TVLM_SRGB_KNEE) return encoded / (double)TVLM_SRGB_SLOPE;
    return pow((encoded + (double)TVLM_SRGB_OFFSET) / (1 + (double)TVLM_SRGB_OFFSET),
               (double)TVLM_SRGB_GAMMA);
}

static double lab_curve(double t) {
    return t > (double)TVLM_LAB_EPSILON ? cbrt(t) : (double)TVLM_LAB_SLOPE * t + (double)TVLM_LAB_OFFSET;
}

reference_lab tvlm_reference_lab(const float rgb[3]) {
    const double r = linear(rgb[0]), g = linear(rgb[1]), b = linear(rgb[2]);
    const double x = lab_curve((double)TVLM_XYZ_XR * r + (double)TVLM_XYZ_XG * g + (double)TVLM_XYZ_XB * b);
    const double y = lab_curve((double)TVLM_XYZ_YR * r + (double)TVLM_XYZ_YG * g + (double)TVLM_XYZ_YB * b);
    const double z = lab_curve((double)TVLM_XYZ_ZR * r + (double)TVLM_XYZ_ZG * g + (double)TVLM_XYZ_ZB * b);
    return (reference_lab){116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

/* texels stays NULL when there is no memory. */
static lab_level lab_level_make(const tvlm_texture *source, int32_t level, int32_t slice) {
    lab_level made = {tvlm_level_side(source->width, level), tvlm_level_side(source->height, level), NULL};
    made.texels = tvlm_allocate((size_t)made.width * (size_t)made.height, sizeof *made.texels);
    if (made.texels == NULL) return made;
    reference_lab *texel = made.texels;
    for (int32_t y = 0; y < made.height; ++y)
        for (int32_t x = 0; x < made.width; ++x)
            *texel++ = tvlm_reference_lab(reference_fetch(source, level, slice, x, y));
    return made;
}

static reference_lab lab_lerp(const reference_lab *p, const reference_lab *q, double t) {
    return (reference_lab){reference_lerp(p->l, q->l, t), reference_lerp(p->a, q->a, t),
                           reference_lerp(p->b, q->b, t)};
}

/* Bilinear at the texel coordinates (u, v). */
static reference_lab lab_at(const lab_level *level, double u, double v) {
    const reference_between x = reference_locate(u, level->width), y = reference_locate(v, level->height);
    const reference_lab *top = level->texels + (size_t)y.first * (size_t)level->width;
    const reference_lab *bottom = level->texels + (size_t)y.second * (size_t)level->width;
    const reference_lab above = lab_lerp(top + x.first, top + x.second, x.fraction);
    const reference_lab below = lab_lerp(bottom + x.first, bottom + x.second, x.fraction);
    return lab_lerp(&above, &below, y.fraction);
}

/* Centre against surround at a place of the image, given as a share of its sides. */
static double contrast(const lab_level *centre, const lab_level *surround, double across, double down) {
    const reference_lab p = lab_at(centre, across * centre->width, down * centre->height);
    const reference_lab q = lab_at(surround, across * surround->width, down * surround->height);
    const double l = p.l - q.l, a = p.a - q.a, b = p.b - q.b;
    return fmin(1, sqrt(l * l + a * a + b * b) / (double)TVLM_SALIENCY_RANGE);
}

/* The level that is `step` above another, or the last. */
static int32_t level_above(const tvlm_texture *source, int32_t level, int32_t step) {
    return level + step < source->levels ? level + step : source->levels - 1;
}

/* values[texel][scale + 1] for one scale. */
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

/* Divides each component by its maximum over the image. */
static void scale_to_maximum(double (*values)[4], size_t count) {
    for (int c = 0; c < 4; ++c) {
        double maximum = 0;
        for (size_t i = 0; i < count; ++i) maximum = fmax(maximum, values[i][c]);
        for (size_t i = 0; i < count; ++i) values[i][c] = maximum > TVLM_SALIENCY_FLOOR ? values[i][c] / maximum : 0;
    }
}

static bool make_image(const tvlm_texture *source, int32_t image, tvlm_texture *out, double (*values)[4]) {
    const size_t count = (size_t)out->width * (size_t)out->height;
    for (int32_t scale = 0; scale < TVLM_SALIENCY_SCALES; ++scale)
        if (!make_scale(source, reference_slice(source, image, 0), scale, out, values)) return false;
    for (size_t i = 0; i < count; ++i)
        values[i][0] = (values[i][1] + values[i][2] + values[i][3]) / TVLM_SALIENCY_SCALES;
    scale_to_maximum(values, count);
    for (int32_t y = 0; y < out->height; ++y)
        for (int32_t x = 0; x < out->width; ++x)
            reference_store(out, 0, reference_slice(out, image, 0), x, y, *values++);
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
