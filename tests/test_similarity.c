/*
 * test_similarity.c: the encoder's vectors as they are stored, their lengths, and cosines with others: each
 * operation against the reference, and what a stack makes of them.
 */
#include "stack_helper.h"
#include "support_stage.h"
#include "texturevlm/embed.h"

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
    assert_int_equal(
        tvlm_stack_create(
            device, tvlm_stack_params(.width = WIDTH, .height = HEIGHT, .images = images, .format = format),
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
        const double kept =
            (double)(half ? tvlm_half_to_float(tvlm_half_from_float(vector[i])) : vector[i]);
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
            cosines[(size_t)n * cells + i] =
                (float)cosine_of(vectors + i * (size_t)dimension, queries + (size_t)n * (size_t)dimension,
                                 dimension, half);
    return cosines;
}

/* ---- Against the definition: one query, many, words ---- */

/* query_similarity after a question, as it is stored. */
static float *asked(tvlm_stack *stack, int32_t index, const struct tvlm_query *query, size_t *count) {
    tvlm_selection *selection = NULL;
    if (tvlm_select(stack, query, tvlm_select_params(.index = index, .k = 1), &selection) != TVLM_OK)
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

/* What is stored, and lengths: of the padding of the last layer nothing may come in; the second of two
 * images. */
static void operations(const test_target *target, tvlm_device *reference) {
    enum { IMAGES = 2, LAYERS = 7, DIMENSION = 26, CELLS = 19 * 6 };
    const size_t lengths = IMAGES * CELLS * sizeof(float), matrix = CELLS * DIMENSION * sizeof(float);
    uint64_t random = 4;
    float got[CELLS * DIMENSION], expected[CELLS * DIMENSION], inverse[2][IMAGES * CELLS];
    tvlm_device *const devices[2] = {target->device, reference};
    const tvlm_texture shape = test_shape((test_size){19, 6}, LAYERS, IMAGES, target->format);
    test_pair pair = test_pair_create(target, reference, &shape);
    test_pair_fill(&pair, &random, -2.0f, 3.0f, false);
    test_pair_equalise(&pair);
    for (int i = 0; i < 2; ++i) {
        tvlm_features features = {
            .texture = i == 0 ? pair.got : pair.expected, .image = 1, .dimension = DIMENSION};
        const tvlm_backend *backend = devices[i]->backend;
        tvlm_buffer *made = test_buffer(devices[i], matrix, NULL);
        features.inverse = test_buffer(devices[i], lengths, NULL);
        assert_int_equal(backend->feature_matrix(devices[i], &features, made), TVLM_OK);
        assert_int_equal(backend->feature_lengths(devices[i], &features), TVLM_OK);
        test_buffer_take(devices[i], &made, matrix, i == 0 ? got : expected);
        test_buffer_take(devices[i], &features.inverse, lengths, inverse[i]);
    }
    test_compare("matrix", got, expected, CELLS * DIMENSION, 0.0f, 0.0f);
    test_pair_destroy(&pair);
}
