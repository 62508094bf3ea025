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
#include "stack/send.h"
#include "stack/stack.h"
#include "texturevlm/input.h"

/* A run of images whose textures are the same ones. */
typedef struct tvlm_chunk {
    int32_t first, images; /* the first image of the batch that it holds, and how many */

    /* What there is of each grid. A texture is NULL until it is needed. */
    tvlm_texture *grids[TVLM_GRID_COUNT];
    tvlm_grid_mask valid; /* grids whose content is up to date; so are their levels, but those of `flat` */
    tvlm_grid_mask flat;  /* grids of which only level 0 is up to date: only the query's ever is one */
    tvlm_grid_mask later; /* grids that are to be made with the next ones, not to be read yet */
    tvlm_grid_mask kept;  /* grids that were made with tvlm_generate_args.keep */
    tvlm_grid_mask given; /* grids that were handed in for some of its images */
    uint64_t made[TVLM_GRID_COUNT];     /* how often each grid was made */
    uint64_t outdated[TVLM_GRID_COUNT]; /* how often what each grid holds went out of date */

    /* What families leave behind, and the labels that were handed in. */
    tvlm_buffer *products[TVLM_PRODUCT_COUNT];
    /* [images]: how many regions the labels have that were handed in for an image; 0: none were. NULL: no
     * image ever had any. */
    int32_t *label_counts;

    /* The image whose slice of the query's texture is not 0. */
    int32_t query_written;

    /* What is kept beside the encoder's vectors, NULL until a question needs it: the lengths of features
     * (tvlm_features.inverse), and how much of each embedded vector lies in the basis. */
    tvlm_buffer *inverse, *shares;
    /* The features of one image as a matrix, with the first matrix_levels levels one behind the other. It is that
     * of image matrix_of - 1 (0: of none), as long as its changes[TVLM_GRID_FEATURES] is matrix_at. */
    tvlm_buffer *matrix;
    int32_t matrix_of, matrix_levels;
    uint64_t matrix_at;

    /* What is remembered of the frame before. NULL until a frame was advanced. */
    tvlm_texture *previous[TVLM_PREVIOUS_COUNT];

    /* What the network reads, packed at its level; NULL until it was run. */
    tvlm_texture *network_inputs;
} tvlm_chunk;

/* What the stack remembers of each image. */
typedef struct tvlm_stack_image {
    bool set;              /* its pixels are in the source; otherwise it is made black when first read */
    int32_t width, height; /* its size as it was handed in */
    tvlm_grid_mask given;  /* grids that were handed in for it */

    /* How often its pixels in the source, or its part of a grid that is handed in, changed or went. */
    uint64_t changes[TVLM_GRID_COUNT];
    /* The changes[TVLM_GRID_FEATURES] for which its part of the chunk's `inverse` was made, and the
     * changes[TVLM_GRID_EMBEDDING] for which its part of `shares` was set. 0: never. */
    uint64_t lengths, shares;
    /* The changes[TVLM_GRID_FEATURES] for which no vector of its features was found to have a direction that a
     * question could be compared with. 0: never. */
    uint64_t pointless;

    bool remembered[TVLM_PREVIOUS_COUNT]; /* whether this is known of a frame before the present one */
    tvlm_slot slot;
} tvlm_stack_image;

/* A plane of the application's own: channel TVLM_CHANNEL_USER_0 and grid TVLM_GRID_USER_0 + its place. */
typedef struct tvlm_user_plane {
    char name[TVLM_CHANNEL_NAME_SIZE];
    float low, high;
    uint8_t reduce;
    bool output; /* it is an output of a scorer, and goes with the image's pixels */
} tvlm_user_plane;

/* What questions leave of the present frame: stack/frame.h. */
typedef struct tvlm_frame {
    tvlm_buffer *scores; /* kept from question to question, so that asking again allocates nothing */
    tvlm_candidates candidates;
    bool scored;   /* whether the scores are those of this frame */
    void *made_of; /* [made_of_bytes]: what they were made of (frame.h); NULL: nobody can say */
    size_t made_of_bytes;

    /* [bonus_rows * bonus_columns]: what is added to the scores. NULL: nothing. It belongs to who set it. */
    const float *bonus;
    int32_t bonus_columns, bonus_rows;

    float *positions; /* [position_capacity][2]: x, y in pixels of the working image */
    int32_t position_count, position_capacity;
    tvlm_buffer *looked;  /* the same on the device, NULL until positions were selected there */
    bool positions_there; /* whether the positions are those in `looked` */
    tvlm_buffer
        *copied; /* where a stream has a copy of the positions, from float `copied_at` on; NULL: nowhere */
    size_t copied_at;
} tvlm_frame;

/* The question that query_similarity answers: stack/query.h. */
typedef struct tvlm_question {
    int32_t image;            /* the image that it is about; -1: there is no question */
    int32_t columns, rows;    /* the size of the answer's grid */
    float extent_x, extent_y; /* how many pixels that grid covers */
} tvlm_question;

struct tvlm_delta; /* stack/delta.h */

struct tvlm_stack {
    tvlm_device *device;

    /* What is fixed when it is created. */
    int32_t width, height, images, levels;
    tvlm_format format;
    uint8_t mean_rule; /* TVLM_REDUCE_MEAN, or what takes its place */
    tvlm_family_settings settings;
    int32_t *channels; /* [channel_count]: those of the layout */
    int32_t channel_count;
    int32_t bundle_max;           /* TVLM_BUNDLE_MAX; tests make it smaller */
    tvlm_network *network;        /* that of the family `learned`; NULL: there is none */
    tvlm_grid_mask network_reads; /* the grids that its inputs may be stored in */

    float fixation_x, fixation_y, farthest; /* farthest: the distance of the corner that is farthest away */
    tvlm_rope rope;

    /* Of a ragged batch, whose width and height are the largest: the sizes of its images, and what they are seen with. NULL
     * of all others. */
    int32_t (*sizes)[2];
    tvlm_view *views;

    tvlm_grid_mask asked; /* grids that readers ever asked for */
    bool streamed;        /* its frames are a stream's: what one has no input for, a later one may bring */
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
    tvlm_camera *cameras; /* the cameras of their depths */

    /* Where the regions of the only image begin. NULL: in the middles of their cells. The centres belong to
     * who set them. */
    const tvlm_cluster_centre *centres;
    tvlm_texture *relevance;  /* a map of scores on its way to the previous frame */
    struct tvlm_delta *delta; /* NULL until a frame was compared */
    tvlm_sent sent;           /* the next image, on its way */
    tvlm_buffer *scratch[TVLM_SCRATCH_COUNT];
    tvlm_texture *candidates; /* what a scorer's network reads; NULL until there was one */
};

/* Returns the chunk that holds image `index`. */
tvlm_chunk *tvlm_stack_chunk(tvlm_stack *stack, int32_t index);

#endif
