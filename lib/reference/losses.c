/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.c: what pictures of an image lose of each tile, by the definition.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "reference/reference.h"
#include "reference/texture.h"

/* A picture of luma. There is room for so many texels. */
typedef struct plane {
    int32_t width, height;
    double *texels;
    size_t room;
} plane;

static double *at(const plane *p, int32_t x, int32_t y) {
    return p->texels + (size_t)y * (size_t)p->width + (size_t)x;
}

/* Makes room for a picture in place of the one before. What is in it is undefined. */
static bool make(plane *p, int32_t width, int32_t height) {
    const size_t texels = (size_t)width * (size_t)height;
    p->width = width;
    p->height = height;
    if (texels <= p->room) return true;
    free(p->texels);
    p->texels = tvlm_allocate(texels, sizeof(double));
    p->room = p->texels != NULL ? texels : 0;
    return p->texels != NULL;
}

static bool read_level(const tvlm_texture *source, int32_t slice, int32_t level, plane *p) {
    if (!make(p, tvlm_level_side(source->width, level), tvlm_level_side(source->height, level))) return false;
    for (int32_t y = 0; y < p->height; ++y) {
        const float *const row = tvlm_reference_fetch(source, level, slice, 0, y);
        for (int32_t x = 0; x < p->width; ++x) *at(p, x, y) = (double)row[4 * (ptrdiff_t)x + 3];
    }
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
            double sum = 0.0;
            for (int32_t i = 0; i < (int32_t)entry[1]; ++i)
                sum += (double)entry[TVLM_BUDGET_HEAD + i] * *at(from, (int32_t)entry[0] + i, y);
            *at(to, x, y) = sum;
        }
}

/* Filters along columns into `to`, whose width is that of `from`. A whole row is added at a time, as it lies in memory. */
static void along_columns(const tvlm_budget_plan *plan, const tvlm_budget_axis *axis, const plane *from,
                          plane *to) {
    for (int32_t y = 0; y < to->height; ++y) {
        const float *const entry = entry_of(plan, axis, y);
        double *const row = at(to, 0, y);
        for (int32_t x = 0; x < to->width; ++x) row[x] = 0.0;
        for (int32_t i = 0; i < (int32_t)entry[1]; ++i) {
            const double weight = (double)entry[TVLM_BUDGET_HEAD + i];
            const double *const line = at(from, 0, (int32_t)entry[0] + i);
            for (int32_t x = 0; x < to->width; ++x) row[x] += weight * line[x];
        }
    }
}

static void clamp(const plane *p) {
    for (size_t i = 0; i < (size_t)p->width * (size_t)p->height; ++i) {
        const double v = p->texels[i];
        p->texels[i] = v < 0.0 ? 0.0 : v > 1.0 ? 1.0 : v;
    }
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

/* Adds up the pixels of block i of row j of a tile, as far as they lie in the image. */
static block sum_block(const plane *image, const plane *picture, const tile *t, int32_t i, int32_t j) {
    block sums = {0};
    const int32_t left = t->x + TVLM_BUDGET_EDGE(i, t->side), top = t->y + TVLM_BUDGET_EDGE(j, t->side);
    const int32_t right = smaller(t->x + TVLM_BUDGET_EDGE(i + 1, t->side), image->width);
    const int32_t below = smaller(t->y + TVLM_BUDGET_EDGE(j + 1, t->side), image->height);
    if (right <= left || below <= top) return sums;
    sums.pixels = (double)(right - left) * (below - top);
    for (int32_t y = top; y < below; ++y) {
        const double *const image_row = at(image, left, y), *const picture_row = at(picture, left, y);
        for (int32_t x = 0; x < right - left; ++x) {
            const double p = image_row[x], q = picture_row[x];
            sums.x += p;
            sums.xx += p * p;
            sums.y += q;
            sums.yy += q * q;
            sums.xy += p * q;
            sums.error += (p - q) * (p - q);
        }
    }
    return sums;
}

/* Adds up count x count blocks of a tile, from block i of row j on. */
static block sum_blocks(const block *blocks, int32_t i, int32_t j, int32_t count) {
    block sums = {0};
    for (int32_t n = 0; n < count * count; ++n) {
        const block *const b = &blocks[(j + n / count) * TVLM_BUDGET_BLOCKS + i + n % count];
        sums.pixels += b->pixels;
        sums.x += b->x;
        sums.xx += b->xx;
        sums.y += b->y;
        sums.yy += b->yy;
        sums.xy += b->xy;
        sums.error += b->error;
    }
    return sums;
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
        block blocks[BLOCKS * BLOCKS];
        detail all = {0};
        for (int32_t i = 0; i < BLOCKS * BLOCKS; ++i)
            blocks[i] = sum_block(image, picture, &t, i % BLOCKS, i / BLOCKS);
        const block whole = sum_blocks(blocks, 0, 0, BLOCKS);
        for (int32_t i = 0; i < WINDOWS * WINDOWS; ++i) {
            const block window = sum_blocks(blocks, i % WINDOWS, i / WINDOWS, WINDOW);
            if (window.pixels > 0.0) add_window(&window, &all);
        }
        losses[2 * (size_t)n] = (float)whole.error;
        losses[2 * (size_t)n + 1] = (float)(whole.pixels * illegible(&all, (double)plan->legible));
    }
}

/* ---- A picture ---- */

/* The planes between the steps, which one picture after the other takes. They are freed in any case. */
typedef struct steps {
    plane image, from, low, small, wide, enlarged;
    int32_t level; /* which one `from` is; -1: none yet */
} steps;

/* Makes a picture, enlarged to the size of the image. */
static bool enlarge(const tvlm_texture *source, const tvlm_budget_plan *plan,
                    const tvlm_budget_picture *picture, steps *s) {
    const int32_t slice = reference_slice(source, plan->image, 0);
    if (s->level != picture->from && !read_level(source, slice, picture->from, &s->from)) return false;
    s->level = picture->from;
    if (!make(&s->low, s->from.width, picture->height) || !make(&s->small, picture->width, picture->height) ||
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
        if (kept != NULL &&
            !read_kept(kept, source, (plan->first + i * plan->step) % kept->places, &s->image))
            return false;
        compare(plan, &s->image, &s->enlarged, losses + (size_t)i * stride);
    }
    return true;
}

tvlm_status tvlm_reference_losses(tvlm_device *device, const tvlm_texture *source,
                                  const tvlm_budget_plan *plan, tvlm_buffer *losses, size_t offset) {
    const size_t floats = 2 * (size_t)plan->columns * (size_t)plan->rows;
    float *out = (float *)reference_data(losses) + offset;
    steps s;
    memset(&s, 0, sizeof s);
    s.level = -1;
    bool made =
        plan->kept != NULL || read_level(source, reference_slice(source, plan->image, 0), 0, &s.image);
    for (int32_t p = 0; made && p < plan->count; ++p, out += floats)
        made = measure(source, plan, &plan->pictures[p], (size_t)plan->count * floats, &s, out);
    plane *const planes[] = {&s.image, &s.from, &s.low, &s.small, &s.wide, &s.enlarged};
    for (size_t i = 0; i < sizeof planes / sizeof *planes; ++i) free(planes[i]->texels);
    return made ? TVLM_OK : tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory to measure a picture");
}
