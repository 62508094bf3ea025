/* SPDX-License-Identifier: Apache-2.0 */
#include "io/io_file.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "platform/file.h"
#include "texturevlm/io.h"

/* The most bytes that are read from a device or a pipe. These do not say how long they are, and /dev/zero
 * never ends. */
#define STREAM_LIMIT ((size_t)1 << 30)

struct buffer {
    uint8_t *bytes;
    size_t used, capacity;
};

tvlm_status tvlm_io_system_error(const tvlm_log *log, const char *action, const char *path, int code) {
    char text[256];
    tvlm_system_words(code, text, sizeof text);
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
static tvlm_status read_all(int file, const char *path, size_t limit, const tvlm_log *log,
                            struct buffer *buffer) {
    for (;;) {
        if (buffer->used > limit) return too_large(log, path, limit);
        if (buffer->capacity - buffer->used < 2) {
            if (buffer->capacity > SIZE_MAX / 2 || !grow(buffer, buffer->capacity * 2))
                return out_of_memory(log, path);
        }
        size_t room = buffer->capacity - buffer->used - 1;
        const int64_t got = tvlm_file_get(file, buffer->bytes + buffer->used, room);
        if (got < 0) return tvlm_io_system_error(log, "cannot read", path, errno);
        buffer->used += (size_t)got;
        if ((size_t)got < room) break;
    }
    buffer->bytes[buffer->used] = 0;
    return TVLM_OK;
}

static tvlm_status read_open(int file, const char *path, size_t limit, const tvlm_log *log,
                             struct buffer *buffer) {
    tvlm_file_facts facts;
    size_t expected = 65536;
    if (!tvlm_file_facts_of(file, &facts)) return tvlm_io_system_error(log, "cannot read", path, errno);
    if (facts.folder) return tvlm_io_system_error(log, "cannot read", path, EISDIR);
    if (facts.ordinary) {
        if (facts.size > limit) return too_large(log, path, limit);
        expected = (size_t)facts.size;
    } else if (limit > STREAM_LIMIT) {
        limit = STREAM_LIMIT;
    }
    /* One byte more is for the zero, and another one so that the end is found without growing the buffer. */
    if (expected > SIZE_MAX - 2 || !grow(buffer, expected + 2)) return out_of_memory(log, path);
    return read_all(file, path, limit, log, buffer);
}

tvlm_status tvlm_io_read(const char *path, size_t limit, const tvlm_log *log, uint8_t **bytes, size_t *size) {
    struct buffer buffer = {0};
    const int file = tvlm_file_open(path, true);
    if (file < 0) return tvlm_io_system_error(log, "cannot open", path, errno);
    tvlm_status status = read_open(file, path, limit, log, &buffer);
    (void)tvlm_file_close(file);
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
