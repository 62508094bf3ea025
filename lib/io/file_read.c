/* SPDX-License-Identifier: Apache-2.0 */
#include "io/io_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "texturevlm/io.h"

/* The most bytes that are read from a device or a pipe. These do not say how long they are, and /dev/zero
 * never ends. */
#define STREAM_LIMIT ((size_t)1 << 30)
/* Some systems refuse to read or write more than INT_MAX bytes in one call. */
#define PIECE ((size_t)1 << 30)

struct buffer {
    uint8_t *bytes;
    size_t used, capacity;
};

tvlm_status tvlm_io_system_error(const tvlm_log *log, const char *action, const char *path, int code) {
    char text[256];
    if (strerror_r(code, text, sizeof text) != 0) snprintf(text, sizeof text, "error %d", code);
    return tvlm_fail(log, TVLM_ERROR_IO, "%s %s: %s", action, path, text);
}

static bool grow(struct buffer *buffer, size_t capacity) {
    uint8_t *bytes = realloc(buffer->bytes, capacity);
    if (bytes == NULL) return false;
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

static tvlm_status too_large(const tvlm_log *log, const char *path, size_t limit) {
    return tvlm_fail(log, TVLM_ERROR_UNSUPPORTED, "%s has more than %zu bytes", path, limit);
}

static tvlm_status out_of_memory(const tvlm_log *log, const char *path) {
    return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory to read %s", path);
}

/* Reads until the end of the file, and keeps one byte free for the zero that ends the content. */
static tvlm_status read_all(int fd, const char *path, size_t limit, const tvlm_log *log,
                            struct buffer *buffer) {
    for (;;) {
        if (buffer->used > limit) return too_large(log, path, limit);
        if (buffer->capacity - buffer->used < 2) {
            if (buffer->capacity > SIZE_MAX / 2 || !grow(buffer, buffer->capacity * 2))
                return out_of_memory(log, path);
        }
        size_t room = buffer->capacity - buffer->used - 1;
        ssize_t got = read(fd, buffer->bytes + buffer->used, room < PIECE ? room : PIECE);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return tvlm_io_system_error(log, "cannot read", path, errno);
        if (got == 0) break;
        buffer->used += (size_t)got;
    }
    buffer->bytes[buffer->used] = 0;
    return TVLM_OK;
}

static tvlm_status read_descriptor(int fd, const char *path, size_t limit, const tvlm_log *log,
                                   struct buffer *buffer) {
    struct stat info;
    size_t expected = 65536;
    if (fstat(fd, &info) != 0) return tvlm_io_system_error(log, "cannot read", path, errno);
    if (S_ISDIR(info.st_mode)) return tvlm_io_system_error(log, "cannot read", path, EISDIR);
    if (S_ISREG(info.st_mode)) {
        if (info.st_size < 0 || (uint64_t)info.st_size > limit) return too_large(log, path, limit);
        expected = (size_t)info.st_size;
    } else if (limit > STREAM_LIMIT) {
        limit = STREAM_LIMIT;
    }
    /* One byte more is for the zero, and another one so that the end is found without growing the buffer. */
    if (expected > SIZE_MAX - 2 || !grow(buffer, expected + 2)) return out_of_memory(log, path);
    return read_all(fd, path, limit, log, buffer);
}

tvlm_status tvlm_io_read(const char *path, size_t limit, const tvlm_log *log, uint8_t **bytes, size_t *size) {
    struct buffer buffer = {0};
    int fd;
    do fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) return tvlm_io_system_error(log, "cannot open", path, errno);
    tvlm_status status = read_descriptor(fd, path, limit, log, &buffer);
    close(fd);
    if (status != TVLM_OK) {
        free(buffer.bytes);
        return status;
    }
    *bytes = buffer.bytes;
    *size = buffer.used;
    return TVLM_OK;
}

tvlm_status tvlm_file_read(const char *path, const tvlm_log *log, void **bytes, size_t *size) {
    uint8_t *content;
    if (path == NULL || bytes == NULL || size == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_file_read: path, bytes or size is NULL");
    tvlm_status status = tvlm_io_read(path, SIZE_MAX - 2, log, &content, size);
    if (status == TVLM_OK) *bytes = content;
    return status;
}
