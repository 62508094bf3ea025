/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.cl: dense optical flow between two images, from their luma, coarse to fine. The method is that of DIS
 * (Kroeger, Timofte, Dai & Van Gool 2016) with the variational refinement of Brox, Bruhn, Papenberg &
 * Weickert (2004); constants.h names all sources at TVLM_FLOW_*.
 *
 *   1. flow_planes copies luma from the sources into plain planes, once for all levels.
 *   On each level, from the coarsest to the finest:
 *   2. flow_patches moves square patches of the one image to where they fit the other one best. It begins
 *      with the coarser level's flow, and takes Gauss-Newton steps (inverse-compositional: the Hessian is
 *      that of the template).
 *   3. flow_densify blends the four patches over each texel into a flow.
 *   4. flow_refine sets up the linear equations of the refinement, and takes some sweeps towards their
 *      solution. The host repeats it a few times (tvlm_flow_refinements).
 *   At the end:
 *   5. flow_result makes pixels of the image out of the flow, and a confidence from the flow in both
 *      directions and the images' difference along it.
 *
 * What the kernels share:
 *
 *   - `planes` holds the levels of luma of the one image, then those of the other, `total` floats each. A
 *     level has a border of PAD replicated texels on each side, so that patches can reach out of the image.
 *   - A `level` argument is (width, height, row stride, index of texel (0, 0) in the plane).
 *   - A launch makes both directions, down to the level whose backward flow is kept for the confidence. On
 *     finer levels it makes the forward direction alone. In direction d, plane d is the template, 1 - d the
 *     target.
 *   - A flow is two planes of width * height floats, u and then v, in texels of its level. The flows of the
 *     two directions lie `half_` floats apart.
 */
#include "flow.clh"
#include "tile.clh"

// check-kernels: -DRUN=1 -DLANES=8 -DROWS=1
// check-kernels: -DRUN=16 -DLANES=1 -DROWS=4 -DGROUP_W=1 -DGROUP_H=1 -DTILE_W=64 -DTILE_H=16
// check-kernels: -DGRID=1

/* How many texels a work-item of flow_planes makes. */
#ifndef RUN
#define RUN 1
#endif
/* How many work-items share a patch in flow_patches: 8 on GPUs, 1 on CPUs. */
#ifndef LANES
#define LANES 8
#endif
/* How many rows of four texels a work-item of flow_densify makes: 1 on GPUs, 4 on CPUs. */
#ifndef ROWS
#define ROWS 1
#endif

/* ---- Planes ---- */

/*
 * Writes the planes of both images, level after level from levels.x to levels.y. A row's stride is a multiple
 * of 16 floats. images = the image of `from` and the image of `to` in their batches. Work-item (n, which)
 * makes RUN texels of one image's plane; a plane has `total` of them.
 */
kernel void flow_planes(TEXTURE_IN(from), TEXTURE_IN(to), const int2 images, const int2 levels,
                        const int total, global float *restrict planes) {
    const int index = get_global_id(0) * RUN, which = get_global_id(1);
    int level = levels.x, begin = 0, stride = 0;
    if (index >= total) return;
    for (;; ++level) {
        stride = (level_side(from_size.x, level) + 2 * PAD + 15) & ~15;
        const int size = stride * (level_side(from_size.y, level) + 2 * PAD);
        if (level == levels.y || index < begin + size) break;
        begin += size;
    }
    const int y = (index - begin) / stride - PAD, x = (index - begin) % stride - PAD;
    global float *const out = planes + which * total + index;
    if (which == 0) {
        const int slice = images.x * from_size.z;
        const int4 place = level_place_(TEXTURE(from), slice, level);
        for (int i = 0; i < RUN; ++i)
            out[i] = texel_fetch_at_(TEXTURE(from), place, slice, level, x + i, y).w;
    } else {
        const int slice = images.y * to_size.z;
        const int4 place = level_place_(TEXTURE(to), slice, level);
        for (int i = 0; i < RUN; ++i) out[i] = texel_fetch_at_(TEXTURE(to), place, slice, level, x + i, y).w;
    }
}

/* ---- Patches ---- */

/* The patches that a work-group of 64 has. */
#define PATCHES (64 / LANES)

/*
 * A work-item has all rows of a patch. On CPUs it has all columns, too. On GPUs it has one column, so that
 * the PATCH work-items that share a patch read texels beside each other. `columns` holds a work-item's part
 * of a row. Both kinds of device add up each column first, and then the columns in the same order.
 */
#if LANES == 1
typedef float8 columns;
#define LOAD(at) vload8(0, at)
#else
typedef float columns;
#define LOAD(at) (*(at))
#endif

/* The sum of the components. */
HELPER float sum8(float8 v) {
    const float4 s = v.lo + v.hi;
    return (s.x + s.y) + (s.z + s.w);
}

/* Three sums over a patch, as far as this work-item's columns go. */
typedef struct column_sums {
    columns x, y, z;
} column_sums;

/* The sums over all columns of a patch. All work-items of the group must call it, since it has barriers. */
HELPER float4 share(column_sums mine, local float4 *board) {
#if LANES == 1
    return (float4)(sum8(mine.x), sum8(mine.y), sum8(mine.z), 0.0f);
#else
    const int lane = get_local_id(0);
    local const float4 *b = board + lane / LANES * LANES;
    barrier(CLK_LOCAL_MEM_FENCE);
    board[lane] = (float4)(mine.x, mine.y, mine.z, 0.0f);
    barrier(CLK_LOCAL_MEM_FENCE);
    return ((b[0] + b[4]) + (b[1] + b[5])) + ((b[2] + b[6]) + (b[3] + b[7]));
#endif
}

/* The first texel of patch `index` = (i, j). A patch that would reach out of the image is moved inside. */
HELPER int2 patch_origin(int2 index, int4 level) {
    return clamp((index - 1) * STRIDE, (int2)(0), max((int2)(level.x, level.y) - PATCH, (int2)(0)));
}

/* Where a patch that begins at `origin` stands in the target after `step`. It is clamped so that the patch
 * stays within the border. */
HELPER float2 patch_place(float2 origin, float2 step, int4 level) {
    return clamp(origin + step, (float2)(-PAD), (float2)(level.x, level.y) + (float2)(PAD - PATCH - 2));
}

/*
 * Compares a patch with the target at `step`. With d, the differences less their mean, it returns the sums of
 * d^2, of d gx and of d gy. texels, gx and gy are what this work-item has of the template's rows; `column` is
 * the first of its columns.
 */
HELPER float4 compare(global const float *target, int4 level, float2 origin, float2 step, int column,
                      const columns *texels, const columns *gx, const columns *gy, local float4 *board) {
    const float2 place = patch_place(origin, step, level), corner = floor(place), part = place - corner;
    global const float *at = target + level.w + (int)corner.y * level.z + (int)corner.x + column;
    columns top = LOAD(at) + (LOAD(at + 1) - LOAD(at)) * part.x;
    columns d[PATCH];
    column_sums sum = {0.0f, 0.0f, 0.0f}, sums = {0.0f, 0.0f, 0.0f};
#pragma unroll
    for (int i = 0; i < PATCH; ++i) {
        at += level.z;
        const columns bottom = LOAD(at) + (LOAD(at + 1) - LOAD(at)) * part.x;
        d[i] = top + (bottom - top) * part.y - texels[i];
        sum.x += d[i];
        top = bottom;
    }
    /* The mean is subtracted before squaring: where the images differ by much more than their texture, a
     * difference of two sums would be all rounding. */
    const float mean = share(sum, board).x * (1.0f / (PATCH * PATCH));
#pragma unroll
    for (int i = 0; i < PATCH; ++i) {
        const columns own = d[i] - mean;
        sums.x += own * own;
        sums.y += own * gx[i];
        sums.z += own * gy[i];
    }
    return share(sums, board);
}

/* Whether an error is less than another by more than rounding makes. */
HELPER bool better(float error, float least) {
    return error < TVLM_FLOW_GAIN * least - TVLM_FLOW_NOTHING;
}

/* The coarser level's flow at a point of this level; both are in texels of this level. */
HELPER float2 coarser_at(global const float *flow, int2 size, int4 level, float2 at) {
    const float2 scale = (float2)((float)level.x / size.x, (float)level.y / size.y);
    return flow_at(flow, size, at.x / scale.x - 0.5f, at.y / scale.y - 0.5f) * scale;
}

/*
 * Finds the step of each patch: patches[direction * count + j * counts.x + i], in texels of the level.
 * `coarser` is the coarser level's flow of coarser_size texels, the directions coarser_half floats apart;
 * coarser_size.x is 0 on the coarsest level, where patches begin with a step of 0. LANES work-items share a
 * patch; y of the launch is the direction. In the last group, work-items beyond the last patch repeat that
 * patch, since they must pass the barriers of the others.
 */
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void
flow_patches(global const float *restrict planes, const int total, const int4 level,
             global const float *restrict coarser, const int2 coarser_size, const int coarser_half,
             const int2 counts, global float2 *restrict patches) {
    local float4 board[64];
    const int patch_count = counts.x * counts.y, direction = get_global_id(1);
    const int wanted = (int)get_group_id(0) * PATCHES + (int)get_local_id(0) / LANES;
    const int patch = min(wanted, patch_count - 1), column = (int)get_local_id(0) % LANES;
    global const float *target = planes + (1 - direction) * total;
    const int2 corner = patch_origin((int2)(patch % counts.x, patch / counts.x), level);
    const float2 origin = convert_float2(corner);

    columns texels[PATCH], gx[PATCH], gy[PATCH];
    column_sums sums = {0.0f, 0.0f, 0.0f}, squares = {0.0f, 0.0f, 0.0f};
    global const float *at = planes + direction * total + level.w + corner.y * level.z + corner.x + column;
#pragma unroll
    for (int i = 0; i < PATCH; ++i, at += level.z) {
        texels[i] = LOAD(at);
        gx[i] = 0.5f * (LOAD(at + 1) - LOAD(at - 1));
        gy[i] = 0.5f * (LOAD(at + level.z) - LOAD(at - level.z));
        sums.x += gx[i];
        sums.y += gy[i];
    }
    const float4 means = share(sums, board) * (1.0f / (PATCH * PATCH));
#pragma unroll
    for (int i = 0; i < PATCH; ++i) {
        gx[i] -= means.x;
        gy[i] -= means.y;
        squares.x += gx[i] * gx[i];
        squares.y += gx[i] * gy[i];
        squares.z += gy[i] * gy[i];
    }
    const float4 hessian = share(squares, board);
    const float regular = TVLM_FLOW_REGULAR + TVLM_FLOW_CONDITION * (hessian.x + hessian.z);
    const float a = hessian.x + regular, b = hessian.y, c = hessian.z + regular;
    const float inverse = 1.0f / (a * c - b * b);

    /* A patch starts from the coarser level's flow at its centre or SPREAD to one of the four sides,
     * whichever fits best. */
    float2 best = 0.0f;
    float4 least = 0.0f;
    if (coarser_size.x > 0) {
        global const float *flow = coarser + direction * coarser_half;
        const float2 centre = origin + 0.5f * PATCH;
        for (int i = 0; i < 5; ++i) {
            const float2 aside = (float2)((i == 2) - (i == 1), (i == 4) - (i == 3)) * TVLM_FLOW_SPREAD;
            const float2 start = coarser_at(flow, coarser_size, level, centre + aside);
            const float4 error = compare(target, level, origin, start, column, texels, gx, gy, board);
            if (i == 0 || better(error.x, least.x)) {
                best = start;
                least = error;
            }
        }
    } else {
        least = compare(target, level, origin, best, column, texels, gx, gy, board);
    }
    /* No work-item leaves early, since those of other patches wait in `share`. A patch takes steps as long as
     * its error falls and it stays within PATCH texels of its start. */
    const float2 start = best;
    bool falling = true;
    const int steps = coarser_size.x > 0 ? TVLM_FLOW_STEPS : TVLM_FLOW_FIRST;
    for (int i = 0; i < steps; ++i) {
        const float2 next = best - (float2)(c * least.y - b * least.z, a * least.z - b * least.y) * inverse;
        const float4 error = compare(target, level, origin, next, column, texels, gx, gy, board);
        const float2 moved = fabs(next - start);
        falling = falling && better(error.x, least.x) && fmax(moved.x, moved.y) <= PATCH;
        if (falling) {
            best = next;
            least = error;
        }
    }
    if (column == 0 && wanted < patch_count) patches[direction * patch_count + patch] = best;
}

/*
 * Finds the flow of ROWS rows of STRIDE texels that lie under the same four patches: the mean of these
 * patches' steps, weighted by the inverse of their absolute differences at each texel. The first texel of the
 * first row is texel `first` of column STRIDE * column; counts = patches in a row and rows of patches.
 */
HELPER void blend_patches(global const float *planes, int total, int4 level, global const float2 *patches,
                          int2 counts, int direction, int column, int first, float4 *us, float4 *vs) {
    const int x = column * STRIDE, row = first / STRIDE;
    global const float *of = planes + direction * total + level.w,
                       *target = planes + (1 - direction) * total + level.w;
    float4 weights[ROWS];
    for (int i = 0; i < ROWS; ++i) weights[i] = us[i] = vs[i] = 0.0f;
    for (int n = 0; n < 4; ++n) {
        const int px = column + (n & 1), py = row + (n >> 1);
        const float2 step = patches[direction * counts.x * counts.y + py * counts.x + px];
        const int2 origin = patch_origin((int2)(px, py), level);
        const float2 place = patch_place(convert_float2(origin), step, level), corner = floor(place),
                     part = place - corner;
        global const float *at =
            target + ((int)corner.y + first - origin.y) * level.z + (int)corner.x + x - origin.x;
        float4 top = vload4(0, at) + (vload4(0, at + 1) - vload4(0, at)) * part.x;
        for (int i = 0; i < ROWS; ++i) {
            at += level.z;
            const float4 bottom = vload4(0, at) + (vload4(0, at + 1) - vload4(0, at)) * part.x;
            const float4 d = fabs(top + (bottom - top) * part.y - vload4(0, of + (first + i) * level.z + x));
            const float4 weight = 1.0f / fmax(d, (float4)(TVLM_FLOW_FLOOR));
            weights[i] += weight;
            us[i] += weight * step.x;
            vs[i] += weight * step.y;
            top = bottom;
        }
    }
    for (int i = 0; i < ROWS; ++i) {
        us[i] /= weights[i];
        vs[i] /= weights[i];
    }
}

/* Makes the flow at every texel from the patches over it. Work-item (i, n, direction) makes STRIDE x ROWS
 * texels. */
kernel void flow_densify(global const float *restrict planes, const int total, const int4 level,
                         global const float2 *restrict patches, const int2 counts, const int half_,
                         global float *restrict flow) {
    const int column = get_global_id(0), first = get_global_id(1) * ROWS, direction = get_global_id(2);
    const int x = column * STRIDE;
    if (x >= level.x || first >= level.y) return;
    float4 us[ROWS], vs[ROWS];
    blend_patches(planes, total, level, patches, counts, direction, column, first, us, vs);
    global float *out = flow + direction * half_;
    const int area = level.x * level.y;
    for (int i = 0; i < min(ROWS, level.y - first); ++i) {
        float u[4], v[4];
        vstore4(us[i], 0, u);
        vstore4(vs[i], 0, v);
        for (int k = 0; k < min(4, level.x - x); ++k) {
            out[(first + i) * level.x + x + k] = u[k];
            out[area + (first + i) * level.x + x + k] = v[k];
        }
    }
}

/* ---- Refinement ---- */

/*
 * The equations of the refinement. At every texel, with sums over the four neighbours' weights w and their
 * flow (u, v)':
 *
 *     (A + sum w) (u, v) = r + sum w (u, v)'
 *
 * They are the Euler-Lagrange equations of Brox et al., with constraints on brightness and gradient and a
 * smoothness term. The constraints are normalised as by Zimmer, Bruhn & Weickert (2011). Robust norms and
 * images are linearised at the flow found so far. SWEEPS sweeps of Chebyshev's semi-iteration (over Jacobi's)
 * lead towards the solution.
 *
 * A sweep reads only the last values of a texel's four neighbours, and the equations read two texels around.
 * So a tile with BORDER texels around it gives exactly the values that equations and sweeps over the whole
 * image would give. A group keeps the flow of its tile and border in local memory. It keeps the equations in
 * a part of `systems` of its own, which has SYSTEM_PLANES planes of BORDERED(BORDER) floats: three for the
 * symmetric inverse of A + sum w, two for r, and one for the weight w between a texel and those to its right
 * and below.
 */
#define SWEEPS        TVLM_FLOW_SWEEPS
#define BORDER        (SWEEPS + 2)
#define SYSTEM_PLANES 6

/* Loops over this work-item's texels (x, y) of the image that lie in the tile or within `border` of it; `at`
 * is the index of a texel in local memory and in a plane of equations. */
#define FOR_NEAR(border, x, y)                                                                               \
    for (int y = max(0, TILE_Y - (border)) + (int)get_local_id(1);                                           \
         y < min(level.y, TILE_Y + TILE_H + (border)); y += GROUP_H)                                         \
        for (int x = max(0, TILE_X - (border)) + (int)get_local_id(0);                                       \
             x < min(level.x, TILE_X + TILE_W + (border)); x += GROUP_W)
#define NEAR_AT(x, y) BORDERED_AT(BORDER, (x)-TILE_X + BORDER, (y)-TILE_Y + BORDER)

/* How many columns of STRIDE texels the tile with its border touches, and in which one its border begins. */
#define TILE_COLUMNS ((BORDERED_W(BORDER) + STRIDE - 1) / STRIDE + 1)
#define FIRST_COLUMN (TILE_X / STRIDE - (BORDER + STRIDE - 1) / STRIDE)

/* The equations of a tile with its border, a plane for each member. */
typedef struct equations {
    global float *i11, *i12, *i22, *r1, *r2, *weight;
} equations;

/* The equations of this work-group's tile. */
HELPER equations own_equations(global float *systems, int direction) {
    const int group =
        (direction * (int)get_num_groups(1) + TILE_Y / TILE_H) * (int)get_num_groups(0) + TILE_X / TILE_W;
    /* Tiles overlap, so that all equations of a large image are more floats than an int counts. */
    global float *const own = systems + (size_t)group * (SYSTEM_PLANES * BORDERED(BORDER));
    const equations e = {own,
                         own + BORDERED(BORDER),
                         own + 2 * BORDERED(BORDER),
                         own + 3 * BORDERED(BORDER),
                         own + 4 * BORDERED(BORDER),
                         own + 5 * BORDERED(BORDER)};
    return e;
}

/* Sets u and v, where they lie in the image, to the flow found so far. */
INLINED void take_flow(global const float *flow, int4 level, local float *u, local float *v) {
    FOR_NEAR(BORDER, x, y) {
        u[NEAR_AT(x, y)] = flow[y * level.x + x];
        v[NEAR_AT(x, y)] = flow[level.x * level.y + y * level.x + x];
    }
}

/* Sets u and v, where they lie in the image, to the flow of the patches. */
INLINED void take_patches(global const float *planes, int total, int4 level, global const float2 *patches,
                          int2 counts, int direction, local float *u, local float *v) {
    for (int ty = get_local_id(1); ty < BORDERED_H(BORDER); ty += GROUP_H)
        for (int i = get_local_id(0); i < TILE_COLUMNS; i += GROUP_W) {
            const int y = TILE_Y + ty - BORDER, column = FIRST_COLUMN + i;
            if (y < 0 || y >= level.y || column < 0 || column * STRIDE >= level.x) continue;
            float4 us[ROWS], vs[ROWS];
            float row_u[4], row_v[4];
            blend_patches(planes, total, level, patches, counts, direction, column, y, us, vs);
            vstore4(us[0], 0, row_u);
            vstore4(vs[0], 0, row_v);
            for (int k = 0; k < STRIDE; ++k) {
                const int x = column * STRIDE + k, tx = x - TILE_X + BORDER;
                if (x >= level.x || tx < 0 || tx >= BORDERED_W(BORDER)) continue;
                u[NEAR_AT(x, y)] = row_u[k];
                v[NEAR_AT(x, y)] = row_v[k];
            }
        }
}

/* Repeats the flow of the image's edge beyond it. Finds the mean of both images' luma along the flow, and
 * their difference. */
INLINED void look_along(global const float *of, global const float *target, int4 level, local float *u,
                        local float *v, local float *mean, local float *change) {
    FOR_BORDERED(BORDER, tx, ty) {
        const int x = clamp(TILE_X + tx - BORDER, 0, level.x - 1),
                  y = clamp(TILE_Y + ty - BORDER, 0, level.y - 1);
        const int at = BORDERED_AT(BORDER, tx, ty), edge = NEAR_AT(x, y);
        const float du = u[edge], dv = v[edge];
        const float value = TVLM_FLOW_LUMA * plane_at(target, level, x + du, y + dv);
        const float own = TVLM_FLOW_LUMA * of[level.w + y * level.z + x];
        if (at != edge) { /* another work-item may be reading texels inside */
            u[at] = du;
            v[at] = dv;
        }
        mean[at] = 0.5f * (value + own);
        change[at] = value - own;
    }
}

/* Finds the weights of the smoothness term. Left of the image and above it they are 0. */
INLINED void find_weights(local const float *u, local const float *v, global float *weight) {
    const int W = BORDERED_W(BORDER);
    FOR_BORDERED(BORDER - 1, tx, ty) {
        const int at = BORDERED_AT(BORDER, tx + 1, ty + 1);
        const float ux = u[at + 1] - u[at], uy = u[at + W] - u[at];
        const float vx = v[at + 1] - v[at], vy = v[at + W] - v[at];
        const bool inside = TILE_X + tx >= BORDER - 1 && TILE_Y + ty >= BORDER - 1;
        weight[at] = inside ? 0.5f * TVLM_FLOW_SMOOTH *
                                  rsqrt(ux * ux + uy * uy + vx * vx + vy * vy + TVLM_FLOW_EPSILON)
                            : 0.0f;
    }
}

/* Sets up the equations. The weights must have been found. */
INLINED void set_up(int4 level, local const float *u, local const float *v, local const float *mean,
                    local const float *change, equations e) {
    const int W = BORDERED_W(BORDER);
    FOR_NEAR(SWEEPS - 1, x, y) {
        const int at = NEAR_AT(x, y);
        local const float *m = mean + at, *z = change + at;
        const float ix = 0.5f * (m[1] - m[-1]), iy = 0.5f * (m[W] - m[-W]), iz = z[0];
        const float ixx = 0.25f * (m[2] - 2.0f * m[0] + m[-2]),
                    iyy = 0.25f * (m[2 * W] - 2.0f * m[0] + m[-2 * W]);
        const float ixy = 0.25f * (m[W + 1] - m[W - 1] - m[1 - W] + m[-W - 1]);
        const float izx = 0.5f * (z[1] - z[-1]), izy = 0.5f * (z[W] - z[-W]);

        const float norm = 1.0f / (ix * ix + iy * iy + TVLM_FLOW_ZETA);
        const float b = 0.5f * TVLM_FLOW_BRIGHTNESS * norm * rsqrt(iz * iz * norm + TVLM_FLOW_EPSILON);
        const float nx = 1.0f / (ixx * ixx + ixy * ixy + TVLM_FLOW_ZETA),
                    ny = 1.0f / (iyy * iyy + ixy * ixy + TVLM_FLOW_ZETA);
        const float g =
            0.5f * TVLM_FLOW_GRADIENT * rsqrt(izx * izx * nx + izy * izy * ny + TVLM_FLOW_EPSILON);
        const float gx = g * nx, gy = g * ny;
        const float a11 = b * ix * ix + gx * ixx * ixx + gy * ixy * ixy + TVLM_FLOW_ZETA;
        const float a12 = b * ix * iy + gx * ixx * ixy + gy * ixy * iyy;
        const float a22 = b * iy * iy + gx * ixy * ixy + gy * iyy * iyy + TVLM_FLOW_ZETA;
        const float b1 = -(b * iz * ix + gx * izx * ixx + gy * izy * ixy);
        const float b2 = -(b * iz * iy + gx * izx * ixy + gy * izy * iyy);

        global const float *s = e.weight + at;
        const float right = x < level.x - 1 ? s[0] : 0.0f, down = y < level.y - 1 ? s[0] : 0.0f;
        const float all = right + down + s[-1] + s[-W];
        const float det = 1.0f / ((a11 + all) * (a22 + all) - a12 * a12);
        e.i11[at] = (a22 + all) * det;
        e.i12[at] = -a12 * det;
        e.i22[at] = (a11 + all) * det;
        e.r1[at] = b1 + a11 * u[at] + a12 * v[at];
        e.r2[at] = b2 + a12 * u[at] + a22 * v[at];
    }
}

/* One sweep, over the tile and `border` texels around it: moves un and vn by the neighbours' u and v. */
INLINED void sweep_once(int4 level, equations e, int border, float omega, local const float *u,
                        local const float *v, local float *un, local float *vn) {
    const int W = BORDERED_W(BORDER);
    FOR_NEAR(border, x, y) {
        const int at = NEAR_AT(x, y);
        const float wl = e.weight[at - 1], wr = x < level.x - 1 ? e.weight[at] : 0.0f, wu = e.weight[at - W],
                    wd = y < level.y - 1 ? e.weight[at] : 0.0f;
        const float p = e.r1[at] + wl * u[at - 1] + wr * u[at + 1] + wu * u[at - W] + wd * u[at + W];
        const float q = e.r2[at] + wl * v[at - 1] + wr * v[at + 1] + wu * v[at - W] + wd * v[at + W];
        un[at] += omega * (e.i11[at] * p + e.i12[at] * q - un[at]);
        vn[at] += omega * (e.i12[at] * p + e.i22[at] * q - vn[at]);
    }
}

/* Improves the flow. With counts.x > 0 it first makes the flow of the patches itself, in place of
 * flow_densify, since one more launch would take a GPU longer. The layout is that of tile.clh, with the
 * direction as z. A tile is larger than the group also on GPUs. */
TILE_KERNEL void flow_refine(global const float *restrict planes, const int total, const int4 level,
                             global const float2 *restrict patches, const int2 counts,
                             global const float *restrict flow, const int half_,
                             global float *restrict systems, global float *restrict result) {
    local float u0[BORDERED(BORDER)], v0[BORDERED(BORDER)], u1[BORDERED(BORDER)], v1[BORDERED(BORDER)];
    const int direction = get_group_id(2), area = level.x * level.y;
    global const float *of = planes + direction * total, *target = planes + (1 - direction) * total;
    global float *out = result + direction * half_;
    const equations e = own_equations(systems, direction);

    if (counts.x == 0)
        take_flow(flow + direction * half_, level, u0, v0);
    else
        take_patches(planes, total, level, patches, counts, direction, u0, v0);
    barrier(CLK_LOCAL_MEM_FENCE);
    /* u1 and v1 hold the mean and the difference of luma along the flow first. Then the sweeps need them for
     * a second copy of the flow. */
    look_along(of, target, level, u0, v0, u1, v1);
    barrier(CLK_LOCAL_MEM_FENCE);
    find_weights(u0, v0, e.weight);
    barrier(CLK_GLOBAL_MEM_FENCE);
    set_up(level, u0, v0, u1, v1, e);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    FOR_BORDERED(BORDER, tx, ty) u1[BORDERED_AT(BORDER, tx, ty)] = v1[BORDERED_AT(BORDER, tx, ty)] = 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);

    float omega = 1.0f;
    for (int sweep = 0; sweep < SWEEPS; ++sweep) {
        local float *u = sweep & 1 ? u1 : u0, *v = sweep & 1 ? v1 : v0;
        local float *un = sweep & 1 ? u0 : u1, *vn = sweep & 1 ? v0 : v1;
        /* Each sweep needs one texel less of the border than the one before. */
        sweep_once(level, e, SWEEPS - 1 - sweep, omega, u, v, un, vn);
        omega = sweep == 0 ? 2.0f / (2.0f - TVLM_FLOW_RADIUS * TVLM_FLOW_RADIUS)
                           : 1.0f / (1.0f - 0.25f * TVLM_FLOW_RADIUS * TVLM_FLOW_RADIUS * omega);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    FOR_NEAR(0, x, y) {
        const int at = NEAR_AT(x, y), to = y * level.x + x;
        out[to] = SWEEPS & 1 ? u1[at] : u0[at];
        out[area + to] = SWEEPS & 1 ? v1[at] : v0[at];
    }
}

/* ---- Result ---- */

#define WINDOW TVLM_FLOW_WINDOW

/*
 * Writes result[3 * texel] = u, v in pixels of level 0 (`scale` pixels are one texel) and the confidence that
 * constants.h defines at TVLM_FLOW_RELATIVE; it is 0 where the flow leaves the image. `forward` is the flow
 * of direction 0, and `backwards` are both directions of a flow of back_size texels. The layout is that of
 * tile.clh.
 *
 * With GRID the same values go into an image of a stack's grid, as input.cl would write them: values that are
 * not finite become 0, and u and v are clamped to [-limit, limit].
 */
#ifdef GRID
#define GRID_OUT , const int image, const float limit, TEXTURE_OUT(grid)
#else
#define GRID_OUT
#endif
TILE_KERNEL void flow_result(global const float *restrict planes, const int total, const int4 level,
                             global const float *restrict forward, global const float *restrict backwards,
                             const int half_, const int2 back_size, const float2 scale,
                             global float *restrict result GRID_OUT) {
    local float change[BORDERED(WINDOW)], luma[BORDERED(WINDOW)];
    global const float *backward = backwards + half_;
    const int area = level.x * level.y;
    FOR_BORDERED(WINDOW, tx, ty) {
        const int x = clamp(TILE_X + tx - WINDOW, 0, level.x - 1),
                  y = clamp(TILE_Y + ty - WINDOW, 0, level.y - 1);
        const int at = BORDERED_AT(WINDOW, tx, ty), from = y * level.x + x;
        luma[at] = planes[level.w + y * level.z + x];
        change[at] = plane_at(planes + total, level, x + forward[from], y + forward[area + from]) - luma[at];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    const float2 back_scale = (float2)((float)level.x / back_size.x, (float)level.y / back_size.y);
    FOR_TILE(level, tx, ty) {
        const int x = TILE_X + tx, y = TILE_Y + ty, from = y * level.x + x;
        float squares = 0.0f, sum = 0.0f, sum_squares = 0.0f;
        for (int j = 0; j <= 2 * WINDOW; ++j)
            for (int i = 0; i <= 2 * WINDOW; ++i) {
                const int at = BORDERED_AT(WINDOW, tx + i, ty + j);
                /* The centre's luma is subtracted first, so that the variance of flat windows is not lost to
                 * rounding. */
                const float own = luma[at] - luma[BORDERED_AT(WINDOW, tx + WINDOW, ty + WINDOW)];
                squares += change[at] * change[at];
                sum += own;
                sum_squares += own * own;
            }
        const float share_ = 1.0f / ((2 * WINDOW + 1) * (2 * WINDOW + 1));
        const float variance = fmax(0.0f, sum_squares - sum * sum * share_) * share_;
        const float2 step = (float2)(forward[from], forward[area + from]);
        const float2 there = (float2)(x + 0.5f, y + 0.5f) + step;
        const float2 back =
            flow_at(backward, back_size, there.x / back_scale.x - 0.5f, there.y / back_scale.y - 0.5f) *
            back_scale * scale;
        const float2 flow = step * scale, error = flow + back;
        const float e = error.x * error.x + error.y * error.y;
        const float lengths = flow.x * flow.x + flow.y * flow.y + back.x * back.x + back.y * back.y;
        const bool inside = there.x >= 0.0f && there.y >= 0.0f && there.x <= level.x && there.y <= level.y;
        const float round_trip = 1.0f / (1.0f + e / (TVLM_FLOW_RELATIVE * lengths + TVLM_FLOW_ABSOLUTE));
        const float alike =
            1.0f / (1.0f + squares * share_ / (TVLM_FLOW_TEXTURE * variance + TVLM_FLOW_NOISE));
        const float confidence = inside ? round_trip * alike : 0.0f;
        result[3 * from] = flow.x;
        result[3 * from + 1] = flow.y;
        result[3 * from + 2] = confidence;
#ifdef GRID
        texel_store(grid, x, y, image,
                    (float4)(isfinite(flow.x) ? clamp(flow.x, -limit, limit) : 0.0f,
                             isfinite(flow.y) ? clamp(flow.y, -limit, limit) : 0.0f,
                             isfinite(confidence) ? clamp(confidence, 0.0f, 1.0f) : 0.0f, 0.0f));
#endif
    }
}
