/* SPDX-License-Identifier: Apache-2.0 */
#include "io/element.h"

#include <string.h>

#include "core/memory.h"

struct element_row {
    size_t size;
    const char *name, *npy, *safetensors;
};

static const struct element_row rows[] = {
    [TVLM_ELEMENT_F32] = {4, "float32", "f4", "F32"},    [TVLM_ELEMENT_F16] = {2, "float16", "f2", "F16"},
    [TVLM_ELEMENT_BF16] = {2, "bfloat16", NULL, "BF16"}, [TVLM_ELEMENT_F64] = {8, "float64", "f8", "F64"},
    [TVLM_ELEMENT_U8] = {1, "uint8", "u1", "U8"},        [TVLM_ELEMENT_I8] = {1, "int8", "i1", "I8"},
    [TVLM_ELEMENT_U16] = {2, "uint16", "u2", "U16"},     [TVLM_ELEMENT_I16] = {2, "int16", "i2", "I16"},
    [TVLM_ELEMENT_U32] = {4, "uint32", "u4", "U32"},     [TVLM_ELEMENT_I32] = {4, "int32", "i4", "I32"},
    [TVLM_ELEMENT_U64] = {8, "uint64", "u8", "U64"},     [TVLM_ELEMENT_I64] = {8, "int64", "i8", "I64"},
    [TVLM_ELEMENT_BOOL] = {1, "bool", "b1", "BOOL"},
};
enum { row_count = sizeof rows / sizeof rows[0] };

static bool known(tvlm_element type) {
    return (unsigned)type < row_count;
}

size_t tvlm_element_size(tvlm_element type) {
    return known(type) ? rows[type].size : 0;
}

const char *tvlm_element_name(tvlm_element type) {
    return known(type) ? rows[type].name : "unknown";
}

const char *tvlm_io_npy_name(tvlm_element type) {
    return rows[type].npy;
}

const char *tvlm_io_safetensors_name(tvlm_element type) {
    return rows[type].safetensors;
}

bool tvlm_io_from_npy_name(const char *name, tvlm_element *type) {
    for (int i = 0; i < row_count; i++) {
        if (rows[i].npy == NULL || strcmp(rows[i].npy, name) != 0) continue;
        *type = (tvlm_element)i;
        return true;
    }
    return false;
}

bool tvlm_io_from_safetensors_name(const char *name, tvlm_element *type) {
    for (int i = 0; i < row_count; i++) {
        if (strcmp(rows[i].safetensors, name) != 0) continue;
        *type = (tvlm_element)i;
        return true;
    }
    return false;
}

bool tvlm_io_shape_size(tvlm_element type, int32_t rank, const int64_t *shape, size_t *elements,
                        size_t *bytes) {
    size_t product = 1;
    for (int32_t i = 0; i < rank; i++) {
        if (shape[i] < 0 || (uint64_t)shape[i] > SIZE_MAX) return false;
        if (!tvlm_multiply(product, (size_t)shape[i], &product)) return false;
    }
    *elements = product;
    return tvlm_multiply(product, tvlm_element_size(type), bytes);
}

tvlm_status tvlm_io_check_shape(const tvlm_log *log, const char *what, tvlm_element type, int32_t rank,
                                const int64_t *shape, size_t *elements, size_t *bytes) {
    if (!known(type)) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: unknown type %d", what, (int)type);
    if (rank < 0 || rank > TVLM_MAX_RANK)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: a rank of %d is not in 0..%d", what, (int)rank,
                         TVLM_MAX_RANK);
    if (rank > 0 && shape == NULL) return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: shape is NULL", what);
    if (!tvlm_io_shape_size(type, rank, shape, elements, bytes))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%s: a side of the shape is negative, or all is too large",
                         what);
    return TVLM_OK;
}
