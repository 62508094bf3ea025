/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video/flow.h: what a flow consists of, for the other files of this folder.
 */
#ifndef TVLM_VIDEO_FLOW_H
#define TVLM_VIDEO_FLOW_H

#include "core/backend.h"
#include "texturevlm/stream.h"

/* The buffer holds u, v and the confidence of each texel of the grid as three floats. It may be larger than
 * these need. */
struct tvlm_flow {
    tvlm_device *device;
    tvlm_flow_info info;
    tvlm_buffer *buffer;
};

/*
 * Computes the flow from the source of a stack to `before`, which has the shape of that source, and sets it
 * as the stack's flow. The stack has one image, and its source has all its levels. The result is that of
 * tvlm_flow_compute followed by tvlm_stack_set_flow, but it takes one launch and one copy less.
 */
tvlm_status tvlm_flow_hand_in(tvlm_stack *stack, const tvlm_texture *before, tvlm_flow **flow);

#endif
