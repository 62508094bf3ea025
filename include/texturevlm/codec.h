/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec.h: few numbers, *codes*, in place of many channels, and the scorers that read them.
 *
 *     tvlm_codec_load("C.safetensors", log, &codec); // io_codec.h
 *     tvlm_stack_create_for_image(device, &image,
 *                                 tvlm_stack_params(.network = tvlm_codec_network(codec)), &stack);
 *     tvlm_codec_fold(codec, scorer, 0, log, &folded); // reads 8 codes where `scorer` reads 32 channels
 *     tvlm_select(stack, NULL, tvlm_select_params(.score = {.scorer = folded}), &selection);
 *
 * A codec of n channels and k codes has two matrices and a mean. With x the values of the channels at a place,
 *
 *     code = encode (x - mean)         encode [k, n]
 *     x is about decode code + mean    decode [n, k]
 *
 * Both are linear, and so is everything else that is done to texels of mean levels: a code that is sampled
 * between texels and levels is the code of what would have been sampled there. A linear scorer w of the
 * channels is therefore one of the codes, decode' w, whose score is that of the decoded channels up to
 * rounding. It reads k numbers a candidate in place of n.
 *
 * *Codes are channels*: the encoding is a network of one convolution of 1 x 1 (network.h), whose outputs are
 * code_0, code_1, .., of mean levels. A stack with it reads the channels once, at the codec's level; what
 * lies at finer levels is gone. Channels whose levels are no means (text, boundary and distance, and what is made
 * unit when read) are read at that level by their own rule, and are means from there on.
 *
 * A codec lives on the host, belongs to no device, and never changes: any number of threads may read it.
 */
#ifndef TEXTUREVLM_CODEC_H
#define TEXTUREVLM_CODEC_H

#include "network.h"
#include "score.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TVLM_CODEC_CHANNELS_MAX TVLM_NETWORK_INPUTS_MAX
#define TVLM_CODEC_K_MAX        TVLM_NETWORK_OUTPUTS_MAX
#define TVLM_CODEC_K_DEFAULT    8

/* The channels of a codec that names none: those of a photograph alone whose levels are means. */
#define TVLM_CODEC_CHANNELS                                                                                  \
    "r,g,b,edges,edges_inv,high,low,saliency,saliency_fine,saliency_mid,saliency_coarse,laplacian,entropy,"  \
    "sharpness,edge_x,edge_y,rgb_var,rgb_mean,cluster_distance,cluster_size"

typedef struct tvlm_codec tvlm_codec;

/* What a codec consists of. */
struct tvlm_codec_params {
    /* [channel_count]: 1 to TVLM_CODEC_CHANNELS_MAX channels, each of them once. Any that is stored, but for
     * identifiers, query_similarity, the outputs of networks, and the application's own planes. Positions are not
     * stored: they are formulas, which cost nothing to read. */
    const int32_t *channels;
    int32_t channel_count;
    /* How many codes there are: 1 to TVLM_CODEC_K_MAX, and at most as many as channels. */
    int32_t k;
    /* The level of the image at which the channels are read, 0 to TVLM_NETWORK_LEVEL_MAX; the codes are as
     * large as that level. */
    int32_t level;
    /* [k * channel_count] and [channel_count * k], row-major, within -1e15 .. 1e15. */
    const float *encode, *decode;
    /* [channel_count], within -1e15 .. 1e15; NULL means 0. */
    const float *mean;
    /* [k]: the share of the variance that each code keeps, of channels of equal variance or as they were
     * weighed; 0 to 1 but for 1e-3 of rounding. NULL means 0: it is not known. */
    const float *variance;
    uint64_t reserved[4];
};
#define tvlm_codec_params(...) TVLM_PARAMS(tvlm_codec_params, __VA_ARGS__)

/*
 * Creates a codec from numbers, which are copied. That decode undoes encode is not checked. Errors: ARGUMENT
 * (a channel that is not allowed, or stands twice; a number that is not in its range, or not finite), MEMORY.
 */
TVLM_API tvlm_status tvlm_codec_create(const struct tvlm_codec_params *params, const tvlm_log *log,
                                       tvlm_codec **codec);
TVLM_API void tvlm_codec_destroy(tvlm_codec **codec);

/* Tells what tvlm_codec_create was given. No pointer in it is NULL, and all are valid while the codec lives. */
TVLM_API tvlm_status tvlm_codec_get_params(const tvlm_codec *codec, struct tvlm_codec_params *params);

/* Returns the network that makes the codes, for tvlm_stack_params.network. It is valid while the codec lives; NULL of
 * NULL. */
TVLM_API const tvlm_network *tvlm_codec_network(const tvlm_codec *codec);

/* Refuses image `index` of a stack that has no input for one of the codec's channels (tvlm_stack_has_channel), which would
 * be 0 and change all codes. Errors: ARGUMENT (that channel's name is in the line). */
TVLM_API tvlm_status tvlm_codec_check_image(const tvlm_codec *codec, const tvlm_stack *stack, int32_t index);

/* Computes on the host the codes of `count` vectors of channels [count * channel_count], codes[count * k], and
 * what `count` codes are decoded to. */
TVLM_API void tvlm_codec_encode(const tvlm_codec *codec, const float *values, int64_t count, float *codes);
TVLM_API void tvlm_codec_decode(const tvlm_codec *codec, const float *codes, int64_t count, float *values);

/*
 * Makes the scorer that reads codes in place of the codec's channels. Code i is channel `first` + i: 0 means
 * TVLM_CHANNEL_LEARNED_0, as in a stack that has the codec's network; TVLM_CHANNEL_FEATURE_0 is for codes that were
 * kept and are handed in as features. What the scorer reads beside the codec's channels it goes on reading. Codes come
 * first, then those channels in their order. tvlm_codec_free_scorer releases it.
 *
 * Errors: ARGUMENT (a scorer that reads no channel of the codec, or reads them at different levels of their own; one that is
 * refused wherever scorers are taken; query weights, several outputs, a network; codes beyond the last channel of a family),
 * MEMORY.
 */
TVLM_API tvlm_status tvlm_codec_fold(const tvlm_codec *codec, const tvlm_scorer *scorer, int32_t first,
                                     const tvlm_log *log, tvlm_scorer **folded);

/* Releases what tvlm_codec_fold made, and no other scorer, and sets *folded to NULL. NULL and a NULL *folded
 * are fine. */
TVLM_API void tvlm_codec_free_scorer(tvlm_scorer **folded);

/* ---- Training ---- */

/*
 * A codec is trained on the channels of any images, which are added one after the other:
 *
 *     tvlm_codec_trainer_create(NULL, log, &trainer);
 *     for (each image) tvlm_codec_trainer_add(trainer, stack, 0);
 *     tvlm_codec_trainer_finish(trainer, &codec);
 *
 * It is the principal component analysis of the channels, each divided by its deviation and multiplied by its
 * weight. So what is lost is counted in deviations, and every channel counts the same unless weights say
 * otherwise. Scorers that are named are answered exactly: their directions come first, and the components of
 * what is left follow.
 */
struct tvlm_codec_trainer_params {
    /* The channels, as in tvlm_codec_params. NULL means those of TVLM_CODEC_CHANNELS. */
    const int32_t *channels;
    int32_t channel_count;
    /* How many codes; 0 means TVLM_CODEC_K_DEFAULT, or as many as there are channels where they are fewer. */
    int32_t k;
    /* The level of the image at which the channels are read. */
    int32_t level;
    /* [channel_count]: how much each channel counts, > 0 and finite. NULL means 1. */
    const float *weights;
    /* [scorer_count]: scorers whose scores the codes keep exactly. Each takes one code, one of nine taps up to
     * nine; those that depend on others take none. What they read beside the codec's channels does not count. */
    const tvlm_scorer *const *scorers;
    int32_t scorer_count;
    uint64_t reserved[4];
};
#define tvlm_codec_trainer_params(...) TVLM_PARAMS(tvlm_codec_trainer_params, __VA_ARGS__)

typedef struct tvlm_codec_trainer tvlm_codec_trainer;

/* Creates an empty trainer. Everything in `params` is copied, the scorers' numbers too. All calls on it write to `log`
 * (NULL: none), which is copied. Errors: ARGUMENT (as tvlm_codec_create; a scorer that reads none of the
 * channels, or is refused by tvlm_codec_fold), MEMORY. */
TVLM_API tvlm_status tvlm_codec_trainer_create(const struct tvlm_codec_trainer_params *params,
                                               const tvlm_log *log, tvlm_codec_trainer **trainer);
TVLM_API void tvlm_codec_trainer_destroy(tvlm_codec_trainer **trainer);

/* Returns the channels that the trainer reads, in order; they are valid while it lives. A stack that has them in its
 * layout need not add any. */
TVLM_API const int32_t *tvlm_codec_trainer_channels(const tvlm_codec_trainer *trainer, int32_t *count);

/*
 * Adds image `index` of a stack, which may be on any device: its texels at the level, or, where they are more
 * than 65,536, every second, third and so on along both axes. Every image counts the same, whatever its size. The call waits.
 * Errors: ARGUMENT (an index, a channel that the image has no input for), MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_codec_trainer_add(tvlm_codec_trainer *trainer, tvlm_stack *stack, int32_t index);

/*
 * Makes the codec of what was added; more may be added after it. A channel that is the same everywhere takes no part
 * in any code. The sign of each code is such that the channel that counts most in it counts positively. Errors:
 * ARGUMENT (no images; channels that are all the same everywhere; scorers of more directions than there are codes),
 * MEMORY.
 */
TVLM_API tvlm_status tvlm_codec_trainer_finish(tvlm_codec_trainer *trainer, tvlm_codec **codec);

#ifdef __cplusplus
}
#endif
#endif
