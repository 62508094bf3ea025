/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warp.c: what both backends and the stack agree on when vectors are moved.
 */
#include <math.h>

#include "core/backend.h"

float tvlm_warp_level(const tvlm_texture *grid) {
    const float across = grid->extent_x / (float)grid->width, down = grid->extent_y / (float)grid->height;
    return fmaxf(0.0f, log2f(fmaxf(across, down)));
}
