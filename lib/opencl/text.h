/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h: the stages of the text family, for tests that compare each on identical inputs.
 */
#ifndef TVLM_OPENCL_TEXT_H
#define TVLM_OPENCL_TEXT_H

#include "opencl/backend.h"

/* Levels looked at, and the blocks of one image on all of them. */
typedef struct opencl_text {
    opencl_device *device;
    const tvlm_texture *source;
    int32_t levels, blocks;
    const tvlm_tiles *tiles; /* NULL: everywhere */
} opencl_text;
opencl_text tvlm_opencl_text_of(opencl_device *device, const tvlm_texture *source);

/* What they hold: cl/text.cl. strokes: ints; marks and grown: bytes. */
tvlm_status tvlm_opencl_text_strokes(const opencl_text *text, cl_mem strokes);
tvlm_status tvlm_opencl_text_mark(const opencl_text *text, cl_mem strokes, cl_mem marks);
tvlm_status tvlm_opencl_text_grow(const opencl_text *text, cl_mem marks, cl_mem grown);
tvlm_status tvlm_opencl_text_combine(const opencl_text *text, cl_mem grown, const tvlm_texture *out);

#endif
