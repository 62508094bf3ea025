/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_reference.c: the reference backend on its own: known answers, properties, and brute force that shares
 * no line with it. Everything else is tested against the reference, so nothing here may lean on another
 * backend.
 */
#include "reference_helper.h"

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
#define ASSERT_GENERATED(ID, ...) assert_non_null(backend->generate[TVLM_GRID_##ID]);
    TVLM_CORE_GRIDS(ASSERT_GENERATED)
#ifdef TVLM_WITH_LAB
    TVLM_LAB_GRIDS(ASSERT_GENERATED)
#endif
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
    assert_int_equal(backend->buffer_copy(device, from, 0, to, 0, sizeof text), TVLM_OK);
    assert_int_equal(backend->buffer_read(device, to, 2, sizeof text - 2, got), TVLM_OK);
    assert_string_equal(got, text + 2);
    assert_int_equal(backend->buffer_copy(device, from, 5, to, 1, 2), TVLM_OK);
    assert_int_equal(backend->buffer_read(device, to, 0, sizeof text, got), TVLM_OK);
    assert_string_equal(got, "wentten");
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

/* Ranges of doc/channels.md on noise; and 1 is reached where the image's maximum is what counts. */
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
    assert_int_equal(backend->mips(device, &batch, 1), TVLM_OK);
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
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
