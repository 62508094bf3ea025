/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend.h: the seam between the library and its backends: one table of operations, which is implemented
 * twice (lib/opencl, lib/reference). Nothing above the table knows which implementation is under it.
 * operations.h says what each operation does. The two tables are in lib/parts, since the lab adds to them.
 */
#ifndef TVLM_CORE_BACKEND_H
#define TVLM_CORE_BACKEND_H

#include "core/operations.h"
#include "core/texel.h"

struct tvlm_backend {
    const char *name;
#define TVLM_MEMBER(operation, ...) tvlm_##operation##_operation *operation;
    TVLM_OPERATIONS(TVLM_MEMBER)
#undef TVLM_MEMBER
    tvlm_generate_operation *generate[TVLM_GRID_COUNT]; /* NULL where a grid is handed in */
    const tvlm_tuner *tuner;                            /* NULL: there is nothing to tune */
    const struct tvlm_lab_operations *lab; /* lab/operations.h; NULL in a build without the lab */
};

/* Refuses parameters that no device could be opened with, whichever way it is opened. */
tvlm_status tvlm_device_check_params(const struct tvlm_device_params *params);

/* Opens the reference device. The OpenCL backend's way in is in opencl/open.h. */
tvlm_status tvlm_reference_open(const struct tvlm_device_params *params, tvlm_device **device);

/* Makes sure that the buffer args->products[which] has at least `bytes` bytes. A buffer that is too small is
 * made anew, and then its content is undefined. */
tvlm_status tvlm_product_reserve(tvlm_device *device, const tvlm_generate_args *args, tvlm_product which,
                                 size_t bytes);

/* The side of level `level` of a grid whose level 0 has `side` texels. */
static inline int32_t tvlm_level_side(int32_t side, int32_t level) {
    const int32_t s = level < 31 ? side >> level : 0;
    return s > 1 ? s : 1;
}

/* Whether a device's textures of a grid are scalar. */
static inline bool tvlm_grid_is_scalar(const tvlm_device *device, const tvlm_grid_info *info) {
    return info->scalar && (info->scalar_buffer || device->info.storage != TVLM_STORAGE_BUFFER);
}

/* How many components a texel has in device memory, and how many bytes they take in the texture's format. */
static inline size_t tvlm_texel_components(const tvlm_device *device, const tvlm_texture *texture) {
    return texture->scalar && device->stores_scalar[tvlm_texture_format(texture)] ? 1 : 4;
}
static inline size_t tvlm_texel_bytes(const tvlm_device *device, const tvlm_texture *texture) {
    return tvlm_texel_components(device, texture) * tvlm_component_bytes(tvlm_texture_format(texture));
}

/* The level of the image at which a texel is as large as a cell of `grid`. */
float tvlm_warp_level(const tvlm_texture *grid);

/* How many levels an image of this size has, down to 1 x 1. */
static inline int32_t tvlm_level_count(int32_t width, int32_t height) {
    int32_t side = width > height ? width : height, count = 1;
    while (side > 1) side >>= 1, ++count;
    return count;
}

#endif
