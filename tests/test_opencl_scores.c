/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_opencl_scores.c: by which launches the OpenCL backend scores candidates and finds the best of them, and the
 * program that it writes for a scorer, counted by hand. The driver is made up; what kernels make is tested on real ones.
 */
#include <limits.h>
#include <math.h>

#include "driver_helper.h"

/* ---- The best scores ---- */

/* Chunks of 16 keys, groups of 4; up to 8 scores are ranked, and from 40 on selected in spans of 10 by groups of 2. */
static opencl_device ranking_device(void) {
    opencl_device device = small_groups(TVLM_DEVICE_GPU);
    device.tuning.topk_chunk = 16, device.tuning.topk_group = 4;
    device.tuning.rank_below = 8;
    device.tuning.select_from = 40, device.tuning.select_span = 10, device.tuning.select_group = 2;
    device.tuning.best_alone = 0;
    return device;
}

static opencl_buffer some;

/* Launches from number `from` on: their names and sizes. */
typedef struct step {
    const char *name;
    size_t size;
} step;

static void expect_steps(opencl_device *device, int32_t n, int32_t k, const step *steps, int count) {
    const int from = driver.launched;
    assert_int_equal(tvlm_opencl_topk(&device->base, &some.base, n, k, &some.base), TVLM_OK);
    for (int i = 0; i < count && from + i < driver.launched; ++i) {
        const launch *const made = launch_at(from + i);
        if (strcmp(made->name, steps[i].name) != 0 || made->size[0] != steps[i].size)
            fail_msg("%d of %d, launch %d: %s of %zu", (int)k, (int)n, i, made->name, made->size[0]);
    }
    if (driver.launched - from != count)
        fail_msg("%d of %d: %d launches", (int)k, (int)n, driver.launched - from);
}
#define STEPS(n, k, ...)                                                                                     \
    expect_steps(&device, n, k, (const step[]){__VA_ARGS__},                                                 \
                 (int)(sizeof((const step[]){__VA_ARGS__}) / sizeof(step)))

static void test_few_scores(void **state) {
    opencl_device device = ranking_device();
    some.memory = memory_of(16);
    (void)state;
    STEPS(8, 3, {"topk_rank", 8 * 16});
    /* One chunk holds any k, and several shrink to one where at most half of each is kept. */
    STEPS(9, 9, {"topk_chunk", 4});
    assert_int_equal(int_at(2, 0), 1); /* its keys are the scores */
    STEPS(16, 16, {"topk_chunk", 4});
    STEPS(17, 8, {"topk_chunk", 8}, {"topk_chunk", 4});
    STEPS(39, 8, {"topk_chunk", 12}, {"topk_chunk", 8}, {"topk_chunk", 4});
    assert_int_equal(of(device.scratch[SCRATCH_A])->bytes, 3 * 8 * 8);
    /* Else all are sorted: chunks, then runs of twice their length. */
    STEPS(17, 9, {"topk_pad", 32}, {"topk_sort", 8}, {"topk_exchange", 16}, {"topk_merge", 8},
          {"topk_result", 9});
    STEPS(39, 9, {"topk_pad", 64}, {"topk_sort", 16}, {"topk_exchange", 32}, {"topk_merge", 16},
          {"topk_exchange", 32}, {"topk_exchange", 32}, {"topk_merge", 16}, {"topk_result", 9});
    assert_int_equal(of(device.scratch[SCRATCH_A])->bytes, 64 * 8);
    release_memory(some.memory);
    close_device(&device);
}

/* Of 40 keys, of 32 + 6 bits, digits of 11, 11, 11 and 5 are found; the best that are kept are sorted. */
static void test_many_scores(void **state) {
    opencl_device device = ranking_device();
    struct {
        cl_ulong prefix;
        cl_uint remaining, kept;
    } select;
    some.memory = memory_of(16);
    (void)state;
#define DIGITS(size)                                                                                         \
    {"topk_count", size}, {"topk_pick", 4}, {"topk_count", size}, {"topk_pick", 4}, {"topk_count", size},    \
        {"topk_pick", 4}, {"topk_count", size}, {"topk_pick", 4}, {"topk_keep", size}
    STEPS(40, 16, DIGITS(8), {"topk_chunk", 4});
    assert_int_equal(of(device.scratch[SCRATCH_D])->bytes, 16 * 8);
    STEPS(40, 20, DIGITS(8), {"topk_pad", 32}, {"topk_sort", 8}, {"topk_exchange", 16}, {"topk_merge", 8},
          {"topk_result", 20});
    assert_int_equal(of(device.scratch[SCRATCH_D])->bytes, 32 * 8);
    memcpy(&select, of(device.scratch[SCRATCH_C])->content, sizeof select);
    assert_true(select.prefix == 0 && select.remaining == 20 && select.kept == 0);
    assert_int_equal(of(device.scratch[SCRATCH_B])->bytes, 4 << 11);
    STEPS(41, 3, DIGITS(10), {"topk_chunk", 4});
    assert_int_equal(int_at(2, 0), 0); /* of topk_chunk: its keys are those of a list */
    STEPS(64, 3, DIGITS(14), {"topk_chunk", 4});
    /* More than a half are sorted whole. */
    STEPS(40, 21, {"topk_pad", 64}, {"topk_sort", 16}, {"topk_exchange", 32}, {"topk_merge", 16},
          {"topk_exchange", 32}, {"topk_exchange", 32}, {"topk_merge", 16}, {"topk_result", 21});
#undef DIGITS
    release_memory(some.memory);
    close_device(&device);
}

/* On CPUs the best of each span, and then the best of those, where a driver lets loops run. */
static void test_best_alone(void **state) {
    opencl_device device = ranking_device();
    some.memory = memory_of(16);
    (void)state;
    device.tuning.best_alone = 1;
    STEPS(10, 8, {"topk_best", 1});
    STEPS(11, 8, {"topk_best", 2}, {"topk_best", 1});
    assert_int_equal(of(device.scratch[SCRATCH_A])->bytes, 2 * 8 * 8);
    assert_int_equal(int_at(3, 0), 16); /* the second round is over the keys that the first has kept */
    STEPS(11, 9, {"topk_chunk", 4});
    device.short_loops = true;
    STEPS(11, 8, {"topk_chunk", 4});
    release_memory(some.memory);
    close_device(&device);
}

/* ---- Scorers ---- */

/* As cl/score.cl reads a layer. */
typedef struct head {
    cl_int ref, part, taps, level;
} head;
typedef struct floats {
    cl_float cap[4], weight[9][4];
} floats;

static tvlm_score_group group_of(int32_t part, int32_t taps) {
    tvlm_score_group group = {.refs = {-1, -1, -1, -1},
                              .part = part,
                              .taps = taps,
                              .cap = {INFINITY, INFINITY, INFINITY, INFINITY}};
    return group;
}

static cl_int bits_of(float number) {
    cl_int bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static void check_head(const head *at, cl_int ref, cl_int part, cl_int taps, int components, cl_int level) {
    assert_true(at->ref == ref && at->part == part && at->level == level);
    assert_int_equal(at->taps, taps | components << 4);
}

/* Channels of one layer of a texture that go to one part share a layer of the program, unless their levels differ, or
 * one component has two terms. Layers stand in the order of their textures. */
static void test_program(void **state) {
    opencl_device device = small_groups(TVLM_DEVICE_GPU);
    opencl_texture texture = texture_of(40, 30, 4, 1, 1);
    const tvlm_bundle bundle = {.count = 2,
                                .textures = {&texture.base, &texture.base},
                                .rope = {.theta = 2.0f, .dimension = 2, .patch = 1.0f}};
    const tvlm_score_combination combination = {.weight = {1, 0, -2}};
    const tvlm_candidates candidates = {.columns = 5, .rows = 3, .step_x = 8, .step_y = 10};
    tvlm_score_group groups[3] = {group_of(0, 1), group_of(0, 9), group_of(0, 1)};
    head heads[5];
    floats numbers[5];
    some.memory = memory_of(16);
    (void)state;
    groups[0].refs[0] = TVLM_REF(1, 2, 3), groups[0].weight[4][0] = 0.5f, groups[0].cap[0] = 7.0f;
    groups[0].refs[1] = TVLM_REF(1, 2, 0), groups[0].weight[4][1] = 0.25f;
    groups[0].refs[3] = TVLM_REF(0, 1, 1), groups[0].weight[4][3] = 4.0f;
    groups[1].refs[2] = TVLM_REF(0, 1, 2), groups[1].weight[8][2] = 5.0f; /* of nine taps */
    groups[2].refs[0] = TVLM_REF(1, 2, 3), groups[2].weight[4][0] = 6.0f; /* once more */
    groups[2].refs[1] = TVLM_REF(1, 2, 1), groups[2].has_level[1] = true, groups[2].level[1] = -0.0f;
    assert_int_equal(
        tvlm_opencl_score(&device.base, &bundle, groups, 3, &combination, &candidates, NULL, &some.base),
        TVLM_OK);
    assert_int_equal(device.score.program.bytes, 5 * (sizeof(head) + sizeof(floats)));
    const unsigned char *const program = of(device.scratch[SCRATCH_PROGRAM])->content;
    memcpy(heads, program, sizeof heads);
    memcpy(numbers, program + sizeof heads, sizeof numbers);
    check_head(&heads[0], TVLM_REF(0, 1, 0), 0, 1, 2, -1);
    check_head(&heads[1], TVLM_REF(0, 1, 0), 0, 9, 4, -1);
    check_head(&heads[2], TVLM_REF(1, 2, 0), 0, 1, 8 + 1, -1);
    check_head(&heads[3], TVLM_REF(1, 2, 0), 0, 1, 8, -1);
    check_head(&heads[4], TVLM_REF(1, 2, 0), 0, 1, 2, bits_of(0.0f));
    assert_true(numbers[0].weight[4][1] == 4.0f && numbers[0].weight[4][0] == 0.0f &&
                isinf(numbers[0].cap[1]));
    assert_true(numbers[1].weight[8][2] == 5.0f && isinf(numbers[1].cap[2]));
    assert_true(numbers[2].weight[4][3] == 0.5f && numbers[2].cap[3] == 7.0f &&
                numbers[2].weight[4][0] == 0.25f);
    assert_true(isinf(numbers[2].cap[1]) && isinf(numbers[2].cap[0]));
    assert_true(numbers[3].weight[4][3] == 6.0f && isinf(numbers[3].cap[3]));
    free(device.score.program.host);
    release_memory(some.memory);
    close_device(&device);
}

/* One launch for the parts and one that combines them, and ranks them where a device ranks that many. */
static void test_scoring(void **state) {
    opencl_device device = small_groups(TVLM_DEVICE_GPU);
    opencl_texture texture = texture_of(40, 30, 4, 1, 1);
    opencl_buffer result = {.memory = memory_of(16)};
    const tvlm_bundle bundle = {
        .count = 1, .textures = {&texture.base}, .rope = {.theta = 2.0f, .dimension = 2, .patch = 1.0f}};
    const tvlm_score_combination combination = {.weight = {1, 0, -2}};
    const tvlm_candidates candidates = {.columns = 33, .rows = 17, .step_x = 1, .step_y = 1};
    const tvlm_ranking ranking = {.k = 3, .result = &result.base};
    tvlm_score_group group = group_of(1, 1);
    int32_t limits[2];
    some.memory = memory_of(16);
    (void)state;
    group.refs[0] = TVLM_REF(0, 0, 0);
    device.tuning.score_group = 1, device.tuning.topk_group = 1, device.tuning.rank_below = 33 * 17;
#define SCORE(ranked)                                                                                        \
    tvlm_opencl_score(&device.base, &bundle, &group, 1, &combination, &candidates, ranked, &some.base)
    assert_int_equal(SCORE(NULL), TVLM_OK);
    assert_int_equal(driver.launched, 2);
    expect_size(0, 33 * 17, 0, 0);
    expect_size(1, 33 * 17, 0 + 1, 0);
    assert_string_equal(launch_at(0)->name, "score_parts");
    assert_string_equal(launch_at(1)->name, "score_combine");
    assert_int_equal(of(device.scratch[SCRATCH_A])->bytes, 3 * 33 * 17 * 4);
    /* Ranges begin empty, and the next question finds the others empty without a fill. */
    assert_true(device.score.ranges == 1 && device.score.ranges_empty);
    int32_t *const ranges = (int32_t *)(void *)of(device.scratch[SCRATCH_RANGES])->content;
    assert_int_equal(of(device.scratch[SCRATCH_RANGES])->bytes, 2 * 3 * 8);
    for (int i = 0; i < 6; ++i) assert_true(ranges[2 * i] == INT_MAX && ranges[2 * i + 1] == INT_MIN);
    ranges[0] = 5;
    assert_int_equal(SCORE(&ranking), TVLM_OK);
    assert_int_equal(ranges[0], 5);
    assert_true(device.score.ranges == 0);
    assert_int_equal(driver.launched, 4);
    assert_string_equal(launch_at(3)->name, "score_rank");
    expect_size(3, 33 * 17 * 16, 0, 0);
    /* One more is combined, and ranked apart; in blocks of 32 x 8 candidates, 256 at once. */
    device.tuning.rank_below -= 1, device.tuning.run = 8;
    device.tuning.best_alone = 1;
    assert_int_equal(SCORE(&ranking), TVLM_OK);
    assert_int_equal(driver.launched, 7);
    expect_size(4, 2 * 3, 0, 0);
    expect_size(5, 3, 1, 0); /* 561 in groups of 256 */
    assert_string_equal(launch_at(5)->name, "score_combine");
    assert_string_equal(launch_at(6)->name, "topk_best");
    /* What failed half-way leaves ranges of which nothing is known. */
    driver.argument_error = CL_INVALID_ARG_INDEX;
    assert_int_equal(SCORE(NULL), TVLM_ERROR_DEVICE);
    driver.argument_error = CL_SUCCESS;
    assert_false(device.score.ranges_empty);
    assert_int_equal(SCORE(NULL), TVLM_OK);
    assert_int_equal(ranges[0], INT_MAX);
    memcpy(limits, of(device.scratch[SCRATCH_RANGES])->content, sizeof limits);
    assert_true(limits[0] == INT_MAX && limits[1] == INT_MIN);
#undef SCORE
    free(device.score.program.host);
    release_memory(some.memory);
    release_memory(result.memory);
    close_device(&device);
}

/* Which of three parts have a weight. */
static void test_used_parts(void **state) {
    opencl_device device = small_groups(TVLM_DEVICE_GPU);
    opencl_texture empty = texture_of(1, 1, 1, 1, 1);
    const tvlm_bundle bundle = {.rope = {.theta = 2.0f, .dimension = 2, .patch = 1.0f}};
    const tvlm_candidates candidates = {.columns = 1, .rows = 1};
    tvlm_score_group group = group_of(0, 1);
    some.memory = memory_of(16);
    (void)state;
    device.empty = &empty.base;
    device.tuning.score_group = 1;
    group.refs[0] = TVLM_REF(31, 0, 0);
    for (int used = 0; used < 8; ++used) {
        const tvlm_score_combination combination = {
            .weight = {used & 1 ? -0.5f : 0.0f, used & 2 ? 1.0f : 0.0f, used & 4 ? 2.0f : 0.0f},
            .bias = 9.0f};
        assert_int_equal(
            tvlm_opencl_score(&device.base, &bundle, &group, 1, &combination, &candidates, NULL, &some.base),
            TVLM_OK);
        /* Of score_combine, which comes last: the weights, and the bias behind them. */
        float weights[4];
        memcpy(weights, driver.arguments[4].bytes, sizeof weights);
        assert_memory_equal(weights, combination.weight, sizeof combination.weight);
        assert_true(weights[3] == 9.0f);
        assert_int_equal(int_at(7, 0), 0);     /* there is no bonus */
        assert_int_equal(int_at(14, 0), used); /* of score_parts, which has more arguments than that */
    }
    free(device.score.program.host);
    release_memory(some.memory);
    close_device(&device);
}

/* The range of what is kept of a pass is found in spans of 64. */
static void test_pass(void **state) {
    opencl_device device = small_groups(TVLM_DEVICE_GPU);
    opencl_texture out = texture_of(13, 5, 1, 2, 1);
    some.memory = memory_of(16);
    (void)state;
    assert_int_equal(tvlm_opencl_keep_pass(&device.base, &some.base, 1, &out.base), TVLM_OK);
    expect_size(0, 2, 1, 0);
    expect_size(1, 13, 5, 1);
    out.base.width = 16, out.base.height = 4;
    assert_int_equal(tvlm_opencl_keep_pass(&device.base, &some.base, 1, &out.base), TVLM_OK);
    expect_size(2, 1, 1, 0);
    assert_int_equal(tvlm_opencl_score_add(&device.base, &some.base, &some.base, 77), TVLM_OK);
    expect_size(4, 77, 1, 0);
    release_memory(some.memory);
    close_device(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_scores), cmocka_unit_test(test_many_scores),
        cmocka_unit_test(test_best_alone), cmocka_unit_test(test_program),
        cmocka_unit_test(test_scoring),    cmocka_unit_test(test_used_parts),
        cmocka_unit_test(test_pass),
    };
    install();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
