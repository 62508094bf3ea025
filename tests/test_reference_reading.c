/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_reference_reading.c: the reference backend on its own, as test_reference.c, where what families hold
 * is read: levels, samples, packed arrays, scores, the best K.
 */
#include "reference_helper.h"

/* ---- Levels ---- */

static double mean_of(const float *texels, size_t count, int component) {
    double sum = 0;
    for (size_t i = 0; i < count; ++i) sum += (double)texels[4 * i + (size_t)component];
    return sum / (double)count;
}

static void test_levels_keep_the_mean(void **state) {
    (void)state;
    const int32_t sizes[][2] = {{1, 1}, {1, 999}, {640, 1}, {127, 129}, {255, 3}, {311, 207}, {256, 64}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
        tvlm_texture *source = paint(sizes[i][0], sizes[i][1], paint_noise);
        double expected[4] = {0, 0, 0, 0};
        for (int32_t level = 0; level < source->levels; ++level) {
            const size_t count =
                texels_of(tvlm_level_side(source->width, level), tvlm_level_side(source->height, level));
            float *texels = read_level(source, level);
            for (int c = 0; c < 4; ++c) {
                if (level == 0) expected[c] = mean_of(texels, count, c);
                assert_near(mean_of(texels, count, c), expected[c], 1e-5);
            }
            free(texels);
        }
        backend->texture_destroy(device, &source);
    }
}

/* Overlap of texel i of `count` with texel j of `from` on one axis, in units in which the axis is count *
 * from long. */
static int64_t overlap(int32_t i, int32_t count, int32_t j, int32_t from) {
    const int64_t begin = (int64_t)i * from > (int64_t)j * count ? (int64_t)i * from : (int64_t)j * count;
    const int64_t end_i = (int64_t)(i + 1) * from, end_j = (int64_t)(j + 1) * count;
    const int64_t end = end_i < end_j ? end_i : end_j;
    return end > begin ? end - begin : 0;
}

/* The value with the largest area among 0..15, the lowest of several. */
static int fullest(const int64_t area[16]) {
    int best = 0;
    for (int i = 1; i < 16; ++i)
        if (area[i] > area[best]) best = i;
    return best;
}

/* One texel of a level from all texels of the level before, by the area integral: components mean, max, min,
 * mode. */
static void check_texel(const float *before, int32_t from_width, int32_t from_height, const float *texel,
                        int32_t x, int32_t y, int32_t width, int32_t height) {
    double sum = 0, total = 0, high = -INFINITY, low = INFINITY;
    int64_t area[16] = {0};
    for (int32_t j = 0; j < from_height; ++j) {
        for (int32_t i = 0; i < from_width; ++i) {
            const int64_t weight = overlap(x, width, i, from_width) * overlap(y, height, j, from_height);
            if (weight == 0) continue;
            const float *value = before + 4 * (texels_of(from_width, j) + (size_t)i);
            sum += (double)weight * (double)value[0];
            total += (double)weight;
            high = fmax(high, (double)value[1]);
            low = fmin(low, (double)value[2]);
            area[(int)value[3]] += weight;
        }
    }
    assert_near(texel[0], sum / total, 1e-6);
    assert_true((double)texel[1] == high && (double)texel[2] == low);
    assert_int_equal((int)texel[3], fullest(area));
}

static tvlm_texture *create_mixed(int32_t width, int32_t height, int ids) {
    tvlm_texture *texture = create(
        &(tvlm_texture){.width = width,
                        .height = height,
                        .layers = 1,
                        .images = 1,
                        .levels = tvlm_level_count(width, height),
                        .format = TVLM_FORMAT_F32,
                        .extent_x = (float)width,
                        .extent_y = (float)height,
                        .reduce = {TVLM_REDUCE_MEAN, TVLM_REDUCE_MAX, TVLM_REDUCE_MIN, TVLM_REDUCE_MODE}});
    float *texels = calloc(4 * texels_of(width, height), sizeof *texels);
    assert_non_null(texels);
    for (size_t i = 0; i < 4 * texels_of(width, height); ++i)
        texels[i] = i % 4 == 3 ? (float)random_between(0, ids - 1) : random_unit();
    assert_int_equal(backend->texture_write(device, texture, 0, texels), TVLM_OK);
    assert_int_equal(backend->mips(device, &texture, 1), TVLM_OK);
    free(texels);
    return texture;
}

static void test_levels_by_area(void **state) {
    (void)state;
    for (int round = 0; round < 40; ++round) {
        tvlm_texture *texture =
            create_mixed(random_between(1, 31), random_between(1, 31), random_between(2, 5));
        float *before = read_level(texture, 0);
        for (int32_t level = 1; level < texture->levels; ++level) {
            const int32_t width = tvlm_level_side(texture->width, level);
            const int32_t height = tvlm_level_side(texture->height, level);
            float *texels = read_level(texture, level);
            for (int32_t i = 0; i < width * height; ++i)
                check_texel(before, tvlm_level_side(texture->width, level - 1),
                            tvlm_level_side(texture->height, level - 1), texels + (size_t)4 * (size_t)i,
                            i % width, i / width, width, height);
            free(before);
            before = texels;
        }
        free(before);
        backend->texture_destroy(device, &texture);
    }
}

/* Levels are made of what is stored, so in half each is the rounded mean of halves. */
static void test_levels_in_half(void **state) {
    (void)state;
    tvlm_texture *texture = create(&(tvlm_texture){
        .width = 4, .height = 1, .layers = 1, .images = 1, .levels = 3, .format = TVLM_FORMAT_F16});
    const float texels[16] = {0.1f, 0, 0, 0, 0.7f, 0, 0, 0, 0.33f, 0, 0, 0, 0.21f, 0, 0, 0};
    assert_int_equal(backend->texture_write(device, texture, 0, texels), TVLM_OK);
    assert_int_equal(backend->mips(device, &texture, 1), TVLM_OK);
    float *levels[3] = {read_level(texture, 0), read_level(texture, 1), read_level(texture, 2)};
    for (int level = 1; level < 3; ++level) {
        for (size_t i = 0; i < (size_t)4 >> level; ++i) {
            const float *pair = levels[level - 1] + 8 * i, mean = (pair[0] + pair[4]) / 2;
            assert_true(levels[level][4 * i] == tvlm_half_to_float(tvlm_half_from_float(mean)));
        }
    }
    for (int level = 0; level < 3; ++level) free(levels[level]);
    backend->texture_destroy(device, &texture);
}

/* ---- Sampling ---- */

static tvlm_bundle bundle_of(tvlm_texture *texture, float width, float height) {
    return (tvlm_bundle){.count = 1,
                         .textures = {texture},
                         .width = width,
                         .height = height,
                         .fixation_x = width / 2,
                         .fixation_y = height / 2,
                         .farthest = hypotf(width / 2, height / 2)};
}

/* Four channels at one point. */
static void sample_refs(const tvlm_bundle *bundle, const int32_t refs[4], double x, double y, double level,
                        int32_t image, float out[4]) {
    tvlm_buffer *points = NULL, *values = NULL;
    const tvlm_point point = {(float)x, (float)y, (float)level, (float)image};
    assert_int_equal(backend->buffer_create(device, sizeof point, &points), TVLM_OK);
    assert_int_equal(backend->buffer_create(device, 4 * sizeof *out, &values), TVLM_OK);
    assert_int_equal(backend->buffer_write(device, points, 0, sizeof point, &point), TVLM_OK);
    assert_int_equal(backend->sample(device, bundle, refs, 1, points, 1, values), TVLM_OK);
    assert_int_equal(backend->buffer_read(device, values, 0, 4 * sizeof *out, out), TVLM_OK);
    backend->buffer_destroy(device, &points);
    backend->buffer_destroy(device, &values);
}

static const int32_t first_texture[4] = {TVLM_REF(0, 0, 0), TVLM_REF(0, 0, 1), TVLM_REF(0, 0, 2),
                                         TVLM_REF(0, 0, 3)};

static void test_sample_centres(void **state) {
    (void)state;
    tvlm_texture *texture = create_mixed(32, 16, 5);
    const tvlm_bundle bundle = bundle_of(texture, 32, 16);
    for (int32_t level = 0; level < texture->levels; ++level) {
        const int32_t width = tvlm_level_side(32, level), height = tvlm_level_side(16, level);
        float *texels = read_level(texture, level), got[4];
        for (int32_t i = 0; i < width * height; ++i) {
            sample_refs(&bundle, first_texture, (i % width + 0.5) * 32 / width,
                        (floor((double)i / width) + 0.5) * 16 / height, level, 0, got);
            for (int c = 0; c < 4; ++c) assert_true(got[c] == texels[4 * i + c]);
        }
        free(texels);
    }
    backend->texture_destroy(device, &texture);
}

static void test_sample_between_levels(void **state) {
    (void)state;
    tvlm_texture *texture = create_mixed(2, 2, 5);
    const tvlm_bundle bundle = bundle_of(texture, 2, 2);
    float *fine = read_level(texture, 0), *coarse = read_level(texture, 1), got[4];
    sample_refs(&bundle, first_texture, 1.5, 0.5, 0.25, 0, got);
    for (int c = 0; c < 3; ++c) assert_near(got[c], 0.75f * fine[4 + c] + 0.25f * coarse[c], 1e-6);
    assert_true(got[3] == fine[4 + 3]); /* identifiers: nearest level */
    sample_refs(&bundle, first_texture, 1.5, 0.5, 0.5, 0, got);
    assert_true(got[3] == coarse[3]);
    sample_refs(&bundle, first_texture, 1.5, 0.5, 99, 0, got);
    for (int c = 0; c < 4; ++c) assert_true(got[c] == coarse[c]);
    sample_refs(&bundle, first_texture, -50, 9e30, -3, 0, got); /* clamped everywhere */
    for (int c = 0; c < 4; ++c) assert_true(got[c] == fine[8 + c]);
    free(fine);
    free(coarse);
    backend->texture_destroy(device, &texture);
}

/* A ramp is linear between the outermost texel centres, at any grid size; level 2 of a quarter grid is its
 * own 0. */
static void test_sample_ramp(void **state) {
    (void)state;
    tvlm_texture *texture = create(&(tvlm_texture){.width = 7,
                                                   .height = 5,
                                                   .layers = 2,
                                                   .images = 2,
                                                   .levels = 3,
                                                   .format = TVLM_FORMAT_F32,
                                                   .extent_x = 29,
                                                   .extent_y = 21});
    float texels[35 * 4];
    for (int32_t slice = 0; slice < 4; ++slice) {
        for (size_t i = 0; i < 35; ++i) {
            const size_t row = i / 7;
            texels[4 * i] = ((float)(i % 7) + 0.5f) * 29.0f / 7.0f;
            texels[4 * i + 1] = ((float)row + 0.5f) * 21.0f / 5.0f;
            texels[4 * i + 2] = (float)slice;
            texels[4 * i + 3] = 0;
        }
        assert_int_equal(backend->texture_write(device, texture, slice, texels), TVLM_OK);
    }
    assert_int_equal(backend->mips(device, &texture, 1), TVLM_OK);
    const tvlm_bundle bundle = bundle_of(texture, 29, 21);
    const int32_t refs[4] = {TVLM_REF(0, 1, 0), TVLM_REF(0, 1, 1), TVLM_REF(0, 1, 2), TVLM_REF_ZERO};
    for (int round = 0; round < 200; ++round) {
        const double x = 2.1 + 24.7 * (double)random_unit(), y = 2.2 + 16.6 * (double)random_unit();
        float got[4];
        sample_refs(&bundle, refs, x, y, 2, 1, got); /* log2(29 / 7) > 2 */
        assert_near(got[0], x, 1e-4);
        assert_near(got[1], y, 1e-4);
        assert_true(got[2] == 3 && got[3] == 0);
    }
    backend->texture_destroy(device, &texture);
}

static void test_sample_formula(void **state) {
    (void)state;
    tvlm_bundle bundle = bundle_of(NULL, 40, 30);
    bundle.count = 0;
    const int32_t refs[4] = {TVLM_REF(TVLM_BUNDLE_FORMULA, 0, 0), TVLM_REF(TVLM_BUNDLE_FORMULA, 0, 1),
                             TVLM_REF(TVLM_BUNDLE_FORMULA, 0, 2), TVLM_REF(TVLM_BUNDLE_FORMULA, 0, 3)};
    float got[4];
    sample_refs(&bundle, refs, 10, 15, 3, 0, got);
    assert_near(got[0], 0.25, 1e-7);
    assert_near(got[1], 0.5, 1e-7);
    assert_near(got[2], 0.4, 1e-7);
    assert_true(got[3] == 0);
    sample_refs(&bundle, refs, 400, -7, 0, 0, got);
    assert_true(got[0] == 1 && got[1] == 0);
    assert_near(got[2], 1, 1e-6);
}

static void test_pack(void **state) {
    (void)state;
    tvlm_texture *texture = create_mixed(8, 4, 5);
    const tvlm_bundle bundle = bundle_of(texture, 8, 4);
    tvlm_texture *packed = create(&(tvlm_texture){.width = 4,
                                                  .height = 2,
                                                  .layers = 2,
                                                  .images = 1,
                                                  .levels = 1,
                                                  .format = TVLM_FORMAT_F16,
                                                  .extent_x = 8,
                                                  .extent_y = 4});
    const int32_t refs[8] = {TVLM_REF(0, 0, 3), TVLM_REF_ZERO,     TVLM_REF(TVLM_BUNDLE_FORMULA, 0, 0),
                             TVLM_REF(0, 0, 1), TVLM_REF(0, 0, 0), TVLM_REF_ZERO,
                             TVLM_REF_ZERO,     TVLM_REF_ZERO};
    assert_int_equal(backend->pack(device, &bundle, refs, 1, packed), TVLM_OK);
    float *texels = read_level(texture, 1), *first = read_level(packed, 0), second[32];
    assert_int_equal(backend->texture_read(device, packed, 0, 1, second), TVLM_OK);
    for (size_t i = 0; i < 8; ++i) {
        assert_true(first[4 * i] == texels[4 * i + 3] && first[4 * i + 1] == 0);
        assert_true(first[4 * i + 2] == ((float)(i % 4) + 0.5f) / 4.0f);
        assert_true(first[4 * i + 3] == tvlm_half_to_float(tvlm_half_from_float(texels[4 * i + 1])));
        assert_true(second[4 * i] == tvlm_half_to_float(tvlm_half_from_float(texels[4 * i])));
    }
    free(texels);
    free(first);
    backend->texture_destroy(device, &packed);
    backend->texture_destroy(device, &texture);
}

/* ---- Scores ---- */

static void run_score(const tvlm_bundle *bundle, const tvlm_score_group *groups, int32_t count,
                      const tvlm_score_combination *combination, const tvlm_candidates *candidates,
                      float *out) {
    const size_t bytes = texels_of(candidates->columns, candidates->rows) * sizeof *out;
    tvlm_buffer *scores = NULL;
    assert_int_equal(backend->buffer_create(device, bytes, &scores), TVLM_OK);
    assert_int_equal(backend->score(device, bundle, groups, count, combination, candidates, NULL, scores),
                     TVLM_OK);
    assert_int_equal(backend->buffer_read(device, scores, 0, bytes, out), TVLM_OK);
    backend->buffer_destroy(device, &scores);
}

/* A texture 4 wide and 1 high with these values in component 0. */
static tvlm_texture *row_of(const float values[4]) {
    tvlm_texture *texture = create_simple(4, 1);
    float texels[16] = {0};
    for (size_t i = 0; i < 4; ++i) texels[4 * i] = values[i];
    assert_int_equal(backend->texture_write(device, texture, 0, texels), TVLM_OK);
    assert_int_equal(backend->mips(device, &texture, 1), TVLM_OK);
    return texture;
}

static tvlm_score_group group_of(int32_t ref, int32_t part, float weight, float cap) {
    return (tvlm_score_group){.refs = {ref, TVLM_REF_ZERO, TVLM_REF_ZERO, TVLM_REF_ZERO},
                              .part = part,
                              .taps = 1,
                              .cap = {cap, INFINITY, INFINITY, INFINITY},
                              .weight = {[4] = {weight}}};
}

static void test_score_parts(void **state) {
    (void)state;
    tvlm_texture *texture = row_of((float[]){0.1f, 0.3f, 0.2f, 0.9f});
    const tvlm_bundle bundle = bundle_of(texture, 4, 1);
    const tvlm_candidates candidates = {.columns = 4, .rows = 1, .step_x = 1, .step_y = 1};
    /* part 0 normalised and capped at 0.4, part 1 as it is, part 2 (a ref that would crash) not looked at */
    const tvlm_score_group groups[3] = {group_of(first_texture[0], 0, 1.0f, 0.4f),
                                        group_of(TVLM_REF(TVLM_BUNDLE_FORMULA, 0, 0), 1, 2.0f, INFINITY),
                                        group_of(TVLM_REF(5, 0, 0), 2, 1.0f, INFINITY)};
    const tvlm_score_combination combination = {
        .bias = 10, .weight = {3, 1, 0}, .normalise = {true, false, true}};
    const double part[4] = {0, 2.0 / 3, 1.0 / 3, 1};
    float got[4];
    run_score(&bundle, groups, 3, &combination, &candidates, got);
    for (int i = 0; i < 4; ++i) assert_near(got[i], 10 + 3 * part[i] + 2 * (i + 0.5) / 4, 1e-5);
    backend->texture_destroy(device, &texture);
}

static void test_score_all_equal_and_nan(void **state) {
    (void)state;
    const tvlm_candidates candidates = {.columns = 4, .rows = 1, .step_x = 1, .step_y = 1};
    const tvlm_score_group group = group_of(first_texture[0], 0, 1.0f, INFINITY);
    const tvlm_score_combination combination = {.weight = {1}, .normalise = {true}};
    float got[4];
    tvlm_texture *texture = row_of((float[]){0.7f, 0.7f, 0.7f, 0.7f});
    tvlm_bundle bundle = bundle_of(texture, 4, 1);
    run_score(&bundle, &group, 1, &combination, &candidates, got);
    for (int i = 0; i < 4; ++i) assert_true(got[i] == 0);
    backend->texture_destroy(device, &texture);
    texture = row_of((float[]){2, 4, 3, NAN});
    bundle = bundle_of(texture, 4, 1);
    run_score(&bundle, &group, 1, &combination, &candidates, got);
    assert_near(got[0], 0, 0);
    assert_true(isnan(got[3])); /* and got[2] too: a lerp of weight 0 reads its neighbour */
    backend->texture_destroy(device, &texture);
    texture = row_of((float[]){2, 2, NAN, NAN});
    bundle = bundle_of(texture, 4, 1);
    run_score(&bundle, &group, 1, &combination, &candidates, got);
    assert_true(got[0] == 0 && isnan(got[2]) && isnan(got[3]));
    backend->texture_destroy(device, &texture);
}

/* Nine taps against a sum over the texels themselves; steps of one texel, so every tap is a texel centre. */
static void test_score_taps(void **state) {
    (void)state;
    tvlm_texture *texture = create_mixed(5, 4, 2);
    const tvlm_bundle bundle = bundle_of(texture, 5, 4);
    const tvlm_candidates candidates = {.columns = 5, .rows = 4, .step_x = 1, .step_y = 1};
    tvlm_score_group group = group_of(first_texture[0], 2, 0, INFINITY);
    group.taps = 9;
    for (int tap = 0; tap < 9; ++tap) group.weight[tap][0] = random_unit() - 0.5f;
    const tvlm_score_combination combination = {.weight = {0, 0, 1}};
    float got[20], *texels = read_level(texture, 0);
    run_score(&bundle, &group, 1, &combination, &candidates, got);
    for (int i = 0; i < 20; ++i) {
        double expected = 0;
        for (int tap = 0; tap < 9; ++tap) {
            const int x = i % 5 + tap % 3 - 1, y = i / 5 + tap / 3 - 1;
            const int at = (y < 0 ? 0 : y > 3 ? 3 : y) * 5 + (x < 0 ? 0 : x > 4 ? 4 : x);
            expected += (double)group.weight[tap][0] * (double)texels[(size_t)4 * (size_t)at];
        }
        assert_near(got[i], expected, 1e-5);
    }
    free(texels);
    backend->texture_destroy(device, &texture);
}

/* The last cell is clipped, and its candidate is the centre of what remains. */
static void test_score_clipped_cell(void **state) {
    (void)state;
    tvlm_bundle bundle = bundle_of(NULL, 20, 17);
    const tvlm_candidates candidates = {.columns = 2, .rows = 2, .step_x = 16, .step_y = 16, .level = 4};
    const tvlm_score_group groups[2] = {group_of(TVLM_REF(TVLM_BUNDLE_FORMULA, 0, 0), 0, 20, INFINITY),
                                        group_of(TVLM_REF(TVLM_BUNDLE_FORMULA, 0, 1), 0, 1700, INFINITY)};
    const tvlm_score_combination combination = {.weight = {1}};
    float got[4];
    run_score(&bundle, groups, 2, &combination, &candidates, got);
    assert_near(got[0], 8 + 100 * 8, 1e-3);
    assert_near(got[1], 18 + 100 * 8, 1e-3);
    assert_near(got[2], 8 + 100 * 16.5, 1e-3);
    assert_near(got[3], 18 + 100 * 16.5, 1e-3);
}

/* ---- Top-K ---- */

static void run_topk(const float *scores, int32_t n, int32_t k, int32_t *indices, float *values) {
    tvlm_buffer *in = NULL, *out = NULL;
    int32_t *pairs = calloc((size_t)k * 2, sizeof *pairs);
    assert_non_null(pairs);
    assert_int_equal(backend->buffer_create(device, (size_t)n * sizeof *scores, &in), TVLM_OK);
    assert_int_equal(backend->buffer_create(device, (size_t)k * 8, &out), TVLM_OK);
    assert_int_equal(backend->buffer_write(device, in, 0, (size_t)n * sizeof *scores, scores), TVLM_OK);
    assert_int_equal(backend->topk(device, in, n, k, out), TVLM_OK);
    assert_int_equal(backend->buffer_read(device, out, 0, (size_t)k * 8, pairs), TVLM_OK);
    for (size_t i = 0; i < (size_t)k; ++i) {
        indices[i] = pairs[2 * i];
        memcpy(&values[i], &pairs[2 * i + 1], sizeof *values);
    }
    free(pairs);
    backend->buffer_destroy(device, &in);
    backend->buffer_destroy(device, &out);
}

static void test_topk_known(void **state) {
    (void)state;
    const float scores[9] = {NAN, 1, -INFINITY, 3, 1, INFINITY, -NAN, -0.0f, 0.0f};
    const int32_t expected[9] = {5, 3, 1, 4, 7, 8, 2, 0, 6};
    int32_t indices[9];
    float values[9];
    run_topk(scores, 9, 9, indices, values);
    for (int i = 0; i < 9; ++i) {
        assert_int_equal(indices[i], expected[i]);
        assert_memory_equal(&values[i], &scores[expected[i]], sizeof values[i]);
    }
    run_topk(scores, 9, 3, indices, values);
    for (int i = 0; i < 3; ++i) assert_int_equal(indices[i], expected[i]);
    run_topk(scores, 1, 1, indices, values);
    assert_int_equal(indices[0], 0);
}

/* The place of each score is the number of those before it. */
static void test_topk_by_counting(void **state) {
    (void)state;
    enum { n = 1000 };
    float scores[n], values[n];
    int32_t indices[n];
    for (int i = 0; i < n; ++i) scores[i] = (float)random_between(0, 40);
    run_topk(scores, n, n, indices, values);
    for (int i = 0; i < n; ++i) {
        int before = 0;
        for (int j = 0; j < n; ++j) before += scores[j] > scores[i] || (scores[j] == scores[i] && j < i);
        assert_int_equal(indices[before], i);
        assert_true(values[before] == scores[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels_keep_the_mean),
        cmocka_unit_test(test_levels_by_area),
        cmocka_unit_test(test_levels_in_half),
        cmocka_unit_test(test_sample_centres),
        cmocka_unit_test(test_sample_between_levels),
        cmocka_unit_test(test_sample_ramp),
        cmocka_unit_test(test_sample_formula),
        cmocka_unit_test(test_pack),
        cmocka_unit_test(test_score_parts),
        cmocka_unit_test(test_score_all_equal_and_nan),
        cmocka_unit_test(test_score_taps),
        cmocka_unit_test(test_score_clipped_cell),
        cmocka_unit_test(test_topk_known),
        cmocka_unit_test(test_topk_by_counting),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
