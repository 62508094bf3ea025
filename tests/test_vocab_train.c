/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_vocab_train.c: what is trained of the same vectors with the same seed is the same to the bit, today and on every device;
 * it holds against numbers that were found once. A change that means to train otherwise changes them. And both sides of each
 * limit.
 */
#include "stack_helper.h"

#include "core/random.h"
#include "texturevlm/lab/vocab.h"

/* A digest of numbers (FNV-1a, of words of 32 bits). */
static uint64_t digest(const float *numbers, size_t count) {
    uint64_t made = 14695981039346656037u;
    for (size_t i = 0; i < count; ++i) {
        uint32_t word;
        memcpy(&word, &numbers[i], sizeof word);
        made = (made ^ word) * 1099511628211u;
    }
    return made;
}

/* Vectors of whole numbers, which no compiler rounds otherwise, around so many directions, in turn. `alike`: in each direction
 * all are the same, but for two that have directions of their own. */
static float *vectors_of(int32_t count, int32_t dimension, int32_t clumps, bool alike, uint64_t seed) {
    const size_t width = (size_t)dimension;
    float *const vectors = malloc((size_t)count * width * sizeof *vectors);
    assert_non_null(vectors);
    for (size_t i = 0; i < (size_t)count; ++i)
        for (size_t d = 0; d < width; ++d) {
            const size_t number = alike && (i == 77 || i == 5077) ? i : i % (size_t)clumps;
            uint64_t clump = seed + 1000 * number + d, own = 77 * seed + 100000 + i * width + d;
            const int32_t off = alike ? 0 : (int32_t)(tvlm_random(&own) % 401) - 200;
            vectors[i * width + d] = (float)((int32_t)(tvlm_random(&clump) % 2001) - 1000 + off);
        }
    return vectors;
}

typedef struct training {
    const char *what;
    int32_t count, clumps;
    bool alike;
    struct tvlm_vocab_trainer_params params;
    int64_t vectors; /* with a length */
    float error;
    uint64_t expected;
} training;

static const training trainings[] = {
    {"one centre", 9, 3, false, {.dimension = 3, .count = 1}, 9, 0.601237059f, 0x5b4eccac874bc026u},
    {"as many vectors as centres",
     7,
     7,
     false,
     {.dimension = 5, .count = 7, .rounds = 2},
     7,
     0.0f,
     0x25facf9ec5c0a5c3u},
    {"several batches",
     900,
     50,
     false,
     {.dimension = 13, .count = 30, .batch = 5, .rounds = 3, .seed = 7},
     900,
     0.219024688f,
     0x5042d04a20fbc138u},
    {"a round",
     900,
     50,
     false,
     {.dimension = 16, .count = 30, .batch = 7, .rounds = 1, .seed = 8},
     900,
     0.251831919f,
     0xcbcbbca76820284du},
    {"a sample of a tenth",
     300,
     20,
     false,
     {.dimension = 9, .count = 10, .sample = 3, .batch = 1, .seed = 1},
     300,
     0.185755625f,
     0x733075fc00034b59u},
    {"more vectors than are looked at first",
     4600,
     900,
     false,
     {.dimension = 3, .count = 700, .batch = 3, .rounds = 1, .seed = 2},
     4600,
     0.00223126123f,
     0xb903a53c9abf5af5u},
    {"more centres than that",
     4700,
     2000,
     false,
     {.dimension = 2, .count = 1450, .batch = 1, .rounds = 2, .seed = 3},
     4700,
     8.98002384e-07f,
     0x7f58a8c9833276d0u},
    {"few directions",
     400,
     5,
     false,
     {.dimension = 4, .count = 40, .batch = 2, .rounds = 4, .seed = 4},
     400,
     0.00718829967f,
     0xc6da1776cbe4b5b5u},
    {"centres that begin again",
     9000,
     2,
     true,
     {.dimension = 3, .count = 4, .sample = 2000, .rounds = 2, .seed = 11},
     9000,
     4.39300124e-10f,
     0xffb2884628816836u},
    {"a centre that begins again",
     9000,
     2,
     true,
     {.dimension = 3, .count = 4, .sample = 2000, .rounds = 2, .seed = 7},
     9000,
     1.97840363e-05f,
     0xefe6b893e29463fcu},
    {"no centre that begins again",
     9000,
     2,
     true,
     {.dimension = 3, .count = 4, .sample = 2000, .rounds = 2, .seed = 6},
     9000,
     0.0f,
     0xcf3b4c1225526b66u},
};

static tvlm_vocab *trained(tvlm_device *device, const training *t) {
    tvlm_vocab_trainer *trainer = NULL;
    tvlm_vocab *vocab = NULL;
    float *const vectors = vectors_of(t->count, t->params.dimension, t->clumps, t->alike, t->params.seed);
    if (tvlm_vocab_trainer_create(device, &t->params, &trainer) != TVLM_OK) fail_msg("%s", test_last_log());
    assert_int_equal(tvlm_vocab_trainer_add(trainer, vectors, t->count), TVLM_OK);
    if (tvlm_vocab_trainer_finish(trainer, &vocab) != TVLM_OK) fail_msg("%s: %s", t->what, test_last_log());
    tvlm_vocab_trainer_destroy(&trainer);
    free(vectors);
    return vocab;
}

static void trains_the_same(tvlm_device *device, tvlm_format format) {
    if (format == TVLM_FORMAT_F16) return; /* which it does not know */
    for (size_t i = 0; i < sizeof trainings / sizeof *trainings; ++i) {
        const training *const t = &trainings[i];
        struct tvlm_vocab_params made;
        tvlm_vocab *vocab = trained(device, t);
        assert_int_equal(tvlm_vocab_get_params(vocab, &made), TVLM_OK);
        const size_t numbers = (size_t)made.count * (size_t)made.dimension;
        const uint64_t found = digest(made.centres, numbers);
        assert_int_equal(made.vectors, t->vectors);
        if (found != t->expected || made.error != t->error)
            fail_msg("%s: the centres are %#llx, and the error %.9g", t->what, (unsigned long long)found,
                     (double)made.error);
        tvlm_vocab_destroy(&vocab);
    }
}

/* Finishing leaves the trainer as it was: once more gives the same, and vectors may be added. */
static void finishes_twice(tvlm_device *device, tvlm_format format) {
    enum { COUNT = 60, D = 3 };
    tvlm_vocab_trainer *trainer = NULL;
    tvlm_vocab *vocabs[3] = {NULL};
    struct tvlm_vocab_params made[3];
    if (format == TVLM_FORMAT_F16) return;
    float *const vectors = vectors_of(2 * COUNT, D, 9, false, 1);
    assert_int_equal(
        tvlm_vocab_trainer_create(device, tvlm_vocab_trainer_params(.dimension = D, .count = 5, .sample = 8),
                                  &trainer),
        TVLM_OK);
    assert_int_equal(tvlm_vocab_trainer_add(trainer, NULL, 0), TVLM_OK);
    for (int i = 0; i < 3; ++i) {
        if (i != 1)
            assert_int_equal(tvlm_vocab_trainer_add(trainer, vectors + (i > 0 ? COUNT * D : 0), COUNT),
                             TVLM_OK);
        assert_int_equal(tvlm_vocab_trainer_finish(trainer, &vocabs[i]), TVLM_OK);
        assert_int_equal(tvlm_vocab_get_params(vocabs[i], &made[i]), TVLM_OK);
    }
    assert_memory_equal(made[0].centres, made[1].centres, 5 * D * sizeof(float));
    assert_memory_not_equal(made[0].centres, made[2].centres, 5 * D * sizeof(float));
    assert_true(made[0].vectors == COUNT && made[1].vectors == COUNT && made[2].vectors == 2 * COUNT);
    for (int i = 0; i < 3; ++i) tvlm_vocab_destroy(&vocabs[i]);
    tvlm_vocab_trainer_destroy(&trainer);
    assert_null(trainer);
    tvlm_vocab_trainer_destroy(&trainer);
    tvlm_vocab_trainer_destroy(NULL);
    free(vectors);
}

static void limits(tvlm_device *device, tvlm_format format) {
    static const struct {
        struct tvlm_vocab_trainer_params params;
        const char *line; /* NULL: it is taken */
    } rows[] = {
        {{.dimension = 0}, "vectors of 0 dimensions: not in 1 .. 65536"},
        {{.dimension = 1}, NULL},
        {{.dimension = 65536, .count = 1}, NULL},
        {{.dimension = 65537}, "vectors of 65537 dimensions: not in 1 .. 65536"},
        {{.dimension = 1, .count = -1}, "a vocabulary of -1 centres: not in 1 .. 65536"},
        {{.dimension = 1, .count = 1}, NULL},
        {{.dimension = 1, .count = 65536, .sample = 65536}, NULL},
        {{.dimension = 1, .count = 65537}, "a vocabulary of 65537 centres: not in 1 .. 65536"},
        {{.dimension = 1, .rounds = -1}, "-1 rounds: not in 1 .. 1000"},
        {{.dimension = 1, .rounds = 1}, NULL},
        {{.dimension = 1, .rounds = 1000}, NULL},
        {{.dimension = 1, .rounds = 1001}, "1001 rounds: not in 1 .. 1000"},
        {{.dimension = 1, .sample = -1},
         "a sample of -1 vectors for each centre, and batches of 16: not in 1 .. 65536"},
        {{.dimension = 1, .sample = 1, .batch = 1}, NULL},
        {{.dimension = 1, .sample = 65536, .batch = 65536}, NULL},
        {{.dimension = 1, .sample = 65537},
         "a sample of 65537 vectors for each centre, and batches of 16: not in 1 .. 65536"},
        {{.dimension = 1, .batch = -1},
         "a sample of 64 vectors for each centre, and batches of -1: not in 1 .. 65536"},
        {{.dimension = 1, .batch = 65537},
         "a sample of 64 vectors for each centre, and batches of 65537: not in 1 .. 65536"},
    };
    tvlm_vocab_trainer *trainer = NULL;
    const float vector = 2.0f;
    (void)format;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const tvlm_status status = tvlm_vocab_trainer_create(device, &rows[i].params, &trainer);
        if (rows[i].line == NULL) {
            if (status != TVLM_OK) fail_msg("row %d: %s", (int)i, test_last_log());
            tvlm_vocab_trainer_destroy(&trainer);
        } else {
            refused(status, TVLM_ERROR_ARGUMENT, rows[i].line);
        }
        assert_null(trainer);
    }
    /* Without parameters there is no dimension. */
    refused(tvlm_vocab_trainer_create(device, NULL, &trainer), TVLM_ERROR_ARGUMENT,
            "vectors of 0 dimensions");
    refused(tvlm_vocab_trainer_create(device, &rows[1].params, NULL), TVLM_ERROR_ARGUMENT, "trainer is NULL");
    assert_int_equal(tvlm_vocab_trainer_create(NULL, &rows[1].params, &trainer), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_vocab_trainer_add(NULL, &vector, 1), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_vocab_trainer_finish(NULL, NULL), TVLM_ERROR_ARGUMENT);
    assert_null(trainer);
    /* The default is 1024 centres: one vector less is too few. */
    assert_int_equal(tvlm_vocab_trainer_create(device, &rows[1].params, &trainer), TVLM_OK);
    for (int i = 0; i < 1023; ++i) assert_int_equal(tvlm_vocab_trainer_add(trainer, &vector, 1), TVLM_OK);
    tvlm_vocab *vocab = NULL;
    refused(tvlm_vocab_trainer_finish(trainer, &vocab), TVLM_ERROR_ARGUMENT,
            "1023 vectors with a length are too few for 1024 centres");
    refused(tvlm_vocab_trainer_add(trainer, &vector, -1), TVLM_ERROR_ARGUMENT, "-1 vectors to add");
    assert_int_equal(tvlm_vocab_trainer_add(trainer, &vector, 1), TVLM_OK);
    assert_int_equal(tvlm_vocab_trainer_finish(trainer, &vocab), TVLM_OK);
    tvlm_vocab_destroy(&vocab);
    tvlm_vocab_trainer_destroy(&trainer);
}

DEVICE_CHECKS_MAIN(trains_the_same, finishes_twice, limits)
