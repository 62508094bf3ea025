/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.cl: superpixels by SLIC (Achanta, Shaji, Smith, Lucchi, Fua & Suesstrunk 2012) in L*a*b*. The
 * result is a label for each pixel; pieces.cl then makes each region one connected piece.
 *
 * 1. cluster_lab makes colours in L*a*b*, in whole steps, of those levels of the source that are used. It
 *    also clears the tables. The later kernels compute with whole numbers, or with floats that are only added
 *    and multiplied. So every device finds the same.
 * 2. cluster_assign is one pass of SLIC: it gives each pixel to the nearest of nine centres, those of its own
 *    cell and of the eight cells around it. It computes the centres from the sums of the pass before, and
 *    adds up the sums for the next pass. The host runs passes on level 1 first, and then on level 0.
 *
 * A work-group lies within one cell, so that all its pixels share the nine candidates. Work-items collect the
 * sums of a run of equal labels in registers, then in local memory for the group, and then in global memory.
 * On CPUs a group is one work-item, and its loops over RUN pixels of a row vectorise.
 *
 * In all kernels the last dimension of the launch is the image. Buffers of a value for each pixel hold image
 * after image. `work` holds small tables, those of image n from word n * (words of an image) on.
 */
#include "colour.clh"
#include "slic.clh"

/* ---- 1. Colours ---- */

/* L*a*b* in whole steps, packed (regions.clh). It uses no vectors, and is static so that it is inlined.
 * Otherwise PoCL does not vectorise the loop that calls it. */
static inline uint packed_lab(float red, float green, float blue) {
    const float r = srgb_to_linear(red), g = srgb_to_linear(green), b = srgb_to_linear(blue);
    const float x = lab_curve(TVLM_XYZ_XR * r + TVLM_XYZ_XG * g + TVLM_XYZ_XB * b);
    const float y = lab_curve(TVLM_XYZ_YR * r + TVLM_XYZ_YG * g + TVLM_XYZ_YB * b);
    const float z = lab_curve(TVLM_XYZ_ZR * r + TVLM_XYZ_ZG * g + TVLM_XYZ_ZB * b);
    /* No sum is below 0, so the conversion to int rounds down, and adding 0.5 rounds to nearest. */
    const int l = (int)((116.0f * y - 16.0f) * TVLM_LAB_STEPS + 0.5f);
    const int a = (int)(500.0f * (x - y) * TVLM_LAB_STEPS + (TVLM_LAB_ZERO + 0.5f));
    const int c = (int)(200.0f * (y - z) * TVLM_LAB_STEPS + (TVLM_LAB_ZERO + 0.5f));
    return (uint)(l << 22 | a << 11 | c);
}

/* Clears the `count` words of an image. All work-items of the image divide them among themselves. */
HELPER void clear_words(global int *restrict words, int count) {
    const int items = get_global_size(0) * get_global_size(1);
    for (int i = get_global_id(1) * get_global_size(0) + get_global_id(0); i < count; i += items)
        words[i] = 0;
}

/*
 * Converts level 0 of the source, and level 1 if the launch is twice as deep as there are images. words =
 * words of an image in `lab`, in `work` and in `regions`. It clears the latter two. Work-item (n, y, image +
 * images * level) converts RUN texels of row y. The components lie in three arrays of floats, so that the
 * second loop vectorises.
 */
kernel void cluster_lab(TEXTURE_IN(source), global uint *restrict lab, global int *restrict work,
                        global int *restrict regions, const int4 words, const int images) {
    const int x = (int)get_global_id(0) * RUN, y = get_global_id(1);
    const int image = get_global_id(2) % images, level = get_global_id(2) / images;
    const int4 where = level_place_(TEXTURE(source), image * source_size.z, level);
    const int n = min(RUN, where.x - x);
    float r[RUN], g[RUN], b[RUN];
    uint packed[RUN];
    if (level == 0) {
        clear_words(work + (size_t)image * words.y, words.y);
        clear_words(regions + (size_t)image * words.z, words.z);
    }
    if (n <= 0 || y >= where.y) return;
    for (int i = 0; i < RUN; ++i) {
        const float4 texel = texel_fetch_at_(TEXTURE(source), where, image * source_size.z, level, x + i, y);
        r[i] = texel.x;
        g[i] = texel.y;
        b[i] = texel.z;
    }
    for (int i = 0; i < RUN; ++i) packed[i] = packed_lab(r[i], g[i], b[i]);
    lab += (size_t)image * words.x + level * source_size.x * source_size.y + y * where.x + x;
    for (int i = 0; i < n; ++i) lab[i] = packed[i];
}

/* ---- 2. SLIC ---- */

/* Candidate c is the centre of the cell at column c % 3 - 1 and row c / 3 - 1 from the group's own. */
#define CANDIDATES 9
/* The group's sums for a candidate: count, x, y, L, a, b. x and y count from the corner of the group's block,
 * so that 32 bits hold them. */
#define LOCAL_SUMS 6

/* The sums of a run of pixels with one label, which is a candidate's number; -1: there is no run. */
typedef struct run_sums {
    int label;
    uint count, x, y, l, a, b;
} run_sums;

/* Adds a run to the group's sums in local memory. */
HELPER void flush_run(local uint *sums, const run_sums *run) {
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

/* Adds pixels first .. end - 1 of a row to a run. Pixel 0 of `colours` is at (x, y) in the group's block. */
HELPER void add_run(run_sums *run, const uint *colours, int first, int end, int x, int y) {
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

/*
 * which[i] is the nearest candidate of pixel i of RUN pixels of a row; ties go to the lower number. x is the
 * first pixel's centre in texels of the level, `step` the pixels in a texel, and y is in pixels.
 */
HELPER void nearest_row(local const centre *centres, const uint *colours, float x, float y, float step,
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

/* The place of a candidate whose cell does not exist. It is so far away that no pixel is nearest to it. */
#define FAR_AWAY 1e15f

/* Computes the nine candidates of cell (column, row), divided among the group's work-items. */
HELPER void load_centres(global const uint *lab, global const uint *sums, const slic_pass *pass, int column,
                         int row, local centre *centres) {
    for (int c = (int)get_local_id(1) * GROUP_W + (int)get_local_id(0); c < CANDIDATES; c += GROUP) {
        const int at = column + c % 3 - 1, under = row + c / 3 - 1;
        centre found = {FAR_AWAY, FAR_AWAY, 0.0f, 0.0f, 0.0f};
        if (at >= 0 && at < pass->cells.x && under >= 0 && under < pass->cells.y)
            found = centre_of(lab, sums, pass, at, under);
        centres[c] = found;
    }
}

/* Adds the group's sums to those of the regions (regions.clh). (x, y) is the corner of the group's block. */
HELPER void store_sums(local const uint *sums, global uint *to, const slic_pass *pass, int column, int row,
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

/*
 * One pass of SLIC. Work-group (x, y, image) makes a block of cell (x / pass.cells.z, y / pass.cells.w):
 * TILE_W texels across, and pass.tables.w rows for each row of work-items. It adds the block to the sums of
 * this pass, or, in the last pass, writes labels: the number of the cell, counted row after row.
 */
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

    /* (right, bottom) is the end of the cell, (block_x, block_y) the corner of this group's block, and (x,
     * first) that of this work-item's strip of the block. */
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
