/*
 * stack/temporal.h: what a frame leaves behind, and what of it the next one gets.
 */
#ifndef TVLM_STACK_TEMPORAL_H
#define TVLM_STACK_TEMPORAL_H

#include "stack/inside.h"

/* ARGUMENT, with a line that says which. */
tvlm_status tvlm_stack_check_advance(const tvlm_log *log, const struct tvlm_advance_params *params);

/* Device memory for the scores of image `index`. frames[index].scored is to be set when they are there. */
tvlm_status tvlm_stack_scores(tvlm_stack *stack, int32_t index, const tvlm_candidates *candidates,
                              tvlm_buffer **buffer);

/* Room for `count` selected positions of image `index`: x, y in pixels of the working image, to be filled in.
 */
tvlm_status tvlm_stack_keep_positions(tvlm_stack *stack, int32_t index, int32_t count, float **positions);

/* Image `index` has new pixels: scores and positions were those of the old ones. */
void tvlm_stack_new_frame(tvlm_stack *stack, int32_t index);

/* False for grids that need a previous frame (motion, temporal) where there is none. */
bool tvlm_stack_has_previous(const tvlm_chunk *chunk, tvlm_grid grid);
/* The same of one image. */
bool tvlm_stack_remembers(const tvlm_stack_image *image, tvlm_grid grid);

/* tvlm_generate_args.carry of a chunk, as things are now. */
const tvlm_carry *tvlm_stack_carries(tvlm_stack *stack, const tvlm_chunk *chunk);

#endif
