/* SPDX-License-Identifier: Apache-2.0 */
#include "texturevlm/lab/io_vocab.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "io/floats.h"
#include "io/named.h"
#include "texturevlm/io.h"
#include "texturevlm/lab/vocab.h"

#define FORMAT_NAME "texturevlm.vocab"

/* ---- Reading ---- */

static tvlm_status read_floats(const tvlm_io_named *from, const tvlm_safetensors *file, const char *name,
                               int64_t rows, int64_t columns, float **out) {
    return tvlm_io_read_floats(from->path, from->log, file, name, rows, columns, "centres", out);
}

static tvlm_status read_metadata(const tvlm_io_named *from, const tvlm_safetensors *file,
                                 struct tvlm_vocab_params *params) {
    TVLM_TRY(tvlm_io_check_number(from, file, "D", params->dimension));
    TVLM_TRY(tvlm_io_check_number(from, file, "n", params->count));
    return tvlm_io_read_vectors(from, file, &params->vectors);
}

static tvlm_status parse(const tvlm_io_named *from, const tvlm_safetensors *file, tvlm_vocab **vocab) {
    const char *const format = tvlm_safetensors_metadata(file, "format");
    const tvlm_tensor *const tensor = tvlm_safetensors_find(file, "centres");
    float *centres = NULL, *error = NULL;
    if (format == NULL || strcmp(format, FORMAT_NAME) != 0)
        return tvlm_fail(from->log, TVLM_ERROR_FORMAT,
                         "%s: is not a vocabulary (its metadata lacks format = %s)", from->path, FORMAT_NAME);
    if (tensor == NULL || tensor->rank != 2 || tensor->shape[0] < 1 ||
        tensor->shape[0] > TVLM_VOCAB_COUNT_MAX || tensor->shape[1] < 1 ||
        tensor->shape[1] > TVLM_BASIS_DIMENSION_MAX)
        return tvlm_fail(from->log, TVLM_ERROR_FORMAT,
                         "%s: there is no tensor 'centres' of shape [n, D], n and D in 1 .. %d", from->path,
                         TVLM_BASIS_DIMENSION_MAX);
    struct tvlm_vocab_params params = {.count = (int32_t)tensor->shape[0],
                                       .dimension = (int32_t)tensor->shape[1]};
    TVLM_TRY(read_metadata(from, file, &params));
    tvlm_status status = read_floats(from, file, "error", 0, 1, &error);
    if (status == TVLM_OK)
        status = read_floats(from, file, "centres", params.count, params.dimension, &centres);
    if (error != NULL) params.error = *error;
    params.centres = centres;
    if (status == TVLM_OK) {
        const tvlm_log log = tvlm_io_naming(from);
        status = tvlm_vocab_create(&params, &log, vocab);
        if (status == TVLM_ERROR_ARGUMENT) status = TVLM_ERROR_FORMAT;
    }
    free(centres);
    free(error);
    return status;
}

tvlm_status tvlm_vocab_load(const char *path, const tvlm_log *log, tvlm_vocab **vocab) {
    tvlm_safetensors *file = NULL;
    if (path == NULL || vocab == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_vocab_load: path or vocab is NULL");
    tvlm_status status = tvlm_safetensors_read(path, log, &file);
    if (status == TVLM_OK) status = parse(&(tvlm_io_named){path, log}, file, vocab);
    tvlm_safetensors_destroy(&file);
    return status;
}

/* ---- Writing ---- */

tvlm_status tvlm_vocab_save(const char *path, const tvlm_vocab *vocab, const tvlm_log *log) {
    struct tvlm_vocab_params p;
    char dimension[16], count[16], vectors[32];
    if (path == NULL || vocab == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_vocab_save: path or vocab is NULL");
    (void)tvlm_vocab_get_params(vocab, &p);
    snprintf(dimension, sizeof dimension, "%d", (int)p.dimension);
    snprintf(count, sizeof count, "%d", (int)p.count);
    snprintf(vectors, sizeof vectors, "%" PRId64, p.vectors);
    const tvlm_tensor tensors[] = {
        {.name = "centres",
         .type = TVLM_ELEMENT_F32,
         .rank = 2,
         .shape = {p.count, p.dimension},
         .data = p.centres},
        {.name = "error", .type = TVLM_ELEMENT_F32, .rank = 1, .shape = {1}, .data = &p.error}};
    const tvlm_metadata metadata[] = {
        {"format", FORMAT_NAME}, {"D", dimension}, {"n", count}, {"vectors", vectors}};
    return tvlm_safetensors_write(path, tensors, 2, metadata, 4, log);
}
