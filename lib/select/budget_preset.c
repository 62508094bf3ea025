/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_preset.c: the table of presets, and which one an image gets.
 */
#include "core/check.h"
#include "select/budget.h"

/* On photos structures from 0.2 to 0.8 differ little, and so they do on pages of text; of these more words are
 * read where tiles of level 0 wait until all text has one of level 1. A screen has areas and lines of several
 * colours beside its text: there a small structure shows more of the image and as much of the words
 * (bench/README.md, budget.py). */
static const tvlm_budget_kind kinds[] = {
    [TVLM_BUDGET_AUTO] = {"auto", 0.0, 0.0, 0},
    [TVLM_BUDGET_GENERAL] = {"general", 0.5, 1.0, 3},
    [TVLM_BUDGET_DOCUMENT] = {"document", 0.5, 0.5, 3},
    [TVLM_BUDGET_SCREEN] = {"screen", 0.2, 0.5, 3},
};

const tvlm_budget_kind *tvlm_budget_kind_of(tvlm_budget_preset preset) {
    const int number = (int)preset;
    return number >= 0 && number < (int)(sizeof kinds / sizeof *kinds) ? &kinds[number] : NULL;
}

/* A tile is flat where level 2 loses less than FLAT of a pixel, and rough where level 1 loses more than ROUGH:
 * a document has at least that share of flat tiles, and of the others at least that share of rough ones. */
#define FLAT        1e-5
#define ROUGH       2e-3
#define FLAT_SHARE  0.3
#define ROUGH_SHARE 0.3
/* It is a screen where a thumbnail of one patch loses more than that of a flat tile, of what it loses of the
 * others: flat areas then end beside other areas, and not in paper. */
#define AREAS 0.028

tvlm_budget_preset tvlm_budget_preset_for(const tvlm_budget *budget) {
    const double pixels = (double)budget->patch * budget->patch;
    const float *const one = tvlm_budget_values(budget, TVLM_BUDGET_ONE);
    const float *const two = tvlm_budget_values(budget, TVLM_BUDGET_TWO);
    const float *const least = tvlm_budget_values(budget, TVLM_BUDGET_LEAST);
    double flat = 0.0, rough = 0.0, lost_of_flat = 0.0, lost_of_others = 0.0;
    for (int32_t i = 0; i < budget->tiles; ++i) {
        const bool is_flat = (double)two[2 * (size_t)i] < FLAT * pixels;
        *(is_flat ? &lost_of_flat : &lost_of_others) += (double)least[2 * (size_t)i];
        if (is_flat)
            flat += 1.0;
        else if ((double)one[2 * (size_t)i] > ROUGH * pixels)
            rough += 1.0;
    }
    const double others = budget->tiles - flat;
    if (flat < FLAT_SHARE * budget->tiles || rough < ROUGH_SHARE * others || rough == 0.0)
        return TVLM_BUDGET_GENERAL;
    return lost_of_flat * others > AREAS * lost_of_others * flat ? TVLM_BUDGET_SCREEN : TVLM_BUDGET_DOCUMENT;
}

tvlm_status tvlm_budget_preset_get_info(tvlm_budget_preset preset, tvlm_budget_preset_info *info) {
    const tvlm_budget_kind *const kind = tvlm_budget_kind_of(preset);
    TVLM_NEED(NULL, info);
    if (kind == NULL) return TVLM_ERROR_ARGUMENT; /* without a log */
    *info = (tvlm_budget_preset_info){.name = kind->name,
                                      .structure = (float)kind->structure,
                                      .half_size = (float)kind->half_size,
                                      .levels = kind->levels};
    return TVLM_OK;
}
