/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_archive.h: the members of a tar archive, one after the other, as it is packed: also compressed by gzip, bzip2, xz
 * or zstd. libarchive reads it, where the build has it.
 */
#ifndef TVLM_TOOLS_BATCH_ARCHIVE_H
#define TVLM_TOOLS_BATCH_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct batch_archive batch_archive;

/* NULL: it cannot be opened, and `error` says why. To unpack it may take `memory` bytes. */
batch_archive *batch_archive_open(const char *path, uint64_t memory, char *error, size_t error_size);

/* Goes to the next member that is a file. *name belongs to the archive, until the next call. False: there is none; then
 * `error` says why the archive cannot be read to its end, and "": it ended, and all of it, checksums too, was right. */
bool batch_archive_next(batch_archive *archive, const char **name, char *error, size_t error_size);

/* How many bytes of memory unpacking takes so far. */
uint64_t batch_archive_memory(const batch_archive *archive);

/* How many bytes the member has. */
int64_t batch_archive_size(const batch_archive *archive);

/* Reads the next `size` bytes of the member. False: they cannot be read, and `error` says why. */
bool batch_archive_read(batch_archive *archive, void *bytes, size_t size, char *error, size_t error_size);

/* Passes over the rest of the member. */
void batch_archive_pass(batch_archive *archive);

/* Whether the archive is damaged behind its beginning, so that no more of it can be read. */
bool batch_archive_broken(const batch_archive *archive);

/* Behind its end: whether the blocks that mark it are missing, as where a tar was cut between two members. */
bool batch_archive_unmarked(const batch_archive *archive);

void batch_archive_close(batch_archive **archive);

#endif
