/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_bytes_helper.h: files that tests of pictures write byte by byte: segments of a JPEG, chunks of a PNG.
 */
#ifndef TEST_IO_BYTES_HELPER_H
#define TEST_IO_BYTES_HELPER_H

#include "io_image_helper.h"

#include "io/picture.h"

/* Bytes that are put one behind the other. */
typedef struct io_bytes {
    uint8_t at[8192];
    size_t size;
} io_bytes;

static inline void put(io_bytes *to, const void *bytes, size_t size) {
    assert_true(to->size + size <= sizeof to->at);
    if (size > 0) memcpy(to->at + to->size, bytes, size);
    to->size += size;
}

static inline void put_many(io_bytes *to, uint8_t byte, size_t count) {
    for (size_t i = 0; i < count; ++i) put(to, &byte, 1);
}

/* A number of so many bytes, the high one first. */
static inline void put_big(io_bytes *to, uint32_t value, int count) {
    for (int i = count - 1; i >= 0; --i) put_many(to, (uint8_t)(value >> 8 * i), 1);
}

/* A number of so many bytes, the low one first. */
static inline void put_low(io_bytes *to, uint32_t value, int count) {
    for (int i = 0; i < count; ++i) put_many(to, (uint8_t)(value >> 8 * i), 1);
}

/* The bytes in a block of their own, without room behind them that would hide an overrun. free() it. */
static inline uint8_t *alone(const io_bytes *bytes) {
    uint8_t *const block = malloc(bytes->size + (bytes->size == 0));
    assert_non_null(block);
    memcpy(block, bytes->at, bytes->size);
    return block;
}

/* ---- EXIF ---- */

/* A block of EXIF data that has the orientation alone. */
static inline void put_exif(io_bytes *to, uint32_t orientation) {
    put(to, "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0", 19);
    put_big(to, orientation, 1);
    put_many(to, 0, 6);
}

enum { EXIF_SIZE = 26 };

/* ---- JPEG ---- */

static inline void put_segment(io_bytes *to, int marker, const void *content, size_t size) {
    put_big(to, 0xFF00u + (uint32_t)marker, 2);
    put_big(to, (uint32_t)size + 2, 2);
    put(to, content, size);
}

static inline void put_start(io_bytes *to) {
    to->size = 0;
    put(to, "\xFF\xD8", 2);
}

/* The header of a frame. `factors` has a byte for each component: how many samples it has across and down. */
static inline void put_frame(io_bytes *to, int marker, uint32_t width, uint32_t height, const char *factors) {
    io_bytes content = {.size = 0};
    const size_t count = strlen(factors);
    put_many(&content, 8, 1);
    put_big(&content, height, 2);
    put_big(&content, width, 2);
    put_many(&content, (uint8_t)count, 1);
    for (size_t i = 0; i < count; ++i) {
        put_many(&content, (uint8_t)(i + 1), 1);
        put(&content, factors + i, 1);
        put_many(&content, 0, 1);
    }
    put_segment(to, marker, content.at, content.size);
}

/* The header of a scan of so many components, from number `first` on. */
static inline void put_scan(io_bytes *to, size_t first, size_t count) {
    io_bytes content = {.size = 0};
    put_many(&content, (uint8_t)count, 1);
    for (size_t i = 0; i < count; ++i) put_big(&content, (uint32_t)(first + i) << 8, 2);
    put(&content, "\0\x3F\0", 3);
    put_segment(to, 0xDA, content.at, content.size);
}

static inline void put_jpeg_exif(io_bytes *to, uint32_t orientation) {
    io_bytes content = {.size = 0};
    put(&content, "Exif\0\0", 6);
    put_exif(&content, orientation);
    put_segment(to, 0xE1, content.at, content.size);
}

/* ---- PNG ---- */

static inline void put_chunk_of(io_bytes *to, const char *letters, const void *content, size_t size) {
    uint32_t crc = UINT32_MAX;
    put_big(to, (uint32_t)size, 4);
    const size_t begin = to->size;
    put(to, letters, 4);
    put(to, content, size);
    for (size_t i = begin; i < to->size; ++i) {
        crc ^= to->at[i];
        for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
    }
    put_big(to, ~crc, 4);
}

/* The signature, and a header. */
static inline void put_png_start(io_bytes *to, uint32_t width, uint32_t height, uint8_t depth,
                                 uint8_t colour) {
    io_bytes content = {.size = 0};
    to->size = 0;
    put(to, "\x89PNG\r\n\x1A\n", 8);
    put_big(&content, width, 4);
    put_big(&content, height, 4);
    put_many(&content, depth, 1);
    put_many(&content, colour, 1);
    put_many(&content, 0, 3);
    put_chunk_of(to, "IHDR", content.at, content.size);
}

static inline void put_png_exif(io_bytes *to, uint32_t orientation) {
    io_bytes content = {.size = 0};
    put_exif(&content, orientation);
    put_chunk_of(to, "eXIf", content.at, content.size);
}

/* ---- Checks ---- */

/* As io_expect, of the whole line. */
static inline void expect_status(tvlm_status status, tvlm_status expected, const char *line) {
    char whole[300] = "";
    if (line != NULL) snprintf(whole, sizeof whole, "%s", line);
    io_expect(status, expected, line);
    if (line != NULL && strcmp(io_logged, whole) != 0) fail_msg("not \"%s\" but \"%s\"", whole, io_logged);
}

typedef tvlm_status check_function(const tvlm_io_source *source, tvlm_io_findings *findings);

/* What a check says of bytes, which are called "a". */
static inline tvlm_status checked(check_function *check, const io_bytes *bytes, tvlm_io_findings *findings) {
    uint8_t *const block = alone(bytes);
    const tvlm_io_source source = {.path = "a", .log = &io_log, .bytes = block, .size = bytes->size};
    const tvlm_status status = check(&source, findings);
    free(block);
    return status;
}

#endif
