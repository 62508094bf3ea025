/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_peaks.h: `tvlm bench --peaks`: how much memory `tvlm select` takes, for a user whose pictures are large.
 */
#ifndef TVLM_TOOLS_BENCH_PEAKS_H
#define TVLM_TOOLS_BENCH_PEAKS_H

#include "tool.h"

/* Measures pictures of that size, or of several sizes where the width is 0. */
int bench_peaks(struct tool *tool, const tool_common *common, int32_t width, int32_t height);

#endif
