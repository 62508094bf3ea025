/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_scalar.c: grids of one channel, whose texels are one component where the device has such: which grids they
 * are, what memory that saves, and that all that is read of them is the same to the bit. Images have both kinds of
 * texels, and are compared with themselves; buffers have one kind, and are compared with images.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "opencl/backend.h"
#include "stack/grids.h"
#include "stack/inside.h"
#include "stack_helper.h"
#include "support_stage.h"
#include "texturevlm/select.h"

enum { WIDTH = 128, HEIGHT = 96, CELLS_W = 20, CELLS_H = 12, VALUES = 1 << 20, K = 12 };

/* All that is read of a stack, and what its scalar grids take. */
typedef struct snapshot {
    float *texels, *packed;
    size_t texel_count, packed_count, bytes[TVLM_GRID_COUNT];
    tvlm_position positions[K];
    uint64_t need;
} snapshot;

static void give(tvlm_stack *stack, int32_t channel, float most, uint64_t *random) {
    static float cells[CELLS_W * CELLS_H];
    const struct tvlm_grid_input input = {.data = cells, .columns = CELLS_W, .rows = CELLS_H, .channels = 1};
    for (size_t i = 0; i < CELLS_W * CELLS_H; ++i)
        cells[i] = floorf(8.0f * test_random_unit(random)) / 8.0f * most;
    if (channel == TVLM_CHANNEL_NONE)
        assert_int_equal(tvlm_stack_set_user(stack, 0, "own", 0.0f, 1.0f, TVLM_MAX, &input, NULL), TVLM_OK);
    else
        assert_int_equal(tvlm_stack_set_grid(stack, 0, channel, &input), TVLM_OK);
}

/* A second frame, so that there is motion, with what an application hands in. */
static tvlm_stack *make_stack(tvlm_device *device, tvlm_format format, uint64_t *need) {
    static const struct tvlm_stack_params params = {
        .layout =
            "edges,laplacian,entropy,sharpness,distance,motion,text,saliency,attention,gaze,depth,occlusion,"
            "normal_x,object_id",
        .width = WIDTH,
        .height = HEIGHT};
    struct tvlm_stack_params wanted = params;
    tvlm_stack *stack = NULL;
    uint64_t random = 11;
    size_t count = 0;
    uint8_t *first = test_random_pixels(&random, WIDTH, HEIGHT, 3),
            *second = test_random_pixels(&random, WIDTH, HEIGHT, 3);
    const tvlm_image before = u8_image(first, WIDTH, HEIGHT, 3), now = u8_image(second, WIDTH, HEIGHT, 3);
    wanted.format = format;
    assert_int_equal(tvlm_stack_need(device, &wanted, need), TVLM_OK);
    assert_int_equal(tvlm_stack_create(device, &wanted, &stack), TVLM_OK);
    assert_int_equal(tvlm_stack_set_image(stack, 0, &before), TVLM_OK);
    assert_int_equal(tvlm_stack_make_all(stack), TVLM_OK);
    assert_int_equal(tvlm_stack_advance(stack, 0, NULL), TVLM_OK);
    assert_int_equal(tvlm_stack_set_image(stack, 0, &now), TVLM_OK);
    give(stack, TVLM_CHANNEL_ATTENTION, 1.0f, &random);
    give(stack, TVLM_CHANNEL_GAZE, 1.0f, &random);
    give(stack, TVLM_CHANNEL_DEPTH, 9.0f, &random);
    give(stack, TVLM_CHANNEL_OBJECT_ID, 2048.0f, &random);
    give(stack, TVLM_CHANNEL_NONE, 1.0f, &random);
    assert_int_equal(tvlm_stack_make_all(stack), TVLM_OK);
    /* A plane is none of the layout, and is made when it is read. */
    float *const plane = read_level(stack, 0, TVLM_CHANNEL_USER_0, 1, &count);
    assert_true(count > 0);
    free(plane);
    free(first);
    free(second);
    return stack;
}

/* Every level of every scalar grid. What such a grid does not keep reads as 0. */
static void read_grids(tvlm_stack *stack, snapshot *s) {
    tvlm_device *device = stack->device;
    s->texels = calloc(VALUES, sizeof *s->texels);
    assert_non_null(s->texels);
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid) {
        tvlm_texture *texture = tvlm_stack_made(stack, 0, (tvlm_grid)grid);
        if (texture == NULL || !tvlm_grid_get_info((tvlm_grid)grid)->scalar) continue;
        s->bytes[grid] = texture->bytes;
        for (int32_t level = 0; level < texture->levels; ++level) {
            float *rgba = test_read(device, texture, level, 0);
            for (size_t i = 0; i < test_texels(texture, level); ++i) {
                assert_true(s->texel_count < VALUES);
                s->texels[s->texel_count++] = rgba[4 * i];
                assert_true(rgba[4 * i + 1] == 0.0f && rgba[4 * i + 2] == 0.0f && rgba[4 * i + 3] == 0.0f);
            }
            free(rgba);
        }
    }
}

static snapshot take(tvlm_device *device, tvlm_format format) {
    snapshot s = {0};
    tvlm_packed *packed = NULL;
    tvlm_selection *selection = NULL;
    int32_t count = 0, width = 0, height = 0, channels = 0;
    tvlm_stack *stack = make_stack(device, format, &s.need);
    read_grids(stack, &s);
    assert_int_equal(
        tvlm_stack_pack(stack, tvlm_pack_params(.width = 50, .height = 37, .level = 0.75f), &packed),
        TVLM_OK);
    assert_int_equal(tvlm_packed_size(packed, &width, &height, &channels), TVLM_OK);
    s.packed_count = (size_t)width * (size_t)height * (size_t)channels;
    s.packed = malloc(s.packed_count * sizeof *s.packed);
    assert_non_null(s.packed);
    assert_int_equal(tvlm_packed_read(packed, 0, s.packed_count, s.packed), TVLM_OK);
    tvlm_packed_destroy(&packed);
    assert_int_equal(
        tvlm_select(stack, NULL, tvlm_select_params(.k = K, .strategy = TVLM_STRATEGY_GRID), &selection),
        TVLM_OK);
    const tvlm_position *p = tvlm_selection_positions(selection, &count);
    assert_int_equal(count, K);
    memcpy(s.positions, p, sizeof s.positions);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
    return s;
}

static void drop(snapshot *s) {
    free(s->texels);
    free(s->packed);
}

static void same_texels(const snapshot *a, const snapshot *b) {
    assert_true(a->texel_count > 0 && a->texel_count == b->texel_count);
    for (size_t i = 0; i < a->texel_count; ++i)
        if (memcmp(&a->texels[i], &b->texels[i], sizeof(float)) != 0)
            fail_msg("texel %zu is %.9g, and %.9g", i, (double)a->texels[i], (double)b->texels[i]);
}

/* Without images of one component: the same results, four times the memory. */
static void compare_images(const test_target *target) {
    opencl_device *device = (opencl_device *)target->device;
    bool *const images = &device->scalar_images[target->format], *const told =
                                                                     &device->base
                                                                          .stores_scalar[target->format];
    const bool has = *images;
    assert_int_equal(has, *told);
    if (!has) {
        printf("    has no images of one component\n");
        return;
    }
    snapshot one = take(target->device, target->format);
    *images = *told = false;
    snapshot four = take(target->device, target->format);
    *images = *told = true;
    same_texels(&one, &four);
    assert_memory_equal(one.packed, four.packed, one.packed_count * sizeof *one.packed);
    assert_memory_equal(one.positions, four.positions, sizeof one.positions);
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid)
        assert_int_equal(4 * one.bytes[grid], four.bytes[grid]);
    assert_true(one.bytes[TVLM_GRID_LAPLACIAN] > 0 && one.bytes[TVLM_GRID_USER_0] > 0 &&
                one.need < four.need);
    printf("    %.0f bytes a pixel in place of %.0f\n", (double)one.need / (WIDTH * HEIGHT),
           (double)four.need / (WIDTH * HEIGHT));
    drop(&one);
    drop(&four);
}

/* The texels of the same device's images. Formats other than float may be rounded there by the driver. */
static void compare_buffers(const test_target *target) {
    char name[16];
    tvlm_device *other = NULL;
    snapshot buffers = take(target->device, target->format), images;
    const size_t component = target->format == TVLM_FORMAT_F16 ? 2 : 4;
    size_t laplacian = 0;
    for (int32_t level = 0; level < tvlm_level_count(WIDTH, HEIGHT); ++level)
        laplacian += (size_t)tvlm_level_side(WIDTH, level) * (size_t)tvlm_level_side(HEIGHT, level);
    assert_int_equal(buffers.bytes[TVLM_GRID_LAPLACIAN], laplacian * component);
    snprintf(name, sizeof name, "%d", (int)target->device->info.index);
    if (target->format == TVLM_FORMAT_F32 &&
        tvlm_device_open(tvlm_device_params(.name = name, .storage = TVLM_STORAGE_IMAGE), &other) ==
            TVLM_OK) {
        ((opencl_device *)other)->tuning = ((opencl_device *)target->device)->tuning;
        images = take(other, target->format);
        same_texels(&buffers, &images);
        drop(&images);
        tvlm_device_destroy(&other);
    }
    drop(&buffers);
}

static void compare(const test_target *target, tvlm_device *reference) {
    (void)reference;
    if (!test_is_opencl(target->device)) return;
    if (target->device->info.storage == TVLM_STORAGE_IMAGE) compare_images(target);
    if (target->device->info.storage == TVLM_STORAGE_BUFFER) compare_buffers(target);
}

static void test_storages(void **state) {
    (void)state;
    test_on_targets(compare);
}

/* Those grids are scalar that have one layer, and in it one channel. */
static void test_grids(void **state) {
    (void)state;
    for (int grid = 0; grid < TVLM_GRID_USER_0; ++grid) {
        const tvlm_grid_info *info = tvlm_grid_get_info((tvlm_grid)grid);
        int32_t first = TVLM_CHANNEL_NONE;
        const int32_t replaced = tvlm_grid_get_replaced((tvlm_grid)grid, &first);
        const bool one = replaced > 0 ? replaced == 1
                                      : info->layers == 1 &&
                                            tvlm_grid_get_channel((tvlm_grid)grid, 1) == TVLM_CHANNEL_NONE;
        if (info->scalar != one)
            fail_msg("%s: scalar is %d, and one channel %d", info->name, info->scalar, one);
    }
    assert_true(tvlm_grid_get_info(TVLM_GRID_USER_0)->scalar);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_grids), cmocka_unit_test(test_storages)};
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
