/* SPDX-License-Identifier: Apache-2.0 */
/*
 * registry.h: the one table of families: what each stores, how large, how it is reduced, what it needs.
 *
 * A family stores one texture array for each grid size among its channels: a *grid*. The grids are the nodes
 * that the stack orders, generates and invalidates. A new family is an entry here and, for each of its
 * generated grids, a function of that name in each backend (the tables there are made from
 * TVLM_GENERATED_GRIDS).
 */
#ifndef TVLM_CORE_REGISTRY_H
#define TVLM_CORE_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "texturevlm/layout.h"

/*
 * Grids that the application hands in (texturevlm/input.h), each as large as it comes; X(ID). They stand
 * before what may need them. Nobody generates them: a chunk for none of whose images one was handed in has
 * none.
 */
#define TVLM_GIVEN_GRIDS(X)                                                                                  \
    X(FLOW)                                                                                                  \
    X(ATTENTION_PREV)                                                                                        \
    X(ATTENTION)                                                                                             \
    X(GAZE)                                                                                                  \
    X(EMBEDDING)                                                                                             \
    X(DEPTH)                                                                                                 \
    X(OBJECT)                                                                                                \
    X(FEATURES)      /* the encoder's vectors */                                                             \
    X(WORDS)         /* from the features, by those who ask (texturevlm/embed.h) */                          \
    X(PREVIOUS_PASS) /* scores kept by those who ask (texturevlm/score.h) */

/*
 * Grids that are handed in instead of channels that are otherwise generated; X(ID, first channel, channels).
 * Images without one keep what is generated, brought to the same size.
 */
#define TVLM_REPLACING_GRIDS(X)                                                                              \
    X(MOTION_MAP, TVLM_CHANNEL_MOTION, 1)                                                                    \
    X(SALIENCY_MAP, TVLM_CHANNEL_SALIENCY, 1)                                                                \
    X(TEXT_MAP, TVLM_CHANNEL_TEXT, 1)                                                                        \
    X(OCCLUSION_MAP, TVLM_CHANNEL_OCCLUSION, 1)                                                              \
    X(NORMAL_MAP, TVLM_CHANNEL_NORMAL_X, 3)

/*
 * Grids that a backend generates from other grids, in an order that satisfies every need; X(ID, name, test):
 * tvlm_opencl_NAME and tvlm_reference_NAME make it, the row NAME of `tvlm bench` measures it, and the test
 * program fails where the operation does nothing.
 */
#define TVLM_GENERATED_GRIDS(X)                                                                              \
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
    X(TEXT, text, "test_text")

#define TVLM_GRID_ENUM(ID, ...)  TVLM_GRID_##ID,
#define TVLM_GRID_ENUM_GIVEN(ID) TVLM_GRID_##ID,
typedef enum tvlm_grid {
    TVLM_GRID_SOURCE = 0, /* r, g, b, luma: handed in */
    TVLM_GIVEN_GRIDS(TVLM_GRID_ENUM_GIVEN) TVLM_GENERATED_GRIDS(TVLM_GRID_ENUM)
        TVLM_REPLACING_GRIDS(TVLM_GRID_ENUM)
            TVLM_GRID_QUERY, /* query_similarity: handed in with each question */
    TVLM_GRID_USER_0,        /* and one for each further plane of the application's */
    TVLM_GRID_USER_LAST = TVLM_GRID_USER_0 + TVLM_USER_PLANES_MAX - 1,
    TVLM_GRID_COUNT,
    TVLM_GRID_FORMULA, /* position: never stored */
    TVLM_GRID_NONE     /* not made by this version: 0 everywhere */
} tvlm_grid;

typedef enum tvlm_grid_size {
    TVLM_SIZE_IMAGE = 0, /* the image's */
    TVLM_SIZE_HALF,      /* the image's level 1 */
    TVLM_SIZE_QUARTER,   /* the image's level 2 */
    TVLM_SIZE_CELLS,     /* one texel a cell of 16 x 16 pixels; the extent is cells * 16 */
    TVLM_SIZE_GIVEN,     /* as handed in */
    TVLM_SIZE_LIKE,      /* that of the grid `like`, which is handed in: without it nothing is made */
    TVLM_SIZE_QUESTION   /* as large as what the question is asked of (lib/stack/query.c) */
} tvlm_grid_size;

/* A set of grids. */
typedef uint64_t tvlm_grid_mask;
_Static_assert(TVLM_GRID_COUNT <= 64, "a mask has a bit for each grid");
#define TVLM_GRID_BIT(grid) ((tvlm_grid_mask)1 << (grid))

/* What a chunk remembers of its images' last frames: textures of one layer and level (lib/stack/temporal.c). */
typedef enum tvlm_previous {
    TVLM_PREVIOUS_LUMA = 0, /* level 1 of the source: Y, and 1 where there was a frame (else 0, 0) */
    TVLM_PREVIOUS_STATE, /* in cells, not yet moved: relevance, saliency, fixation; 0 where there was no frame */
    TVLM_PREVIOUS_COUNT
} tvlm_previous;

/* Families that tvlm_stack_update_image may keep for some frames although the picture changed, each within a
 * limit of its own (struct tvlm_update_params). */
typedef enum tvlm_carried {
    TVLM_CARRIED_SALIENCY = 0,
    TVLM_CARRIED_CLUSTER,
    TVLM_CARRIED_COUNT
} tvlm_carried;

/* What the encoder said, which a stream moves along with the picture (lib/video/stream_features.c). */
typedef enum tvlm_streamed {
    TVLM_STREAMED_FEATURES = 0,
    TVLM_STREAMED_EMBEDDING,
    TVLM_STREAMED_COUNT
} tvlm_streamed;

/* How a grid is handed in; ranges are those of its channels. */
typedef struct tvlm_way_in {
    int32_t channels_min,
        channels_max; /* of a cell; 0: there is no way in, the library itself puts it there */
    int32_t mode;     /* TVLM_INPUT_* */
    float limit;      /* values beyond +-limit become it; 0: the channel's range alone */
    float fill[4];    /* the values of components that cells do not have */
    bool camera;      /* a camera comes with it */
} tvlm_way_in;

/*
 * All that the rest of the library knows of a grid. The first six say what it is; the others are 0 for most.
 */
typedef struct tvlm_grid_info {
    const char *name;
    tvlm_grid_size size;
    int32_t layers;
    uint8_t reduce[4];    /* TVLM_REDUCE_*, per component of every layer; MODE also means sampled nearest */
    tvlm_grid_mask needs; /* with all their levels; what is handed in may be missing */
    int32_t reach;        /* pixels of level 0 that a texel looks beyond its own place; -1: the whole image */

    int32_t reach_share;    /* it also looks 1 / reach_share of the image's longer side beyond */
    tvlm_grid like;         /* of TVLM_SIZE_LIKE */
    tvlm_grid_mask follows; /* it is cleared when one of these changes */
    bool unit;              /* its channels are one vector, brought to unit length wherever it is read */
    bool stages;            /* made in parts only of what an earlier call with args->keep left */
    bool guides;            /* the cascade looks along its borders (lib/select/guide.c) */
    bool vectors;    /* the encoder's own: only what is read of them gets levels (lib/stack/features.c) */
    int8_t previous; /* made from what was kept of the last frame: 1 + TVLM_PREVIOUS_* */
    int8_t carried;  /* 1 + TVLM_CARRIED_* */
    int8_t streamed; /* 1 + TVLM_STREAMED_* */
    tvlm_way_in in;  /* of grids that are handed in */
} tvlm_grid_info;

/* Where a channel is stored. */
typedef struct tvlm_channel_place {
    tvlm_grid grid;
    int32_t layer, component;
} tvlm_channel_place;

const tvlm_grid_info *tvlm_grid_get_info(tvlm_grid grid);

/* `channel` must be one that tvlm_channel_get_info knows. */
tvlm_channel_place tvlm_channel_get_place(int32_t channel);

/* The grids in `mask` and all that they need, directly or not. */
tvlm_grid_mask tvlm_grids_with_needs(tvlm_grid_mask mask);

/* The grids in `mask` and all that need one of them, directly or not. */
tvlm_grid_mask tvlm_grids_with_dependents(tvlm_grid_mask mask);

/* The channels that a replacing grid stands for, from component 0 on; 0 of them for all other grids. */
int32_t tvlm_grid_get_replaced(tvlm_grid grid, int32_t *first);

/* The channel in component position % 4 of layer position / 4 of a grid; TVLM_CHANNEL_NONE: there is none. */
int32_t tvlm_grid_get_channel(tvlm_grid grid, int32_t position);

/* Where a channel is stored when it is handed in instead of generated; NONE where that cannot be. */
tvlm_channel_place tvlm_channel_get_replacement(int32_t channel);

/* Handed in through texturevlm/input.h, replacing ones and the application's own planes among them. */
bool tvlm_grid_is_given(tvlm_grid grid);

/* Its channels are one vector; also of a formula or of no grid, which is none. */
bool tvlm_grid_is_unit(tvlm_grid grid);

/* The grids that an entry's field names: those that guide, and the one of a number. */
tvlm_grid_mask tvlm_grids_that_guide(void);
tvlm_grid tvlm_grid_of_previous(tvlm_previous which);
tvlm_grid tvlm_grid_of_carried(tvlm_carried which);
tvlm_grid tvlm_grid_of_streamed(tvlm_streamed which);

/* What a delta makes anew only where the picture changed: it is made from the source, and looks only so far. */
bool tvlm_grid_is_local(tvlm_grid grid);

#endif
