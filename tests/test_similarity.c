/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_similarity.c: the encoder's vectors as they are stored, their lengths, and cosines with others: each
 * operation against the reference, and what a stack makes of them.
 */
#include <float.h>

#include "core/half.h"
#include "stack/input.h"
#include "stack_helper.h"
#include "support_stage.h"
#include "texturevlm/features.h"

enum { WIDTH = 97, HEIGHT = 61 };

/*
 * Sums of up to 1024 products of floats, a part of a unit vector's each: in float they are off by at most
 * 1024 / 4 * 2^-24 of the sum of their magnitudes, which is at most the two lengths' product, and by far less
 * on average.
 */
static const float cosine_maximum = 2e-6f, cosine_mean = 3e-7f;

/* Vectors with something in common, some of them 0; in a half texture every value is a half. */
static float *random_vectors(uint64_t *random, size_t count, int32_t dimension) {
    float *vectors = calloc(count * (size_t)dimension, sizeof *vectors);
    assert_non_null(vectors);
    for (size_t i = 0; i < count; ++i) {
        const bool zero = i > 0 && test_random(random) % 11 == 0;
        const float scale = 0.1f + 3.0f * test_random_unit(random);
        for (int32_t c = 0; c < dimension && !zero; ++c)
            vectors[i * (size_t)dimension + (size_t)c] =
                scale * (test_random_unit(random) - 0.5f + (c % 5 == 0 ? 0.7f : 0.0f));
    }
    return vectors;
}

static tvlm_stack *make_stack(tvlm_device *device, tvlm_format format, int32_t images) {
    tvlm_stack *stack = NULL;
    assert_int_equal(tvlm_stack_create(device,
                                       tvlm_stack_params(.width = WIDTH, .height = HEIGHT, .images = images,
                                                         .format = format),
                                       &stack),
                     TVLM_OK);
    return stack;
}

static void set_features(tvlm_stack *stack, int32_t index, const float *vectors, test_size size,
                         int32_t dimension) {
    if (tvlm_stack_set_grid(stack, index, TVLM_CHANNEL_FEATURE_0,
                            tvlm_grid_input(.data = vectors, .columns = size.width, .rows = size.height,
                                            .channels = dimension)) != TVLM_OK)
        fail_msg("%s", test_last_log());
}

/* The cosine by its definition, of what a texture of that format keeps of the features. */
static double cosine_of(const float *vector, const float *query, int32_t dimension, bool half) {
    double dot = 0.0, a = 0.0, b = 0.0;
    for (int32_t i = 0; i < dimension; ++i) {
        const double kept = (double)(half ? tvlm_half_to_float(tvlm_half_from_float(vector[i])) : vector[i]);
        dot += kept * (double)query[i];
        a += kept * kept;
        b += (double)query[i] * (double)query[i];
    }
    return a > 0.0 ? dot / sqrt(a * b) : 0.0;
}

static float *cosines_of(const float *vectors, size_t cells, const float *queries, int32_t count,
                         int32_t dimension, bool half) {
    float *cosines = malloc((size_t)count * cells * sizeof *cosines);
    assert_non_null(cosines);
    for (int32_t n = 0; n < count; ++n)
        for (size_t i = 0; i < cells; ++i)
            cosines[(size_t)n * cells + i] = (float)cosine_of(
                vectors + i * (size_t)dimension, queries + (size_t)n * (size_t)dimension, dimension, half);
    return cosines;
}

/* ---- Against the definition: one query, many, words ---- */

/* query_similarity after a question, as it is stored. */
static float *asked(tvlm_stack *stack, int32_t index, const struct tvlm_query *query, size_t *count) {
    tvlm_selection *selection = NULL;
    if (tvlm_select(stack, query,
                    tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .score.index = index, .k = 1),
                    &selection) != TVLM_OK)
        fail_msg("%s", test_last_log());
    tvlm_selection_destroy(&selection);
    return read_level(stack, index, TVLM_CHANNEL_QUERY_SIMILARITY, 0, count);
}

static void check_one(tvlm_stack *stack, const char *what, int32_t index, const float *query,
                      int32_t dimension, const float *expected, float extra) {
    size_t count;
    float *got = asked(stack, index, tvlm_query(.vectors = query, .dimension = dimension), &count);
    test_compare(what, got, expected, count, cosine_maximum + extra, cosine_mean + extra);
    free(got);
}

static void check_many(tvlm_stack *stack, const char *what, int32_t index, const float *queries,
                       int32_t queries_count, int32_t dimension, const float *expected, size_t cells,
                       float extra) {
    const size_t all = (size_t)queries_count * cells;
    float *got = malloc(all * sizeof *got), *one = malloc(cells * sizeof *one);
    size_t count;
    assert_true(got != NULL && one != NULL);
    if (tvlm_similarity(stack, index, queries, queries_count, dimension, all, got) != TVLM_OK)
        fail_msg("%s", test_last_log());
    test_compare(what, got, expected, all, cosine_maximum, cosine_mean);
    for (int how = TVLM_COMBINE_MAX; how <= TVLM_COMBINE_MEAN; ++how) {
        for (size_t i = 0; i < cells; ++i) {
            one[i] = how == TVLM_COMBINE_MAX ? -1.0f : 0.0f;
            for (int32_t n = 0; n < queries_count; ++n) {
                const float value = expected[(size_t)n * cells + i];
                one[i] = how == TVLM_COMBINE_MAX ? fmaxf(one[i], value) : one[i] + value;
            }
            if (how == TVLM_COMBINE_MEAN) one[i] /= (float)queries_count;
        }
        float *map = asked(stack, index,
                           tvlm_query(.vectors = queries, .count = queries_count, .dimension = dimension,
                                      .combine = (tvlm_query_combine)how),
                           &count);
        test_compare(what, map, one, cells, cosine_maximum + extra, cosine_mean + extra);
        free(map);
    }
    free(got);
    free(one);
}

static void check_words(tvlm_stack *stack, const char *what, int32_t index, const float *queries,
                        int32_t words, int32_t dimension, const float *expected, size_t cells, float extra) {
    if (tvlm_stack_set_words(stack, index, queries, words, dimension) != TVLM_OK)
        fail_msg("%s", test_last_log());
    for (int32_t n = 0; n < words; ++n) {
        size_t count;
        float *word = read_level(stack, index, TVLM_CHANNEL_WORD_0 + n, 0, &count);
        assert_int_equal(count, cells);
        test_compare(what, word, expected + (size_t)n * cells, cells, cosine_maximum + extra,
                     cosine_mean + extra);
        free(word);
    }
}

static void check_size(const test_target *target, test_size size, int32_t dimension) {
    enum { QUERIES = 5 };
    const bool half = target->format == TVLM_FORMAT_F16;
    const float extra = half ? TEST_HALF_ULP : 0.0f; /* the maps are stored in half, too */
    const size_t cells = (size_t)size.width * (size_t)size.height;
    uint64_t random = (uint64_t)(size.width * 1000 + dimension);
    float *vectors = random_vectors(&random, cells, dimension);
    float *queries = random_vectors(&random, QUERIES, dimension);
    char what[64];
    for (int i = 0; i < QUERIES; ++i) queries[i * dimension] += 2.0f; /* none is 0 */
    float *expected = cosines_of(vectors, cells, queries, QUERIES, dimension, half);
    tvlm_stack *stack = make_stack(target->device, target->format, 2);
    snprintf(what, sizeof what, "%dx%dx%d", (int)size.width, (int)size.height, (int)dimension);
    set_features(stack, 1, vectors, size, dimension);
    check_one(stack, what, 1, queries, dimension, expected, extra);
    check_many(stack, what, 1, queries, QUERIES, dimension, expected, cells, extra);
    check_words(stack, what, 1, queries, QUERIES, dimension, expected, cells, extra);
    /* The other image has none, and neither has its query. */
    refused(tvlm_stack_set_words(stack, 0, queries, QUERIES, dimension), TVLM_ERROR_ARGUMENT, "image 0");
    tvlm_stack_destroy(&stack);
    free(vectors);
    free(queries);
    free(expected);
}

static void sizes(const test_target *target, tvlm_device *reference) {
    (void)reference;
    check_size(target, (test_size){1, 1}, 1);
    check_size(target, (test_size){1, 1}, 768);
    check_size(target, (test_size){9, 5}, 3);
    check_size(target, (test_size){1, 33}, 6);
    if (test_small()) return;
    check_size(target, (test_size){67, 9}, 21);
    check_size(target, (test_size){20, 15}, 512);
    check_size(target, (test_size){12, 7}, 768);
    check_size(target, (test_size){24, 18}, 1024);
}

static void both_tunings(const test_target *target, tvlm_device *reference) {
    test_with_tunings(target, reference, sizes);
}

static void test_against_definition(void **state) {
    (void)state;
    test_on_targets(both_tunings);
}

/* ---- The operations that a stack's results do not show ---- */

/* Of the second of two images: the matrix of a level exactly, without the padding of the last layer and behind
 * what is there, and lengths. */
static void operations(const test_target *target, tvlm_device *reference) {
    enum { IMAGES = 2, LAYERS = 7, DIMENSION = 26, CELLS = 19 * 6, UPPER = 9 * 3, ALL = CELLS + UPPER };
    const size_t lengths = IMAGES * CELLS * sizeof(float), matrix = ALL * DIMENSION * sizeof(float);
    uint64_t random = 4;
    float got[ALL * DIMENSION], expected[ALL * DIMENSION], inverse[2][IMAGES * CELLS];
    tvlm_device *const devices[2] = {target->device, reference};
    tvlm_texture shape = test_shape((test_size){19, 6}, LAYERS, IMAGES, target->format);
    shape.levels = tvlm_level_count(19, 6);
    test_pair pair = test_pair_create(target, reference, &shape);
    test_pair_fill(&pair, &random, -2.0f, 3.0f, false);
    test_pair_levels(&pair);
    for (int i = 0; i < 2; ++i) {
        tvlm_features features = {
            .texture = i == 0 ? pair.got : pair.expected, .image = 1, .dimension = DIMENSION};
        const tvlm_backend *backend = devices[i]->backend;
        tvlm_buffer *made = test_buffer(devices[i], matrix, NULL);
        features.inverse = test_buffer(devices[i], lengths, NULL);
        for (int32_t level = 0; level < 2; ++level)
            assert_int_equal(backend->feature_matrix(devices[i], &features, level, made,
                                                     level > 0 ? CELLS * DIMENSION : 0),
                             TVLM_OK);
        features.dimension = 4 * LAYERS; /* behind the last component there are zeros, but not here */
        assert_int_equal(backend->feature_lengths(devices[i], &features), TVLM_OK);
        test_buffer_take(devices[i], &made, matrix, i == 0 ? got : expected);
        test_buffer_take(devices[i], &features.inverse, lengths, inverse[i]);
    }
    test_compare("matrix", got, expected, ALL * DIMENSION, 0.0f, 0.0f);
    test_compare("1 / length", inverse[0] + CELLS, inverse[1] + CELLS, CELLS, 1e-6f, 1e-7f);
    test_pair_destroy(&pair);
}

/* ---- Vectors of any length ---- */

/* The same on the device and on the reference; of a vector that is none, what number is told. */
static void check_units(const test_target *target, tvlm_device *reference, const float *vectors,
                        const float *mean, int32_t count, int32_t dimension, int32_t bad) {
    const int32_t stride = dimension + 5;
    const size_t bytes = (size_t)count * (size_t)dimension * sizeof(float);
    const size_t out = (size_t)count * (size_t)stride;
    tvlm_device *const devices[2] = {target->device, reference};
    float *units[2];
    for (int i = 0; i < 2; ++i) {
        tvlm_device *const device = devices[i];
        float *padded = malloc(bytes + 8);
        int32_t found = -2;
        units[i] = malloc(out * sizeof(float));
        assert_true(padded != NULL && units[i] != NULL);
        padded[0] = padded[1] = 1e9f;
        memcpy(padded + 2, vectors, bytes);
        tvlm_units asked = {
            .vectors = test_buffer(device, bytes + 8, padded),
            .out = test_buffer(device, out * sizeof(float), NULL),
            .mean = mean != NULL ? test_buffer(device, (size_t)dimension * sizeof(float), mean) : NULL,
            .offset = 8,
            .count = count,
            .dimension = dimension,
            .stride = stride};
        assert_int_equal(device->backend->unit_vectors(device, &asked, &found), TVLM_OK);
        assert_int_equal(found, bad);
        assert_int_equal(device->backend->unit_vectors(device, &asked, NULL), TVLM_OK);
        test_buffer_take(device, &asked.out, out * sizeof(float), units[i]);
        device->backend->buffer_destroy(device, &asked.vectors);
        if (mean != NULL) device->backend->buffer_destroy(device, &asked.mean);
        free(padded);
    }
    test_compare("unit vectors", units[0], units[1], out, 2e-6f, 3e-7f);
    for (size_t i = 0; bad >= 0 && i < (size_t)stride; ++i)
        assert_true(units[0][(size_t)bad * (size_t)stride + i] == 0.0f);
    free(units[0]);
    free(units[1]);
}

static void units(const test_target *target, tvlm_device *reference) {
    static const int32_t dimensions[] = {1, 7, 64, 768, 1025};
    static const float none[] = {0.0f, 1e-20f, NAN, INFINITY};
    uint64_t random = 77;
    for (size_t d = 0; d < sizeof dimensions / sizeof *dimensions; ++d) {
        const int32_t dimension = dimensions[d];
        const size_t all = 5 * (size_t)dimension;
        float *vectors = malloc(all * sizeof *vectors), *mean = malloc((size_t)dimension * sizeof *mean);
        assert_true(vectors != NULL && mean != NULL);
        for (size_t i = 0; i < all; ++i) vectors[i] = 0.1f + test_random_unit(&random);
        for (size_t i = 0; i < (size_t)dimension; ++i) mean[i] = test_random_unit(&random) - 1.0f;
        /* Lengths whose squares a float does not hold. */
        for (size_t i = 0; i < (size_t)dimension; ++i) vectors[i] *= 1e30f;
        for (size_t i = (size_t)dimension; i < 2 * (size_t)dimension; ++i) vectors[i] *= 1e-12f;
        check_units(target, reference, vectors, NULL, 5, dimension, -1);
        check_units(target, reference, vectors, mean, 5, dimension, -1);
        for (size_t n = 0; n < sizeof none / sizeof *none; ++n) {
            for (size_t i = 3 * (size_t)dimension; i < 4 * (size_t)dimension; ++i) vectors[i] = 0.0f;
            vectors[4 * (size_t)dimension - 1] = none[n];
            check_units(target, reference, vectors, NULL, 5, dimension, 3);
        }
        for (size_t i = 0; i < (size_t)dimension; ++i) vectors[2 * (size_t)dimension + i] = mean[i];
        check_units(target, reference, vectors, mean, 3, dimension, 2); /* nothing is left of it */
        free(vectors);
        free(mean);
    }
}

static void test_units(void **state) {
    (void)state;
    test_on_targets(units);
}

static void both_operations(const test_target *target, tvlm_device *reference) {
    test_with_tunings(target, reference, operations);
}

static void test_operations(void **state) {
    (void)state;
    test_on_targets(both_operations);
}

/* ---- Features as channels ---- */

static size_t bytes_of(tvlm_stack *stack) {
    tvlm_stack_info info;
    assert_int_equal(tvlm_stack_get_info(stack, &info), TVLM_OK);
    return info.device_bytes;
}

/* As given, from the host and the device, float and half; levels are their means, and are made, with their
 * memory, when a channel is read. */
static void check_channels(tvlm_device *device, tvlm_format format) {
    enum { COLUMNS = 8, ROWS = 4, DIMENSION = 10, CELLS = COLUMNS * ROWS };
    uint64_t random = 9;
    float *vectors = random_vectors(&random, CELLS, DIMENSION), expected[CELLS];
    uint16_t halves[CELLS * DIMENSION];
    tvlm_stack *stack = make_stack(device, format, 2);
    tvlm_buffer *buffer = NULL;
    tvlm_half_from_floats(vectors, halves, CELLS * DIMENSION);
    tvlm_half_to_floats(halves, vectors, CELLS * DIMENSION); /* either format holds them */
    struct tvlm_grid_input input = {
        .data = halves, .columns = COLUMNS, .rows = ROWS, .channels = DIMENSION, .type = TVLM_VALUE_F16};
    assert_int_equal(device->backend->buffer_create(device, 8 + sizeof halves, &buffer), TVLM_OK);
    assert_int_equal(device->backend->buffer_write(device, buffer, 8, sizeof halves, halves), TVLM_OK);
    for (int way = 0; way < 3; ++way) {
        const size_t texel = format == TVLM_FORMAT_F16 && test_is_opencl(device) ? 8 : 16,
                     before = way == 0 ? bytes_of(stack) : 0;
        if (way == 1) input.data = vectors, input.type = TVLM_VALUE_F32;
        if (way == 2) input.data = NULL, input.type = TVLM_VALUE_F16;
        if (tvlm_stack_input(stack, 1, TVLM_CHANNEL_FEATURE_0 + 3, &input, way == 2 ? buffer : NULL,
                             way == 2 ? 8 : 0) != TVLM_OK)
            fail_msg("%s", test_last_log());
        if (way == 0) assert_int_equal(bytes_of(stack) - before, 2 * 3 * CELLS * texel); /* level 0 alone */
        for (int32_t c = 0; c < DIMENSION + 2; ++c) {
            size_t count;
            float *level0 = read_level(stack, 1, TVLM_CHANNEL_FEATURE_0 + c, 0, &count);
            for (size_t i = 0; i < CELLS; ++i)
                assert_true(level0[i] == (c < DIMENSION ? vectors[i * DIMENSION + (size_t)c] : 0.0f));
            free(level0);
            float *level1 = read_level(stack, 1, TVLM_CHANNEL_FEATURE_0 + c, 1, &count);
            for (size_t i = 0; c < DIMENSION && i < CELLS / 4; ++i) {
                const size_t at = (2 * (i / 4) * COLUMNS + 2 * (i % 4)) * DIMENSION + (size_t)c;
                expected[i] = (vectors[at] + vectors[at + DIMENSION] + vectors[at + COLUMNS * DIMENSION] +
                               vectors[at + (COLUMNS + 1) * DIMENSION]) /
                              4.0f;
            }
            if (c < DIMENSION)
                test_compare("level 1", level1, expected, CELLS / 4,
                             format == TVLM_FORMAT_F16 ? 4.0f * TEST_HALF_ULP : 1e-6f, TEST_HALF_ULP);
            free(level1);
            float *other = read_level(stack, 0, TVLM_CHANNEL_FEATURE_0 + c, 0, &count);
            for (size_t i = 0; i < count; ++i) assert_true(other[i] == 0.0f);
            free(other);
        }
        /* With levels now; a question is answered from them all the same. */
        float *cosines = cosines_of(vectors, CELLS, vectors, 1, DIMENSION, false);
        check_one(stack, "with levels", 1, vectors, DIMENSION, cosines,
                  format == TVLM_FORMAT_F16 ? TEST_HALF_ULP : 0.0f);
        free(cosines);
    }
    device->backend->buffer_destroy(device, &buffer);
    tvlm_stack_destroy(&stack);
    free(vectors);
}

/* ---- Words, queries and the features that they are of ---- */

/* What was made from features that are gone is gone with them; one image's, not the other's. */
static void check_lifetimes(tvlm_device *device, tvlm_format format) {
    static const float first[] = {1, 0, 0, 0, 3, 0}, second[] = {0, 2, 0, 0, 0, 5}, query[] = {4, 0, 0};
    size_t count;
    const test_size size = {2, 1};
    tvlm_stack *stack = make_stack(device, format, 2);
    set_features(stack, 0, first, size, 3);
    set_features(stack, 1, first, size, 3);
    for (int32_t i = 0; i < 2; ++i) assert_int_equal(tvlm_stack_set_words(stack, i, query, 1, 3), TVLM_OK);
    float *map = asked(stack, 0, tvlm_query(.vectors = query, .dimension = 3), &count);
    assert_true(count == 2 && map[0] == 1.0f && map[1] == 0.0f);
    free(map);
    set_features(stack, 0, second, size, 3);
    for (int32_t i = 0; i < 2; ++i) {
        map = read_level(stack, i, TVLM_CHANNEL_WORD_0, 0, &count);
        assert_true(map[0] == (i == 0 ? 0.0f : 1.0f));
        free(map);
    }
    map = read_level(stack, 0, TVLM_CHANNEL_QUERY_SIMILARITY, 0, &count);
    for (size_t i = 0; i < count; ++i) assert_true(map[i] == 0.0f);
    free(map);
    map = asked(stack, 0, tvlm_query(.vectors = query, .dimension = 3), &count);
    assert_true(count == 2 && map[0] == 0.0f && map[1] == 0.0f);
    free(map);
    /* The matrix and the lengths follow the image that asks. Three times the inverse of a length of 3 is 1 but
     * for a rounding. */
    float got[2];
    static const float turned[] = {0, 1, 0}, ones[2][2] = {{1, 0}, {0, 1}};
    for (int32_t i = 0; i < 2; ++i) {
        assert_int_equal(tvlm_similarity(stack, i, turned, 1, 3, 2, got), TVLM_OK);
        test_compare("cosines of an image", got, ones[i], 2, 2.0f * FLT_EPSILON, 2.0f * FLT_EPSILON);
    }
    assert_int_equal(tvlm_stack_clear_grid(stack, 1, TVLM_CHANNEL_WORD_0 + 5), TVLM_OK);
    map = read_level(stack, 1, TVLM_CHANNEL_WORD_0, 0, &count);
    assert_true(map[0] == 0.0f);
    free(map);
    /* Another size and dimension, once nobody has the old one. */
    assert_int_equal(tvlm_stack_clear_grid(stack, -1, TVLM_CHANNEL_FEATURE_0), TVLM_OK);
    refused(tvlm_similarity(stack, 1, turned, 1, 3, 2, got), TVLM_ERROR_ARGUMENT, "no features");
    set_features(stack, 1, first, (test_size){1, 1}, 6);
    assert_int_equal(tvlm_similarity(stack, 1, first, 1, 6, 1, got), TVLM_OK);
    test_compare("itself", got, (const float[]){1.0f}, 1, 1e-6f, 1e-6f);
    tvlm_stack_destroy(&stack);
}

/* Features of a patch size reach beyond the image, or not to its edge; so does what is asked of them. */
static void check_extent(tvlm_device *device, tvlm_format format) {
    float vectors[7 * 5 * 2], got[3];
    static const float query[] = {1, 0};
    static const int32_t channels[] = {TVLM_CHANNEL_QUERY_SIMILARITY, TVLM_CHANNEL_FEATURE_0,
                                       TVLM_CHANNEL_WORD_0};
    for (int i = 0; i < 7 * 5; ++i) {
        vectors[2 * i] = i % 7 == 6 ? 1.0f : 0.0f; /* the last column: from pixel 84 on */
        vectors[2 * i + 1] = 1.0f - vectors[2 * i];
    }
    tvlm_stack *stack = make_stack(device, format, 1);
    struct tvlm_grid_input input = {.data = vectors, .columns = 7, .rows = 5, .channels = 2, .cell = 14.0f};
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0, &input), TVLM_OK);
    size_t count;
    free(asked(stack, 0, tvlm_query(.vectors = query, .dimension = 2), &count));
    assert_int_equal(tvlm_stack_set_words(stack, 0, query, 1, 2), TVLM_OK);
    for (int i = 0; i < 3; ++i) {
        const float x[] = {76.0f, 84.0f, 92.0f}, expected[] = {0.0f, 0.5f, 1.0f};
        const tvlm_sample_point point = {x[i], 30.0f, 0.0f, 0};
        assert_int_equal(tvlm_stack_sample(stack, &point, 1, channels, 3, got), TVLM_OK);
        for (int c = 0; c < 3; ++c) assert_true(fabsf(got[c] - expected[i]) < 5e-3f + 0.08f * (i != 1));
    }
    input.cell = 20.0f;
    refused(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0, &input), TVLM_ERROR_ARGUMENT,
            "more than a cell off");
    tvlm_stack_destroy(&stack);
}

static void check_refusals(tvlm_device *device, tvlm_format format) {
    float vectors[4 * 3] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, got[8];
    float bad[6] = {1, 0, 0, 0, NAN, 0}, zero[6] = {1, 0, 0, 0, 0, 0}, mean[3] = {1, 0, 0};
    tvlm_stack *stack = make_stack(device, format, 1);
    tvlm_selection *selection = NULL;
    size_t count;
#define ASK(...)                                                                                             \
    tvlm_select(stack, tvlm_query(__VA_ARGS__), tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = 1),  \
                &selection)
    refused(ASK(.vectors = vectors, .dimension = 3), TVLM_ERROR_ARGUMENT, "no features");
    set_features(stack, 0, vectors, (test_size){2, 2}, 3);
    refused(ASK(.vectors = vectors, .dimension = 4), TVLM_ERROR_ARGUMENT,
            "queries of 4 dimensions, but the features have 3");
    refused(ASK(.vectors = vectors), TVLM_ERROR_ARGUMENT, "0 dimensions");
    refused(ASK(.vectors = vectors, .dimension = 3, .count = -1), TVLM_ERROR_ARGUMENT, "-1 vectors");
    refused(ASK(.vectors = vectors, .dimension = 3, .combine = (tvlm_query_combine)7), TVLM_ERROR_ARGUMENT,
            "combination 7");
    refused(ASK(.columns = 3), TVLM_ERROR_ARGUMENT, "without");
    refused(ASK(.similarity = vectors, .columns = 1, .rows = 1, .vectors = vectors, .dimension = 3),
            TVLM_ERROR_ARGUMENT, "and with vectors");
    refused(ASK(.vectors = bad + 3, .dimension = 3), TVLM_ERROR_ARGUMENT, "the query: value 1 is not finite");
    refused(ASK(.vectors = bad, .count = 2, .dimension = 3), TVLM_ERROR_ARGUMENT,
            "query 1: value 1 is not finite");
    refused(ASK(.vectors = zero + 3, .dimension = 3), TVLM_ERROR_ARGUMENT, "the query is a zero vector");
    refused(ASK(.vectors = zero, .count = 2, .dimension = 3), TVLM_ERROR_ARGUMENT,
            "query 1 is a zero vector");
    refused(ASK(.vectors = zero, .dimension = 3, .mean = mean), TVLM_ERROR_ARGUMENT,
            "zero vector, less the mean");
    assert_null(selection);
    refused(tvlm_stack_set_words(stack, 0, vectors, 65, 3), TVLM_ERROR_ARGUMENT, "65 words");
    refused(tvlm_stack_set_words(stack, 0, NULL, 1, 3), TVLM_ERROR_ARGUMENT, "no array");
    refused(tvlm_stack_set_words(stack, 1, vectors, 1, 3), TVLM_ERROR_ARGUMENT, "image 1");
    refused(tvlm_similarity(stack, 0, vectors, 2, 3, 7, got), TVLM_ERROR_ARGUMENT, "room for 7");
    refused(tvlm_similarity(stack, 0, vectors, 2, 2, 8, got), TVLM_ERROR_ARGUMENT, "have 3");
    /* What is not finite is refused by its place, and nothing changes; or it is 0. */
    struct tvlm_grid_input input = {.data = vectors, .columns = 2, .rows = 2, .channels = 3};
    vectors[10] = INFINITY;
    refused(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0, &input), TVLM_ERROR_ARGUMENT,
            "value 10 (row 1, column 1, channel 1) is not finite");
    float *kept = read_level(stack, 0, TVLM_CHANNEL_FEATURE_0 + 1, 0, &count);
    assert_true(kept[3] == 11.0f);
    free(kept);
    input.replace_nonfinite = true;
    assert_int_equal(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0, &input), TVLM_OK);
    kept = read_level(stack, 0, TVLM_CHANNEL_FEATURE_0 + 1, 0, &count);
    assert_true(kept[3] == 0.0f && kept[2] == 8.0f);
    free(kept);
    input.channels = 4097;
    refused(tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0, &input), TVLM_ERROR_ARGUMENT,
            "features: a grid of 4097 channels; it has 1 to 4096");
    tvlm_stack_destroy(&stack);
}

/* The mean comes off before the length is taken. */
static void check_mean(tvlm_device *device, tvlm_format format) {
    static const float vectors[] = {1, 0, 0, 1, -1, -1, 0, 0}, query[] = {3, 4}, mean[] = {2, 4};
    static const float expected[] = {1.0f, 0.0f, -0.70710678f, 0.0f};
    size_t count;
    tvlm_stack *stack = make_stack(device, format, 1);
    set_features(stack, 0, vectors, (test_size){4, 1}, 2);
    float *map = asked(stack, 0, tvlm_query(.vectors = query, .dimension = 2, .mean = mean), &count);
    test_compare("less the mean", map, expected, 4, 1e-6f + TEST_HALF_ULP, TEST_HALF_ULP);
    free(map);
    tvlm_stack_destroy(&stack);
}

/* Components that are large, and lengths next to nothing: finite, and alike everywhere. */
static void check_magnitudes(tvlm_device *device, tvlm_format format) {
    const float most = format == TVLM_FORMAT_F16 ? 60000.0f : 9e14f;
    const float vectors[] = {most, most, 1e-17f, 1e-17f, 3e-5f, 0, -most, 0}, query[] = {1e30f, 1e30f};
    static const float expected[] = {1.0f, 0.0f, 0.70710678f, -0.70710678f};
    size_t count;
    tvlm_stack *stack = make_stack(device, format, 1);
    set_features(stack, 0, vectors, (test_size){4, 1}, 2);
    float *map = asked(stack, 0, tvlm_query(.vectors = query, .dimension = 2), &count);
    test_compare("magnitudes", map, expected, 4, 1e-6f + TEST_HALF_ULP, TEST_HALF_ULP);
    free(map);
    tvlm_stack_destroy(&stack);
}

/* ---- The pass before ---- */

/* Scores that rise with y are read where they were kept, as those that rise with x are (check_pass). */
static void check_pass_down(tvlm_device *device, tvlm_format format) {
    enum { COLUMNS = 5, ROWS = 3, CELLS = COLUMNS * ROWS, STRIDE = 21 }; /* of 97 x 61 pixels */
    static const int32_t y = TVLM_CHANNEL_Y, previous = TVLM_CHANNEL_PREVIOUS_PASS;
    static const float one = 1.0f;
    const tvlm_scorer ramp = {.channel_count = 1, .channels = &y, .taps = 1, .weights = &one},
                      again = {.channel_count = 1, .channels = &previous, .taps = 1, .weights = &one};
    float scores[CELLS], first[CELLS], *kept[2];
    size_t count;
    tvlm_stack *stack = make_stack(device, format, 2);
    for (int32_t i = 1; i >= 0; --i) { /* what is kept of one image leaves that of the other as it is */
        assert_int_equal(
            tvlm_score(stack, NULL,
                       tvlm_score_params(.index = i, .scorer = &ramp, .stride = STRIDE, .keep_pass = true),
                       CELLS, first),
            TVLM_OK);
        kept[i] = read_level(stack, 1, previous, 0, &count);
        assert_int_equal(count, CELLS);
    }
    assert_memory_equal(kept[0], kept[1], CELLS * sizeof **kept);
    for (int32_t i = 0; i < 2; ++i) free(kept[i]);
    assert_int_equal(
        tvlm_score(stack, NULL, tvlm_score_params(.scorer = &again, .stride = STRIDE), CELLS, scores),
        TVLM_OK);
    const float low = first[0], span = first[CELLS - 1] - low;
    for (int i = 0; i < CELLS; ++i) assert_true(fabsf(scores[i] - (first[i] - low) / span) < 0.2f);
    tvlm_stack_destroy(&stack);
}

/* The scores of a pass, brought to [0, 1], are read by the next; a new picture has none. */
static void check_pass(tvlm_device *device, tvlm_format format) {
    enum { COLUMNS = 7, ROWS = 4, CELLS = COLUMNS * ROWS }; /* of 97 x 61 pixels by 16 */
    static const int32_t x = TVLM_CHANNEL_X, previous = TVLM_CHANNEL_PREVIOUS_PASS;
    static const float one = 1.0f, three = 3.0f;
    const tvlm_scorer ramp = {.channel_count = 1, .channels = &x, .taps = 1, .weights = &three, .bias = 5.0f},
                      again = {.channel_count = 1, .channels = &previous, .taps = 1, .weights = &one};
    float scores[CELLS], first[CELLS];
    size_t count;
    tvlm_stack *stack = make_stack(device, format, 2);
    for (int32_t i = 0; i < 2; ++i)
        assert_int_equal(tvlm_score(stack, NULL,
                                    tvlm_score_params(.index = i, .scorer = &ramp, .keep_pass = i == 1),
                                    CELLS, first),
                         TVLM_OK);
    float *kept = read_level(stack, 1, previous, 0, &count);
    assert_int_equal(count, CELLS);
    const float low = first[0], span = first[COLUMNS - 1] - low;
    for (int i = 0; i < CELLS; ++i) first[i] = (first[i] - low) / span;
    test_compare("kept", kept, first, CELLS, 1e-6f + TEST_HALF_ULP, TEST_HALF_ULP);
    free(kept);
    /* Cells are read at their level, by whose filter they are less far apart. */
    assert_int_equal(tvlm_score(stack, NULL,
                                tvlm_score_params(.index = 1, .scorer = &again, .keep_pass = true), CELLS,
                                scores),
                     TVLM_OK);
    for (int i = 0; i < CELLS; ++i) assert_true(fabsf(scores[i] - first[i]) < 0.15f);
    assert_int_equal(tvlm_score(stack, NULL, tvlm_score_params(.index = 0, .scorer = &again), CELLS, scores),
                     TVLM_OK);
    for (int i = 0; i < CELLS; ++i) assert_true(scores[i] == 0.0f);
    /* A selection keeps its own: of other cells, so that the last one goes. */
    tvlm_selection *selection = NULL;
    assert_int_equal(
        tvlm_select(stack, NULL,
                    tvlm_select_params(.strategy = TVLM_STRATEGY_GRID, .k = 1, .score.stride = 32,
                                       .score.scorer = &ramp, .score.keep_pass = true),
                    &selection),
        TVLM_OK);
    tvlm_selection_destroy(&selection);
    kept = read_level(stack, 0, previous, 0, &count);
    assert_true(count == 8 && kept[0] == 0.0f && kept[3] == 1.0f);
    free(kept);
    kept = read_level(stack, 1, previous, 0, &count);
    assert_true(count == 8 && kept[3] == 0.0f);
    free(kept);
    const uint8_t pixel = 77;
    const tvlm_image image = u8_image(&pixel, 1, 1, 1);
    assert_int_equal(tvlm_stack_set_image(stack, 0, &image), TVLM_OK);
    kept = read_level(stack, 0, previous, 0, &count);
    for (size_t i = 0; i < count; ++i) assert_true(kept[i] == 0.0f);
    free(kept);
    tvlm_stack_destroy(&stack);
}

DEVICE_CHECKS(check_channels, check_lifetimes, check_extent, check_refusals, check_mean, check_magnitudes,
              check_pass, check_pass_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_definition),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_reference_f32),
        cmocka_unit_test(test_reference_f16),
        cmocka_unit_test(test_targets),
    };
    return test_exit(cmocka_run_group_tests(tests, NULL, NULL));
}
