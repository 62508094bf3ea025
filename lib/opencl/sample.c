/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample.c: launches cl/sample.cl: channels at points, and packed into a texture.
 */
#include <stdio.h>

#include "core/try.h"
#include "opencl/backend.h"

tvlm_status tvlm_opencl_upload_refs(opencl_device *device, const int32_t *refs, int32_t count4,
                                    cl_mem *memory) {
    return tvlm_opencl_keep(device, SCRATCH_REFS, &device->refs, (size_t)count4 * sizeof(cl_int4), refs,
                            memory);
}

static tvlm_format format_of(const tvlm_bundle *bundle) {
    return bundle->count > 0 ? bundle->textures[0]->format : TVLM_FORMAT_F32;
}

tvlm_status tvlm_opencl_sample(tvlm_device *base, const tvlm_bundle *bundle, const int32_t *refs,
                               int32_t count4, tvlm_buffer *points, int32_t count, tvlm_buffer *out) {
    opencl_device *device = (opencl_device *)base;
    char options[80];
    cl_mem memory;
    opencl_call call;
    tvlm_opencl_bundle_options(device, bundle, 1, options);
    TVLM_TRY(tvlm_opencl_upload_refs(device, refs, count4, &memory));
    TVLM_TRY(tvlm_opencl_call_begin(device, "sample.cl", "sample", format_of(bundle), options, &call));
    tvlm_opencl_call_bundle(&call, bundle);
    tvlm_opencl_call_memory(&call, memory);
    tvlm_opencl_call_int(&call, count4);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)points)->memory);
    tvlm_opencl_call_int(&call, count);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)out)->memory);
    return tvlm_opencl_call_run_list(&call, (size_t)count, (size_t)count4);
}

/* Packs `count` images of the bundle from `from` on into images `to` and up of `out`. */
static tvlm_status pack(tvlm_device *base, const tvlm_bundle *bundle, const int32_t *refs, float level,
                        int32_t from, int32_t to, int32_t count, tvlm_texture *out) {
    opencl_device *device = (opencl_device *)base;
    const opencl_block block = tvlm_opencl_block(device, bundle, out->format);
    const size_t bytes = tvlm_texel_bytes(base, out) * (size_t)out->width * (size_t)out->height *
                         (size_t)out->layers * (size_t)count;
    const bool stream = block.rows > 1 && bytes / 1024 > (size_t)device->tuning.stream_kib;
    const cl_int2 images = {{from, to}};
    const cl_float2 step = {{out->extent_x / (float)out->width, out->extent_y / (float)out->height}};
    char bundled[80], options[112];
    cl_mem memory;
    opencl_call call;
    tvlm_opencl_bundle_options(device, bundle, block.columns, bundled);
    snprintf(options, sizeof options, "%s -DROWS=%d%s", bundled, (int)block.rows,
             stream ? " -DSTREAM=1" : "");
    TVLM_TRY(tvlm_opencl_upload_refs(device, refs, out->layers, &memory));
    TVLM_TRY(tvlm_opencl_call_begin(device, "sample.cl", "pack", out->format, options, &call));
    tvlm_opencl_call_bundle(&call, bundle);
    tvlm_opencl_call_memory(&call, memory);
    tvlm_opencl_call_float(&call, level);
    tvlm_opencl_call_bytes(&call, sizeof images, &images);
    tvlm_opencl_call_bytes(&call, sizeof step, &step);
    tvlm_opencl_call_output(&call, out);
    return tvlm_opencl_call_run_pixels(&call, (out->width + block.columns - 1) / block.columns,
                                       (out->height + block.rows - 1) / block.rows, out->layers * count);
}

tvlm_status tvlm_opencl_pack(tvlm_device *base, const tvlm_bundle *bundle, const int32_t *refs, float level,
                             tvlm_texture *out) {
    OPENCL_TUNED(base, TVLM_TUNED_PACK, (double)out->width * out->height * out->images);
    return pack(base, bundle, refs, level, 0, 0, out->images, out);
}

tvlm_status tvlm_opencl_pack_slot(tvlm_device *base, const tvlm_bundle *bundle, const int32_t *refs,
                                  float level, int32_t from, int32_t to, tvlm_texture *out) {
    OPENCL_TUNED(base, TVLM_TUNED_PACK, (double)out->width * out->height * out->images);
    return pack(base, bundle, refs, level, from, to, 1, out);
}
