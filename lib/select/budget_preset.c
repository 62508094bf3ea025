/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget_preset.c: the table of presets, and which one an image gets.
 */
#include "core/check.h"
#include "select/budget.h"

typedef struct tvlm_budget_kind {
    const char *name;
    double structure, half_size;
    int32_t levels;
} tvlm_budget_kind;

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

static const tvlm_budget_kind *tvlm_budget_kind_of(tvlm_budget_preset preset) {
    const int number = (int)preset;
    return number >= 0 && number < (int)(sizeof kinds / sizeof *kinds) ? &kinds[number] : NULL;
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
