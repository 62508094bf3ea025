/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_opencl_vectors.c: the launches and the memory of similarity, of the flow and of regions, counted by hand. The driver is made up; what kernels make is tested on real ones.
 */
#include "core/flow.h"
#include "driver_helper.h"
#include "opencl/cluster_parts.h"
#include "opencl/operations.h"

/* ---- Similarity ---- */

static void test_similarity(void **state) {
    (void)state;
    for (int cpu = 0; cpu < 2; ++cpu) {
        opencl_device device = large_device(cpu ? TVLM_DEVICE_CPU : TVLM_DEVICE_GPU);
        opencl_buffer some = {.memory = memory_of(64)};
        opencl_texture texture = texture_of(33, 17, 16, 3, 6), out = texture_of(33, 17, 5, 1, 1);
        tvlm_features features = {
            .texture = &texture.base, .image = 2, .inverse = &some.base, .dimension = 62};
        assert_int_equal(tvlm_opencl_feature_lengths(&device.base, &features), TVLM_OK);
        assert_int_equal(tvlm_opencl_similarity(&device.base, &features, &some.base, &out.base), TVLM_OK);
        for (int i = 0; i < 2;
             ++i) { /* 5 x 5 groups of 8 x 4 cells, or 1 x 5 of 64 x 4 by one work-item each */
            if (cpu)
                expect_size(i, 1, 5, 1);
            else
                expect_size(i, 40, 20, 8);
            assert_true(launch_at(i)->group[0] == (cpu ? 1 : 8) && launch_at(i)->group[1] == (cpu ? 1 : 4) &&
                        launch_at(i)->group[2] == (cpu ? 1 : 8));
        }
        assert_non_null(strstr(driver.options, cpu ? " -DCOSINE_W=64 -DCOSINE_H=4 -DCOSINE_LANES=1"
                                                   : " -DCOSINE_W=8 -DCOSINE_H=4 -DCOSINE_LANES=8"));
        const int32_t in_group = cpu ? 256 : 32;
        for (int more = 0; more < 2; ++more) {
            assert_int_equal(tvlm_opencl_similarity_cells(&device.base, &features, &some.base, &some.base,
                                                          in_group + more, &some.base),
                             TVLM_OK);
            expect_launch((size_t)((1 + more) * (cpu ? 1 : 32)), cpu ? 1 : 8, 0, cpu ? 1 : 32, cpu ? 1 : 8);
        }
        assert_int_equal(tvlm_opencl_feature_matrix(&device.base, &features, 1, &some.base, 77), TVLM_OK);
        expect_size(4, 16, 8, 1);
        assert_true(int_at(5, 0) == 62 && int_at(6, 0) == 1 && ulong_at(8) == 77);
        texture.base.layers = 17;
        assert_int_equal(tvlm_opencl_feature_matrix(&device.base, &features, 0, &some.base, 0), TVLM_OK);
        expect_size(5, 33, 17, 2);
        assert_int_equal(tvlm_opencl_cosines(&device.base, &features, &some.base, 7), TVLM_OK);
        expect_size(6, 33 * 17, 7, 0);
        assert_int_equal(int_at(1, 0), 33 * 17);
        assert_int_equal(int_at(3, 0), 2 * 33 * 17);
        assert_int_equal(tvlm_opencl_maps(&device.base, &some.base, 9, 1, 3, &out.base), TVLM_OK);
        expect_size(7, 33, 17, 5);
        assert_true(int_at(1, 0) == 9 && int_at(2, 0) == 1 && int_at(3, 0) == 3);
        texture.base.width = 64, texture.base.height = 16, device.tuning.cosine_lanes = 2; /* whole groups */
        assert_int_equal(tvlm_opencl_feature_lengths(&device.base, &features), TVLM_OK);
        expect_size(8, 64, 16, 2);
        release_memory(some.memory);
        close_device(&device);
    }
}

static void test_unit_vectors(void **state) {
    opencl_device device = large_device(TVLM_DEVICE_GPU);
    opencl_buffer vectors = {.memory = memory_of(64)}, mean = {.memory = memory_of(64)},
                  out = {.memory = memory_of(64)};
    tvlm_units units = {
        .vectors = &vectors.base, .out = &out.base, .offset = 24, .count = 5, .dimension = 7, .stride = 8};
    int32_t bad = 3;
    (void)state;
    assert_int_equal(tvlm_opencl_unit_vectors(&device.base, &units, &bad), TVLM_OK);
    expect_size(0, 5 * 64, 0, 0);
    assert_int_equal(launch_at(0)->group[0], 64);
    assert_int_equal(bad, -1);
    assert_int_equal(ulong_at(1), 6);
    assert_true(int_at(2, 0) == 7 && int_at(3, 0) == 8 && int_at(5, 0) == 0);
    assert_ptr_equal(memory_at(4), vectors.memory);
    units.mean = &mean.base;
    assert_int_equal(tvlm_opencl_unit_vectors(&device.base, &units, NULL), TVLM_OK);
    assert_ptr_equal(memory_at(4), mean.memory);
    assert_int_equal(int_at(5, 0), 1);
    assert_int_equal(driver.written, 1); /* only where the first bad one is asked for */
    release_memory(vectors.memory), release_memory(mean.memory), release_memory(out.memory);
    close_device(&device);
}

/* ---- Flow ---- */

typedef struct expected_launch {
    const char *name;
    size_t x, y, z;
} expected_launch;

static void expect_launches(const expected_launch *expected, int count) {
    assert_int_equal(driver.launched, count);
    for (int i = 0; i < count; ++i) {
        expect_name(i, expected[i].name);
        expect_size(i, expected[i].x, expected[i].y, expected[i].z);
    }
}

/*
 * From 65 x 48 the levels 1 to 3 have 32 x 24, 16 x 12 and 8 x 6 texels. In planes they have 16 texels around them, and
 * lines are multiples of 16: 64 x 56, 48 x 44, 48 x 38. Patches begin every 4 texels, and one more: 9 x 7, 5 x 4, 3 x 3.
 */
enum { FLOW_TOTAL = 64 * 56 + 48 * 44 + 48 * 38, FLOW_HALF = 2 * 32 * 24 };

static void run_flow(opencl_device *device, int32_t refinements, int32_t coarsest) {
    opencl_texture from = texture_of(65, 48, 1, 2, 7);
    opencl_buffer out = {.memory = memory_of(16)};
    const tvlm_flow_args args = {.from = &from.base,
                                 .to = &from.base,
                                 .finest = 1,
                                 .coarsest = coarsest,
                                 .refinements = refinements,
                                 .out = &out.base};
    assert_int_equal(tvlm_opencl_flow(&device->base, &args), TVLM_OK);
    release_memory(out.memory);
}

/* That the result is made from these two flows, of which the second is backward and of this size. */
static void expect_flows(const opencl_device *device, int forward, int back, int32_t width, int32_t height) {
    static const int scratch[2] = {SCRATCH_C, SCRATCH_D};
    assert_ptr_equal(memory_at(3), device->scratch[scratch[forward]]);
    assert_ptr_equal(memory_at(4), device->scratch[scratch[back]]);
    assert_true(int_at(6, 0) == width && int_at(6, 1) == height);
    assert_true(float_at(7, 0) == 65.0f / 32.0f && float_at(7, 1) == 2.0f);
}

static void test_flow(void **state) {
    static const expected_launch refined[] = {
        {"flow_planes", FLOW_TOTAL, 2, 0}, {"flow_patches", 128, 2, 0}, {"flow_refine", 16, 16, 2},
        {"flow_patches", 192, 2, 0},       {"flow_refine", 16, 16, 2},  {"flow_patches", 512, 1, 0},
        {"flow_refine", 16, 32, 1},        {"flow_refine", 16, 32, 1},  {"flow_result", 32, 32, 1}};
    static const expected_launch rough[] = {{"flow_planes", FLOW_TOTAL, 2, 0}, {"flow_patches", 128, 2, 0},
                                            {"flow_densify", 2, 6, 2},         {"flow_patches", 192, 2, 0},
                                            {"flow_densify", 4, 12, 2},        {"flow_patches", 512, 1, 0},
                                            {"flow_densify", 8, 24, 1},        {"flow_result", 32, 32, 1}};
    opencl_device device = large_device(TVLM_DEVICE_GPU);
    (void)state;
    run_flow(&device, 2, 3);
    expect_launches(refined, 9);
    expect_flows(&device, 0, 0, 16, 12);
    assert_int_equal(int_at(1, 0), FLOW_TOTAL);
    assert_int_equal(int_at(5, 0), FLOW_HALF);
    assert_true(int_at(2, 0) == 32 && int_at(2, 1) == 24 && int_at(2, 2) == 64 &&
                int_at(2, 3) == 16 * 64 + 16);
    /* Two lines of the coarsest level, and a bit, are behind the planes. */
    expect_scratch(&device, SCRATCH_A, (2 * FLOW_TOTAL + 2 * 48 + 16) * 4);
    expect_scratch(&device, SCRATCH_B, 4 * 9 * 7 * 4);
    expect_scratch(&device, SCRATCH_C, 2 * FLOW_HALF * 4);
    expect_scratch(&device, SCRATCH_D, 2 * FLOW_HALF * 4);
    /* 1 x 2 groups forward, or one group in both directions; a tile of 32 x 16 has 10 texels around it. */
    expect_scratch(&device, SCRATCH_E, 2 * 6 * (52 * 36) * 4);
    driver.launched = 0;
    run_flow(&device, 1, 3);
    assert_int_equal(driver.launched, 8);
    expect_flows(&device, 1, 0, 16, 12);
    driver.launched = 0;
    run_flow(&device, 0, 3);
    expect_launches(rough, 8);
    expect_flows(&device, 1, 0, 16, 12);
    driver.launched = 0;
    run_flow(&device, 1, 1); /* on one level, both ways */
    assert_int_equal(driver.launched, 4);
    expect_size(2, 16, 32, 2);
    expect_scratch(&device, SCRATCH_E, 2 * 2 * 6 * (52 * 36) * 4);
    expect_flows(&device, 1, 1, 32, 24);
    close_device(&device);
}

static void test_flow_on_cpus(void **state) {
    static const expected_launch refined[] = {{"flow_planes", FLOW_TOTAL / 16, 2, 0},
                                              {"flow_patches", 64, 2, 0},
                                              {"flow_densify", 2, 2, 2},
                                              {"flow_refine", 1, 1, 2},
                                              {"flow_patches", 64, 2, 0},
                                              {"flow_densify", 4, 3, 2},
                                              {"flow_refine", 1, 1, 2},
                                              {"flow_patches", 64, 1, 0},
                                              {"flow_densify", 8, 6, 1},
                                              {"flow_refine", 1, 1, 1},
                                              {"flow_refine", 1, 1, 1},
                                              {"flow_result", 1, 2, 1}};
    opencl_device device = large_device(TVLM_DEVICE_CPU);
    (void)state;
    device.base.info.local_bytes = 6 * 32768; /* enough for tiles of 128 x 32 */
    run_flow(&device, 2, 3);
    expect_launches(refined, 12);
    expect_flows(&device, 1, 0, 16, 12);
    expect_scratch(&device, SCRATCH_E, 2 * 1 * 6 * (148 * 52) * 4);
    close_device(&device);
    device = large_device(TVLM_DEVICE_CPU);
    device.base.info.local_bytes = 6 * 32768 - 1;
    run_flow(&device, 1, 3);
    expect_size(9, 1, 2, 1);
    expect_scratch(&device, SCRATCH_E, 2 * 6 * (52 * 36) * 4);
    close_device(&device);
}

/* ---- Regions ---- */

static opencl_cluster cluster_of(opencl_device *device, int32_t width, int32_t height, int32_t columns,
                                 int32_t rows, int32_t coarse) {
    return (opencl_cluster){.device = device,
                            .format = TVLM_FORMAT_F32,
                            .plan = {.columns = columns, .rows = rows, .coarse = coarse, .weight = 0.75f},
                            .layout = {.words = 555},
                            .width = width,
                            .height = height,
                            .images = 2,
                            .colour_words = 9000,
                            .work_words = 7777,
                            .largest = 1801,
                            .mains = 1816,
                            .dense = 1831};
}

static void expect_int4(cl_int4 value, int32_t x, int32_t y, int32_t z, int32_t w) {
    if (value.s[0] != x || value.s[1] != y || value.s[2] != z || value.s[3] != w)
        fail_msg("%d, %d, %d, %d", value.s[0], value.s[1], value.s[2], value.s[3]);
}
static void expect_float2(cl_float2 value, float x, float y) {
    if (value.s[0] != x || value.s[1] != y) fail_msg("%g, %g", (double)value.s[0], (double)value.s[1]);
}

/* 5 x 3 cells of an image of 101 x 70, of which four passes are run on the level of 50 x 35. */
static void test_passes(void **state) {
    opencl_device device = large_device(TVLM_DEVICE_GPU);
    opencl_cluster cluster = cluster_of(&device, 101, 70, 5, 3, 1);
    opencl_slic_pass pass = tvlm_opencl_slic_pass_of(&cluster, 0);
    (void)state;
    expect_int4(pass.size, 50, 35, 7070, 9000);
    expect_int4(pass.cells, 5, 3, 1, 1);        /* of 10 x 12 texels, in blocks of 16 x 64 */
    expect_int4(pass.tables, 7777, 1500, 0, 1); /* 15 cells with 20 words each */
    expect_float2(pass.cell, 101.0f / 5.0f, 70.0f / 3.0f);
    expect_float2(pass.scale, 101.0f / 50.0f, 2.0f);
    expect_float2(pass.scale_before, 101.0f / 50.0f, 2.0f);
    assert_true(pass.weight == 0.75f && pass.last == 0);
    pass = tvlm_opencl_slic_pass_of(&cluster, 3);
    expect_int4(pass.size, 50, 35, 7070, 9000);
    expect_int4(pass.tables, 7777, 600, 900, 1);
    pass = tvlm_opencl_slic_pass_of(&cluster, 4);
    expect_int4(pass.size, 101, 70, 0, 9000);
    expect_int4(pass.cells, 5, 3, 2, 1); /* of 21 x 24 */
    expect_int4(pass.tables, 7777, 900, 1200, 2);
    expect_float2(pass.scale, 1.0f, 1.0f);
    expect_float2(pass.scale_before, 101.0f / 50.0f, 2.0f);
    assert_int_equal(pass.last, 0);
    pass = tvlm_opencl_slic_pass_of(&cluster, 5);
    expect_int4(pass.tables, 7777, 1200, 1500, 2);
    expect_float2(pass.scale_before, 1.0f, 1.0f);
    assert_int_equal(pass.last, 1);
    cluster.plan.coarse = 0;
    expect_int4(tvlm_opencl_slic_pass_of(&cluster, 0).size, 101, 70, 0, 9000);
    close_device(&device);
}

/* The rows of a cell's blocks: a work-item of 16 makes 4 rows at most, and one that is alone 64. */
static void test_rows_of_blocks(void **state) {
    static const int32_t heights[3] = {64, 65, 129}, down[3] = {1, 2, 3}, gpu_rows[3] = {4, 3, 3},
                         cpu_rows[3] = {64, 33, 43};
    (void)state;
    for (int i = 0; i < 3; ++i)
        for (int cpu = 0; cpu < 2; ++cpu) {
            opencl_device device = large_device(cpu ? TVLM_DEVICE_CPU : TVLM_DEVICE_GPU);
            const opencl_cluster cluster = cluster_of(&device, 64, 2 * heights[i] - 1, 1, 2, 0);
            const opencl_slic_pass pass = tvlm_opencl_slic_pass_of(&cluster, 5);
            expect_int4(pass.cells, 1, 2, cpu ? 1 : 4, down[i]);
            assert_int_equal(pass.tables.s[3], cpu ? cpu_rows[i] : gpu_rows[i]);
            close_device(&device);
        }
}

/* Centres that are known are written where the first pass looks for sums, those of 256 pixels. */
static void test_centres(void **state) {
    static const tvlm_region_centre centres[2] = {
        {.id = 1, .x = 3.0f, .y = 4.0f},
        {.id = 0, .known = true, .x = 10.5f, .y = 4.5f, .l = 50.0f, .a = -2.0f, .b = 3.0f}};
    static const cl_uint own[20] = {256,
                                    [6] = 256 * 10,
                                    [8] = 256 * 4,
                                    [10] = 256 * 50 * 8,
                                    [12] = 256 * (1024 - 2 * 8),
                                    [14] = 256 * (1024 + 3 * 8)};
    static const cl_uint none[20] = {0};
    opencl_device device = large_device(TVLM_DEVICE_GPU);
    opencl_cluster cluster = cluster_of(&device, 101, 70, 2, 1, 0);
    (void)state;
    cluster.work = memory_of(4 * 2 * 7777);
    assert_int_equal(tvlm_opencl_slic(&cluster), TVLM_OK);
    assert_int_equal(driver.written, 0);
    assert_int_equal(driver.launched, 6);
    for (int i = 0; i < 6; ++i)
        expect_size(i, 2 * 4 * 16, 2 * 16, 2); /* cells of 51 x 70, in blocks of 16 x 64 */
    cluster.centres = centres;
    assert_int_equal(tvlm_opencl_slic(&cluster), TVLM_OK);
    assert_int_equal(driver.written, 1);
    assert_int_equal(driver.writes[0].offset, 4 * 5 * 40);
    assert_int_equal(driver.writes[0].bytes, 4 * 40);
    const unsigned char *const table = of(cluster.work)->content + 4 * 5 * 40;
    assert_memory_equal(table, none, sizeof none);
    assert_memory_equal(table + sizeof none, own, sizeof own);
    release_memory(cluster.work);
    close_device(&device);
}

static void run_pieces(opencl_device *device, int32_t width, int32_t height,
                       const tvlm_region_centre *centres) {
    opencl_cluster cluster = cluster_of(device, width, height, 2, 1, 0);
    cluster.work = memory_of(4 * 2 * 7777);
    cluster.regions = memory_of(16);
    cluster.centres = centres;
    driver.launched = 0;
    assert_int_equal(tvlm_opencl_pieces(&cluster), TVLM_OK);
    /* pieces_settle, the last launch */
    assert_true(int_at(4, 0) == 7777 && int_at(4, 1) == 1801 && int_at(4, 2) == 1816 && int_at(4, 3) == 1831);
    assert_true(int_at(5, 0) == width && int_at(5, 1) == height);
    if (centres != NULL) {
        const cl_int *const ids = (const cl_int *)(void *)of(cluster.work)->content + 1831;
        assert_true(ids[0] == 1 && ids[1] == 0);
        assert_int_equal(*(const cl_int *)(void *)of(cluster.regions)->content, 2);
    }
    release_memory(cluster.work), release_memory(cluster.regions);
}

/* Pieces are merged along the edges of tiles: those of 33 x 17 in tiles of 16 x 16 are two columns of 17 texels and a
 * row of 33. */
static void test_pieces(void **state) {
    static const expected_launch on_gpus[] = {{"pieces_link", 48, 32, 2},  {"pieces_merge", 256, 2, 0},
                                              {"pieces_count", 768, 2, 0}, {"pieces_main", 768, 2, 0},
                                              {"pieces_offer", 768, 2, 0}, {"pieces_settle", 768, 2, 0}};
    static const expected_launch on_cpus[] = {{"pieces_link", 1, 2, 2},  {"pieces_merge", 33, 2, 0},
                                              {"pieces_count", 1, 2, 0}, {"pieces_main", 1, 2, 0},
                                              {"pieces_offer", 1, 2, 0}, {"pieces_roots", 1, 2, 0},
                                              {"pieces_settle", 1, 2, 0}};
    static const tvlm_region_centre centres[2] = {{.id = 1}, {.id = 0}};
    opencl_device device = large_device(TVLM_DEVICE_GPU);
    (void)state;
    run_pieces(&device, 33, 17, centres);
    expect_launches(on_gpus, 6);
    run_pieces(&device, 16, 16, NULL);
    expect_name(1, "pieces_count"); /* there are no edges */
    run_pieces(&device, 17, 257, NULL);
    expect_size(1, 768, 2, 0); /* 257 + 16 * 17 */
    close_device(&device);
    device = large_device(TVLM_DEVICE_CPU);
    run_pieces(&device, 33, 17, NULL);
    expect_launches(on_cpus, 7);
    run_pieces(&device, 65, 16, NULL);
    expect_size(1, 16, 2, 0);
    assert_int_equal(launch_at(1)->group[0], 1);
    expect_size(2, 2, 2, 0); /* 1040 texels in spans of 1024 */
    close_device(&device);
}

/* ---- All of a map of regions ---- */

static tvlm_buffer *products[TVLM_PRODUCT_COUNT];
static opencl_texture pictures, channels;

/* Of two images of 60 x 40 pixels with 3 x 2 cells, whose passes begin on the level of 30 x 20. */
static void make_regions(opencl_device *device, const int32_t *label_counts) {
    static tvlm_texture *grids[TVLM_GRID_COUNT];
    static const tvlm_family_settings settings = {.regions = 6, .compactness = 10.0f};
    const tvlm_generate_args args = {.grids = grids,
                                     .out = &channels.base,
                                     .settings = &settings,
                                     .products = products,
                                     .label_counts = label_counts};
    pictures = texture_of(60, 40, 1, 2, 6), channels = texture_of(60, 40, 1, 2, 6);
    grids[TVLM_GRID_SOURCE] = &pictures.base;
    device->base.backend = &tvlm_opencl_backend;
    driver.launched = 0;
    assert_int_equal(tvlm_opencl_cluster(&device->base, &args), TVLM_OK);
}

static void drop_products(opencl_device *device) {
    for (int i = 0; i < TVLM_PRODUCT_COUNT; ++i) tvlm_opencl_buffer_destroy(&device->base, &products[i]);
    close_device(device);
}

static unsigned char *product_bytes(tvlm_product which) {
    return of(((opencl_buffer *)products[which])->memory)->content;
}

static void test_maps_of_regions(void **state) {
    static const expected_launch expected[] = {
        {"cluster_lab", 60, 40, 4},    {"cluster_assign", 48, 32, 2},   {"cluster_assign", 48, 32, 2},
        {"cluster_assign", 48, 32, 2}, {"cluster_assign", 48, 32, 2},   {"cluster_assign", 96, 32, 2},
        {"cluster_assign", 96, 32, 2}, {"pieces_link", 64, 48, 2},      {"pieces_merge", 256, 2, 0},
        {"pieces_count", 2560, 2, 0},  {"pieces_main", 2560, 2, 0},     {"pieces_offer", 2560, 2, 0},
        {"pieces_settle", 2560, 2, 0}, {"regions_gradient", 64, 48, 2}, {"regions_sum", 64, 16, 2},
        {"regions_table", 256, 2, 0},  {"regions_reach", 60, 40, 2},    {"regions_store", 60, 40, 2}};
    opencl_device device = large_device(TVLM_DEVICE_GPU);
    (void)state;
    make_regions(&device, NULL);
    expect_launches(expected, 18);
    assert_true(int_at(3, 0) == 60 && int_at(3, 1) == 40 && int_at(3, 3) == 2400 + 600);
    /* A header of 4 words, 16 for each region, a row of bits for each, and a multiple of 4. */
    assert_true(int_at(5, 0) == 108 && int_at(5, 1) == 100 && int_at(5, 2) == 1);
    assert_int_equal(products[TVLM_PRODUCT_LABELS]->bytes, 2 * 4 * 2400);
    assert_int_equal(products[TVLM_PRODUCT_REGIONS]->bytes, 2 * 4 * 108);
    expect_scratch(&device, SCRATCH_A, 2 * 4 * 3000);
    expect_scratch(&device, SCRATCH_B, 2 * 4 * 2400);
    expect_scratch(&device, SCRATCH_C, 2 * 4 * 2400);
    expect_scratch(&device, SCRATCH_D, 2 * 4 * 2400);
    /* Six passes of 20 words for each cell, one, three words for each cell, and 20 for each region. */
    expect_scratch(&device, SCRATCH_E, 2 * 4 * (6 * 6 * 20 + 1 + 3 * 6 + 6 * 20));
    drop_products(&device);
    device = large_device(TVLM_DEVICE_CPU);
    make_regions(&device, NULL);
    assert_int_equal(driver.launched, 19);
    expect_size(0, 1, 40, 4);
    expect_size(18, 1, 40, 2);
    drop_products(&device);
}

/* Labels that were handed in take the place of those that were found, and with more regions there is more room. */
static void test_labels_of_applications(void **state) {
    static const int32_t one[2] = {0, 7}, both[2] = {3, 7}, none[4] = {0};
    opencl_device device = large_device(TVLM_DEVICE_GPU);
    (void)state;
    device.base.backend = &tvlm_opencl_backend;
    assert_int_equal(
        tvlm_opencl_buffer_create(&device.base, 2 * 4 * 2400, &products[TVLM_PRODUCT_LABELS_GIVEN]), TVLM_OK);
    assert_int_equal(tvlm_opencl_buffer_create(&device.base, 2 * 4 * 2400, &products[TVLM_PRODUCT_LABELS]),
                     TVLM_OK);
    assert_int_equal(tvlm_opencl_buffer_create(&device.base, 2 * 4 * 124, &products[TVLM_PRODUCT_REGIONS]),
                     TVLM_OK);
    for (int i = 0; i < 2 * 4 * 2400; ++i)
        product_bytes(TVLM_PRODUCT_LABELS_GIVEN)[i] = (unsigned char)(i % 251);
    memset(product_bytes(TVLM_PRODUCT_LABELS), 0, 2 * 4 * 2400);
    memset(product_bytes(TVLM_PRODUCT_REGIONS), 0, 2 * 4 * 124);
    make_regions(&device, one);
    assert_int_equal(driver.launched, 18);
    assert_int_equal(driver.copied, 1);
    assert_true(int_at(5, 0) == 124 && int_at(5, 1) == 4 + 7 * 16);
    const unsigned char *labels = product_bytes(TVLM_PRODUCT_LABELS);
    const int32_t *tables = (const int32_t *)(void *)product_bytes(TVLM_PRODUCT_REGIONS);
    for (int i = 0; i < 4 * 2400; ++i) assert_int_equal(labels[i], 0);
    assert_memory_equal(labels + 4 * 2400, product_bytes(TVLM_PRODUCT_LABELS_GIVEN) + 4 * 2400, 4 * 2400);
    assert_memory_equal(tables, none, sizeof none);
    assert_true(tables[124] == 7 && tables[125] == 1 && tables[126] == 0);
    make_regions(&device, both);
    assert_int_equal(driver.launched, 6); /* the colours, and what follows from labels */
    expect_name(1, "regions_gradient");
    assert_int_equal(driver.copied, 3);
    assert_true(tables[0] == 3 && tables[1] == 1 && tables[124] == 7);
    drop_products(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_similarity),
        cmocka_unit_test(test_unit_vectors),
        cmocka_unit_test(test_flow),
        cmocka_unit_test(test_flow_on_cpus),
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_rows_of_blocks),
        cmocka_unit_test(test_centres),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_maps_of_regions),
        cmocka_unit_test(test_labels_of_applications),
    };
    install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
