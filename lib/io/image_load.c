/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "io/io_file.h"
#include "io/picture.h"

struct loaded {
    tvlm_image image; /* first, so that a pointer to it is one to all */
    void *block;
};

enum format { FORMAT_JPEG, FORMAT_PNG, FORMAT_BMP, FORMAT_PNM, FORMAT_OTHER };

struct signature {
    enum format format;
    const char *name;
    size_t offset, size;
    const char *bytes;
};

/* The formats that are read, and those that people try to read. */
static const struct signature signatures[] = {
    {FORMAT_JPEG, "JPEG", 0, 3, "\xFF\xD8\xFF"},
    {FORMAT_PNG, "PNG", 0, 8, "\x89PNG\r\n\x1A\n"},
    {FORMAT_BMP, "BMP", 0, 2, "BM"},
    {FORMAT_PNM, "PGM", 0, 2, "P2"},
    {FORMAT_PNM, "PPM", 0, 2, "P3"},
    {FORMAT_PNM, "PGM", 0, 2, "P5"},
    {FORMAT_PNM, "PPM", 0, 2, "P6"},
    {FORMAT_OTHER, "GIF", 0, 4, "GIF8"},
    {FORMAT_OTHER, "WebP", 8, 4, "WEBP"},
    {FORMAT_OTHER, "TIFF", 0, 4, "II*\0"},
    {FORMAT_OTHER, "TIFF", 0, 4, "MM\0*"},
    {FORMAT_OTHER, "HEIF or AVIF", 4, 4, "ftyp"},
    {FORMAT_OTHER, "JPEG XL", 0, 2, "\xFF\x0A"},
    {FORMAT_OTHER, "JPEG XL", 4, 4, "JXL "},
    {FORMAT_OTHER, "JPEG 2000", 4, 4, "jP  "},
    {FORMAT_OTHER, "PDF", 0, 4, "%PDF"},
    {FORMAT_OTHER, "OpenEXR", 0, 4, "\x76\x2F\x31\x01"},
};

static const struct signature *recognise(const tvlm_io_source *source) {
    for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++) {
        const struct signature *candidate = &signatures[i];
        if (source->size >= candidate->offset + candidate->size &&
            memcmp(source->bytes + candidate->offset, candidate->bytes, candidate->size) == 0)
            return candidate;
    }
    return NULL;
}

static tvlm_status decode_known(const tvlm_io_source *source, enum format format, tvlm_io_picture *picture) {
    tvlm_io_findings findings = {.orientation = 1};
    tvlm_status status = TVLM_OK;
    if (format == FORMAT_PNM) return tvlm_io_decode_pnm(source, picture);
    if (format == FORMAT_JPEG) status = tvlm_io_check_jpeg(source, &findings);
    if (format == FORMAT_PNG) status = tvlm_io_check_png(source, &findings);
    if (format == FORMAT_BMP) status = tvlm_io_check_bmp(source);
    if (status == TVLM_OK) status = tvlm_io_decode_stb(source, &findings, picture);
    if (status != TVLM_OK) return status;
    status = tvlm_io_orient(source, findings.orientation, picture);
    if (status != TVLM_OK) free(picture->block);
    return status;
}

static tvlm_status decode(const tvlm_io_source *source, tvlm_io_picture *picture) {
    if (source->size == 0) return tvlm_fail(source->log, TVLM_ERROR_FORMAT, "%s is empty", source->path);
    const struct signature *signature = recognise(source);
    if (signature == NULL)
        return tvlm_fail(source->log, TVLM_ERROR_FORMAT,
                         "%s is not an image: unknown type (JPEG, PNG, BMP, PPM and PGM are read)",
                         source->path);
    if (signature->format == FORMAT_OTHER)
        return tvlm_fail(source->log, TVLM_ERROR_UNSUPPORTED,
                         "%s is %s, which is not supported (JPEG, PNG, BMP, PPM and PGM are)", source->path,
                         signature->name);
    return decode_known(source, signature->format, picture);
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
    *image = &loaded->image;
    return TVLM_OK;
}

tvlm_status tvlm_image_load(const char *path, const tvlm_log *log, tvlm_image **image) {
    uint8_t *bytes;
    tvlm_io_source source = {.path = path, .log = log};
    tvlm_io_picture picture = {0};
    if (path == NULL || image == NULL)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "tvlm_image_load: path or image is NULL");
    tvlm_status status = tvlm_io_read(path, TVLM_IO_FILE_MAX, log, &bytes, &source.size);
    if (status != TVLM_OK) return status;
    source.bytes = bytes;
    status = decode(&source, &picture);
    free(bytes);
    return status == TVLM_OK ? wrap(&source, &picture, image) : status;
}

void tvlm_image_destroy(tvlm_image **image) {
    if (image == NULL || *image == NULL) return;
    struct loaded *loaded = (struct loaded *)(void *)*image;
    free(loaded->block);
    free(loaded);
    *image = NULL;
}
