/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c: the weights of a resize, as Pillow's functions precompute_coeffs and normalize_coeffs_8bpc make
 * them. They are values of the cubic of Keys (1981) with a = -0.5, which is stretched by the scale if the
 * picture shrinks. They are normalised in double, and then rounded to whole numbers.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "export/inside.h"

/* The cubic is 0 from this distance on, in pixels of the result. */
#define SUPPORT 2.0

static double cubic(double x) {
    const double a = -0.5;
    x = fabs(x);
    if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
    if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * a;
    return 0.0;
}

/* Returns a weight in units of 2^-TVLM_RESIZE_BITS, rounded to nearest, with halves away from 0. */
static int32_t fixed(double weight) {
    return (int32_t)((weight < 0 ? -0.5 : 0.5) + weight * (1 << TVLM_RESIZE_BITS));
}

/* Writes the table's entry for one place of the result. `exact` is room for the place's weights in double. */
static void write_entry(int32_t source, double scale, int64_t output, double *exact, int32_t *entry) {
    const double stretch = fmax(scale, 1.0), support = SUPPORT * stretch;
    const double centre = ((double)output + 0.5) * scale;
    int64_t first = (int64_t)(centre - support + 0.5), end = (int64_t)(centre + support + 0.5);
    if (first < 0) first = 0;
    if (end > source) end = source;
    const int32_t count = (int32_t)(end - first);
    double sum = 0;
    for (int32_t i = 0; i < count; ++i) {
        exact[i] = cubic(((double)(i + first) - centre + 0.5) * (1.0 / stretch));
        sum += exact[i];
    }
    entry[0] = (int32_t)first;
    entry[1] = count;
    for (int32_t i = 0; i < count; ++i)
        entry[TVLM_RESIZE_HEAD + i] = fixed(sum != 0.0 ? exact[i] / sum : exact[i]);
}

/* Does the same for a place that may lie beyond the resized image. */
static void write_place(int32_t source, int64_t whole, int64_t place, bool black, double *exact,
                        int32_t *entry) {
    const int64_t nearest = place < 0 ? 0 : place < whole ? place : whole - 1;
    write_entry(source, (double)source / (double)whole, nearest, exact, entry);
    if (!black || nearest == place) return;
    memset(entry + TVLM_RESIZE_HEAD, 0, (size_t)entry[1] * sizeof *entry);
    entry[1] = 0;
}

int32_t *tvlm_resize_weights(int32_t source, int64_t whole, int64_t first, int32_t size, bool black,
                             int32_t *taps) {
    *taps = (int32_t)ceil(SUPPORT * fmax((double)source / (double)whole, 1.0)) * 2 + 1;
    const size_t stride = (size_t)*taps + TVLM_RESIZE_HEAD;
    double *exact = tvlm_allocate((size_t)*taps, sizeof *exact);
    int32_t *table = tvlm_allocate((size_t)size * stride, sizeof *table);
    if (exact == NULL || table == NULL) {
        free(exact);
        free(table);
        return NULL;
    }
    for (int32_t o = 0; o < size; ++o)
        write_place(source, whole, first + o, black, exact, table + (size_t)o * stride);
    free(exact);
    return table;
}

static size_t axis_ints(const tvlm_resize_axis *axis) {
    return (size_t)axis->size * ((size_t)axis->taps + TVLM_RESIZE_HEAD);
}

/* Finds which rows of the source are read. */
static void find_rows(const int32_t *y, tvlm_resize *plan) {
    const size_t stride = (size_t)plan->y.taps + TVLM_RESIZE_HEAD;
    int32_t first = INT32_MAX, end = 0;
    for (int32_t o = 0; o < plan->y.size; ++o) {
        const int32_t *const entry = y + (size_t)o * stride;
        if (entry[0] < first) first = entry[0];
        if (entry[0] + entry[1] > end) end = entry[0] + entry[1];
    }
    plan->first_row = first;
    plan->rows = end - first;
}

static bool is_same_place(const export_place *a, const export_place *b) {
    return a->width == b->width && a->height == b->height && a->left == b->left && a->top == b->top &&
           a->black == b->black;
}

static tvlm_status upload(tvlm_export *export, const int32_t *x, const int32_t *y) {
    const tvlm_backend *backend = export->device->backend;
    const size_t x_bytes = axis_ints(&export->plan.x) * sizeof *x;
    const size_t y_bytes = axis_ints(&export->plan.y) * sizeof *y;
    TVLM_TRY(tvlm_export_reserve(export->device, x_bytes + y_bytes, &export->table));
    TVLM_TRY(backend->buffer_write(export->device, export->table, 0, x_bytes, x));
    return backend->buffer_write(export->device, export->table, x_bytes, y_bytes, y);
}

tvlm_status tvlm_export_plan(tvlm_export *export, int32_t width, int32_t height,
                             const export_picture *picture) {
    const export_place *const at = &picture->place;
    tvlm_resize plan = {.x.size = picture->info.width, .y.size = picture->info.height};
    /* Pillow 13.0.0 resizes columns first if the height shrinks, and by more than twice as many pixels as the
     * width. This rule was found from its results. */
    plan.columns_first =
        export->pillow >= 13 && at->height < height && 2 * (width - at->width) < height - at->height;
    if (export->source_width == width && export->source_height == height &&
        export->plan.x.size == plan.x.size && export->plan.y.size == plan.y.size &&
        is_same_place(&export->place, at))
        return TVLM_OK;
    /* The old plan is not valid any more, and the new one is not made yet. */
    export->source_width = export->source_height = 0;
    int32_t *x = tvlm_resize_weights(width, at->width, at->left, plan.x.size, at->black, &plan.x.taps);
    int32_t *y = tvlm_resize_weights(height, at->height, at->top, plan.y.size, at->black, &plan.y.taps);
    tvlm_status status = TVLM_ERROR_MEMORY;
    if (x != NULL && y != NULL) {
        plan.y.offset = (int32_t)axis_ints(&plan.x);
        find_rows(y, &plan);
        export->plan = plan;
        status = upload(export, x, y);
    } else {
        status = tvlm_fail(&export->device->log, status, "no memory for the weights of a resize");
    }
    free(x);
    free(y);
    if (status != TVLM_OK) return status;
    export->source_width = width;
    export->source_height = height;
    export->place = *at;
    return TVLM_OK;
}
