/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.c: pixels of every type and number of channels become r, g, b and luma, against the reference.
 */
#include "kernels/family.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "opencl/backend.h"

static const char *const names[4] = {"r", "g", "b", "luma"};

/*
 * There are a division (2.5 ulp below 1: 1.5e-7), a product and two sums for alpha, and three products and
 * three sums for luma. They are in float, against double.
 */
static const test_tolerance tolerances[4] = {{5e-7f, 8e-8f, TEST_HALF_ULP},
                                             {5e-7f, 8e-8f, TEST_HALF_ULP},
                                             {5e-7f, 8e-8f, TEST_HALF_ULP},
                                             {7e-7f, 1.2e-7f, TEST_HALF_ULP}};

static size_t component_bytes(tvlm_pixel_type type) {
    return type == TVLM_PIXEL_U8 ? 1 : type == TVLM_PIXEL_U16 ? 2 : 4;
}

/* Returns mostly a value of [0, 1), and now and then one that a careless application hands in. */
static float strange_float(uint64_t *random) {
    static const float strange[] = {NAN,  -NAN,  INFINITY, -INFINITY, -0.0f,      0.0f,   1e-40f,
                                    1.0f, -1e3f, 1e30f,    1.0f / 3,  1.0000001f, -1e-7f, 0.99999994f};
    const uint64_t bits = test_random(random);
    return bits % 5 == 0 ? strange[bits / 5 % (sizeof strange / sizeof strange[0])]
                         : test_random_unit(random);
}

/* Returns random pixels. Alpha is 0 in a quarter of them and full in another quarter, except in floats.
 * free() them. */
static unsigned char *random_pixels(uint64_t *random, const tvlm_pixels *layout) {
    const size_t part = component_bytes(layout->type), pixel = part * (size_t)layout->channels;
    const size_t bytes = layout->offset + layout->row_stride * (size_t)layout->height;
    unsigned char *data = malloc(bytes);
    assert_non_null(data);
    for (size_t i = 0; i < bytes; ++i) data[i] = (unsigned char)test_random(random);
    for (size_t y = 0; y < (size_t)layout->height; ++y)
        for (size_t x = 0; x < (size_t)layout->width; ++x) {
            unsigned char *at = data + layout->offset + y * layout->row_stride + x * pixel;
            for (int32_t c = 0; layout->type == TVLM_PIXEL_F32 && c < layout->channels; ++c) {
                const float value = strange_float(random);
                memcpy(at + (size_t)c * part, &value, part);
            }
            const uint64_t bits = test_random(random);
            if (layout->channels % 2 == 0 && layout->type != TVLM_PIXEL_F32 && bits % 2 == 0)
                memset(at + pixel - part, bits % 4 == 0 ? 0 : 255, part);
        }
    return data;
}

static void convert(tvlm_device *device, const unsigned char *data, const tvlm_pixels *layout, int32_t image,
                    tvlm_texture *out) {
    const size_t bytes = layout->offset + layout->row_stride * (size_t)layout->height;
    tvlm_buffer *buffer = test_buffer(device, bytes, data);
    unsigned char *after = malloc(bytes);
    assert_non_null(after);
    test_poison(device, out);
    if (device->backend->source(device, buffer, layout, image, out) != TVLM_OK)
        fail_msg("source of %d channels, type %d: %s", (int)layout->channels, (int)layout->type,
                 test_last_log());
    test_buffer_take(device, &buffer, bytes, after);
    assert_memory_equal(after, data, bytes); /* it only reads */
    free(after);
}

/* All other slices must still be poisoned. */
static void check_only(const test_pair *pair, int32_t written) {
    for (int32_t slice = 0; slice < test_slices(pair->got); ++slice) {
        float *got = test_read(pair->device, pair->got, 0, slice);
        for (size_t i = 0; slice != written && i < 4 * test_texels(pair->got, 0); ++i)
            if (!isnan(got[i])) fail_msg("slice %d was written, not only %d", (int)slice, (int)written);
        free(got);
    }
}

static void compare_slice(const test_pair *pair, const tvlm_pixels *layout, int32_t slice) {
    float *got = test_read(pair->device, pair->got, 0, slice);
    float *expected = test_read(pair->reference, pair->expected, 0, slice);
    for (size_t c = 0; c < 4; ++c) {
        char what[120];
        snprintf(what, sizeof what, "source %dx%d of %d channels, type %d, %s", (int)layout->width,
                 (int)layout->height, (int)layout->channels, (int)layout->type, names[c]);
        test_compare_stage(what, got + c, expected + c, test_texels(pair->got, 0), 4, tolerances[c],
                           pair->got->format == TVLM_FORMAT_F16);
    }
    free(got);
    free(expected);
}

/* Converts pixels of one type and number of channels into each image of a batch of 3. Rows have gaps, and
 * begin at offsets. */
static void source_of(const test_target *target, tvlm_device *reference, test_size size, tvlm_pixel_type type,
                      int32_t channels, uint64_t *random) {
    const size_t part = component_bytes(type), row = part * (size_t)channels * (size_t)size.width;
    const tvlm_texture shape = test_shape(size, 1, 3, target->format);
    test_pair pair = test_pair_create(target, reference, &shape);
    for (int32_t image = 0; image < 3; ++image) {
        /* Elements stay aligned, as the stack sees to; bytes may begin anywhere. */
        const tvlm_pixels layout = {.width = size.width,
                                    .height = size.height,
                                    .channels = channels,
                                    .type = type,
                                    .offset = part * (size_t)(image == 0 ? 0 : 2 * image + 1),
                                    .row_stride = row + part * (size_t)(image == 0 ? 0 : 3 * image)};
        unsigned char *data = random_pixels(random, &layout);
        convert(pair.device, data, &layout, image, pair.got);
        convert(pair.reference, data, &layout, image, pair.expected);
        check_only(&pair, image);
        compare_slice(&pair, &layout, image);
        free(data);
    }
    test_pair_destroy(&pair);
}

static void source(const test_target *target, tvlm_device *reference) {
    static const test_size sizes[] = {{1, 1}, {1, 37}, {41, 1}, {17, 33}, {131, 67}};
    uint64_t random = 4;
    for (int type = TVLM_PIXEL_U8; type <= TVLM_PIXEL_F32; ++type)
        for (int32_t channels = 1; channels <= 4; ++channels) {
            /* An interpreter gets two of the four small sizes for each type, and so every size with every
             * number of channels. */
            const size_t step = test_small() ? 2 : 1, end = test_small() ? 4 : 5;
            for (size_t i = (size_t)type % step; i < end; i += step)
                source_of(target, reference, sizes[i], (tvlm_pixel_type)type, channels, &random);
        }
}

/*
 * Kernels round what they store in half to the nearest, ties to even, whatever images do by themselves. The
 * conversion does not change gray floats, so the result is known to the bit.
 */
static void rounding(const test_target *target, tvlm_device *reference) {
    enum { WIDTH = 64, HEIGHT = 16 };
    const tvlm_texture shape = test_shape((test_size){WIDTH, HEIGHT}, 1, 1, target->format);
    const tvlm_pixels layout = {WIDTH, HEIGHT, 1, TVLM_PIXEL_F32, 0, WIDTH * sizeof(float)};
    test_pair pair = test_pair_create(target, reference, &shape);
    float gray[WIDTH * HEIGHT];
    uint64_t random = 5;
    for (int i = 0; i < WIDTH * HEIGHT; ++i) {
        gray[i] = ldexpf(test_random_unit(&random), -(i % 16));
        if (i % 3 == 0) gray[i] = ldexpf(rintf(ldexpf(gray[i], 12)), -12); /* ties, for values of [0.5, 1) */
    }
    convert(pair.device, (const unsigned char *)gray, &layout, 0, pair.got);
    convert(pair.reference, (const unsigned char *)gray, &layout, 0, pair.expected);
    float *got = test_read(pair.device, pair.got, 0, 0),
          *expected = test_read(pair.reference, pair.expected, 0, 0);
    for (int i = 0; i < WIDTH * HEIGHT; ++i)
        for (int c = 0; c < 3; ++c)
            if (got[4 * i + c] != expected[4 * i + c])
                fail_msg("%.9g was stored as %.9g instead of %.9g", (double)gray[i], (double)got[4 * i + c],
                         (double)expected[4 * i + c]);
    free(got);
    free(expected);
    test_pair_destroy(&pair);
}

/* Writes level 0 of `texture` into another texture, and makes the levels of both. They must be the same. */
static void check_levels(tvlm_device *device, tvlm_texture *texture) {
    tvlm_texture *written = test_texture(device, texture);
    float *base = test_read(device, texture, 0, 0);
    assert_int_equal(device->backend->texture_write(device, written, 0, base), TVLM_OK);
    assert_int_equal(device->backend->mips(device, &written, 1), TVLM_OK);
    assert_int_equal(device->backend->mips(device, &texture, 1), TVLM_OK);
    for (int32_t level = 0; level < texture->levels; ++level) {
        float *got = test_read(device, texture, level, 0), *expected = test_read(device, written, level, 0);
        if (memcmp(got, expected, 4 * test_texels(texture, level) * sizeof *got) != 0)
            fail_msg("%dx%d: level %d is another one", (int)texture->width, (int)texture->height, (int)level);
        free(got);
        free(expected);
    }
    free(base);
    device->backend->texture_destroy(device, &written);
}

/* The first levels may be made together with level 0. They must be the same as if they were made from it
 * alone. When something else is written to level 0, they no longer count. */
static void with_levels(const test_target *target, tvlm_device *reference) {
    static const test_size sizes[] = {{131, 67}, {256, 160}, {129, 130}, {33, 300}, {130, 1}};
    uint64_t random = 6;
    for (size_t i = 0; i < (test_small() ? 1 : sizeof sizes / sizeof sizes[0]); ++i) {
        const tvlm_texture shape = test_shape(sizes[i], 1, 1, target->format);
        const tvlm_pixels layout = {
            sizes[i].width, sizes[i].height, 3, TVLM_PIXEL_U8, 0, 3 * (size_t)sizes[i].width};
        test_pair pair = test_pair_create(target, reference, &shape);
        unsigned char *data = random_pixels(&random, &layout);
        convert(pair.device, data, &layout, 0, pair.got);
        convert(pair.reference, data, &layout, 0, pair.expected);
        compare_slice(&pair, &layout, 0);
        check_levels(pair.device, pair.got);
        float *other = test_read(pair.device, pair.got, 0, 0);
        for (size_t n = 0; n < 4 * test_texels(pair.got, 0); ++n) other[n] = 1.0f - other[n];
        assert_int_equal(pair.device->backend->texture_write(pair.device, pair.got, 0, other), TVLM_OK);
        check_levels(pair.device, pair.got);
        free(other);
        free(data);
        test_pair_destroy(&pair);
    }
}

static bool tiled(const test_target *target, opencl_tuning *tuning, int n) {
    (void)target;
    tuning->tiled_mips = true;
    return n == 0;
}

TEST_FAMILY(source, {"rounding", .body = rounding}, {"source", .body = source},
            {"with levels", TEST_OPENCL, .body = with_levels, .tune = tiled})
