/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* NOLINT: for nice and wait4 */
#include "platform/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

#include "platform/file.h"
#include "platform/posix/close_files.h"

#define NICE 10 /* what a program that is started apart adds to its niceness */

void tvlm_program_start(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
}

/* Writes the path of the program that runs; "" where the system does not tell it. */
static void own_path(char *path, size_t size) {
#ifdef __APPLE__
    uint32_t room = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
    if (_NSGetExecutablePath(path, &room) != 0) path[0] = '\0';
#else
    const ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = '\0';
#endif
}

bool tvlm_program_beside(const char *name, char *path, size_t size) {
    own_path(path, size);
    char *const slash = strrchr(path, '/');
    if (slash == NULL || (size_t)(slash + 1 - path) + strlen(name) >= size) return false;
    memcpy(slash + 1, name, strlen(name) + 1);
    return true;
}

bool tvlm_program_find(const char *name, char *path, size_t size) {
    const char *folders = getenv("PATH");
    while (folders != NULL && *folders != '\0') {
        const size_t length = strcspn(folders, ":");
        const int needed = snprintf(path, size, "%.*s/%s", length < INT_MAX ? (int)length : 0, folders, name);
        if (needed > 0 && (size_t)needed < size && tvlm_program_exists(path)) return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

bool tvlm_program_exists(const char *path) {
    tvlm_file_facts facts; /* of folders, too, access says that they can be executed */
    return tvlm_path_facts(path, &facts) && facts.ordinary && access(path, X_OK) == 0;
}

void tvlm_program_become(const char *path, char **argv) {
    (void)execv(path, argv);
}

/* What follows in a process that was forked: only what a signal's handler may do. */
static void become_apart(const char *path, char **argv) {
    const int nothing = open("/dev/null", O_RDWR);
    for (int file = 0; file < 3; ++file)
        if (nothing < 0 || dup2(nothing, file) < 0) _exit(127);
    tvlm_posix_close_files(3, -1);
    (void)nice(NICE);
    (void)execv(path, argv);
    _exit(127);
}

/* A second fork, so that it has another parent than this program, which does not wait for it. */
bool tvlm_program_start_apart(const char *path, char **argv) {
    int status = 1;
    const pid_t child = fork();
    if (child == 0) {
        if (setsid() < 0) _exit(1);
        const pid_t apart = fork();
        if (apart == 0) become_apart(path, argv);
        _exit(apart < 0);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The unit of ru_maxrss. */
#ifdef __APPLE__
#define PEAK_UNIT 1
#else
#define PEAK_UNIT 1024
#endif

bool tvlm_program_measure(const char *path, char **argv, int *code, size_t *peak) {
    int status = 0;
    struct rusage used;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        (void)execv(path, argv);
        _exit(127);
    }
    pid_t ended = -1;
    while (child > 0 && (ended = wait4(child, &status, 0, &used)) < 0 && errno == EINTR) continue;
    if (child < 0 || ended < 0) return false;
    *code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    *peak = (size_t)used.ru_maxrss * PEAK_UNIT;
    return *code != 127;
}

int tvlm_processors(void) {
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > INT_MAX ? INT_MAX : (int)count;
}
