/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h: the stages of the text family, for tests that compare each of them on equal inputs.
 */
#ifndef TVLM_OPENCL_TEXT_H
#define TVLM_OPENCL_TEXT_H

#include "opencl/backend.h"

/* What the stages share: how many levels are looked at, how many blocks an image has on all of them together,
 * and the tiles around which channels are made (NULL: everywhere). */
typedef struct opencl_text {
    opencl_device *device;
    const tvlm_texture *source;
    int32_t levels, blocks;
    const tvlm_tiles *tiles;
} opencl_text;
opencl_text tvlm_opencl_text_of(opencl_device *device, const tvlm_texture *source);

/* The four stages. cl/text.cl says what the buffers hold; strokes are ints, marks and grown are bytes. */
tvlm_status tvlm_opencl_text_strokes(const opencl_text *text, cl_mem strokes);
tvlm_status tvlm_opencl_text_mark(const opencl_text *text, cl_mem strokes, cl_mem marks);
tvlm_status tvlm_opencl_text_grow(const opencl_text *text, cl_mem marks, cl_mem grown);
tvlm_status tvlm_opencl_text_combine(const opencl_text *text, cl_mem grown, const tvlm_texture *out);

#endif
