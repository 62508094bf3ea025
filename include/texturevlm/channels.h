/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channels.h: channels and layouts, by number and by name. doc/channels.md defines each of them.
 *
 * A channel is a number for each place of an image, such as "edges" or "saliency". A layout is a named list
 * of channels, such as "full40". Functions that take a layout also take a list of names: "r,g,b,edges".
 */
#ifndef TEXTUREVLM_CHANNELS_H
#define TEXTUREVLM_CHANNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The numbers of channels. They never change, since programs and files rely on them. Some channels are runs:
 *
 *   embedding_0 .. 15   EMBEDDING_0 + i
 *   word_0 .. 63        WORD_0 + i
 *   feature_0 .. 4095   FEATURE_0 + i
 *   embedding_16 .. 63  EMBEDDING_16 + i - 16; they are in no layout, and can only be asked for by name
 *   learned_0 .. 31     LEARNED_0 + i, the outputs of the stack's network (lab/network.h)
 *   rope_x_cos_0 .. 63  ROPE_X_COS_0 + k, and in the same way rope_x_sin, rope_y_cos and rope_y_sin: where a place
 *                       is, as rotary position embeddings have it (tvlm_stack_set_rope); they are in no layout
 *   user planes         USER_0 + i, in the order in which a stack was told their names
 *
 * New built-in channels are numbered from 12288 on, one after the other.
 */
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
    TVLM_CHANNEL_EMBEDDING_0 = 18,
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
    TVLM_CHANNEL_EMBEDDING_16 = 8192,
    TVLM_CHANNEL_SHARPNESS = 12288,
    TVLM_CHANNEL_LEARNED_0 = 12289,
    TVLM_CHANNEL_ROPE_X_COS_0 = 12321,
    TVLM_CHANNEL_ROPE_X_SIN_0 = 12385,
    TVLM_CHANNEL_ROPE_Y_COS_0 = 12449,
    TVLM_CHANNEL_ROPE_Y_SIN_0 = 12513,
    TVLM_CHANNEL_VOCAB_ID = 12577,
    TVLM_CHANNEL_VOCAB_RESIDUAL = 12578,
    TVLM_CHANNEL_USER_0 = 65536,
    TVLM_CHANNEL_NONE = -1
};

#define TVLM_WORDS_MAX           64
#define TVLM_FEATURES_MAX        4096
#define TVLM_EMBEDDING_MAX       64
#define TVLM_ROPE_MAX            64
#define TVLM_LEARNED_MAX         32
#define TVLM_USER_PLANES_MAX     16
#define TVLM_CHANNEL_NAME_SIZE   32
#define TVLM_LAYOUT_CHANNELS_MAX 8192
#define TVLM_LAYOUT_DEFAULT      "full40"

/* What is known of a channel. */
typedef struct tvlm_channel_info {
    /* Its name, such as "edges". */
    char name[TVLM_CHANNEL_NAME_SIZE];
    /* The family of channels that are made together with it, such as "visual". Static storage. */
    const char *family;
    int32_t channel;
    /* The range of its values; -INFINITY and INFINITY if it has none. */
    float low, high;
    /* Its values are names and not quantities. So they are never interpolated: the channel is sampled nearest. */
    bool identifier;
    /* This version makes the channel, or takes it from the application. If false, the channel is 0 in a
     * layout. */
    bool available;
    /*
     * The channel needs something that the application hands in, and is 0 without it. This is
     *   - a grid of the channel itself;
     *   - for query_similarity, features and a question;
     *   - for occlusion and normals, their own grid or depth.
     *
     * The flow of a stream is an exception: the stream finds it if none is handed in.
     */
    bool handed_in;
    uint64_t reserved[4];
} tvlm_channel_info;

/* Describes a channel. Errors: ARGUMENT (there is no channel of that number). */
TVLM_API tvlm_status tvlm_channel_get_info(int32_t channel, tvlm_channel_info *info);

/* Returns the channel of that name, or TVLM_CHANNEL_NONE. */
TVLM_API int32_t tvlm_channel_find(const char *name);

/* Returns the name of layout number i ("visual12", ...), or NULL past the last one. Static storage. */
TVLM_API const char *tvlm_layout_name(int32_t i);

/* Returns the side in pixels of the working images of a layout that is made for thumbnails (32 for patch13
 * and scene18), or 0 for a layout whose working images have the size of the image. */
TVLM_API int32_t tvlm_layout_side(const char *layout);

/*
 * Finds the channels of a layout, or of a list of channel names separated by commas, in order. At most
 * `capacity` of them are written. *count is how many there are in all, so that a first call with capacity 0 can
 * ask for the number.
 *
 * Errors: ARGUMENT, for
 *   - an unknown name: the log suggests the nearest one;
 *   - an empty name;
 *   - in a list, a channel that this version does not make. A layout may have such channels.
 */
TVLM_API tvlm_status tvlm_layout_parse(const char *text, const tvlm_log *log, int32_t capacity,
                                       int32_t *channels, int32_t *count);

#ifdef __cplusplus
}
#endif
#endif
