/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_reference_device.c: the reference device by hand: what it says of itself, how large its textures may be, where texels lie,
 * what reads beside them, and its operations on scores, positions and frames.
 */
#include "reference_helper.h"

#include <unistd.h>

#include "log_helper.h"
#include "reference/texture.h"
#include "texturevlm/select.h"
#include "texturevlm/version.h"

/* ---- The device ---- */

static void test_info(void **state) {
    const tvlm_device_info *const info = &device->info;
    (void)state;
    assert_true(info->index == -1 && info->type == TVLM_DEVICE_REFERENCE && info->compute_units == 1);
    assert_true(info->images && info->image_width_max == 65536 && info->image_height_max == 65536 &&
                info->image_slices_max == 65536);
    assert_true(info->allocation_max == PTRDIFF_MAX && device->stores_bytes);
    assert_true(info->memory_bytes == (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
    assert_string_equal(info->platform, "texturevlm");
    assert_string_equal(info->driver, tvlm_version());
    assert_string_equal(info->version, "C11");
    assert_string_equal(info->storage_reason, "plain C");
}

/* Buffers are the only storage there is; what was asked to be told is told. */
static void test_storages(void **state) {
    static const struct {
        tvlm_storage storage;
        bool works;
    } cases[] = {{TVLM_STORAGE_AUTO, true},
                 {TVLM_STORAGE_BUFFER, true},
                 {TVLM_STORAGE_IMAGE, false},
                 {TVLM_STORAGE_MIPMAPPED, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        tvlm_device *opened = NULL;
        nothing_said();
        assert_int_equal(
            tvlm_reference_open(tvlm_device_params(.storage = cases[i].storage, .log = &noting), &opened),
            cases[i].works ? TVLM_OK : TVLM_ERROR_UNSUPPORTED);
        assert_string_equal(said.last,
                            cases[i].works ? "" : "the reference device has the storage buffer only");
        assert_true((opened != NULL) == cases[i].works);
        if (opened == NULL) continue;
        assert_true(opened->log.write == noting.write && opened->backend == &tvlm_reference_backend);
        backend->destroy(opened);
    }
}

/* ---- Textures ---- */

static bool can_be(int32_t width, int32_t height, int32_t layers, int32_t images, int32_t levels) {
    const tvlm_texture shape = {
        .width = width, .height = height, .layers = layers, .images = images, .levels = levels};
    tvlm_texture *texture = NULL;
    const tvlm_status status = backend->texture_create(device, &shape, &texture);
    assert_int_equal(status, texture != NULL ? TVLM_OK : TVLM_ERROR_DEVICE_MEMORY);
    backend->texture_destroy(device, &texture);
    return status == TVLM_OK;
}

static void test_limits(void **state) {
    const size_t held = device->held;
    (void)state;
    assert_true(can_be(65536, 1, 1, 1, 1) && !can_be(65537, 1, 1, 1, 1));
    assert_true(can_be(1, 65536, 1, 1, 1) && !can_be(1, 65537, 1, 1, 1));
    assert_true(can_be(1, 1, 2, 32768, 1) && !can_be(1, 1, 3, 32768, 1) && !can_be(1, 1, 1, 65537, 1));
    assert_true(can_be(1, 1, 1, 1, 32) && !can_be(1, 1, 1, 1, 33));
    assert_int_equal(device->held, held);
}

/* Nothing is there before it is written; memory is counted while it is held. */
static void test_memory(void **state) {
    const size_t held = device->held;
    tvlm_buffer *buffer = NULL;
    float texels[2 * 3 * 4];
    (void)state;
    tvlm_texture *texture = create(&(tvlm_texture){
        .width = 4, .height = 6, .layers = 3, .images = 2, .levels = 2, .format = TVLM_FORMAT_F32});
    const size_t bytes = 3 * 2 * (24 + 6) * 4 * sizeof(float);
    assert_int_equal(texture->bytes, bytes);
    assert_int_equal(device->held, held + bytes);
    for (int32_t slice = 0; slice < 6; ++slice) {
        assert_int_equal(backend->texture_read(device, texture, 1, slice, texels), TVLM_OK);
        for (int i = 0; i < 24; ++i) assert_true(isnan(texels[i]));
    }
    assert_int_equal(backend->buffer_create(device, 100, &buffer), TVLM_OK);
    assert_int_equal(buffer->bytes, 100);
    assert_int_equal(device->held, held + bytes + 100);
    assert_true(device->held_most >= held + bytes + 100);
    backend->buffer_destroy(device, &buffer);
    backend->texture_destroy(device, &texture);
    assert_int_equal(device->held, held);
    backend->buffer_destroy(device, NULL);
    backend->texture_destroy(device, NULL);
}

/* Texels beside a level are the nearest in it; scalar ones keep one component. */
static void test_texels(void **state) {
    (void)state;
    for (int scalar = 0; scalar < 2; ++scalar) {
        tvlm_texture *texture = create(&(tvlm_texture){.width = 3,
                                                       .height = 2,
                                                       .layers = 2,
                                                       .images = 1,
                                                       .levels = 2,
                                                       .format = TVLM_FORMAT_F32,
                                                       .scalar = scalar});
        tvlm_texture *copy = create(texture);
        float texels[2][24];
        for (int i = 0; i < 48; ++i) texels[i / 24][i % 24] = (float)i;
        for (int32_t slice = 0; slice < 2; ++slice)
            assert_int_equal(backend->texture_write(device, texture, slice, texels[slice]), TVLM_OK);
        tvlm_reference_store(texture, 1, 1, 0, 0, (const double[4]){7.0, 8.0, 9.0, 10.0});
        assert_int_equal(backend->texture_copy(device, texture, copy), TVLM_OK);
        for (int32_t y = -2; y < 4; ++y)
            for (int32_t x = -2; x < 5; ++x) {
                const int32_t column = x < 0 ? 0 : x > 2 ? 2 : x, row = y < 0 ? 0 : y > 1 ? 1 : y;
                const float first = (float)(4 * (row * 3 + column));
                const float *const texel = tvlm_reference_fetch(copy, 0, 1, x, y);
                for (int c = 0; c < 4; ++c)
                    assert_true(texel[c] == (c > 0 && scalar ? 0.0f : first + 24.0f + (float)c));
                assert_true(tvlm_reference_fetch(copy, 0, 0, x, y)[0] == first);
                assert_true(tvlm_reference_fetch(copy, 1, 1, x, y)[2] == 9.0f);
            }
        backend->texture_destroy(device, &copy);
        backend->texture_destroy(device, &texture);
    }
}

static void expect_between(double coordinate, int32_t side, int32_t first, int32_t second, double fraction) {
    const reference_between b = tvlm_reference_locate(coordinate, side);
    if (b.first != first || b.second != second || fabs(b.fraction - fraction) > 1e-12)
        fail_msg("%g of %d: %d, %d, %g", coordinate, (int)side, (int)b.first, (int)b.second, b.fraction);
}

/* The middle of texel i is at i + 0.5. */
static void test_between(void **state) {
    (void)state;
    expect_between(0.5, 4, 0, 1, 0.0);
    expect_between(1.25, 4, 0, 1, 0.75);
    expect_between(1.5, 4, 1, 2, 0.0);
    expect_between(0.0, 4, 0, 1, 0.0);
    expect_between(-3.0, 4, 0, 1, 0.0);
    expect_between(3.25, 4, 2, 3, 0.75);
    expect_between(3.5, 4, 3, 3, 0.0);
    expect_between(9.0, 4, 3, 3, 0.0);
    expect_between(0.7, 1, 0, 0, 0.0);
}

/* ---- Scores ---- */

/* From the smallest to the largest of those that are numbers; others are 0, and all are where these are alike. */
static void test_keep_pass(void **state) {
    static const float scores[3][6] = {{2.0f, NAN, 6.0f, 3.0f, NAN, 2.5f},
                                       {4.0f, 4.0f, NAN, 4.0f, 4.0f, 4.0f},
                                       {NAN, NAN, NAN, NAN, NAN, NAN}},
                       kept[6] = {0.0f, 0.0f, 1.0f, 0.25f, 0.0f, 0.125f};
    (void)state;
    tvlm_texture *out = create(&(tvlm_texture){
        .width = 3, .height = 2, .layers = 1, .images = 2, .levels = 1, .format = TVLM_FORMAT_F32});
    for (int n = 0; n < 3; ++n) {
        tvlm_buffer *buffer = NULL;
        assert_int_equal(backend->buffer_create(device, sizeof scores[n], &buffer), TVLM_OK);
        assert_int_equal(backend->buffer_write(device, buffer, 0, sizeof scores[n], scores[n]), TVLM_OK);
        assert_int_equal(backend->keep_pass(device, buffer, 1, out), TVLM_OK);
        for (int i = 0; i < 6; ++i) {
            const float *const texel = tvlm_reference_fetch(out, 0, 1, i % 3, i / 3);
            assert_true(texel[0] == (n == 0 ? kept[i] : 0.0f));
            assert_true(isnan(tvlm_reference_fetch(out, 0, 0, i % 3, i / 3)[0])); /* the other image */
        }
        backend->buffer_destroy(device, &buffer);
    }
    backend->texture_destroy(device, &out);
}

/* ---- Frames as rows of numbers ---- */

/*
 * Three frames of 8 x 4 pixels, patches of 2, two by two of them a token, two frames at a time: the row of a patch has c, then
 * the frame, then its rows. What lies behind the last frame is the last again. `values` gives each byte of each channel a
 * number.
 */
static void test_patchify(void **state) {
    enum { FRAMES = 3, WIDE = 8, HIGH = 4, PATCH = 2, MERGE = 2, ROW = 3 * 2 * PATCH * PATCH, TOKENS = 4 };
    static const int32_t listed[2] = {3, 1};
    static uint8_t pixels[FRAMES * HIGH * WIDE * 3];
    static float values[3 * 256], all[TOKENS * 4 * ROW], some[2 * 4 * ROW];
    const tvlm_patchify layout = {.width = WIDE,
                                  .height = HIGH,
                                  .frames = FRAMES,
                                  .patch = PATCH,
                                  .merge = MERGE,
                                  .temporal = 2,
                                  .blocks_x = 2,
                                  .blocks_y = 1,
                                  .count = TOKENS,
                                  .listed = 2};
    tvlm_buffer *buffers[5];
    void *const from[5] = {pixels, values, (void *)(uintptr_t)listed, some, all};
    const size_t bytes[5] = {sizeof pixels, sizeof values, sizeof listed, sizeof some, sizeof all};
    (void)state;
    for (size_t i = 0; i < sizeof pixels; ++i) pixels[i] = (uint8_t)((i * 37) % 251);
    for (int i = 0; i < 3 * 256; ++i) values[i] = (float)(i * 2);
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(backend->buffer_create(device, bytes[i], &buffers[i]), TVLM_OK);
        assert_int_equal(backend->buffer_write(device, buffers[i], 0, bytes[i], from[i]), TVLM_OK);
    }
    assert_int_equal(
        backend->patchify(device, buffers[0], &layout, buffers[1], buffers[2], buffers[3], buffers[4]),
        TVLM_OK);
    assert_int_equal(backend->buffer_read(device, buffers[3], 0, sizeof some, some), TVLM_OK);
    assert_int_equal(backend->buffer_read(device, buffers[4], 0, sizeof all, all), TVLM_OK);
    for (int t = 0; t < 4; ++t) /* two frames or the last one, and the left or the right half */
        for (int inner = 0; inner < 4; ++inner)
            for (int n = 0; n < ROW; ++n) {
                const int c = n / 8, second = n / 4 % 2, py = n / 2 % 2, px = n % 2;
                const int frame = t < 2 ? second : 2;
                const int x = t % 2 * 4 + inner % 2 * 2 + px, y = inner / 2 * 2 + py;
                const float value = values[c * 256 + pixels[((frame * HIGH + y) * WIDE + x) * 3 + c]];
                assert_true(all[(t * 4 + inner) * ROW + n] == value);
                if (t == 3) assert_true(some[inner * ROW + n] == value);
                if (t == 1) assert_true(some[(4 + inner) * ROW + n] == value);
            }
    for (int i = 0; i < 5; ++i) backend->buffer_destroy(device, &buffers[i]);
}

/* ---- Positions ---- */

/* What is no position is a patch of one pixel a texel where the image begins, and the first of them is named. */
static void test_bad_positions(void **state) {
    static const struct {
        float x, y, size, height;
    } at[] = {{10, 20, 32, 0},  {10, 20, 32, 48}, {10, 20, 8, 0},  {NAN, 20, 32, 0}, {10, INFINITY, 32, 0},
              {10, 20, NAN, 0}, {10, 20, 0, 0},   {10, 20, -1, 0}, {10, 20, 32, -1}, {10, 20, 32, NAN}};
    enum { COUNT = sizeof at / sizeof *at };
    tvlm_position positions[COUNT];
    tvlm_patch_place places[COUNT];
    tvlm_position_list list = {.count = COUNT,
                               .side = 16,
                               .scale_x = 2.0f,
                               .scale_y = 4.0f,
                               .scale_size = 1.0f,
                               .highest_level = 1.25f,
                               .image = 3};
    tvlm_buffer *out = NULL;
    int32_t bad = -2;
    (void)state;
    memset(positions, 0, sizeof positions);
    for (int i = 0; i < COUNT; ++i)
        positions[i] =
            (tvlm_position){.x = at[i].x, .y = at[i].y, .size = at[i].size, .height = at[i].height};
    assert_int_equal(backend->buffer_create(device, sizeof positions, &list.positions), TVLM_OK);
    assert_int_equal(backend->buffer_create(device, sizeof places, &out), TVLM_OK);
    assert_int_equal(backend->buffer_write(device, list.positions, 0, sizeof positions, positions), TVLM_OK);
    assert_int_equal(backend->patch_places(device, &list, out, &bad), TVLM_OK);
    assert_int_equal(bad, 3);
    assert_int_equal(backend->buffer_read(device, out, 0, sizeof places, places), TVLM_OK);
    for (int i = 0; i < COUNT; ++i) {
        const tvlm_patch_place *const p = &places[i];
        const double across = i == 0 ? 2.0 : i == 1 ? 1.0 : i == 2 ? 0.5 : 1.0, down = i == 1 ? 0.75 : across;
        assert_true((double)p->step_x == across && (double)p->step_y == down);
        assert_true(p->at.x == (i < 3 ? 5.0f : 0.0f) && p->at.y == (i < 3 ? 5.0f : 0.0f));
        assert_true(p->at.level == (i == 0 ? 1.0f : 0.0f) && p->at.image == 3.0f && p->number == i);
    }
    list.count = 3; /* none of which is bad */
    assert_int_equal(backend->patch_places(device, &list, out, &bad), TVLM_OK);
    assert_int_equal(bad, -1);
    backend->buffer_destroy(device, &list.positions);
    backend->buffer_destroy(device, &out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_info),          cmocka_unit_test(test_storages),
        cmocka_unit_test(test_limits),        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_texels),        cmocka_unit_test(test_between),
        cmocka_unit_test(test_keep_pass),     cmocka_unit_test(test_patchify),
        cmocka_unit_test(test_bad_positions),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
