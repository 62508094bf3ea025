/* SPDX-License-Identifier: Apache-2.0 */
#include "budget_scales.h"

#include <math.h>

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
