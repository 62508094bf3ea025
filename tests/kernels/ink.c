/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ink.c: the colours of an image at a quarter of its size. Known pictures are tested on the reference, and
 * every device against the reference.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/family.h"

enum { TEXEL = 4 /* the side of a texel in pixels, if 4 divides the image's side */, BYTES = TVLM_INK_BYTES };

static int32_t texels_of(int32_t side, int32_t levels) {
    return tvlm_level_side(side, levels > 2 ? 2 : levels - 1);
}

static size_t bytes_of(const tvlm_texture *source) {
    return (size_t)texels_of(source->width, source->levels) *
           (size_t)texels_of(source->height, source->levels) * BYTES;
}

/* Returns the colours of an image, behind `offset` other bytes. free() them. */
static uint8_t *colours_at(tvlm_device *device, const tvlm_texture *source, int32_t image, size_t offset) {
    const size_t bytes = offset + bytes_of(source);
    uint8_t *const colours = malloc(bytes);
    assert_non_null(colours);
    tvlm_buffer *buffer = test_buffer(device, bytes, NULL);
    if (device->backend->ink(device, source, image, buffer, offset) != TVLM_OK)
        fail_msg("%s", test_last_log());
    test_buffer_take(device, &buffer, bytes, colours);
    return colours;
}

/* ---- Devices ---- */

/* Bytes may differ by one if the value is a tie but for the last bits of a product. There are only 255 ties,
 * so hardly any value is that near to one. */
static const test_tolerance tolerance = {1.0f, 2e-2f, 0.0f};

static void compare(const test_pair *source) {
    enum { OFFSET = 5 }; /* no multiple of anything */
    const int32_t image = source->got->images - 1;
    const size_t count = bytes_of(source->got);
    uint8_t *const got = colours_at(source->device, source->got, image, OFFSET);
    uint8_t *const expected = colours_at(source->reference, source->expected, image, OFFSET);
    float *const floats = malloc(2 * count * sizeof *floats);
    char what[96];
    assert_non_null(floats);
    assert_memory_equal(got, expected, OFFSET); /* the guard's pattern */
    for (size_t i = 0; i < count; ++i) {
        floats[i] = got[OFFSET + i];
        floats[count + i] = expected[OFFSET + i];
    }
    snprintf(what, sizeof what, "ink of %dx%d", (int)source->got->width, (int)source->got->height);
    test_compare_stage(what, floats, floats + count, count, 1, tolerance, false);
    free(floats);
    free(got);
    free(expected);
}

static void as_floats(const test_trial *trial) {
    test_pair source =
        test_source(trial->target, trial->reference, trial->size, 2, trial->picture, trial->random);
    compare(&source);
    test_pair_destroy(&source);
}

/* Bytes are a format of their own, so each storage that has them is tried once, and not for each format of a
 * target. Native levels are left out: the layer that adds them to PoCL has them of floats and halves alone
 * (layer/mipmaps.c). */
static void as_bytes(const test_trial *trial) {
    const test_target *const target = trial->target;
    const bool buffers = target->device->info.storage == TVLM_STORAGE_BUFFER;
    if (target->device->info.storage == TVLM_STORAGE_MIPMAPPED || !test_stores_bytes(target->device) ||
        target->format != (buffers ? TVLM_FORMAT_F32 : TVLM_FORMAT_F16))
        return;
    tvlm_texture shape = test_shape(trial->size, 1, 2, TVLM_FORMAT_U8);
    shape.range = TVLM_RANGE_UNIT;
    test_pair source = test_pair_create(target, trial->reference, &shape);
    test_pair_fill(&source, trial->random, 0.0f, 1.0f, false);
    test_pair_levels(&source);
    compare(&source);
    test_pair_destroy(&source);
}

/* A source with one level has the colours of that level. */
static void as_one_level(const test_trial *trial) {
    tvlm_texture shape = test_shape(trial->size, 1, 1, trial->target->format);
    shape.levels = 1;
    test_pair source = test_pair_create(trial->target, trial->reference, &shape);
    test_pair_fill(&source, trial->random, 0.0f, 1.0f, false);
    compare(&source);
    test_pair_destroy(&source);
}

static const test_size one_level[] = {{21, 13}, {0, 0}};

/* ---- What is known ---- */

typedef void painter(int32_t x, int32_t y, float rgb[3]);

/* Returns the colours of a picture, as `paint` paints it. free() them. */
static uint8_t *painted(tvlm_device *device, test_size size, painter *paint) {
    const tvlm_texture shape = test_shape(size, 1, 1, TVLM_FORMAT_F32);
    float *const rgba = calloc(4 * (size_t)size.width * (size_t)size.height, sizeof *rgba);
    assert_non_null(rgba);
    for (int32_t i = 0; i < size.width * size.height; ++i)
        paint(i % size.width, i / size.width, rgba + 4 * (ptrdiff_t)i);
    tvlm_texture *source = test_texture(device, &shape);
    assert_int_equal(device->backend->texture_write(device, source, 0, rgba), TVLM_OK);
    assert_int_equal(device->backend->mips(device, &source, 1), TVLM_OK);
    uint8_t *const colours = colours_at(device, source, 0, 0);
    device->backend->texture_destroy(device, &source);
    free(rgba);
    return colours;
}

static void gray(float rgb[3], double byte) {
    for (int c = 0; c < 3; ++c) rgb[c] = (float)(byte / 255.0);
}

static void paint_dot(int32_t x, int32_t y, float rgb[3]) {
    gray(rgb, x == 21 && y == 37 ? 0.0 : 255.0);
}

/* A black pixel darkens its texel by a sixteenth, which is 16 of 255. At half of the size it darkens one by a
 * quarter, which is 64. */
static void dot(tvlm_device *device) {
    enum { SIDE = 64, COLUMNS = SIDE / TEXEL, WHERE = 37 / TEXEL * COLUMNS + 21 / TEXEL };
    uint8_t *const colours = painted(device, (test_size){SIDE, SIDE}, paint_dot);
    for (int i = 0; i < COLUMNS * COLUMNS; ++i) {
        const uint8_t white[BYTES] = {255, 255, 255, 0}, dotted[BYTES] = {239, 239, 239, 64};
        assert_memory_equal(colours + i * BYTES, i == WHERE ? dotted : white, BYTES);
    }
    free(colours);
}

static void paint_hairline(int32_t x, int32_t y, float rgb[3]) {
    (void)y;
    gray(rgb, x == 21 ? 155.0 : 255.0);
}

/* A gray line of one pixel is seen at a quarter of its contrast in all texels that it runs through. */
static void hairline(tvlm_device *device) {
    enum { SIDE = 64, COLUMNS = SIDE / TEXEL };
    uint8_t *const colours = painted(device, (test_size){SIDE, SIDE}, paint_hairline);
    for (int i = 0; i < COLUMNS * COLUMNS; ++i)
        assert_int_equal(colours[i * BYTES + 1], i % COLUMNS == 21 / TEXEL ? 230 : 255);
    free(colours);
}

static void paint_noise(int32_t x, int32_t y, float rgb[3]) {
    static uint64_t random = 5;
    (void)x;
    (void)y;
    for (int c = 0; c < 3; ++c) {
        double sum = -6.0; /* a sum of twelve uniform numbers is nearly normal, with a sigma of 1 */
        for (int i = 0; i < 12; ++i) sum += (double)test_random_unit(&random);
        rgb[c] = (float)(round(240.0 + 3.0 * sum) / 255.0);
    }
}

/* The noise of paper hardly counts as ink: the mean of 4 x 4 pixels has a quarter of its sigma. */
static void noise(tvlm_device *device) {
    enum { SIDE = 256, COUNT = SIDE / TEXEL * SIDE / TEXEL };
    uint8_t *const colours = painted(device, (test_size){SIDE, SIDE}, paint_noise);
    for (int i = 0; i < COUNT; ++i) {
        assert_in_range(colours[i * BYTES + 1], 234, 246);
        assert_in_range(colours[i * BYTES + 3], 0, 12);
    }
    free(colours);
}

/* Strokes of six pixels, 20 bytes darker than the paper. */
static void paint_watermark(int32_t x, int32_t y, float rgb[3]) {
    gray(rgb, x >= 21 && x < 27 && y >= 10 && y < 50 ? 230.0 : 250.0);
}

static void watermark(tvlm_device *device) {
    enum { SIDE = 64, COLUMNS = SIDE / TEXEL };
    uint8_t *const colours = painted(device, (test_size){SIDE, SIDE}, paint_watermark);
    for (int row = 3; row < 12; ++row)
        for (int column = 5; column < 7; ++column)
            assert_int_equal(colours[(row * COLUMNS + column) * BYTES + 1], 235);
    assert_int_equal(colours[7 * BYTES + 1], 250);
    free(colours);
}

static void paint_stripes(int32_t x, int32_t y, float rgb[3]) {
    (void)y;
    gray(rgb, x % 4 < 2 ? 0.0 : 255.0);
}

/* Stripes of two pixels are an even gray at a quarter of the size. Only the fourth byte, which is about the
 * finer level, shows them. */
static void stripes(tvlm_device *device) {
    enum { SIDE = 64, COUNT = SIDE / TEXEL * SIDE / TEXEL };
    const uint8_t striped[BYTES] = {128, 128, 128, 255};
    uint8_t *const colours = painted(device, (test_size){SIDE, SIDE}, paint_stripes);
    for (int i = 0; i < COUNT; ++i) assert_memory_equal(colours + i * BYTES, striped, BYTES);
    free(colours);
}

static void paint_halves(int32_t x, int32_t y, float rgb[3]) {
    const float left[3] = {1.0f, 0.0f, 0.0f}, right[3] = {0.0f, 1.0f, 0.5f};
    (void)y;
    memcpy(rgb, x < 28 ? left : right, sizeof left);
}

/* Half a byte is rounded up. The 17 rows of pixels make four rows of texels. */
static void channels(tvlm_device *device) {
    enum { COLUMNS = 14, ROWS = 4 };
    const uint8_t left[BYTES] = {255, 0, 0, 0}, right[BYTES] = {0, 255, 128, 0};
    uint8_t *const colours = painted(device, (test_size){56, 17}, paint_halves);
    for (int i = 0; i < COLUMNS * ROWS; ++i)
        assert_memory_equal(colours + i * BYTES, i % COLUMNS < 7 ? left : right, BYTES);
    free(colours);
}

static void paint_left(int32_t x, int32_t y, float rgb[3]) {
    (void)y;
    gray(rgb, x < 4 ? 0.0 : 255.0);
}

/* Nine pixels make two texels of 4.5 pixels each. The first texel is black but for half a pixel, which is a
 * ninth of it. */
static void odd(tvlm_device *device) {
    uint8_t *const colours = painted(device, (test_size){9, 9}, paint_left);
    for (int row = 0; row < 2; ++row) {
        assert_int_equal(colours[2 * row * BYTES], 28); /* 255 / 9 */
        assert_int_equal(colours[(2 * row + 1) * BYTES], 255);
    }
    free(colours);
}

static void paint_one(int32_t x, int32_t y, float rgb[3]) {
    (void)x;
    (void)y;
    rgb[0] = 0.2f;
    rgb[1] = 0.5f;
    rgb[2] = 1.0f;
}

static void pixel(tvlm_device *device) {
    const uint8_t expected[BYTES] = {51, 128, 255, 0};
    uint8_t *const colours = painted(device, (test_size){1, 1}, paint_one);
    assert_memory_equal(colours, expected, BYTES);
    free(colours);
}

TEST_FAMILY(ink, {"dot", .known = dot}, {"hairline", .known = hairline}, {"stripes", .known = stripes},
            {"noise", .known = noise}, {"watermark", .known = watermark}, {"channels", .known = channels},
            {"odd", .known = odd}, {"pixel", .known = pixel},
            {"as floats", .trial = as_floats, .seed = 17, .pictures = true},
            {"as bytes", .trial = as_bytes, .seed = 19},
            {"as one level", .trial = as_one_level, .sizes = one_level, .seed = 23})
