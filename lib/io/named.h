/* SPDX-License-Identifier: Apache-2.0 */
/*
 * named.h: what readers of weights have in common: lines about a file begin with its path, and metadata repeat what the
 * tensors say.
 */
#ifndef TVLM_IO_NAMED_H
#define TVLM_IO_NAMED_H

#include "texturevlm/io.h"

/* A file that is read or written, and who is told. */
typedef struct tvlm_io_named {
    const char *path;
    const tvlm_log *log;
} tvlm_io_named;

/* Returns a log that hands on lines of functions that know of no file, with the path before them. `file` outlives it. */
tvlm_log tvlm_io_naming(const tvlm_io_named *file);

/* Compares a number of the metadata, where they have it, with what the tensors say: FORMAT where they differ. */
tvlm_status tvlm_io_check_number(const tvlm_io_named *file, const tvlm_safetensors *tensors, const char *key,
                                 int32_t expected);

/* Reads of how many vectors something was made; *count stays where the metadata do not say it. FORMAT for no number. */
tvlm_status tvlm_io_read_vectors(const tvlm_io_named *file, const tvlm_safetensors *tensors, int64_t *count);

#endif
