/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder_walk.h: finds the files in a folder and in all folders below it, in the order of their names. What begins with a dot is
 * passed over. A symbolic link to a file is that file; one to a folder is not followed, so that no walk goes in circles.
 */
#ifndef TVLM_TOOLS_FOLDER_WALK_H
#define TVLM_TOOLS_FOLDER_WALK_H

#include <stdbool.h>

typedef struct folder_walk folder_walk;

/* NULL: there is no memory. The folder may be a symbolic link. */
folder_walk *folder_walk_open(const char *path);

/* Gives the path of the next file, which the caller frees. *code is 0, or the reason, a value of errno, for which a file or folder
 * of that path cannot be looked at; *path is NULL where there is no memory. false: there are no more. */
bool folder_walk_next(folder_walk *walk, char **path, int *code);

void folder_walk_close(folder_walk **walk);

#endif
