/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_opencl_tuned.c: that each stage of the OpenCL backend runs with what was tuned for it at the size of its work,
 * and that nothing stays of that behind it. The driver is made up, and groups are as wide as their stage and size say.
 */
#include "core/budget.h"
#include "core/flow.h"
#include "driver_helper.h"
#include "opencl/operations.h"

/* How wide the groups of a stage are, and of what is not tuned. */
enum { UNTUNED = 1, RANKED = 1 << 20 };
static int32_t wide(int32_t stage, int32_t size) {
    return 10 + TVLM_TUNED_SIZES * stage + size;
}

static opencl_tuning tuning_of(int32_t width, int32_t products) {
    opencl_tuning tuning = tvlm_opencl_tuning_default(true);
    tuning.group_width = tuning.linear_group = tuning.tail_lanes = width;
    tuning.topk_group = tuning.score_group = tuning.cosine_width = width;
    tuning.group_height = tuning.cosine_height = 1;
    tuning.rank_below = RANKED;
    tuning.gemm_run = products;
    return tuning;
}

static opencl_device device;
static opencl_tuned tuned;
static opencl_buffer some;

static void open_tuned(void) {
    device = large_device(TVLM_DEVICE_GPU);
    device.group_max = 4096;
    device.tuning = tuning_of(UNTUNED, 50);
    for (int32_t stage = 0; stage < TVLM_TUNED_COUNT; ++stage)
        for (int32_t size = 0; size < TVLM_TUNED_SIZES; ++size)
            tuned.at[stage][size] =
                tuning_of(wide(stage, size), stage == TVLM_TUNED_PRODUCTS ? size + 1 : 100);
    device.tuned = &tuned;
    some.memory = memory_of(64);
}

static void close_tuned(void) {
    release_memory(some.memory);
    free(device.score.program.host);
    free(device.refs.host);
    device.score.program.host = device.refs.host = NULL;
    device.tuned = NULL;
    close_device(&device);
}

/* Does a stage's work once. */
typedef tvlm_status doing(int32_t width, int32_t height, int32_t images);

/* That launch number `at` of a stage is as is tuned for width x height, which is a size of its own. */
static void expect_width(doing *work, int32_t stage, int at, int32_t size, int32_t width, int32_t height,
                         int32_t images) {
    driver.launched = 0;
    assert_int_equal(work(width, height, images), TVLM_OK);
    assert_in_range(at, 0, driver.launched - 1);
    if (launch_at(at)->group[0] != (size_t)wide(stage, size))
        fail_msg("stage %d, %d x %d x %d: a group of %zu, not %d", stage, width, height, images,
                 launch_at(at)->group[0], wide(stage, size));
    assert_int_equal(device.tuning.group_width, UNTUNED);
}

/* Up to 512 x 512 pixels, up to 2048 x 2048, and more. */
static void expect_sizes(doing *work, int32_t stage, int at, int32_t images) {
    open_tuned();
    expect_width(work, stage, at, 0, 1024, 256 / images, images);
    expect_width(work, stage, at, 1, 1025, 256 / images, images);
    expect_width(work, stage, at, 1, 4096, 1024 / images, images);
    expect_width(work, stage, at, 2, 4097, 1024 / images, images);
    close_tuned();
}

/* The same for cells, each of which counts as 256 pixels. */
static void expect_sizes_of_cells(doing *work, int32_t stage, int at) {
    open_tuned();
    expect_width(work, stage, at, 0, 64, 16, 1);
    expect_width(work, stage, at, 1, 65, 16, 1);
    expect_width(work, stage, at, 1, 256, 64, 1);
    expect_width(work, stage, at, 2, 257, 64, 1);
    close_tuned();
}

/* ---- Sources, levels and grids ---- */

static tvlm_status make_source(int32_t width, int32_t height, int32_t images) {
    opencl_texture out = texture_of(width, height, 2, images, 1);
    const tvlm_pixels layout = {.width = width, .height = height, .channels = 3};
    return tvlm_opencl_source(&device.base, &some.base, &layout, 0, &out.base);
}

/* A small texture of an image of this size. */
static opencl_texture grid_of(int32_t width, int32_t height, int32_t images) {
    opencl_texture texture = texture_of(8, 8, 1, images, 4);
    texture.base.extent_x = (float)width, texture.base.extent_y = (float)height;
    return texture;
}

static tvlm_status make_levels(int32_t width, int32_t height, int32_t images) {
    opencl_texture texture = grid_of(width, height, images);
    tvlm_texture *textures[1] = {&texture.base};
    return tvlm_opencl_mips(&device.base, textures, 1);
}

static tvlm_status make_some_levels(int32_t width, int32_t height, int32_t images) {
    static const uint8_t changed[1] = {1};
    static uint64_t serial;
    opencl_texture texture = grid_of(width, height, images);
    const tvlm_tiles tiles = {.width = width,
                              .height = height,
                              .side = 8192,
                              .columns = 1,
                              .rows = 1,
                              .count = 1,
                              .changed = changed,
                              .serial = ++serial};
    return tvlm_opencl_mips_tiles(&device.base, &texture.base, &tiles);
}

static tvlm_status make_saliency(int32_t width, int32_t height, int32_t images) {
    opencl_texture source = texture_of(64, 64, 1, images, 7), out = grid_of(width, height, images);
    tvlm_texture *grids[TVLM_GRID_COUNT] = {0};
    const tvlm_generate_args args = {.grids = grids, .out = &out.base};
    grids[TVLM_GRID_SOURCE] = &source.base;
    return tvlm_opencl_make_saliency(&device.base, &args);
}

static void test_sources_and_grids(void **state) {
    (void)state;
    expect_sizes(make_source, TVLM_TUNED_SOURCE, 0, 1);
    expect_sizes(make_levels, TVLM_TUNED_LEVELS, 0, 2);
    expect_sizes(make_some_levels, TVLM_TUNED_LEVELS, 0, 2);
    expect_sizes(make_saliency, TVLM_GRID_SALIENCY, 1, 2);
}

/* Whether levels come with the source is a choice of the levels. */
static void test_levels_with_sources(void **state) {
    opencl_texture texture = texture_of(1025, 256, 1, 1, 10);
    (void)state;
    open_tuned();
    device.tuning.tiled_mips = 0;
    tuned.at[TVLM_TUNED_SOURCE][1].tiled_mips = 0;
    assert_true(tvlm_opencl_mips_from_pixels_fits(&device, &texture.base));
    tuned.at[TVLM_TUNED_LEVELS][1].tiled_mips = 0;
    assert_false(tvlm_opencl_mips_from_pixels_fits(&device, &texture.base));
    texture.base.extent_x = 1024.0f;
    assert_true(tvlm_opencl_mips_from_pixels_fits(&device, &texture.base));
    close_tuned();
}

/* ---- What is read of a stack ---- */

static const tvlm_bundle *bundle_of(opencl_texture *source) {
    static tvlm_bundle bundle;
    bundle = (tvlm_bundle){
        .count = 1, .textures = {&source->base}, .rope = {.theta = 2.0f, .dimension = 2, .patch = 1.0f}};
    return &bundle;
}
static const int32_t refs[8];

static tvlm_status pack_all(int32_t width, int32_t height, int32_t images) {
    opencl_texture source = texture_of(40, 30, 1, images, 1), out = texture_of(width, height, 1, images, 1);
    return tvlm_opencl_pack(&device.base, bundle_of(&source), refs, 0.0f, &out.base);
}
static tvlm_status pack_one(int32_t width, int32_t height, int32_t images) {
    opencl_texture source = texture_of(40, 30, 1, images, 1), out = texture_of(width, height, 1, images, 1);
    return tvlm_opencl_pack_slot(&device.base, bundle_of(&source), refs, 0.0f, 1, 0, &out.base);
}

/* As many patches of 16 x 16 as have these pixels. */
static tvlm_status make_patches(int32_t width, int32_t height, int32_t images) {
    static const float numbers[8];
    opencl_texture source = texture_of(40, 30, 1, 1, 1);
    const tvlm_patch_plan plan = {
        .side = 16, .channels = 4, .count4 = 1, .refs = refs, .mean = numbers, .deviation = numbers};
    (void)images;
    return tvlm_opencl_patches(&device.base, bundle_of(&source), &plan, &some.base, width * height / 256,
                               &some.base);
}

static tvlm_status patchify(int32_t width, int32_t height, int32_t images) {
    const tvlm_patchify layout = {.width = width,
                                  .height = height,
                                  .frames = images,
                                  .patch = 16,
                                  .temporal = 1,
                                  .merge = 1,
                                  .count = 1};
    return tvlm_opencl_patchify(&device.base, &some.base, &layout, &some.base, NULL, NULL, &some.base);
}

static tvlm_status resize(int32_t width, int32_t height, int32_t images) {
    const tvlm_pixels layout = {.width = 20, .height = 10, .channels = 3};
    const tvlm_resize plan = {.x = {.size = width}, .y = {.size = height}, .rows = 10};
    (void)images;
    return tvlm_opencl_resize(&device.base, &some.base, &layout, &some.base, &plan, &some.base, 0);
}

static tvlm_status compare(int32_t width, int32_t height, int32_t images) {
    static const tvlm_budget_picture picture = {.width = 10, .height = 20, .from = 0};
    static const float table[4];
    opencl_texture source = texture_of(width, height, 1, 1, 9);
    const tvlm_budget_plan plan = {.patch = 14,
                                   .columns = 7,
                                   .rows = 5,
                                   .levels = 1,
                                   .count = 1,
                                   .pictures = &picture,
                                   .table = table,
                                   .table_floats = 4,
                                   .between_texels = 1000,
                                   .picture_texels = 500};
    (void)images;
    return tvlm_opencl_losses(&device.base, &source.base, &plan, &some.base, 0);
}

static tvlm_status find_flow(int32_t width, int32_t height, int32_t images) {
    opencl_texture from = texture_of(width, height, 1, 1, 9);
    const tvlm_flow_args args = {
        .from = &from.base, .to = &from.base, .finest = 5, .coarsest = 5, .out = &some.base};
    (void)images;
    return tvlm_opencl_flow(&device.base, &args);
}

static void test_stages_over_pixels(void **state) {
    (void)state;
    expect_sizes(pack_all, TVLM_TUNED_PACK, 0, 2);
    expect_sizes(pack_one, TVLM_TUNED_PACK, 0, 2);
    expect_sizes(patchify, TVLM_TUNED_EXPORT, 0, 2);
    expect_sizes(resize, TVLM_TUNED_EXPORT, 0, 1);
    expect_sizes(compare, TVLM_TUNED_LOSSES, 0, 1);
    expect_sizes(find_flow, TVLM_TUNED_FLOW, 0, 1);
    expect_sizes(make_patches, TVLM_TUNED_PATCHES, 0, 1);
}

/* ---- Scores and features ---- */

static const tvlm_ranking *ranking;

static tvlm_status score(int32_t width, int32_t height, int32_t images) {
    static const tvlm_score_combination combination = {.weight = {1, 1, 1}};
    opencl_texture source = texture_of(40, 30, 1, 1, 1);
    const tvlm_candidates candidates = {.columns = width, .rows = height, .step_x = 1, .step_y = 1};
    const tvlm_score_group group = {.refs = {0, -1, -1, -1}, .taps = 1};
    (void)images;
    return tvlm_opencl_score(&device.base, bundle_of(&source), &group, 1, &combination, &candidates, ranking,
                             &some.base);
}

static tvlm_status find_best(int32_t width, int32_t height, int32_t images) {
    (void)images;
    return tvlm_opencl_topk(&device.base, &some.base, width * height, 5, &some.base);
}

static const tvlm_features *features_of(opencl_texture *texture) {
    static tvlm_features features;
    features = (tvlm_features){.texture = &texture->base, .inverse = &some.base, .dimension = 4};
    return &features;
}
static tvlm_status find_lengths(int32_t width, int32_t height, int32_t images) {
    opencl_texture texture = texture_of(width, height, 1, images, 1);
    return tvlm_opencl_feature_lengths(&device.base, features_of(&texture));
}
static tvlm_status find_cosines(int32_t width, int32_t height, int32_t images) {
    opencl_texture texture = texture_of(width, height, 1, images, 1);
    return tvlm_opencl_similarity(&device.base, features_of(&texture), &some.base, &texture.base);
}
static tvlm_status find_some_cosines(int32_t width, int32_t height, int32_t images) {
    opencl_texture texture = texture_of(width, height, 1, images, 1);
    return tvlm_opencl_similarity_cells(&device.base, features_of(&texture), &some.base, &some.base, 3,
                                        &some.base);
}

static void test_stages_over_cells(void **state) {
    const tvlm_ranking three = {.k = 3, .result = &some.base};
    (void)state;
    expect_sizes_of_cells(score, TVLM_TUNED_SCORE, 0);
    expect_sizes_of_cells(score, TVLM_TUNED_SCORE, 1);
    ranking = &three;
    expect_sizes_of_cells(score, TVLM_TUNED_SCORE, 0);
    expect_sizes_of_cells(score, TVLM_TUNED_TOPK, 1); /* which ranks, too */
    ranking = NULL;
    expect_sizes_of_cells(find_best, TVLM_TUNED_TOPK, 0);
    expect_sizes_of_cells(find_lengths, TVLM_TUNED_FEATURES, 0);
    expect_sizes_of_cells(find_cosines, TVLM_TUNED_FEATURES, 0);
    expect_sizes_of_cells(find_some_cosines, TVLM_TUNED_FEATURES, 0);
}

/* A product is tuned by the larger of its sides; here the size says how many rows a work-item makes. */
static void test_products(void **state) {
    static const int32_t sides[4] = {1024, 1025, 16384, 16385}, rows[4] = {1, 2, 2, 3};
    (void)state;
    open_tuned();
    for (int i = 0; i < 4; ++i)
        for (int swapped = 0; swapped < 2; ++swapped) {
            const tvlm_gemm gemm = {.m = swapped ? 3 : sides[i],
                                    .n = swapped ? sides[i] : 3,
                                    .k = 4,
                                    .a = &some.base,
                                    .b = &some.base,
                                    .c = &some.base};
            driver.launched = 0;
            assert_int_equal(tvlm_opencl_gemm(&device.base, &gemm), TVLM_OK);
            expect_size(1, (size_t)((sides[i] + rows[i] - 1) / rows[i]), 1, 0);
            assert_int_equal(device.tuning.gemm_run, 50);
        }
    close_tuned();
}

/* A device of which nothing was tuned stays as it is. */
static void test_untuned(void **state) {
    (void)state;
    open_tuned();
    device.tuned = NULL;
    assert_int_equal(make_source(4097, 1024, 1), TVLM_OK);
    assert_int_equal(launch_at(0)->group[0], UNTUNED);
    assert_int_equal(device.tuning.group_width, UNTUNED);
    close_tuned();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sources_and_grids),  cmocka_unit_test(test_levels_with_sources),
        cmocka_unit_test(test_stages_over_pixels), cmocka_unit_test(test_stages_over_cells),
        cmocka_unit_test(test_products),           cmocka_unit_test(test_untuned),
    };
    install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
