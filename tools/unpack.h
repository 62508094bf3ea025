/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.h: reads the bytes of a file from its beginning to its end. The file may be compressed by gzip,
 * bzip2, xz or zstd.
 *
 * The libraries of these formats do the work, and not the filters of libarchive, for three reasons:
 * - libarchive ignores the checksum of gzip;
 * - it does not read on after the end of a tar, where the checksum of the last bytes stands;
 * - it does not limit the memory that xz takes.
 */
#ifndef TVLM_TOOLS_UNPACK_H
#define TVLM_TOOLS_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct unpack unpack;

/* Opens a file. Unpacking may take up to `memory` bytes. Returns NULL if the file cannot be opened; `error`
 * then says why. */
unpack *unpack_open(const char *path, uint64_t memory, char *error, size_t error_size);

/* Gives the next bytes, which are valid until the next call, and returns how many there are. Returns 0 if
 * there are no more, and -1 if they cannot be read or are damaged. After -1, unpack_error says why, and no
 * more bytes follow. */
int64_t unpack_read(unpack *stream, const void **bytes);
const char *unpack_error(const unpack *stream);

/* Passes over up to `count` bytes, as far as that is cheap, and returns how many it passed over. */
int64_t unpack_skip(unpack *stream, int64_t count);

/* How many bytes of memory the stream takes by now. */
uint64_t unpack_memory(const unpack *stream);

/* How many bytes were given so far, and how many of them at the end are zeros. */
int64_t unpack_count(const unpack *stream);
int64_t unpack_zeros(const unpack *stream);

/* The name of the format, where bytes that are not its data followed the last stream, and were ignored. NULL
 * otherwise. */
const char *unpack_ignored(const unpack *stream);

void unpack_close(unpack **stream);

#endif
