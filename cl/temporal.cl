/* SPDX-License-Identifier: Apache-2.0 */
/*
 * temporal.cl: the three temporal channels of each cell of 16 x 16 pixels: what was relevant, what was
 * salient, and what was looked at in the frame before.
 *
 *   1. When a frame ends, temporal_remember makes a state of these three for one image. temporal_relevance
 *      first makes its scores a texture, so that they can be sampled at the cells.
 *   2. `temporal` moves the state into the next frame, along the flow back from that frame.
 *
 * Each work-item makes one cell.
 */
#include "texture.clh"

#define CELL TVLM_CELL

/* Copies a map of scores into a texture of one slice. Scores are clamped to [0, 1], and NaN becomes 0. */
kernel void temporal_relevance(global const float *restrict scores, TEXTURE_OUT(relevance)) {
    const int x = get_global_id(0), y = get_global_id(1);
    if (x >= relevance_size.x || y >= relevance_size.y) return;
    const float score = scores[y * relevance_size.x + x];
    texel_store(relevance, x, y, 0,
                (float4)(isnan(score) ? 0.0f : clamp(score, 0.0f, 1.0f), 0.0f, 0.0f, 0.0f));
}

/*
 * The largest at point `at` of Gaussians around `count` positions, all in pixels. The largest is that of the
 * nearest position. shape = (unused here, -1 / (2 sigma^2), square of the distance from which it is 0,
 * unused).
 */
HELPER float gaussian(global const float2 *restrict positions, int count, float4 shape, float2 at) {
    float nearest = shape.z;
    for (int i = 0; i < count; ++i) {
        const float2 apart = positions[i] - at;
        nearest = min(nearest, apart.x * apart.x + apart.y * apart.y);
    }
    return nearest < shape.z ? exp(nearest * shape.y) : 0.0f;
}

/* Which inputs of temporal_remember there are; lib/opencl/temporal.c has the same numbers. */
enum { HAS_RELEVANCE = 1, HAS_TEMPORAL = 2 };

/*
 * Writes the state of one image: relevance, saliency (one `component` of its texture) and fixation, at the
 * centres of the cells. Fixation is the last frame's times shape.x, plus the Gaussians around the positions
 * that were looked at. Inputs that `has` does not name count as 0.
 */
kernel void temporal_remember(TEXTURE_IN(relevance), TEXTURE_IN(saliency), TEXTURE_IN(temporal),
                              const int has, const int component, const int image,
                              global const float2 *restrict positions, const int count, const float4 shape,
                              TEXTURE_OUT(state)) {
    const int column = get_global_id(0), row = get_global_id(1);
    if (column >= state_size.x || row >= state_size.y) return;
    const float2 at = (float2)((column + 0.5f) * CELL, (row + 0.5f) * CELL);
    float4 value = (float4)(0.0f, 0.0f, 0.0f, 0.0f);
    if (has & HAS_RELEVANCE) value.x = texel_sample(relevance, at.x, at.y, 0, TVLM_TEMPORAL_LEVEL).x;
    const float4 salient = texel_sample(saliency, at.x, at.y, image * saliency_size.z, TVLM_TEMPORAL_LEVEL);
    value.y = component == 0   ? salient.x
              : component == 1 ? salient.y
              : component == 2 ? salient.z
                               : salient.w;
    if (has & HAS_TEMPORAL) value.z = shape.x * texel_fetch(temporal, column, row, image, 0).z;
    value.z += gaussian(positions, count, shape, at);
    texel_store(state, column, row, image, clamp(value, 0.0f, 1.0f));
}

/* The centre, in pixels, of that part of a cell that lies in the image. */
HELPER float centre_of(int cell, float side) {
    return 0.5f * (cell * CELL + min((cell + 1.0f) * CELL, side));
}

/*
 * Writes the channels of images `first` and up. A cell takes the state from where the backward flow at its
 * centre says that it was; it is 0 where the flow's confidence is below `confidence` or the flow leaves the
 * image. Without flow (`has_flow` 0) the state stays in its cell. view = width and height of the image in
 * pixels.
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

/* Writes 0 everywhere, where no image of the batch has a previous frame. */
kernel void temporal_none(TEXTURE_OUT(result)) {
    const int x = get_global_id(0), y = get_global_id(1), image = get_global_id(2);
    if (x < result_size.x && y < result_size.y) texel_store(result, x, y, image, (float4)(0.0f));
}
