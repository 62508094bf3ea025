/* SPDX-License-Identifier: Apache-2.0 */
#include <cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "core/check.h"
#include "core/memory.h"
#include "io/element.h"
#include "io/io_file.h"
#include "io/order.h"
#include "io/utf8.h"

/* A tensor that is to be written. The members of its tvlm_tensor are valid, and `size` is computed from its
 * shape. */
struct entry {
    const tvlm_tensor *tensor;
    size_t size, begin;
    int32_t index; /* its index in the caller's list */
};

struct job {
    const char *path;
    const tvlm_log *log;
    struct entry *entries; /* in the order of the file */
    int32_t count;
    const tvlm_metadata *metadata;
    int32_t metadata_count;
};

static tvlm_status out_of_memory(const struct job *job) {
    return tvlm_fail(job->log, TVLM_ERROR_MEMORY, "no memory to write %s", job->path);
}

/* ---- What the caller hands in ---- */

static int by_string(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Refuses names if two of them are equal. Sorts `names`. */
static tvlm_status check_distinct(const struct job *job, const char **names, int32_t count) {
    qsort(names, (size_t)count, sizeof *names, by_string);
    for (int32_t i = 1; i < count; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            return tvlm_fail(job->log, TVLM_ERROR_ARGUMENT, "%s: the name \"%.200s\" occurs twice", job->path,
                             names[i]);
    return TVLM_OK;
}

static tvlm_status check_names(const struct job *job) {
    int32_t most = job->count > job->metadata_count ? job->count : job->metadata_count;
    const char **names = tvlm_allocate((size_t)most, sizeof *names);
    if (names == NULL) return out_of_memory(job);
    for (int32_t i = 0; i < job->count; i++) names[i] = job->entries[i].tensor->name;
    tvlm_status status = check_distinct(job, names, job->count);
    for (int32_t i = 0; i < job->metadata_count; i++) names[i] = job->metadata[i].key;
    if (status == TVLM_OK) status = check_distinct(job, names, job->metadata_count);
    free(names);
    return status;
}

static tvlm_status check_tensor(const struct job *job, const tvlm_tensor *tensor, size_t *size) {
    size_t elements;
    TVLM_CHECK_RESERVED(job->log, tvlm_tensor, tensor);
    if (tensor->name == NULL || strcmp(tensor->name, "__metadata__") == 0)
        return tvlm_fail(job->log, TVLM_ERROR_ARGUMENT, "%s: a tensor's name is NULL or __metadata__",
                         job->path);
    if (!tvlm_io_is_utf8(tensor->name, strlen(tensor->name)))
        return tvlm_fail(job->log, TVLM_ERROR_ARGUMENT, "%s: the name of a tensor is not UTF-8", job->path);
    tvlm_status status = tvlm_io_check_shape(job->log, tensor->name, tensor->type, tensor->rank,
                                             tensor->shape, &elements, size);
    if (status == TVLM_OK && *size > 0 && tensor->data == NULL)
        return tvlm_fail(job->log, TVLM_ERROR_ARGUMENT, "%s: tensor \"%.200s\": data is NULL", job->path,
                         tensor->name);
    return status;
}

static tvlm_status check_metadata(const struct job *job) {
    for (int32_t i = 0; i < job->metadata_count; i++) {
        const tvlm_metadata *pair = &job->metadata[i];
        if (pair->key == NULL || pair->value == NULL)
            return tvlm_fail(job->log, TVLM_ERROR_ARGUMENT, "%s: a key or a value of the metadata is NULL",
                             job->path);
        if (!tvlm_io_is_utf8(pair->key, strlen(pair->key)) ||
            !tvlm_io_is_utf8(pair->value, strlen(pair->value)))
            return tvlm_fail(job->log, TVLM_ERROR_ARGUMENT,
                             "%s: a key or a value of the metadata is not UTF-8", job->path);
    }
    return TVLM_OK;
}

/* ---- Where each tensor goes ---- */

static int by_width(const void *a, const void *b) {
    const struct entry *first = a, *second = b;
    size_t one = tvlm_element_size(first->tensor->type), other = tvlm_element_size(second->tensor->type);
    if (one != other) return one > other ? -1 : 1;
    return first->index < second->index ? -1 : 1;
}

static tvlm_status plan(struct job *job, const tvlm_tensor *tensors) {
    size_t total = 0;
    tvlm_status status = check_metadata(job);
    for (int32_t i = 0; i < job->count && status == TVLM_OK; i++) {
        job->entries[i].tensor = &tensors[i];
        job->entries[i].index = i;
        status = check_tensor(job, &tensors[i], &job->entries[i].size);
    }
    if (status == TVLM_OK) status = check_names(job);
    if (status != TVLM_OK) return status;
    qsort(job->entries, (size_t)job->count, sizeof *job->entries, by_width);
    for (int32_t i = 0; i < job->count; i++) {
        if (job->entries[i].size > INT64_MAX / 2 - total)
            return tvlm_fail(job->log, TVLM_ERROR_ARGUMENT, "%s: the tensors are too large", job->path);
        job->entries[i].begin = total;
        total += job->entries[i].size;
    }
    return TVLM_OK;
}

/* ---- The header ---- */

static bool add_number(cJSON *list, uint64_t value) {
    cJSON *number = cJSON_CreateNumber((double)value);
    return number != NULL && cJSON_AddItemToArray(list, number);
}

static bool add_tensor(cJSON *header, const struct entry *entry) {
    const tvlm_tensor *tensor = entry->tensor;
    cJSON *object = cJSON_AddObjectToObject(header, tensor->name);
    if (object == NULL ||
        cJSON_AddStringToObject(object, "dtype", tvlm_io_safetensors_name(tensor->type)) == NULL)
        return false;
    cJSON *shape = cJSON_AddArrayToObject(object, "shape");
    if (shape == NULL) return false;
    for (int32_t i = 0; i < tensor->rank; i++)
        if (!add_number(shape, (uint64_t)tensor->shape[i])) return false;
    cJSON *offsets = cJSON_AddArrayToObject(object, "data_offsets");
    return offsets != NULL && add_number(offsets, entry->begin) &&
           add_number(offsets, entry->begin + entry->size);
}

static bool fill_header(const struct job *job, cJSON *header) {
    cJSON *map = job->metadata_count > 0 ? cJSON_AddObjectToObject(header, "__metadata__") : NULL;
    if (map == NULL && job->metadata_count > 0) return false;
    for (int32_t i = 0; i < job->metadata_count; i++)
        if (cJSON_AddStringToObject(map, job->metadata[i].key, job->metadata[i].value) == NULL) return false;
    for (int32_t i = 0; i < job->count; i++)
        if (!add_tensor(header, &job->entries[i])) return false;
    return true;
}

/* Returns the header as text, which cJSON_free() releases, or NULL if there is no memory. */
static char *print_header(const struct job *job) {
    cJSON *header = cJSON_CreateObject();
    char *text = header != NULL && fill_header(job, header) ? cJSON_PrintUnformatted(header) : NULL;
    cJSON_Delete(header);
    return text;
}

/* ---- The file ---- */

/* Writes the length, the text, and blanks up to a multiple of eight. */
static tvlm_status write_header(tvlm_io_output *output, const char *text) {
    size_t length = strlen(text), padding = (8 - length % 8) % 8;
    uint8_t prelude[8];
    for (int i = 0; i < 8; i++) prelude[i] = (uint8_t)((uint64_t)(length + padding) >> (8 * i));
    tvlm_status status = tvlm_io_output_write(output, prelude, sizeof prelude);
    if (status == TVLM_OK) status = tvlm_io_output_write(output, text, length);
    if (status == TVLM_OK) status = tvlm_io_output_write(output, "       ", padding);
    return status;
}

static tvlm_status write_file(const struct job *job, const char *header) {
    tvlm_io_output *output;
    tvlm_status status = tvlm_io_output_open(job->path, job->log, &output);
    if (status != TVLM_OK) return status;
    status = write_header(output, header);
    for (int32_t i = 0; i < job->count && status == TVLM_OK; i++)
        status = tvlm_io_output_elements(output, job->entries[i].tensor->data, job->entries[i].size,
                                         tvlm_element_size(job->entries[i].tensor->type));
    return tvlm_io_output_commit(&output); /* it reports a write that has failed */
}

static tvlm_status run(struct job *job, const tvlm_tensor *tensors) {
    tvlm_status status = plan(job, tensors);
    if (status != TVLM_OK) return status;
    char *header = print_header(job);
    if (header == NULL) return out_of_memory(job);
    status = write_file(job, header);
    cJSON_free(header);
    return status;
}

tvlm_status tvlm_safetensors_write(const char *path, const tvlm_tensor *tensors, int32_t count,
                                   const tvlm_metadata *metadata, int32_t metadata_count,
                                   const tvlm_log *log) {
    struct job job = {
        .path = path, .log = log, .count = count, .metadata = metadata, .metadata_count = metadata_count};
    if (path == NULL || count < 0 || metadata_count < 0 || (count > 0 && tensors == NULL) ||
        (metadata_count > 0 && metadata == NULL))
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT,
                         "tvlm_safetensors_write: an argument is NULL, or a count negative");
    job.entries = tvlm_allocate((size_t)count, sizeof *job.entries);
    if (job.entries == NULL) return out_of_memory(&job);
    tvlm_status status = run(&job, tensors);
    free(job.entries);
    return status;
}
