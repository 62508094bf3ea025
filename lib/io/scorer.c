/* SPDX-License-Identifier: Apache-2.0 */
#include "texturevlm/io_scorer.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "io/names.h"
#include "texturevlm/io.h"
#include "texturevlm/layout.h"

#define FORMAT_NAME "texturevlm.scorer"

/* ---- Reading ---- */

static tvlm_status check_finite(const char *path, const tvlm_log *log, const char *what, const float *values,
                                size_t count) {
    for (size_t i = 0; i < count; ++i) {
        if (!isfinite(values[i]))
            return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: number %zu of '%s' is not finite", path, i, what);
    }
    return TVLM_OK;
}

static tvlm_status find_weights(const char *path, const tvlm_log *log, const tvlm_safetensors *file,
                                const tvlm_tensor **weights) {
    *weights = tvlm_safetensors_find(file, "weights");
    if (*weights == NULL) return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: there is no tensor 'weights'", path);
    const tvlm_tensor *const tensor = *weights;
    const bool line = tensor->rank == 1,
               square = tensor->rank == 3 && tensor->shape[1] == 3 && tensor->shape[2] == 3;
    if (tensor->type != TVLM_ELEMENT_F32 || (!line && !square))
        return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: 'weights' is not float32 of shape [C] or [C, 3, 3]",
                         path);
    if (tensor->shape[0] < 1 || tensor->shape[0] > TVLM_LAYOUT_CHANNELS_MAX)
        return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: 'weights' is for %lld channels, not for 1 to %d", path,
                         (long long)tensor->shape[0], TVLM_LAYOUT_CHANNELS_MAX);
    return TVLM_OK;
}

/* Reads a tensor of one number; the number is 0 where there is no such tensor. */
static tvlm_status read_number(const char *path, const tvlm_log *log, const tvlm_safetensors *file,
                               const char *name, float *number) {
    const tvlm_tensor *const tensor = tvlm_safetensors_find(file, name);
    *number = 0.0f;
    if (tensor == NULL) return TVLM_OK;
    if (tensor->type != TVLM_ELEMENT_F32 || tensor->size != sizeof *number)
        return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: '%s' is not one float32", path, name);
    memcpy(number, tensor->data, sizeof *number);
    return check_finite(path, log, name, number, 1);
}

/* Sets *found to the query weights, or to NULL where there are none. */
static tvlm_status find_query_weights(const char *path, const tvlm_log *log, const tvlm_safetensors *file,
                                      int64_t channels, const tvlm_tensor **found) {
    const tvlm_tensor *const tensor = *found = tvlm_safetensors_find(file, "query_weights");
    if (tensor == NULL) return TVLM_OK;
    if (tensor->type != TVLM_ELEMENT_F32 || tensor->rank != 2 || tensor->shape[1] != channels)
        return tvlm_fail(log, TVLM_ERROR_FORMAT,
                         "%s: 'query_weights' is not float32 of shape [D, %lld], a column for each channel",
                         path, (long long)channels);
    if (tensor->shape[0] < 1 || tensor->shape[0] > TVLM_FEATURES_MAX)
        return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: 'query_weights' is for queries of %lld, not of 1 to %d",
                         path, (long long)tensor->shape[0], TVLM_FEATURES_MAX);
    return check_finite(path, log, "query_weights", tensor->data, tensor->size / sizeof(float));
}

/* What is wrong with the level of a channel: neither 0 or more, nor -1. */
static bool is_wrong_level(float level) {
    return level != -1.0f && !(level >= 0.0f && isfinite(level));
}

/* Sets *found to the channels' levels, or to NULL where there are none. */
static tvlm_status find_levels(const char *path, const tvlm_log *log, const tvlm_safetensors *file,
                               int64_t channels, const tvlm_tensor **found) {
    const tvlm_tensor *const tensor = *found = tvlm_safetensors_find(file, "levels");
    if (tensor == NULL) return TVLM_OK;
    if (tensor->type != TVLM_ELEMENT_F32 || tensor->rank != 1 || tensor->shape[0] != channels)
        return tvlm_fail(log, TVLM_ERROR_FORMAT,
                         "%s: 'levels' is not float32 of shape [%lld], one for each channel", path,
                         (long long)channels);
    for (int64_t c = 0; c < channels; ++c) {
        float level;
        memcpy(&level, (const char *)tensor->data + (size_t)c * sizeof level, sizeof level);
        if (is_wrong_level(level))
            return tvlm_fail(log, TVLM_ERROR_FORMAT,
                             "%s: number %lld of 'levels' is %g; it is 0 or more, or -1", path, (long long)c,
                             (double)level);
    }
    return TVLM_OK;
}

/* The arrays of a scorer that is read, which lie in one block behind it. */
typedef struct scorer_arrays {
    float *weights, *query_weights, *levels;
    int32_t *channels;
} scorer_arrays;

/* Allocates a scorer with its weights, `dimension` rows of query weights, its channels, and perhaps their levels. */
static tvlm_scorer *allocate_scorer(int32_t channels, int32_t taps, int32_t dimension, bool levels,
                                    scorer_arrays *arrays) {
    const size_t weight_count = (size_t)channels * (size_t)taps; /* all of these are small */
    const size_t query_count = (size_t)channels * (size_t)dimension;
    tvlm_scorer *const scorer =
        tvlm_allocate(1, sizeof *scorer + (weight_count + query_count + (size_t)channels) * sizeof(float) +
                             (size_t)channels * sizeof(int32_t));
    if (scorer == NULL) return NULL;
    arrays->weights = (float *)(scorer + 1);
    arrays->query_weights = arrays->weights + weight_count;
    arrays->levels = arrays->query_weights + query_count;
    arrays->channels = (int32_t *)(arrays->levels + channels);
    *scorer = (tvlm_scorer){.channel_count = channels,
                            .channels = arrays->channels,
                            .taps = taps,
                            .weights = arrays->weights,
                            .query_weights = dimension > 0 ? arrays->query_weights : NULL,
                            .dimension = dimension,
                            .levels = levels ? arrays->levels : NULL};
    return scorer;
}

static tvlm_status parse(const char *path, const tvlm_stack *stack, const tvlm_log *log,
                         const tvlm_safetensors *file, tvlm_scorer **scorer) {
    const char *const format = tvlm_safetensors_metadata(file, "format");
    const char *const names = tvlm_safetensors_metadata(file, "channels");
    const tvlm_tensor *tensor, *query, *levels;
    float bias, similarity;
    scorer_arrays arrays;
    if (format == NULL || strcmp(format, FORMAT_NAME) != 0)
        return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: is not a scorer (its metadata lacks format = %s)", path,
                         FORMAT_NAME);
    if (names == NULL)
        return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: its metadata does not name the channels", path);
    tvlm_status status;
    if ((status = find_weights(path, log, file, &tensor)) != TVLM_OK ||
        (status = read_number(path, log, file, "bias", &bias)) != TVLM_OK ||
        (status = read_number(path, log, file, "similarity", &similarity)) != TVLM_OK ||
        (status = find_query_weights(path, log, file, tensor->shape[0], &query)) != TVLM_OK ||
        (status = find_levels(path, log, file, tensor->shape[0], &levels)) != TVLM_OK)
        return status;
    const int32_t count = (int32_t)tensor->shape[0], taps = tensor->rank == 3 ? 9 : 1;
    if (tvlm_io_count_names(names) != count)
        return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: %d channels are named, 'weights' has %d", path,
                         tvlm_io_count_names(names), count);
    const int32_t dimension = query != NULL ? (int32_t)query->shape[0] : 0;
    tvlm_scorer *const made = allocate_scorer(count, taps, dimension, levels != NULL, &arrays);
    if (made == NULL)
        return tvlm_fail(log, TVLM_ERROR_MEMORY, "%s: no memory for %d weights", path, count * taps);
    made->bias = bias;
    made->similarity_weight = similarity;
    memcpy(arrays.weights, tensor->data, tensor->size);
    if (query != NULL) memcpy(arrays.query_weights, query->data, query->size);
    if (levels != NULL) memcpy(arrays.levels, levels->data, levels->size);
    if ((status = tvlm_io_read_names(path, stack, log, names, arrays.channels)) != TVLM_OK ||
        (status = check_finite(path, log, "weights", arrays.weights, (size_t)count * (size_t)taps)) !=
            TVLM_OK) {
        free(made);
        return status;
    }
    *scorer = made;
    return TVLM_OK;
}

tvlm_status tvlm_scorer_load_for(const char *path, const tvlm_stack *stack, const tvlm_log *log,
                                 tvlm_scorer **scorer) {
    tvlm_safetensors *file = NULL;
    if (path == NULL || scorer == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_scorer_load: path or scorer is NULL");
    tvlm_status status = tvlm_safetensors_read(path, log, &file);
    if (status == TVLM_OK) status = parse(path, stack, log, file, scorer);
    tvlm_safetensors_destroy(&file);
    return status;
}

tvlm_status tvlm_scorer_load(const char *path, const tvlm_log *log, tvlm_scorer **scorer) {
    return tvlm_scorer_load_for(path, NULL, log, scorer);
}

void tvlm_scorer_destroy(tvlm_scorer **scorer) {
    if (scorer == NULL) return;
    free(*scorer);
    *scorer = NULL;
}

/* ---- Writing ---- */

static int32_t taps_of(const tvlm_scorer *scorer) {
    return scorer->taps == 0 ? 1 : scorer->taps;
}

static tvlm_status check_scorer(const char *path, const tvlm_log *log, const tvlm_scorer *scorer) {
    TVLM_CHECK_RESERVED(log, tvlm_scorer, scorer);
    if (scorer->channel_count < 1 || scorer->channel_count > TVLM_LAYOUT_CHANNELS_MAX ||
        scorer->channels == NULL || scorer->weights == NULL || (taps_of(scorer) != 1 && taps_of(scorer) != 9))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: a scorer has channels, and 1 or 9 weights for each",
                         path);
    if (scorer->query_weights != NULL && (scorer->dimension < 1 || scorer->dimension > TVLM_FEATURES_MAX))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: query weights for vectors of %d dimensions", path,
                         (int)scorer->dimension);
    const size_t count = (size_t)scorer->channel_count * (size_t)taps_of(scorer);
    const size_t query_count =
        scorer->query_weights != NULL ? (size_t)scorer->channel_count * (size_t)scorer->dimension : 0;
    bool finite = isfinite(scorer->bias) && isfinite(scorer->similarity_weight);
    for (size_t i = 0; i < count; ++i) finite = finite && isfinite(scorer->weights[i]);
    for (size_t i = 0; i < query_count; ++i) finite = finite && isfinite(scorer->query_weights[i]);
    if (!finite) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: a weight of the scorer is not finite", path);
    for (int32_t i = 0; scorer->levels != NULL && i < scorer->channel_count; ++i)
        if (is_wrong_level(scorer->levels[i]))
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                             "%s: the level of channel %d is %g; it is 0 or more, or -1", path,
                             scorer->channels[i], (double)scorer->levels[i]);
    for (int32_t i = 0; i < scorer->channel_count; ++i) {
        for (int32_t j = 0; j < i; ++j) {
            if (scorer->channels[i] == scorer->channels[j])
                return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: channel %d stands twice in the scorer", path,
                                 scorer->channels[i]);
        }
    }
    return TVLM_OK;
}

tvlm_status tvlm_scorer_save(const char *path, const tvlm_scorer *scorer, const tvlm_log *log) {
    if (path == NULL || scorer == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_scorer_save: path or scorer is NULL");
    tvlm_status status = check_scorer(path, log, scorer);
    if (status != TVLM_OK) return status;
    char *names = NULL;
    status = tvlm_io_join_names(path, log, scorer->channels, scorer->channel_count, &names);
    if (status == TVLM_OK) {
        tvlm_tensor tensors[5] = {
            {.name = "weights",
             .type = TVLM_ELEMENT_F32,
             .rank = scorer->taps == 9 ? 3 : 1,
             .shape = {scorer->channel_count, 3, 3},
             .data = scorer->weights},
            {.name = "bias", .type = TVLM_ELEMENT_F32, .rank = 1, .shape = {1}, .data = &scorer->bias},
            {.name = "similarity",
             .type = TVLM_ELEMENT_F32,
             .rank = 1,
             .shape = {1},
             .data = &scorer->similarity_weight},
        };
        const tvlm_metadata metadata[] = {{"format", FORMAT_NAME}, {"channels", names}};
        int32_t count = 3;
        if (scorer->query_weights != NULL)
            tensors[count++] = (tvlm_tensor){.name = "query_weights",
                                             .type = TVLM_ELEMENT_F32,
                                             .rank = 2,
                                             .shape = {scorer->dimension, scorer->channel_count},
                                             .data = scorer->query_weights};
        if (scorer->levels != NULL)
            tensors[count++] = (tvlm_tensor){.name = "levels",
                                             .type = TVLM_ELEMENT_F32,
                                             .rank = 1,
                                             .shape = {scorer->channel_count},
                                             .data = scorer->levels};
        status = tvlm_safetensors_write(path, tensors, count, metadata, 2, log);
    }
    free(names);
    return status;
}
