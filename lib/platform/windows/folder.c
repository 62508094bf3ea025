/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include "platform/windows/names.h"

static HANDLE find_first(const char *path, WIN32_FIND_DATAW *found) {
    const size_t length = strlen(path), size = length + 3;
    char *const pattern = malloc(size);
    if (pattern == NULL) {
        errno = ENOMEM;
        return INVALID_HANDLE_VALUE;
    }
    const int separated = length > 0 && strchr("/\\:", path[length - 1]) != NULL;
    snprintf(pattern, size, "%s%s*", path, separated ? "" : "/");
    wchar_t *const name = tvlm_windows_name(pattern);
    free(pattern);
    if (name == NULL) return INVALID_HANDLE_VALUE;
    const HANDLE search = FindFirstFileW(name, found);
    if (search == INVALID_HANDLE_VALUE) tvlm_windows_set_errno();
    free(name);
    return search;
}

bool tvlm_folder_each(const char *path, bool (*take)(void *user, const char *name), void *user) {
    WIN32_FIND_DATAW found;
    const HANDLE search = find_first(path, &found);
    bool good = search != INVALID_HANDLE_VALUE;
    if (!good) return false;
    do {
        char *const name = tvlm_windows_utf8(found.cFileName);
        good = name != NULL && take(user, name);
        free(name);
    } while (good && FindNextFileW(search, &found));
    if (good && GetLastError() != ERROR_NO_MORE_FILES) {
        tvlm_windows_set_errno();
        good = false;
    }
    const int code = errno;
    FindClose(search);
    errno = code;
    return good;
}
