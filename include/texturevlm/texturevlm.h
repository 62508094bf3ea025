/* SPDX-License-Identifier: Apache-2.0 */
/*
 * texturevlm.h: everything but the files (io.h) and OpenCL (opencl.h).
 */
#ifndef TEXTUREVLM_TEXTUREVLM_H
#define TEXTUREVLM_TEXTUREVLM_H

#include "basis.h"
#include "delta.h"
#include "device.h"
#include "embed.h"
#include "export.h"
#include "fit.h"
#include "flow.h"
#include "footprint.h"
#include "foveated.h"
#include "image.h"
#include "input.h"
#include "layout.h"
#include "params.h"
#include "patches.h"
#include "regions.h"
#include "score.h"
#include "select.h"
#include "session.h"
#include "stack.h"
#include "status.h"
#include "stream.h"
#include "temporal.h"
#include "version.h"

#endif
