/* SPDX-License-Identifier: Apache-2.0 */
/*
 * element.h: the element types as the two file formats spell them.
 */
#ifndef TVLM_IO_ELEMENT_H
#define TVLM_IO_ELEMENT_H

#include <stdbool.h>

#include "texturevlm/io.h"

/*
 * Returns a type's name in a .npy file, without the sign of the byte order ("f4"), or NULL if NumPy has no
 * such type. `type` must be a value of the enum.
 */
const char *tvlm_io_npy_name(tvlm_element type);

/* Returns a type's name in a .safetensors file ("F32"). `type` must be a value of the enum. */
const char *tvlm_io_safetensors_name(tvlm_element type);

/* Find the type of that name. They return false if there is none. */
bool tvlm_io_from_npy_name(const char *name, tvlm_element *type);
bool tvlm_io_from_safetensors_name(const char *name, tvlm_element *type);

/*
 * Sets *elements to the product of the shape's sides, and *bytes to their size. Returns false if one of these
 * does not fit into a size_t, or if a side is negative.
 */
bool tvlm_io_shape_size(tvlm_element type, int32_t rank, const int64_t *shape, size_t *elements,
                        size_t *bytes);

/* Checks the type, rank, shape and size of an array that is to be written. `what` names it in the log. */
tvlm_status tvlm_io_check_shape(const tvlm_log *log, const char *what, tvlm_element type, int32_t rank,
                                const int64_t *shape, size_t *elements, size_t *bytes);

#endif
