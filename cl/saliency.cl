/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saliency.cl: four maps of what stands out, on a grid of a quarter of the image's size. Colours are L*a*b*,
 * read off the source's levels. Three maps are centre-surround contrast at three scales (Itti, Koch & Niebur
 * 1998). The first map, `saliency`, combines three cues:
 *
 *   - the mean of those contrasts;
 *   - how much a path from the image's border to the texel costs, where a step costs what its colour
 *     difference exceeds a free amount by (geodesic saliency: Wei, Wen, Zhu & Sun 2012);
 *   - the Mahalanobis distance of the colour from the colours along the border.
 *
 * The kernels run one after the other, with their results in scratch buffers:
 *
 *   1. saliency_lab converts the levels that are used to L*a*b*. One group converts the first level of at
 *      most TVLM_SALIENCY_SIDE texels a side. It then finds the two cues of the border there, since they need
 *      no other level.
 *   2. saliency_contrast finds the contrasts and combines the cues. It also finds the largest value of each
 *      map, by atomics on integers: floats that are not negative order like their bits.
 *   3. saliency_scale divides each map by its largest value in the image.
 *
 * The tricky step is the paths: work-items of one group sweep along whole lines of an image in local memory.
 * They go down and up, and then right and left, and all wait between the directions.
 */
// check-kernels: -DRUN=1 -DLANES=256
// check-kernels: -DRUN=16 -DLANES=16
#include "colour.clh"
#include "run.clh"
#include "texture.clh"

#define FIRST TVLM_SALIENCY_CENTRE_LEVEL

/* How many texels a work-item makes: 1 on GPUs, more on CPUs, where the loops over them vectorise. */
#ifndef RUN
#define RUN 1
#endif
/* How many rows a work-item of saliency_contrast makes: more on CPUs, where rows of coarse levels serve several. */
#if RUN > 1
#define ROWS 32
#else
#define ROWS 1
#endif
/* How many work-items a group of saliency_lab has, a multiple of SIDES. */
#ifndef LANES
#define LANES 256
#endif

/* How many texels of an image's part of `lab` lie before `level`. `first` is the first level in it. */
HELPER int lab_offset(int4 source_size, int first, int level) {
    int offset = 0;
    for (int n = first; n < level; ++n) offset += level_side(source_size.x, n) * level_side(source_size.y, n);
    return offset;
}

/* Writes `count` of RUN texels, in a loop of RUN turns where that is all of them. */
INLINED void run_put(global float4 *restrict to, const int count, const float *x, const float *y,
                     const float *z, const float *w) {
    global float *restrict at = (global float *)to;
    if (RUN == 1 || count == RUN)
        for (int i = 0; i < RUN; ++i) {
            at[4 * i] = x[i];
            at[4 * i + 1] = y[i];
            at[4 * i + 2] = z[i];
            at[4 * i + 3] = w[i];
        }
    else
        for (int i = 0; i < count; ++i) to[i] = (float4)(x[i], y[i], z[i], w[i]);
}

/* Converts texel `first` of a level, counted row after row, and the RUN - 1 texels after it, as far as the
 * level has them. So that compilers for CPUs vectorise the conversion, components lie in arrays of floats, and
 * loops have RUN turns. */
HELPER void to_lab(TEXTURE_IN(source), int slice, int level, int first, global float4 *restrict lab) {
    const int4 place = level_place_(TEXTURE(source), slice, level);
    const int count = min(RUN, place.x * place.y - first);
    float r[RUN], g[RUN], b[RUN], luma[RUN], x[RUN], y[RUN], z[RUN];
    if (RUN == 1 || count == RUN)
        run_load(source, place, slice, level, first, RUN, r, g, b, luma);
    else
        for (int i = 0; i < RUN; ++i)
            run_load(source, place, slice, level, first + min(i, count - 1), 1, r + i, g + i, b + i,
                     luma + i);
    for (int i = 0; i < RUN; ++i) {
        const float red = srgb_to_linear(r[i]), green = srgb_to_linear(g[i]), blue = srgb_to_linear(b[i]);
        x[i] = lab_curve(TVLM_XYZ_XR * red + TVLM_XYZ_XG * green + TVLM_XYZ_XB * blue);
        y[i] = lab_curve(TVLM_XYZ_YR * red + TVLM_XYZ_YG * green + TVLM_XYZ_YB * blue);
        z[i] = lab_curve(TVLM_XYZ_ZR * red + TVLM_XYZ_ZG * green + TVLM_XYZ_ZB * blue);
    }
    for (int i = 0; i < RUN; ++i) {
        r[i] = 116.0f * y[i] - 16.0f;
        g[i] = 500.0f * (x[i] - y[i]);
        b[i] = 200.0f * (y[i] - z[i]);
        luma[i] = 0.0f;
    }
    run_put(lab + first, count, r, g, b, luma);
}

/* ---- What stands out from the border ---- */

/* The sides of the border: top, bottom, left, right. */
#define SIDES 4
/* The stride of a row of paths in local memory. It is odd, so that neither the texels of a row nor those of a
 * column fall into one memory bank. */
#define PITCH (TVLM_SALIENCY_SIDE | 1)
/* How many work-items share the sums of a side: each of the group sums a part. */
#define PARTS (LANES / SIDES)

/*
 * A group goes through `count` things by a loop in which all of its work-items take as many turns, and ask in each whether
 * `n + lane` is below `count`. A loop from `lane` on, for (int i = lane; i < count; i += LANES), would be shorter, but PoCL 3.1
 * lets the first work-item decide for all whether a loop behind a barrier in an `if` is entered: on processors without
 * AVX-512 the others ran far beyond the end of a tiny image.
 */

/*
 * The colours along a side: their mean, and the Cholesky factor of their covariance. `below` has its elements
 * (1, 0), (2, 0) and (2, 1), and `inverse` one over its diagonal.
 */
typedef struct border_side {
    float4 mean, below, inverse;
} border_side;

/* The corner (x, y) and the size (z, w) of the strip of texels along a side. */
HELPER int4 side_strip(int2 size, int side) {
    const int2 deep = min(max(max(size.x, size.y) / TVLM_SALIENCY_STRIP, 1), size);
    if (side < 2) return (int4)(0, side == 0 ? 0 : size.y - deep.y, size.x, deep.y);
    return (int4)(side == 2 ? 0 : size.x - deep.x, 0, deep.x, size.y);
}

/* Sums over every PARTS-th texel of a strip. Let d be the colour less the mean: the sums are of d, of its
 * squares, and of its products L a, L b and a b. */
HELPER void strip_sums(global const float4 *restrict colours, int2 size, int4 strip, int part, float4 mean,
                       float4 *sum, float4 *squares, float4 *products) {
    *sum = *squares = *products = 0.0f;
    for (int i = part; i < strip.z * strip.w; i += PARTS) {
        const float4 d = colours[(strip.y + i / strip.z) * size.x + strip.x + i % strip.z] - mean;
        *sum += d;
        *squares += d * d;
        *products += d.xxyw * d.yzzw;
    }
}

/* The sum of all parts. They are added in their order, so that a device finds the same each time. */
HELPER float4 sum_parts(local const float4 *parts) {
    float4 sum = 0.0f;
    for (int part = 0; part < PARTS; ++part) sum += parts[part];
    return sum;
}

/* The Cholesky factor of a covariance. SPREAD is added to its diagonal, which keeps it far from singular. */
HELPER border_side factorise(float4 mean, float4 squares, float4 products) {
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

/*
 * Finds the colours along all four sides. All work-items of the group call it. It sums in two passes: first
 * for the means, and then the squares of what is left without them. So little is lost to rounding. `shared`
 * has room for 2 * LANES sums.
 */
HELPER void border_sides(global const float4 *restrict colours, int2 size, local float4 *shared,
                         local border_side *sides) {
    const int lane = get_local_id(0);
    float4 sum, squares, products;
    const int own = lane / PARTS, part = lane % PARTS;
    const int4 strip = side_strip(size, own);
    strip_sums(colours, size, strip, part, 0.0f, &sum, &squares, &products);
    shared[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (part == 0) sides[own].mean = sum_parts(shared + own * PARTS) / (float)(strip.z * strip.w);
    barrier(CLK_LOCAL_MEM_FENCE);
    strip_sums(colours, size, strip, part, sides[own].mean, &sum, &squares, &products);
    shared[lane] = squares;
    shared[LANES + lane] = products;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (part == 0) {
        const float count = (float)(strip.z * strip.w);
        sides[own] = factorise(sides[own].mean, sum_parts(shared + own * PARTS) / count,
                               sum_parts(shared + LANES + own * PARTS) / count);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* The Mahalanobis distance of a colour from the colours of the side that is nearest to it. */
HELPER float border_distance(float4 colour, local const border_side *sides) {
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

/* What a step between two colours costs: their distance less the free amount. */
HELPER float step_cost(float4 from, float4 to) {
    const float4 d = to - from;
    return max(sqrt(d.x * d.x + d.y * d.y + d.z * d.z) - TVLM_SALIENCY_STEP_FREE, 0.0f);
}

/* How many texels of a line are read before the first of them is looked at. On GPUs reads take far longer
 * than the chain of steps that waits for them. */
#define AHEAD (RUN == 1 ? 8 : 1)

/* Goes along `count` texels, `stride` apart, from a texel whose path costs `best`. It shortens their paths,
 * and returns what the path of the last one costs. costs[i * lines] is the cost of the step to texel i. */
HELPER float walk(local float *path, int stride, global const float *restrict costs, int lines, int count,
                  float best) {
    for (int i = 0; i < count; i += AHEAD) {
        float there[AHEAD], step[AHEAD];
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            const int at = min(i + k, count - 1);
            there[k] = path[at * stride];
            step[k] = costs[at * lines];
        }
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            if (i + k >= count) break;
            best = min(there[k], best + step[k]);
            path[(i + k) * stride] = best;
        }
    }
    return best;
}

/*
 * Shortens paths along each of `lines` lines of `steps` texels, there and back. One work-item goes along a
 * line, and carries the cost in a register. costs[i * lines + line] is the cost of the step from texel i of a
 * line to the next.
 */
HELPER void sweep(local float *path, int lines, int line_stride, int steps, int step_stride,
                  global const float *restrict costs) {
    for (int n = 0; n < lines; n += LANES) {
        const int line = n + (int)get_local_id(0);
        if (line >= lines) continue;
        local float *first = path + line * line_stride, *last = first + (steps - 2) * step_stride;
        global const float *there = costs + line, *back = there + (steps - 2) * lines;
        const float best = walk(first + step_stride, step_stride, there, lines, steps - 1, first[0]);
        walk(last, -step_stride, back, -lines, steps - 1, best);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/*
 * Finds the two cues of the border, each over its largest value in the image, and writes their weighted sum.
 * All work-items of a group call it for an image of size.x * size.y `colours`, since every texel can depend
 * on every other one.
 *
 * prior has three planes of size.x * size.y floats for each image: the result, the costs of steps down (row
 * after row), and the costs of steps to the right (column after column), so that work-items beside each other
 * read floats beside each other. `shared` holds the sums of border_sides first, and then the paths.
 */
HELPER void find_prior(global const float4 *restrict colours, int2 size, global float *restrict result,
                       local float4 *shared, local border_side *sides, local int *largest) {
    local float *path = (local float *)shared;
    const int lane = get_local_id(0), count = size.x * size.y;
    global float *restrict down = result + count, *restrict across = down + count;
    if (lane < 1) largest[0] = largest[1] = 0;
    border_sides(colours, size, shared, sides);

    float most = 0.0f;
    for (int n = 0; n < count; n += LANES) {
        const int i = n + lane;
        if (i >= count) continue;
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
    for (int n = 0; n < count; n += LANES) {
        const int i = n + lane;
        if (i < count) most = max(most, path[i / size.x * PITCH + i % size.x]);
    }
    atomic_max(&largest[1], as_int(most));
    barrier(CLK_LOCAL_MEM_FENCE);
    const float border = max(as_float(largest[0]), TVLM_SALIENCY_BORDER_FLOOR);
    const float farthest = max(as_float(largest[1]), TVLM_SALIENCY_PATH_FLOOR);
    for (int n = 0; n < count; n += LANES) {
        const int i = n + lane;
        if (i < count)
            result[i] = path[i / size.x * PITCH + i % size.x] / farthest +
                        TVLM_SALIENCY_BORDER_WEIGHT * (result[i] / border);
    }
}

/*
 * Converts levels first_level and up. `lab` holds those levels of image 0, then of image 1, and so on,
 * `texels` texels for each image.
 *
 *   - Groups (n, image, 0) are for level prior_level. The first of them converts it, and finds the cues of
 *     the border there. Its first work-item also clears the largest values of the image, which
 *     saliency_contrast finds.
 *   - The other groups are for the levels that are left, the coarsest first. Their work-items convert RUN
 *     texels each; those beyond the end of a smaller level have nothing to do.
 *
 * So the cues of the border, which take longest, begin first. And on a CPU the finest level, which is most of
 * the work, does not wait behind them on the same core.
 */
kernel __attribute__((reqd_work_group_size(LANES, 1, 1))) void
saliency_lab(TEXTURE_IN(source), global float4 *restrict lab, const int texels, const int first_level,
             const int prior_level, global float *restrict prior, global int *restrict largest) {
    local float4 shared[(TVLM_SALIENCY_SIDE * PITCH + 3) / 4];
    local border_side sides[SIDES];
    local int most[2];
    const int z = get_group_id(2), image = get_global_id(1), slice = image * source_size.z;
    const int other = first_level + (int)get_num_groups(2) - z;
    const int level = z == 0 ? prior_level : other - (other <= prior_level);
    const int2 size = (int2)(level_side(source_size.x, level), level_side(source_size.y, level));
    const int count = size.x * size.y;
    const bool finds = z == 0 && get_group_id(0) == 0;
    /* There is one call, so that the conversion is inlined once. Where the level lies in `lab` is not asked by
     * the many work-items of coarse levels that have nothing to do. */
    if (z > 0 || finds)
        for (int first = get_global_id(0) * RUN; first < count; first += finds ? LANES * RUN : count)
            to_lab(TEXTURE(source), slice, level, first,
                   lab + image * texels + lab_offset(source_size, first_level, level));
    if (finds) {
        global float4 *restrict colours = lab + image * texels + lab_offset(source_size, first_level, level);
        if (get_local_id(0) == 0) vstore4((int4)(0), image, largest);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        find_prior(colours, size, prior + image * 3 * count, shared, sides, most);
    }
}

/* ---- Contrast, and all together ---- */

/* The two texels of `side` texels between which a point u in [0, 1] lies, and how far it is from the
 * first. */
HELPER int2 between(float u, int side, float *fraction) {
    const float x = clamp(u * side - 0.5f, 0.0f, side - 1.0f);
    const int x0 = (int)x;
    *fraction = x - x0;
    return (int2)(x0, min(x0 + 1, side - 1));
}

/* Colours at RUN points of a row, component by component. */
typedef struct colours {
    float l[RUN], a[RUN], b[RUN];
} colours;

/* Where RUN points of a row lie in a level: the texels between which each lies, and how far it is from the
 * left one. Where `centred`, the points are the middles of RUN texels beside each other. */
typedef struct columns {
    int left[RUN], right[RUN];
    float along[RUN];
    bool centred;
} columns;

/*
 * A level of `lab` that is read at a block of points. Each of its rows is interpolated along x once, and serves
 * all rows of points that lie beside it. The colours of row `row` are in `above`, and those of the next one, or
 * of the last row, in `below`.
 */
typedef struct lab_level {
    global const float4 *texels;
    int2 size;
    columns at;
    int row;
    colours above, below;
} lab_level;

/* The points are shares u[i] of the width. */
INLINED void find_columns(columns *at, const float *u, int width) {
    for (int i = 0; i < RUN; ++i) {
        const int2 x = between(u[i], width, &at->along[i]);
        at->left[i] = x.x;
        at->right[i] = x.y;
    }
    at->centred = false;
}

INLINED void begin_level(lab_level *level, global const float4 *lab, int4 source_size, int first, int number,
                         const float *u) {
    level->size = (int2)(level_side(source_size.x, number), level_side(source_size.y, number));
    level->texels = lab + lab_offset(source_size, first, number);
    level->row = -2;
    find_columns(&level->at, u, level->size.x);
}

INLINED void read_colours(global const float4 *restrict row, const columns *at, colours *to) {
    if (at->centred) {
        global const float *from = (global const float *)(row + at->left[0]);
        for (int i = 0; i < RUN; ++i) {
            to->l[i] = from[4 * i];
            to->a[i] = from[4 * i + 1];
            to->b[i] = from[4 * i + 2];
        }
        return;
    }
    for (int i = 0; i < RUN; ++i) {
        const float4 left = row[at->left[i]], value = left + (row[at->right[i]] - left) * at->along[i];
        to->l[i] = value.x;
        to->a[i] = value.y;
        to->b[i] = value.z;
    }
}

/* Goes on to the row of points at share v of the height, and returns how far it lies from `above`. */
INLINED float seek_row(lab_level *level, float v) {
    float fraction;
    const int2 y = between(v, level->size.y, &fraction);
    if (y.x == level->row) return fraction;
    if (ROWS > 1 && y.x == level->row + 1)
        level->above = level->below;
    else
        read_colours(level->texels + y.x * level->size.x, &level->at, &level->above);
    read_colours(level->texels + y.y * level->size.x, &level->at, &level->below);
    level->row = y.x;
    return fraction;
}

/* The value between two others. */
HELPER float mix_of(float from, float to, float fraction) {
    return from + (to - from) * fraction;
}

/* The contrasts of a scale at a block of points: shares u[i] of the width, and v[j] of the height. A centre is at
 * level FIRST + scale, and its surround some levels coarser; neither goes beyond the `last` level of the
 * source. `whole`: the block lies inside the maps, which have `size` texels. */
INLINED void contrast_scale(global const float4 *lab, int4 source_size, int first, int last, int scale,
                            const float *u, const float *v, int2 size, bool whole, float *contrasts) {
    lab_level centre, surround;
    const int fine = min(FIRST + scale, last), coarse = min(fine + TVLM_SALIENCY_SURROUND_STEP, last);
    begin_level(&centre, lab, source_size, first, fine, u);
    begin_level(&surround, lab, source_size, first, coarse, u);
    if (RUN > 1 && whole && centre.size.x == size.x) {
        centre.at.left[0] = (int)(u[0] * size.x);
        centre.at.centred = true;
    }
    for (int j = 0; j < ROWS; ++j) {
        const float p = seek_row(&centre, v[j]), q = seek_row(&surround, v[j]);
        for (int i = 0; i < RUN; ++i) {
            const float l = mix_of(centre.above.l[i], centre.below.l[i], p) -
                            mix_of(surround.above.l[i], surround.below.l[i], q);
            const float a = mix_of(centre.above.a[i], centre.below.a[i], p) -
                            mix_of(surround.above.a[i], surround.below.a[i], q);
            const float b = mix_of(centre.above.b[i], centre.below.b[i], p) -
                            mix_of(surround.above.b[i], surround.below.b[i], q);
            contrasts[j * RUN + i] = min(1.0f, sqrt(l * l + a * a + b * b) * (1.0f / TVLM_SALIENCY_RANGE));
        }
    }
}

/* The cues of the border at a block of points. */
INLINED void read_prior(global const float *restrict prior, int2 size, const float *u, const float *v,
                        float *values) {
    columns at;
    float above[RUN], below[RUN];
    int row = -2;
    find_columns(&at, u, size.x);
    for (int j = 0; j < ROWS; ++j) {
        float fraction;
        const int2 y = between(v[j], size.y, &fraction);
        global const float *top = prior + y.x * size.x, *bottom = prior + y.y * size.x;
        if (y.x != row)
            for (int i = 0; i < RUN; ++i) {
                above[i] = mix_of(top[at.left[i]], top[at.right[i]], at.along[i]);
                below[i] = mix_of(bottom[at.left[i]], bottom[at.right[i]], at.along[i]);
            }
        row = y.x;
        for (int i = 0; i < RUN; ++i) values[j * RUN + i] = mix_of(above[i], below[i], fraction);
    }
}

/*
 * Makes a block of RUN x ROWS texels, each (saliency, three contrasts), as far as they lie in the maps, and
 * returns the bits of the largest value of each component. No value is below 0, so that floats order like their
 * bits; of integers compilers vectorise the maximum.
 */
HELPER int4 contrast_block(global const float4 *restrict lab, int4 source_size, int first, int last,
                           global const float *restrict prior, int2 prior_size, int2 size, int left, int top,
                           global float4 *restrict contrast) {
    const int columns = min(RUN, size.x - left), rows = min(ROWS, size.y - top);
    float u[RUN], v[ROWS], maps[1 + TVLM_SALIENCY_SCALES][ROWS * RUN];
    int all[RUN], fine[RUN], mid[RUN], coarse[RUN]; /* the largest values, each of every RUN-th texel */
    for (int i = 0; i < RUN; ++i) u[i] = (min(left + i, size.x - 1) + 0.5f) / size.x;
    for (int j = 0; j < ROWS; ++j) v[j] = (min(top + j, size.y - 1) + 0.5f) / size.y;
    read_prior(prior, prior_size, u, v, maps[0]);
    for (int s = 0; s < TVLM_SALIENCY_SCALES; ++s)
        contrast_scale(lab, source_size, first, last, s, u, v, size, columns == RUN, maps[1 + s]);
    for (int i = 0; i < RUN; ++i) all[i] = fine[i] = mid[i] = coarse[i] = 0;
    for (int j = 0; j < ROWS; ++j)
        for (int i = 0; i < RUN; ++i) {
            const int k = j * RUN + i;
            const float mean = (maps[1][k] + maps[2][k] + maps[3][k]) * (1.0f / TVLM_SALIENCY_SCALES);
            maps[0][k] += TVLM_SALIENCY_CONTRAST_WEIGHT * mean;
            all[i] = max(all[i], as_int(maps[0][k]));
            fine[i] = max(fine[i], as_int(maps[1][k]));
            mid[i] = max(mid[i], as_int(maps[2][k]));
            coarse[i] = max(coarse[i], as_int(maps[3][k]));
        }
    for (int j = 0; j < rows; ++j) {
        const int k = j * RUN;
        run_put(contrast + (top + j) * size.x + left, columns, maps[0] + k, maps[1] + k, maps[2] + k,
                maps[3] + k);
    }
    int4 most = 0;
    for (int i = 0; i < RUN; ++i) most = max(most, (int4)(all[i], fine[i], mid[i], coarse[i]));
    return most;
}

/*
 * Makes all texels of the four maps before scaling, and the largest value of each map: largest[4 * image +
 * map], as the bits of a float, which begin as 0. Work-item (n, m, image) makes a block of RUN texels of ROWS
 * rows. first and last are the levels in `lab`. No work-item returns before the barriers.
 */
kernel void saliency_contrast(global const float4 *restrict lab, const int4 source_size, const int texels,
                              const int first, const int last, global const float *restrict prior,
                              const int2 prior_size, const int2 size, global float4 *restrict contrast,
                              global int *restrict largest) {
    local int group_largest[4];
    const int left = get_global_id(0) * RUN, top = get_global_id(1) * ROWS, image = get_global_id(2);
    const bool leads = get_local_id(0) == 0 && get_local_id(1) == 0;
    if (leads) vstore4((int4)(0), 0, group_largest);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (left < size.x && top < size.y) {
        const int4 most = contrast_block(lab + image * texels, source_size, first, last,
                                         prior + image * 3 * prior_size.x * prior_size.y, prior_size, size,
                                         left, top, contrast + image * size.x * size.y);
        atomic_max(&group_largest[0], most.x);
        atomic_max(&group_largest[1], most.y);
        atomic_max(&group_largest[2], most.z);
        atomic_max(&group_largest[3], most.w);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (leads)
        for (int map = 0; map < 4; ++map) atomic_max(&largest[4 * image + map], group_largest[map]);
}

/* Writes each map over its largest value. A map whose largest value is below TVLM_SALIENCY_FLOOR is flat, and
 * becomes 0. Work-item (x, y, image) makes one texel. */
kernel void saliency_scale(global const float4 *restrict contrast, global const int *restrict largest,
                           TEXTURE_OUT(result)) {
    const int x = get_global_id(0), y = get_global_id(1), image = get_global_id(2);
    if (x >= result_size.x || y >= result_size.y) return;
    const float4 most = as_float4(vload4(image, largest));
    const float4 value = contrast[(image * result_size.y + y) * result_size.x + x];
    texel_store(result, x, y, image, most > TVLM_SALIENCY_FLOOR ? min(value / most, 1.0f) : (float4)(0.0f));
}
