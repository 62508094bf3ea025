/* SPDX-License-Identifier: Apache-2.0 */
/*
 * footprint.c: turns ellipses into probes along their longer axis, which the backend averages, and finds
 * ellipses from the image's own structure tensor.
 */
#include "texturevlm/lab/footprint.h"

#include <math.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/owner.h"
#include "core/try.h"
#include "lab/operations.h"
#include "stack/inside.h"
#include "stack/places.h"

/* Infinities are clamped to this, as in sample.c. */
#define FAR 1e9f

/* ---- Ellipses ---- */

/* The eigenvalues of a symmetric matrix [[xx, xy], [xy, yy]], and the direction of the larger one. */
typedef struct principal {
    double large, small, angle;
} principal;

static principal principal_of(double xx, double xy, double yy) {
    const double mean = 0.5 * (xx + yy), apart = hypot(0.5 * (xx - yy), xy);
    return (principal){mean + apart, fmax(mean - apart, 0.0), 0.5 * atan2(2.0 * xy, xx - yy)};
}

static float between(double value, double low, double high) {
    return (float)fmin(fmax(value, low), high);
}

/* Returns the probes of an ellipse. First, the shorter axis is widened until the ratio of the axes is
 * allowed. Both axes are widened to at least a pixel, since nothing finer is stored. */
static tvlm_footprint_place place_of(const tvlm_stack *stack, const tvlm_footprint *f, int32_t first) {
    const double ux = (double)f->u[0], uy = (double)f->u[1], vx = (double)f->v[0], vy = (double)f->v[1];
    const principal axes = principal_of(ux * ux + vx * vx, ux * uy + vx * vy, uy * uy + vy * vy);
    const double longer = fmax(sqrt(axes.large), 1.0);
    const double shorter = fmax(fmax(sqrt(axes.small), longer / TVLM_FOOTPRINT_RATIO), 1.0);
    /* A ratio that exceeds a whole number only by rounding needs no further probe. */
    const double probes =
        longer > shorter * 1.0001 ? ceil(TVLM_FOOTPRINT_PROBES * longer / shorter - 1e-4) : 1.0;
    const double step = longer / probes;
    return (tvlm_footprint_place){
        .at = {between((double)f->x, (double)-FAR, (double)FAR),
               between((double)f->y, (double)-FAR, (double)FAR),
               between(log2(shorter) + (double)TVLM_FOOTPRINT_BIAS, 0.0, stack->levels - 1),
               (float)(f->index - first)},
        .step_x = (float)(step * cos(axes.angle)),
        .step_y = (float)(step * sin(axes.angle)),
        .probes = (float)probes};
}

/* ---- Sampling ---- */

static int32_t image_of(const void *list, int32_t i) {
    return ((const tvlm_footprint *)list)[i].index;
}

static void write_footprint(const tvlm_stack *stack, const void *list, int32_t i, int32_t first,
                            void *place) {
    *(tvlm_footprint_place *)place = place_of(stack, (const tvlm_footprint *)list + i, first);
}

static void write_centre(const tvlm_stack *stack, const void *list, int32_t i, int32_t first, void *place) {
    *(tvlm_point *)place = place_of(stack, (const tvlm_footprint *)list + i, first).at;
}

/* Reads identifiers at the centres of the ellipses, since an average of identifiers is not an identifier. */
static tvlm_status sample_identifiers(tvlm_stack *stack, const tvlm_footprint *footprints, int32_t count,
                                      const int32_t *channels, int32_t channel_count, float *out) {
    const tvlm_places centres = {"footprints",
                                 footprints,
                                 count,
                                 image_of,
                                 write_centre,
                                 sizeof(tvlm_point),
                                 stack->device->backend->sample};
    tvlm_status status = TVLM_OK;
    float *values = NULL;
    for (int32_t c = 0; status == TVLM_OK && c < channel_count; ++c) {
        tvlm_channel_info info;
        status = tvlm_stack_get_channel_info(stack, channels[c], &info);
        if (status != TVLM_OK || !info.identifier) continue;
        if (values == NULL) values = tvlm_allocate((size_t)count, sizeof *values);
        if (values == NULL)
            return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory to sample %d footprints",
                             (int)count);
        status = tvlm_stack_read_places(stack, &centres, &channels[c], 1, values);
        for (size_t i = 0; status == TVLM_OK && i < (size_t)count; ++i)
            out[i * (size_t)channel_count + (size_t)c] = values[i];
    }
    free(values);
    return status;
}

static tvlm_status check_footprints(const tvlm_stack *stack, const tvlm_footprint *footprints,
                                    int32_t count) {
    for (int32_t i = 0; i < count; ++i) {
        const tvlm_footprint *f = &footprints[i];
        if (isnan(f->x) || isnan(f->y))
            return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "footprint %d is not a number",
                             (int)i);
        if (!isfinite(f->u[0]) || !isfinite(f->u[1]) || !isfinite(f->v[0]) || !isfinite(f->v[1]))
            return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT,
                             "footprint %d has axes that are not finite", (int)i);
        TVLM_TRY(tvlm_stack_check_index(stack, f->index));
    }
    return TVLM_OK;
}

tvlm_status tvlm_stack_sample_footprint(tvlm_stack *stack, const tvlm_footprint *footprints, int32_t count,
                                        const int32_t *channels, int32_t channel_count, float *out) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    if (count < 0 || channel_count < 0)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "%d footprints and %d channels",
                         (int)count, (int)channel_count);
    if (count == 0 || channel_count == 0) return TVLM_OK;
    TVLM_NEED(&stack->device->log, footprints);
    TVLM_NEED(&stack->device->log, channels);
    TVLM_NEED(&stack->device->log, out);
    TVLM_TRY(check_footprints(stack, footprints, count));
    const tvlm_places places = {"footprints",
                                footprints,
                                count,
                                image_of,
                                write_footprint,
                                sizeof(tvlm_footprint_place),
                                stack->device->backend->lab->footprint};
    TVLM_TRY(tvlm_stack_read_places(stack, &places, channels, channel_count, out));
    return sample_identifiers(stack, footprints, count, channels, channel_count, out);
}

/* ---- Ellipses from the image's structure tensor ---- */

#define GRADIENTS 8 /* how many are taken along each side of an area */
#define LATTICE   (GRADIENTS + 2)
#define AT_ONCE   256  /* points that are sampled together */
#define ROUND     1.01 /* below this ratio of the axes, an ellipse counts as a circle, without a direction */

static const int32_t colours[] = {TVLM_CHANNEL_R, TVLM_CHANNEL_G, TVLM_CHANNEL_B};

static void lay_lattice(const tvlm_sample_point *point, float size, tvlm_sample_point *lattice) {
    const float step = size / GRADIENTS;
    for (int32_t j = 0; j < LATTICE; ++j)
        for (int32_t i = 0; i < LATTICE; ++i)
            lattice[j * LATTICE + i] = (tvlm_sample_point){
                point->x + ((float)i - 0.5f * (LATTICE - 1)) * step,
                point->y + ((float)j - 0.5f * (LATTICE - 1)) * step, fmaxf(0.0f, log2f(step)), point->index};
}

static double luma(const float *rgb) {
    return (double)TVLM_LUMA_R * (double)rgb[0] + (double)TVLM_LUMA_G * (double)rgb[1] +
           (double)TVLM_LUMA_B * (double)rgb[2];
}

/* The derivative along a step, smoothed across it so that all directions count alike (Scharr 2000). */
static double slope(const float *at, int32_t step, int32_t across) {
    return (10.0 * (luma(at + step) - luma(at - step)) +
            3.0 * (luma(at + step + across) - luma(at - step + across)) +
            3.0 * (luma(at + step - across) - luma(at - step - across))) /
           32.0;
}

/* The ellipse of a given area whose axes are inversely proportional to the strengths of the gradients along
 * them. */
static tvlm_footprint follow(const tvlm_sample_point *point, float size, const float *values) {
    double xx = 0.0, xy = 0.0, yy = 0.0;
    for (int32_t j = 1; j <= GRADIENTS; ++j)
        for (int32_t i = 1; i <= GRADIENTS; ++i) {
            const float *at = values + 3 * (j * LATTICE + i);
            const double dx = slope(at, 3, 3 * LATTICE), dy = slope(at, 3 * LATTICE, 3);
            xx += dx * dx;
            xy += dx * dy;
            yy += dy * dy;
        }
    const double floor2 = (double)TVLM_FOOTPRINT_FLOOR * (double)TVLM_FOOTPRINT_FLOOR;
    const principal across = principal_of(xx / (GRADIENTS * GRADIENTS), xy / (GRADIENTS * GRADIENTS),
                                          yy / (GRADIENTS * GRADIENTS));
    const double ratio =
        fmin(sqrt((across.large + floor2) / (across.small + floor2)), (double)TVLM_FOOTPRINT_RATIO);
    /* The direction along an edge is the direction across it, turned by a right angle. It points to the
     * right. */
    double x = -sin(across.angle), y = cos(across.angle);
    if (x < 0.0 || (x == 0.0 && y < 0.0)) x = -x, y = -y;
    if (ratio < ROUND) x = 1.0, y = 0.0;
    const double longer = (double)size * sqrt(ratio), shorter = (double)size / sqrt(ratio);
    return (tvlm_footprint){point->x,
                            point->y,
                            {(float)(longer * x), (float)(longer * y)},
                            {(float)(0.0 - shorter * y), (float)(shorter * x)}, /* never -0 */
                            point->index};
}

static tvlm_status follow_some(tvlm_stack *stack, const tvlm_sample_point *points, const float *sizes,
                               int32_t count, tvlm_sample_point *lattices, float *values,
                               tvlm_footprint *footprints) {
    enum { EACH = LATTICE * LATTICE };
    for (int32_t i = 0; i < count; ++i) lay_lattice(&points[i], sizes[i], lattices + i * EACH);
    TVLM_TRY(tvlm_stack_sample(stack, lattices, count * EACH, colours, 3, values));
    for (int32_t i = 0; i < count; ++i) footprints[i] = follow(&points[i], sizes[i], values + 3 * i * EACH);
    return TVLM_OK;
}

tvlm_status tvlm_stack_structure(tvlm_stack *stack, const tvlm_sample_point *points, const float *sizes,
                                 int32_t count, tvlm_footprint *footprints) {
    TVLM_NEED(NULL, stack);
    TVLM_ENTER(stack->device);
    if (count < 0) return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "%d points", (int)count);
    if (count == 0) return TVLM_OK;
    TVLM_NEED(&stack->device->log, points);
    TVLM_NEED(&stack->device->log, sizes);
    TVLM_NEED(&stack->device->log, footprints);
    for (int32_t i = 0; i < count; ++i)
        if (!isfinite(points[i].x) || !isfinite(points[i].y) || !(sizes[i] > 0.0f) || !isfinite(sizes[i]))
            return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "point %d is %g,%g with a size of %g",
                             (int)i, (double)points[i].x, (double)points[i].y, (double)sizes[i]);
    tvlm_sample_point *lattices = tvlm_allocate(AT_ONCE * LATTICE * LATTICE, sizeof *lattices);
    float *values = tvlm_allocate(AT_ONCE * LATTICE * LATTICE, 3 * sizeof *values);
    tvlm_status status = TVLM_OK;
    if (lattices == NULL || values == NULL)
        status = tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory for %d footprints", (int)count);
    for (int32_t first = 0; status == TVLM_OK && first < count; first += AT_ONCE)
        status = follow_some(stack, points + first, sizes + first,
                             count - first < AT_ONCE ? count - first : AT_ONCE, lattices, values,
                             footprints + first);
    free(lattices);
    free(values);
    return status;
}
