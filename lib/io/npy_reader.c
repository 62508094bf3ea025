/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npy_reader.c: reads .npy files in pieces, so that they may be larger than memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/io_file.h"
#include "io/npy_header.h"
#include "io/order.h"
#include "platform/file.h"

struct tvlm_npy_reader {
    int file;
    char *path;
    tvlm_log log;
    size_t element; /* bytes of one element */
    size_t left;    /* elements still to come */
};

/* Reads `size` bytes, or fewer if the file ends before, and sets *got to their number. */
static tvlm_status read_up_to(const tvlm_npy_reader *reader, void *bytes, size_t size, size_t *got) {
    const int64_t now = tvlm_file_get(reader->file, bytes, size);
    *got = now > 0 ? (size_t)now : 0;
    return now >= 0 ? TVLM_OK : tvlm_io_system_error(&reader->log, "cannot read", reader->path, errno);
}

/* Reads the header. Afterwards, the file's position is where its data begin. */
static tvlm_status read_head(tvlm_npy_reader *reader, size_t size, uint8_t *head, tvlm_npy *array) {
    size_t got, offset;
    tvlm_status status = read_up_to(reader, head, TVLM_IO_NPY_HEAD_MAX, &got);
    if (got < TVLM_IO_NPY_HEAD_MAX) size = got; /* the file ends here */
    if (status == TVLM_OK) status = tvlm_io_npy_head(head, size, reader->path, &reader->log, array, &offset);
    if (status != TVLM_OK) return status;
    if (!tvlm_file_seek(reader->file, offset))
        return tvlm_io_system_error(&reader->log, "cannot read", reader->path, errno);
    reader->element = tvlm_element_size(array->type);
    reader->left = array->size / reader->element;
    return TVLM_OK;
}

static tvlm_status open_file(tvlm_npy_reader *reader, size_t *size) {
    tvlm_file_facts facts;
    reader->file = tvlm_file_open(reader->path, false);
    if (reader->file < 0) return tvlm_io_system_error(&reader->log, "cannot open", reader->path, errno);
    if (!tvlm_file_facts_of(reader->file, &facts))
        return tvlm_io_system_error(&reader->log, "cannot read", reader->path, errno);
    if (!facts.ordinary)
        return tvlm_fail(&reader->log, TVLM_ERROR_IO, "cannot read %s in pieces: it is no ordinary file",
                         reader->path);
    *size = facts.size < SIZE_MAX ? (size_t)facts.size : SIZE_MAX;
    return TVLM_OK;
}

static tvlm_status start(tvlm_npy_reader *reader, tvlm_npy *array) {
    size_t size = 0;
    tvlm_status status = open_file(reader, &size);
    if (status != TVLM_OK) return status;
    uint8_t *const head = tvlm_allocate(1, TVLM_IO_NPY_HEAD_MAX);
    if (head == NULL) return tvlm_fail(&reader->log, TVLM_ERROR_MEMORY, "no memory to read %s", reader->path);
    status = read_head(reader, size, head, array);
    free(head);
    return status;
}

tvlm_status tvlm_npy_reader_open(const char *path, const tvlm_log *log, tvlm_npy *array,
                                 tvlm_npy_reader **reader) {
    if (path == NULL || array == NULL || reader == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_npy_reader_open: path, array or reader is NULL");
    tvlm_npy_reader *made = tvlm_allocate(1, sizeof *made);
    tvlm_npy found = {0};
    if (made != NULL) {
        made->file = -1;
        made->path = strdup(path);
    }
    if (made == NULL || made->path == NULL) {
        tvlm_npy_reader_destroy(&made);
        return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory to read %s", path);
    }
    if (log != NULL) made->log = *log;
    const tvlm_status status = start(made, &found);
    if (status != TVLM_OK) {
        tvlm_npy_reader_destroy(&made);
        return status;
    }
    *array = found;
    *reader = made;
    return TVLM_OK;
}

tvlm_status tvlm_npy_reader_read(tvlm_npy_reader *reader, void *data, size_t count) {
    size_t got;
    if (reader == NULL) return TVLM_ERROR_ARGUMENT;
    if (count > 0 && data == NULL)
        return tvlm_fail(&reader->log, TVLM_ERROR_ARGUMENT, "tvlm_npy_reader_read: data is NULL");
    if (count > reader->left)
        return tvlm_fail(&reader->log, TVLM_ERROR_ARGUMENT,
                         "tvlm_npy_reader_read: %zu elements where %s has %zu left", count, reader->path,
                         reader->left);
    const tvlm_status status = read_up_to(reader, data, count * reader->element, &got);
    if (status != TVLM_OK) return status;
    if (got < count * reader->element)
        return tvlm_fail(&reader->log, TVLM_ERROR_IO, "%s became shorter while it was read", reader->path);
    tvlm_io_from_file(data, got, reader->element);
    reader->left -= count;
    return TVLM_OK;
}

void tvlm_npy_reader_destroy(tvlm_npy_reader **reader) {
    if (reader == NULL || *reader == NULL) return;
    if ((*reader)->file >= 0) (void)tvlm_file_close((*reader)->file);
    free((*reader)->path);
    free(*reader);
    *reader = NULL;
}
