/* SPDX-License-Identifier: Apache-2.0 */
#include "texturevlm/io_basis.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/floats.h"
#include "io/named.h"
#include "texturevlm/io.h"

#define FORMAT_NAME "texturevlm.basis"

/* ---- Reading ---- */

static tvlm_status read_floats(const tvlm_io_named *from, const tvlm_safetensors *file, const char *name,
                               int64_t rows, int64_t columns, float **out) {
    return tvlm_io_read_floats(from->path, from->log, file, name, rows, columns, "components", out);
}

static tvlm_status read_metadata(const tvlm_io_named *from, const tvlm_safetensors *file,
                                 struct tvlm_basis_params *params) {
    const char *centred = tvlm_safetensors_metadata(file, "centred");
    tvlm_status status = tvlm_io_check_number(from, file, "D", params->dimension);
    if (status == TVLM_OK) status = tvlm_io_check_number(from, file, "k", params->k);
    if (status == TVLM_OK) status = tvlm_io_read_vectors(from, file, &params->vectors);
    if (status != TVLM_OK) return status;
    params->method = tvlm_safetensors_metadata(file, "method");
    if (centred != NULL && strcmp(centred, "true") != 0 && strcmp(centred, "false") != 0)
        return tvlm_fail(from->log, TVLM_ERROR_FORMAT, "%s: centred is '%.32s', not true or false",
                         from->path, centred);
    if (centred != NULL) params->centred = strcmp(centred, "true") == 0;
    for (int32_t i = 0; centred == NULL && params->mean != NULL && i < params->dimension; ++i)
        if (params->mean[i] != 0.0f) params->centred = true; /* NaN counts, too; it is refused later */
    if (params->centred && params->mean == NULL)
        return tvlm_fail(from->log, TVLM_ERROR_FORMAT, "%s: is centred, but has no tensor 'mean'",
                         from->path);
    return TVLM_OK;
}

static tvlm_status parse(const tvlm_io_named *from, const tvlm_safetensors *file, tvlm_basis **basis) {
    const char *const format = tvlm_safetensors_metadata(file, "format");
    const tvlm_tensor *const tensor = tvlm_safetensors_find(file, "components");
    float *components = NULL, *mean = NULL, *variance = NULL;
    if (format == NULL || strcmp(format, FORMAT_NAME) != 0)
        return tvlm_fail(from->log, TVLM_ERROR_FORMAT, "%s: is not a basis (its metadata lacks format = %s)",
                         from->path, FORMAT_NAME);
    if (tensor == NULL || tensor->rank != 2 || tensor->shape[0] < 1 || tensor->shape[1] < tensor->shape[0] ||
        tensor->shape[1] > TVLM_BASIS_DIMENSION_MAX)
        return tvlm_fail(from->log, TVLM_ERROR_FORMAT,
                         "%s: there is no tensor 'components' of shape [k, D], k <= D <= %d", from->path,
                         TVLM_BASIS_DIMENSION_MAX);
    struct tvlm_basis_params params = {.k = (int32_t)tensor->shape[0],
                                       .dimension = (int32_t)tensor->shape[1]};
    tvlm_status status = read_floats(from, file, "components", params.k, params.dimension, &components);
    if (status == TVLM_OK) status = read_floats(from, file, "mean", 0, params.dimension, &mean);
    if (status == TVLM_OK)
        status = read_floats(from, file, "explained_variance_ratio", 0, params.k, &variance);
    params.components = components;
    params.mean = mean;
    params.variance = variance;
    if (status == TVLM_OK) status = read_metadata(from, file, &params);
    if (status == TVLM_OK) {
        const tvlm_log log = tvlm_io_naming(from);
        struct tvlm_basis_params checked = params;
        checked.centred = mean != NULL; /* so that a mean is checked also where it is not read */
        status = tvlm_basis_create(&checked, &log, basis);
        if (status == TVLM_OK && checked.centred != params.centred) {
            tvlm_basis_destroy(basis);
            status = tvlm_basis_create(&params, &log, basis);
        }
        if (status == TVLM_ERROR_ARGUMENT) status = TVLM_ERROR_FORMAT;
    }
    free(components);
    free(mean);
    free(variance);
    return status;
}

tvlm_status tvlm_basis_load(const char *path, const tvlm_log *log, tvlm_basis **basis) {
    tvlm_safetensors *file = NULL;
    if (path == NULL || basis == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_basis_load: path or basis is NULL");
    tvlm_status status = tvlm_safetensors_read(path, log, &file);
    if (status == TVLM_OK) status = parse(&(tvlm_io_named){path, log}, file, basis);
    tvlm_safetensors_destroy(&file);
    return status;
}

/* ---- Writing ---- */

tvlm_status tvlm_basis_save(const char *path, const tvlm_basis *basis, const tvlm_log *log) {
    struct tvlm_basis_params p;
    char dimension[16], k[16], vectors[32];
    if (path == NULL || basis == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_basis_save: path or basis is NULL");
    (void)tvlm_basis_get_params(basis, &p);
    snprintf(dimension, sizeof dimension, "%d", (int)p.dimension);
    snprintf(k, sizeof k, "%d", (int)p.k);
    snprintf(vectors, sizeof vectors, "%" PRId64, p.vectors);
    const tvlm_tensor tensors[] = {
        {.name = "mean", .type = TVLM_ELEMENT_F32, .rank = 1, .shape = {p.dimension}, .data = p.mean},
        {.name = "components",
         .type = TVLM_ELEMENT_F32,
         .rank = 2,
         .shape = {p.k, p.dimension},
         .data = p.components},
        {.name = "explained_variance_ratio",
         .type = TVLM_ELEMENT_F32,
         .rank = 1,
         .shape = {p.k},
         .data = p.variance}};
    const tvlm_metadata metadata[] = {
        {"format", FORMAT_NAME}, {"D", dimension},    {"k", k}, {"centred", p.centred ? "true" : "false"},
        {"vectors", vectors},    {"method", p.method}};
    return tvlm_safetensors_write(path, tensors, 3, metadata, 6, log);
}
