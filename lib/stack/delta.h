/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/delta.h: the next frame is taken into a stack, and only what changed is made again
 * (texturevlm/stack.h).
 *
 * The stack keeps the last frame on the host and compares the next one with it, tile by tile. A frame is
 * taken in in two steps. First, a *plan* says which parts of the frame are to be uploaded; it changes
 * nothing. Then, *applying* the plan changes the stack. Between the two steps the pixels may travel to the
 * device (lib/video/stream_send.c).
 *
 * Nobody tells this module that the source or a grid was made anew. It finds out by comparing counts of how
 * often that happened.
 */
#ifndef TVLM_STACK_DELTA_H
#define TVLM_STACK_DELTA_H

#include "stack/stack.h"
#include "texturevlm/stack.h"

/* A frame in the stack's size, in host memory. */
typedef struct tvlm_delta_frame {
    /* The rows lie without gaps between them. */
    unsigned char *pixels;
    /* This much is allocated for the pixels. */
    size_t bytes;
    int32_t channels;
    tvlm_pixel_type type;
    /* How often the source had changed when it was made from these pixels; 0 if it never was. As long as the
     * source's count is still this one, the source holds these pixels. */
    uint64_t of;
    /* For each TVLM_CARRIED_*:
     * - made: how often its grid had been made when the counts below began;
     * - share: the sum, over the frames since then, of the share of the image that changed;
     * - frames: the number of these frames. */
    uint64_t made[TVLM_CARRIED_COUNT];
    float share[TVLM_CARRIED_COUNT];
    int32_t frames[TVLM_CARRIED_COUNT];
} tvlm_delta_frame;

/* Pixels of the stack's size, in host memory. */
typedef struct tvlm_delta_pixels {
    const unsigned char *pixels;
    /* The bytes of a row, the bytes from one row to the next, and the bytes of a pixel. */
    size_t row, row_stride, pixel_bytes;
    int32_t width, height, channels;
    tvlm_pixel_type type;
} tvlm_delta_pixels;

/* What is to be done for a frame. If all members are zero, there is no plan. The plan's memory is used again
 * for the next frame. */
typedef struct tvlm_delta_plan {
    bool planned;
    int32_t index;
    struct tvlm_update_params params;
    /* The frame is kept, and the next one is compared with it. */
    bool keep;
    /* All pixels are uploaded, and not only the tiles that changed. */
    bool whole;
    /* All pixels are on the device already, in `layout`: nothing is uploaded. */
    bool there;
    /* The size of the image as it was handed in. */
    int32_t width, height;
    /* The image's pixels in the stack's size. They are valid as long as the image's own pixels are. */
    tvlm_delta_pixels from;
    /* If the frame is taken whole without being compared, all tiles count as changed. */
    tvlm_tiles tiles;
    /* The number of tiles of the image. */
    int32_t tile_count;
    /* How often the source had changed when the plan was made. */
    uint64_t of;
    /* What is uploaded: `bytes` (0 if nothing changed) of pixels in this layout. */
    const void *upload;
    size_t bytes;
    tvlm_pixels layout;
    /* The image in the stack's size, if its own size is another. */
    float *resampled;
    /* The memory behind tiles.changed, and how much of it is allocated. */
    uint8_t *changed;
    size_t changed_room;
    /* Rows without gaps between them, or the changed tiles one after the other. */
    unsigned char *packed;
    size_t packed_room;
} tvlm_delta_plan;

/* `frames` has one entry for each image. `plan` is for frames that are applied at once. */
typedef struct tvlm_delta {
    tvlm_delta_frame *frames;
    tvlm_delta_plan plan;
} tvlm_delta;

/* ---- delta_plan.c ---- */

/* Returns whether a frame has to be made whole, whatever changed in it: because the caller asked for that, or
 * because a side is above TVLM_TILED_SIDE_MAX. */
static inline bool tvlm_delta_is_whole(const tvlm_delta_plan *plan) {
    return plan->params.full || plan->tiles.width > TVLM_TILED_SIDE_MAX ||
           plan->tiles.height > TVLM_TILED_SIDE_MAX;
}

/* Checks the parameters. It fails with ARGUMENT, and a line that names the one that is wrong. */
tvlm_status tvlm_delta_check_params(const tvlm_log *log, const struct tvlm_update_params *params);

/* Begins a plan for a frame. Nothing is known of the frame yet. The plan has the parameters (NULL: all defaults),
 * and none of its tiles has changed. */
tvlm_status tvlm_delta_plan_begin(tvlm_stack *stack, int32_t index, const struct tvlm_update_params *params,
                                  tvlm_delta_plan *plan);

/*
 * Plans what `image` changes in image `index`. It resamples, compares and packs, and does not change the
 * stack.
 *
 * If `keep` is set, applying the plan keeps the frame, and the next one is compared with it. Otherwise the
 * image is taken as by tvlm_stack_set_image.
 *
 * plan->upload is valid until the plan is applied, dropped or made anew. If it points to the image's own
 * pixels, it is valid only as long as they are.
 *
 * The errors are those of tvlm_stack_update_image. After an error there is no plan.
 */
tvlm_status tvlm_delta_plan_make(tvlm_stack *stack, int32_t index, const tvlm_image *image,
                                 const struct tvlm_update_params *params, bool keep, tvlm_delta_plan *plan);

/*
 * Plans what pixels that are on the device change. The pixels have the stack's size; the frame was handed in
 * with width x height pixels. They are compared with the source on the device, and the call waits for the
 * result. Host memory keeps nothing of the frame. The plan is to be applied with `buffer`, before anything
 * else changes the source.
 */
tvlm_status tvlm_delta_plan_there(tvlm_stack *stack, int32_t index, tvlm_buffer *buffer,
                                  const tvlm_pixels *pixels, int32_t width, int32_t height,
                                  const struct tvlm_update_params *params, tvlm_delta_plan *plan);

/* Returns whether a plan is still the one that tvlm_delta_plan_make would make now, with this value of
 * `full`. */
bool tvlm_delta_plan_stands(const tvlm_stack *stack, const tvlm_delta_plan *plan, bool full);

/* Ends a plan. The image's pixels are not read any more. The plan's memory is kept for the next one. */
void tvlm_delta_plan_drop(tvlm_delta_plan *plan);
/* Ends a plan and frees its memory. */
void tvlm_delta_plan_release(tvlm_delta_plan *plan);

/* ---- delta.c ---- */

/* Returns whether the grid's content was made from a frame before the present one, and is still used because
 * saliency_share or cluster_share allows that. */
bool tvlm_delta_is_carried(const tvlm_stack *stack, int32_t index, tvlm_grid grid);
/* Marks all such grids of the image as out of date, so that they are made again when something reads them. */
void tvlm_delta_drop_carried(tvlm_stack *stack, int32_t index);

/*
 * Takes a frame into the stack by a plan that still holds, and drops the plan.
 *
 * `buffer` contains what plan->upload points to or, if plan->there is set, the frame's pixels on the device.
 * If `buffer` is NULL, what the plan uploads is uploaded now. `report` may be NULL.
 *
 * After an error the image is undefined, and the next frame is taken whole.
 */
tvlm_status tvlm_delta_apply(tvlm_stack *stack, tvlm_delta_plan *plan, tvlm_buffer *buffer,
                             tvlm_delta_report *report);

/* Frees all that is kept, when the stack is destroyed. */
void tvlm_stack_delta_release(tvlm_stack *stack);

/* ---- delta_frame.c ---- */

/* Hands out the frames that the stack keeps, and makes room for them the first time. */
tvlm_status tvlm_delta_prepare(tvlm_stack *stack, tvlm_delta **delta);

/* Returns whether the kept frame is the one that the source was made from, and has the format of `pixels`.
 * The source has changed `changes` times. */
bool tvlm_delta_fits(const tvlm_delta_frame *frame, uint64_t changes, const tvlm_delta_pixels *pixels);

/* Finds the tiles that differ by more than the threshold. Sets changed[tile] to 1 for these and to 0 for all
 * others, and *count to the number of those that differ. */
void tvlm_delta_compare(const tvlm_delta_frame *frame, const tvlm_delta_pixels *pixels, float threshold,
                        const tvlm_tiles *tiles, uint8_t *changed, int32_t *count);

/* Copies all pixels into the kept frame, and notes that the source, which has changed `changes` times, is now
 * made from them. If it fails with MEMORY, no frame is kept. */
tvlm_status tvlm_delta_keep(const tvlm_log *log, tvlm_delta_frame *frame, uint64_t changes,
                            const tvlm_delta_pixels *pixels);

/* Copies the changed tiles to `packed`, side x side pixels each, one after the other. */
void tvlm_delta_pack(const tvlm_delta_pixels *pixels, const tvlm_tiles *tiles, unsigned char *packed);
/* Copies the changed tiles from `packed` into the kept frame, and notes that the source, which has changed
 * `changes` times, is now made from this frame. Of `pixels` only the format is used. */
void tvlm_delta_take(tvlm_delta_frame *frame, uint64_t changes, const tvlm_delta_pixels *pixels,
                     const tvlm_tiles *tiles, const unsigned char *packed);

#endif
