/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h: what is in a folder.
 */
#ifndef TVLM_PLATFORM_FOLDER_H
#define TVLM_PLATFORM_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Lists what is in a folder, but for "." and "..", in the order of the names' bytes. The caller releases the list. false: errno says
 * why, and there is none. */
bool tvlm_folder_list(const char *path, char ***names, size_t *count);

void tvlm_folder_release(char **names, size_t count);

/* For folder.c: hands each name to `take`, which returns false to end, as for want of memory. Returns false where it ended, or
 * the folder cannot be read. */
bool tvlm_folder_each(const char *path, bool (*take)(void *user, const char *name), void *user);

#endif
