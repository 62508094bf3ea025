/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "core/check.h"
#include "core/memory.h"
#include "io/decoders.h"
#include "io/io_file.h"
#include "platform/file.h"

struct loaded {
    tvlm_image image; /* first, so that a pointer to it is also one to the whole struct */
    void *block;
};

static tvlm_status decode_known(const tvlm_io_source *source, const tvlm_io_decoder *decoder,
                                tvlm_io_picture *picture) {
    tvlm_io_findings findings = {.orientation = 1};
    tvlm_status status = decoder->check != NULL ? decoder->check(source, &findings) : TVLM_OK;
    if (status == TVLM_OK) status = decoder->decode(source, &findings, picture);
    if (status == TVLM_OK) status = tvlm_io_orient(source, findings.orientation, picture);
    if (status != TVLM_OK) tvlm_io_picture_release(picture);
    return status;
}

/* Writes the names of the formats that can be read into `text`, with commas between them. */
static const char *list_formats(char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (const tvlm_io_decoder *decoder = tvlm_io_decoders; decoder->format != NULL; decoder++) {
        if (decoder->decode == NULL || used >= size) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", decoder->format);
    }
    return text;
}

static tvlm_status find(const tvlm_io_source *source, const tvlm_io_decoder **decoder) {
    char formats[200];
    if (source->size == 0) return tvlm_fail(source->log, TVLM_ERROR_FORMAT, "%s is empty", source->path);
    *decoder = tvlm_io_find_decoder(source);
    if (*decoder == NULL)
        return tvlm_fail(source->log, TVLM_ERROR_FORMAT, "%s is not an image: unknown type (read are: %s)",
                         source->path, list_formats(formats, sizeof formats));
    if ((*decoder)->decode == NULL)
        return tvlm_fail(source->log, TVLM_ERROR_UNSUPPORTED,
                         "%s is %s, which is not supported (read are: %s)", source->path, (*decoder)->format,
                         list_formats(formats, sizeof formats));
    return TVLM_OK;
}

static tvlm_status too_large(const tvlm_log *log, const char *path, uint64_t needed, uint64_t limit) {
    return tvlm_fail(log, TVLM_ERROR_MEMORY,
                     "%s takes %.1f MiB of memory to read and decode, and the limit is %.1f MiB", path,
                     (double)needed / (1 << 20), (double)limit / (1 << 20));
}

/* Decodes the picture. If there is a limit of memory, the picture must not take more than its header says,
 * nor more than source->memory. `limit` is only for messages: it includes the memory that is taken
 * already. */
static tvlm_status decode(tvlm_io_source *source, uint64_t limit, tvlm_io_picture *picture) {
    const tvlm_io_decoder *decoder;
    tvlm_io_extent extent = {0};
    const tvlm_status status = find(source, &decoder);
    if (status != TVLM_OK) return status;
    if (limit != 0) {
        decoder->measure(source, &extent);
        if (extent.memory > source->memory)
            return too_large(source->log, source->path, extent.memory + limit - source->memory, limit);
        source->memory = extent.memory > 0 ? extent.memory : 1;
    }
    return decode_known(source, decoder, picture);
}

tvlm_status tvlm_io_picture_wrap(const tvlm_io_source *source, const tvlm_io_picture *picture,
                                 tvlm_image **image) {
    struct loaded *loaded = tvlm_allocate(1, sizeof *loaded);
    if (loaded == NULL) {
        free(picture->block);
        return tvlm_fail(source->log, TVLM_ERROR_MEMORY, "no memory for %s", source->path);
    }
    loaded->block = picture->block;
    loaded->image.pixels = picture->pixels;
    loaded->image.width = picture->width;
    loaded->image.height = picture->height;
    loaded->image.channels = picture->channels;
    loaded->image.type = picture->type;
    loaded->image.of_width = picture->of_width;
    loaded->image.of_height = picture->of_height;
    *image = &loaded->image;
    return TVLM_OK;
}

static tvlm_status check(const struct tvlm_image_load_params *params, const char *path, const void *other) {
    const tvlm_log *const log = params != NULL ? params->log : NULL;
    if (path == NULL || other == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_image_load: path, bytes or image is NULL");
    TVLM_CHECK_RESERVED(log, tvlm_image_load_params, params);
    if (params != NULL && params->max_side < 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "sides of at most %d pixels", (int)params->max_side);
    return TVLM_OK;
}

static tvlm_io_source source_of(const char *path, const struct tvlm_image_load_params *params) {
    static const struct tvlm_image_load_params defaults = {0};
    if (params == NULL) params = &defaults;
    return (tvlm_io_source){
        .path = path, .log = params->log, .max_side = params->max_side, .memory = params->memory};
}

/* Refuses to read an ordinary file whose size alone exceeds the limit. */
static tvlm_status check_size(const tvlm_io_source *source) {
    tvlm_file_facts facts;
    if (source->memory == 0 || !tvlm_path_facts(source->path, &facts) || !facts.ordinary ||
        facts.size < source->memory)
        return TVLM_OK;
    return too_large(source->log, source->path, facts.size, source->memory);
}

tvlm_status tvlm_image_load_for(const char *path, const struct tvlm_image_load_params *params,
                                tvlm_image **image) {
    uint8_t *bytes;
    tvlm_io_picture picture = {0};
    tvlm_status status = check(params, path, image);
    if (status != TVLM_OK) return status;
    tvlm_io_source source = source_of(path, params);
    const uint64_t limit = source.memory;
    status = check_size(&source);
    if (status != TVLM_OK) return status;
    const size_t most = limit != 0 && limit < TVLM_IO_FILE_MAX ? (size_t)limit : TVLM_IO_FILE_MAX;
    status = tvlm_io_read(path, most, source.log, &bytes, &source.size);
    if (status != TVLM_OK) return status;
    source.bytes = bytes;
    if (limit != 0) source.memory = limit > source.size ? limit - source.size : 1;
    status = decode(&source, limit, &picture);
    free(bytes);
    return status == TVLM_OK ? tvlm_io_picture_wrap(&source, &picture, image) : status;
}

tvlm_status tvlm_image_load_bytes(const void *bytes, size_t size, const char *name,
                                  const struct tvlm_image_load_params *params, tvlm_image **image) {
    tvlm_io_picture picture = {0};
    tvlm_status status = check(params, name, image != NULL ? bytes : NULL);
    if (status != TVLM_OK) return status;
    tvlm_io_source source = source_of(name, params);
    if (size > TVLM_IO_FILE_MAX)
        return tvlm_fail(source.log, TVLM_ERROR_UNSUPPORTED, "%s has more than %zu bytes", name,
                         TVLM_IO_FILE_MAX);
    source.bytes = bytes;
    source.size = size;
    status = decode(&source, source.memory, &picture);
    return status == TVLM_OK ? tvlm_io_picture_wrap(&source, &picture, image) : status;
}

tvlm_status tvlm_image_measure(const void *bytes, size_t size, bool whole, const char *name,
                               const struct tvlm_image_load_params *params, tvlm_image_info *info) {
    const tvlm_io_decoder *decoder;
    tvlm_io_extent extent = {0};
    tvlm_status status = check(params, name, info != NULL ? bytes : NULL);
    if (status != TVLM_OK) return status;
    tvlm_io_source source = source_of(name, params);
    source.bytes = bytes;
    source.size = size;
    source.part = !whole;
    status = find(&source, &decoder);
    if (status != TVLM_OK) return status;
    decoder->measure(&source, &extent);
    *info = (tvlm_image_info){.width = (int32_t)(extent.width < INT32_MAX ? extent.width : INT32_MAX),
                              .height = (int32_t)(extent.height < INT32_MAX ? extent.height : INT32_MAX),
                              .memory = extent.memory,
                              .format = decoder->format};
    return TVLM_OK;
}

tvlm_status tvlm_image_load(const char *path, const tvlm_log *log, tvlm_image **image) {
    return tvlm_image_load_for(path, tvlm_image_load_params(.log = log), image);
}

void tvlm_image_destroy(tvlm_image **image) {
    if (image == NULL || *image == NULL) return;
    struct loaded *loaded = (struct loaded *)(void *)*image;
    free(loaded->block);
    free(loaded);
    *image = NULL;
}
