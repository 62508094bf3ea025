/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mips.c: the levels, by every rule and on every path (a launch a level, tiles and tail), against the
 * reference.
 */
#include "kernels/family.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "opencl/backend.h"

/*
 * max, min and mode choose one of the texels, so they are exact. Means are weighted sums of 9 values in [-1,
 * 1] in float; Gaussians are sums of 25. Many means of halves lie exactly between two halves, and there an
 * error of any size decides. With weights of a third one in 12 does.
 */
static const test_tolerance exact = {0.0f, 0.0f, 0.0f}, mean = {5e-7f, 1e-7f, TEST_HALF_ULP};
static const test_tolerance mean_of_halves = {5e-7f, TEST_HALF_ULP / 36, TEST_HALF_ULP};

static test_tolerance tolerance_of(int rule, tvlm_format format) {
    if (rule != TVLM_REDUCE_MEAN && rule != TVLM_REDUCE_GAUSSIAN) return exact;
    return format == TVLM_FORMAT_F16 ? mean_of_halves : mean;
}

static const uint8_t rules[][4] = {
    {TVLM_REDUCE_MEAN, TVLM_REDUCE_MEAN, TVLM_REDUCE_MEAN, TVLM_REDUCE_MEAN},
    {TVLM_REDUCE_MEAN, TVLM_REDUCE_MAX, TVLM_REDUCE_MIN, TVLM_REDUCE_MODE},
    {TVLM_REDUCE_MODE, TVLM_REDUCE_MODE, TVLM_REDUCE_MEAN, TVLM_REDUCE_MIN},
    /* All components have one rule, which has kernels of its own. The last row is mixed again. */
    {TVLM_REDUCE_MAX, TVLM_REDUCE_MAX, TVLM_REDUCE_MAX, TVLM_REDUCE_MAX},
    {TVLM_REDUCE_MIN, TVLM_REDUCE_MIN, TVLM_REDUCE_MIN, TVLM_REDUCE_MIN},
    {TVLM_REDUCE_MODE, TVLM_REDUCE_MODE, TVLM_REDUCE_MODE, TVLM_REDUCE_MODE},
    {TVLM_REDUCE_GAUSSIAN, TVLM_REDUCE_GAUSSIAN, TVLM_REDUCE_GAUSSIAN, TVLM_REDUCE_GAUSSIAN},
    {TVLM_REDUCE_GAUSSIAN, TVLM_REDUCE_MAX, TVLM_REDUCE_MEAN, TVLM_REDUCE_MODE},
};
enum { FIRST_GAUSSIAN = 6 };
static const char *const rule_names[] = {"mean", "max", "min", "mode", "gaussian"};

/*
 * Fills in values for which every rule has something to decide. A component that is reduced by mode has whole
 * numbers, in some slices only three of them, so that areas tie. The others are anywhere in [-1, 1].
 */
static void fill(const test_pair *pair, uint64_t *random) {
    const size_t texels = test_texels(pair->got, 0);
    float *rgba = malloc(4 * texels * sizeof *rgba);
    assert_non_null(rgba);
    for (int32_t slice = 0; slice < test_slices(pair->got); ++slice) {
        const uint64_t ids = slice % 2 == 0 ? 3 : 2048;
        for (size_t i = 0; i < 4 * texels; ++i)
            rgba[i] = pair->got->reduce[i % 4] == TVLM_REDUCE_MODE ? (float)(test_random(random) % ids)
                                                                   : 2.0f * test_random_unit(random) - 1.0f;
        test_pair_write(pair, slice, rgba);
    }
    free(rgba);
}

/* Returns what the reference makes of the level before, as the device made that one. So rounding does not add
 * up from level to level. free() it. */
static float *expected_level(const test_pair *pair, int32_t level, int32_t slice) {
    tvlm_texture shape = test_shape((test_size){tvlm_level_side(pair->got->width, level - 1),
                                                tvlm_level_side(pair->got->height, level - 1)},
                                    1, 1, pair->got->format);
    memcpy(shape.reduce, pair->got->reduce, sizeof shape.reduce);
    shape.levels = 2;
    tvlm_texture *texture = test_texture(pair->reference, &shape);
    float *before = test_read(pair->device, pair->got, level - 1, slice);
    assert_int_equal(pair->reference->backend->texture_write(pair->reference, texture, 0, before), TVLM_OK);
    assert_int_equal(pair->reference->backend->mips(pair->reference, &texture, 1), TVLM_OK);
    free(before);
    float *expected = test_read(pair->reference, texture, 1, 0);
    pair->reference->backend->texture_destroy(pair->reference, &texture);
    return expected;
}

static void compare_level(const test_pair *pair, int32_t level, int32_t slice) {
    float *got = test_read(pair->device, pair->got, level, slice),
          *expected = expected_level(pair, level, slice);
    for (size_t c = 0; c < (pair->got->scalar ? 1 : 4); ++c) {
        const int rule = pair->got->reduce[c];
        char what[120];
        snprintf(what, sizeof what, "mips of %dx%d, slice %d, component %zu, level %d, %s",
                 (int)pair->got->width, (int)pair->got->height, (int)slice, c, (int)level, rule_names[rule]);
        test_compare_stage(what, got + c, expected + c, test_texels(pair->got, level), 4,
                           tolerance_of(rule, pair->got->format), pair->got->format == TVLM_FORMAT_F16);
    }
    free(got);
    free(expected);
}

static double average(const float *rgba, size_t texels, size_t component) {
    double sum = 0.0;
    for (size_t i = 0; i < texels; ++i) sum += (double)rgba[4 * i + component];
    return sum / (double)texels;
}

/* Every level of a mean keeps the image's mean, but for rounding. In half format the last texel is rounded by
 * up to half a unit. */
static void check_means(const test_pair *pair, int32_t slice) {
    const double allowed = pair->got->format == TVLM_FORMAT_F16 ? (double)TEST_HALF_ULP : 2e-7;
    float *base = test_read(pair->device, pair->got, 0, slice);
    for (int32_t level = 1; level < pair->got->levels; ++level) {
        float *rgba = test_read(pair->device, pair->got, level, slice);
        for (size_t c = 0; c < (pair->got->scalar ? 1 : 4); ++c) {
            if (pair->got->reduce[c] != TVLM_REDUCE_MEAN) continue;
            const double wanted = average(base, test_texels(pair->got, 0), c);
            const double found = average(rgba, test_texels(pair->got, level), c);
            if (!(fabs(found - wanted) <= allowed))
                fail_msg("%dx%d, level %d, slice %d: the mean is %.9g, at level 0 %.9g",
                         (int)pair->got->width, (int)pair->got->height, (int)level, (int)slice, found,
                         wanted);
        }
        free(rgba);
    }
    free(base);
}

/* With 0 layers the texture is scalar. */
static void mips_of(const test_target *target, tvlm_device *reference, test_size size, int32_t layers,
                    int32_t images, const uint8_t rule[4], uint64_t *random) {
    tvlm_texture shape = test_shape(size, layers > 0 ? layers : 1, images, target->format);
    memcpy(shape.reduce, rule, sizeof shape.reduce);
    shape.scalar = layers == 0;
    test_pair pair = test_pair_create(target, reference, &shape);
    test_poison(pair.device, pair.got);
    fill(&pair, random);
    test_pair_mips(&pair);
    for (int32_t slice = 0; slice < test_slices(pair.got); ++slice) {
        float *kept = test_read(pair.device, pair.got, 0, slice);
        float *before = test_read(pair.reference, pair.expected, 0, slice);
        assert_memory_equal(kept, before,
                            4 * test_texels(pair.got, 0) * sizeof *kept); /* level 0 is only read */
        free(kept);
        free(before);
        for (int32_t level = 1; level < pair.got->levels; ++level) compare_level(&pair, level, slice);
        check_means(&pair, slice);
    }
    test_pair_destroy(&pair);
}

/* Makes the levels of more textures at once than one launch takes. They have different sizes, rules, layers
 * and images. Some are scalar; one is all tail, one has a large tail, and one has no further levels. */
static void together(const test_target *target, tvlm_device *reference) {
    static const test_size sizes[] = {{131, 77}, {16, 16}, {64, 65}, {1, 1},    {128, 128},
                                      {97, 33},  {260, 5}, {31, 2},  {128, 20}, {40, 41}};
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    test_pair pairs[COUNT];
    tvlm_texture *textures[COUNT];
    uint64_t random = 8;
    for (int i = 0; i < COUNT; ++i) {
        tvlm_texture shape = test_shape(sizes[i], 1 + i % 2, 1 + i % 3, target->format);
        memcpy(shape.reduce, rules[i % 5 == 4 ? FIRST_GAUSSIAN + i / 5 : i % 4], sizeof shape.reduce);
        shape.scalar = i % 4 == 0 || i % 4 == 2;
        pairs[i] = test_pair_create(target, reference, &shape);
        test_poison(pairs[i].device, pairs[i].got);
        fill(&pairs[i], &random);
        textures[i] = pairs[i].got;
    }
    assert_int_equal(target->device->backend->mips(target->device, textures, COUNT), TVLM_OK);
    for (int i = 0; i < COUNT; ++i) {
        for (int32_t slice = 0; slice < test_slices(pairs[i].got); ++slice)
            for (int32_t level = 1; level < pairs[i].got->levels; ++level)
                compare_level(&pairs[i], level, slice);
        test_pair_destroy(&pairs[i]);
    }
}

/* More than the usual sizes: some that take several launches of tiles, long and thin ones, and some just
 * around the size of a tile and of a tail. */
static const test_size more_sizes[] = {{33, 65}, {32, 31}, {2049, 1}, {63, 67}, {3, 700}, {515, 261}};

static void every_size(const test_target *target, tvlm_device *reference) {
    size_t count;
    const test_size *all = test_sizes(&count);
    uint64_t random = 6;
    for (size_t r = 0; r < sizeof rules / sizeof rules[0]; ++r) {
        for (size_t i = 0; (r < 3 || r >= FIRST_GAUSSIAN) && i < count; ++i) {
            mips_of(target, reference, all[i], 1, 1, rules[r], &random);
            if (r == 1) mips_of(target, reference, all[i], 2, 3, rules[r], &random);
        }
        for (size_t i = 0; i < count; ++i) mips_of(target, reference, all[i], 0, 2, rules[r], &random);
        for (size_t i = 0; r != 2 && i < (test_small() ? 3 : sizeof more_sizes / sizeof more_sizes[0]); ++i)
            mips_of(target, reference, more_sizes[i], 1, 1, rules[r], &random);
    }
}

/* First a launch for each level; then tiles, with a tail of 256 or 1024 work-items, as on a GPU. Kernels for
 * GPUs find modes by other code. */
static bool paths(const test_target *target, opencl_tuning *tuning, int n) {
    (void)target;
    tuning->tiled_mips = n > 0;
    if (n > 0) tuning->mips_run = 1;
    if (n > 0) tuning->tail_lanes = n == 1 ? 256 : 1024;
    return n < 3;
}

static bool tiles(const test_target *target, opencl_tuning *tuning, int n) {
    return paths(target, tuning, n + 1);
}

TEST_FAMILY(mips, {"every size", .body = every_size, .tune = paths},
            {"together", TEST_OPENCL, .body = together, .tune = tiles})
