/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_pnm.c: decodes PPM and PGM.
 *
 * A file begins with "P2" or "P3" if its samples are text, and with "P5" or "P6" if they are binary. Width,
 * height and the largest value follow as text, with comments between them, and then one blank and the
 * samples. A binary sample has one byte or, if the largest value is above 255, two bytes, with the high byte
 * first.
 */
#include "io/picture.h"

#include <stdlib.h>

#include "core/memory.h"

struct reader {
    const tvlm_io_source *source;
    size_t at;
    bool text;
    uint32_t largest;
    size_t samples; /* width * height * channels */
};

static tvlm_status damaged(const struct reader *reader, const char *what) {
    return tvlm_fail(reader->source->log, TVLM_ERROR_FORMAT, "%s is a damaged PPM or PGM: %s",
                     reader->source->path, what);
}

static tvlm_status truncated(const struct reader *reader) {
    return tvlm_fail(reader->source->log, TVLM_ERROR_FORMAT,
                     "%s is a truncated PPM or PGM: it ends after %zu bytes", reader->source->path,
                     reader->source->size);
}

static bool is_blank(uint8_t byte) {
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* Skips blanks, and comments from # to the end of their line. */
static void skip_blanks(struct reader *reader) {
    const uint8_t *bytes = reader->source->bytes;
    size_t size = reader->source->size;
    while (reader->at < size && (is_blank(bytes[reader->at]) || bytes[reader->at] == '#')) {
        if (bytes[reader->at] == '#')
            while (reader->at < size && bytes[reader->at] != '\n' && bytes[reader->at] != '\r') reader->at++;
        else
            reader->at++;
    }
}

/* Reads a decimal number of at most eight digits, which is more than any limit here needs. */
static bool read_number(struct reader *reader, uint32_t *number) {
    const uint8_t *bytes = reader->source->bytes;
    size_t digits = 0;
    skip_blanks(reader);
    *number = 0;
    while (reader->at < reader->source->size && bytes[reader->at] >= '0' && bytes[reader->at] <= '9') {
        if (++digits > 8) return false;
        *number = *number * 10 + (uint32_t)(bytes[reader->at++] - '0');
    }
    return digits > 0;
}

static tvlm_status read_header(struct reader *reader, tvlm_io_picture *picture) {
    uint32_t width, height;
    uint8_t kind = reader->source->bytes[1];
    reader->at = 2;
    reader->text = kind == '2' || kind == '3';
    picture->channels = kind == '3' || kind == '6' ? 3 : 1;
    if (!read_number(reader, &width) || !read_number(reader, &height) ||
        !read_number(reader, &reader->largest))
        return damaged(reader, "its header does not hold three numbers");
    if (reader->at >= reader->source->size) return truncated(reader);
    if (!is_blank(reader->source->bytes[reader->at]))
        return damaged(reader, "its header does not end with a blank");
    reader->at++;
    if (width == 0 || height == 0) return damaged(reader, "it has no pixels");
    if (reader->largest == 0 || reader->largest > 65535)
        return damaged(reader, "its largest value is not in 1..65535");
    if (width > TVLM_IO_SIDE_MAX || height > TVLM_IO_SIDE_MAX)
        return damaged(reader, "its size is out of range");
    picture->width = (int32_t)width;
    picture->height = (int32_t)height;
    picture->type = reader->largest > 255 ? TVLM_PIXEL_U16 : TVLM_PIXEL_U8;
    return TVLM_OK;
}

/*
 * Refuses a picture that is larger than the file can hold, before memory is allocated for it. A sample of
 * text takes at least two bytes, except for the last one.
 */
static tvlm_status check_size(struct reader *reader, const tvlm_io_picture *picture) {
    size_t left = reader->source->size - reader->at, sample = picture->type == TVLM_PIXEL_U16 ? 2 : 1, needed;
    if (!tvlm_multiply((size_t)picture->width, (size_t)picture->height, &reader->samples) ||
        !tvlm_multiply(reader->samples, (size_t)picture->channels, &reader->samples) ||
        !tvlm_multiply(reader->samples, sample, &needed) || needed > TVLM_IO_PIXELS_MAX)
        return tvlm_fail(reader->source->log, TVLM_ERROR_UNSUPPORTED, "%s is too large: %d x %d pixels",
                         reader->source->path, (int)picture->width, (int)picture->height);
    if (reader->text ? reader->samples > left / 2 + 1 : needed > left) return truncated(reader);
    return TVLM_OK;
}

static bool read_sample(struct reader *reader, uint32_t *value) {
    const uint8_t *next = reader->source->bytes + reader->at;
    if (reader->text) return read_number(reader, value);
    *value = reader->largest > 255 ? tvlm_io_be16(next) : *next;
    reader->at += reader->largest > 255 ? 2 : 1;
    return true;
}

static tvlm_status read_samples(struct reader *reader, tvlm_io_picture *picture) {
    bool wide = picture->type == TVLM_PIXEL_U16;
    uint32_t full = wide ? 65535 : 255, value;
    for (size_t i = 0; i < reader->samples; i++) {
        if (!read_sample(reader, &value))
            return reader->at < reader->source->size ? damaged(reader, "a sample is not a number")
                                                     : truncated(reader);
        if (value > reader->largest) value = reader->largest;
        value = (value * full + reader->largest / 2) / reader->largest;
        if (wide)
            ((uint16_t *)picture->block)[i] = (uint16_t)value;
        else
            picture->pixels[i] = (uint8_t)value;
    }
    return TVLM_OK;
}

void tvlm_io_measure_pnm(const tvlm_io_source *source, tvlm_io_extent *extent) {
    tvlm_io_source silent = *source;
    struct reader reader = {.source = &silent};
    tvlm_io_picture picture = {0};
    silent.log = NULL;
    if (read_header(&reader, &picture) != TVLM_OK) return;
    extent->width = (uint32_t)picture.width;
    extent->height = (uint32_t)picture.height;
    extent->memory =
        tvlm_io_extent_bytes(extent, (uint64_t)picture.channels * (picture.type == TVLM_PIXEL_U16 ? 2 : 1));
}

tvlm_status tvlm_io_decode_pnm(const tvlm_io_source *source, tvlm_io_picture *picture) {
    struct reader reader = {.source = source};
    tvlm_status status = read_header(&reader, picture);
    if (status == TVLM_OK) status = check_size(&reader, picture);
    if (status != TVLM_OK) return status;
    picture->block = tvlm_allocate(reader.samples, picture->type == TVLM_PIXEL_U16 ? 2 : 1);
    if (picture->block == NULL)
        return tvlm_fail(source->log, TVLM_ERROR_MEMORY, "no memory for the pixels of %s", source->path);
    picture->pixels = picture->block;
    return read_samples(&reader, picture);
}
