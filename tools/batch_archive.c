/* SPDX-License-Identifier: Apache-2.0 */
#include "batch_archive.h"

#include <stdio.h>

#ifdef TVLM_WITH_ARCHIVE
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unpack.h"

/* Two blocks of zeros mark the end of a tar. */
enum { BLOCK = 512, MARK = 2 * BLOCK };

struct batch_archive {
    struct archive *reader;
    struct archive_entry *entry; /* the present member */
    unpack *stream;
    bool begun; /* at least one member was there */
    bool broken, unmarked;
};

static void say_why(struct archive *reader, char *error, size_t error_size) {
    const char *const why = archive_error_string(reader);
    snprintf(error, error_size, "%s", why != NULL ? why : "the archive cannot be read");
}

static la_ssize_t read_stream(struct archive *reader, void *user, const void **bytes) {
    batch_archive *const archive = user;
    const int64_t count = unpack_read(archive->stream, bytes);
    if (count < 0) archive_set_error(reader, EIO, "%s", unpack_error(archive->stream));
    return count;
}

static la_int64_t skip_stream(struct archive *reader, void *user, la_int64_t count) {
    const batch_archive *const archive = user;
    (void)reader;
    return unpack_skip(archive->stream, count);
}

batch_archive *batch_archive_open(const char *path, uint64_t memory, char *error, size_t error_size) {
    batch_archive *made = calloc(1, sizeof *made);
    if (made != NULL) made->reader = archive_read_new();
    if (made == NULL || made->reader == NULL) {
        free(made);
        snprintf(error, error_size, "no memory for an archive");
        return NULL;
    }
    made->stream = unpack_open(path, memory, error, error_size);
    if (made->stream != NULL) {
        (void)archive_read_support_format_tar(made->reader);
        if (archive_read_open2(made->reader, made, NULL, read_stream, skip_stream, NULL) == ARCHIVE_OK)
            return made;
        say_why(made->reader, error, error_size);
    }
    batch_archive_close(&made);
    return NULL;
}

/* Reads the bytes after the members. At their end the checksum of a compressed archive shows whether all was
 * right. A tar without its mark may be all that was written, but not if what follows its compressed data is
 * neither zeros nor another stream: that was the rest of it, most likely. */
static bool end(batch_archive *archive, char *error, size_t error_size) {
    const int64_t begin = archive_read_header_position(archive->reader);
    const void *bytes;
    int64_t count;
    do count = unpack_read(archive->stream, &bytes);
    while (count > 0);
    const int64_t left = unpack_count(archive->stream) - begin, zeros = unpack_zeros(archive->stream);
    const char *const ignored = left < MARK ? unpack_ignored(archive->stream) : NULL;
    archive->broken = count < 0 || zeros < left || ignored != NULL;
    archive->unmarked = left < MARK;
    if (count < 0)
        snprintf(error, error_size, "%s; what was read of it may be damaged, too",
                 unpack_error(archive->stream));
    else if (zeros < left)
        snprintf(error, error_size, "its last %lld bytes are neither a member nor the end of a tar",
                 (long long)left);
    else if (ignored != NULL)
        snprintf(error, error_size, "it has no end, and what follows its %s data is no %s data", ignored,
                 ignored);
    return false;
}

bool batch_archive_next(batch_archive *archive, const char **name, char *error, size_t error_size) {
    error[0] = '\0';
    while (!archive->broken) {
        const int code = archive_read_next_header(archive->reader, &archive->entry);
        if (code == ARCHIVE_EOF) return end(archive, error, error_size);
        if (code != ARCHIVE_OK && code != ARCHIVE_WARN) {
            archive->broken = true;
            say_why(archive->reader, error, error_size);
            return false;
        }
        archive->begun = true;
        *name = archive_entry_pathname(archive->entry);
        if (*name != NULL && archive_entry_filetype(archive->entry) == AE_IFREG) return true;
    }
    return false;
}

uint64_t batch_archive_memory(const batch_archive *archive) {
    return unpack_memory(archive->stream);
}

int64_t batch_archive_size(const batch_archive *archive) {
    return archive_entry_size(archive->entry);
}

bool batch_archive_read(batch_archive *archive, void *bytes, size_t size, char *error, size_t error_size) {
    size_t done = 0;
    la_ssize_t count = 1;
    while (done < size && count > 0) {
        count = archive_read_data(archive->reader, (char *)bytes + done, size - done);
        if (count > 0) done += (size_t)count;
    }
    if (done == size) return true;
    archive->broken = count < 0;
    if (count < 0)
        say_why(archive->reader, error, error_size);
    else /* only a sparse file has a hole after its last data, and a picture is never one */
        snprintf(error, error_size, "its data end before the size that it says");
    return false;
}

void batch_archive_pass(batch_archive *archive) {
    archive->broken = archive_read_data_skip(archive->reader) < ARCHIVE_WARN;
}

bool batch_archive_broken(const batch_archive *archive) {
    return archive->broken && archive->begun;
}

bool batch_archive_unmarked(const batch_archive *archive) {
    return archive->unmarked;
}

void batch_archive_close(batch_archive **archive) {
    if (*archive == NULL) return;
    (void)archive_read_free((*archive)->reader);
    unpack_close(&(*archive)->stream);
    free(*archive);
    *archive = NULL;
}

#else

batch_archive *batch_archive_open(const char *path, uint64_t memory, char *error, size_t error_size) {
    (void)path, (void)memory;
    snprintf(error, error_size, "is an archive, and this build has no libarchive to read it");
    return NULL;
}

bool batch_archive_next(batch_archive *archive, const char **name, char *error, size_t error_size) {
    (void)archive, (void)name;
    snprintf(error, error_size, "this build has no libarchive");
    return false;
}

uint64_t batch_archive_memory(const batch_archive *archive) {
    (void)archive;
    return 0;
}

int64_t batch_archive_size(const batch_archive *archive) {
    (void)archive;
    return 0;
}

bool batch_archive_read(batch_archive *archive, void *bytes, size_t size, char *error, size_t error_size) {
    (void)archive, (void)bytes, (void)size;
    snprintf(error, error_size, "this build has no libarchive");
    return false;
}

void batch_archive_pass(batch_archive *archive) {
    (void)archive;
}

bool batch_archive_broken(const batch_archive *archive) {
    (void)archive;
    return true;
}

bool batch_archive_unmarked(const batch_archive *archive) {
    (void)archive;
    return false;
}

void batch_archive_close(batch_archive **archive) {
    *archive = NULL;
}
#endif
