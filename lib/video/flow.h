/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video/flow.h: the inside of a flow, for the modules beside it.
 */
#ifndef TVLM_VIDEO_FLOW_H
#define TVLM_VIDEO_FLOW_H

#include "core/backend.h"
#include "texturevlm/flow.h"

struct tvlm_flow {
    tvlm_device *device;
    tvlm_flow_info info;
    tvlm_buffer *buffer; /* u, v, confidence: 3 floats a texel of the grid; perhaps with room behind */
};

/*
 * tvlm_flow_compute between two sources that need not be in a stack: one size, all levels, which are up to
 * date; of the device `device`.
 */
tvlm_status tvlm_flow_between(tvlm_device *device, const tvlm_texture *from, int32_t from_image,
                              const tvlm_texture *to, int32_t to_image, const struct tvlm_flow_params *params,
                              tvlm_flow **flow);

#endif
