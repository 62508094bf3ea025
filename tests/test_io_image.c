/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pictures: each format and depth against known pixels, all orientations, and files that are none. Files that are cut,
 * damaged, or larger than they look: test_io_image_damage.c.
 */
#include "io_image_helper.h"

#include "io/exif.h"

/* The image's samples are those of `expected`, and it is released. */
static void assert_bytes(tvlm_image *image, int channels, const uint8_t *expected) {
    assert_int_equal(image->channels, channels);
    assert_int_equal(image->type, TVLM_PIXEL_U8);
    assert_memory_equal(image->pixels, expected, (size_t)(image->width * image->height * channels));
    tvlm_image_destroy(&image);
    assert_null(image);
}

static void assert_rgb(tvlm_image *image, int tolerance) {
    const uint8_t *pixel = image->pixels;
    assert_kind(image, 9, 7, 3, TVLM_PIXEL_U8);
    for (int y = 0; y < 7; y++)
        for (int x = 0; x < 9; x++, pixel += 3) {
            assert_in_range(pixel[0] - 20 * x + tolerance, 0, 2 * tolerance);
            assert_in_range(pixel[1] - 30 * y + tolerance, 0, 2 * tolerance);
            assert_in_range(pixel[2] - (7 * x + 11 * y) + tolerance, 0, 2 * tolerance);
        }
    tvlm_image_destroy(&image);
}

static void reads_png_of_eight_bits(void **state) {
    (void)state;
    assert_rgb(load_bytes(png_rgb, sizeof png_rgb), 0);
    assert_rgb(load_bytes(png_interlaced, sizeof png_interlaced), 0);
    const uint8_t bits[] = {255, 0, 255, 255, 0, 0, 255, 0, 255};
    assert_bytes(load_bytes(png_bits, sizeof png_bits), 1, bits);
    const uint8_t colors[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    assert_bytes(load_bytes(png_palette, sizeof png_palette), 3, colors);
    const uint8_t with_alpha[] = {1, 2, 3, 10, 4, 5, 6, 20, 7, 8, 9, 255};
    assert_bytes(load_bytes(png_palette_alpha, sizeof png_palette_alpha), 4, with_alpha);
}

static void reads_png_of_sixteen_bits(void **state) {
    tvlm_image *image = load_bytes(png_rgb16, sizeof png_rgb16);
    const uint16_t *sample = image->pixels;
    (void)state;
    assert_kind(image, 9, 7, 3, TVLM_PIXEL_U16);
    for (int y = 0; y < 7; y++)
        for (int x = 0; x < 9; x++, sample += 3) {
            assert_int_equal(sample[0], 1000 * x + 1);
            assert_int_equal(sample[1], 1000 * y + 2);
            assert_int_equal(sample[2], 100 * x * y + 3);
        }
    tvlm_image_destroy(&image);
    const uint16_t gray_alpha[] = {0x1234, 0xFFFF, 0xABCD, 0x00FF};
    image = load_bytes(png_gray16_alpha, sizeof png_gray16_alpha);
    assert_kind(image, 2, 1, 2, TVLM_PIXEL_U16);
    assert_memory_equal(image->pixels, gray_alpha, sizeof gray_alpha);
    tvlm_image_destroy(&image);
}

static void put_little(uint8_t *bytes, uint32_t value, int count) {
    for (int i = 0; i < count; ++i) bytes[i] = (uint8_t)(value >> 8 * i);
}

/* A BMP of 8 x 2 pixels of so many bits, with a palette of `colors` grays; all pixels have index 0 but one, `at`, which has
 * `index`. `core`: with the short header, whose palettes have three bytes a colour. Returns its size. */
static size_t make_bmp(uint8_t *bytes, uint32_t bits, uint32_t colors, bool core, uint32_t at,
                       uint32_t index) {
    enum { WIDE = 8, HIGH = 2 };
    const uint32_t header = core ? 12 : 40, entry = core ? 3 : 4, stride = (WIDE * bits + 31) / 32 * 4;
    /* stb_image adds 12 bytes to the short header before it counts the colours. */
    const uint32_t offset = 14 + header + colors * entry + (core ? 12 : 0);
    memset(bytes, 0, offset + stride * HIGH);
    memcpy(bytes, "BM", 2);
    put_little(bytes + 2, offset + stride * HIGH, 4);
    put_little(bytes + 10, offset, 4);
    put_little(bytes + 14, header, 4);
    put_little(bytes + 18, WIDE, core ? 2 : 4);
    put_little(bytes + (core ? 20 : 22), HIGH, core ? 2 : 4);
    put_little(bytes + (core ? 22 : 26), 1, 2);
    put_little(bytes + (core ? 24 : 28), bits, 2);
    for (uint32_t i = 0; i < colors; ++i)
        memset(bytes + 14 + header + i * entry, (int)(i * 255 / (colors > 1 ? colors - 1 : 1)), 3);
    const uint32_t x = at % WIDE, y = at / WIDE;
    bytes[offset + y * stride + x * bits / 8] |= (uint8_t)(index << (8 - bits - x * bits % 8));
    return offset + stride * HIGH;
}

/* The last colour of a palette may be used, at any pixel, and none behind it. */
static void reads_bmp_palettes(void **state) {
    static const uint32_t depths[] = {1, 4, 8};
    uint8_t bytes[2048];
    (void)state;
    for (int core = 0; core < 2; ++core)
        for (int d = 0; d < 3; ++d) {
            const uint32_t most = 1u << depths[d];
            const uint32_t counts[] = {1, most / 2, most - 1, most};
            for (int c = 0; c < 4; ++c)
                for (uint32_t at = 0; at < 16; at += 5) {
                    tvlm_image *image = NULL;
                    size_t size = make_bmp(bytes, depths[d], counts[c], core == 1, at, counts[c] - 1);
                    io_expect(tvlm_image_load(io_put("p.bmp", bytes, size), &io_log, &image), TVLM_OK, NULL);
                    assert_int_equal(image->width, 8);
                    tvlm_image_destroy(&image);
                    size = make_bmp(bytes, depths[d], 0, core == 1, at, 0);
                    io_expect(tvlm_image_load(io_put("p.bmp", bytes, size), &io_log, &image),
                              TVLM_ERROR_FORMAT, "a pixel is not in its palette");
                    if (counts[c] == most) continue;
                    size = make_bmp(bytes, depths[d], counts[c], core == 1, at, counts[c]);
                    io_expect(tvlm_image_load(io_put("p.bmp", bytes, size), &io_log, &image),
                              TVLM_ERROR_FORMAT, "a pixel is not in its palette");
                }
        }
}

static void reads_bmp(void **state) {
    uint8_t bottom_up[] = {'B', 'M', 62, 0, 0, 0, 0, 0,  0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0,
                           0,   2,   0,  0, 0, 1, 0, 24, 0, 0, 0,  0, 0, 8, 0,  0, 0, 0, 0, 0, 0,
                           0,   0,   0,  0, 0, 0, 0, 0,  0, 0, 0,  0, 3, 2, 1,  0, 6, 5, 4, 0};
    const uint8_t expected[] = {4, 5, 6, 1, 2, 3}, flipped[] = {1, 2, 3, 4, 5, 6};
    (void)state;
    assert_bytes(load_bytes(bottom_up, sizeof bottom_up), 3, expected);
    assert_bytes(load_bytes(bottom_up, sizeof bottom_up - 1), 3, expected); /* no padding at the end */
    memset(bottom_up + 22, 0xFF, 4), bottom_up[22] = 0xFE;                  /* -2 rows: from the top */
    assert_bytes(load_bytes(bottom_up, sizeof bottom_up), 3, flipped);
    assert_rgb(load_bytes(bmp_palette, sizeof bmp_palette), 90); /* eight colours are far from 63 */
}

/* Text in, samples out. `type` and `expected` are of the samples, as 16-bit numbers in either case. */
static void check_pnm(const void *bytes, size_t size, int channels, tvlm_pixel_type type,
                      const uint16_t *expected) {
    tvlm_image *image = load_bytes(bytes, size);
    assert_kind(image, 2, 1, channels, type);
    for (int i = 0; i < 2 * channels; i++)
        assert_int_equal(type == TVLM_PIXEL_U16 ? ((const uint16_t *)image->pixels)[i]
                                                : ((const uint8_t *)image->pixels)[i],
                         expected[i]);
    tvlm_image_destroy(&image);
}
#define CHECK_PNM(text, channels, type, ...)                                                                 \
    check_pnm(text, sizeof(text) - 1, channels, type, (const uint16_t[]){__VA_ARGS__})

static void reads_ppm_and_pgm(void **state) {
    (void)state;
    CHECK_PNM("P5 2 1 255\nAB", 1, TVLM_PIXEL_U8, 'A', 'B');
    CHECK_PNM("P6\n# a comment\n2 # another\n1\n255\nABCDEF", 3, TVLM_PIXEL_U8, 'A', 'B', 'C', 'D', 'E', 'F');
    CHECK_PNM("P5 2 1 65535\n\x12\x34\xAB\xCD", 1, TVLM_PIXEL_U16, 0x1234, 0xABCD);
    CHECK_PNM("P6 2 1 65535\n\0\1\0\2\0\3\1\0\2\0\3\0", 3, TVLM_PIXEL_U16, 1, 2, 3, 256, 512, 768);
    CHECK_PNM("P5 2 1 1023\n\x03\xFF\x02\x00", 1, TVLM_PIXEL_U16, 65535, 32800); /* 512/1023 */
    CHECK_PNM("P5 2 1 256\n\1\0\0\1", 1, TVLM_PIXEL_U16, 65535, 256);  /* the first that takes two bytes */
    CHECK_PNM("P5\t00000002\r1\v255\fAB", 1, TVLM_PIXEL_U8, 'A', 'B'); /* all blanks, and eight digits */
    CHECK_PNM("P5 2 1 1\n\1\0", 1, TVLM_PIXEL_U8, 255, 0);
    CHECK_PNM("P5 2 1 100\n\x32\xC8", 1, TVLM_PIXEL_U8, 128, 255); /* a sample above the largest value */
    CHECK_PNM("P2 2 1 15 # text\n 15\n 3", 1, TVLM_PIXEL_U8, 255, 51);
    CHECK_PNM("P3 2 1 255 1 2 3 4 5 6", 3, TVLM_PIXEL_U8, 1, 2, 3, 4, 5, 6);
}

static void refuses_bad_ppm(void **state) {
    static const char *const bad[] = {"P5",
                                      "P5 2 1",
                                      "P5 2 1 255",
                                      "P5 2 1 255\nA",
                                      "P5 0 1 255\n",
                                      "P5 2 1 0\nAB",
                                      "P5 2 1 65536\nABCD",
                                      "P5 -2 1 255\nAB",
                                      "P5 99999999 99999999 255\n",
                                      "P5 999999999999 1 255\n",
                                      "P3 2 1 255 1 2 3 4 5",
                                      "P3 2 1 255 1 2 3 4 5 x",
                                      "P5 2 1 255xAB",
                                      "P5 2 1 255\010AB",
                                      "P5 2 1 255\016AB",
                                      "P5 000000002 1 255\nAB",
                                      "P2 16000000 16000000 255 1 2",
                                      "P5 16000000 10000 255 1"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tvlm_image *image = NULL;
        tvlm_status status = tvlm_image_load(io_put("bad.ppm", bad[i], strlen(bad[i])), &io_log, &image);
        assert_true(status == TVLM_ERROR_FORMAT || status == TVLM_ERROR_UNSUPPORTED);
        io_expect(status, status, "bad.ppm");
        assert_null(image);
    }
}

/* 4:4:4 at quality 90 is within 4 of these flat slopes, 4:2:0 within 12; CMYK's own channels are inverted
 * RGB. */
static void check_slopes(const unsigned char *bytes, size_t size, int tolerance) {
    tvlm_image *image = load_bytes(bytes, size);
    const uint8_t *pixel = image->pixels;
    assert_kind(image, 19, 13, 3, TVLM_PIXEL_U8);
    for (int y = 0; y < 13; y++)
        for (int x = 0; x < 19; x++, pixel += 3) {
            assert_in_range(pixel[0] - (8 * x + 40) + tolerance, 0, 2 * tolerance);
            assert_in_range(pixel[1] - (8 * y + 30) + tolerance, 0, 2 * tolerance);
            assert_in_range(pixel[2] - (4 * x + 4 * y + 60) + tolerance, 0, 2 * tolerance);
        }
    tvlm_image_destroy(&image);
}

static void reads_jpeg(void **state) {
    (void)state;
    check_slopes(jpeg_rgb, sizeof jpeg_rgb, 8);
    check_slopes(jpeg_restart, sizeof jpeg_restart, 8);
    check_slopes(jpeg_progressive, sizeof jpeg_progressive, 20);
    check_slopes(jpeg_cmyk, sizeof jpeg_cmyk, 20);
    tvlm_image *image = load_bytes(jpeg_gray, sizeof jpeg_gray);
    assert_kind(image, 19, 13, 1, TVLM_PIXEL_U8);
    tvlm_image_destroy(&image);
    /* Some cameras write more after the end. */
    uint8_t more[sizeof jpeg_rgb + 9] = {0};
    memcpy(more, jpeg_rgb, sizeof jpeg_rgb);
    check_slopes(more, sizeof more, 8);
}

static void refuses_other_jpeg(void **state) {
    uint8_t bytes[sizeof jpeg_rgb];
    tvlm_image *image = NULL;
    uint8_t *frame = bytes;
    (void)state;
    memcpy(bytes, jpeg_rgb, sizeof bytes);
    while (frame[0] != 0xFF || frame[1] != 0xC0) frame++;
    frame[1] = 0xC9; /* arithmetic coding */
    io_expect(tvlm_image_load(io_put("a.jpg", bytes, sizeof bytes), &io_log, &image), TVLM_ERROR_UNSUPPORTED,
              "kind");
    frame[1] = 0xC0;
    memset(frame + 5, 0xFF, 4); /* 65535 x 65535 from 400 bytes */
    io_expect(tvlm_image_load(io_put("a.jpg", bytes, sizeof bytes), &io_log, &image), TVLM_ERROR_FORMAT,
              "too few bytes");
    memcpy(frame + 5, "\x01\0\x01\0",
           4); /* 256 x 256: 3 x 1024 blocks, of a bit each at least, from 83 bytes */
    io_expect(tvlm_image_load(io_put("a.jpg", bytes, sizeof bytes), &io_log, &image), TVLM_ERROR_FORMAT,
              "too few bytes");
    assert_null(image);
}

/* An EXIF block of `entries` other tags and the orientation. Returns its size. */
static size_t make_exif(uint8_t *bytes, bool big_endian, int entries, int orientation) {
    static const uint8_t little[] = {'I', 'I', 42, 0, 8, 0, 0, 0}, big[] = {'M', 'M', 0, 42, 0, 0, 0, 8};
    size_t size = 10;
    memcpy(bytes, big_endian ? big : little, 8);
    bytes[8] = (uint8_t)(big_endian ? 0 : entries + 1);
    bytes[9] = (uint8_t)(big_endian ? entries + 1 : 0);
    for (int i = 0; i <= entries; i++, size += 12) {
        uint8_t *entry = bytes + size;
        uint8_t value = (uint8_t)(i < entries ? 7 : orientation);
        memset(entry, 0, 12);
        entry[big_endian ? 0 : 1] = 1;
        entry[big_endian ? 1 : 0] = (uint8_t)(i < entries ? 0x0F : 0x12);
        entry[big_endian ? 3 : 2] = 3;
        entry[big_endian ? 7 : 4] = 1;
        entry[big_endian ? 9 : 8] = value;
    }
    memset(bytes + size, 0, 4);
    return size + 4;
}

static void parses_exif(void **state) {
    uint8_t bytes[100];
    (void)state;
    for (int orientation = 0; orientation <= 9; orientation++)
        for (int entries = 0; entries <= 3; entries++) {
            int expected = orientation >= 1 && orientation <= 8 ? orientation : 1;
            size_t size = make_exif(bytes, orientation % 2, entries, orientation);
            assert_int_equal(tvlm_io_exif_orientation(bytes, size), expected);
            for (size_t cut = 0; cut < size - 4; cut++)
                assert_int_equal(tvlm_io_exif_orientation(bytes, cut), 1);
        }
    assert_int_equal(tvlm_io_exif_orientation(NULL, 0), 1);
}

static void survives_damaged_exif(void **state) {
    uint64_t seed = 1234567;
    (void)state;
    for (int i = 0; i < 5000; i++) {
        uint8_t *bytes = malloc(100);
        assert_non_null(bytes);
        size_t size = make_exif(bytes, i % 2, i % 4, i % 8 + 1);
        io_damage(&seed, bytes, size);
        bytes = realloc(bytes, size); /* no room behind it that would hide an overrun */
        assert_non_null(bytes);
        assert_in_range(tvlm_io_exif_orientation(bytes, size), 1, 8);
        free(bytes);
    }
}

/* jpeg_rgb with an EXIF segment after its start marker. */
static size_t splice_exif(uint8_t *bytes, bool big_endian, int orientation) {
    static const uint8_t head[12] = {0xFF, 0xD8, 0xFF, 0xE1, 0, 0, 'E', 'x', 'i', 'f', 0, 0};
    size_t exif = make_exif(bytes + 12, big_endian, 2, orientation);
    memcpy(bytes, head, sizeof head);
    bytes[5] = (uint8_t)(exif + 8);
    memcpy(bytes + 12 + exif, jpeg_rgb + 2, sizeof jpeg_rgb - 2);
    return 12 + exif + sizeof jpeg_rgb - 2;
}

/* EXIF 2.32: where the stored pixel x, y of a w x h picture is seen. */
static void seen_at(int orientation, int w, int h, int x, int y, int *seen_x, int *seen_y) {
    const int places[8][2] = {{x, y}, {w - 1 - x, y}, {w - 1 - x, h - 1 - y}, {x, h - 1 - y},
                              {y, x}, {h - 1 - y, x}, {h - 1 - y, w - 1 - x}, {y, w - 1 - x}};
    *seen_x = places[orientation - 1][0];
    *seen_y = places[orientation - 1][1];
}

static void applies_all_orientations(void **state) {
    uint8_t bytes[sizeof jpeg_rgb + 100];
    (void)state;
    tvlm_image *plain = load_bytes(jpeg_rgb, sizeof jpeg_rgb);
    for (int orientation = 1; orientation <= 8; orientation++) {
        tvlm_image *turned = load_bytes(bytes, splice_exif(bytes, orientation % 2, orientation));
        assert_kind(turned, orientation < 5 ? 19 : 13, orientation < 5 ? 13 : 19, 3, TVLM_PIXEL_U8);
        for (int y = 0; y < 13; y++)
            for (int x = 0; x < 19; x++) {
                int seen_x, seen_y;
                seen_at(orientation, 19, 13, x, y, &seen_x, &seen_y);
                const uint8_t *stored = plain->pixels, *seen = turned->pixels;
                ptrdiff_t from = (ptrdiff_t)y * 19 + x, to = (ptrdiff_t)seen_y * turned->width + seen_x;
                assert_memory_equal(stored + 3 * from, seen + 3 * to, 3);
            }
        tvlm_image_destroy(&turned);
    }
    tvlm_image_destroy(&plain);
    /* 6: the stored row runs down on the right. Gray 10, 200 in a row becomes a column. */
    tvlm_image *png = load_bytes(png_exif, sizeof png_exif);
    const uint8_t column[] = {10, 200};
    assert_kind(png, 1, 2, 1, TVLM_PIXEL_U8);
    assert_bytes(png, 1, column);
}

static void reads_webp(void **state) {
    const uint8_t with_alpha[] = {1, 2, 3, 10, 4, 5, 6, 20, 7, 8, 9, 255};
    const uint8_t column[] = {10, 10, 10, 200, 200, 200};
    tvlm_image *image = NULL;
    (void)state;
    if (!decodes_by("WebP", "libwebp")) {
        io_expect(tvlm_image_load(io_put("a.webp", webp_rgb, sizeof webp_rgb), &io_log, &image),
                  TVLM_ERROR_UNSUPPORTED, "is WebP, which is not supported");
        return;
    }
    assert_rgb(load_bytes(webp_rgb, sizeof webp_rgb), 0);
    assert_bytes(load_bytes(webp_alpha, sizeof webp_alpha), 4, with_alpha);
    image = load_bytes(webp_exif, sizeof webp_exif);
    assert_kind(image, 1, 2, 3, TVLM_PIXEL_U8); /* 6: the stored row runs down on the right */
    assert_bytes(image, 3, column);
    assert_rgb(load_bytes(webp_animated, sizeof webp_animated), 0); /* the first frame */
    check_slopes(webp_lossy, sizeof webp_lossy, 20);
}

static void refuses_bad_webp(void **state) {
    uint8_t bytes[sizeof webp_animated];
    tvlm_image *image = NULL;
    (void)state;
    if (!decodes_by("WebP", "libwebp")) skip();
    memcpy(bytes, webp_animated, sizeof bytes);
    memset(bytes + 24, 0xFF, 6); /* VP8X: a canvas of 2^24 x 2^24 pixels */
    io_expect(tvlm_image_load(io_put("a.webp", bytes, sizeof bytes), &io_log, &image), TVLM_ERROR_FORMAT,
              "is a damaged WebP");
    memcpy(bytes + 24, "\xFF\x7F\0\xFF\x7F\0", 6); /* 32768 x 32768 */
    io_expect(tvlm_image_load(io_put("a.webp", bytes, sizeof bytes), &io_log, &image), TVLM_ERROR_UNSUPPORTED,
              "too large: 32768 x 32768 pixels");
    io_expect(tvlm_image_load(io_put("a.webp", "RIFF\x10\0\0\0WEBPVP8 ", 16), &io_log, &image),
              TVLM_ERROR_FORMAT, "is a truncated WebP");
    assert_null(image);
}

/* 38 x 26 pixels on slopes, to a tolerance; channels 3 or 4, whose alpha is 6x. */
static void check_heif(const unsigned char *bytes, size_t size, int channels, tvlm_pixel_type type) {
    tvlm_image *image = load_bytes(bytes, size);
    assert_kind(image, 38, 26, channels, type);
    for (int y = 0; y < 26; y++)
        for (int x = 0; x < 38; x++) {
            const int slopes[4] = {4 * x + 40, 4 * y + 30, 2 * x + 2 * y + 60, 6 * x};
            for (int c = 0; c < channels; c++) {
                const size_t at = ((size_t)y * 38 + (size_t)x) * (size_t)channels + (size_t)c;
                const int value = type == TVLM_PIXEL_U16 ? ((const uint16_t *)image->pixels)[at] / 257
                                                         : ((const uint8_t *)image->pixels)[at];
                assert_in_range(value - slopes[c] + 12, 0, 24);
            }
        }
    tvlm_image_destroy(&image);
}

static void reads_heif_and_avif(void **state) {
    tvlm_image *image = NULL;
    (void)state;
    if (!decodes_by("HEIF and AVIF", "libheif")) {
        io_expect(tvlm_image_load(io_put("a.avif", heif_avif, sizeof heif_avif), &io_log, &image),
                  TVLM_ERROR_UNSUPPORTED, "is HEIF and AVIF, which is not supported");
        return;
    }
    check_heif(heif_avif, sizeof heif_avif, 3, TVLM_PIXEL_U8);
    check_heif(heif_heic, sizeof heif_heic, 3, TVLM_PIXEL_U8);
    check_heif(heif_alpha, sizeof heif_alpha, 4, TVLM_PIXEL_U8);
    check_heif(heif_deep, sizeof heif_deep, 3, TVLM_PIXEL_U16);
    static const char video[] = "\0\0\0\x18"
                                "ftypisom\0\0\0\0isommp41"
                                "\0\0\0\x08mdat";
    io_expect(tvlm_image_load(io_put("a.mp4", video, sizeof video - 1), &io_log, &image),
              TVLM_ERROR_UNSUPPORTED, "a.mp4 is HEIF or AVIF of a kind that is not supported");
    assert_null(image);
}

static void says_what_is_no_image(void **state) {
    tvlm_image *image = NULL;
    (void)state;
    io_put("text.png", "Hello, this is a text.\n", 23);
    io_expect(tvlm_image_load(io_path("text.png"), &io_log, &image), TVLM_ERROR_FORMAT, "unknown type");
    assert_non_null(strstr(io_logged, "text.png is not an image"));
    io_put("empty.png", "", 0);
    io_expect(tvlm_image_load(io_path("empty.png"), &io_log, &image), TVLM_ERROR_FORMAT,
              "empty.png is empty");
    io_put("one.png", "\x89", 1);
    io_expect(tvlm_image_load(io_path("one.png"), &io_log, &image), TVLM_ERROR_FORMAT, "unknown type");
    io_put("a.gif", "GIF89a\x10\0\x10\0", 10);
    io_expect(tvlm_image_load(io_path("a.gif"), &io_log, &image), TVLM_ERROR_UNSUPPORTED, "is GIF");
    assert_non_null(strstr(io_logged, "(read are: JPEG, PNG, BMP, PPM and PGM"));
    io_expect(tvlm_image_load(io_path("none.png"), &io_log, &image), TVLM_ERROR_IO, "No such file");
    io_expect(tvlm_image_load(io_folder, &io_log, &image), TVLM_ERROR_IO, "Is a directory");
    io_expect(tvlm_image_load(NULL, &io_log, &image), TVLM_ERROR_ARGUMENT, "NULL");
    io_expect(tvlm_image_load("a", &io_log, NULL), TVLM_ERROR_ARGUMENT, "NULL");
    assert_int_equal(tvlm_image_load(io_path("none.png"), NULL, &image), TVLM_ERROR_IO);
    assert_null(image);
    tvlm_image_destroy(&image);
    tvlm_image_destroy(NULL);
}

static void lists_decoders(void **state) {
    tvlm_image_decoder one[2];
    int32_t count = 0, again = 0;
    (void)state;
    assert_int_equal(tvlm_image_decoder_list(0, NULL, &count), TVLM_OK);
    assert_in_range(count, 4, 16);
    memset(one, 0xFF, sizeof one);
    assert_int_equal(tvlm_image_decoder_list(1, one, &again), TVLM_OK);
    assert_int_equal(again, count);
    assert_string_equal(one[0].format, "JPEG");
    assert_non_null(one[0].library);
    assert_true(one[0].reserved[3] == 0 && one[1].reserved[0] == UINT64_MAX);
    assert_int_equal(tvlm_image_decoder_list(1, NULL, &count), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_image_decoder_list(-1, one, &count), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_image_decoder_list(1, one, NULL), TVLM_ERROR_ARGUMENT);
    assert_true(decodes_by("BMP", "stb_image"));
}

/* 19 x 13 pixels at the least fraction that is no shorter; what has no fractions stays as it is. */
static void decodes_smaller(void **state) {
    static const struct {
        int max_side, width, height;
    } rows[] = {{0, 19, 13}, {19, 19, 13}, {10, 19, 13}, {9, 10, 7},
                {5, 10, 7},  {4, 5, 4},    {2, 3, 2},    {1, 3, 2}};
    const bool fractions = decodes_by("JPEG", "libjpeg");
    uint8_t bytes[sizeof jpeg_rgb + 100];
    tvlm_image *image = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int orientation = 1; orientation <= 6; orientation += 5) {
            const char *path = io_put("a.jpg", bytes, splice_exif(bytes, true, orientation));
            const int width = fractions ? rows[i].width : 19, height = fractions ? rows[i].height : 13;
            const bool turned = orientation == 6, smaller = width < 19;
            io_expect(tvlm_image_load_for(
                          path, tvlm_image_load_params(.max_side = rows[i].max_side, .log = &io_log), &image),
                      TVLM_OK, NULL);
            assert_kind(image, turned ? height : width, turned ? width : height, 3, TVLM_PIXEL_U8);
            assert_int_equal(image->of_width, !smaller ? 0 : turned ? 13 : 19);
            assert_int_equal(image->of_height, !smaller ? 0 : turned ? 19 : 13);
            tvlm_image_destroy(&image);
        }
    io_put("a.png", png_rgb, sizeof png_rgb);
    io_expect(tvlm_image_load_for(io_path("a.png"), tvlm_image_load_params(.max_side = 1), &image), TVLM_OK,
              NULL);
    assert_kind(image, 9, 7, 3, TVLM_PIXEL_U8);
    assert_int_equal(image->of_width, 0);
    tvlm_image_destroy(&image);
    io_expect(tvlm_image_load_for(io_path("a.png"), NULL, &image), TVLM_OK, NULL);
    tvlm_image_destroy(&image);
    io_expect(
        tvlm_image_load_for(io_path("a.png"), tvlm_image_load_params(.max_side = -1, .log = &io_log), &image),
        TVLM_ERROR_ARGUMENT, "-1 pixels");
    io_expect(tvlm_image_load_for(io_path("a.png"),
                                  tvlm_image_load_params(.log = &io_log, .reserved = {0, 1}), &image),
              TVLM_ERROR_ARGUMENT, "reserved");
    assert_null(image);
}

static void writes_png(void **state) {
    (void)state;
    for (int channels = 1; channels <= 4; channels++)
        for (int width = 1; width <= 70; width += 23) {
            uint8_t pixels[70 * 33 * 4];
            uint64_t seed = 5;
            int height = width % 33 + 1, size = width * height * channels;
            for (int i = 0; i < size; i++) pixels[i] = (uint8_t)(i % 5 ? i : (int)io_random(&seed));
            io_expect(tvlm_png_write(io_path("a.png"), width, height, channels, pixels, &io_log), TVLM_OK,
                      NULL);
            tvlm_image *image = load(io_path("a.png"));
            assert_kind(image, width, height, channels, TVLM_PIXEL_U8);
            assert_bytes(image, channels, pixels);
        }
    assert_int_equal(io_files(false), 1);
}

static void refuses_bad_png_arguments(void **state) {
    const uint8_t pixel[4] = {0};
    (void)state;
    io_expect(tvlm_png_write(io_path("a"), 0, 1, 1, pixel, &io_log), TVLM_ERROR_ARGUMENT, "0 x 1");
    io_expect(tvlm_png_write(io_path("a"), 1, -1, 1, pixel, &io_log), TVLM_ERROR_ARGUMENT, "1 x -1");
    io_expect(tvlm_png_write(io_path("a"), 1, 1, 5, pixel, &io_log), TVLM_ERROR_ARGUMENT, "5 channels");
    io_expect(tvlm_png_write(io_path("a"), INT32_MAX, INT32_MAX, 4, pixel, &io_log), TVLM_ERROR_ARGUMENT,
              "range");
    io_expect(tvlm_png_write(io_path("a"), 1 << 20, 1 << 20, 4, pixel, &io_log), TVLM_ERROR_ARGUMENT,
              "range");
    io_expect(tvlm_png_write(io_path("a"), 1, 1, 1, NULL, &io_log), TVLM_ERROR_ARGUMENT, "NULL");
    io_expect(tvlm_png_write(io_path("none/a"), 1, 1, 1, pixel, &io_log), TVLM_ERROR_IO, "No such file");
    assert_int_equal(io_files(false), 0);
}

static void reads_real_photos(void **state) {
    static const struct {
        const char *name;
        int width, height, channels;
        tvlm_pixel_type type;
    } photos[] = {
        {"photos/edge/exif_orientation90.jpg", 2016, 1512, 3, TVLM_PIXEL_U8},
        {"photos/edge/flower_16bit.ppm", 510, 532, 3, TVLM_PIXEL_U16},
        {"photos/edge/flower_cmyk.jpg", 510, 532, 3, TVLM_PIXEL_U8},
        {"photos/edge/flower_gray_alpha.png", 510, 532, 2, TVLM_PIXEL_U8},
        {"photos/edge/room_16bit.png", 676, 449, 3, TVLM_PIXEL_U16},
        {"photos/tulips_rgba.png", 500, 500, 4, TVLM_PIXEL_U8},
        {"photos/camera.png", 512, 512, 1, TVLM_PIXEL_U8},
        {"photos/rocket.jpg", 640, 427, 3, TVLM_PIXEL_U8},
    };
    char path[600];
    (void)state;
    for (size_t i = 0; i < sizeof photos / sizeof photos[0]; i++) {
        if (!io_shared(photos[i].name, path)) skip();
        tvlm_image *image = load(path);
        assert_kind(image, photos[i].width, photos[i].height, photos[i].channels, photos[i].type);
        tvlm_image_destroy(&image);
    }
}

/* Neighbouring samples of a photograph are near each other; with their bytes swapped they are not. */
static void reads_sixteen_bits_in_order(void **state) {
    static const char *const names[] = {"photos/edge/room_16bit.png", "photos/edge/flower_16bit.ppm"};
    char path[600];
    (void)state;
    for (int i = 0; i < 2; i++) {
        if (!io_shared(names[i], path)) skip();
        tvlm_image *image = load(path);
        const uint16_t *samples = image->pixels;
        size_t count = (size_t)image->width * (size_t)image->height * 3 - 3;
        double difference = 0, swapped = 0;
        for (size_t k = 0; k < count; k++) {
            uint16_t a = (uint16_t)(samples[k] << 8 | samples[k] >> 8);
            uint16_t b = (uint16_t)(samples[k + 3] << 8 | samples[k + 3] >> 8);
            difference += abs(samples[k] - samples[k + 3]);
            swapped += abs(a - b);
        }
        assert_true(difference <= swapped); /* equal where both bytes of a sample are the same */
        assert_true(difference / (double)count < 3000);
        tvlm_image_destroy(&image);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        io_test(reads_png_of_eight_bits),
        io_test(reads_png_of_sixteen_bits),
        io_test(reads_bmp),
        io_test(reads_bmp_palettes),
        io_test(reads_ppm_and_pgm),
        io_test(refuses_bad_ppm),
        io_test(reads_jpeg),
        io_test(refuses_other_jpeg),
        io_test(parses_exif),
        io_test(survives_damaged_exif),
        io_test(applies_all_orientations),
        io_test(reads_webp),
        io_test(reads_heif_and_avif),
        io_test(refuses_bad_webp),
        io_test(says_what_is_no_image),
        io_test(lists_decoders),
        io_test(decodes_smaller),
        io_test(writes_png),
        io_test(refuses_bad_png_arguments),
        io_test(reads_real_photos),
        io_test(reads_sixteen_bits_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
