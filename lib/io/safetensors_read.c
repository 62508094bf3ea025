/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safetensors_read.c: reads .safetensors.
 *
 * A file begins with eight bytes, which are the length of its header. Then come the header, which is JSON,
 * and the data. The header has an object for each tensor, with its "dtype", "shape" and "data_offsets" (begin
 * and end within the data). Its "__metadata__" maps strings to strings.
 */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/bytes.h"
#include "io/element.h"
#include "io/io_file.h"
#include "io/order.h"
#include "io/utf8.h"

#define PRELUDE    ((size_t)8)
#define HEADER_MAX ((size_t)100 * 1000 * 1000)
#define EXACT_MAX  9007199254740992.0 /* 2^53: cJSON stores doubles, in which larger numbers are not exact */

/* A tensor, and where it is within the file's data. */
struct entry {
    tvlm_tensor tensor;
    size_t begin, end;
};

struct safetensors_file {
    tvlm_safetensors view; /* first, so that a pointer to it is also one to the whole struct */
    const char *path;      /* for messages; like the log, valid only during tvlm_safetensors_read */
    const tvlm_log *log;
    uint8_t *bytes; /* the whole file */
    size_t size;
    const uint8_t *data;
    size_t data_size;
    cJSON *header; /* owns every string */
    tvlm_tensor *tensors;
    tvlm_metadata *metadata;
    uint8_t *aligned; /* copies of the tensors that are not aligned in the file */
};

static tvlm_status unusable(const struct safetensors_file *file, const char *what) {
    return tvlm_fail(file->log, TVLM_ERROR_FORMAT, "%s is not a usable .safetensors file: %s", file->path,
                     what);
}

static tvlm_status bad_tensor(const struct safetensors_file *file, tvlm_status status, const cJSON *item,
                              const char *what) {
    return tvlm_fail(file->log, status, "%s: tensor \"%.200s\": %s", file->path, item->string, what);
}

static tvlm_status out_of_memory(const struct safetensors_file *file) {
    return tvlm_fail(file->log, TVLM_ERROR_MEMORY, "no memory to read %s", file->path);
}

/* ---- The header ---- */

/* Returns whether a text of JSON has an escaped zero, at which cJSON would end a string. */
static bool has_escaped_zero(const char *text) {
    while ((text = strchr(text, '\\')) != NULL) {
        if (strncmp(text, "\\u0000", 6) == 0) return true;
        text += text[1] != '\0' ? 2 : 1;
    }
    return false;
}

/* Parses the header. The text is copied to end with a zero, since some versions of cJSON would read on
 * without one. */
static tvlm_status parse_text(struct safetensors_file *file, size_t length) {
    char *text = malloc(length + 1);
    const char *end = NULL;
    if (text == NULL) return out_of_memory(file);
    memcpy(text, file->bytes + PRELUDE, length);
    text[length] = 0;
    bool is_utf8 = tvlm_io_is_utf8(text, length) && !has_escaped_zero(text);
    bool is_text = is_utf8 && strlen(text) == length;
    file->header = is_text ? cJSON_ParseWithLengthOpts(text, length + 1, &end, 0) : NULL;
    bool ends = end != NULL && strspn(end, " \t\r\n") == strlen(end);
    free(text);
    if (!is_utf8) return unusable(file, "its header is not UTF-8, or a string in it has a zero");
    if (file->header == NULL || !ends || !cJSON_IsObject(file->header))
        return unusable(file, "its header is not a JSON object");
    return TVLM_OK;
}

static tvlm_status parse_header(struct safetensors_file *file) {
    if (file->size < PRELUDE) return unusable(file, "it is too short for a header");
    uint64_t length = (uint64_t)tvlm_io_le32(file->bytes + 4) << 32 | tvlm_io_le32(file->bytes);
    if (length > HEADER_MAX) return unusable(file, "its header has more than 100 MB");
    if (length > file->size - PRELUDE) return unusable(file, "it ends within its header");
    file->data = file->bytes + PRELUDE + length;
    file->data_size = file->size - PRELUDE - (size_t)length;
    return parse_text(file, (size_t)length);
}

static bool is_metadata(const cJSON *item) {
    return strcmp(item->string, "__metadata__") == 0;
}

static int by_string(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Refuses a key that comes twice. The format does not allow it, and it would be a guess which of the two
 * counts. */
static tvlm_status check_keys(const struct safetensors_file *file) {
    const size_t count = (size_t)file->view.metadata_count;
    const char **keys = tvlm_allocate(count, sizeof *keys);
    bool twice = false;
    if (keys == NULL) return out_of_memory(file);
    for (size_t i = 0; i < count; i++) keys[i] = file->metadata[i].key;
    qsort(keys, count, sizeof *keys, by_string);
    for (size_t i = 1; i < count; i++) twice = twice || strcmp(keys[i - 1], keys[i]) == 0;
    free(keys);
    return twice ? unusable(file, "its __metadata__ has a key twice") : TVLM_OK;
}

static tvlm_status read_metadata(struct safetensors_file *file, const cJSON *map) {
    const cJSON *item;
    if (!cJSON_IsObject(map)) return unusable(file, "its __metadata__ is not an object");
    if (file->metadata != NULL) return unusable(file, "it has __metadata__ twice");
    file->metadata = tvlm_allocate((size_t)cJSON_GetArraySize(map), sizeof *file->metadata);
    if (file->metadata == NULL) return out_of_memory(file);
    file->view.metadata = file->metadata;
    cJSON_ArrayForEach(item, map) {
        if (!cJSON_IsString(item)) return unusable(file, "a value of its __metadata__ is not a string");
        file->metadata[file->view.metadata_count++] = (tvlm_metadata){item->string, item->valuestring};
    }
    return check_keys(file);
}

/* ---- Its tensors ---- */

static bool read_integer(const cJSON *item, int64_t *value) {
    if (!cJSON_IsNumber(item) || !(item->valuedouble >= 0 && item->valuedouble < EXACT_MAX)) return false;
    *value = (int64_t)item->valuedouble;
    return (double)*value == item->valuedouble;
}

static tvlm_status read_type(const struct safetensors_file *file, const cJSON *item, struct entry *entry) {
    char words[64];
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(item, "dtype");
    if (!cJSON_IsString(type)) return bad_tensor(file, TVLM_ERROR_FORMAT, item, "its dtype is not a string");
    if (tvlm_io_from_safetensors_name(type->valuestring, &entry->tensor.type)) return TVLM_OK;
    snprintf(words, sizeof words, "elements of type %.20s are not supported", type->valuestring);
    return bad_tensor(file, TVLM_ERROR_UNSUPPORTED, item, words);
}

static tvlm_status read_shape(const struct safetensors_file *file, const cJSON *item, struct entry *entry) {
    const cJSON *side, *shape = cJSON_GetObjectItemCaseSensitive(item, "shape");
    tvlm_tensor *tensor = &entry->tensor;
    if (!cJSON_IsArray(shape)) return bad_tensor(file, TVLM_ERROR_FORMAT, item, "its shape is not a list");
    for (int i = 0; i < TVLM_MAX_RANK; i++) tensor->shape[i] = 1;
    cJSON_ArrayForEach(side, shape) {
        if (tensor->rank == TVLM_MAX_RANK)
            return bad_tensor(file, TVLM_ERROR_UNSUPPORTED, item, "it has more than 8 dimensions");
        if (!read_integer(side, &tensor->shape[tensor->rank++]))
            return bad_tensor(file, TVLM_ERROR_FORMAT, item, "its shape holds what is not an integer >= 0");
    }
    return TVLM_OK;
}

static tvlm_status read_offsets(const struct safetensors_file *file, const cJSON *item, struct entry *entry) {
    const cJSON *offsets = cJSON_GetObjectItemCaseSensitive(item, "data_offsets");
    int64_t begin, end;
    size_t elements;
    if (!cJSON_IsArray(offsets) || cJSON_GetArraySize(offsets) != 2 ||
        !read_integer(offsets->child, &begin) || !read_integer(offsets->child->next, &end))
        return bad_tensor(file, TVLM_ERROR_FORMAT, item, "its data_offsets are not two integers >= 0");
    if (begin > end || (uint64_t)end > file->data_size)
        return bad_tensor(file, TVLM_ERROR_FORMAT, item, "its data_offsets are not within the file");
    entry->begin = (size_t)begin;
    entry->end = (size_t)end;
    if (!tvlm_io_shape_size(entry->tensor.type, entry->tensor.rank, entry->tensor.shape, &elements,
                            &entry->tensor.size) ||
        entry->tensor.size != entry->end - entry->begin)
        return bad_tensor(file, TVLM_ERROR_FORMAT, item, "its data have not the size that its shape needs");
    entry->tensor.data = file->data + entry->begin;
    return TVLM_OK;
}

static bool has_twice(const cJSON *object, const char *key) {
    const cJSON *member;
    int count = 0;
    cJSON_ArrayForEach(member, object) count += strcmp(member->string, key) == 0;
    return count > 1;
}

static tvlm_status read_tensor(const struct safetensors_file *file, const cJSON *item, struct entry *entry) {
    if (!cJSON_IsObject(item)) return bad_tensor(file, TVLM_ERROR_FORMAT, item, "it is not an object");
    if (has_twice(item, "dtype") || has_twice(item, "shape") || has_twice(item, "data_offsets"))
        return bad_tensor(file, TVLM_ERROR_FORMAT, item, "it has its dtype, shape or data_offsets twice");
    entry->tensor.name = item->string;
    tvlm_status status = read_type(file, item, entry);
    if (status == TVLM_OK) status = read_shape(file, item, entry);
    if (status == TVLM_OK) status = read_offsets(file, item, entry);
    return status;
}

static tvlm_status read_items(struct safetensors_file *file, struct entry *entries) {
    const cJSON *item;
    cJSON_ArrayForEach(item, file->header) {
        tvlm_status status = is_metadata(item) ? read_metadata(file, item)
                                               : read_tensor(file, item, &entries[file->view.tensor_count]);
        if (status != TVLM_OK) return status;
        if (!is_metadata(item)) file->view.tensor_count++;
    }
    return TVLM_OK;
}

/* ---- The tensors must fill the data ---- */

static int by_name(const void *a, const void *b) {
    return strcmp(((const struct entry *)a)->tensor.name, ((const struct entry *)b)->tensor.name);
}

static int by_place(const void *a, const void *b) {
    const struct entry *first = a, *second = b;
    if (first->begin != second->begin) return first->begin < second->begin ? -1 : 1;
    if (first->end != second->end) return first->end < second->end ? -1 : 1;
    return by_name(a, b);
}

static tvlm_status check_names(const struct safetensors_file *file, struct entry *entries) {
    size_t count = (size_t)file->view.tensor_count;
    qsort(entries, count, sizeof *entries, by_name);
    for (size_t i = 1; i < count; i++)
        if (by_name(&entries[i - 1], &entries[i]) == 0)
            return unusable(file, "two tensors have the same name");
    return TVLM_OK;
}

static tvlm_status check_places(const struct safetensors_file *file, struct entry *entries) {
    size_t count = (size_t)file->view.tensor_count, filled = 0;
    qsort(entries, count, sizeof *entries, by_place);
    for (size_t i = 0; i < count; i++) {
        if (entries[i].begin != filled) return unusable(file, "its tensors overlap, or leave a gap");
        filled = entries[i].end;
    }
    return filled == file->data_size ? TVLM_OK : unusable(file, "it has bytes that belong to no tensor");
}

static bool is_aligned(const tvlm_tensor *tensor) {
    return (uintptr_t)tensor->data % tvlm_element_size(tensor->type) == 0;
}

/* Returns the bytes that a copy takes. They are rounded up, so that the next copy is aligned for any type. */
static size_t padded(const tvlm_tensor *tensor) {
    return (tensor->size + 7) / 8 * 8;
}

/* Copies the tensors that are not aligned, since the format promises no alignment. The copies take less than
 * twice the size of the file. */
static tvlm_status align_tensors(struct safetensors_file *file) {
    size_t total = 0;
    for (int32_t i = 0; i < file->view.tensor_count; i++)
        if (!is_aligned(&file->tensors[i])) total += padded(&file->tensors[i]);
    if (total == 0) return TVLM_OK;
    file->aligned = malloc(total);
    if (file->aligned == NULL) return out_of_memory(file);
    uint8_t *next = file->aligned;
    for (int32_t i = 0; i < file->view.tensor_count; i++) {
        tvlm_tensor *tensor = &file->tensors[i];
        if (is_aligned(tensor)) continue;
        memcpy(next, tensor->data, tensor->size);
        tensor->data = next;
        next += padded(tensor);
    }
    return TVLM_OK;
}

static tvlm_status keep_tensors(struct safetensors_file *file, const struct entry *entries) {
    size_t count = (size_t)file->view.tensor_count;
    file->tensors = tvlm_allocate(count, sizeof *file->tensors);
    if (file->tensors == NULL) return out_of_memory(file);
    for (size_t i = 0; i < count; i++) file->tensors[i] = entries[i].tensor;
    file->view.tensors = file->tensors;
    const tvlm_status status = align_tensors(file);
    for (size_t i = 0; status == TVLM_OK && i < count; i++) /* no two share a byte (check_places) */
        tvlm_io_from_file((void *)file->tensors[i].data, file->tensors[i].size,
                          tvlm_element_size(file->tensors[i].type));
    return status;
}

static tvlm_status read_tensors(struct safetensors_file *file) {
    struct entry *entries = tvlm_allocate((size_t)cJSON_GetArraySize(file->header), sizeof *entries);
    if (entries == NULL) return out_of_memory(file);
    tvlm_status status = read_items(file, entries);
    if (status == TVLM_OK) status = check_names(file, entries);
    if (status == TVLM_OK) status = check_places(file, entries);
    if (status == TVLM_OK) status = keep_tensors(file, entries);
    free(entries);
    return status;
}

/* ---- The handle ---- */

tvlm_status tvlm_safetensors_read(const char *path, const tvlm_log *log, tvlm_safetensors **file) {
    if (path == NULL || file == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_safetensors_read: path or file is NULL");
    struct safetensors_file *made = tvlm_allocate(1, sizeof *made);
    if (made == NULL) return tvlm_fail(log, TVLM_ERROR_MEMORY, "no memory to read %s", path);
    made->path = path;
    made->log = log;
    tvlm_status status = tvlm_io_read(path, SIZE_MAX - 2, log, &made->bytes, &made->size);
    if (status == TVLM_OK) status = parse_header(made);
    if (status == TVLM_OK) status = read_tensors(made);
    tvlm_safetensors *view = &made->view;
    if (status == TVLM_OK)
        *file = view;
    else
        tvlm_safetensors_destroy(&view);
    return status;
}

void tvlm_safetensors_destroy(tvlm_safetensors **file) {
    if (file == NULL || *file == NULL) return;
    struct safetensors_file *made = (struct safetensors_file *)(void *)*file;
    cJSON_Delete(made->header);
    free(made->aligned);
    free(made->metadata);
    free(made->tensors);
    free(made->bytes);
    free(made);
    *file = NULL;
}

const tvlm_tensor *tvlm_safetensors_find(const tvlm_safetensors *file, const char *name) {
    if (file == NULL || name == NULL) return NULL;
    for (int32_t i = 0; i < file->tensor_count; i++)
        if (strcmp(file->tensors[i].name, name) == 0) return &file->tensors[i];
    return NULL;
}

const char *tvlm_safetensors_metadata(const tvlm_safetensors *file, const char *key) {
    if (file == NULL || key == NULL) return NULL;
    for (int32_t i = 0; i < file->metadata_count; i++)
        if (strcmp(file->metadata[i].key, key) == 0) return file->metadata[i].value;
    return NULL;
}
