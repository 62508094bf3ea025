/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clip.h: spends a budget of tokens on a whole video. A token shows a part of a frame, and is held: it is shown
 * until another one takes its place.
 *
 *     tvlm_clip *clip = NULL;
 *     tvlm_clip_create(device, 672, 392, tvlm_clip_params(.share = 0.1f), &clip);
 *     for (each frame) tvlm_clip_push(clip, &frame);
 *     tvlm_clip_end(clip);
 *     const tvlm_clip_token *tokens = tvlm_clip_tokens(clip, &count);
 *     ...
 *     tvlm_clip_destroy(&clip);
 *
 * *Slots.* A model takes `temporal` frames at a time (Qwen-VL two), which are a slot. In its own slot a token
 * shows all of the slot's frames, and from then on the last of them.
 *
 * *Tokens* are of three kinds (select.h, the strategy budget):
 *   - tiles with 1, 2 or 4 times the patch's side;
 *   - nines, which are squares of 4 times its side as 3 x 3 tokens of the frame at three quarters of its size;
 *   - the cells of thumbnails of the whole frame.
 *
 * What is bought takes the place of what was shown in its square. A thumbnail takes the place of everything.
 *
 * *The choice* is the one that loses least. Its loss has the two parts that the strategy budget has, and here each
 * counts half: the squared error of luma, and detail that cannot be read. Each part is a share of what a thumbnail of
 * one patch loses, if one is made in every slot. For a price of a token the best choice over the tree of squares and
 * over all intervals of slots is found by dynamic programming. The price is found by bisection (Shoham & Gersho 1988;
 * conditional replenishment: Mounts 1969). The choice is compared with downsampling, which is every n-th slot as one
 * thumbnail that is held up to the next. No window (below) is predicted to lose more than that, or without a tolerance to
 * have a larger squared error.
 *
 * *Long videos* are decided in windows of 64 slots, or of fewer where memory is short. The first half of a window's
 * tokens is final when its last slot is there. The second half is decided anew with the next window, which begins
 * with what is still shown. Each window spends what the budget grants up to its end, and is compared with the
 * downsampling of its own slots: a scene that is still for longer than a window gets its details window by window. So memory
 * does not grow with the video, but for the tokens. A token may be held for more than a quarter of a window. What it loses from there
 * on is not measured: it is the loss of the longest time that was measured, and the changes since.
 *
 * *Streams* (`causal`). A slot's share of the budget fills a bucket, from which the slot's tokens are paid. The
 * price of a token falls while the bucket fills, and rises while it is overdrawn. A token is worth what it saves in
 * its slot, times the number of slots in which it is expected to be shown. That number depends on the price p and
 * on c, by which the place changes in a slot. To wait for t slots costs c t^2 / 2, so the best time between two
 * tokens is sqrt(2 p / c). A slot never pays more than is in the bucket, so that the first slot has one slot's
 * share, or one token where that is none. Without a latency no slot is predicted to have a larger squared error than its
 * best thumbnail for one slot's share, as far as that is in the bucket. Memory is constant.
 *
 * *A camera that moves* (`motion`, in streams). Each slot has an affine transform, which says where each place of
 * the slot was in the slot before. What is held is moved by it before it is compared and shown.
 *
 * A clip belongs to its device, and is used by one thread at a time.
 */
#ifndef TEXTUREVLM_CLIP_H
#define TEXTUREVLM_CLIP_H

#include <stdbool.h>
#include <stdint.h>

#include "device.h"
#include "image.h"
#include "params.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tvlm_clip tvlm_clip;

#define TVLM_CLIP_TEMPORAL_DEFAULT 2
#define TVLM_CLIP_MEMORY_DEFAULT   ((uint64_t)1 << 30)
#define TVLM_CLIP_EMPHASIS_DEFAULT 3.0f

/* At most one of k, share and tolerance is given. If all are zero, it is a tolerance of TVLM_TOLERANCE_READABLE
 * (select.h). */
struct tvlm_clip_params {
    /* How the frames are stored on the device. */
    tvlm_format format;
    /* The side of a token in pixels of the frames, a whole number from 4 to 64. 0: 16. */
    float patch;
    /* How many frames a slot has, at most 16. 0: 2. */
    int32_t temporal;
    /* So many tokens for the whole video, which has so many frames. A number above all tokens buys everything. If fewer
     * frames come, the number of tokens is in proportion. If more come, it is k, and nothing is left for the last ones of
     * a long video. */
    int32_t k, frames;
    /* This share of all tokens of the video at full size, above 0 and at most 1. */
    float share;
    /* As few tokens as lose at most this share, 0 to 1, of what a thumbnail of one patch in each slot loses. 0 lets the
     * default stand; TVLM_EXPLICIT_ZERO loses nothing. */
    float tolerance;
    /* In how many slots a token may be shown at most. 0: no limit. A place whose token is over, and for which the budget has
     * no other one, shows nothing; there, as much is lost as by a thumbnail of one patch. */
    int32_t hold;
    /* Tokens are decided slot by slot, for a camera or a stream that does not end: those of a slot once `latency`
     * further slots (0 to 8) are there. Each is bought for what it saves in the slots in which it can be expected to
     * be shown. tvlm_clip_tokens then has those of the slots that the last call has decided. */
    bool causal;
    int32_t latency;
    /* How many bytes of memory the clip may take, the host's and the device's together. With less memory windows are
     * shorter, down to 8 slots. 0: 1 GiB. */
    uint64_t memory;
    /* How much more a tile counts if it moves in a picture that is mostly still, 0 to 1000. The loss of a tile is
     * multiplied by 1 + emphasis * m (1 - M)^2. There m is 0 .. 1: it is 1/2 if the tile differs from the frame
     * before by 8 of 255 levels. M is the mean of m over all tiles. 0 lets the default stand; TVLM_EXPLICIT_ZERO: no
     * more. */
    float emphasis;
    /* In a stream without a latency: what is held moves along with the camera, by the transform of each slot that
     * tvlm_clip_info tells. Only a model that is told of it knows where things are then. */
    bool motion;
    uint64_t reserved[3];
};
#define tvlm_clip_params(...) TVLM_PARAMS(tvlm_clip_params, __VA_ARGS__)

/*
 * Begins with a video whose working frames have width x height pixels. Frames of another size are resampled.
 * `params` NULL means all defaults.
 *
 * Errors:
 *   - ARGUMENT: a size, a parameter out of its range, more than one of k, share and tolerance, k without frames, motion
 *     without causal or with a latency;
 *   - MEMORY, DEVICE_MEMORY: not even a window of 8 slots fits.
 */
TVLM_API tvlm_status tvlm_clip_create(tvlm_device *device, int32_t width, int32_t height,
                                      const struct tvlm_clip_params *params, tvlm_clip **clip);

/* Takes in the next frame. Waits once a slot. Errors: ARGUMENT (another size than the first frame's; the video has
 * ended), MEMORY, DEVICE_MEMORY, DEVICE. After any but ARGUMENT the clip takes no further frames; the tokens of
 * earlier windows stay. */
TVLM_API tvlm_status tvlm_clip_push(tvlm_clip *clip, const tvlm_image *frame);

/* Ends the video, and decides what is not decided yet. A second call does nothing, and of a stream tells no tokens.
 * Errors: ARGUMENT (there was no frame), MEMORY, DEVICE_MEMORY, DEVICE. */
TVLM_API tvlm_status tvlm_clip_end(tvlm_clip *clip);

/*
 * One token.
 *   - slot: in which it is bought.
 *   - until: the first slot in which all of its square shows something newer, or in which it was held for too long;
 *     the number of slots if there is none.
 *     A thumbnail's cells have the thumbnail's. In a stream nobody knows yet, and until is 0.
 *   - x, y: the middle of its square in pixels of the frames as they were handed in.
 *   - width, height: the sides of the square, whose right and lower part may lie beyond the frame.
 *   - columns, rows: of the thumbnail whose cell it is. 0: it is a tile.
 */
typedef struct tvlm_clip_token {
    int32_t slot, until;
    float x, y, width, height;
    int32_t columns, rows;
} tvlm_clip_token;

/* Tells the tokens that are final, in the order of slots, and within a slot from coarse to fine, so that what comes
 * later is drawn on top. Once the video has ended all are final. A stream tells only those of the slots that the
 * last call decided. They are valid until the next call with this clip. */
TVLM_API const tvlm_clip_token *tvlm_clip_tokens(const tvlm_clip *clip, int32_t *count);

typedef struct tvlm_clip_info {
    /* The size of the working frames, the side of a token in them, and how many frames a slot has. */
    int32_t width, height, patch, temporal;
    /* How many frames and slots came, how many of the slots are decided, and how many tokens a slot has in full. */
    int32_t frames, slots, decided, tokens_of_slot;
    /* How many tokens are spent, all of them final. */
    int64_t tokens;
    /* What is lost in the slots that are decided, as a share of what thumbnails of one patch lose; and what the best
     * downsampling of as many tokens does. A stream compares each slot with the mean of the slots up to it, as it does for
     * a tolerance, and tells the mean of these ratios: where detail comes late, that can be above 1. Its downsampling is
     * the best of each slot's own thumbnails. */
    double lost, lost_downsampled;
    /* The transform of the slot that was decided last, with `motion`: a, b, c, d, e, f, in pixels of the frames as
     * they were handed in. What the slot's last frame shows at (x, y) was at (a x + b y + c, d x + e y + f) in the
     * last frame of the slot before. Frame j of a slot of n goes (j + 1) / n of that way. It is 1, 0, 0, 0, 1, 0
     * where nothing moves, and without `motion`. */
    float motion[6];
    uint64_t reserved[1];
} tvlm_clip_info;
TVLM_API tvlm_status tvlm_clip_get_info(const tvlm_clip *clip, tvlm_clip_info *info);

/* Frees a clip and sets *clip to NULL. It must happen before the device is destroyed. NULL and *clip NULL are fine. */
TVLM_API void tvlm_clip_destroy(tvlm_clip **clip);

#ifdef __cplusplus
}
#endif
#endif
