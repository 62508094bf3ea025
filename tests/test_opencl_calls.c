/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_opencl_calls.c: what the OpenCL backend asks of a driver: memory, writes, and launches of whole images and of
 * what changed tiles touch. The driver is made up here: it keeps what it is told, and does nothing else, so that
 * sizes can be counted by hand.
 */
#include <string.h>

#include "driver_helper.h"

/* ---- Launches ---- */

/* Of a kernel whose groups may be of any size. */
static opencl_call call_of(opencl_device *device, const char *name) {
    return (opencl_call){.device = device, .most = SIZE_MAX, .name = name};
}

static void test_whole_groups(void **state) {
    opencl_device device = device_of(TVLM_DEVICE_CPU);
    opencl_call call = call_of(&device, "kernel");
    const size_t size[3] = {17, 16, 1}, group[3] = {16, 8, 1};
    (void)state;
    assert_int_equal(tvlm_opencl_call_run(&call, 3, size, group), TVLM_OK);
    expect_launch(32, 16, 1, 16, 8);
    assert_true(device.unsent);
    assert_int_equal(tvlm_opencl_call_run(&call, 2, size, NULL), TVLM_OK);
    expect_launch(17, 16, 0, 0, 0);
    assert_int_equal(driver.launches[1].dimensions, 2);
    assert_false(driver.launches[1].grouped);
    /* Local memory up to the last byte; and what was wrong before is told. */
    tvlm_opencl_call_bytes(&call, 600, NULL);
    tvlm_opencl_call_bytes(&call, 400, NULL);
    assert_true(driver.arguments[0].local && driver.arguments[1].size == 400 && call.next == 2);
    assert_int_equal(tvlm_opencl_call_run(&call, 1, size, NULL), TVLM_OK);
    tvlm_opencl_call_bytes(&call, 1, NULL);
    refused(tvlm_opencl_call_run(&call, 1, size, NULL), TVLM_ERROR_DEVICE_MEMORY,
            "kernel: CL_OUT_OF_RESOURCES");
    call = call_of(&device, "other");
    driver.argument_error = CL_INVALID_ARG_INDEX;
    tvlm_opencl_call_int(&call, 5);
    driver.argument_error = CL_SUCCESS;
    tvlm_opencl_call_int(&call, 6);
    assert_int_equal(call.next, 2);
    refused(tvlm_opencl_call_run(&call, 1, size, NULL), TVLM_ERROR_DEVICE, "other: CL_INVALID_ARG_INDEX");
    assert_int_equal(driver.launched, 3);
    driver.finish_error = CL_OUT_OF_RESOURCES;
    refused(tvlm_opencl_call_run(&call, 1, size, NULL), TVLM_ERROR_LOST,
            "the device 'made up' is lost: other: CL_INVALID_ARG_INDEX (-49), clFinish: CL_OUT_OF_RESOURCES");
}

/* Groups of runs become narrower and higher where a row has fewer work-items than half of them are wide. */
static void test_pixels(void **state) {
    opencl_device device = device_of(TVLM_DEVICE_CPU);
    opencl_call call = call_of(&device, "kernel");
    (void)state;
    device.tuning.group_width = 64, device.tuning.group_height = 4, device.tuning.run = 2;
    assert_int_equal(tvlm_opencl_call_run_pixels(&call, 33, 5, 3), TVLM_OK);
    expect_launch(64, 8, 3, 64, 4);
    assert_int_equal(tvlm_opencl_call_run_pixels(&call, 32, 5, 3), TVLM_OK);
    expect_launch(32, 8, 3, 32, 8);
    assert_int_equal(tvlm_opencl_call_run_pixels(&call, 5, 5, 1), TVLM_OK);
    expect_launch(16, 16, 1, 16, 16); /* no narrower */
    device.tuning.run = 1;
    assert_int_equal(tvlm_opencl_call_run_pixels(&call, 5, 5, 1), TVLM_OK);
    expect_launch(64, 8, 1, 64, 4);
    device.tuning.linear_group = 48;
    assert_int_equal(tvlm_opencl_call_run_list(&call, 49, 3), TVLM_OK);
    expect_launch(96, 3, 0, 48, 1);
}

static const tvlm_texture grid = {.width = 100,
                                  .height = 70,
                                  .layers = 1,
                                  .images = 3,
                                  .levels = 7,
                                  .format = TVLM_FORMAT_F32,
                                  .extent_x = 100.0f,
                                  .extent_y = 70.0f};

static void test_whole_images(void **state) {
    opencl_device device = device_of(TVLM_DEVICE_GPU);
    opencl_call call = {.device = &device, .most = SIZE_MAX, .name = "kernel", .out = &grid};
    (void)state;
    device.tuning.cell_lanes = 8, device.tuning.cells = 3;
    assert_int_equal(tvlm_opencl_call_run_cells(&call), TVLM_OK);
    expect_launch(34 * 8, 70 * 3, 3, 8, 3);
    device.tuning.group_width = 16, device.tuning.group_height = 4;
    assert_int_equal(tvlm_opencl_call_run_rows(&call, 3), TVLM_OK); /* 34 runs */
    expect_launch(48, 72, 3, 16, 4);
    device.tuning.tile_width = 32, device.tuning.tile_height = 16;
    device.tuning.tile_group_width = 8, device.tuning.tile_group_height = 2;
    assert_int_equal(tvlm_opencl_call_run_tiles(&call, 97, 65, 3), TVLM_OK); /* 4 x 5 tiles */
    expect_launch(32, 10, 3, 8, 2);
    assert_int_equal(tvlm_opencl_call_run_tiles(&call, 96, 64, 1), TVLM_OK);
    expect_launch(24, 8, 1, 8, 2);
}

/* A kernel that takes many registers has small groups: the longest side is halved until it can have them. */
static void test_few_registers(void **state) {
    opencl_device device = device_of(TVLM_DEVICE_GPU);
    opencl_call call = {.device = &device, .most = 64, .name = "kernel"};
    const size_t size[3] = {17, 16, 1}, group[3] = {16, 16, 1};
    (void)state;
    assert_int_equal(tvlm_opencl_call_run(&call, 3, size, group), TVLM_OK);
    expect_launch(24, 16, 1, 8, 8);
    call.most = 1;
    assert_int_equal(tvlm_opencl_call_run(&call, 3, size, group), TVLM_OK);
    expect_launch(17, 16, 1, 1, 1);
}

/* ---- What changed tiles touch ---- */

/* 100 x 70 pixels in tiles of 16 are 7 x 5 tiles, the last ones of 4 and of 6 pixels. */
enum { COLUMNS = 7, ROWS = 5 };
static uint8_t changed[COLUMNS * ROWS];
static int64_t texels;

static tvlm_tiles tiles_of(int column, int row, int32_t reach, uint64_t serial) {
    memset(changed, 0, sizeof changed);
    changed[row * COLUMNS + column] = 1;
    texels = 0;
    return (tvlm_tiles){.width = 100,
                        .height = 70,
                        .side = 16,
                        .columns = COLUMNS,
                        .rows = ROWS,
                        .count = 1,
                        .changed = changed,
                        .image = 2,
                        .reach = reach,
                        .serial = serial,
                        .texels = &texels};
}

static opencl_call call_over(opencl_device *device, const tvlm_tiles *tiles) {
    opencl_call call = call_of(device, "kernel");
    call.tiles = tiles, call.out = &grid, call.next = 3;
    return call;
}

/* That a launch has the blocks x0 .. x1, y0 .. y1 in the list that it is told of, and no others, at this z. */
static void expect_blocks(const opencl_call *call, uint32_t x0, uint32_t x1, uint32_t y0, uint32_t y1,
                          uint32_t z) {
    const size_t count = (size_t)(x1 - x0 + 1) * (y1 - y0 + 1);
    cl_mem mem;
    int32_t first;
    memcpy(&mem, driver.arguments[call->next - 2].bytes, sizeof mem);
    memcpy(&first, driver.arguments[call->next - 1].bytes, sizeof first);
    expect_launch(count * 8, 4, 1, 8, 4);
    const cl_uint2 *entry = (const cl_uint2 *)(void *)of(mem)->content + first;
    for (uint32_t y = y0; y <= y1; ++y)
        for (uint32_t x = x0; x <= x1; ++x, ++entry)
            if (entry->s[0] != (x | y << 16) || entry->s[1] != z)
                fail_msg("block %u, %u at %u, not %u, %u at %u", entry->s[0] & 0xffff, entry->s[0] >> 16,
                         entry->s[1], x, y, z);
}

/* Runs one part of a region in groups of 8 x 4, and checks its blocks and how many texels they have. */
static void check_part(const tvlm_tiles *tiles, opencl_region_part part, uint32_t x0, uint32_t x1,
                       uint32_t y0, uint32_t y1, int64_t made) {
    opencl_device device = device_of(TVLM_DEVICE_CPU);
    opencl_call call = call_over(&device, tiles);
    const opencl_region region = {.parts = {part}};
    texels = 0;
    assert_int_equal(tvlm_opencl_call_run_region(&call, &region, 8, 4), TVLM_OK);
    assert_int_equal(call.next, 5);
    expect_blocks(&call, x0, x1, y0, y1, (uint32_t)(2 * part.z_step + part.z));
    assert_int_equal(texels, made);
    close_device(&device);
}

/* Where groups of 8 x 4 are too large, there are more of 8 x 2 or 4 x 1, with smaller blocks, which must be even. */
static void test_small_blocks(void **state) {
    const tvlm_tiles tiles = tiles_of(2, 1, 0, 9); /* the pixels 32 .. 47, 16 .. 31 */
    opencl_region region = {.parts = {{100, 70, 100, 70, .block_width = 8, .block_height = 4, .z_step = 1}}};
    opencl_device device = device_of(TVLM_DEVICE_CPU);
    opencl_call call = call_over(&device, &tiles);
    (void)state;
    call.most = 16;
    assert_int_equal(tvlm_opencl_call_run_region(&call, &region, 8, 4), TVLM_OK);
    expect_launch(2 * 8 * 8, 2, 1, 8, 2);
    call.most = 4;
    assert_int_equal(tvlm_opencl_call_run_region(&call, &region, 8, 4), TVLM_OK);
    expect_launch(4 * 16 * 4, 1, 1, 4, 1);
    region.parts[0].block_width = region.parts[0].block_height = 3;
    refused(tvlm_opencl_call_run_region(&call, &region, 8, 4), TVLM_ERROR_UNSUPPORTED,
            "made up: work-groups of at most 4 work-items in kernel; 32 are needed");
    assert_int_equal(driver.launched, 2);
    close_device(&device);
}

static void test_blocks(void **state) {
    tvlm_tiles tiles = tiles_of(2, 1, 0, 1); /* the pixels 32 .. 47, 16 .. 31 */
    const opencl_region_part whole = {.width = 100,
                                      .height = 70,
                                      .extent_x = 100,
                                      .extent_y = 70,
                                      .block_width = 16,
                                      .block_height = 16,
                                      .z_step = 1};
    opencl_region_part part = whole;
    (void)state;
    check_part(&tiles, part, 2, 2, 1, 1, 256);
    part.reach = 1;
    check_part(&tiles, part, 1, 3, 1, 1, 3 * 256);
    part.reach = 0, part.down = 1;
    check_part(&tiles, part, 2, 2, 0, 2, 3 * 256);
    part.down = 16;
    check_part(&tiles, part, 2, 2, 0, 2, 3 * 256);
    part.down = 17;
    check_part(&tiles, part, 2, 2, 0, 3, 4 * 256);
    part = whole, part.grow_x = 1, part.grow_y = 17;
    check_part(&tiles, part, 1, 3, 0, 3, 12 * 256);
    part = whole, part.block_width = 64, part.block_height = 8;
    check_part(&tiles, part, 0, 0, 2, 3, 2 * 64 * 8);
    part.z_step = 3, part.z = 2;
    check_part(&tiles, part, 0, 0, 2, 3, 2 * 64 * 8);
    /* The last tile, and blocks that are cut off by the edges of the image: 100 - 64 by 70 - 64. */
    tiles = tiles_of(6, 4, 0, 2);
    check_part(&tiles, whole, 6, 6, 4, 4, 4 * 6);
    part = whole, part.block_width = 64, part.block_height = 64;
    check_part(&tiles, part, 1, 1, 1, 1, 36 * 6);
    part = whole, part.reach = part.down = 100;
    check_part(&tiles, part, 0, 6, 0, 4, 100 * 70);
}

static void test_blocks_of_levels(void **state) {
    tvlm_tiles tiles = tiles_of(2, 1, 0, 1);
    const opencl_region_part whole = {.width = 100,
                                      .height = 70,
                                      .extent_x = 100,
                                      .extent_y = 70,
                                      .block_width = 4,
                                      .block_height = 4,
                                      .z_step = 1};
    opencl_region_part part = whole;
    (void)state;
    /* Texels 16 .. 23, 8 .. 15 of level 1, which has 50 x 35; of level 2, 25 x 17, one more before row 4 as 35 is odd. */
    part.level = 1;
    check_part(&tiles, part, 4, 5, 2, 3, 0);
    part.level = 2;
    check_part(&tiles, part, 2, 2, 0, 1, 0);
    /* A group that makes level 2 as well makes blocks of 2 x 2 there: row 3 is the second one's. */
    part.level = 1, part.made = 1;
    check_part(&tiles, part, 4, 5, 1, 3, 0);
    /* A grid of half the size is as level 1; only what `out` is counts. */
    part = whole, part.width = 50, part.height = 35;
    check_part(&tiles, part, 4, 5, 2, 3, 0);
    part = whole, part.width = 50;
    check_part(&tiles, part, 4, 5, 4, 7, 0);
    /* Cells of 16 pixels, of which the last ones reach beyond the image. */
    part = whole, part.width = 7, part.height = 5, part.extent_x = 112, part.extent_y = 80;
    part.block_width = part.block_height = 1;
    check_part(&tiles, part, 2, 2, 1, 1, 0);
    part.reach = part.down = 1;
    check_part(&tiles, part, 1, 3, 0, 2, 0);
}

/* Lists of the same tiles are made once, and those that were used are made anew for the next tiles, all in one write. */
static void test_lists(void **state) {
    opencl_device device = device_of(TVLM_DEVICE_CPU);
    tvlm_tiles tiles = tiles_of(2, 1, 0, 1), other;
    opencl_call call = call_over(&device, &tiles);
    opencl_region one = tvlm_opencl_region_of(&tiles, &grid, 16, 16), two = one, none = one;
    (void)state;
    assert_true(one.parts[0].width == 100 && one.parts[0].height == 70 && one.parts[0].extent_x == 100 &&
                one.parts[0].extent_y == 70 && one.parts[0].z_step == 1 && one.parts[1].width == 0);
    two.parts[0].reach = 1;
    none.parts[0].width = 0;
#define RUN(REGION) (call.next = 3, tvlm_opencl_call_run_region(&call, &(REGION), 8, 4))
    assert_int_equal(RUN(one), TVLM_OK);
    assert_int_equal(driver.written, 1);
    assert_int_equal(RUN(two), TVLM_OK);
    expect_blocks(&call, 1, 3, 1, 1, 2);
    assert_int_equal(driver.arguments[4].bytes[0], 1); /* behind the list of one block */
    assert_int_equal(texels, 4 * 256);
    const int written = driver.written;
    assert_int_equal(RUN(one), TVLM_OK);
    expect_blocks(&call, 2, 2, 1, 1, 2);
    assert_int_equal(driver.written, written);
    assert_int_equal(RUN(none), TVLM_OK); /* nothing is launched */
    assert_int_equal(driver.launched, 3);
    other = tiles_of(0, 0, 0, 2);
    call.tiles = &other;
    assert_int_equal(RUN(two), TVLM_OK);
    expect_blocks(&call, 0, 1, 0, 0, 2);
    assert_int_equal(driver.written, written + 1);
    assert_int_equal(RUN(one), TVLM_OK);
    expect_blocks(&call, 0, 0, 0, 0, 2);
    assert_int_equal(driver.written, written + 1); /* it was made with the other */
    /* An image of another size has other regions. */
    other.width = 99, other.serial = 3;
    assert_int_equal(RUN(two), TVLM_OK);
    assert_int_equal(driver.written, written + 2);
    assert_int_equal(driver.arguments[4].bytes[0], 0);
    assert_int_equal(RUN(one), TVLM_OK);
    assert_int_equal(driver.written, written + 3);
    /* Where a list cannot be sent, the device may have none of the others, either: they are sent anew. */
    opencl_region three = one;
    three.parts[0].reach = 2;
    driver.write_error = CL_OUT_OF_RESOURCES;
    assert_int_not_equal(RUN(three), TVLM_OK);
    driver.write_error = CL_SUCCESS;
    const int before = driver.written;
    assert_int_equal(RUN(one), TVLM_OK);
    assert_int_equal(driver.written, before + 1);
#undef RUN
    close_device(&device);
    assert_null(device.regions);
    assert_int_equal(driver.created, driver.released);
}

/* Runs of rows are made in blocks of 64 x 16 texels, tiles in those of the tuning, but not wider than 16. */
static void test_listed_launches(void **state) {
    opencl_device device = device_of(TVLM_DEVICE_CPU);
    const tvlm_tiles tiles = tiles_of(2, 1, 0, 1);
    opencl_call call = call_over(&device, &tiles);
    (void)state;
    assert_int_equal(tvlm_opencl_call_run_rows(&call, 5), TVLM_OK); /* 13 runs of 5 */
    expect_launch(13, 16, 1, 13, 16);
    assert_int_equal(texels, 65 * 16);
    assert_int_equal(tvlm_opencl_call_run_rows(&call, 1), TVLM_OK);
    expect_launch(16, 16, 1, 16, 16);
    assert_int_equal(texels, 65 * 16 + 16 * 16);
    device.tuning.tile_width = 64, device.tuning.tile_height = 8;
    device.tuning.tile_group_width = 2, device.tuning.tile_group_height = 3;
    texels = 0;
    assert_int_equal(tvlm_opencl_call_run_tiles(&call, 100, 70, 3), TVLM_OK);
    expect_launch(2 * 2, 3, 1, 2, 3);
    assert_int_equal(texels, 16 * 16);
    device.tuning.tile_width = 4; /* four of them beside each other, two below */
    assert_int_equal(tvlm_opencl_call_run_tiles(&call, 100, 70, 3), TVLM_OK);
    expect_launch(8 * 2, 3, 1, 2, 3);
    device.tuning.cell_lanes = 8, device.tuning.cells = 3; /* texels 32 .. 47 are in the triples 10 .. 15 */
    assert_int_equal(tvlm_opencl_call_run_cells(&call), TVLM_OK);
    expect_launch(6 * 16 * 8, 3, 1, 8, 3);
    close_device(&device);
}

/* ---- Memory ---- */

/* Small writes are copied, and the ninth waits for the first; others wait themselves. */
static void test_writes(void **state) {
    static unsigned char content[STAGE_BYTES + 1];
    opencl_device device = device_of(TVLM_DEVICE_CPU);
    cl_mem mem = memory_of(2 * STAGE_BYTES);
    (void)state;
    for (size_t i = 0; i < sizeof content; ++i) content[i] = (unsigned char)(i % 251);
    assert_int_equal(tvlm_opencl_write(&device, mem, 0, 0, content), TVLM_OK);
    assert_int_equal(driver.written, 0);
    for (int i = 0; i < STAGES + 1; ++i) {
        assert_int_equal(driver.waits, 0);
        assert_int_equal(tvlm_opencl_write(&device, mem, 5, STAGE_BYTES, content), TVLM_OK);
        assert_true(!driver.writes[i].blocking && driver.writes[i].event == i + 1);
        assert_true(driver.writes[i].offset == 5 && driver.writes[i].bytes == STAGE_BYTES);
    }
    assert_true(driver.waits == 1 && driver.waited[0] == 1);
    assert_memory_equal(of(mem)->content + 5, content, STAGE_BYTES);
    assert_int_equal(tvlm_opencl_write(&device, mem, 7, STAGE_BYTES + 1, content), TVLM_OK);
    assert_true(driver.writes[STAGES + 1].blocking && driver.writes[STAGES + 1].event == 0);
    /* After a failure the same stage, whose write has arrived by then, is the next one. */
    driver.write_error = CL_OUT_OF_RESOURCES;
    refused(tvlm_opencl_write(&device, mem, 0, 9, content), TVLM_ERROR_DEVICE_MEMORY,
            "clEnqueueWriteBuffer: CL_OUT_OF_RESOURCES");
    assert_true(driver.waits == 2 && driver.waited[1] == 2);
    driver.write_error = CL_SUCCESS;
    assert_int_equal(tvlm_opencl_write(&device, mem, 0, 9, content), TVLM_OK);
    assert_int_equal(driver.waits, 2);
    /* What was sent and did not arrive is told when its stage is needed. */
    driver.wait_error = CL_INVALID_VALUE;
    refused(tvlm_opencl_write(&device, mem, 0, 9, content), TVLM_ERROR_DEVICE, "clWaitForEvents");
    driver.wait_error = CL_SUCCESS;
    tvlm_opencl_staging_release(&device);
    assert_int_equal(driver.waits, 2 + STAGES);
    release_memory(mem);
}

/* Large writes to a GPU go through pinned memory, in pieces that are used in turn. */
static void test_pinned_writes(void **state) {
    enum { LARGE = 4 * PIECE_BYTES + 3 };
    unsigned char *const content = calloc(LARGE, 1);
    opencl_device device = device_of(TVLM_DEVICE_GPU);
    cl_mem mem = memory_of(LARGE + 10);
    (void)state;
    assert_non_null(content);
    for (size_t i = 0; i < LARGE; i += 997) content[i] = (unsigned char)(i % 251);
    assert_int_equal(tvlm_opencl_write(&device, mem, 10, LARGE, content), TVLM_OK);
    assert_int_equal(driver.written, 5);
    for (int i = 0; i < 5; ++i) {
        const transfer *const at = &driver.writes[i];
        assert_true(!at->blocking && at->event == i + 1 && at->offset == 10 + (size_t)i * PIECE_BYTES);
        assert_int_equal(at->bytes, i < 4 ? PIECE_BYTES : 3);
    }
    assert_int_equal(driver.flushed, 5);
    assert_true(driver.waits == 1 && driver.waited[0] == 1); /* the fifth takes the first one's piece */
    assert_memory_equal(of(mem)->content + 10, content, LARGE);
    assert_int_equal(driver.created, 2);
    assert_int_equal(tvlm_opencl_write(&device, mem, 0, STAGE_BYTES + 1, content), TVLM_OK);
    assert_true(driver.waits == 2 && driver.waited[1] == 2);
    assert_int_equal(driver.created, 2);
    tvlm_opencl_staging_release(&device);
    assert_int_equal(driver.waits, 6);
    /* A driver that has none is asked once. */
    for (int which = 0; which < 2; ++which) {
        device = device_of(TVLM_DEVICE_GPU);
        driver.create_error = which == 0 ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
        driver.map_error = which == 1 ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
        for (int i = 0; i < 2; ++i) {
            assert_int_equal(tvlm_opencl_write(&device, mem, 0, STAGE_BYTES + 1, content), TVLM_OK);
            assert_true(driver.writes[i].blocking);
        }
        assert_int_equal(driver.created, 1);
        assert_int_equal(driver.released, which);
        tvlm_opencl_staging_release(&device);
    }
    release_memory(mem);
    free(content);
}

static void test_scratch(void **state) {
    static const char words[] = "some words", others[] = "some sword";
    opencl_device device = device_of(TVLM_DEVICE_CPU);
    opencl_kept kept = {0};
    cl_mem first = NULL, mem = NULL;
    (void)state;
    assert_int_equal(tvlm_opencl_scratch(&device, SCRATCH_A, 100, &first), TVLM_OK);
    assert_true(of(first)->bytes == 100 && device.base.held == 100);
    assert_int_equal(tvlm_opencl_scratch(&device, SCRATCH_A, 100, &mem), TVLM_OK);
    assert_true(mem == first && driver.created == 1);
    assert_int_equal(tvlm_opencl_scratch(&device, SCRATCH_A, 101, &mem), TVLM_OK);
    assert_true(of(mem)->bytes == 101 && driver.released == 1);
    assert_true(device.base.held == 101 && device.base.held_most == 201);
    driver.create_error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    refused(tvlm_opencl_scratch(&device, SCRATCH_A, 102, &mem), TVLM_ERROR_DEVICE_MEMORY, "scratch memory");
    driver.create_error = CL_SUCCESS;
    /* The same content is not written again. */
    for (int i = 0; i < 2; ++i)
        assert_int_equal(tvlm_opencl_keep(&device, SCRATCH_REFS, &kept, sizeof words, words, &mem), TVLM_OK);
    assert_int_equal(driver.written, 1);
    assert_memory_equal(of(mem)->content, words, sizeof words);
    assert_int_equal(tvlm_opencl_keep(&device, SCRATCH_REFS, &kept, sizeof others, others, &mem), TVLM_OK);
    assert_int_equal(driver.written, 2);
    assert_memory_equal(of(mem)->content, others, sizeof others);
    assert_int_equal(tvlm_opencl_keep(&device, SCRATCH_REFS, &kept, 4, others, &mem), TVLM_OK);
    assert_int_equal(driver.written, 3);
    assert_int_equal(tvlm_opencl_keep(&device, SCRATCH_REFS, &kept, 0, others, &mem), TVLM_OK);
    assert_non_null(mem);
    assert_int_equal(driver.written, 3);
    free(kept.host);
    close_device(&device);
}

/* ---- Arguments ---- */

static void expect_ints(cl_uint number, int32_t x, int32_t y, int32_t z, int32_t w) {
    const int32_t expected[4] = {x, y, z, w};
    assert_int_equal(driver.arguments[number].size, sizeof expected);
    assert_memory_equal(driver.arguments[number].bytes, expected, sizeof expected);
}
static void expect_floats(cl_uint number, float x, float y, float z, float w) {
    const float expected[4] = {x, y, z, w};
    assert_int_equal(driver.arguments[number].size, sizeof expected);
    assert_memory_equal(driver.arguments[number].bytes, expected, sizeof expected);
}

static void test_vectors(void **state) {
    opencl_device device = device_of(TVLM_DEVICE_CPU);
    opencl_call call = call_of(&device, "kernel");
    (void)state;
    tvlm_opencl_call_int4(&call, 1, 2, 3, 4);
    tvlm_opencl_call_float4(&call, 0.5f, 1.5f, 2.5f, 3.5f);
    tvlm_opencl_call_ulong(&call, UINT64_C(1) << 40);
    expect_ints(0, 1, 2, 3, 4);
    expect_floats(1, 0.5f, 1.5f, 2.5f, 3.5f);
    assert_int_equal(driver.arguments[2].size, 8);
    assert_int_equal(call.next, 3);
    close_device(&device);
}

/* A texture that is read: its memory, what its storage asks for, its size, and its extent with the level of detail of
 * its texels and a bit for each component of ids. */
static void test_inputs(void **state) {
    static const tvlm_storage storages[3] = {TVLM_STORAGE_BUFFER, TVLM_STORAGE_IMAGE, TVLM_STORAGE_MIPMAPPED};
    opencl_device device = device_of(TVLM_DEVICE_CPU);
    opencl_texture texture = texture_of(20, 10, 3, 2, 5);
    (void)state;
    texture.level0 = memory_of(16), texture.rest = memory_of(16);
    texture.base.extent_x = 80.0f, texture.base.extent_y = 80.0f;
    texture.base.reduce[0] = TVLM_REDUCE_MODE, texture.base.reduce[3] = TVLM_REDUCE_MODE;
    texture.base.format = TVLM_FORMAT_U8, texture.base.range = TVLM_RANGE_UNIT, texture.base.scalar = true;
    for (int i = 0; i < 3; ++i) {
        opencl_call call = call_of(&device, "kernel");
        device.base.info.storage = storages[i];
        tvlm_opencl_call_input(&call, &texture.base);
        assert_int_equal(call.next, 4);
        assert_memory_equal(driver.arguments[0].bytes, &texture.level0, sizeof texture.level0);
        if (i == 0) assert_int_equal(int_at(1, 0), 3 * 2);
        if (i == 1) assert_memory_equal(driver.arguments[1].bytes, &texture.rest, sizeof texture.rest);
        if (i == 2) assert_int_equal(driver.arguments[1].size, sizeof device.mip_sampler);
        expect_ints(2, 20, 10, 3, 5 | 1 << 8);
        expect_floats(3, 80.0f, 80.0f, 3.0f, i == 0 ? 1 + 8 + 16 : 1 + 8); /* texels of 4 x 8 pixels */
    }
    opencl_call call = call_of(&device, "kernel");
    const cl_mem rest = texture.rest;
    device.base.info.storage = TVLM_STORAGE_IMAGE;
    texture.rest = NULL; /* there are no further levels */
    texture.base.format = TVLM_FORMAT_F16;
    texture.base.extent_x = 5.0f, texture.base.extent_y = 10.0f;
    tvlm_opencl_call_input(&call, &texture.base);
    assert_memory_equal(driver.arguments[1].bytes, &texture.level0, sizeof texture.level0);
    expect_ints(2, 20, 10, 3, 5);
    expect_floats(3, 5.0f, 10.0f, 0.0f, 1 + 8);
    release_memory(texture.level0), release_memory(rest);
    close_device(&device);
}

/* A texture that is written has one component where the kernel writes one. */
static void test_outputs(void **state) {
    opencl_device device = device_of(TVLM_DEVICE_CPU);
    opencl_texture texture = texture_of(20, 10, 3, 2, 5);
    opencl_call call = call_of(&device, "kernel");
    (void)state;
    texture.levels_there = 3;
    tvlm_opencl_call_output(&call, &texture.base);
    assert_true(call.error == CL_SUCCESS && call.out == &texture.base && call.next == 2);
    assert_int_equal(texture.levels_there, 0);
    expect_ints(1, 20, 10, 3, 5);
    tvlm_opencl_call_scalar(&call, &texture.base);
    assert_int_equal(call.error, CL_INVALID_ARG_VALUE);
    call = call_of(&device, "kernel");
    texture.base.scalar = true;
    tvlm_opencl_call_scalar(&call, &texture.base);
    assert_int_equal(call.error, CL_SUCCESS);
    tvlm_opencl_call_output(&call, &texture.base);
    assert_int_equal(call.error, CL_INVALID_ARG_VALUE);
    call = call_of(&device, "kernel");
    device.base.info.storage = TVLM_STORAGE_IMAGE; /* whose texels have what components they have */
    tvlm_opencl_call_output(&call, &texture.base);
    texture.base.scalar = false;
    tvlm_opencl_call_scalar(&call, &texture.base);
    assert_int_equal(call.error, CL_SUCCESS);
    close_device(&device);
}

/* The names that the OpenCL specification gives to its errors. */
static void test_names_of_errors(void **state) {
    static const struct {
        cl_int error;
        const char *name;
    } rows[] = {{0, "CL_SUCCESS"},
                {-1, "CL_DEVICE_NOT_FOUND"},
                {-2, "CL_DEVICE_NOT_AVAILABLE"},
                {-3, "CL_COMPILER_NOT_AVAILABLE"},
                {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
                {-5, "CL_OUT_OF_RESOURCES"},
                {-6, "CL_OUT_OF_HOST_MEMORY"},
                {-10, "CL_IMAGE_FORMAT_NOT_SUPPORTED"},
                {-11, "CL_BUILD_PROGRAM_FAILURE"},
                {-30, "CL_INVALID_VALUE"},
                {-32, "CL_INVALID_PLATFORM"},
                {-33, "CL_INVALID_DEVICE"},
                {-34, "CL_INVALID_CONTEXT"},
                {-35, "CL_INVALID_QUEUE_PROPERTIES"},
                {-36, "CL_INVALID_COMMAND_QUEUE"},
                {-38, "CL_INVALID_MEM_OBJECT"},
                {-39, "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR"},
                {-40, "CL_INVALID_IMAGE_SIZE"},
                {-41, "CL_INVALID_SAMPLER"},
                {-42, "CL_INVALID_BINARY"},
                {-43, "CL_INVALID_BUILD_OPTIONS"},
                {-44, "CL_INVALID_PROGRAM"},
                {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
                {-46, "CL_INVALID_KERNEL_NAME"},
                {-48, "CL_INVALID_KERNEL"},
                {-49, "CL_INVALID_ARG_INDEX"},
                {-50, "CL_INVALID_ARG_VALUE"},
                {-51, "CL_INVALID_ARG_SIZE"},
                {-52, "CL_INVALID_KERNEL_ARGS"},
                {-53, "CL_INVALID_WORK_DIMENSION"},
                {-54, "CL_INVALID_WORK_GROUP_SIZE"},
                {-55, "CL_INVALID_WORK_ITEM_SIZE"},
                {-56, "CL_INVALID_GLOBAL_OFFSET"},
                {-57, "CL_INVALID_EVENT_WAIT_LIST"},
                {-59, "CL_INVALID_OPERATION"},
                {-61, "CL_INVALID_BUFFER_SIZE"},
                {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
                {-64, "CL_INVALID_PROPERTY"},
                {-65, "CL_INVALID_IMAGE_DESCRIPTOR"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
        assert_string_equal(tvlm_opencl_error_name(rows[i].error), rows[i].name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_groups),     cmocka_unit_test(test_pixels),
        cmocka_unit_test(test_whole_images),     cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_blocks_of_levels), cmocka_unit_test(test_lists),
        cmocka_unit_test(test_listed_launches),  cmocka_unit_test(test_writes),
        cmocka_unit_test(test_pinned_writes),    cmocka_unit_test(test_scratch),
        cmocka_unit_test(test_few_registers),    cmocka_unit_test(test_small_blocks),
        cmocka_unit_test(test_vectors),          cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_outputs),          cmocka_unit_test(test_names_of_errors),
    };
    install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
