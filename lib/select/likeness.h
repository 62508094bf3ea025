/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/likeness.h: how much candidates are alike: by the encoder's vectors where there are any, else by
 * colour.
 */
#ifndef TVLM_SELECT_LIKENESS_H
#define TVLM_SELECT_LIKENESS_H

#include "select/ranking.h"
#include "select/score.h"

/* Ranked candidates of an image. */
typedef struct tvlm_pick_from {
    tvlm_stack *stack;
    int32_t index; /* of the image */
    const tvlm_candidates *candidates;
    tvlm_ranked *ranked; /* [count] best first */
    int32_t count;
} tvlm_pick_from;

typedef struct tvlm_likeness {
    const tvlm_pick_from *from;
    tvlm_features features; /* without a texture: colours are compared */
    float *vectors; /* of length 1: of the features' cells, or of the candidates whose colours are ready */
    int32_t dimension;
    int32_t ready; /* how many candidates have their colour */
} tvlm_likeness;

/* Prepares comparisons. The ranking must stay as it is until *likeness is freed. That is due in any case. */
tvlm_status tvlm_likeness_make(const tvlm_pick_from *from, tvlm_likeness *likeness);
void tvlm_likeness_free(tvlm_likeness *likeness);

/* Finds how much two candidates are alike, 0 to 1: the cosine of their vectors, or 0 where that is negative.
 * a and b are their places in the ranking. */
tvlm_status tvlm_likeness_of(tvlm_likeness *likeness, int32_t a, int32_t b, float *alike);

#endif
