/* SPDX-License-Identifier: Apache-2.0 */
/*
 * score.h: how much each candidate matters, and the K largest of many.
 *
 * A score tells how much a candidate matters. The candidates are cells of 16 x 16 pixels, unless something else
 * is asked for. tvlm_select (select.h) chooses by these scores. To get the map of scores itself:
 *
 *     int32_t columns, rows;
 *     tvlm_score_size(stack, NULL, &columns, &rows);
 *     float *scores = malloc((size_t)columns * rows * sizeof *scores);
 *     tvlm_score(stack, NULL, NULL, (size_t)columns * rows, scores);
 *
 * There are three ways to say what is looked for, from the simplest on:
 *
 *   - a query asks for what is like a text or like another image;
 *   - weights change how much the three parts of the default score count;
 *   - a scorer weighs any channels, or is a network that reads them.
 */
#ifndef TEXTUREVLM_SCORE_H
#define TEXTUREVLM_SCORE_H

#include "stack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What is asked ---- */

/* How the similarities of a cell to several vectors become one. */
typedef enum tvlm_query_combine {
    TVLM_COMBINE_MAX = 0, /* The largest one counts: the cell is like any of the vectors. */
    TVLM_COMBINE_MEAN
} tvlm_query_combine;

/*
 * A question to an image. It consists either of vectors or of a map of similarities; a query of both, or of
 * neither, is refused. It fills the channel query_similarity, which is read bilinearly and stays what it is
 * until the next question to the stack.
 *
 * The caller owns the arrays; they are read during calls only. Functions that take a query fail with ARGUMENT
 *
 *   - if the query has vectors, but the image has no features to answer from, or features of another dimension;
 *   - if a value is not finite;
 *   - if a vector is 0, before or after `mean` is taken off it.
 */
struct tvlm_query {
    /* A map of similarities that was made elsewhere: [rows * columns], row-major. It covers the whole image,
     * and is clamped to [-1, 1]. */
    const float *similarity;
    int32_t columns, rows;

    /*
     * Vectors as the encoder's text side makes them: [count * dimension], row-major, of any lengths but 0.
     * query_similarity is then the exact cosine between the vector and each cell's features (input.h:
     * tvlm_stack_set_grid of TVLM_CHANNEL_FEATURE_0). It is 0 where the features are 0. With several vectors, it
     * is the largest or the mean of their cosines (`combine`).
     */
    const float *vectors;
    int32_t count;     /* How many vectors there are; 0 means 1. */
    int32_t dimension; /* That of the features. */
    tvlm_query_combine combine;

    /* [dimension]: is taken off each vector before the vector is scaled to length 1. NULL: nothing is taken off.
     * An encoder puts the vectors of texts and those of images in different places. To make up for that, take off
     * the mean of the vectors of many texts. */
    const float *mean;

    /*
     * If set, the image's embedding in this basis, which tvlm_stack_embed (features.h) has made, is asked instead of
     * its features. The features need not be there any more. The similarity is (V q) . e s, with
     *   - q the vector, less `mean` and scaled to length 1. The mean of the basis is not taken off it;
     *   - V the components of the basis;
     *   - e the cell's embedding;
     *   - s the part of the length of the cell's vector that lies in the basis. tvlm_stack_embed keeps it; it is 1
     *     for an embedding that was made elsewhere.
     *
     * This is close to the cosine, but not the same.
     */
    const struct tvlm_basis *basis;

    /*
     * The vectors in memory of the device (device.h), [count * dimension] floats as above, in place of `vectors`.
     * They are copied to the host only if there is a basis, if a scorer's query_weights need their numbers, or if
     * the strategy is the cascade. If they are `unchecked`, a vector that is 0 or has a value that is not finite
     * is similar to nothing: its similarity is 0 everywhere.
     */
    const struct tvlm_memory *vectors_in;
    uint64_t reserved[3];
};
#define tvlm_query(...) TVLM_PARAMS(tvlm_query, __VA_ARGS__)

/* ---- How candidates are scored ---- */

/*
 * The default weights of information, perspective and participation, without a query and with one. They were
 * measured by bench/weights.py. Without a query, the best weights for finding things in photos are 0.1 and 0.9,
 * those for finding words in street photos 0.6 and 0.4; the default lies between. With a query, the similarity
 * decides, and the image decides only between cells that are equally similar.
 */
#define TVLM_WEIGHTS_STILL                                                                                   \
    { 0.3f, 0.7f, 0.0f }
#define TVLM_WEIGHTS_QUERY                                                                                   \
    { 0.1f, 0.1f, 0.8f }
#define TVLM_STRIDE_DEFAULT 16.0f

/* Weights of any channels, or a network that reads them: see below. */
typedef struct tvlm_scorer tvlm_scorer;

/* All zero means the defaults: cells of 16 x 16 pixels of the first image, scored by the three parts. */
struct tvlm_score_params {
    /* Which image of the batch. */
    int32_t index;

    /* The distance of candidates and the side of their cells, in pixels of the working image, >= 1; 0 means
     * 16. It is refused together with `dense`. */
    float stride;

    /* With `dense` the candidates are the texels of this level instead of cells. A level without `dense` is
     * refused. */
    int32_t level;
    bool dense;

    /* The weights of information, perspective and participation, [3], each from 0 to 1e15; NULL means the
     * defaults. */
    const float *weights;

    /* Scores by this scorer instead of the three parts. NULL: the three parts. It is refused together with
     * `weights`. */
    const tvlm_scorer *scorer;

    /*
     * Keeps the scores as the channel previous_pass of this image, for a scorer of the next pass. They are scaled
     * to [0, 1] by the smallest and the largest of them, and stay on the device, with one texel for each
     * candidate. They stay until another pass is kept, the image is replaced, or tvlm_stack_clear_grid takes them
     * back. If the batch has other images whose kept candidates have another size, the scores of those images are
     * dropped.
     */
    bool keep_pass;
    uint64_t reserved[4];
};
#define tvlm_score_params(...) TVLM_PARAMS(tvlm_score_params, __VA_ARGS__)

/* The columns and rows of the candidates: ceil(W / stride) by ceil(H / stride), or the size of the level. */
TVLM_API tvlm_status tvlm_score_size(const tvlm_stack *stack, const struct tvlm_score_params *params,
                                     int32_t *columns, int32_t *rows);

/*
 * Writes the score of every candidate, row after row; there is room for `capacity` of them. `query` and
 * `params` may be NULL. Waits.
 *
 * A candidate reads the channels at the centre of its cell, at level log2(stride); the last cell of a row or
 * a column is clipped by the border. The default score is the weighted sum of information, perspective and
 * participation, w . (I, P, Q), with each part scaled to [0, 1] over the candidates (doc/channels.md, "Scores").
 *
 * Errors: ARGUMENT (what the structs above refuse, a capacity that is too small), UNSUPPORTED (a scorer that reads
 * more textures than a kernel can), MEMORY, DEVICE_MEMORY, DEVICE.
 */
TVLM_API tvlm_status tvlm_score(tvlm_stack *stack, const struct tvlm_query *query,
                                const struct tvlm_score_params *params, size_t capacity, float *scores);

/* ---- Scorers ---- */

/*
 * A scorer is linear, or a network. lab/fit.h learns scorers, and io_scorer.h reads and writes them. The caller
 * owns the arrays; they are read during calls only. The score is not scaled to any range.
 *
 * *Linear:* each output is a weighted sum of values over channels and taps, with weights of its own. Beyond the
 * border of the image, the values at the border are repeated. With s the query's similarity, or 0 without a query,
 * the score is output 0 + bias + similarity_weight * s. If the query changes the weights (query_weights), this is
 * attention over the texture: a convolution whose kernel the query gives.
 *
 * *A network:* its inputs are read at each candidate, and its layers run over the grid of candidates. Beyond this
 * grid there are zeros, as in nn.Conv2d.
 *
 * *Outputs.* The score is output 0. The others become planes of the image (input.h): output n is the channel
 * "output_n", with one texel for each candidate. These planes stay until the next scores by a scorer of several
 * outputs, or until the image is replaced.
 */
struct tvlm_scorer {
    int32_t channel_count;
    const int32_t *channels;

    /* 1, which 0 means too, reads the candidate itself. 9 reads its 3 x 3 neighbourhood, row-major, one
     * candidate's step apart. */
    int32_t taps;
    /* [outputs * channel_count * taps], within -1e15 .. 1e15. A channel whose weights are all 0 is not read. If
     * any other channel has no input in the image (tvlm_stack_has_channel), the scorer is refused with ARGUMENT
     * and a line that names the channel. There are two exceptions, in which the channel is 0: channels in a
     * stream (stream.h), since another frame may bring their input, and previous_pass in the first pass. */
    const float *weights;

    /* Both are within -1e15 .. 1e15. */
    float bias;
    float similarity_weight;

    /*
     * A matrix M, row-major and within -1e15 .. 1e15, by which a query changes what matters: with it, the weights
     * are weights + M q. NULL: there is no matrix. Here q is the query's vector, less its mean and scaled to
     * length 1; for several vectors, it is the mean of these. Without a query, or with a map of similarities
     * instead of vectors, the weights stay as they are. A query of another dimension is refused.
     *
     * If `query_taps` is `taps`, the shape of M is [outputs * channel_count * taps][dimension]. If `query_taps`
     * is 0, it is [dimension][channel_count]; the scorer then has only one output, and of 9 taps M changes only
     * that of the candidate itself.
     */
    const float *query_weights;
    /* How many numbers a query's vector has, 1 .. 4096. */
    int32_t dimension;
    int32_t query_taps;

    /* How many outputs there are, 1 to 1 + TVLM_USER_PLANES_MAX; 0 means 1. */
    int32_t outputs;

    /* A network (lab/network.h) in place of all other members, which must be 0 then. Its strides are 1, and it may
     * have as many outputs as a scorer. Its inputs are read at the level of the candidates, and not at the
     * network's own level. */
    const struct tvlm_network *network;

    /*
     * [channel_count]: the level of the image at which each channel is read, so that one channel can count from
     * far away and another one in detail. A level is 0 or more, and may be a fraction; beyond the image's last
     * level, the last level is read. -1 means the level of the candidates. NULL: all channels are read at that
     * level.
     */
    const float *levels;
    uint64_t reserved[1];
};

/* ---- The largest of many ---- */

/*
 * Finds the k largest of n scores, the best first, 1 <= k <= n < 2^28. Of equal scores, the one with the lower
 * index comes first. NaN comes after everything else, by index. `values` may be NULL. Waits. It sorts in groups
 * (bitonic: Batcher 1968) and merges these. For small n on a device with many cores, it instead counts how many
 * keys come before each key. Errors: ARGUMENT, MEMORY, DEVICE_MEMORY, DEVICE.
 */
TVLM_API tvlm_status tvlm_topk(tvlm_device *device, const float *scores, int32_t n, int32_t k,
                               int32_t *indices, float *values);

#ifdef __cplusplus
}
#endif
#endif
