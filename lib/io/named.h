/* SPDX-License-Identifier: Apache-2.0 */
/*
 * named.h: what readers of weights have in common. Lines about a file begin with its path. The metadata repeat
 * some facts of the tensors, and are compared with them.
 */
#ifndef TVLM_IO_NAMED_H
#define TVLM_IO_NAMED_H

#include "texturevlm/io.h"

/* A file that is read or written, and the log for it. */
typedef struct tvlm_io_named {
    const char *path;
    const tvlm_log *log;
} tvlm_io_named;

/* Returns a log that puts the path before each line, and hands the line on. It is for functions that know
 * nothing of the file. `file` must stay valid as long as the log is used. */
tvlm_log tvlm_io_naming(const tvlm_io_named *file);

/* Compares a number of the metadata, if they have it, with the number that follows from the tensors. It fails
 * with FORMAT if the two differ. */
tvlm_status tvlm_io_check_number(const tvlm_io_named *file, const tvlm_safetensors *tensors, const char *key,
                                 int32_t expected);

/* Reads from how many vectors something was made. If the metadata do not say it, *count stays as it is. It
 * fails with FORMAT if the text is not a number. */
tvlm_status tvlm_io_read_vectors(const tvlm_io_named *file, const tvlm_safetensors *tensors, int64_t *count);

#endif
