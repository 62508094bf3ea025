/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_budget.h: what commands have for the strategy `budget`: its options, its part of the JSON, and crops.
 */
#ifndef TVLM_TOOLS_SELECT_BUDGET_H
#define TVLM_TOOLS_SELECT_BUDGET_H

#include "json.h"
#include "strategies.h"
#include "texturevlm/select.h"
#include "tool.h"

/* --share, --tolerance, --emphasis. */
typedef struct budget_options {
    option_number share, tolerance;
    const char *emphasis;
} budget_options;
extern const option_specs budget_specs;

/* An emphasis "L" or "L:CHANNEL", as parameters have it. */
typedef struct budget_emphasis {
    float level;
    int32_t channel; /* 0: none was named */
} budget_emphasis;

/* Refuses these options where the strategy does not read them; as strategies_check does. */
int budget_check_strategy(struct tool *tool, tvlm_strategy strategy, bool asked,
                          const budget_options *options);

/* The options beside which these stand: what counts patches, "-k" or "--budget", and whether it is given; and the
 * one that says what matters, "scorer", "scores" or "query", beside which no channel can; or NULL. */
typedef struct budget_beside {
    const char *count;
    bool counted;
    const char *matters;
} budget_beside;

/* Reads the emphasis, and refuses more than one of the count, --share and --tolerance. */
int budget_check(struct tool *tool, const budget_options *options, const budget_beside *beside,
                 budget_emphasis *emphasis);

/* Fills in the parameters that these options are. */
void budget_params(const budget_options *options, const budget_emphasis *emphasis,
                   struct tvlm_select_params *params);

/* Writes "loss", "downsampled", "thumbnail" and "duplicates": what there is of them. */
void budget_write(json_writer *json, const tvlm_selection *selection);

/* Notes before anything is computed that the crops of an image will be written, so that two images of one name are
 * refused: the second one's would take the place of the first one's. */
int budget_note_crops(struct tool *tool, const char *folder, const char *path);

/*
 * Writes into `folder` STEM-thumbnail.png, and the tiles of a selection as STEM-0.png, ..., merged into
 * rectangles where tiles of one level touch, each at its level's scale; and STEM.json, which says where they
 * lie. `patch` is the side of a patch in pixels of the image, which was not scaled down. `patches` are those of all
 * positions, RGB, as tvlm_patches_extract gives them.
 */
int budget_write_crops(struct tool *tool, const char *folder, const char *path, const tvlm_image *image,
                       const tvlm_selection *selection, const float *patches, int32_t patch);

#endif
