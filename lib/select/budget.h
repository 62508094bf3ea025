/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/budget.h: what the files of the strategy `budget` share. choose_budget.c puts together:
 *   budget_blank.c     which cells of a thumbnail are blank
 *   budget_grids.c     which thumbnails are tried, and how many of their cells are kept
 *   budget_plan.c      pictures as plans for the backend
 *   budget_measure.c   what each picture loses of each tile
 *   budget_read.c      how much of the detail of an answer cannot be read
 *   budget_emphasis.c  how much each tile matters
 *   budget_tree.c, budget_price.c  the best tiles over one thumbnail
 *   budget_solve.c     the best thumbnail and its tiles
 *   budget_view.c      how strongly what matters may count
 *   budget_equal.c     which tiles equal others: a tolerance takes one of them for all
 */
#ifndef TVLM_SELECT_BUDGET_H
#define TVLM_SELECT_BUDGET_H

#include "select/budget_blank.h"
#include "select/budget_plan.h"
#include "select/budget_tree.h"
#include "select/choose.h"

/* How many patches a share of `count` patches is, before it is rounded down. It makes up for the rounding of
 * the share to a float: with the share 0.7, 10 patches give 7. */
static inline double tvlm_budget_count(float share, int32_t count) {
    return (double)share * count * (1.0 + 1e-6);
}

/* ---- Thumbnails ---- */

/* The grid of a thumbnail's cells. Each cell is one patch. */
typedef struct tvlm_budget_grid {
    int32_t columns, rows;
} tvlm_budget_grid;

static inline int32_t tvlm_budget_patches(const tvlm_budget_grid *grid) {
    return grid->columns * grid->rows;
}

/* The most thumbnails that are tried. */
#define TVLM_BUDGET_GRIDS_MAX 32

/* ---- What pictures lose ---- */

/* The two parts of the loss: the squared error, and detail that cannot be read (core/operations.h). */
enum { TVLM_BUDGET_ERROR, TVLM_BUDGET_DETAIL, TVLM_BUDGET_PARTS };

/* What a picture loses at each place of the tree (budget_tree.h), times how much that place counts: [places]
 * for each part. `sums` has the sum of each part over all places. */
typedef struct tvlm_budget_loss {
    float *parts[TVLM_BUDGET_PARTS];
    double sums[TVLM_BUDGET_PARTS];
} tvlm_budget_loss;

/* The side of a texel of the image at three quarters of its size, in pixels. */
#define TVLM_BUDGET_STEP (4.0 / 3.0)

/* The pictures whose losses are measured: levels 1 and 2 of the image, the image at three quarters and at a
 * third of its size, the thumbnail of one patch, and, from FIRST on, the thumbnails that are tried. */
enum {
    TVLM_BUDGET_ONE,
    TVLM_BUDGET_TWO,
    TVLM_BUDGET_THREE_QUARTERS,
    TVLM_BUDGET_A_THIRD,
    TVLM_BUDGET_LEAST,
    TVLM_BUDGET_FIRST,
    TVLM_BUDGET_PICTURES = TVLM_BUDGET_FIRST + TVLM_BUDGET_GRIDS_MAX
};

/* How much of the detail can be read, over several tiles (budget_read.c). */
typedef struct tvlm_budget_reading {
    /* [tiles]: the loss of detail of each tile if nothing of it can be read. NULL: this struct is not filled
     * in, and the loss of detail is that in `losses`. */
    float *detail;
    /* [tiles]: how much the loss of each tile counts, which is 1 + emphasis * m. */
    float *counts;
    /* [measured_count * tiles]: the correlation of detail of each measured picture over each tile. A
     * picture's correlations are worked out when it is first shown, since most thumbnails never are.
     * known[picture] then becomes true. */
    float *correlations;
    bool *known;
} tvlm_budget_reading;

/* One selection on its way. */
typedef struct tvlm_budget {
    const tvlm_task *task;
    const tvlm_texture *source;
    int32_t patch, tiles; /* the side of a patch in pixels, and how many tiles level 0 has */
    int32_t n;            /* the number of patches; 0: as many as a tolerance takes */
    double emphasis;      /* how strongly m counts, as asked for; 0: not at all */
    uint8_t *colours;     /* what `ink` reads: the image's colours (budget_blank.h) */
    tvlm_budget_ink ink;
    tvlm_budget_tree tree;
    tvlm_budget_grid grids[TVLM_BUDGET_GRIDS_MAX];
    int32_t cells[TVLM_BUDGET_GRIDS_MAX]; /* how many cells each grid keeps; blank cells are left out */
    double filled[TVLM_BUDGET_GRIDS_MAX]; /* the squared error that filling the blank cells makes */
    int32_t grid_count, alone;
    /* The number of each picture among those that are measured: pictures of one size are measured once. */
    int32_t measured[TVLM_BUDGET_PICTURES], measured_count;
    tvlm_budget_loss losses[TVLM_BUDGET_PICTURES];
    tvlm_budget_reading reading;
    int32_t
        *origin;   /* [tiles]: the first tile that each one equals, or itself; NULL where patches are given */
    float *memory; /* that `losses` point into */
    float *values; /* read from the device: what pictures lose, then the scores that become m */
} tvlm_budget;

/* Logs that there is no memory for what a budget needs for each tile, and returns TVLM_ERROR_MEMORY. */
tvlm_status tvlm_budget_no_memory(const tvlm_budget *budget);

/*
 * Reads the image's colours at a quarter of its size, and lists the thumbnails that are tried: fills in `ink`,
 * `grids`, `cells`, `filled`, `grid_count` and `alone`. Waits. No two thumbnails are equal. They come in this
 * order:
 * - the first `alone` may take all n patches, so that no patch is left for a tile;
 * - others take smaller and smaller shares of n, and leave the rest to tiles. Where some tiles matter more
 *   than others (`emphasis`), there are more of these shares;
 * - where the image has blank cells, finer thumbnails follow. A finer thumbnail leaves its blank cells out,
 *   and takes all n patches or a share of them for the cells that it keeps.
 * With a tolerance (n is 0) the list begins with a thumbnail of one patch. Each further thumbnail is larger
 * than the one before. All have fewer patches than there are tiles.
 */
tvlm_status tvlm_budget_list_grids(tvlm_budget *budget);
/* The same for thumbnails that are given: it only reads the colours, and fills in `colours` and `ink`.
 * Waits. */
tvlm_status tvlm_budget_look_for_ink(tvlm_budget *budget);

/* Measures all pictures: fills in `losses`. Lets a thumbnail keep all its cells where filling the blank ones
 * would be seen, which means that it adds too much to what the thumbnail loses. Waits, once. */
tvlm_status tvlm_budget_measure(tvlm_budget *budget);

/* What a picture loses of each tile, as it was read: two floats a tile, the squared error and the detail. */
static inline const float *tvlm_budget_values(const tvlm_budget *budget, int32_t picture) {
    return budget->values + 2 * (size_t)budget->measured[picture] * (size_t)budget->tiles;
}

/* How much each tile of level 0 matters, which is m, in [0, 1]: [tiles]. It is there once the pictures are
 * measured with an emphasis. */
static inline float *tvlm_budget_matters(const tvlm_budget *budget) {
    return budget->values + 2 * (size_t)budget->measured_count * (size_t)budget->tiles;
}

/* Makes `reading`, once all pictures are measured. No picture is known yet. */
tvlm_status tvlm_budget_prepare_reading(tvlm_budget *budget);

/*
 * Returns how much of the image's detail cannot be read where a thumbnail is shown with the tiles of a choice
 * on it. `grid` is the number of the thumbnail in `grids`; LEAST - FIRST is the thumbnail of one patch. Where
 * `choice` is NULL the thumbnail is shown without tiles. It writes into the memory of budget->reading,
 * although `budget` is const.
 */
double tvlm_budget_unread(const tvlm_budget *budget, int32_t grid, const tvlm_budget_choice *choice);
/* The same for a thumbnail without tiles, where parts of the thumbnail are hidden. hidden[tiles] has for each
 * tile of level 0 the hidden share, 0 .. 1. That share is shown as the thumbnail number `under` of `grids` shows
 * it; -1: the thumbnail of one patch. */
double tvlm_budget_unread_in_parts(const tvlm_budget *budget, int32_t grid, int32_t under,
                                   const float *hidden);

/* Fills in `losses` anew from the values that were read, with another emphasis. */
void tvlm_budget_place(tvlm_budget *budget, double emphasis);

/* ---- What matters ---- */

/* Finds how strongly m counts: *emphasis. It refuses an emphasis on a channel for which the image has no
 * input. It also refuses one beside a scorer or a query, which would then be ignored. */
tvlm_status tvlm_budget_find_emphasis(const tvlm_task *task, double *emphasis);
/* Enqueues the scores that m is made of, one for each tile of level 0. */
tvlm_status tvlm_budget_score(const tvlm_task *task, tvlm_buffer **scores);
/* Takes the place of tvlm_budget_score where the emphasis is 0. It refuses what that function refuses. The
 * task's question becomes the last question to the image; without one the image has none afterwards. */
tvlm_status tvlm_budget_look(const tvlm_task *task);
/* Turns the scores of tvlm_budget_score, once they are read, into m in [0, 1], in place. */
void tvlm_budget_importance(const tvlm_task *task, float *scores, int32_t count);

/* ---- Solving ---- */

/* A thumbnail and its tiles. */
typedef struct tvlm_budget_answer {
    int32_t grid; /* the thumbnail's number in budget->grids */
    tvlm_budget_choice choice;
    double weights[TVLM_BUDGET_PARTS];     /* of the parts, when tiles were chosen */
    double parts[TVLM_BUDGET_PARTS];       /* what is lost of each part */
    double lost;                           /* both parts, with the weights by which answers are compared */
    double downsampled[TVLM_BUDGET_PARTS]; /* what downsampling loses of each part; 0 with a tolerance */
    /* What follows is there after tvlm_budget_itemise. */
    float *under;                    /* [places] what the thumbnail loses, both parts weighed by `weights` */
    double whole;                    /* the sum of that */
    tvlm_budget_tile *tiles;         /* of the choice, in the order of tvlm_budget_order */
    double share, share_downsampled; /* as shares of what a thumbnail of one patch loses */
} tvlm_budget_answer;

static inline void tvlm_budget_answer_free(tvlm_budget_answer *answer) {
    tvlm_budget_choice_free(&answer->choice);
    free(answer->under);
    free(answer->tiles);
    answer->under = NULL;
    answer->tiles = NULL;
}

/* Finds the best thumbnail and tiles of n patches. `grids` must be those for a number of patches. */
tvlm_status tvlm_budget_solve(const tvlm_budget *budget, int32_t n, tvlm_budget_answer *answer);
/* Does the same for budget->n patches, with the largest part of the emphasis that leaves the image in view:
 * the squared error over the image, with each tile counted alike, is predicted to be at most 0.9 dB above
 * downsampling's. Afterwards `losses` are those by which the answer was found. */
tvlm_status tvlm_budget_solve_in_view(tvlm_budget *budget, tvlm_budget_answer *answer);
/* Finds an answer that loses at most the share `tolerance` of what a thumbnail of one patch loses. It takes
 * hardly more patches than the fewest that do. `grids` must be those for a tolerance. */
tvlm_status tvlm_budget_solve_tolerance(const tvlm_budget *budget, double tolerance,
                                        tvlm_budget_answer *answer);
/* Fills in what an answer is delivered with: what its thumbnail loses place by place, and its tiles one by
 * one. */
tvlm_status tvlm_budget_itemise(const tvlm_budget *budget, tvlm_budget_answer *answer);

/* How much detail counts where answers are compared; the squared error counts the rest of 1. */
#define TVLM_BUDGET_COUNTS 0.8

/* Returns a loss of these parts as a share of what a thumbnail of one patch loses. */
double tvlm_budget_share_lost(const tvlm_budget *budget, const double parts[TVLM_BUDGET_PARTS]);

/* Finds the weights with which the two parts of `whole`, a loss, count as they should: its detail counts
 * `detail`, and its squared error the rest of 1. A part that loses nothing has the weight 0. */
void tvlm_budget_weigh_parts(const double whole[TVLM_BUDGET_PARTS], double detail,
                             double weights[TVLM_BUDGET_PARTS]);

/*
 * Losses as the tree takes them, with a note of what they were made for. If the same losses are asked for
 * again, they are not made again. For another thumbnail with the same weights, only that thumbnail's part is
 * made. They are valid as long as budget->losses are. A struct that is all zero but for `memory` is empty.
 */
typedef struct tvlm_budget_weighed {
    float *memory; /* [tvlm_budget_floats] */
    double weights[TVLM_BUDGET_PARTS];
    int32_t grids; /* 1 + the number of the thumbnail; 0: nothing is there yet */
} tvlm_budget_weighed;

/* Makes the losses of a thumbnail, and of the pictures that tiles are cut out of. Each loss is the weighed
 * sum of both parts. The first of equal tiles has the loss of all of them. They lie in weighed->memory. */
size_t tvlm_budget_floats(const tvlm_budget *budget);
tvlm_budget_losses tvlm_budget_weigh(const tvlm_budget *budget, int32_t grid,
                                     const double weights[TVLM_BUDGET_PARTS], tvlm_budget_weighed *weighed);

/* ---- Thumbnails that are given ---- */

/* Begins with `count` thumbnails, 1 .. TVLM_BUDGET_GRIDS_MAX, in place of those that a budget tries, and measures
 * them. `ink` then says which of their cells are blank. Of the task's parameters it reads the patch and those that
 * say what matters. *made is to be closed in any case. Waits. */
tvlm_status tvlm_budget_open(const tvlm_task *task, const tvlm_budget_grid *grids, int32_t count,
                             tvlm_budget **made);
void tvlm_budget_close(tvlm_budget **made);

/*
 * Finds what a thumbnail of columns x rows patches loses.
 * - *lost has a number for each tile of level 0, row after row: what the thumbnail loses of the tile, times
 *   how much the tile matters, as a share of all that the thumbnail loses. The caller frees it.
 * - *share is all that the thumbnail loses, as a share of what a thumbnail of one patch loses.
 * Of the task's parameters it reads the patch and those that say what matters. Waits.
 */
tvlm_status tvlm_budget_under(const tvlm_task *task, int32_t columns, int32_t rows, float **lost,
                              double *share);
/* Does the work of tvlm_budget_under for the only thumbnail of grids, once it is measured. */
tvlm_status tvlm_budget_weigh_given(const tvlm_budget *budget, float **lost, double *share);

/* ---- Equal tiles ---- */

/* Reads the pixels of the image, in *rgba[height][width][4]. They are the caller's to free, also where it fails. */
tvlm_status tvlm_budget_pixels(const tvlm_budget *budget, float **rgba);

/* Fills in `origin`: finds the tiles of level 0 whose texels equal those of the tile to the left or above.
 * Where that tile equals another one in turn, `origin` names the first of them all. Waits. */
tvlm_status tvlm_budget_equal(tvlm_budget *budget);

#endif
