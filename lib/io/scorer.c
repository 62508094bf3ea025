/* SPDX-License-Identifier: Apache-2.0 */
#include "texturevlm/io_scorer.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "core/try.h"
#include "io/names.h"
#include "io/networks.h"
#include "texturevlm/channels.h"
#include "texturevlm/io.h"

#define FORMAT_NAME  "texturevlm.scorer"
#define NETWORK_NAME "texturevlm.network"
#define OUTPUTS_MAX  (1 + TVLM_USER_PLANES_MAX)

/* ---- Reading ---- */

static tvlm_status check_weights(const char *path, const tvlm_log *log, const char *what, const float *values,
                                 size_t count) {
    for (size_t i = 0; i < count; ++i) {
        if (tvlm_wrong_weight(values[i]) != NULL)
            return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: number %zu of '%s' %s", path, i, what,
                             tvlm_wrong_weight(values[i]));
    }
    return TVLM_OK;
}

/* The numbers that follow from the shapes of the tensors. */
typedef struct shape {
    int64_t outputs, channels, taps;
} shape;

/* Returns whether the two sides are those of 1 x 1 or 3 x 3 taps. */
static bool are_taps(const int64_t sides[2]) {
    return sides[0] == sides[1] && (sides[0] == 1 || sides[0] == 3);
}

/* Reads the numbers that follow from the shape of the weights. Returns false if weights cannot have that
 * shape. */
static bool shape_of(const tvlm_tensor *weights, shape *of) {
    const int64_t *const sides = weights->shape;
    *of = (shape){1, sides[0], 1};
    if (weights->rank == 1) return true;
    if (weights->rank == 3) {
        of->taps = 9;
        return sides[1] == 3 && sides[2] == 3;
    }
    if (weights->rank != 4 || !are_taps(sides + 2)) return false;
    *of = (shape){sides[0], sides[1], sides[2] * sides[3]};
    return true;
}

static tvlm_status find_weights(const char *path, const tvlm_log *log, const tvlm_safetensors *file,
                                const tvlm_tensor **weights, shape *of) {
    *weights = tvlm_safetensors_find(file, "weights");
    if (*weights == NULL) return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: there is no tensor 'weights'", path);
    if ((*weights)->type != TVLM_ELEMENT_F32 || !shape_of(*weights, of))
        return tvlm_fail(log, TVLM_ERROR_FORMAT,
                         "%s: 'weights' is not float32 of shape [C], [C, 3, 3], [O, C, 1, 1] or [O, C, 3, 3]",
                         path);
    if (of->channels < 1 || of->channels > TVLM_LAYOUT_CHANNELS_MAX)
        return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: 'weights' is for %lld channels, not for 1 to %d", path,
                         (long long)of->channels, TVLM_LAYOUT_CHANNELS_MAX);
    if (of->outputs < 1 || of->outputs > OUTPUTS_MAX)
        return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: 'weights' is for %lld outputs, not for 1 to %d", path,
                         (long long)of->outputs, OUTPUTS_MAX);
    return TVLM_OK;
}

/* Reads a tensor of one number. The number is 0 if there is no such tensor. */
static tvlm_status read_number(const char *path, const tvlm_log *log, const tvlm_safetensors *file,
                               const char *name, float *number) {
    const tvlm_tensor *const tensor = tvlm_safetensors_find(file, name);
    *number = 0.0f;
    if (tensor == NULL) return TVLM_OK;
    if (tensor->type != TVLM_ELEMENT_F32 || tensor->size != sizeof *number)
        return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: '%s' is not one float32", path, name);
    memcpy(number, tensor->data, sizeof *number);
    return check_weights(path, log, name, number, 1);
}

/* Returns whether the query weights have as many outputs, channels and taps as the weights. Sets *dimension
 * to their dimension, and *all to whether there are query weights for each tap. */
static bool fits(const tvlm_tensor *query, const shape *of, int64_t *dimension, bool *all) {
    const int64_t *const sides = query->shape;
    *all = query->rank == 5;
    *dimension = sides[*all ? 4 : 0];
    if (*all)
        return sides[0] == of->outputs && sides[1] == of->channels && are_taps(sides + 2) &&
               sides[2] * sides[3] == of->taps;
    return query->rank == 2 && sides[1] == of->channels && of->outputs == 1;
}

/* Sets *found to the query weights, or to NULL if there are none. */
static tvlm_status find_query_weights(const char *path, const tvlm_log *log, const tvlm_safetensors *file,
                                      const shape *of, const tvlm_tensor **found, int64_t *dimension,
                                      bool *all) {
    const tvlm_tensor *const tensor = *found = tvlm_safetensors_find(file, "query_weights");
    const int side = of->taps == 9 ? 3 : 1;
    *dimension = 0;
    *all = false;
    if (tensor == NULL) return TVLM_OK;
    if (tensor->type != TVLM_ELEMENT_F32 || !fits(tensor, of, dimension, all))
        return tvlm_fail(
            log, TVLM_ERROR_FORMAT,
            "%s: 'query_weights' is not float32 of shape [D, %lld], of one output, or [%lld, %lld, "
            "%d, %d, D]",
            path, (long long)of->channels, (long long)of->outputs, (long long)of->channels, side, side);
    if (*dimension < 1 || *dimension > TVLM_FEATURES_MAX)
        return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: 'query_weights' is for queries of %lld, not of 1 to %d",
                         path, (long long)*dimension, TVLM_FEATURES_MAX);
    return check_weights(path, log, "query_weights", tensor->data, tensor->size / sizeof(float));
}

/* Returns whether the level of a channel is wrong: it must be 0 or more, or -1. */
static bool is_wrong_level(float level) {
    return level != -1.0f && !(level >= 0.0f && isfinite(level));
}

/* Sets *found to the channels' levels, or to NULL if there are none. */
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

/* The arrays of a scorer that is read. They are behind the scorer in the same allocation. */
typedef struct scorer_arrays {
    float *weights, *query_weights, *levels;
    int32_t *channels;
} scorer_arrays;

/* Allocates one block for the scorer, as many weights and query weights as these numbers say, its channels,
 * and their levels. */
static tvlm_scorer *allocate_scorer(size_t weights, size_t query_weights, int64_t channels,
                                    scorer_arrays *arrays) {
    tvlm_scorer *const scorer = tvlm_allocate(
        1, sizeof *scorer + (weights + query_weights) * sizeof(float) +
               (size_t)channels * (sizeof(float) + sizeof(int32_t))); /* no overflow: the file has them */
    if (scorer == NULL) return NULL;
    arrays->weights = (float *)(scorer + 1);
    arrays->query_weights = arrays->weights + weights;
    arrays->levels = arrays->query_weights + query_weights;
    arrays->channels = (int32_t *)(arrays->levels + channels);
    return scorer;
}

/* The tensors of a scorer. A tensor that the file does not have is NULL. */
typedef struct scorer_tensors {
    const tvlm_tensor *weights, *query, *levels;
} scorer_tensors;

/* Makes a scorer from the tensors and the names of the channels. */
static tvlm_status make_scorer(const char *path, const tvlm_stack *stack, const tvlm_log *log,
                               const char *names, const shape *of, const scorer_tensors *from,
                               tvlm_scorer **scorer) {
    const size_t count = from->weights->size / sizeof(float);
    const size_t query_bytes = from->query != NULL ? from->query->size : 0;
    scorer_arrays to;
    tvlm_scorer *const made = allocate_scorer(count, query_bytes / sizeof(float), of->channels, &to);
    if (made == NULL)
        return tvlm_fail(log, TVLM_ERROR_MEMORY, "%s: no memory for a scorer of %lld channels", path,
                         (long long)of->channels);
    memcpy(to.weights, from->weights->data, from->weights->size);
    if (from->query != NULL) memcpy(to.query_weights, from->query->data, query_bytes);
    if (from->levels != NULL) memcpy(to.levels, from->levels->data, from->levels->size);
    *made = (tvlm_scorer){.channel_count = (int32_t)of->channels,
                          .channels = to.channels,
                          .taps = (int32_t)of->taps,
                          .weights = to.weights,
                          .query_weights = from->query != NULL ? to.query_weights : NULL,
                          .outputs = (int32_t)of->outputs,
                          .levels = from->levels != NULL ? to.levels : NULL};
    tvlm_status status = tvlm_io_read_names(path, stack, log, names, to.channels);
    if (status == TVLM_OK) status = check_weights(path, log, "weights", to.weights, count);
    if (status == TVLM_OK)
        *scorer = made;
    else
        free(made);
    return status;
}

static tvlm_status parse(const char *path, const tvlm_stack *stack, const tvlm_log *log,
                         const tvlm_safetensors *file, tvlm_scorer **scorer) {
    const char *const names = tvlm_safetensors_metadata(file, "channels");
    scorer_tensors from;
    float bias, similarity;
    int64_t dimension;
    bool all;
    shape of;
    tvlm_scorer *made = NULL;
    if (names == NULL)
        return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: its metadata does not name the channels", path);
    TVLM_TRY(find_weights(path, log, file, &from.weights, &of));
    TVLM_TRY(read_number(path, log, file, "bias", &bias));
    TVLM_TRY(read_number(path, log, file, "similarity", &similarity));
    TVLM_TRY(find_query_weights(path, log, file, &of, &from.query, &dimension, &all));
    TVLM_TRY(find_levels(path, log, file, of.channels, &from.levels));
    if (tvlm_io_count_names(names) != of.channels)
        return tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: %d channels are named, 'weights' has %d", path,
                         (int)tvlm_io_count_names(names), (int)of.channels);
    TVLM_TRY(make_scorer(path, stack, log, names, &of, &from, &made));
    made->bias = bias;
    made->similarity_weight = similarity;
    made->dimension = (int32_t)dimension;
    made->query_taps = all ? made->taps : 0;
    *scorer = made;
    return TVLM_OK;
}

static tvlm_status refuse_network(const char *path, const tvlm_log *log) {
    return tvlm_fail(log, TVLM_ERROR_UNSUPPORTED,
                     "%s: networks are of the lab, which this build leaves out (TVLM_WITH_LAB)", path);
}

static tvlm_status load_network(const char *path, const tvlm_log *log, tvlm_scorer **scorer) {
    struct tvlm_network *network = NULL;
    if (tvlm_io_networks.load == NULL) return refuse_network(path, log);
    TVLM_TRY(tvlm_io_networks.load(path, log, &network));
    tvlm_scorer *const made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) {
        tvlm_io_networks.destroy(&network);
        return tvlm_fail(log, TVLM_ERROR_MEMORY, "%s: no memory for a scorer", path);
    }
    made->network = network;
    *scorer = made;
    return TVLM_OK;
}

tvlm_status tvlm_scorer_load_for(const char *path, const tvlm_stack *stack, const tvlm_log *log,
                                 tvlm_scorer **scorer) {
    tvlm_safetensors *file = NULL;
    if (path == NULL || scorer == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_scorer_load: path or scorer is NULL");
    TVLM_TRY(tvlm_safetensors_read(path, log, &file));
    const char *const format = tvlm_safetensors_metadata(file, "format");
    const bool is_network = format != NULL && strcmp(format, NETWORK_NAME) == 0;
    tvlm_status status = TVLM_OK;
    if (format == NULL || (!is_network && strcmp(format, FORMAT_NAME) != 0))
        status = tvlm_fail(log, TVLM_ERROR_FORMAT, "%s: is not a scorer (its metadata lacks format = %s)",
                           path, FORMAT_NAME);
    else if (!is_network)
        status = parse(path, stack, log, file, scorer);
    tvlm_safetensors_destroy(&file);
    return status == TVLM_OK && is_network ? load_network(path, log, scorer) : status;
}

tvlm_status tvlm_scorer_load(const char *path, const tvlm_log *log, tvlm_scorer **scorer) {
    return tvlm_scorer_load_for(path, NULL, log, scorer);
}

void tvlm_scorer_destroy(tvlm_scorer **scorer) {
    if (scorer == NULL || *scorer == NULL) return;
    /* The functions above have made the scorer. So its network is not shared, and may be changed. */
    struct tvlm_network *network = (struct tvlm_network *)(*scorer)->network;
    if (network != NULL) tvlm_io_networks.destroy(&network);
    free(*scorer);
    *scorer = NULL;
}

/* ---- Writing ---- */

/* Returns the scorer with the defaults filled in for numbers that are 0. */
static tvlm_scorer resolved(const tvlm_scorer *scorer) {
    tvlm_scorer all = *scorer;
    if (all.taps == 0) all.taps = 1;
    if (all.outputs == 0) all.outputs = 1;
    return all;
}

static size_t weight_count(const tvlm_scorer *scorer) {
    return (size_t)scorer->outputs * (size_t)scorer->channel_count * (size_t)scorer->taps;
}

static size_t query_count(const tvlm_scorer *scorer) {
    const size_t rows =
        scorer->query_taps != 0 ? weight_count(scorer) : (size_t)scorer->channel_count; /* one output */
    return scorer->query_weights != NULL ? rows * (size_t)scorer->dimension : 0;
}

static tvlm_status check_numbers(const char *path, const tvlm_log *log, const tvlm_scorer *scorer) {
    if (scorer->channel_count < 1 || scorer->channel_count > TVLM_LAYOUT_CHANNELS_MAX ||
        scorer->channels == NULL || scorer->weights == NULL || (scorer->taps != 1 && scorer->taps != 9))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: a scorer has channels, and 1 or 9 weights for each",
                         path);
    if (scorer->outputs < 1 || scorer->outputs > OUTPUTS_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: a scorer of %d outputs; 1 to %d are possible", path,
                         (int)scorer->outputs, OUTPUTS_MAX);
    if (scorer->query_weights == NULL) return TVLM_OK;
    if (scorer->dimension < 1 || scorer->dimension > TVLM_FEATURES_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: query weights for vectors of %d dimensions", path,
                         (int)scorer->dimension);
    if (scorer->query_taps != scorer->taps && (scorer->query_taps != 0 || scorer->outputs != 1))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "%s: query weights of %d taps for a scorer of %d outputs and %d taps", path,
                         (int)scorer->query_taps, (int)scorer->outputs, (int)scorer->taps);
    return TVLM_OK;
}

static tvlm_status check_scorer(const char *path, const tvlm_log *log, const tvlm_scorer *scorer) {
    TVLM_TRY(check_numbers(path, log, scorer));
    const char *wrong = tvlm_wrong_weight(scorer->bias);
    if (wrong == NULL) wrong = tvlm_wrong_weight(scorer->similarity_weight);
    for (size_t i = 0; wrong == NULL && i < weight_count(scorer); ++i)
        wrong = tvlm_wrong_weight(scorer->weights[i]);
    for (size_t i = 0; wrong == NULL && i < query_count(scorer); ++i)
        wrong = tvlm_wrong_weight(scorer->query_weights[i]);
    if (wrong != NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: a weight of the scorer %s", path, wrong);
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

/* Describes the weights as a tensor. For a scorer of one output the tensor has no axis of outputs, as in
 * files of earlier versions. */
static tvlm_tensor weights_tensor(const tvlm_scorer *scorer) {
    const int64_t side = scorer->taps == 9 ? 3 : 1;
    tvlm_tensor tensor = {.name = "weights", .type = TVLM_ELEMENT_F32, .data = scorer->weights};
    if (scorer->outputs > 1) {
        tensor.rank = 4;
        tensor.shape[0] = scorer->outputs;
        tensor.shape[1] = scorer->channel_count;
        tensor.shape[2] = tensor.shape[3] = side;
    } else {
        tensor.rank = side == 3 ? 3 : 1;
        tensor.shape[0] = scorer->channel_count;
        tensor.shape[1] = tensor.shape[2] = side;
    }
    return tensor;
}

static tvlm_tensor query_tensor(const tvlm_scorer *scorer) {
    const int64_t side = scorer->taps == 9 ? 3 : 1;
    if (scorer->query_taps == 0)
        return (tvlm_tensor){.name = "query_weights",
                             .type = TVLM_ELEMENT_F32,
                             .rank = 2,
                             .shape = {scorer->dimension, scorer->channel_count},
                             .data = scorer->query_weights};
    return (tvlm_tensor){.name = "query_weights",
                         .type = TVLM_ELEMENT_F32,
                         .rank = 5,
                         .shape = {scorer->outputs, scorer->channel_count, side, side, scorer->dimension},
                         .data = scorer->query_weights};
}

static tvlm_status write_scorer(const char *path, const tvlm_scorer *scorer, const tvlm_log *log) {
    char *names = NULL;
    tvlm_tensor tensors[5] = {
        weights_tensor(scorer),
        {.name = "bias", .type = TVLM_ELEMENT_F32, .rank = 1, .shape = {1}, .data = &scorer->bias},
        {.name = "similarity",
         .type = TVLM_ELEMENT_F32,
         .rank = 1,
         .shape = {1},
         .data = &scorer->similarity_weight},
    };
    int32_t count = 3;
    if (scorer->query_weights != NULL) tensors[count++] = query_tensor(scorer);
    if (scorer->levels != NULL)
        tensors[count++] = (tvlm_tensor){.name = "levels",
                                         .type = TVLM_ELEMENT_F32,
                                         .rank = 1,
                                         .shape = {scorer->channel_count},
                                         .data = scorer->levels};
    tvlm_status status = tvlm_io_join_names(path, log, scorer->channels, scorer->channel_count, &names);
    if (status == TVLM_OK) {
        const tvlm_metadata metadata[] = {{"format", FORMAT_NAME}, {"channels", names}};
        status = tvlm_safetensors_write(path, tensors, count, metadata, 2, log);
    }
    free(names);
    return status;
}

tvlm_status tvlm_scorer_save(const char *path, const tvlm_scorer *scorer, const tvlm_log *log) {
    if (path == NULL || scorer == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_scorer_save: path or scorer is NULL");
    TVLM_CHECK_RESERVED(log, tvlm_scorer, scorer);
    if (scorer->network != NULL)
        return tvlm_io_networks.save != NULL ? tvlm_io_networks.save(path, scorer->network, log)
                                             : refuse_network(path, log);
    const tvlm_scorer all = resolved(scorer);
    TVLM_TRY(check_scorer(path, log, &all));
    return write_scorer(path, &all, log);
}
