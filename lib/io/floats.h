/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floats.h: reads tensors of floats or doubles from files, as floats.
 */
#ifndef TVLM_IO_FLOATS_H
#define TVLM_IO_FLOATS_H

#include "texturevlm/io.h"

/*
 * Reads a tensor of floats or doubles as floats. Its shape must be [rows, columns], or [columns] if `rows` is
 * 0. This shape follows from another tensor, which messages call `like`. *out is NULL if there is no such
 * tensor; free() releases it. It fails with FORMAT if the tensor has another shape or type.
 */
tvlm_status tvlm_io_read_floats(const char *path, const tvlm_log *log, const tvlm_safetensors *file,
                                const char *name, int64_t rows, int64_t columns, const char *like,
                                float **out);

#endif
