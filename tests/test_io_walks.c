/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk through a picture file before it is decoded: what it accepts to the byte, what it refuses in which words, and what
 * it finds on its way. Both sides of each limit.
 */
#include "io_bytes_helper.h"

/* ---- PNG ---- */

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
    /* What pads the rows, and what follows them, is no pixel. */
    for (uint32_t bits = 1; bits <= 8; bits *= bits == 1 ? 4 : 2) {
        const uint32_t width = 24 / bits; /* three bytes */
        put_bmp(&bytes, width, 2, bits, 1, 12);
        const size_t begin = bytes.size - 12;
        for (size_t i = begin; i < bytes.size; ++i)
            bytes.at[i] = i < begin + 8 && (i - begin) % 4 < 3 ? 0 : 0xFF;
        expect_bmp(&bytes, TVLM_OK, NULL);
        bytes.at[begin + 6] = 1; /* the last pixel of the last row */
        expect_bmp(&bytes, TVLM_ERROR_FORMAT, "a is a damaged BMP: a pixel is not in its palette");
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
        io_test(finds_the_largest_block),    io_test(limits_the_size_of_png),
        io_test(refuses_bad_headers_of_png), io_test(walks_chunks_of_png),
        io_test(sums_chunks_of_png),         io_test(counts_the_bytes_of_bmp),
        io_test(refuses_bad_headers_of_bmp), io_test(walks_headers_of_bmp),
        io_test(counts_the_bytes_of_pnm),    io_test(refuses_pnm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
