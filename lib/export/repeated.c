/* SPDX-License-Identifier: Apache-2.0 */
#include "export/repeated.h"

#include <string.h>

#include "core/memory.h"

/* One more than a number, as long as there is room. */
static uint16_t after(uint16_t number) {
    return number == UINT16_MAX ? UINT16_MAX : (uint16_t)(number + 1);
}

/* Whether two pixels are the same to the bit. */
static bool same(const void *a, const void *b) {
    return memcmp(a, b, 4 * sizeof(float)) == 0;
}

bool tvlm_repeated_make(const float *rgba, int32_t width, int32_t height, tvlm_repeated *repeated) {
    const size_t wide = (size_t)width, pixels = wide * (size_t)height;
    uint16_t *const left = tvlm_allocate(pixels, sizeof *left), *const above =
                                                                    tvlm_allocate(pixels, sizeof *above);
    *repeated = (tvlm_repeated){width, height, left, above};
    if (left == NULL || above == NULL) return false;
    for (size_t i = 0; i < pixels; ++i) {
        const float *const pixel = rgba + 4 * i;
        const bool beside = i % wide != 0 && same(pixel, pixel - 4);
        const bool under = i >= wide && same(pixel, pixel - 4 * wide);
        left[i] = beside ? after(left[i - 1]) : 0;
        above[i] = under ? after(above[i - wide]) : 0;
    }
    return true;
}

/* The pixels that token i of `count` along a side touches: the first, and the one after the last. */
static int32_t first_of(int32_t i, int32_t count, int32_t side) {
    return (int32_t)((int64_t)i * side / count);
}

static int32_t end_of(int32_t i, int32_t count, int32_t side) {
    return (int32_t)(((int64_t)(i + 1) * side + count - 1) / count);
}

/* Whether `count` pixels, each `step` after the one before, all have a run of at least `run`. */
static bool all_run(const uint16_t *runs, int32_t count, int32_t step, int32_t run) {
    for (int32_t i = 0; i < count; ++i)
        if (runs[(size_t)i * (size_t)step] < run) return false;
    return true;
}

void tvlm_repeated_find(const tvlm_repeated *repeated, int32_t columns, int32_t rows, uint8_t *repeats) {
    const int32_t wide = repeated->width, high = repeated->height;
    memset(repeats, 0, (size_t)columns * (size_t)rows);
    if (columns > wide / TVLM_REPEATED_PIXELS || rows > high / TVLM_REPEATED_PIXELS) return;
    for (int32_t row = 0; row < rows; ++row) {
        const int32_t top = first_of(row, rows, high), bottom = end_of(row, rows, high);
        for (int32_t column = 0; column < columns; ++column) {
            const int32_t left = first_of(column, columns, wide), right = end_of(column, columns, wide);
            uint8_t *const token = &repeats[(size_t)row * (size_t)columns + (size_t)column];
            if (column > 0 && all_run(repeated->left + (size_t)top * (size_t)wide + right - 1, bottom - top,
                                      wide, right - 1 - first_of(column - 1, columns, wide)))
                *token |= TVLM_REPEATS_LEFT;
            if (row > 0 && all_run(repeated->above + (size_t)(bottom - 1) * (size_t)wide + left, right - left,
                                   1, bottom - 1 - first_of(row - 1, rows, high)))
                *token |= TVLM_REPEATS_ABOVE;
        }
    }
}
