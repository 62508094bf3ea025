/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stream_regions.c: to which cells the regions of the last frame are dealt out, and which ids the others get, by
 * hand: 60 x 40 pixels are 3 x 2 cells of 20 x 20.
 */
#include <math.h>
#include <string.h>

#include "stack/inside.h"
#include "stack/regions.h"
#include "stack_helper.h"
#include "texturevlm/stream.h"
#include "video/inside.h"

enum { CELLS = 6, AT = 5, MOVED = AT + TVLM_REGION_HEADER + CELLS * TVLM_REGION_WORDS + 3 };

static tvlm_device *device;
static tvlm_stream stream;
static stream_camera camera;
static tvlm_region regions[CELLS];
static tvlm_region_centre centres[CELLS];
static float host[MOVED + 2 * CELLS];

static int begin(void **state) {
    (void)state;
    device = open_reference();
    memset(&camera, 0, sizeof camera);
    memset(regions, 0, sizeof regions);
    memset(centres, 0x55, sizeof centres);
    assert_int_equal(tvlm_stack_create(device,
                                       tvlm_stack_params(.width = 60, .height = 40, .clusters = CELLS),
                                       &camera.stack),
                     TVLM_OK);
    const tvlm_cluster_plan plan = tvlm_stack_cluster_plan(camera.stack);
    assert_true(plan.columns == 3 && plan.rows == 2);
    stream = (tvlm_stream){.device = device, .cells = CELLS, .cameras = &camera, .camera_count = 1};
    camera.regions = regions, camera.centres = centres;
    camera.gather.host = host, camera.gather.regions = AT, camera.gather.regions_moved = MOVED;
    return 0;
}

static int end(void **state) {
    (void)state;
    device->backend->buffer_destroy(device, &camera.gather.buffer);
    tvlm_stack_destroy(&camera.stack);
    tvlm_device_destroy(&device);
    return 0;
}

typedef struct place {
    float x, y;
} place;

/* That regions at these places go to the cells as it is said: the id of each cell, of which those in `known` are of
 * regions that were there. */
static void expect_cells(const place *places, int32_t count, const int32_t ids[CELLS], unsigned known) {
    for (int32_t i = 0; i < count; ++i)
        regions[i] = (tvlm_region){.x = places[i].x,
                                   .y = places[i].y,
                                   .pixels = 1,
                                   .l = (float)i + 0.25f,
                                   .a = (float)i + 0.5f,
                                   .b = (float)i + 0.75f};
    camera.region_count = count;
    assert_int_equal(tvlm_stream_place_regions(&stream, &camera), TVLM_OK);
    assert_ptr_equal(camera.stack->centres, centres);
    for (int i = 0; i < CELLS; ++i) {
        const tvlm_region_centre *const c = &centres[i];
        if (c->id != ids[i] || c->known != (known >> i & 1))
            fail_msg("cell %d: %d, %d", i, (int)c->id, (int)c->known);
        if (c->known)
            assert_true(c->x == places[c->id].x && c->y == places[c->id].y && c->l == (float)c->id + 0.25f &&
                        c->a == (float)c->id + 0.5f && c->b == (float)c->id + 0.75f);
    }
}

/* Each region stays in its cell, and keeps its id. */
static void test_all_at_home(void **state) {
    static const place places[CELLS] = {{50, 30}, {10, 10}, {10, 30}, {30, 10}, {30, 30}, {50, 10}};
    (void)state;
    expect_cells(places, 6, (int32_t[]){1, 3, 5, 2, 4, 0}, 0x3f);
    /* Fewer leave cells to new ones, which get the lowest ids that are free. */
    expect_cells(places, 2, (int32_t[]){1, 2, 3, 4, 5, 0}, 0x21);
    for (int i = 0; i < CELLS; ++i) regions[i].pixels = i == 1 || i == 3;
    camera.region_count = 6;
    assert_int_equal(tvlm_stream_place_regions(&stream, &camera), TVLM_OK);
    assert_true(centres[0].id == 1 && centres[1].id == 3 && centres[2].id == 0 && centres[3].id == 2 &&
                centres[4].id == 4 && centres[5].id == 5);
    assert_true(centres[0].known && centres[1].known && !centres[2].known && !centres[5].known);
}

/* The nearer one stays, and the other goes to the nearest cell that is free. */
static void test_two_in_a_cell(void **state) {
    (void)state;
    expect_cells((place[]){{12, 10}, {9, 10}}, 2, (int32_t[]){1, 0, 2, 3, 4, 5}, 0x03);
    expect_cells((place[]){{10, 12}, {10, 9}}, 2, (int32_t[]){1, 2, 3, 0, 4, 5}, 0x09);
    expect_cells((place[]){{46, 28}, {50, 30}}, 2, (int32_t[]){2, 3, 4, 5, 0, 1}, 0x30); /* left, not up */
    expect_cells((place[]){{50, 30}, {52, 27}}, 2, (int32_t[]){2, 3, 1, 4, 5, 0}, 0x24); /* up */
    /* With the same distance the lower number comes first, of regions and then of cells. */
    expect_cells((place[]){{10, 10}, {10, 10}}, 2, (int32_t[]){0, 1, 2, 3, 4, 5}, 0x03);
    expect_cells((place[]){{50, 30}, {50, 30}}, 2, (int32_t[]){2, 3, 1, 4, 5, 0}, 0x24);
}

/* Cells around a corner are three; who finds all of them taken is given up. */
static void test_crowd(void **state) {
    static const place corner[CELLS] = {{10, 10}, {10, 10}, {10, 10}, {10, 10}, {10, 10}, {10, 10}};
    (void)state;
    expect_cells(corner, 6, (int32_t[]){0, 1, 4, 2, 3, 5}, 0x1b);
}

/* What leaves the image is given up; its first pixel is inside, and its end is not. */
static void test_edges(void **state) {
    const place out[CELLS] = {{-0.5f, 10}, {60, 10}, {10, 40}, {NAN, 10}, {10, NAN}, {10, -0.5f}};
    (void)state;
    expect_cells(out, 6, (int32_t[]){0, 1, 2, 3, 4, 5}, 0);
    expect_cells((place[]){{59.75f, 39.75f}, {0, 0}}, 2, (int32_t[]){1, 2, 3, 4, 5, 0}, 0x21);
    /* A corner of four cells is as near to all of them: the first that is free gets the region. */
    expect_cells((place[]){{20, 20}}, 1, (int32_t[]){0, 1, 2, 3, 4, 5}, 0x01);
    expect_cells((place[]){{20, 20}, {10, 10}}, 2, (int32_t[]){1, 0, 2, 3, 4, 5}, 0x03);
    expect_cells((place[]){{40, 20}, {30, 10}, {50, 10}, {30, 30}}, 4, (int32_t[]){4, 1, 2, 5, 3, 0}, 0x36);
}

/* ---- What was gathered ---- */

/* A table of so many regions at 10, 10, each of which moved to the middle of its cell. */
static void gather(int32_t count) {
    memset(host, 0, sizeof host);
    memcpy(host + AT, &count, sizeof count);
    for (int i = 0; i < CELLS; ++i) {
        const tvlm_region region = {.x = 10, .y = 10, .pixels = 9};
        memcpy(host + AT + TVLM_REGION_HEADER + i * TVLM_REGION_WORDS, &region, sizeof region);
        host[MOVED + 2 * i] = (float)(20 * (i % 3) + 10);
        host[MOVED + 2 * i + 1] = (float)(20 * (i / 3) + 10);
    }
    camera.gathered = CELLS;
    camera.region_count = 3;
    memset(centres, 0x55, sizeof centres);
    tvlm_stack_set_centres(camera.stack, NULL);
    assert_int_equal(tvlm_stream_place_regions(&stream, &camera), TVLM_OK);
}

static void expect_gathered(int32_t count) {
    assert_int_equal(camera.region_count, count);
    assert_ptr_equal(camera.stack->centres, count > 0 ? centres : NULL);
}

/* Places are those that the flow moved them to, if there is one. A count that cannot be counts as none. */
static void test_gathered(void **state) {
    static const float flow[60 * 40 * 3];
    (void)state;
    gather(2);
    expect_gathered(2);
    assert_true(regions[1].x == 10.0f && regions[1].y == 10.0f && regions[1].pixels == 9);
    assert_int_equal(
        tvlm_stack_set_grid(camera.stack, 0, TVLM_CHANNEL_FLOW_U,
                            tvlm_grid_input(.data = flow, .columns = 60, .rows = 40, .channels = 3)),
        TVLM_OK);
    gather(CELLS);
    expect_gathered(CELLS);
    for (int i = 0; i < CELLS; ++i) {
        assert_true(regions[i].x == (float)(20 * (i % 3) + 10) && regions[i].y == (float)(20 * (i / 3) + 10));
        assert_true(centres[i].known && centres[i].id == i);
    }
    gather(CELLS + 1);
    expect_gathered(0);
    gather(0);
    expect_gathered(0);
    gather(-1);
    expect_gathered(0);
    gather(1);
    expect_gathered(1);
    camera.gathered = 0; /* then those that the host has */
    host[AT + TVLM_REGION_HEADER] = 50.0f;
    assert_int_equal(tvlm_stream_place_regions(&stream, &camera), TVLM_OK);
    assert_true(camera.region_count == 1 && regions[0].x == 10.0f);
}

/* ---- What is kept for the next frame ---- */

static void read_gathered(void) {
    assert_int_equal(device->backend->buffer_read(device, camera.gather.buffer, 0, sizeof host, host),
                     TVLM_OK);
}

static int32_t gathered_count(void) {
    int32_t count;
    memcpy(&count, host + AT, sizeof count);
    return count;
}

static void test_keeping(void **state) {
    static uint8_t pixels[60 * 40 * 3];
    static const int32_t labels[60 * 40];
    const tvlm_image image = u8_image(pixels, 60, 40, 3);
    tvlm_region own[CELLS];
    int32_t count = 0;
    (void)state;
    for (size_t i = 0; i < sizeof pixels; ++i) pixels[i] = (uint8_t)(i / 3 % 60 >= 30 ? 250 : 5);
    assert_int_equal(device->backend->buffer_create(device, sizeof host, &camera.gather.buffer), TVLM_OK);
    memset(host, 0x55, sizeof host);
    assert_int_equal(device->backend->buffer_write(device, camera.gather.buffer, 0, sizeof host, host),
                     TVLM_OK);
    camera.gathered = 5; /* nothing was made, and nothing is known */
    assert_int_equal(tvlm_stream_carry_regions(&stream, &camera), TVLM_OK);
    assert_int_equal(camera.gathered, 0);
    camera.region_count = 2; /* what the host knows */
    regions[1] = (tvlm_region){.x = 7.0f, .pixels = 3};
    assert_int_equal(tvlm_stream_carry_regions(&stream, &camera), TVLM_OK);
    assert_int_equal(camera.gathered, 2);
    read_gathered();
    assert_int_equal(gathered_count(), 2);
    assert_memory_equal(host + AT + TVLM_REGION_HEADER, regions, 2 * sizeof *regions);
    assert_int_equal(((uint8_t *)(host + AT))[-1], 0x55);
    assert_int_equal(*(uint8_t *)(host + AT + TVLM_REGION_HEADER + 2 * TVLM_REGION_WORDS), 0x55);
    /* What the device has is copied, whatever the host knows. */
    assert_int_equal(tvlm_stack_set_image(camera.stack, 0, &image), TVLM_OK);
    assert_int_equal(tvlm_stack_regions(camera.stack, 0, CELLS, own, &count), TVLM_OK);
    assert_int_equal(tvlm_stream_carry_regions(&stream, &camera), TVLM_OK);
    assert_int_equal(camera.gathered, CELLS);
    read_gathered();
    assert_int_equal(gathered_count(), count);
    for (int32_t i = 0; i < count; ++i) {
        tvlm_region kept;
        memcpy(&kept, host + AT + TVLM_REGION_HEADER + i * TVLM_REGION_WORDS, sizeof kept);
        assert_true(kept.x == own[i].x && kept.y == own[i].y && kept.pixels == own[i].pixels);
    }
    const uint8_t *const behind =
        (const uint8_t *)(host + AT + TVLM_REGION_HEADER + CELLS * TVLM_REGION_WORDS);
    assert_true(behind[-1] != 0x55 && behind[0] == 0x55);
    /* Labels that were handed in have ids of their own. */
    tvlm_stack_set_centres(camera.stack, centres);
    assert_int_equal(tvlm_stack_set_labels(camera.stack, 0, labels, 60, 40, 0), TVLM_OK);
    assert_int_equal(tvlm_stream_carry_regions(&stream, &camera), TVLM_OK);
    assert_true(camera.gathered == 0 && camera.region_count == 0 && camera.stack->centres == NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_at_home, begin, end),
        cmocka_unit_test_setup_teardown(test_two_in_a_cell, begin, end),
        cmocka_unit_test_setup_teardown(test_crowd, begin, end),
        cmocka_unit_test_setup_teardown(test_edges, begin, end),
        cmocka_unit_test_setup_teardown(test_gathered, begin, end),
        cmocka_unit_test_setup_teardown(test_keeping, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
