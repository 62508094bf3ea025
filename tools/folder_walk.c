/* SPDX-License-Identifier: Apache-2.0 */
#include "folder_walk.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/file.h"
#include "platform/folder.h"

/* A folder whose names are being gone through. */
typedef struct level {
    char *path;
    char **names;
    size_t count, at;
} level;

struct folder_walk {
    level *levels;
    size_t depth, room;
    char *root; /* until it is begun with */
};

folder_walk *folder_walk_open(const char *path) {
    folder_walk *made = calloc(1, sizeof *made);
    if (made != NULL) made->root = strdup(path);
    if (made == NULL || made->root == NULL) folder_walk_close(&made);
    return made;
}

static void leave(folder_walk *walk) {
    level *const last = &walk->levels[--walk->depth];
    tvlm_folder_release(last->names, last->count);
    free(last->path);
}

/* Takes the ownership of the path, unless it fails; errno says why. */
static bool enter(folder_walk *walk, char *path) {
    if (walk->depth == walk->room) {
        const size_t room = 2 * walk->room + 8;
        level *const larger = realloc(walk->levels, room * sizeof *larger);
        if (larger == NULL) errno = ENOMEM;
        if (larger == NULL) return false;
        walk->levels = larger;
        walk->room = room;
    }
    level next = {.path = path};
    if (!tvlm_folder_list(path, &next.names, &next.count)) return false;
    walk->levels[walk->depth++] = next;
    return true;
}

static char *join(const char *folder, const char *name) {
    const size_t length = strlen(folder), size = length + strlen(name) + 2;
    char *const path = malloc(size);
    const bool separated = length > 0 && tvlm_path_folder(folder) == length;
    if (path != NULL) snprintf(path, size, "%s%s%s", folder, separated ? "" : "/", name);
    return path;
}

typedef enum found { FOUND_FILE, FOUND_FOLDER, FOUND_NOTHING, FOUND_ERROR } found;

static found look_at(const char *path) {
    tvlm_file_facts facts;
    if (!tvlm_path_facts(path, &facts)) return errno == ENOENT ? FOUND_NOTHING : FOUND_ERROR;
    if (facts.folder) return tvlm_path_is_link(path) ? FOUND_NOTHING : FOUND_FOLDER;
    return facts.ordinary ? FOUND_FILE : FOUND_NOTHING;
}

bool folder_walk_next(folder_walk *walk, char **path, int *code) {
    *code = 0;
    *path = walk->root;
    walk->root = NULL;
    if (*path != NULL && !enter(walk, *path)) {
        *code = errno;
        return true;
    }
    while (walk->depth > 0) {
        level *const now = &walk->levels[walk->depth - 1];
        if (now->at == now->count) {
            leave(walk);
            continue;
        }
        const char *const name = now->names[now->at++];
        if (name[0] == '.') continue;
        *path = join(now->path, name);
        if (*path == NULL) {
            *code = ENOMEM;
            return true;
        }
        const found what = look_at(*path);
        if (what == FOUND_FILE) return true;
        if (what == FOUND_FOLDER && enter(walk, *path)) continue;
        *code = errno;
        if (what != FOUND_NOTHING) return true;
        free(*path);
    }
    *path = NULL;
    *code = 0;
    return false;
}

void folder_walk_close(folder_walk **walk) {
    if (*walk == NULL) return;
    while ((*walk)->depth > 0) leave(*walk);
    free((*walk)->levels);
    free((*walk)->root);
    free(*walk);
    *walk = NULL;
}
