/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/stack.h: what lib/stack and the modules above it ask of any stack. The public header is
 * texturevlm/stack.h; what a stack is made of is in stack/inside.h, which the modules above do not see,
 * except for two files of the lab.
 *
 * The other headers of this folder are split by concern:
 *   grids.h      where channels are stored, which textures there are, and what is out of date
 *   make.h       making grids when something first reads them
 *   bundle.h     channels as the textures and references that a kernel reads
 *   network.h    the stack's network; learned.h: what it reads
 *   given.h      grids that are handed in, and which images have one
 *   input.h      what an application hands in, checked and converted
 *   upload.h     puts pixels into the source; planes.h: frames that are on the device, as such pixels;
 *                send.h: sends the next image ahead
 *   features.h   the encoder's vectors and cosines with them; embedding.h: their compressed form
 *   query.h      the question to an image
 *   regions.h    the regions of an image, and where the next frame's begin
 *   frame.h      what remains of the questions about the present frame; temporal.h: what the next frame takes
 *                over from it
 *   delta.h      takes in the next frame, and makes only what changed again
 *   packed.h     packed arrays
 *   chunks.h     the batch in chunks, which become smaller for a grid that needs it
 *   limits.h     what fits a device; resample.h: an image in another size
 */
#ifndef TVLM_STACK_STACK_H
#define TVLM_STACK_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/backend.h"
#include "texturevlm/stack.h"

/* Returns the device that the stack was created on. */
tvlm_device *tvlm_stack_device(const tvlm_stack *stack);
/* Returns where the stack's messages go: its device's log. */
const tvlm_log *tvlm_stack_log(const tvlm_stack *stack);

/* These return the size of the working image in pixels, how many levels it has, and the format of the stack's
 * textures (never AUTO). */
int32_t tvlm_stack_width(const tvlm_stack *stack);
int32_t tvlm_stack_height(const tvlm_stack *stack);
int32_t tvlm_stack_levels(const tvlm_stack *stack);
tvlm_format tvlm_stack_texel_format(const tvlm_stack *stack);

/* The size of an image as it was handed in, before it was resampled to the stack's size. */
typedef struct tvlm_original {
    int32_t width, height;
    double scale_x, scale_y; /* how many of its pixels one pixel of the working image spans */
} tvlm_original;
tvlm_original tvlm_stack_original(const tvlm_stack *stack, int32_t index);

/* Fails with a line unless 0 <= index < images. */
tvlm_status tvlm_stack_check_index(const tvlm_stack *stack, int32_t index);

/* Finds the first of these channels that image `index` has no input for (tvlm_stack_has_channel), and
 * describes it in *lacking. If the image has inputs for all, lacking->channel is TVLM_CHANNEL_NONE. */
tvlm_status tvlm_stack_find_lacking(const tvlm_stack *stack, int32_t index, const int32_t *channels,
                                    int32_t count, tvlm_channel_info *lacking);
/* Fails with a line unless there is a channel of that number. */
tvlm_status tvlm_stack_check_channel(const tvlm_stack *stack, int32_t channel);

/* Returns the number of image `index` within the textures that hold it. It differs from `index` in a long
 * batch, which is spread over several textures. */
int32_t tvlm_stack_image_number(const tvlm_stack *stack, int32_t index);

/* Device memory that is kept and reused, so that asking again allocates nothing. */
typedef enum tvlm_scratch {
    TVLM_SCRATCH_PIXELS = 0, /* what is uploaded: pixels, and features that are handed in */
    TVLM_SCRATCH_POINTS,
    TVLM_SCRATCH_SAMPLES,
    TVLM_SCRATCH_SCORES,
    TVLM_SCRATCH_RANKING,
    TVLM_SCRATCH_QUERIES, /* unit vectors, or coordinates in a basis */
    TVLM_SCRATCH_COSINES, /* cosines of cells with one or more queries */
    TVLM_SCRATCH_LENGTHS, /* tvlm_features.inverse of an embedding */
    TVLM_SCRATCH_OUTPUTS, /* the outputs of a scorer, one plane of scores behind the other */
    TVLM_SCRATCH_WEIGHTS, /* of a budget's pictures, and the pictures: they stay for the next budget */
    TVLM_SCRATCH_PICTURES,
    TVLM_SCRATCH_COUNT
} tvlm_scratch;

/* Hands out at least `bytes` of device memory. Every call hands out the same memory, as long as it is large
 * enough. */
tvlm_status tvlm_stack_scratch(tvlm_stack *stack, tvlm_scratch which, size_t bytes, tvlm_buffer **buffer);

/* Gives memory back that was handed out, if it is more than TVLM_SCRATCH_KEPT bytes. What was enqueued with it goes on. */
#define TVLM_SCRATCH_KEPT ((size_t)32 << 20)
void tvlm_stack_scratch_done(tvlm_stack *stack, tvlm_scratch which);

/* What a module above keeps beside an image. The stack knows nothing of it, except how to release it, which
 * it does when the stack is destroyed. `data` is NULL until that module fills it in. */
typedef struct tvlm_slot {
    void *data;
    void (*release)(void *data);
} tvlm_slot;
tvlm_slot *tvlm_stack_slot(tvlm_stack *stack, int32_t index);
/* Returns the slot of the stack as a whole, which stays when images change. Only the budget uses it
 * (select/budget_measure.c). */
tvlm_slot *tvlm_stack_common_slot(tvlm_stack *stack);

#endif
