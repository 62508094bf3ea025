/* SPDX-License-Identifier: Apache-2.0 */
/*
 * windows.h: what tests ask of POSIX, for Windows, where it stands before each test (tests/CMakeLists.txt). What there is not, fails,
 * and the tests that need it are not built there, or skip.
 */
#ifndef TEST_WINDOWS_H
#define TEST_WINDOWS_H

#include <direct.h>
#include <errno.h>
#include <io.h>
#include <process.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define mkdir(path, mode) _mkdir(path)

/* /tmp of other systems is in wine and in MSYS2; elsewhere $TMPDIR names another folder. */
static inline char *mkdtemp(char *pattern) {
    static int count;
    char *const end = pattern + strlen(pattern) - 6;
    for (int i = 0; i < 1000; ++i) {
        snprintf(end, 7, "%06d", (_getpid() * 1000 + count++) % 1000000);
        if (_mkdir(pattern) == 0) return pattern;
        if (errno != EEXIST) return NULL;
    }
    return NULL;
}

static inline int mkfifo(const char *path, int mode) {
    (void)path;
    (void)mode;
    errno = ENOSYS;
    return -1;
}

static inline unsigned alarm(unsigned seconds) {
    (void)seconds;
    return 0;
}

static inline int symlink(const char *target, const char *path) {
    (void)target;
    (void)path;
    errno = ENOSYS;
    return -1;
}

static inline int setenv(const char *name, const char *value, int replace) {
    return replace != 0 || getenv(name) == NULL ? _putenv_s(name, value) : 0;
}

static inline int unsetenv(const char *name) {
    return _putenv_s(name, "");
}

#endif
