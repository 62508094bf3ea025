/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h: takes in a video as a stream of frames. Each frame keeps what it can from the one before.
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
 * *Cameras.* A stream has one or more cameras. Each has a stack of its own on the stream's device, with one
 * image (tvlm_stream_stack). No camera sees anything of another, so that a stream of several cameras is the
 * same as several streams. All frames of a camera have one size.
 *
 * *What a push does*, in this order:
 *
 *   1. What the last frame leaves is remembered (tvlm_stack_advance), and the new pixels replace the old ones.
 *   2. Unless there is a cut, the flow from the new frame to the last one is estimated (tvlm_flow_compute), or taken
 *      from the application.
 *   3. Everything that is carried over moves along the flow: the channels motion, prev_relevance,
 *      prev_saliency and fixation, the features or the embedding, the centres of the regions, and the last
 *      selection's positions. Where the flow's confidence is below `confidence`, nothing is carried over,
 *      except that positions follow any flow.
 *
 * *Keyframes* are the first frame, every keyframe_interval-th frame, each cut, and each frame that the application
 * makes a keyframe. At a keyframe
 *
 *   - pixels are taken whole, and everything is made anew;
 *   - all features are asked for, and those that come replace the carried ones without a blend;
 *   - regions still begin where the last ones were, since they are measured in each frame;
 *   - relevance and saliency are carried over by one frame, as between any two frames.
 *
 * A *cut* also forgets all that was before: there is no motion across it, and regions get new ids. A cut is found
 * only after the pixels were taken. So at a cut, unlike at other keyframes, only what lies in changed tiles is
 * made anew. But what had been carried over from earlier frames is made anew for the whole image.
 *
 * Frames that are on the device already (cl_mem) come in by tvlm_stream_push_opencl and tvlm_stream_send_opencl
 * (opencl.h).
 *
 * *A lost device* (TVLM_ERROR_LOST) takes with it all that the stream knows. The application goes on with a new
 * stream of the same parameters on another device (device.h), in one of two ways:
 *
 *   - The present frame is the first frame of the new stream. Nothing of what was before is kept.
 *   - The application pushes the frames since the last cut once more, with what it handed in with each (features,
 *     flow, positions), and selects in each as it did before. Then everything is kept: from the present frame on,
 *     the results are those of a stream that had all frames on the new device.
 */
#ifndef TEXTUREVLM_STREAM_H
#define TEXTUREVLM_STREAM_H

#include <stdbool.h>

#include "input.h"
#include "select.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- What a stack remembers ---- */

/*
 * What a stack remembers from one frame of a video to the next: the channels motion,
 * prev_relevance, prev_saliency and fixation. A stream does all this by itself.
 *
 *     for (each frame) {
 *         tvlm_stack_set_image(stack, 0, &frame);
 *         tvlm_stack_set_grid(...);                    // optional: the flow from this frame to the last one
 *         tvlm_select(stack, NULL, NULL, &selection);  // may read motion, fixation, ...
 *         tvlm_stack_advance(stack, 0, NULL);          // this frame becomes the previous one
 *     }
 *
 * Every image of a batch is a video of its own. In a batch, advance all images before the first of them is
 * set again: the result is the same, but families are not made twice.
 *
 * The flow (flow_u, flow_v, flow_confidence; texturevlm/input.h) is the *backward* flow: at each place of the
 * present frame, (u, v) is the step to where that place was in the previous frame, in pixels of the working
 * image. What the previous frame had at (x + u, y + v) comes to (x, y). A forward flow, as in Middlebury's files,
 * is another field: it is the step from each place of the previous frame to the present frame. It does not fit
 * here; estimate the flow with the two frames exchanged instead. A flow holds for one frame only: advancing takes
 * it back, so it must be set anew for each frame.
 */

#define TVLM_DECAY_DEFAULT      0.8f
#define TVLM_SIGMA_DEFAULT      24.0f
#define TVLM_CONFIDENCE_DEFAULT 0.5f

/* All zero means the relevance and the positions of the stack's own last selection. */
struct tvlm_advance_params {
    /*
     * The relevance of the frame that ends, [rows * columns], row-major, over the whole image; finite, and
     * clamped to [0, 1]. NULL means the scores of the last tvlm_select or tvlm_score of this image, clamped to
     * [0, 1], with 0 for NaN. If there was none since the image was set, NULL means 0 everywhere.
     */
    const float *relevance;
    int32_t columns, rows;
    /*
     * The positions that were looked at, [2 * position_count]: x, y in pixels of the image as it was handed in;
     * finite. NULL means the positions of the last tvlm_select of this image since it was set, if any. If this is
     * not NULL, and position_count is 0, nothing was looked at.
     */
    const float *positions;
    int32_t position_count;
    /* The factor by which the fixation decays at each frame, 0 to 1. 0 means 0.8. TVLM_EXPLICIT_ZERO forgets it at
     * once. */
    float decay;
    /* The standard deviation of a position's Gaussian in pixels of the working image, 0.1 to 1e6. 0 means
     * 24. */
    float sigma;
    /* Where the confidence of the flow is below this, the flow does not count; >= 0. 0 means 0.5.
     * TVLM_EXPLICIT_ZERO lets all flow count. */
    float confidence;
    uint64_t reserved[4];
};
#define tvlm_advance_params(...) TVLM_PARAMS(tvlm_advance_params, __VA_ARGS__)

/*
 * Makes the present frame of image `index` the previous one. `params` NULL means all defaults. The call only
 * enqueues work, except for what is handed in.
 *
 * *What is kept* of the frame: its luma at half size (level 1), and for each cell of 16 x 16 pixels
 *
 *   - its relevance and its saliency, both read at the cell's centre at level 4. A saliency that was handed in is
 *     the one that is kept;
 *   - the fixation: min(1, decay * fixation + max over positions p of exp(-|p - centre|^2 / (2 sigma^2))),
 *     where the Gaussian is cut off at 5 sigma. It has the largest of the Gaussians and not their sum, so that
 *     hundreds of positions beside each other do not fill the map.
 *
 * *From then on*, in every image that is set until the next advance,
 *
 *   - motion is |Y - Y of the previous frame|, at half size;
 *   - prev_relevance, prev_saliency and fixation are the values that were kept, moved along the flow. Each cell
 *     reads them bilinearly, at its centre plus the flow there (read at level 4). They are 0 where the flow's
 *     confidence is below `confidence`, or the flow is not finite or leads out of the image. The new Gaussians of
 *     the fixation are moved with the rest: their positions were chosen in the previous frame, and what was
 *     looked at there is now where the flow says.
 *
 * Without a flow for this image nothing moves. The values are kept in the stack's format. Only those are kept
 * whose channels the layout has, or which were ever read: a stack that never reads motion keeps no luma. Before
 * the first call, these channels are 0 and take no memory. Errors: ARGUMENT, MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_stack_advance(tvlm_stack *stack, int32_t index,
                                        const struct tvlm_advance_params *params);

/* Forgets the previous frame of image `index`, as after a cut: the channels are 0 until the next advance. */
TVLM_API tvlm_status tvlm_stack_forget(tvlm_stack *stack, int32_t index);

/* ---- Optical flow ---- */

/*
 * Estimates dense optical flow between two images, on the device: where each place of one image is in
 * the other, and how sure that is. A stream estimates flow by itself.
 *
 *     tvlm_flow *flow = NULL;
 *     for (each frame) {
 *         tvlm_stack_set_image(now, 0, &frame);
 *         tvlm_flow_compute(now, 0, last, 0, NULL, &flow);  // from this frame to the last one: see below
 *         tvlm_stack_set_flow(now, 0, flow);                // what temporal channels are moved along
 *         ...
 *     }
 *     tvlm_flow_destroy(&flow);
 *
 * *Direction.* At (x, y) of `from`, (u, v) is the step to where that place is in `to`. A stack moves its
 * memory along the flow from the present frame to the previous one, so `from` is the present
 * frame. The files of Middlebury and of other benchmarks have the other direction: they hold the flow from the
 * earlier frame to the later one.
 *
 * *Method.* Patches of 8 x 8 texels, 4 apart, are found coarse to fine on the levels of the source, and
 * blended by how well they fit (DIS: Kroeger, Timofte, Dai & Van Gool 2016). The flow is then refined
 * variationally, with constancy of brightness and gradients (Brox, Bruhn, Papenberg & Weickert 2004). It is
 * the same on every device except for rounding. Identical images give exactly 0.
 *
 * *How far it finds motion.* The coarsest level has 24 to 47 texels along its longer side, and a patch of 8
 * must find its place there from rest, in twelve steps.
 *
 *   - Where the whole picture moves by a twentieth of the longer side, in photos of 640 x 480, the flow of 99 % of
 *     the pixels is found to within 2 pixels. It is 84 % by a tenth, 73 % by an eighth, and 20 % by a fifth.
 *   - An object that moves over other ground is found if it moves by up to two fifths of its own side. Squares of
 *     80 pixels that move by 32, and of 160 that move by 64, are found at 89 to 98 % of their pixels. Where object
 *     and ground have nothing but fine texture, it is found if it moves by up to a fifth of its side.
 *   - Motion that is much too far has a low confidence: it is below 0.25 at 9 of 10 pixels. Where the motion is
 *     only a little too far, that may be so at only half of them.
 *
 * *What was covered* in `to` cannot be found there, yet some of its pixels have a confidence of 0.25 or more. A
 * square of 160 pixels that moves in 640 x 480 uncovers a strip behind it. Of the pixels of that strip, these have
 * such a confidence:
 *
 *   - over texture, 4 to 12 % of a strip 8 pixels wide, and 2 to 7 % of one 16 wide;
 *   - over photos, which have smooth parts, 40 to 50 % of a strip 8 wide (80 % at worst), 20 % of one 16
 *     wide, 7 % of one 24 wide, and nothing of one 32 wide.
 *
 * A strip 4 pixels wide is hardly noticed. Of the pixels of the square itself, 92 to 99 % have such a confidence,
 * if its motion is found.
 */

typedef struct tvlm_flow tvlm_flow;

/* The default, all zero, is a flow at half the image's size. */
struct tvlm_flow_params {
    /* The flow has the image's full size: a third less error for four times the work. */
    bool full;
    uint64_t reserved[4];
};
#define tvlm_flow_params(...) TVLM_PARAMS(tvlm_flow_params, __VA_ARGS__)

/*
 * Estimates the flow from image index_from of one stack to image index_to of another stack, or of the same
 * one. Both stacks are of one device, one size and one format. *flow is NULL, or a flow that an earlier call made
 * on the same device. The memory of such a flow is used again, and nothing is allocated if it is large enough.
 * `params` NULL means all defaults. The call only enqueues work.
 *
 * Errors: ARGUMENT (an index, stacks of different devices, sizes or formats, a flow of another device),
 * UNSUPPORTED (more than some 140 million texels), DEVICE_MEMORY, MEMORY. After an error *flow is still valid or
 * NULL as before, but what it holds may be neither the old flow nor the new one.
 */
TVLM_API tvlm_status tvlm_flow_compute(tvlm_stack *stack_from, int32_t index_from, tvlm_stack *stack_to,
                                       int32_t index_to, const struct tvlm_flow_params *params,
                                       tvlm_flow **flow);

/* Frees a flow and sets *flow to NULL. It must happen before the device is destroyed. NULL and *flow NULL are
 * fine. */
TVLM_API void tvlm_flow_destroy(tvlm_flow **flow);

typedef struct tvlm_flow_info {
    /* The size of the grid: that of the image's level 1, or of level 0 with `full`. */
    int32_t width, height;
    /* The size of the stacks' images, which the grid covers: texel (i, j) stands for the point
     * ((i + 0.5) image_width / width, (j + 0.5) image_height / height). */
    int32_t image_width, image_height;
    uint64_t reserved[4];
} tvlm_flow_info;
TVLM_API tvlm_status tvlm_flow_get_info(const tvlm_flow *flow, tvlm_flow_info *info);

/*
 * Reads u, v and the confidence of every texel, row-major. `values` has room for `capacity` floats, at least
 * 3 * width * height. u is to the right and v downwards, in pixels of the stacks' images. The call waits.
 *
 * The confidence is in [0, 1].
 *   - It falls with the distance by which the flow back misses the place where the flow began. It falls to a half
 *     where Sundaram, Brox & Keutzer (2010) call a point occluded.
 *   - It falls with the difference of the images along the flow.
 *   - It is 0 where the flow leads out of the image.
 */
TVLM_API tvlm_status tvlm_flow_read(const tvlm_flow *flow, size_t capacity, float *values);

/*
 * Puts a flow into the channels flow_u, flow_v and flow_confidence of image `index`, within device memory. It
 * is the same as tvlm_stack_set_grid (input.h) with what tvlm_flow_read returns, which is how a flow of the
 * application's own comes in. The call only enqueues work. Errors: ARGUMENT (index, another device or size),
 * DEVICE_MEMORY, MEMORY.
 */
TVLM_API tvlm_status tvlm_stack_set_flow(tvlm_stack *stack, int32_t index, const tvlm_flow *flow);

/* ---- Streams ---- */

typedef struct tvlm_stream tvlm_stream;

#define TVLM_KEYFRAME_INTERVAL_DEFAULT 30
#define TVLM_CUT_DEFAULT               0.3f
#define TVLM_STEADINESS_DEFAULT        0.15f
/* This is below TVLM_CONFIDENCE_DEFAULT. With that value, a quarter of the cells would be given up in each frame
 * of real videos (bench/drift.py). */
#define TVLM_STREAM_CONFIDENCE_DEFAULT 0.25f
#define TVLM_BLEND_DEFAULT             0.7f
#define TVLM_NEEDS_ALL_DEFAULT         0.8f
#define TVLM_CELLS_OF_FLOW_DEFAULT     4.0f
#define TVLM_VOLUME_FRAMES_MAX         64
/* What tvlm_stream_preset sets update.saliency_share and update.cluster_share to, for still and screen. */
#define TVLM_STREAM_SHARE 0.25f

/* All zero: a moving camera. */
struct tvlm_stream_params {
    /* The layout of each camera's stack. NULL means temporal34. */
    const char *layout;
    /* The number of cameras, at most 256. 0 means 1. */
    int32_t cameras;
    /* These are as in tvlm_stack_params. */
    tvlm_format format;
    int32_t clusters;
    float compactness;
    /* The number of frames from one keyframe to the next, at least 1. 0 means 30. */
    int32_t keyframe_interval;
    /* There is a cut where tvlm_stream_report.difference is at least this, which is >= 0. 0 means 0.3.
     * TVLM_EXPLICIT_ZERO makes every frame a cut, and a value above 1 makes none. */
    float cut;
    /* If set, every frame is taken whole, and there are no delta updates (stack.h) of the frames between
     * keyframes. */
    bool whole;
    /*
     * How delta updates are made. If all is zero, the result is bit for bit the same as if the frame were taken
     * whole. There is one exception: if nothing at all changes in a frame, regions stay as they are, and do not go
     * on settling. A frame with little change is cheap only if the shares of these parameters are set
     * (stack.h).
     */
    struct tvlm_update_params update;
    /* If set, nothing moves: no flow is estimated, but one that is handed in is still taken. A cell of the
     * features needs new ones if the luma of a quarter of the cell changes by more than 0.02. */
    bool no_flow;
    /* Flow of less confidence than this counts as none; >= 0. 0 means 0.25. TVLM_EXPLICIT_ZERO lets all flow count. */
    float confidence;
    /* A cell needs new features if the flow is longer than this, in cells of the features' grid. 0 means
     * 4. */
    float longest;
    /* The share of new features in the blend with those that were carried along, 0 to 1. 0 means 0.7.
     * TVLM_EXPLICIT_ZERO takes none of the new ones where there are carried ones. */
    float blend;
    /* If more than this share of the cells needs new features, all cells are asked for; 0 to 1. 0 means 0.8.
     * TVLM_EXPLICIT_ZERO asks for all as soon as one cell needs them. */
    float needs_all;
    /*
     * The bonus that keeps positions where they are; finite, >= 0. It is added to the score of each candidate
     * whose cell holds a position of the last selection, after that position was moved by the flow. It is in the
     * scores' own units (with the three parts, scores are within [0, 1]). The scores that selections and
     * prev_relevance show include it. 0 means 0.15. TVLM_EXPLICIT_ZERO adds nothing.
     */
    float steadiness;
    /* The scorer of those selections that bring neither a scorer nor weights. Its arrays must outlive the stream.
     * NULL means the three parts. */
    const tvlm_scorer *scorer;
    /* How positions that were looked at count: decay and sigma of tvlm_advance_params. */
    float decay;
    float sigma;
    /* The channels of a volume: the name of a layout, or a list. The volume holds the last `volume_frames` frames,
     * 2 to 64, the present one among them. NULL and 0 mean that there is no volume. */
    const char *volume;
    int32_t volume_frames;
    /* The level of the image at which the volume is stored. 0 means 4, which is one texel for each cell of 16
     * pixels. */
    int32_t volume_level;
    /*
     * If set, scorers can look back: the channel with the name c, as it was k frames ago (k = 1, 2, ...), is the
     * plane "c@-k" of the stack. This holds for the channels of the volume; tvlm_stack_channel_find finds the
     * planes. The outputs of a network have the names learned_0 and up here. A plane is 0 if there was no such
     * frame. There are at most TVLM_USER_PLANES_MAX such planes. They show the same place of the image, and are
     * not moved by the flow.
     */
    bool look_back;
    /* The network of each camera's stack, as in tvlm_stack_params. It is copied. Its outputs are made in each
     * frame in which something reads them, where the frame has changed. They are not carried along the flow. */
    const struct tvlm_network *network;
    uint64_t reserved[3];
};
#define tvlm_stream_params(...) TVLM_PARAMS(tvlm_stream_params, __VA_ARGS__)

/* What a stream is used for. */
typedef enum tvlm_stream_use {
    /* A moving camera: there is flow, and the three parts of the score decide. */
    TVLM_STREAM_MOVING = 0,
    /* A still camera: places that change count most. There is flow, since things in the picture move. Channels
     * that depend on the whole image are carried over. */
    TVLM_STREAM_STILL,
    /* A screen or a document: there is no flow and no motion, and text counts most. Channels that depend on the
     * whole image are carried over. */
    TVLM_STREAM_SCREEN,
    /* An eye tracker, whose positions are pushed with each frame: places that were looked at count most. */
    TVLM_STREAM_GAZE
} tvlm_stream_use;

/*
 * Sets the parameters of a preset (no_flow, scorer, layout, and both shares of `update`), and leaves all
 * others as they are. The weights are chosen by hand.
 *
 * The shares are 0 for moving and gaze, and TVLM_STREAM_SHARE for still and screen. Saliency and regions depend
 * on the whole image, and are most of the work where little changes (stack.h). With the shares, they are those of
 * an earlier frame, until one of these is reached:
 *
 *   - a quarter of the tiles have changed since then, in all frames together;
 *   - 30 frames with changes have passed;
 *   - there is a keyframe or a cut.
 *
 * Meanwhile saliency, and with it prev_saliency, is outdated at places where something came or went. Regions keep
 * their labels and their table until they are made again. They then begin where the flow has led them by that
 * time. Everything else that is made of the image is exact. To have saliency and regions made in each frame, set
 * the shares to 0 after the preset.
 *
 * Errors: ARGUMENT (there is no such use).
 */
TVLM_API tvlm_status tvlm_stream_preset(tvlm_stream_use use, struct tvlm_stream_params *params);
/* tvlm_stream_use_name returns the name of a use: "moving", "still", "screen" or "gaze"; "unknown" for other
 * values. tvlm_stream_use_find returns the use of a name, or -1. */
TVLM_API const char *tvlm_stream_use_name(tvlm_stream_use use);
TVLM_API int tvlm_stream_use_find(const char *name);

/*
 * Creates a stream whose working images have width x height pixels; frames of another size are resampled.
 * `params` NULL means all defaults. Errors: those of tvlm_stack_create; ARGUMENT (a parameter out of its
 * range; nothing is left for a push to refuse), DEVICE_MEMORY, MEMORY.
 */
TVLM_API tvlm_status tvlm_stream_create(tvlm_device *device, int32_t width, int32_t height,
                                        const struct tvlm_stream_params *params, tvlm_stream **stream);
/* Destroys a stream, which must happen before its device is destroyed. NULL and *stream NULL are fine. */
TVLM_API void tvlm_stream_destroy(tvlm_stream **stream);

/* What a push found. */
typedef struct tvlm_stream_report {
    /* The number of the frame, from 0. */
    int64_t frame;
    bool keyframe;
    bool cut;
    /* There is a flow from this frame to the last one. */
    bool flow;
    /* How many tiles were compared, and how many of them differ from the last frame. Both are 0 if the frame was
     * taken whole. */
    int32_t tiles, changed;
    /* The difference from the last frame, 0 .. 1 (tvlm_stream_push defines it); 0 for the first frame. */
    float difference;
    /* The features of all cells are asked for. */
    bool needs_all;
    /* The share of cells whose features are not good enough; 1 if there are no features. */
    float needs;
    /* The grid of the features' cells; 0 if there never were features. */
    int32_t columns, rows;
    uint64_t reserved[4];
} tvlm_stream_report;

/* The default, all zero, is nothing but the frame. */
struct tvlm_push_params {
    /* Make the frame a keyframe. */
    bool keyframe;
    /* A flow of the application's own (from hardware, or RAFT) from this frame to the last one, as
     * tvlm_stack_set_grid takes it for flow_u. It is not read in a first frame and at a cut. */
    const struct tvlm_grid_input *flow;
    /*
     * x and y of each position that was looked at since the last frame, finite, in pixels of the last frame as it
     * was handed in. The last of these positions becomes the fixation of eccentricity. NULL means the positions
     * that were selected.
     */
    const float *fixations;
    int32_t fixation_count;
    uint64_t reserved[4];
};
#define tvlm_push_params(...) TVLM_PARAMS(tvlm_push_params, __VA_ARGS__)

/*
 * Takes in the next frame of a camera (0 and up). `image` NULL means the frame that tvlm_stream_send has
 * sent. `params` and `report` may be NULL.
 *
 * *Waiting.* The call waits once, for all that was enqueued before and for the flow: whether there is a cut,
 * and where regions, positions and features went, is read together. It waits once more for pixels that were
 * not sent ahead, for a flow that is handed in, and for features where there is no flow.
 *
 * *The difference* of two frames is measured on their luma at the first level whose sides are at most 64
 * texels. It is the least of
 *
 *   - the share of texels that would have to change to make one histogram of 16 bins the other;
 *   - 1 less the correlation of the texels (1 where a frame is flat);
 *   - 8 times the mean absolute difference of the texels.
 *
 * Fast motion keeps the histogram, and a lamp that is switched on keeps the correlation. What flickers in a
 * flat or dark frame (a lens cap, a blank page, a camera at night) makes no large step: if the mean
 * difference is below 0.0375, which is 10 of 255, there is no cut at 0.3. Scenes that are so dark that they
 * differ by less are taken for one scene.
 *
 * *Errors*: After ARGUMENT (a camera, no image, another size than that of the camera's first frame, fixations),
 * it is as if the frame never came. After any other error (a flow that is refused, DEVICE_MEMORY, MEMORY,
 * DEVICE), the camera knows nothing of what was before: its next frame is a first frame, of any size, and a frame
 * that was sent is gone.
 */
TVLM_API tvlm_status tvlm_stream_push(tvlm_stream *stream, int32_t camera, const tvlm_image *image,
                                      const struct tvlm_push_params *params, tvlm_stream_report *report);

/*
 * Begins to send a camera's next frame to the device, on a second queue beside the work on the present frame,
 * and returns. tvlm_stream_push with `image` NULL takes the frame in. Until that push has returned, the
 * pixels must stay as they are.
 *
 *   - The call sends what a push would upload: the tiles that differ from the present frame, or all. So it is this
 *     call that compares the frames, and that resamples a frame that does not have the working size.
 *   - The result is that of a push with `image`, bit for bit. That is so even if the push makes a keyframe
 *     that was not due; then the push itself sends what it needs.
 *   - A second call replaces the frame of the first one. A push with an image of its own drops the frame that was
 *     sent: it cannot be taken in any more, and its pixels may be freed.
 *
 * Errors: After ARGUMENT (as of a push), a frame that was sent before is still there. After DEVICE_MEMORY, MEMORY
 * or DEVICE, it is gone. The present frame stays as it is in any case.
 */
TVLM_API tvlm_status tvlm_stream_send(tvlm_stream *stream, int32_t camera, const tvlm_image *image);

/*
 * Selects positions in the camera's present frame, as tvlm_select (select.h) does, except that
 *
 *   - TVLM_STRATEGY_DEFAULT means the grid;
 *   - the stream's scorer is used if `params` has no scorer, no weights, no scores and no emphasis_channel. With
 *     the budget, this scorer says what matters;
 *   - the grid gives the bonus for positions that stay (tvlm_stream_params.steadiness);
 *   - for the budget, emphasis_channel may be a channel that needs an earlier frame, such as motion. In a first
 *     frame and at a cut, nothing is emphasised then.
 *
 * The index of an image in `params` must be 0. Errors: those of tvlm_select; ARGUMENT (no frame was pushed yet).
 */
TVLM_API tvlm_status tvlm_stream_select(tvlm_stream *stream, int32_t camera, const struct tvlm_query *query,
                                        const struct tvlm_select_params *params, tvlm_selection **selection);

/*
 * Returns the stack of a camera, to read, sample and pack channels, and to set grids or regions. NULL if there is
 * no such camera. The stack belongs to the stream. Its images and features must come through the stream only.
 */
TVLM_API tvlm_stack *tvlm_stream_stack(tvlm_stream *stream, int32_t camera);

/*
 * Hands in features (TVLM_CHANNEL_FEATURE_0) or an embedding (TVLM_CHANNEL_EMBEDDING_0) of the present frame,
 * as tvlm_stack_set_grid takes them. mask[rows * columns] is not 0 for the cells that have new ones; NULL
 * means all cells. The values of the other cells are not looked at, but must be finite.
 *
 * If a cell has carried features of this size, and the frame is no keyframe, the new features are blended with
 * them, with a share of `blend`. Otherwise the new features are taken as they are. Later frames carry the result
 * along the flow. A cell has no features, which then are 0, if its flow is not sure or too long, or comes from
 * outside the image or from a cell without features. Such a cell counts in report.needs.
 *
 * Errors: those of tvlm_stack_set_grid; ARGUMENT (another channel; a mask where the camera has no features of
 * this size).
 */
TVLM_API tvlm_status tvlm_stream_set_features(tvlm_stream *stream, int32_t camera, int32_t channel,
                                              const struct tvlm_grid_input *input, const uint8_t *mask);

/* Tells which cells need features: mask[report.rows * report.columns], row-major, becomes 1 for those and 0
 * for the others. Errors: ARGUMENT (a capacity that is too small). */
TVLM_API tvlm_status tvlm_stream_needs(const tvlm_stream *stream, int32_t camera, size_t capacity,
                                       uint8_t *mask);

/*
 * Brings the volume up to date, and gives it: one array on the device. *slot becomes the slot of the frame `age`
 * frames ago (0: the present one). A channel of a slot is in slice
 *
 *     slot * ceil(channels / 4) + channel / 4
 *
 * The array belongs to the stream, and is valid until the next push. tvlm_packed_read and texturevlm/opencl.h
 * read it. Errors: ARGUMENT (no volume; fewer frames than that).
 */
TVLM_API tvlm_status tvlm_stream_volume(tvlm_stream *stream, int32_t camera, int32_t age,
                                        tvlm_packed **volume, int32_t *slot);

/* A point of the volume. x and y are in pixels of the working image. `age` is in frames ago, and may be a
 * fraction. */
typedef struct tvlm_volume_point {
    float x, y, age;
} tvlm_volume_point;

/*
 * Samples all channels of the volume at `count` points: out[point * channels + c]. Values are linear in x, y
 * and time; those of identifiers are nearest in all three. Ages are clamped to the frames that there are. The
 * call waits. Errors: ARGUMENT (no volume, no frame, a point that is not finite), MEMORY, DEVICE_MEMORY.
 */
TVLM_API tvlm_status tvlm_stream_volume_sample(tvlm_stream *stream, int32_t camera,
                                               const tvlm_volume_point *points, int32_t count, float *out);

#ifdef __cplusplus
}
#endif
#endif
