/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/planes.h: frames that another interface has put on the device, in whatever form it left them there,
 * and their conversion to pixels of the stack's size.
 */
#ifndef TVLM_STACK_PLANES_H
#define TVLM_STACK_PLANES_H

#include "stack/stack.h"

struct tvlm_opencl_frame; /* texturevlm/opencl.h */

/*
 * tvlm_stack_open_frame takes over the memory of a frame, acquires what is shared, and checks all that can be
 * wrong with the frame. Its errors are those of tvlm_stack_set_frame_opencl that do not concern the stack.
 * tvlm_stack_close_frame gives the memory back. Work that was enqueued between the two may still read it
 * then.
 */
tvlm_status tvlm_stack_open_frame(tvlm_device *device, const struct tvlm_opencl_frame *frame,
                                  tvlm_planes *planes);
void tvlm_stack_close_frame(tvlm_device *device, tvlm_planes *planes);

/* Checks that the planes are of one kind, and that the pixels lie within them. Fills in the strides and sizes
 * that were left at 0. */
tvlm_status tvlm_planes_check(const tvlm_log *log, tvlm_planes *planes);

/* Sets planes->rgb, by which NV12 is converted to RGB. kr and kb are the shares of red and blue in luma; the
 * share of green is the rest. The values are in full range or in studio range. */
void tvlm_planes_colours(double kr, double kb, bool full_range, tvlm_planes *planes);

/* Returns how many bytes the pixels of a frame have after their conversion to the stack's size. */
size_t tvlm_stack_converted_bytes(const tvlm_stack *stack);
/* Enqueues the conversion of a frame to the stack's size, into memory of that many bytes. */
tvlm_status tvlm_stack_convert_planes(tvlm_stack *stack, const tvlm_planes *planes, tvlm_buffer *out,
                                      tvlm_pixels *pixels);
/* Hands out the pixels of a frame in the stack's size. If the frame is a buffer that holds them in this size,
 * this is that buffer; otherwise they are converted into TVLM_SCRATCH_PIXELS. */
tvlm_status tvlm_stack_find_pixels(tvlm_stack *stack, const tvlm_planes *planes, tvlm_buffer **buffer,
                                   tvlm_pixels *pixels);

#endif
