/* SPDX-License-Identifier: Apache-2.0 */
#include "shapes.h"

#include <math.h>
#include <stdlib.h>

/* The first pixel whose centre is at or after x, and none beyond the side. */
static int32_t pixel_from(double x, int32_t side) {
    const double first = ceil(x - 0.5);
    return first <= 0.0 ? 0 : first >= side ? side : (int32_t)first;
}

static void fill_row(const shape_mask *mask, int32_t y, double from, double to) {
    const int32_t end = pixel_from(to, mask->width);
    for (int32_t x = pixel_from(from, mask->width); x < end; ++x)
        mask->pixels[(size_t)y * (size_t)mask->width + (size_t)x] = mask->value;
}

void shape_box(const shape_mask *mask, double x, double y, double width, double height) {
    const int32_t end = pixel_from(y + height, mask->height);
    for (int32_t row = pixel_from(y, mask->height); row < end; ++row) fill_row(mask, row, x, x + width);
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool shape_polygon(const shape_mask *mask, const double *xy, int32_t points) {
    double *const crossings = malloc(sizeof *crossings * (size_t)(points > 0 ? points : 1));
    if (crossings == NULL) return false;
    for (int32_t row = 0; row < mask->height; ++row) {
        const double y = row + 0.5;
        size_t count = 0;
        for (int32_t i = 0; i < points; ++i) {
            const double *const a = xy + 2 * i, *const b = xy + 2 * ((i + 1) % points);
            if ((a[1] <= y) != (b[1] <= y))
                crossings[count++] = a[0] + (y - a[1]) * (b[0] - a[0]) / (b[1] - a[1]);
        }
        qsort(crossings, count, sizeof *crossings, ascending);
        for (size_t i = 0; i + 1 < count; i += 2) fill_row(mask, row, crossings[i], crossings[i + 1]);
    }
    free(crossings);
    return true;
}

/* Where runs have come to. */
typedef struct run_state {
    int64_t at, all;
    bool inside;
} run_state;

static bool add_run(const shape_mask *mask, run_state *state, int64_t length) {
    if (length < 0 || length > state->all - state->at) return false;
    for (int64_t end = state->at + length; state->at < end; ++state->at)
        if (state->inside)
            mask->pixels[state->at % mask->height * mask->width + state->at / mask->height] = mask->value;
    state->inside = !state->inside;
    return true;
}

bool shape_runs(const shape_mask *mask, const double *runs, int32_t count) {
    run_state state = {.all = (int64_t)mask->width * mask->height};
    for (int32_t i = 0; i < count; ++i)
        if (!(runs[i] >= 0.0 && runs[i] <= (double)state.all) || runs[i] != floor(runs[i]) ||
            !add_run(mask, &state, (int64_t)runs[i]))
            return false;
    return state.at == state.all;
}

/* One number: little groups of five bits first, bit 5 says that there are more, the last one has the sign. */
static bool unpack(const char **text, int64_t *number) {
    int64_t value = 0;
    for (int shift = 0; shift < 40; shift += 5) {
        const int bits = **text - 48;
        if (bits < 0 || bits > 63) return false;
        ++*text;
        value |= (int64_t)(bits & 31) << shift;
        if ((bits & 32) != 0) continue;
        *number = (bits & 16) != 0 ? value - ((int64_t)1 << (shift + 5)) : value;
        return true;
    }
    return false;
}

bool shape_packed_runs(const shape_mask *mask, const char *text) {
    run_state state = {.all = (int64_t)mask->width * mask->height};
    int64_t last[2] = {0, 0}; /* the last but one, the last */
    for (int32_t i = 0; *text != '\0'; ++i) {
        int64_t length;
        if (!unpack(&text, &length)) return false;
        if (i > 2) length += last[0];
        if (!add_run(mask, &state, length)) return false;
        last[0] = last[1];
        last[1] = length;
    }
    return state.at == state.all;
}
