/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_scales.c: the scales of tiles (select_budget.h). It is a file of its own, since tests include it
 * without the rest of the tool.
 */
#include <math.h>
#include <stdio.h>

#include "select_budget.h"

const budget_scale budget_scales[BUDGET_SCALES] = {{1, 1, "level 0", false},
                                                   {3, 4, "three quarters", true},
                                                   {1, 2, "level 1", false},
                                                   {1, 3, "a third", true},
                                                   {1, 4, "level 2", false}};

int budget_scale_of(const tvlm_position *tile) {
    int nearest = 0;
    for (int i = 1; i < BUDGET_SCALES; ++i) {
        const double level = log2((double)budget_scales[i].pixels / budget_scales[i].texels);
        const double other = log2((double)budget_scales[nearest].pixels / budget_scales[nearest].texels);
        if (fabs((double)tile->level - level) < fabs((double)tile->level - other)) nearest = i;
    }
    return nearest;
}

int budget_title(int32_t columns, int32_t rows, int32_t cells, int32_t count, char *text, size_t size) {
    const int32_t empty = columns * rows - cells;
    if (empty == 0)
        return snprintf(text, size, "%d x %d thumbnail, %d tiles", (int)columns, (int)rows,
                        (int)(count - cells));
    return snprintf(text, size, "%d x %d thumbnail, %d empty, %d tiles", (int)columns, (int)rows, (int)empty,
                    (int)(count - cells));
}
