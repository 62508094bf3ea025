/* SPDX-License-Identifier: Apache-2.0 */
#include "select/spacing.h"

#include <math.h>

#include "core/memory.h"

bool tvlm_spacing_make(tvlm_spacing *spacing, float distance, float side, int32_t width, int32_t height,
                       int32_t capacity) {
    *spacing = (tvlm_spacing){.distance = (double)distance, .side = (double)side, .capacity = capacity};
    spacing->columns = (int32_t)((double)width / spacing->side) + 1;
    spacing->rows = (int32_t)((double)height / spacing->side) + 1;
    const size_t buckets = (size_t)spacing->columns * (size_t)spacing->rows;
    spacing->head = tvlm_allocate(buckets, sizeof *spacing->head);
    spacing->next = tvlm_allocate((size_t)capacity, sizeof *spacing->next);
    spacing->x = tvlm_allocate((size_t)capacity, sizeof *spacing->x);
    spacing->y = tvlm_allocate((size_t)capacity, sizeof *spacing->y);
    if (spacing->head == NULL || spacing->next == NULL || spacing->x == NULL || spacing->y == NULL) {
        tvlm_spacing_free(spacing);
        return false;
    }
    for (size_t i = 0; i < buckets; ++i) spacing->head[i] = -1;
    return true;
}

void tvlm_spacing_free(tvlm_spacing *spacing) {
    free(spacing->head);
    free(spacing->next);
    free(spacing->x);
    free(spacing->y);
    *spacing = (tvlm_spacing){0};
}

static bool bucket_has_near(const tvlm_spacing *spacing, int32_t column, int32_t row, double x, double y) {
    if (column < 0 || row < 0 || column >= spacing->columns || row >= spacing->rows) return false;
    for (int32_t i = spacing->head[(size_t)row * (size_t)spacing->columns + (size_t)column]; i >= 0;
         i = spacing->next[i])
        if (hypot(spacing->x[i] - x, spacing->y[i] - y) < spacing->distance) return true;
    return false;
}

bool tvlm_spacing_add(tvlm_spacing *spacing, double x, double y) {
    const int32_t column = (int32_t)(x / spacing->side), row = (int32_t)(y / spacing->side);
    for (int32_t r = row - 1; r <= row + 1; ++r)
        for (int32_t c = column - 1; c <= column + 1; ++c)
            if (bucket_has_near(spacing, c, r, x, y)) return false;
    int32_t *head = &spacing->head[(size_t)row * (size_t)spacing->columns + (size_t)column];
    spacing->x[spacing->count] = x;
    spacing->y[spacing->count] = y;
    spacing->next[spacing->count] = *head;
    *head = spacing->count++;
    return true;
}
