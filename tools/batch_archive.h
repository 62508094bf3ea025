/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_archive.h: reads the members of a tar archive, one after the other in the order of the archive. It
 * may be compressed by gzip, bzip2, xz or zstd. libarchive reads the archive, if the build has it.
 */
#ifndef TVLM_TOOLS_BATCH_ARCHIVE_H
#define TVLM_TOOLS_BATCH_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct batch_archive batch_archive;

/* Opens an archive. Unpacking may take up to `memory` bytes. Returns NULL if the archive cannot be opened;
 * `error` then says why. */
batch_archive *batch_archive_open(const char *path, uint64_t memory, char *error, size_t error_size);

/* Goes to the next member that is a file. *name belongs to the archive, and is valid until the next call.
 * Returns false if there is none. `error` then says why the archive cannot be read to its end. It is "" if
 * the archive ended, and all of it was right, checksums included. */
bool batch_archive_next(batch_archive *archive, const char **name, char *error, size_t error_size);

/* How many bytes of memory unpacking has taken so far. */
uint64_t batch_archive_memory(const batch_archive *archive);

/* How many bytes the member has. */
int64_t batch_archive_size(const batch_archive *archive);

/* Reads the next `size` bytes of the member. Returns false if they cannot be read; `error` then says why. */
bool batch_archive_read(batch_archive *archive, void *bytes, size_t size, char *error, size_t error_size);

/* Passes over the rest of the member. */
void batch_archive_pass(batch_archive *archive);

/* Whether the archive is damaged after its beginning, so that no more of it can be read. */
bool batch_archive_broken(const batch_archive *archive);

/* After the end of the archive: whether the blocks that mark an end are missing. That happens if a tar was
 * cut between two members. */
bool batch_archive_unmarked(const batch_archive *archive);

void batch_archive_close(batch_archive **archive);

#endif
