/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h: channels and layouts by number and name (doc/channels.md).
 */
#ifndef TEXTUREVLM_LAYOUT_H
#define TEXTUREVLM_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Channel numbers: stable, others rely on them. words are 60 + i (i < 64), features 124 + i (i < 4096). */
enum {
    TVLM_CHANNEL_R = 0,
    TVLM_CHANNEL_G = 1,
    TVLM_CHANNEL_B = 2,
    TVLM_CHANNEL_EDGES = 3,
    TVLM_CHANNEL_EDGES_INV = 4,
    TVLM_CHANNEL_HIGH = 5,
    TVLM_CHANNEL_LOW = 6,
    TVLM_CHANNEL_MOTION = 7,
    TVLM_CHANNEL_SALIENCY = 8,
    TVLM_CHANNEL_X = 9,
    TVLM_CHANNEL_Y = 10,
    TVLM_CHANNEL_ECCENTRICITY = 11,
    TVLM_CHANNEL_CLUSTER_ID = 12,
    TVLM_CHANNEL_CLUSTER_DISTANCE = 13,
    TVLM_CHANNEL_CLUSTER_SIZE = 14,
    TVLM_CHANNEL_PREV_RELEVANCE = 15,
    TVLM_CHANNEL_PREV_SALIENCY = 16,
    TVLM_CHANNEL_FIXATION = 17,
    TVLM_CHANNEL_EMBEDDING_0 = 18, /* 18 + i for i < 16 */
    TVLM_CHANNEL_DISTANCE = 34,
    TVLM_CHANNEL_ATTENTION_PREV = 35,
    TVLM_CHANNEL_ATTENTION = 36,
    TVLM_CHANNEL_GAZE = 37,
    TVLM_CHANNEL_BOUNDARY = 38,
    TVLM_CHANNEL_TEXT = 39,
    TVLM_CHANNEL_LAPLACIAN = 40,
    TVLM_CHANNEL_ENTROPY = 41,
    TVLM_CHANNEL_EDGE_X = 42,
    TVLM_CHANNEL_EDGE_Y = 43,
    TVLM_CHANNEL_RGB_VAR = 44,
    TVLM_CHANNEL_RGB_MEAN = 45,
    TVLM_CHANNEL_SALIENCY_FINE = 46,
    TVLM_CHANNEL_SALIENCY_MID = 47,
    TVLM_CHANNEL_SALIENCY_COARSE = 48,
    TVLM_CHANNEL_FLOW_U = 49,
    TVLM_CHANNEL_FLOW_V = 50,
    TVLM_CHANNEL_FLOW_CONFIDENCE = 51,
    TVLM_CHANNEL_DEPTH = 52,
    TVLM_CHANNEL_OCCLUSION = 53,
    TVLM_CHANNEL_OBJECT_ID = 54,
    TVLM_CHANNEL_NORMAL_X = 55,
    TVLM_CHANNEL_NORMAL_Y = 56,
    TVLM_CHANNEL_NORMAL_Z = 57,
    TVLM_CHANNEL_QUERY_SIMILARITY = 58,
    TVLM_CHANNEL_PREVIOUS_PASS = 59,
    TVLM_CHANNEL_WORD_0 = 60,
    TVLM_CHANNEL_FEATURE_0 = 124,
    TVLM_CHANNEL_EMBEDDING_16 =
        8192, /* embedding_16..63 of a larger basis: "by name only", numbered out of the way */
    TVLM_CHANNEL_USER_0 =
        65536, /* planes of the application's own, in the order in which a stack learnt of them */
    TVLM_CHANNEL_NONE = -1
};

#define TVLM_WORDS_MAX           64
#define TVLM_FEATURES_MAX        4096
#define TVLM_EMBEDDING_MAX       64
#define TVLM_USER_PLANES_MAX     16
#define TVLM_CHANNEL_NAME_SIZE   32
#define TVLM_LAYOUT_CHANNELS_MAX 8192 /* channels of one list */
#define TVLM_LAYOUT_DEFAULT      "full40"

typedef struct tvlm_channel_info {
    char name[TVLM_CHANNEL_NAME_SIZE]; /* "edges" */
    const char *family;                /* "visual"; static storage */
    int32_t channel;
    float low, high; /* the range of its values; -INFINITY, INFINITY where there is none */
    bool identifier; /* sampled nearest */
    bool available;  /* this version makes it, or takes it; otherwise it is 0 inside a layout */
    uint64_t reserved[4];
} tvlm_channel_info;

/* What is known of a channel. ARGUMENT when there is none of that number. */
TVLM_API tvlm_status tvlm_channel_get_info(int32_t channel, tvlm_channel_info *info);

/* The channel of that name, or TVLM_CHANNEL_NONE. */
TVLM_API int32_t tvlm_channel_find(const char *name);

/* The i-th layout's name ("visual12", ...), NULL past the last one. Static storage. */
TVLM_API const char *tvlm_layout_name(int32_t i);

/* The side of the working images of a layout that is for thumbnails (patch13, scene18: 32); 0: the image's
 * own size. */
TVLM_API int32_t tvlm_layout_side(const char *layout);

/*
 * The channels of a layout, or of a list of channel names separated by commas, in order. At most `capacity`
 * are written, *count is how many there are (so a first call may have capacity 0). Errors: ARGUMENT for an
 * unknown name (the line suggests the nearest), an empty one, or for a name in a list (not in a layout) whose
 * family this version does not make.
 */
TVLM_API tvlm_status tvlm_layout_parse(const char *text, const tvlm_log *log, int32_t capacity,
                                       int32_t *channels, int32_t *count);

#ifdef __cplusplus
}
#endif
#endif
