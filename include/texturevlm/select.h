/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.h: the positions of an image that matter.
 *
 * The defaults spend up to 273 patches of an encoder so that the least of the image is lost: some are a small
 * picture of the whole image, the others squares of it in detail (the strategy `budget`).
 *
 *     tvlm_selection *selection = NULL;
 *     if (tvlm_select(stack, NULL, NULL, &selection) == TVLM_OK) {
 *         int32_t count;
 *         const tvlm_position *at = tvlm_selection_positions(selection, &count);
 *         for (int32_t i = 0; i < count; ++i) printf("%g %g\n", at[i].x, at[i].y);
 *         tvlm_selection_destroy(&selection);
 *     }
 *
 * A question (score.h) says what is looked for, and parameters say how:
 *
 *     tvlm_select(stack, tvlm_query(.vectors = text, .dimension = 768), tvlm_select_params(.k = 100), &selection);
 *
 * Another strategy is asked for by its name, such as the best cells of a regular grid:
 *
 *     tvlm_select(stack, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .score = {.stride = 14}),
 *                 &selection);
 */
#ifndef TEXTUREVLM_SELECT_H
#define TEXTUREVLM_SELECT_H

#include "score.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TVLM_K_DEFAULT     273
#define TVLM_PATCH_DEFAULT 16.0f

/* The tolerance (below) by which as few patches are taken as keep readable what can be read: on drawn pages that chose
 * nothing, more than 97 % of the words that Tesseract reads in full (bench/README.md, budget.py). */
#define TVLM_TOLERANCE_READABLE 0.03f

/* A place to look at. Its coordinates are in pixels of the image as it was handed in; the centre of the first
 * pixel is at 0.5, 0.5. */
typedef struct tvlm_position {
    /* The centre of the position. */
    float x, y;
    /* The level of the working image at which one patch covers the position: max(0, log2(stride / patch)) for
     * a cell, log2(size / patch) for a square, in pixels of the working image. */
    float level;
    float score;
    /* The side of the square that the position stands for; of a rectangle its width. */
    float size;
    /* The cell that the position stands for. Both are -1 where it stands for none: where the strategy chooses
     * squares, and in an overview. */
    int32_t column, row;
    /* The height of a rectangle, which a cell of a budget's thumbnail is; 0: a square. */
    float height;
    /* Of a budget's tile: what its square loses without it, with the tiles beneath it alone, and what with it, without finer ones, as
     * shares of what the thumbnail loses; of each of nine a ninth of their square's. 0 of all else. */
    float lost_before, lost_after;
    uint32_t reserved[2];
} tvlm_position;

/* How positions are chosen. tvlm_select_params says more about each, beside its parameters. */
typedef enum tvlm_strategy {
    /* The budget; with an overview the grid, and in a stream (stream.h) the grid, too. */
    TVLM_STRATEGY_DEFAULT = 0,
    /* The best cells of a regular grid. */
    TVLM_STRATEGY_GRID,
    /* Squares that cover the image: small around fixations, large far from them. */
    TVLM_STRATEGY_FOVEATED,
    /* Squares that cover the image: small where the score is high, large where it is low. */
    TVLM_STRATEGY_QUADTREE,
    /* The best texels of a level. */
    TVLM_STRATEGY_EXHAUSTIVE,
    /* The best cells of the grid in the best regions. It reads only those, so that on a processor it is the
     * cheapest for a large image; on a GPU the grid is (below). */
    TVLM_STRATEGY_CASCADE,
    /* A small picture of the whole image, and tiles where that loses most. */
    TVLM_STRATEGY_BUDGET
} tvlm_strategy;

/* Where the positions of the foveated strategy start. Both cover the image alike, and on photos neither shows
 * more for all e0 (they show the same at 0.2, the sunflower shows more at 0.3, log-polar at 0.5:
 * bench/README.md). The sunflower is the default because it takes half the time. */
typedef enum tvlm_arrangement {
    TVLM_ARRANGEMENT_SUNFLOWER = 0, /* a spiral at the golden angle (Vogel 1979) */
    TVLM_ARRANGEMENT_LOG_POLAR      /* rings of equal sectors */
} tvlm_arrangement;

/* In half diagonals of the image. No e0 is the best one: the smaller it is, the more photos show near the
 * fixation, and the less over all.
 * - Below 0.2 it makes no difference where the squares at the fixation are patches already (photos of 1024
 *   pixels, 273 patches of 16). With patches half as large 0.05 gains 1.5 dB near the fixation and loses 0.5
 *   dB over all.
 * - 0.5 loses 2 to 3 dB near the fixation and gains 0.3 dB over all (bench/README.md, foveated.py). */
#define TVLM_E0_DEFAULT 0.2f

/* How strongly what is asked counts in the strategy `budget`, where nothing else is given. */
#define TVLM_EMPHASIS_ASKED 32.0f
/* The same of a query. */
#define TVLM_EMPHASIS_QUERY 300.0f

/*
 * Scores of one's own in place of those that the library computes: one for each candidate of the strategy, row
 * after row. There are as many columns and rows as tvlm_score_size (score.h) says for the same `score`, with
 * `dense` for the exhaustive strategy. They are finite; the larger a score, the better.
 */
struct tvlm_scores {
    /* [rows * columns], read during the call only. */
    const float *values;
    /* Floats in memory of the device (device.h), in place of `values`; they are copied on the device, and come
     * to the host only where the strategy works there. `unchecked`: NaN comes last, as in tvlm_topk. */
    const struct tvlm_memory *values_in;
    int32_t columns, rows;
    uint64_t reserved[4];
};
#define tvlm_scores(...) TVLM_PARAMS(tvlm_scores, __VA_ARGS__)

/*
 * Parameters of a selection. All zero means the defaults. A parameter of another strategy than the one that
 * is asked for is refused, not ignored.
 */
struct tvlm_select_params {
    /* ---- All strategies ---- */

    /* How many positions there are to be. 0 means 273, or as many as there are candidates. A k larger than
     * the number of candidates is refused, but by the budget, which then gives all patches. */
    int32_t k;

    tvlm_strategy strategy;

    /*
     * Which image of a batch is looked at, what its candidates are, and how they are scored (score.h). The
     * candidates are the cells of `score.stride`, which every strategy but the exhaustive one takes.
     * `score.level` and `score.dense` are of the exhaustive strategy.
     */
    struct tvlm_score_params score;

    /* The side of the encoder's patch, in pixels of the working image. No square is smaller. 0 means 16. */
    float patch;

    /* Keeps the scores of all candidates with the selection, where tvlm_selection_scores finds them. */
    bool keep_scores;

    /* ---- grid, exhaustive and cascade: the best candidates ---- */

    /* The least distance between two positions, in pixels of the working image; 0: none. A position that is
     * too near to a better one is left out, and there may then be fewer than k. The positions of an overview
     * do not count. */
    float min_distance;

    /*
     * The share of k, from 0 to 1, that shows the whole image coarsely; 0: none. These positions come first,
     * row after row, so that the whole image stays in view whatever is cut off the end of a selection. The
     * rest are the best of the strategy, exactly what k less their number would give alone.
     *
     * The overview is a regular grid of at most overview * k squares: the smallest for which there are
     * enough, none smaller than a patch or a cell, or squares up to a sixteenth larger where fewer of these
     * do. tvlm_selection_info tells its columns and rows. Squares lie W / columns and H / rows apart; their
     * size is the larger of the two, and their score the mean of the strategy's scores over the square. They
     * are not remembered as looked at (temporal.h). An overview of less than one position is refused.
     *
     * A quarter is a good share, a half below a hundred positions or so, a tenth where k is half of all
     * patches (bench/README.md, budget.py). The default is 0 because a selection then is what it always was:
     * cells of one size, the best first.
     */
    float overview;

    /* ---- foveated: squares around fixations (foveated.h) ----
     *
     * There are exactly k squares, at most as many as patches fit into the image. From k = 5 on, and for
     * sides up to 20 : 1, they cover at least 95 % of the image and at most 25 % of it twice; foveated.h says
     * what smaller k and longer images do. A square's score is the mean of the cells' scores over it. */

    /* x, y of each fixation, in pixels of the working image. Without any, the strategy looks where a grid of
     * 16 cells along the longer side has its highest score: that of the query's part alone where there is a
     * query, else the score itself. */
    const float *fixations;
    int32_t fixation_count;
    /* Squares grow as e + e0 with the distance e from the nearest fixation. In half diagonals of the image,
     * > 0; 0 means TVLM_E0_DEFAULT. */
    float e0;
    tvlm_arrangement arrangement;

    /* ---- quadtree: squares that are small where the score is high ----
     *
     * It has no parameters of its own. The leaf with the largest sum of scores (above the lowest of all) is
     * cut into four, down to the patch, as long as there are at most k leaves; where nothing scores, it stays
     * whole. The leaves cover the image without overlap. Sizes are patch * 2^level, and a leaf's score is the
     * mean of the cells' scores over it.
     *
     * A leaf is a square that begins at multiples of its side, clipped by the right and the lower border of
     * the image: `size` is the side of the whole square, x and y are the centre of what remains of it. So the
     * square of `size` around x, y is the leaf where that is whole; where it is clipped, that square contains
     * the leaf, and reaches beyond the image and over neighbours. The leaf itself begins, in pixels of the
     * working image, at size * floor(x / size), size * floor(y / size). */

    /* ---- exhaustive: the best texels of a level ----
     *
     * It is the grid with the texels of `score.level` as candidates; 0 means every pixel. */

    /* ---- cascade: the best cells in the best regions ----
     *
     * First it scores the stack's regions (regions.h). Each is read by its channels at its centroid, at the
     * level whose texels are as large as it, and by the best of up to four means of its vectors' cosines with
     * the query: one mean for vectors that are alike, a little more where they differ. Then it scores the
     * cells that touch the best regions, and of those it chooses the k best. What the regions are and the
     * means of their vectors is made with the first question to an image, and kept on the host.
     *
     * It looks into at least `keep_regions` regions, and into as many more as it takes for 8 k cells; on
     * grids of 16384 cells and more that is 2 k cells and a sixteenth of all, if that is less. Once it has
     * them, it passes over regions that would make the cells more than an eighth of all.
     *
     * What it saves is reading, and that pays on processors. On a GPU a further question with 64 x 64 x 768
     * features takes it 15 commands and 4 waits of the host, the grid 5 and 1: about 0.15 ms against 0.05
     * where a command takes 6 us and a wait 15 (counted in the tests, not yet timed on a GPU), while reading
     * all of those features takes 3 us. It does not become the grid there, since the same question would then
     * have another answer on another device. Who wants the exact best cells, or has a GPU, asks for the grid.
     *
     * Scores are the grid's, but each part is brought to [0, 1] by its range over the cells that were looked
     * at and the regions that were not looked into. Where the scores are kept (keep_scores, score.keep_pass,
     * temporal.h), cells that were not looked at have the lowest of them, and query_similarity is 0 where no
     * vector was read. */

    /* How many of the best regions it looks into at least, >= 1; 0 means 10. */
    int32_t keep_regions;
    /* Regions and cells at least that far from every edge are left out, unless fewer than k cells would be
     * left. It is measured as the channel distance: 1 is an eighth of the longer side, or more. 0 means 1;
     * above 1 none are left out. */
    float cull_distance;
    /* Chooses squares that cover the image, as the quadtree's, instead of the best cells: small in the
     * regions that were looked into, where they score, and large where nothing needs detail. A region in
     * which nothing needs detail comes back as few coarse squares, or as a part of one. There are at most k,
     * not limited by the number of candidates. A min_distance, an overview and diversity are refused with it.
     */
    bool cover;

    /* ---- grid, exhaustive and cascade, once more ----
     *
     * How much positions are to differ, 0 to 1; 0: not at all. The positions are chosen one after the other:
     * each time the candidate whose score, less `diversity` times its largest likeness to one that was chosen,
     * is the largest (maximal marginal relevance: Carbonell and Goldstein 1998). Likeness is the cosine of the
     * encoder's vectors at the candidates' centres, where the image has features, or an embedding; otherwise
     * of their mean colours in CIE L*a*b* as vectors L* - 50, a*, b*, 25. It is 0 where that is negative.
     *
     * The positions come in the order in which they were chosen, and bear their own scores. The positions of
     * an overview do not count. The default score and diversity fit each other, since the score lies in 0 to
     * 1; the scores of a scorer may need scaling. What it gains and costs: bench/README.md, budget.py. */
    double diversity;

    /* ---- budget: a thumbnail, and tiles where it loses most ----
     *
     * k is the number of patches that an encoder is given. The first of them are the cells of the *thumbnail*: the
     * whole image as one picture of columns * patch x rows * patch texels (Lanczos' filter), whose grid
     * tvlm_selection_info tells. Cells that show nothing are left out, and cost no patch (tvlm_selection_empty). The
     * others are *tiles*, each of which is one patch:
     * - squares of patch * 2^l pixels, l = 0, 1, 2, at multiples of their side, of the level l of the image;
     * - *thirds*: squares of 3 * patch pixels, of the image at a third of its size (Lanczos' filter), at multiples of their
     *   side and only where all of one lies in the image. Their level is log2(3) = 1.585;
     * - *nines*: squares of 4 * patch pixels as 3 x 3 patches of the image at three quarters of its size (the same), which are
     *   chosen together. Each of the nine is a position of patch * 4/3 pixels and of the level log2(4/3) = 0.415.
     * So a model gets the thumbnail enlarged, and tiles on it from coarse to fine. A square of 12 * patch pixels has either
     * thirds or tiles of levels 1 and 2 and nines, and tiles of level 0 on either.
     *
     * The *loss* of a picture has two parts, both of luma: its squared error, and the detail that cannot be read or recognised in
     * it. Detail is read where it correlates enough with the image's: the correlation is taken in windows of half a patch,
     * and a logistic curve turns it into a loss, so that what is legible needs no more, and what cannot be made so with what
     * it would cost is left alone (doc/ideas.md: the equation, and what its constants were fitted to). Answers are compared by the
     * correlation over each tile and its neighbours, since a word lies over several. Each part is taken over
     * that of downsampling (the thumbnail of k patches alone with the least squared error), and detail counts four
     * fifths. Both are measured on each tile of level 0, for some fifteen thumbnails and for each kind of tile, after they are
     * enlarged. Where an image has blank cells, up to five finer thumbnails are measured of which up to k cells are not
     * blank. For each thumbnail the tiles of least loss are found by a Lagrangian over the tree of tiles (Shoham & Gersho
     * 1988), and that thumbnail is taken whose choice loses least, of those that lose no more than downsampling in
     * either part: so the predicted loss is never above downsampling's, nor above that of a smaller picture whose blank
     * cells are left out. There are exactly k positions.
     *
     * A cell is blank where, at a quarter of the image's size, none of r, g and b differs by more than 12 of 255, and where it is
     * filled rightly from around it.
     *
     * A window is 2 x 2 of a tile's 4 x 4 blocks. Block b of a side begins at pixel floor(b * patch / 4), so that where 4
     * does not divide the side some blocks are a pixel longer.
     *
     * Positions are the cells of the thumbnail that are kept, row after row, with score 1 and `height`; then the tiles,
     * without cell, each with the largest gain beside those before it. Their score is what they lower the
     * loss by, as a share of what the thumbnail loses; of each of nine a ninth of what these do. A tile may lie on a
     * coarser one. One that the border clips has its place as a leaf of the quadtree has: x and y are the centre of
     * what remains, and it begins at size * floor(x / size), size * floor(y / size). Whatever is cut off behind the
     * thumbnail, the predicted loss is never above the thumbnail's.
     *
     * A k of all patches of the image or more is all tiles of level 0, row after row, without a thumbnail;
     * their score is 0. `patch` is a whole number from 4 to 64. Where scores are kept (keep_scores),
     * they are what the thumbnail loses of each tile of level 0, as a share of all that it loses.
     *
     * A scorer, a query and a channel say what matters (`emphasis`). `score.stride`, `score.weights` and
     * `score.keep_pass` are refused. */

    /* In place of k: the share of the image's patches, above 0 and at most 1. Less than one patch is
     * refused. */
    float share;
    /* In place of k: hardly more than the least number of patches whose predicted loss is at most that share, from 0 to 1, of
     * what a thumbnail of one patch loses. Here each part of the loss is over that of this thumbnail, and not over
     * downsampling's, so that all numbers of patches are measured alike. What may lose more never takes more patches. A tile
     * whose pixels equal those of a tile of level 0 that was chosen, to its left or above it, is shown by that one, and takes no
     * patch of its own (tvlm_selection_duplicates).
     * TVLM_TOLERANCE_READABLE keeps what can be read in the image. TVLM_ZERO: nothing at all is lost. There is no thumbnail
     * then, and the positions are all tiles of level 0 but those that equal others; so is the answer to any tolerance that would take as many. */
    float tolerance;
    /* Losses are multiplied by 1 + emphasis * m, with m in [0, 1] for each tile of level 0. m is what
     * emphasis_channel says. 0: no emphasis; without a channel, but with a query TVLM_EMPHASIS_QUERY, with a
     * scorer or scores TVLM_EMPHASIS_ASKED. TVLM_ZERO: none either way. However large it is, only as much of it
     * counts as leaves the image in view: the squared error over all of it is predicted to be at most 0.9 dB above
     * downsampling's. With a tolerance, and where all patches are taken, all of it counts. */
    float emphasis;
    /* The channel that is m: its value in its range. 0: the `scores` of one's own where there are some, else
     * the scorer's score where there is a scorer, each over its range in the image, else the relevance to the query
     * where there is one, else TVLM_CHANNEL_SALIENCY. Of the relevance m is what lies above the median of the image's
     * tiles, or above the middle of its range where that is lower, over the most of that, squared: all tiles have
     * something in common with the query, and few are what it asks for. A channel that this image has nothing for is refused,
     * and one beside scores, a scorer, or a query that it does not read. */
    int32_t emphasis_channel;

    /* ---- All strategies, once more ---- */

    /* Scores of one's own, by which the strategy chooses, and which are kept wherever scores are. NULL: the
     * library computes them. With them a query, `score.weights` and `score.scorer` are refused: these would
     * change nothing. Where the foveated strategy has no fixation, it looks first where the mean over its grid
     * is highest; a region of the cascade has the highest score of the cells that touch it. For the budget
     * there is one for each tile of level 0, and they say what matters (`emphasis`). */
    const struct tvlm_scores *scores;
    uint64_t reserved[5];
};
#define tvlm_select_params(...) TVLM_PARAMS(tvlm_select_params, __VA_ARGS__)

/* Positions of one image, and what is known of how they were chosen. It needs neither the stack nor its
 * device any more. */
typedef struct tvlm_selection tvlm_selection;

/*
 * Chooses positions, the best first, behind those of an overview where one is asked for. `query` NULL means
 * that nothing is asked and the image alone decides; `params` NULL means the defaults. *selection is the
 * caller's, to be destroyed; it is set on success only. Waits. Errors: ARGUMENT (what the parameters above
 * and score.h refuse, such as a k larger than the number of candidates or a weight that is not finite),
 * MEMORY, DEVICE_MEMORY, DEVICE.
 */
TVLM_API tvlm_status tvlm_select(tvlm_stack *stack, const struct tvlm_query *query,
                                 const struct tvlm_select_params *params, tvlm_selection **selection);

/*
 * Says of parameters what tvlm_select says of them before it looks at the stack: whoever has many images need
 * not read one to hear it. What depends on an image is not checked: its index, how many candidates there are,
 * where fixations lie, the shape of scores, weights and scorers. Needs no device. `log` NULL: nothing is told.
 * Errors: ARGUMENT.
 */
TVLM_API tvlm_status tvlm_select_check(const tvlm_log *log, const struct tvlm_query *query,
                                       const struct tvlm_select_params *params);

/* Frees a selection and sets *selection to NULL. NULL and *NULL are fine. */
TVLM_API void tvlm_selection_destroy(tvlm_selection **selection);

/* The positions, valid while the selection lives, and how many there are. */
TVLM_API const tvlm_position *tvlm_selection_positions(const tvlm_selection *selection, int32_t *count);

typedef struct tvlm_selection_info {
    /* The size of the image as it was handed in. */
    int32_t width, height;
    /* The grid of the candidates. Both are 0 for strategies that choose squares. */
    int32_t columns, rows;
    /* The strategy that chose: never TVLM_STRATEGY_DEFAULT. */
    tvlm_strategy strategy;
    /* The squares of the overview, which come first. Both are 0 where there is none. */
    int32_t overview_columns, overview_rows;
    /* The grid of the thumbnail, whose cells come first. Both are 0 where there is none. */
    int32_t thumbnail_columns, thumbnail_rows;
    /* The strategy `budget`: the predicted loss, and that of downsampling to as many patches (0 of a tolerance, whose
     * loss is weighed otherwise), as shares of what a thumbnail of one patch loses. 0 elsewhere. */
    float loss, loss_downsampled;
    /* How many of the positions are cells of the thumbnail: all of its grid but those that are empty. */
    int32_t thumbnail_cells;
    uint32_t reserved[4];
} tvlm_selection_info;
TVLM_API tvlm_status tvlm_selection_get_info(const tvlm_selection *selection, tvlm_selection_info *info);

/*
 * The scores that the choice was made by, if params->keep_scores asked for them: columns * rows of them, row
 * after row, valid while the selection lives. They are those of the cells of `score.stride`, of the
 * exhaustive strategy those of the level's texels, and are what tvlm_score gives for the same question and
 * parameters. Only the cascade has scores of its own, of the cells that it looked at; the others have the
 * lowest of these. Returns NULL, with 0 columns and rows, where they were not asked for. `columns` and `rows`
 * may be NULL.
 */
TVLM_API const float *tvlm_selection_scores(const tvlm_selection *selection, int32_t *columns, int32_t *rows);

/* A tile of level 0 that is left out, since its pixels equal those of another one that is kept. Both are
 * counted in tiles. */
typedef struct tvlm_duplicate {
    int32_t column, row, of_column, of_row;
} tvlm_duplicate;

/* The tiles that a tolerance left out, row after row, valid while the selection lives, and how many there are. NULL and 0 where there are none. `count` may be NULL. */
TVLM_API const tvlm_duplicate *tvlm_selection_duplicates(const tvlm_selection *selection, int32_t *count);

/* A cell of a thumbnail, counted in cells. */
typedef struct tvlm_cell {
    int32_t column, row;
} tvlm_cell;

/* The cells of the thumbnail that are empty: nothing that is seen at its scale is in them, so that they are no
 * positions and cost no patch. Who draws a thumbnail fills them from around them: those that have neighbours to the
 * left, right, above or below take the mean over these of the line of texels that faces them, of a filled neighbour
 * its colour; then those beside these, and so on. They come row after row, valid while the selection lives. NULL and 0
 * where there are none. `count` may be NULL. */
TVLM_API const tvlm_cell *tvlm_selection_empty(const tvlm_selection *selection, int32_t *count);

/* What the strategies grid, exhaustive and cascade looked at, stage by stage; the others have no stages. An
 * overview reads nothing of its own, and is not counted. */
#define TVLM_SELECT_STAGES_MAX 3
typedef struct tvlm_select_stage {
    /* "regions" or "cells". */
    const char *name;
    /* How many were looked at, and how many of them went on to the next stage or were chosen. */
    int32_t candidates, kept;
    /* How many bytes were read for them: four texels (eight between two levels) of each layer that the score
     * reads, the vectors of the features, the means of regions and the labels of cells. What is made once for
     * an image is not counted: families, their levels, regions. */
    size_t bytes;
    uint64_t reserved[4];
} tvlm_select_stage;
typedef struct tvlm_selection_report {
    int32_t stage_count;
    tvlm_select_stage stages[TVLM_SELECT_STAGES_MAX];
    uint64_t reserved[4];
} tvlm_selection_report;
TVLM_API tvlm_status tvlm_selection_get_report(const tvlm_selection *selection,
                                               tvlm_selection_report *report);

/* "grid", "foveated", "quadtree", "exhaustive", "cascade" or "budget", which is also the name of
 * TVLM_STRATEGY_DEFAULT. "unknown" for other values. */
TVLM_API const char *tvlm_strategy_name(tvlm_strategy strategy);

/* The strategy of that name, or -1. */
TVLM_API int tvlm_strategy_find(const char *name);

/* Whether a strategy reads the parameter of that name (TVLM_STRATEGY_DEFAULT: whether it may be given without
 * a strategy, as that of the budget or an overview may): "stride", "level", "dense", "min_distance",
 * "overview", "fixations", "e0", "arrangement", "keep_regions", "cull_distance", "cover", "diversity", "weights",
 * "keep_pass", "share", "tolerance", "emphasis" or "emphasis_channel". All strategies read the others.
 * False where there is no such strategy. */
TVLM_API bool tvlm_strategy_reads(tvlm_strategy strategy, const char *parameter);

#ifdef __cplusplus
}
#endif
#endif
