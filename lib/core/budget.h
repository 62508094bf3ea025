/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget.h: plans for pictures of an image: how each picture is made, and what it loses of every tile.
 * lib/select works these plans out, and the backends follow them.
 */
#ifndef TVLM_CORE_BUDGET_H
#define TVLM_CORE_BUDGET_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "core/constants.h"

/*
 * One axis of a resize. The plan's table of floats has an entry for each place o of the result, which begins
 * at index offset + o * (taps + TVLM_BUDGET_HEAD):
 *
 *   - the first source place, a whole number;
 *   - how many source places there are, a whole number;
 *   - `taps` weights; the unused ones are 0.
 */
typedef struct tvlm_budget_axis {
    int32_t offset, taps;
} tvlm_budget_axis;

/*
 * A picture of luma. It is made in two steps:
 *
 *   - Level `from` of the source is reduced to width x height texels, along columns and then along rows, and
 *     clamped to [0, 1].
 *   - The reduced picture is enlarged to the size of the image, along rows and then along columns, and
 *     clamped again.
 *
 * The struct has the layout of TVLM_BUDGET_PICTURE ints, as kernels read it.
 */
typedef struct tvlm_budget_picture {
    int32_t width, height;
    int32_t from, unused;
    tvlm_budget_axis reduce_x, reduce_y, enlarge_x, enlarge_y;
    /* Where the picture's part of two memories begins: `between` in the memory for what lies between two
     * passes, and `texels` in the memory for reduced pictures. What lies between two passes is used before
     * the next such result overwrites it. */
    int32_t between, texels;
    /* The first row that is made (ROW of cl/losses.cl). In a plan it is 0: all are made. A backend that makes a part of the rows at a time says so here
     * in its own copy, where `height` is how many rows that part has. */
    int32_t row;
    int32_t unused_too;
} tvlm_budget_picture;

struct tvlm_buffer;

/* The luma of images of one size, each at a place of its own, where the operation losses_keep has put it. */
typedef struct tvlm_budget_kept {
    struct tvlm_buffer *memory; /* tvlm_budget_kept_floats floats */
    int32_t places;
} tvlm_budget_kept;

/* Moves what is kept at place `from` to place `to` of another memory. There the middle of each pixel, (x, y), gets
 * what place `from` has at (a x + b y + c, d x + e y + f). That is interpolated bilinearly between pixels. Beyond the
 * border it is what is at the border. */
typedef struct tvlm_budget_move {
    int32_t from, to;
    float map[6]; /* a, b, c, d, e, f */
} tvlm_budget_move;

/* How many floats so many places take. The luma of all places comes first, then what is known of their tiles. */
static inline size_t tvlm_budget_kept_floats(int32_t width, int32_t height, int32_t patch, int32_t places) {
    const size_t tiles = (size_t)((width + patch - 1) / patch) * (size_t)((height + patch - 1) / patch);
    return (size_t)places * (TVLM_BUDGET_LINE((size_t)width) * (size_t)height + tiles * TVLM_BUDGET_KNOWN) +
           TVLM_BUDGET_BEYOND;
}

/*
 * Several pictures of one image. Tiles are squares of `patch` pixels, clipped by the right and the lower
 * border; there are `columns` x `rows` of them. Detail is measured in the blocks of a tile,
 * TVLM_BUDGET_BLOCKS along each side. Block b begins at pixel TVLM_BUDGET_EDGE(b, patch). Where
 * TVLM_BUDGET_BLOCKS does not divide the patch, some blocks are a pixel longer than others.
 *
 * As a rule the pictures are compared with the image that they are made of. With `kept` they are compared with `seen` images
 * that are kept, which have the size of the source. Image i of them is at place (first + i * step) % kept->places. The losses
 * against all pictures of one image come before those of the next. So it is found what is lost while a frame of a video is still
 * shown.
 */
typedef struct tvlm_budget_plan {
    int32_t image;                /* of the source */
    const tvlm_budget_kept *kept; /* NULL: pictures are compared with `image` itself */
    int32_t seen, first, step;
    int32_t patch, columns, rows;
    float legible;  /* the correlation at which a window of such a tile is read half of the time */
    int32_t levels; /* how many levels of the source are read */
    int32_t count;
    const tvlm_budget_picture *pictures;
    const float *table;
    size_t table_floats;
    struct tvlm_budget_weights *weights; /* what `table` belongs to; backends do not look at it */
    /* Where `pictures` and `table` have been written to already; NULL: nowhere. A backend that makes pictures in parts has
     * pictures of its own for each. */
    struct tvlm_buffer *sent_pictures, *sent_table;
    size_t between_texels, picture_texels; /* the memory between the passes, in floats */
} tvlm_budget_plan;

/* The entry of a plan's table for place o of an axis. */
static inline const float *tvlm_budget_entry(const tvlm_budget_plan *plan, const tvlm_budget_axis *axis,
                                             int32_t o) {
    return plan->table + axis->offset + (ptrdiff_t)o * (axis->taps + TVLM_BUDGET_HEAD);
}

/* Rows of an image, of one of its levels or of a picture: the first one, and where they end. */
typedef struct tvlm_budget_rows {
    int32_t first, end;
} tvlm_budget_rows;

/* The source rows that some rows of an axis' result are made of. Both ends rise with the row. */
static inline tvlm_budget_rows tvlm_budget_reach(const tvlm_budget_plan *plan, const tvlm_budget_axis *axis,
                                                 tvlm_budget_rows made) {
    const float *const first = tvlm_budget_entry(plan, axis, made.first);
    const float *const last = tvlm_budget_entry(plan, axis, made.end - 1);
    return (tvlm_budget_rows){(int32_t)first[0], (int32_t)last[0] + (int32_t)last[1]};
}

/* How many floats a picture takes between two passes: columns of a level that is `from` wide, or rows as wide as the image. */
static inline size_t tvlm_budget_between_floats(int32_t from, int32_t image, int32_t height) {
    const size_t reduced = (size_t)from * TVLM_BUDGET_LINE((size_t)height);
    const size_t enlarged = TVLM_BUDGET_LINE((size_t)image) * (size_t)height;
    return reduced > enlarged ? reduced : enlarged;
}

/* How many floats a reduced picture takes. */
static inline size_t tvlm_budget_picture_floats(int32_t width, int32_t height) {
    return (size_t)width * TVLM_BUDGET_LINE((size_t)height);
}

/* The correlation at which half of the detail is read, in tiles of so many pixels. core/constants.h has the
 * correlation for windows of 8 pixels. A window is half as long as a tile, so that is for tiles of 16. */
static inline float tvlm_budget_legible(int32_t patch) {
    return TVLM_BUDGET_LEGIBLE + TVLM_BUDGET_WIDER * log2f((float)patch / 16.0f);
}

/* Returns how likely it is that detail with this correlation is not read. At the correlation `legible` it is
 * read half of the time. This is the logistic curve of the loss (core/operations.h). */
static inline float tvlm_budget_not_read(float correlation, float legible) {
    return 1.0f / (1.0f + expf((correlation - legible) / TVLM_BUDGET_SOFT));
}

#endif
