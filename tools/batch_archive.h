/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_archive.h: the members of a tar archive, one after the other, as it is packed: also compressed by gzip, bzip2, xz
 * or zstd. libarchive reads it, where the build has it.
 */
#ifndef TVLM_TOOLS_BATCH_ARCHIVE_H
#define TVLM_TOOLS_BATCH_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct batch_archive batch_archive;

/* NULL: it cannot be opened, and `error` says why. */
batch_archive *batch_archive_open(const char *path, char *error, size_t error_size);

/* Goes to the next member that is a file. *name belongs to the archive, until the next call. False: there is none; then
 * `error` says why the archive cannot be read to its end, "": it ended. */
bool batch_archive_next(batch_archive *archive, const char **name, char *error, size_t error_size);

/* Reads the member into new memory, which the caller frees. False: it cannot be read, and `error` says why. */
bool batch_archive_read(batch_archive *archive, void **bytes, size_t *size, char *error, size_t error_size);

void batch_archive_close(batch_archive **archive);

#endif
