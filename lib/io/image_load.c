/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "core/check.h"
#include "core/memory.h"
#include "io/decoders.h"
#include "io/io_file.h"

struct loaded {
    tvlm_image image; /* first, so that a pointer to it is one to all */
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

/* Puts the names of the formats that are read into `text`, with commas between. */
static const char *list_formats(char *text, size_t size) {
    size_t used = 0;
    text[0] = '\0';
    for (const tvlm_io_decoder *decoder = tvlm_io_decoders; decoder->format != NULL; decoder++) {
        if (decoder->decode == NULL || used >= size) continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", decoder->format);
    }
    return text;
}

static tvlm_status decode(const tvlm_io_source *source, tvlm_io_picture *picture) {
    char formats[200];
    if (source->size == 0) return tvlm_fail(source->log, TVLM_ERROR_FORMAT, "%s is empty", source->path);
    const tvlm_io_decoder *decoder = tvlm_io_find_decoder(source);
    if (decoder == NULL)
        return tvlm_fail(source->log, TVLM_ERROR_FORMAT, "%s is not an image: unknown type (read are: %s)",
                         source->path, list_formats(formats, sizeof formats));
    if (decoder->decode == NULL)
        return tvlm_fail(source->log, TVLM_ERROR_UNSUPPORTED,
                         "%s is %s, which is not supported (read are: %s)", source->path, decoder->format,
                         list_formats(formats, sizeof formats));
    return decode_known(source, decoder, picture);
}

static tvlm_status wrap(const tvlm_io_source *source, const tvlm_io_picture *picture, tvlm_image **image) {
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

tvlm_status tvlm_image_load_for(const char *path, const struct tvlm_image_load_params *params,
                                tvlm_image **image) {
    static const struct tvlm_image_load_params defaults = {0};
    const tvlm_log *const log = params != NULL ? params->log : NULL;
    uint8_t *bytes;
    tvlm_io_source source = {.path = path, .log = log};
    tvlm_io_picture picture = {0};
    if (params == NULL) params = &defaults;
    if (path == NULL || image == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_image_load: path or image is NULL");
    TVLM_CHECK_RESERVED(log, tvlm_image_load_params, params);
    if (params->max_side < 0)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "sides of at most %d pixels", (int)params->max_side);
    source.max_side = params->max_side;
    tvlm_status status = tvlm_io_read(path, TVLM_IO_FILE_MAX, log, &bytes, &source.size);
    if (status != TVLM_OK) return status;
    source.bytes = bytes;
    status = decode(&source, &picture);
    free(bytes);
    return status == TVLM_OK ? wrap(&source, &picture, image) : status;
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
