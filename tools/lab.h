/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab.h: what the commands of the core ask of the lab. lab/uses/uses.c does it; without_lab.c takes its place in a
 * build without the lab, where lab_check refuses each of these options before anything is done. An embedding
 * that nobody named a basis for is refused once it is met.
 */
#ifndef TVLM_TOOLS_LAB_H
#define TVLM_TOOLS_LAB_H

#include "json.h"
#include "texturevlm/lab/codec.h"
#include "texturevlm/lab/footprint.h"
#include "texturevlm/lab/projection.h"
#include "texturevlm/lab/trainer.h"
#include "texturevlm/select.h"
#include "tool.h"

/* Refuses what needs the lab, by the name that it has on the command line, where there is no lab. */
int lab_check(struct tool *tool, const char *name);

/* tvlm_basis_of_image. */
int lab_basis_of_image(struct tool *tool, tvlm_stack *stack, const struct tvlm_image_basis_params *params,
                       tvlm_basis **basis);

/* tvlm_stack_structure. */
int lab_structure(struct tool *tool, tvlm_stack *stack, const tvlm_sample_point *points, const float *sizes,
                  int32_t count, tvlm_footprint *axes);

/* ---- --codec FILE, and the scorer that reads its codes ---- */

/* Returns the names of channels with commas between them. The caller frees the text by free(). NULL: there is
 * no memory. */
char *codec_names(const int32_t *channels, int32_t count);

/* Reads a codec, and folds it into a scorer. `first` is the channel of the first code, as in tvlm_codec_fold;
 * the other codes follow it. */
int codec_read_folded(struct tool *tool, const char *path, const tvlm_scorer *scorer, int32_t first,
                      tvlm_codec **codec, tvlm_scorer **folded);

/* Adds to a layout the channels that the codes are made from. */
int codec_layout(struct tool *tool, const char *path, const tvlm_codec *codec, char *layout, size_t size);

/* Refuses an image that the codec cannot compress. */
int codec_check_image(struct tool *tool, const tvlm_codec *codec, tvlm_stack *stack);

/* Returns the network that makes the codes. It belongs to the codec. */
const tvlm_network *codec_network(const tvlm_codec *codec);

/* Releases what codec_read_folded made. Both may be NULL. */
void codec_release(tvlm_codec **codec, tvlm_scorer **folded);

/* ---- --projection FILE ---- */

/* Reads a projection. Refuses it if it needs features and there are none. */
int projection_read(struct tool *tool, const char *path, bool features, tvlm_projection **projection);

/* Adds to a layout the channels that a projection reads. */
int projection_layout(struct tool *tool, const char *path, const tvlm_projection *projection, char *layout,
                      size_t size);

/* Has an export make vectors by a projection. */
int projection_set(struct tool *tool, const tvlm_projection *projection, tvlm_export *export);

/* Releases what projection_read made, which may be NULL. */
void projection_release(tvlm_projection **projection);

/* ---- --explain FILE.json|FILE.png: how much each channel adds to the score of each position ---- */

/* Refuses a file whose name ends in neither .json nor .png, as wrong usage. */
int explain_check(struct tool *tool, const char *file);

/* What is to be explained. */
typedef struct explain_subject {
    const char *path; /* the path of the image */
    const tvlm_image *image;
    tvlm_stack *stack;
    const struct tvlm_query *query;
    const struct tvlm_select_params *params;
    const tvlm_selection *selection;
} explain_subject;

/* An explanation on its way to its file: JSON or a picture. */
typedef struct explained {
    json_writer json;
    tvlm_image *picture;
} explained;
void explained_release(explained *made);

/* Makes JSON or a picture, as the name of the file says. */
int explain_make(struct tool *tool, const explain_subject *subject, const char *file, explained *made);

/* Writes the explanation to `path`, the name that was made from `file`. */
int explain_write(struct tool *tool, const char *path, explained *made);

#endif
