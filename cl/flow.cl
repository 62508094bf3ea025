/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow.cl: dense optical flow between two images, coarse to fine (core/constants.h has the sources).
 *
 * Luma is taken from the sources once, into plain planes with a replicated border of PAD texels; all else
 * reads those. A *level* is (width, height, row stride, place of texel (0, 0)). Both directions are made by
 * the same launches: in direction d the template is plane d and the target plane 1 - d. A flow is two planes,
 * u then v, in texels of its level.
 */
#include "tile.clh"

// check-kernels: -DRUN=1 -DLANES=8 -DROWS=1
// check-kernels: -DRUN=16 -DLANES=1 -DROWS=4 -DGROUP_W=1 -DGROUP_H=1 -DTILE_W=64 -DTILE_H=16

#ifndef RUN
#define RUN 1 /* texels of a work-item of flow_planes */
#endif
#ifndef LANES
#define LANES 8 /* work-items to a patch: 1 on CPUs */
#endif
#ifndef ROWS
#define ROWS 1 /* of four texels, made by a work-item of flow_densify: 4 on CPUs */
#endif

#define PAD    TVLM_FLOW_PAD
#define PATCH  TVLM_FLOW_PATCH
#define STRIDE TVLM_FLOW_STRIDE

/* ---- Planes ---- */

/* Of both images, level after level from `levels.x` to `levels.y`; a row's stride is a multiple of 16. */
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

/* Bilinear at texel coordinates (texel centres at whole numbers), clamped to the edge. */
inline float plane_at(global const float *plane, int4 level, float x, float y) {
    x = clamp(x, 0.0f, level.x - 1.0f);
    y = clamp(y, 0.0f, level.y - 1.0f);
    const int x0 = (int)x, y0 = (int)y, at = level.w + y0 * level.z + x0;
    const float ax = x - x0, ay = y - y0;
    const float top = plane[at] + (plane[at + 1] - plane[at]) * ax;
    const float bottom = plane[at + level.z] + (plane[at + level.z + 1] - plane[at + level.z]) * ax;
    return top + (bottom - top) * ay;
}

/* The same of a flow of size.x x size.y texels. */
inline float2 flow_at(global const float *flow, int2 size, float x, float y) {
    x = clamp(x, 0.0f, size.x - 1.0f);
    y = clamp(y, 0.0f, size.y - 1.0f);
    const int x0 = (int)x, y0 = (int)y, right = min(x0 + 1, size.x - 1) - x0;
    const int at = y0 * size.x + x0, below = at + (min(y0 + 1, size.y - 1) - y0) * size.x;
    const float ax = x - x0, ay = y - y0;
    float value[2];
    for (int c = 0; c < 2; ++c) {
        global const float *plane = flow + c * size.x * size.y;
        const float top = plane[at] + (plane[at + right] - plane[at]) * ax;
        const float bottom = plane[below] + (plane[below + right] - plane[below]) * ax;
        value[c] = top + (bottom - top) * ay;
    }
    return (float2)(value[0], value[1]);
}

/* ---- Patches ---- */

#define PATCH_ROWS (PATCH / LANES)
#define PATCHES    (64 / LANES) /* of a group */

inline float sum8(float8 v) {
    const float4 s = v.lo + v.hi;
    return (s.x + s.y) + (s.z + s.w);
}

/* What the lanes of a patch have, summed. All work-items of the group call it. */
inline float4 share(float4 mine, local float4 *board) {
#if LANES == 1
    return mine;
#else
    const int lane = get_local_id(0), first = lane / LANES * LANES;
    float4 sum = 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    board[lane] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < LANES; ++i) sum += board[first + i];
    return sum;
#endif
}

/* The first texels of patch (i, j): of those that would reach out of the image, the last ones inside. */
inline int2 patch_origin(int2 index, int4 level) {
    return clamp((index - 1) * STRIDE, (int2)(0), max((int2)(level.x, level.y) - PATCH, (int2)(0)));
}

/* Where a patch that begins at `origin` is looked for: as far out as the border goes. */
inline float2 patch_place(float2 origin, float2 step, int4 level) {
    return clamp(origin + step, (float2)(-PAD), (float2)(level.x, level.y) + (float2)(PAD - PATCH - 2));
}

/* Of the differences d of the target, `step` away, from the template: sum (d - mean)^2, sum d gx, sum d gy.
 */
inline float4 compare(global const float *target, int4 level, float2 origin, float2 step, int row,
                      const float8 *texels, const float8 *gx, const float8 *gy, local float4 *board) {
    const float2 place = patch_place(origin, step, level), corner = floor(place), part = place - corner;
    global const float *at = target + level.w + ((int)corner.y + row) * level.z + (int)corner.x;
    float8 top = vload8(0, at) + (vload8(0, at + 1) - vload8(0, at)) * part.x;
    float8 d[PATCH_ROWS], squares = 0.0f, sum = 0.0f, bx = 0.0f, by = 0.0f;
    for (int i = 0; i < PATCH_ROWS; ++i) {
        at += level.z;
        const float8 bottom = vload8(0, at) + (vload8(0, at + 1) - vload8(0, at)) * part.x;
        d[i] = top + (bottom - top) * part.y - texels[i];
        sum += d[i];
        top = bottom;
    }
    /* In two passes: where the images differ by much more than their texture, one would be all rounding. */
    const float mean = share((float4)(sum8(sum), 0.0f, 0.0f, 0.0f), board).x * (1.0f / (PATCH * PATCH));
    for (int i = 0; i < PATCH_ROWS; ++i) {
        const float8 own = d[i] - mean;
        squares += own * own;
        bx += own * gx[i];
        by += own * gy[i];
    }
    return share((float4)(sum8(squares), sum8(bx), sum8(by), 0.0f), board);
}

inline bool better(float error, float least) {
    return error < TVLM_FLOW_GAIN * least - TVLM_FLOW_NOTHING;
}

/* The coarser level's flow at a point of this one, in texels of this one. */
inline float2 coarser_at(global const float *flow, int2 size, int4 level, float2 at) {
    const float2 scale = (float2)((float)level.x / size.x, (float)level.y / size.y);
    return flow_at(flow, size, at.x / scale.x - 0.5f, at.y / scale.y - 0.5f) * scale;
}

/* coarser: of both directions, coarser_half floats apart; coarser_size.x == 0: this is the coarsest. */
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void
flow_patches(global const float *restrict planes, const int total, const int4 level,
             global const float *restrict coarser, const int2 coarser_size, const int coarser_half,
             const int2 counts, global float2 *restrict patches) {
    local float4 board[64];
    const int patch_count = counts.x * counts.y, direction = get_global_id(1);
    const int wanted = (int)get_group_id(0) * PATCHES + (int)get_local_id(0) / LANES;
    const int patch = min(wanted, patch_count - 1), row = (int)get_local_id(0) % LANES * PATCH_ROWS;
    global const float *target = planes + (1 - direction) * total;
    const int2 corner = patch_origin((int2)(patch % counts.x, patch / counts.x), level);
    const float2 origin = convert_float2(corner);

    float8 texels[PATCH_ROWS], gx[PATCH_ROWS], gy[PATCH_ROWS], sum_x = 0.0f, sum_y = 0.0f;
    global const float *at = planes + direction * total + level.w + (corner.y + row) * level.z + corner.x;
    for (int i = 0; i < PATCH_ROWS; ++i, at += level.z) {
        texels[i] = vload8(0, at);
        gx[i] = 0.5f * (vload8(0, at + 1) - vload8(0, at - 1));
        gy[i] = 0.5f * (vload8(0, at + level.z) - vload8(0, at - level.z));
        sum_x += gx[i];
        sum_y += gy[i];
    }
    const float4 means =
        share((float4)(sum8(sum_x), sum8(sum_y), 0.0f, 0.0f), board) * (1.0f / (PATCH * PATCH));
    float8 xx = 0.0f, xy = 0.0f, yy = 0.0f;
    for (int i = 0; i < PATCH_ROWS; ++i) {
        gx[i] -= means.x;
        gy[i] -= means.y;
        xx += gx[i] * gx[i];
        xy += gx[i] * gy[i];
        yy += gy[i] * gy[i];
    }
    const float4 hessian = share((float4)(sum8(xx), sum8(xy), sum8(yy), 0.0f), board);
    const float regular = TVLM_FLOW_REGULAR + TVLM_FLOW_CONDITION * (hessian.x + hessian.z);
    const float a = hessian.x + regular, b = hessian.y, c = hessian.z + regular;
    const float inverse = 1.0f / (a * c - b * b);

    /* Where to start: what the coarser level has here, or to one of the four sides. */
    float2 best = 0.0f;
    float4 least = 0.0f;
    if (coarser_size.x > 0) {
        global const float *flow = coarser + direction * coarser_half;
        const float2 centre = origin + 0.5f * PATCH;
        for (int i = 0; i < 5; ++i) {
            const float2 aside = (float2)((i == 2) - (i == 1), (i == 4) - (i == 3)) * TVLM_FLOW_SPREAD;
            const float2 start = coarser_at(flow, coarser_size, level, centre + aside);
            const float4 error = compare(target, level, origin, start, row, texels, gx, gy, board);
            if (i == 0 || better(error.x, least.x)) {
                best = start;
                least = error;
            }
        }
    } else {
        least = compare(target, level, origin, best, row, texels, gx, gy, board);
    }
    /* No work-item leaves early: the lanes of other patches wait in share. */
    const float2 start = best;
    bool falling = true;
    const int steps = coarser_size.x > 0 ? TVLM_FLOW_STEPS : TVLM_FLOW_FIRST;
    for (int i = 0; i < steps; ++i) {
        const float2 next = best - (float2)(c * least.y - b * least.z, a * least.z - b * least.y) * inverse;
        const float4 error = compare(target, level, origin, next, row, texels, gx, gy, board);
        const float2 moved = fabs(next - start);
        falling = falling && better(error.x, least.x) && fmax(moved.x, moved.y) <= PATCH;
        if (falling) {
            best = next;
            least = error;
        }
    }
    if (row == 0 && wanted < patch_count) patches[direction * patch_count + patch] = best;
}

/* Every texel: the mean of the four patches over it, weighted by the inverse of their differences there. */
kernel void flow_densify(global const float *restrict planes, const int total, const int4 level,
                         global const float2 *restrict patches, const int2 counts, const int half_,
                         global float *restrict flow) {
    const int column = get_global_id(0), first = get_global_id(1) * ROWS, direction = get_global_id(2);
    const int x = column * STRIDE, row = first / STRIDE;
    if (x >= level.x || first >= level.y) return;
    global const float *of = planes + direction * total + level.w,
                       *target = planes + (1 - direction) * total + level.w;
    float4 weights[ROWS], us[ROWS], vs[ROWS];
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
    global float *out = flow + direction * half_;
    const int area = level.x * level.y;
    for (int i = 0; i < min(ROWS, level.y - first); ++i) {
        float u[4], v[4];
        vstore4(us[i] / weights[i], 0, u);
        vstore4(vs[i] / weights[i], 0, v);
        for (int k = 0; k < min(4, level.x - x); ++k) {
            out[(first + i) * level.x + x + k] = u[k];
            out[area + (first + i) * level.x + x + k] = v[k];
        }
    }
}

/* ---- Refinement ---- */

/*
 * The equations at every texel, (A + sum w) (u, v) = r + sum w (u, v)' over the four neighbours: planes of
 * (height + 1) * width floats, the first row of which is 0: the three of the inverse of A + sum w, the two of
 * r, and w to the right and downwards, 0 where there is no neighbour.
 */
#define SYSTEM_PLANES 7

TILE_KERNEL void flow_system(global const float *restrict planes, const int total, const int4 level,
                             global const float *restrict flow, const int half_,
                             global float *restrict systems) {
    local float mean[BORDERED(2)], change[BORDERED(2)], u[BORDERED(2)], v[BORDERED(2)], smooth[BORDERED(1)];
    const int direction = get_group_id(2), area = level.x * level.y, size = area + level.x;
    global const float *of = planes + direction * total, *target = planes + (1 - direction) * total;
    global const float *in = flow + direction * half_;
    global float *out = systems + direction * SYSTEM_PLANES * size + level.x;
    FOR_BORDERED(2, tx, ty) {
        const int x = clamp(TILE_X + tx - 2, 0, level.x - 1), y = clamp(TILE_Y + ty - 2, 0, level.y - 1);
        const int at = BORDERED_AT(2, tx, ty), from = y * level.x + x;
        const float du = in[from], dv = in[area + from];
        const float value = TVLM_FLOW_LUMA * plane_at(target, level, x + du, y + dv);
        const float own = TVLM_FLOW_LUMA * of[level.w + y * level.z + x];
        u[at] = du;
        v[at] = dv;
        mean[at] = 0.5f * (value + own);
        change[at] = value - own;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    FOR_BORDERED(1, tx, ty) {
        const int at = BORDERED_AT(2, tx + 1, ty + 1);
        const float ux = u[at + 1] - u[at], uy = u[at + BORDERED_W(2)] - u[at];
        const float vx = v[at + 1] - v[at], vy = v[at + BORDERED_W(2)] - v[at];
        const bool inside = TILE_X + tx >= 1 && TILE_Y + ty >= 1;
        smooth[BORDERED_AT(1, tx, ty)] =
            inside
                ? 0.5f * TVLM_FLOW_SMOOTH * rsqrt(ux * ux + uy * uy + vx * vx + vy * vy + TVLM_FLOW_EPSILON)
                : 0.0f;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    const int W = BORDERED_W(2);
    FOR_TILE(level, tx, ty) {
        const int x = TILE_X + tx, y = TILE_Y + ty, at = BORDERED_AT(2, tx + 2, ty + 2);
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

        local const float *s = smooth + BORDERED_AT(1, tx + 1, ty + 1);
        const float right = x < level.x - 1 ? s[0] : 0.0f, down = y < level.y - 1 ? s[0] : 0.0f;
        const float all = right + down + s[-1] + s[-BORDERED_W(1)];
        const float det = 1.0f / ((a11 + all) * (a22 + all) - a12 * a12);
        const int to = y * level.x + x;
        out[to] = (a22 + all) * det;
        out[size + to] = -a12 * det;
        out[2 * size + to] = (a11 + all) * det;
        out[3 * size + to] = b1 + a11 * u[at] + a12 * v[at];
        out[4 * size + to] = b2 + a12 * u[at] + a22 * v[at];
        out[5 * size + to] = right;
        out[6 * size + to] = down;
    }
    if (TILE_Y == 0) /* the rows before the first: the weights that texels of row 0 find above them */
        for (int tx = get_local_id(0); tx < min(TILE_W, level.x - TILE_X); tx += GROUP_W)
            if (get_local_id(1) == 0)
                out[5 * size + TILE_X + tx - level.x] = out[6 * size + TILE_X + tx - level.x] = 0.0f;
}

/*
 * SWEEPS of Chebyshev's semi-iteration: a sweep needs the neighbours' last values only, so that a tile with
 * as many texels around it as there are sweeps is exact, and one launch does them all.
 */
#define SWEEPS  TVLM_FLOW_SWEEPS
#define SOLVE_W (TILE_W + 2 * SWEEPS + 2) /* and a ring of zeros that no weight reaches */
#define SOLVE_H (TILE_H + 2 * SWEEPS + 2)

TILE_KERNEL void flow_solve(const int2 level, global const float *restrict systems,
                            global const float *restrict flow, const int half_,
                            global float *restrict result) {
    local float u0[SOLVE_W * SOLVE_H], v0[SOLVE_W * SOLVE_H], u1[SOLVE_W * SOLVE_H], v1[SOLVE_W * SOLVE_H];
    const int direction = get_group_id(2), area = level.x * level.y, size = area + level.x;
    global const float *in = flow + direction * half_;
    global float *out = result + direction * half_;
    global const float *i11 = systems + direction * SYSTEM_PLANES * size + level.x, *i12 = i11 + size,
                       *i22 = i12 + size, *r1 = i22 + size, *r2 = r1 + size, *right = r2 + size,
                       *down = right + size;
    const int left = TILE_X - SWEEPS - 1, top = TILE_Y - SWEEPS - 1; /* of the ring */
    for (int ty = get_local_id(1); ty < SOLVE_H; ty += GROUP_H)
        for (int tx = get_local_id(0); tx < SOLVE_W; tx += GROUP_W) {
            const int x = left + tx, y = top + ty, at = ty * SOLVE_W + tx;
            const bool inside = x >= 0 && y >= 0 && x < level.x && y < level.y;
            u0[at] = inside ? in[y * level.x + x] : 0.0f;
            v0[at] = inside ? in[area + y * level.x + x] : 0.0f;
            u1[at] = v1[at] = 0.0f;
        }
    barrier(CLK_LOCAL_MEM_FENCE);

    float omega = 1.0f;
    for (int sweep = 0; sweep < SWEEPS; ++sweep) {
        local const float *u = sweep & 1 ? u1 : u0, *v = sweep & 1 ? v1 : v0;
        local float *un = sweep & 1 ? u0 : u1, *vn = sweep & 1 ? v0 : v1;
        /* Of the border ever less is needed. */
        const int border = SWEEPS - 1 - sweep;
        const int y0 = max(0, TILE_Y - border), y1 = min(level.y, TILE_Y + TILE_H + border);
        const int x0 = max(0, TILE_X - border), x1 = min(level.x, TILE_X + TILE_W + border);
        for (int y = y0 + (int)get_local_id(1); y < y1; y += GROUP_H)
            for (int x = x0 + (int)get_local_id(0); x < x1; x += GROUP_W) {
                const int from = y * level.x + x, at = (y - top) * SOLVE_W + x - left;
                const float wl = right[from - 1], wr = right[from], wu = down[from - level.x],
                            wd = down[from];
                const float p =
                    r1[from] + wl * u[at - 1] + wr * u[at + 1] + wu * u[at - SOLVE_W] + wd * u[at + SOLVE_W];
                const float q =
                    r2[from] + wl * v[at - 1] + wr * v[at + 1] + wu * v[at - SOLVE_W] + wd * v[at + SOLVE_W];
                un[at] += omega * (i11[from] * p + i12[from] * q - un[at]);
                vn[at] += omega * (i12[from] * p + i22[from] * q - vn[at]);
            }
        omega = sweep == 0 ? 2.0f / (2.0f - TVLM_FLOW_RADIUS * TVLM_FLOW_RADIUS)
                           : 1.0f / (1.0f - 0.25f * TVLM_FLOW_RADIUS * TVLM_FLOW_RADIUS * omega);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    FOR_TILE(level, tx, ty) {
        const int to = (TILE_Y + ty) * level.x + TILE_X + tx,
                  at = (ty + SWEEPS + 1) * SOLVE_W + tx + SWEEPS + 1;
        out[to] = SWEEPS & 1 ? u1[at] : u0[at];
        out[area + to] = SWEEPS & 1 ? v1[at] : v0[at];
    }
}

/* ---- Result ---- */

#define WINDOW TVLM_FLOW_WINDOW

/* u, v in pixels of level 0 (`scale` of them are a texel) and the confidence. */
TILE_KERNEL void flow_result(global const float *restrict planes, const int total, const int4 level,
                             global const float *restrict forward, global const float *restrict backwards,
                             const int half_, const int2 back_size, const float2 scale,
                             global float *restrict result) {
    local float change[BORDERED(WINDOW)], luma[BORDERED(WINDOW)];
    global const float *backward = backwards + half_; /* of the second direction */
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
                /* about the centre's luma, so that flat windows do not cancel */
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
        result[3 * from] = flow.x;
        result[3 * from + 1] = flow.y;
        result[3 * from + 2] = inside ? round_trip * alike : 0.0f;
    }
}
