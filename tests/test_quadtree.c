/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_quadtree.c: squares of a tree that cover the image without overlap; also as a strategy of tvlm_select.
 */
#include <math.h>

#include "select/quadtree.h"
#include "spot_helper.h"

/* ---- The tree ---- */

typedef struct spots {
    int32_t count;
    double x[20], y[20];
} spots;

/* As many as lie in it, and a little for the area. */
static double mass_of(const void *user, double x0, double y0, double x1, double y1) {
    const spots *s = user;
    double mass = s->count == 0 ? 0.0 : 1e-6 * (x1 - x0) * (y1 - y0);
    for (int32_t i = 0; i < s->count; ++i)
        mass += s->x[i] >= x0 && s->x[i] < x1 && s->y[i] >= y0 && s->y[i] < y1;
    return mass;
}

enum { MOST = 1500 };

/* At most k leaves; none beyond the image; their areas add up to the image's; no two overlap. */
static void check_tree(double width, double height, double smallest, int32_t k, const spots *s) {
    static tvlm_leaf leaves[MOST];
    int32_t count;
    double area = 0;
    assert_true(tvlm_quadtree(width, height, smallest, k, mass_of, s, leaves, &count));
    assert_true(count >= 1 && count <= k);
    for (int32_t i = 0; i < count; ++i) {
        const tvlm_leaf *a = &leaves[i];
        assert_true(a->x >= 0 && a->y >= 0 && a->x < width && a->y < height && a->side >= smallest);
        assert_true(log2(a->side / smallest) == floor(log2(a->side / smallest)));
        area += (fmin(a->x + a->side, width) - a->x) * (fmin(a->y + a->side, height) - a->y);
        for (int32_t j = 0; j < i; ++j) {
            const tvlm_leaf *b = &leaves[j];
            assert_true(a->x >= b->x + b->side || b->x >= a->x + a->side || a->y >= b->y + b->side ||
                        b->y >= a->y + a->side);
        }
    }
    assert_true(fabs(area - width * height) < 1e-9 * width * height);
    if (s->count == 0) assert_int_equal(count, 1); /* nothing needs detail */
}

static void test_tree(void **state) {
    static tvlm_leaf leaves[MOST];
    uint64_t random = 41;
    spots s = {0, {0}, {0}};
    int32_t count;
    (void)state;
    for (int n = 0; n < (test_small() ? 10 : 200); ++n) {
        const double width = (double)(1 + test_random(&random) % 1500),
                     height = (double)(1 + test_random(&random) % (n % 2 == 0 ? 40 : 1500));
        s.count = n % 20;
        for (int32_t i = 0; i < s.count; ++i) {
            s.x[i] = width * (double)test_random_unit(&random);
            s.y[i] = height * (double)test_random_unit(&random);
        }
        check_tree(width, height, (double)(1 + test_random(&random) % 30),
                   1 + (int32_t)(test_random(&random) % 300), &s);
    }
    /* One spot: the leaf over it is the smallest there is, and no other is smaller than it must be. */
    s = (spots){1, {37}, {91}};
    assert_true(tvlm_quadtree(512, 512, 16, 1 + 3 * 5, mass_of, &s, leaves, &count));
    assert_int_equal(count, 16);
    for (int32_t i = 0; i < count; ++i)
        if (leaves[i].mass >= 1) assert_true(leaves[i].side == 16 && leaves[i].x == 32 && leaves[i].y == 80);
}

/* ---- The strategy ---- */

/* The leaves that select.h says positions stand for: each has its position in the middle, and together they
 * are the image, once. */
static void check_leaves(const tvlm_position *p, int32_t count) {
    static uint8_t hits[WIDTH * HEIGHT];
    int32_t clipped = 0;
    memset(hits, 0, sizeof hits);
    for (int32_t i = 0; i < count; ++i) {
        const int32_t size = (int32_t)p[i].size;
        const int32_t x0 = size * (int32_t)floorf(p[i].x / p[i].size),
                      x1 = x0 + size < WIDTH ? x0 + size : WIDTH;
        const int32_t y0 = size * (int32_t)floorf(p[i].y / p[i].size),
                      y1 = y0 + size < HEIGHT ? y0 + size : HEIGHT;
        assert_true(2.0f * p[i].x == (float)(x0 + x1) && 2.0f * p[i].y == (float)(y0 + y1));
        clipped += x0 + size > WIDTH || y0 + size > HEIGHT;
        for (int32_t y = y0; y < y1; ++y)
            for (int32_t x = x0; x < x1; ++x) ++hits[y * WIDTH + x];
    }
    for (int32_t i = 0; i < WIDTH * HEIGHT; ++i) assert_int_equal(hits[i], 1);
    assert_true(clipped > 0);
}

static void check_quadtree(tvlm_device *device, tvlm_format format) {
    tvlm_stack *stack = spot(device, format);
    tvlm_selection *selection = NULL;
    int32_t count;
    static const float information[] = {1, 0, 0};
    assert_int_equal(tvlm_select(stack, NULL,
                                 tvlm_select_params(.strategy = TVLM_STRATEGY_QUADTREE, .k = 60,
                                                    .score.weights = information),
                                 &selection),
                     TVLM_OK);
    const tvlm_position *p = tvlm_selection_positions(selection, &count);
    assert_true(count > 20 && count <= 60);
    for (int32_t i = 0; i < count; ++i) {
        assert_true(i == 0 || p[i].score <= p[i - 1].score);
        assert_true(p[i].column == -1 && p[i].size == 16 * exp2f(p[i].level));
        if (p[i].x > 210 && p[i].x < 250 && p[i].y > 70 && p[i].y < 110)
            assert_true(p[i].size == 16.0f); /* in the noise */
    }
    assert_true(p[count - 1].size >= 64.0f); /* the dark is coarse */
    check_leaves(p, count);
    tvlm_selection_destroy(&selection);
    tvlm_stack_destroy(&stack);
}

static void test_refusals(void **state) {
    tvlm_device *device = open_reference();
    tvlm_stack *stack = spot(device, TVLM_FORMAT_F32);
    tvlm_selection *selection = NULL;
    (void)state;
    refused(
        tvlm_select(stack, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_QUADTREE, .k = -3), &selection),
        TVLM_ERROR_ARGUMENT, "k is -3");
    refused(tvlm_select(stack, NULL, tvlm_select_params(.strategy = TVLM_STRATEGY_QUADTREE, .score.index = 2),
                        &selection),
            TVLM_ERROR_ARGUMENT, "image 2");
    assert_null(selection);
    assert_int_equal(tvlm_strategy_find("quadtree"), TVLM_STRATEGY_QUADTREE);
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
}

DEVICE_CHECKS(check_quadtree)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),          cmocka_unit_test(test_reference_f32),
        cmocka_unit_test(test_reference_f16), cmocka_unit_test(test_targets),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
