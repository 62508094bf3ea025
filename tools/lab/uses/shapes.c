/* SPDX-License-Identifier: Apache-2.0 */
#include "shapes.h"

#include <math.h>

#define FLAG 128 /* the bit of a pixel that is its flag while a polygon is drawn; values are less */

/* Returns the first pixel whose centre is at or after x, clamped to 0 .. side. NaN gives 0. */
static int32_t pixel_from(double x, int32_t side) {
    const double first = ceil(x - 0.5);
    return !(first > 0.0) ? 0 : first >= side ? side : (int32_t)first;
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

/* Returns x of the edge from a to b at height y. If differences overflow, all numbers are halved first. */
static double crossing(const double a[2], const double b[2], double y) {
    const double x = a[0] + (y - a[1]) * (b[0] - a[0]) / (b[1] - a[1]);
    if (isfinite(x)) return x;
    const double share = (0.5 * y - 0.5 * a[1]) / (0.5 * b[1] - 0.5 * a[1]); /* in 0..1 */
    return (1.0 - share) * a[0] + share * b[0];
}

/* The rectangle of pixels that the outlines touch. */
typedef struct reach {
    int32_t left, right, top, bottom; /* `right` and `bottom` are one after the last */
} reach;

/* In each row that the edge crosses, inverts the flag of the first pixel to the right of the edge. */
static void flag_edge(const shape_mask *mask, const double a[2], const double b[2], reach *touched) {
    const bool down = a[1] <= b[1];
    const int32_t first = pixel_from(down ? a[1] : b[1], mask->height);
    const int32_t end = pixel_from(down ? b[1] : a[1], mask->height);
    for (int32_t row = first; row < end; ++row) {
        const int32_t x = pixel_from(crossing(a, b, row + 0.5), mask->width);
        if (x < mask->width) mask->pixels[(size_t)row * (size_t)mask->width + (size_t)x] ^= FLAG;
        if (x < touched->left) touched->left = x;
        if (x >= touched->right) touched->right = x < mask->width ? x + 1 : mask->width;
    }
    if (first < end && first < touched->top) touched->top = first;
    if (first < end && end > touched->bottom) touched->bottom = end;
}

/*
 * The edge flag algorithm (Ackland and Weste, IEEE Trans. Computers C-30, 1981): a pixel is inside if the
 * number of set flags up to it in its row is odd. The time is proportional to the sum of the heights of all
 * edges, plus one walk over the pixels. Nothing is sorted. Nothing is allocated, since a flag is a bit of the
 * mask.
 */
void shape_polygon(const shape_mask *mask, const double *xy, int32_t points) {
    reach touched = {.left = mask->width, .top = mask->height};
    for (int32_t i = 0; i < points; ++i) flag_edge(mask, xy + 2 * i, xy + 2 * ((i + 1) % points), &touched);
    for (int32_t row = touched.top; row < touched.bottom; ++row) {
        uint8_t *const pixels = mask->pixels + (size_t)row * (size_t)mask->width;
        bool inside = false;
        for (int32_t x = touched.left; x < touched.right; ++x) {
            inside ^= (pixels[x] & FLAG) != 0;
            pixels[x] = inside ? mask->value : (uint8_t)(pixels[x] & ~FLAG);
        }
    }
}

/* How far the runs have come in the mask. */
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

/* Reads one number. It comes in groups of five bits, the lowest group first. Bit 5 of a group says that
 * another group follows. The last group has the sign. */
static bool unpack_number(const char **text, int64_t *number) {
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
    int64_t last[2] = {0, 0}; /* the run before the last, and the last run */
    for (int32_t i = 0; *text != '\0'; ++i) {
        int64_t length;
        if (!unpack_number(&text, &length)) return false;
        if (i > 2) length += last[0];
        if (!add_run(mask, &state, length)) return false;
        last[0] = last[1];
        last[1] = length;
    }
    return state.at == state.all;
}
