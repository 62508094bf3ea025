/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resize.c: resizing of bytes as Pillow does it. Weights are tested by their definition, and every device
 * must equal the reference to the byte. tests/python/check_export.py compares with Pillow itself.
 */
#include <math.h>
#include <string.h>

#include "export/inside.h"
#include "kernels/family.h"

/* ---- Weights ---- */

typedef struct axis_case {
    int32_t source, whole, first, size;
} axis_case;

static const axis_case axes[] = {{1, 1, 0, 1},         {1, 7, 0, 7},    {7, 1, 0, 1},     {100, 100, 0, 100},
                                 {97, 61, 0, 61},      {61, 97, 0, 97}, {640, 28, 0, 28}, {28, 640, 300, 40},
                                 {1000, 333, 50, 224}, {3, 5, 1, 3}};

/* The weights of an entry add up to 1 but for the rounding of each, and no entry reaches beyond the
 * source. */
static void check_axis(const axis_case *c) {
    int32_t taps = 0;
    int32_t *table = tvlm_resize_weights(c->source, c->whole, c->first, c->size, false, &taps);
    assert_non_null(table);
    for (int32_t o = 0; o < c->size; ++o) {
        const int32_t *entry = table + (ptrdiff_t)o * (taps + TVLM_RESIZE_HEAD);
        int64_t sum = 0;
        assert_true(entry[1] >= 1 && entry[1] <= taps);
        assert_true(entry[0] >= 0 && entry[0] + entry[1] <= c->source);
        for (int32_t i = 0; i < entry[1]; ++i) sum += entry[TVLM_RESIZE_HEAD + i];
        assert_true(llabs(sum - (1 << TVLM_RESIZE_BITS)) <= taps);
    }
    free(table);
}

static void weights(tvlm_device *device) {
    (void)device;
    for (size_t i = 0; i < sizeof axes / sizeof *axes; ++i) check_axis(&axes[i]);
}

/* From 2 pixels to 4, by hand, with Keys' cubic at a = -0.5. Centres are at 0.25 and 0.75 of a pixel. */
static void known_weights(tvlm_device *device) {
    (void)device;
    /* Output 1 has its centre at 0.75. It is 0.25 and 0.75 away from pixels 0 and 1, whose weights are
     * 0.8671875 and 0.2265625, normalised. */
    const double near = 0.8671875, far = 0.2265625, one = 1 << TVLM_RESIZE_BITS;
    int32_t taps = 0;
    int32_t *table = tvlm_resize_weights(2, 4, 0, 4, false, &taps);
    assert_non_null(table);
    const int32_t *entry = table + taps + TVLM_RESIZE_HEAD;
    assert_int_equal(taps, 5);
    assert_int_equal(entry[0], 0);
    assert_int_equal(entry[1], 2);
    assert_int_equal(entry[2], (int32_t)(0.5 + near / (near + far) * one));
    assert_int_equal(entry[3], (int32_t)(0.5 + far / (near + far) * one));
    free(table);
}

/* A place beyond the result has the weights of the nearest place in it, or, if `black`, none. */
static void places_beyond(tvlm_device *device) {
    (void)device;
    int32_t taps = 0;
    for (int black = 0; black < 2; ++black) {
        int32_t *table = tvlm_resize_weights(10, 7, -2, 11, black, &taps);
        int32_t *inside = tvlm_resize_weights(10, 7, 0, 7, false, &taps);
        assert_true(table != NULL && inside != NULL);
        const size_t stride = (size_t)taps + TVLM_RESIZE_HEAD;
        for (int32_t o = -2; o < 9; ++o) {
            const bool beyond = o < 0 || o > 6;
            const int32_t *entry = table + (size_t)(o + 2) * stride;
            const int32_t *nearest = inside + (size_t)(o < 0 ? 0 : o > 6 ? 6 : o) * stride;
            assert_int_equal(entry[0], nearest[0]);
            if (!beyond || !black)
                assert_memory_equal(entry, nearest, stride * sizeof *entry);
            else
                for (size_t i = 1; i < stride; ++i) assert_int_equal(entry[i], 0);
        }
        free(inside);
        free(table);
    }
}

/* ---- Pixels ---- */

typedef struct resize_case {
    int32_t width, height; /* of the source */
    axis_case x, y;
    int32_t channels;
    bool columns_first;
} resize_case;

static resize_case random_case(uint64_t *random) {
    const int32_t largest = test_small() ? 40 : 300;
    resize_case c;
    c.width = 1 + (int32_t)(test_random(random) % (uint64_t)largest);
    c.height = 1 + (int32_t)(test_random(random) % (uint64_t)largest);
    axis_case *const both[2] = {&c.x, &c.y};
    const int32_t sides[2] = {c.width, c.height};
    for (int i = 0; i < 2; ++i) {
        const int32_t whole = 1 + (int32_t)(test_random(random) % (uint64_t)largest);
        const int32_t first = (int32_t)(test_random(random) % (uint64_t)whole);
        const bool cut = test_random(random) % 3 == 0;
        *both[i] = (axis_case){sides[i], whole, cut ? first : 0, cut ? whole - first : whole};
    }
    c.channels = 1 + (int32_t)(test_random(random) % 4);
    c.columns_first = test_random(random) % 2 == 0;
    return c;
}

/* Returns the weights of both axes in one table. free() it. */
static int32_t *make_plan(const resize_case *c, tvlm_resize *plan, size_t *bytes) {
    *plan = (tvlm_resize){.x.size = c->x.size, .y.size = c->y.size};
    int32_t *x = tvlm_resize_weights(c->x.source, c->x.whole, c->x.first, c->x.size, false, &plan->x.taps);
    int32_t *y = tvlm_resize_weights(c->y.source, c->y.whole, c->y.first, c->y.size, false, &plan->y.taps);
    const size_t stride = (size_t)plan->y.taps + TVLM_RESIZE_HEAD;
    const size_t x_ints = (size_t)c->x.size * ((size_t)plan->x.taps + TVLM_RESIZE_HEAD);
    const size_t y_ints = (size_t)c->y.size * stride;
    int32_t *table = malloc((x_ints + y_ints) * sizeof *table);
    assert_non_null(table);
    memcpy(table, x, x_ints * sizeof *table);
    memcpy(table + x_ints, y, y_ints * sizeof *table);
    plan->columns_first = c->columns_first;
    plan->y.offset = (int32_t)x_ints;
    plan->first_row = y[0];
    plan->rows = y[y_ints - stride] + y[y_ints - stride + 1] - y[0];
    *bytes = (x_ints + y_ints) * sizeof *table;
    free(x);
    free(y);
    return table;
}

enum {
    OFFSET = 5,
    GAP = 3,
    OUT_OFFSET = 6
}; /* in bytes: before the pixels, after each row, before the result */

static uint8_t *resize(tvlm_device *device, const resize_case *c, const uint8_t *pixels) {
    const size_t stride = (size_t)c->width * (size_t)c->channels + GAP;
    const size_t out_bytes = OUT_OFFSET + (size_t)c->x.size * (size_t)c->y.size * 3;
    const tvlm_pixels layout = {c->width, c->height, c->channels, TVLM_PIXEL_U8, OFFSET, stride};
    tvlm_resize plan;
    size_t table_bytes;
    int32_t *weights = make_plan(c, &plan, &table_bytes);
    uint8_t *result = malloc(out_bytes);
    assert_non_null(result);
    tvlm_buffer *in = test_buffer(device, OFFSET + stride * (size_t)c->height, pixels);
    tvlm_buffer *table = test_buffer(device, table_bytes, weights);
    tvlm_buffer *out = test_buffer(device, out_bytes, NULL);
    if (device->backend->resize(device, in, &layout, table, &plan, out, OUT_OFFSET) != TVLM_OK)
        fail_msg("%s", test_last_log());
    test_buffer_take(device, &out, out_bytes, result);
    device->backend->buffer_destroy(device, &in);
    device->backend->buffer_destroy(device, &table);
    free(weights);
    return result;
}

static uint8_t *random_bytes(const resize_case *c, uint64_t *random) {
    const size_t bytes = OFFSET + ((size_t)c->width * (size_t)c->channels + GAP) * (size_t)c->height;
    uint8_t *pixels = malloc(bytes);
    assert_non_null(pixels);
    for (size_t i = 0; i < bytes; ++i) { /* many extremes: sums beyond [0, 255] are clamped */
        const uint64_t bits = test_random(random);
        pixels[i] = bits % 3 == 0 ? 0 : bits % 3 == 1 ? 255 : (uint8_t)(bits >> 8);
    }
    return pixels;
}

/* Every byte of the result must be equal, and the bytes before it must stay as they are. */
static void compare(tvlm_device *device, tvlm_device *reference, const resize_case *c, uint64_t *random) {
    const size_t bytes = (size_t)c->x.size * (size_t)c->y.size * 3;
    uint8_t *pixels = random_bytes(c, random);
    uint8_t *got = resize(device, c, pixels), *expected = resize(reference, c, pixels);
    for (size_t i = 0; i < bytes + OUT_OFFSET; ++i)
        if (got[i] != expected[i])
            fail_msg("%dx%d of %d channels to %dx%d: byte %zu is %d instead of %d", (int)c->width,
                     (int)c->height, (int)c->channels, (int)c->x.size, (int)c->y.size, i, got[i],
                     expected[i]);
    free(expected);
    free(got);
    free(pixels);
}

static void random_sizes(const test_target *target, tvlm_device *reference) {
    uint64_t random = 61;
    for (int i = 0; i < (test_small() ? 4 : 24); ++i) {
        const resize_case c = random_case(&random);
        compare(target->device, reference, &c, &random);
    }
}

/* To resize columns first is to resize rows first in the picture that lies on its side. */
static void order(tvlm_device *device) {
    uint64_t random = 63;
    for (int32_t channels = 1; channels <= 4; ++channels) {
        const resize_case c = {31, 22, {31, 19, 2, 13}, {22, 11, 0, 11}, channels, true};
        const resize_case side = {22, 31, c.y, c.x, channels, false};
        uint8_t *pixels = random_bytes(&c, &random), *turned = random_bytes(&side, &random);
        const size_t row = 31 * (size_t)channels + GAP, turned_row = 22 * (size_t)channels + GAP;
        for (size_t y = 0; y < 22; ++y)
            for (size_t x = 0; x < 31; ++x)
                memcpy(turned + OFFSET + x * turned_row + y * (size_t)channels,
                       pixels + OFFSET + y * row + x * (size_t)channels, (size_t)channels);
        uint8_t *got = resize(device, &c, pixels), *expected = resize(device, &side, turned);
        resize_case rows = c;
        rows.columns_first = false;
        uint8_t *other = resize(device, &rows, pixels);
        for (size_t y = 0; y < 11; ++y)
            for (size_t x = 0; x < 13; ++x)
                assert_memory_equal(got + OUT_OFFSET + (y * 13 + x) * 3,
                                    expected + OUT_OFFSET + (x * 11 + y) * 3, 3);
        assert_memory_not_equal(got, other, OUT_OFFSET + 11 * 13 * 3); /* the order shows */
        free(other);
        free(expected);
        free(got);
        free(turned);
        free(pixels);
    }
}

/* Nothing changes if the size stays the same, or if one value is everywhere. */
static void identity(tvlm_device *device) {
    uint64_t random = 62;
    const resize_case same = {23, 17, {23, 23, 0, 23}, {17, 17, 0, 17}, 3, false};
    uint8_t *pixels = random_bytes(&same, &random), *got = resize(device, &same, pixels);
    for (size_t y = 0; y < 17; ++y)
        assert_memory_equal(got + OUT_OFFSET + y * 69, pixels + OFFSET + y * (69 + GAP), 69);
    free(got);
    const resize_case other = {23, 17, {23, 50, 0, 50}, {17, 5, 0, 5}, 3, false};
    memset(pixels, 173, OFFSET + (size_t)(69 + GAP) * 17);
    got = resize(device, &other, pixels);
    for (size_t i = 0; i < 750; ++i) assert_int_equal(got[OUT_OFFSET + i], 173);
    free(got);
    free(pixels);
}

TEST_FAMILY(resize, {"weights", .known = weights}, {"known weights", .known = known_weights},
            {"places beyond", .known = places_beyond}, {"order", .known = order},
            {"identity", .known = identity},
            {"random sizes", TEST_TUNED | TEST_BUFFERS, .body = random_sizes})
