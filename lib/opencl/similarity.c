/* SPDX-License-Identifier: Apache-2.0 */
/*
 * similarity.c: launches cl/similarity.cl: lengths, cosines and maps of the encoder's vectors.
 */
#include <stdio.h>

#include "core/try.h"
#include "opencl/backend.h"

/* As in cl/similarity.cl. */
#define MATRIX_LAYERS 16
#define UNIT_GROUP    64

static tvlm_status begin(const tvlm_features *features, tvlm_device *device, const char *name,
                         opencl_call *call) {
    const opencl_tuning *tuning = &((opencl_device *)device)->tuning;
    char options[80];
    snprintf(options, sizeof options, "-DCOSINE_W=%d -DCOSINE_H=%d -DCOSINE_LANES=%d",
             (int)tuning->cosine_width, (int)tuning->cosine_height, (int)tuning->cosine_lanes);
    TVLM_TRY(tvlm_opencl_call_begin((opencl_device *)device, "similarity.cl", name, features->texture->format,
                                    options, call));
    tvlm_opencl_call_input(call, features->texture);
    tvlm_opencl_call_int(call, features->image);
    return TVLM_OK;
}

/* Runs groups of cells: one work-item for each group, or one for each cell and lane. */
static tvlm_status run_cells(opencl_call *call, const tvlm_texture *texture) {
    const opencl_tuning *tuning = &call->device->tuning;
    const size_t width = (size_t)tuning->cosine_width, height = (size_t)tuning->cosine_height;
    const size_t columns = ((size_t)texture->width + width - 1) / width;
    const size_t rows = ((size_t)texture->height + height - 1) / height;
    const bool shared = tuning->cosine_lanes > 1;
    const size_t group[3] = {shared ? width : 1, shared ? height : 1, (size_t)tuning->cosine_lanes};
    const size_t size[3] = {columns * group[0], rows * group[1], group[2]};
    return tvlm_opencl_call_run(call, 3, size, group);
}

tvlm_status tvlm_opencl_feature_lengths(tvlm_device *device, const tvlm_features *features) {
    OPENCL_TUNED(device, TVLM_TUNED_FEATURES,
                 (double)features->texture->width * features->texture->height * (double)TVLM_TUNED_CELL);
    opencl_call call;
    TVLM_TRY(begin(features, device, "feature_lengths", &call));
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)features->inverse)->memory);
    return run_cells(&call, features->texture);
}

tvlm_status tvlm_opencl_similarity(tvlm_device *device, const tvlm_features *features, tvlm_buffer *query,
                                   tvlm_texture *out) {
    OPENCL_TUNED(device, TVLM_TUNED_FEATURES,
                 (double)features->texture->width * features->texture->height * (double)TVLM_TUNED_CELL);
    opencl_call call;
    TVLM_TRY(begin(features, device, "similarity", &call));
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)features->inverse)->memory);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)query)->memory);
    tvlm_opencl_call_output(&call, out);
    return run_cells(&call, features->texture);
}

tvlm_status tvlm_opencl_similarity_cells(tvlm_device *device, const tvlm_features *features,
                                         tvlm_buffer *query, tvlm_buffer *cells, int32_t count,
                                         tvlm_buffer *cosines) {
    OPENCL_TUNED(device, TVLM_TUNED_FEATURES,
                 (double)features->texture->width * features->texture->height * (double)TVLM_TUNED_CELL);
    const opencl_tuning *tuning = &((opencl_device *)device)->tuning;
    const size_t lanes = (size_t)tuning->cosine_lanes;
    const size_t in_group = (size_t)tuning->cosine_width * (size_t)tuning->cosine_height;
    const size_t group[2] = {lanes > 1 ? in_group : 1, lanes};
    const size_t size[2] = {((size_t)count + in_group - 1) / in_group * group[0], lanes};
    opencl_call call;
    TVLM_TRY(begin(features, device, "similarity_cells", &call));
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)features->inverse)->memory);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)query)->memory);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)cells)->memory);
    tvlm_opencl_call_int(&call, count);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)cosines)->memory);
    return tvlm_opencl_call_run(&call, 2, size, group);
}

tvlm_status tvlm_opencl_unit_vectors(tvlm_device *base, const tvlm_units *units, int32_t *bad) {
    opencl_device *device = (opencl_device *)base;
    const tvlm_buffer *mean =
        units->mean != NULL ? units->mean : units->vectors; /* it is read only where there is a mean */
    const size_t group = UNIT_GROUP, size = (size_t)units->count * group;
    cl_mem memory;
    opencl_call call;
    TVLM_TRY(tvlm_opencl_least_begin(device, bad, &memory));
    TVLM_TRY(tvlm_opencl_call_begin(device, "similarity.cl", "unit_vectors", TVLM_FORMAT_F32, "", &call));
    tvlm_opencl_call_memory(&call, ((const opencl_buffer *)units->vectors)->memory);
    tvlm_opencl_call_ulong(&call, units->offset / sizeof(float));
    tvlm_opencl_call_int(&call, units->dimension);
    tvlm_opencl_call_int(&call, units->stride);
    tvlm_opencl_call_memory(&call, ((const opencl_buffer *)mean)->memory);
    tvlm_opencl_call_int(&call, units->mean != NULL);
    tvlm_opencl_call_memory(&call, ((const opencl_buffer *)units->out)->memory);
    tvlm_opencl_call_memory(&call, memory);
    TVLM_TRY(tvlm_opencl_call_run(&call, 1, &size, &group));
    return tvlm_opencl_least_end(device, memory, bad);
}

tvlm_status tvlm_opencl_feature_matrix(tvlm_device *device, const tvlm_features *features, int32_t level,
                                       tvlm_buffer *matrix, size_t offset) {
    const tvlm_texture *texture = features->texture;
    opencl_call call;
    TVLM_TRY(begin(features, device, "feature_matrix", &call));
    tvlm_opencl_call_int(&call, features->dimension);
    tvlm_opencl_call_int(&call, level);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)matrix)->memory);
    tvlm_opencl_call_ulong(&call, offset);
    return tvlm_opencl_call_run_pixels(&call, tvlm_level_side(texture->width, level),
                                       tvlm_level_side(texture->height, level),
                                       (texture->layers + MATRIX_LAYERS - 1) / MATRIX_LAYERS);
}

tvlm_status tvlm_opencl_cosines(tvlm_device *device, const tvlm_features *features, tvlm_buffer *products,
                                int32_t count) {
    const int32_t cells = features->texture->width * features->texture->height;
    opencl_call call;
    TVLM_TRY(tvlm_opencl_call_begin((opencl_device *)device, "similarity.cl", "cosines", TVLM_FORMAT_F32, "",
                                    &call));
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)products)->memory);
    tvlm_opencl_call_int(&call, cells);
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)features->inverse)->memory);
    tvlm_opencl_call_int(&call, features->image * cells);
    return tvlm_opencl_call_run_list(&call, (size_t)cells, (size_t)count);
}

tvlm_status tvlm_opencl_maps(tvlm_device *device, tvlm_buffer *cosines, int32_t count, int32_t how,
                             int32_t image, tvlm_texture *out) {
    opencl_call call;
    TVLM_TRY(
        tvlm_opencl_call_begin((opencl_device *)device, "similarity.cl", "maps", out->format, "", &call));
    tvlm_opencl_call_memory(&call, ((opencl_buffer *)cosines)->memory);
    tvlm_opencl_call_int(&call, count);
    tvlm_opencl_call_int(&call, how);
    tvlm_opencl_call_int(&call, image);
    tvlm_opencl_call_output(&call, out);
    return tvlm_opencl_call_run_pixels(&call, out->width, out->height, out->layers);
}
