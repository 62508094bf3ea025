/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tune.h: `tvlm devices --tune`, the fastest settings of a device.
 */
#ifndef TVLM_TOOLS_TUNE_H
#define TVLM_TOOLS_TUNE_H

#include "tool.h"

typedef struct tune_options {
    int tune;
    option_number seconds;
} tune_options;

extern const option_specs tune_specs;

/* Tunes the device that the options name, and prints what was found. */
int tune_run(struct tool *tool, const tool_common *common, const tune_options *options);

#endif
