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

/* Whether a pixel is on a ridge: above the threshold, and a maximum along the axis on which `edges` falls off
 * faster. */
static bool is_edge(const tvlm_texture *visual, int32_t slice, int32_t x, int32_t y) {
    const float here = edges_at(visual, slice, x, y);
    const float left = edges_at(visual, slice, x - 1, y), right = edges_at(visual, slice, x + 1, y);
    const float up = edges_at(visual, slice, x, y - 1), down = edges_at(visual, slice, x, y + 1);
    if (here <= TVLM_DISTANCE_EDGE) return false;
    if (left + right <= up + down) return here >= left && here > right;
    return here >= up && here > down;
}

/*
 * The least squared distance of pixel x of a row from an edge pixel, by its definition except for what makes
 * it affordable: of each column, only the edge pixel nearest to the row is looked at. columns[i] is the
 * distance of that one, or INT32_MAX where none is near.
 */
static int64_t nearest(const int32_t *columns, int32_t width, int32_t x, int32_t reach) {
    int64_t best = INT64_MAX;
    const int32_t first = x - reach > 0 ? x - reach : 0, last = x + reach < width - 1 ? x + reach : width - 1;
    for (int32_t i = first; i <= last; ++i) {
        if (columns[i] == INT32_MAX) continue;
        const int64_t square = (int64_t)(x - i) * (x - i) + (int64_t)columns[i] * columns[i];
        if (square < best) best = square;
    }
    return best;
}

/* The distance of row y from the nearest edge pixel of column x; INT32_MAX: none is within `reach`. */
static int32_t distance_in_column(const bool *mask, int32_t width, int32_t height, int32_t x, int32_t y,
                                  int32_t reach) {
    for (int32_t d = 0; d <= reach; ++d) {
        if (y - d >= 0 && mask[(size_t)(y - d) * (size_t)width + (size_t)x]) return d;
        if (y + d < height && mask[(size_t)(y + d) * (size_t)width + (size_t)x]) return d;
    }
    return INT32_MAX;
}

void tvlm_reference_distance_of_mask(const bool *mask, int32_t *columns, int32_t image, tvlm_texture *out) {
    const int32_t width = out->width, height = out->height, longer = width > height ? width : height;
    const double range = longer / (double)TVLM_DISTANCE_SHARE;
    const int32_t reach = (int32_t)ceil(range);
    for (int32_t y = 0; y < height; ++y) {
        for (int32_t x = 0; x < width; ++x) columns[x] = distance_in_column(mask, width, height, x, y, reach);
        for (int32_t x = 0; x < width; ++x) {
            const int64_t square = nearest(columns, width, x, reach);
            const double value[4] = {square == INT64_MAX ? 1 : fmin(1, sqrt((double)square) / range), 0, 0,
                                     0};
            tvlm_reference_store(out, 0, reference_slice(out, image, 0), x, y, value);
        }
    }
}

tvlm_status tvlm_reference_distance(tvlm_device *device, const tvlm_generate_args *args) {
    const tvlm_texture *visual = args->grids[TVLM_GRID_VISUAL];
    tvlm_texture *out = args->out;
    bool *mask = tvlm_allocate((size_t)out->width * (size_t)out->height, sizeof *mask);
    int32_t *columns = tvlm_allocate((size_t)out->width, sizeof *columns);
    const bool made = mask != NULL && columns != NULL;
    for (int32_t image = 0; made && image < out->images; ++image) {
        for (int32_t y = 0; y < out->height; ++y)
            for (int32_t x = 0; x < out->width; ++x)
                mask[(size_t)y * (size_t)out->width + (size_t)x] =
                    is_edge(visual, reference_slice(visual, image, 0), x, y);
        tvlm_reference_distance_of_mask(mask, columns, image, out);
    }
    free(mask);
    free(columns);
    return made ? TVLM_OK
                : tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "reference: no memory for the distance");
}
