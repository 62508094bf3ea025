/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h: lists of channels' names in the metadata of files, separated by commas.
 */
#ifndef TVLM_IO_NAMES_H
#define TVLM_IO_NAMES_H

#include "texturevlm/input.h"

/* Counts the names of a list: there is one more than there are commas. */
int32_t tvlm_io_count_names(const char *names);

/* Sets one number of `channels` for each name, as the library knows them, or `stack` where that is not NULL. FORMAT for a
 * name that is unknown or stands twice. */
tvlm_status tvlm_io_read_names(const char *path, const tvlm_stack *stack, const tvlm_log *log,
                               const char *names, int32_t *channels);

#endif
