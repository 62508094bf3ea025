/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the header of a picture says, without the picture: its size, and to the byte how much memory decoding takes.
 */
#include "io_bytes_helper.h"

/* What does not grow with the number of pixels. */
static uint64_t fixed(uint32_t width) {
    return 262144 + 256 * (uint64_t)width;
}

typedef void measure_function(const tvlm_io_source *source, tvlm_io_extent *extent);

static tvlm_io_extent measured(measure_function *measure, const io_bytes *bytes, int32_t max_side) {
    uint8_t *const block = alone(bytes);
    const tvlm_io_source source = {.bytes = block, .size = bytes->size, .max_side = max_side};
    tvlm_io_extent extent = {0};
    measure(&source, &extent);
    free(block);
    return extent;
}

static void expect_extent(const char *what, tvlm_io_extent got, uint32_t width, uint32_t height,
                          uint64_t memory) {
    if (got.width != width || got.height != height || got.memory != memory)
        fail_msg("%s: %u x %u pixels that take %llu bytes, not %u x %u that take %llu", what, got.width,
                 got.height, (unsigned long long)got.memory, width, height, (unsigned long long)memory);
}

static void expect_nothing(const char *what, measure_function *measure, const io_bytes *bytes) {
    expect_extent(what, measured(measure, bytes, 0), 0, 0, 0);
}

/* The product of three numbers stops below 2^60. */
static void multiplies_without_overflow(void **state) {
    const tvlm_io_extent one = {.width = 1, .height = 1}, small = {.width = 3, .height = 5},
                         large = {.width = UINT32_MAX, .height = UINT32_MAX};
    const uint64_t most = ((uint64_t)1 << 60) - 1;
    (void)state;
    assert_true(tvlm_io_extent_bytes(&small, 7) == 105);
    assert_true(tvlm_io_extent_bytes(&large, 1) == most);
    assert_true(tvlm_io_extent_bytes(&one, most) == most);
    assert_true(tvlm_io_extent_bytes(&one, most - 1) == most - 1);
    assert_true(tvlm_io_extent_bytes(&one, most + 1) == most);
    const tvlm_io_extent two = {.width = 2, .height = 1};
    assert_true(tvlm_io_extent_bytes(&two, most / 2) == most - 1);
    assert_true(tvlm_io_extent_bytes(&two, most / 2 + 1) == most);
}

/* ---- JPEG ---- */

/* The largest denominator at which the longer side is no shorter than is asked for. */
static void chooses_a_fraction(void **state) {
    static const struct {
        uint32_t width, height;
        int32_t max_side;
        unsigned expected;
    } rows[] = {{64, 8, 0, 1},  {64, 8, 1, 8},  {64, 8, 8, 8},  {64, 8, 9, 4},        {8, 64, 8, 8},
                {8, 64, 9, 4},  {63, 63, 8, 4}, {64, 8, 16, 4}, {64, 8, 17, 2},       {64, 8, 32, 2},
                {64, 8, 33, 1}, {64, 8, 64, 1}, {64, 8, 65, 1}, {1, 1, 1, 1},         {2, 1, 1, 2},
                {4, 3, 1, 4},   {8, 8, 1, 8},   {71, 9, 8, 8},  {UINT32_MAX, 1, 1, 8}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        assert_int_equal(tvlm_io_jpeg_denominator(rows[i].width, rows[i].height, rows[i].max_side),
                         rows[i].expected);
}

static void measures_jpeg(void **state) {
    static const struct {
        int marker;
        uint32_t width, height;
        const char *factors;
        size_t scanned; /* components of the first scan */
        uint32_t orientation;
        int32_t max_side;
        uint64_t samples; /* of the picture that libjpeg makes */
        uint64_t blocks;  /* 8 x 8 samples in whole units of all components */
        bool several;     /* whether there is more than one scan */
    } rows[] = {
        {0xC0, 17, 9, "\x22\x11\x11", 3, 0, 0, 459, 12, false},
        {0xC1, 17, 9, "\x22\x11\x11", 3, 0, 0, 459, 12, false},
        {0xC2, 17, 9, "\x22\x11\x11", 3, 0, 0, 459, 12, true},
        {0xC0, 16, 16, "\x22\x11\x11", 3, 0, 0, 768, 6, false},
        {0xC2, 16, 17, "\x22\x11\x11", 3, 0, 0, 816, 12, true},
        {0xC2, 15, 15, "\x11\x22\x11", 3, 0, 0, 675, 6, true},
        {0xC2, 17, 33, "\x11\x11\x11", 3, 0, 0, 1683, 45, true},
        {0xC2, 33, 17, "\x41\x12\x11", 3, 0, 0, 1683, 28, true}, /* units of 32 x 16 */
        {0xC2, 8, 8, "\x11", 1, 0, 0, 64, 1, true},
        {0xC2, 9, 7, "\x14", 1, 0, 0, 63, 8, true},
        {0xC2, 7, 9, "\x41", 1, 0, 0, 63, 8, true},
        {0xC0, 20, 10, "\x11\x11", 2, 0, 0, 400, 12, false},
        {0xC2, 20, 10, "\x11\x21\x12\x11", 4, 0, 0, 600, 12, true},
        {0xC0, 20, 10, "\x11\x21\x12\x11", 4, 0, 0, 600, 12, false},
        {0xC0, 20, 10, "\x11\x21\x12\x11", 3, 0, 0, 600, 12, true},
        {0xC0, 17, 9, "\x22\x11\x11", 1, 0, 0, 459, 12, true},
        {0xC0, 17, 9, "\x22\x11\x11", 2, 0, 0, 459, 12, true},
        {0xC0, 17, 9, "\x22\x11\x11", 3, 1, 0, 459, 12, false},
        {0xC0, 17, 9, "\x22\x11\x11", 3, 2, 0, 918, 12, false},
        {0xC2, 17, 9, "\x22\x11\x11", 3, 6, 0, 918, 12, true},
        {0xC0, 64, 32, "\x11\x11\x11", 3, 0, 8, 96, 96, false},
        {0xC0, 64, 32, "\x11\x11\x11", 3, 0, 9, 384, 96, false},
        {0xC2, 65, 33, "\x11\x11\x11", 3, 0, 8, 135, 135, true},
        {0xC2, 65, 33, "\x11\x11\x11", 3, 8, 8, 270, 135, true},
        {0xC0, 257, 1, "\x11", 1, 0, 0, 257, 33, false},
        {0xC0, 1, 257, "\x11", 1, 0, 0, 257, 33, false},
    };
    const bool libjpeg = decodes_by("JPEG", "libjpeg");
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        char what[32];
        io_bytes bytes;
        put_start(&bytes);
        if (rows[i].orientation > 0) put_jpeg_exif(&bytes, rows[i].orientation);
        put_frame(&bytes, rows[i].marker, rows[i].width, rows[i].height, rows[i].factors);
        put_scan(&bytes, 1, rows[i].scanned);
        const size_t components = strlen(rows[i].factors);
        const uint64_t whole = (uint64_t)rows[i].width * rows[i].height * (components < 3 ? components : 3) *
                               (rows[i].orientation > 1 ? 2 : 1);
        const uint64_t kept = libjpeg ? (rows[i].several ? 128 * rows[i].blocks : 0)
                                      : (rows[i].several ? 192 : 64) * rows[i].blocks + bytes.size;
        snprintf(what, sizeof what, "JPEG %d", (int)i);
        expect_extent(what, measured(tvlm_io_measure_jpeg, &bytes, rows[i].max_side), rows[i].width,
                      rows[i].height, (libjpeg ? rows[i].samples : whole) + kept + fixed(rows[i].width));
    }
}

/* What may stand between segments; and of the first segment that says how the picture lies, no later one is asked. */
static void measures_jpeg_with_more(void **state) {
    const bool libjpeg = decodes_by("JPEG", "libjpeg");
    (void)state;
    for (int kind = 0; kind < 8; ++kind) {
        char what[32];
        io_bytes bytes;
        put_start(&bytes);
        if (kind == 1) put(&bytes, "\xFF\xFF\xFF", 3);
        if (kind == 2) put(&bytes, "\0\1\xDA", 3);
        if (kind == 3) put(&bytes, "\xFF\x00\xFF\x01\xFF\xD0\xFF\xD7\xFF\xD8", 10);
        if (kind == 4) put_segment(&bytes, 0xFE, "\xFF\xC0 a comment", 12);
        if (kind == 5) put_segment(&bytes, 0xCF, "", 0);
        if (kind == 6) put_segment(&bytes, 0xE1, "Exif\0\0", 6), put_jpeg_exif(&bytes, 6);
        if (kind == 7) {
            put_segment(&bytes, 0xE1, "Exif\0", 5); /* too short to be one */
            put_segment(&bytes, 0xE1, "http:\0\0\0\0", 9);
            put_segment(&bytes, 0xE2, "Exif\0\0MM", 8); /* of another kind */
            put_jpeg_exif(&bytes, 1);
            put_jpeg_exif(&bytes, 6);
        }
        put_frame(&bytes, 0xC3, 90, 91, "\x11"); /* which is none of the kinds that are read */
        put_frame(&bytes, 0xC0, 10, 6, "\x11");
        put(&bytes, "\xFF\xDA\0\2", 4); /* the file ends here */
        snprintf(what, sizeof what, "kind %d", kind);
        expect_extent(what, measured(tvlm_io_measure_jpeg, &bytes, 0), 10, 6,
                      60 + (libjpeg ? 0 : 128 + bytes.size) + fixed(10));
    }
    io_bytes bytes;
    put_start(&bytes);
    put_segment(&bytes, 0xE1, "Exif\0", 5);
    put_jpeg_exif(&bytes, 6);
    put_frame(&bytes, 0xC0, 10, 6, "\x11");
    put_scan(&bytes, 1, 1);
    expect_extent("a segment that is too short", measured(tvlm_io_measure_jpeg, &bytes, 0), 10, 6,
                  120 + (libjpeg ? 0 : 128 + bytes.size) + fixed(10));
}

/* A tag that lacks its last byte is none, whatever stands behind the segment. */
static void measures_jpeg_that_may_lie(void **state) {
    const bool libjpeg = decodes_by("JPEG", "libjpeg");
    (void)state;
    for (size_t lacking = 4; lacking <= 5; ++lacking) {
        io_bytes bytes, exif = {.size = 0};
        put(&exif, "Exif\0\0", 6);
        put_exif(&exif, 6);
        put_start(&bytes);
        put_segment(&bytes, 0xE1, exif.at, exif.size - lacking);
        put_frame(&bytes, 0xC0, 10, 6, "\x11");
        put_scan(&bytes, 1, 1);
        put_many(&bytes, 1, 30);
        expect_extent("a tag", measured(tvlm_io_measure_jpeg, &bytes, 0), 10, 6,
                      (lacking == 4 ? 120 : 60) + (libjpeg ? 0 : 128 + bytes.size) + fixed(10));
    }
}

static void measures_no_jpeg(void **state) {
    io_bytes bytes;
    (void)state;
    put_start(&bytes);
    expect_nothing("a start alone", tvlm_io_measure_jpeg, &bytes);
    put_frame(&bytes, 0xC0, 10, 6, "\x11");
    expect_nothing("a frame without a scan", tvlm_io_measure_jpeg, &bytes);
    put(&bytes, "\xFF\xDA\0", 3);
    expect_nothing("a scan that is cut", tvlm_io_measure_jpeg, &bytes);
    put_start(&bytes);
    put_scan(&bytes, 1, 1);
    put_frame(&bytes, 0xC0, 10, 6, "\x11");
    expect_nothing("a scan before the frame", tvlm_io_measure_jpeg, &bytes);
    static const struct {
        const char *what;
        uint32_t width, height;
        const char *factors;
    } frames[] = {{"no columns", 0, 6, "\x11"},
                  {"no rows", 10, 0, "\x11"},
                  {"no components", 10, 6, ""},
                  {"five components", 10, 6, "\x11\x11\x11\x11\x11"}};
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; ++i) {
        put_start(&bytes);
        put_frame(&bytes, 0xC0, frames[i].width, frames[i].height, frames[i].factors);
        put_scan(&bytes, 1, 1);
        expect_nothing(frames[i].what, tvlm_io_measure_jpeg, &bytes);
    }
    put_start(&bytes);
    put_segment(&bytes, 0xC0, "\x08\0\x06\0\x0A\x02\x01\x11\0\x02\x11", 11);
    put_scan(&bytes, 1, 1);
    expect_nothing("a component that is cut", tvlm_io_measure_jpeg, &bytes);
    put_start(&bytes);
    put_segment(&bytes, 0xC0, "\x08\0\x06\0\x0A", 5);
    put_scan(&bytes, 1, 1);
    expect_nothing("a frame without its count", tvlm_io_measure_jpeg, &bytes);
    put_start(&bytes);
    put(&bytes, "\xFF\xFE\0\1", 4);
    put_frame(&bytes, 0xC0, 10, 6, "\x11");
    put_scan(&bytes, 1, 1);
    expect_nothing("a segment that is shorter than its length", tvlm_io_measure_jpeg, &bytes);
    put_start(&bytes);
    put_frame(&bytes, 0xC0, 10, 6, "\x11");
    put(&bytes, "\xFF\xDA\0\3", 4);
    expect_nothing("a scan's header that is cut", tvlm_io_measure_jpeg, &bytes);
}

/* ---- PNG ---- */

/* The channels of each colour type, without and with a chunk of transparent colours. */
static const struct {
    uint8_t colour;
    uint64_t channels, transparent;
} png_colours[] = {{0, 1, 2}, {2, 3, 4}, {3, 3, 4}, {4, 2, 2}, {6, 4, 4}};

static void measures_png(void **state) {
    const bool libpng = decodes_by("PNG", "libpng");
    (void)state;
    for (size_t i = 0; i < sizeof png_colours / sizeof png_colours[0]; ++i)
        for (int kind = 0; kind < 36; ++kind) {
            const bool transparent = kind % 2 == 1, deep = kind / 2 % 2 == 1;
            const int turned = kind / 4 % 3,
                      end = kind / 12; /* 0: whole, 1: without its end, 2: without its pixels */
            io_bytes bytes;
            char what[40];
            put_png_start(&bytes, 21, 13, deep ? 16 : 8, png_colours[i].colour);
            if (transparent) put_chunk_of(&bytes, "tRNS", "\0\1\0\1\0\1", 6);
            if (turned > 0) put_png_exif(&bytes, turned == 1 ? 1 : 5);
            if (turned > 1) put_png_exif(&bytes, 1); /* the second does not undo it */
            if (end < 2) put_chunk_of(&bytes, "IDAT", "abc", 3);
            if (end < 1) put_chunk_of(&bytes, "IEND", NULL, 0);
            const uint64_t channels =
                transparent || end == 2 ? png_colours[i].transparent : png_colours[i].channels;
            const uint64_t pixels = 273 * channels * (deep ? 2 : 1) * (turned > 1 || end > 0 ? 2 : 1);
            snprintf(what, sizeof what, "PNG of colour type %d, %d", png_colours[i].colour, kind);
            expect_extent(what, measured(tvlm_io_measure_png, &bytes, 0), 21, 13,
                          pixels + (libpng ? 0 : 2 * bytes.size + 4096 + 6552) + fixed(21));
        }
}

static void measures_png_that_is_cut(void **state) {
    const bool libpng = decodes_by("PNG", "libpng");
    io_bytes bytes;
    (void)state;
    put_png_start(&bytes, 300, 2, 8, 2);
    const uint64_t both = 600 * 4 * 2 + fixed(300) + (libpng ? 0 : 2 * 33 + 4096 + 600 * 24);
    assert_int_equal(bytes.size, 33);
    expect_extent("a header", measured(tvlm_io_measure_png, &bytes, 0), 300, 2, both);
    bytes.size = 32;
    expect_nothing("a header without its last byte", tvlm_io_measure_png, &bytes);
    bytes.size = 33;
    bytes.at[12] = 'J';
    expect_nothing("another chunk", tvlm_io_measure_png, &bytes);
    bytes.at[12] = 'I';
    for (int colour = 0; colour < 256; ++colour) {
        bytes.at[25] = (uint8_t)colour;
        if (colour > 6 || colour == 1 || colour == 5)
            expect_nothing("an unknown colour type", tvlm_io_measure_png, &bytes);
        else
            assert_true(measured(tvlm_io_measure_png, &bytes, 0).memory > 0);
    }
    /* What stands behind the end counts for nothing. */
    put_png_start(&bytes, 300, 2, 8, 2);
    put_chunk_of(&bytes, "IDAT", NULL, 0);
    put_chunk_of(&bytes, "IEND", NULL, 0);
    put_chunk_of(&bytes, "tRNS", NULL, 0);
    put_png_exif(&bytes, 6);
    expect_extent("a whole one", measured(tvlm_io_measure_png, &bytes, 0), 300, 2,
                  1800 + fixed(300) + (libpng ? 0 : 2 * bytes.size + 4096 + 600 * 24));
    /* An eXIf chunk that is cut may turn it; of its length nothing is read. */
    put_png_start(&bytes, 300, 2, 8, 2);
    put_chunk_of(&bytes, "IDAT", NULL, 0);
    put_big(&bytes, INT32_MAX, 4);
    put(&bytes, "eXIfabcd", 8);
    expect_extent("a chunk that is cut", measured(tvlm_io_measure_png, &bytes, 0), 300, 2,
                  3600 + fixed(300) + (libpng ? 0 : 2 * bytes.size + 4096 + 600 * 24));
}

/* ---- BMP ---- */

static void measures_bmp(void **state) {
    io_bytes bytes = {.size = 0};
    (void)state;
    put(&bytes, "BM", 2);
    put_many(&bytes, 0, 12);
    put_low(&bytes, 40, 4);
    put_low(&bytes, 70000, 4);
    put_low(&bytes, 3, 4);
    assert_int_equal(bytes.size, 26);
    expect_extent("BMP", measured(tvlm_io_measure_bmp, &bytes, 0), 70000, 3, 840000 + fixed(70000));
    bytes.size = 22;
    put_low(&bytes, (uint32_t)-3, 4);
    expect_extent("BMP from the top", measured(tvlm_io_measure_bmp, &bytes, 0), 70000, 3,
                  840000 + fixed(70000));
    bytes.size = 22;
    put_low(&bytes, INT32_MAX, 4);
    expect_extent("BMP of many rows", measured(tvlm_io_measure_bmp, &bytes, 0), 70000, INT32_MAX,
                  280000 * (uint64_t)INT32_MAX + fixed(70000));
    bytes.size = 22;
    put_low(&bytes, (uint32_t)1 << 31, 4);
    assert_int_equal(measured(tvlm_io_measure_bmp, &bytes, 0).height, (uint32_t)1 << 31);
    bytes.size = 25;
    expect_nothing("BMP without its last byte", tvlm_io_measure_bmp, &bytes);
    bytes.size = 14;
    put_low(&bytes, 12, 4);
    put_low(&bytes, 258, 2);
    put_low(&bytes, 40000, 2);
    put_many(&bytes, 0xFF, 4);
    expect_extent("BMP with a short header", measured(tvlm_io_measure_bmp, &bytes, 0), 258, 40000,
                  41280000 + fixed(258));
}

/* ---- PPM and PGM ---- */

static void measures_pnm(void **state) {
    static const struct {
        const char *text;
        uint32_t width, height;
        uint64_t memory;
    } rows[] = {{"P2 7 3 255\n", 7, 3, 21},
                {"P3 7 3 255\n", 7, 3, 63},
                {"P5 7 3 1\n", 7, 3, 21},
                {"P6 7 3 255\n", 7, 3, 63},
                {"P5 7 3 256\n", 7, 3, 42},
                {"P6 7 3 65535\n", 7, 3, 126},
                {"P6 16777216 16777216 65535\n", 1 << 24, 1 << 24, (uint64_t)6 << 48},
                {"P5 16777217 1 255\n", 0, 0, 0},
                {"P5 1 16777217 255\n", 0, 0, 0},
                {"P5 7 3 65536\n", 0, 0, 0},
                {"P5 7 3 255", 0, 0, 0},
                {"P5 7 3", 0, 0, 0},
                {"P5 7 0 255\n", 0, 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        io_bytes bytes = {.size = 0};
        put(&bytes, rows[i].text, strlen(rows[i].text));
        expect_extent(rows[i].text, measured(tvlm_io_measure_pnm, &bytes, 0), rows[i].width, rows[i].height,
                      rows[i].memory);
    }
}

/* ---- WebP ---- */

static void measures_webp(void **state) {
    io_bytes bytes = {.size = 0};
    (void)state;
    put(&bytes, "RIFF\0\0\0\0WEBPVP8X\x0A\0\0\0\0\0\0\0", 24);
    put_low(&bytes, 300 - 1, 3);
    put_low(&bytes, 70000 - 1, 3);
    assert_int_equal(bytes.size, 30);
    expect_extent("WebP with a canvas", measured(tvlm_io_measure_webp, &bytes, 0), 300, 70000,
                  (uint64_t)13 * 300 * 70000 + fixed(300));
    bytes.size = 29;
    expect_nothing("WebP without its last byte", tvlm_io_measure_webp, &bytes);
    bytes.size = 24;
    put_low(&bytes, (1 << 24) - 1, 3);
    put_low(&bytes, 0, 3);
    expect_extent("the widest canvas", measured(tvlm_io_measure_webp, &bytes, 0), 1 << 24, 1,
                  ((uint64_t)13 << 24) + fixed(1 << 24));
    bytes.size = 12;
    put(&bytes, "VP8L\0\0\0\0\x2F", 9);
    put_low(&bytes, (16384 - 1) | (uint32_t)(300 - 1) << 14 | 3u << 28, 4);
    put_many(&bytes, 0xFF, 5);
    expect_extent("WebP without loss", measured(tvlm_io_measure_webp, &bytes, 0), 16384, 300,
                  (uint64_t)13 * 16384 * 300 + fixed(16384));
    bytes.size = 21;
    put_low(&bytes, (300 - 1) | (uint32_t)(16384 - 1) << 14, 4);
    put_many(&bytes, 0xFF, 5);
    expect_extent("WebP without loss, high", measured(tvlm_io_measure_webp, &bytes, 0), 300, 16384,
                  (uint64_t)13 * 16384 * 300 + fixed(300));
    bytes.size = 12;
    put(&bytes, "VP8 \0\0\0\0\0\0\0\x9D\x01\x2A", 14);
    put_low(&bytes, 16383 | 2u << 14, 2);
    put_low(&bytes, 301 | 1u << 14, 2);
    expect_extent("WebP with loss", measured(tvlm_io_measure_webp, &bytes, 0), 16383, 301,
                  (uint64_t)13 * 16383 * 301 + fixed(16383));
    bytes.at[15] = 'Z';
    expect_nothing("another chunk", tvlm_io_measure_webp, &bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        io_test(multiplies_without_overflow),
        io_test(chooses_a_fraction),
        io_test(measures_jpeg),
        io_test(measures_jpeg_with_more),
        io_test(measures_jpeg_that_may_lie),
        io_test(measures_no_jpeg),
        io_test(measures_png),
        io_test(measures_png_that_is_cut),
        io_test(measures_bmp),
        io_test(measures_pnm),
        io_test(measures_webp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
