/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_opencl_families.c: the launches and the memory of families that have several stages, counted by
 * hand. The driver is made up; what kernels make is tested on real ones.
 */
#include "driver_helper.h"
#include "opencl/distance.h"
#include "opencl/text.h"

static const tvlm_generate_args *args_of(opencl_texture *source, opencl_texture *out,
                                         const tvlm_tiles *tiles) {
    static tvlm_texture *grids[TVLM_GRID_COUNT];
    static tvlm_generate_args args;
    for (int i = 0; i < TVLM_GRID_COUNT; ++i) grids[i] = &source->base;
    args = (tvlm_generate_args){.grids = grids, .out = &out->base, .tiles = tiles};
    return &args;
}

/* ---- Saliency ---- */

/* For images of width x height on so many levels: how many texels the levels that are used have, and which are the
 * first and the surround; the size of the level on which the border is looked at. */
typedef struct saliency_case {
    int32_t width, height, levels;
    size_t texels, first_texels;
    int32_t surround, used, prior[2];
} saliency_case;

static void check_saliency(tvlm_device_type type, const saliency_case *c) {
    const size_t run = type == TVLM_DEVICE_CPU ? 16 : 1, lanes = type == TVLM_DEVICE_CPU ? 16 : 256;
    opencl_device device = large_device(type);
    opencl_texture source = texture_of(c->width, c->height, 1, 2, c->levels),
                   out = texture_of(40, 70, 1, 2, 1);
    assert_int_equal(tvlm_opencl_saliency(&device.base, args_of(&source, &out, NULL)), TVLM_OK);
    assert_int_equal(driver.launched, 3);
    expect_size(0, ((c->first_texels + run - 1) / run + lanes - 1) / lanes * lanes, 2, (size_t)c->used);
    assert_int_equal(launch_at(0)->group[0], lanes);
    expect_size(1, run > 1 ? 3 : 40, run > 1 ? 3 : 70, 2); /* blocks of 16 x 32 on CPUs */
    expect_size(2, 40, 70, 2);
    assert_int_equal(int_at(4, 0), c->surround);
    assert_int_equal(int_at(6, 0), c->prior[0]);
    assert_int_equal(int_at(6, 1), c->prior[1]);
    assert_int_equal(int_at(7, 0), 40);
    assert_int_equal(int_at(7, 1), 70);
    expect_scratch(&device, SCRATCH_A, 16 * 2 * c->texels);
    expect_scratch(&device, SCRATCH_B, 40 * 70 * 2 * 16);
    expect_scratch(&device, SCRATCH_C, 2 * 16);
    expect_scratch(&device, SCRATCH_D, (size_t)(3 * c->prior[0] * c->prior[1] * 2 * 4));
    close_device(&device);
}

/* Levels from 2 on are used, up to 7 and at least up to the first with no side of more than 80 texels; of an image with
 * fewer, those that there are. */
static void test_saliency(void **state) {
    static const saliency_case cases[] = {
        {1280, 320, 11, 25600 + 6400 + 1600 + 400 + 100 + 20, 25600, 7, 6, {80, 20}},
        {160, 324, 9, 3240 + 800 + 200 + 50 + 10 + 2, 3240, 7, 6, {20, 40}},
        {320, 4, 9, 80 + 40 + 20 + 10 + 5 + 2, 80, 7, 6, {80, 1}},
        {64, 64, 7, 256 + 64 + 16 + 4 + 1, 256, 6, 5, {16, 16}},
        {3, 2, 2, 1, 1, 1, 1, {1, 1}},
        {4, 4, 3, 1, 1, 2, 1, {1, 1}},
        {20736, 4, 15, 5184 + 2592 + 1296 + 648 + 324 + 162 + 81 + 40, 5184, 7, 8, {40, 1}},
        {4, 20736, 15, 5184 + 2592 + 1296 + 648 + 324 + 162 + 81 + 40, 5184, 7, 8, {1, 40}}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        check_saliency(TVLM_DEVICE_GPU, &cases[i]);
        check_saliency(TVLM_DEVICE_CPU, &cases[i]);
    }
}

/* ---- Distance ---- */

static opencl_texture distances_of(int32_t width, int32_t height, int32_t images) {
    opencl_texture out = texture_of(width, height, 1, images, 1);
    out.base.scalar = true;
    return out;
}

/* Of 100 x 70: the range is 100 / 8, and the reach 13. */
static void test_distance_by_search(void **state) {
    opencl_device device = large_device(TVLM_DEVICE_GPU);
    opencl_texture visual = texture_of(100, 70, 1, 2, 1), out = distances_of(100, 70, 2);
    (void)state;
    device.base.info.local_bytes = 2 * (256 + 2 * 13);
    assert_int_equal(tvlm_opencl_distance(&device.base, args_of(&visual, &out, NULL)), TVLM_OK);
    assert_int_equal(driver.launched, 3);
    expect_size(0, 100, 3, 2); /* a bit for each of 32 rows */
    expect_name(1, "distance_columns_search");
    expect_size(1, 100, 70, 2);
    expect_name(2, "distance_rows_search");
    expect_size(2, 256, 70, 2);
    assert_int_equal(int_at(1, 0), 13);
    assert_true(float_at(2, 0) == 12.5f);
    assert_true(driver.arguments[5].local && driver.arguments[5].size == 564);
    expect_scratch(&device, SCRATCH_A, 100 * 3 * 2 * 4);
    expect_scratch(&device, SCRATCH_B, 100 * 70 * 2 * 2);
    device.base.info.local_bytes = 563;
    assert_int_equal(tvlm_opencl_distance(&device.base, args_of(&visual, &out, NULL)), TVLM_OK);
    expect_name(5, "distance_rows_search_global");
    expect_size(5, 100, 70, 2);
    close_device(&device);
}

static void test_distance_by_scan(void **state) {
    opencl_device device = large_device(TVLM_DEVICE_CPU);
    opencl_texture visual = texture_of(129, 64, 1, 2, 1), out = distances_of(128, 64, 2);
    (void)state;
    device.base.info.local_bytes = 2 * 4 * 128;
    assert_int_equal(tvlm_opencl_distance(&device.base, args_of(&visual, &out, NULL)), TVLM_OK);
    expect_size(0, 8, 2, 2); /* runs of 16 */
    expect_name(1, "distance_columns_scan");
    expect_size(1, 2, 1, 2); /* runs of 64 */
    expect_name(2, "distance_rows_envelope");
    expect_size(2, 1, 64, 2);
    assert_true(driver.arguments[5].local && driver.arguments[5].size == 512);
    assert_true(driver.arguments[6].local && driver.arguments[6].size == 512);
    assert_null(device.scratch[SCRATCH_C]);
    assert_null(strstr(driver.options, "ENVELOPE_GLOBAL"));
    out = distances_of(129, 64, 2);
    device.base.info.local_bytes = 2 * 4 * 129 - 1;
    assert_int_equal(tvlm_opencl_distance(&device.base, args_of(&visual, &out, NULL)), TVLM_OK);
    expect_size(3, 9, 2, 2);
    expect_size(4, 3, 1, 2);
    expect_size(5, 1, 64, 2);
    assert_non_null(strstr(driver.options, "-DENVELOPE_GLOBAL=1"));
    expect_scratch(&device, SCRATCH_C, 4 * 129 * 64 * 2);
    expect_scratch(&device, SCRATCH_D, 4 * 129 * 64 * 2);
    assert_ptr_equal(memory_at(5), device.scratch[SCRATCH_C]);
    assert_ptr_equal(memory_at(6), device.scratch[SCRATCH_D]);
    close_device(&device);
}

/* From a side of 32768 on, distances take four bytes. */
static void test_distance_of_long_sides(void **state) {
    static const int32_t sizes[4][2] = {{32767, 2}, {32768, 2}, {2, 32767}, {2, 32768}};
    (void)state;
    for (int i = 0; i < 4; ++i) {
        const size_t bytes = i % 2 == 1 ? 4 : 2;
        opencl_device device = large_device(TVLM_DEVICE_GPU);
        opencl_texture out = distances_of(sizes[i][0], sizes[i][1], 1);
        const cl_mem mask = memory_of(16);
        assert_int_equal(tvlm_opencl_distance_of_mask(&device, mask, &out.base), TVLM_OK);
        assert_int_equal(strstr(driver.options, "-DLONG_SIDES=1") != NULL, bytes == 4);
        assert_int_equal(int_at(1, 0), 4096); /* an eighth, rounded up */
        assert_int_equal(driver.arguments[5].size, bytes * (256 + 2 * 4096));
        expect_scratch(&device, SCRATCH_B, bytes * (size_t)(sizes[i][0] > 2 ? sizes[i][0] : sizes[i][1]) * 2);
        release_memory(mask);
        close_device(&device);
    }
}

/* The tile of the pixels 32 .. 63, 32 .. 63 has changed, ridges 3 pixels around it too, and distances 16 around it:
 * along an axis that a stage does not look along, only the 3. */
static void test_distance_of_tiles(void **state) {
    static const uint8_t changed[12] = {0, 0, 0, 0, 0, 1};
    const tvlm_tiles tiles = {.width = 100,
                              .height = 90,
                              .side = 32,
                              .columns = 4,
                              .rows = 3,
                              .count = 1,
                              .changed = changed,
                              .reach = 16,
                              .serial = 1};
    opencl_texture visual = texture_of(100, 90, 1, 1, 1), out = distances_of(100, 90, 1);
    (void)state;
    opencl_device device = large_device(TVLM_DEVICE_GPU);
    assert_int_equal(tvlm_opencl_distance(&device.base, args_of(&visual, &out, &tiles)), TVLM_OK);
    expect_size(0, 2 * 3 * 64, 1, 1);  /* 29 .. 66 in blocks of 64 x 32 */
    expect_size(1, 4 * 4 * 16, 16, 1); /* 29 .. 66, 16 .. 79 in blocks of 16 x 16: 1 .. 4, 1 .. 4 */
    expect_size(2, 64 * 256, 1, 1);    /* rows 16 .. 79 */
    close_device(&device);
}

/* ---- Text ---- */

static opencl_texture text_out_of(int32_t width, int32_t height) {
    opencl_texture out = texture_of(width, height, 1, 2, 1);
    out.base.scalar = true;
    return out;
}

/* 100 x 70 has 25 x 18 blocks, then 13 x 9, 7 x 5 and 3 x 2. */
static void test_text(void **state) {
    opencl_texture source = texture_of(100, 70, 1, 2, 7), out = text_out_of(192, 70);
    (void)state;
    for (int cpu = 0; cpu < 2; ++cpu) {
        opencl_device device = large_device(cpu ? TVLM_DEVICE_CPU : TVLM_DEVICE_GPU);
        source.base.levels = 2;
        assert_int_equal(tvlm_opencl_text_of(&device, &source.base).blocks, 450 + 117);
        assert_int_equal(tvlm_opencl_text_of(&device, &source.base).levels, 2);
        source.base.levels = 7;
        assert_int_equal(tvlm_opencl_text(&device.base, args_of(&source, &out, NULL)), TVLM_OK);
        assert_int_equal(driver.launched, 4);
        assert_int_equal(int_at(2, 0), 450 + 117 + 35 + 6);
        assert_int_equal(int_at(3, 0), 4);
        for (int i = 0; i < 3; ++i) expect_size(i, cpu ? 1 : 25, 18, 2 * 4);
        expect_size(3, cpu ? 3 : 192, 70, 2); /* runs of four times 16 */
        assert_non_null(strstr(driver.options, cpu ? "-DRUN=64" : "-DRUN=1"));
        assert_null(strstr(driver.options, "LONG_SIDES"));
        expect_scratch(&device, SCRATCH_A, 608 * 2 * 6 * 4);
        expect_scratch(&device, SCRATCH_B, 608 * 2);
        expect_scratch(&device, SCRATCH_C, 608 * 2);
        close_device(&device);
    }
}

static void test_text_of_long_sides(void **state) {
    static const int32_t sizes[4][2] = {{32767, 4}, {32768, 4}, {4, 32767}, {4, 32768}};
    (void)state;
    for (int i = 0; i < 4; ++i) {
        opencl_device device = large_device(TVLM_DEVICE_GPU);
        opencl_texture source = texture_of(sizes[i][0], sizes[i][1], 1, 2, 4), out = text_out_of(100, 70);
        assert_int_equal(tvlm_opencl_text(&device.base, args_of(&source, &out, NULL)), TVLM_OK);
        assert_int_equal(strstr(driver.options, "-DLONG_SIDES=1") != NULL, i % 2);
        close_device(&device);
    }
}

/*
 * The pixels 32 .. 63, 160 .. 191 of 100 x 400 have changed, half as many on each further level. Strokes are made again
 * 10 texels beside them and 4 above and below, marks 22 and 32, and grown ones 34 and 36. In runs of 2, a block of the
 * launch has 8 x 4 texels.
 */
static void test_text_of_tiles(void **state) {
    static const size_t blocks[3] = {8 * 10 + 6 * 6 + 4 * 4 + 2 * 3, 10 * 24 + 7 * 20 + 4 * 18 + 2 * 13,
                                     13 * 26 + 7 * 22 + 4 * 20 + 2 * 13};
    static const char *const names[3] = {"text_strokes", "text_mark", "text_grow"};
    uint8_t changed[4 * 13] = {0};
    const tvlm_tiles tiles = {.width = 100,
                              .height = 400,
                              .side = 32,
                              .columns = 4,
                              .rows = 13,
                              .count = 1,
                              .changed = changed,
                              .serial = 1};
    opencl_texture source = texture_of(100, 400, 1, 2, 9), out = text_out_of(100, 400);
    opencl_device device = large_device(TVLM_DEVICE_CPU);
    (void)state;
    changed[5 * 4 + 1] = 1;
    device.tuning.run = 2;
    assert_int_equal(tvlm_opencl_text(&device.base, args_of(&source, &out, &tiles)), TVLM_OK);
    for (int i = 0; i < 3; ++i) {
        expect_name(i, names[i]);
        expect_size(i, blocks[i], 1, 1);
    }
    assert_non_null(strstr(driver.options, "-DRUN=2"));
    expect_name(3, "text_combine");
    expect_size(3, 2 * 32, 16, 1); /* 32 .. 63, 160 .. 191 in blocks of 64 x 16 */
    close_device(&device);
    /* On GPUs a block is 64 x 64: the strokes' 22 .. 73, 156 .. 195 are in four of them, and in one of each level. */
    device = large_device(TVLM_DEVICE_GPU);
    assert_int_equal(tvlm_opencl_text(&device.base, args_of(&source, &out, &tiles)), TVLM_OK);
    expect_size(0, (4 + 1 + 1 + 1) * 16, 16, 1);
    close_device(&device);
}

/* ---- Memory of frames ---- */

enum { OF_RELEVANCE = 1, OF_TEMPORAL = 2, OF_SCORES = 4, TO_STATE = 8, TO_LUMA = 16 };

static void test_remembering(void **state) {
    opencl_texture some = texture_of(10, 6, 1, 1, 1), small = texture_of(10, 6, 1, 1, 1),
                   luma = text_out_of(100, 70);
    opencl_buffer scores = {.memory = memory_of(16)}, positions = {.memory = memory_of(16)};
    tvlm_remember_args args = {.state = &small.base,
                               .luma = &luma.base,
                               .source = &some.base,
                               .positions_at = 6,
                               .count = 5,
                               .decay = 0.25f,
                               .sigma = 2.0f};
    opencl_device device = large_device(TVLM_DEVICE_CPU);
    (void)state;
    assert_int_equal(tvlm_opencl_remember(&device.base, &args), TVLM_OK);
    expect_size(0, 10, 70, 1); /* a row of 10 vectors, or seven runs of 16 */
    assert_int_equal(int_at(16, 0), TO_STATE | TO_LUMA);
    assert_ptr_equal(memory_at(19), device.scratch[SCRATCH_C]);
    assert_ptr_equal(memory_at(20), device.scratch[SCRATCH_C]);
    assert_true(int_at(21, 0) == 6 && int_at(21, 1) == 5);
    assert_true(float_at(22, 0) == 0.25f && float_at(22, 1) == -0.125f && float_at(22, 2) == 100.0f);
    args.scores = &scores.base, args.positions = &positions.base, args.temporal = &some.base;
    device.tuning.run = 1;
    assert_int_equal(tvlm_opencl_remember(&device.base, &args), TVLM_OK);
    expect_size(1, 100, 70, 1);
    assert_int_equal(int_at(16, 0), OF_SCORES | OF_TEMPORAL | TO_STATE | TO_LUMA);
    assert_ptr_equal(memory_at(19), scores.memory);
    assert_ptr_equal(memory_at(20), positions.memory);
    args.relevance = &some.base, args.luma = NULL;
    assert_int_equal(tvlm_opencl_remember(&device.base, &args), TVLM_OK);
    expect_size(2, 10, 6, 1);
    assert_int_equal(int_at(16, 0), OF_RELEVANCE | OF_TEMPORAL | TO_STATE);
    args.state = NULL, args.luma = &luma.base, args.temporal = NULL, args.relevance = NULL;
    device.tuning.run = 16;
    assert_int_equal(tvlm_opencl_remember(&device.base, &args), TVLM_OK);
    expect_size(3, 7, 70, 1);
    assert_int_equal(int_at(16, 0), OF_SCORES | TO_LUMA);
    luma = text_out_of(1, 1); /* which the arguments have */
    assert_ptr_equal(args.luma, &luma.base);
    assert_int_equal(tvlm_opencl_remember(&device.base, &args), TVLM_OK);
    expect_size(4, 1, 1, 1);
    assert_int_equal(tvlm_opencl_relevance(&device.base, &scores.base, &small.base), TVLM_OK);
    expect_name(5, "temporal_relevance");
    expect_size(5, 10, 6, 1);
    assert_ptr_equal(memory_at(0), scores.memory);
    release_memory(scores.memory), release_memory(positions.memory);
    close_device(&device);
}

/* Images that are carried alike are made together. */
static void test_carrying(void **state) {
    static const tvlm_carry carry[4] = {{true, 0.5f}, {true, 0.5f}, {true, 0.25f}, {false, 0.25f}};
    opencl_texture source = texture_of(100, 70, 1, 4, 1), out = texture_of(10, 6, 1, 4, 1);
    tvlm_texture *previous[TVLM_PREVIOUS_COUNT] = {0};
    tvlm_generate_args args = *args_of(&source, &out, NULL);
    opencl_device device = large_device(TVLM_DEVICE_GPU);
    (void)state;
    assert_int_equal(tvlm_opencl_temporal(&device.base, &args), TVLM_OK);
    args.previous = previous;
    assert_int_equal(tvlm_opencl_temporal(&device.base, &args), TVLM_OK);
    for (int i = 0; i < 2; ++i) {
        expect_name(i, "temporal_none");
        expect_size(i, 10, 6, 4);
    }
    previous[TVLM_PREVIOUS_STATE] = &source.base, args.carry = carry;
    assert_int_equal(tvlm_opencl_temporal(&device.base, &args), TVLM_OK);
    assert_int_equal(driver.launched, 5);
    expect_size(2, 10, 6, 2);
    expect_size(3, 10, 6, 1);
    expect_size(4, 10, 6, 1);
    assert_true(int_at(8, 0) == 0 && float_at(9, 0) == 0.25f && int_at(11, 0) == 3);
    assert_true(float_at(10, 0) == 100.0f && float_at(10, 1) == 70.0f);
    close_device(&device);
}

/* ---- Regions ---- */

/* Makes the regions of two images of 60 x 40 pixels with 3 x 2 cells, whose passes begin on the level of 30 x 20, and
 * keeps the arguments of that kernel. */
static void watch_regions(const char *kernel) {
    static const tvlm_family_settings settings = {.regions = 6, .compactness = 10.0f};
    opencl_texture source = texture_of(60, 40, 1, 2, 6), out = texture_of(60, 40, 1, 2, 6);
    opencl_buffer labels = {.base.bytes = 1 << 20, .memory = memory_of(1 << 16)},
                  table = {.base.bytes = 1 << 20, .memory = memory_of(1 << 16)};
    tvlm_buffer *products[TVLM_PRODUCT_COUNT] = {
        [TVLM_PRODUCT_LABELS] = &labels.base, [TVLM_PRODUCT_REGIONS] = &table.base};
    opencl_device device = large_device(TVLM_DEVICE_GPU);
    tvlm_generate_args args = *args_of(&source, &out, NULL);
    args.settings = &settings, args.products = products;
    driver.watched = kernel;
    memset(driver.kept, 0x55, sizeof driver.kept);
    assert_int_equal(tvlm_opencl_cluster(&device.base, &args), TVLM_OK);
    release_memory(labels.memory), release_memory(table.memory);
    close_device(&device);
}

static void expect_kept(cl_uint number, int count, int32_t x, int32_t y, int32_t z, int32_t w) {
    const int32_t expected[4] = {x, y, z, w};
    assert_int_equal(driver.kept[number].size, (size_t)count * sizeof *expected);
    assert_memory_equal(driver.kept[number].bytes, expected, (size_t)count * sizeof *expected);
}

/* Words are those that test_opencl_vectors.c counts: 3000 of colours, 859 of work, of which the sums of six passes are
 * 720, then one, then three of 6, and then the table at 739; and 108 of a table of regions, whose bits begin at 100. */
static void test_arguments_of_regions(void **state) {
    (void)state;
    watch_regions("cluster_lab");
    expect_kept(7, 4, 3000, 859, 108, 0);
    expect_kept(8, 1, 2, 0, 0, 0);
    watch_regions("pieces_link");
    expect_kept(1, 2, 60, 40, 0, 0);
    watch_regions("pieces_count");
    expect_kept(1, 1, 2400, 0, 0, 0);
    expect_kept(5, 4, 859, 721, 727, 733);
    watch_regions("pieces_main");
    expect_kept(6, 1, 6, 0, 0, 0);
    expect_kept(8, 1, 108, 0, 0, 0);
    watch_regions("regions_gradient");
    expect_kept(1, 4, 60, 40, 0, 3000);
    watch_regions("regions_sum");
    expect_kept(3, 4, 60, 40, 0, 3000);
    expect_kept(5, 2, 859, 739, 0, 0);
    expect_kept(6, 1, 720, 0, 0, 0);
    watch_regions("regions_table");
    expect_kept(1, 2, 859, 739, 0, 0);
    expect_kept(2, 2, 60, 40, 0, 0);
    expect_kept(3, 1, 6, 0, 0, 0);
    expect_kept(5, 4, 108, 100, 1, 0);
    watch_regions("regions_reach");
    expect_kept(1, 2, 60, 40, 0, 0);
    expect_kept(3, 4, 108, 100, 1, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saliency),
        cmocka_unit_test(test_distance_by_search),
        cmocka_unit_test(test_distance_by_scan),
        cmocka_unit_test(test_distance_of_long_sides),
        cmocka_unit_test(test_distance_of_tiles),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_text_of_long_sides),
        cmocka_unit_test(test_text_of_tiles),
        cmocka_unit_test(test_remembering),
        cmocka_unit_test(test_carrying),
        cmocka_unit_test(test_arguments_of_regions),
    };
    install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
