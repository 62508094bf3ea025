/* SPDX-License-Identifier: Apache-2.0 */
/*
 * losses.c: what pictures of an image lose of each tile, by the definition.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "reference/reference.h"
#include "reference/texture.h"

/* Luma of an image, or of one of its levels: its own memory, with room for so many texels, or what somebody else has. */
typedef struct luma {
    int32_t width, height;
    const float *texels;
    float *own;
    size_t room;
} luma;

static const float *luma_row(const luma *l, int32_t y) {
    return l->texels + (ptrdiff_t)y * l->width;
}

/* Rows of doubles between the steps. There is room for so many texels. */
typedef struct plane {
    int32_t width, height;
    double *texels;
    size_t room;
} plane;

/* Row y of a plane. A plane that has only its last rows has row y in place of the row that is `height` rows above it. */
static double *row_of(const plane *p, int32_t y) {
    return p->texels + (ptrdiff_t)(y % p->height) * p->width;
}

/* Makes room for rows in place of those before. What is in it is undefined. */
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

static bool read_level(const tvlm_texture *source, int32_t slice, int32_t level, luma *l) {
    l->width = tvlm_level_side(source->width, level);
    l->height = tvlm_level_side(source->height, level);
    const size_t texels = (size_t)l->width * (size_t)l->height;
    if (texels > l->room) {
        free(l->own);
        l->own = tvlm_allocate(texels, sizeof(float));
        l->room = l->own != NULL ? texels : 0;
    }
    l->texels = l->own;
    if (l->own == NULL) return false;
    for (int32_t y = 0; y < l->height; ++y) {
        const float *const row = tvlm_reference_fetch(source, level, slice, 0, y);
        for (int32_t x = 0; x < l->width; ++x)
            l->own[y * (ptrdiff_t)l->width + x] = row[4 * (ptrdiff_t)x + 3];
    }
    return true;
}

/* ---- Resizing ---- */

/* Filters a row of values into a row of `width` values. */
static void along_row(const tvlm_budget_plan *plan, const tvlm_budget_axis *axis, const double *from,
                      int32_t width, double *to) {
    for (int32_t x = 0; x < width; ++x) {
        const float *const entry = tvlm_budget_entry(plan, axis, x);
        double sum = 0.0;
        for (int32_t i = 0; i < (int32_t)entry[1]; ++i)
            sum += (double)entry[TVLM_BUDGET_HEAD + i] * from[(int32_t)entry[0] + i];
        to[x] = sum;
    }
}

/* Filters the columns of luma to row y of the result. A whole row is added at a time, as it lies in memory. */
static void along_columns(const tvlm_budget_plan *plan, const tvlm_budget_axis *axis, const luma *from,
                          int32_t y, double *to) {
    const float *const entry = tvlm_budget_entry(plan, axis, y);
    for (int32_t x = 0; x < from->width; ++x) to[x] = 0.0;
    for (int32_t i = 0; i < (int32_t)entry[1]; ++i) {
        const double weight = (double)entry[TVLM_BUDGET_HEAD + i];
        const float *const line = luma_row(from, (int32_t)entry[0] + i);
        for (int32_t x = 0; x < from->width; ++x) to[x] += weight * (double)line[x];
    }
}

/* The same of a picture whose rows are as wide as the image. */
static void enlarge_columns(const tvlm_budget_plan *plan, const tvlm_budget_axis *axis, const plane *from,
                            int32_t y, double *to) {
    const float *const entry = tvlm_budget_entry(plan, axis, y);
    for (int32_t x = 0; x < from->width; ++x) to[x] = 0.0;
    for (int32_t i = 0; i < (int32_t)entry[1]; ++i) {
        const double weight = (double)entry[TVLM_BUDGET_HEAD + i];
        const double *const line = row_of(from, (int32_t)entry[0] + i);
        for (int32_t x = 0; x < from->width; ++x) to[x] += weight * line[x];
    }
}

static void clamp(double *values, int32_t count) {
    for (int32_t i = 0; i < count; ++i) {
        const double v = values[i];
        values[i] = v < 0.0 ? 0.0 : v > 1.0 ? 1.0 : v;
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

/* Adds up the pixels of block i of row j of a tile, as far as they lie in the image. The rows of `picture` begin at the tile's. */
static block sum_block(const luma *image, const plane *picture, const tile *t, int32_t i, int32_t j) {
    block sums = {0};
    const int32_t left = t->x + TVLM_BUDGET_EDGE(i, t->side), top = t->y + TVLM_BUDGET_EDGE(j, t->side);
    const int32_t right = smaller(t->x + TVLM_BUDGET_EDGE(i + 1, t->side), image->width);
    const int32_t below = smaller(t->y + TVLM_BUDGET_EDGE(j + 1, t->side), image->height);
    if (right <= left || below <= top) return sums;
    sums.pixels = (double)(right - left) * (below - top);
    for (int32_t y = top; y < below; ++y) {
        const float *const image_row = luma_row(image, y) + left;
        const double *const picture_row = row_of(picture, y - t->y) + left;
        for (int32_t x = 0; x < right - left; ++x) {
            const double p = (double)image_row[x], q = picture_row[x];
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

/* Compares a row of tiles, whose part of the enlarged picture is `picture`. */
static void compare(const tvlm_budget_plan *plan, const luma *image, const plane *picture, int32_t row,
                    float *losses) {
    const int32_t side = plan->patch;
    losses += 2 * (ptrdiff_t)row * plan->columns;
    for (int32_t column = 0; column < plan->columns; ++column, losses += 2) {
        const tile t = {column * side, row * side, side};
        block blocks[BLOCKS * BLOCKS];
        detail all = {0};
        for (int32_t i = 0; i < BLOCKS * BLOCKS; ++i)
            blocks[i] = sum_block(image, picture, &t, i % BLOCKS, i / BLOCKS);
        const block whole = sum_blocks(blocks, 0, 0, BLOCKS);
        for (int32_t i = 0; i < WINDOWS * WINDOWS; ++i) {
            const block window = sum_blocks(blocks, i % WINDOWS, i / WINDOWS, WINDOW);
            if (window.pixels > 0.0) add_window(&window, &all);
        }
        losses[0] = (float)whole.error;
        losses[1] = (float)(whole.pixels * illegible(&all, (double)plan->legible));
    }
}

/* ---- A picture ---- */

/*
 * What lies between the steps, which one picture after the other takes; it is freed in any case. Only the reduced picture is there as
 * a whole, in `small`. `low` is one row of it before its columns are dropped, `wide` the rows of the image's width that a row of tiles
 * is made of, and `enlarged` that row of tiles. So a large image takes little memory, and what was made last is still in the cache.
 */
typedef struct steps {
    luma image, level;
    plane low, small, wide, enlarged;
    int32_t from; /* which level `level` is; -1: none yet */
} steps;

/* The level that a picture is made from; NULL: there is no memory. */
static const luma *level_of(const tvlm_texture *source, const tvlm_budget_plan *plan, int32_t from,
                            steps *s) {
    if (from == 0 && plan->kept == NULL) return &s->image;
    if (s->from != from && !read_level(source, reference_slice(source, plan->image, 0), from, &s->level))
        return NULL;
    s->from = from;
    return &s->level;
}

/* Reduces a level to the picture's size. */
static bool reduce(const tvlm_texture *source, const tvlm_budget_plan *plan,
                   const tvlm_budget_picture *picture, steps *s) {
    const luma *const from = level_of(source, plan, picture->from, s);
    if (from == NULL || !make(&s->low, from->width, 1) || !make(&s->small, picture->width, picture->height))
        return false;
    for (int32_t y = 0; y < picture->height; ++y) {
        double *const to = row_of(&s->small, y);
        along_columns(plan, &picture->reduce_y, from, y, s->low.texels);
        along_row(plan, &picture->reduce_x, s->low.texels, picture->width, to);
        clamp(to, picture->width);
    }
    return true;
}

static int32_t tiles_end(const tvlm_texture *source, const tvlm_budget_plan *plan, int32_t row) {
    return smaller((row + 1) * plan->patch, source->height);
}

/* The rows of a picture that a row of tiles is made of. */
static tvlm_budget_rows rows_of(const tvlm_texture *source, const tvlm_budget_plan *plan,
                                const tvlm_budget_picture *picture, int32_t row) {
    return tvlm_budget_reach(plan, &picture->enlarge_y,
                             (tvlm_budget_rows){row * plan->patch, tiles_end(source, plan, row)});
}

/* Makes room for all rows of a picture that any row of tiles is made of, and for that row of tiles. */
static bool make_room(const tvlm_texture *source, const tvlm_budget_plan *plan,
                      const tvlm_budget_picture *picture, steps *s) {
    int32_t most = 1;
    for (int32_t row = 0; row < plan->rows; ++row) {
        const tvlm_budget_rows needed = rows_of(source, plan, picture, row);
        if (needed.end - needed.first > most) most = needed.end - needed.first;
    }
    return make(&s->wide, source->width, most) && make(&s->enlarged, source->width, plan->patch);
}

/* Enlarges a row of tiles. `done` is how many rows of the picture have been enlarged along rows for the rows of tiles above. */
static void enlarge(const tvlm_texture *source, const tvlm_budget_plan *plan,
                    const tvlm_budget_picture *picture, int32_t row, int32_t *done, steps *s) {
    const tvlm_budget_rows needed = rows_of(source, plan, picture, row);
    for (int32_t y = *done > needed.first ? *done : needed.first; y < needed.end; ++y)
        along_row(plan, &picture->enlarge_x, row_of(&s->small, y), source->width, row_of(&s->wide, y));
    *done = needed.end > *done ? needed.end : *done;
    for (int32_t y = row * plan->patch; y < tiles_end(source, plan, row); ++y) {
        double *const to = row_of(&s->enlarged, y - row * plan->patch);
        enlarge_columns(plan, &picture->enlarge_y, &s->wide, y, to);
        clamp(to, source->width);
    }
}

/* The luma at a place of what is kept, row after row. */
static float *kept_at(const tvlm_budget_kept *kept, const tvlm_texture *source, int32_t place) {
    return (float *)reference_data(kept->memory) +
           (size_t)place * (size_t)source->width * (size_t)source->height;
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

/* The image that is number i of those that a plan's pictures are compared with. */
static luma image_at(const tvlm_texture *source, const tvlm_budget_plan *plan, int32_t i, const steps *s) {
    const tvlm_budget_kept *const kept = plan->kept;
    if (kept == NULL) return s->image;
    return (luma){.width = source->width,
                  .height = source->height,
                  .texels = kept_at(kept, source, (plan->first + i * plan->step) % kept->places)};
}

/* Compares a picture with all images that are seen. `stride` is how many floats lie between the losses of two images. */
static bool measure(const tvlm_texture *source, const tvlm_budget_plan *plan,
                    const tvlm_budget_picture *picture, size_t stride, steps *s, float *losses) {
    int32_t done = 0;
    if (!reduce(source, plan, picture, s) || !make_room(source, plan, picture, s)) return false;
    for (int32_t row = 0; row < plan->rows; ++row) {
        enlarge(source, plan, picture, row, &done, s);
        for (int32_t i = 0; i < (plan->kept != NULL ? plan->seen : 1); ++i) {
            const luma image = image_at(source, plan, i, s);
            compare(plan, &image, &s->enlarged, row, losses + (size_t)i * stride);
        }
    }
    return true;
}

tvlm_status tvlm_reference_losses(tvlm_device *device, const tvlm_texture *source,
                                  const tvlm_budget_plan *plan, tvlm_buffer *losses, size_t offset) {
    const size_t floats = 2 * (size_t)plan->columns * (size_t)plan->rows;
    float *out = (float *)reference_data(losses) + offset;
    steps s;
    memset(&s, 0, sizeof s);
    s.from = -1;
    bool made =
        plan->kept != NULL || read_level(source, reference_slice(source, plan->image, 0), 0, &s.image);
    for (int32_t p = 0; made && p < plan->count; ++p, out += floats)
        made = measure(source, plan, &plan->pictures[p], (size_t)plan->count * floats, &s, out);
    plane *const planes[] = {&s.low, &s.small, &s.wide, &s.enlarged};
    for (size_t i = 0; i < sizeof planes / sizeof *planes; ++i) free(planes[i]->texels);
    free(s.image.own);
    free(s.level.own);
    return made ? TVLM_OK : tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "no memory to measure a picture");
}
