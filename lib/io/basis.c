/* SPDX-License-Identifier: Apache-2.0 */
#include "texturevlm/io_basis.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/floats.h"
#include "texturevlm/io.h"

#define FORMAT_NAME "texturevlm.basis"

/* ---- Reading ---- */

/* The file that is read. What tvlm_basis_create says about its content gets the path before it. */
typedef struct source {
    const char *path;
    const tvlm_log *log;
} source;

static void with_path(void *user, tvlm_log_level level, const char *message) {
    const source *from = user;
    tvlm_log_message(from->log, level, "%s: %s", from->path, message);
}

static tvlm_status read_floats(const source *from, const tvlm_safetensors *file, const char *name,
                               int64_t rows, int64_t columns, float **out) {
    return tvlm_io_read_floats(from->path, from->log, file, name, rows, columns, "components", out);
}

/* Compares a number of the metadata, where they have it, with what the tensors say. */
static tvlm_status check_number(const source *from, const tvlm_safetensors *file, const char *key,
                                int32_t expected) {
    const char *text = tvlm_safetensors_metadata(file, key);
    char wanted[16];
    snprintf(wanted, sizeof wanted, "%d", (int)expected);
    if (text == NULL || strcmp(text, wanted) == 0) return TVLM_OK;
    return tvlm_fail(from->log, TVLM_ERROR_FORMAT, "%s: its metadata say %s = %.32s, its tensors %s",
                     from->path, key, text, wanted);
}

static bool read_count(const char *text, int64_t *count) {
    char *end = NULL;
    errno = 0;
    *count = strtoll(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && *count >= 0;
}

static tvlm_status read_metadata(const source *from, const tvlm_safetensors *file,
                                 struct tvlm_basis_params *params) {
    const char *centred = tvlm_safetensors_metadata(file, "centred");
    const char *vectors = tvlm_safetensors_metadata(file, "vectors");
    tvlm_status status = check_number(from, file, "D", params->dimension);
    if (status == TVLM_OK) status = check_number(from, file, "k", params->k);
    if (status != TVLM_OK) return status;
    params->method = tvlm_safetensors_metadata(file, "method");
    if (vectors != NULL && !read_count(vectors, &params->vectors))
        return tvlm_fail(from->log, TVLM_ERROR_FORMAT, "%s: '%.32s' is no number of vectors", from->path,
                         vectors);
    if (centred != NULL && strcmp(centred, "true") != 0 && strcmp(centred, "false") != 0)
        return tvlm_fail(from->log, TVLM_ERROR_FORMAT, "%s: centred is '%.32s', not true or false",
                         from->path, centred);
    if (centred != NULL) params->centred = strcmp(centred, "true") == 0;
    for (int32_t i = 0; centred == NULL && params->mean != NULL && i < params->dimension; ++i)
        if (params->mean[i] != 0.0f) params->centred = true; /* so does NaN, which is refused later */
    if (params->centred && params->mean == NULL)
        return tvlm_fail(from->log, TVLM_ERROR_FORMAT, "%s: is centred, but has no tensor 'mean'",
                         from->path);
    return TVLM_OK;
}

static tvlm_status parse(const source *from, const tvlm_safetensors *file, tvlm_basis **basis) {
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
        source copy = *from;
        const tvlm_log log = {with_path, &copy};
        status = tvlm_basis_create(&params, &log, basis);
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
    if (status == TVLM_OK) status = parse(&(source){path, log}, file, basis);
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
