/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.c: how an image is divided into cells, and how the tables of its regions lie in memory.
 */
#include "core/cluster.h"

#include <math.h>

/* How good a division into cells is: the number of cells, times the root of how square they are. The function
 * returns the square of that, so that no root is needed. */
static double merit(int32_t columns, int32_t rows, int32_t width, int32_t height) {
    const double tall = (double)width * rows, wide = (double)height * columns;
    const double aspect = tall < wide ? tall / wide : wide / tall, count = (double)columns * rows;
    return count * count * aspect;
}

tvlm_cluster_plan tvlm_cluster_plan_for(int32_t width, int32_t height, int32_t levels,
                                        const tvlm_family_settings *settings) {
    tvlm_cluster_plan plan = {1, 1, 0, 0.0f};
    for (int32_t rows = 1; rows <= settings->regions && rows <= height; ++rows) {
        const int32_t fit = settings->regions / rows, columns = fit < width ? fit : width;
        if (merit(columns, rows, width, height) <= merit(plan.columns, plan.rows, width, height)) continue;
        plan.columns = columns;
        plan.rows = rows;
    }
    const double area = (double)width * height / ((double)plan.columns * plan.rows);
    const double colour = (double)settings->compactness * (double)TVLM_LAB_STEPS;
    plan.weight = (float)(colour * colour / area);
    plan.coarse = levels > 1 && area >= TVLM_CLUSTER_COARSE_SIDE * TVLM_CLUSTER_COARSE_SIDE &&
                  plan.columns <= tvlm_level_side(width, 1) && plan.rows <= tvlm_level_side(height, 1);
    return plan;
}

/* Turns a mean into the sum over TVLM_REGION_CENTRE_PIXELS pixels, rounded to nearest and at least 0. */
static int64_t whole(double value) {
    const double sum = floor(value * TVLM_REGION_CENTRE_PIXELS + 0.5);
    return sum > 0.0 ? (int64_t)sum : 0;
}

void tvlm_region_centre_sums(const tvlm_region_centre *centre, float scale_x, float scale_y,
                             int64_t sums[5]) {
    const double steps = (double)TVLM_LAB_STEPS;
    sums[0] = whole((double)centre->x / (double)scale_x - 0.5);
    sums[1] = whole((double)centre->y / (double)scale_y - 0.5);
    sums[2] = whole((double)centre->l * steps);
    sums[3] = whole((double)centre->a * steps + TVLM_LAB_ZERO);
    sums[4] = whole((double)centre->b * steps + TVLM_LAB_ZERO);
}

tvlm_region_layout tvlm_region_layout_for(const tvlm_cluster_plan *plan, const int32_t *label_counts,
                                          int32_t images) {
    tvlm_region_layout layout = {.capacity = plan->columns * plan->rows};
    for (int32_t i = 0; label_counts != NULL && i < images; ++i)
        if (label_counts[i] > layout.capacity) layout.capacity = label_counts[i];
    layout.row = (layout.capacity + 31) / 32;
    layout.neighbours = TVLM_REGION_HEADER + layout.capacity * TVLM_REGION_WORDS;
    layout.words = (layout.neighbours + layout.capacity * layout.row + 3) / 4 * 4;
    return layout;
}
