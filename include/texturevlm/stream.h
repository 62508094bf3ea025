/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h: a video as a stream of frames, each of which keeps what it can from the one before.
 *
 *     struct tvlm_stream_params params = {0};
 *     tvlm_stream_preset(TVLM_STREAM_MOVING, &params);
 *     tvlm_stream_create(device, 960, 540, &params, &stream);
 *     for (each frame) {
 *         tvlm_stream_report report;
 *         tvlm_stream_push(stream, 0, &frame, NULL, &report);
 *         if (report.needs_all || report.needs > 0.1f)
 *             tvlm_stream_set_features(stream, 0, ...);           // optional: what the encoder says of it
 *         tvlm_stream_select(stream, 0, &query, NULL, &selection);
 *     }
 *
 * A stream has one or more cameras. Each has a stack of its own on the stream's device, with one image
 * (tvlm_stream_stack); no camera sees anything of another, so that a stream of several is the same as several
 * streams. A camera's frames have one size.
 *
 * What a push does, in this order: what the last frame leaves is remembered (temporal.h); the new pixels
 * replace the old ones; unless there is a cut, the flow from the new frame to the last one is estimated
 * (flow.h), or taken from the application, and everything that is carried over moves along it: the channels
 * motion, prev_relevance, prev_saliency and fixation, the features or embedding, the centres of the regions
 * and the last selection's positions. Where the flow is less sure than `confidence`, nothing is carried over.
 *
 * *Keyframes* are the first frame, every keyframe_interval-th, each cut, and where the application asks.
 * Pixels are taken whole and all is made anew (at a cut that is found, where tiles changed: everywhere; and
 * what was carried over for the whole image); all features are asked for, and those that come replace the
 * carried ones without a blend. Regions still begin where the last ones were: they are measured in each
 * frame. Relevance and saliency are carried for one frame only. A *cut* also forgets all that was before:
 * there is no motion across it, and regions get new ids.
 */
#ifndef TEXTUREVLM_STREAM_H
#define TEXTUREVLM_STREAM_H

#include "delta.h"
#include "flow.h"
#include "input.h"
#include "select.h"
#include "temporal.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tvlm_stream tvlm_stream;

#define TVLM_KEYFRAME_INTERVAL_DEFAULT 30
#define TVLM_CUT_DEFAULT               0.3f
#define TVLM_STEADINESS_DEFAULT        0.15f
/* Below TVLM_CONFIDENCE_DEFAULT: of real frames a quarter of the cells would be given up with each
 * (bench/drift.py). */
#define TVLM_STREAM_CONFIDENCE_DEFAULT 0.25f
#define TVLM_BLEND_DEFAULT             0.7f
#define TVLM_NEEDS_ALL_DEFAULT         0.8f
#define TVLM_CELLS_OF_FLOW_DEFAULT     4.0f
#define TVLM_VOLUME_FRAMES_MAX         64
#define TVLM_STREAM_SHARE              0.25f /* update.saliency_share, cluster_share: tvlm_stream_preset */

/* All zero: a moving camera. */
struct tvlm_stream_params {
    const char *layout; /* NULL: temporal34 */
    int32_t cameras;    /* 0: 1; at most 256 */
    tvlm_format format;
    int32_t clusters;          /* as in tvlm_stack_params */
    float compactness;         /* as in tvlm_stack_params */
    int32_t keyframe_interval; /* frames from one keyframe to the next, >= 1; 0: 30 */
    const float *cut; /* of tvlm_stream_report.difference, from which on there is a cut; finite. NULL:
                         0.3; above 1: never */
    /* Delta updates (delta.h) of frames between keyframes: */
    bool whole;                       /* none: every frame is taken whole */
    struct tvlm_update_params update; /* all zero: the same as if taken whole, bit for bit, but for regions:
                                         where nothing at all changes they stay, and do not go on settling.
                                         A frame with little change is cheap only with its shares (delta.h) */
    bool no_flow;            /* nothing moves: no flow is estimated (one handed in is still taken). Cells of
                                features in which luma changes (a quarter of the cell by 0.02) need new ones */
    const float *confidence; /* flow of less counts as none, finite; NULL: 0.25 */
    float longest;           /* flow, in cells of the features' grid, beyond which a cell needs new features;
                                0: 4 */
    const float *blend;      /* share of new features where there are carried ones, 0 .. 1; NULL: 0.7 */
    const float *needs_all;  /* share of cells from which on all are asked for, 0 .. 1; NULL: 0.8 */
    const float *steadiness; /* added to the score of each candidate in whose cell a position of the last
                                selection is now, by the flow; finite, >= 0. In the scores' own units (the
                                three parts' are within [0, 1]). NULL: 0.15; 0: none. It is part of the
                                scores that selections and prev_relevance show. */
    const tvlm_scorer *scorer; /* of selections that bring neither a scorer nor weights; its arrays must
                                  outlive the stream. NULL: the three parts */
    /* Of a position that was looked at: as in tvlm_advance_params. */
    const float *decay;
    float sigma;
    /* A volume: channels (a layout's name, or a list) of the last `volume_frames` frames, the present one
     * among them, 2 .. 64; NULL or 0: none. Stored at level `volume_level` of the image; 0: 4, a texel a cell
     * of 16 pixels. */
    const char *volume;
    int32_t volume_frames;
    int32_t volume_level;
    bool look_back; /* channel c of the volume, k frames ago, is the plane "c@-k" (k = 1 ..) of the stack, for
                       scorers: tvlm_stack_channel_find finds it. 0 where there is no such frame. At most
                       TVLM_USER_PLANES_MAX of them. At the same place of the image: not moved by the flow */
    uint64_t reserved[4];
};
#define tvlm_stream_params(...) TVLM_PARAMS(tvlm_stream_params, __VA_ARGS__)

typedef enum tvlm_stream_use {
    TVLM_STREAM_MOVING = 0, /* a moving camera: flow; the three parts decide */
    TVLM_STREAM_STILL,      /* a still camera: what changes counts most (things in it move: there is flow);
                               what hangs on the whole image is carried over */
    TVLM_STREAM_SCREEN,     /* a screen or a document: no flow and no motion; text counts most; as above */
    TVLM_STREAM_GAZE /* an eye tracker's positions, pushed with each frame: what was looked at counts most */
} tvlm_stream_use;

/*
 * Sets the parameters of a preset (no_flow, scorer, layout, and of update both shares) and leaves all others
 * as they are. The weights are chosen by hand.
 *
 * The shares are 0 for moving and gaze, and TVLM_STREAM_SHARE for still and screen: saliency and regions,
 * which hang on the whole image and are most of the work where little changes (delta.h), are those of an
 * earlier frame until a quarter of the tiles have changed since, all frames together; 30 frames with changes
 * at most, and not beyond a keyframe or cut. Saliency, and prev_saliency with it, is then out of date where
 * something came or went; what else is made of the image is exact. Regions keep their labels, and their
 * table, until they are made again, from where the flow has led them by then. Set the shares to 0 after the
 * preset for all of it in each frame.
 *
 * Errors: ARGUMENT (there is no such use).
 */
TVLM_API tvlm_status tvlm_stream_preset(tvlm_stream_use use, struct tvlm_stream_params *params);
/* "moving", "still", "screen", "gaze"; never NULL. The use of that name, or -1. */
TVLM_API const char *tvlm_stream_use_name(tvlm_stream_use use);
TVLM_API int tvlm_stream_use_find(const char *name);

/*
 * width, height: of the working images; frames of another size are resampled. `params` NULL: all defaults.
 * Errors: ARGUMENT, as tvlm_stack_create, and any parameter out of its range: nothing is left for a push to
 * refuse; DEVICE_MEMORY, MEMORY.
 */
TVLM_API tvlm_status tvlm_stream_create(tvlm_device *device, int32_t width, int32_t height,
                                        const struct tvlm_stream_params *params, tvlm_stream **stream);
/* Before its device. NULL and *NULL are fine. */
TVLM_API void tvlm_stream_destroy(tvlm_stream **stream);

/* What a push found. */
typedef struct tvlm_stream_report {
    int64_t frame; /* from 0 */
    bool keyframe;
    bool cut;
    bool flow;              /* there is one from this frame to the last */
    int32_t tiles, changed; /* compared, and different from the last frame; 0 where a frame was taken whole */
    float difference;       /* from the last frame, 0 .. 1: see tvlm_stream_push; 0 for the first one */
    bool needs_all;         /* all features are asked for */
    float needs;            /* share of cells without features that are good enough; 1 where there are none */
    int32_t columns, rows;  /* of the cells; 0 where there never were features */
    uint64_t reserved[4];
} tvlm_stream_report;

/* All zero: nothing but the frame. */
struct tvlm_push_params {
    bool keyframe; /* make it one */
    /* A flow of the application's own (hardware, RAFT), as tvlm_stack_set_grid takes it for flow_u: from this
     * frame to the last one. Not looked at in a first frame and at a cut. */
    const struct tvlm_grid_input *flow;
    /* What was looked at since the last frame, in its pixels as it was handed in; x, y, finite. The last of
     * them becomes the fixation of eccentricity. NULL: the positions that were selected. */
    const float *fixations;
    int32_t fixation_count;
    uint64_t reserved[4];
};
#define tvlm_push_params(...) TVLM_PARAMS(tvlm_push_params, __VA_ARGS__)

/*
 * The next frame of a camera (0 ..). `image` NULL: the one that tvlm_stream_send has sent. `params` and
 * `report` may be NULL. Waits once, for all that was enqueued before and for the flow: whether there is a
 * cut, and where regions, positions and features went, is read together. It waits once more for pixels that
 * were not sent ahead, for a flow that is handed in, and for features where there is no flow.
 *
 * difference: of the two frames' lumas, at the first level no side of which is above 64 texels, the least of
 * - the share of texels that would have to change to make one histogram (16 bins) the other,
 * - 1 less the correlation of the texels at one place (1 where a frame is flat), and
 * - 8 times the mean absolute difference of the texels at one place;
 * fast motion keeps the histogram, a lamp that is switched on the correlation, and what flickers in a flat or
 * dark frame (a lens cap, a blank page, a camera at night) makes no large step: from less than 0.0375 on the
 * mean, 10 of 255, there is no cut at 0.3. Scenes so dark that they differ by less are taken for one.
 *
 * Errors: ARGUMENT (a camera, no image, another size than that of the camera's first frame, fixations), and
 * it is as if the frame never came; after any other (a flow that is refused, DEVICE_MEMORY, MEMORY, DEVICE)
 * the camera knows nothing of before: its next frame is a first one, of any size, and a frame that was sent
 * is gone.
 */
TVLM_API tvlm_status tvlm_stream_push(tvlm_stream *stream, int32_t camera, const tvlm_image *image,
                                      const struct tvlm_push_params *params, tvlm_stream_report *report);

/*
 * Begins to send a camera's next frame to the device, beside the work on the present one (a second queue),
 * and returns; tvlm_stream_push with `image` NULL takes it. Until it has returned the pixels must stay as
 * they are. What is sent is what a push would upload: the tiles that differ from the present frame, or all.
 * It is compared (and resampled, where it is not of the working size) here. The result is that of a push with
 * `image`, bit for bit; also where that is a keyframe that was not due: then the push sends what it needs
 * itself. A second call replaces the first one's frame, and a push with an image of its own drops it: after
 * that there is none to take, and its pixels may go. Errors: ARGUMENT, as of a push, and what was sent before
 * still waits; DEVICE_MEMORY, MEMORY, DEVICE, and nothing does. The present frame stays as it is in any case.
 */
TVLM_API tvlm_status tvlm_stream_send(tvlm_stream *stream, int32_t camera, const tvlm_image *image);

/*
 * Positions for the camera's present frame: tvlm_select (select.h) with the stream's scorer where `params`
 * has none, and with the bonus for positions that stay, where the strategy is the grid. params->index must be
 * 0. Errors: ARGUMENT (no frame was pushed yet; as tvlm_select).
 */
TVLM_API tvlm_status tvlm_stream_select(tvlm_stream *stream, int32_t camera, const struct tvlm_query *query,
                                        const struct tvlm_select_params *params, tvlm_selection **selection);

/* The camera's stack, to read, sample, pack, set grids or regions; the stream's. NULL: no such camera. Its
 * images and features come through the stream only. */
TVLM_API tvlm_stack *tvlm_stream_stack(tvlm_stream *stream, int32_t camera);

/*
 * Features (TVLM_CHANNEL_FEATURE_0) or an embedding (TVLM_CHANNEL_EMBEDDING_0) of the present frame, as
 * tvlm_stack_set_grid takes them. mask[rows * columns]: cells for which there are new ones (not 0); NULL:
 * all. The values of the others are not looked at, but must be finite. Where a cell has carried features of
 * this size, `blend` of the new ones is mixed in (not at keyframes); others are taken as they are. Later
 * frames carry what is here then along the flow: what comes from a cell without features, along a flow that
 * is not sure, too long or from outside, has none: it is 0, and counts in report.needs. Errors: as
 * tvlm_stack_set_grid; ARGUMENT for other channels, and a mask where the camera has no features of this size.
 */
TVLM_API tvlm_status tvlm_stream_set_features(tvlm_stream *stream, int32_t camera, int32_t channel,
                                              const struct tvlm_grid_input *input, const uint8_t *mask);

/* The cells that need features, 1, others 0: report.rows * report.columns of them, row-major. Errors:
 * ARGUMENT (a capacity that is too small). */
TVLM_API tvlm_status tvlm_stream_needs(const tvlm_stream *stream, int32_t camera, size_t capacity,
                                       uint8_t *mask);

/*
 * The volume as one array on the device: slice = slot * ceil(channels / 4) + channel / 4, and the slot of the
 * frame `age` frames ago (0: the present one), which is brought up to date. Valid until the next push; the
 * stream's. tvlm_packed_read and texturevlm/opencl.h read it. Errors: ARGUMENT (no volume; fewer frames yet).
 */
TVLM_API tvlm_status tvlm_stream_volume(tvlm_stream *stream, int32_t camera, int32_t age,
                                        tvlm_packed **volume, int32_t *slot);

/* A point of the volume: pixels of the working image, and frames ago, fractions allowed. */
typedef struct tvlm_volume_point {
    float x, y, age;
} tvlm_volume_point;

/*
 * The volume at `count` points, all its channels: out[point * channels + c]. Linear in x, y and time
 * (identifiers nearest in all three); ages are clamped to the frames there are. Waits. Errors: ARGUMENT (no
 * volume, no frame, a point that is not a number), MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_stream_volume_sample(tvlm_stream *stream, int32_t camera,
                                               const tvlm_volume_point *points, int32_t count, float *out);

#ifdef __cplusplus
}
#endif
#endif
