/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select_budget.h: the parts of commands for the strategy `budget`: its checks, its part of the JSON, and
 * crops.
 */
#ifndef TVLM_TOOLS_SELECT_BUDGET_H
#define TVLM_TOOLS_SELECT_BUDGET_H

#include <stddef.h>
#include <stdint.h>

#include "json.h"
#include "parameters.h"
#include "texturevlm/select.h"
#include "texturevlm/stack.h"
#include "tool.h"

/* Reads the emphasis, "L" or "L:CHANNEL", into the parameters, which have the share and the tolerance. Refuses more than
 * one of these: the option `count` that counts patches ("-k"), --share and --tolerance. Also refuses a channel that says
 * what matters beside another option that does: --scorer, --scores or --query. */
int budget_check(struct tool *tool, const parameter_options *options, const char *count,
                 struct tvlm_budget_params *budget);

/* Writes "loss", "downsampled", "thumbnail" and "duplicates", as far as the selection has them. */
void budget_write(json_writer *json, const tvlm_selection *selection);

/* Notes that the crops of an image will be written, before anything is computed. Two images of one name are
 * refused, since the crops of the second would replace those of the first. */
int budget_note_crops(struct tool *tool, const char *folder, const char *path);

/*
 * Writes the crops of a selection into `folder`:
 * - STEM-thumbnail.png is the thumbnail.
 * - STEM-0.png and so on are the tiles, each at the scale of its level. Tiles of one level that touch are
 *   merged into rectangles.
 * - STEM.json says where they lie.
 *
 * `working` has the size of the working image, and `patch` is the side of a patch in its pixels. What the JSON
 * says is in pixels of the image. `patches` are the patches of all positions, RGB, from tvlm_patches_extract.
 */
int budget_write_crops(struct tool *tool, const char *folder, const char *path, const tvlm_image *image,
                       const tvlm_stack_info *working, const tvlm_selection *selection, const float *patches,
                       int32_t patch);

/* ---- The scales of tiles ---- */

/* The scales of tiles, from fine to coarse. An entry says how many texels a tile has for how many pixels
 * along a side, and what the scale is called. At three quarters only nine tiles together fill whole pixels.
 * Scales that are levels are reduced by area, and those between levels by Lanczos' filter. */
enum { BUDGET_SCALES = 5 };
typedef struct budget_scale {
    int32_t texels, pixels;
    const char *name;
    bool between;
} budget_scale;
extern const budget_scale budget_scales[BUDGET_SCALES];

/* Finds the scale of a tile. */
int budget_scale_of(const tvlm_position *tile);

/* Writes a text about a budget's positions, such as "4 x 3 thumbnail, 2 empty, 150 tiles". Returns its
 * length, as snprintf does. */
int budget_title(int32_t columns, int32_t rows, int32_t cells, int32_t count, char *text, size_t size);

#endif
