/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reference.h: the reference backend: plain C that follows the definitions and is, before anything else,
 * obviously right. Tests compare the kernels with it.
 *
 * Everything is computed in double, and is done when a call returns. A value is rounded only where it is
 * stored: to float, and to the format of its texture. Each family and stage has a file, under the name that
 * lib/opencl and cl/ use too.
 */
#ifndef TVLM_REFERENCE_REFERENCE_H
#define TVLM_REFERENCE_REFERENCE_H

#include "core/backend.h"

/* A buffer (device.c), which is host memory. */
typedef struct reference_buffer {
    tvlm_buffer base;
    unsigned char *data;
} reference_buffer;

static inline void *reference_data(tvlm_buffer *buffer) {
    return ((reference_buffer *)buffer)->data;
}

extern const tvlm_backend tvlm_reference_backend;

/* Every operation that a backend needs (core/operations.h) and the generator of every family. */
#define REFERENCE_OPERATION(name, ...)     tvlm_##name##_operation tvlm_reference_##name;
#define REFERENCE_GENERATOR(ID, name, ...) tvlm_generate_operation tvlm_reference_##name;
TVLM_NEEDED_OPERATIONS(REFERENCE_OPERATION)
TVLM_CORE_GRIDS(REFERENCE_GENERATOR)
#undef REFERENCE_OPERATION
#undef REFERENCE_GENERATOR

/* The entries of the table by which the library calls this backend (lib/parts). */
#define REFERENCE_ENTRY(operation, ...)   .operation = tvlm_reference_##operation,
#define REFERENCE_PLAIN(operation, ...)   .operation = tvlm_plain_##operation,
#define REFERENCE_FAMILY(ID, family, ...) .generate[TVLM_GRID_##ID] = tvlm_reference_##family,
#define REFERENCE_ENTRIES                                                                                    \
    TVLM_NEEDED_OPERATIONS(REFERENCE_ENTRY)                                                                  \
    TVLM_OPTIONAL_OPERATIONS(REFERENCE_PLAIN)                                                                \
    TVLM_CORE_GRIDS(REFERENCE_FAMILY).name = "reference"

/* Makes a family for ragged textures image by image, with the function that makes it for other textures
 * (ragged.c). */
tvlm_status tvlm_reference_each(tvlm_device *device, const tvlm_generate_args *args,
                                tvlm_generate_operation *make);

/* Keeps the luma of one image for the next frame (motion.c). It is a part of tvlm_reference_remember. */
void tvlm_reference_remember_luma(const tvlm_texture *source, int32_t image, tvlm_texture *out);

/* CIE L*a*b* (D65) of encoded sRGB in [0, 1] (saliency.c). */
typedef struct reference_lab {
    double l, a, b;
} reference_lab;
reference_lab tvlm_reference_lab(const float rgb[3]);

#endif
