/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pictures that are cut or damaged, and small files that would take much time or memory.
 */
#include "io_image_helper.h"

static void refuses_every_truncation(void **state) {
    static const struct {
        const unsigned char *bytes;
        size_t size;
    } samples[] = {{png_rgb, sizeof png_rgb},
                   {png_rgb16, sizeof png_rgb16},
                   {png_interlaced, sizeof png_interlaced},
                   {jpeg_rgb, sizeof jpeg_rgb},
                   {jpeg_gray, sizeof jpeg_gray},
                   {jpeg_progressive, sizeof jpeg_progressive},
                   {jpeg_cmyk, sizeof jpeg_cmyk},
                   {jpeg_restart, sizeof jpeg_restart},
                   {bmp_palette, sizeof bmp_palette},
                   {webp_rgb, sizeof webp_rgb},
                   {webp_lossy, sizeof webp_lossy},
                   {webp_exif, sizeof webp_exif},
                   {webp_animated, sizeof webp_animated},
                   {heif_avif, sizeof heif_avif},
                   {heif_heic, sizeof heif_heic},
                   {heif_deep, sizeof heif_deep}};
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        if (memcmp(samples[i].bytes, "RIFF", 4) == 0 && !decodes_by("WebP", "libwebp")) continue;
        if (memcmp(samples[i].bytes + 4, "ftyp", 4) == 0 && !decodes_by("HEIF and AVIF", "libheif")) continue;
        size_t step = samples[i].size / 10;
        /* The last row of a BMP may lack its padding: 4 bytes short is the first that counts for all. */
        for (size_t cut = 4; cut < samples[i].size; cut += cut < step ? 1 : step) {
            tvlm_image *image = NULL;
            const char *path = io_put("cut", samples[i].bytes, samples[i].size - cut);
            tvlm_status status = tvlm_image_load(path, &io_log, &image);
            assert_int_equal(status, TVLM_ERROR_FORMAT);
            io_expect(status, TVLM_ERROR_FORMAT, "/cut is ");
            assert_null(image);
        }
    }
}

/* A JPEG that lost its end and got an end marker again. */
static void refuses_jpeg_that_ends_early(void **state) {
    static const struct {
        const unsigned char *bytes;
        size_t size;
    } samples[] = {{jpeg_rgb, sizeof jpeg_rgb},
                   {jpeg_gray, sizeof jpeg_gray},
                   {jpeg_progressive, sizeof jpeg_progressive},
                   {jpeg_cmyk, sizeof jpeg_cmyk},
                   {jpeg_restart, sizeof jpeg_restart}};
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        uint8_t bytes[2000];
        size_t begin = samples[i].size - 2;
        while (samples[i].bytes[begin] != 0xFF || samples[i].bytes[begin + 1] != 0xDA) begin--;
        begin += 2u + samples[i].bytes[begin + 3]; /* behind the header of its last scan */
        for (size_t size = begin; size < samples[i].size - 2; size++) {
            tvlm_image *image = NULL;
            memcpy(bytes, samples[i].bytes, size);
            memcpy(bytes + size, "\xFF\xD9", 2);
            const char *path = io_put("early.jpg", bytes, size + 2);
            io_expect(tvlm_image_load(path, &io_log, &image), TVLM_ERROR_FORMAT, "early.jpg ");
            assert_null(image);
        }
    }
}

/* Each scan is a walk over all pixels: a few bytes could cost hours. */
static void refuses_jpeg_of_many_scans(void **state) {
    static uint8_t bytes[102 * sizeof jpeg_gray];
    const size_t end = sizeof jpeg_gray - 2;
    size_t begin = end;
    (void)state;
    while (jpeg_gray[begin] != 0xFF || jpeg_gray[begin + 1] != 0xDA) begin--;
    for (int scans = 100; scans <= 101; scans++) {
        size_t size = begin;
        tvlm_image *image = NULL;
        memcpy(bytes, jpeg_gray, begin);
        for (int i = 0; i < scans; i++, size += end - begin)
            memcpy(bytes + size, jpeg_gray + begin, end - begin);
        memcpy(bytes + size, "\xFF\xD9", 2);
        const char *path = io_put("scans.jpg", bytes, size + 2);
        if (scans == 100)
            io_expect(tvlm_image_load(path, &io_log, &image), TVLM_OK, NULL);
        else
            io_expect(tvlm_image_load(path, &io_log, &image), TVLM_ERROR_UNSUPPORTED, "more than 100 scans");
        tvlm_image_destroy(&image);
    }
}

static size_t put_chunk(uint8_t *png, size_t at, const char *letters, const uint8_t *content, size_t size) {
    uint32_t crc = UINT32_MAX;
    for (int i = 0; i < 4; i++) png[at + (size_t)i] = (uint8_t)(size >> (24 - 8 * i));
    memcpy(png + at + 4, letters, 4);
    if (size > 0) memcpy(png + at + 8, content, size);
    for (size_t i = 4; i < 8 + size; i++) {
        crc ^= png[at + i];
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
    }
    for (int i = 0; i < 4; i++) png[at + 8 + size + (size_t)i] = (uint8_t)(~crc >> (24 - 8 * i));
    return at + 12 + size;
}

/* A gray PNG whose data inflate to one zero and `runs` times 258 more: 13 bits each, by fixed codes. */
static size_t make_png(uint8_t *png, uint32_t width, uint32_t height, int runs) {
    static uint8_t data[400000];
    const uint8_t header[13] = {(uint8_t)(width >> 24),
                                (uint8_t)(width >> 16),
                                (uint8_t)(width >> 8),
                                (uint8_t)width,
                                (uint8_t)(height >> 24),
                                (uint8_t)(height >> 16),
                                (uint8_t)(height >> 8),
                                (uint8_t)height,
                                8,
                                0,
                                0,
                                0,
                                0};
    size_t bit = 16;
    memset(data, 0, sizeof data);
    memcpy(data, "\x78\x01", 2);
    /* The last block, of fixed codes (RFC 1951, 3.2.6); literal 0; lengths of 258 at distance 1; the end. */
    const char *const begin = "110"
                              "00110000",
                      *const run = "11000101"
                                   "00000";
    for (const char *c = begin; *c != 0; c++, bit++) data[bit / 8] |= (uint8_t)((*c - '0') << bit % 8);
    for (int i = 0; i < runs; i++)
        for (const char *c = run; *c != 0; c++, bit++) data[bit / 8] |= (uint8_t)((*c - '0') << bit % 8);
    bit += 7;
    const size_t size = bit / 8 + 1 + 4; /* the checksum is behind all pixels: nobody minds */
    assert_true(size < sizeof data);
    memcpy(png, "\x89PNG\r\n\x1A\n", 8);
    size_t at = put_chunk(png, 8, "IHDR", header, 13);
    at = put_chunk(png, at, "IDAT", data, size);
    return put_chunk(png, at, "IEND", NULL, 0);
}

/* Data that inflate to far more than the pixels would fill the memory. */
static void refuses_png_bombs(void **state) {
    static uint8_t png[500000];
    tvlm_image *image = NULL;
    (void)state;
    image = load_bytes(png, make_png(png, 64, 64, 17));
    assert_kind(image, 64, 64, 1, TVLM_PIXEL_U8);
    tvlm_image_destroy(&image);
    const char *path = io_put("bomb.png", png, make_png(png, 64, 64, 200000)); /* 50 MB */
    if (decodes_by("PNG", "stb_image")) {
        io_expect(tvlm_image_load(path, &io_log, &image), TVLM_ERROR_FORMAT, "it has more data than pixels");
        assert_null(image);
    } else { /* libpng inflates no more than the pixels */
        image = load(path);
        assert_kind(image, 64, 64, 1, TVLM_PIXEL_U8);
        tvlm_image_destroy(&image);
    }
    path = io_put("large.png", png, make_png(png, 32768, 32769, 17)); /* more than 2^30 samples */
    io_expect(tvlm_image_load(path, &io_log, &image), TVLM_ERROR_UNSUPPORTED, "32768 x 32769 pixels");
    assert_null(image);
}

static void notices_damaged_pixels(void **state) {
    uint8_t bytes[sizeof png_rgb];
    tvlm_image *image = NULL;
    (void)state;
    memcpy(bytes, png_rgb, sizeof bytes);
    bytes[sizeof bytes - 20] ^= 1; /* within IDAT */
    io_expect(tvlm_image_load(io_put("a.png", bytes, sizeof bytes), &io_log, &image), TVLM_ERROR_FORMAT,
              "checksum");
    assert_null(image);
}

/* All coefficients of a progressive JPEG are kept: a few megabytes of zeros stand for gigabytes of them, however small the
 * picture is made. */
static void refuses_jpeg_of_too_many_coefficients(void **state) {
    /* 46400 x 46400 pixels of one component of 8 bits; a Huffman table whose only code means no change; a scan of means. */
    static const uint8_t start[] = {0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0},
                         rest[] = {0xFF, 0xC2, 0, 11, 8, 0xB5, 0x40, 0xB5, 0x40, 1, 1, 0x11, 0, 0xFF, 0xC4,
                                   0,    20,   0, 1,  0, 0,    0,    0,    0,    0, 0, 0,    0, 0,    0,
                                   0,    0,    0, 0,  0, 0xFF, 0xDA, 0,    8,    1, 1, 0,    0, 0,    0};
    const size_t steps = 64, head = sizeof start + steps + sizeof rest, size = head + 5800 * 5800 / 8 + 2;
    uint8_t *const bytes = calloc(size, 1);
    tvlm_image *image = NULL;
    (void)state;
    if (!decodes_by("JPEG", "libjpeg")) {
        free(bytes);
        return;
    }
    assert_non_null(bytes);
    memcpy(bytes, start, sizeof start);
    memset(bytes + sizeof start, 1, steps);
    memcpy(bytes + sizeof start + steps, rest, sizeof rest);
    bytes[size - 2] = 0xFF, bytes[size - 1] = 0xD9;
    const char *const path = io_put("a.jpg", bytes, size);
    io_expect(tvlm_image_load_for(path, tvlm_image_load_params(.max_side = 64, .log = &io_log), &image),
              TVLM_ERROR_UNSUPPORTED, "a.jpg is too large: 46400 x 46400 pixels");
    assert_null(image);
    free(bytes);
}

static void survives_damage(void **state) {
    static const struct {
        const unsigned char *bytes;
        size_t size;
    } samples[] = {{jpeg_rgb, sizeof jpeg_rgb},
                   {jpeg_progressive, sizeof jpeg_progressive},
                   {jpeg_restart, sizeof jpeg_restart},
                   {bmp_palette, sizeof bmp_palette},
                   {png_palette_alpha, sizeof png_palette_alpha},
                   {png_interlaced, sizeof png_interlaced},
                   {webp_rgb, sizeof webp_rgb},
                   {webp_lossy, sizeof webp_lossy},
                   {webp_animated, sizeof webp_animated},
                   {heif_avif, sizeof heif_avif},
                   {heif_heic, sizeof heif_heic}};
    enum { count = sizeof samples / sizeof samples[0] };
    uint64_t seed = 99;
    (void)state;
    for (int i = 0; i < 400 * count; i++) {
        uint8_t bytes[1000];
        size_t size = samples[i % count].size;
        tvlm_image *image = NULL;
        memcpy(bytes, samples[i % count].bytes, size);
        io_damage(&seed, bytes, size);
        tvlm_status status = tvlm_image_load(io_put("damaged", bytes, size), &io_log, &image);
        assert_true((status == TVLM_OK) == (image != NULL));
        if (status != TVLM_OK) io_expect(status, status, NULL);
        tvlm_image_destroy(&image);
    }
}

/* What a header says of the memory is enough, and one byte less is refused in one line; its first bytes say the same. */
static void keeps_the_limit(void **state) {
    static const struct {
        const unsigned char *bytes;
        size_t size;
    } samples[] = {{png_rgb, sizeof png_rgb},
                   {png_rgb16, sizeof png_rgb16},
                   {png_interlaced, sizeof png_interlaced},
                   {jpeg_rgb, sizeof jpeg_rgb},
                   {jpeg_gray, sizeof jpeg_gray},
                   {jpeg_progressive, sizeof jpeg_progressive},
                   {jpeg_cmyk, sizeof jpeg_cmyk},
                   {bmp_palette, sizeof bmp_palette},
                   {webp_rgb, sizeof webp_rgb},
                   {webp_lossy, sizeof webp_lossy},
                   {webp_exif, sizeof webp_exif},
                   {webp_animated, sizeof webp_animated},
                   {heif_avif, sizeof heif_avif},
                   {heif_heic, sizeof heif_heic},
                   {heif_deep, sizeof heif_deep},
                   {(const unsigned char *)"P6 2 1 255\nabcdef", 17},
                   {(const unsigned char *)"P2 2 1 999\n1 2", 14}};
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        const unsigned char *const bytes = samples[i].bytes;
        const size_t size = samples[i].size;
        const bool heif = memcmp(bytes + 4, "ftyp", 4) == 0;
        tvlm_image_info info, part;
        tvlm_image *image = NULL, *limited = NULL;
        if (memcmp(bytes, "RIFF", 4) == 0 && !decodes_by("WebP", "libwebp")) continue;
        if (heif && !decodes_by("HEIF and AVIF", "libheif")) continue;
        const char *const path = io_put("a", bytes, size);
        io_expect(tvlm_image_load(path, &io_log, &image), TVLM_OK, NULL);
        io_expect(tvlm_image_measure(bytes, size, true, "a", NULL, &info), TVLM_OK, NULL);
        assert_int_equal((int64_t)info.width * info.height, (int64_t)image->width * image->height);
        const uint64_t pixels = (uint64_t)image->width * (uint64_t)image->height * (uint64_t)image->channels *
                                (image->type == TVLM_PIXEL_U16 ? 2 : 1);
        assert_true(info.memory >= pixels);
        for (size_t cut = 4; cut < size; cut += cut < 40 ? 1 : size / 9 + 1) {
            if (tvlm_image_measure(bytes, size - cut, false, "a", NULL, &part) != TVLM_OK) continue;
            assert_true(part.memory == 0 || (part.memory >= info.memory && part.width == info.width));
            assert_true(!heif || part.memory == 0);
        }
        io_expect(tvlm_image_load_bytes(bytes, size, "a",
                                        tvlm_image_load_params(.memory = info.memory, .log = &io_log),
                                        &limited),
                  TVLM_OK, NULL);
        assert_memory_equal(image->pixels, limited->pixels, pixels);
        tvlm_image_destroy(&limited);
        io_expect(tvlm_image_load_for(
                      path, tvlm_image_load_params(.memory = info.memory + size, .log = &io_log), &limited),
                  TVLM_OK, NULL);
        tvlm_image_destroy(&limited);
        io_expect(tvlm_image_load_bytes(bytes, size, "a",
                                        tvlm_image_load_params(.memory = info.memory - 1, .log = &io_log),
                                        &limited),
                  TVLM_ERROR_MEMORY, "a takes ");
        io_expect(
            tvlm_image_load_for(
                path, tvlm_image_load_params(.memory = info.memory + size - 1, .log = &io_log), &limited),
            TVLM_ERROR_MEMORY, "MiB of memory to read and decode");
        io_expect(tvlm_image_load_for(path, tvlm_image_load_params(.memory = 1, .log = &io_log), &limited),
                  TVLM_ERROR_MEMORY, "MiB of memory to read and decode");
        assert_null(limited);
        tvlm_image_destroy(&image);
    }
}

/* A header that tells of more than any limit is refused before there is memory for it, and no product overflows. */
static void measures_what_is_huge(void **state) {
    static uint8_t png[] =
        "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\x10\x06\0\0\0\0\0\0\0\0\0\0\0IDAT\0\0\0\0";
    tvlm_image_info info;
    tvlm_image *image = NULL;
    (void)state;
    io_expect(tvlm_image_measure(png, sizeof png - 1, true, "a.png", NULL, &info), TVLM_OK, NULL);
    assert_int_equal(info.width, INT32_MAX);
    assert_true(info.memory > (uint64_t)1 << 60);
    io_expect(tvlm_image_load_bytes(png, sizeof png - 1, "a.png",
                                    tvlm_image_load_params(.memory = (uint64_t)1 << 40, .log = &io_log),
                                    &image),
              TVLM_ERROR_MEMORY, "a.png takes ");
    io_expect(tvlm_image_measure("nothing", 7, true, "a.txt", tvlm_image_load_params(.log = &io_log), &info),
              TVLM_ERROR_FORMAT, "a.txt is not an image");
    io_expect(tvlm_image_measure("", 0, true, "a.txt", tvlm_image_load_params(.log = &io_log), &info),
              TVLM_ERROR_FORMAT, "a.txt is empty");
    io_expect(tvlm_image_measure(NULL, 7, true, "a", tvlm_image_load_params(.log = &io_log), &info),
              TVLM_ERROR_ARGUMENT, "NULL");
    io_expect(tvlm_image_load_bytes(png, 9, NULL, tvlm_image_load_params(.log = &io_log), &image),
              TVLM_ERROR_ARGUMENT, "NULL");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        io_test(refuses_every_truncation),
        io_test(refuses_jpeg_that_ends_early),
        io_test(refuses_jpeg_of_many_scans),
        io_test(refuses_png_bombs),
        io_test(keeps_the_limit),
        io_test(measures_what_is_huge),
        io_test(notices_damaged_pixels),
        io_test(refuses_jpeg_of_too_many_coefficients),
        io_test(survives_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
