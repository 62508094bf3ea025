/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input.h: what an application knows of an image beside its pixels: attention, embeddings, depth, masks,
 * planes of its own. Each is a grid of any size over the image; a stack takes it in, and reads it like every
 * other channel.
 *
 * A grid stays with its image of the batch until another one is set or it is cleared; a new image does not
 * touch it. All images of a stack have one size of grid in common for each family (the first one that is set
 * decides; images without one are 0): to change it, clear the grid of all images first. With one image any
 * size may follow any other.
 *
 *   channel                         the grid's channels  what becomes of it
 *   attention_prev, attention, gaze 1                    clamped to [0, 1]; each a grid of its own
 *   embedding_0                     C = 1..64            unit vectors: embedding_0 .. embedding_(C-1)
 *   feature_0                       D = 1..4096          as given: the encoder's own vectors, one a cell
 *   depth                           1                    as given
 *   occlusion                       1                    clamped to [0, 1]; not set: from depth
 *   normal_x                        3: x, y, z           unit vectors; not set: from depth
 *   object_id                       1, whole numbers     0, 1, ...: the n-th smallest of the image is n
 *   flow_u                          2: u, v              as given, pixels of level 0; flow_confidence 1
 *                                   3: and confidence    and it clamped to [0, 1]
 *   saliency, motion                1                    clamped to [0, 1], in place of the library's
 *   text                            1                    1 from a half on, else 0, in place of its own
 *
 * Embeddings and normals are brought to unit length wherever they are read, at any position and level; 0
 * stays 0, and where vectors cancel out (shorter than 1e-3) they are 0. In half format what half cannot hold
 * is clamped to
 * +-65504.
 *
 * *From depth* z (above 0; 0 and less is unknown: occlusion and normal are 0 there):
 * - occlusion: of a texel and two neighbours n, m on opposite sides of it, min(z/z_n - 1, z/z_n - 2 + z/z_m);
 *   the largest over the eight neighbours, less 0.05, over 0.2, in [0, 1]. It marks the farther side of
 *   steps; planes have none, however steep, since 1/z is linear on them.
 * - normal: of the surface through the points (z (x - cx)/fx, z (y - cy)/fy, z), from the differences across
 *   both neighbours, or, at steps, to the one that is nearer in depth. x is to the right, y down, z towards
 *   the camera: a wall that faces it is (0, 0, 1).
 */
#ifndef TEXTUREVLM_INPUT_H
#define TEXTUREVLM_INPUT_H

#include "stack.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tvlm_value_type {
    TVLM_VALUE_F32 = 0,
    TVLM_VALUE_F16 /* IEEE half */
} tvlm_value_type;

/* A grid. All zero but data, columns and rows: float, one channel, without gaps, over the whole image. */
struct tvlm_grid_input {
    /* Row-major, the first row on top; the channels of a cell beside each other. Any alignment. */
    const void *data;
    int32_t columns, rows; /* >= 1 */
    int32_t channels;      /* 0: 1 */
    tvlm_value_type type;
    size_t row_stride; /* bytes from one row to the next, a multiple of a value's; 0: no gaps */
    float cell; /* pixels of the working image that a cell is wide and high: the grid covers columns * cell.
                   0: the grid covers the whole image */
    bool replace_nonfinite; /* NaN and Inf become 0; otherwise they are refused */
    float fx, fy, cx, cy; /* depth: the camera, in pixels of the working image. fx, fy 0: max(width, height);
                             cx and cy 0: the centre */
    uint64_t reserved[4];
};
#define tvlm_grid_input(...) TVLM_PARAMS(tvlm_grid_input, __VA_ARGS__)

/*
 * Sets the grid of a channel (one of the table above; any channel of its family will do) of image `index`.
 * The data are free to change when it returns. What was made from the last one is made anew when it is next
 * read.
 * Errors: ARGUMENT, and nothing is changed (a channel that is not handed in; sizes, channels, stride;
 * with `cell`, an extent that differs from the image's by more than a cell; a value that is not finite, by
 * its number (row * columns + column) * channels + channel; an identifier that is no whole number, or more
 * than 2049 of them; another size than another image's), DEVICE_MEMORY, MEMORY.
 */
TVLM_API tvlm_status tvlm_stack_set_grid(tvlm_stack *stack, int32_t index, int32_t channel,
                                         const struct tvlm_grid_input *input);

/* How one level of a plane follows from the last. */
typedef enum tvlm_reduce {
    TVLM_MEAN = 0,
    TVLM_MAX,
    TVLM_MIN,
    TVLM_MODE /* for identifiers: whole numbers of -2048 .. 2048, sampled nearest */
} tvlm_reduce;

/*
 * A plane of the application's own, of one channel: `name` (letters, digits, '_', '-', '.', '@'; not a
 * channel's or a layout's, shorter than TVLM_CHANNEL_NAME_SIZE) stands from now on for channel
 * TVLM_CHANNEL_USER_0 + n of this stack, *channel (may be NULL), in all its functions. Values are clamped to
 * [low, high]; both 0: not at all. Setting a name again (for another image, or anew) must give the same range
 * and reduction. At most TVLM_USER_PLANES_MAX names; a name stays known when its grids are cleared. Errors as
 * above.
 */
TVLM_API tvlm_status tvlm_stack_set_user(tvlm_stack *stack, int32_t index, const char *name, float low,
                                         float high, tvlm_reduce reduce, const struct tvlm_grid_input *input,
                                         int32_t *channel);

/*
 * Takes a grid back, of image `index` or of all (-1): its channels are 0 again, or what the library makes of
 * them. Words (embed.h) and previous_pass (score.h) go by it, too. No error when there is none.
 */
TVLM_API tvlm_status tvlm_stack_clear_grid(tvlm_stack *stack, int32_t index, int32_t channel);

/* As tvlm_channel_get_info, tvlm_channel_find and tvlm_layout_parse, the stack's own planes among the
 * channels. */
TVLM_API tvlm_status tvlm_stack_channel_info(const tvlm_stack *stack, int32_t channel,
                                             tvlm_channel_info *info);
TVLM_API int32_t tvlm_stack_channel_find(const tvlm_stack *stack, const char *name);
TVLM_API tvlm_status tvlm_stack_parse(const tvlm_stack *stack, const char *text, int32_t capacity,
                                      int32_t *channels, int32_t *count);

/*
 * Whether anything stands behind a channel in image `index`: its pixels, a formula, a grid that was handed in
 * (for embeddings, up to the next multiple of four of the channels handed in), a question, or a frame before.
 * Where nothing does, the channel is 0 everywhere. Nothing is made to find out. Errors: ARGUMENT.
 */
TVLM_API tvlm_status tvlm_stack_has_channel(const tvlm_stack *stack, int32_t index, int32_t channel,
                                            bool *has);

/*
 * Marks what a channel holds as out of date, and all that depends on it; both are made anew when they are
 * next read, or by tvlm_stack_generate, and nothing else is. Of a channel that was handed in only what
 * depends on it.
 */
TVLM_API tvlm_status tvlm_stack_invalidate(tvlm_stack *stack, int32_t channel);

#ifdef __cplusplus
}
#endif
#endif
