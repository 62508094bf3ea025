/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/folder.h"

#include <dirent.h>
#include <errno.h>

bool tvlm_folder_each(const char *path, bool (*take)(void *user, const char *name), void *user) {
    DIR *const folder = opendir(path);
    bool good = true;
    if (folder == NULL) return false;
    for (;;) {
        errno = 0;
        const struct dirent *const entry = readdir(folder);
        if (entry == NULL) break;
        if (!(good = take(user, entry->d_name))) break;
    }
    const int code = errno;
    (void)closedir(folder);
    errno = code;
    return good && code == 0;
}
