/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clip/solver.h: what solve.c works out and walk.c reads.
 */
#ifndef TVLM_CLIP_SOLVER_H
#define TVLM_CLIP_SOLVER_H

#include "clip/solve.h"

enum { CLIP_LEVELS = 3, CLIP_OWN_MOST = 2, CLIP_LANES = 16 };

/* The squares of one level: tiles of level 0, 1 or 2. */
typedef struct clip_level {
    int32_t nodes, slots;
    int32_t first, own,
        kinds; /* the first of the level's own kinds, how many there are, and how many with all coarser ones */
    /* W of solve.h: [kinds][intervals][nodes]. */
    float *held;
    float *memory; /* what `held` points to, where it is the level's own */
    /* `own` of solve.h: [intervals][nodes]. */
    float *bought;
} clip_level;

struct clip_solver {
    const clip_losses *losses;
    clip_level levels[CLIP_LEVELS];
    float *own, *held; /* [intervals][CLIP_LANES] and [slots][CLIP_LANES], of a block of nodes (solve.c) */
    double *sums; /* [intervals][CLIP_THUMBNAILS_MAX], what is lost over a thumbnail, and its tiles' prices */
    double *least; /* [slots + 1] */
    clip_token *before;
};

/* The row of nodes for an interval, of W and of `own`. */
static inline float *clip_held(const clip_level *l, int32_t kind, int32_t slot, int32_t length) {
    return l->held +
           ((size_t)(kind - l->first) * clip_intervals(l->slots) + clip_interval(l->slots, slot, length)) *
               (size_t)l->nodes;
}
static inline float *clip_bought(const clip_level *l, int32_t slot, int32_t length) {
    return l->bought + clip_interval(l->slots, slot, length) * (size_t)l->nodes;
}

static inline double *clip_sum(const clip_solver *solver, int32_t kind, int32_t slot, int32_t length) {
    return solver->sums + clip_interval(solver->losses->slots, slot, length) * CLIP_THUMBNAILS_MAX +
           (kind - CLIP_THUMBNAIL);
}

/* Reads the choice out of what was worked out for a price. False: no memory. */
bool tvlm_clip_walk(const clip_solver *solver, double price, clip_choice *choice);

#endif
