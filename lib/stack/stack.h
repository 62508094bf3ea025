/*
 * stack/stack.h: the inside of a stack, for lib/stack and the modules above it. The public one is
 * texturevlm/stack.h.
 *
 * A batch is held in *chunks*: runs of images that one texture array can hold. Every chunk has its own
 * textures and its own validity; all chunks but the last hold chunk_images. Callers never see them.
 */
#ifndef TVLM_STACK_STACK_H
#define TVLM_STACK_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/backend.h"
#include "texturevlm/stack.h"

typedef struct tvlm_chunk {
    int32_t first, images;                /* of the batch */
    tvlm_texture *grids[TVLM_GRID_COUNT]; /* NULL until needed */
    tvlm_buffer *products[TVLM_PRODUCT_COUNT];
    uint32_t valid;                       /* grids whose content and levels are up to date */
    int32_t query_written;                /* the image whose slice of the QUERY texture is not 0 */
} tvlm_chunk;

/* What the stack remembers of each image. */
typedef struct tvlm_stack_image {
    bool set;              /* pixels are in the source; otherwise it is made black when first read */
    int32_t width, height; /* as it was handed in */
} tvlm_stack_image;

/* Device memory that is kept and reused, so that asking again allocates nothing. */
typedef enum tvlm_scratch {
    TVLM_SCRATCH_PIXELS = 0, /* uploads */
    TVLM_SCRATCH_POINTS,
    TVLM_SCRATCH_SAMPLES,
    TVLM_SCRATCH_SCORES,
    TVLM_SCRATCH_RANKING,
    TVLM_SCRATCH_COUNT
} tvlm_scratch;

struct tvlm_stack {
    tvlm_device *device;
    int32_t width, height, images, levels;
    tvlm_format format;
    tvlm_family_settings settings;
    float fixation_x, fixation_y, farthest;
    int32_t channel_count;
    int32_t *channels; /* of the layout */
    tvlm_stack_image *originals;
    int32_t chunk_images, chunk_count;
    tvlm_chunk *chunks;
    tvlm_buffer *scratch[TVLM_SCRATCH_COUNT];
    int32_t query_image; /* the image that query_similarity is about; -1: there is no query */
    int32_t query_columns, query_rows;
    int32_t bundle_max; /* TVLM_BUNDLE_MAX; tests make it smaller */
};

struct tvlm_packed {
    tvlm_device *device;
    int32_t width, height, channel_count, layers, images;
    int32_t chunk_images, chunk_count;
    tvlm_texture **textures; /* one a chunk */
};

/* ---- stack.c ---- */

/* Fails with a line unless 0 <= index < images. */
tvlm_status tvlm_stack_check_index(const tvlm_stack *stack, int32_t index);
/* Fails with a line unless there is a channel of that number. */
tvlm_status tvlm_stack_check_channel(const tvlm_stack *stack, int32_t channel);

/* The chunk that holds image `index`. */
tvlm_chunk *tvlm_stack_chunk(tvlm_stack *stack, int32_t index);

/* At least `bytes` of device memory, the same memory at every call as long as it suffices. */
tvlm_status tvlm_stack_scratch(tvlm_stack *stack, tvlm_scratch which, size_t bytes, tvlm_buffer **buffer);

/* AUTO becomes what suits the device; anything else stays. */
tvlm_format tvlm_stack_format(const tvlm_device *device, tvlm_format format);

/* ---- grids.c ---- */

/* The shape of a grid for `images` images; QUERY has the size of the present query, or the image's without
 * one. */
tvlm_texture tvlm_stack_grid_shape(const tvlm_stack *stack, tvlm_grid grid, int32_t images);

/* Makes the grids of `mask` (bits 1 << tvlm_grid) and what they need, with their levels, in one chunk. */
tvlm_status tvlm_stack_ensure(tvlm_stack *stack, tvlm_chunk *chunk, uint32_t mask);

/* The texture of a grid, created when there is none; its content is not made. */
tvlm_status tvlm_stack_grid_texture(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_grid grid,
                                    tvlm_texture **texture);

/* Forgets the query: query_similarity is 0 everywhere again. */
void tvlm_stack_drop_query(tvlm_stack *stack);

/* The grids that channels are stored in. */
uint32_t tvlm_stack_grids_of(const int32_t *channels, int32_t count);

/*
 * The texture in which a channel of image `index` is stored, made if need be, with its levels. The image is
 * number index - *first_image in it. ARGUMENT for a channel that is not stored (position, or not available,
 * or query_similarity of a chunk without a query).
 */
tvlm_status tvlm_stack_texture(tvlm_stack *stack, int32_t index, int32_t channel, tvlm_texture **texture,
                               int32_t *layer, int32_t *component, int32_t *first_image);

/* ---- upload.c ---- */

/*
 * Puts pixels that are on the device into image `index`; their size must be the stack's. Only enqueues: the
 * buffer must not change before that work is done.
 */
tvlm_status tvlm_stack_source_from_buffer(tvlm_stack *stack, int32_t index, tvlm_buffer *buffer,
                                          const tvlm_pixels *pixels);

/* ---- limits.c ---- */

/* Fails with a line that names the limit when a stack of that size does not fit the device. */
tvlm_status tvlm_stack_check_size(const tvlm_device *device, int32_t width, int32_t height,
                                  tvlm_format format);

/* The largest size of the shape of width x height that the device can hold. */
void tvlm_stack_largest(const tvlm_device *device, tvlm_format format, int32_t *width, int32_t *height);

/* How many images of that size one chunk may hold when a texture has up to `layers` layers. At least 1. */
int32_t tvlm_stack_chunk_limit(const tvlm_device *device, int32_t width, int32_t height, tvlm_format format,
                               int32_t layers);

/* ---- bundle.c ---- */

/*
 * Puts the textures of as many of the first channels as fit into a bundle: *taken of them, whose references
 * go to refs[0 .. *taken - 1]. The grids must have been ensured. Channels that are not available are
 * TVLM_REF_ZERO.
 */
void tvlm_stack_bundle(const tvlm_stack *stack, const tvlm_chunk *chunk, const int32_t *channels,
                       int32_t count, tvlm_bundle *bundle, int32_t *refs, int32_t *taken);

/* ---- resample.c ---- */

/*
 * Resamples an image to width x height: along each axis the exact area average where it shrinks, bilinear
 * where it grows. The result is what a source holds: composited on white, clamped to [0, 1], NaN as 0; 1
 * channel where the image is gray, else 3; row-major floats, which the caller frees. MEMORY when there is
 * none.
 */
tvlm_status tvlm_resample(const tvlm_image *image, int32_t width, int32_t height, float **pixels,
                          int32_t *channels);

/* ---- pack.c ---- */

/* The texture that holds image `index` of a packed array, as number index - *first_image. */
tvlm_status tvlm_packed_texture(tvlm_packed *packed, int32_t index, tvlm_texture **texture,
                                int32_t *first_image);

#endif
