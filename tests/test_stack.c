/*
 * stack.h: on the reference device, and once more on every device under test. What families hold is tested
 * where they are made; here it is what a stack does with them: sizes, levels, batches in chunks, reading,
 * sampling, packing.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "stack/stack.h"
#include "support.h"

/* Stored channels of all grids but the query's, and formulas. */
static const int32_t all_channels[] = {0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 40, 41, 42, 43, 44, 45, 46, 47, 48};
#define ALL_COUNT ((int32_t)(sizeof all_channels / sizeof all_channels[0]))

/* What a value in [-1, 1] may lose by one store in the format, and a position by its rounding. */
static float tolerance(tvlm_format format) {
    return format == TVLM_FORMAT_F16 ? 2e-3f : 1e-4f;
}

static tvlm_device *open_reference(void) {
    tvlm_device *device = NULL;
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "reference", .log = &test_log), &device),
                     TVLM_OK);
    return device;
}

static tvlm_image u8_image(const void *pixels, int32_t width, int32_t height, int32_t channels) {
    return (tvlm_image){pixels, width, height, channels, TVLM_PIXEL_U8, 0};
}

static tvlm_stack *stack_of(tvlm_device *device, tvlm_format format, const tvlm_image *image) {
    tvlm_stack *stack = NULL;
    assert_int_equal(tvlm_stack_create_for_image(device, image, tvlm_stack_params(.format = format), &stack),
                     TVLM_OK);
    return stack;
}

/* A level of a channel in new memory, and its size. */
static float *read_level(tvlm_stack *stack, int32_t index, int32_t channel, int32_t level, size_t *count) {
    int32_t width, height;
    assert_int_equal(tvlm_stack_channel_size(stack, channel, level, &width, &height), TVLM_OK);
    *count = (size_t)width * (size_t)height;
    float *texels = malloc(*count * sizeof *texels);
    assert_non_null(texels);
    assert_int_equal(tvlm_stack_read(stack, index, channel, level, *count, texels), TVLM_OK);
    return texels;
}

static double mean_of(const float *values, size_t count) {
    double sum = 0.0;
    for (size_t i = 0; i < count; ++i) {
        assert_true(isfinite(values[i]));
        sum += (double)values[i];
    }
    return sum / (double)count;
}

/* ---- Sizes and levels ---- */

static void check_levels(tvlm_stack *stack, int32_t channel, tvlm_format format) {
    int32_t width = 0, height = 0;
    double first = 0.0;
    for (int32_t level = 0; tvlm_stack_channel_size(stack, channel, level, &width, &height) == TVLM_OK;
         ++level) {
        size_t count;
        float *texels = read_level(stack, 0, channel, level, &count);
        if (channel == TVLM_CHANNEL_ECCENTRICITY) { /* a formula at each level: no average of the one below */
            free(texels);
            continue;
        }
        const double mean = mean_of(texels, count);
        if (level == 0) first = mean;
        /* every level keeps the mean; half rounds once a level */
        assert_true(fabs(mean - first) <= (format == TVLM_FORMAT_F16 ? 3e-3 : 1e-5));
        free(texels);
    }
    assert_true(width == 1 && height == 1); /* the last one that there was */
}

static void check_size(tvlm_device *device, tvlm_format format, int32_t width, int32_t height) {
    uint64_t seed = (uint64_t)(width * 1000 + height);
    uint8_t *pixels = test_random_pixels(&seed, width, height, 3);
    const tvlm_image image = u8_image(pixels, width, height, 3);
    tvlm_stack *stack = stack_of(device, format, &image);
    const size_t texels = (size_t)width * (size_t)height;
    for (int32_t c = 0; c < 3; ++c) {
        size_t count;
        float *got = read_level(stack, 0, c, 0, &count), *expected = malloc(texels * sizeof *expected);
        assert_non_null(expected);
        assert_int_equal(count, texels);
        for (size_t i = 0; i < texels; ++i) expected[i] = (float)pixels[3 * i + (size_t)c] / 255.0f;
        test_compare("source", got, expected, texels, format == TVLM_FORMAT_F16 ? 5e-4f : 1e-6f, 5e-4f);
        free(got);
        free(expected);
    }
    for (int32_t i = 0; i < ALL_COUNT; ++i) check_levels(stack, all_channels[i], format);
    tvlm_stack_destroy(&stack);
    assert_null(stack);
    free(pixels);
}

static void check_sizes(tvlm_device *device, tvlm_format format) {
    static const int32_t sizes[][2] = {{1, 1}, {1, 37}, {53, 1}, {2, 2}, {17, 9}, {33, 64}, {47, 31}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i)
        check_size(device, format, sizes[i][0], sizes[i][1]);
}

static void check_shapes(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = NULL;
    tvlm_stack_info info;
    int32_t width, height;
    assert_int_equal(
        tvlm_stack_create(device, tvlm_stack_params(.width = 101, .height = 35, .format = format), &stack),
        TVLM_OK);
    assert_int_equal(tvlm_stack_get_info(stack, &info), TVLM_OK);
    assert_int_equal(info.levels, 7);
    assert_int_equal(info.images, 1);
    assert_int_equal(info.format, format);
    assert_int_equal(info.device_bytes, 0); /* nothing is taken before something is read */
    assert_int_equal(tvlm_stack_level_size(stack, 3, &width, &height), TVLM_OK);
    assert_true(width == 12 && height == 4);
    assert_int_equal(tvlm_stack_level_size(stack, 6, &width, &height), TVLM_OK);
    assert_true(width == 1 && height == 1);
    assert_int_equal(tvlm_stack_level_size(stack, 7, &width, &height), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_level_size(stack, -1, &width, &height), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_channel_size(stack, TVLM_CHANNEL_SALIENCY, 0, &width, &height), TVLM_OK);
    assert_true(width == 25 && height == 8);
    assert_int_equal(tvlm_stack_channel_size(stack, TVLM_CHANNEL_ENTROPY, 0, &width, &height), TVLM_OK);
    assert_true(width == 7 && height == 3);
    assert_int_equal(tvlm_stack_channel_size(stack, TVLM_CHANNEL_ENTROPY, 3, &width, &height),
                     TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_channel_size(stack, TVLM_CHANNEL_MOTION, 1, &width, &height), TVLM_OK);
    assert_true(width == 50 && height == 17);
    tvlm_stack_destroy(&stack);
}

/* Nobody set an image: black, and whatever black means for each channel. */
static void check_black(tvlm_device *device, tvlm_format format) {
    static const struct {
        int32_t channel;
        float value;
    } expected[] = {{0, 0}, {3, 0},  {4, 1},  {5, 0.5f}, {6, 0},  {7, 0},
                    {8, 0}, {12, 0}, {40, 0}, {41, 0},   {45, 0}, {58, 0}};
    tvlm_stack *stack = NULL;
    assert_int_equal(
        tvlm_stack_create(device, tvlm_stack_params(.width = 19, .height = 23, .images = 2, .format = format),
                          &stack),
        TVLM_OK);
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; ++i) {
        size_t count;
        float *texels = read_level(stack, 1, expected[i].channel, 0, &count);
        for (size_t j = 0; j < count; ++j) assert_true(fabsf(texels[j] - expected[i].value) <= 1e-6f);
        free(texels);
    }
    tvlm_stack_destroy(&stack);
}

/* ---- Laziness ---- */

static uint32_t created_grids(const tvlm_stack *stack) {
    uint32_t mask = 0;
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid)
        if (stack->chunks[0].grids[grid] != NULL) mask |= UINT32_C(1) << grid;
    return mask;
}

static void check_lazy(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = NULL;
    tvlm_stack_info before, after;
    size_t count;
    uint64_t seed = 3;
    uint8_t *pixels = test_random_pixels(&seed, 40, 30, 3);
    const tvlm_image image = u8_image(pixels, 40, 30, 3);
    assert_int_equal(tvlm_stack_create(
                         device,
                         tvlm_stack_params(.width = 40, .height = 30, .layout = "visual12", .format = format),
                         &stack),
                     TVLM_OK);
    free(read_level(stack, 0, TVLM_CHANNEL_R, 2, &count));
    assert_int_equal(created_grids(stack), 1u << TVLM_GRID_SOURCE);
    free(read_level(stack, 0, TVLM_CHANNEL_X, 0, &count));
    free(read_level(stack, 0, TVLM_CHANNEL_TEXT, 0, &count));
    assert_int_equal(created_grids(stack), 1u << TVLM_GRID_SOURCE);
    assert_int_equal(tvlm_stack_generate(stack), TVLM_OK);
    const uint32_t visual12 = 1u << TVLM_GRID_SOURCE | 1u << TVLM_GRID_VISUAL | 1u << TVLM_GRID_SALIENCY;
    assert_int_equal(created_grids(stack), visual12);
    assert_int_equal(stack->chunks[0].valid, visual12);
    assert_int_equal(tvlm_stack_get_info(stack, &before), TVLM_OK);
    assert_true(before.device_bytes > 0);

    /* A new image invalidates; reading brings it up to date and takes no more memory. */
    assert_int_equal(tvlm_stack_set_image(stack, 0, &image), TVLM_OK);
    assert_int_equal(stack->chunks[0].valid, 0);
    float *edges = read_level(stack, 0, TVLM_CHANNEL_EDGES, 0, &count);
    assert_true(mean_of(edges, count) > 0.0);
    free(edges);
    assert_int_equal(tvlm_stack_get_info(stack, &after), TVLM_OK);
    assert_int_equal(after.device_bytes, before.device_bytes);
    tvlm_stack_destroy(&stack);
    free(pixels);
}

/* ---- Pixels ---- */

/* Any type, any number of channels, gaps between rows: the source follows the definition in image.h. */
static float pixel_value(const tvlm_image *image, size_t x, size_t y, int32_t c) {
    static const size_t bytes[] = {1, 2, 4};
    const size_t n = (size_t)image->channels, size = bytes[image->type];
    const size_t stride = image->row_stride != 0 ? image->row_stride : (size_t)image->width * n * size;
    const unsigned char *row = (const unsigned char *)image->pixels + y * stride;
    float v[4] = {0};
    for (size_t i = 0; i < n; ++i) {
        uint16_t u16 = 0;
        float f32 = 0.0f;
        const unsigned char *at = row + (x * n + i) * size;
        memcpy(&u16, at, image->type == TVLM_PIXEL_U16 ? 2 : 0);
        memcpy(&f32, at, image->type == TVLM_PIXEL_F32 ? 4 : 0);
        if (image->type == TVLM_PIXEL_U8)
            v[i] = (float)at[0] / 255.0f;
        else if (image->type == TVLM_PIXEL_U16)
            v[i] = (float)u16 / 65535.0f;
        else
            v[i] = isnan(f32) ? 0.0f : fminf(fmaxf(f32, 0.0f), 1.0f);
    }
    const float alpha = n == 2 ? v[1] : n == 4 ? v[3] : 1.0f;
    return v[n <= 2 ? 0 : c] * alpha + (1.0f - alpha);
}

static void check_image(tvlm_device *device, tvlm_format format, const tvlm_image *image) {
    tvlm_stack *stack = stack_of(device, format, image);
    for (int32_t c = 0; c < 3; ++c) {
        size_t count;
        float *got = read_level(stack, 0, c, 0, &count), *expected = malloc(count * sizeof *expected);
        assert_non_null(expected);
        for (size_t i = 0; i < count; ++i)
            expected[i] = pixel_value(image, i % (size_t)image->width, i / (size_t)image->width, c);
        test_compare("pixels", got, expected, count, format == TVLM_FORMAT_F16 ? 5e-4f : 2e-6f, 5e-4f);
        free(got);
        free(expected);
    }
    tvlm_stack_destroy(&stack);
}

static void check_pixel_types(tvlm_device *device, tvlm_format format) {
    static const size_t bytes[] = {1, 2, 4};
    uint64_t seed = 5;
    unsigned char *pixels = malloc(20 * 9 * 16);
    assert_non_null(pixels);
    for (int type = TVLM_PIXEL_U8; type <= TVLM_PIXEL_F32; ++type) {
        for (int32_t channels = 1; channels <= 4; ++channels) {
            for (size_t i = 0; i < 20 * 9 * 16; ++i) pixels[i] = (unsigned char)test_random(&seed);
            for (size_t i = 0; type == TVLM_PIXEL_F32 && i < 20 * 9 * 4; ++i) {
                const float value = i == 7 ? NAN : i == 9 ? INFINITY : 1.5f * test_random_unit(&seed) - 0.25f;
                memcpy(pixels + 4 * i, &value, sizeof value);
            }
            const size_t row = 13 * (size_t)channels * bytes[type];
            tvlm_image image = {pixels, 13, 9, channels, (tvlm_pixel_type)type, 0};
            check_image(device, format, &image);
            image.row_stride = row + (type == TVLM_PIXEL_F32 ? 8 : 5); /* odd: elements are not aligned */
            check_image(device, format, &image);
        }
    }
    free(pixels);
}

/* ---- Batches in chunks ---- */

static void compare_channels(tvlm_stack *batch, int32_t index, tvlm_stack *single) {
    for (int32_t i = 0; i < ALL_COUNT; ++i) {
        for (int32_t level = 0; level < 2; ++level) {
            size_t count, single_count;
            float *got = read_level(batch, index, all_channels[i], level, &count);
            float *expected = read_level(single, 0, all_channels[i], level, &single_count);
            assert_int_equal(count, single_count);
            assert_memory_equal(got, expected, count * sizeof *got);
            free(got);
            free(expected);
        }
    }
}

static void compare_samples(tvlm_stack *batch, int32_t index, tvlm_stack *single) {
    enum { POINTS = 50 };
    tvlm_sample_point points[POINTS];
    float got[POINTS * ALL_COUNT], expected[POINTS * ALL_COUNT];
    uint64_t seed = 77;
    for (int i = 0; i < POINTS; ++i) {
        const float x = 40.0f * test_random_unit(&seed), y = 25.0f * test_random_unit(&seed);
        points[i] = (tvlm_sample_point){x, y, 6.0f * test_random_unit(&seed), index};
    }
    assert_int_equal(tvlm_stack_sample(batch, points, POINTS, all_channels, ALL_COUNT, got), TVLM_OK);
    for (int i = 0; i < POINTS; ++i) points[i].index = 0;
    assert_int_equal(tvlm_stack_sample(single, points, POINTS, all_channels, ALL_COUNT, expected), TVLM_OK);
    assert_memory_equal(got, expected, sizeof got);
}

static void compare_packed(tvlm_packed *batch, int32_t index, tvlm_packed *single) {
    int32_t width, height, channels;
    tvlm_packed_size(batch, &width, &height, &channels);
    const size_t count = (size_t)width * (size_t)height * (size_t)channels;
    float *got = malloc(count * sizeof *got), *expected = malloc(count * sizeof *expected);
    assert_true(got != NULL && expected != NULL);
    assert_int_equal(tvlm_packed_read(batch, index, count, got), TVLM_OK);
    assert_int_equal(tvlm_packed_read(single, 0, count, expected), TVLM_OK);
    assert_memory_equal(got, expected, count * sizeof *got);
    free(got);
    free(expected);
}

static void check_batch(tvlm_device *device, tvlm_format format) {
    enum { IMAGES = 5, WIDTH = 37, HEIGHT = 21 };
    const int32_t slices = device->info.image_slices_max;
    tvlm_stack *batch = NULL;
    tvlm_packed *packed = NULL;
    uint8_t *pixels[IMAGES];
    uint64_t seed = 11;
    device->info.image_slices_max = 32; /* two images a chunk: textures of 16 layers must fit */
    assert_int_equal(tvlm_stack_create(device,
                                       tvlm_stack_params(.width = WIDTH, .height = HEIGHT, .images = IMAGES,
                                                         .format = format),
                                       &batch),
                     TVLM_OK);
    assert_int_equal(batch->chunk_images, 2);
    assert_int_equal(batch->chunk_count, 3);
    assert_int_equal(batch->chunks[2].images, 1);
    for (int32_t i = 0; i < IMAGES; ++i) {
        pixels[i] = test_random_pixels(&seed, WIDTH, HEIGHT, 3);
        const tvlm_image image = u8_image(pixels[i], WIDTH, HEIGHT, 3);
        assert_int_equal(tvlm_stack_set_image(batch, i, &image), TVLM_OK);
    }
    assert_int_equal(tvlm_stack_generate(batch), TVLM_OK);
    const struct tvlm_pack_params *params = tvlm_pack_params(.width = 11, .height = 14);
    assert_int_equal(tvlm_stack_pack(batch, params, &packed), TVLM_OK);
    for (int32_t i = 0; i < IMAGES; ++i) {
        const tvlm_image image = u8_image(pixels[i], WIDTH, HEIGHT, 3);
        tvlm_stack *single = stack_of(device, format, &image);
        tvlm_packed *single_packed = NULL;
        assert_int_equal(tvlm_stack_pack(single, params, &single_packed), TVLM_OK);
        compare_channels(batch, i, single);
        compare_samples(batch, i, single);
        compare_packed(packed, i, single_packed);
        tvlm_packed_destroy(&single_packed);
        tvlm_stack_destroy(&single);
        free(pixels[i]);
    }
    device->info.image_slices_max = slices;
    tvlm_packed_destroy(&packed);
    tvlm_stack_destroy(&batch);
}

/* Points of all images in one list, in any order. */
static void check_mixed_points(tvlm_device *device, tvlm_format format) {
    const int32_t slices = device->info.image_slices_max, red = TVLM_CHANNEL_R;
    tvlm_stack *stack = NULL;
    tvlm_sample_point points[40];
    float got[40];
    device->info.image_slices_max = 16;
    assert_int_equal(
        tvlm_stack_create(device, tvlm_stack_params(.width = 3, .height = 2, .images = 4, .format = format),
                          &stack),
        TVLM_OK);
    device->info.image_slices_max = slices;
    assert_int_equal(stack->chunk_count, 4);
    for (int32_t i = 0; i < 4; ++i) {
        uint8_t pixels[6];
        memset(pixels, 50 * (i + 1), sizeof pixels);
        const tvlm_image image = u8_image(pixels, 3, 2, 1);
        assert_int_equal(tvlm_stack_set_image(stack, i, &image), TVLM_OK);
    }
    for (int32_t i = 0; i < 40; ++i) points[i] = (tvlm_sample_point){1.0f, 1.0f, 0.0f, i * 7 % 4};
    assert_int_equal(tvlm_stack_sample(stack, points, 40, &red, 1, got), TVLM_OK);
    for (int32_t i = 0; i < 40; ++i)
        assert_true(fabsf(got[i] - 50.0f * (float)(points[i].index + 1) / 255.0f) <= tolerance(format));
    tvlm_stack_destroy(&stack);
}

/* ---- Read, sample and pack say the same ---- */

/* A packed plane against samples at its texels' centres. */
static void compare_plane_to_samples(tvlm_stack *stack, const float *plane, int32_t channel, int32_t width,
                                     int32_t height, float level, tvlm_format format) {
    const size_t count = (size_t)width * (size_t)height;
    tvlm_sample_point *points = malloc(count * sizeof *points);
    float *expected = malloc(count * sizeof *expected);
    assert_true(points != NULL && expected != NULL);
    for (size_t i = 0; i < count; ++i)
        points[i] = (tvlm_sample_point){
            ((float)(i % (size_t)width) + 0.5f) * (float)stack->width / (float)width,
            ((float)(i / (size_t)width) + 0.5f) * (float)stack->height / (float)height, level, 0};
    assert_int_equal(tvlm_stack_sample(stack, points, (int32_t)count, &channel, 1, expected), TVLM_OK);
    test_compare("pack against sample", plane, expected, count, tolerance(format), tolerance(format));
    free(points);
    free(expected);
}

static void check_pack(tvlm_stack *stack, const struct tvlm_pack_params *params, int32_t width,
                       int32_t height, float level, tvlm_format format) {
    tvlm_packed *packed = NULL;
    int32_t w, h, channels;
    assert_int_equal(tvlm_stack_pack(stack, params, &packed), TVLM_OK);
    tvlm_packed_size(packed, &w, &h, &channels);
    assert_true(w == width && h == height && channels == params->channel_count);
    const size_t plane = (size_t)w * (size_t)h;
    float *planes = malloc(plane * (size_t)channels * sizeof *planes);
    assert_non_null(planes);
    assert_int_equal(tvlm_packed_read(packed, 0, plane * (size_t)channels, planes), TVLM_OK);
    for (int32_t c = 0; c < channels; ++c)
        compare_plane_to_samples(stack, planes + (size_t)c * plane, params->channels[c], w, h, level, format);
    free(planes);
    tvlm_packed_destroy(&packed);
    assert_null(packed);
}

static void check_packing(tvlm_device *device, tvlm_format format) {
    uint64_t seed = 13;
    uint8_t *pixels = test_random_pixels(&seed, 67, 45, 3);
    const tvlm_image image = u8_image(pixels, 67, 45, 3);
    tvlm_stack *stack = stack_of(device, format, &image);
    struct tvlm_pack_params params = {.channels = all_channels, .channel_count = ALL_COUNT};
    check_pack(stack, &params, 67, 45, 0.0f, format);
    params.level = 2.0f;
    check_pack(stack, &params, 16, 11, 2.0f, format);
    params.level = 1.5f;
    check_pack(stack, &params, 23, 15, 1.5f, format);
    params.level = 0.0f, params.width = 33,
    params.height = 22; /* the size of level 1: that level, not 1.04 */
    check_pack(stack, &params, 33, 22, 1.0f, format);
    params.width = 20, params.height = 5;
    check_pack(stack, &params, 20, 5, log2f(9.0f), format);
    params.width = 200, params.height = 100;
    check_pack(stack, &params, 200, 100, 0.0f, format);
    params.level = 3.25f, params.width = 5, params.height = 6;
    check_pack(stack, &params, 5, 6, 3.25f, format);
    tvlm_stack_destroy(&stack);
    free(pixels);
}

/* A packed level of a channel of the image's size is that level; it stays when the stack changes. */
static void check_pack_is_read(tvlm_device *device, tvlm_format format) {
    static const int32_t channels[] = {TVLM_CHANNEL_EDGES, TVLM_CHANNEL_B, TVLM_CHANNEL_EDGE_X,
                                       TVLM_CHANNEL_ECCENTRICITY, TVLM_CHANNEL_MOTION};
    uint64_t seed = 17;
    uint8_t *pixels = test_random_pixels(&seed, 41, 26, 3);
    const tvlm_image image = u8_image(pixels, 41, 26, 3);
    tvlm_stack *stack = stack_of(device, format, &image);
    tvlm_packed *packed = NULL;
    float planes[5 * 20 * 13];
    assert_int_equal(tvlm_stack_pack(stack,
                                     tvlm_pack_params(.channels = channels, .channel_count = 5, .level = 1),
                                     &packed),
                     TVLM_OK);
    float *levels[5];
    size_t count;
    for (int c = 0; c < 5; ++c) levels[c] = read_level(stack, 0, channels[c], 1, &count);
    memset(pixels, 0, 41 * 26 * 3);
    assert_int_equal(tvlm_stack_set_image(stack, 0, &image), TVLM_OK);
    tvlm_stack_destroy(&stack);
    assert_int_equal(tvlm_packed_read(packed, 0, 5 * 20 * 13, planes), TVLM_OK);
    for (int c = 0; c < 5; ++c) {
        test_compare("pack against read", planes + (size_t)c * 260, levels[c], 260, tolerance(format),
                     tolerance(format));
        free(levels[c]);
    }
    tvlm_packed_destroy(&packed);
    free(pixels);
}

/* More textures than one bundle holds: sampling does it in turns, packing says that it cannot. */
static void check_split_bundles(tvlm_device *device, tvlm_format format) {
    enum { POINTS = 9 };
    tvlm_sample_point points[POINTS];
    float whole[POINTS * ALL_COUNT], split[POINTS * ALL_COUNT];
    uint64_t seed = 19;
    uint8_t *pixels = test_random_pixels(&seed, 40, 30, 3);
    const tvlm_image image = u8_image(pixels, 40, 30, 3);
    tvlm_stack *stack = stack_of(device, format, &image);
    tvlm_packed *packed = NULL;
    for (int i = 0; i < POINTS; ++i)
        points[i] = (tvlm_sample_point){4.0f * (float)i, 3.3f * (float)i, 0.3f * (float)i, 0};
    assert_int_equal(tvlm_stack_sample(stack, points, POINTS, all_channels, ALL_COUNT, whole), TVLM_OK);
    for (int32_t max = 1; max < 4; ++max) {
        stack->bundle_max = max;
        assert_int_equal(tvlm_stack_sample(stack, points, POINTS, all_channels, ALL_COUNT, split), TVLM_OK);
        assert_memory_equal(split, whole, sizeof split);
        assert_int_equal(
            tvlm_stack_pack(stack, tvlm_pack_params(.channels = all_channels, .channel_count = ALL_COUNT),
                            &packed),
            TVLM_ERROR_UNSUPPORTED);
        assert_null(packed);
    }
    tvlm_stack_destroy(&stack);
    free(pixels);
}

/* Outside is the edge (the cells' is at 48, 32); a level beyond the last is the last. */
static void check_clamped_points(tvlm_device *device, tvlm_format format) {
    static const tvlm_sample_point outside[] = {
        {-5, -INFINITY, -3, 0}, {1e30f, INFINITY, 0, 0}, {3, 3, 1e9f, 0}};
    static const tvlm_sample_point inside[] = {{0, 0, 0, 0}, {48, 32, 0, 0}, {3, 3, 5, 0}};
    float got[3 * ALL_COUNT], expected[3 * ALL_COUNT];
    uint64_t seed = 23;
    uint8_t *pixels = test_random_pixels(&seed, 40, 30, 3);
    const tvlm_image image = u8_image(pixels, 40, 30, 3);
    tvlm_stack *stack = stack_of(device, format, &image);
    assert_int_equal(tvlm_stack_sample(stack, outside, 3, all_channels, ALL_COUNT, got), TVLM_OK);
    assert_int_equal(tvlm_stack_sample(stack, inside, 3, all_channels, ALL_COUNT, expected), TVLM_OK);
    assert_memory_equal(got, expected, sizeof got);
    assert_true(got[8] == 0.0f && got[9] == 0.0f); /* x, y */
    assert_true(got[ALL_COUNT + 8] == 1.0f && got[ALL_COUNT + 9] == 1.0f);
    tvlm_stack_destroy(&stack);
    free(pixels);
}

static void check_fixation(tvlm_device *device, tvlm_format format) {
    static const float corner[] = {0.0f, 0.0f};
    static const int32_t channel = TVLM_CHANNEL_ECCENTRICITY;
    const tvlm_sample_point points[] = {{0, 0, 0, 0}, {30, 40, 0, 0}, {15, 20, 2, 0}};
    float got[3];
    tvlm_stack *stack = NULL;
    assert_int_equal(
        tvlm_stack_create(device,
                          tvlm_stack_params(.width = 30, .height = 40, .fixation = corner, .format = format),
                          &stack),
        TVLM_OK);
    assert_int_equal(tvlm_stack_sample(stack, points, 3, &channel, 1, got), TVLM_OK);
    test_compare("corner", got, (const float[]){0.0f, 1.0f, 0.5f}, 3, 1e-6f, 1e-6f);
    assert_int_equal(tvlm_stack_set_fixation(stack, 15.0f, 20.0f), TVLM_OK);
    assert_int_equal(tvlm_stack_sample(stack, points, 3, &channel, 1, got), TVLM_OK);
    test_compare("centre", got, (const float[]){1.0f, 1.0f, 0.0f}, 3, 1e-6f, 1e-6f);
    assert_int_equal(tvlm_stack_set_fixation(stack, NAN, 20.0f), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_set_fixation(stack, 1.0f, INFINITY), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_set_fixation(stack, 60.0f, 80.0f), TVLM_OK); /* outside is allowed */
    assert_int_equal(tvlm_stack_sample(stack, points, 1, &channel, 1, got), TVLM_OK);
    assert_true(fabsf(got[0] - 1.0f) <= 1e-6f);
    tvlm_stack_destroy(&stack);
}

/* What lib/stack/interop.c hands out. */
static void check_accessors(tvlm_device *device, tvlm_format format) {
    const int32_t slices = device->info.image_slices_max;
    tvlm_stack *stack = NULL;
    tvlm_packed *packed = NULL;
    tvlm_texture *texture;
    int32_t layer, component, first;
    device->info.image_slices_max = 32;
    assert_int_equal(
        tvlm_stack_create(device, tvlm_stack_params(.width = 9, .height = 9, .images = 3, .format = format),
                          &stack),
        TVLM_OK);
    device->info.image_slices_max = slices;
    assert_int_equal(tvlm_stack_texture(stack, 2, TVLM_CHANNEL_HIGH, &texture, &layer, &component, &first),
                     TVLM_OK);
    assert_true(layer == 0 && component == 2 && first == 2 &&
                texture == stack->chunks[1].grids[TVLM_GRID_VISUAL]);
    assert_int_equal(stack->chunks[0].valid, 0);
    assert_int_equal(tvlm_stack_texture(stack, 0, TVLM_CHANNEL_X, &texture, &layer, &component, &first),
                     TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_texture(stack, 0, TVLM_CHANNEL_TEXT, &texture, &layer, &component, &first),
                     TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_texture(stack, 3, TVLM_CHANNEL_R, &texture, &layer, &component, &first),
                     TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_pack(stack, NULL, &packed), TVLM_OK);
    assert_int_equal(tvlm_packed_texture(packed, 2, &texture, &first), TVLM_OK);
    assert_true(first == 2 && texture->layers == 10 && texture->images == 1 && texture->levels == 1);
    assert_int_equal(tvlm_packed_texture(packed, 3, &texture, &first), TVLM_ERROR_ARGUMENT);
    tvlm_packed_destroy(&packed);
    tvlm_stack_destroy(&stack);
}

/* ---- Resampling ---- */

/* The average of channel c over output texel (i, j) by definition: overlap with every source pixel. */
static double area_average(const float *from, int32_t w, int32_t h, int32_t i, int32_t j, int32_t width,
                           int32_t height) {
    const double x0 = (double)i * w / width, x1 = (double)(i + 1) * w / width;
    const double y0 = (double)j * h / height, y1 = (double)(j + 1) * h / height;
    double sum = 0.0;
    for (int32_t y = 0; y < h; ++y)
        for (int32_t x = 0; x < w; ++x) {
            const double across = fmin(x1, x + 1) - fmax(x0, x), down = fmin(y1, y + 1) - fmax(y0, y);
            if (across > 0 && down > 0)
                sum += across * down * (double)from[(size_t)y * (size_t)w + (size_t)x];
        }
    return sum / ((x1 - x0) * (y1 - y0));
}

static void test_resample_area(void **state) {
    static const int32_t sizes[][4] = {{7, 5, 3, 2},  {16, 16, 4, 8}, {31, 17, 30, 16},
                                       {40, 3, 1, 1}, {9, 9, 9, 4},   {1, 5, 1, 3}};
    uint64_t seed = 29;
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
        const int32_t w = sizes[s][0], h = sizes[s][1], width = sizes[s][2], height = sizes[s][3];
        float *from = malloc((size_t)w * (size_t)h * sizeof *from), *got = NULL;
        int32_t channels = 0;
        assert_non_null(from);
        for (size_t i = 0; i < (size_t)w * (size_t)h; ++i) from[i] = test_random_unit(&seed);
        const tvlm_image image = {from, w, h, 1, TVLM_PIXEL_F32, 0};
        assert_int_equal(tvlm_resample(&image, width, height, &got, &channels), TVLM_OK);
        assert_int_equal(channels, 1);
        for (int32_t j = 0; j < height; ++j)
            for (int32_t i = 0; i < width; ++i)
                assert_true(
                    fabs((double)got[j * width + i] - area_average(from, w, h, i, j, width, height)) <= 1e-6);
        assert_true(fabs(mean_of(got, (size_t)width * (size_t)height) -
                         mean_of(from, (size_t)w * (size_t)h)) <= 1e-6);
        free(from);
        free(got);
    }
}

static void test_resample_bilinear(void **state) {
    enum { W = 5, H = 4, WIDTH = 13, HEIGHT = 9 };
    float from[W * H], *got = NULL;
    uint64_t seed = 31;
    int32_t channels;
    (void)state;
    for (int i = 0; i < W * H; ++i) from[i] = test_random_unit(&seed);
    const tvlm_image image = {from, W, H, 1, TVLM_PIXEL_F32, 0};
    assert_int_equal(tvlm_resample(&image, WIDTH, HEIGHT, &got, &channels), TVLM_OK);
    for (int j = 0; j < HEIGHT; ++j)
        for (int i = 0; i < WIDTH; ++i) {
            const double x = fmin(fmax((i + 0.5) * W / WIDTH - 0.5, 0), W - 1),
                         y = fmin(fmax((j + 0.5) * H / HEIGHT - 0.5, 0), H - 1);
            const int x0 = (int)x, y0 = (int)y, x1 = x0 + 1 < W ? x0 + 1 : x0, y1 = y0 + 1 < H ? y0 + 1 : y0;
            const double top =
                (1 - (x - x0)) * (double)from[y0 * W + x0] + (x - x0) * (double)from[y0 * W + x1];
            const double bottom =
                (1 - (x - x0)) * (double)from[y1 * W + x0] + (x - x0) * (double)from[y1 * W + x1];
            assert_true(fabs((double)got[j * WIDTH + i] - ((1 - (y - y0)) * top + (y - y0) * bottom)) <=
                        1e-6);
        }
    free(got);
}

/* Every type and channel count, shrunk along one axis and grown along the other: a constant stays exactly. */
static void test_resample_constant(void **state) {
    (void)state;
    for (int32_t n = 1; n <= 4; ++n) {
        uint8_t u8[4 * 11 * 6];
        uint16_t u16[4 * 11 * 6];
        for (int i = 0; i < 11 * 6 * n; ++i) {
            const bool alpha = n % 2 == 0 && i % n == n - 1;
            u8[i] = alpha ? 255 : 77;
            u16[i] = alpha ? 65535 : 30000;
        }
        const tvlm_image images[] = {{u8, 11, 6, n, TVLM_PIXEL_U8, 0}, {u16, 11, 6, n, TVLM_PIXEL_U16, 0}};
        const float expected[] = {77.0f / 255.0f, 30000.0f / 65535.0f};
        for (int k = 0; k < 2; ++k) {
            float *got = NULL;
            int32_t channels;
            assert_int_equal(tvlm_resample(&images[k], 4, 13, &got, &channels), TVLM_OK);
            assert_int_equal(channels, n <= 2 ? 1 : 3);
            for (int i = 0; i < 4 * 13 * channels; ++i) assert_true(got[i] == expected[k]);
            free(got);
        }
    }
}

/* A transparent black pixel is white, before it is averaged. */
static void test_resample_alpha(void **state) {
    static const uint8_t pixels[] = {0, 0, 0, 0, 0, 0, 0, 255};
    const tvlm_image image = u8_image(pixels, 2, 1, 4);
    float *got = NULL;
    int32_t channels;
    (void)state;
    assert_int_equal(tvlm_resample(&image, 1, 1, &got, &channels), TVLM_OK);
    assert_int_equal(channels, 3);
    for (int c = 0; c < 3; ++c) assert_true(got[c] == 0.5f);
    free(got);
}

/* An image of another size, through the stack; images of a batch may differ in size. */
static void check_resampled_image(tvlm_device *device, tvlm_format format) {
    uint64_t seed = 37;
    uint8_t *pixels = test_random_pixels(&seed, 64, 40, 3);
    const tvlm_image image = u8_image(pixels, 64, 40, 3), small = u8_image(pixels, 8, 5, 3);
    tvlm_stack *full = stack_of(device, format, &image), *half = NULL;
    assert_int_equal(
        tvlm_stack_create(device, tvlm_stack_params(.width = 32, .height = 20, .images = 2, .format = format),
                          &half),
        TVLM_OK);
    assert_int_equal(tvlm_stack_set_image(half, 0, &image), TVLM_OK);
    assert_int_equal(tvlm_stack_set_image(half, 1, &small), TVLM_OK);
    assert_true(half->originals[0].width == 64 && half->originals[0].height == 40);
    assert_true(half->originals[1].width == 8 && half->originals[1].height == 5);
    for (int32_t c = 0; c < 3; ++c) {
        size_t count;
        float *got = read_level(half, 0, c, 0, &count), *expected = read_level(full, 0, c, 1, &count);
        test_compare("half size is level 1", got, expected, count, format == TVLM_FORMAT_F16 ? 1e-3f : 1e-6f,
                     1e-3f);
        free(got);
        free(expected);
    }
    tvlm_stack_destroy(&full);
    tvlm_stack_destroy(&half);
    free(pixels);
}

/* ---- Refusals ---- */

static void refused(tvlm_status status, tvlm_status expected, const char *line) {
    assert_int_equal(status, expected);
    if (strstr(test_last_log(), line) == NULL) fail_msg("'%s' does not say '%s'", test_last_log(), line);
}

#define REFUSE_STACK(EXPECTED, LINE, ...)                                                                    \
    refused(tvlm_stack_create(device, tvlm_stack_params(__VA_ARGS__), &stack), EXPECTED, LINE)

static void test_create_refusals(void **state) {
    static const float nowhere[] = {NAN, 0.0f};
    tvlm_device *device = open_reference();
    tvlm_stack *stack = NULL;
    (void)state;
    REFUSE_STACK(TVLM_ERROR_ARGUMENT, "0x4", .height = 4);
    REFUSE_STACK(TVLM_ERROR_ARGUMENT, "-3x4", .width = -3, .height = 4);
    REFUSE_STACK(TVLM_ERROR_ARGUMENT, "-1 images", .width = 4, .height = 4, .images = -1);
    REFUSE_STACK(TVLM_ERROR_ARGUMENT, "format", .width = 4, .height = 4, .format = (tvlm_format)9);
    REFUSE_STACK(TVLM_ERROR_ARGUMENT, "did you mean 'visual12'", .width = 4, .height = 4,
                 .layout = "visual21");
    REFUSE_STACK(TVLM_ERROR_ARGUMENT, "family 'motion'", .width = 4, .height = 4, .layout = "r,motion");
    REFUSE_STACK(TVLM_ERROR_ARGUMENT, "fixation", .width = 4, .height = 4, .fixation = nowhere);
    REFUSE_STACK(TVLM_ERROR_DEVICE_MEMORY, "2^31", .width = 32768, .height = 32768);
    device->info.allocation_max = 10000;
    REFUSE_STACK(TVLM_ERROR_DEVICE_MEMORY, "10000", .width = 64, .height = 64);
    device->info.storage = TVLM_STORAGE_IMAGE;
    device->info.image_width_max = 60;
    device->info.image_height_max = 50;
    REFUSE_STACK(TVLM_ERROR_DEVICE_MEMORY, "60x50", .width = 61, .height = 4);
    REFUSE_STACK(TVLM_ERROR_DEVICE_MEMORY, "60x50", .width = 4, .height = 51);
    assert_int_equal(tvlm_stack_create(device, NULL, &stack), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_create(NULL, tvlm_stack_params(.width = 4, .height = 4), &stack),
                     TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_create(device, tvlm_stack_params(.width = 4, .height = 4), NULL),
                     TVLM_ERROR_ARGUMENT);
    assert_null(stack);
    tvlm_stack_destroy(NULL);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* Scaled to what fits, keeping the shape, with a line; a size that was asked for is not changed. */
static void test_scaled_to_limit(void **state) {
    tvlm_device *device = open_reference();
    tvlm_stack *stack = NULL;
    tvlm_stack_info info;
    uint64_t seed = 41;
    uint8_t *pixels = test_random_pixels(&seed, 200, 100, 3);
    const tvlm_image image = u8_image(pixels, 200, 100, 3);
    (void)state;
    device->info.storage = TVLM_STORAGE_IMAGE;
    device->info.image_width_max = 128;
    device->info.image_height_max = 128;
    assert_int_equal(tvlm_stack_create_for_image(device, &image, NULL, &stack), TVLM_OK);
    assert_int_equal(tvlm_stack_get_info(stack, &info), TVLM_OK);
    assert_true(info.width == 128 && info.height == 64);
    assert_int_equal(info.format, TVLM_FORMAT_F32);
    tvlm_stack_destroy(&stack);
    device->info.storage = TVLM_STORAGE_BUFFER;
    device->info.allocation_max = 50 * 25 * 16 * 3 / 2;
    assert_int_equal(
        tvlm_stack_create_for_image(device, &image, tvlm_stack_params(.layout = "rgb_var"), &stack), TVLM_OK);
    assert_non_null(strstr(test_last_log(), "scaled down from 200x100 to "));
    assert_int_equal(tvlm_stack_get_info(stack, &info), TVLM_OK);
    assert_true(abs(info.width - 2 * info.height) <= 1 && info.width >= 50 && info.width < 60);
    tvlm_stack_destroy(&stack);
    refused(
        tvlm_stack_create_for_image(device, &image, tvlm_stack_params(.width = 200, .height = 100), &stack),
        TVLM_ERROR_DEVICE_MEMORY, "200x100");
    refused(tvlm_stack_create_for_image(device, &image, tvlm_stack_params(.width = 20), &stack),
            TVLM_ERROR_ARGUMENT, "without a height");
    assert_null(stack);
    tvlm_device_destroy(&device);
    free(pixels);
}

static void test_missing_families_are_named(void **state) {
    tvlm_device *device = open_reference();
    tvlm_stack *stack = NULL;
    int32_t count;
    (void)state;
    assert_int_equal(tvlm_stack_create(device, tvlm_stack_params(.width = 4, .height = 4), &stack), TVLM_OK);
    assert_non_null(strstr(test_last_log(),
                           "full40: 0 everywhere, not made by this version: motion, cluster, temporal, "
                           "embedding, distance, attention, text"));
    assert_non_null(tvlm_stack_channels(stack, &count));
    assert_int_equal(count, 40);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

static void refuse_image(tvlm_stack *stack, tvlm_image image, const char *line) {
    refused(tvlm_stack_set_image(stack, 0, &image), TVLM_ERROR_ARGUMENT, line);
}

static void test_image_refusals(void **state) {
    static const uint8_t pixels[64] = {0};
    tvlm_device *device = open_reference();
    const tvlm_image good = u8_image(pixels, 4, 4, 3);
    tvlm_stack *stack = stack_of(device, TVLM_FORMAT_F32, &good);
    tvlm_stack *other = NULL;
    (void)state;
    refuse_image(stack, (tvlm_image){NULL, 4, 4, 3, TVLM_PIXEL_U8, 0}, "no pixels");
    refuse_image(stack, (tvlm_image){pixels, 0, 4, 3, TVLM_PIXEL_U8, 0}, "0x4");
    refuse_image(stack, (tvlm_image){pixels, 4, -1, 3, TVLM_PIXEL_U8, 0}, "4x-1");
    refuse_image(stack, (tvlm_image){pixels, 4, 4, 5, TVLM_PIXEL_U8, 0}, "5 channels");
    refuse_image(stack, (tvlm_image){pixels, 4, 4, 0, TVLM_PIXEL_U8, 0}, "0 channels");
    refuse_image(stack, (tvlm_image){pixels, 4, 4, 3, (tvlm_pixel_type)3, 0}, "type 3");
    refuse_image(stack, (tvlm_image){pixels, 4, 4, 3, TVLM_PIXEL_U8, 11}, "a row has 12");
    refuse_image(stack, (tvlm_image){pixels, 4, 4, 3, TVLM_PIXEL_U8, SIZE_MAX / 2}, "address space");
    refused(tvlm_stack_set_image(stack, 1, &good), TVLM_ERROR_ARGUMENT, "image 1 of a stack of 1");
    refused(tvlm_stack_set_image(stack, -1, &good), TVLM_ERROR_ARGUMENT, "image -1");
    assert_int_equal(tvlm_stack_set_image(stack, 0, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_set_image(NULL, 0, &good), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_create_for_image(device, NULL, NULL, &other), TVLM_ERROR_ARGUMENT);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

static void test_reader_refusals(void **state) {
    static const int32_t red = 0, nothing = 99999, motion = TVLM_CHANNEL_MOTION;
    tvlm_sample_point point = {1, 1, 0, 0};
    float texels[64] = {0};
    tvlm_device *device = open_reference();
    tvlm_stack *stack = NULL;
    (void)state;
    assert_int_equal(tvlm_stack_create(device, tvlm_stack_params(.width = 8, .height = 6), &stack), TVLM_OK);
    refused(tvlm_stack_read(stack, 0, 0, 0, 47, texels), TVLM_ERROR_ARGUMENT, "room for 47");
    refused(tvlm_stack_read(stack, 0, 0, 4, 64, texels), TVLM_ERROR_ARGUMENT, "level 4");
    refused(tvlm_stack_read(stack, 0, 0, -1, 64, texels), TVLM_ERROR_ARGUMENT, "level -1");
    refused(tvlm_stack_read(stack, 0, nothing, 0, 64, texels), TVLM_ERROR_ARGUMENT, "no channel 99999");
    refused(tvlm_stack_read(stack, 1, 0, 0, 64, texels), TVLM_ERROR_ARGUMENT, "image 1");
    refused(tvlm_stack_sample(stack, &point, 1, &nothing, 1, texels), TVLM_ERROR_ARGUMENT,
            "no channel 99999");
    assert_int_equal(tvlm_stack_sample(stack, &point, -1, &red, 1, texels), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_sample(stack, &point, 1, &red, 1, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stack_sample(stack, NULL, 0, NULL, 0, NULL), TVLM_OK);
    texels[0] = 5.0f;
    assert_int_equal(tvlm_stack_sample(stack, &point, 1, &motion, 1, texels), TVLM_OK);
    assert_true(texels[0] == 0.0f);
    point.index = 1;
    refused(tvlm_stack_sample(stack, &point, 1, &red, 1, texels), TVLM_ERROR_ARGUMENT, "image 1");
    point = (tvlm_sample_point){1, NAN, 0, 0};
    refused(tvlm_stack_sample(stack, &point, 1, &red, 1, texels), TVLM_ERROR_ARGUMENT,
            "point 0 is not a number");
    point = (tvlm_sample_point){1, 1, NAN, 0};
    refused(tvlm_stack_sample(stack, &point, 1, &red, 1, texels), TVLM_ERROR_ARGUMENT,
            "point 0 is not a number");
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

#define REFUSE_PACK(LINE, ...)                                                                               \
    refused(tvlm_stack_pack(stack, tvlm_pack_params(__VA_ARGS__), &packed), TVLM_ERROR_ARGUMENT, LINE)

static void test_pack_refusals(void **state) {
    static const int32_t channels[] = {0, 99999};
    tvlm_device *device = open_reference();
    tvlm_stack *stack = NULL;
    tvlm_packed *packed = NULL;
    float few[3];
    (void)state;
    assert_int_equal(tvlm_stack_create(device, tvlm_stack_params(.width = 8, .height = 6), &stack), TVLM_OK);
    REFUSE_PACK("0 channels", .channels = channels);
    REFUSE_PACK("no channel 99999", .channels = channels, .channel_count = 2);
    REFUSE_PACK("level", .level = NAN);
    REFUSE_PACK("level", .level = -1.0f);
    REFUSE_PACK("5x0", .width = 5);
    REFUSE_PACK("-1x4", .width = -1, .height = 4);
    assert_null(packed);
    device->info.image_width_max = 100;
    assert_int_equal(tvlm_stack_pack(stack, tvlm_pack_params(.width = 101, .height = 4), &packed),
                     TVLM_ERROR_DEVICE_MEMORY);
    assert_null(packed);
    assert_int_equal(tvlm_stack_pack(stack, tvlm_pack_params(.level = 50.0f), &packed), TVLM_OK);
    refused(tvlm_packed_read(packed, 1, 40, few), TVLM_ERROR_ARGUMENT, "image 1");
    refused(tvlm_packed_read(packed, 0, 3, few), TVLM_ERROR_ARGUMENT, "the array has 40");
    tvlm_packed_destroy(&packed);
    tvlm_packed_destroy(&packed);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

/* ---- Devices ---- */

static void test_opening(void **state) {
    tvlm_device *device = NULL;
    tvlm_device_info infos[16];
    char index[16];
    int32_t count = 0;
    (void)state;
    assert_int_equal(tvlm_device_list(0, NULL, &count), TVLM_OK);
    assert_in_range(count, 1, 16);
    assert_int_equal(tvlm_device_list(16, infos, &count), TVLM_OK);
    assert_int_equal(infos[count - 1].type, TVLM_DEVICE_REFERENCE);
    assert_int_equal(infos[count - 1].index, count - 1);
    assert_int_equal(infos[count - 1].storage, TVLM_STORAGE_AUTO);
    snprintf(index, sizeof index, "%d", (int)count - 1);
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = index), &device), TVLM_OK);
    assert_int_equal(tvlm_device_get_info(device)->type, TVLM_DEVICE_REFERENCE);
    assert_int_equal(tvlm_device_get_info(device)->index, count - 1);
    assert_int_equal(tvlm_device_finish(device), TVLM_OK);
    tvlm_device_destroy(&device);
    assert_null(device);
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "ReFeRence"), &device), TVLM_OK);
    tvlm_device_destroy(&device);
    assert_int_equal(setenv("TVLM_DEVICE", "reference", 1), 0);
    assert_int_equal(tvlm_device_open(NULL, &device), TVLM_OK);
    assert_int_equal(unsetenv("TVLM_DEVICE"), 0);
    assert_int_equal(tvlm_device_get_info(device)->type, TVLM_DEVICE_REFERENCE);
    tvlm_device_destroy(&device);
    tvlm_device_destroy(NULL);
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "no such device"), &device),
                     TVLM_ERROR_NO_DEVICE);
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "99999999999"), &device),
                     TVLM_ERROR_NO_DEVICE);
    assert_int_equal(tvlm_device_open(tvlm_device_params(.storage = (tvlm_storage)7), &device),
                     TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_device_list(0, NULL, NULL), TVLM_ERROR_ARGUMENT);
    assert_null(tvlm_device_get_info(NULL));
    assert_string_equal(tvlm_storage_name(TVLM_STORAGE_MIPMAPPED), "mipmapped");
    assert_string_equal(tvlm_storage_name((tvlm_storage)9), "auto");
    assert_string_equal(tvlm_format_name(TVLM_FORMAT_F16), "f16");
}

/* ---- Running it all ---- */

typedef void device_check(tvlm_device *device, tvlm_format format);

static device_check *const checks[] = {
    check_sizes,          check_shapes,       check_black,     check_lazy,           check_pixel_types,
    check_batch,          check_mixed_points, check_packing,   check_pack_is_read,   check_split_bundles,
    check_clamped_points, check_fixation,     check_accessors, check_resampled_image};
#define CHECK_COUNT (sizeof checks / sizeof checks[0])

static void on_reference(tvlm_format format) {
    tvlm_device *device = open_reference();
    for (size_t i = 0; i < CHECK_COUNT; ++i) checks[i](device, format);
    tvlm_device_destroy(&device);
}

static void test_reference_f32(void **state) {
    (void)state;
    on_reference(TVLM_FORMAT_F32);
}

static void test_reference_f16(void **state) {
    (void)state;
    on_reference(TVLM_FORMAT_F16);
}

static void on_target(const test_target *target, tvlm_device *reference) {
    (void)reference;
    for (size_t i = 0; i < CHECK_COUNT; ++i) checks[i](target->device, target->format);
}

static void test_targets(void **state) {
    (void)state;
    if (test_for_each_target(on_target) == 0) skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opening),           cmocka_unit_test(test_resample_area),
        cmocka_unit_test(test_resample_bilinear), cmocka_unit_test(test_resample_constant),
        cmocka_unit_test(test_resample_alpha),    cmocka_unit_test(test_create_refusals),
        cmocka_unit_test(test_scaled_to_limit),   cmocka_unit_test(test_missing_families_are_named),
        cmocka_unit_test(test_image_refusals),    cmocka_unit_test(test_reader_refusals),
        cmocka_unit_test(test_pack_refusals),     cmocka_unit_test(test_reference_f32),
        cmocka_unit_test(test_reference_f16),     cmocka_unit_test(test_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
