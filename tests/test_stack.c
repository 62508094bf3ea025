/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h: sizes, levels, what is made when, batches in chunks, and what is refused. On the reference device,
 * and once more on every device under test. What families hold is tested where they are made.
 */
#include "stack/inside.h"
#include "stack/make.h"
#include "stack/packed.h"
#include "stack_helper.h"

/* Stored channels of all grids but the query's, and formulas. */
static const int32_t all_channels[] = {0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 40, 41, 42, 43, 44, 45, 46, 47, 48};
#define ALL_COUNT ((int32_t)(sizeof all_channels / sizeof all_channels[0]))

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
    uint64_t seed = (uint64_t)width * 1000 + (uint64_t)height;
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
    assert_int_equal(tvlm_stack_channel_size(stack, TVLM_CHANNEL_PREVIOUS_PASS, 1, &width, &height), TVLM_OK);
    assert_true(width == 50 && height == 17);
    tvlm_stack_destroy(&stack);
}

/* Nobody set an image: black, and whatever black means for each channel. */
static void check_black(tvlm_device *device, tvlm_format format) {
    static const struct {
        int32_t channel;
        float value;
    } expected[] = {{0, 0}, {3, 0},  {4, 1},  {5, 0.5f}, {6, 0},  {7, 0},
                    {8, 0}, {59, 0}, {40, 0}, {41, 0},   {45, 0}, {58, 0}};
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

static tvlm_grid_mask created_grids(const tvlm_stack *stack) {
    tvlm_grid_mask mask = 0;
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid)
        if (stack->chunks[0].grids[grid] != NULL) mask |= TVLM_GRID_BIT(grid);
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
    assert_int_equal(created_grids(stack), TVLM_GRID_BIT(TVLM_GRID_SOURCE));
    free(read_level(stack, 0, TVLM_CHANNEL_X, 0, &count));
    free(read_level(stack, 0, TVLM_CHANNEL_WORD_0, 0, &count));
    assert_int_equal(created_grids(stack), TVLM_GRID_BIT(TVLM_GRID_SOURCE));
    assert_int_equal(tvlm_stack_make_all(stack), TVLM_OK);
    const tvlm_grid_mask visual12 =
        TVLM_GRID_BIT(TVLM_GRID_SOURCE) | TVLM_GRID_BIT(TVLM_GRID_VISUAL) | TVLM_GRID_BIT(TVLM_GRID_SALIENCY);
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
    assert_int_equal(tvlm_stack_make_all(batch), TVLM_OK);
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
        assert_true(fabsf(got[i] - 50.0f * (float)(points[i].index + 1) / 255.0f) <= 1e-3f);
    tvlm_stack_destroy(&stack);
}

/* ---- The rest ---- */

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
    assert_int_equal(tvlm_stack_texture(stack, 0, TVLM_CHANNEL_WORD_0, &texture, &layer, &component, &first),
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

/* ---- Refusals ---- */

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
    REFUSE_STACK(TVLM_ERROR_ARGUMENT, "'word_64'", .width = 4, .height = 4, .layout = "r,word_64");
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

/* What full40 needs and this version does not make, whatever that is. */
static void test_missing_families_are_named(void **state) {
    tvlm_device *device = open_reference();
    tvlm_stack *stack = NULL;
    int32_t count;
    bool missing = false;
    (void)state;
    tvlm_log_message(&test_log, TVLM_LOG_INFO, "nothing yet");
    assert_int_equal(tvlm_stack_create(device, tvlm_stack_params(.width = 4, .height = 4), &stack), TVLM_OK);
    const int32_t *channels = tvlm_stack_channels(stack, &count);
    assert_non_null(channels);
    assert_int_equal(count, 40);
    for (int32_t i = 0; i < count; ++i) {
        tvlm_channel_info info;
        assert_int_equal(tvlm_channel_get_info(channels[i], &info), TVLM_OK);
        if (info.available) continue;
        missing = true;
        assert_non_null(strstr(test_last_log(), info.family));
    }
    assert_int_equal(strstr(test_last_log(), "full40: 0 everywhere, not made by this version: ") != NULL,
                     missing);
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
    assert_int_equal(test_device_info(device)->type, TVLM_DEVICE_REFERENCE);
    assert_int_equal(test_device_info(device)->index, count - 1);
    assert_int_equal(tvlm_device_finish(device), TVLM_OK);
    tvlm_device_destroy(&device);
    assert_null(device);
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "ReFeRence"), &device), TVLM_OK);
    tvlm_device_destroy(&device);
    assert_int_equal(setenv("TVLM_DEVICE", "reference", 1), 0);
    assert_int_equal(tvlm_device_open(NULL, &device), TVLM_OK);
    assert_int_equal(unsetenv("TVLM_DEVICE"), 0);
    assert_int_equal(test_device_info(device)->type, TVLM_DEVICE_REFERENCE);
    tvlm_device_destroy(&device);
    tvlm_device_destroy(NULL);
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "no such device"), &device),
                     TVLM_ERROR_NO_DEVICE);
    assert_int_equal(tvlm_device_open(tvlm_device_params(.name = "99999999999"), &device),
                     TVLM_ERROR_NO_DEVICE);
    assert_int_equal(tvlm_device_open(tvlm_device_params(.storage = (tvlm_storage)7), &device),
                     TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_device_list(0, NULL, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_device_get_info(NULL, NULL), TVLM_ERROR_ARGUMENT);
    assert_string_equal(tvlm_storage_name(TVLM_STORAGE_MIPMAPPED), "mipmapped");
    assert_string_equal(tvlm_storage_name((tvlm_storage)9), "unknown");
    assert_string_equal(tvlm_format_name(TVLM_FORMAT_F16), "f16");
}

DEVICE_CHECKS(check_sizes, check_shapes, check_black, check_lazy, check_batch, check_mixed_points,
              check_fixation, check_accessors)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_f32),
        cmocka_unit_test(test_reference_f16),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_create_refusals),
        cmocka_unit_test(test_missing_families_are_named),
        cmocka_unit_test(test_opening),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
