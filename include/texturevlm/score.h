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
 */
typedef struct tvlm_scorer {
    int32_t channel_count;
    const int32_t *channels;
    int32_t taps;         /* 1, or 9: the 3x3 neighbourhood, row-major, one candidate step apart */
    const float *weights; /* [channel_count * taps], finite */
    float bias;
    float similarity_weight;
} tvlm_scorer;

/*
 * What is asked. NULL: nothing, only the image speaks. The similarity grid covers the whole image, is clamped
 * to
 * [-1, 1], read bilinearly, and must be finite; it is read during the call only.
 */
struct tvlm_query {
    const float
        *similarity; /* [rows * columns], row-major: the cosine of each cell's features with the question */
    int32_t columns, rows;
};
#define tvlm_query(...) (&(struct tvlm_query){__VA_ARGS__})

/* Default weights of information, perspective and participation, without and with a query. */
#define TVLM_WEIGHTS_STILL                                                                                   \
    { 0.5f, 0.5f, 0.0f }
#define TVLM_WEIGHTS_QUERY                                                                                   \
    { 0.33f, 0.33f, 0.34f }
#define TVLM_STRIDE_DEFAULT 16.0f

struct tvlm_score_params {
    int32_t index; /* image of the batch */
    float stride;  /* distance of candidates in pixels of the working image, >= 1; 0: 16 */
    int32_t level; /* with `dense`: the level whose texels are the candidates */
    bool dense;    /* candidates are the texels of `level` instead of cells of `stride` */
    const float
        *weights; /* information, perspective, participation; NULL: the defaults; finite, not negative */
    const tvlm_scorer *scorer; /* instead of the three parts; NULL: the three parts */
};
#define tvlm_score_params(...) (&(struct tvlm_score_params){__VA_ARGS__})

/* Columns and rows of the candidates: ceil(W / stride) by ceil(H / stride), or the size of the level. */
TVLM_API tvlm_status tvlm_score_size(const tvlm_stack *stack, const struct tvlm_score_params *params,
                                     int32_t *columns, int32_t *rows);

/*
 * The score of every candidate, row-major. A candidate reads the channels at its cell's centre (the last cell
 * of a row is clipped) at level log2(stride). The default score is w . (I, P, Q), each part brought to [0, 1]
 * over the candidates (CHANNELS.md, "Scores"). Waits.
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
