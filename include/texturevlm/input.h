/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.h: hands a stack what the application knows of an image beside its pixels: attention, embeddings,
 * depth, masks, planes of its own. Each is a grid of any size over the image, and is read like any other
 * channel.
 *
 *     tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_DEPTH,
 *                         tvlm_grid_input(.data = depth, .columns = 640, .rows = 480));
 *
 * A grid stays with its image of the batch until another one is set, or until it is cleared; a new image does
 * not touch it. For each family, the grids of all images of a stack have the same size. The first grid that is
 * set decides this size. Where an image has no grid, its channels are 0. To change the size, clear the grid of
 * all images first; a stack of only one image may be given a grid of any size at any time.
 *
 *   channel                         the grid's channels    what becomes of the values
 *   attention_prev, attention, gaze 1                      clamped to [0, 1]; each channel is a grid of its own
 *   embedding_0                     C = 1..64              unit vectors: embedding_0 .. embedding_(C-1)
 *   feature_0                       D = 1..4096            kept: the encoder's own vectors, one for each cell
 *   depth                           1                      kept
 *   occlusion                       1                      clamped to [0, 1]; made from depth if it is not set
 *   normal_x                        3: x, y, z             unit vectors; made from depth if it is not set
 *   object_id                       1: whole numbers       numbered anew from 0, in ascending order
 *   vocab_id                        1: the number          kept; 0 .. 65535, or 0 .. 2048 unless the format is f32
 *                                   2: and vocab_residual  the residual is clamped to [0, 2] (lab/vocab.h)
 *   flow_u                          2: u, v                kept, in pixels of level 0; flow_confidence is 1
 *                                   3: and confidence      the confidence is clamped to [0, 1]
 *   saliency, motion                1                      clamped to [0, 1]; replaces what the library makes
 *   text                            1                      1 where it is >= 0.5, else 0; replaces the library's
 *
 * Embeddings and normals are scaled to unit length wherever they are read, at any position and level. A vector
 * that is 0 stays 0. Where vectors that are averaged cancel out, so that their mean is shorter than 1e-3, the
 * result is 0. In half format, values that half cannot hold are clamped to +-65504.
 *
 * *From depth.* Depth z is above 0. A value of 0 or less means that the depth is unknown; occlusion and normal
 * are 0 there.
 *
 *   - occlusion marks the far side of steps. For a texel and two neighbours n and m on opposite sides of it,
 *     the step is min(z/z_n - 1, z/z_n - 2 + z/z_m). With s the largest step over the eight neighbours,
 *     occlusion is (s - 0.05) / 0.2, clamped to [0, 1]. Planes have none, however steep they are, since 1/z is
 *     linear on them.
 *   - normal is the normal of the surface through the points (z (x - cx)/fx, z (y - cy)/fy, z). It is computed
 *     from the differences between the two neighbours on either side; at a step, from the difference to the
 *     neighbour that is nearer in depth. x points to the right, y down, and z towards the camera: a wall that
 *     faces the camera has (0, 0, 1).
 */
#ifndef TEXTUREVLM_INPUT_H
#define TEXTUREVLM_INPUT_H

#include "stack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The type of a grid's values: float, or IEEE half. */
typedef enum tvlm_value_type { TVLM_VALUE_F32 = 0, TVLM_VALUE_F16 } tvlm_value_type;

/* A grid. If only data, columns and rows are given, it consists of floats in one channel, has no gaps, and
 * covers the whole image. */
struct tvlm_grid_input {
    /* The values, row after row from the top, the channels of a cell beside each other, with any
     * alignment. */
    const void *data;
    /* At least 1. */
    int32_t columns, rows;
    /* 0 means 1. */
    int32_t channels;
    tvlm_value_type type;
    /* The bytes from one row to the next, a multiple of a value's bytes; 0 means that there are no gaps. */
    size_t row_stride;
    /* The width and height of a cell in pixels of the working image, so that the grid covers columns * cell
     * by rows * cell of them. 0 means that the grid covers the whole image. */
    float cell;
    /* NaN and infinite values become 0. Otherwise they are refused. */
    bool replace_nonfinite;
    /* Only for depth: the camera's focal lengths and its principal point, in pixels of the working image. For fx
     * and fy, 0 means max(width, height). If cx and cy are both 0, they mean the centre of the image. */
    float fx, fy, cx, cy;
    uint64_t reserved[4];
};
#define tvlm_grid_input(...) TVLM_PARAMS(tvlm_grid_input, __VA_ARGS__)

/*
 * Sets the grid of a channel of image `index`. The channel is one of the table above, or any other channel of
 * the same family. The caller may change the data once the call has returned. What was made from an earlier
 * grid is made anew when it is next read.
 *
 * Errors: DEVICE_MEMORY, MEMORY; ARGUMENT, and nothing is changed, for
 *   - a channel that cannot be handed in;
 *   - sizes, a number of channels or a stride that are out of their range;
 *   - with `cell`, an extent that differs from the image's by more than a cell;
 *   - a camera that has a negative focal length, or a number that is not finite;
 *   - a value that is not finite: the log names it by its number (row * columns + column) * channels + channel;
 *   - an identifier that is not a whole number, or more than 2049 different identifiers;
 *   - a vocab_id that the stack's format cannot hold;
 *   - a grid of another size than the grids of the other images.
 */
TVLM_API tvlm_status tvlm_stack_set_grid(tvlm_stack *stack, int32_t index, int32_t channel,
                                         const struct tvlm_grid_input *input);

/*
 * How each mip level is made from the level before it. A texel of the new level covers an area of the level
 * before. It gets
 *
 *   - with MEAN, MAX or MIN: the mean over this area, or the largest or the smallest of its texels;
 *   - with MODE: the value that takes the largest part of the area. This is for identifiers: whole numbers of
 *     -2048 .. 2048, which are sampled nearest;
 *   - with GAUSSIAN: the mean over the area, after the level before was smoothed by (1 2 1) / 4 along both axes,
 *     with its edges repeated. Where a side is even, both steps together are the binomial (1 3 3 1) / 8 (Burt &
 *     Adelson 1983, but with each texel of the new level between two texels of the level before).
 */
typedef enum tvlm_reduce { TVLM_MEAN = 0, TVLM_MAX, TVLM_MIN, TVLM_MODE, TVLM_GAUSSIAN } tvlm_reduce;

/*
 * Chooses how mip levels are made for those of the library's channels whose levels are means:
 *
 *   - TVLM_MEAN: what a stack begins with;
 *   - TVLM_GAUSSIAN: aliases less, and blurs more.
 *
 * Channels with another reduction keep it, and so do the application's own planes. The call outdates all
 * families, since what the library makes from an image's levels, such as saliency, depends on the choice.
 * Errors: ARGUMENT (another reduction).
 */
TVLM_API tvlm_status tvlm_stack_set_reduce(tvlm_stack *stack, tvlm_reduce reduce);

/*
 * Sets a plane of the application's own, which has one channel. From then on, `name` stands for channel
 * TVLM_CHANNEL_USER_0 + n of this stack in all its functions; *channel becomes that number, unless `channel`
 * is NULL.
 *
 *   - A name consists of letters, digits, '_', '-', '.' and '@', is shorter than TVLM_CHANNEL_NAME_SIZE, and
 *     is not the name of a channel or a layout. There can be TVLM_USER_PLANES_MAX names. A name stays known
 *     when its grids are cleared.
 *   - Values are clamped to [low, high]; if both are 0, they are not clamped.
 *   - Whoever sets a name again, for another image or for the same one, must give the same range and
 *     reduction.
 *
 * Errors: those of tvlm_stack_set_grid. ARGUMENT also means that one of these rules is broken, or that the
 * stack has TVLM_FORMAT_U8, which cannot hold the range (identifiers may have any range).
 */
TVLM_API tvlm_status tvlm_stack_set_user(tvlm_stack *stack, int32_t index, const char *name, float low,
                                         float high, tvlm_reduce reduce, const struct tvlm_grid_input *input,
                                         int32_t *channel);

/*
 * Takes back a grid of image `index`, or of all images (-1): its channels are 0 again, or what the library
 * makes. Words (features.h) and previous_pass (score.h) are taken back by this, too. It is no error if there is
 * no grid.
 */
TVLM_API tvlm_status tvlm_stack_clear_grid(tvlm_stack *stack, int32_t index, int32_t channel);

/* The same as tvlm_channel_get_info, tvlm_channel_find and tvlm_layout_parse, with the stack's own planes
 * among the channels. */
TVLM_API tvlm_status tvlm_stack_get_channel_info(const tvlm_stack *stack, int32_t channel,
                                                 tvlm_channel_info *info);
TVLM_API int32_t tvlm_stack_channel_find(const tvlm_stack *stack, const char *name);
TVLM_API tvlm_status tvlm_stack_parse(const tvlm_stack *stack, const char *text, int32_t capacity,
                                      int32_t *channels, int32_t *count);

/*
 * Tells whether image `index` has an input for a channel. If it has none, the channel is 0 everywhere. Such an
 * input is
 *
 *   - the image's pixels, or a formula;
 *   - a grid that was handed in. An embedding has as many channels as were handed in, rounded up to a multiple
 *     of four;
 *   - a question;
 *   - a frame before this one;
 *   - for an output of the stack's network, an input for every channel that the network reads.
 *
 * The call makes no channel to find this out. Errors: ARGUMENT.
 */
TVLM_API tvlm_status tvlm_stack_has_channel(const tvlm_stack *stack, int32_t index, int32_t channel,
                                            bool *has);

/*
 * Marks a channel as outdated, and all that depends on it. Both are made anew when they are next read, or by
 * tvlm_stack_make_all; everything else stays as it is. If the channel was handed in, only what depends on it
 * is outdated.
 */
TVLM_API tvlm_status tvlm_stack_invalidate(tvlm_stack *stack, int32_t channel);

#ifdef __cplusplus
}
#endif
#endif
