/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* NOLINT: for realpath */
#include "io/io_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/memory.h"
#include "core/temporary.h"
#include "texturevlm/io.h"

/* Some systems refuse to read or write more than INT_MAX bytes in one call. */
#define PIECE ((size_t)1 << 30)
/*
 * The name of a temporary file: the folder, the number of the process, and a number. What follows the folder
 * is shorter than TEMPORARY_ROOM.
 */
#define TEMPORARY_FORMAT "%.*s.tvlm-%ld-%zu.tmp"
#define TEMPORARY_ROOM   64

struct tvlm_io_output {
    tvlm_log log;
    char *path;      /* as the caller wrote it, for messages */
    char *target;    /* the file that is replaced; NULL if the path is written directly */
    char *temporary; /* the file that is written; NULL if there is none that must be removed */
    int fd;
    bool failed;
};

/* A complete file that waits for tvlm_files_commit. */
struct waiting {
    char *path, *target, *temporary; /* as in tvlm_io_output */
};

/* The files that this thread has written since tvlm_files_begin. */
static _Thread_local struct {
    bool begun;
    struct waiting *files;
    size_t count, capacity;
} together;

static char *copy_string(const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy != NULL) memcpy(copy, text, size);
    return copy;
}

static tvlm_status cannot_write(const tvlm_io_output *output, int code) {
    return tvlm_io_system_error(&output->log, "cannot write", output->path, code);
}

static tvlm_status out_of_memory(const tvlm_io_output *output) {
    return tvlm_fail(&output->log, TVLM_ERROR_MEMORY, "no memory to write %s", output->path);
}

static void release(tvlm_io_output *output) {
    if (output->fd >= 0) close(output->fd);
    if (output->temporary != NULL) {
        unlink(output->temporary);
        temporary_forget(output->temporary);
    }
    free(output->temporary);
    free(output->target);
    free(output->path);
    free(output);
}

static tvlm_status adopt(tvlm_io_output *output, int fd) {
    if (fd < 0) return cannot_write(output, errno);
    output->fd = fd;
    return TVLM_OK;
}

/*
 * Returns whether a path must not be replaced by a rename. The names under /proc and /dev/fd stand for open
 * files. Their target may look like an ordinary file. But after a rename, the process that opened that file
 * would still hold the old one.
 */
static bool is_special(const char *path, const struct stat *info) {
    return !S_ISREG(info->st_mode) || strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/proc/", 6) == 0;
}

/* Returns the descriptor of standard output or standard error if the path names it, otherwise -1. Opening the
 * name anew would lose the stream's position and append mode. */
static int standard_stream(const char *path) {
    if (strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    return -1;
}

/*
 * Sets the target: the path itself or, if that is a symbolic link, the file that the link leads to. It is
 * NULL if the link leads to nothing.
 */
static tvlm_status find_target(tvlm_io_output *output) {
    struct stat link;
    if (lstat(output->path, &link) != 0 || !S_ISLNK(link.st_mode)) {
        output->target = copy_string(output->path);
        return output->target != NULL ? TVLM_OK : out_of_memory(output);
    }
    output->target = realpath(output->path, NULL);
    if (output->target == NULL && errno == ENOMEM) return out_of_memory(output);
    if (output->target == NULL && errno != ENOENT) return cannot_write(output, errno);
    return TVLM_OK;
}

/* Creates a file beside the target. Its name is short, so that it fits wherever the target's name does. The
 * search begins behind the numbers of the files that wait for tvlm_files_commit. */
static tvlm_status open_temporary(tvlm_io_output *output) {
    const char *slash = strrchr(output->target, '/');
    int folder = slash == NULL ? 0 : (int)(slash - output->target + 1);
    size_t room = (size_t)folder + TEMPORARY_ROOM;
    char *name = malloc(room);
    int fd = -1;
    if (name == NULL) return out_of_memory(output);
    for (int attempt = 0; attempt < 1000 && fd < 0; attempt++) {
        snprintf(name, room, TEMPORARY_FORMAT, folder, output->target, (long)getpid(),
                 together.count + (size_t)attempt);
        fd = temporary_create(name);
        if (fd < 0 && errno != EEXIST && errno != EINTR) break;
    }
    if (fd < 0) {
        int code = errno;
        free(name);
        return cannot_write(output, code);
    }
    output->temporary = name;
    return adopt(output, fd);
}

static tvlm_status open_replacement(tvlm_io_output *output, const struct stat *existing) {
    tvlm_status status = find_target(output);
    if (status != TVLM_OK) return status;
    if (output->target == NULL) /* the link leads to nothing: opening it creates the file that it names */
        return adopt(output, open(output->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    /* A rename would also replace a file that its owner has protected. */
    if (existing != NULL && access(output->target, W_OK) != 0) return cannot_write(output, errno);
    status = open_temporary(output);
    /* The permissions stay as they were. A file system without permissions is no reason to fail. */
    if (status == TVLM_OK && existing != NULL && fchmod(output->fd, existing->st_mode & 0777) != 0) errno = 0;
    return status;
}

static tvlm_status open_output(tvlm_io_output *output) {
    struct stat info;
    int stream = standard_stream(output->path);
    if (stream >= 0) return adopt(output, dup(stream));
    if (stat(output->path, &info) != 0)
        return errno == ENOENT ? open_replacement(output, NULL) : cannot_write(output, errno);
    if (S_ISDIR(info.st_mode)) return cannot_write(output, EISDIR);
    if (is_special(output->path, &info))
        return adopt(output, open(output->path, O_WRONLY | O_TRUNC | O_CLOEXEC));
    return open_replacement(output, &info);
}

tvlm_status tvlm_io_output_open(const char *path, const tvlm_log *log, tvlm_io_output **output) {
    if (path[0] == 0) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the name of the file to write is empty");
    tvlm_io_output *made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory to write %s", path);
    if (log != NULL) made->log = *log;
    made->fd = -1;
    made->path = copy_string(path);
    tvlm_status status;
    if (made->path != NULL)
        status = open_output(made);
    else
        status = tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory to write %s", path);
    if (status != TVLM_OK) {
        release(made);
        return status;
    }
    *output = made;
    return TVLM_OK;
}

tvlm_status tvlm_io_output_write(tvlm_io_output *output, const void *bytes, size_t size) {
    const uint8_t *next = bytes;
    while (size > 0) {
        ssize_t written = write(output->fd, next, size < PIECE ? size : PIECE);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            output->failed = true;
            return cannot_write(output, written < 0 ? errno : ENOSPC);
        }
        next += written;
        size -= (size_t)written;
    }
    return TVLM_OK;
}

/* Closes the file. Some file systems report a full disk only now. */
static tvlm_status close_output(tvlm_io_output *output) {
    int result = close(output->fd);
    output->fd = -1;
    return result == 0 || errno == EINTR ? TVLM_OK : cannot_write(output, errno);
}

/* Adds the file to those that wait for tvlm_files_commit. */
static tvlm_status wait_for_others(tvlm_io_output *output) {
    if (together.count == together.capacity) {
        const size_t capacity = 2 * together.capacity + 4;
        struct waiting *const files = realloc(together.files, capacity * sizeof *files);
        if (files == NULL) return out_of_memory(output);
        together.files = files;
        together.capacity = capacity;
    }
    together.files[together.count++] = (struct waiting){output->path, output->target, output->temporary};
    output->path = output->target = output->temporary = NULL;
    return TVLM_OK;
}

static tvlm_status rename_output(tvlm_io_output *output) {
    if (together.begun) return wait_for_others(output);
    if (rename(output->temporary, output->target) != 0) return cannot_write(output, errno);
    temporary_forget(output->temporary);
    free(output->temporary);
    output->temporary = NULL;
    return TVLM_OK;
}

tvlm_status tvlm_io_output_commit(tvlm_io_output **output) {
    tvlm_status status = (*output)->failed ? TVLM_ERROR_IO : close_output(*output);
    if (status == TVLM_OK && (*output)->temporary != NULL) status = rename_output(*output);
    tvlm_io_output_abort(output);
    return status;
}

void tvlm_io_output_abort(tvlm_io_output **output) {
    if (output == NULL || *output == NULL) return;
    release(*output);
    *output = NULL;
}

void tvlm_files_begin(void) {
    tvlm_files_abort();
    together.begun = true;
}

/* Renames the files that wait to their targets. If `keep` is not set, they are removed instead. If a rename
 * fails, its file and all files after it are removed. */
static tvlm_status end_together(const tvlm_log *log, bool keep) {
    tvlm_status status = TVLM_OK;
    for (size_t i = 0; i < together.count; ++i) {
        struct waiting *const file = &together.files[i];
        if (keep && status == TVLM_OK && rename(file->temporary, file->target) != 0)
            status = tvlm_io_system_error(log, "cannot write", file->path, errno);
        if (!keep || status != TVLM_OK) unlink(file->temporary);
        temporary_forget(file->temporary);
        free(file->path);
        free(file->target);
        free(file->temporary);
    }
    free(together.files);
    memset(&together, 0, sizeof together);
    return status;
}

tvlm_status tvlm_files_commit(const tvlm_log *log) {
    return end_together(log, true);
}

void tvlm_files_abort(void) {
    (void)end_together(NULL, false);
}

void tvlm_file_remove_temporaries(void) {
    temporary_remove_all();
}

tvlm_status tvlm_file_write(const char *path, const void *bytes, size_t size, const tvlm_log *log) {
    tvlm_io_output *output;
    if (path == NULL || (bytes == NULL && size > 0))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_file_write: path or bytes is NULL");
    tvlm_status status = tvlm_io_output_open(path, log, &output);
    if (status != TVLM_OK) return status;
    tvlm_io_output_write(output, bytes, size); /* commit reports a failure */
    return tvlm_io_output_commit(&output);
}
