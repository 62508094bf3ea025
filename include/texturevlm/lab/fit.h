/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/fit.h: learns scorers (score.h) from images in which somebody has said what matters.
 *
 *     tvlm_fit_create(log, NULL, &fit);
 *     for (each image) tvlm_fit_add(fit, stack, 0, share, columns, rows);
 *     tvlm_fit_solve(fit, NULL, &scorer);
 *
 * A fit collects cells: the values of its channels, read as a scorer reads them, and the share of each cell
 * that is object. Logistic regression then finds the weights. The score of the scorer is the logarithm of the
 * odds that a point of the cell is object.
 *
 * With `hidden` the scorer is a network with one hidden layer. With `query_weights` a cell matters if it answers a
 * question, and the scorer's weights depend on that question (score.h):
 *
 *     tvlm_fit_create(log, tvlm_fit_params(.query_weights = true), &fit);
 *     for (each image and question) tvlm_fit_add_query(fit, stack, 0, &query, share, columns, rows);
 *
 * This header is of the lab: it may change in any version.
 */
#ifndef TEXTUREVLM_LAB_FIT_H
#define TEXTUREVLM_LAB_FIT_H

#include "texturevlm/score.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tvlm_fit tvlm_fit;

/* The channels of a fit that names none. Among the channels that are made from a photograph alone, they measured
 * best (bench/fit.py). */
#define TVLM_FIT_CHANNELS "saliency,eccentricity,entropy,edges,distance,rgb_var,boundary,high,text"
#define TVLM_FIT_L2       1.0f
/* The channels of a fit of query_weights that names none: the same, and the similarity to the question. */
#define TVLM_FIT_QUERY_CHANNELS TVLM_FIT_CHANNELS ",query_similarity"
/* The penalties on the weights of a network, and on query weights. They are lower than TVLM_FIT_L2, because such
 * weights are small where they are of use. With a higher penalty a network comes nearer to the linear scorer, and
 * at 1 nothing is left of what it does beyond that (bench/scorer.py). */
#define TVLM_FIT_HIDDEN_L2  0.01f
#define TVLM_FIT_QUERY_L2   0.01f
#define TVLM_FIT_HIDDEN_MAX TVLM_NETWORK_HIDDEN_MAX

struct tvlm_fit_params {
    /* The channels, each of them once; they are copied. NULL means those of TVLM_FIT_CHANNELS, or, with
     * query_weights, of TVLM_FIT_QUERY_CHANNELS. With `hidden` there are at most TVLM_NETWORK_INPUTS_MAX. */
    const int32_t *channels;
    int32_t channel_count;
    /* The taps of the scorer: 1 or 9; 0 means 1. */
    int32_t taps;
    /* The distance of the candidates in pixels, as in tvlm_score_params; 0 means 16. */
    float stride;
    /* The number of values of the hidden layer, 1 to TVLM_FIT_HIDDEN_MAX. The scorer is then a network: a
     * convolution of `taps` taps, max(0, x), and a convolution of one tap. 0: the scorer is linear. */
    int32_t hidden;
    /* Learns the matrix by which a query changes the weights of all taps (score.h). It is refused together with
     * `hidden`. */
    bool query_weights;
    uint64_t reserved[3];
};
#define tvlm_fit_params(...) TVLM_PARAMS(tvlm_fit_params, __VA_ARGS__)

/*
 * Creates an empty fit. All calls on it write to `log` (NULL: none), which is copied. Errors: MEMORY, and
 * ARGUMENT for
 *   - a channel that is unknown, is an identifier, or is there twice, and too many channels;
 *   - another number of taps than 1 or 9;
 *   - a stride below 1;
 *   - a number of hidden values outside its range, or hidden values together with query weights.
 */
TVLM_API tvlm_status tvlm_fit_create(const struct tvlm_fit_params *params, const tvlm_log *log,
                                     tvlm_fit **fit);
TVLM_API void tvlm_fit_destroy(tvlm_fit **fit);

/* Returns the channels that the fit reads, in order. They are valid while it lives. A stack whose layout has all
 * of them need not add any when it is read. */
TVLM_API const int32_t *tvlm_fit_channels(const tvlm_fit *fit, int32_t *count);

/*
 * Adds image `index` of a stack, which may be on any device. share[columns * rows] says how much of each cell
 * is object: 0 .. 1, or NaN where that is unknown. Cells with NaN do not count. The grid is the one that
 * tvlm_score_size tells for the fit's stride. Shares and channel values are copied. The values take
 * 4 * channels * taps bytes for each cell: a photo of 1200 cells and 9 channels takes 43 KB, and 389 KB with 9
 * taps. The call waits.
 * Errors: ARGUMENT (another grid, a share outside 0 .. 1, no known cell, a fit of query weights, a channel value
 * that is not finite), MEMORY.
 */
TVLM_API tvlm_status tvlm_fit_add(tvlm_fit *fit, tvlm_stack *stack, int32_t index, const float *share,
                                  int32_t columns, int32_t rows);

/*
 * Does the same for a fit of query weights: it asks image `index` a question, and adds the share of each cell that
 * answers it. Each question to an image counts as an image of its own. The query has vectors. All queries of a fit
 * have the same dimension. Errors: those of tvlm_fit_add, and those of a query; ARGUMENT (a fit without query
 * weights, another dimension).
 */
TVLM_API tvlm_status tvlm_fit_add_query(tvlm_fit *fit, tvlm_stack *stack, int32_t index,
                                        const struct tvlm_query *query, const float *share, int32_t columns,
                                        int32_t rows);

/* Returns how many images were added. */
TVLM_API int32_t tvlm_fit_images(const tvlm_fit *fit);

/*
 * Chooses images to hold out from learning: held_out[i] becomes 1 for round(share * images) of them, and 0
 * for the others. At least one is chosen, and never all; of a single image none is. The same seed chooses the
 * same images. Errors: ARGUMENT (unless 0 < share < 1 and images >= 1).
 */
TVLM_API tvlm_status tvlm_fit_split(int32_t images, float share, uint64_t seed, uint8_t *held_out);

struct tvlm_fit_solve_params {
    /* The penalty on the squares of the weights, which are those of standardised values: > 0. 0 means TVLM_FIT_L2,
     * for a network TVLM_FIT_HIDDEN_L2, and with query weights TVLM_FIT_QUERY_L2. */
    float l2;
    /* [tvlm_fit_images]: images with another value than 0 are not learnt from. NULL: all are learnt from. */
    const uint8_t *held_out;
    uint64_t reserved[4];
};
#define tvlm_fit_solve_params(...) TVLM_PARAMS(tvlm_fit_solve_params, __VA_ARGS__)

/*
 * Finds the scorer of least mean cross entropy + l2 / 2 |w|^2. For that the values are standardised, that is
 * brought to mean 0 and deviation 1 over the cells that are learnt from, and w are the weights of these. The
 * scorer that is returned has its weights in the channels' own units. Every image weighs the same, whatever its
 * size. A channel that is the same everywhere gets weight 0.
 *
 * *A linear scorer* is found by Newton's method (iteratively reweighted least squares: Hastie, Tibshirani &
 * Friedman 2009, section 4.4.1) in double precision on the host. The answer is the same every time.
 *
 * *A network* begins as that linear scorer, for which it uses two of its hidden values. The others begin at
 * random, and count 0. From there on it is found by L-BFGS (Nocedal & Wright 2006, algorithm 7.5), which also gives
 * the same answer every time. There are three beginnings, and the best result is taken: the second and the third
 * have other random values, which count what those of the one before came to count.
 *
 * *Query weights* begin at 0, and are found by L-BFGS as well. The matrix reads only that part of a query which
 * lies in the span of the questions that were learnt from. The penalty is on the squares of the matrix, too. No
 * query changes the bias.
 *
 * The scorer belongs to the fit, and is valid until the fit is solved again or destroyed. tvlm_scorer_save
 * (io_scorer.h) writes it to a file. Errors: ARGUMENT (no image to learn from; nothing but objects, or no
 * object, in what is learnt from; an l2 that is negative or not finite), MEMORY.
 */
TVLM_API tvlm_status tvlm_fit_solve(tvlm_fit *fit, const struct tvlm_fit_solve_params *params,
                                    const tvlm_scorer **scorer);

#ifdef __cplusplus
}
#endif
#endif
