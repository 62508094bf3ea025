/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* NOLINT: for nftw */
#include "platform/driver_cache.h"

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char made[4096]; /* the temporary folder; "": none */

static bool is_set(const char *name) {
    const char *const value = getenv(name);
    return value != NULL && value[0] != '\0';
}

/* Whether PoCL's folder below `home` can be written, or can be made in a home that exists. */
static bool is_writable(const char *home) {
    static const char *const below[] = {"/.cache/pocl/kcache", "/.cache/pocl", "/.cache", ""};
    for (size_t i = 0; i < sizeof below / sizeof *below; ++i) {
        char path[4096];
        struct stat found;
        const int length = snprintf(path, sizeof path, "%s%s", home, below[i]);
        if (length <= 0 || (size_t)length >= sizeof path) return false;
        if (stat(path, &found) == 0) return S_ISDIR(found.st_mode) && access(path, W_OK | X_OK) == 0;
    }
    return false;
}

void tvlm_driver_cache_start(void) {
    const char *const home = getenv("HOME");
    /* Without a home, PoCL itself takes a folder below /tmp. */
    if (home == NULL || home[0] == '\0' || is_set("POCL_CACHE_DIR") || is_set("XDG_CACHE_HOME") ||
        is_writable(home))
        return;
    const char *const temporary = is_set("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    const int length = snprintf(made, sizeof made, "%s/tvlm-XXXXXX", temporary);
    if (length <= 0 || (size_t)length >= sizeof made || mkdtemp(made) == NULL) {
        made[0] = '\0'; /* the library will report what PoCL lacks */
        return;
    }
    (void)setenv("POCL_CACHE_DIR", made, 1);
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info, (void)kind, (void)place;
    return remove(path);
}

void tvlm_driver_cache_end(void) {
    if (made[0] != '\0') (void)nftw(made, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    made[0] = '\0';
}
