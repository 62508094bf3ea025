/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* NOLINT: for nftw */
#include "platform/driver_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/posix/close_files.h"
#include "platform/signals.h"

#define VARIABLE "POCL_CACHE_DIR"
/* A folder that not even root can make. */
#define NOWHERE "/dev/null/pocl"

static bool moved;         /* whether the variable was set here */
static char made[4096];    /* the temporary folder; "": none */
static pid_t watcher = -1; /* the process that removes it when this one has ended */
static int alive = -1;     /* an end of a pipe that is open as long as this process is there */

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

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *place) {
    (void)info, (void)kind, (void)place;
    return remove(path);
}

static void remove_made(void) {
    (void)nftw(made, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Waits until nobody has the other end of the pipe, and removes the folder. No signal reaches this process: they are held, and in its
 * own session it hears nothing of a Control-C in the terminal. It keeps no file open that others wait for. */
static void watch(int end) {
    char byte;
    (void)setsid();
    tvlm_posix_close_files(0, end);
    while (read(end, &byte, 1) < 0 && errno == EINTR) continue;
    remove_made();
    _exit(0);
}

/* A signal's handler cannot remove a folder with what is in it, and nothing runs after SIGKILL: another process does it. Programs
 * that this one starts do not have the pipe. */
static void start_watcher(void) {
    int ends[2];
    if (pipe(ends) != 0) return;
    for (int i = 0; i < 2; ++i) (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    watcher = fork();
    if (watcher == 0) watch(ends[0]);
    (void)close(ends[0]);
    if (watcher > 0)
        alive = ends[1];
    else
        (void)close(ends[1]);
}

static void stop_watcher(void) {
    if (alive < 0) return;
    (void)close(alive);
    while (waitpid(watcher, NULL, 0) < 0 && errno == EINTR) continue;
    alive = -1;
}

static bool make(const char *temporary) {
    const int length = snprintf(made, sizeof made, "%s/tvlm-XXXXXX", temporary);
    if (length > 0 && (size_t)length < sizeof made && mkdtemp(made) != NULL) return true;
    made[0] = '\0';
    return false;
}

void tvlm_driver_cache_start(void) {
    const char *const home = getenv("HOME");
    tvlm_signals before;
    /* Without a home, PoCL itself takes a folder below /tmp. */
    if (home == NULL || home[0] == '\0' || is_set(VARIABLE) || is_set("XDG_CACHE_HOME") || is_writable(home))
        return;
    tvlm_signals_hold(&before); /* between the folder and its watcher */
    moved = true;
    if ((is_set("TMPDIR") && make(getenv("TMPDIR"))) || make("/tmp")) {
        (void)setenv(VARIABLE, made, 1);
        start_watcher();
    } else { /* or PoCL would make the home; the library says what PoCL lacks */
        (void)setenv(VARIABLE, NOWHERE, 1);
    }
    tvlm_signals_release(&before);
}

bool tvlm_driver_cache_folder(char *path, size_t size) {
    /* In the order in which PoCL looks. Without any of them it is below /tmp, for all users. */
    static const struct {
        const char *variable, *below;
    } places[] = {{VARIABLE, ""}, {"XDG_CACHE_HOME", "/pocl/kcache"}, {"HOME", "/.cache/pocl/kcache"}};
    for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
        if (!is_set(places[i].variable)) continue;
        const int length = snprintf(path, size, "%s%s", getenv(places[i].variable), places[i].below);
        return length > 0 && (size_t)length < size;
    }
    return false;
}

void tvlm_driver_cache_end(void) {
    if (moved) (void)unsetenv(VARIABLE);
    moved = false;
    if (made[0] == '\0') return;
    stop_watcher();
    remove_made(); /* where there was no watcher, or it was killed */
    made[0] = '\0';
}
