/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/inside.h: what a stack is made of. Only the files of lib/stack and tests that look inside include it.
 *
 * A batch is held in *chunks*: runs of images that one texture array can hold. Every chunk has its own
 * textures and its own validity; all chunks but the last hold chunk_images. Callers never see them.
 */
#ifndef TVLM_STACK_INSIDE_H
#define TVLM_STACK_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cluster.h"
#include "stack/given.h"
#include "stack/stack.h"
#include "texturevlm/input.h"

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
    int32_t matrix_of;     /* this one's of the batch and 1; 0: of none, */
    uint64_t matrix_at;    /* when its changes[TVLM_GRID_FEATURES] was this */
    tvlm_texture *previous[TVLM_PREVIOUS_COUNT]; /* NULL until a frame was advanced */
    uint64_t made[TVLM_GRID_COUNT];              /* how often each grid was made, */
    uint64_t outdated[TVLM_GRID_COUNT];          /* and how often what it holds went out of date */
} tvlm_chunk;

/* What the stack remembers of each image. */
typedef struct tvlm_stack_image {
    bool set;              /* pixels are in the source; otherwise it is made black when first read */
    int32_t width, height; /* as it was handed in */
    tvlm_grid_mask given;  /* grids that were handed in for it */
    /* How often what it has of the source, or of a grid that is handed in, became another, or went. */
    uint64_t changes[TVLM_GRID_COUNT];
    uint64_t
        shares; /* changes[TVLM_GRID_EMBEDDING] when its part of the chunk's `shares` was set; 0: never */
    uint64_t lengths; /* changes[TVLM_GRID_FEATURES] when its part of the chunk's `inverse` was; 0: never */
    bool remembered[TVLM_PREVIOUS_COUNT]; /* there is a frame before it */
    tvlm_slot slot;
} tvlm_stack_image;

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
    bool scored; /* `scores` are those of this frame */
    const float
        *bonus; /* [bonus_columns * bonus_rows] added to its scores; NULL: nothing. Not this struct's */
    int32_t bonus_columns, bonus_rows;
    float *positions; /* [2 * position_capacity]: x, y in pixels of the working image */
    int32_t position_count, position_capacity;
} tvlm_frame;

struct tvlm_delta; /* delta.h */

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
        *centres; /* where regions of the only image begin (lib/video/stream_regions.c); NULL */
    tvlm_given given[TVLM_GRID_COUNT];
    int32_t user_count;
    tvlm_user_plane users[TVLM_USER_PLANES_MAX];
    int32_t chunk_images, chunk_count;
    tvlm_chunk *chunks;
    tvlm_buffer *scratch[TVLM_SCRATCH_COUNT];
    int32_t query_image;               /* the image that query_similarity is about; -1: there is no query */
    int32_t query_columns, query_rows; /* of that query */
    float query_extent_x, query_extent_y;
    int32_t bundle_max; /* TVLM_BUNDLE_MAX; tests make it smaller */
};

/* The chunk that holds image `index`. */
tvlm_chunk *tvlm_stack_chunk(tvlm_stack *stack, int32_t index);

#endif
