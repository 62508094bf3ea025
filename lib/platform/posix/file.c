/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* NOLINT: for realpath, flock */
#include "platform/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Some systems refuse to read or write more than INT_MAX bytes in one call. */
#define PIECE ((size_t)1 << 30)

static void take_facts(const struct stat *found, tvlm_file_facts *facts) {
    const bool others_write = (found->st_mode & (S_IWGRP | S_IWOTH)) != 0;
    *facts = (tvlm_file_facts){.ordinary = S_ISREG(found->st_mode),
                               .folder = S_ISDIR(found->st_mode),
                               .own = found->st_uid == geteuid() && !others_write,
                               .permissions = found->st_mode & 0777,
                               .size = found->st_size > 0 ? (uint64_t)found->st_size : 0,
                               .identity = {(uint64_t)found->st_dev, (uint64_t)found->st_ino}};
}

bool tvlm_path_facts(const char *path, tvlm_file_facts *facts) {
    struct stat found;
    if (stat(path, &found) != 0) return false;
    take_facts(&found, facts);
    return true;
}

bool tvlm_path_exists(const char *path) {
    struct stat found;
    return lstat(path, &found) == 0;
}

bool tvlm_path_writable(const char *path) {
    struct stat found;
    const bool folder = stat(path, &found) == 0 && S_ISDIR(found.st_mode);
    return access(path, folder ? W_OK | X_OK : W_OK) == 0;
}

bool tvlm_path_is_link(const char *path) {
    struct stat link;
    return lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
}

bool tvlm_path_link(const char *path, char *text, size_t size) {
    const ssize_t length = readlink(path, text, size);
    if (length <= 0 || (size_t)length >= size) return false;
    text[length] = '\0';
    return true;
}

char *tvlm_path_target(const char *path) {
    if (!tvlm_path_is_link(path)) {
        char *const copy = strdup(path);
        if (copy == NULL) errno = ENOMEM;
        return copy;
    }
    return realpath(path, NULL);
}

size_t tvlm_path_folder(const char *path) {
    const char *const slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

bool tvlm_path_whole(const char *path) {
    return path[0] == '/';
}

bool tvlm_path_remove(const char *path) {
    return unlink(path) == 0;
}

bool tvlm_path_rename(const char *from, const char *to) {
    return rename(from, to) == 0;
}

bool tvlm_folder_make(const char *path, bool alone) {
    return mkdir(path, alone ? 0700 : 0777) == 0;
}

static int open_again(const char *path, int flags, mode_t mode) {
    int file;
    do file = open(path, flags | O_CLOEXEC, mode);
    while (file < 0 && errno == EINTR);
    return file;
}

int tvlm_file_open(const char *path, bool wait) {
    /* For ordinary files O_NONBLOCK makes no difference. */
    return open_again(path, wait ? O_RDONLY : O_RDONLY | O_NONBLOCK, 0);
}

int tvlm_file_empty(const char *path) {
    return open_again(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
}

int tvlm_file_update(const char *path, bool read) {
    return open_again(path, (read ? O_RDWR : O_WRONLY) | O_CREAT, 0666);
}

int tvlm_file_make(const char *path, bool alone) {
    return open_again(path, O_WRONLY | O_CREAT | O_EXCL, alone ? 0600 : 0666);
}

/* To open the name anew would lose the stream's position and append mode. */
int tvlm_file_standard(const char *path) {
    errno = 0;
    if (strcmp(path, "/dev/stdout") == 0) return tvlm_file_again(STDOUT_FILENO);
    if (strcmp(path, "/dev/stderr") == 0) return tvlm_file_again(STDERR_FILENO);
    return -1;
}

int tvlm_file_input(void) {
    return tvlm_file_again(STDIN_FILENO);
}

int tvlm_file_again(int file) {
    return fcntl(file, F_DUPFD_CLOEXEC, 0);
}

bool tvlm_file_facts_of(int file, tvlm_file_facts *facts) {
    struct stat found;
    if (fstat(file, &found) != 0) return false;
    take_facts(&found, facts);
    return true;
}

void tvlm_file_permit(int file, const tvlm_file_facts *other) {
    if (fchmod(file, (mode_t)other->permissions) != 0) errno = 0;
}

int64_t tvlm_file_some(int file, void *bytes, size_t size) {
    ssize_t got;
    do got = read(file, bytes, size < PIECE ? size : PIECE);
    while (got < 0 && errno == EINTR);
    return (int64_t)got;
}

int64_t tvlm_file_put_some(int file, const void *bytes, size_t size) {
    ssize_t written;
    do written = write(file, bytes, size < PIECE ? size : PIECE);
    while (written < 0 && errno == EINTR);
    return (int64_t)written;
}

bool tvlm_file_seek(int file, uint64_t offset) {
    return lseek(file, (off_t)offset, SEEK_SET) >= 0;
}

bool tvlm_file_cut(int file, uint64_t length) {
    return ftruncate(file, (off_t)length) == 0 && tvlm_file_seek(file, length);
}

bool tvlm_file_lock(int file) {
    return flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

bool tvlm_file_close(int file) {
    return close(file) == 0 || errno == EINTR;
}

void tvlm_system_words(int code, char *text, size_t size) {
    if (strerror_r(code, text, size) != 0) snprintf(text, size, "error %d", code);
}

static bool is_folder(const char *path) {
    tvlm_file_facts facts;
    return tvlm_path_facts(path, &facts) && facts.folder;
}

bool tvlm_cache_home(char *path, size_t size) {
    const char *home = getenv("XDG_CACHE_HOME"), *below = "";
    if (home == NULL || !tvlm_path_whole(home)) {
        home = getenv("HOME");
        below = "/.cache";
        if (home == NULL || !tvlm_path_whole(home) || !is_folder(home)) return false;
    }
    const int length = snprintf(path, size, "%s%s", home, below);
    return length > 0 && (size_t)length < size;
}

long tvlm_process_number(void) {
    return (long)getpid();
}
