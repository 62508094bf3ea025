/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floats.h: tensors of floats or doubles in files, as floats.
 */
#ifndef TVLM_IO_FLOATS_H
#define TVLM_IO_FLOATS_H

#include "texturevlm/io.h"

/*
 * Reads a tensor of floats or doubles as floats. Its shape is [rows, columns], or [columns] where `rows` is 0, as
 * the tensor `like` asks for. *out is NULL where there is no such tensor; free() releases it. FORMAT for another
 * shape or type.
 */
tvlm_status tvlm_io_read_floats(const char *path, const tvlm_log *log, const tvlm_safetensors *file,
                                const char *name, int64_t rows, int64_t columns, const char *like,
                                float **out);

#endif
