/* SPDX-License-Identifier: Apache-2.0 */
#include "labels.h"

#include <stdlib.h>
#include <string.h>

#include "inputs.h"
#include "texturevlm/io.h"

static int reserve(struct tool *tool, int32_t columns, int32_t rows, label_map *map) {
    const size_t count = (size_t)columns * (size_t)rows;
    map->ids = count <= SIZE_MAX / sizeof *map->ids ? malloc(count * sizeof *map->ids) : NULL;
    if (map->ids == NULL) return tool_fail(tool, "no memory for %d x %d labels", (int)columns, (int)rows);
    map->columns = columns;
    map->rows = rows;
    return TOOL_DONE;
}

/* ---- Arrays ---- */

/* Reads element `at`. Returns false if it does not fit an id. */
static bool integer_at(const tvlm_npy *array, size_t at, int32_t *id) {
    int64_t value = 0;
    switch (array->type) {
    case TVLM_ELEMENT_BOOL:
    case TVLM_ELEMENT_U8: value = ((const uint8_t *)array->data)[at]; break;
    case TVLM_ELEMENT_I8: value = ((const int8_t *)array->data)[at]; break;
    case TVLM_ELEMENT_U16: value = ((const uint16_t *)array->data)[at]; break;
    case TVLM_ELEMENT_I16: value = ((const int16_t *)array->data)[at]; break;
    case TVLM_ELEMENT_U32: value = ((const uint32_t *)array->data)[at]; break;
    case TVLM_ELEMENT_I32: value = ((const int32_t *)array->data)[at]; break;
    case TVLM_ELEMENT_I64: value = ((const int64_t *)array->data)[at]; break;
    case TVLM_ELEMENT_U64: {
        const uint64_t wide = ((const uint64_t *)array->data)[at];
        value = wide <= INT32_MAX ? (int64_t)wide : INT64_MAX;
        break;
    }
    default: return false;
    }
    *id = (int32_t)value;
    return value >= INT32_MIN && value <= INT32_MAX;
}

static int check_array(struct tool *tool, const tvlm_npy *array) {
    if (array->rank != 2)
        return tool_fail(tool, "--labels takes rows x columns, an array of 2 dimensions; this one has %d",
                         (int)array->rank);
    if (array->type < TVLM_ELEMENT_U8)
        return tool_fail(tool, "--labels takes integers; this is %s", tvlm_element_name(array->type));
    for (int i = 0; i < 2; ++i)
        if (array->shape[i] < 1 || array->shape[i] > INT32_MAX)
            return tool_fail(tool, "--labels: a side of %lld", (long long)array->shape[i]);
    return TOOL_DONE;
}

static int take_array(struct tool *tool, const tvlm_npy *array, label_map *map) {
    int code = check_array(tool, array);
    if (code == TOOL_DONE) code = reserve(tool, (int32_t)array->shape[1], (int32_t)array->shape[0], map);
    for (size_t i = 0; code == TOOL_DONE && i < (size_t)map->columns * (size_t)map->rows; ++i)
        if (!integer_at(array, i, &map->ids[i]))
            code = tool_fail(tool, "--labels: the label in row %zu, column %zu does not fit in 32 bits",
                             i / (size_t)map->columns, i % (size_t)map->columns);
    return code;
}

/* ---- Pictures ---- */

static int32_t pixel_id(const tvlm_image *image, size_t pixel) {
    const size_t at = pixel * (size_t)image->channels;
    if (image->type == TVLM_PIXEL_U16) return ((const uint16_t *)image->pixels)[at];
    const uint8_t *const bytes = (const uint8_t *)image->pixels + at;
    return image->channels < 3 ? bytes[0] : bytes[0] | bytes[1] << 8 | bytes[2] << 16;
}

static int take_picture(struct tool *tool, const tvlm_image *image, label_map *map) {
    if (image->type == TVLM_PIXEL_U16 && image->channels >= 3)
        return tool_fail(tool, "--labels takes gray of 8 or 16 bits or colours of 8; these have 16");
    const int code = reserve(tool, image->width, image->height, map);
    const size_t count = (size_t)image->width * (size_t)image->height;
    for (size_t i = 0; code == TOOL_DONE && i < count; ++i) map->ids[i] = pixel_id(image, i);
    return code;
}

int labels_read(struct tool *tool, const char *path, label_map *map) {
    tvlm_npy *array = NULL;
    tvlm_image *image = NULL;
    int code;
    *map = (label_map){0};
    if (inputs_is_array(path)) {
        code = tool_status(tool, tvlm_npy_read(path, &tool->log, &array));
        if (code == TOOL_DONE) code = take_array(tool, array, map);
    } else {
        code = tool_status(tool, tvlm_image_load(path, &tool->log, &image));
        if (code == TOOL_DONE) code = take_picture(tool, image, map);
    }
    tvlm_npy_destroy(&array);
    tvlm_image_destroy(&image);
    return code;
}

void labels_release(label_map *map) {
    free(map->ids);
    *map = (label_map){0};
}
