/* SPDX-License-Identifier: Apache-2.0 */
/*
 * score.h: how much each candidate matters, and the K largest of many.
 */
#ifndef TEXTUREVLM_SCORE_H
#define TEXTUREVLM_SCORE_H

#include "stack.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A linear scorer: score = bias + sum over channels and taps of weight * value + similarity_weight * s, where
 * s is the query's similarity (0 without a query). Channels whose weights are all 0 are never read. The
 * caller owns the arrays; they are read during calls only.
 *
 * What is asked may change what matters: with query_weights, a matrix M of dimension rows, each channel's
 * weight (with 9 taps: that of the candidate itself) is weights + M^T q, q the query's vector less its mean
 * and of length 1; of several vectors the mean of theirs. Without a query, or with a map of similarities
 * instead of vectors, it is `weights` alone. A query of another dimension is refused.
 */
typedef struct tvlm_scorer {
    int32_t channel_count;
    const int32_t *channels;
    int32_t taps;         /* 1, or 9: the 3x3 neighbourhood, row-major, one candidate step apart */
    const float *weights; /* [channel_count * taps], finite */
    float bias;
    float similarity_weight;
    const float *query_weights; /* [dimension * channel_count], row-major, finite; NULL: none */
    int32_t dimension;          /* of query_weights, 1 .. 4096 */
    uint64_t reserved[4];
} tvlm_scorer;

/* How several similarities of a cell become one. */
typedef enum tvlm_query_combine {
    TVLM_COMBINE_MAX = 0, /* the largest: any of them */
    TVLM_COMBINE_MEAN
} tvlm_query_combine;

/*
 * What is asked; NULL: nothing, only the image speaks. Either
 * - vectors, as the encoder's text side makes them: query_similarity is then the cosine of each cell's
 *   features (tvlm_stack_set_grid of TVLM_CHANNEL_FEATURE_0, input.h) with the vector, exactly, 0 where the
 *   features are 0; of several vectors the largest or the mean of their cosines. Any lengths, not 0; or
 * - a map of similarities, made elsewhere: it covers the whole image and is clamped to [-1, 1].
 * All values must be finite; all is read during the call only. query_similarity is read bilinearly, and stays
 * what it is until the next question.
 * Errors: ARGUMENT (both or neither; no features; another dimension than theirs; a value that is not finite;
 * a zero vector, also one that is 0 less the mean).
 */
struct tvlm_query {
    const float *similarity; /* [rows * columns], row-major */
    int32_t columns, rows;
    const float *vectors; /* [count * dimension], row-major */
    int32_t count;        /* 0: 1 */
    int32_t dimension;    /* the features' */
    tvlm_query_combine combine;
    const float *mean; /* [dimension], taken off each vector before it is scaled; NULL: nothing. Text and
                          image vectors live in different places: the mean of many texts' vectors */
    /*
     * Answers from the image's embedding in this basis (basis.h: tvlm_stack_embed made it) instead of its
     * features, which need not be there any more: (V q) . e s, with q the unit vector above, V the basis'
     * components, e the cell's embedding and s the part of its vector's length that lies in the basis, which
     * tvlm_stack_embed keeps (an embedding made elsewhere: 1). Close to the cosine, not it; `mean`, not the
     * basis' own, is what is taken off q.
     */
    const struct tvlm_basis *basis;
    uint64_t reserved[4];
};
#define tvlm_query(...) TVLM_PARAMS(tvlm_query, __VA_ARGS__)

/*
 * Default weights of information, perspective and participation, without and with a query; bench/weights.py
 * measures them. Without: things in photos want 0.1 0.9, words in street photos 0.6 0.4; this lies between.
 * With: what is asked for decides, and the image where the answers are alike.
 */
#define TVLM_WEIGHTS_STILL                                                                                   \
    { 0.3f, 0.7f, 0.0f }
#define TVLM_WEIGHTS_QUERY                                                                                   \
    { 0.1f, 0.1f, 0.8f }
#define TVLM_STRIDE_DEFAULT 16.0f

struct tvlm_score_params {
    int32_t index; /* image of the batch */
    float stride;  /* distance of candidates in pixels of the working image, >= 1; 0: 16 */
    int32_t level; /* with `dense`: the level whose texels are the candidates */
    bool dense;    /* candidates are the texels of `level` instead of cells of `stride` */
    const float
        *weights; /* information, perspective, participation; NULL: the defaults; finite, not negative */
    const tvlm_scorer *scorer; /* instead of the three parts; NULL: the three parts */
    /*
     * Keeps the scores as the channel previous_pass of this image, for a scorer of the next pass: brought to
     * [0, 1] by the smallest and the largest, one texel a candidate, on the device. It stays until another
     * pass is kept, the image is replaced, or tvlm_stack_clear_grid. Candidates of another size than those
     * kept for other images of the batch take these back.
     */
    bool keep_pass;
    uint64_t reserved[4];
};
#define tvlm_score_params(...) TVLM_PARAMS(tvlm_score_params, __VA_ARGS__)

/* Columns and rows of the candidates: ceil(W / stride) by ceil(H / stride), or the size of the level. */
TVLM_API tvlm_status tvlm_score_size(const tvlm_stack *stack, const struct tvlm_score_params *params,
                                     int32_t *columns, int32_t *rows);

/*
 * The score of every candidate, row-major. A candidate reads the channels at its cell's centre (the last cell
 * of a row is clipped) at level log2(stride). The default score is w . (I, P, Q), each part brought to [0, 1]
 * over the candidates (doc/channels.md, "Scores"). Waits.
 */
TVLM_API tvlm_status tvlm_score(tvlm_stack *stack, const struct tvlm_query *query,
                                const struct tvlm_score_params *params, size_t capacity, float *scores);

/*
 * The k largest of n scores, best first: ties by lower index, NaN after everything else (among themselves by
 * index). values may be NULL. 1 <= k <= n < 2^28. Waits. Bitonic (Batcher 1968) per group, then merged; below
 * some n, where the device has many cores, by counting each key's predecessors.
 */
TVLM_API tvlm_status tvlm_topk(tvlm_device *device, const float *scores, int32_t n, int32_t k,
                               int32_t *indices, float *values);

#ifdef __cplusplus
}
#endif
#endif
