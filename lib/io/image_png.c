/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_png.c: checks that a PNG is complete and its pixel data undamaged, and finds its depth and
 * orientation.
 *
 * A chunk is a length, four letters, the content, and the CRC-32 of letters and content (PNG specification,
 * 5.3).
 */
#include <string.h>

#include "core/memory.h"
#include "io/exif.h"
#include "io/picture.h"

enum { signature_size = 8, chunk_overhead = 12, header_size = 13 };

struct chunk {
    char letters[5]; /* ends with a zero */
    const uint8_t *content;
    size_t size;
};

struct walk {
    const tvlm_io_source *source;
    size_t at;
    uint32_t crc_table[256];
    bool checks_sums;
    bool has_header, has_pixels;
    tvlm_io_findings findings;
};

static tvlm_status damaged(const struct walk *walk, const char *what) {
    return tvlm_fail(walk->source->log, TVLM_ERROR_FORMAT, "%s is a damaged PNG: %s", walk->source->path,
                     what);
}

static void make_crc_table(uint32_t table[256]) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
        table[i] = crc;
    }
}

static uint32_t checksum(const uint32_t table[256], const uint8_t *bytes, size_t size) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 255];
    return crc ^ UINT32_MAX;
}

/* A small first letter marks a chunk that a reader may ignore, so that damage in it does not matter. */
static bool is_critical(const struct chunk *chunk) {
    return (chunk->letters[0] & 32) == 0;
}

static tvlm_status next_chunk(struct walk *walk, struct chunk *chunk) {
    const tvlm_io_source *source = walk->source;
    size_t left = source->size - walk->at;
    const uint8_t *bytes = source->bytes + walk->at;
    uint32_t size = left >= chunk_overhead ? tvlm_io_be32(bytes) : 0;
    if (size > INT32_MAX) return damaged(walk, "a chunk's length is out of range");
    if (left < chunk_overhead || left - chunk_overhead < size)
        return tvlm_fail(source->log, TVLM_ERROR_FORMAT,
                         "%s is a truncated PNG: it ends after %zu bytes without an end chunk", source->path,
                         source->size);
    memcpy(chunk->letters, bytes + 4, 4);
    chunk->letters[4] = 0;
    chunk->content = bytes + 8;
    chunk->size = size;
    walk->at += size + chunk_overhead;
    if (walk->checks_sums && is_critical(chunk) &&
        checksum(walk->crc_table, bytes + 4, size + 4u) != tvlm_io_be32(chunk->content + size))
        return damaged(walk, "a chunk's checksum is wrong");
    return TVLM_OK;
}

/*
 * Sets the size of the largest block that stb_image needs for such a PNG. stb_image makes room for the
 * inflated data, and doubles it if an interlaced picture takes more. It also doubles the room for the
 * compressed data. The pixels have at most four channels.
 */
static void find_largest(struct walk *walk, uint64_t width, uint64_t height, size_t channels, uint8_t depth) {
    const uint64_t inflated = 2 * ((width * depth + 7) / 8 * channels + 1) * height;
    const uint64_t compressed = 2 * (uint64_t)walk->source->size + 4096;
    const uint64_t pixels = width * height * 4 * (depth == 16 ? 2 : 1);
    uint64_t largest = inflated > compressed ? inflated : compressed;
    if (pixels > largest) largest = pixels;
    walk->findings.largest = largest < SIZE_MAX ? (size_t)largest : SIZE_MAX;
}

static tvlm_status read_header(struct walk *walk, const struct chunk *chunk) {
    static const size_t channels[] = {1, 0, 3, 4, 2, 0, 4}; /* by colour type; a palette gets 3 or 4 */
    if (chunk->size != header_size) return damaged(walk, "its header has a wrong length");
    uint32_t width = tvlm_io_be32(chunk->content), height = tvlm_io_be32(chunk->content + 4);
    uint8_t depth = chunk->content[8], color = chunk->content[9];
    size_t samples;
    if (color > 6 || channels[color] == 0) return damaged(walk, "its colour type is unknown");
    if (width == 0 || height == 0) return damaged(walk, "it has no pixels");
    if (width > TVLM_IO_SIDE_MAX || height > TVLM_IO_SIDE_MAX || !tvlm_multiply(width, height, &samples) ||
        !tvlm_multiply(samples, channels[color], &samples) || samples > TVLM_IO_PNG_SAMPLES_MAX ||
        samples * (depth == 16 ? 2u : 1u) > TVLM_IO_PIXELS_MAX)
        return tvlm_fail(walk->source->log, TVLM_ERROR_UNSUPPORTED, "%s is too large: %lu x %lu pixels",
                         walk->source->path, (unsigned long)width, (unsigned long)height);
    walk->has_header = true;
    walk->findings.sixteen_bits = depth == 16;
    find_largest(walk, width, height, channels[color], depth);
    return TVLM_OK;
}

static tvlm_status read_chunk(struct walk *walk, const struct chunk *chunk) {
    bool is_header = strcmp(chunk->letters, "IHDR") == 0;
    if (is_header == walk->has_header) return damaged(walk, "it does not begin with its one header");
    if (is_header) return read_header(walk, chunk);
    if (strcmp(chunk->letters, "IDAT") == 0) walk->has_pixels = true;
    if (strcmp(chunk->letters, "eXIf") == 0)
        walk->findings.orientation = tvlm_io_exif_orientation(chunk->content, chunk->size);
    return TVLM_OK;
}

static tvlm_status check(const tvlm_io_source *source, bool checks_sums, tvlm_io_findings *findings) {
    struct walk walk = {
        .source = source, .at = signature_size, .checks_sums = checks_sums, .findings.orientation = 1};
    struct chunk chunk;
    if (checks_sums) make_crc_table(walk.crc_table);
    do {
        tvlm_status status = next_chunk(&walk, &chunk);
        if (status == TVLM_OK) status = read_chunk(&walk, &chunk);
        if (status != TVLM_OK) return status;
    } while (strcmp(chunk.letters, "IEND") != 0);
    if (!walk.has_pixels) return damaged(&walk, "it has no pixel data");
    *findings = walk.findings;
    return TVLM_OK;
}

tvlm_status tvlm_io_check_png(const tvlm_io_source *source, tvlm_io_findings *findings) {
    return check(source, true, findings);
}

tvlm_status tvlm_io_check_png_parts(const tvlm_io_source *source, tvlm_io_findings *findings) {
    return check(source, false, findings);
}
