/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_preset.c: the presets, which say what a stream looks for in each kind of video. The weights are
 * chosen by hand, since there were no videos with people's answers to learn them from.
 */
#include <string.h>

#include "core/check.h"
#include "texturevlm/stream.h"

static const char *const names[] = {"moving", "still", "screen", "gaze"};
#define USES ((int)(sizeof names / sizeof names[0]))

#define TERMS 4

static const int32_t still_channels[TERMS] = {TVLM_CHANNEL_MOTION, TVLM_CHANNEL_SALIENCY,
                                              TVLM_CHANNEL_ENTROPY, TVLM_CHANNEL_EDGES};
static const float still_weights[TERMS] = {1.0f, 0.3f, 0.1f, 0.2f};
static const tvlm_scorer still = {.channel_count = TERMS,
                                  .channels = still_channels,
                                  .taps = 1,
                                  .weights = still_weights,
                                  .similarity_weight = 0.8f};

static const int32_t screen_channels[TERMS] = {TVLM_CHANNEL_TEXT, TVLM_CHANNEL_EDGES, TVLM_CHANNEL_ENTROPY,
                                               TVLM_CHANNEL_SALIENCY};
static const float screen_weights[TERMS] = {0.6f, 0.3f, 0.2f, 0.1f};
static const tvlm_scorer screen = {.channel_count = TERMS,
                                   .channels = screen_channels,
                                   .taps = 1,
                                   .weights = screen_weights,
                                   .similarity_weight = 0.8f};

static const int32_t gaze_channels[TERMS] = {TVLM_CHANNEL_FIXATION, TVLM_CHANNEL_SALIENCY,
                                             TVLM_CHANNEL_ENTROPY, TVLM_CHANNEL_ECCENTRICITY};
static const float gaze_weights[TERMS] = {0.8f, 0.2f, 0.1f, -0.2f};
static const tvlm_scorer gaze = {.channel_count = TERMS,
                                 .channels = gaze_channels,
                                 .taps = 1,
                                 .weights = gaze_weights,
                                 .similarity_weight = 0.6f};

/* This layout has no channel that depends on earlier frames. So nothing of the last frame is kept for such a
 * channel. */
#define SCREEN_LAYOUT "r,g,b,edges,saliency,entropy,text"

tvlm_status tvlm_stream_preset(tvlm_stream_use use, struct tvlm_stream_params *params) {
    TVLM_NEED(NULL, params);
    if ((int)use < 0 || (int)use >= USES) return TVLM_ERROR_ARGUMENT; /* without a log */
    /* A gaze is where somebody looks on the screen. It is neither moved nor hidden by what moves there. */
    params->no_flow = use == TVLM_STREAM_SCREEN || use == TVLM_STREAM_GAZE;
    /* If most of the picture does not change, the channels that depend on the whole image take nearly all of
     * the time. So they are kept while only little changes. */
    const bool keeps = use == TVLM_STREAM_STILL || use == TVLM_STREAM_SCREEN;
    params->update.saliency_share = params->update.cluster_share = keeps ? TVLM_STREAM_SHARE : 0.0f;
    params->layout = use == TVLM_STREAM_SCREEN ? SCREEN_LAYOUT : NULL;
    params->scorer = use == TVLM_STREAM_STILL    ? &still
                     : use == TVLM_STREAM_SCREEN ? &screen
                     : use == TVLM_STREAM_GAZE   ? &gaze
                                                 : NULL;
    return TVLM_OK;
}

const char *tvlm_stream_use_name(tvlm_stream_use use) {
    return (int)use >= 0 && (int)use < USES ? names[use] : "unknown";
}

int tvlm_stream_use_find(const char *name) {
    for (int i = 0; name != NULL && i < USES; ++i)
        if (strcmp(name, names[i]) == 0) return i;
    return -1;
}
