/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.c: dense optical flow between two sources. Its steps are patches by Gauss-Newton, their weighted mean,
 * the variational refinement, and the confidence. Each is written as its formula stands. cl/flow.cl describes
 * the method, and core/constants.h names its sources at TVLM_FLOW_*.
 */
#include <math.h>
#include <string.h>

#include "core/flow.h"
#include "core/memory.h"
#include "core/try.h"
#include "reference/reference.h"
#include "reference/texture.h"

#define PATCH     TVLM_FLOW_PATCH
#define PATCH_ALL (TVLM_FLOW_PATCH * TVLM_FLOW_PATCH)

typedef struct vector {
    double u, v;
} vector;

/* A flow: at[height * width], in texels of its level. */
typedef struct field {
    int32_t width, height;
    vector *at;
} field;

/* The luma of one level of one image. */
typedef struct plane {
    const tvlm_texture *source;
    int32_t level, slice, width, height;
} plane;

/* The template (`from`) and the target (`to`) of one direction at one level. */
typedef struct level_pair {
    plane from, to;
} level_pair;

/* The equations of a texel, A (u, v) = r, without the terms of its neighbours. s is the weight of
 * smoothness. */
typedef struct equation {
    double a11, a12, a22, r1, r2, s;
} equation;

static plane plane_of(const tvlm_texture *source, int32_t image, int32_t level) {
    return (plane){source, level, reference_slice(source, image, 0), tvlm_level_side(source->width, level),
                   tvlm_level_side(source->height, level)};
}

static int32_t clamp_to(int32_t value, int32_t side) {
    return value < 0 ? 0 : value >= side ? side - 1 : value;
}

static double luma(const plane *p, int32_t x, int32_t y) {
    return tvlm_reference_fetch(p->source, p->level, p->slice, x, y)[3];
}

static double clamp(double value, double low, double high) {
    return value < low ? low : value > high ? high : value;
}

/* Bilinear luma. Texel centres are at whole numbers, and outside it is that of the nearest texel. */
static double luma_at(const plane *p, double x, double y) {
    const int32_t x0 = (int32_t)floor(x), y0 = (int32_t)floor(y);
    const double top = reference_lerp(luma(p, x0, y0), luma(p, x0 + 1, y0), x - x0);
    const double bottom = reference_lerp(luma(p, x0, y0 + 1), luma(p, x0 + 1, y0 + 1), x - x0);
    return reference_lerp(top, bottom, y - y0);
}

/* The bilinear flow, by the same rules. */
static vector field_at(const field *f, double x, double y) {
    x = clamp(x, 0, f->width - 1);
    y = clamp(y, 0, f->height - 1);
    const int32_t x0 = (int32_t)x, y0 = (int32_t)y, x1 = clamp_to(x0 + 1, f->width),
                  y1 = clamp_to(y0 + 1, f->height);
    const vector a = f->at[y0 * f->width + x0], b = f->at[y0 * f->width + x1], c = f->at[y1 * f->width + x0],
                 d = f->at[y1 * f->width + x1];
    return (vector){
        reference_lerp(reference_lerp(a.u, b.u, x - x0), reference_lerp(c.u, d.u, x - x0), y - y0),
        reference_lerp(reference_lerp(a.v, b.v, x - x0), reference_lerp(c.v, d.v, x - x0), y - y0)};
}

/* A flow of another size at the point (x, y) of a level of width x height texels, whose centres are at + 0.5.
 * The result is in texels of that level. */
static vector other_at(const field *f, int32_t width, int32_t height, double x, double y) {
    const double across = (double)width / f->width, down = (double)height / f->height;
    const vector step = field_at(f, x / across - 0.5, y / down - 0.5);
    return (vector){step.u * across, step.v * down};
}

static tvlm_status field_create(tvlm_device *device, int32_t width, int32_t height, field *f) {
    f->width = width;
    f->height = height;
    f->at = tvlm_allocate((size_t)width * (size_t)height, sizeof *f->at);
    return f->at != NULL
               ? TVLM_OK
               : tvlm_fail(&device->log, TVLM_ERROR_DEVICE_MEMORY, "reference: no memory for a flow");
}

/* ---- Patches ---- */

/* A patch of the template: its first texel, its luma, the gradients less their means, and the Hessian
 * (a b; b c). */
typedef struct patch {
    int32_t x, y;
    double texels[PATCH_ALL], gx[PATCH_ALL], gy[PATCH_ALL];
    double a, b, c;
} patch;

static void subtract_mean(double *values) {
    double sum = 0;
    for (int i = 0; i < PATCH_ALL; ++i) sum += values[i];
    for (int i = 0; i < PATCH_ALL; ++i) values[i] -= sum / PATCH_ALL;
}

static void patch_take(const plane *from, int32_t x, int32_t y, patch *p) {
    p->x = x;
    p->y = y;
    for (int i = 0; i < PATCH_ALL; ++i) {
        const int32_t px = x + i % PATCH, py = y + i / PATCH;
        p->texels[i] = luma(from, px, py);
        p->gx[i] = 0.5 * (luma(from, px + 1, py) - luma(from, px - 1, py));
        p->gy[i] = 0.5 * (luma(from, px, py + 1) - luma(from, px, py - 1));
    }
    subtract_mean(p->gx);
    subtract_mean(p->gy);
    p->a = p->b = p->c = 0;
    for (int i = 0; i < PATCH_ALL; ++i) {
        p->a += p->gx[i] * p->gx[i];
        p->b += p->gx[i] * p->gy[i];
        p->c += p->gy[i] * p->gy[i];
    }
    const double regular = (double)TVLM_FLOW_REGULAR + (double)TVLM_FLOW_CONDITION * (p->a + p->c);
    p->a += regular;
    p->c += regular;
}

/* The first texel of patch `index` along a side. Patches overlap by half; one that would reach out of the
 * image is moved inside. */
static int32_t patch_origin(int32_t index, int32_t side) {
    const int32_t origin = (index - 1) * TVLM_FLOW_STRIDE, last = side > PATCH ? side - PATCH : 0;
    return origin < 0 ? 0 : origin > last ? last : origin;
}

/* Where the patch begins after `step`. It can leave the image only by as much as the border of a plane in the
 * kernels. */
static vector patch_place(const patch *p, const plane *to, vector step) {
    return (vector){clamp(p->x + step.u, -TVLM_FLOW_PAD, to->width + TVLM_FLOW_PAD - PATCH - 2),
                    clamp(p->y + step.v, -TVLM_FLOW_PAD, to->height + TVLM_FLOW_PAD - PATCH - 2)};
}

/* Returns the sum of squares of the differences less their mean; *down is the Gauss-Newton step. */
static double patch_error(const patch *p, const plane *to, vector step, vector *down) {
    const vector place = patch_place(p, to, step);
    double d[PATCH_ALL], squares = 0, x = 0, y = 0;
    for (int i = 0; i < PATCH_ALL; ++i)
        d[i] = luma_at(to, place.u + i % PATCH, place.v + i / PATCH) - p->texels[i];
    subtract_mean(d);
    for (int i = 0; i < PATCH_ALL; ++i) {
        squares += d[i] * d[i];
        x += d[i] * p->gx[i];
        y += d[i] * p->gy[i];
    }
    const double determinant = p->a * p->c - p->b * p->b;
    *down = (vector){-(p->c * x - p->b * y) / determinant, -(p->a * y - p->b * x) / determinant};
    return squares;
}

/* Whether an error is less than another by more than rounding makes. */
static bool better(double error, double least) {
    return error < (double)TVLM_FLOW_GAIN * least - (double)TVLM_FLOW_NOTHING;
}

/* Where a patch starts: with the best step of the coarser flow at its centre and to its four sides. Without a
 * coarser flow it starts at rest. */
static vector patch_start(const patch *p, const plane *to, const field *coarser) {
    static const double aside[5][2] = {{0, 0}, {-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    vector best = {0, 0}, down;
    double least = INFINITY;
    for (int i = 0; coarser->at != NULL && i < 5; ++i) {
        const vector start = other_at(coarser, to->width, to->height,
                                      p->x + PATCH / 2 + aside[i][0] * (double)TVLM_FLOW_SPREAD,
                                      p->y + PATCH / 2 + aside[i][1] * (double)TVLM_FLOW_SPREAD);
        const double error = patch_error(p, to, start, &down);
        if (i == 0 || better(error, least)) {
            least = error;
            best = start;
        }
    }
    return best;
}

/* Takes up to `steps` steps, as long as the error falls and the patch stays within its size of the start. */
static vector patch_match(const patch *p, const plane *to, vector start, int steps) {
    vector best = start, down;
    double least = patch_error(p, to, best, &down);
    for (int i = 0; i < steps; ++i) {
        const vector next = {best.u + down.u, best.v + down.v};
        const double error = patch_error(p, to, next, &down);
        if (!better(error, least) || fabs(next.u - start.u) > PATCH || fabs(next.v - start.v) > PATCH) break;
        least = error;
        best = next;
    }
    return best;
}

static void match(const level_pair *pair, const field *coarser, field *patches) {
    for (int32_t j = 0; j < patches->height; ++j)
        for (int32_t i = 0; i < patches->width; ++i) {
            patch p;
            patch_take(&pair->from, patch_origin(i, pair->from.width), patch_origin(j, pair->from.height),
                       &p);
            patches->at[j * patches->width + i] =
                patch_match(&p, &pair->to, patch_start(&p, &pair->to, coarser),
                            coarser->at != NULL ? TVLM_FLOW_STEPS : TVLM_FLOW_FIRST);
        }
}

/* Makes the flow at every texel: the mean of the four patches over it, weighted by the inverse of the
 * difference of luma that each patch leaves at the texel. */
static void densify(const level_pair *pair, const field *patches, field *flow) {
    for (int32_t y = 0; y < flow->height; ++y)
        for (int32_t x = 0; x < flow->width; ++x) {
            double weights = 0, u = 0, v = 0;
            for (int n = 0; n < 4; ++n) {
                const int32_t i = x / TVLM_FLOW_STRIDE + n % 2, j = y / TVLM_FLOW_STRIDE + n / 2;
                const patch p = {.x = patch_origin(i, flow->width), .y = patch_origin(j, flow->height)};
                const vector step = patches->at[j * patches->width + i],
                             place = patch_place(&p, &pair->to, step);
                const double d =
                    fabs(luma_at(&pair->to, place.u + x - p.x, place.v + y - p.y) - luma(&pair->from, x, y));
                const double weight = 1 / fmax(d, (double)TVLM_FLOW_FLOOR);
                weights += weight;
                u += weight * step.u;
                v += weight * step.v;
            }
            flow->at[y * flow->width + x] = (vector){u / weights, v / weights};
        }
}

/* ---- Refinement ---- */

/* At each texel, the mean of the template and the warped target, and their difference. */
typedef struct warped {
    int32_t width, height;
    double *mean, *change;
} warped;

static void warp(const level_pair *pair, const field *flow, warped *w) {
    for (int32_t i = 0; i < w->width * w->height; ++i) {
        const int32_t x = i % w->width, y = i / w->width;
        const double own = (double)TVLM_FLOW_LUMA * luma(&pair->from, x, y);
        const double value =
            (double)TVLM_FLOW_LUMA * luma_at(&pair->to, x + flow->at[i].u, y + flow->at[i].v);
        w->mean[i] = 0.5 * (value + own);
        w->change[i] = value - own;
    }
}

static double at(const warped *w, const double *values, int32_t x, int32_t y) {
    return values[clamp_to(y, w->height) * w->width + clamp_to(x, w->width)];
}

/* Adds the constraint weight (x u + y v + z)^2 on a further step (u, v) to the equations. */
static void add_constraint(equation *e, double weight, double x, double y, double z) {
    e->a11 += weight * x * x;
    e->a12 += weight * x * y;
    e->a22 += weight * y * y;
    e->r1 -= weight * x * z;
    e->r2 -= weight * y * z;
}

static equation equation_of(const warped *w, const field *flow, int32_t x, int32_t y) {
    const double *m = w->mean, *z = w->change, zeta = (double)TVLM_FLOW_ZETA,
                 epsilon = (double)TVLM_FLOW_EPSILON;
    const double ix = (at(w, m, x + 1, y) - at(w, m, x - 1, y)) / 2,
                 iy = (at(w, m, x, y + 1) - at(w, m, x, y - 1)) / 2;
    const double ixx = (at(w, m, x + 2, y) - 2 * at(w, m, x, y) + at(w, m, x - 2, y)) / 4,
                 iyy = (at(w, m, x, y + 2) - 2 * at(w, m, x, y) + at(w, m, x, y - 2)) / 4,
                 ixy = (at(w, m, x + 1, y + 1) - at(w, m, x - 1, y + 1) - at(w, m, x + 1, y - 1) +
                        at(w, m, x - 1, y - 1)) /
                       4;
    const double iz = at(w, z, x, y), izx = (at(w, z, x + 1, y) - at(w, z, x - 1, y)) / 2,
                 izy = (at(w, z, x, y + 1) - at(w, z, x, y - 1)) / 2;
    equation e = {.a11 = zeta, .a22 = zeta};
    const double n = ix * ix + iy * iy + zeta, nx = ixx * ixx + ixy * ixy + zeta,
                 ny = iyy * iyy + ixy * ixy + zeta;
    add_constraint(&e, (double)TVLM_FLOW_BRIGHTNESS / 2 / sqrt(iz * iz / n + epsilon) / n, ix, iy, iz);
    const double g = (double)TVLM_FLOW_GRADIENT / 2 / sqrt(izx * izx / nx + izy * izy / ny + epsilon);
    add_constraint(&e, g / nx, ixx, ixy, izx);
    add_constraint(&e, g / ny, ixy, iyy, izy);

    const vector own = flow->at[y * w->width + x], right = flow->at[y * w->width + clamp_to(x + 1, w->width)],
                 below = flow->at[clamp_to(y + 1, w->height) * w->width + x];
    const double ux = right.u - own.u, uy = below.u - own.u, vx = right.v - own.v, vy = below.v - own.v;
    e.s = (double)TVLM_FLOW_SMOOTH / 2 / sqrt(ux * ux + uy * uy + vx * vx + vy * vy + epsilon);
    /* The unknown is the flow itself and not the further step. */
    e.r1 += e.a11 * own.u + e.a12 * own.v;
    e.r2 += e.a12 * own.u + e.a22 * own.v;
    return e;
}

/* A step of Jacobi's method: solves the two equations of a texel with the neighbours as they are. */
static vector jacobi(const equation *equations, const field *flow, int32_t x, int32_t y) {
    static const int32_t steps[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
    const int32_t i = y * flow->width + x;
    equation e = equations[i];
    for (int n = 0; n < 4; ++n) {
        const int32_t nx = x + steps[n][0], ny = y + steps[n][1], k = ny * flow->width + nx;
        if (nx < 0 || ny < 0 || nx >= flow->width || ny >= flow->height) continue;
        /* The weight between two texels is that of the left one, or of the upper one. */
        const double weight = equations[k < i ? k : i].s;
        e.a11 += weight;
        e.a22 += weight;
        e.r1 += weight * flow->at[k].u;
        e.r2 += weight * flow->at[k].v;
    }
    const double determinant = e.a11 * e.a22 - e.a12 * e.a12;
    return (vector){(e.a22 * e.r1 - e.a12 * e.r2) / determinant, (e.a11 * e.r2 - e.a12 * e.r1) / determinant};
}

/* Takes all sweeps: x_(k+1) = x_(k-1) + omega_(k+1) (jacobi(x_k) - x_(k-1)). The result is in *flow again. */
static void solve(const equation *equations, field *flow, field *last) {
    const double radius = (double)TVLM_FLOW_RADIUS * (double)TVLM_FLOW_RADIUS;
    double omega = 1;
    for (int sweep = 0; sweep < TVLM_FLOW_SWEEPS; ++sweep) {
        for (int32_t i = 0; i < flow->width * flow->height; ++i) {
            const vector next = jacobi(equations, flow, i % flow->width, i / flow->width);
            const vector before = sweep == 0 ? flow->at[i] : last->at[i];
            last->at[i].u = before.u + omega * (next.u - before.u);
            last->at[i].v = before.v + omega * (next.v - before.v);
        }
        vector *const swapped = flow->at;
        flow->at = last->at;
        last->at = swapped;
        omega = sweep == 0 ? 2 / (2 - radius) : 1 / (1 - radius * omega / 4);
    }
}

static tvlm_status refine(tvlm_device *device, const level_pair *pair, int32_t times, field *flow) {
    const int32_t count = flow->width * flow->height;
    equation *equations = tvlm_allocate((size_t)count, sizeof *equations);
    double *values = tvlm_allocate((size_t)count, 2 * sizeof *values);
    field last = {flow->width, flow->height, tvlm_allocate((size_t)count, sizeof(vector))};
    tvlm_status status = TVLM_OK;
    if (equations == NULL || values == NULL || last.at == NULL)
        status = tvlm_fail(&device->log, TVLM_ERROR_DEVICE_MEMORY, "reference: no memory for a flow");
    for (int32_t n = 0; status == TVLM_OK && n < times; ++n) {
        warped w = {flow->width, flow->height, values, values + count};
        warp(pair, flow, &w);
        for (int32_t i = 0; i < count; ++i)
            equations[i] = equation_of(&w, flow, i % flow->width, i / flow->width);
        solve(equations, flow, &last);
    }
    free(equations);
    free(values);
    free(last.at);
    return status;
}

/* ---- Both directions, and the result ---- */

/* Replaces the flow of the coarser level by the flow of this level. At the coarsest level flow->at is NULL
 * before. */
static tvlm_status make_level(tvlm_device *device, const level_pair *pair, int32_t refinements, field *flow) {
    const field coarser = *flow;
    field patches = {0};
    tvlm_status status = field_create(device, tvlm_flow_patches(pair->from.width),
                                      tvlm_flow_patches(pair->from.height), &patches);
    if (status == TVLM_OK) status = field_create(device, pair->from.width, pair->from.height, flow);
    if (status == TVLM_OK) {
        match(pair, &coarser, &patches);
        densify(pair, &patches, flow);
        status = refine(device, pair, refinements, flow);
    }
    free(patches.at);
    if (flow->at != coarser.at) free(coarser.at);
    return status;
}

static tvlm_status one_way(tvlm_device *device, const tvlm_flow_args *args, bool back, field *flow) {
    const int32_t last = back ? tvlm_flow_back_level(args) : args->finest;
    for (int32_t level = args->coarsest; level >= last; --level) {
        const plane from = plane_of(args->from, args->from_image, level),
                    to = plane_of(args->to, args->to_image, level);
        const level_pair pair = back ? (level_pair){to, from} : (level_pair){from, to};
        TVLM_TRY(make_level(device, &pair, tvlm_flow_refinements(args, level), flow));
    }
    return TVLM_OK;
}

/* One factor of the confidence: how alike the images are along the flow, around a texel. */
static double alike(const level_pair *pair, const field *flow, int32_t x, int32_t y) {
    const int r = TVLM_FLOW_WINDOW, count = (2 * r + 1) * (2 * r + 1);
    double squares = 0, mean = 0, variance = 0;
    for (int pass = 0; pass < 2; ++pass)
        for (int32_t j = y - r; j <= y + r; ++j)
            for (int32_t i = x - r; i <= x + r; ++i) {
                const int32_t cx = clamp_to(i, flow->width), cy = clamp_to(j, flow->height);
                const vector step = flow->at[cy * flow->width + cx];
                const double own = luma(&pair->from, cx, cy);
                if (pass == 0) {
                    squares += pow(luma_at(&pair->to, clamp(cx + step.u, 0, flow->width - 1),
                                           clamp(cy + step.v, 0, flow->height - 1)) -
                                       own,
                                   2) /
                               count;
                    mean += own / count;
                } else {
                    variance += pow(own - mean, 2) / count;
                }
            }
    return 1 / (1 + squares / ((double)TVLM_FLOW_TEXTURE * variance + (double)TVLM_FLOW_NOISE));
}

static void store(const tvlm_flow_args *args, const field *flow, const field *back, float *out) {
    const level_pair pair = {plane_of(args->from, args->from_image, args->finest),
                             plane_of(args->to, args->to_image, args->finest)};
    const double across = (double)args->from->width / flow->width,
                 down = (double)args->from->height / flow->height;
    for (int32_t i = 0; i < flow->width * flow->height; ++i) {
        const int32_t x = i % flow->width, y = i / flow->width;
        const vector step = flow->at[i];
        const double tx = x + 0.5 + step.u, ty = y + 0.5 + step.v;
        const vector returned = other_at(back, flow->width, flow->height, tx, ty);
        const double fu = step.u * across, fv = step.v * down, bu = returned.u * across,
                     bv = returned.v * down;
        const double error = (fu + bu) * (fu + bu) + (fv + bv) * (fv + bv);
        const double allowed =
            (double)TVLM_FLOW_RELATIVE * (fu * fu + fv * fv + bu * bu + bv * bv) + (double)TVLM_FLOW_ABSOLUTE;
        const bool inside = tx >= 0 && ty >= 0 && tx <= flow->width && ty <= flow->height;
        out[3 * i] = (float)fu;
        out[3 * i + 1] = (float)fv;
        out[3 * i + 2] = inside ? (float)(alike(&pair, flow, x, y) / (1 + error / allowed)) : 0.0f;
    }
}

/* Writes the grid as if the result had been handed in. */
static tvlm_status hand_in(tvlm_device *device, const tvlm_flow_args *args) {
    const float most = args->limit;
    const tvlm_input input = {.columns = args->grid->width,
                              .rows = args->grid->height,
                              .channels = 3,
                              .mode = TVLM_INPUT_CLAMP,
                              .row_stride = 3 * sizeof(float) * (size_t)args->grid->width,
                              .low = {-most, -most, 0.0f, 0.0f},
                              .high = {most, most, 1.0f, 0.0f}};
    return tvlm_reference_input(device, args->out, &input, args->grid_image, args->grid);
}

tvlm_status tvlm_reference_flow(tvlm_device *device, const tvlm_flow_args *args) {
    field flow = {0}, back = {0};
    tvlm_status status = one_way(device, args, false, &flow);
    if (status == TVLM_OK) status = one_way(device, args, true, &back);
    if (status == TVLM_OK) store(args, &flow, &back, reference_data(args->out));
    if (status == TVLM_OK && args->grid != NULL) status = hand_in(device, args);
    free(flow.at);
    free(back.at);
    return status;
}
