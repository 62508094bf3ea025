/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pieces.cl: makes each region that SLIC left one connected piece, and numbers the regions 0 .. n - 1. A
 * piece is a set of pixels of one label that are connected over their four sides. The largest piece of each
 * label, its main piece, keeps the label; all others go to a region beside them.
 *
 * 1. Pieces are found by union-find: pieces_link within each tile, then pieces_merge across the tiles' edges.
 *    The root of a piece is its first pixel in reading order, whatever the order in which work-items unite
 *    pieces.
 * 2. pieces_count adds up the sizes of pieces and finds the largest size of each label; pieces_main finds
 *    each label's main piece (of equally large ones the first), and numbers the labels that are in use.
 * 3. Every other piece takes the label of a main piece beside it. It is the one whose colour is most like the
 *    colour of one of the piece's pixels that touch it (pieces_offer). A piece that touches no main piece
 *    takes the region of a neighbour, which region_of defines. pieces_settle gives each pixel the region of
 *    its piece. Where SPAN is more than 1, pieces_roots finds the regions of the roots first. Pixels whose
 *    piece gets no region have -1. regions_sum of regions.cl gives them the region that pieces_settle found
 *    for them.
 *
 * Buffers of a value for each pixel, and `work`, are as in cluster.cl: image after image. `tables` is the
 * number of words of an image in `work`, and then where three tables begin in them: the size of the largest
 * piece of each label, the main piece of each label, and the new number of each label. A main piece is stored
 * as count - its first pixel, so that 0 means that there is none; `count` is the number of pixels.
 *
 * pieces_link uses the tiles of tile.clh. Other kernels go over SPAN pixels in each work-item: 1 on GPUs.
 */
// check-kernels: -DGROUP_W=16 -DGROUP_H=16
// check-kernels: -DGROUP_W=1 -DGROUP_H=1 -DTILE_W=64 -DTILE_H=16
#include "slic.clh"

/* ---- 1. Pieces ---- */

/* The root of a pixel's piece. Parents never come after their children, and the root is its own parent. */
HELPER int find_local(local const int *parents, int at) {
    while (parents[at] != at) at = parents[at];
    return at;
}

/* The same while other work-items change parents. An atomic that changes nothing reads the present value. */
HELPER int find_moving_local(local int *parents, int at) {
#if GROUP > 1
    for (int up = atomic_or(parents + at, 0); up != at; up = atomic_or(parents + at, 0)) at = up;
    return at;
#else
    return find_local(parents, at);
#endif
}

/*
 * Makes the pieces of p and q one: the later root gets the earlier one as its parent. If another work-item
 * gave the later root a parent in the meantime, that parent's piece must still be united with the earlier
 * root.
 */
HELPER void unite_local(local int *parents, int p, int q) {
    for (;;) {
        p = find_moving_local(parents, p);
        q = find_moving_local(parents, q);
        if (p == q) return;
        const int low = min(p, q), high = max(p, q);
#if GROUP > 1
        const int before = atomic_min(parents + high, low);
        if (before == high) return;
        p = before;
        q = low;
#else
        parents[high] = low;
        return;
#endif
    }
}

/*
 * Finds the pieces within each tile. A pixel's parent becomes the first pixel of its piece in the tile.
 * `sizes` has the number of pixels at those first pixels, and 0 elsewhere. A pixel need not unite upwards
 * where its left neighbour has done so for the same two pieces.
 */
TILE_KERNEL void pieces_link(global const int *restrict all_labels, const int2 size,
                             global int *restrict all_parents, global int *restrict all_sizes) {
    local int ids[TILE_W * TILE_H], counts[TILE_W * TILE_H], parents[TILE_W * TILE_H];
    const size_t plane = (size_t)get_group_id(2) * size.x * size.y;
    global const int *labels = all_labels + plane;
    FOR_TILE(size, tx, ty) {
        const int at = ty * TILE_W + tx;
        ids[at] = labels[(TILE_Y + ty) * size.x + TILE_X + tx];
        counts[at] = 0;
        parents[at] = at;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_TILE(size, tx, ty) {
        const int at = ty * TILE_W + tx, own = ids[at];
        const bool left = tx > 0 && ids[at - 1] == own, up = ty > 0 && ids[at - TILE_W] == own;
        if (left) unite_local(parents, at, at - 1);
        if (up && !(left && ids[at - TILE_W - 1] == own)) unite_local(parents, at, at - TILE_W);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_TILE(size, tx, ty) {
        const int root = find_local(parents, ty * TILE_W + tx);
#if GROUP > 1
        atomic_inc(counts + root);
#else
        ++counts[root];
#endif
        all_parents[plane + (TILE_Y + ty) * size.x + TILE_X + tx] =
            (TILE_Y + root / TILE_W) * size.x + TILE_X + root % TILE_W;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_TILE(size, tx, ty) all_sizes[plane + (TILE_Y + ty) * size.x + TILE_X + tx] = counts[ty * TILE_W + tx];
}

/* The same three functions on the parents of the whole image. */
HELPER int find(global const int *parents, int at) {
    for (int up = parents[at]; up != at; up = parents[at]) at = up;
    return at;
}

HELPER int find_moving(global int *parents, int at) {
    for (int up = atomic_or(parents + at, 0); up != at; up = atomic_or(parents + at, 0)) at = up;
    return at;
}

HELPER void unite(global int *parents, int p, int q) {
    for (;;) {
        p = find_moving(parents, p);
        q = find_moving(parents, q);
        if (p == q) return;
        const int low = min(p, q), high = max(p, q), before = atomic_min(parents + high, low);
        if (before == high) return;
        p = before;
        q = low;
    }
}

/*
 * Unites pieces across the tiles' edges. Work-item (at, image) looks at one pixel of a list: first the pixels
 * to the right of the tiles' vertical edges, edge after edge, then those under the horizontal ones.
 */
kernel void pieces_merge(global const int *restrict all_labels, const int2 size, global int *all_parents) {
    const int tall = (size.x - 1) / TILE_W * size.y, wide = (size.y - 1) / TILE_H * size.x;
    const int at = get_global_id(0);
    const size_t plane = (size_t)get_global_id(1) * size.x * size.y;
    if (at >= tall + wide) return;
    const bool vertical = at < tall;
    const int x = vertical ? (at / size.y + 1) * TILE_W : (at - tall) % size.x;
    const int y = vertical ? at % size.y : ((at - tall) / size.x + 1) * TILE_H;
    const int p = y * size.x + x, across = vertical ? 1 : size.x, along = vertical ? size.x : 1;
    global const int *labels = all_labels + plane;
    if (labels[p] != labels[p - across]) return;
    /* If the pair of pixels before this one, in the same two tiles, has the same label, it has united the
     * pieces already. */
    const bool first = vertical ? y % TILE_H == 0 : x % TILE_W == 0;
    if (!first && labels[p - along] == labels[p] && labels[p - along - across] == labels[p]) return;
    unite(all_parents + plane, p, p - across);
}

/* ---- 2. Sizes ---- */

/* Loops over those pixels p of `count` pixels that are this work-item's. */
#define FOR_SPAN(count, p)                                                                                   \
    for (int p = (int)get_global_id(0) * SPAN; p < min((int)(get_global_id(0) + 1) * SPAN, count); ++p)

/*
 * Adds the sizes that the tiles counted to those of the roots, and finds the size of each label's largest
 * piece. The first pixel of a piece in a tile, unless it is the root, then has -1 - root in place of its
 * size. `largest` gets every sum that a root ever has. The last of these is the largest, so nobody need wait
 * for it.
 */
kernel void pieces_count(global const int *restrict all_parents, const int count,
                         global const int *restrict all_labels, global int *all_sizes, global int *work,
                         const int4 tables) {
    const size_t plane = (size_t)get_global_id(1) * count;
    global const int *parents = all_parents + plane, *labels = all_labels + plane;
    global int *sizes = all_sizes + plane;
    global int *largest = work + (size_t)get_global_id(1) * tables.x + tables.y;
    FOR_SPAN(count, p) {
        const bool is_root = parents[p] == p;
        if (!is_root && sizes[p] <= 0) continue;
        const int root = is_root ? p : find(parents, p), size = is_root ? 0 : sizes[p];
        const int before = atomic_add(sizes + root, size);
        atomic_max(largest + labels[p], before + size);
        if (!is_root) sizes[p] = -1 - root;
    }
}

/* The root of a pixel's piece, found in two steps after pieces_count. */
HELPER int piece_of(global const int *parents, global const int *sizes, int p) {
    const int in_tile = parents[p];
    return parents[in_tile] == in_tile ? in_tile : -1 - sizes[in_tile];
}

/*
 * Numbers the labels in use, of `labels` labels. All work-items of a group call it. Each counts the labels in
 * use in its share, and numbers them from the sum of the shares before. The number of regions goes to
 * *regions.
 */
HELPER void number_labels(global const int *largest, int labels, global int *dense, global int *regions,
                          local int *counts) {
    const int lane = get_local_id(0), each = (labels + GROUP - 1) / GROUP;
    int count = 0, next = 0;
    for (int i = lane * each; i < min((lane + 1) * each, labels); ++i) count += largest[i] > 0;
    counts[lane] = count;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < lane; ++i) next += counts[i];
    for (int i = lane * each; i < min((lane + 1) * each, labels); ++i) {
        dense[i] = next;
        next += largest[i] > 0;
    }
    if (lane == GROUP - 1) *regions = next;
}

/*
 * Finds each label's main piece, which is the first of its largest pieces. The words that hold the sizes of
 * roots are set to "no offer", since they hold offers from here on (pieces_offer). The first group of an
 * image also numbers the labels in use. The number of regions is the first word of the image's region table,
 * which has `words` words.
 */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
pieces_main(global const int *restrict all_parents, const int count, global const int *restrict all_labels,
            global int *restrict all_sizes, global int *work, const int4 tables, const int labels,
            global int *regions, const int words) {
    local int counts[GROUP];
    const int image = get_global_id(1);
    const size_t plane = (size_t)image * count;
    global int *own = work + (size_t)image * tables.x;
    FOR_SPAN(count, p) {
        if (all_parents[plane + p] != p) continue;
        const int label = all_labels[plane + p];
        if (all_sizes[plane + p] == own[tables.y + label]) atomic_max(own + tables.z + label, count - p);
        all_sizes[plane + p] = TVLM_CLUSTER_NONE;
    }
    if (get_group_id(0) == 0)
        number_labels(own + tables.y, labels, own + tables.w, regions + (size_t)image * words, counts);
}

/* ---- 3. One piece each ---- */

/* The label of pixel q if its piece is a main piece, else -1. */
HELPER int kept_label(global const int *parents, global const int *sizes, global const int *labels,
                      global const int *mains, int count, int q) {
    const int label = labels[q];
    return mains[label] == count - piece_of(parents, sizes, q) ? label : -1;
}

/* An offer of a region to a pixel, as one number: the squared distance of the pixel's colour from the
 * region's mean in the last pass, in coarse steps, and then the label. The lower, the better. */
HELPER int offer_of(global const uint *lab, global const uint *sums, const slic_pass *pass, uint colour,
                    int label) {
    const centre mean = centre_of(lab, sums, pass, label % pass->cells.x, label / pass->cells.x);
    const float l = LAB_L(colour) - mean.l, a = LAB_A(colour) - mean.a, b = LAB_B(colour) - mean.b;
    const float apart = (l * l + a * a + b * b) * 0.0625f;
    return (int)min(apart, 1048574.0f) * TVLM_CLUSTER_MAX + label;
}

/* For each piece that is not a main piece, leaves the best offer at its root in `all_sizes`. `pass` is the
 * last pass of SLIC. Also sets all results to TVLM_CLUSTER_NONE. */
kernel void pieces_offer(global const uint *restrict colours, global const int *restrict all_parents,
                         global int *all_sizes, global const int *restrict all_labels, global const int *work,
                         const int4 tables, const slic_pass pass, global int *restrict all_results) {
    const int width = pass.size.x, height = pass.size.y, count = width * height, image = get_global_id(1);
    const size_t plane = (size_t)image * count;
    global const int *parents = all_parents + plane, *labels = all_labels + plane;
    global const int *own = work + (size_t)image * tables.x, *mains = own + tables.z;
    global const uint *sums = (global const uint *)own + pass.tables.y;
    global const uint *lab = colours + (size_t)image * pass.size.w + pass.size.z;
    global int *sizes = all_sizes + plane;
    FOR_SPAN(count, p) {
        const int piece = piece_of(parents, sizes, p);
        all_results[plane + p] = TVLM_CLUSTER_NONE;
        if (mains[labels[p]] == count - piece) continue;
        const int x = p % width, y = p / width;
        int best = TVLM_CLUSTER_NONE;
        for (int side = 0; side < 4; ++side) {
            const int nx = x + (side == 0) - (side == 1), ny = y + (side == 2) - (side == 3);
            if (nx < 0 || nx >= width || ny < 0 || ny >= height) continue;
            const int label = kept_label(parents, sizes, labels, mains, count, ny * width + nx);
            if (label >= 0) best = min(best, offer_of(lab, sums, &pass, lab[p], label));
        }
        if (best != TVLM_CLUSTER_NONE) atomic_min(sizes + piece, best);
    }
}

/*
 * The number of the region of the piece whose root is pixel `at`:
 *
 *   - a main piece keeps its own label;
 *   - another piece takes the label of its best offer;
 *   - without an offer it gets the region of the piece above its first pixel, or in the top row of the piece
 *     to the left of that pixel. That piece may have no offer either. The steps end, since each leads to a
 *     pixel that comes earlier.
 *
 * It is -1 where the steps arrive at pixel 0 without an offer. There may be thousands of pieces on the way.
 * So if a root on the way has its result already, that is taken. If another work-item is only about to write
 * it, it is found once more. Results of roots are therefore read and written atomically. Few are ever read,
 * since a main piece, or a piece with an offer, needs none.
 */
HELPER int region_of(global const int *parents, global const int *sizes, global const int *labels,
                     global const int *mains, global const int *dense, volatile global int *results,
                     int count, int width, int at) {
    for (;;) {
        if (mains[labels[at]] == count - at) return dense[labels[at]];
        if (sizes[at] != TVLM_CLUSTER_NONE) return dense[sizes[at] % TVLM_CLUSTER_MAX];
        if (at == 0) return -1;
        const int result = atomic_or(results + at, 0);
        if (result != TVLM_CLUSTER_NONE) return result;
        at = piece_of(parents, sizes, at >= width ? at - width : at - 1);
    }
}

#define REGION_OF(piece) region_of(parents, sizes, labels, mains, dense, results, count, size.x, piece)

/* On CPUs a work-item has many pixels, and a launch costs less than finding the same region again for all
 * pixels of a piece. So there pieces_roots finds the results of the roots first, and pieces_settle reads
 * them. */
#if SPAN > 1
#define ROOTS_FIRST
kernel void pieces_roots(global const int *restrict all_parents, global const int *restrict all_sizes,
                         global const int *restrict all_labels, global const int *restrict work,
                         const int4 tables, const int2 size, volatile global int *all_results) {
    const int count = size.x * size.y, image = get_global_id(1);
    const size_t plane = (size_t)image * count;
    global const int *parents = all_parents + plane, *sizes = all_sizes + plane, *labels = all_labels + plane;
    volatile global int *results = all_results + plane;
    global const int *own = work + (size_t)image * tables.x, *mains = own + tables.z, *dense = own + tables.w;
    FOR_SPAN(count, p) {
        if (parents[p] == p) atomic_xchg(results + p, REGION_OF(p));
    }
}
#undef REGION_OF
#define REGION_OF(piece) results[piece]
#endif

/*
 * Gives each pixel the region of its piece. If pixel 0 has no region, the word before the table of largest
 * pieces becomes count - p, where p is the first pixel in reading order that has a region. That pixel touches
 * those without a region. It is looked for among pixels that have a region and whose predecessor has none.
 */
kernel void pieces_settle(global const int *restrict all_parents, global const int *restrict all_sizes,
                          global const int *restrict all_labels, global int *work, const int4 tables,
                          const int2 size, volatile global int *all_results) {
    const int count = size.x * size.y, image = get_global_id(1);
    const size_t plane = (size_t)image * count;
    global const int *parents = all_parents + plane, *sizes = all_sizes + plane;
    volatile global int *results = all_results + plane;
    global int *own = work + (size_t)image * tables.x;
#ifndef ROOTS_FIRST
    global const int *labels = all_labels + plane, *mains = own + tables.z, *dense = own + tables.w;
#endif
    const bool first = REGION_OF(piece_of(parents, sizes, 0)) >= 0;
    int last = -1, result = -1;
    FOR_SPAN(count, p) {
        const int piece = piece_of(parents, sizes, p);
        /* Pixels beside each other are mostly of one piece. */
        if (piece != last) result = REGION_OF(piece);
        last = piece;
        if (piece != p) results[p] = result;
#ifndef ROOTS_FIRST
        if (piece == p) atomic_xchg(results + p, result);
#endif
        if (first || result < 0) continue;
        const int before = p % size.x > 0 ? p - 1 : p - size.x;
        if (REGION_OF(piece_of(parents, sizes, before)) < 0) atomic_max(own + tables.y - 1, count - p);
    }
}
