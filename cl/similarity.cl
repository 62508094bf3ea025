/* SPDX-License-Identifier: Apache-2.0 */
/*
 * similarity.cl: works with the encoder's vectors. Each cell has one, and a layer has four of its components.
 * It computes their lengths and their cosines with one unit vector (a query). It copies them to a plain
 * matrix for products with many queries (gemm.cl or CLBlast), and writes maps of cosines into textures.
 *
 * A sum over a cell goes over hundreds of layers. A work-group makes COSINE_W x COSINE_H cells:
 *
 *   - On GPUs COSINE_LANES work-items share a cell. Each takes every COSINE_LANES-th layer, and their sums
 *     are added in the order of the work-items, so that a device finds the same each time.
 *   - On CPUs (COSINE_LANES 1) a group is one work-item. It goes over all layers, and over its cells within
 *     each, so that the innermost loop runs along x and vectorises.
 */
// check-kernels: -DCOSINE_LANES=1 -DCOSINE_W=64
// check-kernels: -DCOSINE_LANES=8 -DCOSINE_W=8
#include "texture.clh"

#ifndef COSINE_LANES
#define COSINE_LANES 8
#define COSINE_W     8
#endif
#ifndef COSINE_H
#define COSINE_H 4
#endif
#define COSINE_CELLS (COSINE_W * COSINE_H)
/* How many layers a work-item of feature_matrix copies. */
#define MATRIX_LAYERS 16

#define COSINE_GROUP_W (COSINE_LANES == 1 ? 1 : COSINE_W)
#define COSINE_GROUP_H (COSINE_LANES == 1 ? 1 : COSINE_H)
#define COSINE_KERNEL                                                                                        \
    kernel __attribute__((reqd_work_group_size(COSINE_GROUP_W, COSINE_GROUP_H, COSINE_LANES)))

HELPER float sum4(float4 v) {
    return (v.x + v.y) + (v.z + v.w);
}

/*
 * Sums the vectors of the group's cells: sums[y * COSINE_W + x] becomes the sum over all components of
 * component * weight, or, if `weights` is 0, of their squares. The group's first cell is (left, top). SUMS
 * declares the array; where work-items share cells, only the entries of those in lane 0 are results.
 */
#if COSINE_LANES == 1
#define SUMS float sums[COSINE_CELLS]
HELPER void cell_sums(TEXTURE_IN(features), int image, global const float4 *restrict weights, int left,
                      int top, float *sums) {
    const int columns = min(COSINE_W, features_size.x - left), rows = min(COSINE_H, features_size.y - top);
    float4 parts[COSINE_CELLS];
    for (int i = 0; i < COSINE_CELLS; ++i) parts[i] = 0.0f;
    for (int layer = 0; layer < features_size.z; ++layer) {
        const int slice = image * features_size.z + layer;
        const int4 place = level_place_(TEXTURE(features), slice, 0);
        const float4 weight = weights != 0 ? weights[layer] : (float4)(0.0f);
        for (int y = 0; y < rows; ++y) {
            float4 *row = parts + y * COSINE_W;
            if (weights != 0) {
                for (int x = 0; x < columns; ++x)
                    row[x] += texel_inside_(TEXTURE(features), place, slice, 0, left + x, top + y) * weight;
            } else {
                for (int x = 0; x < columns; ++x) {
                    const float4 texel = texel_inside_(TEXTURE(features), place, slice, 0, left + x, top + y);
                    row[x] += texel * texel;
                }
            }
        }
    }
    for (int i = 0; i < COSINE_CELLS; ++i) sums[i] = sum4(parts[i]);
}
#else
#define SUMS local float sums[COSINE_LANES * COSINE_CELLS]
HELPER void cell_sums(TEXTURE_IN(features), int image, global const float4 *restrict weights, int left,
                      int top, local float *sums) {
    const int cell = get_local_id(1) * COSINE_W + get_local_id(0), lane = get_local_id(2);
    const int x = min(left + (int)get_local_id(0), features_size.x - 1);
    const int y = min(top + (int)get_local_id(1), features_size.y - 1);
    float4 part = 0.0f;
    for (int layer = lane; layer < features_size.z; layer += COSINE_LANES) {
        const float4 texel = texel_fetch(features, x, y, image * features_size.z + layer, 0);
        part += texel * (weights != 0 ? weights[layer] : texel);
    }
    sums[lane * COSINE_CELLS + cell] = sum4(part);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane != 0) return;
    float sum = sums[cell];
    for (int n = 1; n < COSINE_LANES; ++n) sum += sums[n * COSINE_CELLS + cell];
    sums[cell] = sum;
}
#endif

/* Loops over the cells (x, y) of the group that this work-item writes; SUM_OF(x, y) is a cell's sum. */
#if COSINE_LANES == 1
#define FOR_CELLS(x, y)                                                                                      \
    for (int y = top; y < min(top + COSINE_H, features_size.y); ++y)                                         \
        for (int x = left; x < min(left + COSINE_W, features_size.x); ++x)
#else
#define FOR_CELLS(x, y)                                                                                      \
    const int x = left + (int)get_local_id(0), y = top + (int)get_local_id(1);                               \
    if (get_local_id(2) == 0 && x < features_size.x && y < features_size.y)
#endif
#define SUM_OF(x, y) sums[((y)-top) * COSINE_W + (x)-left]

/* Writes inverse[cell] of one image: 1 / length of its vector, or 0 for a zero vector. */
COSINE_KERNEL void feature_lengths(TEXTURE_IN(features), const int image, global float *restrict inverse) {
    SUMS;
    const int left = (int)get_group_id(0) * COSINE_W, top = (int)get_group_id(1) * COSINE_H;
    cell_sums(TEXTURE(features), image, 0, left, top, sums);
    FOR_CELLS(x, y) {
        const float length = sqrt(SUM_OF(x, y));
        inverse[(image * features_size.y + y) * features_size.x + x] =
            length >= TVLM_FEATURE_FLOOR ? 1.0f / length : 0.0f;
    }
}

/* Writes the cosine of each cell of one image with `query`, a unit vector. `inverse` holds 1 / length for the
 * cells of all images. */
COSINE_KERNEL void similarity(TEXTURE_IN(features), const int image, global const float *restrict inverse,
                              global const float4 *restrict query, TEXTURE_OUT(result)) {
    SUMS;
    const int left = (int)get_group_id(0) * COSINE_W, top = (int)get_group_id(1) * COSINE_H;
    cell_sums(TEXTURE(features), image, query, left, top, sums);
    FOR_CELLS(x, y) {
        const float cosine = SUM_OF(x, y) * inverse[(image * features_size.y + y) * features_size.x + x];
        texel_store(result, x, y, image * result_size.z,
                    (float4)(clamp(cosine, -1.0f, 1.0f), 0.0f, 0.0f, 0.0f));
    }
}

/*
 * Writes chosen[n], the cosine of cell cells[n] with `query`, for `count` cells of one image. It is summed as
 * in `similarity`, so that it is the same to the bit. A work-group makes COSINE_CELLS places of the list.
 */
#if COSINE_LANES == 1
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void
similarity_cells(TEXTURE_IN(features), const int image, global const float *restrict inverse,
                 global const float4 *restrict query, global const int *restrict cells, const int count,
                 global float *restrict chosen) {
    const int first = (int)get_group_id(0) * COSINE_CELLS, listed = min(COSINE_CELLS, count - first);
    const int plane = features_size.x * features_size.y;
    float4 parts[COSINE_CELLS];
    for (int i = 0; i < COSINE_CELLS; ++i) parts[i] = 0.0f;
    for (int layer = 0; layer < features_size.z; ++layer) {
        const int slice = image * features_size.z + layer;
        const int4 place = level_place_(TEXTURE(features), slice, 0);
        const float4 weight = query[layer];
        for (int i = 0; i < listed; ++i) {
            const int cell = cells[first + i];
            parts[i] += texel_inside_(TEXTURE(features), place, slice, 0, cell % features_size.x,
                                      cell / features_size.x) *
                        weight;
        }
    }
    for (int i = 0; i < listed; ++i)
        chosen[first + i] = clamp(sum4(parts[i]) * inverse[image * plane + cells[first + i]], -1.0f, 1.0f);
}
#else
kernel __attribute__((reqd_work_group_size(COSINE_CELLS, COSINE_LANES, 1))) void
similarity_cells(TEXTURE_IN(features), const int image, global const float *restrict inverse,
                 global const float4 *restrict query, global const int *restrict cells, const int count,
                 global float *restrict chosen) {
    local float sums[COSINE_LANES * COSINE_CELLS];
    const int place = get_local_id(0), lane = get_local_id(1), n = get_global_id(0);
    const int cell = cells[min(n, count - 1)];
    float4 part = 0.0f;
    for (int layer = lane; layer < features_size.z; layer += COSINE_LANES)
        part += texel_fetch(features, cell % features_size.x, cell / features_size.x,
                            image * features_size.z + layer, 0) *
                query[layer];
    sums[lane * COSINE_CELLS + place] = sum4(part);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane != 0 || n >= count) return;
    float sum = sums[place];
    for (int i = 1; i < COSINE_LANES; ++i) sum += sums[i * COSINE_CELLS + place];
    chosen[n] = clamp(sum * inverse[image * features_size.x * features_size.y + cell], -1.0f, 1.0f);
}
#endif

#define UNIT_GROUP 64

/* The largest `part` of the group's work-items. All of them get it. */
HELPER float largest_of(float part, local float *parts) {
    const int lane = get_local_id(0);
    parts[lane] = part;
    barrier(CLK_LOCAL_MEM_FENCE);
    float most = parts[0];
    for (int i = 1; i < UNIT_GROUP; ++i) most = max(most, parts[i]);
    barrier(CLK_LOCAL_MEM_FENCE);
    return most;
}

/*
 * Brings vectors to length 1: vectors[at + n * dimension ..], less `mean` where has_mean is 1, go to
 * out[n * stride ..], with zeros behind each. A vector that is too short, or has a value that is not finite,
 * becomes 0, and *bad becomes the least number of such a vector. Components are divided by the largest before
 * they are squared, since squares of finite floats may overflow. Work-group n makes vector n.
 */
kernel __attribute__((reqd_work_group_size(UNIT_GROUP, 1, 1))) void
unit_vectors(global const float *restrict vectors, const ulong at, const int dimension, const int stride,
             global const float *restrict mean, const int has_mean, global float *restrict out,
             global int *restrict bad) {
    local float parts[UNIT_GROUP];
    const int n = get_group_id(0), lane = get_local_id(0);
    global const float *vector = vectors + at + (size_t)n * dimension;
    float part = 0.0f;
    for (int i = lane; i < dimension; i += UNIT_GROUP) {
        const float value = has_mean ? vector[i] - mean[i] : vector[i];
        part = isfinite(value) ? max(part, fabs(value)) : INFINITY;
    }
    const float largest = largest_of(part, parts);
    const bool finite = isfinite(largest);
    const float scale = finite && largest > 0.0f ? largest : 1.0f;
    part = 0.0f;
    for (int i = lane; finite && i < dimension; i += UNIT_GROUP) {
        const float value = (has_mean ? vector[i] - mean[i] : vector[i]) / scale;
        part += value * value;
    }
    parts[lane] = part;
    barrier(CLK_LOCAL_MEM_FENCE);
    float length = 0.0f;
    for (int i = 0; i < UNIT_GROUP; ++i) length += parts[i];
    length = sqrt(length);
    const bool good = finite && length * scale >= TVLM_FEATURE_FLOOR;
    for (int i = lane; i < stride; i += UNIT_GROUP) {
        float unit = 0.0f;
        if (good && i < dimension) unit = (has_mean ? vector[i] - mean[i] : vector[i]) / scale / length;
        out[(size_t)n * stride + i] = unit;
    }
    if (lane == 0 && !good) atomic_min(bad, n);
}

/* Copies the vectors of a level of one image to matrix[at + cell * dimension + component]. Work-item (x, y,
 * n) copies MATRIX_LAYERS layers of a cell. */
kernel void feature_matrix(TEXTURE_IN(features), const int image, const int dimension, const int level,
                           global float *restrict matrix, const ulong at) {
    const int x = get_global_id(0), y = get_global_id(1), first = (int)get_global_id(2) * MATRIX_LAYERS;
    const int width = max(features_size.x >> level, 1), height = max(features_size.y >> level, 1);
    if (x >= width || y >= height) return;
    global float *row = matrix + at + (ulong)(y * width + x) * dimension;
    for (int layer = first; layer < min(first + MATRIX_LAYERS, features_size.z); ++layer) {
        const float4 texel = texel_fetch(features, x, y, image * features_size.z + layer, level);
        const int i = 4 * layer;
        row[i] = texel.x;
        if (i + 1 < dimension) row[i + 1] = texel.y;
        if (i + 2 < dimension) row[i + 2] = texel.z;
        if (i + 3 < dimension) row[i + 3] = texel.w;
    }
}

/* Turns products[query * cells + cell], which are those of vectors with unit vectors, into cosines.
 * inverse_at is where the image's part of `inverse` begins. Work-item (cell, query) makes one cosine. */
kernel void cosines(global float *restrict products, const int cells, global const float *restrict inverse,
                    const int inverse_at) {
    const int cell = get_global_id(0), at = get_global_id(1) * cells + cell;
    if (cell < cells) products[at] = clamp(products[at] * inverse[inverse_at + cell], -1.0f, 1.0f);
}

/*
 * Writes `count` maps of cosines, cosines[map * cells + cell], into one image of a texture: each as a channel
 * (TVLM_MAPS_EACH), or their largest or mean as one channel. Work-item (x, y, layer) makes one texel.
 */
kernel void maps(global const float *restrict cosines, const int count, const int how, const int image,
                 TEXTURE_OUT(result)) {
    const int x = get_global_id(0), y = get_global_id(1), layer = get_global_id(2);
    const int cells = result_size.x * result_size.y, at = y * result_size.x + x;
    float4 texel = 0.0f;
    if (x >= result_size.x || y >= result_size.y) return;
    if (how == TVLM_MAPS_EACH) {
        const int n = 4 * layer;
        if (n < count) texel.x = cosines[n * cells + at];
        if (n + 1 < count) texel.y = cosines[(n + 1) * cells + at];
        if (n + 2 < count) texel.z = cosines[(n + 2) * cells + at];
        if (n + 3 < count) texel.w = cosines[(n + 3) * cells + at];
    } else {
        texel.x = cosines[at];
        for (int n = 1; n < count; ++n) {
            const float cosine = cosines[n * cells + at];
            texel.x = how == TVLM_MAPS_MAX ? max(texel.x, cosine) : texel.x + cosine;
        }
        if (how == TVLM_MAPS_MEAN) texel.x /= count;
    }
    texel_store(result, x, y, image * result_size.z + layer, texel);
}
