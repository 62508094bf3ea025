/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/cascade_inside.h: what the files cascade*.c share.
 */
#ifndef TVLM_SELECT_CASCADE_INSIDE_H
#define TVLM_SELECT_CASCADE_INSIDE_H

#include "select/cascade.h"
#include "select/guide.h"
#include "stack/query.h"

/* Places that are scored together. */
typedef struct tvlm_cascade_places {
    int32_t count;
    float *parts; /* [TVLM_SCORE_PARTS][count] */
    /* [count]: values that take the place of the channel query_similarity. NULL: the channel is read. */
    float *relevance;
    /* [count], the *hope*: by how much the best vector in a place may be more relevant than `relevance` says.
     * NULL without `relevance`. */
    float *hope;
    float *scores; /* [count] */
} tvlm_cascade_places;

typedef struct tvlm_cascade_range {
    float low, high;
} tvlm_cascade_range;

typedef struct tvlm_cascade {
    tvlm_stack *stack;
    const struct tvlm_select_params *params;
    const struct tvlm_query *query;
    const tvlm_candidates *grid;
    tvlm_score_program program;
    tvlm_sparse_query sparse;
    bool vectors; /* whether the score reads what `sparse` answers */
    const tvlm_guide *guide;
    int32_t k;
    tvlm_cascade_places regions, cells;
    /* [regions]: the numbers of the regions, the best first. */
    int32_t *order;
    /* [regions]: whether each region was looked into. */
    bool *taken;
    /* [candidates]: whether each candidate lies in a region that was looked into. */
    bool *inside;
    /* [cells.count]: the numbers of the candidates that are `inside`, ascending. */
    int32_t *listed;
    size_t looked;        /* how many cells the regions that were looked into touch, added up */
    int32_t vector_count; /* how many vectors of the features were read */
    tvlm_cascade_range ranges[TVLM_SCORE_PARTS];
    tvlm_select_stage stages[2];
} tvlm_cascade;

/* Says that there is no memory. */
tvlm_status tvlm_cascade_no_memory(const tvlm_cascade *c);

/* How many channels the program has places for. */
static inline int32_t tvlm_cascade_channel_places(const tvlm_cascade *c) {
    return 4 * c->program.count;
}

/* ---- cascade_places.c: scores of places ---- */

tvlm_status tvlm_cascade_places_make(const tvlm_cascade *c, tvlm_cascade_places *s, int32_t count);
void tvlm_cascade_places_free(tvlm_cascade_places *s);
/* How many points a program reads at a place (1 or TVLM_SCORE_TAPS), and which points these are. */
int32_t tvlm_cascade_taps(const tvlm_score_program *program);
void tvlm_cascade_place_taps(tvlm_sample_point centre, float step_x, float step_y, int32_t taps,
                             tvlm_sample_point *points);
/* Computes the parts of places, which are read at points [count * taps]. */
tvlm_status tvlm_cascade_places_score(const tvlm_cascade *c, tvlm_cascade_places *s, int32_t taps,
                                      const tvlm_sample_point *points);
void tvlm_cascade_ranges_reset(tvlm_cascade *c);
/* Widens the ranges by the places that are not `left_out`. NULL: none are. */
void tvlm_cascade_ranges_widen(tvlm_cascade *c, const tvlm_cascade_places *s, const bool *left_out);
/* Combines the parts to scores. */
void tvlm_cascade_combine(const tvlm_cascade *c, tvlm_cascade_places *s);

/* ---- cascade_regions.c: which regions, and which cells are in them ---- */

tvlm_status tvlm_cascade_score_regions(tvlm_cascade *c);
tvlm_status tvlm_cascade_rank_regions(tvlm_cascade *c);
tvlm_status tvlm_cascade_list_cells(tvlm_cascade *c);

/* ---- cascade_cells.c: the cells that were listed ---- */

tvlm_status tvlm_cascade_score_cells(tvlm_cascade *c);

#endif
