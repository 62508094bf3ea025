/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.h: the positions of an image that matter.
 *
 * The defaults spend up to 273 patches of an encoder so that as little of the image as possible is lost. Some of
 * these patches are a small picture of the whole image, the others squares of it in detail (the strategy
 * `budget`).
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

#include <stdbool.h>

#include <stddef.h>

#include "score.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TVLM_K_DEFAULT     273
#define TVLM_PATCH_DEFAULT 16.0f

/* A tolerance (tvlm_budget_params.tolerance) that takes few patches, and yet keeps readable what can be read. It
 * was measured on drawn pages that had no part in choosing the value. There it keeps more than 97 % of the words
 * that Tesseract reads in the full image (bench/README.md, budget.py). */
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
    /* The side of the square that the position stands for, or the width if it stands for a rectangle. */
    float size;
    /* The cell that the position stands for. Both are -1 if it stands for no cell: if the strategy chooses
     * squares, and in an overview. */
    int32_t column, row;
    /* The height of a rectangle, such as a cell of a budget's thumbnail; 0 for a square. */
    float height;
    /* Only for the tiles of a budget, else 0: what is lost in the square of the tile, as shares of what the whole
     * thumbnail loses. lost_before is the loss with the coarser tiles beneath it alone, and lost_after the loss
     * with this tile on them, without any finer tiles. Each tile of a nine has a ninth of what their square
     * loses. */
    float lost_before, lost_after;
    uint32_t reserved[2];
} tvlm_position;

/* How positions are chosen. tvlm_select_params says more about each, beside its parameters. */
typedef enum tvlm_strategy {
    /* The budget. But it is the grid with an overview, and in a stream (stream.h). */
    TVLM_STRATEGY_DEFAULT = 0,
    /* The best cells of a regular grid. */
    TVLM_STRATEGY_GRID,
    /* Squares that cover the image: small around fixations, large far from them. */
    TVLM_STRATEGY_FOVEATED,
    /* Squares that cover the image: small where the score is high, large where it is low. */
    TVLM_STRATEGY_QUADTREE,
    /* The best texels of a level. */
    TVLM_STRATEGY_EXHAUSTIVE,
    /* The best cells of the grid in the best regions. It reads only these cells, so that on a processor it is the
     * cheapest strategy for a large image. On a GPU the grid is the cheapest (below). */
    TVLM_STRATEGY_CASCADE,
    /* A small picture of the whole image, and tiles where that picture loses most. */
    TVLM_STRATEGY_BUDGET
} tvlm_strategy;

/* Where the positions of the foveated strategy start. Both arrangements cover the image alike. On photos, neither
 * shows more than the other for every e0: they show the same at 0.2, the sunflower more at 0.3, and log-polar more
 * at 0.5 (bench/README.md). The sunflower is the default because it takes half the time. */
typedef enum tvlm_arrangement {
    TVLM_ARRANGEMENT_SUNFLOWER = 0, /* a spiral at the golden angle (Vogel 1979) */
    TVLM_ARRANGEMENT_LOG_POLAR      /* rings of equal sectors */
} tvlm_arrangement;

/* The default of tvlm_foveated_params.e0, in half diagonals of the image. No e0 is the best one: the smaller it is,
 * the more a selection shows near the fixation, and the less over all. On photos of 1024 pixels, with 273 patches
 * of 16 pixels (bench/README.md, foveated.py):
 * - Below 0.2 it makes no difference, since the squares at the fixation are as small as patches already. With
 *   patches half as large, 0.05 gains 1.5 dB near the fixation and loses 0.5 dB over all.
 * - 0.5 loses 2 to 3 dB near the fixation and gains 0.3 dB over all. */
#define TVLM_E0_DEFAULT 0.2f

/* The default of tvlm_budget_params.emphasis with a scorer, or with the application's own scores. */
#define TVLM_EMPHASIS_ASKED 32.0f
/* The default of tvlm_budget_params.emphasis with a query. */
#define TVLM_EMPHASIS_QUERY 300.0f

/*
 * The application's own scores, in place of those that the library computes: one for each candidate of the
 * strategy, row after row. There are as many columns and rows as tvlm_score_size (score.h) says for the same
 * `score`, with `dense` for the exhaustive strategy. They are finite; the larger a score, the better.
 */
struct tvlm_scores {
    /* [rows * columns], read during the call only. */
    const float *values;
    /* Floats in memory of the device (device.h), in place of `values`. They are copied on the device, and come to
     * the host only if the strategy works there. If they are `unchecked`, NaN comes last, as in tvlm_topk. */
    const struct tvlm_memory *values_in;
    int32_t columns, rows;
    uint64_t reserved[4];
};
#define tvlm_scores(...) TVLM_PARAMS(tvlm_scores, __VA_ARGS__)

/* Parameters of the strategies grid, exhaustive and cascade, which choose the best candidates. */
struct tvlm_best_params {
    /* The least distance between two positions, in pixels of the working image; 0: none. A position that is
     * too near to a better one is left out, and there may then be fewer than k. The positions of an overview
     * do not count. */
    float min_distance;

    /*
     * The share of k, from 0 to 1, that shows the whole image coarsely; 0: none. These positions come first, row
     * after row, so that the whole image stays in view whatever is cut off the end of a selection. If the
     * overview has n positions, the others are exactly those that the strategy would choose for k - n.
     *
     * The overview is a regular grid of at most overview * k squares that cover the image. The squares are as
     * small as that number allows, but not smaller than a patch or a cell. They may be up to a sixteenth larger if
     * fewer of them are then enough. tvlm_selection_info tells the columns and rows of the grid.
     * Squares lie W / columns and H / rows apart. Their size is the larger of the two, and their score the mean
     * of the strategy's scores over the square. They are not remembered as looked at (stream.h). An overview of
     * less than one position is refused.
     *
     * A quarter is a good share. With fewer than about a hundred positions, a half is better; if k is half of all
     * patches, a tenth (bench/README.md, budget.py). The default is 0 because a selection is then what it always
     * was: cells of one size, the best first.
     */
    float overview;

    /*
     * How much the positions are to differ from each other, 0 to 1; 0: it does not matter. Positions are chosen
     * one after the other. Each time the candidate is taken that has the largest score less `diversity` times its
     * largest likeness to a position that was chosen before (maximal marginal relevance: Carbonell and Goldstein
     * 1998).
     *
     * Likeness is a cosine, or 0 if that is negative. If the image has features or an embedding, it is the cosine
     * of the encoder's vectors at the candidates' centres. Otherwise it is the cosine of the candidates' mean
     * colours in CIE L*a*b*, as vectors (L* - 50, a*, b*, 25).
     *
     * The positions come in the order in which they were chosen, and have their own scores. The positions of an
     * overview do not count. The default score lies in 0 to 1 and so fits diversity; the scores of a scorer may
     * need scaling. bench/README.md, budget.py, says what diversity gains and costs. */
    float diversity;
    uint64_t reserved[2];
};

/*
 * Parameters of the strategy foveated: squares around fixations (lab/foveated.h).
 *
 * It is of the lab, and is refused with UNSUPPORTED in a build without the lab.
 *
 * There are exactly k squares, at most as many as patches fit into the image. From k = 5 on, and for
 * sides up to 20 : 1, they cover at least 95 % of the image and at most 25 % of it twice; lab/foveated.h
 * says what smaller k and longer images do. A square's score is the mean of the cells' scores over it.
 */
struct tvlm_foveated_params {
    /* x, y of each fixation, in pixels of the working image. If there are none, the strategy finds one itself: the
     * place where a grid of 16 cells along the longer side has its highest score. With a query, only the query's
     * part of the score counts for this. */
    const float *fixations;
    int32_t fixation_count;
    /* Squares grow as e + e0, with e the distance from the nearest fixation. Both are in half diagonals of the
     * image. e0 is > 0; 0 means TVLM_E0_DEFAULT. */
    float e0;
    tvlm_arrangement arrangement;
    uint64_t reserved[2];
};
#define tvlm_foveated_params(...) TVLM_PARAMS(tvlm_foveated_params, __VA_ARGS__)

/*
 * Parameters of the strategy cascade: the best cells in the best regions.
 *
 * First it scores the stack's regions (stack.h). The channels of a region are read at its centroid, at the
 * level whose texels are as large as the region. For a query, the vectors of a region fall into up to four
 * groups of vectors that are alike. The mean of each group is compared with the query, and the best one
 * counts. A little is added if the vectors of a group differ, since the best of them may be above their mean.
 *
 * Then it scores the cells that touch the best regions, and chooses the k best of them. The regions and the
 * means of their vectors are made with the first question to an image, and kept on the host.
 *
 * It looks into at least `keep_regions` regions, and into as many more as it takes to have enough cells. 8 k
 * cells are enough. On grids of 16384 cells and more, fewer may be enough: the larger of 2 k and a sixteenth
 * of all cells. Once it has enough, it leaves out each region that would bring it to more than an eighth of
 * all cells.
 *
 * The cascade saves reading, which pays on processors. On a GPU it does not. A further question with 64 x 64
 * x 768 features takes the cascade 15 commands and 4 waits of the host, and the grid 5 and 1. This is about
 * 0.15 ms against 0.05 ms, where a command takes 6 us and a wait 15 us (counted in the tests, not yet timed
 * on a GPU). Reading all of these features takes only 3 us. The cascade does not turn into the grid on GPUs,
 * since the same question would then have another answer on another device. Ask for the grid on a GPU, or to
 * get exactly the best cells.
 *
 * Scores are those of the grid, except that each part is scaled to [0, 1] by its range over the cells that
 * were looked at and the regions that were not looked into. If the scores are kept (keep_scores,
 * score.keep_pass, stream.h), cells that were not looked at get the lowest score of those that were.
 * query_similarity is 0 where no vector was read.
 */
struct tvlm_cascade_params {
    /* How many of the best regions it looks into at least, >= 1; 0 means 10. */
    int32_t keep_regions;
    /* Regions and cells at least this far from every edge are left out, unless fewer than k cells would be left.
     * The unit is that of the channel distance, in which 1 stands for an eighth of the longer side, or more. 0
     * means 1; above 1, none are left out. */
    float cull_distance;
    /* If set, the cascade does not choose the best cells, but squares that cover the image as those of the
     * quadtree do. The squares are small in the regions that were looked into, where the score is high, and large
     * where nothing needs detail. A region in which nothing needs detail comes back as few coarse squares, or as
     * a part of one. There are at most k squares; the number of candidates does not limit k. min_distance,
     * overview and diversity are refused with it. */
    bool cover;
    uint64_t reserved[2];
};

/*
 * Parameters of the strategy budget: a thumbnail, and tiles where it loses most.
 *
 * k is the number of patches that an encoder is given. The first positions are the cells of a *thumbnail*:
 * the whole image as one picture of columns * patch x rows * patch texels (Lanczos' filter).
 * tvlm_selection_info tells its grid. Cells that show nothing are left out, and cost no patch
 * (tvlm_selection_empty). The other positions are *tiles*. Each tile is one patch:
 * - Tiles of level l = 0, 1, 2: squares of patch * 2^l pixels, at multiples of their side, cut out of level l.
 * - *Thirds*: squares of 3 * patch pixels, at multiples of their side, cut out of the image at a third of its
 *   size (Lanczos' filter). A third must lie in the image as a whole. Its level is log2(3) = 1.585.
 * - *Nines*: squares of 4 * patch pixels, which are 3 x 3 patches of the image at three quarters of its size
 *   (Lanczos' filter). The nine tiles are chosen together. Each is a position of patch * 4/3 pixels and of the
 *   level log2(4/3) = 0.415.
 *
 * A model gets the thumbnail enlarged, and on it the tiles, from coarse to fine. A square of 12 * patch
 * pixels has either thirds, or nines and tiles of levels 1 and 2. Tiles of level 0 may lie on all of these.
 *
 * *The loss.* What a picture loses of the image has two parts, which are both of luma:
 * - the squared error;
 * - the detail that cannot be read or recognised. Detail can be read where it correlates enough with the
 *   detail of the image. The correlation is taken in windows of half a patch, and a logistic curve turns it
 *   into a loss. So what is legible needs no more patches, and what would cost too much to make legible is
 *   left alone (doc/ideas.md has the equation, and says what its constants were fitted to).
 *
 * Each part is divided by what downsampling loses of it. Detail counts four fifths of the sum, and the
 * squared error one fifth. *Downsampling* is the thumbnail of k patches, without tiles, that has the least
 * squared error. A word lies over several tiles. Therefore, where whole answers are compared, the correlation
 * is taken over each tile and its neighbours.
 *
 * *The search.* Both parts are measured on each tile of level 0, for some fifteen thumbnails and for each
 * kind of tile, after these were enlarged. If the image has blank cells, up to five finer thumbnails are
 * measured, too. Up to k of their cells are not blank. For each thumbnail, the tiles of least loss are found
 * by a Lagrangian over the tree of tiles (Shoham & Gersho 1988). Answers that lose more than downsampling in
 * either part are left out. Of the others, the one that loses least is taken. So the predicted loss is never
 * above that of downsampling, nor above that of a smaller picture whose blank cells are left out. There are
 * exactly k positions.
 *
 * A cell is *blank* if it meets two conditions. At a quarter of the image's size, each of r, g and b varies by
 * at most 12 of 255 in it. And the colour that it would be filled with from its neighbours is right.
 *
 * A *window* of the correlation is 2 x 2 of a tile's 4 x 4 blocks. Block b of a side begins at pixel
 * floor(b * patch / 4). If 4 does not divide the side, some blocks are a pixel longer.
 *
 * *The positions* come in this order:
 * - the cells of the thumbnail that are kept, row after row, with score 1 and their `height`;
 * - the tiles, without a cell, each time the one that lowers the loss most beside those before it. The score
 *   of a tile is what it lowers the loss by, as a share of what the thumbnail loses. Each tile of a nine has
 *   a ninth of what the nine do together.
 *
 * A tile may lie on a coarser one. A tile that the border clips has its place as a leaf of the quadtree has:
 * x and y are the centre of what remains, and it begins at size * floor(x / size), size * floor(y / size). If
 * positions are cut off behind the thumbnail, the predicted loss is still never above the thumbnail's.
 *
 * If k is the number of all patches of the image, or more, the positions are all tiles of level 0, row after
 * row, with score 0 and without a thumbnail. `patch` is a whole number from 4 to 64. If scores are kept
 * (keep_scores), they are what the thumbnail loses of each tile of level 0, as a share of all that it loses.
 *
 * A scorer, a query, a channel or the application's own scores may say what matters (`emphasis`).
 * `score.stride`, `score.weights` and `score.keep_pass` are refused.
 */
struct tvlm_budget_params {
    /* In place of k: a share of the number of the image's patches, above 0 and at most 1. A share of less than one
     * patch is refused. */
    float share;
    /*
     * In place of k: how much may be lost, from 0 to 1, as a share of what a thumbnail of one patch loses. The
     * answer has hardly more patches than the least number whose predicted loss is within this tolerance. A
     * larger tolerance never takes more patches.
     *
     * Each part of the loss is here divided by what the thumbnail of one patch loses of it, and not by what
     * downsampling loses. So all numbers of patches are measured alike.
     *
     * Tiles of level 0 whose pixels equal those of the tile to their left or above them form a group. If the first
     * tile of a group is chosen, it shows all of them, and the others take no patch (tvlm_selection_duplicates).
     *
     * TVLM_TOLERANCE_READABLE keeps what can be read in the image. With TVLM_EXPLICIT_ZERO nothing at all is lost:
     * there is no thumbnail, and the positions are all tiles of level 0 except those that equal others. Any
     * tolerance that would take as many patches has this answer, too.
     */
    float tolerance;
    /*
     * How strongly it counts that some tiles matter more than others. The loss of each tile of level 0 is
     * multiplied by 1 + emphasis * m, where m in [0, 1] says how much the tile matters (emphasis_channel). 0 means
     *   - TVLM_EMPHASIS_ASKED, if m is made from a scorer or from the application's own scores;
     *   - TVLM_EMPHASIS_QUERY, if it is made from a query;
     *   - no emphasis, if it is a channel.
     *
     * TVLM_EXPLICIT_ZERO always means no emphasis.
     *
     * However large it is, up to 1e15, the image stays in view. The emphasis is lowered until the squared error over
     * the image is predicted to be at most 0.9 dB above downsampling's. With a tolerance, and if all patches are
     * taken, it is not lowered.
     */
    float emphasis;
    /*
     * The channel that says how much a tile matters: m is its value, scaled from the channel's range to [0, 1]. 0
     * means the first of these that there is:
     *   - the application's own `scores`, scaled by their range in the image;
     *   - the scores of the scorer, scaled by their range in the image;
     *   - the relevance to the query. All tiles have something in common with a query, but few are what it asks
     *     for. So m is 0 up to the median over the image's tiles, or up to the middle of the range if that is
     *     lower. Beyond that value it grows with the square of the distance from it, to 1 for the most relevant
     *     tile;
     *   - TVLM_CHANNEL_SALIENCY.
     *
     * A channel for which this image has no input is refused. So is a channel together with scores, with a
     * scorer, or with a query that the channel does not read.
     */
    int32_t emphasis_channel;
    uint64_t reserved[2];
};

/*
 * Parameters of a selection. All zero means the defaults. Each strategy has parameters of its own. They are in the
 * struct of its name, and those of the strategies that choose the best candidates are in `best`:
 *
 *     tvlm_select_params(.strategy = TVLM_STRATEGY_BUDGET, .budget = {.share = 0.1f})
 *
 * A parameter of another strategy than the one that is asked for is refused, not ignored. tvlm_parameter_at lists
 * all parameters, with the range and the default of each. Two strategies have no parameters of their own:
 * - *exhaustive*: the best texels of a level. It works like the grid, with the texels of `score.level` as
 *   candidates; level 0 has every pixel.
 * - *quadtree*: squares that are small where the score is high. It cuts the leaf with the largest sum of scores into
 *   four, again and again, as long as there are at most k leaves. Scores count by how much they are above the lowest
 *   of all.
 *   Leaves are not cut below the size of a patch, and a leaf in which nothing scores stays whole. The leaves
 *   cover the image without overlap. Sizes are patch * 2^level, and a leaf's score is the mean of the cells'
 *   scores over it.
 *
 *   A leaf is a square that begins at multiples of its side, and may be clipped by the right and the lower
 *   border of the image. `size` is the side of the whole square; x and y are the centre of what remains of it.
 *   So the square of `size` around x, y is exactly the leaf if the leaf is whole. If the leaf is clipped, this
 *   square contains it, but also reaches beyond the image and over neighbours. The leaf itself begins, in
 *   pixels of the working image, at size * floor(x / size), size * floor(y / size).
 */
struct tvlm_select_params {
    /* How many positions there are to be. 0 means 273, or as many as there are candidates if these are fewer. A k
     * larger than the number of candidates is refused, except by the budget, which then gives all patches. */
    int32_t k;

    tvlm_strategy strategy;

    /*
     * Which image of a batch is looked at, what its candidates are, and how they are scored (score.h). The
     * candidates are the cells of `score.stride`, except for the exhaustive strategy and the budget, which refuse
     * a stride. `score.level` and `score.dense` are parameters of the exhaustive strategy.
     */
    struct tvlm_score_params score;

    /* The side of the encoder's patch, in pixels of the working image. No square is smaller. 0 means 16. */
    float patch;

    /* Keeps the scores of all candidates with the selection, where tvlm_selection_scores finds them. */
    bool keep_scores;

    /*
     * The application's own scores, by which the strategy chooses. They are kept wherever scores are kept. NULL:
     * the library computes the scores. A query, `score.weights` and `score.scorer` are refused together with
     * them, since these would change nothing. Three strategies use them in a way of their own:
     *   - foveated: if it has no fixation, it looks first where the mean of the scores over its grid is highest;
     *   - cascade: the score of a region is the highest score of the cells that touch it;
     *   - budget: there is one score for each tile of level 0, and they say what matters (`emphasis`).
     */
    const struct tvlm_scores *scores;

    struct tvlm_best_params best;
    struct tvlm_foveated_params foveated;
    struct tvlm_cascade_params cascade;
    struct tvlm_budget_params budget;
    uint64_t reserved[5];
};
#define tvlm_select_params(...) TVLM_PARAMS(tvlm_select_params, __VA_ARGS__)

/* Positions of one image, and what is known of how they were chosen. It needs neither the stack nor its
 * device any more. */
typedef struct tvlm_selection tvlm_selection;

/*
 * Chooses positions. The best come first, behind those of an overview if one is asked for. `query` NULL means
 * that nothing is asked and the image alone decides; `params` NULL means the defaults. *selection is the
 * caller's, to be destroyed; it is set on success only. Waits. Errors: ARGUMENT (what the parameters above
 * and score.h refuse, such as a k larger than the number of candidates or a weight that is not finite),
 * UNSUPPORTED (a strategy of the lab, in a build without it), MEMORY, DEVICE_MEMORY, DEVICE.
 */
TVLM_API tvlm_status tvlm_select(tvlm_stack *stack, const struct tvlm_query *query,
                                 const struct tvlm_select_params *params, tvlm_selection **selection);

/*
 * Makes those checks of the parameters that tvlm_select makes before it looks at the stack. A program with many
 * images need not read any of them to learn that its parameters are wrong. What depends on an image is not
 * checked: its index, how many candidates there are, where fixations lie, the shape of scores, weights and
 * scorers. Needs no device. `log` NULL: nothing is told. Errors: ARGUMENT, UNSUPPORTED (a strategy of the lab, in a
 * build without it).
 */
TVLM_API tvlm_status tvlm_select_check(const tvlm_log *log, const struct tvlm_query *query,
                                       const struct tvlm_select_params *params);

/* Frees a selection and sets *selection to NULL. NULL and *NULL are fine. */
TVLM_API void tvlm_selection_destroy(tvlm_selection **selection);

/* Returns the positions, which are valid while the selection lives. *count becomes how many there are. */
TVLM_API const tvlm_position *tvlm_selection_positions(const tvlm_selection *selection, int32_t *count);

typedef struct tvlm_selection_info {
    /* The size of the image as it was handed in. */
    int32_t width, height;
    /* The grid of the candidates. Both are 0 for strategies that choose squares. */
    int32_t columns, rows;
    /* The strategy that chose: never TVLM_STRATEGY_DEFAULT. */
    tvlm_strategy strategy;
    /* The grid of the overview, whose squares come first. Both are 0 if there is no overview. */
    int32_t overview_columns, overview_rows;
    /* The grid of the thumbnail, whose cells come first. Both are 0 if there is no thumbnail. */
    int32_t thumbnail_columns, thumbnail_rows;
    /* Only for the strategy `budget`, else 0: the predicted loss, and the predicted loss of downsampling to as
     * many patches. Both are shares of what a thumbnail of one patch loses. With a tolerance, losses are weighed
     * otherwise, and loss_downsampled is 0. */
    float loss, loss_downsampled;
    /* How many of the positions are cells of the thumbnail: all cells of its grid that are not empty. */
    int32_t thumbnail_cells;
    uint32_t reserved[4];
} tvlm_selection_info;
TVLM_API tvlm_status tvlm_selection_get_info(const tvlm_selection *selection, tvlm_selection_info *info);

/*
 * Returns the scores that the choice was made by, if params->keep_scores asked for them; else NULL, with 0 columns
 * and rows. They are columns * rows numbers, row after row, valid while the selection lives. `columns` and `rows`
 * may be NULL.
 *
 * The scores are those that tvlm_score gives for the same question and parameters: those of the cells of
 * `score.stride`, and for the exhaustive strategy those of the level's texels. There are two exceptions:
 *   - the cascade has scores of its own for the cells that it looked at; all other cells have the lowest of these;
 *   - the budget has what the thumbnail loses of each tile of level 0 (tvlm_select_params).
 */
TVLM_API const float *tvlm_selection_scores(const tvlm_selection *selection, int32_t *columns, int32_t *rows);

/* A tile of level 0 that is left out, since its pixels equal those of another tile, which is kept. column and row
 * are the place of the tile that is left out, of_column and of_row that of the other one, both counted in
 * tiles. */
typedef struct tvlm_duplicate {
    int32_t column, row, of_column, of_row;
} tvlm_duplicate;

/* Returns the tiles that a tolerance left out, row after row, valid while the selection lives. *count becomes how
 * many there are; `count` may be NULL. Returns NULL, with a count of 0, if there are none. */
TVLM_API const tvlm_duplicate *tvlm_selection_duplicates(const tvlm_selection *selection, int32_t *count);

/* A cell of a thumbnail, counted in cells. */
typedef struct tvlm_cell {
    int32_t column, row;
} tvlm_cell;

/*
 * Returns the empty cells of the thumbnail, row after row, valid while the selection lives. *count becomes how
 * many there are; `count` may be NULL. Returns NULL, with a count of 0, if there are none.
 *
 * Nothing that can be seen at the scale of the thumbnail is in these cells. So they are no positions, and cost no
 * patch. A program that draws the thumbnail fills them with colours from around them (tvlm_thumbnail_fill,
 * patches.h), in rounds. Each round fills the empty cells that have a neighbour to the left, right, above or
 * below that was kept, or was filled in a round before. Such a cell gets the mean over these neighbours: of a
 * kept neighbour the mean of the line of texels that faces the cell, and of a filled neighbour its colour.
 */
TVLM_API const tvlm_cell *tvlm_selection_empty(const tvlm_selection *selection, int32_t *count);

/* What the strategies grid, exhaustive and cascade looked at, stage by stage. The other strategies have no
 * stages. An overview reads nothing of its own, and is not counted. */
#define TVLM_SELECT_STAGES_MAX 3
typedef struct tvlm_select_stage {
    /* "regions" or "cells". */
    const char *name;
    /* How many were looked at, and how many of them went on to the next stage or were chosen. */
    int32_t candidates, kept;
    /* How many bytes were read for these candidates: four texels (eight between two levels) of each layer that
     * the score reads, the vectors of the features, the means of regions and the labels of cells. What is made
     * once for an image is not counted: families, their levels, regions. */
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

/* Returns "grid", "foveated", "quadtree", "exhaustive", "cascade" or "budget". "budget" is also the name of
 * TVLM_STRATEGY_DEFAULT. Returns "unknown" for other values. */
TVLM_API const char *tvlm_strategy_name(tvlm_strategy strategy);

/* Returns the strategy of that name, or -1. The name of a strategy of the lab is known in a build without the lab,
 * too; such a build refuses to select by it. */
TVLM_API int tvlm_strategy_find(const char *name);

/* ---- The list of parameters ---- */

/*
 * A list of the parameters of tvlm_select, for programs that offer them to their users.
 *
 * The library checks parameters by this list. The tool makes its options and their help of it, and the Python package
 * its keywords and their types. doc/parameters.md shows it. This prints the parameters of the strategy budget:
 *
 *     const tvlm_parameter *p;
 *     for (int32_t i = 0; (p = tvlm_parameter_at(i)) != NULL; ++i)
 *         if (p->strategies >> TVLM_STRATEGY_BUDGET & 1) printf("%s: %s\n", p->name, p->help);
 */

/* The type of a parameter: what lies at its offset in tvlm_select_params. */
typedef enum tvlm_parameter_type {
    TVLM_PARAMETER_NUMBER,  /* a float */
    TVLM_PARAMETER_INTEGER, /* an int32_t */
    TVLM_PARAMETER_FLAG,    /* a bool */
    TVLM_PARAMETER_CHOICE,  /* an enumeration, whose values from 0 on have the names in `words` */
    TVLM_PARAMETER_CHANNEL, /* an int32_t: the number of a channel */
    TVLM_PARAMETER_POINTS, /* a const float *, x and y of each point, and behind it their number, an int32_t */
    TVLM_PARAMETER_OBJECT  /* a pointer to what select.h or score.h describes */
} tvlm_parameter_type;

/* What is known of a parameter. All texts are in static storage. */
typedef struct tvlm_parameter {
    /* The name of the member of tvlm_select_params, or of a struct in it. */
    const char *name;
    tvlm_parameter_type type;
    /* The strategies that read it: the bit 1 << TVLM_STRATEGY_BUDGET for the budget, and so on. */
    uint32_t strategies;
    /* Where it lies in tvlm_select_params, and how many bytes it has. */
    size_t offset, size;
    /* The values of a number or an integer, from `low` to `high`. If `above` is set, `low` itself is none. For a
     * choice, low is 0. All three are 0 for other types. */
    double low, high;
    bool above;
    /* If set, TVLM_EXPLICIT_ZERO stands for 0, since 0 is the default. */
    bool zero;
    /* If set, few programs need it. The tool has no option of its own for it (`--set NAME=VALUE`). */
    bool rare;
    /* Words that stand for values, ended by NULL: of a choice its names, of a number a word for `word`. NULL if there
     * are none. */
    const char *const *words;
    float word;
    /* The default, the unit and what the value is called in the help, such as "PIXELS". NULL where there is none. */
    const char *usual, *unit, *symbol;
    /* What it does, in a line. What follows a semicolon is for those who want to know more. */
    const char *help;
} tvlm_parameter;

/* Returns a parameter by its number, which is 0 or more, or NULL where there is none. */
TVLM_API const tvlm_parameter *tvlm_parameter_at(int32_t index);

#ifdef __cplusplus
}
#endif
#endif
