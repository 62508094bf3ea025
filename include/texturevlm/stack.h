/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h: everything that is known about an image, made once and read by every question.
 *
 *     tvlm_stack *stack = NULL;
 *     tvlm_stack_create_for_image(device, &image, NULL, &stack);
 *     tvlm_select(stack, NULL, NULL, &selection); // select.h
 *     tvlm_stack_destroy(&stack);
 *
 * A stack holds channels (layout.h) for a batch of images, on its device. The images have one size, unless each
 * is given its own (tvlm_stack_params.sizes). Channels that are made together form a family, such as "visual" or
 * "saliency". Each family has its natural size, and mip levels. A family is made when something first reads it,
 * and a new image makes it outdated. A channel that the stack's layout lacks is added when something needs it.
 */
#ifndef TEXTUREVLM_STACK_H
#define TEXTUREVLM_STACK_H

#include "device.h"
#include "image.h"
#include "layout.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tvlm_stack tvlm_stack;
typedef struct tvlm_packed tvlm_packed;
struct tvlm_network; /* lab/network.h */

struct tvlm_stack_params {
    /* The name of a layout, or a list of channels. NULL means full40. */
    const char *layout;
    /*
     * The size of the working images, at most the device's limit. Both 0 means
     *   - for the layouts patch13 and scene18: 32 x 32;
     *   - for others, in tvlm_stack_create_for_image only: the image's own size, or the largest size of its
     *     shape that fits (tvlm_stack_fit).
     */
    int32_t width, height;
    /* How many images the batch has; 0 means 1. */
    int32_t images;
    tvlm_format format;
    /* x and y of the fixation, in pixels of the working image. Eccentricity is measured from there. NULL means the
     * centre. */
    const float *fixation;
    /* How many regions are wanted, 1 .. 2048 (regions.h); 0 means 50. */
    int32_t clusters;
    /* The compactness of SLIC: the colour difference that the width of a cell counts as; 0 means 10. */
    float compactness;
    /* How many bytes of the device's memory the stack may take, as tvlm_stack_need counts them. It is for an
     * application that shares the device with a model. A given size that needs more is refused. 0 means seven
     * eighths of the memory that there is, and then bounds only sizes that are not given. */
    uint64_t memory_max;
    /* The network that makes the channels learned_0 and up (lab/network.h). The layout may have the names of its
     * outputs. It is copied. NULL means that there is no network, and that these channels are 0. Networks are of
     * the lab: a build without it refuses them with UNSUPPORTED. */
    const struct tvlm_network *network;
    /*
     * [images][2]: the width and the height of each working image. It is copied. NULL: all images have one size.
     * Of the functions that create a stack, only tvlm_stack_create takes sizes.
     *
     * A batch with sizes is *ragged*. Its images lie in one texture array, each with an extent of its own, and a
     * family is made for all of them at once. No image reads its neighbours' texels, so that each is what it
     * would be alone, to the bit and at every level.
     *
     *   - `width` and `height` must be 0. The sizes that the stack tells are then the largest width and height.
     *   - `fixation` must be NULL. The fixation of each image is its middle.
     *   - Not all families can be made this way. A channel of another family is refused with the family's name,
     *     also if it is a channel that `network` reads. A layout of NULL means all families that can, except for
     *     what a network makes.
     *   - Such a stack can be read, sampled and packed. Scores, selections and all else are refused.
     */
    const int32_t *sizes;
    /* The longest side that a working image may have, if no size is given; 0: any length. */
    int32_t max_side;
    uint32_t reserved[1];
};
#define tvlm_stack_params(...) TVLM_PARAMS(tvlm_stack_params, __VA_ARGS__)

/*
 * Creates a stack whose images are black. Device memory is taken when families are made.
 *
 * Errors:
 *   - ARGUMENT: sizes, layout, network, a fixation that is not finite or beyond 1e9, or a channel that
 *     TVLM_FORMAT_U8 does not hold;
 *   - DEVICE_MEMORY: it is larger than the device's images or its largest allocation, or takes more than
 *     memory_max;
 *   - UNSUPPORTED: TVLM_FORMAT_U8 on a device whose images of bytes fail the self-test. Open the device with that
 *     format (tvlm_device_params) or with TVLM_STORAGE_BUFFER;
 *   - MEMORY.
 */
TVLM_API tvlm_status tvlm_stack_create(tvlm_device *device, const struct tvlm_stack_params *params,
                                       tvlm_stack **stack);

/* Tells the size of working image `index`, which in a ragged batch is its own. Errors: ARGUMENT. */
TVLM_API tvlm_status tvlm_stack_working_size(const tvlm_stack *stack, int32_t index, int32_t *width,
                                             int32_t *height);

/* Creates a stack of the image's size with the image in it, which is the usual way. If the image is scaled down
 * because the device cannot hold it, a line in the log says so. Errors: those of tvlm_stack_create and
 * tvlm_stack_set_image. */
TVLM_API tvlm_status tvlm_stack_create_for_image(tvlm_device *device, const tvlm_image *image,
                                                 const struct tvlm_stack_params *params, tvlm_stack **stack);

/*
 * Estimates how many bytes of the device's memory a stack of `params` takes when all channels of its layout are
 * made. The estimate may be too high by up to a half. It counts
 *   - the textures with their levels, the pixels on their way in, and what is needed to make the channels;
 *   - on a device that has no memory of its own (a CPU, the reference), the copy of the pixels that the host
 *     resamples.
 *
 * It does not count what is handed in, and what questions need. This is little, unless the texels of level 0 are
 * candidates (select.h, the exhaustive strategy).
 *
 * `params` must give a size, unless the layout has one. Errors: ARGUMENT (sizes, layout).
 */
TVLM_API tvlm_status tvlm_stack_need(tvlm_device *device, const struct tvlm_stack_params *params,
                                     uint64_t *bytes);

/*
 * Shrinks *width x *height, an image's sides, to the largest size of the same shape that a stack of `params`
 * can have. This size keeps within
 *   - params->max_side;
 *   - the size of the device's images, and its largest allocation;
 *   - params->memory_max, as tvlm_stack_need counts. If that is 0, the bound is seven eighths of the device's
 *     memory (tvlm_device_info.memory_bytes). On a CPU and on the reference, it is also seven eighths of what the
 *     process may still take of the host's memory: its limits, those of its control group, and the memory that is
 *     free.
 *
 * What other stacks of the device take is not considered. The size that `params` gives is not looked at. 1 x 1
 * always fits. Errors: ARGUMENT (sides, layout, max_side).
 */
TVLM_API tvlm_status tvlm_stack_fit(tvlm_device *device, const struct tvlm_stack_params *params,
                                    int32_t *width, int32_t *height);

/* Destroys a stack, which must happen before its device is destroyed, and sets *stack to NULL. NULL and a
 * NULL *stack are fine. */
TVLM_API void tvlm_stack_destroy(tvlm_stack **stack);

/*
 * Puts pixels into image `index` of the batch. An image of another size than the stack's is resampled on the
 * host, by area average where it shrinks, and bilinearly where it grows. Positions of later selections are in
 * the pixels of `image` as it was handed in. The caller may change the pixels once the call has returned. `image`
 * NULL takes the pixels that tvlm_stack_send_image has sent ahead. Errors: ARGUMENT (index, image; nothing was
 * sent), MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_stack_set_image(tvlm_stack *stack, int32_t index, const tvlm_image *image);

/*
 * Sends the next pixels of image `index` ahead. They go to the device through a queue of their own, while the
 * device works on the present image. The present image stays, with all that is known of it, until
 * tvlm_stack_set_image with NULL takes in the next one.
 *
 * image->pixels must stay as they are until that call, until the next tvlm_stack_send_image (which replaces what
 * was sent), or until the stack is destroyed. If the device may still read pixels that were sent to this stack
 * before, the call waits until the device is done with them. Errors: those of tvlm_stack_set_image; nothing is
 * sent then.
 */
TVLM_API tvlm_status tvlm_stack_send_image(tvlm_stack *stack, int32_t index, const tvlm_image *image);

/* Moves the fixation of eccentricity, in pixels of the working image. This takes no time, since eccentricity
 * is computed where it is read. */
TVLM_API tvlm_status tvlm_stack_set_fixation(tvlm_stack *stack, float x, float y);

/* How the channels rope_x_cos_0 and so on are made from positions. */
struct tvlm_rope_params {
    /* The base of the frequencies, above 1; 0 means 10000. */
    float theta;
    /* How many dimensions of a model's vectors turn with one coordinate: even, 2 .. 128; 0 means 64. */
    int32_t dimension;
    /* The side of a patch in pixels of the working image, finite and above 0; 0 means 16. */
    float patch;
    uint32_t reserved[5];
};
#define tvlm_rope_params(...) TVLM_PARAMS(tvlm_rope_params, __VA_ARGS__)

/*
 * Sets the parameters of the channels that tell a model where a place is, by rotary position embeddings (Su et al.
 * 2021) along each axis. With p = x / patch, the position in patches,
 *
 *     rope_x_cos_k = 0.5 + 0.5 cos(p theta^(-2k / dimension))
 *
 * rope_x_sin_k is the same with the sine. rope_y_cos_k and rope_y_sin_k are the same for y. These channels are
 * computed where they are read, so that they are exact at every level and take no memory. A model of `dimension`
 * uses the frequencies k < dimension / 2; the channels are there up to k = 63 for any `dimension`.
 *
 * `params` NULL means the defaults, with which a stack begins. Errors: ARGUMENT (numbers out of their ranges), and
 * nothing is changed then.
 */
TVLM_API tvlm_status tvlm_stack_set_rope(tvlm_stack *stack, const struct tvlm_rope_params *params);

/* Enqueues the work that makes all outdated families of the stack's layout. There is no need to call it: functions
 * that read channels make the families that they read. */
TVLM_API tvlm_status tvlm_stack_generate(tvlm_stack *stack);

typedef struct tvlm_stack_info {
    /* The size of the working images; of a ragged batch the largest width and the largest height. */
    int32_t width, height;
    int32_t images;
    /* How many levels an image has: floor(log2(max(width, height))) + 1. */
    int32_t levels;
    tvlm_format format;
    /* The device memory that has been taken so far for textures with their mip levels, and for the lengths and the
     * matrix of features. */
    size_t device_bytes;
    uint64_t reserved[4];
} tvlm_stack_info;
TVLM_API tvlm_status tvlm_stack_get_info(const tvlm_stack *stack, tvlm_stack_info *info);

/* Returns all device memory that the stack takes now: device_bytes, and that of regions, labels, scores and
 * working memory. What the device keeps for all its stacks is not counted. */
TVLM_API size_t tvlm_stack_bytes(const tvlm_stack *stack);

/* Returns the channels of the stack's layout, in order. They are valid while the stack lives. */
TVLM_API const int32_t *tvlm_stack_channels(const tvlm_stack *stack, int32_t *count);

/* Tells the size of a level of the image, 0 being the full size: max(1, floor(side / 2^level)). */
TVLM_API tvlm_status tvlm_stack_level_size(const tvlm_stack *stack, int32_t level, int32_t *width,
                                           int32_t *height);

/*
 * Tells the size of a channel's own grid at its own level `level`, and reads the texels of that level,
 * row-major. `texels` has room for `capacity` floats. Channels without a grid (position, and channels that
 * are not available) have the image's size. Reading waits. Errors: ARGUMENT (channel, a level beyond the last
 * level of the grid, index, a capacity that is too small).
 */
TVLM_API tvlm_status tvlm_stack_channel_size(tvlm_stack *stack, int32_t channel, int32_t level,
                                             int32_t *width, int32_t *height);
TVLM_API tvlm_status tvlm_stack_read(tvlm_stack *stack, int32_t index, int32_t channel, int32_t level,
                                     size_t capacity, float *texels);

/* Does the same as tvlm_stack_channel_size for image `index`. This matters in a ragged batch, in which each image
 * has sizes of its own, and levels down to 1 x 1: there tvlm_stack_channel_size tells the sizes of the largest
 * image. */
TVLM_API tvlm_status tvlm_stack_channel_size_of(tvlm_stack *stack, int32_t index, int32_t channel,
                                                int32_t level, int32_t *width, int32_t *height);

/* A point to sample. */
typedef struct tvlm_sample_point {
    /* In pixels of the working image, with pixel centres at + 0.5. */
    float x, y;
    /* A level of the image, which may be a fraction. It is clamped to the levels that there are. */
    float level;
    /* The image of the batch. */
    int32_t index;
} tvlm_sample_point;

/*
 * Samples any `channel_count` channels at `count` points: out[point * channel_count + c]. Values are
 * trilinear; those of identifiers are nearest in space and level. Points outside the image are clamped to its
 * edge, and points that are NaN are refused. The call waits. Errors: ARGUMENT (a channel, a point, an index),
 * MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_stack_sample(tvlm_stack *stack, const tvlm_sample_point *points, int32_t count,
                                       const int32_t *channels, int32_t channel_count, float *out);

/* The default, all zero, packs the stack's layout at full size. */
struct tvlm_pack_params {
    /* The channels; NULL means those of the stack's layout. */
    const int32_t *channels;
    int32_t channel_count;
    /* The size of the array; 0 means the size of `level`. In a ragged batch both must be 0, which means for each
     * image the size of its own `level`. */
    int32_t width, height;
    /* The level of the image that is read. If a size is given, 0 means log2 of the larger factor by which it
     * shrinks. */
    float level;
    uint64_t reserved[4];
};
#define tvlm_pack_params(...) TVLM_PARAMS(tvlm_pack_params, __VA_ARGS__)

/*
 * Writes channels into one array on the device, four to a slice: channel i of n is in slice image * ceil(n /
 * 4) + i / 4. texturevlm/opencl.h hands the array out. It stays as it is when the stack changes.
 */
TVLM_API tvlm_status tvlm_stack_pack(tvlm_stack *stack, const struct tvlm_pack_params *params,
                                     tvlm_packed **packed);
TVLM_API void tvlm_packed_destroy(tvlm_packed **packed);
TVLM_API tvlm_status tvlm_packed_size(const tvlm_packed *packed, int32_t *width, int32_t *height,
                                      int32_t *channels);

/* Tells the size of one image of a packed array. All images have one size, unless the array is of a ragged
 * batch. */
TVLM_API tvlm_status tvlm_packed_size_of(const tvlm_packed *packed, int32_t index, int32_t *width,
                                         int32_t *height);

/* Reads one image as planes: out[c * height * width + y * width + x]. `out` has room for `capacity` floats.
 * The call waits. */
TVLM_API tvlm_status tvlm_packed_read(tvlm_packed *packed, int32_t index, size_t capacity, float *out);

#ifdef __cplusplus
}
#endif
#endif
