/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.c: what fits on a device: the largest working image, and how many images one texture array can hold.
 */
#include "stack/limits.h"

/* Kernels index the components of a texture with 32-bit integers. */
#define COMPONENTS_MAX ((uint64_t)INT32_MAX)

/* With a compactness as large as this, regions stay the cells that they began as. Its square is still within
 * the range of floats. */
#define COMPACTNESS_MAX 1e6f

tvlm_status tvlm_stack_check_options(const tvlm_log *log, const struct tvlm_stack_params *params) {
    if (params->max_side < 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "sides of at most %d pixels", (int)params->max_side);
    if (params->images < 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a stack of %d images", (int)params->images);
    if ((int)params->format < TVLM_FORMAT_AUTO || params->format > TVLM_FORMAT_U8)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "there is no format %d", (int)params->format);
    if (params->clusters < 0 || params->clusters > TVLM_CLUSTER_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d clusters; 1 to %d are possible", (int)params->clusters,
                         TVLM_CLUSTER_MAX);
    if (!(params->compactness >= 0.0f && params->compactness <= COMPACTNESS_MAX))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a compactness of %g; up to %g is possible",
                         (double)params->compactness, (double)COMPACTNESS_MAX);
    return TVLM_OK;
}

/* AUTO means half precision on GPUs, since bandwidth is what counts there, and the hardware converts.
 * Elsewhere it means float. */
tvlm_format tvlm_stack_format(const tvlm_device *device, tvlm_format format) {
    if (format != TVLM_FORMAT_AUTO) return format;
    return device->info.type == TVLM_DEVICE_GPU ? TVLM_FORMAT_F16 : TVLM_FORMAT_F32;
}

static uint64_t component_bytes(tvlm_format format) {
    return format == TVLM_FORMAT_F32 ? 4 : 2; /* in a stack of bytes, some textures still hold halves */
}

/* Returns the number of components of one layer of one image, on all levels or only on level 0. */
static uint64_t layer_components(int32_t width, int32_t height, bool all_levels) {
    const int32_t levels = all_levels ? tvlm_level_count(width, height) : 1;
    uint64_t components = (uint64_t)width * (uint64_t)height * 4;
    if (components / 4 > COMPONENTS_MAX) return UINT64_MAX / 16; /* whose sum over levels might wrap around */
    for (int32_t level = 1; level < levels; ++level)
        components += (uint64_t)tvlm_level_side(width, level) * (uint64_t)tvlm_level_side(height, level) * 4;
    return components;
}

/* Returns the bytes of the largest allocation that one layer needs. Where textures are OpenCL images, level 0
 * and the other levels are in two arrays. */
static uint64_t layer_bytes(const tvlm_device *device, int32_t width, int32_t height, tvlm_format format) {
    const bool apart = device->info.storage == TVLM_STORAGE_IMAGE;
    return layer_components(width, height, !apart) * component_bytes(format);
}

static bool stored_in_images(const tvlm_device *device) {
    return device->info.storage != TVLM_STORAGE_BUFFER;
}

static bool sides_fit(const tvlm_device *device, int32_t width, int32_t height) {
    const tvlm_device_info *info = &device->info;
    /* The reference has limits of its own. Those of an OpenCL device apply only to its images. */
    if (!stored_in_images(device) && info->type != TVLM_DEVICE_REFERENCE) return true;
    return width <= info->image_width_max && height <= info->image_height_max;
}

static bool bytes_fit(const tvlm_device *device, int32_t width, int32_t height, tvlm_format format) {
    const uint64_t limit = device->info.allocation_max;
    if (layer_components(width, height, true) > COMPONENTS_MAX) return false;
    return limit == 0 || layer_bytes(device, width, height, format) <= limit;
}

bool tvlm_stack_size_fits(const tvlm_device *device, int32_t width, int32_t height, tvlm_format format) {
    return sides_fit(device, width, height) && bytes_fit(device, width, height, format);
}

tvlm_status tvlm_stack_check_size(const tvlm_device *device, int32_t width, int32_t height,
                                  tvlm_format format) {
    const tvlm_device_info *info = &device->info;
    if (!sides_fit(device, width, height))
        return tvlm_fail(&device->log, TVLM_ERROR_DEVICE_MEMORY,
                         "a stack of %dx%d is larger than this device's images, %dx%d at most", (int)width,
                         (int)height, (int)info->image_width_max, (int)info->image_height_max);
    if (!bytes_fit(device, width, height, format))
        return tvlm_fail(
            &device->log, TVLM_ERROR_DEVICE_MEMORY,
            "a stack of %dx%d needs allocations of %llu bytes; at most %llu, and 2^31 components, fit",
            (int)width, (int)height, (unsigned long long)layer_bytes(device, width, height, format),
            (unsigned long long)info->allocation_max);
    return TVLM_OK;
}

/*
 * The limit on slices counts in every storage. It is 0 on a device without images. On other devices it still
 * leaves room for thousands of images in a chunk. Textures count as having at least 16 layers, so that a
 * packed array of 64 channels still fits a chunk. A grid that is handed in with more layers makes the chunks
 * smaller (chunks.c).
 */
int32_t tvlm_stack_chunk_limit(const tvlm_device *device, int32_t width, int32_t height, tvlm_format format,
                               int32_t layers) {
    const tvlm_device_info *info = &device->info;
    const uint64_t depth = (uint64_t)(layers > 0 ? layers : 1);
    uint64_t images = COMPONENTS_MAX / layer_components(width, height, true) / depth;
    if (info->allocation_max > 0) {
        const uint64_t fit = info->allocation_max / layer_bytes(device, width, height, format) / depth;
        if (fit < images) images = fit;
    }
    if (info->image_slices_max > 0) {
        const uint64_t fit = (uint64_t)info->image_slices_max / (depth > 16 ? depth : 16);
        if (fit < images) images = fit;
    }
    return images > 1 ? (int32_t)images : 1;
}

/* Bytes of a texture's level 0 for each core. Caches then still hold what a family has made when the next one
 * reads it. */
#define CACHED_BYTES ((uint64_t)1 << 20)

int32_t tvlm_stack_cached_images(const tvlm_device *device, int32_t width, int32_t height,
                                 tvlm_format format) {
    const tvlm_device_info *info = &device->info;
    if (info->type != TVLM_DEVICE_CPU && info->type != TVLM_DEVICE_REFERENCE) return INT32_MAX;
    const uint64_t cores = info->compute_units > 1 ? (uint64_t)info->compute_units : 1;
    const uint64_t images =
        cores * CACHED_BYTES / (layer_components(width, height, false) * component_bytes(format));
    return images < 1 ? 1 : images < INT32_MAX ? (int32_t)images : INT32_MAX;
}
