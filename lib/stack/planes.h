/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/planes.h: frames that are on the device, in the form in which another interface left them there, as
 * pixels of the stack's size.
 */
#ifndef TVLM_STACK_PLANES_H
#define TVLM_STACK_PLANES_H

#include "stack/stack.h"

struct tvlm_opencl_frame; /* texturevlm/opencl.h */

/* Takes over the memory of a frame, acquires what is shared, and checks all that can be wrong with it (the
 * errors of tvlm_stack_set_frame_opencl but for the stack's). Closing gives the memory back: what was enqueued
 * in between may still read it. */
tvlm_status tvlm_stack_open_frame(tvlm_device *device, const struct tvlm_opencl_frame *frame,
                                  tvlm_planes *planes);
void tvlm_stack_close_frame(tvlm_device *device, tvlm_planes *planes);

/* Checks that planes are of one kind and that the pixels lie within them, and fills in the strides and sizes
 * that were left at 0. */
tvlm_status tvlm_planes_check(const tvlm_log *log, tvlm_planes *planes);

/* How NV12 becomes colours: planes->rgb of a matrix that luma is made by (kr and kb; the share of green is
 * what is left), in full range or in that of studios. */
void tvlm_planes_colours(double kr, double kb, bool full_range, tvlm_planes *planes);

/* How many bytes the pixels of a frame have once they are converted to the stack's size. */
size_t tvlm_stack_converted_bytes(const tvlm_stack *stack);
/* Enqueues the conversion of a frame to the stack's size, into memory of that many bytes. */
tvlm_status tvlm_stack_convert_planes(tvlm_stack *stack, const tvlm_planes *planes, tvlm_buffer *out,
                                      tvlm_pixels *pixels);
/* Finds pixels of the stack's size: where they lie, if the frame is a buffer of them, else converted into
 * TVLM_SCRATCH_PIXELS. */
tvlm_status tvlm_stack_find_pixels(tvlm_stack *stack, const tvlm_planes *planes, tvlm_buffer **buffer,
                                   tvlm_pixels *pixels);

#endif
