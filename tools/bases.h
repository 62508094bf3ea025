/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bases.h: the bases that --basis names, and embeddings in them.
 */
#ifndef TVLM_TOOLS_BASES_H
#define TVLM_TOOLS_BASES_H

#include "questions.h"
#include "texturevlm/basis.h"

typedef struct basis_options {
    const char *name; /* "image", "query" or a file; NULL: none asked for */
    option_integer components;
} basis_options;

extern const option_specs basis_specs;

/* Refuses what does not go together; `features`, `queries`: whether there are any. */
int basis_check(struct tool *tool, const basis_options *options, bool features, bool queries,
                const char *query_option);

/*
 * Embeds the features of image 0 of a stack. *basis is what it was embedded in: a file is read once and kept
 * in it, others are made for each image. NULL name: image. queries (less `mean`, which may be NULL) are those
 * of --basis query.
 */
int basis_embed(struct tool *tool, const basis_options *options, const vector_file *queries,
                const vector_file *mean, tvlm_stack *stack, tvlm_basis **basis);

#endif
