/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/fit.h: what fit.c collects, and what solve.c, solve_hidden.c and solve_query.c learn from. The
 * public header is texturevlm/lab/fit.h.
 */
#ifndef TVLM_LAB_FIT_H
#define TVLM_LAB_FIT_H

#include "core/backend.h"
#include "texturevlm/lab/fit.h"
#include "texturevlm/lab/network.h"

typedef struct tvlm_fit_image {
    int32_t cells; /* how many are known */
    float *values; /* [cells][taps][channels] */
    float *share;  /* [cells] */
    float *
        vector; /* [dimension] of the fit: the mean of the question's vectors of length 1; NULL without one */
} tvlm_fit_image;

struct tvlm_fit {
    tvlm_log said; /* a copy of the caller's */
    const tvlm_log *log;
    int32_t channel_count, taps, hidden;
    bool query_weights;
    int32_t dimension; /* of the questions; 0 before the first one */
    float stride;
    int32_t *channels;
    int32_t image_count, image_capacity;
    tvlm_fit_image *images;

    tvlm_scorer scorer; /* the last solution, and what it points to */
    float *weights;     /* [channel_count][taps]; of a network: all of both layers */
    float *matrix;      /* [channel_count][taps][dimension]; NULL without query weights */
    tvlm_network network;
    tvlm_network_layer layers[2];
};

/* ---- Solutions ---- */

/* What a solution is learnt from, and how its values are brought to mean 0 and deviation 1. */
typedef struct tvlm_lesson {
    const tvlm_fit *fit;
    const uint8_t *held_out;
    double l2;
    int32_t width;        /* how many values a cell has: channels * taps, in the order of the values */
    int32_t images;       /* how many are learnt from */
    double *mean, *scale; /* [width]; a scale of 0 says that the value is constant */
} tvlm_lesson;

/* Begins a lesson, which is to be closed in any case. */
tvlm_status tvlm_lesson_open(const tvlm_fit *fit, const uint8_t *held_out, double l2, tvlm_lesson *lesson);
void tvlm_lesson_close(tvlm_lesson *lesson);

/* Returns the next image after number *at that is learnt from; NULL where there is none. */
const tvlm_fit_image *tvlm_lesson_next(const tvlm_lesson *lesson, int32_t *at);

/* The cross entropy of odds exp(z) against a share, without overflow; *slope becomes its derivative by z. */
double tvlm_cross_entropy(double z, double share, double *slope);

/* Solves a lesson for its linear scorer: `solution` has the weights of the standardised values [width], and
 * behind them the bias. */
tvlm_status tvlm_solve_linear(const tvlm_lesson *lesson, double *solution);

/* These make the fit's scorer. */
tvlm_status tvlm_solve_hidden(const tvlm_lesson *lesson, tvlm_fit *fit);
tvlm_status tvlm_solve_query(const tvlm_lesson *lesson, tvlm_fit *fit);

#endif
