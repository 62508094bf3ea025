/*
 * cluster.cl: labels. SLIC (Achanta et al. 2012) in L*a*b*, then one piece for each region.
 *
 * 1. cluster_lab: a level of the source in L*a*b*, in whole steps: from here on every device computes the
 * same.
 * 2. cluster_assign: each pixel to the nearest of nine centres; centres from the sums of the pass before, its
 * own sums for the next one. A work-group lies in one cell, so that its pixels share their candidates.
 * 3. cluster_link, cluster_merge: pieces of equal label by union-find, tile by tile, then across the tiles'
 * edges; the root of a piece is its first pixel.
 * 4. cluster_count, cluster_largest, cluster_main, cluster_dense: sizes; the largest piece of each label is
 * its main one; labels that have one become 0 .. n - 1.
 * 5. cluster_offer, cluster_settle, cluster_spread, cluster_rescue: all other pieces go to a neighbour.
 *
 * Everywhere z (or y of a list) is the image. Plane-sized buffers hold image after image; `work` holds, for
 * each image, `stride` words of small tables.
 */
#include "colour.clh"
#include "regions.clh"

/* ---- 1. Colours ---- */

/* srgb_to_lab of colour.clh in whole steps. No vectors, and static so that it is inlined: else PoCL does not
 * vectorise. */
static inline uint packed_lab(float red, float green, float blue) {
    const float r = srgb_to_linear(red), g = srgb_to_linear(green), b = srgb_to_linear(blue);
    const float x = lab_curve(TVLM_XYZ_XR * r + TVLM_XYZ_XG * g + TVLM_XYZ_XB * b);
    const float y = lab_curve(TVLM_XYZ_YR * r + TVLM_XYZ_YG * g + TVLM_XYZ_YB * b);
    const float z = lab_curve(TVLM_XYZ_ZR * r + TVLM_XYZ_ZG * g + TVLM_XYZ_ZB * b);
    /* No step is below 0, so that conversions round down. */
    const int l = (int)((116.0f * y - 16.0f) * TVLM_LAB_STEPS + 0.5f);
    const int a = (int)(500.0f * (x - y) * TVLM_LAB_STEPS + (TVLM_LAB_ZERO + 0.5f));
    const int c = (int)(200.0f * (y - z) * TVLM_LAB_STEPS + (TVLM_LAB_ZERO + 0.5f));
    return (uint)(l << 22 | a << 11 | c);
}

/*
 * `place`: first word of this level in an image's colours, words of an image. Work-item RUN texels of a row;
 * in arrays of numbers, not of colours, so that the second loop vectorises.
 */
kernel void cluster_lab(TEXTURE_IN(source), global uint *restrict lab, const int2 place, const int level) {
    const int x = (int)get_global_id(0) * RUN, y = get_global_id(1), image = get_global_id(2);
    const int4 where = level_place_(TEXTURE(source), image * source_size.z, level);
    const int n = min(RUN, where.x - x);
    float r[RUN], g[RUN], b[RUN];
    uint packed[RUN];
    if (n <= 0 || y >= where.y) return;
    for (int i = 0; i < RUN; ++i) {
        const float4 texel = texel_fetch_at_(TEXTURE(source), where, image * source_size.z, level, x + i, y);
        r[i] = texel.x;
        g[i] = texel.y;
        b[i] = texel.z;
    }
    for (int i = 0; i < RUN; ++i) packed[i] = packed_lab(r[i], g[i], b[i]);
    lab += (size_t)image * place.y + place.x + y * where.x + x;
    for (int i = 0; i < n; ++i) lab[i] = packed[i];
}

/* ---- 2. SLIC ---- */

typedef struct slic_pass {
    int4 size;  /* width and height of the level; first word of it in an image's colours, words of an image */
    int4 cells; /* columns, rows, work-groups along a cell, down a cell */
    int4 tables; /* words of an image in `work`; sums of the pass before, of this one; rows of a work-item */
    float2 cell; /* in pixels */
    float2 scale, scale_before; /* pixels in a texel of this level, of that of the pass before */
    float weight;
    int last; /* labels are written, sums are not needed */
} slic_pass;

/* A centre: x and y in pixels, colour in steps. */
typedef struct centre {
    float x, y, l, a, b;
} centre;

inline centre centre_of(global const uint *sums, float2 scale) {
    const centre found = {(mean_place(sums, SUM_X) + 0.5f) * scale.x,
                          (mean_place(sums, SUM_Y) + 0.5f) * scale.y, mean_tint(sums, SUM_L),
                          mean_tint(sums, SUM_A), mean_tint(sums, SUM_B)};
    return found;
}

/* The middle of a cell: where a region begins, and begins again when it has lost all its pixels. */
inline centre seed_of(global const uint *lab, int4 size, int4 cells, float2 cell, int column, int row) {
    const int x = (2 * column + 1) * size.x / (2 * cells.x), y = (2 * row + 1) * size.y / (2 * cells.y);
    const uint colour = lab[min(y, size.y - 1) * size.x + min(x, size.x - 1)];
    const centre found = {(column + 0.5f) * cell.x, (row + 0.5f) * cell.y, LAB_L(colour), LAB_A(colour),
                          LAB_B(colour)};
    return found;
}

#define CANDIDATES 9
#define LOCAL_SUMS 6 /* count, x, y, L, a, b; x and y from the corner of the group's block */

typedef struct run_sums {
    int label;
    uint count, x, y, l, a, b;
} run_sums;

/* Into the group's sums. */
inline void flush_run(local uint *sums, const run_sums *run) {
    if (run->label < 0) return;
    local uint *to = sums + run->label * LOCAL_SUMS;
#if GROUP > 1
    atomic_add(to, run->count);
    atomic_add(to + 1, run->x);
    atomic_add(to + 2, run->y);
    atomic_add(to + 3, run->l);
    atomic_add(to + 4, run->a);
    atomic_add(to + 5, run->b);
#else
    to[0] += run->count;
    to[1] += run->x;
    to[2] += run->y;
    to[3] += run->l;
    to[4] += run->a;
    to[5] += run->b;
#endif
}

/* Pixels first .. end - 1 of a row, `x` and `y` the place of number 0 in the block. */
inline void add_run(run_sums *run, const uint *colours, int first, int end, int x, int y) {
    uint l = 0, a = 0, b = 0;
    const uint n = end - first;
    for (int i = first; i < end; ++i) {
        l += LAB_L(colours[i]);
        a += LAB_A(colours[i]);
        b += LAB_B(colours[i]);
    }
    run->count += n;
    run->x += n * x + (first + end - 1) * n / 2;
    run->y += n * y;
    run->l += l;
    run->a += a;
    run->b += b;
}

/* The nearest of the candidates for RUN pixels of a row; ties to the lower one. Those that do not exist are
 * far away. */
inline void nearest_row(local const centre *centres, const uint *colours, float x, float y, float step,
                        float weight, int *which) {
    float least[RUN], l[RUN], a[RUN], b[RUN];
    for (int i = 0; i < RUN; ++i) {
        least[i] = INFINITY;
        which[i] = 0;
        l[i] = LAB_L(colours[i]);
        a[i] = LAB_A(colours[i]);
        b[i] = LAB_B(colours[i]);
    }
    for (int c = 0; c < CANDIDATES; ++c) {
        const centre to = centres[c];
        const float down = y - to.y, square = down * down;
        for (int i = 0; i < RUN; ++i) {
            const float dl = l[i] - to.l, da = a[i] - to.a, db = b[i] - to.b, across = (x + i) * step - to.x;
            const float d = (dl * dl + da * da + db * db) + weight * (across * across + square);
            which[i] = d < least[i] ? c : which[i];
            least[i] = min(d, least[i]);
        }
    }
}

#define FAR_AWAY 1e15f

inline void load_centres(global const uint *lab, global const uint *sums, const slic_pass *pass, int column,
                         int row, local centre *centres) {
    for (int c = (int)get_local_id(1) * GROUP_W + (int)get_local_id(0); c < CANDIDATES; c += GROUP) {
        const int at = column + c % 3 - 1, under = row + c / 3 - 1;
        centre found = {FAR_AWAY, FAR_AWAY, 0.0f, 0.0f, 0.0f};
        if (at >= 0 && at < pass->cells.x && under >= 0 && under < pass->cells.y) {
            global const uint *own = sums + (under * pass->cells.x + at) * TVLM_CLUSTER_SUMS;
            if (own[SUM_COUNT] > 0u)
                found = centre_of(own, pass->scale_before);
            else
                found = seed_of(lab, pass->size, pass->cells, pass->cell, at, under);
        }
        centres[c] = found;
    }
}

/* The group's sums into those of the regions; (x, y) is the corner of its block. */
inline void store_sums(local const uint *sums, global uint *to, const slic_pass *pass, int column, int row,
                       int x, int y) {
    for (int c = (int)get_local_id(1) * GROUP_W + (int)get_local_id(0); c < CANDIDATES; c += GROUP) {
        local const uint *from = sums + c * LOCAL_SUMS;
        const uint count = from[0];
        if (count == 0u) continue;
        global uint *own = to + ((row + c / 3 - 1) * pass->cells.x + column + c % 3 - 1) * TVLM_CLUSTER_SUMS;
        atomic_add(own + SUM_COUNT, count);
        add_wide(own + SUM_X, (ulong)count * x + from[1]);
        add_wide(own + SUM_Y, (ulong)count * y + from[2]);
        add_wide(own + SUM_L, from[3]);
        add_wide(own + SUM_A, from[4]);
        add_wide(own + SUM_B, from[5]);
    }
}

TILE_KERNEL void cluster_assign(global const uint *restrict colours, global uint *work,
                                global int *restrict labels, const slic_pass pass) {
    local centre centres[CANDIDATES];
    local uint sums[CANDIDATES * LOCAL_SUMS];
    const int image = get_group_id(2), lane = (int)get_local_id(1) * GROUP_W + (int)get_local_id(0);
    const int column = (int)get_group_id(0) / pass.cells.z, row = (int)get_group_id(1) / pass.cells.w;
    global const uint *lab = colours + (size_t)image * pass.size.w + pass.size.z;
    global uint *tables = work + (size_t)image * pass.tables.x;
    load_centres(lab, tables + pass.tables.y, &pass, column, row, centres);
    for (int i = lane; i < CANDIDATES * LOCAL_SUMS; i += GROUP) sums[i] = 0u;
    barrier(CLK_LOCAL_MEM_FENCE);

    /* The cell, this group's block of it, this work-item's strip of that. */
    const int right = (column + 1) * pass.size.x / pass.cells.x,
              bottom = (row + 1) * pass.size.y / pass.cells.y;
    const int block_x = column * pass.size.x / pass.cells.x + (int)get_group_id(0) % pass.cells.z * TILE_W;
    const int block_y =
        row * pass.size.y / pass.cells.y + (int)get_group_id(1) % pass.cells.w * pass.tables.w * GROUP_H;
    const int x = block_x + (int)get_local_id(0) * RUN,
              first = block_y + (int)get_local_id(1) * pass.tables.w;
    const int n = min(RUN, right - x);
    run_sums run = {-1, 0u, 0u, 0u, 0u, 0u, 0u};
    for (int y = first; n > 0 && y < min(first + pass.tables.w, bottom); ++y) {
        uint own[RUN];
        int which[RUN];
        for (int i = 0; i < RUN; ++i) own[i] = lab[y * pass.size.x + min(x + i, pass.size.x - 1)];
        nearest_row(centres, own, x + 0.5f, (y + 0.5f) * pass.scale.y, pass.scale.x, pass.weight, which);
        if (pass.last) {
            global int *to = labels + ((size_t)image * pass.size.y + y) * pass.size.x + x;
            const int corner = (row - 1) * pass.cells.x + column - 1;
            for (int i = 0; i < n; ++i) to[i] = corner + which[i] / 3 * pass.cells.x + which[i] % 3;
            continue;
        }
        for (int i = 0, end; i < n; i = end) {
            for (end = i + 1; end < n && which[end] == which[i];) ++end;
            if (which[i] != run.label) {
                flush_run(sums, &run);
                run = (run_sums){which[i], 0u, 0u, 0u, 0u, 0u, 0u};
            }
            add_run(&run, own, i, end, x - block_x, y - block_y);
        }
    }
    flush_run(sums, &run);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!pass.last) store_sums(sums, tables + pass.tables.z, &pass, column, row, block_x, block_y);
}

/* ---- 3. Pieces ---- */

inline int find_local(local const int *parents, int at) {
    while (parents[at] != at) at = parents[at];
    return at;
}

/* While others move parents on: an atomic that changes nothing reads. */
inline int find_moving_local(local int *parents, int at) {
#if GROUP > 1
    for (int up = atomic_or(parents + at, 0); up != at; up = atomic_or(parents + at, 0)) at = up;
    return at;
#else
    return find_local(parents, at);
#endif
}

inline void unite_local(local int *parents, int p, int q) {
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

/* parents: the first pixel of the piece within the tile; sizes: at those pixels of how many it is, elsewhere
 * 0. */
TILE_KERNEL void cluster_link(global const int *restrict all_labels, const int2 size,
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

inline int find(global const int *parents, int at) {
    for (int up = parents[at]; up != at; up = parents[at]) at = up;
    return at;
}

inline int find_moving(global int *parents, int at) {
    for (int up = atomic_or(parents + at, 0); up != at; up = atomic_or(parents + at, 0)) at = up;
    return at;
}

inline void unite(global int *parents, int p, int q) {
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

/* A list: the pixels right of the tiles' vertical edges, edge after edge, then those under the horizontal
 * ones. */
kernel void cluster_merge(global const int *restrict all_labels, const int2 size, global int *all_parents) {
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
    /* The pair before it in the same two tiles has joined them already. */
    const bool first = vertical ? y % TILE_H == 0 : x % TILE_W == 0;
    if (!first && labels[p - along] == labels[p] && labels[p - along - across] == labels[p]) return;
    unite(all_parents + plane, p, p - across);
}

/* ---- 4. Sizes ---- */

/* for each pixel p of a list of `count` that is this work-item's */
#define FOR_SPAN(count, p)                                                                                   \
    for (int p = (int)get_global_id(0) * SPAN; p < min((int)(get_global_id(0) + 1) * SPAN, count); ++p)

/* What tiles counted goes to the roots; in its place stays -1 - root. */
kernel void cluster_count(global const int *restrict all_parents, const int count, global int *all_sizes) {
    const size_t plane = (size_t)get_global_id(1) * count;
    global const int *parents = all_parents + plane;
    global int *sizes = all_sizes + plane;
    FOR_SPAN(count, p) {
        if (parents[p] == p || sizes[p] <= 0) continue;
        const int root = find(parents, p);
        atomic_add(sizes + root, sizes[p]);
        sizes[p] = -1 - root;
    }
}

/* The piece of a pixel, after cluster_count. */
inline int piece_of(global const int *parents, global const int *sizes, int p) {
    const int in_tile = parents[p];
    return parents[in_tile] == in_tile ? in_tile : -1 - sizes[in_tile];
}

/* Offsets into an image's words of `work`: largest, main (count - the first pixel of it), dense. */
kernel void cluster_largest(global const int *restrict all_parents, const int count,
                            global const int *restrict all_labels, global const int *restrict all_sizes,
                            global int *work, const int4 tables) {
    const size_t plane = (size_t)get_global_id(1) * count;
    global int *largest = work + (size_t)get_global_id(1) * tables.x + tables.y;
    FOR_SPAN(count, p) {
        if (all_parents[plane + p] == p) atomic_max(largest + all_labels[plane + p], all_sizes[plane + p]);
    }
}

/* Sizes of roots become offers: there is none yet. */
kernel void cluster_main(global const int *restrict all_parents, const int count,
                         global const int *restrict all_labels, global int *restrict all_sizes,
                         global int *work, const int4 tables) {
    const size_t plane = (size_t)get_global_id(1) * count;
    global int *own = work + (size_t)get_global_id(1) * tables.x;
    FOR_SPAN(count, p) {
        if (all_parents[plane + p] != p) continue;
        const int label = all_labels[plane + p];
        if (all_sizes[plane + p] == own[tables.y + label]) atomic_max(own + tables.z + label, count - p);
        all_sizes[plane + p] = TVLM_CLUSTER_NONE;
    }
}

#define LANES 64

/* One group an image: numbers the labels in use; the first word of the region table is how many there are. */
kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void
cluster_dense(global int *work, const int4 tables, const int labels, global int *regions, const int words) {
    local int counts[LANES];
    const int lane = get_local_id(0), image = get_group_id(1), each = (labels + LANES - 1) / LANES;
    global int *own = work + (size_t)image * tables.x, *dense = own + tables.w;
    global const int *largest = own + tables.y;
    int count = 0;
    for (int i = lane * each; i < min((lane + 1) * each, labels); ++i) count += largest[i] > 0;
    counts[lane] = count;
    barrier(CLK_LOCAL_MEM_FENCE);
    int next = 0;
    for (int i = 0; i < lane; ++i) next += counts[i];
    for (int i = lane * each; i < min((lane + 1) * each, labels); ++i) {
        dense[i] = next;
        next += largest[i] > 0;
    }
    if (lane == LANES - 1) regions[(size_t)image * words] = next;
}

/* ---- 5. One piece each ---- */

/* The label of the kept piece that q is in; -1: q is outside, or in a piece that is not kept. */
inline int kept_label(global const int *parents, global const int *sizes, global const int *labels,
                      global const int *mains, int count, int q) {
    const int label = labels[q];
    return mains[label] == count - piece_of(parents, sizes, q) ? label : -1;
}

/* How far a colour is from a region's mean, coarsely, and the region: the lower, the better. */
inline int offer_from(global const uint *sums, uint colour, int label) {
    global const uint *own = sums + label * TVLM_CLUSTER_SUMS;
    const float l = LAB_L(colour) - mean_tint(own, SUM_L), a = LAB_A(colour) - mean_tint(own, SUM_A),
                b = LAB_B(colour) - mean_tint(own, SUM_B);
    const float apart = (l * l + a * a + b * b) * 0.0625f;
    return (int)min(apart, 1048574.0f) * TVLM_CLUSTER_MAX + label;
}

/* As the last pass saw a region whose sums are empty: its seed. */
inline int offer_of(global const uint *sums, global const uint *lab, const slic_pass *pass, uint colour,
                    int label) {
    if (sums[label * TVLM_CLUSTER_SUMS + SUM_COUNT] > 0u) return offer_from(sums, colour, label);
    const centre seed =
        seed_of(lab, pass->size, pass->cells, pass->cell, label % pass->cells.x, label / pass->cells.x);
    const float l = LAB_L(colour) - seed.l, a = LAB_A(colour) - seed.a, b = LAB_B(colour) - seed.b;
    return (int)min((l * l + a * a + b * b) * 0.0625f, 1048574.0f) * TVLM_CLUSTER_MAX + label;
}

/* To the roots of pieces that are not kept: the best of what is beside them. `pass` is the last one. */
kernel void cluster_offer(global const uint *restrict colours, global const int *restrict all_parents,
                          global int *all_sizes, global const int *restrict all_labels,
                          global const int *work, const int4 tables, const slic_pass pass) {
    const int width = pass.size.x, height = pass.size.y, count = width * height, image = get_global_id(1);
    const size_t plane = (size_t)image * count;
    global const int *parents = all_parents + plane, *labels = all_labels + plane;
    global const int *own = work + (size_t)image * tables.x, *mains = own + tables.z;
    global const uint *sums = (global const uint *)own + pass.tables.y;
    global const uint *lab = colours + (size_t)image * pass.size.w + pass.size.z;
    global int *sizes = all_sizes + plane;
    FOR_SPAN(count, p) {
        const int piece = piece_of(parents, sizes, p);
        if (mains[labels[p]] == count - piece) continue;
        const int x = p % width, y = p / width;
        int best = TVLM_CLUSTER_NONE;
        for (int side = 0; side < 4; ++side) {
            const int nx = x + (side == 0) - (side == 1), ny = y + (side == 2) - (side == 3);
            if (nx < 0 || nx >= width || ny < 0 || ny >= height) continue;
            const int label = kept_label(parents, sizes, labels, mains, count, ny * width + nx);
            if (label >= 0) best = min(best, offer_of(sums, lab, &pass, lab[p], label));
        }
        if (best != TVLM_CLUSTER_NONE) atomic_min(sizes + piece, best);
    }
}

/*
 * What the roots of pieces end with, dense: their own label where the piece is kept, else that of the best offer; without
 * one, what the piece above its first pixel ends with (left of it in the top row), and so on: first pixels only decrease.
 * Whoever knows already, is asked: `result` is TVLM_CLUSTER_NONE before. -1: that ends at pixel 0 without an offer.
 */
kernel void cluster_settle(global const int *restrict all_parents, global const int *restrict all_sizes,
                           global const int *restrict all_labels, global const int *restrict work, const int4 tables,
                           const int2 size, global int *all_results) {
    const int count = size.x * size.y, image = get_global_id(1);
    const size_t plane = (size_t)image * count;
    global const int *parents = all_parents + plane, *sizes = all_sizes + plane, *labels = all_labels + plane;
    global const int *own = work + (size_t)image * tables.x, *mains = own + tables.z, *dense = own + tables.w;
    global int *results = all_results + plane;
    FOR_SPAN(count, p) {
        if (parents[p] != p) continue;
        int result = TVLM_CLUSTER_NONE;
        for (int at = p; result == TVLM_CLUSTER_NONE;) {
            if (mains[labels[at]] == count - at)
                result = dense[labels[at]];
            else if (sizes[at] != TVLM_CLUSTER_NONE)
                result = dense[sizes[at] % TVLM_CLUSTER_MAX];
            else if (at == 0)
                result = -1;
            else {
                at = piece_of(parents, sizes, at >= size.x ? at - size.x : at - 1);
                result = atomic_or(results + at, 0);
            }
        }
        atomic_xchg(results + p, result);
    }
}

/* count - the first pixel in reading order that ends somewhere, where pixel 0 does not. */
#define RESCUE(work, image, tables) ((work) + (size_t)(image) * (tables).x + (tables).y - 1)

/* From the roots to all pixels. */
kernel void cluster_spread(global const int *restrict all_parents, global const int *restrict all_sizes, global int *work,
                           const int4 tables, const int2 size, global int *all_results) {
    const int count = size.x * size.y, image = get_global_id(1);
    const size_t plane = (size_t)image * count;
    global const int *parents = all_parents + plane, *sizes = all_sizes + plane;
    global int *results = all_results + plane;
    FOR_SPAN(count, p) {
        const int root = piece_of(parents, sizes, p), result = results[root];
        if (root != p) results[p] = result;
        if (results[0] >= 0 || result < 0) continue;
        const int before = p % size.x > 0 ? p - 1 : p - size.x;
        if (results[piece_of(parents, sizes, before)] < 0) atomic_max(RESCUE(work, image, tables), count - p);
    }
}

/* What ends nowhere goes where the first pixel goes that ends somewhere: the two touch. */
kernel void cluster_rescue(global const int *restrict work, const int4 tables, const int count, global int *all_results) {
    const int image = get_global_id(1), rescue = *RESCUE(work, image, tables);
    global int *results = all_results + (size_t)image * count;
    if (rescue == 0) return;
    const int label = results[count - rescue];
    FOR_SPAN(count, p) {
        if (results[p] < 0) results[p] = label;
    }
}
