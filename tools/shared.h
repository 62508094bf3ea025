/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared.h: options that several commands have. Each is written down once. A command has the struct as a
 * member of its options, and its groups name the table and the offset of that member.
 */
#ifndef TVLM_TOOLS_SHARED_H
#define TVLM_TOOLS_SHARED_H

#include "tool.h"
#include "video_frames.h"

extern const option_specs strategy_specs; /* --strategy, whose value is its name; NULL if it was not given */

/* --weights, --scorer: what the score is made of. */
typedef struct weighing_options {
    option_triple weights;
    const char *scorer;
} weighing_options;
extern const option_specs weighing_specs;

/* What --help says about pictures. */
#define READ_PICTURES "JPEG, PNG, BMP, PPM, PGM, or what else --version names (WebP, HEIF, AVIF)"

/* What --help says about --max-side. */
#define MAX_SIDE_HELP                                                                                        \
    "images with a longer side are worked on smaller, in their shape (default: what fits the device)"

/* --rope: how the channels from rope_x_cos_0 on are made. rope_set tells a stack, if the option was given. */
extern const option_specs rope_specs; /* its value is an option_triple */
int rope_set(struct tool *tool, const option_triple *rope, tvlm_stack *stack);

/* --every and --fps. */
typedef struct sampling_options {
    option_integer every;
    option_number fps;
} sampling_options;
extern const option_specs sampling_specs;

/* Sets `every` and `fps`. */
int sampling_set(struct tool *tool, const sampling_options *options, video_sampling *wanted);

#endif
