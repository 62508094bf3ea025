/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/projection.h: a linear map from channels to vectors of another space, such as an encoder's projected tokens.
 * lab/ridge.h learns one.
 *
 *     tvlm_projection_create(tvlm_projection_params(.channels = channels, .channel_count = 16, .outputs = 512,
 *                                                   .weights = weights, .bias = bias, .basis = basis),
 *                            NULL, &projection);
 *     tvlm_projection_apply(projection, stack, points, k, (size_t)k * 512, vectors);
 *
 * A vector is weights times the channels' values at a place, plus the bias.
 *
 * This header is of the lab: it may change in any version.
 */
#ifndef TEXTUREVLM_LAB_PROJECTION_H
#define TEXTUREVLM_LAB_PROJECTION_H

#include "texturevlm/export.h"
#include "texturevlm/features.h"
#include "texturevlm/stack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many inputs and outputs there may be. */
#define TVLM_PROJECTION_INPUTS_MAX  4096
#define TVLM_PROJECTION_OUTPUTS_MAX 65536

typedef struct tvlm_projection tvlm_projection;

/* What a projection consists of. All is copied. */
struct tvlm_projection_params {
    /* [channel_count], 1 .. TVLM_PROJECTION_INPUTS_MAX of them, none twice. */
    const int32_t *channels;
    int32_t channel_count;
    int32_t outputs;
    /* [outputs * channel_count] and [outputs], within -1e15 .. 1e15. A bias of NULL is 0. */
    const float *weights, *bias;
    /* The basis in which the features are embedded before channels embedding_0 and up are read. NULL if the
     * projection reads none of these channels, or if the application sets them. */
    const tvlm_basis *basis;
    uint64_t reserved[4];
};
#define tvlm_projection_params(...) TVLM_PARAMS(tvlm_projection_params, __VA_ARGS__)

/*
 * Creates a projection, which belongs to no device and never changes: any number of threads may read it. Errors:
 * ARGUMENT (sizes, a channel that is unknown or stands twice, a number that is not finite, a basis of fewer
 * components than the embedding channels that are read), MEMORY.
 */
TVLM_API tvlm_status tvlm_projection_create(const struct tvlm_projection_params *params, const tvlm_log *log,
                                            tvlm_projection **projection);
TVLM_API void tvlm_projection_destroy(tvlm_projection **projection);

/* Tells what the projection was made of. The bias is never NULL here. The arrays are valid while the projection
 * lives. */
TVLM_API tvlm_status tvlm_projection_get_params(const tvlm_projection *projection,
                                                struct tvlm_projection_params *params);

/*
 * Finds the vectors of `count` points of a stack: out[count * outputs], where there is room for `capacity` floats.
 * If the projection has a basis, the features of each image that has points are first embedded in it
 * (tvlm_stack_embed), which sets the image's embedding. Waits.
 *
 * Errors: those of tvlm_stack_sample and tvlm_stack_embed; ARGUMENT also if the capacity is too small, or if an
 * image has no input for a channel that is read (tvlm_stack_has_channel).
 */
TVLM_API tvlm_status tvlm_projection_apply(const tvlm_projection *projection, tvlm_stack *stack,
                                           const tvlm_sample_point *points, int32_t count, size_t capacity,
                                           float *out);

/*
 * Adds a tensor to later runs of an export, visual_tokens: what a projection makes of each chosen token. The
 * projection reads its channels from the picture as it is processed, at the middle of the token, and at the level
 * whose texels are as large as the token. If the projection has a basis, the pictures need features. The
 * projection must live as long as the export, or until another is set. NULL means that there is none. Errors:
 * ARGUMENT (a model that takes crops, a video).
 */
TVLM_API tvlm_status tvlm_export_set_projection(tvlm_export *exported, const tvlm_projection *projection);

#ifdef __cplusplus
}
#endif
#endif
