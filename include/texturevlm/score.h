/* SPDX-License-Identifier: Apache-2.0 */
/*
 * score.h: how much each candidate matters, and the K largest of many.
 *
 * A score tells for each candidate, a cell of 16 x 16 pixels unless something else is asked for, how much it
 * matters. tvlm_select (select.h) chooses by it; whoever wants the map itself asks for it here:
 *
 *     int32_t columns, rows;
 *     tvlm_score_size(stack, NULL, &columns, &rows);
 *     float *scores = malloc((size_t)columns * rows * sizeof *scores);
 *     tvlm_score(stack, NULL, NULL, (size_t)columns * rows, scores);
 *
 * What is looked for can be said in three ways, from the simplest on: a query, which asks for what is like a
 * text or like another image; weights of the three parts that the default score consists of; and a scorer,
 * which weighs any channels, or is a network that reads them.
 */
#ifndef TEXTUREVLM_SCORE_H
#define TEXTUREVLM_SCORE_H

#include "network.h"
#include "stack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What is asked ---- */

/* How several similarities of a cell become one. */
typedef enum tvlm_query_combine {
    TVLM_COMBINE_MAX = 0, /* The largest one counts: the cell is like any of the vectors. */
    TVLM_COMBINE_MEAN
} tvlm_query_combine;

/*
 * A question to an image. It consists either of vectors or of a map of similarities; a query of both, or of
 * neither, is refused. It fills the channel query_similarity, which is read bilinearly and stays what it is
 * until the next question to the stack.
 *
 * All values must be finite. The caller owns the arrays; they are read during calls only. Whatever takes a
 * query fails with ARGUMENT where there are no features to answer from, where they have another dimension
 * than the vectors, and where a value is not finite or a vector is 0, also once `mean` is taken off it.
 */
struct tvlm_query {
    /* A map of similarities that was made elsewhere: [rows * columns], row-major. It covers the whole image,
     * and is clamped to [-1, 1]. */
    const float *similarity;
    int32_t columns, rows;

    /*
     * Vectors as the encoder's text side makes them: [count * dimension], row-major, of any lengths but 0.
     * query_similarity is then the cosine of each cell's features (input.h: tvlm_stack_set_grid of
     * TVLM_CHANNEL_FEATURE_0) with the vector, exactly, and 0 where the features are 0. Of several vectors
     * it is the largest or the mean of their cosines.
     */
    const float *vectors;
    int32_t count;     /* How many vectors there are; 0 means 1. */
    int32_t dimension; /* That of the features. */
    tvlm_query_combine combine;

    /* [dimension]: taken off each vector before its length becomes 1; NULL: nothing is. The vectors of texts
     * and of images lie in different places, and the mean of many texts' vectors is what to take off. */
    const float *mean;

    /*
     * Answers from the image's embedding in this basis, which tvlm_stack_embed (basis.h) has made, instead of
     * its features, which need not be there any more. The similarity is (V q) . e s, with q the unit vector
     * above, V the basis' components, e the cell's embedding, and s the part of its vector's length that lies
     * in the basis; tvlm_stack_embed keeps s, and it is 1 for an embedding made elsewhere. It is close to the
     * cosine, but not the same. What is taken off q is `mean`, not the mean of the basis.
     */
    const struct tvlm_basis *basis;

    /*
     * The vectors in memory of the device (device.h), [count * dimension] floats as above, in place of
     * `vectors`: they are never copied to the host, but where a basis or a scorer's query_weights ask for
     * their numbers, or the strategy is the cascade. With `unchecked`, a vector that is 0, or has a value that
     * is not finite, is like nothing: its similarity is 0 everywhere.
     */
    const struct tvlm_memory *vectors_in;
    uint64_t reserved[3];
};
#define tvlm_query(...) TVLM_PARAMS(tvlm_query, __VA_ARGS__)

/* ---- How candidates are scored ---- */

/*
 * The default weights of information, perspective and participation, without a query and with one.
 * bench/weights.py measures them. Without a query, things in photos want 0.1 and 0.9, words in street photos
 * 0.6 and 0.4, and the default lies between. With a query, what is asked for decides, and the image does
 * where the answers are alike.
 */
#define TVLM_WEIGHTS_STILL                                                                                   \
    { 0.3f, 0.7f, 0.0f }
#define TVLM_WEIGHTS_QUERY                                                                                   \
    { 0.1f, 0.1f, 0.8f }
#define TVLM_STRIDE_DEFAULT 16.0f

/* Weights of any channels, or a network of them: see below. */
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

    /* The weights of information, perspective and participation, [3], finite and not negative; NULL means the
     * defaults. */
    const float *weights;

    /* Scores by this scorer instead of the three parts. NULL: the three parts. It is refused together with
     * `weights`. */
    const tvlm_scorer *scorer;

    /*
     * Keeps the scores as the channel previous_pass of this image, for a scorer of the next pass. They are
     * brought to [0, 1] by the smallest and the largest of them, and stay on the device, one texel a
     * candidate, until another pass is kept, the image is replaced, or tvlm_stack_clear_grid takes them back.
     * Candidates of another size than those that were kept for other images of the batch take these back.
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
 * a column is clipped by the border. The default score is w . (I, P, Q), with each part brought to [0, 1]
 * over the candidates (doc/channels.md, "Scores"). Errors: ARGUMENT (what the structs above refuse, a
 * capacity that is too small), UNSUPPORTED (a scorer of more textures than a kernel can read), MEMORY,
 * DEVICE_MEMORY, DEVICE.
 */
TVLM_API tvlm_status tvlm_score(tvlm_stack *stack, const struct tvlm_query *query,
                                const struct tvlm_score_params *params, size_t capacity, float *scores);

/* ---- Scorers ---- */

/*
 * A scorer is linear, or a network. fit.h learns scorers, and io_scorer.h reads and writes them. The caller owns the
 * arrays; they are read during calls only. The score is not brought to any range.
 *
 * *Linear:* output o = sum over channels and taps of weight[o] * value, with the values at the border of the image repeated
 * beyond it. The score is output 0 + bias + similarity_weight * s, where s is the query's similarity, or 0 without a
 * query. Where the query changes the weights (query_weights), this is attention over the texture: a convolution whose
 * kernel the query gives.
 *
 * *A network:* its inputs are read at each candidate, and its layers run over the grid of candidates; beyond that there
 * are zeros, as in nn.Conv2d.
 *
 * *Outputs.* The score is output 0. The others become planes of the image (input.h): output n is the channel
 * "output_n", of one texel a candidate, until the next scores by a scorer of several outputs, or until the image is
 * replaced.
 */
struct tvlm_scorer {
    int32_t channel_count;
    const int32_t *channels;

    /* 1, which 0 means too, reads the candidate itself; 9 reads its 3 x 3 neighbourhood, row-major, one
     * candidate's step apart. */
    int32_t taps;
    /* [outputs * channel_count * taps], within -1e15 .. 1e15, as the next two are. A channel whose weights are all 0 is not read. One that counts, and that
     * the image has no input for (tvlm_stack_has_channel), is refused by its name with ARGUMENT. In a stream
     * (stream.h) it is 0, since another frame may bring it, and so is previous_pass in the first pass. */
    const float *weights;

    float bias;
    float similarity_weight;

    /*
     * What is asked may change what matters. With this matrix M, row-major and within -1e15 .. 1e15, the weights are weights + M q.
     * There q is the query's vector, less its mean and of length 1; of several vectors it is the mean of theirs.
     * Without a query, or with a map of similarities instead of vectors, the weights stay as they are. A
     * query of another dimension is refused. NULL: there is no matrix.
     *
     * Its shape is [outputs * channel_count * taps][dimension] where `query_taps` is `taps`. Where that is 0, it is
     * [dimension][channel_count], for the only output, and with 9 taps for the candidate itself.
     */
    const float *query_weights;
    /* The numbers of a query, 1 .. 4096. */
    int32_t dimension;
    int32_t query_taps;

    /* How many outputs there are, 1 to 1 + TVLM_USER_PLANES_MAX; 0 means 1. */
    int32_t outputs;

    /* A network in place of all above, which must be 0 then. Its strides are 1, and it has as many outputs as a scorer
     * may have. Candidates are read at their own level, not at the network's. */
    const struct tvlm_network *network;

    /*
     * [channel_count]: the level of the image at which each channel is read, so that one counts from far away and another
     * one in detail: 0 or more, a fraction is allowed, and what is beyond the image's last level is that one. -1: the
     * level of the candidates, at which all channels are read where this is NULL.
     */
    const float *levels;
    uint64_t reserved[1];
};

/* ---- The largest of many ---- */

/*
 * Finds the k largest of n scores, the best first, 1 <= k <= n < 2^28. Of equal ones that of the lower index
 * comes first; NaN comes after everything else, by index. `values` may be NULL. Waits. It sorts in groups
 * (bitonic: Batcher 1968) and merges these; below some n, where the device has many cores, it counts each
 * key's predecessors instead. Errors: ARGUMENT, MEMORY, DEVICE_MEMORY, DEVICE.
 */
TVLM_API tvlm_status tvlm_topk(tvlm_device *device, const float *scores, int32_t n, int32_t k,
                               int32_t *indices, float *values);

#ifdef __cplusplus
}
#endif
#endif
