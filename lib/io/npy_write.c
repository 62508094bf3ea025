/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "core/memory.h"
#include "io/element.h"
#include "io/io_file.h"
#include "io/npy_header.h"
#include "io/order.h"

struct tvlm_npy_writer {
    tvlm_io_output *output;
    tvlm_log log;
    size_t element; /* bytes of one element */
    size_t left;    /* elements still to come */
};

static tvlm_status check(const char *path, tvlm_element type, int32_t rank, const int64_t *shape,
                         const tvlm_log *log, size_t *elements) {
    size_t bytes;
    if (path == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "the name of the .npy file to write is NULL");
    tvlm_status status = tvlm_io_check_shape(log, path, type, rank, shape, elements, &bytes);
    if (status == TVLM_OK && tvlm_io_npy_name(type) == NULL)
        return tvlm_fail(log, TVLM_ERROR_UNSUPPORTED, "%s: a .npy file cannot hold %s", path,
                         tvlm_element_name(type));
    return status;
}

static tvlm_status write_header(tvlm_npy_writer *writer, tvlm_element type, int32_t rank,
                                const int64_t *shape) {
    char header[TVLM_IO_NPY_HEADER_ROOM];
    return tvlm_io_output_write(writer->output, header, tvlm_io_npy_format(type, rank, shape, header));
}

tvlm_status tvlm_npy_writer_open(const char *path, tvlm_element type, int32_t rank, const int64_t *shape,
                                 const tvlm_log *log, tvlm_npy_writer **writer) {
    size_t elements;
    if (writer == NULL) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_npy_writer_open: writer is NULL");
    tvlm_status status = check(path, type, rank, shape, log, &elements);
    if (status != TVLM_OK) return status;
    tvlm_npy_writer *made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory to write %s", path);
    if (log != NULL) made->log = *log;
    made->element = tvlm_element_size(type);
    made->left = elements;
    status = tvlm_io_output_open(path, log, &made->output);
    if (status == TVLM_OK) status = write_header(made, type, rank, shape);
    if (status != TVLM_OK) {
        tvlm_npy_writer_destroy(&made);
        return status;
    }
    *writer = made;
    return TVLM_OK;
}

tvlm_status tvlm_npy_writer_append(tvlm_npy_writer *writer, const void *data, size_t count) {
    if (writer == NULL) return TVLM_ERROR_ARGUMENT;
    if (count > 0 && data == NULL)
        return tvlm_fail(&writer->log, TVLM_ERROR_ARGUMENT, "tvlm_npy_writer_append: data is NULL");
    if (count > writer->left)
        return tvlm_fail(&writer->log, TVLM_ERROR_ARGUMENT,
                         "tvlm_npy_writer_append: %zu elements where the shape has %zu left", count,
                         writer->left);
    if (writer->output == NULL)
        return tvlm_fail(&writer->log, TVLM_ERROR_ARGUMENT, "tvlm_npy_writer_append: it is finished already");
    writer->left -= count;
    return tvlm_io_output_elements(writer->output, data, count * writer->element, writer->element);
}

tvlm_status tvlm_npy_writer_finish(tvlm_npy_writer *writer) {
    if (writer == NULL) return TVLM_ERROR_ARGUMENT; /* without a log */
    if (writer->left > 0)
        return tvlm_fail(&writer->log, TVLM_ERROR_ARGUMENT,
                         "tvlm_npy_writer_finish: %zu elements of the shape are missing", writer->left);
    if (writer->output == NULL)
        return tvlm_fail(&writer->log, TVLM_ERROR_ARGUMENT, "tvlm_npy_writer_finish: it is finished already");
    return tvlm_io_output_commit(&writer->output);
}

void tvlm_npy_writer_destroy(tvlm_npy_writer **writer) {
    if (writer == NULL || *writer == NULL) return;
    tvlm_io_output_abort(&(*writer)->output);
    free(*writer);
    *writer = NULL;
}

tvlm_status tvlm_npy_write(const char *path, tvlm_element type, int32_t rank, const int64_t *shape,
                           const void *data, const tvlm_log *log) {
    tvlm_npy_writer *writer;
    size_t elements;
    tvlm_status status = check(path, type, rank, shape, log, &elements);
    if (status != TVLM_OK) return status;
    if (data == NULL && elements > 0) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: data is NULL", path);
    status = tvlm_npy_writer_open(path, type, rank, shape, log, &writer);
    if (status != TVLM_OK) return status;
    (void)tvlm_npy_writer_append(writer, data, elements); /* finish reports a failure */
    status = tvlm_npy_writer_finish(writer);
    tvlm_npy_writer_destroy(&writer);
    return status;
}
