/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/delta.h: what a stack keeps for the frame after (texturevlm/delta.h): the frame itself, on the host,
 * and what its tiles are. A frame comes in two steps: a *plan* says what of it is to be uploaded and changes
 * nothing; *applying* it changes the stack. Between the two the pixels may travel (lib/video/stream_send.c).
 */
#ifndef TVLM_STACK_DELTA_H
#define TVLM_STACK_DELTA_H

#include "stack/stack.h"
#include "texturevlm/delta.h"

/* A frame in the stack's size, in host memory. */
typedef struct tvlm_delta_frame {
    unsigned char *pixels; /* rows without gaps: what the source was made of */
    size_t bytes;          /* allocated */
    int32_t channels;
    tvlm_pixel_type type;
    uint64_t of;       /* how often the source had changed when it was made of this; 0: of none */
    uint64_t made[2];  /* how often saliency and clusters had been made */
    float share[2];    /* of the image that changed since, */
    int32_t frames[2]; /* and in how many frames */
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

/* For a frame of which nothing is known yet: the parameters (NULL: all defaults), and its tiles, none of them
 * changed. */
tvlm_status tvlm_delta_plan_begin(tvlm_stack *stack, int32_t index, const struct tvlm_update_params *params,
                                  tvlm_delta_plan *plan);

/*
 * What `image` changes in image `index`: compares, resamples and packs; the stack stays as it is. `keep`
 * false: the image is taken as by tvlm_stack_set_image. plan->upload is valid until the plan is applied,
 * dropped or made anew, where it is the image's own pixels as long as those are. Errors as
 * tvlm_stack_update_image; then there is no plan.
 */
tvlm_status tvlm_delta_plan_make(tvlm_stack *stack, int32_t index, const tvlm_image *image,
                                 const struct tvlm_update_params *params, bool keep, tvlm_delta_plan *plan);

/* Whether a plan is what tvlm_delta_plan_make would make now, with `full` or without. */
bool tvlm_delta_plan_stands(const tvlm_stack *stack, const tvlm_delta_plan *plan, bool full);

/* The image's pixels are not looked at any more. */
void tvlm_delta_plan_drop(tvlm_delta_plan *plan);
void tvlm_delta_plan_release(tvlm_delta_plan *plan);

/* ---- delta.c ---- */

/* What there is of the grid was made of an earlier frame than the present one: saliency_share, cluster_share.
 */
bool tvlm_delta_is_carried(const tvlm_stack *stack, int32_t index, tvlm_grid grid);
/* All of that is out of date: made when something reads it. */
void tvlm_delta_drop_carried(tvlm_stack *stack, int32_t index);

/*
 * Puts a frame into the stack, by a plan that stands; `buffer` holds plan->upload, NULL: it goes up now. The
 * plan is dropped. `report` may be NULL. After an error the image is undefined, and the next frame is taken
 * whole.
 */
tvlm_status tvlm_delta_apply(tvlm_stack *stack, tvlm_delta_plan *plan, tvlm_buffer *buffer,
                             tvlm_delta_report *report);

void tvlm_stack_delta_release(tvlm_stack *stack);

/* As tvlm_stack_source_from_buffer, but only tiles that differ from the source are taken
 * (texturevlm/delta.h). */
tvlm_status tvlm_stack_update_from_buffer(tvlm_stack *stack, int32_t index, tvlm_buffer *buffer,
                                          const tvlm_pixels *pixels, const struct tvlm_update_params *params,
                                          struct tvlm_delta_report *report);

/* ---- delta_frame.c ---- */

/* The frames that the stack keeps, made if there are none. */
tvlm_status tvlm_delta_prepare(tvlm_stack *stack, tvlm_delta **delta);

/* The source, which has changed so often, is made of the kept frame, and the frame has the format. */
bool tvlm_delta_fits(const tvlm_delta_frame *frame, uint64_t changes, const tvlm_delta_pixels *pixels);

/* Which tiles differ: into changed, and *count of them. */
void tvlm_delta_compare(const tvlm_delta_frame *frame, const tvlm_delta_pixels *pixels, float threshold,
                        const tvlm_tiles *tiles, uint8_t *changed, int32_t *count);

/* All pixels, which the source is made of now that it has changed so often, into the kept frame. MEMORY; then
 * none is kept. */
tvlm_status tvlm_delta_keep(const tvlm_log *log, tvlm_delta_frame *frame, uint64_t changes,
                            const tvlm_delta_pixels *pixels);

/* Changed tiles, side x side pixels each, one after the other to `packed`; */
void tvlm_delta_pack(const tvlm_delta_pixels *pixels, const tvlm_tiles *tiles, unsigned char *packed);
/* and from there into the kept frame. Of `pixels` only the format is looked at: it is the frame's. */
void tvlm_delta_take(tvlm_delta_frame *frame, uint64_t changes, const tvlm_delta_pixels *pixels,
                     const tvlm_tiles *tiles, const unsigned char *packed);

#endif
