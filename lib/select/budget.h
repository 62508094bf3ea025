/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/budget.h: what the files of the strategy `budget` share. choose_budget.c puts together:
 *   budget_blank.c     which cells of a thumbnail are blank
 *   budget_grids.c     which thumbnails are tried
 *   budget_plan.c      pictures as plans for the backend
 *   budget_measure.c   what they lose of each tile
 *   budget_read.c      how much of the detail of an answer cannot be read
 *   budget_emphasis.c  how much each tile matters
 *   budget_tree.c, budget_price.c  the best tiles over one of them
 *   budget_solve.c     the best thumbnail and its tiles
 *   budget_view.c      how strongly what matters may count
 *   budget_equal.c     tiles that are equal to others, of which a tolerance takes one
 */
#ifndef TVLM_SELECT_BUDGET_H
#define TVLM_SELECT_BUDGET_H

#include "select/budget_blank.h"
#include "select/budget_plan.h"
#include "select/budget_tree.h"
#include "select/choose.h"

/* How many of `count` patches a share of them is, not rounded down yet. It forgives a float: 0.7 of 10 is 7. */
static inline double tvlm_budget_count(float share, int32_t count) {
    return (double)share * count * (1.0 + 1e-6);
}

/* ---- Thumbnails ---- */

/* A thumbnail's cells, each of which is a patch. */
typedef struct tvlm_budget_grid {
    int32_t columns, rows;
} tvlm_budget_grid;

static inline int32_t tvlm_budget_patches(const tvlm_budget_grid *grid) {
    return grid->columns * grid->rows;
}

/* The most thumbnails that are tried. */
#define TVLM_BUDGET_GRIDS_MAX 32

/*
 * Lists thumbnails, all of them different: those that n patches allow alone come first, *alone of them; then those of ever
 * smaller shares of n, of more of them where tiles matter more than others (`emphasised`); and where the image has blank
 * cells, finer ones, of which so many are kept. n >= 1. Returns how many there are; -1: no memory.
 */
int32_t tvlm_budget_grids(const tvlm_budget_ink *ink, int32_t n, bool emphasised,
                          tvlm_budget_grid grids[TVLM_BUDGET_GRIDS_MAX], int32_t *alone);

/* The same for any number of patches below `most`: from one patch on. */
int32_t tvlm_budget_ladder(const tvlm_budget_ink *ink, int32_t most,
                           tvlm_budget_grid grids[TVLM_BUDGET_GRIDS_MAX]);

/* ---- What pictures lose ---- */

/* The two parts of the loss: the squared error, and detail that cannot be read (core/operations.h). */
enum { TVLM_BUDGET_ERROR, TVLM_BUDGET_DETAIL, TVLM_BUDGET_PARTS };

/* What a picture loses at each place of the tree, times what the place matters: [places]. */
typedef struct tvlm_budget_loss {
    float *parts[TVLM_BUDGET_PARTS];
    double sums[TVLM_BUDGET_PARTS];
} tvlm_budget_loss;

/* The side of a texel of the image at three quarters of its size, in pixels. */
#define TVLM_BUDGET_STEP (4.0 / 3.0)

/* The pictures: levels 1 and 2, the image at three quarters and at a third of its size, a thumbnail of one patch, and those
 * that are tried. */
enum {
    TVLM_BUDGET_ONE,
    TVLM_BUDGET_TWO,
    TVLM_BUDGET_THREE_QUARTERS,
    TVLM_BUDGET_A_THIRD,
    TVLM_BUDGET_LEAST,
    TVLM_BUDGET_FIRST,
    TVLM_BUDGET_PICTURES = TVLM_BUDGET_FIRST + TVLM_BUDGET_GRIDS_MAX
};

/* What is known of reading. */
typedef struct tvlm_budget_reading {
    float *detail; /* [tiles]: what a tile loses of which nothing is read; NULL: what is lost is given */
    float *counts; /* [tiles]: how much it counts, 1 + emphasis * m */
    float *correlations; /* [measured_count * tiles] */
} tvlm_budget_reading;

/* One selection on its way. */
typedef struct tvlm_budget {
    const tvlm_task *task;
    const tvlm_texture *source;
    int32_t patch, tiles; /* of level 0 */
    int32_t n;            /* patches; 0: as many as a tolerance takes */
    uint8_t *colours;     /* what is seen of the image (budget_blank.h) */
    tvlm_budget_ink ink;
    tvlm_budget_tree tree;
    tvlm_budget_grid grids[TVLM_BUDGET_GRIDS_MAX];
    int32_t cells[TVLM_BUDGET_GRIDS_MAX]; /* of each grid, without those that are left out */
    double filled[TVLM_BUDGET_GRIDS_MAX]; /* the squared error that filling these makes */
    int32_t grid_count, alone;
    int32_t measured[TVLM_BUDGET_PICTURES], measured_count; /* pictures of one size are measured once */
    tvlm_budget_loss losses[TVLM_BUDGET_PICTURES];
    tvlm_budget_reading reading;
    int32_t
        *origin;   /* [tiles]: the tile that each is equal to, or itself; NULL: not where patches are given */
    float *memory; /* of the losses */
    float *values; /* as they were read: what pictures lose, then the scores that m is made of */
} tvlm_budget;

/* Says that there is no memory for what a budget needs a tile; returns TVLM_ERROR_MEMORY. */
tvlm_status tvlm_budget_no_memory(const tvlm_budget *budget);

/* Reads what is seen of the image: fills in `ink`. Waits. */
tvlm_status tvlm_budget_look_for_ink(tvlm_budget *budget);

/* Leaves no cells out of those thumbnails of which filling them would show, once the pictures are measured. */
void tvlm_budget_fill_in(tvlm_budget *budget);

/* Measures all pictures: fills in `losses`. Waits, once. */
tvlm_status tvlm_budget_measure(tvlm_budget *budget);

/* What a picture loses of each tile, as it was read: the squared error and the detail of each. */
static inline const float *tvlm_budget_values(const tvlm_budget *budget, int32_t picture) {
    return budget->values + 2 * (size_t)budget->measured[picture] * (size_t)budget->tiles;
}

/* How much each tile of level 0 matters, in [0, 1], once the pictures are measured with an emphasis: [tiles]. */
static inline float *tvlm_budget_matters(const tvlm_budget *budget) {
    return budget->values + 2 * (size_t)budget->measured_count * (size_t)budget->tiles;
}

/* Finds the correlations of detail of all pictures, once they are measured. */
tvlm_status tvlm_budget_prepare_reading(tvlm_budget *budget);

/* How much of the detail of a thumbnail, by its number in `grids`, with its tiles cannot be read; NULL: without tiles.
 * LEAST - FIRST stands for the thumbnail of one patch. It writes into budget->reading. */
double tvlm_budget_unread(const tvlm_budget *budget, int32_t grid, const tvlm_budget_choice *choice);

/* Fills in `losses` anew from what was read, with another emphasis. */
void tvlm_budget_place(tvlm_budget *budget, double emphasis);

/* ---- What matters ---- */

/* Refuses an emphasis on what the image does not have. */
tvlm_status tvlm_budget_check_emphasis(const tvlm_task *task);
/* How strongly m counts; 0: not at all. */
double tvlm_budget_emphasis(const tvlm_task *task);
/* Enqueues the scores that m is made of, one for each tile of level 0. */
tvlm_status tvlm_budget_score(const tvlm_task *task, tvlm_buffer **scores);
/* Takes the place of that where m counts nothing: what is refused there is refused here, too, and the question
 * becomes the image's last one, or there is none. */
tvlm_status tvlm_budget_look(const tvlm_task *task);
/* Turns these scores into m: in [0, 1]. */
void tvlm_budget_importance(const tvlm_task *task, float *scores, int32_t count);

/* ---- Solving ---- */

/* A thumbnail and its tiles. */
typedef struct tvlm_budget_answer {
    int32_t grid; /* of budget->grids */
    tvlm_budget_choice choice;
    double weights[TVLM_BUDGET_PARTS];     /* of the parts, by which tiles were chosen */
    double parts[TVLM_BUDGET_PARTS];       /* what is lost */
    double lost;                           /* both, weighed */
    double downsampled[TVLM_BUDGET_PARTS]; /* what downsampling loses; of a tolerance 0 */
} tvlm_budget_answer;

void tvlm_budget_answer_free(tvlm_budget_answer *answer);

/* The best thumbnail and tiles of n patches; for tvlm_budget_grids. */
tvlm_status tvlm_budget_solve(const tvlm_budget *budget, int32_t n, tvlm_budget_answer *answer);
/* The same of budget->n patches, with the most of the emphasis by which the squared error over the image, each tile
 * counted alike, is predicted to be at most 0.9 dB above downsampling's. `losses` become those that the answer was
 * found by. */
tvlm_status tvlm_budget_solve_in_view(tvlm_budget *budget, tvlm_budget_answer *answer);
/* The least number of patches that lose at most `tolerance` of what a thumbnail of one patch loses; for
 * tvlm_budget_ladder. */
tvlm_status tvlm_budget_solve_tolerance(const tvlm_budget *budget, double tolerance,
                                        tvlm_budget_answer *answer);

/* How much detail counts where answers are compared; the squared error counts the rest of 1. */
#define TVLM_BUDGET_COUNTS 0.8

/* Finds weights by which the parts of what is lost in all, `whole`, become what each of them counts: the
 * second `detail`, the first the rest of 1. */
void tvlm_budget_weigh_parts(const double whole[TVLM_BUDGET_PARTS], double detail,
                             double weights[TVLM_BUDGET_PARTS]);

/* What these parts are of those that a thumbnail of one patch loses. */
double tvlm_budget_share_lost(const tvlm_budget *budget, const double parts[TVLM_BUDGET_PARTS]);

/* What a thumbnail loses at each place, weighed: [places]. */
void tvlm_budget_weigh_thumbnail(const tvlm_budget *budget, int32_t grid,
                                 const double weights[TVLM_BUDGET_PARTS], float *weighed);

/* The losses of a thumbnail and of the other pictures as the tree takes them, weighed, those of equal tiles gathered:
 * tvlm_budget_floats floats in `weighed`. */
size_t tvlm_budget_floats(const tvlm_budget *budget);
tvlm_budget_losses tvlm_budget_weigh(const tvlm_budget *budget, int32_t grid,
                                     const double weights[TVLM_BUDGET_PARTS], float *weighed);

/* ---- A thumbnail that is given ---- */

/*
 * Finds what a thumbnail of columns x rows patches loses of each tile of level 0, times what the tile matters,
 * as shares of all that it loses: *lost has one for each tile, row after row, and is the caller's to free.
 * *share is all that it loses, as a share of what a thumbnail of one patch loses. Of the task's parameters it
 * takes the patch and what matters. Waits.
 */
tvlm_status tvlm_budget_under(const tvlm_task *task, int32_t columns, int32_t rows, float **lost,
                              double *share);

/* ---- Equal tiles ---- */

/* Finds the tiles of level 0 whose texels equal those of the tile to the left or above, and whose they are
 * in the end: fills in `origin`. Waits. */
tvlm_status tvlm_budget_equal(tvlm_budget *budget);

/* Where equal tiles are known, the first of them stands for all, and one patch shows them all: so what they lose, [places], is
 * added to what it loses. */
void tvlm_budget_gather(const tvlm_budget *budget, float *lost);

/* Lets a choice show the tiles that are equal to those of level 0 in it, as if they were chosen, too; and no more. They are
 * not counted. */
void tvlm_budget_show_equal(const tvlm_budget *budget, bool shown, tvlm_budget_choice *choice);

#endif
