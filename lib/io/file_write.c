/* SPDX-License-Identifier: Apache-2.0 */
#include "io/io_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "platform/file.h"
#include "platform/temporary.h"
#include "texturevlm/io.h"

struct tvlm_io_output {
    tvlm_log log;
    char *path;      /* as the caller wrote it, for messages */
    char *target;    /* the file that is replaced; NULL if the path is written directly */
    char *temporary; /* the file that is written; NULL if there is none that must be removed */
    int file;
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
    if (output->file >= 0) (void)tvlm_file_close(output->file);
    if (output->temporary != NULL) (void)tvlm_path_remove(output->temporary);
    tvlm_temporary_forget(output->temporary);
    free(output->temporary);
    free(output->target);
    free(output->path);
    free(output);
}

static tvlm_status adopt(tvlm_io_output *output, int file) {
    if (file < 0) return cannot_write(output, errno);
    output->file = file;
    return TVLM_OK;
}

/*
 * Returns whether a path must not be replaced by a rename. The names under /proc and /dev/fd stand for open
 * files. Their target may look like an ordinary file. But after a rename, the process that opened that file
 * would still hold the old one.
 */
static bool is_special(const char *path, const tvlm_file_facts *facts) {
    return !facts->ordinary || strncmp(path, "/dev/fd/", 8) == 0 || strncmp(path, "/proc/", 6) == 0;
}

/*
 * Sets the target: the path itself or, if that is a symbolic link, the file that the link leads to. It is
 * NULL if the link leads to nothing.
 */
static tvlm_status find_target(tvlm_io_output *output) {
    output->target = tvlm_path_target(output->path);
    if (output->target == NULL && errno == ENOMEM) return out_of_memory(output);
    if (output->target == NULL && errno != ENOENT) return cannot_write(output, errno);
    return TVLM_OK;
}

/* Creates a file beside the target. The search for its name begins behind the numbers of the files that wait for
 * tvlm_files_commit. */
static tvlm_status open_temporary(tvlm_io_output *output) {
    const int file = tvlm_temporary_make(output->target, together.count, &output->temporary);
    if (file < 0 && errno == ENOMEM) return out_of_memory(output);
    return adopt(output, file);
}

static tvlm_status open_replacement(tvlm_io_output *output, const tvlm_file_facts *existing) {
    tvlm_status status = find_target(output);
    if (status != TVLM_OK) return status;
    if (output->target == NULL) /* the link leads to nothing: opening it creates the file that it names */
        return adopt(output, tvlm_file_empty(output->path));
    /* A rename would also replace a file that its owner has protected. */
    if (existing != NULL && !tvlm_path_writable(output->target)) return cannot_write(output, errno);
    status = open_temporary(output);
    if (status == TVLM_OK && existing != NULL) tvlm_file_permit(output->file, existing);
    return status;
}

static tvlm_status open_output(tvlm_io_output *output) {
    tvlm_file_facts facts;
    const int stream = tvlm_file_standard(output->path);
    if (stream >= 0 || errno != 0) return adopt(output, stream);
    if (!tvlm_path_facts(output->path, &facts))
        return errno == ENOENT ? open_replacement(output, NULL) : cannot_write(output, errno);
    if (facts.folder) return cannot_write(output, EISDIR);
    if (is_special(output->path, &facts)) return adopt(output, tvlm_file_empty(output->path));
    return open_replacement(output, &facts);
}

tvlm_status tvlm_io_output_open(const char *path, const tvlm_log *log, tvlm_io_output **output) {
    if (path[0] == 0) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the name of the file to write is empty");
    tvlm_io_output *made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory to write %s", path);
    if (log != NULL) made->log = *log;
    made->file = -1;
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
    if (tvlm_file_put(output->file, bytes, size)) return TVLM_OK;
    output->failed = true;
    return cannot_write(output, errno);
}

/* Closes the file. Some file systems report a full disk only now. */
static tvlm_status close_output(tvlm_io_output *output) {
    const bool closed = tvlm_file_close(output->file);
    output->file = -1;
    return closed ? TVLM_OK : cannot_write(output, errno);
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
    if (!tvlm_path_rename(output->temporary, output->target)) return cannot_write(output, errno);
    tvlm_temporary_forget(output->temporary);
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
        if (keep && status == TVLM_OK && !tvlm_path_rename(file->temporary, file->target))
            status = tvlm_io_system_error(log, "cannot write", file->path, errno);
        if (!keep || status != TVLM_OK) (void)tvlm_path_remove(file->temporary);
        tvlm_temporary_forget(file->temporary);
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
    tvlm_temporary_remove_all();
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
