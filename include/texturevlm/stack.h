/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h: everything that is known about an image, made once and read by every question.
 *
 *     tvlm_stack *stack = NULL;
 *     tvlm_stack_create_for_image(device, &image, NULL, &stack);
 *     tvlm_select(stack, NULL, NULL, &selection); // select.h
 *     tvlm_stack_destroy(&stack);
 *
 * A stack holds channels (channels.h) for a batch of images, on its device. The images have one size, unless each
 * is given its own (tvlm_stack_params.sizes). Channels that are made together form a family, such as "visual" or
 * "saliency". Each family has its natural size, and mip levels. A family is made when something first reads it,
 * and a new image makes it outdated. A channel that the stack's layout lacks is added when something needs it.
 */
#ifndef TEXTUREVLM_STACK_H
#define TEXTUREVLM_STACK_H

#include <stdbool.h>

#include "channels.h"
#include "device.h"
#include "image.h"

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
     *     shape that fits (tvlm_stack_largest_size).
     */
    int32_t width, height;
    /* How many images the batch has; 0 means 1. */
    int32_t images;
    tvlm_format format;
    /* x and y of the fixation, in pixels of the working image. Eccentricity is measured from there. NULL means the
     * centre. */
    const float *fixation;
    /* How many regions are wanted, 1 .. 2048 (tvlm_stack_regions); 0 means 50. */
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
     * family is made for all of them at once: for as many as the device takes, and on a CPU as many as its caches
     * hold. No image reads its neighbours' texels, so that each is what it would be alone, to the bit and at
     * every level.
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
TVLM_API tvlm_status tvlm_stack_largest_size(tvlm_device *device, const struct tvlm_stack_params *params,
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
TVLM_API tvlm_status tvlm_stack_make_all(tvlm_stack *stack);

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
 * 4) + i / 4. Of a large batch there are several arrays, as there are textures. texturevlm/opencl.h hands out the
 * array of an image, and says which image is its first. It stays as it is when the stack changes.
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

/* ---- Regions ---- */

/*
 * The regions behind the channels cluster_id, cluster_distance, cluster_size and boundary: where
 * they are, which colour they have, and which of them touch. Regions of the application's own can take their
 * place.
 *
 *     int32_t count;
 *     tvlm_region regions[TVLM_REGIONS_MAX];
 *     tvlm_stack_regions(stack, 0, TVLM_REGIONS_MAX, regions, &count);
 *
 * Unless the application hands in labels, an image is divided by SLIC (Achanta et al., "SLIC Superpixels
 * Compared to State-of-the-Art Superpixel Methods", PAMI 2012) into at most tvlm_stack_params.clusters
 * regions, each of them in one piece. Their ids are 0 .. count - 1. In a stream (stream.h) regions keep their
 * ids from frame to frame. There `count` is the number of ids, and `pixels` is 0 for an id that no region has
 * now.
 */

#define TVLM_REGIONS_MAX 2048

/* Positions and lengths are in pixels of the working image, with pixel centres at + 0.5. */
typedef struct tvlm_region {
    /* The centroid, rounded to 1/256 of a pixel. */
    float x, y;
    /* The area. 0 means that no region has this id. */
    int32_t pixels;
    /* The mean colour in CIE L*a*b* (D65), rounded to 1/128. */
    float l, a, b;
    /* The bounding box: left <= column < right and top <= row < bottom. */
    int32_t left, top, right, bottom;
    /* The distance from the centroid to the centre of the farthest pixel. */
    float radius;
    /* The mean colour gradient in the region, in units of L*a*b* a pixel. */
    float texture;
    uint32_t reserved[4];
} tvlm_region;

/*
 * Reads the regions of image `index`, which are made if need be: regions[id] for ids 0 .. *count - 1. To ask
 * only for the count, `regions` may be NULL with capacity 0. The call waits. Errors: ARGUMENT (index;
 * a capacity below the count: *count is set all the same).
 */
TVLM_API tvlm_status tvlm_stack_regions(tvlm_stack *stack, int32_t index, int32_t capacity,
                                        tvlm_region *regions, int32_t *count);

/*
 * Reads the ids of the regions that share a side of a pixel with region `region`, in ascending order.
 * capacity and *count are as for tvlm_stack_regions. The call waits. Errors: ARGUMENT (index, there is no
 * such region, capacity).
 */
TVLM_API tvlm_status tvlm_stack_region_neighbours(tvlm_stack *stack, int32_t index, int32_t region,
                                                  int32_t capacity, int32_t *neighbours, int32_t *count);

/* Reads the id of every pixel's region, row-major. `capacity` is at least width * height of the working
 * image. The call waits. */
TVLM_API tvlm_status tvlm_stack_labels(tvlm_stack *stack, int32_t index, size_t capacity, int32_t *labels);

/*
 * Divides image `index` by labels of the application (from SAM, or any segmenter) instead of by SLIC. The four
 * channels, and everything that is made from regions, follow. `boundary` is then 1 at each pixel whose label
 * differs from that of the pixel to its right or below it.
 *
 *   - Labels may be any numbers. The labels that some pixel of the image gets become the ids 0 .. n - 1, in
 *     ascending order.
 *   - A map of columns x rows labels that has another size than the image is resampled by the nearest label.
 *     row_stride is in labels; 0 means `columns`.
 *   - The labels are copied, and stay when the image changes. NULL brings SLIC back.
 *   - Regions of the application's own stay as they are, in however many pieces.
 *
 * Errors: ARGUMENT (index, sizes, more than TVLM_REGIONS_MAX distinct labels in the map), MEMORY.
 */
TVLM_API tvlm_status tvlm_stack_set_labels(tvlm_stack *stack, int32_t index, const int32_t *labels,
                                           int32_t columns, int32_t rows, size_t row_stride);

/* ---- The next frame of a video ---- */

/*
 * Puts the next frame of a video into a stack, where most of the picture is as it was. Only the parts
 * that changed are uploaded, and channels are made again only around them.
 *
 *     tvlm_stack_advance(stack, 0, NULL);                       // stream.h
 *     tvlm_stack_update_image(stack, 0, &frame, NULL, &report); // instead of tvlm_stack_set_image
 *     tvlm_select(stack, NULL, NULL, &selection);
 *
 * A stream (stream.h) does this by itself.
 */

#define TVLM_TILE_DEFAULT   64
#define TVLM_CARRIED_FRAMES 30

/* With the defaults, all zero, the result is that of tvlm_stack_set_image, bit for bit. */
struct tvlm_update_params {
    /* The side of the square tiles that are compared, in pixels: a multiple of 16, up to 4096. 0 means 64. The
     * side is cut down to the stack's shorter side, rounded up to a multiple of 16, if it is longer. */
    int32_t tile;
    /* A tile has changed if a value in it differs by more than this: 0 .. 1, where 1 is the difference of black
     * and white. */
    float threshold;
    /* Nothing is compared, and everything is made again, as by tvlm_stack_set_image. */
    bool full;
    /*
     * How long saliency and regions, which depend on the whole image, are carried over from an earlier frame.
     * They are kept as long as the tiles that changed since they were made, over all frames together, are at
     * most this share of the image. A tile that changes in two frames counts twice, so shares above 1 are
     * possible. With 0 they are made again with every change, which is most of the work (see "How much is
     * saved" below).
     */
    float saliency_share, cluster_share;
    /* Saliency and regions are also made again after so many frames with changes; 0 means 30. */
    int32_t carried_frames;
    uint64_t reserved[4];
};
#define tvlm_update_params(...) TVLM_PARAMS(tvlm_update_params, __VA_ARGS__)

/*
 * What became of a family:
 *   - PARTS: it was made again around the tiles that changed.
 *   - WHOLE: all of it was made again.
 *   - CARRIED: it stayed as it was, though the image is another one.
 *   - LATER: it is out of date, and all of it will be made when something reads it.
 */
typedef enum tvlm_update {
    TVLM_UPDATE_PARTS = 0,
    TVLM_UPDATE_WHOLE,
    TVLM_UPDATE_CARRIED,
    TVLM_UPDATE_LATER
} tvlm_update;

#define TVLM_DELTA_FAMILIES 24

/* What became of a family that was up to date before. */
typedef struct tvlm_delta_family {
    /* Its name as in channels.h, or "source". A family of several grids has an entry for each of them. */
    const char *name;
    tvlm_update update;
    /* How many texels of level 0 were made again, and how many there are. Work-groups make whole blocks of
     * texels, so some are made again that need not be. */
    int64_t texels, all;
    uint64_t reserved[4];
} tvlm_delta_family;

typedef struct tvlm_delta_report {
    /* How many tiles were compared, and how many of them changed. */
    int32_t tiles, changed;
    /* The image was taken whole, as by tvlm_stack_set_image. */
    bool whole;
    /* Bytes of pixels that were uploaded. */
    size_t bytes_uploaded;
    int32_t family_count;
    tvlm_delta_family families[TVLM_DELTA_FAMILIES];
    uint64_t reserved[4];
} tvlm_delta_report;

/*
 * Puts a frame into image `index`, as tvlm_stack_set_image does, but makes only the parts that changed.
 *   - The frame is compared with the one before, tile by tile, on the host. The values that were handed in are
 *     compared, of all channels, alpha too.
 *   - A tile that did not change keeps its old pixels. So with a threshold above 0, small differences add up
 *     over the frames until they exceed it.
 *   - Channels that were up to date are made again where their texels differ, and in the levels above. Other
 *     channels are made in full when they are read, as ever.
 *   - With threshold 0 and both shares 0, every channel at every level is the same, bit for bit, as after
 *     tvlm_stack_set_image.
 *
 * `params` NULL means all defaults. `report` may be NULL. The call reads the image's pixels before it returns; the
 * work on the device is only enqueued. After an error other than ARGUMENT the image is undefined until the next
 * call, which takes it whole. Errors: those of tvlm_stack_set_image; ARGUMENT (tile, threshold, shares).
 *
 * *How much is saved* depends on which channels are read, and on the shares. Saliency and regions take most of a
 * frame's time. With both shares 0 they are made for the whole image with every change: where they are read,
 * making the other channels in parts then saves next to nothing. For example, a frame of temporal34 at 1024x1024
 * with 10 % of its tiles changing, on two CPU cores (tvlm bench --video), takes
 *   - 162 ms in full;
 *   - 155 ms in parts;
 *   - 7 ms while saliency and regions are carried over.
 * If each frame changes a part p of the tiles, and the share is s, saliency and regions are made again once in
 * about s / p + 1 frames.
 *
 * *How far changes reach.*
 *   - Families that filter the image look one or two pixels beyond a tile.
 *   - Families with one texel for each cell, or at half the image's size, are made again at the texels that have a
 *     changed pixel in them.
 *   - Text looks 352 pixels far on its coarsest level; on the finer levels it is made only where needed.
 *   - Distance looks as far as an eighth of the image's longer side and 4 pixels more.
 *   - A family that is made from another one looks as far as both together.
 *
 * *What is not made in parts*, but in full when it is read next:
 *   - everything of an image with a side of more than 65535 pixels;
 *   - saliency, which is scaled by the largest contrast of the image, and regions, which may move anywhere.
 *     Where they are carried over, they are those of an earlier frame, and so are the region table and the
 *     labels. In a batch they are made for all images at once, so a change of another image makes them again,
 *     too;
 *   - prev_relevance, prev_saliency and fixation, which follow the flow, and are small;
 *   - motion after tvlm_stack_advance, since it is then compared with another frame;
 *   - in a batch, a channel that was handed in for some of the images (input.h) and is generated for the others.
 *
 * *What is taken whole*, as by tvlm_stack_set_image:
 *   - the first frame, and a frame after tvlm_stack_set_image;
 *   - a frame with another number of channels or another type;
 *   - a frame in which more than six tenths of the tiles changed, if the stack has one image. A batch that the
 *     device cannot hold at once is held in chunks; there it is the frame's chunk that must have one image.
 * Frames of another size than the stack's are resampled on the host first, and then compared.
 *
 * *Memory.* A copy of the last frame is kept in host memory. Families that are made after the first call keep the
 * intermediate results of their stages on the device: about 4 bytes for each pixel where text and distance are
 * read.
 */
TVLM_API tvlm_status tvlm_stack_update_image(tvlm_stack *stack, int32_t index, const tvlm_image *image,
                                             const struct tvlm_update_params *params,
                                             tvlm_delta_report *report);

/* ---- Names of version 0.2 ---- */

/* They go with version 0.4. */
#define tvlm_stack_fit      tvlm_stack_largest_size
#define tvlm_stack_generate tvlm_stack_make_all

#ifdef __cplusplus
}
#endif
#endif
