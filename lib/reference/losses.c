/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.c: what pictures of an image lose of each tile, by the definition.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "reference/reference.h"
#include "reference/texture.h"

/* A picture of luma. */
typedef struct plane {
    int32_t width, height;
    double *texels;
} plane;

static double *at(const plane *p, int32_t x, int32_t y) {
    return p->texels + (size_t)y * (size_t)p->width + (size_t)x;
}

static bool make(plane *p, int32_t width, int32_t height) {
    *p = (plane){width, height, tvlm_allocate((size_t)width * (size_t)height, sizeof(double))};
    return p->texels != NULL;
}

static bool read_level(const tvlm_texture *source, int32_t slice, int32_t level, plane *p) {
    if (!make(p, tvlm_level_side(source->width, level), tvlm_level_side(source->height, level))) return false;
    for (int32_t y = 0; y < p->height; ++y)
        for (int32_t x = 0; x < p->width; ++x)
            *at(p, x, y) = (double)tvlm_reference_fetch(source, level, slice, x, y)[3];
    return true;
}

/* ---- Resizing ---- */

static const float *entry_of(const tvlm_budget_plan *plan, const tvlm_budget_axis *axis, int32_t o) {
    return plan->table + axis->offset + (ptrdiff_t)o * (axis->taps + TVLM_BUDGET_HEAD);
}

/* Filters along rows into `to`, whose height is that of `from`. */
static void along_rows(const tvlm_budget_plan *plan, const tvlm_budget_axis *axis, const plane *from,
                       plane *to) {
    for (int32_t y = 0; y < to->height; ++y)
        for (int32_t x = 0; x < to->width; ++x) {
            const float *const entry = entry_of(plan, axis, x);
            for (int32_t i = 0; i < (int32_t)entry[1]; ++i)
                *at(to, x, y) += (double)entry[TVLM_BUDGET_HEAD + i] * *at(from, (int32_t)entry[0] + i, y);
        }
}

/* Filters along columns into `to`, whose width is that of `from`. */
static void along_columns(const tvlm_budget_plan *plan, const tvlm_budget_axis *axis, const plane *from,
                          plane *to) {
    for (int32_t y = 0; y < to->height; ++y) {
        const float *const entry = entry_of(plan, axis, y);
        for (int32_t x = 0; x < to->width; ++x)
            for (int32_t i = 0; i < (int32_t)entry[1]; ++i)
                *at(to, x, y) += (double)entry[TVLM_BUDGET_HEAD + i] * *at(from, x, (int32_t)entry[0] + i);
    }
}

static void clamp(const plane *p) {
    for (size_t i = 0; i < (size_t)p->width * (size_t)p->height; ++i)
        p->texels[i] = fmin(fmax(p->texels[i], 0.0), 1.0);
}

/* ---- Comparing ---- */

/* Sums over pixels of the image (x) and the picture (y). */
typedef struct block {
    double pixels, x, xx, y, yy, xy, error;
} block;

/* A tile: its first pixel, and how many pixels it has along each side. */
typedef struct tile {
    int32_t x, y, side;
} tile;

static int32_t smaller(int32_t a, int32_t b) {
    return a < b ? a : b;
}

/* Adds the pixels of count x count blocks of a tile, from block i of row j on, as far as they lie in the
 * image. */
static void add_blocks(const plane *image, const plane *picture, const tile *t, int32_t i, int32_t j,
                       int32_t count, block *sums) {
    const int32_t right = t->x + TVLM_BUDGET_EDGE(i + count, t->side);
    const int32_t below = t->y + TVLM_BUDGET_EDGE(j + count, t->side);
    for (int32_t y = t->y + TVLM_BUDGET_EDGE(j, t->side); y < smaller(below, image->height); ++y)
        for (int32_t x = t->x + TVLM_BUDGET_EDGE(i, t->side); x < smaller(right, image->width); ++x) {
            const double p = *at(image, x, y), q = *at(picture, x, y);
            sums->pixels += 1.0;
            sums->x += p;
            sums->xx += p * p;
            sums->y += q;
            sums->yy += q * q;
            sums->xy += p * q;
            sums->error += (p - q) * (p - q);
        }
}

/* Sums over windows, from which the loss of detail is made: the number of windows, their variances v, and
 * their correlations times (v + F), where F is TVLM_BUDGET_FLOOR. */
typedef struct detail {
    double windows, variance, correlated;
} detail;

static void add_window(const block *s, detail *d) {
    const double f = (double)TVLM_BUDGET_FLOOR;
    const double x = s->x / s->pixels, y = s->y / s->pixels;
    const double variance_x = fmax(s->xx / s->pixels - x * x, 0.0);
    const double variance_y = fmax(s->yy / s->pixels - y * y, 0.0);
    const double covariance = s->xy / s->pixels - x * y;
    const double correlation = (covariance + f) / sqrt((variance_x + f) * (variance_y + f));
    d->windows += 1.0;
    d->variance += variance_x;
    d->correlated += (variance_x + f) * correlation;
}

static double unread(double correlation, double legible) {
    return 1.0 / (1.0 + exp((correlation - legible) / (double)TVLM_BUDGET_SOFT));
}

/* How much of the detail of a pixel cannot be read. */
static double illegible(const detail *d, double legible) {
    const double f = (double)TVLM_BUDGET_FLOOR, mean = d->variance / d->windows;
    const double correlation = d->correlated / (d->variance + d->windows * f);
    const double lost = unread(correlation, legible) - unread(1.0, legible);
    return fmax(lost, 0.0) * mean / (mean + (double)TVLM_BUDGET_SEEN);
}

enum { BLOCKS = TVLM_BUDGET_BLOCKS, WINDOW = TVLM_BUDGET_WINDOW, WINDOWS = BLOCKS - WINDOW + 1 };

static void compare(const tvlm_budget_plan *plan, const plane *image, const plane *picture, float *losses) {
    const int32_t side = plan->patch;
    for (int32_t n = 0; n < plan->columns * plan->rows; ++n) {
        const tile t = {n % plan->columns * side, n / plan->columns * side, side};
        block whole = {0};
        detail all = {0};
        add_blocks(image, picture, &t, 0, 0, BLOCKS, &whole);
        for (int32_t i = 0; i < WINDOWS * WINDOWS; ++i) {
            block window = {0};
            add_blocks(image, picture, &t, i % WINDOWS, i / WINDOWS, WINDOW, &window);
            if (window.pixels > 0.0) add_window(&window, &all);
        }
        losses[2 * (size_t)n] = (float)whole.error;
        losses[2 * (size_t)n + 1] = (float)(whole.pixels * illegible(&all, (double)plan->legible));
    }
}

/* ---- A picture ---- */

/* The planes between the steps. They are freed in any case. */
typedef struct steps {
    plane image, from, low, small, wide, enlarged;
} steps;

/* Makes a picture, enlarged to the size of the image. */
static bool enlarge(const tvlm_texture *source, const tvlm_budget_plan *plan,
                    const tvlm_budget_picture *picture, steps *s) {
    const int32_t slice = reference_slice(source, plan->image, 0);
    if (!read_level(source, slice, picture->from, &s->from) ||
        !make(&s->low, s->from.width, picture->height) || !make(&s->small, picture->width, picture->height) ||
        !make(&s->wide, source->width, picture->height) || !make(&s->enlarged, source->width, source->height))
        return false;
    along_columns(plan, &picture->reduce_y, &s->from, &s->low);
    along_rows(plan, &picture->reduce_x, &s->low, &s->small);
    clamp(&s->small);
    along_rows(plan, &picture->enlarge_x, &s->small, &s->wide);
    along_columns(plan, &picture->enlarge_y, &s->wide, &s->enlarged);
    clamp(&s->enlarged);
    return true;
}

/* The luma at a place of what is kept, row after row. */
static float *kept_at(const tvlm_budget_kept *kept, const tvlm_texture *source, int32_t place) {
    return (float *)reference_data(kept->memory) +
           (size_t)place * (size_t)source->width * (size_t)source->height;
}

static bool read_kept(const tvlm_budget_kept *kept, const tvlm_texture *source, int32_t place, plane *p) {
    const float *const from = kept_at(kept, source, place);
    if (!make(p, source->width, source->height)) return false;
    for (int32_t i = 0; i < p->width * p->height; ++i) p->texels[i] = (double)from[i];
    return true;
}

tvlm_status tvlm_reference_losses_keep(tvlm_device *device, const tvlm_texture *source, int32_t image,
                                       int32_t patch, const tvlm_budget_kept *kept, int32_t place) {
    float *const to = kept_at(kept, source, place);
    const int32_t slice = reference_slice(source, image, 0);
    (void)device;
    (void)patch;
    for (int32_t y = 0; y < source->height; ++y)
        for (int32_t x = 0; x < source->width; ++x)
            to[y * source->width + x] = tvlm_reference_fetch(source, 0, slice, x, y)[3];
    return TVLM_OK;
}

static float mixed(float a, float b, float part) {
    return a + (b - a) * part;
}

static float clamped(float value, int32_t most) {
    return value < 0.0f ? 0.0f : value > (float)most ? (float)most : value;
}

tvlm_status tvlm_reference_losses_move(tvlm_device *device, const tvlm_texture *source, int32_t patch,
                                       const tvlm_budget_kept *kept, const tvlm_budget_move *move,
                                       const tvlm_budget_kept *moved) {
    const int32_t width = source->width, height = source->height;
    const float *const from = kept_at(kept, source, move->from), *const map = move->map;
    float *const to = kept_at(moved, source, move->to);
    (void)device;
    (void)patch;
    for (int32_t i = 0; i < width * height; ++i) {
        const float x = (float)(i % width) + 0.5f, y = (float)(i / width) + 0.5f;
        const float left = clamped(map[0] * x + map[1] * y + map[2] - 0.5f, width - 1);
        const float top = clamped(map[3] * x + map[4] * y + map[5] - 0.5f, height - 1);
        const int32_t x0 = (int32_t)left, y0 = (int32_t)top;
        const int32_t x1 = x0 < width - 1 ? x0 + 1 : x0, y1 = y0 < height - 1 ? y0 + 1 : y0;
        const float *const upper = from + (ptrdiff_t)y0 * width, *const lower = from + (ptrdiff_t)y1 * width;
        to[i] = mixed(mixed(upper[x0], upper[x1], left - (float)x0),
                      mixed(lower[x0], lower[x1], left - (float)x0), top - (float)y0);
    }
    return TVLM_OK;
}

/* Compares a picture with all images that are seen. `stride` is how many floats lie between the losses of two images. */
static bool measure(const tvlm_texture *source, const tvlm_budget_plan *plan,
                    const tvlm_budget_picture *picture, size_t stride, steps *s, float *losses) {
    const tvlm_budget_kept *const kept = plan->kept;
    if (!enlarge(source, plan, picture, s)) return false;
    for (int32_t i = 0; i < (kept != NULL ? plan->seen : 1); ++i) {
        free(s->image.texels);
        s->image.texels = NULL;
        const bool read =
            kept != NULL ? read_kept(kept, source, (plan->first + i * plan->step) % kept->places, &s->image)
                         : read_level(source, reference_slice(source, plan->image, 0), 0, &s->image);
        if (!read) return false;
        compare(plan, &s->image, &s->enlarged, losses + (size_t)i * stride);
    }
    return true;
}

tvlm_status tvlm_reference_losses(tvlm_device *device, const tvlm_texture *source,
                                  const tvlm_budget_plan *plan, tvlm_buffer *losses, size_t offset) {
    const size_t floats = 2 * (size_t)plan->columns * (size_t)plan->rows;
    float *out = (float *)reference_data(losses) + offset;
    for (int32_t p = 0; p < plan->count; ++p) {
        steps s;
        memset(&s, 0, sizeof s);
        const bool made = measure(source, plan, &plan->pictures[p], (size_t)plan->count * floats, &s, out);
        plane *const planes[] = {&s.image, &s.from, &s.low, &s.small, &s.wide, &s.enlarged};
        for (size_t i = 0; i < sizeof planes / sizeof *planes; ++i) free(planes[i]->texels);
        if (!made) return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory to measure a picture");
        out += floats;
    }
    return TVLM_OK;
}
