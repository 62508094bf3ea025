/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operations.c: makes each family with what was tuned for it.
 */
#include "opencl/operations.h"

#define GENERATOR(ID, name, ...)                                                                             \
    tvlm_status tvlm_opencl_make_##name(tvlm_device *device, const tvlm_generate_args *args) {               \
        OPENCL_TUNED(device, TVLM_GRID_##ID,                                                                 \
                     (double)args->out->extent_x * args->out->extent_y * args->out->images);                 \
        return tvlm_opencl_##name(device, args);                                                             \
    }
TVLM_CORE_GRIDS(GENERATOR)
