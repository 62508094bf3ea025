/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attend_reference.c: attention over the vectors of grids, on every device against the reference. It is apart
 * from test_attend.c, since Oclgrind's own heap breaks when one program runs both (doc/drivers.md).
 */
#include "attend_helper.h"
#include "kernels/family.h"

/*
 * Scores are below 20, and sums of up to 70 products of floats. They are off by 1e-6 or so, and results by
 * about that share of their size. In half format the levels of the two devices may differ in the last place,
 * which is 5e-4 of the keys, and scores differ by a part of that. If two scores were nearer to each other
 * than that, other cells could be chosen. These problems have no such scores.
 */
static void compare(const test_target *target, tvlm_device *reference, const problem *p,
                    struct tvlm_attend_params params) {
    const bool half = target->format == TVLM_FORMAT_F16;
    char what[160];
    snprintf(what, sizeof what, "%d x %d, %d queries, %d heads, level %d, fine %g%s, mix %g", (int)p->columns,
             (int)p->rows, (int)p->count, (int)p->heads, (int)params.level, (double)params.fine,
             params.steps ? ", steps" : "", (double)params.mix);
    answer got = attend(target->device, target->format, p, params);
    answer expected = attend(reference, target->format, p, params);
    test_compare(what, got.out, expected.out, (size_t)(p->count * p->values), half ? 4e-3f : 1e-5f,
                 half ? 4e-4f : 2e-6f);
    test_compare(what, got.map, expected.map, (size_t)(p->columns * p->rows), half ? 1e-4f : 1e-6f,
                 half ? 1e-5f : 2e-7f);
    assert_true(got.info.keys == expected.info.keys && got.info.values == expected.info.values);
    answer again = attend(target->device, target->format, p, params);
    assert_memory_equal(got.out, again.out, (size_t)(p->count * p->values) * sizeof(float));
    assert_memory_equal(got.map, again.map, (size_t)(p->columns * p->rows) * sizeof(float));
    free_answer(&again);
    free_answer(&got);
    free_answer(&expected);
}

static void body(const test_target *target, tvlm_device *reference) {
    /* columns, rows, dimensions of keys and values, queries, heads */
    static const int32_t sizes[][6] = {{1, 1, 4, 4, 1, 1},     {1, 9, 5, 3, 2, 1},     {13, 11, 24, 8, 7, 4},
                                       {21, 6, 70, 130, 3, 2}, {40, 30, 64, 96, 3, 1}, {4, 4, 4, 2, 2100, 2}};
    const size_t count = test_small() ? 3 : sizeof sizes / sizeof sizes[0];
    for (size_t s = 0; s < count; ++s) {
        const int32_t *const z = sizes[s];
        const int32_t all = tvlm_level_count(z[0], z[1]), most = test_small() ? 2 : 4;
        const int32_t levels = all < most ? all : most;
        problem p = make_problem(40 + s, z[0], z[1], z[2], z[3], z[4], z[5]);
        for (int32_t level = 0; level < levels; ++level) {
            compare(target, reference, &p, (struct tvlm_attend_params){.level = level, .fine = 0.25f});
            if (level == 0) continue;
            compare(target, reference, &p, (struct tvlm_attend_params){.level = level, .fine = 1.0f});
            compare(target, reference, &p,
                    (struct tvlm_attend_params){.level = level, .fine = 0.6f, .steps = true});
            compare(target, reference, &p,
                    (struct tvlm_attend_params){.level = level, .fine = 0.25f, .mix = 0.7f});
        }
        free_problem(&p);
    }
}

TEST_FAMILY(attend_reference, {"attention", TEST_TUNED, .body = body})
