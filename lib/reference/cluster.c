/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.c: regions by SLIC (Achanta, Shaji, Smith, Lucchi, Fua & Suesstrunk 2012), and then one connected
 * piece for each region. Pieces are found by flood fill. The largest piece of each label stays, and the
 * others go to a neighbour.
 */
#include "reference/cluster.h"

#include <math.h>

#include "core/memory.h"
#include "core/try.h"
#include "reference/reference.h"

/* ---- Colours ---- */

static int32_t whole_steps(double value) {
    return (int32_t)floor(value * (double)TVLM_LAB_STEPS + 0.5);
}

reference_colours tvlm_reference_colours(const tvlm_texture *source, int32_t level, int32_t slice) {
    reference_colours made = {tvlm_level_side(source->width, level), tvlm_level_side(source->height, level),
                              NULL};
    made.texels = tvlm_allocate((size_t)made.width * (size_t)made.height, sizeof *made.texels);
    if (made.texels == NULL) return made;
    int32_t(*texel)[3] = made.texels;
    for (int32_t y = 0; y < made.height; ++y)
        for (int32_t x = 0; x < made.width; ++x, ++texel) {
            const reference_lab lab = tvlm_reference_lab(tvlm_reference_fetch(source, level, slice, x, y));
            (*texel)[0] = whole_steps(lab.l);
            (*texel)[1] = whole_steps(lab.a) + TVLM_LAB_ZERO;
            (*texel)[2] = whole_steps(lab.b) + TVLM_LAB_ZERO;
        }
    return made;
}

/* ---- SLIC ---- */

/* The centre of a region: its place in pixels of the image, its colour in steps. These are floats and not
 * doubles, so that distances compare exactly as in the kernels. */
typedef struct slic_centre {
    float x, y, colour[3];
} slic_centre;

typedef struct centre_sums {
    int64_t pixels, x, y, colour[3];
} centre_sums;

/* The state of SLIC. Width and height are those of the image. There is a centre and a sum for each cell.
 * Labels are those of the last pass, one for each texel of its level. */
typedef struct slic_state {
    const tvlm_cluster_plan *plan;
    int32_t width, height;
    slic_centre *centres;
    centre_sums *sums;
    int32_t *labels;
} slic_state;

/* How many pixels of a side of the image are one texel of a level (or one cell). */
static float scale_of(int32_t side, int32_t level_side) {
    return (float)((double)side / (double)level_side);
}

/* Where the region of a cell begins: at the middle of the cell, with the colour that is there. */
static slic_centre seed(const slic_state *slic, const reference_colours *colours, int32_t column,
                        int32_t row) {
    const tvlm_cluster_plan *plan = slic->plan;
    const int32_t x = (int32_t)((int64_t)(2 * column + 1) * colours->width / (2 * plan->columns));
    const int32_t y = (int32_t)((int64_t)(2 * row + 1) * colours->height / (2 * plan->rows));
    const int32_t *colour = reference_colour(colours, x, y);
    slic_centre made = {((float)column + 0.5f) * scale_of(slic->width, plan->columns),
                        ((float)row + 0.5f) * scale_of(slic->height, plan->rows),
                        {(float)colour[0], (float)colour[1], (float)colour[2]}};
    return made;
}

/* The mean of a region, kept to 1 / TVLM_CLUSTER_PLACES of a texel and 1 / TVLM_CLUSTER_TINTS of a step. */
static slic_centre mean_of(const centre_sums *sums, float scale_x, float scale_y) {
    const float place = 1.0f / TVLM_CLUSTER_PLACES, tint = 1.0f / TVLM_CLUSTER_TINTS;
    slic_centre made;
    made.x = ((float)(sums->x * TVLM_CLUSTER_PLACES / sums->pixels) * place + 0.5f) * scale_x;
    made.y = ((float)(sums->y * TVLM_CLUSTER_PLACES / sums->pixels) * place + 0.5f) * scale_y;
    for (int c = 0; c < 3; ++c)
        made.colour[c] = (float)(sums->colour[c] * TVLM_CLUSTER_TINTS / sums->pixels) * tint;
    return made;
}

static float distance(const slic_centre *centre, const int32_t *colour, float x, float y, float weight) {
    const float l = (float)colour[0] - centre->colour[0], a = (float)colour[1] - centre->colour[1],
                b = (float)colour[2] - centre->colour[2], across = x - centre->x, down = y - centre->y;
    return (l * l + a * a + b * b) + weight * (across * across + down * down);
}

/* The label of the nearest centre, among those of cell (column, row) and of the eight cells around it. Ties
 * go to the lower label. */
static int32_t nearest(const slic_state *slic, const int32_t *colour, float x, float y, int32_t column,
                       int32_t row) {
    const tvlm_cluster_plan *plan = slic->plan;
    float least = INFINITY;
    int32_t best = 0;
    for (int32_t r = row - 1; r <= row + 1; ++r)
        for (int32_t c = column - 1; c <= column + 1; ++c) {
            if (r < 0 || c < 0 || r >= plan->rows || c >= plan->columns) continue;
            const int32_t label = r * plan->columns + c;
            const float d = distance(&slic->centres[label], colour, x, y, plan->weight);
            if (d < least) least = d, best = label;
        }
    return best;
}

/* The cell that an index lies in, of `count` cells along a side. */
static int32_t cell_of(int32_t index, int32_t count, int32_t side) {
    int32_t cell = (int32_t)((int64_t)index * count / side);
    while ((int64_t)(cell + 1) * side / count <= index) ++cell;
    return cell;
}

/* One pass: labels every texel of a level, and adds up the sums of each region. */
static void assign(slic_state *slic, const reference_colours *colours) {
    const tvlm_cluster_plan *plan = slic->plan;
    const float scale_x = scale_of(slic->width, colours->width),
                scale_y = scale_of(slic->height, colours->height);
    for (int32_t i = 0; i < plan->columns * plan->rows; ++i) slic->sums[i] = (centre_sums){0};
    for (int32_t y = 0; y < colours->height; ++y)
        for (int32_t x = 0; x < colours->width; ++x) {
            const int32_t *colour = reference_colour(colours, x, y);
            const int32_t label =
                nearest(slic, colour, ((float)x + 0.5f) * scale_x, ((float)y + 0.5f) * scale_y,
                        cell_of(x, plan->columns, colours->width), cell_of(y, plan->rows, colours->height));
            centre_sums *sum = &slic->sums[label];
            slic->labels[(size_t)y * (size_t)colours->width + (size_t)x] = label;
            ++sum->pixels;
            sum->x += x;
            sum->y += y;
            for (int c = 0; c < 3; ++c) sum->colour[c] += colour[c];
        }
}

/* Computes the centres from the sums of the pass before, which was on level `before`. A region without
 * texels, and every region before the first pass (`before` is NULL), is at its seed. */
static void move_centres(slic_state *slic, const reference_colours *before, const reference_colours *now) {
    const tvlm_cluster_plan *plan = slic->plan;
    for (int32_t i = 0; i < plan->columns * plan->rows; ++i)
        slic->centres[i] = before != NULL && slic->sums[i].pixels > 0
                               ? mean_of(&slic->sums[i], scale_of(slic->width, before->width),
                                         scale_of(slic->height, before->height))
                               : seed(slic, now, i % plan->columns, i / plan->columns);
}

/* Sets the sums so that the first pass begins at the centres that are handed in. They are what a pass before
 * it would have left if it had ended with these centres. */
static void begin_at(slic_state *slic, const tvlm_region_centre *centres, const reference_colours *coarse) {
    for (int32_t i = 0; i < slic->plan->columns * slic->plan->rows; ++i) {
        int64_t sums[5];
        if (!centres[i].known) continue;
        tvlm_region_centre_sums(&centres[i], scale_of(slic->width, coarse->width),
                                scale_of(slic->height, coarse->height), sums);
        slic->sums[i] =
            (centre_sums){TVLM_REGION_CENTRE_PIXELS, sums[0], sums[1], {sums[2], sums[3], sums[4]}};
    }
}

static void run_passes(slic_state *slic, const tvlm_region_centre *centres, const reference_colours *coarse,
                       const reference_colours *full) {
    const reference_colours *before = centres != NULL ? coarse : NULL;
    if (centres != NULL) begin_at(slic, centres, coarse);
    for (int pass = 0; pass < TVLM_CLUSTER_COARSE_PASSES + TVLM_CLUSTER_FULL_PASSES; ++pass) {
        const reference_colours *now = pass < TVLM_CLUSTER_COARSE_PASSES ? coarse : full;
        move_centres(slic, before, now);
        assign(slic, now);
        before = now;
    }
}

/* ---- One piece each ---- */

/* The pieces of an image: pixels of one label that are connected over their four sides. They are numbered by
 * their first pixels in reading order. */
typedef struct piece_list {
    int32_t width, height, count;
    /* The piece of each pixel. */
    int32_t *of;
    /* The stack of the flood fill. */
    int32_t *stack;
    /* Of each piece: its first pixel, its number of pixels, its label, and the label that it ends with. */
    int32_t *first, *size, *label, *becomes;
    /* Of each piece: the best offer of a neighbour, or TVLM_CLUSTER_NONE. */
    int64_t *offer;
} piece_list;

static bool pieces_make(piece_list *pieces, int32_t width, int32_t height) {
    const size_t count = (size_t)width * (size_t)height;
    *pieces = (piece_list){.width = width, .height = height};
    pieces->of = tvlm_allocate(count, sizeof *pieces->of);
    pieces->stack = tvlm_allocate(count, sizeof *pieces->stack);
    pieces->first = tvlm_allocate(count, sizeof *pieces->first);
    pieces->size = tvlm_allocate(count, sizeof *pieces->size);
    pieces->label = tvlm_allocate(count, sizeof *pieces->label);
    pieces->becomes = tvlm_allocate(count, sizeof *pieces->becomes);
    pieces->offer = tvlm_allocate(count, sizeof *pieces->offer);
    return pieces->of != NULL && pieces->stack != NULL && pieces->first != NULL && pieces->size != NULL &&
           pieces->label != NULL && pieces->becomes != NULL && pieces->offer != NULL;
}

static void pieces_release(piece_list *pieces) {
    free(pieces->of);
    free(pieces->stack);
    free(pieces->first);
    free(pieces->size);
    free(pieces->label);
    free(pieces->becomes);
    free(pieces->offer);
}

/* Finds the pixels to the left, to the right, above and below pixel p, and returns how many there are. */
static int beside(const piece_list *pieces, int32_t p, int32_t found[4]) {
    const int32_t x = p % pieces->width, y = p / pieces->width;
    int count = 0;
    if (x > 0) found[count++] = p - 1;
    if (x + 1 < pieces->width) found[count++] = p + 1;
    if (y > 0) found[count++] = p - pieces->width;
    if (y + 1 < pieces->height) found[count++] = p + pieces->width;
    return count;
}

/* Marks the piece that pixel `start` lies in, and returns how many pixels it has. */
static int32_t flood(piece_list *pieces, const int32_t *labels, int32_t start, int32_t piece) {
    int32_t depth = 0, size = 0, near[4];
    pieces->stack[depth++] = start;
    pieces->of[start] = piece;
    while (depth > 0) {
        const int32_t p = pieces->stack[--depth];
        ++size;
        for (int i = beside(pieces, p, near); i-- > 0;)
            if (pieces->of[near[i]] < 0 && labels[near[i]] == labels[start]) {
                pieces->of[near[i]] = piece;
                pieces->stack[depth++] = near[i];
            }
    }
    return size;
}

static void find_pieces(piece_list *pieces, const int32_t *labels) {
    const int32_t texels = pieces->width * pieces->height;
    for (int32_t p = 0; p < texels; ++p) pieces->of[p] = -1;
    for (int32_t p = 0; p < texels; ++p) {
        if (pieces->of[p] >= 0) continue;
        const int32_t piece = pieces->count++;
        pieces->first[piece] = p;
        pieces->label[piece] = labels[p];
        pieces->becomes[piece] = -1;
        pieces->offer[piece] = TVLM_CLUSTER_NONE;
        pieces->size[piece] = flood(pieces, labels, p, piece);
    }
}

/* Lets the largest piece of each label keep the label, and of equally large ones the first. */
static void keep_largest(piece_list *pieces) {
    int32_t largest[TVLM_CLUSTER_MAX];
    for (int32_t i = 0; i < TVLM_CLUSTER_MAX; ++i) largest[i] = -1;
    for (int32_t i = 0; i < pieces->count; ++i) {
        int32_t *best = &largest[pieces->label[i]];
        if (*best < 0 || pieces->size[i] > pieces->size[*best]) *best = i;
    }
    for (int32_t i = 0; i < TVLM_CLUSTER_MAX; ++i)
        if (largest[i] >= 0) pieces->becomes[largest[i]] = i;
}

/* An offer of a region to a pixel as one number: the squared distance of their colours in coarse steps, and
 * then the region's label. The lower, the better. */
static int64_t offer_of(const int32_t *colour, const slic_centre *mean, int32_t label) {
    const float l = (float)colour[0] - mean->colour[0], a = (float)colour[1] - mean->colour[1],
                b = (float)colour[2] - mean->colour[2], most = 1048574.0f;
    const float apart = (l * l + a * a + b * b) * 0.0625f;
    return (int64_t)(apart < most ? apart : most) * TVLM_CLUSTER_MAX + label;
}

/* Finds the best offer to each piece that keeps no label. Its pixels get offers from the kept pieces beside
 * them. */
static void make_offers(piece_list *pieces, const slic_state *slic, const reference_colours *colours) {
    for (int32_t p = 0; p < pieces->width * pieces->height; ++p) {
        const int32_t piece = pieces->of[p];
        int32_t near[4];
        if (pieces->becomes[piece] >= 0) continue;
        for (int i = beside(pieces, p, near); i-- > 0;) {
            const int32_t label = pieces->becomes[pieces->of[near[i]]];
            if (label < 0) continue;
            const int64_t offer = offer_of(colours->texels[p], &slic->centres[label], label);
            if (offer < pieces->offer[piece]) pieces->offer[piece] = offer;
        }
    }
}

/*
 * Decides which labels the other pieces get. A piece gets the label of its best offer. Without an offer it
 * gets what the piece above its first pixel gets, or in the top row the piece to the left of that pixel.
 */
static void settle(piece_list *pieces) {
    for (int32_t i = 0; i < pieces->count; ++i)
        if (pieces->becomes[i] < 0 && pieces->offer[i] != TVLM_CLUSTER_NONE)
            pieces->becomes[i] = (int32_t)(pieces->offer[i] % TVLM_CLUSTER_MAX);
    /* First pixels ascend, so the piece above has its label already. */
    for (int32_t i = 1; i < pieces->count; ++i) {
        const int32_t first = pieces->first[i],
                      above = first >= pieces->width ? first - pieces->width : first - 1;
        if (pieces->becomes[i] < 0) pieces->becomes[i] = pieces->becomes[pieces->of[above]];
    }
    /* If piece 0 has no offer, the pieces that got their label from it still have none. They take the label
     * of the first pixel, in reading order, that has one. */
    int32_t rescue = 0;
    while (pieces->becomes[pieces->of[rescue]] < 0) ++rescue;
    const int32_t label = pieces->becomes[pieces->of[rescue]];
    for (int32_t i = 0; i < pieces->count; ++i)
        if (pieces->becomes[i] < 0) pieces->becomes[i] = label;
}

/* Renumbers the labels in use as 0 .. count - 1, in their order, and returns the count. */
static int32_t make_dense(int32_t *labels, int32_t texels) {
    int32_t dense[TVLM_CLUSTER_MAX] = {0}, count = 0;
    for (int32_t p = 0; p < texels; ++p) dense[labels[p]] = 1;
    for (int32_t i = 0; i < TVLM_CLUSTER_MAX; ++i) count += dense[i], dense[i] = count - 1;
    for (int32_t p = 0; p < texels; ++p) labels[p] = dense[labels[p]];
    return count;
}

/* Makes each region one piece: labels[pixel] becomes the label of the region. False: there is no memory. */
static bool make_whole(const slic_state *slic, const reference_colours *colours, int32_t *labels) {
    piece_list pieces;
    const bool made = pieces_make(&pieces, colours->width, colours->height);
    if (made) {
        find_pieces(&pieces, slic->labels);
        keep_largest(&pieces);
        make_offers(&pieces, slic, colours);
        settle(&pieces);
        for (int32_t p = 0; p < colours->width * colours->height; ++p)
            labels[p] = pieces.becomes[pieces.of[p]];
    }
    pieces_release(&pieces);
    return made;
}

/* Turns labels into the ids of their centres. There is one centre for each cell. */
static int32_t take_ids(const tvlm_region_centre *centres, int32_t cells, int32_t *labels, int32_t texels) {
    for (int32_t p = 0; p < texels; ++p) labels[p] = centres[labels[p]].id;
    return cells;
}

bool tvlm_reference_slic(const tvlm_texture *source, int32_t slice, const reference_colours *full,
                         const tvlm_cluster_plan *plan, const tvlm_region_centre *centres, int32_t *labels,
                         int32_t *count) {
    const size_t cells = (size_t)plan->columns * (size_t)plan->rows;
    slic_state slic = {.plan = plan, .width = full->width, .height = full->height};
    reference_colours coarse = tvlm_reference_colours(source, plan->coarse, slice);
    slic.centres = tvlm_allocate(cells, sizeof *slic.centres);
    slic.sums = tvlm_allocate(cells, sizeof *slic.sums);
    slic.labels = tvlm_allocate((size_t)full->width * (size_t)full->height, sizeof *slic.labels);
    bool made = coarse.texels != NULL && slic.centres != NULL && slic.sums != NULL && slic.labels != NULL;
    if (made) {
        const int32_t texels = full->width * full->height;
        run_passes(&slic, centres, &coarse, full);
        made = make_whole(&slic, full, labels);
        if (made)
            *count = centres != NULL ? take_ids(centres, (int32_t)cells, labels, texels)
                                     : make_dense(labels, texels);
    }
    free(coarse.texels);
    free(slic.centres);
    free(slic.sums);
    free(slic.labels);
    return made;
}

/* ---- The family ---- */

static bool make_image(const tvlm_generate_args *args, const tvlm_cluster_plan *plan,
                       const tvlm_region_layout *layout, int32_t image) {
    const tvlm_texture *source = args->grids[TVLM_GRID_SOURCE];
    const size_t texels = (size_t)source->width * (size_t)source->height;
    const int32_t slice = reference_slice(source, image, 0);
    const int32_t given = args->label_counts != NULL ? args->label_counts[image] : 0;
    int32_t *labels = (int32_t *)reference_data(args->products[TVLM_PRODUCT_LABELS]) + (size_t)image * texels;
    uint32_t *block = (uint32_t *)reference_data(args->products[TVLM_PRODUCT_REGIONS]) +
                      (size_t)image * (size_t)layout->words;
    const reference_colours colours = tvlm_reference_colours(source, 0, slice);
    int32_t count = given;
    bool made = colours.texels != NULL;
    if (given > 0) {
        const int32_t *from = (const int32_t *)reference_data(args->products[TVLM_PRODUCT_LABELS_GIVEN]);
        for (size_t p = 0; p < texels; ++p) labels[p] = from[(size_t)image * texels + p];
    } else if (made) {
        made = tvlm_reference_slic(source, slice, &colours, plan, image == 0 ? args->centres : NULL, labels,
                                   &count);
    }
    for (int32_t i = 0; i < layout->words; ++i) block[i] = 0;
    made =
        made && tvlm_reference_regions(&colours, labels, count, given > 0, layout, block, args->out, image);
    free(colours.texels);
    return made;
}

tvlm_status tvlm_reference_cluster(tvlm_device *device, const tvlm_generate_args *args) {
    const tvlm_texture *source = args->grids[TVLM_GRID_SOURCE];
    const tvlm_cluster_plan plan =
        tvlm_cluster_plan_for(source->width, source->height, source->levels, args->settings);
    const tvlm_region_layout layout = tvlm_region_layout_for(&plan, args->label_counts, source->images);
    const size_t images = (size_t)source->images, texels = (size_t)source->width * (size_t)source->height;
    TVLM_TRY(tvlm_product_reserve(device, args, TVLM_PRODUCT_LABELS, images * texels * sizeof(int32_t)));
    TVLM_TRY(tvlm_product_reserve(device, args, TVLM_PRODUCT_REGIONS,
                                  images * (size_t)layout.words * sizeof(uint32_t)));
    for (int32_t image = 0; image < source->images; ++image)
        if (!make_image(args, &plan, &layout, image))
            return tvlm_fail(&device->log, TVLM_ERROR_MEMORY, "reference: no memory for the regions");
    return TVLM_OK;
}
