/* SPDX-License-Identifier: Apache-2.0 */
#include "batch_archive.h"

#include <stdio.h>

#ifdef TVLM_WITH_ARCHIVE
#include <archive.h>
#include <archive_entry.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A member of more bytes is no picture. */
#define MEMBER_BYTES_MAX ((size_t)1 << 30)

#define BLOCK_BYTES ((size_t)1 << 16)

struct batch_archive {
    struct archive *reader;
    struct archive_entry *entry; /* the member that it stands at */
    bool broken;                 /* a member could not be read, which was told */
};

static void tell(struct archive *reader, char *error, size_t error_size) {
    const char *const why = archive_error_string(reader);
    snprintf(error, error_size, "%s", why != NULL ? why : "the archive cannot be read");
}

batch_archive *batch_archive_open(const char *path, char *error, size_t error_size) {
    batch_archive *made = calloc(1, sizeof *made);
    if (made != NULL) made->reader = archive_read_new();
    if (made == NULL || made->reader == NULL) {
        free(made);
        snprintf(error, error_size, "no memory for an archive");
        return NULL;
    }
    (void)archive_read_support_format_tar(made->reader);
    (void)archive_read_support_filter_gzip(made->reader);
    (void)archive_read_support_filter_bzip2(made->reader);
    (void)archive_read_support_filter_xz(made->reader);
    (void)archive_read_support_filter_zstd(made->reader);
    if (archive_read_open_filename(made->reader, path, BLOCK_BYTES) == ARCHIVE_OK) return made;
    tell(made->reader, error, error_size);
    batch_archive_close(&made);
    return NULL;
}

bool batch_archive_next(batch_archive *archive, const char **name, char *error, size_t error_size) {
    error[0] = '\0';
    while (!archive->broken) {
        const int code = archive_read_next_header(archive->reader, &archive->entry);
        if (code == ARCHIVE_EOF) return false;
        if (code < ARCHIVE_WARN) {
            tell(archive->reader, error, error_size);
            return false;
        }
        *name = archive_entry_pathname(archive->entry);
        if (*name != NULL && archive_entry_filetype(archive->entry) == AE_IFREG) return true;
    }
    return false;
}

/* Reads the `whole` bytes of the member. */
static bool fill(batch_archive *archive, char *buffer, size_t whole, char *error, size_t error_size) {
    size_t done = 0;
    la_ssize_t count = 1;
    while (done < whole && count > 0) {
        count = archive_read_data(archive->reader, buffer + done, whole - done);
        if (count > 0) done += (size_t)count;
    }
    if (done == whole) return true;
    archive->broken = count < 0;
    if (count < 0)
        tell(archive->reader, error, error_size);
    else /* a sparse file has a hole behind its last data, and no picture has */
        snprintf(error, error_size, "its data end after %zu of %zu bytes", done, whole);
    return false;
}

bool batch_archive_read(batch_archive *archive, void **bytes, size_t *size, char *error, size_t error_size) {
    const int64_t whole = archive_entry_size(archive->entry);
    *bytes = NULL;
    *size = 0;
    if (whole < 0 || (uint64_t)whole > MEMBER_BYTES_MAX) {
        snprintf(error, error_size, "has %lld bytes, which is too much for a picture", (long long)whole);
        return false;
    }
    char *const buffer = malloc((size_t)whole + 1);
    if (buffer == NULL) {
        snprintf(error, error_size, "no memory for %lld bytes", (long long)whole);
        return false;
    }
    if (!fill(archive, buffer, (size_t)whole, error, error_size)) {
        free(buffer);
        return false;
    }
    *bytes = buffer;
    *size = (size_t)whole;
    return true;
}

void batch_archive_close(batch_archive **archive) {
    if (*archive == NULL) return;
    (void)archive_read_free((*archive)->reader);
    free(*archive);
    *archive = NULL;
}

#else

batch_archive *batch_archive_open(const char *path, char *error, size_t error_size) {
    (void)path;
    snprintf(error, error_size, "is an archive, and this build has no libarchive to read it");
    return NULL;
}

bool batch_archive_next(batch_archive *archive, const char **name, char *error, size_t error_size) {
    (void)archive, (void)name;
    snprintf(error, error_size, "this build has no libarchive");
    return false;
}

bool batch_archive_read(batch_archive *archive, void **bytes, size_t *size, char *error, size_t error_size) {
    (void)archive, (void)bytes, (void)size;
    snprintf(error, error_size, "this build has no libarchive");
    return false;
}

void batch_archive_close(batch_archive **archive) {
    *archive = NULL;
}
#endif
