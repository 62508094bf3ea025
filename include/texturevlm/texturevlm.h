/* SPDX-License-Identifier: Apache-2.0 */
/*
 * texturevlm.h: includes all headers except those for files (io.h), pictures (draw.h), videos (io_video.h), OpenCL
 * (opencl.h) and the lab (lab/), whose headers may change in any version.
 *
 * *The first hour.* A program opens a device, loads an image, makes a stack of it, and asks where to look. It reads
 * the positions, the best first, and frees what it made:
 *
 *     #include <texturevlm/io.h> // loads images; link with texturevlm-io
 *     #include <texturevlm/texturevlm.h>
 *
 *     const tvlm_log *log = tvlm_log_stderr(); // one line for each error
 *     tvlm_image *image = NULL;
 *     tvlm_device *device = NULL;
 *     tvlm_stack *stack = NULL;
 *     tvlm_selection *selection = NULL;
 *     int32_t count = 0;
 *     if (tvlm_image_load("photo.jpg", log, &image) ||
 *         tvlm_device_open(tvlm_device_params(.log = log), &device) ||
 *         tvlm_stack_create_for_image(device, image, NULL, &stack) ||
 *         tvlm_select(stack, NULL, tvlm_select_params(.k = 100), &selection)) return 1;
 *     const tvlm_position *at = tvlm_selection_positions(selection, &count);
 *     for (int32_t i = 0; i < count; ++i) printf("%g %g, %g wide\n", at[i].x, at[i].y, at[i].size);
 *     tvlm_selection_destroy(&selection);
 *     tvlm_stack_destroy(&stack);
 *     tvlm_device_destroy(&device);
 *     tvlm_image_destroy(&image);
 *
 * A further question to the same stack costs a fraction of the first one, since all that is known of the image stays in
 * it. tvlm_stack_set_image puts the next image of the same size into it. Every parameter that is not given is 0, which
 * means its default. From there on: select.h has the other ways to choose, score.h questions, patches.h pixels of
 * positions, export.h tensors of a model, stream.h videos, and clip.h a budget for a whole
 * video.
 *
 * What all functions have in common:
 * - *Results.* A function that can fail returns a tvlm_status (status.h), and puts its results where its last
 *   arguments point. When it fails, the results are untouched, unless its comment says otherwise. A pointer for a
 *   result may be NULL only if the comment says so. For an array that the caller provides, the capacity comes
 *   before the array; the number of elements that there are is the last argument.
 * - *What an object knows* is told by _get_ functions (tvlm_stack_get_info), which fill a struct of the
 *   caller's. Arrays that belong to an object (tvlm_selection_positions) are handed out as a pointer, valid
 *   while the object lives.
 * - *The log.* All objects that are made from a device use the device's log. A function without a device has an
 *   argument for a log, behind its inputs and before its results, or its parameters have a member for one. Logs
 *   are copied. NULL means silence; tvlm_log_stderr is a log that is ready to use. Every refusal writes a line to
 *   the log, also the refusal of a NULL argument, as far as the function has a log.
 * - *Parameters* are structs, in which 0 means the default. A NULL pointer to one means all defaults. params.h
 *   says how they are filled, and how they grow.
 * - *The end.* Each object is destroyed by its _destroy function. This takes the address of the pointer, and sets
 *   the pointer to NULL. An address that is NULL, and a pointer that is NULL, are fine. Writers of files have a
 *   _finish function, which comes before _destroy. It makes the file appear, and says whether it did. Without it
 *   no file appears.
 * - *Threads.* device.h says which thread may use what. A pool (pool.h) has a thread for each of its devices.
 */
#ifndef TEXTUREVLM_TEXTUREVLM_H
#define TEXTUREVLM_TEXTUREVLM_H

#include "channels.h"
#include "clip.h"
#include "device.h"
#include "export.h"
#include "features.h"
#include "image.h"
#include "input.h"
#include "params.h"
#include "patches.h"
#include "pool.h"
#include "score.h"
#include "select.h"
#include "session.h"
#include "stack.h"
#include "status.h"
#include "stream.h"
#include "version.h"

#endif
