/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bases.h: the basis that the option --basis names, and embeddings in that basis.
 */
#ifndef TVLM_TOOLS_BASES_H
#define TVLM_TOOLS_BASES_H

#include "questions.h"
#include "texturevlm/features.h"

typedef struct basis_options {
    const char *name; /* "image", "query" or a file; NULL: no basis is asked for */
    option_integer components;
} basis_options;

extern const option_specs basis_specs;

/* Refuses options that do not go together. `features` and `queries` say whether there are features and
 * queries. */
int basis_check(struct tool *tool, const basis_options *options, bool features, bool queries,
                const char *query_option);

/*
 * Embeds the features of image 0 of a stack in the basis that the options name. Without a name it is "image".
 * *basis becomes that basis. A basis from a file is read once and kept there; any other is made for each
 * image. With --basis query it is made from `queries` less `mean`, which may be NULL.
 */
int basis_embed(struct tool *tool, const basis_options *options, const vector_file *queries,
                const vector_file *mean, tvlm_stack *stack, tvlm_basis **basis);

#endif
