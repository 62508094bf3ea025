/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/bytes.h"
#include "io/element.h"
#include "io/io_file.h"
#include "io/npy_header.h"
#include "io/order.h"

struct npy_file {
    tvlm_npy array; /* first, so that a pointer to it is also one to the whole struct */
    uint8_t *bytes; /* the whole file, which contains the data */
    size_t size;
};

static tvlm_status unusable(const tvlm_log *log, const char *path, tvlm_status status, const char *what) {
    return tvlm_fail(log, status, "%s is not a usable .npy file: %s", path, what);
}

/* Sets *offset to where the text begins, and *length to its size in bytes. Returns NULL, or what is wrong. */
static const char *find_text(const uint8_t *bytes, size_t size, size_t *offset, size_t *length) {
    if (size < 8 || memcmp(bytes, "\x93NUMPY", 6) != 0) return "it does not begin with the magic bytes";
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0) return "its version is not 1.0, 2.0 or 3.0";
    *offset = bytes[6] == 1 ? 10 : 12;
    if (size < *offset) return "it ends within its header";
    *length = bytes[6] == 1 ? tvlm_io_le16(bytes + 8) : tvlm_io_le32(bytes + 8);
    if (*length > TVLM_IO_NPY_TEXT_MAX) return "its header has more than 1 MiB";
    if (size - *offset < *length) return "it ends within its header";
    return NULL;
}

tvlm_status tvlm_io_npy_head(const uint8_t *bytes, size_t size, const char *path, const tvlm_log *log,
                             tvlm_npy *array, size_t *data) {
    size_t offset, length, elements;
    tvlm_io_npy_problem problem;
    const char *wrong = find_text(bytes, size, &offset, &length);
    if (wrong != NULL) return unusable(log, path, TVLM_ERROR_FORMAT, wrong);
    wrong = tvlm_io_npy_parse((const char *)bytes + offset, length, array, &problem);
    if (wrong != NULL) return unusable(log, path, problem.status, wrong);
    *data = offset + length;
    const size_t left = size - *data;
    if (!tvlm_io_shape_size(array->type, array->rank, array->shape, &elements, &array->size))
        return unusable(log, path, TVLM_ERROR_FORMAT, "its shape is too large for this machine");
    if (array->size != left)
        return tvlm_fail(log, TVLM_ERROR_FORMAT,
                         "%s is not a usable .npy file: it has %zu bytes of data where its shape needs %zu",
                         path, left, array->size);
    return TVLM_OK;
}

/*
 * Points the array at its data. In old files, the data may begin anywhere; they are moved to an aligned place
 * then.
 */
static void place_data(struct npy_file *file, size_t offset) {
    size_t element = tvlm_element_size(file->array.type), aligned = offset / element * element;
    if (aligned != offset) memmove(file->bytes + aligned, file->bytes + offset, file->array.size);
    file->array.data = file->bytes + aligned;
    tvlm_io_from_file(file->bytes + aligned, file->array.size, element);
}

static tvlm_status parse(struct npy_file *file, const char *path, const tvlm_log *log) {
    size_t offset = 0;
    const tvlm_status status = tvlm_io_npy_head(file->bytes, file->size, path, log, &file->array, &offset);
    if (status == TVLM_OK) place_data(file, offset);
    return status;
}

tvlm_status tvlm_npy_read(const char *path, const tvlm_log *log, tvlm_npy **array) {
    if (path == NULL || array == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_npy_read: path or array is NULL");
    struct npy_file *file = tvlm_allocate(1, sizeof *file);
    if (file == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory to read %s", path);
    tvlm_status status = tvlm_io_read(path, SIZE_MAX - 2, log, &file->bytes, &file->size);
    if (status == TVLM_OK) status = parse(file, path, log);
    tvlm_npy *made = &file->array;
    if (status == TVLM_OK)
        *array = made;
    else
        tvlm_npy_destroy(&made);
    return status;
}

void tvlm_npy_destroy(tvlm_npy **array) {
    if (array == NULL || *array == NULL) return;
    struct npy_file *file = (struct npy_file *)(void *)*array;
    free(file->bytes);
    free(file);
    *array = NULL;
}
