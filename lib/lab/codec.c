/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec.c: codecs as objects, codecs as networks, and scorers that read codes.
 */
#include "lab/codec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/basis.h"
#include "core/check.h"
#include "core/memory.h"
#include "core/registry.h"
#include "core/try.h"
#include "stack/stack.h"
#include "texturevlm/input.h"

/* The pointers in `params`, `network` and `layer` point into the arrays that follow. */
struct tvlm_codec {
    struct tvlm_codec_params params;
    tvlm_network network;
    tvlm_network_layer layer;
    int32_t channels[TVLM_CODEC_CHANNELS_MAX];
    char names[TVLM_CODEC_K_MAX][16];
    const char *outputs[TVLM_CODEC_K_MAX];
    float numbers[]; /* encode, decode, mean and variance, and then the network's bias */
};

/* ---- Checks ---- */

static tvlm_status check_channel(const tvlm_log *log, int32_t channel) {
    tvlm_channel_info info;
    if (tvlm_channel_get_info(channel, &info) != TVLM_OK)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a codec: there is no channel %d", (int)channel);
    const tvlm_grid grid = tvlm_channel_get_place(channel).grid;
    if (info.identifier)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a codec of %s: it is an identifier, and no sum makes sense of it", info.name);
    if (grid == TVLM_GRID_FORMULA)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a codec of %s: it is a formula, which is not stored and costs nothing to read",
                         info.name);
    if (grid == TVLM_GRID_LEARNED || grid == TVLM_GRID_QUERY)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a codec of %s: it comes after the codes", info.name);
    return TVLM_OK;
}

tvlm_status tvlm_codec_check_channels(const tvlm_log *log, const int32_t *channels, int32_t count, int32_t k,
                                      int32_t level) {
    if (count < 1 || count > TVLM_CODEC_CHANNELS_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a codec of %d channels; 1 to %d are possible", (int)count,
                         TVLM_CODEC_CHANNELS_MAX);
    TVLM_NEED(log, channels);
    for (int32_t i = 0; i < count; ++i) {
        TVLM_TRY(check_channel(log, channels[i]));
        for (int32_t j = 0; j < i; ++j)
            if (channels[i] == channels[j])
                return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a codec: its channel %d stands twice",
                                 (int)channels[i]);
    }
    const int32_t most = count < TVLM_CODEC_K_MAX ? count : TVLM_CODEC_K_MAX;
    if (k < 1 || k > most)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a codec of %d codes for %d channels; 1 to %d are possible", (int)k, (int)count,
                         (int)most);
    if (level < 0 || level > TVLM_NETWORK_LEVEL_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a codec at level %d; 0 to %d are possible", (int)level,
                         TVLM_NETWORK_LEVEL_MAX);
    return TVLM_OK;
}

static tvlm_status check_params(const tvlm_log *log, const struct tvlm_codec_params *p) {
    TVLM_NEED(log, p);
    TVLM_CHECK_RESERVED(log, tvlm_codec_params, p);
    TVLM_TRY(tvlm_codec_check_channels(log, p->channels, p->channel_count, p->k, p->level));
    if (p->encode == NULL || p->decode == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a codec without encode or decode");
    const size_t n = (size_t)p->channel_count, k = (size_t)p->k;
    TVLM_TRY(tvlm_check_magnitude(log, "a codec", "encode", p->encode, k * n));
    TVLM_TRY(tvlm_check_magnitude(log, "a codec", "decode", p->decode, k * n));
    TVLM_TRY(tvlm_check_magnitude(log, "a codec", "mean", p->mean, n));
    return tvlm_check_shares(log, "a codec", p->variance, k);
}

/* ---- Objects ---- */

/* Copies `count` numbers to *to, and moves *to behind them. If `from` is NULL, the numbers stay zeros. */
static const float *append(float **to, const float *from, size_t count) {
    float *const at = *to;
    if (from != NULL) memcpy(at, from, count * sizeof *at);
    *to += count;
    return at;
}

/* Makes the network whose one layer encodes. Its bias subtracts the mean. */
static void fill_network(tvlm_codec *codec, float *bias) {
    const struct tvlm_codec_params *const p = &codec->params;
    for (int32_t i = 0; i < p->k; ++i) {
        double sum = 0.0;
        for (int32_t c = 0; c < p->channel_count; ++c)
            sum += (double)p->encode[i * p->channel_count + c] * (double)p->mean[c];
        bias[i] = (float)-sum;
        snprintf(codec->names[i], sizeof codec->names[i], "code_%d", (int)i);
        codec->outputs[i] = codec->names[i];
    }
    codec->layer = (tvlm_network_layer){.inputs = p->channel_count,
                                        .outputs = p->k,
                                        .side = 1,
                                        .stride = 1,
                                        .weights = p->encode,
                                        .bias = bias};
    codec->network = (tvlm_network){.inputs = p->channels,
                                    .input_count = p->channel_count,
                                    .level = p->level,
                                    .outputs = codec->outputs,
                                    .output_count = p->k,
                                    .layers = &codec->layer,
                                    .layer_count = 1};
}

tvlm_status tvlm_codec_create(const struct tvlm_codec_params *params, const tvlm_log *log,
                              tvlm_codec **codec) {
    TVLM_NEED(log, codec);
    TVLM_TRY(check_params(log, params));
    const size_t n = (size_t)params->channel_count, k = (size_t)params->k;
    tvlm_codec *made = tvlm_allocate(1, sizeof *made + (2 * k * n + n + 2 * k) * sizeof(float));
    if (made == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for a codec");
    float *to = made->numbers;
    memcpy(made->channels, params->channels, n * sizeof *made->channels);
    made->params = *params;
    made->params.channels = made->channels;
    made->params.encode = append(&to, params->encode, k * n);
    made->params.decode = append(&to, params->decode, k * n);
    made->params.mean = append(&to, params->mean, n);
    made->params.variance = append(&to, params->variance, k);
    fill_network(made, to);
    for (size_t i = 0; i < k; ++i)
        if (tvlm_wrong_weight(made->layer.bias[i]) != NULL) {
            tvlm_codec_destroy(&made);
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "encode times mean of code %zu is beyond 1e15", i);
        }
    *codec = made;
    return TVLM_OK;
}

void tvlm_codec_destroy(tvlm_codec **codec) {
    if (codec == NULL) return;
    free(*codec);
    *codec = NULL;
}

tvlm_status tvlm_codec_get_params(const tvlm_codec *codec, struct tvlm_codec_params *params) {
    TVLM_NEED(NULL, codec);
    TVLM_NEED(NULL, params);
    *params = codec->params;
    return TVLM_OK;
}

const tvlm_network *tvlm_codec_network(const tvlm_codec *codec) {
    return codec != NULL ? &codec->network : NULL;
}

void tvlm_codec_encode(const tvlm_codec *codec, const float *values, int64_t count, float *codes) {
    const struct tvlm_codec_params *const p = &codec->params;
    for (int64_t v = 0; v < count; ++v, values += p->channel_count)
        for (int32_t i = 0; i < p->k; ++i) {
            const float *const row = p->encode + (size_t)i * (size_t)p->channel_count;
            double sum = 0.0;
            for (int32_t c = 0; c < p->channel_count; ++c)
                sum += (double)row[c] * ((double)values[c] - (double)p->mean[c]);
            *codes++ = (float)sum;
        }
}

void tvlm_codec_decode(const tvlm_codec *codec, const float *codes, int64_t count, float *values) {
    const struct tvlm_codec_params *const p = &codec->params;
    for (int64_t v = 0; v < count; ++v, codes += p->k)
        for (int32_t c = 0; c < p->channel_count; ++c) {
            const float *const row = p->decode + (size_t)c * (size_t)p->k;
            double sum = (double)p->mean[c];
            for (int32_t i = 0; i < p->k; ++i) sum += (double)row[i] * (double)codes[i];
            *values++ = (float)sum;
        }
}

tvlm_status tvlm_codec_check_inputs(const tvlm_log *log, const int32_t *channels, int32_t count,
                                    const tvlm_stack *stack, int32_t index) {
    tvlm_channel_info lacking;
    TVLM_TRY(tvlm_stack_check_index(stack, index));
    TVLM_TRY(tvlm_stack_find_lacking(stack, index, channels, count, &lacking));
    if (lacking.channel == TVLM_CHANNEL_NONE) return TVLM_OK;
    return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the codec is of %s, for which the image has no input",
                     lacking.name);
}

tvlm_status tvlm_codec_check_image(const tvlm_codec *codec, const tvlm_stack *stack, int32_t index) {
    TVLM_NEED(NULL, codec);
    TVLM_NEED(NULL, stack);
    return tvlm_codec_check_inputs(tvlm_stack_log(stack), codec->params.channels, codec->params.channel_count,
                                   stack, index);
}

/* ---- Scorers of codes ---- */

static int32_t place_in(const int32_t *channels, int32_t count, int32_t channel) {
    for (int32_t i = 0; i < count; ++i)
        if (channels[i] == channel) return i;
    return -1;
}

static tvlm_status check_weights(const tvlm_log *log, const tvlm_scorer *scorer) {
    const size_t count = (size_t)scorer->channel_count * (size_t)tvlm_codec_taps(scorer);
    const char *wrong = tvlm_wrong_weight(scorer->bias);
    if (wrong == NULL) wrong = tvlm_wrong_weight(scorer->similarity_weight);
    for (size_t i = 0; wrong == NULL && i < count; ++i) wrong = tvlm_wrong_weight(scorer->weights[i]);
    if (wrong == NULL) return TVLM_OK;
    return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a weight of the scorer %s", wrong);
}

/* Returns the level at which the scorer reads its channel i, or -1 for the level of the candidates. */
static float level_of(const tvlm_scorer *scorer, int32_t i) {
    return scorer->levels != NULL ? scorer->levels[i] : -1.0f;
}

/* Finds the first of the scorer's channels that is one of the codec's. Refuses a scorer that has no such
 * channel, or reads them at different levels. */
static tvlm_status find_common(const tvlm_log *log, const int32_t *channels, int32_t count,
                               const tvlm_scorer *scorer, int32_t *common) {
    tvlm_channel_info info = {.name = "?"};
    *common = -1;
    for (int32_t i = 0; i < scorer->channel_count; ++i) {
        if (place_in(channels, count, scorer->channels[i]) < 0) continue;
        if (*common < 0) *common = i;
        if (level_of(scorer, i) != level_of(scorer, *common))
            return tvlm_fail(
                log, TVLM_ERROR_ARGUMENT,
                "a scorer that reads the codec's channels at different levels cannot read codes");
    }
    if (*common >= 0) return TVLM_OK;
    (void)tvlm_channel_get_info(scorer->channels[0], &info); /* this fails for planes of the application */
    return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                     "a codec of other channels: the scorer reads %s%s, and none of the codec's %d",
                     info.name, scorer->channel_count > 1 ? " and others" : "", (int)count);
}

tvlm_status tvlm_codec_check_scorer(const tvlm_log *log, const int32_t *channels, int32_t count,
                                    const tvlm_scorer *scorer) {
    int32_t common;
    TVLM_NEED(log, scorer);
    TVLM_CHECK_RESERVED(log, tvlm_scorer, scorer);
    if (scorer->network != NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "a scorer that is a network cannot read codes: a linear one is possible");
    const int32_t taps = tvlm_codec_taps(scorer);
    if (scorer->channel_count < 1 || scorer->channel_count > TVLM_LAYOUT_CHANNELS_MAX ||
        scorer->channels == NULL || scorer->weights == NULL || (taps != 1 && taps != 9))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a scorer has channels, and 1 or 9 weights for each");
    if (scorer->outputs > 1)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "a scorer of %d outputs cannot read codes: 1 is possible",
                         (int)scorer->outputs);
    if (scorer->query_weights != NULL)
        return tvlm_fail(
            log, TVLM_ERROR_ARGUMENT,
            "a scorer with query weights cannot read codes: its weights change with the question");
    TVLM_TRY(check_weights(log, scorer));
    return find_common(log, channels, count, scorer, &common);
}

/* Checks the channels that hold the codes. They must be of one family, and the scorer must not read any of
 * them as something else. */
static tvlm_status check_codes(const tvlm_log *log, const struct tvlm_codec_params *p, int32_t first,
                               const tvlm_scorer *scorer) {
    const int32_t k = p->k;
    tvlm_channel_info from, to;
    if (tvlm_channel_get_info(first, &from) != TVLM_OK ||
        tvlm_channel_get_info(first + k - 1, &to) != TVLM_OK || strcmp(from.family, to.family) != 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d codes from channel %d on: they are not in one family",
                         (int)k, (int)first);
    for (int32_t i = 0; i < scorer->channel_count; ++i)
        if (scorer->channels[i] >= first && scorer->channels[i] < first + k &&
            place_in(p->channels, p->channel_count, scorer->channels[i]) < 0)
            return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                             "the scorer reads channel %d, in whose place a code stands",
                             (int)scorer->channels[i]);
    return TVLM_OK;
}

/* The arrays of a folded scorer. They are behind the scorer in the same allocation. */
typedef struct scorer_arrays {
    float *weights, *levels;
    int32_t *channels;
} scorer_arrays;

static tvlm_scorer *allocate_scorer(int32_t channels, int32_t taps, scorer_arrays *arrays) {
    const size_t count = (size_t)channels * ((size_t)taps + 1);
    tvlm_scorer *const made =
        tvlm_allocate(1, sizeof *made + count * sizeof(float) + (size_t)channels * sizeof(int32_t));
    if (made == NULL) return NULL;
    arrays->weights = (float *)(made + 1);
    arrays->levels = arrays->weights + (size_t)channels * (size_t)taps;
    arrays->channels = (int32_t *)(arrays->levels + channels);
    return made;
}

/* Returns a weight of w' = decode' w, which holds for each tap by itself. */
static double folded_weight(const struct tvlm_codec_params *p, const tvlm_scorer *scorer, int32_t taps,
                            int32_t code, int32_t tap) {
    double sum = 0.0;
    for (int32_t i = 0; i < scorer->channel_count; ++i) {
        const int32_t c = place_in(p->channels, p->channel_count, scorer->channels[i]);
        if (c >= 0)
            sum += (double)p->decode[(size_t)c * (size_t)p->k + (size_t)code] *
                   (double)scorer->weights[(size_t)i * (size_t)taps + (size_t)tap];
    }
    return sum;
}

/* Returns the score that the scorer's weights give to the mean. */
static double score_of_mean(const struct tvlm_codec_params *p, const tvlm_scorer *scorer, int32_t taps) {
    double sum = 0.0;
    for (int32_t i = 0; i < scorer->channel_count; ++i) {
        const int32_t c = place_in(p->channels, p->channel_count, scorer->channels[i]);
        for (int32_t tap = 0; c >= 0 && tap < taps; ++tap)
            sum += (double)p->mean[c] * (double)scorer->weights[(size_t)i * (size_t)taps + (size_t)tap];
    }
    return sum;
}

tvlm_status tvlm_codec_fold(const tvlm_codec *codec, const tvlm_scorer *scorer, int32_t first,
                            const tvlm_log *log, tvlm_scorer **folded) {
    TVLM_NEED(log, codec);
    TVLM_NEED(log, folded);
    const struct tvlm_codec_params *const p = &codec->params;
    if (first == 0) first = TVLM_CHANNEL_LEARNED_0;
    int32_t common = 0, count = p->k;
    TVLM_TRY(tvlm_codec_check_scorer(log, p->channels, p->channel_count, scorer));
    TVLM_TRY(find_common(log, p->channels, p->channel_count, scorer, &common));
    TVLM_TRY(check_codes(log, p, first, scorer));
    const int32_t taps = tvlm_codec_taps(scorer);
    scorer_arrays a;
    tvlm_scorer *const made = allocate_scorer(p->k + scorer->channel_count, taps, &a);
    if (made == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory for a scorer");
    for (int32_t i = 0; i < p->k; ++i) {
        a.channels[i] = first + i;
        a.levels[i] = level_of(scorer, common);
        for (int32_t tap = 0; tap < taps; ++tap)
            a.weights[i * taps + tap] = (float)folded_weight(p, scorer, taps, i, tap);
    }
    for (int32_t i = 0; i < scorer->channel_count; ++i) {
        if (place_in(p->channels, p->channel_count, scorer->channels[i]) >= 0) continue;
        memcpy(a.weights + (size_t)count * (size_t)taps, scorer->weights + (size_t)i * (size_t)taps,
               (size_t)taps * sizeof *a.weights);
        a.levels[count] = level_of(scorer, i);
        a.channels[count++] = scorer->channels[i];
    }
    *made = (tvlm_scorer){.channel_count = count,
                          .channels = a.channels,
                          .taps = taps,
                          .weights = a.weights,
                          .bias = (float)((double)scorer->bias + score_of_mean(p, scorer, taps)),
                          .similarity_weight = scorer->similarity_weight,
                          .levels = scorer->levels != NULL ? a.levels : NULL};
    *folded = made;
    return TVLM_OK;
}

void tvlm_codec_free_scorer(tvlm_scorer **folded) {
    if (folded == NULL) return;
    free(*folded);
    *folded = NULL;
}
