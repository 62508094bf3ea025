/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_opencl_launches.c: the programs and the launches of families and operations of the OpenCL backend, counted by
 * hand: their options, how many work-items there are, and what is written for them. The driver is made up; what
 * kernels make is tested on real ones.
 */
#include "core/budget.h"
#include "core/operations.h"
#include "driver_helper.h"
#include "opencl/cluster_parts.h"

/* ---- Programs ---- */

static void expect_options(opencl_device *device, const tvlm_tiles *tiles, tvlm_format format,
                           const char *expected) {
    opencl_call call;
    driver.options[0] = '\0';
    assert_int_equal(tvlm_opencl_call_begin_over(device, tiles, "pick.cl", "pick", format, "-DX=1", &call),
                     TVLM_OK);
    assert_string_equal(driver.options, expected);
    assert_ptr_equal(call.tiles, tiles);
}

static void test_options(void **state) {
    opencl_device device = device_of(TVLM_DEVICE_CPU);
    const tvlm_tiles tiles = {0};
    (void)state;
    expect_options(&device, NULL, TVLM_FORMAT_F32,
                   "-cl-std=CL1.2 -DTVLM_STORAGE=1 -DTVLM_HALF=0 -DTVLM_ROUND_STORES=0 -DX=1");
    expect_options(&device, NULL, TVLM_FORMAT_F16,
                   "-cl-std=CL1.2 -DTVLM_STORAGE=1 -DTVLM_HALF=1 -DTVLM_ROUND_STORES=0 -DX=1");
    device.round_stores = true;
    expect_options(&device, &tiles, TVLM_FORMAT_F16,
                   "-cl-std=CL1.2 -DTVLM_STORAGE=1 -DTVLM_HALF=1 -DTVLM_ROUND_STORES=1 -DX=1 -DTILE_LIST=1");
    expect_options(&device, &tiles, TVLM_FORMAT_F32,
                   "-cl-std=CL1.2 -DTVLM_STORAGE=1 -DTVLM_HALF=0 -DTVLM_ROUND_STORES=0 -DX=1 -DTILE_LIST=1");
    expect_options(&device, NULL, TVLM_FORMAT_U8,
                   "-cl-std=CL1.2 -DTVLM_STORAGE=1 -DTVLM_HALF=1 -DTVLM_BYTES=3 -DTVLM_ROUND_STORES=1 -DX=1");
    assert_int_equal(driver.built, 5);
    close_device(&device);
    device = device_of(TVLM_DEVICE_GPU);
    device.cl_std = "CL3.0", device.base.info.storage = TVLM_STORAGE_MIPMAPPED;
    snprintf(device.base.info.platform, sizeof device.base.info.platform, "Oclgrind");
    expect_options(
        &device, NULL, TVLM_FORMAT_F32,
        "-cl-std=CL3.0 -cl-opt-disable -DINLINED=HELPER -DTVLM_STORAGE=2 -DTVLM_HALF=0 -DTVLM_ROUND_STORES=0 -DX=1");
    close_device(&device);
    device = device_of(TVLM_DEVICE_CPU);
    snprintf(device.base.info.platform, sizeof device.base.info.platform, "Portable Computing Language");
    expect_options(
        &device, NULL, TVLM_FORMAT_F32,
        "-cl-std=CL1.2 -w -DHELPER=inline -DFETCH_AHEAD=__builtin_prefetch -DTVLM_STORAGE=1 -DTVLM_HALF=0 -DTVLM_ROUND_STORES=0 -DX=1");
    close_device(&device);
    assert_int_equal(driver.built, 0);
    assert_int_equal(driver.kernels, 0);
}

/* A program is built once, and each of its kernels is made once, sixteen at most. */
static void test_programs(void **state) {
    static const char *const names[17] = {"a", "b", "c", "d", "e", "f", "g", "h", "i",
                                          "j", "k", "l", "m", "n", "o", "p", "q"};
    opencl_device device = device_of(TVLM_DEVICE_CPU);
    cl_kernel first = NULL, kernel;
    size_t most;
    (void)state;
    for (int i = 0; i < 16; ++i) {
        assert_int_equal(tvlm_opencl_kernel(&device, "pick.cl", "", names[i], &kernel, &most), TVLM_OK);
        if (i == 0) first = kernel;
        assert_true(driver.built == 1 && driver.kernels == i + 1);
    }
    refused(tvlm_opencl_kernel(&device, "pick.cl", "", names[16], &kernel, &most), TVLM_ERROR_DEVICE,
            "more than 16 kernels in pick.cl");
    assert_int_equal(tvlm_opencl_kernel(&device, "pick.cl", "", "a", &kernel, &most), TVLM_OK);
    assert_true(kernel == first && driver.kernels == 16);
    assert_int_equal(tvlm_opencl_kernel(&device, "pick.cl", "-DX", "a", &kernel, &most), TVLM_OK);
    assert_int_equal(tvlm_opencl_kernel(&device, "warp.cl", "", "a", &kernel, &most), TVLM_OK);
    assert_true(driver.built == 3 && driver.kernels == 18);
    tvlm_opencl_program_forget(&device, "pick.cl");
    assert_true(driver.built == 1 && driver.kernels == 1);
    assert_int_equal(tvlm_opencl_kernel(&device, "warp.cl", "", "a", &kernel, &most), TVLM_OK);
    assert_int_equal(driver.built, 1);
    refused(tvlm_opencl_kernel(&device, "none.cl", "", "a", &kernel, &most), TVLM_ERROR_DEVICE,
            "there is no kernel file 'none.cl'");
    /* Groups are as large as is told, but for a kernel that asks for their size. */
    driver.group_most = 32;
    assert_int_equal(tvlm_opencl_kernel(&device, "pick.cl", "", "a", &kernel, &most), TVLM_OK);
    assert_int_equal(most, 32);
    driver.group_asked[0] = 16;
    assert_int_equal(tvlm_opencl_kernel(&device, "pick.cl", "", "b", &kernel, &most), TVLM_OK);
    assert_true(most == SIZE_MAX);
    close_device(&device);
}

/* A build that fails is told in the first line of the log that says error, else in the first one. */
static void test_failing_builds(void **state) {
    opencl_device device = device_of(TVLM_DEVICE_CPU);
    cl_kernel kernel;
    size_t most;
    (void)state;
    driver.build_error = CL_BUILD_PROGRAM_FAILURE;
#define FAILS() tvlm_opencl_kernel(&device, "pick.cl", "", "pick", &kernel, &most)
    refused(FAILS(), TVLM_ERROR_DEVICE,
            "kernel file pick.cl does not build on made up: CL_BUILD_PROGRAM_FAILURE");
    assert_null(strstr(test_last_log(), "FAILURE:"));
    driver.log = "first\nx: error: second\nerror: third";
    refused(FAILS(), TVLM_ERROR_DEVICE, "CL_BUILD_PROGRAM_FAILURE: x: error: second");
    assert_null(strstr(test_last_log(), "third"));
    driver.log = "error: first\nsecond";
    refused(FAILS(), TVLM_ERROR_DEVICE, "CL_BUILD_PROGRAM_FAILURE: error: first");
    driver.log = "first\nsecond";
    refused(FAILS(), TVLM_ERROR_DEVICE, "CL_BUILD_PROGRAM_FAILURE: first");
    assert_null(strstr(test_last_log(), "second"));
    driver.log = "<kernel>:2:7: error: here"; /* the text begins with a #line */
    refused(FAILS(), TVLM_ERROR_DEVICE, "CL_BUILD_PROGRAM_FAILURE: cl/pick.cl:1:7: error: here");
    driver.finish_error = CL_OUT_OF_RESOURCES;
    refused(FAILS(), TVLM_ERROR_LOST, "pick.cl: CL_BUILD_PROGRAM_FAILURE");
#undef FAILS
    assert_int_equal(driver.built, 0);
    close_device(&device);
}

/* ---- Operations ---- */

/* Values in spans of 1024, and features in slices of eight layers, of which vectors of unit length make one. */
static void test_inputs(void **state) {
    opencl_device device = small_groups(TVLM_DEVICE_GPU);
    opencl_buffer data = {.memory = memory_of(16)};
    opencl_texture out = texture_of(4, 3, 8, 2, 1);
    tvlm_input input = {.columns = 512, .rows = 5, .channels = 2};
    int64_t first = 7;
    bool any = true;
    (void)state;
    assert_int_equal(tvlm_opencl_input_check(&device.base, &data.base, &input, &first), TVLM_OK);
    expect_size(0, 1, 5, 0);
    assert_int_equal(first, -1); /* no kernel has found any */
    input.columns = 513;
    assert_int_equal(tvlm_opencl_input_check(&device.base, &data.base, &input, &first), TVLM_OK);
    expect_size(1, 2, 5, 0);
    assert_int_equal(tvlm_opencl_input_directions(&device.base, &data.base, &input, &any), TVLM_OK);
    expect_size(2, 513, 5, 0);
    assert_false(any);
    input.mode = TVLM_INPUT_CLAMP;
    assert_int_equal(tvlm_opencl_input(&device.base, &data.base, &input, 1, &out.base), TVLM_OK);
    expect_size(3, 4, 3, 1);
    out.base.layers = 9;
    assert_int_equal(tvlm_opencl_input(&device.base, &data.base, &input, 1, &out.base), TVLM_OK);
    expect_size(4, 4, 3, 2);
    input.mode = TVLM_INPUT_UNIT;
    assert_int_equal(tvlm_opencl_input(&device.base, &data.base, &input, 1, &out.base), TVLM_OK);
    expect_size(5, 4, 3, 1);
    release_memory(data.memory);
    close_device(&device);
}

static void test_packing(void **state) {
    static const int32_t refs[8] = {0};
    opencl_device device = small_groups(TVLM_DEVICE_CPU);
    opencl_texture source = texture_of(40, 30, 1, 3, 1), out = texture_of(129, 17, 2, 3, 1);
    opencl_buffer points = {.memory = memory_of(16)}, values = {.memory = memory_of(16)};
    const tvlm_bundle bundle = {
        .count = 1, .textures = {&source.base}, .rope = {.theta = 2.0f, .dimension = 2, .patch = 1.0f}};
    (void)state;
    device.tuning.run = 16; /* in blocks of 64 x 8 */
    device.tuning.stream_kib = 1000;
    assert_int_equal(tvlm_opencl_pack(&device.base, &bundle, refs, 0.0f, &out.base), TVLM_OK);
    expect_size(0, 3, 3, 6);
    assert_non_null(strstr(driver.options, " -DBUNDLE_SIZE=1 -DRUN=64 -DROWS=8"));
    assert_null(strstr(driver.options, "STREAM"));
    assert_int_equal(tvlm_opencl_pack_slot(&device.base, &bundle, refs, 0.0f, 2, 1, &out.base), TVLM_OK);
    expect_size(1, 3, 3, 2);
    out.base.width = 128, out.base.height = 16;
    device.tuning.stream_kib = 128 * 16 * 2 * 3 * 16 / 1024;
    assert_int_equal(tvlm_opencl_pack(&device.base, &bundle, refs, 0.0f, &out.base), TVLM_OK);
    expect_size(2, 2, 2, 6);
    assert_null(strstr(driver.options, "STREAM"));
    --device.tuning.stream_kib;
    assert_int_equal(tvlm_opencl_pack(&device.base, &bundle, refs, 0.0f, &out.base), TVLM_OK);
    expect_size(3, 2, 2, 6);
    assert_non_null(strstr(driver.options, " -DRUN=64 -DROWS=8 -DSTREAM=1"));
    device.tuning.run = 1;
    assert_int_equal(tvlm_opencl_pack(&device.base, &bundle, refs, 0.0f, &out.base), TVLM_OK);
    expect_size(4, 128, 16, 6);
    assert_null(strstr(driver.options, "STREAM"));
    assert_int_equal(tvlm_opencl_sample(&device.base, &bundle, refs, 2, &points.base, 77, &values.base),
                     TVLM_OK);
    expect_size(5, 77, 2, 0);
    assert_int_equal(driver.written, 1); /* the references are there already */
    free(device.refs.host);
    release_memory(points.memory);
    release_memory(values.memory);
    close_device(&device);
}

static void test_patches(void **state) {
    static const int32_t refs[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const float mean[8] = {9, 10}, deviation[8] = {11, 12};
    opencl_device device = small_groups(TVLM_DEVICE_CPU);
    opencl_buffer places = {.memory = memory_of(16)}, out = {.memory = memory_of(16)};
    const tvlm_bundle bundle = {.rope = {.theta = 2.0f, .dimension = 2, .patch = 1.0f}};
    opencl_texture empty = texture_of(1, 1, 1, 1, 1);
    tvlm_patch_plan plan = {
        .side = 17, .channels = 6, .count4 = 2, .refs = refs, .mean = mean, .deviation = deviation};
    int32_t kept_refs[8];
    float kept[16];
    (void)state;
    device.empty = &empty.base;
    device.tuning.run = 16;
    assert_int_equal(tvlm_opencl_patches(&device.base, &bundle, &plan, &places.base, 5, &out.base), TVLM_OK);
    expect_size(0, 2, 17, 10);
    assert_non_null(strstr(driver.options, " -DRUN=16 -DOUT_HALF=0 -DREFLECT=0"));
    const unsigned char *const plan_bytes = of(device.scratch[SCRATCH_C])->content;
    memcpy(kept_refs, plan_bytes, sizeof kept_refs);
    memcpy(kept, plan_bytes + sizeof kept_refs, sizeof kept);
    assert_memory_equal(kept_refs, refs, sizeof refs);
    assert_memory_equal(kept, mean, sizeof mean);
    assert_memory_equal(kept + 8, deviation, sizeof deviation);
    plan.reflect = true, plan.format = TVLM_FORMAT_F16;
    assert_int_equal(tvlm_opencl_patches(&device.base, &bundle, &plan, &places.base, 5, &out.base), TVLM_OK);
    expect_size(1, 17, 17, 10);
    assert_non_null(strstr(driver.options, " -DRUN=1 -DOUT_HALF=1 -DREFLECT=1"));
    release_memory(places.memory);
    release_memory(out.memory);
    close_device(&device);
}

static void test_tokens(void **state) {
    opencl_device device = small_groups(TVLM_DEVICE_GPU);
    opencl_buffer some = {.memory = memory_of(16)};
    tvlm_patchify layout = {.width = 28,
                            .height = 56,
                            .frames = 2,
                            .patch = 14,
                            .temporal = 2,
                            .merge = 2,
                            .count = 2,
                            .listed = 3};
    (void)state;
    assert_int_equal(
        tvlm_opencl_patchify(&device.base, &some.base, &layout, &some.base, NULL, NULL, &some.base), TVLM_OK);
    expect_size(0, 3 * 2 * 14 * 14, 5 * 4, 0);
    assert_non_null(strstr(driver.options, " -DPATCH=14 -DTEMPORAL=2 -DMERGE=2 -DWHOLE_LINES=0"));
    assert_int_equal(int_at(1, 3), 20);
    layout.listed = layout.count = 0;
    assert_int_equal(
        tvlm_opencl_patchify(&device.base, &some.base, &layout, &some.base, NULL, NULL, &some.base), TVLM_OK);
    assert_int_equal(driver.launched, 1);
    layout.count = 1;
    device.tuning.scan_rows = 1;
    assert_int_equal(
        tvlm_opencl_patchify(&device.base, &some.base, &layout, &some.base, NULL, NULL, &some.base), TVLM_OK);
    expect_size(1, 3, 4, 0);
    assert_non_null(strstr(driver.options, "-DWHOLE_LINES=1"));
    release_memory(some.memory);
    close_device(&device);
}

static void test_places(void **state) {
    opencl_device device = small_groups(TVLM_DEVICE_GPU);
    opencl_buffer some = {.memory = memory_of(16)};
    opencl_texture flow = texture_of(8, 8, 1, 1, 4);
    const tvlm_placing placing = {.out = &some.base, .looked = &some.base, .out_offset = 40};
    tvlm_follow follow = {.flow = &flow.base, .from = &some.base, .to = &some.base};
    const tvlm_position_list list = {
        .positions = &some.base, .offset = 24, .count = 6, .side = 3, .scale_size = 0.5f};
    uint64_t words;
    float of_patch[4];
    int32_t bad = 7;
    (void)state;
    assert_int_equal(tvlm_opencl_place(&device.base, &placing, &some.base, 9), TVLM_OK);
    expect_size(0, 9, 0, 0);
    memcpy(&words, driver.arguments[6].bytes, sizeof words);
    assert_int_equal(words, 10);
    assert_int_equal(tvlm_opencl_follow(&device.base, &follow), TVLM_OK); /* of no points */
    assert_int_equal(driver.launched, 1);
    follow.count = 1;
    assert_int_equal(tvlm_opencl_follow(&device.base, &follow), TVLM_OK);
    expect_size(1, 1, 0, 0);
    assert_int_equal(tvlm_opencl_patch_places(&device.base, &list, &some.base, &bad), TVLM_OK);
    expect_size(2, 6, 0, 0);
    memcpy(&words, driver.arguments[1].bytes, sizeof words);
    assert_int_equal(words, 6);
    memcpy(of_patch, driver.arguments[3].bytes, sizeof of_patch);
    assert_true(of_patch[2] == 1.5f);
    assert_int_equal(bad, -1);
    release_memory(some.memory);
    close_device(&device);
}

static void test_resizing(void **state) {
    opencl_device device = small_groups(TVLM_DEVICE_GPU);
    opencl_buffer some = {.memory = memory_of(16)};
    const tvlm_pixels layout = {.width = 65, .height = 40, .channels = 4};
    tvlm_resize plan = {.x = {.size = 129}, .y = {.size = 20}, .first_row = 3, .rows = 37};
    (void)state;
    for (int serial = 0; serial < 2; ++serial) {
        const int at = driver.launched;
        device.tuning.scan_rows = serial;
        plan.columns_first = false;
        assert_int_equal(
            tvlm_opencl_resize(&device.base, &some.base, &layout, &some.base, &plan, &some.base, 0), TVLM_OK);
        expect_size(at, serial ? 3 : 129, 37, 1);         /* runs of 64 pixels */
        expect_size(at + 1, serial ? 2 : 3 * 129, 20, 1); /* runs of 256 bytes */
        assert_int_equal(of(device.scratch[SCRATCH_A])->bytes, 129 * 37 * 3);
        plan.columns_first = true;
        assert_int_equal(
            tvlm_opencl_resize(&device.base, &some.base, &layout, &some.base, &plan, &some.base, 0), TVLM_OK);
        expect_size(at + 2, serial ? 2 : 65, 20, 1);
        expect_size(at + 3, serial ? 3 : 129, 20, 1);
    }
    release_memory(some.memory);
    close_device(&device);
}

/* ---- Sources ---- */

/* Of 100 x 70 pixels in tiles of 32, which are made in two parts of 16 rows: of the last row of tiles only one part
 * begins within the image. */
static void test_source_tiles(void **state) {
    static const uint8_t changed[12] = {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
    static const cl_uint expected[3][2] = {{1 | 0 << 16, 0}, {1 | 1 << 16, 0}, {3 | 4 << 16, 1}};
    opencl_device device = small_groups(TVLM_DEVICE_GPU);
    opencl_buffer pixels = {.memory = memory_of(16)};
    opencl_texture out = texture_of(100, 70, 1, 1, 1);
    const tvlm_pixels layout = {.width = 100, .height = 70, .channels = 3};
    tvlm_tiles tiles = {.width = 100, .height = 70, .side = 32, .columns = 4, .rows = 3, .changed = changed};
    int32_t flags[12];
    (void)state;
    device.tuning.tile_group_width = 8;
    assert_int_equal(tvlm_opencl_source_tiles(&device.base, &pixels.base, &layout, true, &tiles, &out.base),
                     TVLM_OK);
    assert_int_equal(driver.launched, 0); /* none is said to have changed */
    tiles.count = 2;
    assert_int_equal(tvlm_opencl_source_tiles(&device.base, &pixels.base, &layout, true, &tiles, &out.base),
                     TVLM_OK);
    expect_size(0, 3 * 8, 16, 0);
    assert_int_equal(driver.writes[0].bytes, sizeof expected);
    assert_memory_equal(of(device.scratch[SCRATCH_A])->content, expected, sizeof expected);
    memset(flags, 0x55, sizeof flags);
    assert_int_equal(
        tvlm_opencl_source_changed(&device.base, &pixels.base, &layout, 0, &out.base, 32, 0.5f, flags),
        TVLM_OK);
    expect_size(1, 4 * 8, 3 * 32, 0);
    for (int i = 0; i < 12; ++i) assert_int_equal(flags[i], 0);
    release_memory(pixels.memory);
    close_device(&device);
}

/* A group keeps its rows, and is as wide as the kernel's registers allow; they must be enough for the rows. */
static void test_source_registers(void **state) {
    opencl_device device = small_groups(TVLM_DEVICE_GPU);
    opencl_buffer pixels = {.memory = memory_of(16)};
    opencl_texture out = texture_of(100, 70, 1, 1, 1);
    const tvlm_pixels layout = {.width = 100, .height = 70, .channels = 3};
    int32_t flags[12];
    (void)state;
    device.tuning.tile_group_width = 8;
    driver.group_most = 64;
    assert_int_equal(
        tvlm_opencl_source_changed(&device.base, &pixels.base, &layout, 0, &out.base, 32, 0.5f, flags),
        TVLM_OK);
    expect_size(0, 4 * 4, 3 * 32, 0);
    assert_true(launch_at(0)->group[0] == 4 && launch_at(0)->group[1] == 16);
    tvlm_opencl_programs_destroy(&device);
    driver.group_most = 8;
    refused(tvlm_opencl_source_changed(&device.base, &pixels.base, &layout, 0, &out.base, 32, 0.5f, flags),
            TVLM_ERROR_UNSUPPORTED, "work-groups of at most 8 work-items in source_changed; 16 are needed");
    release_memory(pixels.memory);
    close_device(&device);
}

/* ---- Frames ---- */

/* Loops over the pixels that become one may have 32768 steps where drivers end long ones. */
static void test_long_loops(void **state) {
    opencl_device device = small_groups(TVLM_DEVICE_GPU);
    opencl_buffer some = {.memory = memory_of(16)};
    tvlm_planes planes = {.first = {.memory = &some.base},
                          .pixels = {.width = 2540, .height = 126, .channels = 3}};
    (void)state;
    device.short_loops = true;
    assert_int_equal(tvlm_opencl_planes(&device.base, &planes, 10, 1, &some.base), TVLM_OK); /* 256 x 128 */
    assert_non_null(
        strstr(driver.options, "-DIMAGES=0 -DNV12=0 -DRESAMPLE=1 -DPIXEL_TYPE=0 -DPIXEL_CHANNELS=3"));
    planes.pixels.width = 2550;
    refused(tvlm_opencl_planes(&device.base, &planes, 10, 1, &some.base), TVLM_ERROR_UNSUPPORTED,
            "made up ends long loops: a frame of 2550x126 is too large to become one of 10x1 there");
    device.short_loops = false;
    assert_int_equal(tvlm_opencl_planes(&device.base, &planes, 10, 1, &some.base), TVLM_OK);
    expect_size(1, 10, 1, 1);
    planes.pixels = (tvlm_pixels){.width = 10, .height = 3, .channels = 4, .type = TVLM_PIXEL_F32};
    assert_int_equal(tvlm_opencl_planes(&device.base, &planes, 10, 3, &some.base), TVLM_OK);
    assert_non_null(strstr(driver.options, "-DRESAMPLE=0 -DPIXEL_TYPE=2 -DPIXEL_CHANNELS=4"));
    assert_int_equal(tvlm_opencl_planes(&device.base, &planes, 10, 2, &some.base), TVLM_OK);
    assert_non_null(strstr(driver.options, "-DRESAMPLE=1 -DPIXEL_TYPE=2"));
    planes.pixels.type = TVLM_PIXEL_U16;
    planes.nv12 = true, planes.chroma.memory = &some.base;
    assert_int_equal(tvlm_opencl_planes(&device.base, &planes, 10, 3, &some.base), TVLM_OK);
    assert_non_null(
        strstr(driver.options, "-DIMAGES=0 -DNV12=1 -DRESAMPLE=0 -DPIXEL_TYPE=0 -DPIXEL_CHANNELS=1"));
    planes.nv12 = false, planes.first.image = true, planes.first.channels = 4;
    assert_int_equal(tvlm_opencl_planes(&device.base, &planes, 10, 3, &some.base), TVLM_OK);
    assert_non_null(
        strstr(driver.options, "-DIMAGES=1 -DNV12=0 -DRESAMPLE=0 -DPIXEL_TYPE=0 -DPIXEL_CHANNELS=4"));
    release_memory(some.memory);
    close_device(&device);
}

static void test_images_of_applications(void **state) {
    static const struct {
        cl_channel_order order;
        cl_channel_type type;
        int32_t channels;
        tvlm_pixel_type pixels;
    } good[] = {
        {CL_R, CL_UNORM_INT8, 1, TVLM_PIXEL_U8},     {CL_LUMINANCE, CL_UNORM_INT16, 1, TVLM_PIXEL_U16},
        {CL_RG, CL_HALF_FLOAT, 2, TVLM_PIXEL_F32},   {CL_RGB, CL_FLOAT, 3, TVLM_PIXEL_F32},
        {CL_RGBx, CL_UNORM_INT8, 3, TVLM_PIXEL_U8},  {CL_RGBA, CL_UNORM_INT8, 4, TVLM_PIXEL_U8},
        {CL_BGRA, CL_UNORM_INT8, 4, TVLM_PIXEL_U8},  {CL_ARGB, CL_UNORM_INT8, 4, TVLM_PIXEL_U8},
        {CL_ABGR, CL_UNORM_INT16, 4, TVLM_PIXEL_U16}};
    static const cl_channel_order standard[] = {CL_sRGBA, CL_sBGRA, CL_sRGB, CL_sRGBx};
    opencl_device device = device_of(TVLM_DEVICE_GPU);
    cl_mem mem = memory_of(16);
    tvlm_plane plane;
    (void)state;
    driver.type = CL_MEM_OBJECT_IMAGE2D;
    driver.width = 7, driver.height = 5;
#define WRAP() tvlm_opencl_plane_wrap(&device.base, mem, NULL, &plane)
    for (size_t i = 0; i < sizeof good / sizeof good[0]; ++i) {
        driver.format = (cl_image_format){good[i].order, good[i].type};
        assert_int_equal(WRAP(), TVLM_OK);
        assert_true(plane.image && plane.width == 7 && plane.height == 5);
        assert_true(plane.channels == good[i].channels && plane.type == good[i].pixels);
        tvlm_opencl_buffer_destroy(&device.base, &plane.memory);
    }
    for (size_t i = 0; i < sizeof standard / sizeof standard[0]; ++i) {
        driver.format.image_channel_order = standard[i];
        refused(WRAP(), TVLM_ERROR_ARGUMENT, "an image of sRGB values");
        assert_null(plane.memory);
    }
    driver.format.image_channel_order = CL_INTENSITY;
    refused(WRAP(), TVLM_ERROR_ARGUMENT, "an image of channel order 0x10b8");
    driver.format = (cl_image_format){CL_RGBA, CL_SIGNED_INT8};
    refused(WRAP(), TVLM_ERROR_ARGUMENT, "an image of channel type 0x10d7");
    driver.format.image_channel_data_type = CL_UNORM_INT8;
    driver.samples = 1;
    assert_int_equal(WRAP(), TVLM_OK);
    tvlm_opencl_buffer_destroy(&device.base, &plane.memory);
    driver.samples = 2;
    refused(WRAP(), TVLM_ERROR_ARGUMENT, "an image of 2 samples a pixel; resolve it");
    assert_int_equal(of(mem)->references, 1);
    /* A buffer is no image, and other kinds are neither. */
    driver.type = CL_MEM_OBJECT_BUFFER;
    assert_int_equal(WRAP(), TVLM_OK);
    assert_true(!plane.image && plane.width == 0 && plane.memory->bytes == 16);
    tvlm_opencl_buffer_destroy(&device.base, &plane.memory);
    driver.type = CL_MEM_OBJECT_IMAGE3D;
    refused(WRAP(), TVLM_ERROR_ARGUMENT, "the cl_mem is an image; a buffer or an image2d is needed");
    driver.type = CL_MEM_OBJECT_PIPE;
    refused(WRAP(), TVLM_ERROR_ARGUMENT, "the cl_mem is a pipe; a buffer or an image2d is needed");
#undef WRAP
    release_memory(mem);
}

/* ---- Memory of applications ---- */

static void test_buffers_of_applications(void **state) {
    opencl_device device = device_of(TVLM_DEVICE_GPU);
    cl_mem mem = memory_of(16);
    tvlm_buffer *buffer = NULL;
    (void)state;
    driver.type = CL_MEM_OBJECT_BUFFER;
#define WRAP(written) tvlm_opencl_buffer_wrap(&device.base, mem, written, &buffer)
    for (int written = 0; written < 2; ++written) {
        of(mem)->flags = CL_MEM_READ_WRITE;
        assert_int_equal(WRAP(written != 0), TVLM_OK);
        assert_true(buffer->bytes == 16 && of(mem)->references == 2);
        tvlm_opencl_buffer_destroy(&device.base, &buffer);
        assert_int_equal(of(mem)->references, 1);
        of(mem)->flags = written ? CL_MEM_WRITE_ONLY : CL_MEM_READ_ONLY;
        assert_int_equal(WRAP(written != 0), TVLM_OK);
        tvlm_opencl_buffer_destroy(&device.base, &buffer);
    }
    of(mem)->flags = CL_MEM_READ_ONLY;
    refused(WRAP(true), TVLM_ERROR_ARGUMENT, "the cl_mem is CL_MEM_READ_ONLY; kernels would write it");
    of(mem)->flags = CL_MEM_WRITE_ONLY;
    refused(WRAP(false), TVLM_ERROR_ARGUMENT, "the cl_mem is CL_MEM_WRITE_ONLY; kernels would read it");
    driver.type = CL_MEM_OBJECT_IMAGE2D;
    refused(WRAP(false), TVLM_ERROR_ARGUMENT, "the cl_mem is an image; a buffer is needed");
    driver.context = (cl_context)mem;
    refused(WRAP(false), TVLM_ERROR_ARGUMENT, "the cl_mem belongs to another context than the device");
#undef WRAP
    assert_int_equal(device.base.held, 0); /* it is the application's */
    release_memory(mem);
    /* The library's own is counted, and of no bytes the driver makes one. */
    assert_int_equal(tvlm_opencl_buffer_create(&device.base, 100, &buffer), TVLM_OK);
    assert_int_equal(device.base.held, 100);
    tvlm_opencl_buffer_destroy(&device.base, &buffer);
    assert_int_equal(device.base.held, 0);
    assert_int_equal(tvlm_opencl_buffer_create(&device.base, 0, &buffer), TVLM_OK);
    assert_true(buffer->bytes == 0 && of(((opencl_buffer *)buffer)->memory)->bytes == 1);
    tvlm_opencl_buffer_destroy(&device.base, &buffer);
    driver.create_error = CL_OUT_OF_HOST_MEMORY;
    refused(tvlm_opencl_buffer_create(&device.base, 9, &buffer), TVLM_ERROR_MEMORY, "clCreateBuffer");
    assert_null(buffer);
}

/* ---- Losses ---- */

/* A plan of two pictures of a source of 100 x 70. */
static tvlm_budget_plan plan_of(const tvlm_budget_picture pictures[2]) {
    static const float table[4] = {0};
    return (tvlm_budget_plan){.patch = 14,
                              .columns = 7,
                              .rows = 5,
                              .levels = 2,
                              .count = 2,
                              .pictures = pictures,
                              .table = table,
                              .table_floats = 4,
                              .between_texels = 1000,
                              .picture_texels = 500};
}

/* Two pictures, of which one is the widest and the other the highest. */
static void test_losses(void **state) {
    static const tvlm_budget_picture pictures[2] = {{.width = 10, .height = 20, .from = 1},
                                                    {.width = 30, .height = 5, .from = 0}};
    opencl_texture source = texture_of(100, 70, 1, 1, 7);
    const tvlm_budget_plan plan = plan_of(pictures);
    (void)state;
    for (int serial = 0; serial < 2; ++serial) {
        opencl_device device = small_groups(TVLM_DEVICE_GPU);
        opencl_buffer losses = {.memory = memory_of(16)};
        device.tuning.scan_rows = serial; /* then in runs of 32 values, of 16 outputs each */
        assert_int_equal(tvlm_opencl_losses(&device.base, &source.base, &plan, &losses.base, 0), TVLM_OK);
        assert_int_equal(driver.launched, 6);
        expect_size(0, serial ? 4 : 100, 70 + 35, 1);
        expect_size(1, serial ? 4 : 100, serial ? 2 : 20, 2);
        expect_size(2, serial ? 1 : 20, serial ? 2 : 30, 2);
        expect_size(3, serial ? 1 : 20, serial ? 7 : 100, 2);
        expect_size(4, 7, 5, 1);
        expect_size(5, 7, serial ? 2 : 5, serial ? 5 : 2);
        /* Lines of 112 and of 80 floats (an odd number of sixteens), 51 floats of each tile, and a run more. */
        assert_int_equal(of(device.scratch[SCRATCH_C])->bytes, 4 * (112 * 70 + 80 * 35 + 7 * 5 * 51 + 32));
        assert_int_equal(of(device.scratch[SCRATCH_D])->bytes, 4 * (1000 + 32));
        assert_int_equal(of(device.scratch[SCRATCH_E])->bytes, 4 * (500 + 32));
        release_memory(losses.memory);
        close_device(&device);
    }
}

/* To keep an image takes two launches, and pictures are compared with all that are seen in one. Nothing is sent of a plan that
 * lies on the device. */
static void test_losses_kept(void **state) {
    static const tvlm_budget_picture pictures[2] = {{.width = 10, .height = 20, .from = 1}};
    opencl_texture source = texture_of(100, 70, 1, 1, 7);
    tvlm_budget_plan plan = plan_of(pictures);
    opencl_buffer sent = {.memory = memory_of(16)}, luma = {.memory = memory_of(16)};
    const tvlm_budget_kept kept = {.memory = &luma.base, .places = 34};
    (void)state;
    plan.kept = &kept;
    plan.seen = 18;
    plan.first = 30;
    plan.step = 1;
    for (int serial = 0; serial < 2; ++serial) {
        opencl_device device = small_groups(TVLM_DEVICE_GPU);
        opencl_buffer losses = {.memory = memory_of(16)};
        device.tuning.scan_rows = serial;
        assert_int_equal(tvlm_opencl_losses_keep(&device.base, &source.base, 0, plan.patch, &kept, 33),
                         TVLM_OK);
        assert_int_equal(driver.launched, 2);
        expect_size(0, serial ? 4 : 100, 70, 1);
        expect_size(1, 8, 5, 1); /* tiles of 14 pixels */
        assert_int_equal(tvlm_opencl_losses_move(&device.base, &source.base, plan.patch, &kept,
                                                 &(tvlm_budget_move){.from = 33, .to = 2}, &kept),
                         TVLM_OK);
        assert_int_equal(driver.launched, 4);
        expect_size(2, serial ? 4 : 100, 70, 1);
        expect_size(3, 8, 5, 1);
        plan.sent_pictures = plan.sent_table = serial ? &sent.base : NULL;
        assert_int_equal(tvlm_opencl_losses(&device.base, &source.base, &plan, &losses.base, 0), TVLM_OK);
        assert_int_equal(driver.launched, 4 + 5);
        expect_size(4, serial ? 4 : 100, 70 + 35, 1);
        expect_size(8, 7, serial ? 2 : 5, serial ? 5 : 2 * 18);
        assert_true((device.scratch[SCRATCH_A] == NULL) == (serial == 1));
        release_memory(losses.memory);
        close_device(&device);
    }
    release_memory(sent.memory);
    release_memory(luma.memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_failing_builds),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_packing),
        cmocka_unit_test(test_patches),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_resizing),
        cmocka_unit_test(test_source_tiles),
        cmocka_unit_test(test_source_registers),
        cmocka_unit_test(test_long_loops),
        cmocka_unit_test(test_images_of_applications),
        cmocka_unit_test(test_buffers_of_applications),
        cmocka_unit_test(test_losses),
        cmocka_unit_test(test_losses_kept),
    };
    install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
