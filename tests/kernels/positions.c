/* SPDX-License-Identifier: Apache-2.0 */
/*
 * positions.c: a ranking becomes positions, and positions become places for patches, on the device against
 * the reference. It also tests that what is no position is found.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "kernels/family.h"
#include "texturevlm/select.h"

enum { BEFORE = 3, COUNT = 90, BYTES = COUNT * (int)sizeof(tvlm_position) };

/* A few roundings of floats. */
static const float tolerance = 1e-6f;

static bool is_same(float got, float expected) {
    return fabsf(got - expected) <= tolerance * fmaxf(1.0f, fabsf(expected));
}

typedef struct placed {
    tvlm_position positions[COUNT];
    float looked[COUNT][2];
} placed;

static placed place(tvlm_device *device, const tvlm_placing *how, int32_t ranking[COUNT][2]) {
    unsigned char all[BEFORE * 4 + BYTES];
    placed got;
    tvlm_placing placing = *how;
    tvlm_buffer *ranked = test_buffer(device, COUNT * 8, ranking);
    placing.out = test_buffer(device, sizeof all, NULL);
    placing.looked = test_buffer(device, sizeof got.looked, NULL);
    placing.out_offset = BEFORE * 4;
    assert_int_equal(device->backend->place(device, &placing, ranked, COUNT), TVLM_OK);
    test_buffer_take(device, &placing.out, sizeof all, all);
    test_buffer_take(device, &placing.looked, sizeof got.looked, got.looked);
    device->backend->buffer_destroy(device, &ranked);
    memcpy(got.positions, all + BEFORE * 4, BYTES);
    return got;
}

static void check_placed(const placed *got, const placed *expected, int32_t ranking[COUNT][2],
                         const tvlm_placing *how) {
    for (int i = 0; i < COUNT; ++i) {
        const tvlm_position *p = &got->positions[i], *q = &expected->positions[i];
        float score;
        memcpy(&score, &ranking[i][1], sizeof score);
        assert_int_equal(p->column, ranking[i][0] % how->candidates.columns);
        assert_int_equal(p->row, ranking[i][0] / how->candidates.columns);
        assert_true(p->score == score && p->level == how->level && p->size == how->size);
        assert_true(q->score == score && q->level == how->level && q->size == how->size);
        assert_true(is_same(p->x, q->x) && is_same(p->y, q->y));
        assert_true(is_same(got->looked[i][0], expected->looked[i][0]));
        assert_true(is_same(got->looked[i][1], expected->looked[i][1]));
        for (size_t word = 0; word < sizeof p->reserved / sizeof *p->reserved; ++word)
            assert_int_equal(p->reserved[word], 0);
    }
}

static void places(const test_target *target, tvlm_device *reference) {
    /* Whole cells; clipped cells; cells of fractions of a pixel, in an image that was scaled down. */
    static const tvlm_placing how[] = {
        {.candidates = {9, 5, 16, 16, 0, 0},
         .width = 144,
         .height = 80,
         .scale_x = 1,
         .scale_y = 1,
         .size = 16},
        {.candidates = {9, 5, 14, 14, 0, 0},
         .width = 113,
         .height = 57,
         .scale_x = 1,
         .scale_y = 1,
         .level = 0.5f,
         .size = 14},
        {.candidates = {9, 5, 12.3f, 11.7f, 0, 0},
         .width = 100,
         .height = 50,
         .scale_x = 3.37f,
         .scale_y = 3.41f,
         .level = 1,
         .size = 41.2f},
    };
    uint64_t random = 5;
    int32_t ranking[COUNT][2];
    for (int i = 0; i < COUNT; ++i) {
        const float score = test_random_unit(&random) - 0.5f;
        ranking[i][0] = (int32_t)(test_random(&random) % 45);
        memcpy(&ranking[i][1], &score, sizeof score);
    }
    for (size_t i = 0; i < sizeof how / sizeof *how; ++i) {
        const placed got = place(target->device, &how[i], ranking);
        const placed expected = place(reference, &how[i], ranking);
        check_placed(&got, &expected, ranking, &how[i]);
        assert_true(i == 2 || memcmp(&got, &expected, sizeof got) == 0); /* exact where nothing is scaled */
    }
}

static int32_t patch_places(tvlm_device *device, const tvlm_position_list *how, const unsigned char *bytes,
                            size_t size, bool unchecked, tvlm_patch_place out[COUNT]) {
    tvlm_position_list list = *how;
    tvlm_buffer *made = test_buffer(device, COUNT * sizeof *out, NULL);
    int32_t bad = -2;
    list.positions = test_buffer(device, size, bytes);
    assert_int_equal(device->backend->patch_places(device, &list, made, unchecked ? NULL : &bad), TVLM_OK);
    test_buffer_take(device, &made, COUNT * sizeof *out, out);
    device->backend->buffer_destroy(device, &list.positions);
    return bad;
}

static void check_places(const test_target *target, tvlm_device *reference, const tvlm_position *positions,
                         const tvlm_position_list *how, int32_t bad) {
    unsigned char bytes[BEFORE * 4 + BYTES] = {0};
    tvlm_patch_place got[COUNT], expected[COUNT];
    memcpy(bytes + BEFORE * 4, positions, BYTES);
    assert_int_equal(patch_places(target->device, how, bytes, sizeof bytes, false, got), bad);
    assert_int_equal(patch_places(reference, how, bytes, sizeof bytes, false, expected), bad);
    for (int i = 0; i < COUNT; ++i) {
        assert_true(is_same(got[i].at.x, expected[i].at.x));
        assert_true(is_same(got[i].at.y, expected[i].at.y));
        assert_true(fabsf(got[i].at.level - expected[i].at.level) <= tolerance * 8.0f);
        assert_true(got[i].at.image == expected[i].at.image);
        assert_true(is_same(got[i].step_x, expected[i].step_x) && is_same(got[i].step_y, expected[i].step_y));
        if (positions[i].height == 0.0f) assert_true(got[i].step_y == got[i].step_x);
        if (positions[i].size == (float)how->side && how->scale_size == 1.0f && positions[i].height == 0.0f)
            assert_true(got[i].step_x == 1.0f && got[i].at.level == 0.0f); /* copied to the bit */
    }
    assert_int_equal(patch_places(target->device, how, bytes, sizeof bytes, true, got), -2);
    assert_int_equal(patch_places(reference, how, bytes, sizeof bytes, true, expected), -2);
}

static void list_places(const test_target *target, tvlm_device *reference) {
    static const tvlm_position_list lists[] = {{.offset = BEFORE * 4,
                                                .count = COUNT,
                                                .side = 14,
                                                .image = 2,
                                                .scale_x = 1,
                                                .scale_y = 1,
                                                .scale_size = 1,
                                                .highest_level = 6},
                                               {.offset = BEFORE * 4,
                                                .count = COUNT,
                                                .side = 16,
                                                .scale_x = 3.3f,
                                                .scale_y = 2.9f,
                                                .scale_size = 3.1f,
                                                .highest_level = 2.0f}};
    static const float bad[][4] = {{NAN, 1, 1, 0}, {1, INFINITY, 1, 0}, {1, 1, NAN, 0},
                                   {1, 1, 0, 0},   {1, 1, -4, 0},       {1, 1, INFINITY, 0},
                                   {1, 1, 1, NAN}, {1, 1, 1, -2},       {1, 1, 1, INFINITY}};
    tvlm_position positions[COUNT] = {{0}};
    uint64_t random = 6;
    for (int i = 0; i < COUNT; ++i) {
        positions[i].x = 300.0f * test_random_unit(&random) - 20.0f;
        positions[i].y = i == 7 ? -FLT_MAX : 200.0f * test_random_unit(&random);
        positions[i].size = i % 3 == 0 ? 14.0f : i == 8 ? FLT_MAX : 1.0f + 90.0f * test_random_unit(&random);
        positions[i].height = i % 4 != 1   ? 0.0f
                              : i % 3 == 0 ? 28.0f
                                           : 1.0f + 90.0f * test_random_unit(&random);
    }
    for (int i = 0; i < 2; ++i) check_places(target, reference, positions, &lists[i], -1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
        tvlm_position wrong[COUNT];
        memcpy(wrong, positions, sizeof wrong);
        for (int n = 20; n <= 60; n += 40) {
            wrong[n].x = bad[i][0];
            wrong[n].y = bad[i][1];
            wrong[n].size = bad[i][2];
            wrong[n].height = bad[i][3];
        }
        check_places(target, reference, wrong, &lists[0], 20);
    }
}

TEST_FAMILY(positions, {"of a ranking", TEST_BUFFERS, .body = places},
            {"of positions", TEST_BUFFERS, .body = list_places})
