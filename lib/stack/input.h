/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/input.h: what is handed in, from the host or from a buffer on the device.
 */
#ifndef TVLM_STACK_INPUT_H
#define TVLM_STACK_INPUT_H

#include "stack/stack.h"
#include "texturevlm/input.h"

/* These do what tvlm_stack_set_grid and tvlm_stack_set_user do. If `buffer` is NULL, the data are those of
 * `input`; otherwise they are in the buffer, from byte `offset` on. */
tvlm_status tvlm_stack_input(tvlm_stack *stack, int32_t index, int32_t channel,
                             const struct tvlm_grid_input *input, tvlm_buffer *buffer, size_t offset);

/* Refuses what tvlm_stack_input would refuse of a grid without identifiers, and changes nothing. */
tvlm_status tvlm_stack_input_check(tvlm_stack *stack, int32_t index, int32_t channel,
                                   const struct tvlm_grid_input *input, tvlm_buffer *buffer, size_t offset);

tvlm_status tvlm_stack_input_user(tvlm_stack *stack, int32_t index, const char *name, float low, float high,
                                  tvlm_reduce reduce, const struct tvlm_grid_input *input,
                                  tvlm_buffer *buffer, size_t offset, int32_t *channel);

/* Sets output `number` of a scorer as the plane "output_<number>". The plane is cleared when the image gets
 * other pixels. It fails with ARGUMENT if the application has a plane of that name. */
tvlm_status tvlm_stack_input_output(tvlm_stack *stack, int32_t index, int32_t number,
                                    const struct tvlm_grid_input *input, tvlm_buffer *buffer, size_t offset);

#endif
