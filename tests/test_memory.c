/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of a device's memory a stack takes (tvlm_stack_need) against what the device gave, family by
 * family; and the sizes that follow from it (tvlm_stack_largest_size), where memory, a side, or a limit is the bound.
 */
#include "stack/inside.h"
#include "stack/limits.h"
#include "stack_helper.h"

/* ---- What is needed ---- */

/* A device of its own, so that no earlier family has left scratch memory. */
static tvlm_device *same_device(const tvlm_device *device) {
    char name[16] = "reference";
    tvlm_device *opened = NULL;
    if (device->info.index >= 0) snprintf(name, sizeof name, "%d", (int)device->info.index);
    assert_int_equal(
        tvlm_device_open(tvlm_device_params(.name = name, .storage = device->info.storage, .log = &test_log),
                         &opened),
        TVLM_OK);
    return opened;
}

/* Makes a layout for an image, and returns the most memory that the device gave meanwhile. */
static size_t taken_by(const tvlm_device *like, tvlm_format format, const char *layout,
                       const tvlm_image *image, bool resampled, uint64_t *need) {
    tvlm_device *device = same_device(like);
    tvlm_stack *stack = NULL;
    const int32_t width = resampled ? image->width - 1 : image->width;
    const struct tvlm_stack_params params = {
        .layout = layout, .width = width, .height = image->height, .format = format};
    assert_int_equal(tvlm_stack_need(device, &params, need), TVLM_OK);
    const size_t before = device->held;
    device->held_most = before;
    assert_int_equal(tvlm_stack_create_for_image(device, image, &params, &stack), TVLM_OK);
    assert_int_equal(tvlm_stack_make_all(stack), TVLM_OK);
    const size_t taken = device->held_most - before;
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
    return taken;
}

/* The need is never below what is taken, and not far above it. */
static void check_layout(tvlm_device *device, tvlm_format format, const char *layout,
                         const tvlm_image *image) {
    uint64_t need = 0;
    const double taken = (double)taken_by(device, format, layout, image, true, &need);
    const double pixels = (double)(image->width - 1) * image->height;
    if (getenv("TVLM_TEST_FIGURES") != NULL)
        printf("%-12s %s: %.2f bytes a pixel taken, %.2f counted\n", layout, tvlm_format_name(format),
               taken / pixels, (double)need / pixels);
    if (taken > (double)need) fail_msg("%s: %.0f bytes taken, %.0f counted", layout, taken, (double)need);
    /* Where the device shares the host's memory, the host's copy of the pixels is counted, and not seen as taken.
     * On the reference, neither is what a family works with. */
    const double copy = device->info.type == TVLM_DEVICE_GPU ? 0.0 : 12.0 * pixels;
    if (device->info.type != TVLM_DEVICE_REFERENCE && (double)need > 1.5 * taken + copy)
        fail_msg("%s: %.0f bytes taken, %.0f counted", layout, taken, (double)need);
}

static void check_need(tvlm_device *device, tvlm_format format) {
    uint64_t seed = 5;
    const int32_t width = test_small() ? 190 : 611, height = test_small() ? 130 : 477;
    uint8_t *const pixels = test_random_pixels(&seed, width, height, 3);
    const tvlm_image image = u8_image(pixels, width, height, 3);
    for (int grid = TVLM_GRID_VISUAL; grid < TVLM_GRID_QUERY; ++grid) {
        tvlm_channel_info channel;
        /* What has the size of a grid that is handed in is not made without that. */
        if (device->backend->generate[grid] == NULL ||
            tvlm_grid_get_info((tvlm_grid)grid)->size == TVLM_SIZE_LIKE)
            continue;
        assert_int_equal(tvlm_channel_get_info(tvlm_grid_get_channel((tvlm_grid)grid, 0), &channel), TVLM_OK);
        check_layout(device, format, channel.name, &image);
    }
    check_layout(device, format, "edges,saliency,eccentricity,entropy", &image);
    free(pixels);
}

/* Twice as many images take twice as much, but for the pixels, which come one image after the other; and an
 * image of bytes that is not resampled less than one that is. */
static void test_counts(void **state) {
    tvlm_device *device = open_reference();
    tvlm_stack_demand demand;
    uint64_t one, two, sized;
    (void)state;
    const struct tvlm_stack_params params = {.layout = "edges", .width = 300, .height = 200};
    struct tvlm_stack_params batch = params;
    batch.images = 2;
    assert_int_equal(tvlm_stack_need(device, &params, &one), TVLM_OK);
    assert_int_equal(tvlm_stack_need(device, &batch, &two), TVLM_OK);
    assert_int_equal(two - one, one - 300 * 200 * 12);
    assert_int_equal(tvlm_stack_demand_of(device, &params, &demand), TVLM_OK);
    demand.width = 300, demand.height = 200, demand.pixel_bytes = 3;
    assert_int_equal(one - (uint64_t)tvlm_stack_bytes_of(&demand, 300, 200), 300 * 200 * 9);
    assert_int_equal(tvlm_stack_need(device, tvlm_stack_params(.layout = "patch13"), &sized), TVLM_OK);
    assert_true(sized > 0 && sized < one);
    assert_int_equal(
        tvlm_stack_need(device, tvlm_stack_params(.width = INT32_MAX, .height = INT32_MAX), &two), TVLM_OK);
    assert_true(two > (uint64_t)1 << 62);
    tvlm_device_destroy(&device);
}

/* ---- What fits ---- */

/* The largest size that fits: the next larger one does not. */
static void check_largest(tvlm_device *device, struct tvlm_stack_params params, int32_t w, int32_t h,
                          uint64_t memory) {
    int32_t width = w, height = h;
    uint64_t need;
    assert_int_equal(tvlm_stack_largest_size(device, &params, &width, &height), TVLM_OK);
    assert_true(fabs((double)width * h - (double)height * w) <= (w > h ? w : h));
    params.width = width, params.height = height, params.max_side = 0, params.memory_max = 0;
    assert_int_equal(tvlm_stack_need(device, &params, &need), TVLM_OK);
    assert_true(need <= memory);
    params.width += w / h + 1, params.height += h / w + 1;
    assert_int_equal(tvlm_stack_need(device, &params, &need), TVLM_OK);
    assert_true(need > memory);
}

static void test_fit(void **state) {
    tvlm_device *device = open_reference();
    int32_t width = 4000, height = 3000;
    (void)state;
    device->info.memory_bytes = 8 << 20;
    const struct tvlm_stack_params all = {0}, edges = {.layout = "edges"},
                                   bounded = {.layout = "edges", .memory_max = 1 << 20};
    check_largest(device, all, 4000, 3000, 7 << 20);
    check_largest(device, edges, 4000, 3000, 7 << 20);
    check_largest(device, edges, 30, 70000, 7 << 20);
    check_largest(device, bounded, 4000, 3000, 1 << 20);
    /* A side bounds where it is the smaller bound, and memory where that is. */
    assert_int_equal(tvlm_stack_largest_size(device, tvlm_stack_params(.layout = "edges", .max_side = 200),
                                             &width, &height),
                     TVLM_OK);
    assert_true(width == 200 && height == 150);
    check_largest(device, (struct tvlm_stack_params){.layout = "edges", .max_side = 3999}, 4000, 3000,
                  7 << 20);
    /* What fits stays as it is, and 1 x 1 always fits. */
    width = 100, height = 50;
    assert_int_equal(tvlm_stack_largest_size(device, &edges, &width, &height), TVLM_OK);
    assert_true(width == 100 && height == 50);
    device->info.memory_bytes = 1;
    assert_int_equal(tvlm_stack_largest_size(device, &edges, &width, &height), TVLM_OK);
    assert_true(width == 1 && height == 1);
    /* No memory told is none to be bounded by, but the host's. */
    device->info.memory_bytes = 0;
    width = 640, height = 480;
    assert_int_equal(tvlm_stack_largest_size(device, NULL, &width, &height), TVLM_OK);
    assert_true(width == 640 && height == 480);
    tvlm_device_destroy(&device);
}

/* Of an image that is a smaller version of another one, positions are in the pixels of that. */
static void check_smaller_version(tvlm_device *device, const uint8_t *pixels) {
    tvlm_image image = u8_image(pixels, 64, 48, 3);
    tvlm_stack *stack = NULL;
    tvlm_selection *selection = NULL;
    tvlm_selection_info info;
    const struct tvlm_select_params params = {.strategy = TVLM_STRATEGY_GRID, .k = 12};
    int32_t count = 0;
    image.of_width = 640, image.of_height = 480;
    assert_int_equal(
        tvlm_stack_create_for_image(device, &image, tvlm_stack_params(.layout = "edges"), &stack), TVLM_OK);
    assert_int_equal(tvlm_stack_width(stack), 64);
    for (int updated = 0; updated < 2; ++updated) {
        assert_int_equal(tvlm_select(stack, NULL, &params, &selection), TVLM_OK);
        assert_int_equal(tvlm_selection_get_info(selection, &info), TVLM_OK);
        assert_true(info.width == (updated ? 320 : 640) && info.height == (updated ? 240 : 480));
        const tvlm_position *const at = tvlm_selection_positions(selection, &count);
        assert_int_equal(count, 12); /* all cells of 16 x 16 */
        float far = 0.0f;
        for (int32_t i = 0; i < count; ++i) far = fmaxf(far, at[i].x);
        assert_float_equal(far, (updated ? 280.0f : 560.0f), 0.0f);
        tvlm_selection_destroy(&selection);
        image.of_width = 320, image.of_height = 240;
        assert_int_equal(tvlm_stack_update_image(stack, 0, &image, NULL, NULL), TVLM_OK);
    }
    image.of_height = 0;
    refused(tvlm_stack_set_image(stack, 0, &image), TVLM_ERROR_ARGUMENT, "a smaller version of 320x0 pixels");
    tvlm_stack_destroy(&stack);
}

/* An image that is too large for the memory is worked on smaller, with a line; its positions are its own. */
static void test_scaled_down(void **state) {
    enum { WIDTH = 640, HEIGHT = 480 };
    tvlm_device *device = open_reference();
    uint64_t seed = 9;
    uint8_t *const pixels = test_random_pixels(&seed, WIDTH, HEIGHT, 3);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    tvlm_stack *stack = NULL;
    tvlm_selection *selection = NULL;
    tvlm_stack_info info;
    int32_t count;
    float far = 0.0f;
    (void)state;
    device->info.memory_bytes = 4 << 20;
    assert_int_equal(tvlm_stack_create_for_image(
                         device, &image, tvlm_stack_params(.layout = "edges,saliency,entropy"), &stack),
                     TVLM_OK);
    if (strstr(test_last_log(), "scaled down from 640x480 to ") == NULL ||
        strstr(test_last_log(), " 4 MiB of this device's memory") == NULL)
        fail_msg("'%s'", test_last_log());
    assert_int_equal(tvlm_stack_get_info(stack, &info), TVLM_OK);
    assert_true(info.width < WIDTH && info.width > 100);
    device->held_most = device->held;
    assert_int_equal(
        tvlm_select(stack, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = 20), &selection),
        TVLM_OK);
    assert_true(device->held_most < 4 << 20);
    const tvlm_position *const at = tvlm_selection_positions(selection, &count);
    for (int32_t i = 0; i < count; ++i) far = fmaxf(far, at[i].x);
    assert_true(far > (float)info.width && far < (float)WIDTH);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
    /* What is asked for is no warning. */
    tvlm_log_message(&test_log, TVLM_LOG_INFO, "nothing yet");
    assert_int_equal(tvlm_stack_create_for_image(
                         device, &image, tvlm_stack_params(.layout = "edges", .max_side = 64), &stack),
                     TVLM_OK);
    assert_string_equal(test_last_log(), "nothing yet");
    assert_true(tvlm_stack_width(stack) == 64 && tvlm_stack_height(stack) == 48);
    tvlm_stack_destroy(&stack);
    check_smaller_version(device, pixels);
    /* So is a given size, whatever the device's memory, but not beyond memory_max. */
    assert_int_equal(tvlm_stack_create(device, tvlm_stack_params(.width = WIDTH, .height = HEIGHT), &stack),
                     TVLM_OK);
    tvlm_stack_destroy(&stack);
    refused(tvlm_stack_create(
                device, tvlm_stack_params(.width = WIDTH, .height = HEIGHT, .memory_max = 4 << 20), &stack),
            TVLM_ERROR_DEVICE_MEMORY, "a stack of 640x480 needs ");
    refused(tvlm_stack_create(device, tvlm_stack_params(.width = 8, .height = 8, .max_side = -1), &stack),
            TVLM_ERROR_ARGUMENT, "sides of at most -1 pixels");
    free(pixels);
    tvlm_device_destroy(&device);
}

/* A session lets stacks go before the memory is full, not after. */
static void test_session_makes_room(void **state) {
    enum { WIDTH = 300, HEIGHT = 200 };
    tvlm_device *device = open_reference();
    tvlm_session *session = NULL;
    tvlm_session_info info;
    uint64_t seed = 3, need = 0;
    (void)state;
    const struct tvlm_stack_params params = {.layout = "edges"};
    assert_int_equal(tvlm_stack_need(device,
                                     tvlm_stack_params(.layout = "edges", .width = WIDTH, .height = HEIGHT),
                                     &need),
                     TVLM_OK);
    device->info.memory_bytes = 8 * (5 * need / 2) / 7; /* of which two and a half fit */
    assert_int_equal(tvlm_session_create(device, tvlm_session_params(.cache_bytes = SIZE_MAX), &session),
                     TVLM_OK);
    for (int i = 0; i < 4; ++i) {
        uint8_t *const pixels = test_random_pixels(&seed, WIDTH, HEIGHT, 3);
        const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
        tvlm_stack *stack;
        assert_int_equal(tvlm_session_stack(session, &image, &params, NULL, 0, &stack, NULL), TVLM_OK);
        assert_int_equal(tvlm_stack_width(stack), WIDTH);
        assert_int_equal(tvlm_stack_make_all(stack), TVLM_OK);
        free(pixels);
    }
    assert_int_equal(tvlm_session_get_info(session, &info), TVLM_OK);
    assert_int_equal(info.stacks, 2);
    assert_int_equal(info.evictions, 2);
    assert_true(device->held_most < 7 * device->info.memory_bytes / 8);
    tvlm_session_destroy(&session);
    tvlm_device_destroy(&device);
}

DEVICE_CHECKS(check_need)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference_f32),
        cmocka_unit_test(test_reference_f16),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_fit),
        cmocka_unit_test(test_scaled_down),
        cmocka_unit_test(test_session_makes_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
