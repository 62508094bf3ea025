/* SPDX-License-Identifier: Apache-2.0 */
/*
 * temporal.cl: the three temporal channels of each cell of 16 x 16 pixels: what was relevant, what was
 * salient, and what was looked at in the frame before.
 *
 *   1. When a frame ends, temporal_remember makes a state of these three for one image, and keeps its luma
 *      for motion.cl. Where the scores are those of other cells than these, temporal_relevance first makes a
 *      texture of them, so that they can be sampled.
 *   2. `temporal` moves the state into the next frame, along the flow back from that frame.
 *
 * Each work-item makes one cell, or RUN texels of the luma: 1 on GPUs, more on CPUs.
 */
#include "motion.clh"

// check-kernels: -DRUN=1
// check-kernels: -DRUN=16

#ifndef RUN
#define RUN 1
#endif

#define CELL TVLM_CELL

/* A score as it is remembered: clamped to [0, 1], and 0 where it is NaN. */
HELPER float relevance_of(float score) {
    return isnan(score) ? 0.0f : clamp(score, 0.0f, 1.0f);
}

/* Copies a map of scores into a texture of one slice. */
kernel void temporal_relevance(global const float *restrict scores, TEXTURE_OUT(relevance)) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= relevance_size.x || y >= relevance_size.y) return;
    const float score = relevance_of(scores[y * relevance_size.x + x]);
    texel_store(relevance, x, y, 0, (float4)(score, 0.0f, 0.0f, 0.0f));
}

/*
 * The largest value, at point `at`, of the Gaussians around `count` positions, all in pixels. It is the
 * Gaussian of the nearest position. shape = (unused here, -1 / (2 sigma^2), square of the distance from which
 * it is 0, unused).
 */
HELPER float gaussian(global const float *restrict positions, int count, float4 shape, float2 at) {
    float nearest = shape.z;
    for (int i = 0; i < count; ++i) {
        const float2 apart = vload2(i, positions) - at;
        nearest = min(nearest, apart.x * apart.x + apart.y * apart.y);
    }
    return nearest < shape.z ? exp(nearest * shape.y) : 0.0f;
}

/* What temporal_remember has and makes; lib/opencl/temporal.c has the same numbers. */
enum { HAS_RELEVANCE = 1, HAS_TEMPORAL = 2, HAS_SCORES = 4, MAKES_STATE = 8, MAKES_LUMA = 16 };

/* Keeps RUN texels of a row of the source's luma. */
HELPER void keep_luma(TEXTURE_IN(source), int image, int first, int y, TEXTURE_OUT(luma)) {
    const int slice = image * source_size.z, level = half_level(source_size);
    const int4 place = level_place_(TEXTURE(source), slice, level);
    for (int i = 0; i < min(RUN, luma_size.x - first); ++i)
        texel_store_scalar(luma, first + i, y, image,
                           texel_fetch_at_(TEXTURE(source), place, slice, level, first + i, y).w);
}

/*
 * Writes the state of one image at the centres of the cells:
 *   - relevance, from the texture of that name, or from `scores`, which has one for each cell;
 *   - saliency, which is one `component` of its texture;
 *   - fixation: that of the last frame times shape.x, plus the largest of the Gaussians around the positions
 *     that were looked at. There are span.y such positions, from float span.x on.
 * Inputs that `has` does not name count as 0.
 *
 * It also keeps the luma of the image. Both are one kernel because a launch takes a GPU longer than either.
 */
kernel void temporal_remember(TEXTURE_IN(relevance), TEXTURE_IN(saliency), TEXTURE_IN(temporal),
                              TEXTURE_IN(source), const int has, const int component, const int image,
                              global const float *restrict scores, global const float *restrict positions,
                              const int2 span, const float4 shape, TEXTURE_OUT(state), TEXTURE_OUT(luma)) {
    const int column = get_global_id(0), row = get_global_id(1);
    if ((has & MAKES_LUMA) && column * RUN < luma_size.x && row < luma_size.y)
        keep_luma(TEXTURE(source), image, column * RUN, row, OUTPUT(luma));
    if (!(has & MAKES_STATE) || column >= state_size.x || row >= state_size.y) return;
    const float2 at = (float2)((column + 0.5f) * CELL, (row + 0.5f) * CELL);
    float4 value = (float4)(0.0f, 0.0f, 0.0f, 0.0f);
    if (has & HAS_RELEVANCE) value.x = texel_sample(relevance, at.x, at.y, 0, TVLM_TEMPORAL_LEVEL).x;
    if (has & HAS_SCORES) value.x = relevance_of(scores[row * state_size.x + column]);
    const float4 salient = texel_sample(saliency, at.x, at.y, image * saliency_size.z, TVLM_TEMPORAL_LEVEL);
    value.y = component == 0   ? salient.x
              : component == 1 ? salient.y
              : component == 2 ? salient.z
                               : salient.w;
    if (has & HAS_TEMPORAL) value.z = shape.x * texel_fetch(temporal, column, row, image, 0).z;
    value.z += gaussian(positions + span.x, span.y, shape, at);
    texel_store(state, column, row, image, clamp(value, 0.0f, 1.0f));
}

/* The centre, in pixels, of that part of a cell that lies in the image. */
HELPER float centre_of(int cell, float side) {
    return 0.5f * (cell * CELL + min((cell + 1.0f) * CELL, side));
}

/*
 * Writes the channels of images `first` and up. The backward flow at a cell's centre says where the cell was,
 * and the cell takes the state from there. It is 0 where the flow's confidence is below `confidence`, or the
 * flow leaves the image. Without flow (`has_flow` 0) the state stays in its cell. view = width and height of
 * the image in pixels.
 */
kernel void temporal(TEXTURE_IN(state), TEXTURE_IN(flow), const int has_flow, const float confidence,
                     const float2 view, const int first, TEXTURE_OUT(result)) {
    const int column = get_global_id(0), row = get_global_id(1), image = first + get_global_id(2);
    if (column >= result_size.x || row >= result_size.y) return;
    float4 value = texel_fetch(state, column, row, image, 0);
    if (has_flow) {
        const float x = centre_of(column, view.x), y = centre_of(row, view.y);
        const float4 step = texel_sample(flow, x, y, image * flow_size.z, TVLM_TEMPORAL_LEVEL);
        const float from_x = x + step.x, from_y = y + step.y;
        /* Flow that is not finite fails these comparisons, too. */
        const bool valid =
            step.z >= confidence && from_x >= 0.0f && from_x <= view.x && from_y >= 0.0f && from_y <= view.y;
        value = 0.0f;
        if (valid)
            value = texel_sample(state, (column + 0.5f) * CELL + step.x, (row + 0.5f) * CELL + step.y, image,
                                 0.0f);
    }
    texel_store(result, column, row, image, (float4)(value.xyz, 0.0f));
}

/* Writes 0 everywhere. It runs where no image of the batch has a previous frame. */
kernel void temporal_none(TEXTURE_OUT(result)) {
    const int x = get_global_id(0), y = get_global_id(1), image = get_global_id(2);
    if (x < result_size.x && y < result_size.y) texel_store(result, x, y, image, (float4)(0.0f));
}
