/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regions.cl: makes the table of regions (tvlm_region) and the four channels of the family from labels,
 * whether SLIC made them or the application handed them in.
 *
 * 1. regions_gradient finds the colour gradient of each pixel: its magnitude, and the one of four ways in
 *    which it points.
 * 2. regions_sum adds up sums over each region, and regions_table makes the table from them.
 * 3. regions_reach looks at the regions' edges, for their neighbours and their farthest pixels.
 * 4. regions_store writes the channels: the region's number, the distance from its centroid over the radius,
 *    its share of the image, and whether the pixel lies on a boundary (defined at TVLM_BOUNDARY_* in
 *    constants.h).
 *
 * Everything is computed in integers, or in floats that are only added and multiplied, so that every device
 * finds the same. Work-items make RUN pixels of a row: 1 on GPUs, and many on CPUs, where a group is one
 * work-item. In all kernels the last dimension of the launch is the image.
 */
#include "regions.clh"

/* The gradient needs smoothed colours in a border of INNER, and those need colours in a border of BORDER. */
#define BORDER 2
#define INNER  1
/* The gradient of a pixel in one int: the way it points (0 right, 1 down and right, 2 down, 3 down and left)
 * and the magnitude, in L*a*b* units a pixel times TVLM_BOUNDARY_STEPS. */
#define TOWARDS(gradient)   ((gradient) >> 16)
#define MAGNITUDE(gradient) ((gradient)&65535)

/* ---- 1. Gradient ---- */

/* The root of a whole number below 2^31, rounded down. */
static inline int root_of(uint value) {
    uint root = (uint)sqrt((float)value);
    root -= root * root > value ? 1u : 0u;
    root += (root + 1u) * (root + 1u) <= value ? 1u : 0u;
    return (int)root;
}

/* The binomial filter (1 2 1) x (1 2 1) around at[0], over 4: four times the mean. */
static inline int smoothed(local const short *at) {
    local const short *up = at - BORDERED_W(BORDER), *down = at + BORDERED_W(BORDER);
    return (up[-1] + 2 * up[0] + up[1] + 2 * (at[-1] + 2 * at[0] + at[1]) + down[-1] + 2 * down[0] +
            down[1]) >>
           2;
}

/*
 * Smooths the colours and takes Sobel's derivatives of L, a and b. The gradient is that of the structure
 * tensor (Di Zenzo 1986). The trace of the tensor is the square of the magnitude. size = (width, height,
 * first word of level 0 in an image's colours, words of an image). The layout is that of tile.clh.
 */
TILE_KERNEL void regions_gradient(global const uint *restrict all_colours, const int4 size,
                                  global int *restrict all_gradients) {
    local short colours[3][BORDERED(BORDER)], smooth[3][BORDERED(INNER)];
    const int image = get_group_id(2);
    global const uint *lab = all_colours + (size_t)image * size.w + size.z;
    global int *gradients = all_gradients + (size_t)image * size.x * size.y;
    FOR_BORDERED(BORDER, tx, ty) {
        const int x = clamp(TILE_X + tx - BORDER, 0, size.x - 1),
                  y = clamp(TILE_Y + ty - BORDER, 0, size.y - 1);
        const uint colour = lab[y * size.x + x];
        colours[0][BORDERED_AT(BORDER, tx, ty)] = (short)LAB_L(colour);
        colours[1][BORDERED_AT(BORDER, tx, ty)] = (short)LAB_A(colour);
        colours[2][BORDERED_AT(BORDER, tx, ty)] = (short)LAB_B(colour);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int c = 0; c < 3; ++c) FOR_BORDERED(INNER, tx, ty)
    smooth[c][BORDERED_AT(INNER, tx, ty)] = (short)smoothed(colours[c] + BORDERED_AT(BORDER, tx + 1, ty + 1));
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_TILE(size, tx, ty) {
        int xx = 0, xy = 0, yy = 0;
#pragma unroll
        for (int c = 0; c < 3; ++c) {
            local const short *at = smooth[c] + BORDERED_AT(INNER, tx + INNER, ty + INNER);
            local const short *up = at - BORDERED_W(INNER), *down = at + BORDERED_W(INNER);
            const int gx = (up[1] - up[-1]) + 2 * (at[1] - at[-1]) + (down[1] - down[-1]);
            const int gy = (down[-1] - up[-1]) + 2 * (down[0] - up[0]) + (down[1] - up[1]);
            xx += gx * gx;
            xy += gx * gy;
            yy += gy * gy;
        }
        /* (along, across) points in twice the gradient's angle. Comparisons take the place of abs, because
         * Oclgrind does not know what LLVM makes of abs. */
        const int along = xx - yy, across = 2 * xy;
        const bool flat = along >= across && along >= -across, steep = -along >= across && -along >= -across;
        const int towards = flat ? 0 : steep ? 2 : across > 0 ? 1 : 3;
        gradients[(TILE_Y + ty) * size.x + TILE_X + tx] = towards << 16 | root_of((uint)xx + (uint)yy);
    }
}

/* ---- 2. The table ---- */

/* The sums of a run of pixels with one label (-1: there is no run): its box, and sums as in regions.clh. x
 * and y count from the corner of the group's block, so that 32 bits hold them. */
typedef struct run_sums {
    int label, left, right, top, bottom;
    uint count, x, y, l, a, b, gradient;
} run_sums;

/* Adds a run to the sums of its region. */
HELPER void flush_run(global uint *sums, const run_sums *run, int2 size, int2 corner) {
    if (run->label < 0) return;
    global uint *own = sums + run->label * TVLM_CLUSTER_SUMS;
    atomic_add(own + SUM_COUNT, run->count);
    atomic_max(own + SUM_LEFT, (uint)(size.x - run->left));
    atomic_max(own + SUM_TOP, (uint)(size.y - run->top));
    atomic_max(own + SUM_RIGHT, (uint)run->right);
    atomic_max(own + SUM_BOTTOM, (uint)run->bottom);
    add_wide(own + SUM_X, (ulong)run->count * corner.x + run->x);
    add_wide(own + SUM_Y, (ulong)run->count * corner.y + run->y);
    add_wide(own + SUM_L, run->l);
    add_wide(own + SUM_A, run->a);
    add_wide(own + SUM_B, run->b);
    add_wide(own + SUM_GRADIENT, run->gradient);
}

/* Adds pixels first .. end - 1 of a row to a run. Pixel 0 of the row is at (x, y) in the image. */
HELPER void add_run(run_sums *run, global const uint *lab, global const int *gradients, int first, int end,
                    int x, int y, int2 corner) {
    uint l = 0, a = 0, b = 0, gradient = 0;
    const uint n = end - first;
    for (int i = first; i < end; ++i) {
        l += LAB_L(lab[i]);
        a += LAB_A(lab[i]);
        b += LAB_B(lab[i]);
        gradient += MAGNITUDE(gradients[i]);
    }
    run->left = min(run->left, x + first);
    run->right = max(run->right, x + end);
    run->bottom = y + 1;
    run->count += n;
    run->x += n * (x - corner.x) + (first + end - 1) * n / 2;
    run->y += n * (y - corner.y);
    run->l += l;
    run->a += a;
    run->b += b;
    run->gradient += gradient;
}

/*
 * A group adds up the first SLOTS regions that it meets in local memory, so that its work-items rarely wait
 * for each other at the sums in global memory. A run that finds no slot is added in global memory at once.
 * The sums are whole numbers, so it does not matter where a run is added.
 */
#define SLOTS 8

typedef struct group_sums {
    int labels[SLOTS];
    run_sums sums[SLOTS];
} group_sums;

/* The slot of a label, taken if there is none yet; -1: all slots have other labels. */
HELPER int slot_of(local group_sums *group, int label) {
    for (int slot = 0; slot < SLOTS; ++slot) {
        const int before = atomic_cmpxchg(&group->labels[slot], -1, label);
        if (before == -1 || before == label) return slot;
    }
    return -1;
}

/* Adds a run to the group's sums, or to those of its region. */
HELPER void share_run(local group_sums *group, global uint *sums, const run_sums *run, int2 size,
                      int2 corner) {
    if (run->label < 0) return;
    const int slot = slot_of(group, run->label);
    if (slot < 0) {
        flush_run(sums, run, size, corner);
        return;
    }
    local run_sums *own = &group->sums[slot];
    atomic_min(&own->left, run->left);
    atomic_max(&own->right, run->right);
    atomic_min(&own->top, run->top);
    atomic_max(&own->bottom, run->bottom);
    atomic_add(&own->count, run->count);
    atomic_add(&own->x, run->x);
    atomic_add(&own->y, run->y);
    atomic_add(&own->l, run->l);
    atomic_add(&own->a, run->a);
    atomic_add(&own->b, run->b);
    atomic_add(&own->gradient, run->gradient);
}

/* On CPUs one work-item is the whole group, and shares with nobody. */
#if GROUP > 1
#define FLUSH(run) share_run(&shared, sums, run, size.xy, corner)
#else
#define FLUSH(run) flush_run(sums, run, size.xy, corner)
#endif

/* How many rows a work-item of regions_sum goes over. */
#define DOWN 16

/*
 * Adds up the sums of all regions. Work-item (n, m, image) goes over RUN x DOWN pixels. table = (words of an
 * image in `work`, first word of the sums in them); the sums begin as 0. Pixels that pieces_settle of
 * pieces.cl left without a region first get the region of the pixel that word `rescue` of the image names.
 */
TILE_KERNEL void regions_sum(global const uint *restrict all_colours,
                             global const int *restrict all_gradients, global int *restrict all_labels,
                             const int4 size, global uint *work, const int2 table, const int rescue) {
    const int x = (int)get_global_id(0) * RUN, first = (int)get_global_id(1) * DOWN, image = get_global_id(2);
    const int2 corner = (int2)((int)get_group_id(0) * GROUP_W * RUN, (int)get_group_id(1) * GROUP_H * DOWN);
    const size_t plane = (size_t)image * size.x * size.y;
    const int n = min(RUN, size.x - x);
    global uint *sums = work + (size_t)image * table.x + table.y;
    run_sums run = {.label = -1};
#if GROUP > 1
    local group_sums shared;
    const int lane = (int)get_local_id(1) * GROUP_W + (int)get_local_id(0);
    if (lane < SLOTS) {
        shared.labels[lane] = -1;
        shared.sums[lane] = (run_sums){.left = size.x, .top = size.y};
    }
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (int y = first; n > 0 && y < min(first + DOWN, size.y); ++y) {
        const int row = y * size.x + x;
        global int *labels = all_labels + plane + row;
        global const int *gradients = all_gradients + plane + row;
        global const uint *lab = all_colours + (size_t)image * size.w + size.z + row;
        for (int i = 0, end; i < n; i = end) {
            int label = labels[i];
            for (end = i + 1; end < n && labels[end] == label;) ++end;
            if (label < 0) {
                label = all_labels[plane + size.x * size.y - work[(size_t)image * table.x + rescue]];
                for (int k = i; k < end; ++k) labels[k] = label;
            }
            if (label != run.label) {
                FLUSH(&run);
                run = (run_sums){.label = label, .left = size.x, .top = y};
            }
            add_run(&run, lab, gradients, i, end, x, y, corner);
        }
    }
    FLUSH(&run);
#if GROUP > 1
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < SLOTS) {
        run = shared.sums[lane];
        run.label = shared.labels[lane];
        flush_run(sums, &run, size.xy, corner);
    }
#endif
}

/* tvlm_region of texturevlm/stack.h, except that `radius` is still the square of the radius. */
typedef struct region {
    float x, y;
    int pixels;
    float l, a, b;
    int left, top, right, bottom;
    float radius, texture;
    uint reserved[4];
} region;

/*
 * The regions of an image. An image's table is a header of TVLM_REGION_HEADER words, the regions, and a
 * matrix of bits that says which regions are neighbours. layout = (words of an image, first word of that
 * matrix, words of a row of it).
 */
#define REGIONS(tables, image, layout)                                                                       \
    ((global region *)((tables) + (size_t)(image) * (layout).x + TVLM_REGION_HEADER))

/* Makes one region of the table from its sums. Work-item (id, image); there are `capacity` regions, and those
 * without pixels become zero. */
kernel void regions_table(global const uint *restrict work, const int2 table, const int2 size,
                          const int capacity, global int *restrict tables, const int4 layout) {
    const int id = get_global_id(0), image = get_global_id(1);
    if (id >= capacity) return;
    global const uint *sums = work + (size_t)image * table.x + table.y + id * TVLM_CLUSTER_SUMS;
    region found = {.pixels = (int)sums[SUM_COUNT]};
    if (found.pixels > 0) {
        const float step = 1.0f / TVLM_LAB_STEPS;
        found.x = mean_place(sums, SUM_X) + 0.5f;
        found.y = mean_place(sums, SUM_Y) + 0.5f;
        found.l = mean_tint(sums, SUM_L) * step;
        found.a = (mean_tint(sums, SUM_A) - TVLM_LAB_ZERO) * step;
        found.b = (mean_tint(sums, SUM_B) - TVLM_LAB_ZERO) * step;
        found.left = size.x - (int)sums[SUM_LEFT];
        found.top = size.y - (int)sums[SUM_TOP];
        found.right = (int)sums[SUM_RIGHT];
        found.bottom = (int)sums[SUM_BOTTOM];
        found.texture = mean_tint(sums, SUM_GRADIENT) * (1.0f / TVLM_BOUNDARY_STEPS);
    }
    REGIONS(tables, image, layout)[id] = found;
}

/* ---- 3. Edges of regions ---- */

/* The squared distance of a pixel's centre from the region's centroid. */
HELPER float square_distance(global const region *own, int x, int y) {
    const float across = (x + 0.5f) - own->x, down = (y + 0.5f) - own->y;
    return across * across + down * down;
}

/* Marks regions p and q as neighbours of each other. */
HELPER void connect(global int *neighbours, int row, int p, int q) {
    atomic_or(neighbours + p * row + q / 32, 1 << q % 32);
    atomic_or(neighbours + q * row + p / 32, 1 << p % 32);
}

/*
 * Finds the radius (squared) and the neighbours of all regions. It looks only at pixels that have another
 * region or the outside on one of their four sides: a region's farthest pixel is one of them. Squares are not
 * negative, so the bits of these floats order as the floats do. Work-item (n, y, image) looks at RUN pixels
 * of row y.
 */
kernel void regions_reach(global const int *restrict all_labels, const int2 size, global int *tables,
                          const int4 layout) {
    const int x0 = (int)get_global_id(0) * RUN, y = get_global_id(1), image = get_global_id(2);
    global const int *labels = all_labels + (size_t)image * size.x * size.y;
    global region *regions = REGIONS(tables, image, layout);
    global int *neighbours = tables + (size_t)image * layout.x + layout.y;
    if (y >= size.y) return;
    for (int x = x0; x < min(x0 + RUN, size.x); ++x) {
        const int p = y * size.x + x, own = labels[p];
        const int left = x > 0 ? labels[p - 1] : -1, right = x + 1 < size.x ? labels[p + 1] : -1;
        const int up = y > 0 ? labels[p - size.x] : -1, down = y + 1 < size.y ? labels[p + size.x] : -1;
        if (left == own && right == own && up == own && down == own) continue;
        atomic_max((global int *)&regions[own].radius, as_int(square_distance(regions + own, x, y)));
        if (right >= 0 && right != own) connect(neighbours, layout.z, own, right);
        if (down >= 0 && down != own) connect(neighbours, layout.z, own, down);
    }
}

/* ---- 4. The channels ---- */

/* The sums of L, a and b over nine pixels around a point, TVLM_BOUNDARY_TAP apart. */
HELPER int3 taps(global const uint *lab, int2 size, int x, int y) {
    int3 sum = 0;
    for (int j = -1; j <= 1; ++j) {
        const int row = clamp(y + j * TVLM_BOUNDARY_TAP, 0, size.y - 1) * size.x;
        for (int i = -1; i <= 1; ++i) {
            const uint colour = lab[row + clamp(x + i * TVLM_BOUNDARY_TAP, 0, size.x - 1)];
            sum += (int3)(LAB_L(colour), LAB_A(colour), LAB_B(colour));
        }
    }
    return sum;
}

/* The magnitude of the gradient at a pixel, clamped to the edge. */
HELPER int gradient_at(global const int *gradients, int2 size, int x, int y) {
    return MAGNITUDE(gradients[clamp(y, 0, size.y - 1) * size.x + clamp(x, 0, size.x - 1)]);
}

/*
 * Whether a pixel lies on a boundary. It does if it is on a ridge of the gradient m and (m / (TEXTURE + e))^2
 * c > STRENGTH^2. Here e is the region's `texture`, and c is the colour difference across the ridge. Both
 * sides of the inequality are squared, which saves the root in c.
 */
HELPER bool areas_meet(global const uint *lab, global const int *gradients, int2 size, int x, int y,
                       float texture) {
    const int gradient = gradients[y * size.x + x], m = MAGNITUDE(gradient), towards = TOWARDS(gradient);
    const float slope = m * (1.0f / TVLM_BOUNDARY_STEPS), slope2 = slope * slope;
    const float least = TVLM_BOUNDARY_TEXTURE + texture, least2 = least * least;
    const float strength = TVLM_BOUNDARY_STRENGTH * TVLM_BOUNDARY_STRENGTH;
    const float needed = strength * strength * (least2 * least2), power = slope2 * slope2;
    /* c^2 is below 2^17, since L*a*b* of sRGB spans 100, 185 and 203. So for most pixels c need not be
     * computed. */
    if (power * 131072.0f <= needed) return false;
    const int dx = towards == 0 || towards == 1 ? 1 : towards == 3 ? -1 : 0, dy = towards == 0 ? 0 : 1;
    if (m <= gradient_at(gradients, size, x + dx, y + dy) || m < gradient_at(gradients, size, x - dx, y - dy))
        return false;
    const int far = (towards & 1) != 0 ? TVLM_BOUNDARY_DIAGONAL : TVLM_BOUNDARY_FAR;
    const int3 apart =
        taps(lab, size, x + dx * far, y + dy * far) - taps(lab, size, x - dx * far, y - dy * far);
    const float steps = 9.0f * TVLM_LAB_STEPS;
    const int square = apart.x * apart.x + apart.y * apart.y + apart.z * apart.z;
    return power * ((float)square * (1.0f / (steps * steps))) > needed;
}

/*
 * Writes the four channels. Work-item (n, y, image) makes RUN pixels of row y. Where labels were handed in
 * (header[1] is not 0), the boundary is where the label differs from the one to the right or below.
 */
kernel void regions_store(global const uint *restrict all_colours, global const int *restrict all_gradients,
                          global const int *restrict all_labels, const int4 size,
                          global const int *restrict tables, const int4 layout, TEXTURE_OUT(result)) {
    const int x0 = (int)get_global_id(0) * RUN, y = get_global_id(1), image = get_global_id(2);
    const size_t plane = (size_t)image * size.x * size.y;
    global const int *labels = all_labels + plane, *gradients = all_gradients + plane;
    global const uint *lab = all_colours + (size_t)image * size.w + size.z;
    global const int *header = tables + (size_t)image * layout.x;
    global const region *regions = (global const region *)(header + TVLM_REGION_HEADER);
    if (y >= size.y) return;
    const float area = (float)size.x * size.y;
    for (int x = x0; x < min(x0 + RUN, size.x); ++x) {
        const int p = y * size.x + x, own = labels[p];
        global const region *at = regions + own;
        const float radius = at->radius,
                    ratio = radius > 0.0f ? sqrt(square_distance(at, x, y) / radius) : 0.0f;
        bool meet;
        if (header[1] != 0)
            meet = (x + 1 < size.x && labels[p + 1] != own) || (y + 1 < size.y && labels[p + size.x] != own);
        else
            meet = areas_meet(lab, gradients, size.xy, x, y, at->texture);
        texel_store(result, x, y, image,
                    (float4)((float)own, min(ratio, 1.0f), at->pixels / area, meet ? 1.0f : 0.0f));
    }
}
