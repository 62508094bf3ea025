/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h: everything known about an image, made once and read by every question.
 *
 * A stack holds the families of its layout for a batch of images of one size, each family at its natural size
 * with mip levels, on its device. Families are generated when something first reads them, and only those that
 * are read; a new image invalidates them. What a layout lacks is added when a reader needs it.
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

struct tvlm_stack_params {
    const char *layout;    /* name of a layout or a list of channels; NULL: full40 */
    int32_t width, height; /* of the working images, 1 .. the device's limit; both 0: 32 x 32 for the layouts
                              patch13 and scene18; for others, in tvlm_stack_create_for_image only, the
                              image's own, or the largest of its shape that the device can hold */
    int32_t images;        /* of the batch; 0: 1 */
    tvlm_format format;
    const float *fixation; /* x, y in pixels of the working image, for eccentricity; NULL: the centre */
    int32_t clusters;      /* regions asked for, 1 .. 2048 (regions.h); 0: 50 */
    float compactness;     /* of SLIC: the colour difference that a cell's width counts as; 0: 10 */
    uint64_t reserved[4];
};
#define tvlm_stack_params(...) TVLM_PARAMS(tvlm_stack_params, __VA_ARGS__)

/*
 * An empty stack (all images black). Device memory is taken when families are generated.
 * Errors: ARGUMENT (sizes, layout, a fixation that is not finite), DEVICE_MEMORY (larger than the device's
 * images), MEMORY.
 */
TVLM_API tvlm_status tvlm_stack_create(tvlm_device *device, const struct tvlm_stack_params *params,
                                       tvlm_stack **stack);

/* A stack of the image's size with the image in it: the usual way. A line in the log says when it was scaled
 * down. */
TVLM_API tvlm_status tvlm_stack_create_for_image(tvlm_device *device, const tvlm_image *image,
                                                 const struct tvlm_stack_params *params, tvlm_stack **stack);

TVLM_API void tvlm_stack_destroy(tvlm_stack **stack);

/*
 * Puts pixels into image `index` of the batch; another size than the stack's is resampled on the host (area
 * average where it shrinks, bilinear where it grows). Positions of later selections are in the pixels of
 * `image` as handed in. The pixels are free to change when it returns.
 */
TVLM_API tvlm_status tvlm_stack_set_image(tvlm_stack *stack, int32_t index, const tvlm_image *image);

/* Moves the fixation of eccentricity (pixels of the working image); costs nothing, since position is a
 * formula. */
TVLM_API tvlm_status tvlm_stack_set_fixation(tvlm_stack *stack, float x, float y);

/* Enqueues what the stack's layout still lacks. Readers do it by themselves, for what they read. */
TVLM_API tvlm_status tvlm_stack_generate(tvlm_stack *stack);

typedef struct tvlm_stack_info {
    int32_t width, height; /* of the working images */
    int32_t images;
    int32_t levels; /* floor(log2(max(width, height))) + 1 */
    tvlm_format format;
    size_t device_bytes; /* taken so far by textures, mip levels included, and for the lengths and
                            the matrix of features */
    uint64_t reserved[4];
} tvlm_stack_info;
TVLM_API tvlm_status tvlm_stack_get_info(const tvlm_stack *stack, tvlm_stack_info *info);

/* All that the stack takes of the device's memory now: device_bytes, and regions, labels, scores and what is
 * kept to work with. Not what the device keeps for all its stacks. */
TVLM_API size_t tvlm_stack_bytes(const tvlm_stack *stack);

/* The channels of the stack's layout, in order; valid while the stack lives. */
TVLM_API const int32_t *tvlm_stack_channels(const tvlm_stack *stack, int32_t *count);

/* The size of image level `level` (0 = full): max(1, floor(side / 2^level)). */
TVLM_API tvlm_status tvlm_stack_level_size(const tvlm_stack *stack, int32_t level, int32_t *width,
                                           int32_t *height);

/*
 * The size of a channel's own grid at its own level `level`, and that level's texels (row-major float,
 * `capacity` of them there). Channels with nothing behind them (position, or not available) have the image's
 * size. Waits. Errors: ARGUMENT (channel, level beyond the grid's last, index, capacity too small).
 */
TVLM_API tvlm_status tvlm_stack_channel_size(tvlm_stack *stack, int32_t channel, int32_t level,
                                             int32_t *width, int32_t *height);
TVLM_API tvlm_status tvlm_stack_read(tvlm_stack *stack, int32_t index, int32_t channel, int32_t level,
                                     size_t capacity, float *texels);

/* Where to sample: pixels of the working image (centres at +0.5), a level of the image (fractions allowed).
 */
typedef struct tvlm_sample_point {
    float x, y;
    float level;   /* >= 0; below 0 it is 0, above the last level the last */
    int32_t index; /* image of the batch */
} tvlm_sample_point;

/*
 * Samples `channel_count` channels (any, across families) at `count` points: out[point * channel_count + c].
 * Trilinear; identifiers nearest in space and level. Positions outside are clamped to the edge. NaN positions
 * are refused. Waits.
 */
TVLM_API tvlm_status tvlm_stack_sample(tvlm_stack *stack, const tvlm_sample_point *points, int32_t count,
                                       const int32_t *channels, int32_t channel_count, float *out);

/* Options of tvlm_stack_pack. All zero: the stack's layout at full size. */
struct tvlm_pack_params {
    const int32_t *channels; /* NULL: the stack's layout */
    int32_t channel_count;
    int32_t width, height; /* 0: the size of `level` */
    float level; /* level to read; with a size given and level 0: log2 of the larger shrink factor */
    uint64_t reserved[4];
};
#define tvlm_pack_params(...) TVLM_PARAMS(tvlm_pack_params, __VA_ARGS__)

/*
 * Writes channels, four to a slice, into one image array of that size (slice = image * ceil(n / 4) + i / 4),
 * on the device. texturevlm/opencl.h hands it out. It stays as it is when the stack changes.
 */
TVLM_API tvlm_status tvlm_stack_pack(tvlm_stack *stack, const struct tvlm_pack_params *params,
                                     tvlm_packed **packed);
TVLM_API void tvlm_packed_destroy(tvlm_packed **packed);
TVLM_API void tvlm_packed_size(const tvlm_packed *packed, int32_t *width, int32_t *height, int32_t *channels);

/* One image as planes: out[c * height * width + y * width + x], `capacity` floats there. Waits. */
TVLM_API tvlm_status tvlm_packed_read(tvlm_packed *packed, int32_t index, size_t capacity, float *out);

#ifdef __cplusplus
}
#endif
#endif
