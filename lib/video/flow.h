/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video/flow.h: what a flow consists of, for the other files of this folder.
 */
#ifndef TVLM_VIDEO_FLOW_H
#define TVLM_VIDEO_FLOW_H

#include "core/backend.h"
#include "texturevlm/flow.h"

/* The buffer holds u, v and the confidence of each texel of the grid as three floats. It may be larger than
 * that. */
struct tvlm_flow {
    tvlm_device *device;
    tvlm_flow_info info;
    tvlm_buffer *buffer;
};

/*
 * The same as tvlm_flow_compute between the source of a stack of one image, which has all its levels, and another one
 * of that shape, and then tvlm_stack_set_flow of what it found; but in a launch and a copy less.
 */
tvlm_status tvlm_flow_hand_in(tvlm_stack *stack, const tvlm_texture *before, tvlm_flow **flow);

#endif
