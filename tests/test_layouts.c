/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layouts: they hold the families that their channels need and no others; patch13 and scene18 as batches of
 * thumbnails, the device against the reference; full40 packed is what sampling each of its channels gives.
 */
#include "stack/inside.h"
#include "stack/packed.h"
#include "stack_helper.h"
#include "support_stage.h"

/* ---- What a layout costs ---- */

static tvlm_grid_mask created(const tvlm_stack *stack) {
    tvlm_grid_mask mask = 0;
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid)
        if (stack->chunks[0].grids[grid] != NULL) mask |= TVLM_GRID_BIT(grid);
    return mask;
}

/* What the channels are stored in, and what that needs; of a still, without anything handed in. */
static tvlm_grid_mask expected_grids(const tvlm_stack *stack) {
    const tvlm_grid_mask previous = TVLM_GRID_BIT(TVLM_GRID_MOTION) | TVLM_GRID_BIT(TVLM_GRID_TEMPORAL);
    const tvlm_grid_mask depth = TVLM_GRID_BIT(TVLM_GRID_OCCLUSION) | TVLM_GRID_BIT(TVLM_GRID_NORMAL);
    tvlm_grid_mask mask = 0, given = 0;
    int32_t count;
    const int32_t *channels = tvlm_stack_channels(stack, &count);
    for (int32_t i = 0; i < count; ++i) {
        const tvlm_grid grid = tvlm_channel_get_place(channels[i]).grid;
        if (grid < TVLM_GRID_COUNT) mask |= TVLM_GRID_BIT(grid);
    }
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid)
        if (tvlm_grid_is_given((tvlm_grid)grid)) given |= TVLM_GRID_BIT(grid);
    return tvlm_grids_with_needs(mask & ~(previous | depth)) & ~given;
}

static void check_costs(tvlm_device *device, tvlm_format format) {
    uint64_t seed = 8;
    uint8_t *pixels = test_random_pixels(&seed, 70, 50, 3);
    const tvlm_image image = u8_image(pixels, 70, 50, 3);
    for (int32_t i = 0; tvlm_layout_name(i) != NULL; ++i) {
        const char *name = tvlm_layout_name(i);
        tvlm_stack *stack = NULL;
        assert_int_equal(tvlm_stack_create_for_image(
                             device, &image, tvlm_stack_params(.layout = name, .format = format), &stack),
                         TVLM_OK);
        assert_int_equal(tvlm_stack_make_all(stack), TVLM_OK);
        if (created(stack) != expected_grids(stack))
            fail_msg("%s: grids %llx, expected %llx", name, (unsigned long long)created(stack),
                     (unsigned long long)expected_grids(stack));
        tvlm_stack_destroy(&stack);
    }
    free(pixels);
}

/* The same said for the three layouts that are there for it. */
static void test_small_layouts(void **state) {
    static const struct {
        const char *layout, *channel;
        bool has;
    } rows[] = {
        {"mvp13", "cluster_id", false}, {"mvp13", "text", false},          {"mvp13", "distance", true},
        {"mvp13", "boundary", false},   {"visual12", "cluster_id", false}, {"visual12", "distance", false},
        {"visual12", "saliency", true}, {"patch13", "cluster_id", false},  {"patch13", "text", false},
        {"cluster15", "text", false},   {"full40", "text", true},          {"full40", "embedding_0", false}};
    (void)state;
    tvlm_device *device = open_reference();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const tvlm_grid grid = tvlm_channel_get_place(tvlm_channel_find(rows[i].channel)).grid;
        tvlm_stack *stack = NULL;
        if (grid == TVLM_GRID_NONE) continue; /* not in this version */
        assert_int_equal(
            tvlm_stack_create(device, tvlm_stack_params(.width = 40, .height = 40, .layout = rows[i].layout),
                              &stack),
            TVLM_OK);
        assert_int_equal(tvlm_stack_make_all(stack), TVLM_OK);
        if ((stack->chunks[0].grids[grid] != NULL) != rows[i].has)
            fail_msg("%s: %s is%s there", rows[i].layout, rows[i].channel, rows[i].has ? " not" : "");
        tvlm_stack_destroy(&stack);
    }
    tvlm_device_destroy(&device);
}

/* ---- Thumbnails ---- */

/* Images of all sizes in one batch; scene18 gets a depth for every other one. */
static tvlm_stack *thumbnails(tvlm_device *device, tvlm_format format, const char *layout, int32_t width,
                              int32_t height, int32_t images) {
    float depth[6 * 5];
    uint64_t seed = 12;
    tvlm_stack *stack = NULL;
    if (tvlm_stack_create(device,
                          tvlm_stack_params(.layout = layout, .width = width, .height = height,
                                            .images = images, .format = format),
                          &stack) != TVLM_OK)
        fail_msg("%s", test_last_log());
    for (int32_t i = 0; i < images; ++i) {
        const int32_t w = 1 + (i * 37 + 20) % 90, h = 1 + (i * 53 + 31) % 70;
        uint8_t *pixels = test_random_pixels(&seed, w, h, i % 2 == 0 ? 3 : 1);
        const tvlm_image image = u8_image(pixels, w, h, i % 2 == 0 ? 3 : 1);
        assert_int_equal(tvlm_stack_set_image(stack, i, &image), TVLM_OK);
        free(pixels);
        for (int k = 0; k < 30; ++k) depth[k] = 1.0f + test_random_unit(&seed);
        if (strcmp(layout, "scene18") == 0 && i % 2 == 0)
            assert_int_equal(tvlm_stack_set_grid(stack, i, TVLM_CHANNEL_DEPTH,
                                                 tvlm_grid_input(.data = depth, .columns = 6, .rows = 5)),
                             TVLM_OK);
    }
    return stack;
}

static float *packed_planes(tvlm_stack *stack, int32_t *images, size_t *values) {
    tvlm_packed *packed = NULL;
    int32_t width, height, channels;
    tvlm_stack_info info;
    assert_int_equal(tvlm_stack_get_info(stack, &info), TVLM_OK);
    assert_int_equal(tvlm_stack_pack(stack, NULL, &packed), TVLM_OK);
    tvlm_packed_size(packed, &width, &height, &channels);
    *images = info.images;
    *values = (size_t)width * (size_t)height * (size_t)channels;
    float *planes = malloc((size_t)info.images * *values * sizeof *planes);
    assert_non_null(planes);
    for (int32_t i = 0; i < info.images; ++i)
        assert_int_equal(tvlm_packed_read(packed, i, *values, planes + (size_t)i * *values), TVLM_OK);
    tvlm_packed_destroy(&packed);
    return planes;
}

static void check_thumbnails(const test_target *target, tvlm_device *reference, const char *layout,
                             int32_t width, int32_t height, int32_t images) {
    const int32_t count = strcmp(layout, "scene18") == 0 ? 18 : 13;
    const bool half = target->format == TVLM_FORMAT_F16, gpu = target->device->info.type == TVLM_DEVICE_GPU;
    tvlm_stack *stack = thumbnails(target->device, target->format, layout, width, height, images);
    tvlm_stack *expected_stack = thumbnails(reference, target->format, layout, width, height, images);
    int32_t got_images, expected_images, channel_count;
    size_t values, expected_values;
    float *got = packed_planes(stack, &got_images, &values);
    float *expected = packed_planes(expected_stack, &expected_images, &expected_values);
    const int32_t *channels = tvlm_stack_channels(stack, &channel_count);
    assert_int_equal(channel_count, count);
    assert_int_equal(got_images, images);
    assert_int_equal(values, expected_values);
    assert_int_equal(values,
                     (size_t)count * (size_t)(width > 0 ? width : 32) * (size_t)(height > 0 ? height : 32));
    const size_t plane = values / (size_t)count;
    for (int32_t i = 0; i < images; ++i)
        for (int32_t c = 0; c < count; ++c) {
            tvlm_channel_info info;
            char what[96];
            assert_int_equal(tvlm_channel_get_info(channels[c], &info), TVLM_OK);
            snprintf(what, sizeof what, "%s of %s, image %d of %d", info.name, layout, (int)i, (int)images);
            /*
             * Saliency is scaled by what is largest in the image, normals by lengths: a difference grows with
             * it, to 0.0022 on an NVIDIA H100. Depth is sampled between texels of another size, by the
             * device's own filter.
             */
            const bool scaled = strcmp(info.family, "saliency") == 0 || strcmp(info.family, "scene") == 0;
            const float filter =
                strcmp(info.family, "scene") == 0 ? test_sample_tolerance(target, 6, 2.0f) : 0.0f;
            const float allowed =
                (scaled ? gpu ? 4e-3f : 2e-3f : 1e-5f) + 8.0f * filter + (half ? 8.0f * TEST_HALF_ULP : 0.0f);
            test_compare(what, got + (size_t)i * values + (size_t)c * plane,
                         expected + (size_t)i * values + (size_t)c * plane, plane, allowed, allowed);
        }
    free(got);
    free(expected);
    tvlm_stack_destroy(&stack);
    tvlm_stack_destroy(&expected_stack);
}

static void batches(const test_target *target, tvlm_device *reference) {
    check_thumbnails(target, reference, "patch13", 0, 0, 1); /* 32x32 */
    check_thumbnails(target, reference, "scene18", 0, 0, 3);
    check_thumbnails(target, reference, "scene18", 21, 9, 2);
    if (test_small()) return;
    check_thumbnails(target, reference, "patch13", 0, 0, 32);
    check_thumbnails(target, reference, "patch13", 0, 0, 256);
    check_thumbnails(target, reference, "patch13", 48, 33, 5);
}

static void test_batches(void **state) {
    (void)state;
    test_on_targets(batches);
}

/* Forced chunks change nothing. */
static void check_chunked_thumbnails(tvlm_device *device, tvlm_format format) {
    const int32_t slices = device->info.image_slices_max;
    int32_t images;
    size_t values;
    tvlm_stack *whole = thumbnails(device, format, "scene18", 0, 0, 7);
    device->info.image_slices_max = 3 * 16;
    tvlm_stack *chunked = thumbnails(device, format, "scene18", 0, 0, 7);
    device->info.image_slices_max = slices;
    assert_true(chunked->chunk_count == 3 && chunked->width == 32 && chunked->height == 32);
    float *a = packed_planes(whole, &images, &values), *b = packed_planes(chunked, &images, &values);
    assert_memory_equal(a, b, 7 * values * sizeof *a);
    free(a);
    free(b);
    tvlm_stack_destroy(&whole);
    tvlm_stack_destroy(&chunked);
}

/* ---- full40 in one array ---- */

/* With everything in it that can be handed in: four channels a slice, each what sampling it at the texel
 * gives. */
static void check_full40(tvlm_device *device, tvlm_format format) {
    enum { WIDTH = 57, HEIGHT = 41, CELLS = 6 * 4 };
    float values[CELLS * 16];
    uint64_t seed = 77;
    uint8_t *pixels = test_random_pixels(&seed, WIDTH, HEIGHT, 3);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    tvlm_stack *stack = stack_of(device, format, &image);
    tvlm_packed *packed = NULL;
    tvlm_texture *texture = NULL;
    int32_t width, height, count, first;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; ++i) values[i] = test_random_unit(&seed);
    struct tvlm_grid_input input = {.data = values, .columns = 6, .rows = 4};
    static const int32_t inputs[] = {TVLM_CHANNEL_ATTENTION, TVLM_CHANNEL_GAZE, TVLM_CHANNEL_ATTENTION_PREV,
                                     TVLM_CHANNEL_SALIENCY, TVLM_CHANNEL_MOTION};
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; ++i)
        assert_int_equal(tvlm_stack_set_grid(stack, 0, inputs[i], &input), TVLM_OK);
    input.channels = 16;
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_EMBEDDING_0, &input), TVLM_OK);
    const struct tvlm_pack_params *params = tvlm_pack_params(.width = 20, .height = 13, .level = 1.25f);
    if (tvlm_stack_pack(stack, params, &packed) != TVLM_OK) fail_msg("%s", test_last_log());
    tvlm_packed_size(packed, &width, &height, &count);
    assert_int_equal(tvlm_packed_texture(packed, 0, &texture, &first), TVLM_OK);
    assert_true(width == 20 && height == 13 && count == 40 && texture->layers == 10);
    float planes[40 * 20 * 13], samples[20 * 13 * 40];
    tvlm_sample_point points[20 * 13];
    for (int32_t i = 0; i < 20 * 13; ++i)
        points[i] = (tvlm_sample_point){((float)(i % 20) + 0.5f) * WIDTH / 20.0f,
                                        ((float)(i / 20) + 0.5f) * HEIGHT / 13.0f, 1.25f, 0};
    assert_int_equal(tvlm_packed_read(packed, 0, sizeof planes / sizeof planes[0], planes), TVLM_OK);
    const int32_t *channels = tvlm_stack_channels(stack, &count);
    assert_int_equal(tvlm_stack_sample(stack, points, 20 * 13, channels, 40, samples), TVLM_OK);
    for (int32_t c = 0; c < 40; ++c) {
        float expected[20 * 13];
        char what[32];
        for (int32_t i = 0; i < 20 * 13; ++i) expected[i] = samples[i * 40 + c];
        snprintf(what, sizeof what, "channel %d", (int)channels[c]);
        /* The same arithmetic; the packed array is rounded once more. Ids up to 49 are halves. */
        const float allowed = 1e-5f + (format == TVLM_FORMAT_F16 ? TEST_HALF_ULP : 0.0f);
        test_compare(what, planes + c * 20 * 13, expected, 20 * 13, allowed, allowed);
    }
    tvlm_packed_destroy(&packed);
    tvlm_stack_destroy(&stack);
    free(pixels);
}

DEVICE_CHECKS(check_costs, check_chunked_thumbnails, check_full40)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_layouts), cmocka_unit_test(test_batches),
        cmocka_unit_test(test_reference_f32), cmocka_unit_test(test_reference_f16),
        cmocka_unit_test(test_targets),
    };
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
