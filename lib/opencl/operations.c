/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operations.c: the table of what this backend does, by which the library calls it. No other file knows all
 * of that.
 */
#include "opencl/backend.h"

/* Each family with what was tuned for it. */
#define GENERATOR(ID, name, ...)                                                                             \
    static tvlm_status make_##name(tvlm_device *device, const tvlm_generate_args *args) {                    \
        OPENCL_TUNED(device, TVLM_GRID_##ID,                                                                 \
                     (double)args->out->extent_x * args->out->extent_y * args->out->images);                 \
        return tvlm_opencl_##name(device, args);                                                             \
    }
TVLM_GENERATED_GRIDS(GENERATOR)
#undef GENERATOR

#define OPERATION(name, ...)     .name = tvlm_opencl_##name,
#define GENERATOR(ID, name, ...) [TVLM_GRID_##ID] = make_##name,
const tvlm_backend tvlm_opencl_backend = {
    .name = "opencl",
    TVLM_OPERATIONS(OPERATION).generate = {TVLM_GENERATED_GRIDS(GENERATOR)},
    .tuner = &tvlm_opencl_tuner};
#undef OPERATION
#undef GENERATOR
