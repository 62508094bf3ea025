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
 * not touch it. All images of a stack have grids of one size for each family. The first grid that is set
 * decides it, and images without a grid are 0. To change the size, clear the grid of all images first; with
 * only one image, any size may follow any other.
 *
 *   channel                         the grid's channels  what becomes of it
 *   attention_prev, attention, gaze 1                    clamped to [0, 1]; each a grid of its own
 *   embedding_0                     C = 1..64            unit vectors: embedding_0 .. embedding_(C-1)
 *   feature_0                       D = 1..4096          as given: the encoder's own vectors, one a cell
 *   depth                           1                    as given
 *   occlusion                       1                    clamped to [0, 1]; not set: from depth
 *   normal_x                        3: x, y, z           unit vectors; not set: from depth
 *   object_id                       1, whole numbers     0, 1, ...: the n-th smallest of the image is n
 *   vocab_id                        1: number            as given, 0 .. 65535; not in f32: 0 .. 2048
 *                                   2: and vocab_residual  and it clamped to [0, 2] (vocab.h)
 *   flow_u                          2: u, v              as given, pixels of level 0; flow_confidence 1
 *                                   3: and confidence    and it clamped to [0, 1]
 *   saliency, motion                1                    clamped to [0, 1], in place of the library's
 *   text                            1                    1 from a half on, else 0, in place of its own
 *
 * Embeddings and normals are scaled to unit length wherever they are read, at any position and level. 0 stays
 * 0, and where vectors cancel out, so that less than 1e-3 is left, they are 0. In half format, values that
 * half cannot hold are clamped to +-65504.
 *
 * *From depth.* Depth z is above 0; 0 and less means that it is unknown, and occlusion and normal are 0
 * there.
 *
 *   - occlusion marks the far side of steps. For a texel and two neighbours n and m on opposite sides of it,
 *     the step is min(z/z_n - 1, z/z_n - 2 + z/z_m). The largest step over the eight neighbours, less 0.05
 *     and over 0.2, clamped to [0, 1], is the occlusion. Planes have none, however steep they are, since 1/z
 *     is linear on them.
 *   - normal is that of the surface through the points (z (x - cx)/fx, z (y - cy)/fy, z), from the
 *     differences across both neighbours, or, at steps, to the neighbour that is nearer in depth. x is to the
 *     right, y down, and z towards the camera: a wall that faces the camera has (0, 0, 1).
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
    /* With depth: the camera, in pixels of the working image. 0 means max(width, height) for fx and fy, and
     * the centre for cx and cy together. */
    float fx, fy, cx, cy;
    uint64_t reserved[4];
};
#define tvlm_grid_input(...) TVLM_PARAMS(tvlm_grid_input, __VA_ARGS__)

/*
 * Sets the grid of a channel of image `index`. The channel is one of the table above, or any other of its
 * family. The data are free to change when the call returns. What was made from an earlier grid is made anew
 * when it is next read.
 *
 * Errors: DEVICE_MEMORY, MEMORY; ARGUMENT, and nothing is changed, for
 *   - a channel that cannot be handed in;
 *   - sizes, channels, stride;
 *   - with `cell`, an extent that differs from the image's by more than a cell;
 *   - a value that is not finite, which is named by its number (row * columns + column) * channels + channel;
 *   - an identifier that is no whole number, or more than 2049 different ones; a number of a centre that
 *     the stack's format does not hold;
 *   - another size than that of another image's grid.
 */
TVLM_API tvlm_status tvlm_stack_set_grid(tvlm_stack *stack, int32_t index, int32_t channel,
                                         const struct tvlm_grid_input *input);

/*
 * How each mip level is made from the level before: the mean over the area of its texels, the largest, or the smallest of
 * them. MODE is for identifiers, whole numbers of -2048 .. 2048, which are sampled nearest. GAUSSIAN smooths the level
 * before by (1 2 1) / 4 along both axes, with its edges repeated, and then takes the mean; where a side is even that is
 * the binomial (1 3 3 1) / 8 (Burt & Adelson 1983, with texels of the next level between two of the one before).
 */
typedef enum tvlm_reduce { TVLM_MEAN = 0, TVLM_MAX, TVLM_MIN, TVLM_MODE, TVLM_GAUSSIAN } tvlm_reduce;

/*
 * Says how the levels of channels are made whose levels are means: by TVLM_MEAN, which is what a stack begins with, or by
 * TVLM_GAUSSIAN, which aliases less and is blurred more. Other channels stay as they are, and so do planes of the
 * application's own. All families are outdated: what the library makes of an image's levels, such as saliency, is made of
 * these ones. Errors: ARGUMENT (another reduction).
 */
TVLM_API tvlm_status tvlm_stack_set_reduce(tvlm_stack *stack, tvlm_reduce reduce);

/*
 * Sets a plane of the application's own, which has one channel. From then on, `name` stands for channel
 * TVLM_CHANNEL_USER_0 + n of this stack in all its functions; *channel becomes that number, unless `channel`
 * is NULL.
 *
 *   - A name consists of letters, digits, '_', '-', '.' and '@', is shorter than TVLM_CHANNEL_NAME_SIZE, and
 *     is none of a channel or a layout. There can be TVLM_USER_PLANES_MAX names. A name stays known when its
 *     grids are cleared.
 *   - Values are clamped to [low, high]; if both are 0, they are not clamped.
 *   - Setting a name again, for another image or anew, must give the same range and reduction.
 *
 * Errors: as above, and ARGUMENT for these; and for a range, not of identifiers, that TVLM_FORMAT_U8 does not hold in a
 * stack of that.
 */
TVLM_API tvlm_status tvlm_stack_set_user(tvlm_stack *stack, int32_t index, const char *name, float low,
                                         float high, tvlm_reduce reduce, const struct tvlm_grid_input *input,
                                         int32_t *channel);

/*
 * Takes back a grid of image `index`, or of all images (-1): its channels are 0 again, or what the library
 * makes. Words (embed.h) and previous_pass (score.h) are taken back by this, too. It is no error if there is
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
 * Tells whether anything stands behind a channel in image `index`: its pixels, a formula, a grid that was
 * handed in (for embeddings, as many channels as were handed in, rounded up to four), a question, a frame
 * before, or, for an output of the stack's network, all that the network reads. Where nothing does, the channel is 0 everywhere. Nothing is made to find this out. Errors:
 * ARGUMENT.
 */
TVLM_API tvlm_status tvlm_stack_has_channel(const tvlm_stack *stack, int32_t index, int32_t channel,
                                            bool *has);

/*
 * Marks what a channel holds as outdated, and all that depends on it. Both are made anew when they are next
 * read, or by tvlm_stack_generate, and nothing else is. If the channel was handed in, only what depends on it
 * is outdated.
 */
TVLM_API tvlm_status tvlm_stack_invalidate(tvlm_stack *stack, int32_t channel);

#ifdef __cplusplus
}
#endif
#endif
