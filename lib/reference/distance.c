/* SPDX-License-Identifier: Apache-2.0 */
/*
 * distance.c: the distance of each pixel from the nearest edge pixel (a ridge of the channel `edges`).
 */
#include <math.h>

#include "core/memory.h"
#include "reference/distance.h"
#include "reference/reference.h"
#include "reference/texture.h"

static float edges_at(const tvlm_texture *visual, int32_t slice, int32_t x, int32_t y) {
    return tvlm_reference_fetch(visual, 0, slice, x, y)[0];
}

/* Whether a pixel is on a ridge: it is above the threshold, and a maximum along that axis on which `edges`
 * falls off faster. */
static bool is_edge(const tvlm_texture *visual, int32_t slice, int32_t x, int32_t y) {
    const float here = edges_at(visual, slice, x, y);
    const float left = edges_at(visual, slice, x - 1, y), right = edges_at(visual, slice, x + 1, y);
    const float up = edges_at(visual, slice, x, y - 1), down = edges_at(visual, slice, x, y + 1);
    if (here <= TVLM_DISTANCE_EDGE) return false;
    if (left + right <= up + down) return here >= left && here > right;
    return here >= up && here > down;
}

/* ---- Along columns ---- */

#define NONE INT32_MAX /* a column without an edge pixel */

/* From the distance of one pixel, the distance of the next pixel in its column to the same edge pixel. */
static int32_t one_further(int32_t distance) {
    return distance == NONE ? NONE : distance + 1;
}

/* Finds the distance of each pixel from the nearest edge pixel of its column, in a pass from below and one
 * from above. */
static void along_columns(const bool *mask, int32_t width, int32_t height, int32_t *columns) {
    const size_t row = (size_t)width, count = row * (size_t)height;
    for (size_t i = count; i-- > 0;)
        columns[i] = mask[i] ? 0 : i + row < count ? one_further(columns[i + row]) : NONE;
    for (size_t i = row; i < count; ++i) {
        const int32_t above = one_further(columns[i - row]);
        if (above < columns[i]) columns[i] = above;
    }
}

/* ---- Along rows ---- */

/*
 * The squared distance of pixel x of a row from the edge pixel of column i is (x - i)^2 + columns[i]^2, which
 * is a parabola in x. The lower envelope of the parabolas of all columns is the least distance (Meijster,
 * Roerdink & Hesselink 2000). It is a list of parts with rising columns. The column of a part is the nearest
 * one from pixel `from` on. All numbers are whole, and exact.
 */
typedef struct part {
    int32_t column;
    int64_t from;
} part;

static int64_t square_at(const int32_t *columns, int32_t i, int64_t x) {
    return (x - i) * (x - i) + (int64_t)columns[i] * columns[i];
}

/* The first pixel at which the column `right` is nearer than the column `left`. At pixel 0, `left` must be at
 * least as near. */
static int64_t first_nearer(const int32_t *columns, int32_t left, int32_t right) {
    return (square_at(columns, right, 0) - square_at(columns, left, 0)) / (2 * ((int64_t)right - left)) + 1;
}

/* Finds the parts of the envelope, from left to right, and returns how many there are: at most `width`. */
static int32_t find_envelope(const int32_t *columns, int32_t width, part *parts) {
    int32_t count = 0;
    for (int32_t i = 0; i < width; ++i) {
        if (columns[i] == NONE) continue;
        while (count > 0 && square_at(columns, i, parts[count - 1].from) <
                                square_at(columns, parts[count - 1].column, parts[count - 1].from))
            --count;
        const int64_t from = count > 0 ? first_nearer(columns, parts[count - 1].column, i) : 0;
        if (from < width) parts[count++] = (part){i, from};
    }
    return count;
}

/* ---- The distance ---- */

bool tvlm_reference_distance_of_mask(const bool *mask, int32_t image, tvlm_texture *out) {
    const int32_t width = out->width, height = out->height, longer = width > height ? width : height;
    const double range = longer / (double)TVLM_DISTANCE_SHARE;
    int32_t *const columns = tvlm_allocate((size_t)width * (size_t)height, sizeof *columns);
    part *const parts = tvlm_allocate((size_t)width, sizeof *parts);
    const bool made = columns != NULL && parts != NULL;
    if (made) along_columns(mask, width, height, columns);
    for (int32_t y = 0; made && y < height; ++y) {
        const int32_t *const row = columns + (size_t)y * (size_t)width;
        const int32_t count = find_envelope(row, width, parts);
        for (int32_t x = 0, at = 0; x < width; ++x) {
            while (at + 1 < count && parts[at + 1].from <= x) ++at;
            const double away = count > 0 ? sqrt((double)square_at(row, parts[at].column, x)) : INFINITY;
            const double value[4] = {fmin(1, away / range), 0, 0, 0};
            tvlm_reference_store(out, 0, reference_slice(out, image, 0), x, y, value);
        }
    }
    free(columns);
    free(parts);
    return made;
}

tvlm_status tvlm_reference_distance(tvlm_device *device, const tvlm_generate_args *args) {
    const tvlm_texture *visual = args->grids[TVLM_GRID_VISUAL];
    tvlm_texture *out = args->out;
    bool *mask = tvlm_allocate((size_t)out->width * (size_t)out->height, sizeof *mask);
    bool made = mask != NULL;
    for (int32_t image = 0; made && image < out->images; ++image) {
        for (int32_t y = 0; y < out->height; ++y)
            for (int32_t x = 0; x < out->width; ++x)
                mask[(size_t)y * (size_t)out->width + (size_t)x] =
                    is_edge(visual, reference_slice(visual, image, 0), x, y);
        made = tvlm_reference_distance_of_mask(mask, image, out);
    }
    free(mask);
    return made ? TVLM_OK
                : tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "reference: no memory for the distance");
}
