/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab.h: what the commands of the core ask of the lab. lab/uses/uses.c does it; without_lab.c takes its place in a
 * build without the lab, where lab_check refuses each of these options before anything is done. An embedding
 * that nobody named a basis for is refused once it is met.
 */
#ifndef TVLM_TOOLS_LAB_H
#define TVLM_TOOLS_LAB_H

#include "texturevlm/lab/footprint.h"
#include "texturevlm/lab/trainer.h"
#include "tool.h"

/* Refuses what needs the lab, by the name that it has on the command line, where there is no lab. */
int lab_check(struct tool *tool, const char *name);

/* tvlm_basis_of_image. */
int lab_basis_of_image(struct tool *tool, tvlm_stack *stack, const struct tvlm_image_basis_params *params,
                       tvlm_basis **basis);

/* tvlm_stack_structure. */
int lab_structure(struct tool *tool, tvlm_stack *stack, const tvlm_sample_point *points, const float *sizes,
                  int32_t count, tvlm_footprint *axes);

#endif
