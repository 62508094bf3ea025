/* SPDX-License-Identifier: Apache-2.0 */
/*
 * texturevlm.h: everything but the files (io.h), videos (io_video.h) and OpenCL (opencl.h).
 *
 * What all functions have in common:
 * - *Results.* A function that can fail returns a tvlm_status (status.h), and puts its results where its last
 *   arguments point. When it fails, they are untouched unless its comment says otherwise. Results that may be
 *   NULL are said to be. Arrays that the caller provides come after their capacity; the number of elements
 *   that there are comes last.
 * - *What an object knows* is asked by _get_ functions (tvlm_stack_get_info), which fill a struct of the
 *   caller's. Arrays that belong to an object (tvlm_selection_positions) are handed out as a pointer, valid
 *   while the object lives.
 * - *The log.* The log of a device is used by all that is made from it. A function without a device has a log
 *   of its own, or its parameters have: behind what goes in, and before the results. Logs are copied. NULL is
 *   silence; tvlm_log_stderr is a log that is ready. Every refusal is a line in the log, also that of a NULL,
 *   where there is a log at hand.
 * - *Parameters* are structs, in which 0 means the default; a NULL pointer to one means all defaults.
 *   params.h says how they are filled, and how they grow.
 * - *The end.* Each object is destroyed by its _destroy function, which takes the address of the pointer and
 *   sets it to NULL; NULL and a pointer that is NULL are fine. Writers of files have a _finish before it,
 *   which makes the file appear and says whether it did; without it no file appears.
 * - *Threads.* device.h says which thread may use what; pool.h has a thread for each of several devices.
 */
#ifndef TEXTUREVLM_TEXTUREVLM_H
#define TEXTUREVLM_TEXTUREVLM_H

#include "attend.h"
#include "backward.h"
#include "basis.h"
#include "codec.h"
#include "delta.h"
#include "device.h"
#include "embed.h"
#include "explain.h"
#include "export.h"
#include "fit.h"
#include "flow.h"
#include "footprint.h"
#include "foveated.h"
#include "image.h"
#include "input.h"
#include "layout.h"
#include "logpolar.h"
#include "merge.h"
#include "network.h"
#include "params.h"
#include "patches.h"
#include "pool.h"
#include "projection.h"
#include "regions.h"
#include "score.h"
#include "select.h"
#include "session.h"
#include "stack.h"
#include "status.h"
#include "stream.h"
#include "temporal.h"
#include "tune.h"
#include "version.h"
#include "vocab.h"

#endif
