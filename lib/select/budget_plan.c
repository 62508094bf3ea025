/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_plan.c: the levels that pictures are made from, and the weights of their resizes.
 *
 * Lanczos' filter is sinc(x) sinc(x / 3) for |x| < 3. Where a picture shrinks, the filter is stretched by the
 * scale. Its weights are normalised to the sum 1. Most libraries that resize mean this by "Lanczos".
 *
 * A picture is made from the highest level that has at least OVERSAMPLED times its texels along each side, or
 * from level 0 where there is no such level. What the level leaves out of the image is far less than what the
 * picture loses.
 */
#include "select/budget_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

#define LOBES       3
#define OVERSAMPLED 3
#define PI          3.14159265358979323846

/* ---- Weights ---- */

/* One axis of a resize: the length of both sides, and how many source places one of the result spans. */
typedef struct line {
    int32_t source, size;
    double scale;
} line;

/* How many source places an output may depend on. */
static int32_t taps_of(const line *l) {
    return l->scale == 1.0 ? 1 : (int32_t)ceil(LOBES * fmax(l->scale, 1.0)) * 2 + 1;
}

/* A step from weight to weight, and the sines and cosines of the angles that it turns by. */
typedef struct turn {
    double step, s1, c1, s3, c3;
} turn;

static turn turn_by(double step) {
    return (turn){step, sin(PI * step), cos(PI * step), sin(PI * step / LOBES), cos(PI * step / LOBES)};
}

/*
 * Writes `count` of Lanczos' weights, at x, x + step, and so on. Calling sin for each would take too long. At
 * equal steps each sine follows from the one before: its angle is turned by the step.
 */
static void lanczos(double x, const turn *t, int32_t count, double *weights) {
    double s1 = sin(PI * x), c1 = cos(PI * x), s3 = sin(PI * x / LOBES), c3 = cos(PI * x / LOBES);
    for (int32_t i = 0; i < count; ++i) {
        const double at = x + i * t->step;
        weights[i] = fabs(at) < 1e-9 ? 1.0 : fabs(at) < LOBES ? LOBES * s1 * s3 / (PI * PI * at * at) : 0.0;
        const double next_s1 = s1 * t->c1 + c1 * t->s1, next_s3 = s3 * t->c3 + c3 * t->s3;
        c1 = c1 * t->c1 - s1 * t->s1;
        c3 = c3 * t->c3 - s3 * t->s3;
        s1 = next_s1;
        s3 = next_s3;
    }
}

/* Writes the entry of the table for output o. `exact` has room for its weights in double. */
static void write_entry(const line *l, int32_t o, const turn *t, double *exact, float *entry) {
    const double stretch = fmax(l->scale, 1.0), centre = (o + 0.5) * l->scale, reach = LOBES * stretch;
    const bool same = l->scale == 1.0;
    const int32_t first = same ? o : (int32_t)fmax(floor(centre - reach + 0.5), 0.0);
    const int32_t end = same ? o + 1 : (int32_t)fmin(floor(centre + reach + 0.5), l->source);
    double sum = 0.0;
    lanczos((first + 0.5 - centre) / stretch, t, end - first, exact);
    for (int32_t i = 0; i < end - first; ++i) sum += exact[i];
    entry[0] = (float)first;
    entry[1] = (float)(end - first);
    for (int32_t i = 0; i < end - first; ++i) entry[TVLM_BUDGET_HEAD + i] = (float)(exact[i] / sum);
}

/* ---- Pictures ---- */

/* Whether a level has OVERSAMPLED times as many texels along each side. */
static bool holds(const tvlm_texture *source, int32_t level, const tvlm_budget_size *size) {
    return tvlm_level_side(source->width, level) >= OVERSAMPLED * size->width &&
           tvlm_level_side(source->height, level) >= OVERSAMPLED * size->height;
}

static bool is_level(const tvlm_texture *source, int32_t level, const tvlm_budget_size *size) {
    return tvlm_level_side(source->width, level) == size->width &&
           tvlm_level_side(source->height, level) == size->height;
}

static int32_t made_from(const tvlm_texture *source, const tvlm_budget_size *size) {
    int32_t level = 0;
    for (int32_t n = 0; n < source->levels; ++n)
        if (is_level(source, n, size)) return n;
    while (level + 1 < source->levels && holds(source, level + 1, size)) ++level;
    return level;
}

/* An axis that is in the table already, and its place there. Many pictures share an axis. */
typedef struct known_axis {
    line line;
    tvlm_budget_axis axis;
} known_axis;

struct tvlm_budget_weights {
    float *floats;
    size_t used;      /* floats */
    size_t first;     /* the floats of the plan that they were made for */
    known_axis *axes; /* [4 a picture] */
    int32_t axis_count;
};

/* The weights that are being made. Entries are written from made->used on, or only counted. */
typedef struct table {
    const tvlm_budget_weights *before; /* of an earlier plan; NULL: there was none */
    tvlm_budget_weights *made;
    size_t used; /* what `made` has already, in floats and axes */
    int32_t axis_count;
    bool is_counted;
    double *exact;
    size_t most; /* the most floats that one place takes */
} table;

static const tvlm_budget_axis *find_axis(const tvlm_budget_weights *weights, const line *l) {
    for (int32_t i = 0; weights != NULL && i < weights->axis_count; ++i) {
        const line *const known = &weights->axes[i].line;
        if (known->source == l->source && known->size == l->size && known->scale == l->scale)
            return &weights->axes[i].axis;
    }
    return NULL;
}

/* Writes the entries of an axis: those of the earlier plan, or new ones. */
static void write_axis(const table *t, const line *l, size_t stride) {
    const tvlm_budget_axis *const there = find_axis(t->before, l);
    float *const entries = t->made->floats + t->made->used;
    if (there != NULL) {
        memcpy(entries, t->before->floats + there->offset, (size_t)l->size * stride * sizeof *entries);
        return;
    }
    const turn step = turn_by(1.0 / fmax(l->scale, 1.0));
    for (int32_t o = 0; o < l->size; ++o) write_entry(l, o, &step, t->exact, entries + (size_t)o * stride);
}

static tvlm_budget_axis add_axis(table *t, const line *l) {
    tvlm_budget_weights *const made = t->made;
    const tvlm_budget_axis *const known = find_axis(made, l);
    if (known != NULL) return *known;
    const tvlm_budget_axis axis = {(int32_t)made->used, taps_of(l)};
    const size_t stride = (size_t)axis.taps + TVLM_BUDGET_HEAD;
    made->axes[made->axis_count++] = (known_axis){*l, axis};
    if (!t->is_counted) write_axis(t, l, stride);
    made->used += (size_t)l->size * stride;
    t->most = t->most > stride ? t->most : stride;
    return axis;
}

/* Adds both axes of one side of a picture. *reduce leads from the `from` texels of the level to the picture's
 * `size` texels, and *enlarge from these to the `whole` pixels of the image. */
static void add_side(table *t, int32_t whole, int32_t from, int32_t size, double texel,
                     tvlm_budget_axis *reduce, tvlm_budget_axis *enlarge) {
    *reduce = add_axis(t, &(line){from, size, texel > 0.0 ? texel * from / whole : (double)from / size});
    *enlarge = add_axis(t, &(line){size, whole, texel > 0.0 ? 1.0 / texel : (double)size / whole});
}

/* Adds a picture and its memory to the plan. False where the passes would need too much memory between
 * them. */
static bool add_picture(const tvlm_texture *source, const tvlm_budget_size *size, table *t,
                        tvlm_budget_plan *plan, tvlm_budget_picture *p) {
    const int32_t from = made_from(source, size);
    const int32_t from_w = tvlm_level_side(source->width, from), to_w = source->width;
    const int32_t from_h = tvlm_level_side(source->height, from), to_h = source->height;
    const size_t between = tvlm_budget_between_floats(from_w, to_w, size->height);
    if (plan->count > 0 && plan->between_texels + between > TVLM_BUDGET_TEXELS_MAX) return false;
    *p = (tvlm_budget_picture){.width = size->width,
                               .height = size->height,
                               .from = from,
                               .between = (int32_t)plan->between_texels,
                               .texels = (int32_t)plan->picture_texels};
    add_side(t, to_w, from_w, size->width, size->texel, &p->reduce_x, &p->enlarge_x);
    add_side(t, to_h, from_h, size->height, size->texel, &p->reduce_y, &p->enlarge_y);
    plan->between_texels += between;
    plan->picture_texels += tvlm_budget_picture_floats(size->width, size->height);
    plan->levels = from >= plan->levels ? from + 1 : plan->levels;
    ++plan->count;
    return true;
}

/* Counts what the table takes, or fills it. */
static void add_pictures(const tvlm_texture *source, const tvlm_budget_size *sizes, int32_t count, table *t,
                         tvlm_budget_plan *plan, tvlm_budget_picture *pictures) {
    plan->count = 0;
    plan->between_texels = plan->picture_texels = 0;
    t->made->used = t->used;
    t->made->axis_count = t->axis_count;
    while (plan->count < count && add_picture(source, &sizes[plan->count], t, plan, &pictures[plan->count]))
        ;
    plan->table_floats = t->made->used;
}

/* Adds the weights of a plan to those that are made, as long as they take at most `most` floats then. There is room for
 * their axes. Where it fails they are as they were. */
static bool fill_table(const tvlm_texture *source, const tvlm_budget_size *sizes, int32_t count, table *t,
                       size_t most, tvlm_budget_plan *plan, tvlm_budget_picture *pictures) {
    float *floats = NULL;
    t->is_counted = true;
    add_pictures(source, sizes, count, t, plan, pictures);
    const size_t needed = t->made->used;
    t->exact = tvlm_allocate(t->most, sizeof *t->exact);
    if (needed <= most && t->exact != NULL) floats = realloc(t->made->floats, needed * sizeof *floats);
    t->is_counted = false;
    if (floats != NULL) {
        memset(floats + t->used, 0,
               (needed - t->used) * sizeof *floats); /* places have fewer weights than they may */
        t->made->floats = floats;
        add_pictures(source, sizes, count, t, plan, pictures);
    } else {
        t->made->used = t->used;
        t->made->axis_count = t->axis_count;
    }
    plan->table = t->made->floats;
    free(t->exact);
    return floats != NULL;
}

static tvlm_budget_plan plan_of(const tvlm_texture *source, int32_t image, int32_t patch,
                                const tvlm_budget_picture *pictures) {
    return (tvlm_budget_plan){.image = image,
                              .patch = patch,
                              .columns = (source->width + patch - 1) / patch,
                              .rows = (source->height + patch - 1) / patch,
                              .legible = tvlm_budget_legible(patch),
                              .pictures = pictures};
}

bool tvlm_budget_plan_make(const tvlm_texture *source, int32_t image, int32_t patch,
                           const tvlm_budget_size *sizes, int32_t count, const tvlm_budget_weights *before,
                           tvlm_budget_plan *plan) {
    tvlm_budget_picture *const pictures = tvlm_allocate((size_t)count, sizeof *pictures);
    tvlm_budget_weights *const weights = tvlm_allocate(1, sizeof *weights);
    table t = {.before = before, .made = weights};
    *plan = plan_of(source, image, patch, pictures);
    plan->weights = weights;
    if (weights != NULL) weights->axes = tvlm_allocate(4 * (size_t)count, sizeof *weights->axes);
    if (pictures != NULL && weights != NULL && weights->axes != NULL &&
        fill_table(source, sizes, count, &t, SIZE_MAX, plan, pictures)) {
        weights->first = weights->used;
        return true;
    }
    tvlm_budget_plan_free(plan);
    return false;
}

bool tvlm_budget_plan_go_on(const tvlm_texture *source, int32_t image, int32_t patch,
                            const tvlm_budget_size *sizes, int32_t count, tvlm_budget_weights *weights,
                            tvlm_budget_plan *plan) {
    tvlm_budget_picture *const pictures = tvlm_allocate((size_t)count, sizeof *pictures);
    const size_t axes = (size_t)weights->axis_count + 4 * (size_t)count;
    known_axis *const known = realloc(weights->axes, axes * sizeof *known);
    table t = {.made = weights, .used = weights->used, .axis_count = weights->axis_count};
    *plan = plan_of(source, image, patch, pictures);
    if (known != NULL) weights->axes = known;
    if (pictures != NULL && known != NULL &&
        fill_table(source, sizes, count, &t, 2 * weights->first, plan, pictures))
        return true;
    tvlm_budget_plan_free(plan);
    return false;
}

void tvlm_budget_plan_free(tvlm_budget_plan *plan) {
    free((void *)(uintptr_t)plan->pictures);
    tvlm_budget_weights_free(plan->weights);
    *plan = (tvlm_budget_plan){0};
}

void tvlm_budget_weights_free(void *weights) {
    tvlm_budget_weights *const w = weights;
    if (w == NULL) return;
    free(w->floats);
    free(w->axes);
    free(w);
}
