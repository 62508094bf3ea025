/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h: reads and writes what metadata have in common: lists of channels' names, separated by commas, and
 * levels.
 */
#ifndef TVLM_IO_NAMES_H
#define TVLM_IO_NAMES_H

#include "texturevlm/input.h"
#include "texturevlm/io.h"

/* Counts the names of a list: there is one more than there are commas. */
int32_t tvlm_io_count_names(const char *names);

/* Sets one number of `channels` for each name. The names are those that `stack` knows or, if it is NULL,
 * those that the library knows. It fails with FORMAT if a name is unknown or is in the list twice. */
tvlm_status tvlm_io_read_names(const char *path, const tvlm_stack *stack, const tvlm_log *log,
                               const char *names, int32_t *channels);

/* Writes the names of channels with commas between them. free() releases *names, which is NULL after an
 * error. It fails with ARGUMENT if there is no such channel. */
tvlm_status tvlm_io_join_names(const char *path, const tvlm_log *log, const int32_t *channels, int32_t count,
                               char **names);

/* Reads the "level" of a file, 0 to `most`. It is 0 if the file does not have it. */
tvlm_status tvlm_io_read_level(const char *path, const tvlm_log *log, const tvlm_safetensors *file,
                               int32_t most, int32_t *level);

#endif
