/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_vocab.c: the nearest centres on every device are those of a search in double, also where they are a rounding apart;
 * training finds clumps, gives the same to the bit on every device, and fills no room with centres that nothing comes to; questions; files;
 * what is refused.
 */
#include "stack_helper.h"

#include <unistd.h>

#include "texturevlm/io.h"
#include "texturevlm/lab/io_vocab.h"
#include "texturevlm/lab/vocab.h"

/* ---- Data ---- */

static float *random_numbers(uint64_t *random, size_t count) {
    float *const made = malloc((count + 1) * sizeof *made);
    assert_non_null(made);
    for (size_t i = 0; i < count; ++i) made[i] = 2.0f * test_random_unit(random) - 1.0f;
    return made;
}

/* Vectors around `clumps` directions, in turn, with lengths of all sizes. */
static float *clumped(uint64_t seed, int32_t count, int32_t dimension, int32_t clumps, float spread) {
    const size_t width = (size_t)dimension;
    float *const directions = random_numbers(&seed, (size_t)clumps * width);
    float *const vectors = random_numbers(&seed, (size_t)count * width);
    for (size_t i = 0; i < (size_t)count; ++i) {
        const float length = 0.01f + 50.0f * test_random_unit(&seed);
        const float *const direction = directions + i % (size_t)clumps * width;
        for (size_t d = 0; d < width; ++d)
            vectors[i * width + d] = length * (direction[d] + spread * vectors[i * width + d]);
    }
    free(directions);
    return vectors;
}

static double length_of(const float *v, int32_t dimension) {
    double sum = 0.0;
    for (int32_t d = 0; d < dimension; ++d) sum += (double)v[d] * (double)v[d];
    return sqrt(sum);
}

static void make_unit(float *vectors, int32_t count, int32_t dimension, double length) {
    for (int32_t i = 0; i < count; ++i) {
        float *const v = vectors + (size_t)i * (size_t)dimension;
        const double own = length_of(v, dimension);
        for (int32_t d = 0; d < dimension; ++d) v[d] = (float)(length * (double)v[d] / own);
    }
}

static tvlm_vocab *vocab_of(const float *centres, int32_t count, int32_t dimension) {
    tvlm_vocab *vocab = NULL;
    if (tvlm_vocab_create(tvlm_vocab_params(.dimension = dimension, .count = count, .centres = centres),
                          &test_log, &vocab) != TVLM_OK)
        fail_msg("%s", test_last_log());
    return vocab;
}

/* ---- Nearest centres ---- */

/* The distance of a vector at length 1, as a float, from a centre. */
static double distance(const float *vector, double length, const float *centre, int32_t dimension) {
    double sum = 0.0;
    for (int32_t d = 0; d < dimension; ++d) {
        const double unit = length > 0.0 ? (double)(float)((double)vector[d] / length) : 0.0;
        sum += (unit - (double)centre[d]) * (unit - (double)centre[d]);
    }
    return sqrt(sum);
}

static void check_nearest(const float *vectors, int32_t count, const float *centres, int32_t n,
                          int32_t dimension, const int32_t *ids, const float *residuals) {
    for (int32_t i = 0; i < count; ++i) {
        const float *const v = vectors + (size_t)i * (size_t)dimension;
        const double length = length_of(v, dimension);
        double least = INFINITY;
        for (int32_t j = 0; j < n; ++j) {
            const double away = distance(v, length, centres + (size_t)j * (size_t)dimension, dimension);
            least = away < least ? away : least;
        }
        if (ids[i] < 0 || ids[i] >= n) fail_msg("vector %d: centre %d of %d", (int)i, (int)ids[i], (int)n);
        const double found = distance(v, length, centres + (size_t)ids[i] * (size_t)dimension, dimension);
        /* Squares are added up in another order than products, which counts in the last digits of a double. */
        if (!(found * found <= least * least + 1e-14))
            fail_msg("vector %d: centre %d is %.17g away, another one %.17g", (int)i, (int)ids[i], found,
                     least);
        if (!(fabs((double)residuals[i] - found) <= 1e-6))
            fail_msg("vector %d: a residual of %g, not %g", (int)i, (double)residuals[i], found);
    }
}

/* Assigns on a device and on the reference, to the same bits, beside guards. free() the ids. */
static int32_t *assign_case(tvlm_device *device, const float *vectors, int32_t count, const float *centres,
                            int32_t n, int32_t dimension) {
    const size_t size = (size_t)count;
    int32_t *const ids = malloc((size + 1) * sizeof *ids), *const others = malloc(size * sizeof *others);
    float *const residuals = malloc((size + 1) * sizeof *residuals);
    assert_true(ids != NULL && others != NULL && residuals != NULL);
    tvlm_vocab *vocab = vocab_of(centres, n, dimension);
    tvlm_device *reference = open_reference();
    memset(ids, -1, (size + 1) * sizeof *ids);
    residuals[count] = 7.0f;
    if (tvlm_vocab_assign(device, vocab, vectors, count, ids, residuals) != TVLM_OK)
        fail_msg("%s", test_last_log());
    assert_true(ids[count] == -1 && residuals[count] == 7.0f);
    check_nearest(vectors, count, centres, n, dimension, ids, residuals);
    assert_int_equal(tvlm_vocab_assign(reference, vocab, vectors, count, others, NULL), TVLM_OK);
    assert_memory_equal(ids, others, size * sizeof *ids);
    tvlm_device_destroy(&reference);
    tvlm_vocab_destroy(&vocab);
    free(others);
    free(residuals);
    return ids;
}

static void random_case(tvlm_device *device, uint64_t seed, int32_t count, int32_t n, int32_t dimension) {
    float *const centres = random_numbers(&seed, (size_t)n * (size_t)dimension);
    float *const vectors = clumped(seed, count, dimension, 5, 0.5f);
    make_unit(centres, n, dimension, 0.9);
    free(assign_case(device, vectors, count, centres, n, dimension));
    free(centres);
    free(vectors);
}

static void check_assign(tvlm_device *device, tvlm_format format) {
    if (format == TVLM_FORMAT_F16) return; /* which it does not know */
    random_case(device, 1, 1, 1, 1);
    random_case(device, 2, 33, 7, 5);
    if (test_small()) return;
    random_case(device, 3, 1100, 40, 33);  /* several blocks */
    random_case(device, 4, 150, 5000, 16); /* blocks of fewer rows */
}

/* Centres a rounding apart, of which products of floats cannot tell which is the nearest; the same centre twice; and a
 * vector without a length. */
static void check_close(tvlm_device *device, tvlm_format format) {
    enum { N = 48, D = 96, COUNT = 40 };
    uint64_t seed = 9;
    if (format == TVLM_FORMAT_F16) return;
    float *const centres = random_numbers(&seed, (size_t)N * D);
    make_unit(centres, 1, D, 1.0);
    for (int32_t j = 1; j < N; ++j)
        for (int32_t d = 0; d < D; ++d)
            centres[j * D + d] = centres[d] + (test_random(&seed) % 3 == 0 ? 3e-8f : 0.0f);
    memcpy(centres + (N - 1) * D, centres + 5 * D, D * sizeof *centres);
    float *const vectors = random_numbers(&seed, (size_t)COUNT * D);
    for (int32_t i = 0; i < COUNT; ++i)
        for (int32_t d = 0; d < D; ++d) vectors[i * D + d] = centres[d] + 0.01f * vectors[i * D + d];
    memcpy(vectors, centres + 5 * D, D * sizeof *vectors);
    memset(vectors + D, 0, D * sizeof *vectors);
    int32_t *const ids = assign_case(device, vectors, COUNT, centres, N, D);
    bool several = false;
    for (int32_t i = 2; i < COUNT; ++i) {
        several = several || ids[i] != ids[2];
        assert_int_not_equal(ids[i], N - 1); /* the same as 5, which comes first */
    }
    assert_true(several);
    free(ids);
    free(centres);
    free(vectors);
}

/* ---- Training ---- */

static tvlm_vocab *train(tvlm_device *device, const float *vectors, int32_t count, int32_t piece,
                         struct tvlm_vocab_trainer_params params) {
    tvlm_vocab_trainer *trainer = NULL;
    tvlm_vocab *vocab = NULL;
    if (tvlm_vocab_trainer_create(device, &params, &trainer) != TVLM_OK) fail_msg("%s", test_last_log());
    for (int32_t n = 0; n < count; n += piece)
        assert_int_equal(tvlm_vocab_trainer_add(trainer, vectors + (size_t)n * (size_t)params.dimension,
                                                count - n < piece ? count - n : piece),
                         TVLM_OK);
    if (tvlm_vocab_trainer_finish(trainer, &vocab) != TVLM_OK) fail_msg("%s", test_last_log());
    tvlm_vocab_trainer_destroy(&trainer);
    return vocab;
}

static struct tvlm_vocab_params params_of(const tvlm_vocab *vocab) {
    struct tvlm_vocab_params p;
    assert_int_equal(tvlm_vocab_get_params(vocab, &p), TVLM_OK);
    return p;
}

static void same_centres(const tvlm_vocab *a, const tvlm_vocab *b, bool same) {
    const struct tvlm_vocab_params p = params_of(a), q = params_of(b);
    assert_true(p.count == q.count && p.dimension == q.dimension && p.vectors == q.vectors);
    const size_t bytes = (size_t)p.count * (size_t)p.dimension * sizeof *p.centres;
    if ((memcmp(p.centres, q.centres, bytes) == 0 && p.error == q.error) != same)
        fail_msg("the centres are %sthe same", same ? "not " : "");
}

/* Each clump gets a centre, which is the mean of its vectors, and the error is that of these means. */
static void check_clumps(tvlm_device *device, tvlm_format format) {
    enum { CLUMPS = 12, COUNT = 600, D = 24 };
    if (format == TVLM_FORMAT_F16) return;
    float *const vectors = clumped(5, COUNT, D, CLUMPS, 0.1f);
    tvlm_vocab *vocab =
        train(device, vectors, COUNT, 97,
              (struct tvlm_vocab_trainer_params){.dimension = D, .count = CLUMPS, .rounds = 9, .batch = 50});
    const struct tvlm_vocab_params p = params_of(vocab);
    assert_true(p.count == CLUMPS && p.dimension == D && p.vectors == COUNT);
    int32_t ids[COUNT];
    float residuals[COUNT];
    double error = 0.0;
    assert_int_equal(tvlm_vocab_assign(device, vocab, vectors, COUNT, ids, residuals), TVLM_OK);
    for (int32_t i = 0; i < COUNT; ++i) {
        assert_int_equal(ids[i], ids[i % CLUMPS]);
        error += (double)residuals[i] * (double)residuals[i] / COUNT;
    }
    for (int32_t a = 0; a < CLUMPS; ++a) {
        double mean[D] = {0};
        for (int32_t b = 0; b < a; ++b) assert_int_not_equal(ids[a], ids[b]);
        for (int32_t i = a; i < COUNT; i += CLUMPS)
            for (int32_t d = 0; d < D; ++d)
                mean[d] += (double)vectors[i * D + d] / length_of(vectors + i * D, D) / (COUNT / CLUMPS);
        for (int32_t d = 0; d < D; ++d)
            if (!(fabs((double)p.centres[ids[a] * D + d] - mean[d]) < 1e-6))
                fail_msg("clump %d, component %d: %g, not %g", (int)a, (int)d,
                         (double)p.centres[ids[a] * D + d], mean[d]);
    }
    if (!(fabs((double)p.error - error) < 1e-6 && error > 1e-4 && error < 0.1))
        fail_msg("an error of %g, not %g", (double)p.error, error);
    tvlm_vocab_destroy(&vocab);
    free(vectors);
}

/* The sum of the squared residuals. */
static double loss_of(tvlm_device *device, const tvlm_vocab *vocab, const float *vectors, int32_t count) {
    int32_t *const ids = malloc((size_t)count * sizeof *ids);
    float *const residuals = malloc((size_t)count * sizeof *residuals);
    double sum = 0.0;
    assert_true(ids != NULL && residuals != NULL);
    assert_int_equal(tvlm_vocab_assign(device, vocab, vectors, count, ids, residuals), TVLM_OK);
    for (int32_t i = 0; i < count; ++i) sum += (double)residuals[i] * (double)residuals[i];
    free(ids);
    free(residuals);
    return sum;
}

/* The same on the reference, in other pieces; another with another seed. Batches, and blocks within them, are several. */
static void check_same(tvlm_device *device, tvlm_format format) {
    enum { COUNT = 1500, D = 18, N = 30 };
    if (format == TVLM_FORMAT_F16 || test_small()) return;
    float *const vectors = clumped(6, COUNT, D, 70, 0.8f);
    struct tvlm_vocab_trainer_params params = {.dimension = D, .count = N, .batch = 20, .seed = 3};
    tvlm_device *reference = open_reference();
    tvlm_vocab *first = train(device, vectors, COUNT, COUNT, params);
    tvlm_vocab *second = train(reference, vectors, COUNT, 111, params);
    same_centres(first, second, true);
    tvlm_vocab_destroy(&second);
    params.seed = 4;
    second = train(device, vectors, COUNT, COUNT, params);
    same_centres(first, second, false);
    tvlm_vocab_destroy(&second);
    tvlm_vocab_destroy(&first);
    tvlm_device_destroy(&reference);
    free(vectors);
}

/* Vectors that come clump by clump: of a fifth of them, which is a fair sample, the centres are about as good as of all,
 * and of those that come first they are not. */
static void check_sample(tvlm_device *device, tvlm_format format) {
    enum { COUNT = 1500, D = 18, N = 15, CLUMPS = 15, EACH = COUNT / CLUMPS };
    if (format == TVLM_FORMAT_F16 || test_small()) return;
    float *const turns = clumped(7, COUNT, D, CLUMPS, 0.3f), *const vectors =
                                                                 malloc(COUNT * D * sizeof *turns);
    assert_non_null(vectors);
    for (int32_t i = 0; i < COUNT; ++i)
        memcpy(vectors + i * D, turns + (i % EACH * CLUMPS + i / EACH) * D, D * sizeof *turns);
    struct tvlm_vocab_trainer_params params = {.dimension = D, .count = N, .sample = 100};
    tvlm_vocab *all = train(device, vectors, COUNT, COUNT, params);
    tvlm_vocab *first = train(device, vectors, COUNT / 5, COUNT, params);
    params.sample = 20;
    tvlm_vocab *sample = train(device, vectors, COUNT, 97, params);
    const double best = loss_of(device, all, vectors, COUNT);
    const double fair = loss_of(device, sample, vectors, COUNT);
    const double begun = loss_of(device, first, vectors, COUNT);
    assert_int_equal(params_of(sample).vectors, COUNT);
    same_centres(all, sample, false);
    if (!(fair < 3.0 * best && begun > 6.0 * best))
        fail_msg("all vectors %g, a fair sample %g, the first of them %g", best, fair, begun);
    tvlm_vocab_destroy(&all);
    tvlm_vocab_destroy(&first);
    tvlm_vocab_destroy(&sample);
    free(turns);
    free(vectors);
}

/* More centres than vectors that differ, and vectors without a length, which are passed over: nothing is lost. */
static void check_alike(tvlm_device *device, tvlm_format format) {
    enum { COUNT = 60, D = 6 };
    float vectors[COUNT * D] = {0};
    int32_t ids[COUNT];
    float residuals[COUNT];
    if (format == TVLM_FORMAT_F16) return;
    for (int32_t i = 0; i < COUNT; ++i)
        if (i % 4 > 0) vectors[i * D + i % 4] = (float)(1 + i);
    tvlm_vocab *vocab =
        train(device, vectors, COUNT, 7, (struct tvlm_vocab_trainer_params){.dimension = D, .count = 9});
    assert_int_equal(params_of(vocab).vectors, 45);
    assert_true(params_of(vocab).error < 1e-12f);
    assert_int_equal(tvlm_vocab_assign(device, vocab, vectors, COUNT, ids, residuals), TVLM_OK);
    for (int32_t i = 0; i < COUNT; ++i) {
        assert_int_equal(ids[i], ids[i % 4]);
        assert_true(i % 4 == 0 ? residuals[i] > 0.9f : residuals[i] < 1e-6f);
    }
    tvlm_vocab_destroy(&vocab);
}

/* A centre that nothing comes to begins again. Of three kinds of vectors one is so rare that the centres begin, with some
 * seeds, among vectors that have none of it: two centres are then alike. In the end each kind has one. */
static void check_revived(tvlm_device *device, tvlm_format format) {
    enum { COUNT = 9000, D = 8 };
    if (format == TVLM_FORMAT_F16 || test_small()) return;
    float *const vectors = calloc((size_t)COUNT * D, sizeof *vectors);
    assert_non_null(vectors);
    for (int32_t i = 0; i < COUNT; ++i) vectors[i * D + (i == 77 ? 2 : i % 2)] = 1.0f;
    for (uint64_t seed = 0; seed < 8; ++seed) {
        tvlm_vocab *vocab =
            train(device, vectors, COUNT, COUNT,
                  (struct tvlm_vocab_trainer_params){
                      .dimension = D, .count = 3, .seed = seed, .sample = COUNT, .rounds = 3});
        if (!(params_of(vocab).error < 1e-9f)) /* the rare one alone, elsewhere: 1e-4 */
            fail_msg("seed %d: an error of %g", (int)seed, (double)params_of(vocab).error);
        tvlm_vocab_destroy(&vocab);
    }
    free(vectors);
}

/* The features of an image become its channels: what tvlm_vocab_assign finds of them, at the middles of their cells; on a
 * grid that covers the image, and on one with cells of 8 pixels. */
static void check_channels(tvlm_device *device, tvlm_format format) {
    enum { COLUMNS = 6, ROWS = 5, CELLS = COLUMNS * ROWS, D = 12, N = 9 };
    static const int32_t channels[] = {TVLM_CHANNEL_VOCAB_ID, TVLM_CHANNEL_VOCAB_RESIDUAL};
    uint64_t seed = 12;
    float *const vectors = random_numbers(&seed, (size_t)CELLS * D);
    float *const centres = random_numbers(&seed, (size_t)N * D), *const many = calloc(3000 * D, sizeof *many);
    float residuals[CELLS], got[2 * CELLS];
    int32_t ids[CELLS];
    assert_non_null(many);
    for (int32_t i = 0; i < CELLS * D; ++i) vectors[i] = floorf(64.0f * vectors[i]); /* which half holds */
    make_unit(centres, N, D, 0.7);
    tvlm_vocab *vocab = vocab_of(centres, N, D), *large = vocab_of(many, 3000, D),
               *other = vocab_of(many, 2, 7);
    tvlm_stack *stack = random_stack(device, format, 48, 40, 5);
    refused(tvlm_stack_assign(stack, 0, vocab), TVLM_ERROR_ARGUMENT, "no features");
    assert_int_equal(tvlm_vocab_assign(device, vocab, vectors, CELLS, ids, residuals), TVLM_OK);
    for (int cell = 0; cell <= 8; cell += 8) {
        tvlm_sample_point points[CELLS];
        assert_int_equal(
            tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0,
                                tvlm_grid_input(.data = vectors, .columns = COLUMNS, .rows = ROWS,
                                                .channels = D, .cell = (float)cell)),
            TVLM_OK);
        if (tvlm_stack_assign(stack, 0, vocab) != TVLM_OK) fail_msg("%s", test_last_log());
        for (int32_t i = 0; i < CELLS; ++i)
            points[i] = (tvlm_sample_point){8.0f * ((float)(i % COLUMNS) + 0.5f),
                                            8.0f * ((float)(i / COLUMNS) + 0.5f), 0.0f, 0};
        assert_int_equal(tvlm_stack_sample(stack, points, CELLS, channels, 2, got), TVLM_OK);
        for (int32_t i = 0; i < CELLS; ++i)
            if (got[2 * i] != (float)ids[i] || !(fabsf(got[2 * i + 1] - residuals[i]) < 1e-3f))
                fail_msg("cell %d: centre %g at %g, not %d at %g", (int)i, (double)got[2 * i],
                         (double)got[2 * i + 1], (int)ids[i], (double)residuals[i]);
    }
    refused(tvlm_stack_assign(stack, 0, other), TVLM_ERROR_ARGUMENT,
            "a vocabulary of 7 dimensions, but the features have 12");
    refused(tvlm_stack_assign(stack, 1, vocab), TVLM_ERROR_ARGUMENT, "image");
    refused(tvlm_stack_assign(stack, 0, NULL), TVLM_ERROR_ARGUMENT, "vocab is NULL");
    assert_int_equal(tvlm_stack_assign(NULL, 0, vocab), TVLM_ERROR_ARGUMENT);
    if (format == TVLM_FORMAT_F32)
        assert_int_equal(tvlm_stack_assign(stack, 0, large), TVLM_OK);
    else
        refused(tvlm_stack_assign(stack, 0, large), TVLM_ERROR_ARGUMENT,
                "a vocabulary of 3000 centres; a stack holds the numbers of more than 2049 in format f32");
    tvlm_stack_destroy(&stack);
    tvlm_vocab_destroy(&vocab);
    tvlm_vocab_destroy(&large);
    tvlm_vocab_destroy(&other);
    free(vectors);
    free(centres);
    free(many);
}

static void check_refusals(tvlm_device *device, tvlm_format format) {
    enum { D = 4 };
    float vectors[5 * D] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}; /* the fifth has no length */
    float residuals[5] = {9.0f};
    int32_t ids[5] = {9};
    tvlm_vocab_trainer *trainer = NULL;
    tvlm_vocab *made = NULL, *vocab = vocab_of(vectors, 3, D);
    (void)format;
#define CREATE(line, ...)                                                                                    \
    refused(tvlm_vocab_trainer_create(device, tvlm_vocab_trainer_params(__VA_ARGS__), &trainer),             \
            TVLM_ERROR_ARGUMENT, line)
    CREATE("vectors of 0 dimensions", .count = 3);
    CREATE("a vocabulary of -1 centres", .dimension = D, .count = -1);
    CREATE("a vocabulary of 65537 centres", .dimension = D, .count = 65537);
    CREATE("-2 rounds", .dimension = D, .rounds = -2);
    CREATE("a sample of -3 vectors", .dimension = D, .sample = -3);
    CREATE("batches of 70000", .dimension = D, .batch = 70000);
    CREATE("reserved words", .dimension = D, .reserved[1] = 1);
#undef CREATE
    assert_null(trainer);
    assert_int_equal(
        tvlm_vocab_trainer_create(device, tvlm_vocab_trainer_params(.dimension = D, .count = 5), &trainer),
        TVLM_OK);
    assert_int_equal(tvlm_vocab_trainer_add(trainer, vectors, 5), TVLM_OK);
    refused(tvlm_vocab_trainer_add(trainer, NULL, 2), TVLM_ERROR_ARGUMENT, "2 vectors to add");
    refused(tvlm_vocab_trainer_finish(trainer, &made), TVLM_ERROR_ARGUMENT,
            "4 vectors with a length are too few for 5 centres");
    refused(tvlm_vocab_trainer_finish(trainer, NULL), TVLM_ERROR_ARGUMENT, "vocab is NULL");
    vectors[6] = NAN;
    refused(tvlm_vocab_trainer_add(trainer, vectors, 5), TVLM_ERROR_ARGUMENT,
            "vector 6: component 2 is not finite");
    refused(tvlm_vocab_assign(device, vocab, vectors, 5, ids, residuals), TVLM_ERROR_ARGUMENT,
            "vector 1: component 2 is not finite");
    refused(tvlm_vocab_assign(device, vocab, vectors, -1, ids, residuals), TVLM_ERROR_ARGUMENT, "-1 vectors");
    refused(tvlm_vocab_assign(device, vocab, NULL, 1, ids, residuals), TVLM_ERROR_ARGUMENT,
            "vectors is NULL");
    refused(tvlm_vocab_assign(device, vocab, vectors, 1, NULL, residuals), TVLM_ERROR_ARGUMENT,
            "ids is NULL");
    refused(tvlm_vocab_assign(device, NULL, vectors, 1, ids, residuals), TVLM_ERROR_ARGUMENT,
            "vocab is NULL");
    assert_int_equal(tvlm_vocab_assign(NULL, vocab, vectors, 1, ids, residuals), TVLM_ERROR_ARGUMENT);
    assert_true(ids[0] == 9 && residuals[0] == 9.0f && made == NULL);
    tvlm_vocab_trainer_destroy(&trainer);
    tvlm_vocab_destroy(&vocab);
    tvlm_vocab_destroy(&vocab); /* NULL by now */
}

/* ---- On the host ---- */

static void test_create(void **state) {
    float centres[2 * 3] = {0.6f, 0, 0.8f, 0, 0.5f, 0};
    tvlm_vocab *vocab = NULL;
    (void)state;
#define REFUSED(line, ...)                                                                                   \
    refused(tvlm_vocab_create(tvlm_vocab_params(__VA_ARGS__), &test_log, &vocab), TVLM_ERROR_ARGUMENT, line)
    REFUSED("0 centres of 3 dimensions", .dimension = 3, .centres = centres);
    REFUSED("2 centres of 0 dimensions", .count = 2, .centres = centres);
    REFUSED("centres is NULL", .count = 2, .dimension = 3);
    REFUSED("an error of 5", .count = 2, .dimension = 3, .centres = centres, .error = 5.0f);
    REFUSED("-1 vectors", .count = 2, .dimension = 3, .centres = centres, .vectors = -1);
    REFUSED("reserved words", .count = 2, .dimension = 3, .centres = centres, .reserved[3] = 1);
    centres[4] = 1.5f;
    REFUSED("centre 1 has a length of 1.5", .count = 2, .dimension = 3, .centres = centres);
    centres[4] = INFINITY;
    REFUSED("centre 1: component 1 is not finite", .count = 2, .dimension = 3, .centres = centres);
#undef REFUSED
    assert_null(vocab);
    refused(tvlm_vocab_create(NULL, &test_log, &vocab), TVLM_ERROR_ARGUMENT, "params is NULL");
    assert_int_equal(tvlm_vocab_get_params(NULL, NULL), TVLM_ERROR_ARGUMENT);
}

static void test_questions(void **state) {
    const float centres[2 * 3] = {0.6f, 0, 0.8f, 0, 0.5f, 0};
    float questions[2 * 3] = {0, 0, 4.0f, 3.0f, 4.0f, 0}, answers[5] = {0, 0, 0, 0, 7.0f};
    const double expected[4] = {0.8, 0.0, 0.36, 0.4};
    tvlm_vocab *vocab = vocab_of(centres, 2, 3);
    (void)state;
    assert_int_equal(tvlm_vocab_ask(vocab, &test_log, questions, 2, answers), TVLM_OK);
    for (int i = 0; i < 4; ++i) assert_true(fabs((double)answers[i] - expected[i]) < 1e-6);
    assert_true(answers[4] == 7.0f);
    /* A question that is refused leaves no answer, not even of those before it. */
    answers[0] = 7.0f;
    questions[4] = INFINITY;
    refused(tvlm_vocab_ask(vocab, &test_log, questions, 2, answers), TVLM_ERROR_ARGUMENT,
            "question 1: component 1 is not finite");
    assert_true(answers[0] == 7.0f);
    questions[2] = 0.0f;
    refused(tvlm_vocab_ask(vocab, &test_log, questions, 2, answers), TVLM_ERROR_ARGUMENT,
            "question 0 is a zero vector");
    questions[1] = NAN;
    refused(tvlm_vocab_ask(vocab, &test_log, questions, 2, answers), TVLM_ERROR_ARGUMENT,
            "question 0: component 1 is not finite");
    refused(tvlm_vocab_ask(vocab, &test_log, questions, -1, answers), TVLM_ERROR_ARGUMENT, "-1 questions");
    refused(tvlm_vocab_ask(NULL, &test_log, questions, 1, answers), TVLM_ERROR_ARGUMENT, "vocab is NULL");
    assert_int_equal(tvlm_vocab_ask(vocab, &test_log, NULL, 0, NULL), TVLM_OK);
    tvlm_vocab_destroy(&vocab);
}

static void test_files(void **state) {
    const float centres[2 * 3] = {0.6f, 0, 0.8f, 0, 0.5f, 0};
    char path[] = "/tmp/tvlm-vocab-XXXXXX";
    tvlm_vocab *vocab = NULL, *again = NULL;
    (void)state;
    close(mkstemp(path));
    assert_int_equal(tvlm_vocab_create(tvlm_vocab_params(.dimension = 3, .count = 2, .vectors = 12,
                                                         .error = 0.1f, .centres = centres),
                                       &test_log, &vocab),
                     TVLM_OK);
    assert_int_equal(tvlm_vocab_save(path, vocab, &test_log), TVLM_OK);
    assert_int_equal(tvlm_vocab_load(path, &test_log, &again), TVLM_OK);
    same_centres(vocab, again, true);
    assert_int_equal(params_of(again).vectors, 12);
    tvlm_vocab_destroy(&again);
    tvlm_vocab_destroy(&vocab);

    /* What scikit-learn has: doubles, and no more than the format. */
    double wide[6] = {0.6, 0, 0.8, 0, 0.5, 0};
    float error = 0.1f;
    tvlm_tensor tensors[] = {
        {.name = "centres", .type = TVLM_ELEMENT_F64, .rank = 2, .shape = {2, 3}, .data = wide},
        {.name = "error", .type = TVLM_ELEMENT_F32, .rank = 1, .shape = {1}, .data = &error}};
    tvlm_metadata metadata[] = {{"format", "texturevlm.vocab"}, {"D", "3"}, {"n", "2"}, {"vectors", "12"}};
#define LOAD(tensor_count, metadata_count)                                                                   \
    (assert_int_equal(tvlm_safetensors_write(path, tensors, tensor_count, metadata, metadata_count, NULL),   \
                      TVLM_OK),                                                                              \
     tvlm_vocab_load(path, &test_log, &again))
    assert_int_equal(LOAD(1, 1), TVLM_OK);
    assert_true(params_of(again).error == 0.0f && params_of(again).centres[4] == 0.5f);
    tvlm_vocab_destroy(&again);
    refused(LOAD(1, 0), TVLM_ERROR_FORMAT, "is not a vocabulary");
    metadata[0].value = "texturevlm.basis";
    refused(LOAD(1, 1), TVLM_ERROR_FORMAT, "is not a vocabulary");
    metadata[0].value = "texturevlm.vocab";
    metadata[1].value = "4";
    refused(LOAD(1, 4), TVLM_ERROR_FORMAT, "D = 4, its tensor 3");
    metadata[1].value = "3", metadata[2].value = "1";
    refused(LOAD(1, 4), TVLM_ERROR_FORMAT, "n = 1, its tensor 2");
    metadata[2].value = "2", metadata[3].value = "many";
    refused(LOAD(1, 4), TVLM_ERROR_FORMAT, "'many' is no number");
    metadata[3].value = "12", error = NAN;
    refused(LOAD(2, 4), TVLM_ERROR_FORMAT, "an error of");
    error = 0.1f, wide[3] = 1.5;
    refused(LOAD(2, 4), TVLM_ERROR_FORMAT, "centre 1 has a length of");
    assert_non_null(strstr(test_last_log(), path));
    wide[3] = 0.0, tensors[0].rank = 1;
    refused(LOAD(1, 4), TVLM_ERROR_FORMAT, "no tensor 'centres'");
    tensors[0].name = "components";
    refused(LOAD(1, 4), TVLM_ERROR_FORMAT, "no tensor 'centres'");
#undef LOAD
    assert_null(again);
    refused(tvlm_vocab_load(NULL, &test_log, &again), TVLM_ERROR_ARGUMENT, "is NULL");
    refused(tvlm_vocab_save(path, NULL, &test_log), TVLM_ERROR_ARGUMENT, "is NULL");
    unlink(path);
}

DEVICE_CHECKS(check_assign, check_close, check_clumps, check_same, check_sample, check_alike, check_revived,
              check_channels, check_refusals)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_create),        cmocka_unit_test(test_questions),
        cmocka_unit_test(test_files),         cmocka_unit_test(test_reference_f32),
        cmocka_unit_test(test_reference_f16), cmocka_unit_test(test_targets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
