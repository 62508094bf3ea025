/* SPDX-License-Identifier: Apache-2.0 */
/*
 * uses.c: does for commands of the core what they ask of the lab.
 */
#include "lab.h"

int lab_check(struct tool *tool, const char *name) {
    (void)tool;
    (void)name;
    return TOOL_DONE;
}

int lab_basis_of_image(struct tool *tool, tvlm_stack *stack, const struct tvlm_image_basis_params *params,
                       tvlm_basis **basis) {
    return tool_status(tool, tvlm_basis_of_image(stack, 0, params, basis));
}

int lab_structure(struct tool *tool, tvlm_stack *stack, const tvlm_sample_point *points, const float *sizes,
                  int32_t count, tvlm_footprint *axes) {
    return tool_status(tool, tvlm_stack_structure(stack, points, sizes, count, axes));
}
