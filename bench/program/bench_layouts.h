/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_layouts.h: `tvlm bench --layouts`: measures what each named layout costs on a device, for a user who
 * must choose.
 */
#ifndef TVLM_TOOLS_BENCH_LAYOUTS_H
#define TVLM_TOOLS_BENCH_LAYOUTS_H

#include "tool.h"

int bench_layouts(struct tool *tool, const tool_common *common, const tvlm_image *image, int32_t repeat);

#endif
