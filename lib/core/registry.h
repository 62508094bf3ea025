/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry.h: the one table of families. It says what each family stores, at what size, how it is reduced to
 * coarser levels, and what it needs.
 *
 * A family stores one texture array for each grid size among its channels; such an array is called a *grid*.
 * The grids are the nodes that the stack orders, generates and invalidates. CONTRIBUTING.md says how a family
 * is added.
 */
#ifndef TVLM_CORE_REGISTRY_H
#define TVLM_CORE_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "texturevlm/channels.h"

/*
 * The grids that the application hands in (texturevlm/input.h), each stored at the size at which it comes:
 * X(ID). They stand before the grids that may need them. They are never generated: a chunk has no such grid
 * if none was handed in for any of its images. The features are the encoder's vectors. The words are made
 * from the features by tvlm_stack_set_words (texturevlm/features.h), and the previous pass is the
 * scores that tvlm_score kept (texturevlm/score.h); both are made only when the application asks.
 */
#define TVLM_GIVEN_GRIDS(X)                                                                                  \
    X(FLOW)                                                                                                  \
    X(ATTENTION_PREV)                                                                                        \
    X(ATTENTION)                                                                                             \
    X(GAZE)                                                                                                  \
    X(EMBEDDING)                                                                                             \
    X(DEPTH)                                                                                                 \
    X(OBJECT)                                                                                                \
    X(FEATURES)                                                                                              \
    X(VOCAB)                                                                                                 \
    X(WORDS)                                                                                                 \
    X(PREVIOUS_PASS)

/*
 * The grids that are handed in and replace channels that are otherwise generated: X(ID, first channel, number
 * of channels). An image without one keeps its generated channels, resampled to the same size.
 */
#define TVLM_REPLACING_GRIDS(X)                                                                              \
    X(MOTION_MAP, TVLM_CHANNEL_MOTION, 1)                                                                    \
    X(SALIENCY_MAP, TVLM_CHANNEL_SALIENCY, 1)                                                                \
    X(TEXT_MAP, TVLM_CHANNEL_TEXT, 1)                                                                        \
    X(OCCLUSION_MAP, TVLM_CHANNEL_OCCLUSION, 1)                                                              \
    X(NORMAL_MAP, TVLM_CHANNEL_NORMAL_X, 3)

/*
 * The grids that a backend generates from other grids, in an order that satisfies every need: X(ID, name,
 * test), where ID is the name in upper case. The functions tvlm_opencl_name and tvlm_reference_name make the
 * grid, the row `name` of `tvlm bench` measures it, and the test program `test` fails if the operation does
 * nothing.
 */
#define TVLM_CORE_GRIDS(X)                                                                                   \
    X(VISUAL, visual, "test_visual")                                                                         \
    X(SALIENCY, saliency, "test_saliency")                                                                   \
    X(LAPLACIAN, laplacian, "test_detail")                                                                   \
    X(ENTROPY, entropy, "test_detail")                                                                       \
    X(GRADIENT, gradient, "test_gradient")                                                                   \
    X(DISTANCE, distance, "test_distance")                                                                   \
    X(CLUSTER, cluster, "test_cluster")                                                                      \
    X(MOTION, motion, "test_motion")                                                                         \
    X(TEMPORAL, temporal, "test_temporal")                                                                   \
    X(OCCLUSION, occlusion, "test_scene")                                                                    \
    X(NORMAL, normal, "test_scene")                                                                          \
    X(TEXT, text, "test_text")                                                                               \
    X(SHARPNESS, sharpness, "test_sharpness")
/* The lab generates these, after all others (lab/operations.h). */
#define TVLM_LAB_GRIDS(X)       X(LEARNED, learned, "test_learned")
#define TVLM_GENERATED_GRIDS(X) TVLM_CORE_GRIDS(X) TVLM_LAB_GRIDS(X)

#define TVLM_GRID_ENUM(ID, ...)  TVLM_GRID_##ID,
#define TVLM_GRID_ENUM_GIVEN(ID) TVLM_GRID_##ID,
typedef enum tvlm_grid {
    /* The source holds r, g, b and luma of the image that is handed in. */
    TVLM_GRID_SOURCE = 0,
    TVLM_GIVEN_GRIDS(TVLM_GRID_ENUM_GIVEN) TVLM_GENERATED_GRIDS(TVLM_GRID_ENUM)
        TVLM_REPLACING_GRIDS(TVLM_GRID_ENUM)
    /* The query holds query_similarity, which comes with each question. */
    TVLM_GRID_QUERY,
    /* Each plane of the application's own has a grid. */
    TVLM_GRID_USER_0,
    TVLM_GRID_USER_LAST = TVLM_GRID_USER_0 + TVLM_USER_PLANES_MAX - 1,
    TVLM_GRID_COUNT,
    /* The position is computed where it is read, and never stored. */
    TVLM_GRID_FORMULA,
    /* The channel is not made by this version, and is 0 everywhere. */
    TVLM_GRID_NONE
} tvlm_grid;

/* What the components of a texture are in a stack of bytes (texel.h). In a stack of another format this says
 * nothing. */
typedef enum tvlm_range {
    TVLM_RANGE_ANY = 0, /* half */
    TVLM_RANGE_UNIT,    /* 0 .. 1: U8 */
    TVLM_RANGE_SIGNED   /* -1 .. 1: S8 */
} tvlm_range;

/* The width and height of a grid's level 0. */
typedef enum tvlm_grid_size {
    /* It is as large as the image. */
    TVLM_SIZE_IMAGE = 0,
    /* It is as large as the image's level 1. */
    TVLM_SIZE_HALF,
    /* It is as large as the image's level 2. */
    TVLM_SIZE_QUARTER,
    /* It has one texel for each cell of 16 x 16 pixels, and its extent is the number of cells times 16. */
    TVLM_SIZE_CELLS,
    /* It is as large as it was handed in. */
    TVLM_SIZE_GIVEN,
    /* It is as large as the grid `like`, which is handed in; without that grid, it is not made. */
    TVLM_SIZE_LIKE,
    /* It is as large as the grid that the question is asked of (lib/stack/query.c). */
    TVLM_SIZE_QUESTION,
    /* It is as large as the stack's network makes it, which also says what it is made from
     * (lib/stack/learned.c); without a network, it is not made. */
    TVLM_SIZE_NETWORK
} tvlm_grid_size;

/* A set of grids. */
typedef uint64_t tvlm_grid_mask;
_Static_assert(TVLM_GRID_COUNT <= 64, "a mask has a bit for each grid");
#define TVLM_GRID_BIT(grid) ((tvlm_grid_mask)1 << (grid))

/* The textures in which a chunk remembers the last frames of its images, each of one layer and one level
 * (lib/stack/temporal.c). */
typedef enum tvlm_previous {
    /* At the size of the source's level 1: luma, which is -1 where there was no frame. */
    TVLM_PREVIOUS_LUMA = 0,
    /* In cells, and not yet moved along the flow: relevance, saliency and fixation; 0 where there was no
     * frame. */
    TVLM_PREVIOUS_STATE,
    TVLM_PREVIOUS_COUNT
} tvlm_previous;

/* The families that tvlm_stack_update_image may keep for some frames although the picture changed, each
 * within a limit of its own (struct tvlm_update_params). */
typedef enum tvlm_carried {
    TVLM_CARRIED_SALIENCY = 0,
    TVLM_CARRIED_CLUSTER,
    TVLM_CARRIED_COUNT
} tvlm_carried;

/* The encoder's results that a stream moves along with the picture (lib/video/stream_features.c). */
typedef enum tvlm_streamed {
    TVLM_STREAMED_FEATURES = 0,
    TVLM_STREAMED_EMBEDDING,
    TVLM_STREAMED_COUNT
} tvlm_streamed;

/* How a grid is handed in. The range of its values is that of its channels. */
typedef struct tvlm_way_in {
    /* The numbers of channels that a cell may have. If they are 0, the application cannot hand the grid in:
     * the library itself puts it there. */
    int32_t channels_min, channels_max;
    /* One of TVLM_INPUT_*. */
    int32_t mode;
    /* Values are clamped to [-limit, limit] as well as to the channel's range; 0 means to the range alone. */
    float limit;
    /* The values of the components that the cells do not have. */
    float fill[4];
    /* A camera comes with the grid. */
    bool camera;
} tvlm_way_in;

/* All that the rest of the library knows of a grid. The members down to `reach` say what it is; those after
 * it are 0 for most grids. */
typedef struct tvlm_grid_info {
    const char *name;
    tvlm_grid_size size;
    int32_t layers;
    /* One of TVLM_REDUCE_* for each component, the same in every layer. A component that is reduced by MODE
     * is also sampled without interpolation (the nearest texel). */
    uint8_t reduce[4];
    /* The grids that it is made from. Those that are handed in may be missing. */
    tvlm_grid_mask needs;
    /* How far beyond its own place a texel depends on its grid's needs, in pixels of level 0; -1 means the
     * whole image. */
    int32_t reach;

    /* It reads only level 0 of the grids that it needs. All other grids are made after the grids that they
     * need have all their levels. A grid that needs no levels can be made before them, and then the levels of
     * several grids are made together. */
    bool level_0;
    /* If it is not 0, the reach grows by 1 / reach_share of the image's longer side. */
    int32_t reach_share;
    /* The grid that has the same size, for TVLM_SIZE_LIKE. */
    tvlm_grid like;
    /* The grid is cleared when one of these changes. */
    tvlm_grid_mask follows;
    /* It has one channel, so that images of it may have one component (tvlm_texture.scalar). */
    bool scalar;
    /* It is scalar in buffers, too: its kernels write it as such. Only large grids are, since kernels that
     * sample such grids take longer (cl/texture.clh). */
    bool scalar_buffer;
    /* Its channels are one vector, which is normalized to unit length wherever it is read. */
    bool unit;
    /* It can be made for images of different sizes at once (ragged textures, operands.h). */
    bool ragged;
    /* It can be made in parts only from what an earlier call with args->keep left behind. */
    bool stages;
    /* The cascade looks along its borders (lib/select/guide.c). */
    bool guides;
    /* It holds the encoder's own vectors, whose levels are made only once they are read
     * (lib/stack/features.c). */
    bool vectors;
    /* 1 + one of TVLM_PREVIOUS_* if it is made from what was kept of the last frame; otherwise 0. */
    int8_t previous;
    /* 1 + the number of an earlier grid, or 0. Both grids are made from the same grids. Where both are to be
     * made, the operation of the earlier one makes this one, too. */
    int8_t beside;
    /* 1 + one of TVLM_CARRIED_*, or 0. */
    int8_t carried;
    /* 1 + one of TVLM_STREAMED_*, or 0. */
    int8_t streamed;
    /* What its value is multiplied by, for families whose definition has such a number; 0 for others. */
    float scale;
    /* How many bytes are taken to make it, beside its texture, for each pixel of the image: at most, on any
     * device (lib/stack/memory.c). */
    float work;
    /* How it is handed in, for grids that are. */
    tvlm_way_in in;
} tvlm_grid_info;

/* The grid, layer and component in which a channel is stored. */
typedef struct tvlm_channel_place {
    tvlm_grid grid;
    int32_t layer, component;
} tvlm_channel_place;

const tvlm_grid_info *tvlm_grid_get_info(tvlm_grid grid);

/* `channel` must be one that tvlm_channel_get_info knows. */
tvlm_channel_place tvlm_channel_get_place(int32_t channel);

/* Returns the grids in `mask` and all that they need, directly or not. */
tvlm_grid_mask tvlm_grids_with_needs(tvlm_grid_mask mask);

/* Returns the grids in `mask` and all that need one of them, directly or not. */
tvlm_grid_mask tvlm_grids_with_dependents(tvlm_grid_mask mask);

/* Returns how many channels a replacing grid holds in place of generated ones, from component 0 on, and sets
 * *first to the first of them. For all other grids it returns 0. */
int32_t tvlm_grid_get_replaced(tvlm_grid grid, int32_t *first);

/* Returns the channel in component position % 4 of layer position / 4 of a grid, or TVLM_CHANNEL_NONE if
 * there is none. */
int32_t tvlm_grid_get_channel(tvlm_grid grid, int32_t position);

/* Returns where a channel is stored when it is handed in and replaces the generated one; the place's grid is
 * TVLM_GRID_NONE if the channel cannot be replaced. */
tvlm_channel_place tvlm_channel_get_replacement(int32_t channel);

/*
 * The range that bytes would have to hold: of a channel, and of all channels of a grid together. It is ANY
 * for
 *
 *   - identifiers;
 *   - grids whose ranges are given elsewhere (the application's own planes, learned channels);
 *   - a question's map. A map is small and is made anew with each question. It is ranked by differences that
 *     are too small for bytes.
 */
tvlm_range tvlm_range_of(const tvlm_channel_info *info);
tvlm_range tvlm_grid_range(tvlm_grid grid);

/* Returns whether a grid is one of those that are handed in, among them the replacing grids and the
 * application's own planes. */
bool tvlm_grid_is_given(tvlm_grid grid);

/* Returns whether the channels of a grid are one vector of unit length. `grid` may also be TVLM_GRID_FORMULA
 * or TVLM_GRID_NONE, which are none. */
bool tvlm_grid_is_unit(tvlm_grid grid);

/* Tell whether a name can be that of a channel which is not the library's own, and whether the library itself
 * has a channel or a layout of that name (layout.c). */
bool tvlm_name_is_allowed(const char *name);
bool tvlm_name_is_taken(const char *name);

/* Finds grids by a member of their entries: all those that guide, or the one that has a certain number. */
tvlm_grid_mask tvlm_grids_that_guide(void);
tvlm_grid tvlm_grid_of_previous(tvlm_previous which);
tvlm_grid tvlm_grid_of_carried(tvlm_carried which);
tvlm_grid tvlm_grid_of_streamed(tvlm_streamed which);

/* Returns whether an update (delta.h) can make the grid anew only where the picture changed: the grid is made
 * from the source, directly or through other such grids, and its reach is limited. */
bool tvlm_grid_is_local(tvlm_grid grid);

#endif
