/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/delta.h: the next frame into a stack, of which only what changed is made again (texturevlm/delta.h).
 *
 * The stack keeps the last frame on the host and compares the next one with it, tile by tile. A frame comes
 * in two steps: a *plan* says what of it is to be uploaded and changes nothing; *applying* it changes the
 * stack. Between the two the pixels may travel (lib/video/stream_send.c).
 *
 * Nobody tells this module that the source or a grid was made anew: it compares how often that happened.
 */
#ifndef TVLM_STACK_DELTA_H
#define TVLM_STACK_DELTA_H

#include "stack/stack.h"
#include "texturevlm/delta.h"

/* A frame in the stack's size, in host memory. */
typedef struct tvlm_delta_frame {
    unsigned char *pixels; /* rows without gaps */
    size_t bytes;          /* allocated for them */
    int32_t channels;
    tvlm_pixel_type type;
    /* How often the source had changed when it was made of these pixels: it is still made of them where it
     * has not changed since. 0: it was never made of them. */
    uint64_t of;
    /* Of each TVLM_CARRIED_*: how often they had been made when what follows began to be counted, the
     * share of the image that changed since, and in how many frames it did. */
    uint64_t made[TVLM_CARRIED_COUNT];
    float share[TVLM_CARRIED_COUNT];
    int32_t frames[TVLM_CARRIED_COUNT];
} tvlm_delta_frame;

/* Pixels of the stack's size, on the host. */
typedef struct tvlm_delta_pixels {
    const unsigned char *pixels;
    size_t row, row_stride, pixel_bytes; /* a row's bytes; from one to the next; of a pixel */
    int32_t width, height, channels;
    tvlm_pixel_type type;
} tvlm_delta_pixels;

/* What is to be done for a frame. All zero: none; its memory is used again for the next. */
typedef struct tvlm_delta_plan {
    bool planned;
    int32_t index;
    struct tvlm_update_params params;
    bool keep;              /* the frame is kept, to compare the next one with */
    bool whole;             /* all pixels go up; otherwise the tiles that changed */
    int32_t width, height;  /* of the image as handed in */
    tvlm_delta_pixels from; /* valid as long as that image's are */
    tvlm_tiles tiles;       /* taken whole without being compared, all of them count as changed */
    int32_t tile_count;     /* of the image */
    uint64_t of;            /* how often the source had changed then */
    const void *upload;     /* what the device gets, */
    size_t bytes;           /* so much; 0: nothing changed */
    tvlm_pixels layout;     /* of that */
    float *resampled;       /* the image in the stack's size, if it has another */
    uint8_t *changed;       /* tiles.changed */
    size_t changed_room;    /* allocated */
    unsigned char *packed;  /* rows without gaps, or tiles one after the other */
    size_t packed_room;
} tvlm_delta_plan;

typedef struct tvlm_delta {
    tvlm_delta_frame *frames; /* [images] */
    tvlm_delta_plan plan;     /* of frames that are applied at once */
} tvlm_delta;

/* ---- delta_plan.c ---- */

/* ARGUMENT, with a line that says which. */
tvlm_status tvlm_delta_check_params(const tvlm_log *log, const struct tvlm_update_params *params);

/* Begins a plan for a frame of which nothing is known yet: it has the parameters (NULL: all defaults), and
 * tiles of which none has changed. */
tvlm_status tvlm_delta_plan_begin(tvlm_stack *stack, int32_t index, const struct tvlm_update_params *params,
                                  tvlm_delta_plan *plan);

/*
 * Plans what `image` changes in image `index`. It resamples, compares and packs; the stack stays as it is.
 * With `keep` the frame will be kept, to compare the next one with; without, the image is taken as by
 * tvlm_stack_set_image. plan->upload is valid until the plan is applied, dropped or made anew; where it
 * points to the image's own pixels, as long as they are valid. Errors are those of tvlm_stack_update_image;
 * then there is no plan.
 */
tvlm_status tvlm_delta_plan_make(tvlm_stack *stack, int32_t index, const tvlm_image *image,
                                 const struct tvlm_update_params *params, bool keep, tvlm_delta_plan *plan);

/* Whether a plan is what tvlm_delta_plan_make would make now, with `full` or without. */
bool tvlm_delta_plan_stands(const tvlm_stack *stack, const tvlm_delta_plan *plan, bool full);

/* Ends a plan: the image's pixels are not looked at any more. Its memory stays for the next one. */
void tvlm_delta_plan_drop(tvlm_delta_plan *plan);
/* Ends a plan and frees its memory. */
void tvlm_delta_plan_release(tvlm_delta_plan *plan);

/* ---- delta.c ---- */

/* Whether what there is of the grid was made of an earlier frame than the present one, as saliency_share and
 * cluster_share allow. */
bool tvlm_delta_is_carried(const tvlm_stack *stack, int32_t index, tvlm_grid grid);
/* Puts all of that out of date, so that it is made again when something reads it. */
void tvlm_delta_drop_carried(tvlm_stack *stack, int32_t index);

/*
 * Puts a frame into the stack, by a plan that stands, and drops the plan. `buffer` holds what plan->upload
 * points to; where it is NULL, that is uploaded now. `report` may be NULL. After an error the image is
 * undefined, and the next frame is taken whole.
 */
tvlm_status tvlm_delta_apply(tvlm_stack *stack, tvlm_delta_plan *plan, tvlm_buffer *buffer,
                             tvlm_delta_report *report);

/* Frees what is kept; the stack is being destroyed. */
void tvlm_stack_delta_release(tvlm_stack *stack);

/* As tvlm_stack_source_from_buffer, but only tiles that differ from the source are taken
 * (texturevlm/delta.h). */
tvlm_status tvlm_stack_update_from_buffer(tvlm_stack *stack, int32_t index, tvlm_buffer *buffer,
                                          const tvlm_pixels *pixels, const struct tvlm_update_params *params,
                                          struct tvlm_delta_report *report);

/* ---- delta_frame.c ---- */

/* Hands out the frames that the stack keeps, and makes room for them the first time. */
tvlm_status tvlm_delta_prepare(tvlm_stack *stack, tvlm_delta **delta);

/* Whether the source, which has changed `changes` times, is made of the kept frame, and the frame has the
 * format of the pixels. */
bool tvlm_delta_fits(const tvlm_delta_frame *frame, uint64_t changes, const tvlm_delta_pixels *pixels);

/* Finds the tiles that differ by more than the threshold: changed[tile] is 1 for *count of them, and 0 for
 * all others. */
void tvlm_delta_compare(const tvlm_delta_frame *frame, const tvlm_delta_pixels *pixels, float threshold,
                        const tvlm_tiles *tiles, uint8_t *changed, int32_t *count);

/* Copies all pixels into the kept frame: the source, which has changed `changes` times, is made of them now.
 * MEMORY where there is none; then no frame is kept. */
tvlm_status tvlm_delta_keep(const tvlm_log *log, tvlm_delta_frame *frame, uint64_t changes,
                            const tvlm_delta_pixels *pixels);

/* Copies the changed tiles to `packed`, side x side pixels each, one after the other. */
void tvlm_delta_pack(const tvlm_delta_pixels *pixels, const tvlm_tiles *tiles, unsigned char *packed);
/* Copies them from there into the kept frame: the source, which has changed `changes` times, is made of it
 * now. Of `pixels` only the format is looked at. */
void tvlm_delta_take(tvlm_delta_frame *frame, uint64_t changes, const tvlm_delta_pixels *pixels,
                     const tvlm_tiles *tiles, const unsigned char *packed);

#endif
