/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit.h: linear scorers (score.h) learnt from images in which somebody has said what matters.
 *
 * A fit collects cells: the values of its channels, read as a scorer reads them, and the share of each that
 * is object. Logistic regression then finds the weights; the scorer's score is the logarithm of the odds that
 * a point of the cell is object.
 */
#ifndef TEXTUREVLM_FIT_H
#define TEXTUREVLM_FIT_H

#include "score.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tvlm_fit tvlm_fit;

/* The channels of a fit that names none: what of a photograph alone measured best (bench/fit.py). */
#define TVLM_FIT_CHANNELS "saliency,eccentricity,entropy,edges,distance,rgb_var,boundary,high,text"
#define TVLM_FIT_L2       1.0f

struct tvlm_fit_params {
    const int32_t *channels; /* each once; copied; NULL: those of TVLM_FIT_CHANNELS */
    int32_t channel_count;
    int32_t taps; /* of the scorer: 1, or 9; 0: 1 */
    float stride; /* distance of the candidates, as in tvlm_score_params; 0: 16 */
    uint64_t reserved[4];
};
#define tvlm_fit_params(...) TVLM_PARAMS(tvlm_fit_params, __VA_ARGS__)

/*
 * An empty fit. `log` is for all calls on it (NULL: none) and must outlive it. Errors: ARGUMENT (a channel
 * that is unknown, an identifier, or there twice; other taps; a stride below 1), MEMORY.
 */
TVLM_API tvlm_status tvlm_fit_create(const tvlm_log *log, const struct tvlm_fit_params *params,
                                     tvlm_fit **fit);
TVLM_API void tvlm_fit_destroy(tvlm_fit **fit);

/* The channels it reads, in order; valid while it lives. A stack that has them in its layout adds nothing. */
TVLM_API const int32_t *tvlm_fit_channels(const tvlm_fit *fit, int32_t *count);

/*
 * Adds image `index` of a stack on any device. share[columns * rows], of the grid that tvlm_score_size tells
 * for the fit's stride: how much of each cell is object, 0 .. 1; NaN: unknown, the cell does not count. Both
 * are copied: 4 * channels * taps bytes a cell, so a photo of 1200 cells and 9 channels takes 43 KB (389 KB
 * with 9 taps). Waits. Errors: ARGUMENT (another grid, a share outside 0 .. 1, no known cell), MEMORY.
 */
TVLM_API tvlm_status tvlm_fit_add(tvlm_fit *fit, tvlm_stack *stack, int32_t index, const float *share,
                                  int32_t columns, int32_t rows);

/* Images added so far. */
TVLM_API int32_t tvlm_fit_images(const tvlm_fit *fit);

/*
 * Chooses round(share * images) of the images, at least one and not all of them (none of one), the same for
 * the same seed: held_out[i] = 1, else 0. ARGUMENT unless 0 < share < 1 and images >= 1.
 */
TVLM_API tvlm_status tvlm_fit_split(int32_t images, float share, uint64_t seed, uint8_t *held_out);

struct tvlm_fit_solve_params {
    float l2;                /* of the weights of standardised values; > 0; 0: TVLM_FIT_L2 */
    const uint8_t *held_out; /* [tvlm_fit_images]: not 0: not learnt from; NULL: all are */
    uint64_t reserved[4];
};
#define tvlm_fit_solve_params(...) TVLM_PARAMS(tvlm_fit_solve_params, __VA_ARGS__)

/*
 * The scorer of least mean cross entropy + l2 / 2 |w|^2, w the weights of the values brought to mean 0 and
 * deviation 1 over the cells that are learnt from; the scorer has them in the channels' own units. Every
 * image weighs the same, whatever its size; a channel that is the same everywhere gets weight 0. Newton's
 * method (iteratively reweighted least squares: Hastie, Tibshirani & Friedman 2009, 4.4.1), in double
 * precision on the host; the same answer every time. The scorer is the fit's, until it is solved again or
 * destroyed; tvlm_scorer_save (io_scorer.h) writes it. Errors: ARGUMENT (nothing to learn from, nothing but
 * objects or no object in it, an l2 that is negative or not finite), MEMORY.
 */
TVLM_API tvlm_status tvlm_fit_solve(tvlm_fit *fit, const struct tvlm_fit_solve_params *params,
                                    const tvlm_scorer **scorer);

#ifdef __cplusplus
}
#endif
#endif
