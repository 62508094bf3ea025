/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/memory.h"
#include "reference/reference.h"

static void destroy(tvlm_device *device) {
    free(device);
}

static tvlm_status finish(tvlm_device *device) {
    (void)device; /* every call has done its work when it returns */
    return TVLM_OK;
}

static tvlm_status buffer_create(tvlm_device *device, size_t bytes, tvlm_buffer **buffer) {
    reference_buffer *created = tvlm_allocate(1, sizeof *created);
    unsigned char *data = tvlm_allocate(bytes, 1);
    if (created == NULL || data == NULL) {
        free(created);
        free(data);
        return tvlm_fail(&device->log, TVLM_ERROR_DEVICE_MEMORY,
                         "reference: no memory for a buffer of %zu bytes", bytes);
    }
    created->base.bytes = bytes;
    created->data = data;
    tvlm_device_takes(device, bytes);
    *buffer = &created->base;
    return TVLM_OK;
}

static void buffer_destroy(tvlm_device *device, tvlm_buffer **buffer) {
    if (buffer == NULL || *buffer == NULL) return;
    tvlm_device_gives(device, (*buffer)->bytes);
    free(reference_data(*buffer));
    free(*buffer);
    *buffer = NULL;
}

static tvlm_status buffer_write(tvlm_device *device, tvlm_buffer *buffer, size_t offset, size_t bytes,
                                const void *host) {
    (void)device;
    if (bytes > 0) memcpy((unsigned char *)reference_data(buffer) + offset, host, bytes);
    return TVLM_OK;
}

static tvlm_status buffer_read(tvlm_device *device, tvlm_buffer *buffer, size_t offset, size_t bytes,
                               void *host) {
    (void)device;
    if (bytes > 0) memcpy(host, (const unsigned char *)reference_data(buffer) + offset, bytes);
    return TVLM_OK;
}

/* There is but one thing at a time: it has arrived when it is sent. */
static tvlm_status buffer_send(tvlm_device *device, tvlm_buffer *buffer, size_t bytes, const void *host) {
    return buffer_write(device, buffer, 0, bytes, host);
}

static tvlm_status buffer_arrive(tvlm_device *device, tvlm_buffer *buffer) {
    (void)device;
    (void)buffer;
    return TVLM_OK;
}

static tvlm_status buffer_copy(tvlm_device *device, tvlm_buffer *from, size_t from_offset, tvlm_buffer *to,
                               size_t to_offset, size_t bytes) {
    (void)device;
    if (bytes > 0)
        memcpy((unsigned char *)reference_data(to) + to_offset,
               (const unsigned char *)reference_data(from) + from_offset, bytes);
    return TVLM_OK;
}

#define GENERATE(ID, function) [TVLM_GRID_##ID] = tvlm_reference_##function,
static tvlm_status no_texture_native(tvlm_device *device, tvlm_texture *texture, void *handles[2]) {
    (void)texture;
    handles[0] = handles[1] = NULL;
    return tvlm_fail(&device->log, TVLM_ERROR_UNSUPPORTED,
                     "the reference device has no OpenCL memory to hand out");
}

static tvlm_status no_buffer_native(tvlm_device *device, tvlm_buffer *buffer, void **handle) {
    (void)buffer;
    *handle = NULL;
    return tvlm_fail(&device->log, TVLM_ERROR_UNSUPPORTED,
                     "the reference device has no OpenCL memory to hand out");
}

static tvlm_status no_buffer_wrap(tvlm_device *device, void *handle, tvlm_buffer **buffer) {
    (void)handle;
    *buffer = NULL;
    return tvlm_fail(&device->log, TVLM_ERROR_UNSUPPORTED, "the reference device cannot read OpenCL memory");
}

/* All of them: the same as what lies above the tiles. */
static tvlm_status mips_tiles(tvlm_device *device, tvlm_texture *texture, const tvlm_tiles *tiles) {
    (void)tiles;
    return tvlm_reference_mips(device, texture);
}

static const tvlm_backend reference_backend = {
    .name = "reference",
    .destroy = destroy,
    .finish = finish,
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .buffer_write = buffer_write,
    .buffer_read = buffer_read,
    .buffer_copy = buffer_copy,
    .texture_create = tvlm_reference_texture_create,
    .texture_destroy = tvlm_reference_texture_destroy,
    .texture_read = tvlm_reference_texture_read,
    .texture_write = tvlm_reference_texture_write,
    .texture_native = no_texture_native,
    .buffer_native = no_buffer_native,
    .buffer_wrap = no_buffer_wrap,
    .source = tvlm_reference_source,
    .source_tiles = tvlm_reference_source_tiles,
    .source_changed = tvlm_reference_source_changed,
    .mips = tvlm_reference_mips,
    .mips_tiles = mips_tiles,
    .input = tvlm_reference_input,
    .input_check = tvlm_reference_input_check,
    .generate = {TVLM_GENERATED_GRIDS(GENERATE)},
    .remember_luma = tvlm_reference_remember_luma,
    .remember = tvlm_reference_remember,
    .relevance = tvlm_reference_relevance,
    .flow = tvlm_reference_flow,
    .sample = tvlm_reference_sample,
    .footprint = tvlm_reference_footprint,
    .patches = tvlm_reference_patches,
    .pack = tvlm_reference_pack,
    .score = tvlm_reference_score,
    .topk = tvlm_reference_topk,
    .resize = tvlm_reference_resize,
    .patchify = tvlm_reference_patchify,
    .gemm = tvlm_reference_gemm,
    .feature_lengths = tvlm_reference_feature_lengths,
    .feature_matrix = tvlm_reference_feature_matrix,
    .similarity = tvlm_reference_similarity,
    .similarity_cells = tvlm_reference_similarity_cells,
    .cosines = tvlm_reference_cosines,
    .maps = tvlm_reference_maps,
    .keep_pass = tvlm_reference_keep_pass,
    .score_add = tvlm_reference_score_add,
    .warp = tvlm_reference_warp,
    .blend = tvlm_reference_blend,
    .follow = tvlm_reference_follow,
    .pack_slot = tvlm_reference_pack_slot,
    .pick = tvlm_reference_pick,
    .buffer_send = buffer_send,
    .buffer_arrive = buffer_arrive,
    .texture_copy = tvlm_reference_texture_copy,
};
#undef GENERATE

/* The host's memory; where it cannot be asked, as much as can be addressed. */
static uint64_t host_memory(void) {
#ifdef _SC_PHYS_PAGES
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0) return (uint64_t)pages * (uint64_t)page;
#endif
    return PTRDIFF_MAX;
}

static tvlm_device_info describe(void) {
    tvlm_device_info info = {.index = -1,
                             .type = TVLM_DEVICE_REFERENCE,
                             .memory_bytes = host_memory(),
                             .allocation_max = PTRDIFF_MAX,
                             .compute_units = 1,
                             .images = true,
                             .image_width_max = 65536,
                             .image_height_max = 65536,
                             .image_slices_max = 65536,
                             .storage = TVLM_STORAGE_BUFFER};
    snprintf(info.name, sizeof info.name, "reference");
    snprintf(info.platform, sizeof info.platform, "texturevlm");
    snprintf(info.driver, sizeof info.driver, "0.1.0");
    snprintf(info.version, sizeof info.version, "C11");
    snprintf(info.storage_reason, sizeof info.storage_reason, "plain C");
    return info;
}

tvlm_status tvlm_reference_open(const struct tvlm_device_params *params, tvlm_device **device) {
    const tvlm_log *log = params != NULL ? params->log : NULL;
    const tvlm_storage storage = params != NULL ? params->storage : TVLM_STORAGE_AUTO;
    if (storage != TVLM_STORAGE_AUTO && storage != TVLM_STORAGE_BUFFER)
        return tvlm_fail(log, TVLM_ERROR_UNSUPPORTED, "the reference device has the storage buffer only");
    tvlm_device *opened = tvlm_allocate(1, sizeof *opened);
    if (opened == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for the reference device");
    opened->backend = &reference_backend;
    if (log != NULL) opened->log = *log;
    opened->info = describe();
    *device = opened;
    return TVLM_OK;
}
