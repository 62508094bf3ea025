/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_thumbnail_of.c: which positions are taken for the cells of a thumbnail, or for tiles of the image at a fraction of its
 * size (select/thumbnail.h), and the sizes of such pictures.
 */
#include "select/thumbnail.h"
#include "stack/grids.h"
#include "stack/make.h"
#include "stack_helper.h"

enum { MOST = 2000 };

typedef struct image {
    tvlm_device *device;
    tvlm_stack *stack;
    double width, height; /* as it was handed in */
} image;

/* The working image is at most max_side pixels long; 0: as long as the image. */
static image open_image(int32_t width, int32_t height, int32_t max_side) {
    image made = {.device = open_reference(), .width = width, .height = height};
    uint8_t *const pixels = calloc((size_t)width, (size_t)height);
    assert_non_null(pixels);
    const tvlm_image bytes = u8_image(pixels, width, height, 1);
    assert_int_equal(tvlm_stack_create_for_image(
                         made.device, &bytes,
                         tvlm_stack_params(.format = TVLM_FORMAT_F32, .max_side = max_side), &made.stack),
                     TVLM_OK);
    free(pixels);
    return made;
}

static void close_image(image *m) {
    tvlm_stack_destroy(&m->stack);
    tvlm_device_destroy(&m->device);
}

static tvlm_position cell(const image *m, int32_t columns, int32_t rows, int32_t number) {
    const double wide = m->width / columns, high = m->height / rows;
    return (tvlm_position){.x = (float)((number % columns + 0.5) * wide),
                           .y = (float)((number / columns + 0.5) * high),
                           .size = (float)wide,
                           .height = (float)high};
}

static void expect(const image *m, const tvlm_position *positions, int32_t count, int32_t side,
                   int32_t columns, int32_t rows, int32_t cells) {
    const tvlm_thumbnail t = tvlm_thumbnail_of(m->stack, 0, positions, count, side);
    if (t.columns != columns || t.rows != rows || t.cells != cells)
        fail_msg("%d positions: %d cells of %dx%d", (int)count, (int)t.cells, (int)t.columns, (int)t.rows);
}

/* All cells row after row, before other positions; some of them; and none where the first is no rectangle. */
static void test_cells(void **state) {
    static tvlm_position p[MOST];
    image m = open_image(150, 96, 0);
    (void)state;
    for (int32_t i = 0; i < 15; ++i) p[i] = cell(&m, 5, 3, i);
    p[15] = (tvlm_position){.x = 8.0f, .y = 8.0f, .size = 16.0f};
    expect(&m, p, 15, 16, 5, 3, 15);
    expect(&m, p, 16, 16, 5, 3, 15);
    expect(&m, p, 14, 16, 5, 3, 14);
    expect(&m, p, 1, 16, 5, 3, 1);
    expect(&m, p + 15, 1, 16, 0, 0, 0);
    p[15] = cell(&m, 5, 3, 3); /* it was there before */
    expect(&m, p, 16, 16, 5, 3, 15);
    p[3] = p[2]; /* twice */
    expect(&m, p, 15, 16, 5, 3, 3);
    for (int32_t i = 0; i < 5; ++i) p[i] = cell(&m, 5, 3, 3 * i + 1);
    expect(&m, p, 5, 16, 5, 3, 5);
    p[0] = cell(&m, 1, 1, 0);
    expect(&m, p, 1, 16, 1, 1, 1);
    close_image(&m);
}

/* A cell may be a thousandth of its side off, and must lie in the image. */
static void test_near(void **state) {
    static const float little = 0.9e-3f, more = 1.1e-3f;
    image m = open_image(150, 96, 0);
    const tvlm_position exact = cell(&m, 5, 3, 7);
    (void)state;
    for (int n = 0; n < 4; ++n)
        for (int sign = -1; sign <= 1; sign += 2)
            for (int far = 0; far < 2; ++far) {
                tvlm_position p[2] = {cell(&m, 5, 3, 6), exact};
                float *const numbers[] = {&p[1].x, &p[1].y, &p[1].size, &p[1].height};
                *numbers[n] += (float)sign * (far ? more : little) * (n % 2 == 0 ? 30.0f : 32.0f);
                expect(&m, p, 2, 16, 5, 3, far ? 1 : 2);
            }
    static const float beyond[][2] = {{-15.0f, 16.0f}, {165.0f, 16.0f}, {15.0f, -16.0f}, {15.0f, 112.0f}};
    for (int i = 0; i < 4; ++i) {
        tvlm_position p[2] = {cell(&m, 5, 3, 0), exact};
        p[1].x = beyond[i][0];
        p[1].y = beyond[i][1];
        expect(&m, p, 2, 16, 5, 3, 1);
    }
    close_image(&m);
}

/* With cells left out it is at most twice as large as the image, but for one of its cells; with all of them any size. */
static void test_long(void **state) {
    static tvlm_position p[MOST];
    image m = open_image(160, 96, 0);
    (void)state;
    for (int32_t i = 0; i < 21 * 3; ++i) p[i] = cell(&m, 21, 3, i);
    expect(&m, p, 63, 16, 21, 3, 63);
    expect(&m, p, 62, 16, 0, 0, 0); /* 20 of 16 are 320 */
    expect(&m, p, 62, 15, 21, 3, 62);
    for (int32_t i = 0; i < 20 * 3; ++i) p[i] = cell(&m, 20, 3, i);
    expect(&m, p, 59, 16, 20, 3, 59);
    for (int32_t i = 0; i < 5 * 13; ++i) p[i] = cell(&m, 5, 13, i);
    expect(&m, p, 64, 16, 0, 0, 0); /* 12 of 16 are 192 */
    expect(&m, p, 65, 16, 5, 13, 65);
    for (int32_t i = 0; i < 5 * 12; ++i) p[i] = cell(&m, 5, 12, i);
    expect(&m, p, 59, 16, 5, 12, 59);
    const tvlm_thumbnail t = {5, 12, 59};
    const tvlm_budget_size size = tvlm_thumbnail_size(&t, 14);
    assert_true(size.width == 70 && size.height == 168 && size.texel == 0.0);
    close_image(&m);
}

/* Fractions are rounded up. */
static void test_fractions(void **state) {
    static const int32_t sides[][3] = {{96, 72, 32}, {97, 73, 33},  {98, 74, 33},
                                       {99, 75, 33}, {100, 75, 34}, {1, 1, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof sides / sizeof *sides; ++i) {
        const tvlm_budget_size three = tvlm_fraction_size(TVLM_THREE_QUARTERS, sides[i][0], 100),
                               third = tvlm_fraction_size(TVLM_THIRD, 100, sides[i][0]);
        assert_true(three.width == sides[i][1] && three.height == 75 && three.texel == 4.0 / 3.0);
        assert_true(third.width == 34 && third.height == sides[i][2] && third.texel == 3.0);
    }
}

static bool is_third(const image *m, float x, float y, float size, float height) {
    const tvlm_position p = {.x = x, .y = y, .size = size, .height = height};
    return tvlm_is_of_fraction(m->stack, 0, &p, 16, TVLM_THIRD);
}

/* Squares of that size on the grid of such squares, up to a thousandth; of an image that is twice as wide and 2.01 times as
 * high as the working image, whose pixels count. */
static void test_tiles(void **state) {
    image m = open_image(200, 150, 0);
    (void)state;
    assert_true(is_third(&m, 24.0f, 72.0f, 48.0f, 0.0f));
    assert_true(is_third(&m, 24.04f, 71.96f, 48.0f, 0.0f));
    assert_false(is_third(&m, 24.06f, 72.0f, 48.0f, 0.0f));
    assert_false(is_third(&m, 24.0f, 72.06f, 48.0f, 0.0f));
    assert_false(is_third(&m, 48.0f, 72.0f, 48.0f, 0.0f));
    assert_false(is_third(&m, 24.0f, 48.0f, 48.0f, 0.0f));
    assert_false(is_third(&m, 24.0f, 72.0f, 48.0f, 48.0f)); /* a rectangle */
    assert_true(is_third(&m, 24.0f, 72.0f, 48.015f, 0.0f)); /* a thousandth of the patch's 16 */
    assert_false(is_third(&m, 24.0f, 72.0f, 48.02f, 0.0f));
    assert_false(is_third(&m, 24.0f, 72.0f, 64.0f / 3.0f, 0.0f));
    const tvlm_position nine = {.x = 32.0f, .y = 32.0f / 3.0f, .size = 64.0f / 3.0f};
    assert_true(tvlm_is_of_fraction(m.stack, 0, &nine, 16, TVLM_THREE_QUARTERS));
    assert_false(tvlm_is_of_fraction(m.stack, 0, &nine, 16, TVLM_THIRD));
    assert_false(tvlm_is_of_fraction(m.stack, 0, &nine, 14, TVLM_THREE_QUARTERS));
    close_image(&m);
    m = open_image(200, 201, 100);
    const double down = 201.0 / tvlm_stack_height(m.stack), across = 200.0 / tvlm_stack_width(m.stack);
    assert_true(across != down);
    assert_true(is_third(&m, (float)(72.0 * across), (float)(24.0 * down),
                         (float)(48.0 * sqrt(across * down)), 0.0f));
    assert_false(is_third(&m, 72.0f, 24.0f, 48.0f, 0.0f));
    close_image(&m);
}

/* A position that is no cell at the first place makes no thumbnail. */
static void test_no_cell(void **state) {
    image m = open_image(150, 96, 0);
    (void)state;
    for (int n = 0; n < 2; ++n) {
        tvlm_position p[2] = {cell(&m, 5, 3, 0), cell(&m, 5, 3, 1)};
        *(n == 0 ? &p[0].x : &p[0].y) += 1.0f;
        expect(&m, p, 2, 16, 0, 0, 0);
    }
    close_image(&m);
}

/* A picture has one level. It covers the image, or, where its texels have a side, as much as they do. */
static void test_pictures(void **state) {
    static const tvlm_budget_size sizes[] = {{75, 48, 0.0}, {50, 32, 3.0}, {113, 72, 4.0 / 3.0}};
    image m = open_image(150, 96, 0);
    (void)state;
    assert_int_equal(tvlm_stack_make(m.stack, 0, TVLM_GRID_BIT(TVLM_GRID_SOURCE)), TVLM_OK);
    for (int i = 0; i < 3; ++i) {
        tvlm_texture *made = NULL;
        assert_int_equal(tvlm_picture_make(m.stack, 0, &sizes[i], &made), TVLM_OK);
        assert_true(made->width == sizes[i].width && made->height == sizes[i].height && made->levels == 1);
        assert_true(fabsf(made->extent_x - (i < 2 ? 150.0f : 113.0f * 4.0f / 3.0f)) < 1e-3f);
        assert_true(made->extent_y == 96.0f);
        m.device->backend->texture_destroy(m.device, &made);
    }
    close_image(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cells),   cmocka_unit_test(test_near),
                                       cmocka_unit_test(test_long),    cmocka_unit_test(test_fractions),
                                       cmocka_unit_test(test_tiles),   cmocka_unit_test(test_no_cell),
                                       cmocka_unit_test(test_pictures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
