/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.h: the bytes of a file that may be compressed by gzip, bzip2, xz or zstd, read from its beginning to its end.
 *
 * The libraries of these formats do it, and not libarchive's filters: those take no notice of gzip's checksum, do not read
 * behind the end of a tar, where the checksum of its last bytes stands, and set no limit to what xz takes.
 */
#ifndef TVLM_TOOLS_UNPACK_H
#define TVLM_TOOLS_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct unpack unpack;

/* Opens a file. To unpack it may take `memory` bytes. NULL: it cannot be opened, and `error` says why. */
unpack *unpack_open(const char *path, uint64_t memory, char *error, size_t error_size);

/* Gives the next bytes, which are valid until the next call, and returns how many there are. 0: there are no more. -1: they
 * cannot be read or are damaged, and unpack_error says why; no more follow. */
ssize_t unpack_read(unpack *stream, const void **bytes);
const char *unpack_error(const unpack *stream);

/* Passes over no more than `count` bytes where that is cheap, and returns how many. */
int64_t unpack_skip(unpack *stream, int64_t count);

/* How many bytes of memory it takes by now. */
uint64_t unpack_memory(const unpack *stream);

/* How many bytes came so far, and how many zeros are the last of them. */
int64_t unpack_count(const unpack *stream);
int64_t unpack_zeros(const unpack *stream);

void unpack_close(unpack **stream);

#endif
