/* SPDX-License-Identifier: Apache-2.0 */
/*
 * temporary.h: temporary files that are not left behind when the program is ended. Their names are kept in a table that a
 * signal's handler can read. Each library and program has a table of its own.
 */
#ifndef TVLM_PLATFORM_TEMPORARY_H
#define TVLM_PLATFORM_TEMPORARY_H

#include <stddef.h>

/*
 * Makes a file beside `target`, to be written, and returns its number, as tvlm_file_make does. Its name, in memory from malloc, is
 * written to *name. The name is short, so that it fits wherever the target's name does; the search for a free one begins at
 * `first`. -1: errno says why, and *name is NULL.
 */
int tvlm_temporary_make(const char *target, size_t first, char **name);

/* To be called once the file is renamed or removed. NULL is fine. */
void tvlm_temporary_forget(const char *name);

/* Removes all that are in the table. A signal's handler may call it. */
void tvlm_temporary_remove_all(void);

#endif
