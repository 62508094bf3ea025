/*
 * test_reference.c: the reference backend on its own: known answers, properties, and brute force that shares
 * no line with it. Everything else is tested against the reference, so nothing here may lean on another
 * backend.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/backend.h"
#include "core/half.h"
#include "reference/reference.h"

/* ---- Helpers ---- */

static tvlm_device *device;
static const tvlm_backend *backend;

static int open_device(void **state) {
    (void)state;
    if (tvlm_reference_open(NULL, &device) != TVLM_OK) return -1;
    backend = device->backend;
    return 0;
}

static int close_device(void **state) {
    (void)state;
    backend->destroy(device);
    return 0;
}

#define assert_near(got, expected, tolerance) near_at(got, expected, tolerance, __LINE__)
static void near_at(double got, double expected, double tolerance, int line) {
    if (fabs(got - expected) <= tolerance) return; /* false for NaN */
    fail_msg("line %d: %.9g instead of %.9g", line, got, expected);
}

static uint64_t random_state = 1;

/* splitmix64 */
static uint64_t random_bits(void) {
    uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static float random_unit(void) {
    return (float)(random_bits() >> 40) / 16777216.0f;
}

static int32_t random_between(int32_t low, int32_t high) {
    return low + (int32_t)(random_bits() % (uint64_t)(high - low + 1));
}

static size_t texels_of(int32_t width, int32_t height) {
    return (size_t)width * (size_t)height;
}

static tvlm_texture *create(const tvlm_texture *shape) {
    tvlm_texture *texture = NULL;
    assert_int_equal(backend->texture_create(device, shape, &texture), TVLM_OK);
    return texture;
}

/* A float texture over an image of its own size, one slice, all levels, mean. */
static tvlm_texture *create_simple(int32_t width, int32_t height) {
    return create(&(tvlm_texture){.width = width,
                                  .height = height,
                                  .layers = 1,
                                  .images = 1,
                                  .levels = tvlm_level_count(width, height),
                                  .format = TVLM_FORMAT_F32,
                                  .extent_x = (float)width,
                                  .extent_y = (float)height});
}

/* One level of slice 0. free() it. */
static float *read_level(tvlm_texture *texture, int32_t level) {
    const size_t count =
        texels_of(tvlm_level_side(texture->width, level), tvlm_level_side(texture->height, level));
    float *texels = calloc(count * 4, sizeof *texels);
    assert_non_null(texels);
    assert_int_equal(backend->texture_read(device, texture, level, 0, texels), TVLM_OK);
    return texels;
}

/* A picture as a function of the pixel. */
typedef void painter(int32_t x, int32_t y, float rgb[3]);

/* The source of a picture, with its levels. */
static tvlm_texture *paint(int32_t width, int32_t height, painter *picture) {
    tvlm_texture *source = create_simple(width, height);
    const size_t bytes = texels_of(width, height) * 3 * sizeof(float);
    float *rgb = malloc(bytes);
    assert_non_null(rgb);
    for (int32_t y = 0; y < height; ++y)
        for (int32_t x = 0; x < width; ++x) picture(x, y, rgb + 3 * (texels_of(width, y) + (size_t)x));
    tvlm_buffer *buffer = NULL;
    const tvlm_pixels layout = {width, height, 3, TVLM_PIXEL_F32, 0, (size_t)width * 3 * sizeof(float)};
    assert_int_equal(backend->buffer_create(device, bytes, &buffer), TVLM_OK);
    assert_int_equal(backend->buffer_write(device, buffer, 0, bytes, rgb), TVLM_OK);
    assert_int_equal(backend->source(device, buffer, &layout, 0, source), TVLM_OK);
    assert_int_equal(backend->mips(device, source), TVLM_OK);
    backend->buffer_destroy(device, &buffer);
    free(rgb);
    return source;
}

/* The grid `id` of a source, at the size that the registry gives it. */
static tvlm_texture *generate(tvlm_grid id, tvlm_texture *source) {
    int32_t width = source->width, height = source->height;
    float extent_x = (float)width, extent_y = (float)height;
    if (id == TVLM_GRID_SALIENCY) {
        width = tvlm_level_side(width, 2);
        height = tvlm_level_side(height, 2);
    } else if (id == TVLM_GRID_ENTROPY) {
        width = (width + 15) / 16;
        height = (height + 15) / 16;
        extent_x = (float)(16 * width);
        extent_y = (float)(16 * height);
    }
    tvlm_texture *out = create(&(tvlm_texture){.width = width,
                                               .height = height,
                                               .layers = 1,
                                               .images = 1,
                                               .levels = 1,
                                               .format = TVLM_FORMAT_F32,
                                               .extent_x = extent_x,
                                               .extent_y = extent_y});
    tvlm_texture *grids[TVLM_GRID_COUNT] = {[TVLM_GRID_SOURCE] = source};
    assert_int_equal(backend->generate[id](device, &(tvlm_generate_args){.grids = grids, .out = out}),
                     TVLM_OK);
    return out;
}

/* The families that this file looks at as one: they need the source, all of it, and nothing else. */
static bool made_of_source(tvlm_grid id) {
    return backend->generate[id] != NULL && tvlm_grid_get_info(id)->needs == 1u << TVLM_GRID_SOURCE &&
           (id == TVLM_GRID_VISUAL || id == TVLM_GRID_SALIENCY || id == TVLM_GRID_LAPLACIAN ||
            id == TVLM_GRID_ENTROPY || id == TVLM_GRID_GRADIENT);
}

/* Level 0 of grid `id` of a picture. free() it. */
static float *generate_texels(tvlm_grid id, int32_t width, int32_t height, painter *picture) {
    tvlm_texture *source = paint(width, height, picture);
    tvlm_texture *out = generate(id, source);
    float *texels = read_level(out, 0);
    backend->texture_destroy(device, &out);
    backend->texture_destroy(device, &source);
    return texels;
}

static void paint_gray(int32_t x, int32_t y, float rgb[3]) {
    (void)x, (void)y;
    rgb[0] = rgb[1] = rgb[2] = 0.3f;
}

static void paint_step(int32_t x, int32_t y, float rgb[3]) {
    (void)y;
    rgb[0] = rgb[1] = rgb[2] = x < 8 ? 0.0f : 1.0f;
}

/* Repeatable noise that can be mirrored: it depends on the place alone. */
static int32_t mirror_width, mirror_height; /* > 0: that axis is flipped */
static void paint_noise(int32_t x, int32_t y, float rgb[3]) {
    if (mirror_width > 0) x = mirror_width - 1 - x;
    if (mirror_height > 0) y = mirror_height - 1 - y;
    const uint64_t kept = random_state;
    random_state = (uint64_t)y * 65537u + (uint64_t)x;
    for (int c = 0; c < 3; ++c) rgb[c] = random_unit();
    random_state = kept;
}

/* ---- Half ---- */

static void test_half_round_trip(void **state) {
    (void)state;
    for (uint32_t i = 0; i <= 0xffff; ++i) {
        const uint16_t half = (uint16_t)i;
        const float value = tvlm_half_to_float(half);
        if ((half & 0x7fff) > 0x7c00) {
            assert_true(isnan(value));
            assert_int_equal(tvlm_half_from_float(value), half | 0x0200); /* quiet */
        } else {
            assert_int_equal(tvlm_half_from_float(value), half);
        }
    }
}

/* The definition: sign, exponent, fraction. */
static void test_half_values(void **state) {
    (void)state;
    for (int h = 0; h < 0x7c00; ++h) {
        const int exponent = h >> 10, fraction = h & 0x3ff;
        const double expected = exponent > 0 ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
        assert_true((double)tvlm_half_to_float((uint16_t)h) == expected);
        assert_true((double)tvlm_half_to_float((uint16_t)(h | 0x8000)) == -expected);
    }
    assert_true(isinf(tvlm_half_to_float(0x7c00)));
    assert_true(signbit(tvlm_half_to_float(0x8000)) != 0);
}

/* Halfway between any two neighbours goes to the even one, a hair off it to the nearer one. */
static void test_half_rounding(void **state) {
    (void)state;
    for (uint16_t h = 0; h < 0x7c00; ++h) {
        const uint16_t next = (uint16_t)(h + 1), even = h % 2 == 0 ? h : next;
        const float high = next == 0x7c00 ? 65536.0f : tvlm_half_to_float(next);
        const float middle = (tvlm_half_to_float(h) + high) / 2;
        assert_int_equal(tvlm_half_from_float(middle), even);
        assert_int_equal(tvlm_half_from_float(-middle), even | 0x8000);
        assert_int_equal(tvlm_half_from_float(nextafterf(middle, 0)), h);
        assert_int_equal(tvlm_half_from_float(nextafterf(middle, INFINITY)), next);
    }
    assert_int_equal(tvlm_half_from_float(1e-45f), 0);
    assert_int_equal(tvlm_half_from_float(-3e38f), 0xfc00);
    assert_int_equal(tvlm_half_from_float(INFINITY), 0x7c00);
    assert_int_equal(tvlm_half_from_float(-0.0f), 0x8000);
}

static void test_half_arrays(void **state) {
    (void)state;
    const float values[3] = {1.0f, -2.0f, 0.1f};
    uint16_t halves[3];
    float back[3];
    tvlm_half_from_floats(values, halves, 3);
    tvlm_half_to_floats(halves, back, 3);
    assert_int_equal(halves[0], 0x3c00);
    assert_int_equal(halves[1], 0xc000);
    assert_int_equal(halves[2], 0x2e66);
    assert_near(back[2], 0.1, 4e-5); /* half an ulp of half at 0.1 is 2^-15 */
}

/* ---- Device, buffers, textures ---- */

static void test_device_info(void **state) {
    (void)state;
    assert_string_equal(device->info.name, "reference");
    assert_int_equal(device->info.type, TVLM_DEVICE_REFERENCE);
    assert_int_equal(device->info.storage, TVLM_STORAGE_BUFFER);
    assert_true(device->info.memory_bytes > 0 && device->info.allocation_max > 0);
#define ASSERT_GENERATED(ID, name) assert_non_null(backend->generate[TVLM_GRID_##ID]);
    TVLM_GENERATED_GRIDS(ASSERT_GENERATED)
    tvlm_device *other = NULL;
    assert_int_equal(tvlm_reference_open(tvlm_device_params(.storage = TVLM_STORAGE_IMAGE), &other),
                     TVLM_ERROR_UNSUPPORTED);
    assert_null(other);
    assert_int_equal(backend->finish(device), TVLM_OK);
}

static char last_line[256];
static void keep_line(void *user, tvlm_log_level level, const char *message) {
    (void)user, (void)level;
    snprintf(last_line, sizeof last_line, "%s", message);
}

static void test_too_large(void **state) {
    (void)state;
    const tvlm_log log = {keep_line, NULL};
    tvlm_device *logging = NULL;
    assert_int_equal(tvlm_reference_open(tvlm_device_params(.log = &log), &logging), TVLM_OK);
    tvlm_texture shape = {.width = 65537, .height = 1, .layers = 1, .images = 1, .levels = 1};
    tvlm_texture *texture = NULL;
    assert_int_equal(backend->texture_create(logging, &shape, &texture), TVLM_ERROR_DEVICE_MEMORY);
    assert_non_null(strstr(last_line, "65537"));
    shape = (tvlm_texture){.width = 1, .height = 1, .layers = 2, .images = 40000, .levels = 1};
    assert_int_equal(backend->texture_create(logging, &shape, &texture), TVLM_ERROR_DEVICE_MEMORY);
    assert_null(texture);
    backend->destroy(logging);
}

static void test_buffer_copy(void **state) {
    (void)state;
    const char text[] = "written";
    char got[sizeof text] = "";
    tvlm_buffer *from = NULL, *to = NULL;
    assert_int_equal(backend->buffer_create(device, sizeof text, &from), TVLM_OK);
    assert_int_equal(backend->buffer_create(device, sizeof text, &to), TVLM_OK);
    assert_int_equal(backend->buffer_write(device, from, 0, sizeof text, text), TVLM_OK);
    assert_int_equal(backend->buffer_copy(device, from, to, sizeof text), TVLM_OK);
    assert_int_equal(backend->buffer_read(device, to, 2, sizeof text - 2, got), TVLM_OK);
    assert_string_equal(got, text + 2);
    backend->buffer_destroy(device, &from);
    backend->buffer_destroy(device, &to);
    assert_null(to);
    backend->buffer_destroy(device, &to);
}

static void test_texture_write_read(void **state) {
    (void)state;
    tvlm_texture *texture = create(&(tvlm_texture){
        .width = 2, .height = 3, .layers = 2, .images = 2, .levels = 2, .format = TVLM_FORMAT_F16});
    float written[4][24], read[24];
    for (int32_t slice = 0; slice < 4; ++slice) {
        for (int i = 0; i < 24; ++i) written[slice][i] = random_unit();
        assert_int_equal(backend->texture_write(device, texture, slice, written[slice]), TVLM_OK);
    }
    for (int32_t slice = 0; slice < 4; ++slice) {
        assert_int_equal(backend->texture_read(device, texture, 0, slice, read), TVLM_OK);
        for (int i = 0; i < 24; ++i)
            assert_true(read[i] == tvlm_half_to_float(tvlm_half_from_float(written[slice][i])));
    }
    /* 6 texels and 1, in 4 slices */
    assert_int_equal(texture->bytes, 28 * sizeof(float[4]));
    backend->texture_destroy(device, &texture);
    assert_null(texture);
    backend->texture_destroy(device, &texture);
}

/* ---- Source ---- */

/* The one pixel of a 1x1 image. */
static void source_pixel(const void *pixel, size_t bytes, int32_t channels, tvlm_pixel_type type,
                         float out[4]) {
    tvlm_texture *source = create_simple(1, 1);
    tvlm_buffer *buffer = NULL;
    const tvlm_pixels layout = {1, 1, channels, type, 3, bytes}; /* at an odd offset */
    assert_int_equal(backend->buffer_create(device, bytes + 3, &buffer), TVLM_OK);
    assert_int_equal(backend->buffer_write(device, buffer, 3, bytes, pixel), TVLM_OK);
    assert_int_equal(backend->source(device, buffer, &layout, 0, source), TVLM_OK);
    assert_int_equal(backend->texture_read(device, source, 0, 0, out), TVLM_OK);
    backend->buffer_destroy(device, &buffer);
    backend->texture_destroy(device, &source);
}

static void test_source_types(void **state) {
    (void)state;
    float out[4];
    source_pixel((uint8_t[]){51}, 1, 1, TVLM_PIXEL_U8, out);
    for (int c = 0; c < 4; ++c) assert_near(out[c], 0.2, 1e-7);
    source_pixel((uint16_t[]){13107, 0, 65535}, 6, 3, TVLM_PIXEL_U16, out);
    assert_near(out[0], 0.2, 1e-7);
    assert_near(out[3], 0.299 * 0.2 + 0.114, 1e-6);
    source_pixel((float[]){NAN, 7.0f, -INFINITY}, 12, 3, TVLM_PIXEL_F32, out);
    assert_true(out[0] == 0 && out[1] == 1 && out[2] == 0);
    assert_near(out[3], 0.587, 1e-6);
}

static void test_source_alpha(void **state) {
    (void)state;
    float out[4];
    source_pixel((uint8_t[]){200, 100, 0, 0}, 4, 4, TVLM_PIXEL_U8, out);
    for (int c = 0; c < 4; ++c) assert_true(out[c] == 1); /* transparent is white */
    source_pixel((uint8_t[]){0, 51}, 2, 2, TVLM_PIXEL_U8, out);
    for (int c = 0; c < 4; ++c) assert_near(out[c], 0.8, 1e-6);
    source_pixel((float[]){0.5f, 0.25f, 1.0f, NAN}, 16, 4, TVLM_PIXEL_F32, out);
    for (int c = 0; c < 4; ++c) assert_true(out[c] == 1);
    source_pixel((uint8_t[]){255, 255, 255}, 3, 3, TVLM_PIXEL_U8, out);
    for (int c = 0; c < 4; ++c) assert_true(out[c] == 1);
}

/* Rows with a gap, into the second image of two; the first stays as it was. */
static void test_source_batch(void **state) {
    (void)state;
    tvlm_texture *source = create(&(tvlm_texture){
        .width = 2, .height = 2, .layers = 1, .images = 2, .levels = 1, .format = TVLM_FORMAT_F32});
    const uint8_t bytes[] = {0, 51, 99, 102, 255};
    const tvlm_pixels layout = {2, 2, 1, TVLM_PIXEL_U8, 0, 3};
    const double expected[4] = {0, 0.2, 0.4, 1};
    const float before[16] = {7};
    float first[16], second[16];
    tvlm_buffer *buffer = NULL;
    assert_int_equal(backend->buffer_create(device, sizeof bytes, &buffer), TVLM_OK);
    assert_int_equal(backend->buffer_write(device, buffer, 0, sizeof bytes, bytes), TVLM_OK);
    assert_int_equal(backend->texture_write(device, source, 0, before), TVLM_OK);
    assert_int_equal(backend->source(device, buffer, &layout, 1, source), TVLM_OK);
    assert_int_equal(backend->texture_read(device, source, 0, 0, first), TVLM_OK);
    assert_int_equal(backend->texture_read(device, source, 0, 1, second), TVLM_OK);
    assert_memory_equal(first, before, sizeof before);
    for (size_t i = 0; i < 4; ++i) assert_near(second[4 * i], expected[i], 1e-7);
    backend->buffer_destroy(device, &buffer);
    backend->texture_destroy(device, &source);
}

/* ---- Families ---- */

static void test_step(void **state) {
    (void)state;
    const double low[16] = {0, 0, 0, 0, 0, 0, 1.0 / 16, 5.0 / 16, 11.0 / 16, 15.0 / 16, 1, 1, 1, 1, 1, 1};
    float *visual = generate_texels(TVLM_GRID_VISUAL, 16, 5, paint_step);
    float *gradient = generate_texels(TVLM_GRID_GRADIENT, 16, 5, paint_step);
    float *laplacian = generate_texels(TVLM_GRID_LAPLACIAN, 16, 5, paint_step);
    for (size_t i = 0; i < 80; ++i) {
        const size_t x = i % 16;
        const bool at_step = x == 7 || x == 8;
        assert_near(visual[4 * i], at_step ? 1 : 0, 1e-6);
        assert_near(visual[4 * i + 1], at_step ? 0 : 1, 1e-6);
        assert_near(visual[4 * i + 3], low[x], 1e-6);
        assert_near(gradient[4 * i], at_step ? 1 : 0, 1e-6);
        assert_near(gradient[4 * i + 1], 0, 0);
        assert_near(laplacian[4 * i], x == 7 ? 0.25 : x == 8 ? -0.25 : 0, 1e-6);
        /* a third of the pixels on one side: 4 * (1/3 * 2/3) */
        assert_near(gradient[4 * i + 2], at_step ? 8.0 / 9 : 0, 1e-6);
        for (size_t c = 1; c < 4; ++c) assert_true(laplacian[4 * i + c] == 0);
    }
    free(visual);
    free(gradient);
    free(laplacian);
}

static void assert_constant(tvlm_grid id, int32_t width, int32_t height, const double expected[4]) {
    tvlm_texture *source = paint(width, height, paint_gray);
    tvlm_texture *out = generate(id, source);
    float *texels = read_level(out, 0);
    for (size_t i = 0; i < 4 * texels_of(out->width, out->height); ++i)
        assert_near(texels[i], expected[i % 4], 1e-6);
    free(texels);
    backend->texture_destroy(device, &out);
    backend->texture_destroy(device, &source);
}

static void test_flat(void **state) {
    (void)state;
    const int32_t sizes[][2] = {{1, 1}, {1, 37}, {53, 1}, {2, 2}, {3, 3}, {61, 47}, {64, 64}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        const int32_t width = sizes[i][0], height = sizes[i][1];
        assert_constant(TVLM_GRID_VISUAL, width, height, (double[4]){0, 1, 0.5, 0.3});
        assert_constant(TVLM_GRID_LAPLACIAN, width, height, (double[4]){0, 0, 0, 0});
        assert_constant(TVLM_GRID_ENTROPY, width, height, (double[4]){0, 0, 0, 0});
        assert_constant(TVLM_GRID_GRADIENT, width, height, (double[4]){0, 0, 0, 0.3});
        assert_constant(TVLM_GRID_SALIENCY, width, height, (double[4]){0, 0, 0, 0});
    }
}

/* Ranges of CHANNELS.md on noise; and 1 is reached where the image's maximum is what counts. */
static void test_ranges(void **state) {
    (void)state;
    for (int round = 0; round < 20; ++round) {
        const int32_t width = random_between(1, 70), height = random_between(1, 70);
        tvlm_texture *source = paint(width, height, paint_noise);
        for (tvlm_grid id = 0; id < TVLM_GRID_COUNT; ++id) {
            if (!made_of_source(id)) continue;
            tvlm_texture *out = generate(id, source);
            float *texels = read_level(out, 0), maximum = 0;
            for (size_t i = 0; i < 4 * texels_of(out->width, out->height); ++i) {
                const bool is_signed = id == TVLM_GRID_LAPLACIAN || (id == TVLM_GRID_GRADIENT && i % 4 < 2);
                assert_true(texels[i] >= (is_signed ? -1.0f : 0.0f) && texels[i] <= 1);
                if (i % 4 == 0) maximum = fmaxf(maximum, texels[i]);
            }
            if (id == TVLM_GRID_SALIENCY && (width >= 8 || height >= 8)) assert_true(maximum == 1);
            free(texels);
            backend->texture_destroy(device, &out);
        }
        backend->texture_destroy(device, &source);
    }
}

/* What is made of a mirrored picture is the mirror of what is made of the picture; `flipped` has changed its
 * sign. */
static void check_mirror(tvlm_grid id, int32_t width, int32_t height, bool across, int flipped) {
    float *straight = generate_texels(id, width, height, paint_noise);
    mirror_width = across ? width : 0;
    mirror_height = across ? 0 : height;
    float *mirrored = generate_texels(id, width, height, paint_noise);
    mirror_width = mirror_height = 0;
    const int32_t scale = id == TVLM_GRID_SALIENCY ? 4 : id == TVLM_GRID_ENTROPY ? 16 : 1;
    const int32_t columns = width / scale, rows = height / scale;
    for (int32_t y = 0; y < rows; ++y) {
        for (int32_t x = 0; x < columns; ++x) {
            const int32_t from_x = across ? columns - 1 - x : x, from_y = across ? y : rows - 1 - y;
            for (int c = 0; c < 4; ++c)
                assert_near(
                    mirrored[4 * (y * columns + x) + c],
                    (c == flipped ? -1 : 1) * (double)straight[4 * (from_y * columns + from_x) + c],
                    1e-5); /* source levels are rounded to float; the Lab of dark texels steepens it */
        }
    }
    free(straight);
    free(mirrored);
}

static void test_mirror(void **state) {
    (void)state;
    for (int across = 0; across < 2; ++across) {
        check_mirror(TVLM_GRID_VISUAL, 37, 23, across != 0, -1);
        check_mirror(TVLM_GRID_LAPLACIAN, 37, 23, across != 0, -1);
        check_mirror(TVLM_GRID_GRADIENT, 37, 23, across != 0, across ? 0 : 1);
        check_mirror(TVLM_GRID_SALIENCY, 101, 79, across != 0, -1);
        check_mirror(TVLM_GRID_ENTROPY, 48, 32, across != 0, -1);
    }
}

/* In a batch each image is what it is alone. */
static void test_batch(void **state) {
    (void)state;
    enum { side = 33, values = side * side * 4 };
    tvlm_texture shape = {.width = side,
                          .height = side,
                          .layers = 1,
                          .images = 2,
                          .levels = tvlm_level_count(side, side),
                          .format = TVLM_FORMAT_F32,
                          .extent_x = side,
                          .extent_y = side};
    tvlm_texture *pictures[2] = {paint(side, side, paint_noise), paint(side, side, paint_step)};
    tvlm_texture *batch = create(&shape);
    for (int32_t image = 0; image < 2; ++image) {
        float *texels = read_level(pictures[image], 0);
        assert_int_equal(backend->texture_write(device, batch, image, texels), TVLM_OK);
        free(texels);
    }
    assert_int_equal(backend->mips(device, batch), TVLM_OK);
    for (tvlm_grid id = 0; id < TVLM_GRID_COUNT; ++id) {
        if (!made_of_source(id)) continue;
        tvlm_texture *both = NULL, *grids[TVLM_GRID_COUNT] = {[TVLM_GRID_SOURCE] = batch};
        for (int32_t image = 0; image < 2; ++image) {
            static float got[values], alone[values];
            tvlm_texture *one = generate(id, pictures[image]);
            shape = *one;
            shape.images = 2;
            if (both == NULL) {
                both = create(&shape);
                assert_int_equal(
                    backend->generate[id](device, &(tvlm_generate_args){.grids = grids, .out = both}),
                    TVLM_OK);
            }
            assert_int_equal(backend->texture_read(device, both, 0, image, got), TVLM_OK);
            assert_int_equal(backend->texture_read(device, one, 0, 0, alone), TVLM_OK);
            assert_memory_equal(got, alone, texels_of(one->width, one->height) * 4 * sizeof(float));
            backend->texture_destroy(device, &one);
        }
        backend->texture_destroy(device, &both);
    }
    backend->texture_destroy(device, &batch);
    for (int i = 0; i < 2; ++i) backend->texture_destroy(device, &pictures[i]);
}

static void paint_two_values(int32_t x, int32_t y, float rgb[3]) {
    rgb[0] = rgb[1] = rgb[2] = (x + y) % 2 == 0 ? 0.2f : 0.9f;
}

static void paint_bins(int32_t x, int32_t y, float rgb[3]) {
    (void)y;
    rgb[0] = rgb[1] = rgb[2] = ((float)(x % 16) + 0.5f) / 16.0f;
}

static void test_entropy(void **state) {
    (void)state;
    float *texels = generate_texels(TVLM_GRID_ENTROPY, 32, 16, paint_two_values);
    for (size_t i = 0; i < 2; ++i) assert_near(texels[4 * i], 0.25, 1e-6); /* one bit of four */
    free(texels);
    texels = generate_texels(TVLM_GRID_ENTROPY, 18, 17, paint_bins);
    assert_near(texels[0], 1, 1e-6);
    assert_near(texels[4], 0.25, 1e-6); /* two columns remain of the second cell */
    assert_near(texels[8], 1, 1e-6);
    assert_near(texels[12], 0.25, 1e-6);
    free(texels);
}

static void paint_spot(int32_t x, int32_t y, float rgb[3]) {
    rgb[0] = rgb[1] = rgb[2] = x >= 40 && x < 48 && y >= 80 && y < 88 ? 1.0f : 0.0f;
}

static void test_saliency_spot(void **state) {
    (void)state;
    float *texels = generate_texels(TVLM_GRID_SALIENCY, 128, 128, paint_spot);
    size_t best = 0;
    for (size_t i = 0; i < 1024; ++i)
        if (texels[4 * i] > texels[4 * best]) best = i;
    assert_true(best % 32 >= 10 && best % 32 <= 11 && best / 32 >= 20 && best / 32 <= 21);
    for (int c = 0; c < 4; ++c) assert_near(texels[4 * 31 + c], 0, 0.05); /* far away: next to nothing */
    free(texels);
}

/* L*a*b* of every texel of a level. free() it. */
static reference_lab *read_lab(tvlm_texture *source, int32_t level) {
    const size_t count =
        texels_of(tvlm_level_side(source->width, level), tvlm_level_side(source->height, level));
    float *texels = read_level(source, level);
    reference_lab *lab = calloc(count, sizeof *lab);
    assert_non_null(lab);
    for (size_t i = 0; i < count; ++i) lab[i] = tvlm_reference_lab(texels + 4 * i);
    free(texels);
    return lab;
}

/* Adds weight * (p - q) to the difference. */
static void add_difference(reference_lab *sum, const reference_lab *p, const reference_lab *q,
                           double weight) {
    sum->l += weight * (p->l - q->l);
    sum->a += weight * (p->a - q->a);
    sum->b += weight * (p->b - q->b);
}

static double length(const reference_lab *v) {
    return hypot(hypot(v->l, v->a), v->b);
}

/*
 * On 32 x 32 the grid is level 2 itself, 8 x 8. The surround of fine (level 2) and mid (level 3) is the one
 * texel of level 5, and the bilinear weights from 4 x 4 to 8 x 8 are 3/4 and 1/4 along each axis.
 */
static void test_saliency_scales(void **state) {
    (void)state;
    tvlm_texture *source = paint(32, 32, paint_noise), *out = generate(TVLM_GRID_SALIENCY, source);
    reference_lab *level2 = read_lab(source, 2), *level3 = read_lab(source, 3), *level5 = read_lab(source, 5);
    float *got = read_level(out, 0);
    double fine[64], mid[64], fine_maximum = 0, mid_maximum = 0;
    for (int i = 0; i < 64; ++i) {
        reference_lab fine_sum = {0, 0, 0}, mid_sum = {0, 0, 0};
        add_difference(&fine_sum, &level2[i], level5, 1);
        for (int tap = 0; tap < 4; ++tap) {
            const bool far_x = tap % 2 != 0, far_y = tap > 1;
            const int column = i % 8, row = i / 8;
            int x = column / 2 + (far_x ? column % 2 * 2 - 1 : 0),
                y = row / 2 + (far_y ? row % 2 * 2 - 1 : 0);
            x = x < 0 ? 0 : x > 3 ? 3 : x;
            y = y < 0 ? 0 : y > 3 ? 3 : y;
            add_difference(&mid_sum, &level3[4 * y + x], level5,
                           (far_x ? 0.25 : 0.75) * (far_y ? 0.25 : 0.75));
        }
        fine_maximum = fmax(fine_maximum, fine[i] = length(&fine_sum));
        mid_maximum = fmax(mid_maximum, mid[i] = length(&mid_sum));
    }
    for (size_t i = 0; i < 64; ++i) {
        assert_near(got[4 * i + 1], fine[i] / fine_maximum, 1e-5);
        assert_near(got[4 * i + 2], mid[i] / mid_maximum, 1e-5);
    }
    free(level2);
    free(level3);
    free(level5);
    free(got);
    backend->texture_destroy(device, &out);
    backend->texture_destroy(device, &source);
}

static void check_lab(float r, float g, float b, double l, double a_star, double b_star) {
    const reference_lab lab = tvlm_reference_lab((float[3]){r, g, b});
    assert_near(lab.l, l, 0.01);
    assert_near(lab.a, a_star, 0.01);
    assert_near(lab.b, b_star, 0.01);
}

/* Published values (brucelindbloom.com, sRGB, D65). */
static void test_lab(void **state) {
    (void)state;
    check_lab(0, 0, 0, 0, 0, 0);
    check_lab(1, 1, 1, 100, 0, 0);
    check_lab(1, 0, 0, 53.2408, 80.0925, 67.2032);
    check_lab(0, 1, 0, 87.7347, -86.1827, 83.1793);
    check_lab(0, 0, 1, 32.2970, 79.1875, -107.8602);
    check_lab(0.5f, 0.5f, 0.5f, 53.3890, 0, 0);
}

/* ---- Levels ---- */

static double mean_of(const float *texels, size_t count, int component) {
    double sum = 0;
    for (size_t i = 0; i < count; ++i) sum += (double)texels[4 * i + (size_t)component];
    return sum / (double)count;
}

static void test_levels_keep_the_mean(void **state) {
    (void)state;
    const int32_t sizes[][2] = {{1, 1}, {1, 999}, {640, 1}, {127, 129}, {255, 3}, {311, 207}, {256, 64}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        tvlm_texture *source = paint(sizes[i][0], sizes[i][1], paint_noise);
        double expected[4] = {0, 0, 0, 0};
        for (int32_t level = 0; level < source->levels; ++level) {
            const size_t count =
                texels_of(tvlm_level_side(source->width, level), tvlm_level_side(source->height, level));
            float *texels = read_level(source, level);
            for (int c = 0; c < 4; ++c) {
                if (level == 0) expected[c] = mean_of(texels, count, c);
                assert_near(mean_of(texels, count, c), expected[c], 1e-5);
            }
            free(texels);
        }
        backend->texture_destroy(device, &source);
    }
}

/* Overlap of texel i of `count` with texel j of `from` on one axis, in units in which the axis is count *
 * from long. */
static int64_t overlap(int32_t i, int32_t count, int32_t j, int32_t from) {
    const int64_t begin = (int64_t)i * from > (int64_t)j * count ? (int64_t)i * from : (int64_t)j * count;
    const int64_t end_i = (int64_t)(i + 1) * from, end_j = (int64_t)(j + 1) * count;
    const int64_t end = end_i < end_j ? end_i : end_j;
    return end > begin ? end - begin : 0;
}

/* The value with the largest area among 0..15, the lowest of several. */
static int fullest(const int64_t area[16]) {
    int best = 0;
    for (int i = 1; i < 16; ++i)
        if (area[i] > area[best]) best = i;
    return best;
}

/* One texel of a level from all texels of the level before, by the area integral: components mean, max, min,
 * mode. */
static void check_texel(const float *before, int32_t from_width, int32_t from_height, const float *texel,
                        int32_t x, int32_t y, int32_t width, int32_t height) {
    double sum = 0, total = 0, high = -INFINITY, low = INFINITY;
    int64_t area[16] = {0};
    for (int32_t j = 0; j < from_height; ++j) {
        for (int32_t i = 0; i < from_width; ++i) {
            const int64_t weight = overlap(x, width, i, from_width) * overlap(y, height, j, from_height);
            if (weight == 0) continue;
            const float *value = before + 4 * (texels_of(from_width, j) + (size_t)i);
            sum += (double)weight * (double)value[0];
            total += (double)weight;
            high = fmax(high, (double)value[1]);
            low = fmin(low, (double)value[2]);
            area[(int)value[3]] += weight;
        }
    }
    assert_near(texel[0], sum / total, 1e-6);
    assert_true((double)texel[1] == high && (double)texel[2] == low);
    assert_int_equal((int)texel[3], fullest(area));
}

static tvlm_texture *create_mixed(int32_t width, int32_t height, int ids) {
    tvlm_texture *texture = create(
        &(tvlm_texture){.width = width,
                        .height = height,
                        .layers = 1,
                        .images = 1,
                        .levels = tvlm_level_count(width, height),
                        .format = TVLM_FORMAT_F32,
                        .extent_x = (float)width,
                        .extent_y = (float)height,
                        .reduce = {TVLM_REDUCE_MEAN, TVLM_REDUCE_MAX, TVLM_REDUCE_MIN, TVLM_REDUCE_MODE}});
    float *texels = calloc(4 * texels_of(width, height), sizeof *texels);
    assert_non_null(texels);
    for (size_t i = 0; i < 4 * texels_of(width, height); ++i)
        texels[i] = i % 4 == 3 ? (float)random_between(0, ids - 1) : random_unit();
    assert_int_equal(backend->texture_write(device, texture, 0, texels), TVLM_OK);
    assert_int_equal(backend->mips(device, texture), TVLM_OK);
    free(texels);
    return texture;
}

static void test_levels_by_area(void **state) {
    (void)state;
    for (int round = 0; round < 40; ++round) {
        tvlm_texture *texture =
            create_mixed(random_between(1, 31), random_between(1, 31), random_between(2, 5));
        float *before = read_level(texture, 0);
        for (int32_t level = 1; level < texture->levels; ++level) {
            const int32_t width = tvlm_level_side(texture->width, level);
            const int32_t height = tvlm_level_side(texture->height, level);
            float *texels = read_level(texture, level);
            for (int32_t i = 0; i < width * height; ++i)
                check_texel(before, tvlm_level_side(texture->width, level - 1),
                            tvlm_level_side(texture->height, level - 1), texels + (size_t)4 * (size_t)i,
                            i % width, i / width, width, height);
            free(before);
            before = texels;
        }
        free(before);
        backend->texture_destroy(device, &texture);
    }
}

/* Levels are made of what is stored, so in half each is the rounded mean of halves. */
static void test_levels_in_half(void **state) {
    (void)state;
    tvlm_texture *texture = create(&(tvlm_texture){
        .width = 4, .height = 1, .layers = 1, .images = 1, .levels = 3, .format = TVLM_FORMAT_F16});
    const float texels[16] = {0.1f, 0, 0, 0, 0.7f, 0, 0, 0, 0.33f, 0, 0, 0, 0.21f, 0, 0, 0};
    assert_int_equal(backend->texture_write(device, texture, 0, texels), TVLM_OK);
    assert_int_equal(backend->mips(device, texture), TVLM_OK);
    float *levels[3] = {read_level(texture, 0), read_level(texture, 1), read_level(texture, 2)};
    for (int level = 1; level < 3; ++level) {
        for (size_t i = 0; i < (size_t)4 >> level; ++i) {
            const float *pair = levels[level - 1] + 8 * i, mean = (pair[0] + pair[4]) / 2;
            assert_true(levels[level][4 * i] == tvlm_half_to_float(tvlm_half_from_float(mean)));
        }
    }
    for (int level = 0; level < 3; ++level) free(levels[level]);
    backend->texture_destroy(device, &texture);
}

/* ---- Sampling ---- */

static tvlm_bundle bundle_of(tvlm_texture *texture, float width, float height) {
    return (tvlm_bundle){.count = 1,
                         .textures = {texture},
                         .width = width,
                         .height = height,
                         .fixation_x = width / 2,
                         .fixation_y = height / 2,
                         .farthest = hypotf(width / 2, height / 2)};
}

/* Four channels at one point. */
static void sample_refs(const tvlm_bundle *bundle, const int32_t refs[4], double x, double y, double level,
                        int32_t image, float out[4]) {
    tvlm_buffer *points = NULL, *values = NULL;
    const tvlm_point point = {(float)x, (float)y, (float)level, (float)image};
    assert_int_equal(backend->buffer_create(device, sizeof point, &points), TVLM_OK);
    assert_int_equal(backend->buffer_create(device, 4 * sizeof *out, &values), TVLM_OK);
    assert_int_equal(backend->buffer_write(device, points, 0, sizeof point, &point), TVLM_OK);
    assert_int_equal(backend->sample(device, bundle, refs, 1, points, 1, values), TVLM_OK);
    assert_int_equal(backend->buffer_read(device, values, 0, 4 * sizeof *out, out), TVLM_OK);
    backend->buffer_destroy(device, &points);
    backend->buffer_destroy(device, &values);
}

static const int32_t first_texture[4] = {TVLM_REF(0, 0, 0), TVLM_REF(0, 0, 1), TVLM_REF(0, 0, 2),
                                         TVLM_REF(0, 0, 3)};

static void test_sample_centres(void **state) {
    (void)state;
    tvlm_texture *texture = create_mixed(32, 16, 5);
    const tvlm_bundle bundle = bundle_of(texture, 32, 16);
    for (int32_t level = 0; level < texture->levels; ++level) {
        const int32_t width = tvlm_level_side(32, level), height = tvlm_level_side(16, level);
        float *texels = read_level(texture, level), got[4];
        for (int32_t i = 0; i < width * height; ++i) {
            sample_refs(&bundle, first_texture, (i % width + 0.5) * 32 / width,
                        (floor((double)i / width) + 0.5) * 16 / height, level, 0, got);
            for (int c = 0; c < 4; ++c) assert_true(got[c] == texels[4 * i + c]);
        }
        free(texels);
    }
    backend->texture_destroy(device, &texture);
}

static void test_sample_between_levels(void **state) {
    (void)state;
    tvlm_texture *texture = create_mixed(2, 2, 5);
    const tvlm_bundle bundle = bundle_of(texture, 2, 2);
    float *fine = read_level(texture, 0), *coarse = read_level(texture, 1), got[4];
    sample_refs(&bundle, first_texture, 1.5, 0.5, 0.25, 0, got);
    for (int c = 0; c < 3; ++c) assert_near(got[c], 0.75f * fine[4 + c] + 0.25f * coarse[c], 1e-6);
    assert_true(got[3] == fine[4 + 3]); /* identifiers: nearest level */
    sample_refs(&bundle, first_texture, 1.5, 0.5, 0.5, 0, got);
    assert_true(got[3] == coarse[3]);
    sample_refs(&bundle, first_texture, 1.5, 0.5, 99, 0, got);
    for (int c = 0; c < 4; ++c) assert_true(got[c] == coarse[c]);
    sample_refs(&bundle, first_texture, -50, 9e30, -3, 0, got); /* clamped everywhere */
    for (int c = 0; c < 4; ++c) assert_true(got[c] == fine[8 + c]);
    free(fine);
    free(coarse);
    backend->texture_destroy(device, &texture);
}

/* A ramp is linear between the outermost texel centres, at any grid size; level 2 of a quarter grid is its
 * own 0. */
static void test_sample_ramp(void **state) {
    (void)state;
    tvlm_texture *texture = create(&(tvlm_texture){.width = 7,
                                                   .height = 5,
                                                   .layers = 2,
                                                   .images = 2,
                                                   .levels = 3,
                                                   .format = TVLM_FORMAT_F32,
                                                   .extent_x = 29,
                                                   .extent_y = 21});
    float texels[35 * 4];
    for (int32_t slice = 0; slice < 4; ++slice) {
        for (size_t i = 0; i < 35; ++i) {
            const size_t row = i / 7;
            texels[4 * i] = ((float)(i % 7) + 0.5f) * 29.0f / 7.0f;
            texels[4 * i + 1] = ((float)row + 0.5f) * 21.0f / 5.0f;
            texels[4 * i + 2] = (float)slice;
            texels[4 * i + 3] = 0;
        }
        assert_int_equal(backend->texture_write(device, texture, slice, texels), TVLM_OK);
    }
    assert_int_equal(backend->mips(device, texture), TVLM_OK);
    const tvlm_bundle bundle = bundle_of(texture, 29, 21);
    const int32_t refs[4] = {TVLM_REF(0, 1, 0), TVLM_REF(0, 1, 1), TVLM_REF(0, 1, 2), TVLM_REF_ZERO};
    for (int round = 0; round < 200; ++round) {
        const double x = 2.1 + 24.7 * (double)random_unit(), y = 2.2 + 16.6 * (double)random_unit();
        float got[4];
        sample_refs(&bundle, refs, x, y, 2, 1, got); /* log2(29 / 7) > 2 */
        assert_near(got[0], x, 1e-4);
        assert_near(got[1], y, 1e-4);
        assert_true(got[2] == 3 && got[3] == 0);
    }
    backend->texture_destroy(device, &texture);
}

static void test_sample_formula(void **state) {
    (void)state;
    tvlm_bundle bundle = bundle_of(NULL, 40, 30);
    bundle.count = 0;
    const int32_t refs[4] = {TVLM_REF(TVLM_BUNDLE_FORMULA, 0, 0), TVLM_REF(TVLM_BUNDLE_FORMULA, 0, 1),
                             TVLM_REF(TVLM_BUNDLE_FORMULA, 0, 2), TVLM_REF(TVLM_BUNDLE_FORMULA, 0, 3)};
    float got[4];
    sample_refs(&bundle, refs, 10, 15, 3, 0, got);
    assert_near(got[0], 0.25, 1e-7);
    assert_near(got[1], 0.5, 1e-7);
    assert_near(got[2], 0.4, 1e-7);
    assert_true(got[3] == 0);
    sample_refs(&bundle, refs, 400, -7, 0, 0, got);
    assert_true(got[0] == 1 && got[1] == 0);
    assert_near(got[2], 1, 1e-6);
}

static void test_pack(void **state) {
    (void)state;
    tvlm_texture *texture = create_mixed(8, 4, 5);
    const tvlm_bundle bundle = bundle_of(texture, 8, 4);
    tvlm_texture *packed = create(&(tvlm_texture){
        .width = 4, .height = 2, .layers = 2, .images = 1, .levels = 1, .format = TVLM_FORMAT_F16});
    const int32_t refs[8] = {TVLM_REF(0, 0, 3), TVLM_REF_ZERO,     TVLM_REF(TVLM_BUNDLE_FORMULA, 0, 0),
                             TVLM_REF(0, 0, 1), TVLM_REF(0, 0, 0), TVLM_REF_ZERO,
                             TVLM_REF_ZERO,     TVLM_REF_ZERO};
    assert_int_equal(backend->pack(device, &bundle, refs, 1, packed), TVLM_OK);
    float *texels = read_level(texture, 1), *first = read_level(packed, 0), second[32];
    assert_int_equal(backend->texture_read(device, packed, 0, 1, second), TVLM_OK);
    for (size_t i = 0; i < 8; ++i) {
        assert_true(first[4 * i] == texels[4 * i + 3] && first[4 * i + 1] == 0);
        assert_true(first[4 * i + 2] == ((float)(i % 4) + 0.5f) / 4.0f);
        assert_true(first[4 * i + 3] == tvlm_half_to_float(tvlm_half_from_float(texels[4 * i + 1])));
        assert_true(second[4 * i] == tvlm_half_to_float(tvlm_half_from_float(texels[4 * i])));
    }
    free(texels);
    free(first);
    backend->texture_destroy(device, &packed);
    backend->texture_destroy(device, &texture);
}

/* ---- Scores ---- */

static void run_score(const tvlm_bundle *bundle, const tvlm_score_group *groups, int32_t count,
                      const tvlm_score_combination *combination, const tvlm_candidates *candidates,
                      float *out) {
    const size_t bytes = texels_of(candidates->columns, candidates->rows) * sizeof *out;
    tvlm_buffer *scores = NULL;
    assert_int_equal(backend->buffer_create(device, bytes, &scores), TVLM_OK);
    assert_int_equal(backend->score(device, bundle, groups, count, combination, candidates, scores), TVLM_OK);
    assert_int_equal(backend->buffer_read(device, scores, 0, bytes, out), TVLM_OK);
    backend->buffer_destroy(device, &scores);
}

/* A texture 4 wide and 1 high with these values in component 0. */
static tvlm_texture *row_of(const float values[4]) {
    tvlm_texture *texture = create_simple(4, 1);
    float texels[16] = {0};
    for (size_t i = 0; i < 4; ++i) texels[4 * i] = values[i];
    assert_int_equal(backend->texture_write(device, texture, 0, texels), TVLM_OK);
    assert_int_equal(backend->mips(device, texture), TVLM_OK);
    return texture;
}

static tvlm_score_group group_of(int32_t ref, int32_t part, float weight, float cap) {
    return (tvlm_score_group){.refs = {ref, TVLM_REF_ZERO, TVLM_REF_ZERO, TVLM_REF_ZERO},
                              .part = part,
                              .taps = 1,
                              .cap = {cap, INFINITY, INFINITY, INFINITY},
                              .weight = {[4] = {weight}}};
}

static void test_score_parts(void **state) {
    (void)state;
    tvlm_texture *texture = row_of((float[]){0.1f, 0.3f, 0.2f, 0.9f});
    const tvlm_bundle bundle = bundle_of(texture, 4, 1);
    const tvlm_candidates candidates = {.columns = 4, .rows = 1, .step_x = 1, .step_y = 1};
    /* part 0 normalised and capped at 0.4, part 1 as it is, part 2 (a ref that would crash) not looked at */
    const tvlm_score_group groups[3] = {group_of(first_texture[0], 0, 1.0f, 0.4f),
                                        group_of(TVLM_REF(TVLM_BUNDLE_FORMULA, 0, 0), 1, 2.0f, INFINITY),
                                        group_of(TVLM_REF(5, 0, 0), 2, 1.0f, INFINITY)};
    const tvlm_score_combination combination = {
        .bias = 10, .weight = {3, 1, 0}, .normalise = {true, false, true}};
    const double part[4] = {0, 2.0 / 3, 1.0 / 3, 1};
    float got[4];
    run_score(&bundle, groups, 3, &combination, &candidates, got);
    for (int i = 0; i < 4; ++i) assert_near(got[i], 10 + 3 * part[i] + 2 * (i + 0.5) / 4, 1e-5);
    backend->texture_destroy(device, &texture);
}

static void test_score_all_equal_and_nan(void **state) {
    (void)state;
    const tvlm_candidates candidates = {.columns = 4, .rows = 1, .step_x = 1, .step_y = 1};
    const tvlm_score_group group = group_of(first_texture[0], 0, 1.0f, INFINITY);
    const tvlm_score_combination combination = {.weight = {1}, .normalise = {true}};
    float got[4];
    tvlm_texture *texture = row_of((float[]){0.7f, 0.7f, 0.7f, 0.7f});
    tvlm_bundle bundle = bundle_of(texture, 4, 1);
    run_score(&bundle, &group, 1, &combination, &candidates, got);
    for (int i = 0; i < 4; ++i) assert_true(got[i] == 0);
    backend->texture_destroy(device, &texture);
    texture = row_of((float[]){2, 4, 3, NAN});
    bundle = bundle_of(texture, 4, 1);
    run_score(&bundle, &group, 1, &combination, &candidates, got);
    assert_near(got[0], 0, 0);
    assert_true(isnan(got[3])); /* and got[2] too: a lerp of weight 0 reads its neighbour */
    backend->texture_destroy(device, &texture);
    texture = row_of((float[]){2, 2, NAN, NAN});
    bundle = bundle_of(texture, 4, 1);
    run_score(&bundle, &group, 1, &combination, &candidates, got);
    assert_true(got[0] == 0 && isnan(got[2]) && isnan(got[3]));
    backend->texture_destroy(device, &texture);
}

/* Nine taps against a sum over the texels themselves; steps of one texel, so every tap is a texel centre. */
static void test_score_taps(void **state) {
    (void)state;
    tvlm_texture *texture = create_mixed(5, 4, 2);
    const tvlm_bundle bundle = bundle_of(texture, 5, 4);
    const tvlm_candidates candidates = {.columns = 5, .rows = 4, .step_x = 1, .step_y = 1};
    tvlm_score_group group = group_of(first_texture[0], 2, 0, INFINITY);
    group.taps = 9;
    for (int tap = 0; tap < 9; ++tap) group.weight[tap][0] = random_unit() - 0.5f;
    const tvlm_score_combination combination = {.weight = {0, 0, 1}};
    float got[20], *texels = read_level(texture, 0);
    run_score(&bundle, &group, 1, &combination, &candidates, got);
    for (int i = 0; i < 20; ++i) {
        double expected = 0;
        for (int tap = 0; tap < 9; ++tap) {
            const int x = i % 5 + tap % 3 - 1, y = i / 5 + tap / 3 - 1;
            const int at = (y < 0 ? 0 : y > 3 ? 3 : y) * 5 + (x < 0 ? 0 : x > 4 ? 4 : x);
            expected += (double)group.weight[tap][0] * (double)texels[(size_t)4 * (size_t)at];
        }
        assert_near(got[i], expected, 1e-5);
    }
    free(texels);
    backend->texture_destroy(device, &texture);
}

/* The last cell is clipped, and its candidate is the centre of what remains. */
static void test_score_clipped_cell(void **state) {
    (void)state;
    tvlm_bundle bundle = bundle_of(NULL, 20, 17);
    const tvlm_candidates candidates = {.columns = 2, .rows = 2, .step_x = 16, .step_y = 16, .level = 4};
    const tvlm_score_group groups[2] = {group_of(TVLM_REF(TVLM_BUNDLE_FORMULA, 0, 0), 0, 20, INFINITY),
                                        group_of(TVLM_REF(TVLM_BUNDLE_FORMULA, 0, 1), 0, 1700, INFINITY)};
    const tvlm_score_combination combination = {.weight = {1}};
    float got[4];
    run_score(&bundle, groups, 2, &combination, &candidates, got);
    assert_near(got[0], 8 + 100 * 8, 1e-3);
    assert_near(got[1], 18 + 100 * 8, 1e-3);
    assert_near(got[2], 8 + 100 * 16.5, 1e-3);
    assert_near(got[3], 18 + 100 * 16.5, 1e-3);
}

/* ---- Top-K ---- */

static void run_topk(const float *scores, int32_t n, int32_t k, int32_t *indices, float *values) {
    tvlm_buffer *in = NULL, *out = NULL;
    int32_t *pairs = calloc((size_t)k * 2, sizeof *pairs);
    assert_non_null(pairs);
    assert_int_equal(backend->buffer_create(device, (size_t)n * sizeof *scores, &in), TVLM_OK);
    assert_int_equal(backend->buffer_create(device, (size_t)k * 8, &out), TVLM_OK);
    assert_int_equal(backend->buffer_write(device, in, 0, (size_t)n * sizeof *scores, scores), TVLM_OK);
    assert_int_equal(backend->topk(device, in, n, k, out), TVLM_OK);
    assert_int_equal(backend->buffer_read(device, out, 0, (size_t)k * 8, pairs), TVLM_OK);
    for (size_t i = 0; i < (size_t)k; ++i) {
        indices[i] = pairs[2 * i];
        memcpy(&values[i], &pairs[2 * i + 1], sizeof *values);
    }
    free(pairs);
    backend->buffer_destroy(device, &in);
    backend->buffer_destroy(device, &out);
}

static void test_topk_known(void **state) {
    (void)state;
    const float scores[9] = {NAN, 1, -INFINITY, 3, 1, INFINITY, -NAN, -0.0f, 0.0f};
    const int32_t expected[9] = {5, 3, 1, 4, 7, 8, 2, 0, 6};
    int32_t indices[9];
    float values[9];
    run_topk(scores, 9, 9, indices, values);
    for (int i = 0; i < 9; ++i) {
        assert_int_equal(indices[i], expected[i]);
        assert_memory_equal(&values[i], &scores[expected[i]], sizeof values[i]);
    }
    run_topk(scores, 9, 3, indices, values);
    for (int i = 0; i < 3; ++i) assert_int_equal(indices[i], expected[i]);
    run_topk(scores, 1, 1, indices, values);
    assert_int_equal(indices[0], 0);
}

/* The place of each score is the number of those before it. */
static void test_topk_by_counting(void **state) {
    (void)state;
    enum { n = 1000 };
    float scores[n], values[n];
    int32_t indices[n];
    for (int i = 0; i < n; ++i) scores[i] = (float)random_between(0, 40);
    run_topk(scores, n, n, indices, values);
    for (int i = 0; i < n; ++i) {
        int before = 0;
        for (int j = 0; j < n; ++j) before += scores[j] > scores[i] || (scores[j] == scores[i] && j < i);
        assert_int_equal(indices[before], i);
        assert_true(values[before] == scores[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_round_trip),
        cmocka_unit_test(test_half_values),
        cmocka_unit_test(test_half_rounding),
        cmocka_unit_test(test_half_arrays),
        cmocka_unit_test(test_device_info),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_buffer_copy),
        cmocka_unit_test(test_texture_write_read),
        cmocka_unit_test(test_source_types),
        cmocka_unit_test(test_source_alpha),
        cmocka_unit_test(test_source_batch),
        cmocka_unit_test(test_step),
        cmocka_unit_test(test_flat),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_mirror),
        cmocka_unit_test(test_batch),
        cmocka_unit_test(test_entropy),
        cmocka_unit_test(test_saliency_spot),
        cmocka_unit_test(test_saliency_scales),
        cmocka_unit_test(test_lab),
        cmocka_unit_test(test_levels_keep_the_mean),
        cmocka_unit_test(test_levels_by_area),
        cmocka_unit_test(test_levels_in_half),
        cmocka_unit_test(test_sample_centres),
        cmocka_unit_test(test_sample_between_levels),
        cmocka_unit_test(test_sample_ramp),
        cmocka_unit_test(test_sample_formula),
        cmocka_unit_test(test_pack),
        cmocka_unit_test(test_score_parts),
        cmocka_unit_test(test_score_all_equal_and_nan),
        cmocka_unit_test(test_score_taps),
        cmocka_unit_test(test_score_clipped_cell),
        cmocka_unit_test(test_topk_known),
        cmocka_unit_test(test_topk_by_counting),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
