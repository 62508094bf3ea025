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
 * The same as tvlm_flow_compute, between two sources that need not be in a stack. They are of `device` and of
 * one size, with all their levels up to date.
 */
tvlm_status tvlm_flow_between(tvlm_device *device, const tvlm_texture *from, int32_t from_image,
                              const tvlm_texture *to, int32_t to_image, const struct tvlm_flow_params *params,
                              tvlm_flow **flow);

#endif
