/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/folder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct list {
    char **names;
    size_t count, room;
};

static bool take(void *user, const char *name) {
    struct list *const list = user;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) return true;
    errno = ENOMEM;
    if (list->count == list->room) {
        const size_t room = 2 * list->room + 16;
        char **const larger = realloc(list->names, room * sizeof *larger);
        if (larger == NULL) return false;
        list->names = larger;
        list->room = room;
    }
    char *const copy = strdup(name);
    if (copy == NULL) return false;
    list->names[list->count++] = copy;
    return true;
}

static int compare(const void *first, const void *second) {
    return strcmp(*(char *const *)first, *(char *const *)second);
}

bool tvlm_folder_list(const char *path, char ***names, size_t *count) {
    struct list list = {0};
    *names = NULL;
    *count = 0;
    if (!tvlm_folder_each(path, take, &list)) {
        const int code = errno;
        tvlm_folder_release(list.names, list.count);
        errno = code;
        return false;
    }
    if (list.count > 0) qsort(list.names, list.count, sizeof *list.names, compare);
    *names = list.names;
    *count = list.count;
    return true;
}

void tvlm_folder_release(char **names, size_t count) {
    for (size_t i = 0; i < count; ++i) free(names[i]);
    free(names);
}
