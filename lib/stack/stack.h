/* SPDX-License-Identifier: Apache-2.0 */
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
#include "texturevlm/input.h"
#include "texturevlm/stack.h"

typedef struct tvlm_chunk {
    int32_t first, images;                /* of the batch */
    tvlm_texture *grids[TVLM_GRID_COUNT]; /* NULL until needed */
    tvlm_buffer *products[TVLM_PRODUCT_COUNT];
    int32_t
        *label_counts; /* of each image: regions of the labels handed in for it, or 0; NULL: none ever were */
    tvlm_grid_mask valid;  /* grids whose content and levels are up to date */
    tvlm_grid_mask kept;   /* grids that were made with tvlm_generate_args.keep */
    tvlm_grid_mask flat;   /* of the valid ones, those whose levels are still to be made: the query's */
    tvlm_grid_mask given;  /* grids that were handed in for some of its images */
    int32_t query_written; /* the image whose slice of the QUERY texture is not 0 */
    tvlm_buffer *inverse;  /* of the features: tvlm_features.inverse; NULL until a question was asked */
    tvlm_buffer *shares;   /* of the embeddings: the part of each cell's vector that lies in the basis */
    tvlm_buffer *matrix;   /* of one image's features, */
    int32_t matrix_of;     /* this one's of the batch and 1; 0: of none */
    tvlm_texture *previous[TVLM_PREVIOUS_COUNT]; /* NULL until a frame was advanced */
    uint32_t guided;                             /* counts what makes the guides of its images out of date */
} tvlm_chunk;

#define TVLM_GUIDE_GROUPS 4 /* into which a region's vectors fall, at most */

/* What is known of an image before anything is asked: guide.c. On the host. */
typedef struct tvlm_guide {
    tvlm_candidates cells;
    int32_t regions;
    struct tvlm_region *table;
    float *distances; /* [rows * columns] the channel */
    float *nearest;   /* [regions] the smallest distance of its cells */
    int32_t *begins;  /* [regions + 1] where its cells begin in */
    int32_t
        *touched; /* the cells that have a corner or their middle in it, or hold its centroid; ascending */
    int32_t dimension; /* of the means; 0: there are none */
    bool embedded;     /* they are of the embedding, not of the features */
    int32_t *groups;   /* [regions] of vectors, 1 .. TVLM_GUIDE_GROUPS */
    float *means;   /* [regions][TVLM_GUIDE_GROUPS][dimension] of the vectors, each divided by its length */
    float *spreads; /* [regions][TVLM_GUIDE_GROUPS] the root of their mean squared distance from it */
    uint32_t made;  /* the chunk's count when it was made, and 1; 0: it was not */
} tvlm_guide;

/* What the stack remembers of each image. */
typedef struct tvlm_stack_image {
    bool set;              /* pixels are in the source; otherwise it is made black when first read */
    int32_t width, height; /* as it was handed in */
    tvlm_grid_mask given;  /* grids that were handed in for it */
    bool shares;           /* the chunk's `shares` are those of its embedding */
    bool lengths;          /* its part of the chunk's `inverse` is that of its features */
    bool remembered[TVLM_PREVIOUS_COUNT]; /* there is a frame before it */
    tvlm_guide guide;
} tvlm_stack_image;

/* What the grids of all images that were handed in for one family have in common; 0 columns where there is
 * none. */
typedef struct tvlm_given {
    int32_t columns, rows, layers;
    int32_t dimension; /* of features, else 0 */
    float extent_x, extent_y;
    int32_t images; /* that have one */
} tvlm_given;

/* A plane of the application's own: channel TVLM_CHANNEL_USER_0 and grid TVLM_GRID_USER_0 + its place. */
typedef struct tvlm_user_plane {
    char name[TVLM_CHANNEL_NAME_SIZE];
    float low, high;
    uint8_t reduce;
} tvlm_user_plane;

/* What questions leave of the present frame, for temporal.c. */
typedef struct tvlm_frame {
    tvlm_buffer *scores; /* kept from question to question, so that asking again allocates nothing */
    tvlm_candidates candidates;
    bool scored;  /* `scores` are those of this frame */
    float *bonus; /* [bonus_columns * bonus_rows] added to its scores; NULL: nothing. Not this struct's */
    int32_t bonus_columns, bonus_rows;
    float *positions; /* [2 * position_capacity]: x, y in pixels of the working image */
    int32_t position_count, position_capacity;
} tvlm_frame;

/* Device memory that is kept and reused, so that asking again allocates nothing. */
typedef enum tvlm_scratch {
    TVLM_SCRATCH_PIXELS = 0, /* uploads */
    TVLM_SCRATCH_POINTS,
    TVLM_SCRATCH_SAMPLES,
    TVLM_SCRATCH_SCORES,
    TVLM_SCRATCH_RANKING,
    TVLM_SCRATCH_QUERIES, /* unit vectors */
    TVLM_SCRATCH_COSINES, /* of many queries */
    TVLM_SCRATCH_LENGTHS, /* of an embedding: tvlm_features.inverse */
    TVLM_SCRATCH_COUNT
} tvlm_scratch;

struct tvlm_delta; /* delta.h */
struct tvlm_update_params;
struct tvlm_delta_report;
struct tvlm_advance_params; /* temporal.h */

struct tvlm_stack {
    tvlm_device *device;
    struct tvlm_delta *delta; /* NULL until a frame was compared */
    int32_t width, height, images, levels;
    tvlm_format format;
    tvlm_family_settings settings;
    float fixation_x, fixation_y, farthest;
    int32_t channel_count;
    int32_t *channels; /* of the layout */
    tvlm_stack_image *originals;
    tvlm_frame *frames;      /* [images] */
    tvlm_carry *carries;     /* [images] */
    tvlm_texture *relevance; /* a map of scores on its way to the previous frame */
    tvlm_grid_mask asked;    /* what readers ever asked for */
    tvlm_camera *cameras;    /* [images] of their depths */
    const tvlm_cluster_centre
        *centres; /* where regions of the only image begin (lib/video/regions.c); NULL */
    tvlm_given given[TVLM_GRID_COUNT];
    int32_t user_count;
    tvlm_user_plane users[TVLM_USER_PLANES_MAX];
    int32_t chunk_images, chunk_count;
    tvlm_chunk *chunks;
    tvlm_buffer *scratch[TVLM_SCRATCH_COUNT];
    int32_t query_image; /* the image that query_similarity is about; -1: there is no query */
    int32_t query_columns, query_rows;
    float query_extent_x, query_extent_y;
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
tvlm_status tvlm_stack_ensure(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_grid_mask mask);

/* The texture of a grid, created when there is none; its content is not made. */
tvlm_status tvlm_stack_grid_texture(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_grid grid,
                                    tvlm_texture **texture);

/* Forgets the query: query_similarity is 0 everywhere again. */
void tvlm_stack_drop_query(tvlm_stack *stack);

/* Where a channel of this stack is stored: handed in, generated, a formula, or nowhere (NONE: 0 everywhere).
 */
tvlm_channel_place tvlm_stack_place(const tvlm_stack *stack, int32_t channel);

/* The grids that channels are stored in. */
tvlm_grid_mask tvlm_stack_grids_of(const tvlm_stack *stack, const int32_t *channels, int32_t count);

/* What `grids` hold has changed: whatever was made from them is out of date, and their levels are. */
void tvlm_stack_outdate(tvlm_chunk *chunk, tvlm_grid_mask grids);

/*
 * The texture in which a channel of image `index` is stored, made if need be, with its levels. The image is
 * number index - *first_image in it. ARGUMENT for a channel that is not stored (position, or not available,
 * or query_similarity of a chunk without a query).
 */
tvlm_status tvlm_stack_texture(tvlm_stack *stack, int32_t index, int32_t channel, tvlm_texture **texture,
                               int32_t *layer, int32_t *component, int32_t *first_image);

/* ---- given.c ---- */

/*
 * Makes room for a grid of that size for image `index`: its texture, with whatever the chunk's other images
 * have in it. ARGUMENT where another image's grid has another size (`name` for the line).
 */
tvlm_status tvlm_stack_given_begin(tvlm_stack *stack, int32_t index, tvlm_grid grid, const tvlm_given *size,
                                   const char *name, tvlm_texture **texture);

/* The image's slices are written: it has one. */
void tvlm_stack_given_end(tvlm_stack *stack, int32_t index, tvlm_grid grid);

/* It has none, whatever is in its slices. */
void tvlm_stack_given_clear(tvlm_stack *stack, int32_t index, tvlm_grid grid);

/* The same, but the texture stays for the next one, which may be expected: drivers take their time for
 * textures. False where the image had none. */
bool tvlm_stack_given_pause(tvlm_stack *stack, int32_t index, tvlm_grid grid);

/* The slices of images that have none: zeros, or what the grid stands for, which is made. */
tvlm_status tvlm_stack_given_complete(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_grid grid,
                                      tvlm_texture *texture);

/* ---- features.c: the encoder's vectors, and what is asked of them ---- */

/*
 * The features of image `index`, with the lengths of their vectors, which are made once for each set of them.
 * ARGUMENT where there are none. No levels are made.
 */
tvlm_status tvlm_stack_features(tvlm_stack *stack, int32_t index, tvlm_features *features);

/* As rows of a matrix of floats, cells x dimension, row-major. Made when first asked for, kept for the image
 * that asked last; the stack's. */
tvlm_status tvlm_stack_features_matrix(tvlm_stack *stack, const tvlm_features *features,
                                       tvlm_buffer **matrix);

/*
 * `count` vectors of `dimension` (row-major), less `mean` (NULL: 0), as unit vectors out[count * stride],
 * stride >= dimension, zeros behind each. ARGUMENT with a line that begins with `what`: a value that is not
 * finite, a zero vector (`what` of them by number where there are several).
 */
tvlm_status tvlm_unit_vectors(const tvlm_log *log, const char *what, const float *vectors, int32_t count,
                              int32_t dimension, const float *mean, int32_t stride, float *out);

/*
 * The cosines of every cell with each of `count` vectors: cosines[query * cells + cell], the stack's scratch.
 * One SGEMM. ARGUMENT: another dimension than the features', and as tvlm_unit_vectors.
 */
tvlm_status tvlm_stack_cosines(tvlm_stack *stack, const tvlm_features *features, const float *vectors,
                               int32_t count, int32_t dimension, const float *mean, tvlm_buffer **cosines);

/* Into component 0 of the features' image of `out`, which has their size: the cosine with one vector, or the
 * largest or mean (TVLM_MAPS_*) of those with several. Errors as tvlm_stack_cosines. */
tvlm_status tvlm_stack_similarity(tvlm_stack *stack, const tvlm_features *features, const float *vectors,
                                  int32_t count, int32_t dimension, const float *mean, int32_t how,
                                  tvlm_texture *out);

/* Image `index` has other features, or none: what was made from the old ones goes, its words too. */
void tvlm_stack_features_changed(tvlm_stack *stack, int32_t index);

/* The chunk's features go, and the memory beside them. */
void tvlm_stack_features_release(tvlm_stack *stack, tvlm_chunk *chunk);

/* Level 0 of the chunk's features into a texture that has all levels: the first time that one is read. */
tvlm_status tvlm_stack_features_levels(tvlm_stack *stack, tvlm_chunk *chunk);

/* ---- embedding.c: the embedding as compressed features ---- */

/* The embedding of image `index` as if it were its features (dimension: 4 * layers, zeros behind the last
 * channel). ARGUMENT where there is none. */
tvlm_status tvlm_stack_embedded(tvlm_stack *stack, int32_t index, tvlm_features *features);

/* How long each cell's embedding was beside its vector, before it was brought to unit length: [cells], 0
 * .. 1. They go when another embedding is set. */
tvlm_status tvlm_stack_set_shares(tvlm_stack *stack, int32_t index, const float *shares);

/* As tvlm_stack_similarity, with questions that are coordinates [count * dimension], not longer than 1, taken
 * as they are. */
tvlm_status tvlm_stack_embedded_similarity(tvlm_stack *stack, const tvlm_features *features,
                                           const float *coordinates, int32_t count, int32_t how,
                                           tvlm_texture *out);

/* ---- guide.c ---- */

/*
 * The guide of image `index` for those cells, made if need be; `features` (NULL: none) are those whose means
 * it has. It waits for whatever it is made of, once; valid until the stack changes.
 */
tvlm_status tvlm_stack_guide(tvlm_stack *stack, int32_t index, const tvlm_candidates *cells,
                             const tvlm_features *features, bool embedded, const tvlm_guide **guide);

/* guide_means.c: of the vectors of `features`, [height * width] labels of which are given. */
tvlm_status tvlm_guide_means(tvlm_stack *stack, const tvlm_features *features, const int32_t *labels,
                             tvlm_guide *guide);

void tvlm_guide_release(tvlm_guide *guide);

/* ---- input.c ---- */

/* Of set_grid and set_user: the data are in `buffer` from `offset` on where that is not NULL. */
tvlm_status tvlm_stack_input(tvlm_stack *stack, int32_t index, int32_t channel,
                             const struct tvlm_grid_input *input, tvlm_buffer *buffer, size_t offset);
tvlm_status tvlm_stack_input_user(tvlm_stack *stack, int32_t index, const char *name, float low, float high,
                                  tvlm_reduce reduce, const struct tvlm_grid_input *input,
                                  tvlm_buffer *buffer, size_t offset, int32_t *channel);

/* What the backend gets to make a grid of that chunk into its texture. */
tvlm_generate_args tvlm_stack_generate_args(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_texture *out);

/* ---- temporal.c ---- */

/* ARGUMENT, with a line that says which. */
tvlm_status tvlm_stack_check_advance(const tvlm_log *log, const struct tvlm_advance_params *params);

/* Device memory for the scores of image `index`. frames[index].scored is to be set when they are there. */
tvlm_status tvlm_stack_scores(tvlm_stack *stack, int32_t index, const tvlm_candidates *candidates,
                              tvlm_buffer **buffer);

/* Room for `count` selected positions of image `index`: x, y in pixels of the working image, to be filled in.
 */
tvlm_status tvlm_stack_keep_positions(tvlm_stack *stack, int32_t index, int32_t count, float **positions);

/* Image `index` has new pixels: scores and positions were those of the old ones. */
void tvlm_stack_new_frame(tvlm_stack *stack, int32_t index);

/* False for grids that need a previous frame (motion, temporal) where there is none. */
bool tvlm_stack_has_previous(const tvlm_chunk *chunk, tvlm_grid grid);
/* The same of one image. */
bool tvlm_stack_remembers(const tvlm_stack_image *image, tvlm_grid grid);

/* tvlm_generate_args.carry of a chunk, as things are now. */
const tvlm_carry *tvlm_stack_carries(tvlm_stack *stack, const tvlm_chunk *chunk);

/* ---- upload.c ---- */

/* Everything that can be wrong with an image but what its pointer points to; *row its bytes a row without the
 * gap. */
tvlm_status tvlm_stack_check_image(const tvlm_log *log, const tvlm_image *image, size_t *row);

/*
 * Puts pixels that are on the device into image `index`; their size must be the stack's. Only enqueues: the
 * buffer must not change before that work is done.
 */
tvlm_status tvlm_stack_source_from_buffer(tvlm_stack *stack, int32_t index, tvlm_buffer *buffer,
                                          const tvlm_pixels *pixels);

/* ---- delta.c ---- */

/* Image `index` has other pixels than those that are kept for comparison. */
void tvlm_stack_delta_forget(tvlm_stack *stack, int32_t index);

/* All of a grid was made; `kept`: with tvlm_generate_args.keep. */
void tvlm_stack_delta_made(tvlm_stack *stack, tvlm_chunk *chunk, tvlm_grid grid, bool kept);

void tvlm_stack_delta_release(tvlm_stack *stack);

/* As tvlm_stack_source_from_buffer, but only tiles that differ from the source are taken
 * (texturevlm/delta.h). */
tvlm_status tvlm_stack_update_from_buffer(tvlm_stack *stack, int32_t index, tvlm_buffer *buffer,
                                          const tvlm_pixels *pixels, const struct tvlm_update_params *params,
                                          struct tvlm_delta_report *report);

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

/* A bundle without textures: what the formulas need. */
tvlm_bundle tvlm_stack_bundle_view(const tvlm_stack *stack);

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
