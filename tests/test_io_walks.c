/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk through a picture file before it is decoded: what it accepts to the byte, what it refuses in which words, and what
 * it finds on its way. Both sides of each limit.
 */
#include "io_bytes_helper.h"

#include "io/decoders.h"

static void expect_status(tvlm_status status, tvlm_status expected, const char *line) {
    char whole[300] = "";
    if (line != NULL) snprintf(whole, sizeof whole, "%s", line);
    io_expect(status, expected, line);
    if (line != NULL && strcmp(io_logged, whole) != 0) fail_msg("not \"%s\" but \"%s\"", whole, io_logged);
}

/* ---- PNG ---- */

typedef tvlm_status check_function(const tvlm_io_source *source, tvlm_io_findings *findings);

/* What a check says of bytes, which are called "a". */
static tvlm_status checked(check_function *check, const io_bytes *bytes, tvlm_io_findings *findings) {
    uint8_t *const block = alone(bytes);
    const tvlm_io_source source = {.path = "a", .log = &io_log, .bytes = block, .size = bytes->size};
    const tvlm_status status = check(&source, findings);
    free(block);
    return status;
}

static void refuses_png(const io_bytes *bytes, tvlm_status status, const char *line) {
    tvlm_io_findings findings = {.orientation = 7};
    expect_status(checked(tvlm_io_check_png, bytes, &findings), status, line);
    expect_status(checked(tvlm_io_check_png_parts, bytes, &findings), status, line);
    assert_int_equal(findings.orientation, 7); /* it is as it was */
}

static tvlm_io_findings accepts_png(const io_bytes *bytes) {
    tvlm_io_findings findings = {0}, parts = {0};
    io_expect(checked(tvlm_io_check_png, bytes, &findings), TVLM_OK, NULL);
    io_expect(checked(tvlm_io_check_png_parts, bytes, &parts), TVLM_OK, NULL);
    assert_int_equal(findings.orientation, parts.orientation);
    assert_int_equal(findings.sixteen_bits, parts.sixteen_bits);
    assert_int_equal(findings.largest, parts.largest);
    return findings;
}

static void finish_png(io_bytes *bytes) {
    put_chunk_of(bytes, "IDAT", "abc", 3);
    put_chunk_of(bytes, "IEND", NULL, 0);
}

/* The largest block that stb_image asks for: the inflated data or the compressed ones, for both of which it may double the
 * room, or the pixels. */
static void finds_the_largest_block(void **state) {
    static const struct {
        uint32_t width, height;
        uint8_t depth, colour;
        size_t largest;
    } rows[] = {{100, 50, 8, 2, 30100},  {100, 50, 8, 0, 20000},  {100, 50, 8, 4, 20100},
                {100, 50, 8, 6, 40100},  {100, 50, 8, 3, 40100},  {100, 50, 16, 0, 40000},
                {100, 50, 16, 2, 60100}, {100, 50, 16, 6, 80100}, {101, 50, 1, 3, 20200},
                {100, 50, 4, 0, 20000},  {50, 100, 8, 2, 30200},  {1, 1, 8, 0, 4096 + 2 * 60},
                {5, 200, 8, 3, 8400},    {1, 3000, 1, 0, 12000},  {1, 3000, 1, 3, 30000},
                {7, 600, 2, 4, 16800},   {9, 600, 1, 3, 21600}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        io_bytes bytes;
        put_png_start(&bytes, rows[i].width, rows[i].height, rows[i].depth, rows[i].colour);
        finish_png(&bytes);
        const tvlm_io_findings found = accepts_png(&bytes);
        if (found.largest != rows[i].largest)
            fail_msg("row %d: %zu bytes, not %zu", (int)i, found.largest, rows[i].largest);
        assert_int_equal(found.sixteen_bits, rows[i].depth == 16);
        assert_int_equal(found.orientation, 1);
    }
    io_bytes bytes;
    put_png_start(&bytes, 1, 1, 8, 0);
    put_png_exif(&bytes, 6);
    put_many(&bytes, 0, 0);
    finish_png(&bytes);
    assert_int_equal(accepts_png(&bytes).orientation, 6);
}

static void limits_the_size_of_png(void **state) {
    static const struct {
        uint32_t width, height;
        uint8_t depth, colour;
        bool accepted;
    } rows[] = {
        {1 << 24, 1, 8, 0, true},        {(1 << 24) + 1, 1, 8, 0, false}, {1, 1 << 24, 8, 0, true},
        {1, (1 << 24) + 1, 8, 0, false}, {32768, 32768, 8, 0, true},      {32768, 32769, 8, 0, false},
        {16384, 32768, 8, 4, true},      {16385, 32768, 8, 4, false},     {16384, 16384, 8, 6, true},
        {16384, 16385, 8, 6, false},     {16384, 16384, 8, 3, true},      {16384, 16385, 8, 3, false},
        {32768, 32767, 16, 0, true},     {32768, 32768, 16, 0, false},    {1 << 24, 1 << 24, 8, 6, false}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        char line[80];
        io_bytes bytes;
        put_png_start(&bytes, rows[i].width, rows[i].height, rows[i].depth, rows[i].colour);
        finish_png(&bytes);
        snprintf(line, sizeof line, "a is too large: %u x %u pixels", rows[i].width, rows[i].height);
        if (rows[i].accepted)
            accepts_png(&bytes);
        else
            refuses_png(&bytes, TVLM_ERROR_UNSUPPORTED, line);
    }
}

static void refuses_bad_headers_of_png(void **state) {
    io_bytes bytes;
    (void)state;
    for (int colour = 0; colour < 256; ++colour) {
        put_png_start(&bytes, 3, 3, 8, (uint8_t)colour);
        finish_png(&bytes);
        if (colour > 6 || colour == 1 || colour == 5)
            refuses_png(&bytes, TVLM_ERROR_FORMAT, "a is a damaged PNG: its colour type is unknown");
        else
            accepts_png(&bytes);
    }
    for (int side = 0; side < 2; ++side) {
        put_png_start(&bytes, side == 0 ? 0 : 3, side == 0 ? 3 : 0, 8, 0);
        finish_png(&bytes);
        refuses_png(&bytes, TVLM_ERROR_FORMAT, "a is a damaged PNG: it has no pixels");
    }
    for (size_t size = 12; size <= 14; size += 2) {
        put_png_start(&bytes, 3, 3, 8, 0);
        bytes.size = 8;
        put_chunk_of(&bytes, "IHDR", "\0\0\0\3\0\0\0\3\x08\0\0\0\0", size);
        finish_png(&bytes);
        refuses_png(&bytes, TVLM_ERROR_FORMAT, "a is a damaged PNG: its header has a wrong length");
    }
    put_png_start(&bytes, 3, 3, 8, 0);
    bytes.size = 8;
    finish_png(&bytes);
    refuses_png(&bytes, TVLM_ERROR_FORMAT, "a is a damaged PNG: it does not begin with its one header");
    put_png_start(&bytes, 3, 3, 8, 0);
    put_chunk_of(&bytes, "IHDR", "\0\0\0\3\0\0\0\3\x08\0\0\0\0", 13);
    finish_png(&bytes);
    refuses_png(&bytes, TVLM_ERROR_FORMAT, "a is a damaged PNG: it does not begin with its one header");
    put_png_start(&bytes, 3, 3, 8, 0);
    put_chunk_of(&bytes, "IEND", NULL, 0);
    refuses_png(&bytes, TVLM_ERROR_FORMAT, "a is a damaged PNG: it has no pixel data");
}

/* A chunk's length is at most 2^31 - 1, and a file that ends before its chunk does is cut. */
static void walks_chunks_of_png(void **state) {
    char line[120];
    io_bytes bytes;
    (void)state;
    put_png_start(&bytes, 3, 3, 8, 0);
    put_big(&bytes, (uint32_t)INT32_MAX + 1, 4);
    put_many(&bytes, 'a', 8);
    refuses_png(&bytes, TVLM_ERROR_FORMAT, "a is a damaged PNG: a chunk's length is out of range");
    for (int kind = 0; kind < 3; ++kind) {
        put_png_start(&bytes, 3, 3, 8, 0);
        if (kind == 0) put_big(&bytes, INT32_MAX, 4), put_many(&bytes, 'a', 8);
        if (kind == 1) put_big(&bytes, 1, 4), put_many(&bytes, 'a', 8);
        if (kind == 2)
            put_big(&bytes, UINT32_MAX, 4), put_many(&bytes, 'a', 7); /* no whole head of a chunk */
        snprintf(line, sizeof line, "a is a truncated PNG: it ends after %zu bytes without an end chunk",
                 bytes.size);
        refuses_png(&bytes, TVLM_ERROR_FORMAT, line);
    }
    /* A chunk that ends with the file is whole. */
    put_png_start(&bytes, 3, 3, 8, 0);
    finish_png(&bytes);
    accepts_png(&bytes);
    --bytes.size;
    snprintf(line, sizeof line, "a is a truncated PNG: it ends after %zu bytes without an end chunk",
             bytes.size);
    refuses_png(&bytes, TVLM_ERROR_FORMAT, line);
}

/* Each bit of a chunk that must be read counts, and none of one that may be left out, but for its length and name. */
static void sums_chunks_of_png(void **state) {
    io_bytes bytes;
    (void)state;
    put_png_start(&bytes, 3, 3, 8, 0);
    put_chunk_of(&bytes, "tEXt", "word", 4);
    const size_t pixels = bytes.size;
    put_chunk_of(&bytes, "IDAT", "some data, of which each byte counts\0\xFF\x80", 39);
    const size_t end = bytes.size;
    put_chunk_of(&bytes, "IEND", NULL, 0);
    for (size_t bit = 8 * 16; bit < 8 * bytes.size; ++bit) {
        const size_t at = bit / 8;
        const bool name = (at >= 33 && at < 41) || (at >= pixels && at < pixels + 8) ||
                          (at >= end && at < end + 8) || (at >= 16 && at < 26);
        const bool text = at >= 41 && at < pixels;
        tvlm_io_findings findings;
        if (name) continue; /* another chunk, or another header */
        bytes.at[at] ^= (uint8_t)(1 << bit % 8);
        expect_status(checked(tvlm_io_check_png, &bytes, &findings), text ? TVLM_OK : TVLM_ERROR_FORMAT,
                      text ? NULL : "a is a damaged PNG: a chunk's checksum is wrong");
        io_expect(checked(tvlm_io_check_png_parts, &bytes, &findings), TVLM_OK, NULL);
        bytes.at[at] ^= (uint8_t)(1 << bit % 8);
    }
}

/* ---- JPEG ---- */

static void refuses_jpeg(const io_bytes *bytes, tvlm_status status, const char *line) {
    tvlm_io_findings findings = {.orientation = 7, .scan_end = 8, .restarts = 9};
    expect_status(checked(tvlm_io_check_jpeg, bytes, &findings), status, line);
    assert_true(findings.orientation == 7 && findings.scan_end == 8 && findings.restarts == 9);
}

static void damaged_jpeg(const io_bytes *bytes, const char *what) {
    char line[200];
    snprintf(line, sizeof line, "a is a damaged JPEG: %s", what);
    refuses_jpeg(bytes, TVLM_ERROR_FORMAT, line);
}

static void truncated_jpeg(const io_bytes *bytes) {
    char line[200];
    snprintf(line, sizeof line, "a is a truncated JPEG: it ends after %zu bytes without an end marker",
             bytes->size);
    refuses_jpeg(bytes, TVLM_ERROR_FORMAT, line);
}

static tvlm_io_findings accepts_jpeg(const io_bytes *bytes) {
    tvlm_io_findings findings = {0};
    io_expect(checked(tvlm_io_check_jpeg, bytes, &findings), TVLM_OK, NULL);
    return findings;
}

static void finish_jpeg(io_bytes *bytes, size_t data) {
    put_many(bytes, 0x55, data);
    put(bytes, "\xFF\xD9", 2);
}

/* Each 8 x 8 block takes a bit at least. */
static void weighs_the_data_of_jpeg(void **state) {
    static const struct {
        uint32_t width, height;
        const char *factors;
        size_t least; /* bytes */
    } rows[] = {{8, 8, "\x11", 1},
                {64, 64, "\x11", 8},
                {72, 64, "\x11", 9},
                {65, 64, "\x11", 9},
                {64, 65, "\x11", 9},
                {64, 71, "\x11", 9},
                {56, 64, "\x11", 7},
                {64, 64, "\x11\x11\x11", 24},
                {64, 64, "\x22\x11\x11", 12},
                {64, 64, "\x21\x11\x11", 16},
                {64, 64, "\x12\x11\x11", 16},
                {64, 64, "\x11\x22\x11", 12},
                {128, 64, "\x41\x11\x11", 24},
                {64, 128, "\x14\x11\x11", 24},
                {64, 72, "\x13\x11\x11", 15},
                {72, 64, "\x31\x11\x11", 15},
                {130, 66, "\x22\x11\x11", 30},
                {128, 128, "\x11\x11\x11\x11", 128},
                {127, 121, "\x42\x21\x12\x11", 52},
                {8, 8, "\x11\x11", 1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        for (int more = -1; more <= 0; ++more) {
            io_bytes bytes;
            put_start(&bytes);
            put_frame(&bytes, 0xC0, rows[i].width, rows[i].height, rows[i].factors);
            put_scan(&bytes, 1, strlen(rows[i].factors));
            finish_jpeg(&bytes, (size_t)((int)rows[i].least + more));
            if (more < 0) {
                damaged_jpeg(&bytes, "it has too few bytes for its size in pixels");
                continue;
            }
            const tvlm_io_findings found = accepts_jpeg(&bytes);
            assert_int_equal(found.scan_end, bytes.size - 2);
            assert_true(found.restarts == 0 && found.orientation == 1);
        }
}

/* Markers that stand in the data of a scan, and what stands between segments. */
static void finds_the_last_scan(void **state) {
    io_bytes bytes;
    (void)state;
    put_start(&bytes);
    put_jpeg_exif(&bytes, 3);
    put_jpeg_exif(&bytes, 6);
    put(&bytes, "\xFF\x01\xFF\xD8\xFF\xFF", 6); /* markers without a segment, and a fill byte */
    put_frame(&bytes, 0xC2, 64, 64, "\x11\x11");
    put_scan(&bytes, 1, 1);
    put(&bytes, "\xFF\xD0\xFF\xD1\xFF\x00\xFF\xD2", 8);
    put_scan(&bytes, 2, 1);
    put(&bytes, "abcd\xFF\xD0\xFF\0efgh\xFF\xD7ijkl\xFF\xFF\xFF\x01mnop", 26);
    const size_t end = bytes.size;
    put_segment(&bytes, 0xFE, "a comment", 9);
    put(&bytes, "\xFF\xD9 and more", 11);
    const tvlm_io_findings found = accepts_jpeg(&bytes);
    assert_int_equal(found.scan_end, end);
    assert_int_equal(found.restarts, 2);
    assert_int_equal(found.orientation, 3);
}

static void frames_of_jpeg(void **state) {
    io_bytes bytes;
    char line[200];
    (void)state;
    for (int marker = 0xC0; marker <= 0xCF; ++marker)
        for (int bits = 8; bits <= 12; bits += 4) {
            put_start(&bytes);
            put_frame(&bytes, 0xC0, 8, 8, "\x11");
            const size_t second = bytes.size;
            put_frame(&bytes, marker, 8, 8, "\x11");
            bytes.at[second + 4] = (uint8_t)bits;
            if (marker == 0xC4) bytes.size = second, put_segment(&bytes, marker, "", 0); /* a table */
            put_scan(&bytes, 1, 1);
            finish_jpeg(&bytes, 1);
            snprintf(line, sizeof line, "a is a JPEG of a kind that is not supported (process %d, %d bits)",
                     marker - 0xC0, bits);
            if (marker == 0xC4 || marker == 0xC8 || marker == 0xCC || (marker <= 0xC2 && bits == 8))
                accepts_jpeg(&bytes);
            else
                refuses_jpeg(&bytes, TVLM_ERROR_UNSUPPORTED, line);
        }
    static const char *const factors[] = {"", "\x11\x11\x11\x11\x11"};
    for (int i = 0; i < 2; ++i) {
        put_start(&bytes);
        put_frame(&bytes, 0xC0, 8, 8, factors[i]);
        damaged_jpeg(&bytes, "its frame header does not describe 1 to 4 components");
    }
    for (size_t size = 5; size <= 8; ++size) {
        put_start(&bytes);
        put_segment(&bytes, 0xC0, "\x08\0\x08\0\x08\x01\x01\x11\0", size);
        damaged_jpeg(&bytes, size < 6 ? "its frame header is too short"
                                      : "its frame header does not describe 1 to 4 components");
    }
    for (int side = 0; side < 2; ++side) {
        put_start(&bytes);
        put_frame(&bytes, 0xC0, side == 0 ? 0 : 8, side == 0 ? 8 : 0, "\x11");
        put_scan(&bytes, 1, 1);
        finish_jpeg(&bytes, 1);
        damaged_jpeg(&bytes, "it has no frame, or one without pixels");
    }
    put_start(&bytes);
    put(&bytes, "\xFF\xD9", 2);
    damaged_jpeg(&bytes, "it has no frame, or one without pixels");
    put_start(&bytes);
    put_frame(&bytes, 0xC0, 8, 8, "\x11");
    put(&bytes, "\xFF\xD9", 2);
    damaged_jpeg(&bytes, "it has too few bytes for its size in pixels");
    bytes.at[1] = 0xC0;
    damaged_jpeg(&bytes, "it has no start marker");
    bytes.size = 0;
    put(&bytes, "\xFF\xFF\xFF", 3);
    damaged_jpeg(&bytes, "it has no start marker");
}

/* Each component has a scan, alone or with others, since the last frame. */
static void scans_of_jpeg(void **state) {
    io_bytes bytes;
    (void)state;
    for (int missing = 0; missing <= 3; ++missing)
        for (int order = 0; order < 2; ++order) {
            put_start(&bytes);
            put_frame(&bytes, 0xC2, 8, 8, "\x11\x11\x11");
            for (int i = 1; i <= 3; ++i) {
                const int number = order == 0 ? i : 4 - i;
                if (number == missing) continue;
                put_scan(&bytes, (size_t)number, 1);
                put_many(&bytes, 1, 3);
            }
            put(&bytes, "\xFF\xD9", 2);
            if (missing == 0)
                accepts_jpeg(&bytes);
            else
                damaged_jpeg(&bytes, "a component has no scan");
        }
    put_start(&bytes);
    put_frame(&bytes, 0xC2, 8, 8, "\x11\x11");
    put_scan(&bytes, 1, 2);
    put_many(&bytes, 1, 3);
    put_frame(&bytes, 0xC2, 8, 8, "\x11\x11");
    put_scan(&bytes, 2, 1);
    finish_jpeg(&bytes, 3);
    damaged_jpeg(&bytes, "a component has no scan");
    for (size_t size = 0; size <= 3; ++size) {
        put_start(&bytes);
        put_frame(&bytes, 0xC0, 8, 8, "\x11");
        put_segment(&bytes, 0xDA, "\1\1\0", size);
        finish_jpeg(&bytes, 1);
        if (size < 3)
            damaged_jpeg(&bytes, "a scan header is too short");
        else
            accepts_jpeg(&bytes);
    }
}

/* A table has at most 256 codes, and all of them are there. */
static void tables_of_jpeg(void **state) {
    static const struct {
        uint8_t first, last; /* how many codes have one bit, and how many sixteen */
        size_t size;         /* of the segment */
        const char *wrong;
    } rows[] = {{0, 0, 17, NULL},
                {0, 0, 16, "a Huffman table is cut off"},
                {0, 0, 1, "a Huffman table is cut off"},
                {0, 0, 0, NULL},
                {1, 0, 18, NULL},
                {1, 0, 17, "a Huffman table has too many codes"},
                {0, 1, 18, NULL},
                {0, 1, 17, "a Huffman table has too many codes"},
                {1, 255, 17 + 256, NULL},
                {255, 1, 17 + 256, NULL},
                {2, 255, 17 + 257, "a Huffman table has too many codes"},
                {1, 255, 17 + 255, "a Huffman table has too many codes"},
                {0, 0, 34, NULL},
                {0, 0, 33, "a Huffman table is cut off"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        for (int before = 0; before < 2; ++before) {
            uint8_t content[17 + 3 + 17 + 257] = {0};
            io_bytes bytes;
            uint8_t *const table = content + (before == 1 ? 20 : 0);
            if (before == 1) content[2] = 3; /* another table, of three codes */
            table[1] = rows[i].first;
            if (rows[i].size > 16) table[16] = rows[i].last;
            put_start(&bytes);
            put_segment(&bytes, 0xC4, content, rows[i].size + (before == 1 ? 20 : 0));
            put_frame(&bytes, 0xC0, 8, 8, "\x11");
            put_scan(&bytes, 1, 1);
            finish_jpeg(&bytes, 1);
            if (rows[i].wrong == NULL)
                accepts_jpeg(&bytes);
            else
                damaged_jpeg(&bytes, rows[i].wrong);
        }
}

static void cuts_segments_of_jpeg(void **state) {
    io_bytes bytes;
    (void)state;
    put_start(&bytes);
    put_frame(&bytes, 0xC0, 8, 8, "\x11");
    put_scan(&bytes, 1, 1);
    put_many(&bytes, 1, 3);
    const size_t begin = bytes.size;
    truncated_jpeg(&bytes);
    put(&bytes, "\xFF", 1);
    truncated_jpeg(&bytes);
    put(&bytes, "\xFE", 1);
    truncated_jpeg(&bytes);
    put(&bytes, "\0", 1);
    truncated_jpeg(&bytes);
    put(&bytes, "\1", 1);
    damaged_jpeg(&bytes, "a segment is shorter than its own length");
    bytes.at[bytes.size - 1] = 2;
    truncated_jpeg(&bytes); /* of which the segment is whole, and the end is missing */
    put(&bytes, "\xFF\xD9", 2);
    assert_int_equal(accepts_jpeg(&bytes).scan_end, begin);
    bytes.at[bytes.size - 3] = 5;
    truncated_jpeg(&bytes);
    bytes.size = begin;
    put_segment(&bytes, 0xE1, "Exif\0", 5);
    put_segment(&bytes, 0xE1, "Exig\0\0", 6);
    put_segment(&bytes, 0xE1, "Exif\0\0", 6); /* without a number: as if it were 1 */
    put_jpeg_exif(&bytes, 6);
    put(&bytes, "\xFF\xD9", 2);
    assert_int_equal(accepts_jpeg(&bytes).orientation, 1);
}

/* ---- BMP ---- */

/* A BMP with the long header, whose pixels begin behind `colours` colours. Its rows are zeros, with their padding. */
static void put_bmp(io_bytes *to, uint32_t width, uint32_t height, uint32_t bits, uint32_t colours,
                    size_t pixels) {
    to->size = 0;
    put(to, "BM", 2);
    put_many(to, 0, 8);
    put_low(to, 54 + 4 * colours, 4);
    put_low(to, 40, 4);
    put_low(to, width, 4);
    put_low(to, height, 4);
    put_low(to, 1, 2);
    put_low(to, bits, 2);
    put_many(to, 0, 24);
    put_many(to, 0, 4 * colours + pixels);
}

static tvlm_status check_of_bmp(const tvlm_io_source *source, tvlm_io_findings *findings) {
    (void)findings;
    return tvlm_io_check_bmp(source);
}

static void expect_bmp(const io_bytes *bytes, tvlm_status status, const char *line) {
    expect_status(checked(check_of_bmp, bytes, NULL), status, line);
}

/* The bytes that so many pixels take, of which the last row's padding may be missing. */
static void counts_the_bytes_of_bmp(void **state) {
    static const struct {
        uint32_t width, height, bits, colours;
        size_t least;
    } rows[] = {{1, 1, 1, 2, 1},   {32, 1, 1, 2, 4},           {33, 1, 1, 2, 5},   {33, 2, 1, 2, 13},
                {8, 3, 1, 2, 9},   {9, 3, 1, 2, 10},           {3, 2, 4, 16, 6},   {8, 2, 4, 16, 8},
                {9, 2, 4, 16, 13}, {1, 3, 8, 256, 9},          {4, 3, 8, 256, 12}, {5, 3, 8, 256, 21},
                {3, 2, 16, 0, 14}, {2, 2, 16, 0, 8},           {3, 4, 24, 0, 45},  {4, 4, 24, 0, 48},
                {3, 3, 32, 0, 36}, {1, (uint32_t)-2, 24, 0, 7}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        char line[100];
        io_bytes bytes;
        put_bmp(&bytes, rows[i].width, rows[i].height, rows[i].bits, rows[i].colours, rows[i].least);
        expect_bmp(&bytes, TVLM_OK, NULL);
        --bytes.size;
        snprintf(line, sizeof line, "a is a truncated BMP: it ends after %zu bytes", bytes.size);
        expect_bmp(&bytes, TVLM_ERROR_FORMAT, line);
    }
}

static void refuses_bad_headers_of_bmp(void **state) {
    char line[100];
    io_bytes bytes;
    (void)state;
    for (size_t size = 25; size <= 54; ++size) {
        put_bmp(&bytes, 3, 1, 24, 0, 9);
        bytes.size = size;
        snprintf(line, sizeof line, "a is a truncated BMP: it ends after %zu bytes", bytes.size);
        expect_bmp(&bytes, TVLM_ERROR_FORMAT, line);
    }
    static const struct {
        size_t at;
        uint32_t value;
        tvlm_status status;
        const char *line;
    } rows[] = {
        {14, 39, TVLM_ERROR_FORMAT, "a is a damaged BMP: its header has an unknown length"},
        {14, 13, TVLM_ERROR_FORMAT, "a is a damaged BMP: its header has an unknown length"},
        {14, 41, TVLM_OK, NULL},
        {18, 0, TVLM_ERROR_FORMAT, "a is a damaged BMP: it has no pixels"},
        {22, 0, TVLM_ERROR_FORMAT, "a is a damaged BMP: it has no pixels"},
        {18, (1 << 24) + 1, TVLM_ERROR_FORMAT, "a is a damaged BMP: its size is out of range"},
        {22, (1 << 24) + 1, TVLM_ERROR_FORMAT, "a is a damaged BMP: its size is out of range"},
        {22, (uint32_t) - (1 << 24) - 1, TVLM_ERROR_FORMAT, "a is a damaged BMP: its size is out of range"},
        {18, 1 << 24, TVLM_ERROR_FORMAT, "a is a truncated BMP: it ends after 63 bytes"},
        {22, 1 << 24, TVLM_ERROR_FORMAT, "a is a truncated BMP: it ends after 63 bytes"},
        {30, 1, TVLM_ERROR_UNSUPPORTED, "a is a compressed BMP, which is not supported"},
        {30, 2, TVLM_ERROR_UNSUPPORTED, "a is a compressed BMP, which is not supported"},
        {30, 3, TVLM_OK, NULL},
        {30, 4, TVLM_ERROR_UNSUPPORTED, "a is a compressed BMP, which is not supported"},
        {10, 55, TVLM_ERROR_FORMAT, "a is a truncated BMP: it ends after 63 bytes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        put_bmp(&bytes, 3, 1, 24, 0, 9);
        bytes.size = rows[i].at;
        put_low(&bytes, rows[i].value, 4);
        bytes.size = 63;
        expect_bmp(&bytes, rows[i].status, rows[i].line);
    }
    for (uint32_t bits = 0; bits <= 40; ++bits) {
        const bool known = bits == 1 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32;
        put_bmp(&bytes, 1, 1, bits, 256, 4);
        expect_bmp(&bytes, known ? TVLM_OK : TVLM_ERROR_FORMAT,
                   known ? NULL : "a is a damaged BMP: its bits per pixel are out of range");
    }
}

/* The least that there is: the headers alone, in which the pixels lie. What is between the headers and the pixels is the palette, and
 * bytes that make no whole colour are none. */
static void walks_headers_of_bmp(void **state) {
    char line[100];
    io_bytes bytes;
    (void)state;
    put_bmp(&bytes, 1, 1, 24, 0, 0);
    assert_int_equal(bytes.size, 54);
    bytes.at[10] = 51;
    expect_bmp(&bytes, TVLM_OK, NULL);
    bytes.at[10] = 52;
    expect_bmp(&bytes, TVLM_ERROR_FORMAT, "a is a truncated BMP: it ends after 54 bytes");
    bytes.size = 14;
    put_low(&bytes, 12, 4);
    put_low(&bytes, 1, 2);
    put_low(&bytes, 1, 2);
    put_low(&bytes, 1, 2);
    put_low(&bytes, 24, 2);
    bytes.at[10] = 23;
    assert_int_equal(bytes.size, 26);
    expect_bmp(&bytes, TVLM_OK, NULL);
    for (bytes.size = 25; bytes.size > 13; --bytes.size) {
        snprintf(line, sizeof line, "a is a truncated BMP: it ends after %zu bytes", bytes.size);
        expect_bmp(&bytes, TVLM_ERROR_FORMAT, line);
    }
    for (uint8_t rest = 0; rest < 4; ++rest)
        for (uint8_t index = 1; index < 3; ++index) {
            put_bmp(&bytes, 1, 1, 8, 2, 1u + rest);
            bytes.at[10] = (uint8_t)(bytes.at[10] + rest);
            bytes.at[bytes.size - 1] = index;
            expect_bmp(&bytes, index < 2 ? TVLM_OK : TVLM_ERROR_FORMAT,
                       index < 2 ? NULL : "a is a damaged BMP: a pixel is not in its palette");
        }
}

/* ---- PPM and PGM ---- */

static void counts_the_bytes_of_pnm(void **state) {
    static const struct {
        const char *text;
        size_t samples; /* bytes behind it that are just enough */
    } rows[] = {{"P5 3 2 255\n", 6}, {"P6 3 2 255\n", 18}, {"P5 3 2 256\n", 12}, {"P6 3 2 65535\n", 36}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        for (int more = -1; more <= 0; ++more) {
            char line[100];
            io_bytes bytes = {.size = 0};
            tvlm_image *image = NULL;
            put(&bytes, rows[i].text, strlen(rows[i].text));
            put_many(&bytes, 0, (size_t)((int)rows[i].samples + more));
            uint8_t *const block = alone(&bytes);
            snprintf(line, sizeof line, "a is a truncated PPM or PGM: it ends after %zu bytes", bytes.size);
            expect_status(
                tvlm_image_load_bytes(block, bytes.size, "a", tvlm_image_load_params(.log = &io_log), &image),
                more < 0 ? TVLM_ERROR_FORMAT : TVLM_OK, more < 0 ? line : NULL);
            tvlm_image_destroy(&image);
            free(block);
        }
}

static void refuses_pnm(void **state) {
    static const struct {
        const char *text;
        tvlm_status status;
        const char *line;
    } rows[] = {
        {"P5 3 2", TVLM_ERROR_FORMAT, "a is a damaged PPM or PGM: its header does not hold three numbers"},
        {"P5 x 2 255\n", TVLM_ERROR_FORMAT,
         "a is a damaged PPM or PGM: its header does not hold three numbers"},
        {"P5 3 x 255\n", TVLM_ERROR_FORMAT,
         "a is a damaged PPM or PGM: its header does not hold three numbers"},
        {"P5 3 2 255", TVLM_ERROR_FORMAT, "a is a truncated PPM or PGM: it ends after 10 bytes"},
        {"P5 3 2 255x", TVLM_ERROR_FORMAT, "a is a damaged PPM or PGM: its header does not end with a blank"},
        {"P5 0 2 255\n", TVLM_ERROR_FORMAT, "a is a damaged PPM or PGM: it has no pixels"},
        {"P5 3 0 255\n", TVLM_ERROR_FORMAT, "a is a damaged PPM or PGM: it has no pixels"},
        {"P5 3 2 0\n", TVLM_ERROR_FORMAT, "a is a damaged PPM or PGM: its largest value is not in 1..65535"},
        {"P5 3 2 65536\n", TVLM_ERROR_FORMAT,
         "a is a damaged PPM or PGM: its largest value is not in 1..65535"},
        {"P5 16777217 2 255\n", TVLM_ERROR_FORMAT, "a is a damaged PPM or PGM: its size is out of range"},
        {"P5 2 16777217 255\n", TVLM_ERROR_FORMAT, "a is a damaged PPM or PGM: its size is out of range"},
        {"P5 16777216 1 255\n", TVLM_ERROR_FORMAT, "a is a truncated PPM or PGM: it ends after 18 bytes"},
        {"P5 1 16777216 255\n", TVLM_ERROR_FORMAT, "a is a truncated PPM or PGM: it ends after 18 bytes"},
        {"P5 65536 32767 255\n", TVLM_ERROR_FORMAT, "a is a truncated PPM or PGM: it ends after 19 bytes"},
        {"P5 65536 32768 255\n", TVLM_ERROR_UNSUPPORTED, "a is too large: 65536 x 32768 pixels"},
        {"P5 32768 32768 256\n", TVLM_ERROR_UNSUPPORTED, "a is too large: 32768 x 32768 pixels"},
        {"P6 32768 32768 255\n", TVLM_ERROR_UNSUPPORTED, "a is too large: 32768 x 32768 pixels"},
        {"P2 3 1 9\n1 2 3", TVLM_OK, NULL},
        {"P2 3 1 9\n1 2 ", TVLM_ERROR_FORMAT, "a is a truncated PPM or PGM: it ends after 13 bytes"},
        {"P2 3 1 9\n1 2", TVLM_ERROR_FORMAT, "a is a truncated PPM or PGM: it ends after 12 bytes"},
        {"P2 3 1 9\n1 2 x", TVLM_ERROR_FORMAT, "a is a damaged PPM or PGM: a sample is not a number"},
        {"P2 3 1 9\n1 ", TVLM_ERROR_FORMAT, "a is a truncated PPM or PGM: it ends after 11 bytes"},
        {"P2 1 1 9\n", TVLM_ERROR_FORMAT, "a is a truncated PPM or PGM: it ends after 9 bytes"},
        {"P2 7 1 9\nx", TVLM_ERROR_FORMAT, "a is a truncated PPM or PGM: it ends after 10 bytes"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        io_bytes bytes = {.size = 0};
        tvlm_image *image = NULL;
        put(&bytes, rows[i].text, strlen(rows[i].text));
        uint8_t *const block = alone(&bytes);
        expect_status(
            tvlm_image_load_bytes(block, bytes.size, "a", tvlm_image_load_params(.log = &io_log), &image),
            rows[i].status, rows[i].line);
        tvlm_image_destroy(&image);
        free(block);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        io_test(finds_the_largest_block),
        io_test(limits_the_size_of_png),
        io_test(refuses_bad_headers_of_png),
        io_test(walks_chunks_of_png),
        io_test(sums_chunks_of_png),
        io_test(weighs_the_data_of_jpeg),
        io_test(finds_the_last_scan),
        io_test(frames_of_jpeg),
        io_test(scans_of_jpeg),
        io_test(tables_of_jpeg),
        io_test(cuts_segments_of_jpeg),
        io_test(counts_the_bytes_of_bmp),
        io_test(refuses_bad_headers_of_bmp),
        io_test(walks_headers_of_bmp),
        io_test(counts_the_bytes_of_pnm),
        io_test(refuses_pnm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
