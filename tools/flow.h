/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.h: `tvlm channels --flow`, the optical flow between two images.
 */
#ifndef TVLM_TOOLS_FLOW_H
#define TVLM_TOOLS_FLOW_H

#include "tool.h"

typedef struct flow_options {
    int flow, full;
    const char *picture, *confidence;
} flow_options;

extern const option_specs flow_specs;

/* Computes and writes the flow from the first to the second of `count` images, which must be two. `output` is the
 * .flo, or NULL. */
int flow_run(struct tool *tool, const tool_common *common, const flow_options *options, const char *output,
             int count, char *const *paths);

#endif
