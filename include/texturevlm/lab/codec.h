/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/codec.h: replaces many channels by a few numbers, *codes*, and makes scorers that read these.
 *
 *     tvlm_codec_load("C.safetensors", log, &codec); // lab/io_codec.h
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
 * *Why scorers can read codes.* Both formulas are linear, and so are the filters that make levels of means and
 * sample them. So a code that is sampled between texels and levels is the code of the channels that would have
 * been sampled there. A linear scorer of the channels, with the weights w, can therefore be replaced by a linear
 * scorer of the codes, with the weights decode' w. Up to rounding, its score is that of w for the decoded
 * channels. It reads k numbers for each candidate instead of n.
 *
 * *Codes are channels.* The encoding is a network of one convolution of 1 x 1 (lab/network.h). Its outputs are code_0,
 * code_1 and so on, whose levels are means. A stack with this network reads the channels once, at the codec's
 * level, so that the detail of finer levels is lost. Some channels have levels that are not means: text, boundary
 * and distance, and those that are brought to unit length when they are read. They are read at the codec's level
 * by their own rule, and from that level on their codes are means.
 *
 * A codec lives on the host, belongs to no device, and never changes: any number of threads may read it.
 *
 * This header is of the lab: it may change in any version.
 */
#ifndef TEXTUREVLM_LAB_CODEC_H
#define TEXTUREVLM_LAB_CODEC_H

#include "texturevlm/lab/network.h"
#include "texturevlm/score.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TVLM_CODEC_CHANNELS_MAX TVLM_NETWORK_INPUTS_MAX
#define TVLM_CODEC_K_MAX        TVLM_NETWORK_OUTPUTS_MAX
#define TVLM_CODEC_K_DEFAULT    8

/* The channels of a codec that names none. They are the ones that a photograph alone gives and whose levels are
 * means. */
#define TVLM_CODEC_CHANNELS                                                                                  \
    "r,g,b,edges,edges_inv,high,low,saliency,saliency_fine,saliency_mid,saliency_coarse,laplacian,entropy,"  \
    "sharpness,edge_x,edge_y,rgb_var,rgb_mean,cluster_distance,cluster_size"

typedef struct tvlm_codec tvlm_codec;

/* What a codec consists of. */
struct tvlm_codec_params {
    /* [channel_count]: 1 to TVLM_CODEC_CHANNELS_MAX channels, each of them once. These channels are refused:
     *   - identifiers;
     *   - query_similarity, and the outputs of networks;
     *   - the application's own planes;
     *   - positions, which are not stored: they are formulas, and cost nothing to read. */
    const int32_t *channels;
    int32_t channel_count;
    /* The number of codes: 1 to TVLM_CODEC_K_MAX, and at most that of the channels. */
    int32_t k;
    /* The level of the image at which the channels are read, 0 to TVLM_NETWORK_LEVEL_MAX. The grid of the codes
     * has the size of that level. */
    int32_t level;
    /* [k * channel_count] and [channel_count * k], row-major, within -1e15 .. 1e15. */
    const float *encode, *decode;
    /* [channel_count], within -1e15 .. 1e15; NULL means 0. */
    const float *mean;
    /* [k]: the share of the variance that each code keeps, after the channels were brought to equal variance and
     * multiplied by their weights. It is 0 to 1, and may be beyond by 1e-3 for rounding. NULL means 0: it is not
     * known. */
    const float *variance;
    uint64_t reserved[4];
};
#define tvlm_codec_params(...) TVLM_PARAMS(tvlm_codec_params, __VA_ARGS__)

/*
 * Creates a codec from numbers, which are copied. It is not checked that `decode` undoes `encode`. Errors:
 * ARGUMENT (a channel that is refused, or stands twice; a number that is not in its range, or not finite),
 * MEMORY.
 */
TVLM_API tvlm_status tvlm_codec_create(const struct tvlm_codec_params *params, const tvlm_log *log,
                                       tvlm_codec **codec);
TVLM_API void tvlm_codec_destroy(tvlm_codec **codec);

/* Tells what tvlm_codec_create was given. No pointer in it is NULL, and all are valid while the codec lives. */
TVLM_API tvlm_status tvlm_codec_get_params(const tvlm_codec *codec, struct tvlm_codec_params *params);

/* Returns the network that makes the codes, for tvlm_stack_params.network. It is valid while the codec lives. For
 * a NULL codec it is NULL. */
TVLM_API const tvlm_network *tvlm_codec_network(const tvlm_codec *codec);

/* Checks that image `index` of a stack has an input for each of the codec's channels (tvlm_stack_has_channel). A
 * channel without an input would be 0, and change all codes. Errors: ARGUMENT (the line in the log names the
 * channel that has no input). */
TVLM_API tvlm_status tvlm_codec_check_image(const tvlm_codec *codec, const tvlm_stack *stack, int32_t index);

/* tvlm_codec_encode computes the codes, codes[count * k], of `count` vectors of channel values,
 * values[count * channel_count]. tvlm_codec_decode computes such vectors from codes. Both work on the host. */
TVLM_API void tvlm_codec_encode(const tvlm_codec *codec, const float *values, int64_t count, float *codes);
TVLM_API void tvlm_codec_decode(const tvlm_codec *codec, const float *codes, int64_t count, float *values);

/*
 * Makes a scorer that reads codes in place of the codec's channels. tvlm_codec_free_scorer releases it.
 *
 * Code i is channel `first` + i. A `first` of 0 means TVLM_CHANNEL_LEARNED_0, where a stack with the codec's
 * network has its codes. TVLM_CHANNEL_FEATURE_0 is for codes that were kept and are handed in as features. The new
 * scorer goes on reading the channels that are not the codec's: they follow the codes, in their order.
 *
 * Errors: MEMORY, and ARGUMENT for
 *   - a scorer that reads no channel of the codec, or that reads its channels at different levels of their own;
 *   - a scorer that is refused wherever scorers are taken;
 *   - a scorer that would go on to read a channel that a code replaces;
 *   - a scorer with query weights or several outputs, or one that is a network;
 *   - codes that go beyond the last channel of a family.
 */
TVLM_API tvlm_status tvlm_codec_fold(const tvlm_codec *codec, const tvlm_scorer *scorer, int32_t first,
                                     const tvlm_log *log, tvlm_scorer **folded);

/* Releases a scorer that tvlm_codec_fold made, and sets *folded to NULL. It must not be called for other scorers.
 * NULL, and a NULL *folded, are fine. */
TVLM_API void tvlm_codec_free_scorer(tvlm_scorer **folded);

/* ---- Training ---- */

/*
 * A codec is trained on the channels of any images, which are added one after the other:
 *
 *     tvlm_codec_trainer_create(NULL, log, &trainer);
 *     for (each image) tvlm_codec_trainer_add(trainer, stack, 0);
 *     tvlm_codec_trainer_finish(trainer, &codec);
 *
 * The codec is the principal component analysis of the channels. First each channel is divided by its standard
 * deviation and multiplied by its weight. So the loss is counted in deviations, and every channel counts the same
 * unless there are weights. The codes keep the scores of the given scorers exactly: the directions of these
 * scorers come first, and the principal components of the rest follow.
 */
struct tvlm_codec_trainer_params {
    /* The channels, as in tvlm_codec_params. NULL means those of TVLM_CODEC_CHANNELS. */
    const int32_t *channels;
    int32_t channel_count;
    /* The number of codes. 0 means TVLM_CODEC_K_DEFAULT, or that of the channels where there are fewer. */
    int32_t k;
    /* The level of the image at which the channels are read. */
    int32_t level;
    /* [channel_count]: how much each channel counts, > 0 and finite. NULL means 1. */
    const float *weights;
    /* [scorer_count]: scorers whose scores the codes keep exactly. A scorer of one tap takes one code, and one of
     * nine taps up to nine. Directions that depend linearly on those of other scorers take none. Other channels
     * than the codec's that a scorer reads do not count. */
    const tvlm_scorer *const *scorers;
    int32_t scorer_count;
    uint64_t reserved[4];
};
#define tvlm_codec_trainer_params(...) TVLM_PARAMS(tvlm_codec_trainer_params, __VA_ARGS__)

typedef struct tvlm_codec_trainer tvlm_codec_trainer;

/* Creates an empty trainer. Everything in `params` is copied, the scorers' numbers too. `log` is copied as well:
 * all calls with this trainer write to it (NULL: to none). Errors: ARGUMENT (as tvlm_codec_create; a scorer that
 * reads none of the channels, or that tvlm_codec_fold refuses), MEMORY. */
TVLM_API tvlm_status tvlm_codec_trainer_create(const struct tvlm_codec_trainer_params *params,
                                               const tvlm_log *log, tvlm_codec_trainer **trainer);
TVLM_API void tvlm_codec_trainer_destroy(tvlm_codec_trainer **trainer);

/* Returns the channels that the trainer reads, in order. They are valid while it lives. A stack whose layout has
 * all of them need not add any when it is read. */
TVLM_API const int32_t *tvlm_codec_trainer_channels(const tvlm_codec_trainer *trainer, int32_t *count);

/*
 * Adds image `index` of a stack, which may be on any device. All texels of the trainer's level are read. Where
 * they are more than 65,536, only every second, third and so on is read, along both axes. Every image counts the
 * same, whatever its size. The call waits. Errors: ARGUMENT (an index, a channel that the image has no input
 * for, a value that is not finite), MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_codec_trainer_add(tvlm_codec_trainer *trainer, tvlm_stack *stack, int32_t index);

/*
 * Makes the codec of the images that were added. More may be added afterwards, for another codec. A channel that
 * is the same everywhere takes no part in any code. The sign of each code is such that the channel that counts
 * most in it counts positively. Errors: ARGUMENT (no images; channels that are all the same everywhere; scorers of
 * more directions than there are codes), MEMORY.
 */
TVLM_API tvlm_status tvlm_codec_trainer_finish(tvlm_codec_trainer *trainer, tvlm_codec **codec);

#ifdef __cplusplus
}
#endif
#endif
