/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saliency.cl: what stands out: centre-surround contrast (Itti, Koch & Niebur 1998) at three scales, and, for
 * the one map that combines them, how hard the border of the image is to reach (geodesic saliency: Wei et al.
 * 2012) and how far a colour is from those along the border (Mahalanobis). All in L*a*b*, read off the
 * source's levels.
 *
 * 1. saliency_lab: the levels used, texel by texel in L*a*b*, into scratch.
 * 2. saliency_prior: one work-group an image, at a level of at most TVLM_SALIENCY_SIDE a side: paths and
 * border.
 * 3. saliency_contrast: at each texel of the quarter-size grid, three centres against surrounds three levels
 * coarser, and with 2 what becomes `saliency`, into scratch; the largest of each by atomics on integers
 * (non-negative floats order like their bits).
 * 4. saliency_scale: each over its image's largest.
 */
// check-kernels: -DRUN=1 -DLANES=256
// check-kernels: -DRUN=16 -DLANES=16
#include "colour.clh"
#include "texture.clh"

#define FIRST TVLM_SALIENCY_CENTRE_LEVEL

#ifndef RUN
#define RUN 1 /* texels of a work-item; more on CPUs, where the loop over them vectorises */
#endif
#ifndef LANES
#define LANES 256 /* work-items of saliency_prior's group, a multiple of SIDES */
#endif

/* Texels of `lab` before `level`. */
inline int lab_offset(int4 source_size, int first, int level) {
    int offset = 0;
    for (int n = first; n < level; ++n) offset += level_side(source_size.x, n) * level_side(source_size.y, n);
    return offset;
}

/*
 * lab: level `first`.. of image 0, then of image 1, ...; `texels` of them an image. Work-item RUN texels of a
 * level; y is the image, z the level: what is beyond the smaller levels has nothing to do.
 */
kernel void saliency_lab(TEXTURE_IN(source), global float4 *restrict lab, const int texels,
                         const int first_level) {
    const int level = first_level + (int)get_global_id(2), image = get_global_id(1);
    const int w = level_side(source_size.x, level), count = w * level_side(source_size.y, level);
    const int first = get_global_id(0) * RUN, n = min(RUN, count - first);
    if (n <= 0) return;
    const int start = image * texels + lab_offset(source_size, first_level, level) + first;
    float4 colours[RUN];
    for (int i = 0; i < n; ++i) {
        const int at = first + i;
        colours[i] = texel_fetch(source, at % w, at / w, image * source_size.z, level);
    }
    for (int i = 0; i < n; ++i) lab[start + i] = srgb_to_lab(colours[i].x, colours[i].y, colours[i].z);
}

/* ---- What stands out from the border ---- */

#define SIDES 4 /* top, bottom, left, right */
#define PITCH                                                                                                \
    (TVLM_SALIENCY_SIDE | 1)  /* odd, so that neither the texels of a row nor of a column share a bank */
#define PARTS (LANES / SIDES) /* of a side's sums, each one work-item's */

/* The colours along a side: their mean, and the factor of Cholesky of their covariance, its diagonal
 * inverted. */
typedef struct border_side {
    float4 mean, below, inverse; /* below: (1,0), (2,0), (2,1) */
} border_side;

/* Corner (x, y) and size (z, w) of a side's strip. */
inline int4 side_strip(int2 size, int side) {
    const int2 deep = min(max(max(size.x, size.y) / TVLM_SALIENCY_STRIP, 1), size);
    if (side < 2) return (int4)(0, side == 0 ? 0 : size.y - deep.y, size.x, deep.y);
    return (int4)(side == 2 ? 0 : size.x - deep.x, 0, deep.x, size.y);
}

/* Sums over every PARTS-th texel of a strip: of d = colour - mean, its squares, and its products 01, 02, 12.
 */
inline void strip_sums(global const float4 *restrict colours, int2 size, int4 strip, int part, float4 mean,
                       float4 *sum, float4 *squares, float4 *products) {
    *sum = *squares = *products = 0.0f;
    for (int i = part; i < strip.z * strip.w; i += PARTS) {
        const float4 d = colours[(strip.y + i / strip.z) * size.x + strip.x + i % strip.z] - mean;
        *sum += d;
        *squares += d * d;
        *products += d.xxyw * d.yzzw;
    }
}

/* Parts are added in their order, so that a device finds the same each time. */
inline float4 sum_parts(local const float4 *parts) {
    float4 sum = 0.0f;
    for (int part = 0; part < PARTS; ++part) sum += parts[part];
    return sum;
}

/* Cholesky of the covariance with SPREAD on its diagonal, which keeps it far from singular. */
inline border_side factorise(float4 mean, float4 squares, float4 products) {
    const float4 v = squares + TVLM_SALIENCY_SPREAD;
    border_side side = {mean, 0.0f, 0.0f};
    side.inverse.x = 1.0f / sqrt(v.x);
    side.below.x = products.x * side.inverse.x;
    side.below.y = products.y * side.inverse.x;
    side.inverse.y = 1.0f / sqrt(v.y - side.below.x * side.below.x);
    side.below.z = (products.z - side.below.y * side.below.x) * side.inverse.y;
    side.inverse.z = 1.0f / sqrt(v.z - side.below.y * side.below.y - side.below.z * side.below.z);
    return side;
}

/* `shared` has room for 2 * SIDES * PARTS; two means, so that nothing cancels. */
inline void border_sides(global const float4 *restrict colours, int2 size, local float4 *shared,
                         local border_side *sides) {
    const int lane = get_local_id(0);
    float4 sum, squares, products;
    for (int task = lane; task < SIDES * PARTS; task += LANES) {
        strip_sums(colours, size, side_strip(size, task / PARTS), task % PARTS, 0.0f, &sum, &squares,
                   &products);
        shared[task] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int side = lane; side < SIDES; side += LANES) {
        const int4 strip = side_strip(size, side);
        sides[side].mean = sum_parts(shared + side * PARTS) / (float)(strip.z * strip.w);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int task = lane; task < SIDES * PARTS; task += LANES) {
        const int side = task / PARTS;
        strip_sums(colours, size, side_strip(size, side), task % PARTS, sides[side].mean, &sum, &squares,
                   &products);
        shared[task] = squares;
        shared[SIDES * PARTS + task] = products;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int side = lane; side < SIDES; side += LANES) {
        const int4 strip = side_strip(size, side);
        const float count = (float)(strip.z * strip.w);
        sides[side] = factorise(sides[side].mean, sum_parts(shared + side * PARTS) / count,
                                sum_parts(shared + (SIDES + side) * PARTS) / count);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* The Mahalanobis distance of a colour from the nearest side's. */
inline float border_distance(float4 colour, local const border_side *sides) {
    float least = INFINITY;
    for (int side = 0; side < SIDES; ++side) {
        const border_side s = sides[side];
        const float4 d = colour - s.mean;
        const float x = d.x * s.inverse.x, y = (d.y - s.below.x * x) * s.inverse.y;
        const float z = (d.z - s.below.y * x - s.below.z * y) * s.inverse.z;
        least = min(least, x * x + y * y + z * z);
    }
    return sqrt(least);
}

inline float step_cost(float4 from, float4 to) {
    const float4 d = to - from;
    return max(sqrt(d.x * d.x + d.y * d.y + d.z * d.z) - TVLM_SALIENCY_STEP_FREE, 0.0f);
}

/*
 * There and back along each of `lines` lines of `steps` texels: a line is one work-item's, which carries the
 * cost in a register. costs[i * lines + line] is that of the step from texel i of a line to the next.
 */
inline void sweep(local float *path, int lines, int line_stride, int steps, int step_stride,
                  global const float *restrict costs) {
    for (int line = get_local_id(0); line < lines; line += LANES) {
        local float *at = path + line * line_stride;
        float best = at[0];
        for (int i = 1; i < steps; ++i) {
            best = min(at[i * step_stride], best + costs[(i - 1) * lines + line]);
            at[i * step_stride] = best;
        }
        for (int i = steps - 2; i >= 0; --i) {
            best = min(at[i * step_stride], best + costs[i * lines + line]);
            at[i * step_stride] = best;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/*
 * prior: for each image of the batch three planes of size.x * size.y: the result, and the costs of steps down
 * and (by columns) to the right. colours: the level's part of `lab`, `texels` from one image to the next.
 */
kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void
saliency_prior(global const float4 *restrict lab, const int texels, const int offset, const int2 size,
               global float *restrict prior) {
    local float4 shared[(TVLM_SALIENCY_SIDE * PITCH + 3) / 4]; /* the sums, then the paths */
    local border_side sides[SIDES];
    local int largest[2];
    local float *path = (local float *)shared;
    const int lane = get_local_id(0), image = get_global_id(1), count = size.x * size.y;
    global const float4 *restrict colours = lab + image * texels + offset;
    global float *restrict result = prior + image * 3 * count;
    global float *restrict down = result + count, *restrict across = down + count;
    if (lane < 1) largest[0] = largest[1] = 0;
    border_sides(colours, size, shared, sides);

    float most = 0.0f;
    for (int i = lane; i < count; i += LANES) {
        const int x = i % size.x, y = i / size.x;
        const bool outer = x == 0 || y == 0 || x == size.x - 1 || y == size.y - 1;
        const float4 colour = colours[i];
        const float distance = border_distance(colour, sides);
        result[i] = distance;
        most = max(most, distance);
        path[y * PITCH + x] = outer ? 0.0f : TVLM_SALIENCY_UNREACHED;
        if (y + 1 < size.y) down[i] = step_cost(colour, colours[i + size.x]);
        if (x + 1 < size.x) across[x * size.y + y] = step_cost(colour, colours[i + 1]);
    }
    atomic_max(&largest[0], as_int(most));
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

    for (int round = 0; round < TVLM_SALIENCY_ROUNDS; ++round) {
        sweep(path, size.x, 1, size.y, PITCH, down);
        sweep(path, size.y, PITCH, size.x, 1, across);
    }
    most = 0.0f;
    for (int i = lane; i < count; i += LANES) most = max(most, path[i / size.x * PITCH + i % size.x]);
    atomic_max(&largest[1], as_int(most));
    barrier(CLK_LOCAL_MEM_FENCE);
    const float border = max(as_float(largest[0]), TVLM_SALIENCY_BORDER_FLOOR);
    const float farthest = max(as_float(largest[1]), TVLM_SALIENCY_PATH_FLOOR);
    for (int i = lane; i < count; i += LANES)
        result[i] = path[i / size.x * PITCH + i % size.x] / farthest +
                    TVLM_SALIENCY_BORDER_WEIGHT * (result[i] / border);
}

/* ---- Contrast, and all together ---- */

/* Between which texels of a side a point u of [0, 1] lies, and how far. */
inline int2 between(float u, int side, float *fraction) {
    const float x = clamp(u * side - 0.5f, 0.0f, side - 1.0f);
    const int x0 = (int)x;
    *fraction = x - x0;
    return (int2)(x0, min(x0 + 1, side - 1));
}

/* Bilinear in one level of `lab`, at row v of RUN points u, all in [0, 1] of the image. */
inline void lab_row(global const float4 *restrict lab, int4 size, int first, int level, const float *u,
                    float v, float4 *values) {
    const int w = level_side(size.x, level), h = level_side(size.y, level);
    float ax, ay;
    const int2 y = between(v, h, &ay);
    lab += lab_offset(size, first, level);
    global const float4 *restrict top = lab + y.x * w, *restrict bottom = lab + y.y * w;
    for (int i = 0; i < RUN; ++i) {
        const int2 x = between(u[i], w, &ax);
        const float4 upper = top[x.x] + (top[x.y] - top[x.x]) * ax;
        const float4 lower = bottom[x.x] + (bottom[x.y] - bottom[x.x]) * ax;
        values[i] = upper + (lower - upper) * ay;
    }
}

/* The same in the prior. */
inline void prior_row(global const float *restrict prior, int2 size, const float *u, float v, float *values) {
    float ax, ay;
    const int2 y = between(v, size.y, &ay);
    global const float *restrict top = prior + y.x * size.x, *restrict bottom = prior + y.y * size.x;
    for (int i = 0; i < RUN; ++i) {
        const int2 x = between(u[i], size.x, &ax);
        const float upper = top[x.x] + (top[x.y] - top[x.x]) * ax;
        const float lower = bottom[x.x] + (bottom[x.y] - bottom[x.x]) * ax;
        values[i] = upper + (lower - upper) * ay;
    }
}

/* RUN texels of a row: what they have of each map, and the largest of each. */
inline float4 contrast_row(global const float4 *restrict lab, int4 source_size, int first, int last,
                           global const float *restrict prior, int2 prior_size, int2 size, int x, int y,
                           global float4 *restrict contrast) {
    float u[RUN], d[TVLM_SALIENCY_SCALES][RUN], apart_from_border[RUN];
    float4 centre[RUN], surround[RUN], most = 0.0f;
    const float v = (y + 0.5f) / size.y;
    for (int i = 0; i < RUN; ++i) u[i] = (min(x + i, size.x - 1) + 0.5f) / size.x;
    for (int s = 0; s < TVLM_SALIENCY_SCALES; ++s) {
        const int fine = min(FIRST + s, last), coarse = min(fine + TVLM_SALIENCY_SURROUND_STEP, last);
        lab_row(lab, source_size, first, fine, u, v, centre);
        lab_row(lab, source_size, first, coarse, u, v, surround);
        for (int i = 0; i < RUN; ++i) {
            const float4 apart = centre[i] - surround[i];
            const float square = apart.x * apart.x + apart.y * apart.y + apart.z * apart.z;
            d[s][i] = min(1.0f, sqrt(square) / TVLM_SALIENCY_RANGE);
        }
    }
    prior_row(prior, prior_size, u, v, apart_from_border);
    for (int i = 0; i < min(RUN, size.x - x); ++i) {
        const float mean = (d[0][i] + d[1][i] + d[2][i]) / TVLM_SALIENCY_SCALES;
        const float all = apart_from_border[i] + TVLM_SALIENCY_CONTRAST_WEIGHT * mean;
        const float4 value = (float4)(all, d[0][i], d[1][i], d[2][i]);
        contrast[y * size.x + x + i] = value;
        most = max(most, value);
    }
    return most;
}

/* Work-item RUN texels of a row; z is the image. */
kernel void saliency_contrast(global const float4 *restrict lab, const int4 source_size, const int texels,
                              const int first, const int last, global const float *restrict prior,
                              const int2 prior_size, const int2 size, global float4 *restrict contrast,
                              global int *restrict largest) {
    local int group_largest[4];
    const int x = get_global_id(0) * RUN, y = get_global_id(1), image = get_global_id(2);
    const int lane = get_local_id(1) * get_local_size(0) + get_local_id(0);
    if (lane < 4) group_largest[lane] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x < size.x && y < size.y) {
        const float4 most = contrast_row(lab + image * texels, source_size, first, last,
                                         prior + image * 3 * prior_size.x * prior_size.y, prior_size, size, x,
                                         y, contrast + image * size.x * size.y);
        atomic_max(&group_largest[0], as_int(most.x));
        atomic_max(&group_largest[1], as_int(most.y));
        atomic_max(&group_largest[2], as_int(most.z));
        atomic_max(&group_largest[3], as_int(most.w));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < 4) atomic_max(&largest[4 * image + lane], group_largest[lane]);
}

kernel void saliency_scale(global const float4 *restrict contrast, global const int *restrict largest,
                           TEXTURE_OUT(result)) {
    const int x = get_global_id(0), y = get_global_id(1), image = get_global_id(2);
    if (x >= result_size.x || y >= result_size.y) return;
    const float4 most = as_float4(vload4(image, largest));
    const float4 value = contrast[(image * result_size.y + y) * result_size.x + x];
    texel_store(result, x, y, image, most > TVLM_SALIENCY_FLOOR ? min(value / most, 1.0f) : (float4)(0.0f));
}
