/* SPDX-License-Identifier: Apache-2.0 */
#include "texturevlm/lab/io_codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/try.h"
#include "io/floats.h"
#include "io/named.h"
#include "io/names.h"
#include "texturevlm/io.h"
#include "texturevlm/lab/codec.h"

#define FORMAT_NAME "texturevlm.codec"

/* ---- Reading ---- */

/* The numbers of a codec's file; free() releases them. */
typedef struct numbers {
    int32_t channels[TVLM_CODEC_CHANNELS_MAX];
    float *encode, *decode, *mean, *variance;
} numbers;

static tvlm_status read_shape(const tvlm_io_named *from, const tvlm_safetensors *file,
                              struct tvlm_codec_params *params) {
    const tvlm_tensor *const tensor = tvlm_safetensors_find(file, "encode");
    if (tensor == NULL || tensor->rank != 2 || tensor->shape[0] < 1 || tensor->shape[0] > TVLM_CODEC_K_MAX ||
        tensor->shape[1] < tensor->shape[0] || tensor->shape[1] > TVLM_CODEC_CHANNELS_MAX)
        return tvlm_fail(
            from->log, TVLM_ERROR_FORMAT,
            "%s: there is no tensor 'encode' of shape [codes, channels], with at most %d codes and %d channels, and no more "
            "codes than channels",
            from->path, TVLM_CODEC_K_MAX, TVLM_CODEC_CHANNELS_MAX);
    params->k = (int32_t)tensor->shape[0];
    params->channel_count = (int32_t)tensor->shape[1];
    return TVLM_OK;
}

static tvlm_status read_channels(const tvlm_io_named *from, const tvlm_safetensors *file,
                                 const struct tvlm_codec_params *params, int32_t *channels) {
    const char *const names = tvlm_safetensors_metadata(file, "channels");
    if (names == NULL)
        return tvlm_fail(from->log, TVLM_ERROR_FORMAT, "%s: its metadata lacks 'channels'", from->path);
    const int32_t count = tvlm_io_count_names(names);
    if (count != params->channel_count)
        return tvlm_fail(from->log, TVLM_ERROR_FORMAT, "%s: it names %d channels, and 'encode' is for %d",
                         from->path, (int)count, (int)params->channel_count);
    return tvlm_io_read_names(from->path, NULL, from->log, names, channels);
}

static tvlm_status read_all(const tvlm_io_named *from, const tvlm_safetensors *file,
                            struct tvlm_codec_params *params, numbers *all) {
    const char *const format = tvlm_safetensors_metadata(file, "format");
    if (format == NULL || strcmp(format, FORMAT_NAME) != 0)
        return tvlm_fail(from->log, TVLM_ERROR_FORMAT, "%s: is not a codec (its metadata lacks format = %s)",
                         from->path, FORMAT_NAME);
    TVLM_TRY(read_shape(from, file, params));
    TVLM_TRY(read_channels(from, file, params, all->channels));
    TVLM_TRY(tvlm_io_read_level(from->path, from->log, file, TVLM_NETWORK_LEVEL_MAX, &params->level));
    const int32_t k = params->k, n = params->channel_count;
    const char *const path = from->path;
    TVLM_TRY(tvlm_io_read_floats(path, from->log, file, "encode", k, n, "encode", &all->encode));
    TVLM_TRY(tvlm_io_read_floats(path, from->log, file, "decode", n, k, "encode", &all->decode));
    TVLM_TRY(tvlm_io_read_floats(path, from->log, file, "mean", 0, n, "encode", &all->mean));
    TVLM_TRY(tvlm_io_read_floats(path, from->log, file, "explained_variance_ratio", 0, k, "encode",
                                 &all->variance));
    if (all->decode != NULL) return TVLM_OK;
    return tvlm_fail(from->log, TVLM_ERROR_FORMAT, "%s: there is no tensor 'decode'", path);
}

static tvlm_status parse(const tvlm_io_named *from, const tvlm_safetensors *file, tvlm_codec **codec) {
    struct tvlm_codec_params params = {0};
    numbers all = {.encode = NULL};
    const tvlm_log log = tvlm_io_naming(from);
    tvlm_status status = read_all(from, file, &params, &all);
    if (status == TVLM_OK) {
        params.channels = all.channels;
        params.encode = all.encode;
        params.decode = all.decode;
        params.mean = all.mean;
        params.variance = all.variance;
        status = tvlm_codec_create(&params, &log, codec);
        if (status == TVLM_ERROR_ARGUMENT) status = TVLM_ERROR_FORMAT;
    }
    free(all.encode);
    free(all.decode);
    free(all.mean);
    free(all.variance);
    return status;
}

tvlm_status tvlm_codec_load(const char *path, const tvlm_log *log, tvlm_codec **codec) {
    tvlm_safetensors *file = NULL;
    if (path == NULL || codec == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_codec_load: path or codec is NULL");
    tvlm_status status = tvlm_safetensors_read(path, log, &file);
    if (status == TVLM_OK) status = parse(&(tvlm_io_named){path, log}, file, codec);
    tvlm_safetensors_destroy(&file);
    return status;
}

/* ---- Writing ---- */

tvlm_status tvlm_codec_save(const char *path, const tvlm_codec *codec, const tvlm_log *log) {
    struct tvlm_codec_params p;
    char level[16], *names = NULL;
    if (path == NULL || codec == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_codec_save: path or codec is NULL");
    (void)tvlm_codec_get_params(codec, &p);
    TVLM_TRY(tvlm_io_join_names(path, log, p.channels, p.channel_count, &names));
    snprintf(level, sizeof level, "%d", (int)p.level);
#define TENSOR(NAME, DATA, RANK, ...)                                                                        \
    { .name = NAME, .type = TVLM_ELEMENT_F32, .rank = RANK, .shape = {__VA_ARGS__}, .data = DATA }
    const tvlm_tensor tensors[] = {TENSOR("encode", p.encode, 2, p.k, p.channel_count),
                                   TENSOR("decode", p.decode, 2, p.channel_count, p.k),
                                   TENSOR("mean", p.mean, 1, p.channel_count),
                                   TENSOR("explained_variance_ratio", p.variance, 1, p.k)};
#undef TENSOR
    const tvlm_metadata metadata[] = {{"format", FORMAT_NAME}, {"channels", names}, {"level", level}};
    const tvlm_status status = tvlm_safetensors_write(path, tensors, 4, metadata, 3, log);
    free(names);
    return status;
}
