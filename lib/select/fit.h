/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/fit.h: what fit.c collects and solve.c learns from. The public header is texturevlm/fit.h.
 */
#ifndef TVLM_SELECT_FIT_H
#define TVLM_SELECT_FIT_H

#include "core/backend.h"
#include "texturevlm/fit.h"

typedef struct tvlm_fit_image {
    int32_t cells; /* how many are known */
    float *values; /* [cells][taps][channels] */
    float *share;  /* [cells] */
} tvlm_fit_image;

struct tvlm_fit {
    tvlm_log said; /* a copy of the caller's */
    const tvlm_log *log;
    int32_t channel_count, taps;
    float stride;
    int32_t *channels;
    int32_t image_count, image_capacity;
    tvlm_fit_image *images;
    tvlm_scorer scorer; /* the last solution */
    float *weights;     /* [channel_count][taps], those of the scorer */
};

#endif
