/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select.h: the positions that matter.
 */
#ifndef TEXTUREVLM_SELECT_H
#define TEXTUREVLM_SELECT_H

#include "score.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TVLM_K_DEFAULT     273
#define TVLM_PATCH_DEFAULT 16.0f

typedef struct tvlm_selection tvlm_selection;

/* One position. x, y and size are in pixels of the image as it was handed in, centres at +0.5. */
typedef struct tvlm_position {
    float x, y;
    float
        level; /* level of the working image at which a patch covers the cell: max(0, log2(stride / patch)) */
    float score;
    float size;          /* side of the square it stands for */
    int32_t column, row; /* of its cell; -1 where it stands for none: where the strategy has no grid, and in
                            an overview */
} tvlm_position;

typedef enum tvlm_strategy {
    TVLM_STRATEGY_DEFAULT = 0, /* the grid for now; a later version may mean another */
    TVLM_STRATEGY_GRID,        /* the best cells of a regular grid */
    TVLM_STRATEGY_FOVEATED, /* dense around fixations, sparse far from them, covering the image: foveated.h */
    TVLM_STRATEGY_QUADTREE, /* squares, large and small, that cover the image: small where the score is */
    TVLM_STRATEGY_EXHAUSTIVE, /* the best texels of a level */
    TVLM_STRATEGY_CASCADE     /* the best cells of the grid in the best regions: reads only those */
} tvlm_strategy;

/* Where the positions of the foveated strategy start. They cover alike, and on photos neither shows more for
 * all e0 (the same at 0.2, the sunflower at 0.3, log-polar at 0.5: bench/README.md); the sunflower is the
 * default because it takes half the time. */
typedef enum tvlm_arrangement {
    TVLM_ARRANGEMENT_SUNFLOWER = 0, /* a spiral at the golden angle (Vogel 1979) */
    TVLM_ARRANGEMENT_LOG_POLAR      /* rings of equal sectors */
} tvlm_arrangement;

/* In half diagonals. There is no best one: photos show more near the fixation the smaller it is, and less
 * over all. Below 0.2 it makes no difference where squares at the fixation are patches already (photos of
 * 1024 pixels, 273 patches of 16); of patches half as large it gains 1.5 dB near for 0.5 over all at 0.05. At
 * 0.5 2 to 3 dB near are lost for 0.3 over all (bench/README.md, foveated.py). */
#define TVLM_E0_DEFAULT 0.2f

struct tvlm_select_params {
    int32_t k; /* 1 .. candidates; 0: 273, or as many as there are */
    tvlm_strategy strategy;
    /* Which image, its candidates and how they are scored. The candidates are cells of `stride`, of the
     * exhaustive strategy texels of `level`. `dense` need not be set; it is refused with any other strategy,
     * and so is a level. */
    struct tvlm_score_params score;
    float patch;        /* side of the encoder's patch in pixels; 0: 16 */
    float min_distance; /* between positions, in pixels of the working image, greedy by rank; 0: none.
                           Fewer than k are then no error */
    /* Of the foveated strategy: as in tvlm_foveated_params, but in pixels of the working image, and without
     * fixations it is the candidate of the highest score (of the query's part alone, where there is one) of a
     * grid of 16 cells along the longer side. */
    const float *fixations;
    int32_t fixation_count;
    float e0;
    tvlm_arrangement arrangement;
    /* Of the cascade. */
    int32_t keep_regions; /* the best of the regions that are looked into, 1 .. ; 0: 10 */
    float cull_distance;  /* regions and cells at least that far from an edge (the channel distance, 1: an
                             eighth of the longer side, or more) are left out; 0: 1; above 1: none are */
    bool cover; /* squares that cover the image, as the quadtree's: small in the regions that are looked into,
                   where they score, large where nothing needs detail. Instead of the best cells */
    float overview; /* of grid, exhaustive and cascade: the share of k, 0 .. 1, that shows the whole image
                       coarsely; 0: none */
};
#define tvlm_select_params(...) (&(struct tvlm_select_params){__VA_ARGS__})

/*
 * Chooses positions, best first, behind the overview where there is one. `query` NULL: none; `params` NULL:
 * all defaults. The selection is the caller's. Errors: ARGUMENT (k negative or larger than the number of
 * candidates, a weight that is not finite, ...).
 *
 * foveated: K positions around fixations (foveated.h), k at most as many as patches fit into the image. They
 * cover at least 95 % of it with at most 25 % covered twice from k = 5 on, for sides up to 20 : 1; foveated.h
 * says what k = 1 to 4 and longer images do.
 * quadtree: at most k leaves, large and small, that cover the image without overlap: greedily, the one with
 * the largest sum of scores (above the lowest of all) is cut into four, down to the patch; where nothing
 * scores, it stays whole. A leaf is a square from a multiple of its side on, clipped by the image's right
 * and lower border: `size` is the side of the whole square, x and y are the centre of what remains of it. So
 * the square of `size` around x, y is the leaf where that is whole; where it is clipped, that square has all
 * of the leaf in it, and reaches beyond the image and over neighbours. A leaf itself begins, in pixels of the
 * working image, at size * floor(x / size), size * floor(y / size). Both: the score of a position is the mean
 * of the grid's scores (cells of `stride`) over its square, sizes are patch * 2^level, and a minimum distance
 * is refused. exhaustive: as the grid, with the texels of `level` as cells; `stride` must be 0. cascade:
 * scores the stack's regions (regions.h), each by its channels at its centroid, at the level whose texels are
 * as large as it, and by the best of up to four means of its vectors' cosines with the query, one for vectors
 * that are alike, a little more where they differ; then the cells (of `stride`) that touch the best regions;
 * of those the k best. It looks into at least keep_regions regions and into as many more as it takes for 8 k
 * cells (on grids of 16384 cells and more: for 2 k and a 16th of all, if that is less), but once it has them
 * passes over regions that would make them more than an eighth of all. A region or a cell that is far from
 * every edge is left out, unless fewer than k cells would be left. Scores are the grid's, but each part is
 * brought to [0, 1] by its range over the cells that were seen and the regions that were not looked into.
 * Cells that were not seen have the lowest score of all where the scores are kept (keep_pass, temporal.h),
 * and query_similarity is 0 where no vector was read. What the regions are and the means of their vectors is
 * made once for an image, with its first question, and kept on the host. cascade with `cover`: the same
 * regions and cells are looked at, and the scores of those cells are the quadtree's map; what was not looked
 * at has the lowest score, so that a region in which nothing needs detail comes back as few coarse squares or
 * as a part of one. At most k of them, clipped as the quadtree's, k not limited by the candidates; a minimum
 * distance is refused.
 *
 * overview: of k positions, columns * rows <= overview * k are squares that cover the image: a regular grid
 * of the smallest squares for which there are enough, none smaller than a patch or a cell, or of squares up
 * to a sixteenth larger where fewer of these do. They come first, row after row (whatever is cut off a
 * selection's end, the whole image stays in view; get_info tells columns and rows), then the best of the
 * strategy's own, exactly what k less columns * rows would give alone. Squares lie W / columns and H / rows
 * apart; their size is the larger of the two, their level log2(size / patch), their score the mean of the
 * strategy's scores over the square. A minimum distance is kept by the others among themselves, and these
 * alone are what temporal.h remembers as looked at. An overview that is less than one position is refused,
 * and one of foveated, of quadtree or with `cover`, which cover the image themselves. A quarter is a good
 * share, a half below a hundred positions or so, a tenth where k is half of all patches (bench/README.md,
 * help.py); 0 stays the default: a selection then means what it always meant, cells of one size, best first.
 */
TVLM_API tvlm_status tvlm_select(tvlm_stack *stack, const struct tvlm_query *query,
                                 const struct tvlm_select_params *params, tvlm_selection **selection);
TVLM_API void tvlm_selection_destroy(tvlm_selection **selection);

/* The positions, valid while the selection lives. */
TVLM_API const tvlm_position *tvlm_selection_positions(const tvlm_selection *selection, int32_t *count);

typedef struct tvlm_selection_info {
    int32_t width, height;                   /* of the image as it was handed in */
    int32_t columns, rows;                   /* of the candidates */
    tvlm_strategy strategy;                  /* that chose: never TVLM_STRATEGY_DEFAULT */
    int32_t overview_columns, overview_rows; /* of the squares that come first; 0: there is no overview */
} tvlm_selection_info;
TVLM_API void tvlm_selection_get_info(const tvlm_selection *selection, tvlm_selection_info *info);

/* What the strategies grid, exhaustive and cascade looked at, stage by stage; the others have no stages. An
 * overview reads nothing of its own, and is not counted. */
#define TVLM_SELECT_STAGES_MAX 3
typedef struct tvlm_select_stage {
    const char *name;         /* "regions", "cells" */
    int32_t candidates, kept; /* seen; that went on to the next stage, or were chosen */
    size_t bytes; /* read by them: four texels (eight between two levels) of each layer that the score reads,
                     the vectors of the features, the means of regions and the labels of cells. What is made
                     once for an image is not in it: families, their levels, regions. */
} tvlm_select_stage;
typedef struct tvlm_selection_report {
    int32_t stage_count;
    tvlm_select_stage stages[TVLM_SELECT_STAGES_MAX];
} tvlm_selection_report;
TVLM_API void tvlm_selection_get_report(const tvlm_selection *selection, tvlm_selection_report *report);

/* "grid", "foveated", "quadtree", "exhaustive", "cascade"; never NULL; TVLM_STRATEGY_DEFAULT has the name of
 * the strategy that it means. The strategy of that name, or -1. */
TVLM_API const char *tvlm_strategy_name(tvlm_strategy strategy);
TVLM_API int tvlm_strategy_find(const char *name);

#ifdef __cplusplus
}
#endif
#endif
