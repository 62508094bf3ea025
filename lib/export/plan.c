/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.c: the weights of a resize, as Pillow's functions precompute_coeffs and normalize_coeffs_8bpc make
 * them: the cubic of Keys (1981) with a = -0.5, stretched by the scale where the picture shrinks, normalised
 * in double, and then rounded to whole numbers.
 */
#include <math.h>

#include "core/memory.h"
#include "core/try.h"
#include "export/inside.h"

/* The cubic is 0 from here on, in pixels of the result. */
#define SUPPORT 2.0

static double cubic(double x) {
    const double a = -0.5;
    x = fabs(x);
    if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1;
    if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * a;
    return 0.0;
}

/* A weight in units of 2^-BITS, rounded to nearest, halves away from 0. */
static int32_t fixed(double weight) {
    return (int32_t)((weight < 0 ? -0.5 : 0.5) + weight * (1 << TVLM_RESIZE_BITS));
}

/* Writes the entry of the table for one place. `exact` has room for its weights in double. */
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

int32_t *tvlm_resize_weights(int32_t source, int64_t whole, int64_t first, int32_t size, int32_t *taps) {
    const double scale = (double)source / (double)whole;
    *taps = (int32_t)ceil(SUPPORT * fmax(scale, 1.0)) * 2 + 1;
    const size_t stride = (size_t)*taps + TVLM_RESIZE_HEAD;
    double *exact = tvlm_allocate((size_t)*taps, sizeof *exact);
    int32_t *table = tvlm_allocate((size_t)size * stride, sizeof *table);
    if (exact == NULL || table == NULL) {
        free(exact);
        free(table);
        return NULL;
    }
    for (int32_t o = 0; o < size; ++o)
        write_entry(source, scale, first + o, exact, table + (size_t)o * stride);
    free(exact);
    return table;
}

/* Where the processed picture lies in the resized one: the middle of it, or all of it. */
typedef struct frame {
    int64_t width, height, left, top;
} frame;

static frame frame_of(const tvlm_export *export, int32_t width, int32_t height,
                      const tvlm_export_picture *info) {
    const int64_t side = export->processor.side;
    if (!export->processor.centre) return (frame){info->width, info->height, 0, 0};
    const int32_t shorter = width < height ? width : height, longer = width < height ? height : width;
    /* As int(size * long / short) in Python, which divides in double. */
    const int64_t grown = (int64_t)((double)(side * longer) / (double)shorter);
    const frame f = {width <= height ? side : grown, width <= height ? grown : side, 0, 0};
    return (frame){f.width, f.height, (f.width - side) / 2, (f.height - side) / 2};
}

static size_t axis_ints(const tvlm_resize_axis *axis) {
    return (size_t)axis->size * ((size_t)axis->taps + TVLM_RESIZE_HEAD);
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
                             const tvlm_export_picture *info) {
    const frame f = frame_of(export, width, height, info);
    tvlm_resize plan = {.x.size = info->width, .y.size = info->height};
    if (export->source_width == width && export->source_height == height) return TVLM_OK;
    /* There is no plan until the new one is made. */
    export->source_width = export->source_height = 0;
    int32_t *x = tvlm_resize_weights(width, f.width, f.left, plan.x.size, &plan.x.taps);
    int32_t *y = tvlm_resize_weights(height, f.height, f.top, plan.y.size, &plan.y.taps);
    tvlm_status status = TVLM_ERROR_MEMORY;
    if (x != NULL && y != NULL) {
        const int32_t *last = y + axis_ints(&plan.y) - (size_t)(plan.y.taps + TVLM_RESIZE_HEAD);
        plan.y.offset = (int32_t)axis_ints(&plan.x);
        plan.first_row = y[0];
        plan.rows = last[0] + last[1] - y[0];
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
    return TVLM_OK;
}
