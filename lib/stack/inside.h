/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/inside.h: what a stack is made of. The files of lib/stack include it, and two files of the lab. Tests
 * and the benchmark may include it to look inside.
 *
 * A batch is held in *chunks*: runs of images that one texture array can hold. Every chunk has its own
 * textures, and records for itself which of them are valid. All chunks but the last hold chunk_images images.
 * Callers never see chunks.
 */
#ifndef TVLM_STACK_INSIDE_H
#define TVLM_STACK_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cluster.h"
#include "core/learned.h"
#include "stack/given.h"
#include "stack/send.h"
#include "stack/stack.h"
#include "texturevlm/input.h"

/* A run of images that share their textures. */
typedef struct tvlm_chunk {
    int32_t first, images; /* the first image of the batch that it holds, and how many it holds */

    /* The texture of each grid. It is NULL until it is needed. */
    tvlm_texture *grids[TVLM_GRID_COUNT];
    tvlm_grid_mask valid; /* grids whose content is up to date, and their levels, too, except in `flat` */
    tvlm_grid_mask flat;  /* grids that have only level 0 up to date; only the query's grid can be one */
    tvlm_grid_mask later; /* grids that cannot be read yet, and are finished when others are next made */
    tvlm_grid_mask kept;  /* grids that were made with tvlm_generate_args.keep */
    tvlm_grid_mask given; /* grids that were handed in for some of its images */
    uint64_t made[TVLM_GRID_COUNT];     /* how often each grid was made */
    uint64_t outdated[TVLM_GRID_COUNT]; /* how often each grid's content went out of date */

    /* Buffers that the families leave behind, and the labels that were handed in. */
    tvlm_buffer *products[TVLM_PRODUCT_COUNT];
    /* [images]: for each image, how many regions its labels have; 0 if no labels were handed in for it. NULL
     * if none of the images ever had labels. */
    int32_t *label_counts;

    /* The image whose slice of the query's texture is not 0. */
    int32_t query_written;

    /* What is kept beside the encoder's vectors: the lengths of features (tvlm_features.inverse), and how
     * much of each embedded vector lies in the basis. Each is NULL until a question needs it. */
    tvlm_buffer *inverse, *shares;
    /* The features of one image as a matrix, with the first matrix_levels levels one behind the other. The
     * image is matrix_of - 1; if matrix_of is 0, there is no matrix. The matrix is up to date as long as the
     * image's changes[TVLM_GRID_FEATURES] is matrix_at. */
    tvlm_buffer *matrix;
    int32_t matrix_of, matrix_levels;
    uint64_t matrix_at;

    /* What is remembered of the last frame. NULL until a frame was advanced. */
    tvlm_texture *previous[TVLM_PREVIOUS_COUNT];

    /* What the network reads, packed at the network's level. NULL until the network was run. */
    tvlm_texture *network_inputs;
} tvlm_chunk;

/* What the stack remembers of each image. */
typedef struct tvlm_stack_image {
    bool set;              /* its pixels are in the source; otherwise it is made black when first read */
    int32_t width, height; /* its size as it was handed in */
    tvlm_grid_mask given;  /* grids that were handed in for it */

    /* How often its pixels in the source, or its part of a grid that is handed in, changed or was removed. */
    uint64_t changes[TVLM_GRID_COUNT];
    /* The value that changes[TVLM_GRID_FEATURES] had when the image's part of the chunk's `inverse` was made,
     * and the value that changes[TVLM_GRID_EMBEDDING] had when its part of `shares` was set. 0: never. */
    uint64_t lengths, shares;
    /* The value that changes[TVLM_GRID_FEATURES] had when it was found that none of the features' vectors has
     * a direction that a question could be compared with. 0: never. */
    uint64_t pointless;

    bool remembered[TVLM_PREVIOUS_COUNT]; /* whether each of these is known from a frame before this one */
    tvlm_slot slot;
} tvlm_stack_image;

/* A plane of the application's own. Plane n of the list is channel TVLM_CHANNEL_USER_0 + n and grid
 * TVLM_GRID_USER_0 + n. */
typedef struct tvlm_user_plane {
    char name[TVLM_CHANNEL_NAME_SIZE];
    float low, high;
    uint8_t reduce;
    bool output; /* it is an output of a scorer, and is cleared when the image gets other pixels */
} tvlm_user_plane;

/* What remains of the questions about the present frame: stack/frame.h. */
typedef struct tvlm_frame {
    tvlm_buffer *scores; /* kept from question to question, so that asking again allocates nothing */
    tvlm_candidates candidates;
    bool scored;   /* whether the scores are those of this frame */
    void *made_of; /* [made_of_bytes]: describes what they were made of (frame.h); NULL: unknown */
    size_t made_of_bytes;

    /* [bonus_rows * bonus_columns]: what is added to the scores; NULL: nothing. Whoever set it owns it. */
    const float *bonus;
    int32_t bonus_columns, bonus_rows;

    float *positions; /* [position_capacity][2]: x, y in pixels of the working image */
    int32_t position_count, position_capacity;
    tvlm_buffer *looked;  /* positions on the device; NULL until positions were selected there */
    bool positions_there; /* whether the present positions are those in `looked` */
    /* The buffer in which a stream has a copy of the positions, from float `copied_at` on. NULL: there is no
     * copy. */
    tvlm_buffer *copied;
    size_t copied_at;
} tvlm_frame;

/* The question whose answer is the channel query_similarity: stack/query.h. */
typedef struct tvlm_question {
    int32_t image;            /* the image that it is about; -1: there is no question */
    int32_t columns, rows;    /* the size of the answer's grid */
    float extent_x, extent_y; /* how many pixels that grid covers */
} tvlm_question;

struct tvlm_delta; /* stack/delta.h */

struct tvlm_stack {
    tvlm_device *device;
    tvlm_slot slot; /* tvlm_stack_common_slot */

    /* These do not change after the stack was created. */
    int32_t width, height, images, levels;
    tvlm_format format;
    uint8_t mean_rule; /* TVLM_REDUCE_MEAN, or what takes its place */
    tvlm_family_settings settings;
    int32_t *channels; /* [channel_count]: those of the layout */
    int32_t channel_count;
    int32_t bundle_max;           /* TVLM_BUNDLE_MAX; tests make it smaller */
    struct tvlm_network *network; /* the network of the family `learned`; NULL: there is none */
    tvlm_learned learned;         /* what it reads and makes */
    tvlm_grid_mask network_reads; /* the grids that the network's inputs may be stored in */

    float fixation_x, fixation_y, farthest; /* farthest: the distance to the corner that is farthest away */
    tvlm_rope rope;

    /* In a ragged batch, the size of each image, and what formulas need of each image (tvlm_view); width and
     * height above are the largest ones. NULL in all other stacks. */
    int32_t (*sizes)[2];
    tvlm_view *views;

    tvlm_grid_mask asked; /* all grids that readers have ever asked for */
    bool streamed;        /* its frames are a stream's, so that a later frame may bring a missing input */
    tvlm_question question;
    tvlm_given given[TVLM_GRID_COUNT];
    tvlm_user_plane users[TVLM_USER_PLANES_MAX];
    int32_t user_count;

    tvlm_chunk *chunks; /* [chunk_count]: each but the last holds chunk_images images */
    int32_t chunk_images, chunk_count;

    /* Each of these has one entry for each image. */
    tvlm_stack_image *originals;
    tvlm_frame *frames;
    tvlm_carry *carries;
    tvlm_camera *cameras; /* the cameras that the depths were taken with */

    /* Where the regions of the only image begin. NULL: in the middles of their cells. Whoever set the centres
     * owns them. */
    const tvlm_region_centre *centres;
    tvlm_texture *relevance;  /* a map of scores on its way to the previous frame */
    struct tvlm_delta *delta; /* NULL until a frame was compared */
    tvlm_sent sent;           /* the next image, on its way to the device */
    tvlm_buffer *scratch[TVLM_SCRATCH_COUNT];
    tvlm_texture *candidates; /* what a scorer's network reads; NULL until there was one */
};

/* Returns the chunk that holds image `index`. */
tvlm_chunk *tvlm_stack_chunk(tvlm_stack *stack, int32_t index);

#endif
