/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scorers as files: what is saved is loaded, and what is no scorer is refused with a line that says why.
 */
#include <math.h>

#include "io_helper.h"
#include "texturevlm/io_scorer.h"

static const int32_t channels[] = {TVLM_CHANNEL_EDGES, TVLM_CHANNEL_ENTROPY, TVLM_CHANNEL_EMBEDDING_16};
static const float weights[27] = {0.5f, -2.0f, 1e-30f, 4.0f, 5.0f, 6.0f, 7.0f, 8.0f, 9.0f, 10.0f};

static const float query_weights[2 * 3] = {1.0f, 0.0f, -0.5f, 1e-20f, 3.0f, 7.0f};

static tvlm_scorer sample(int32_t taps) {
    return (tvlm_scorer){.channel_count = 3,
                         .channels = channels,
                         .taps = taps,
                         .weights = weights,
                         .bias = 0.25f,
                         .similarity_weight = -1.5f};
}

static void loads_what_was_saved(void **state) {
    (void)state;
    for (int32_t taps = 1; taps <= 9; taps += 8) {
        const tvlm_scorer saved = sample(taps);
        tvlm_scorer *loaded = NULL;
        io_expect(tvlm_scorer_save(io_path("a.safetensors"), &saved, &io_log), TVLM_OK, NULL);
        io_expect(tvlm_scorer_load(io_path("a.safetensors"), &io_log, &loaded), TVLM_OK, NULL);
        assert_int_equal(loaded->channel_count, 3);
        assert_int_equal(loaded->taps, taps);
        assert_memory_equal(loaded->channels, channels, sizeof channels);
        assert_memory_equal(loaded->weights, weights, 3 * (size_t)taps * sizeof *weights);
        assert_true(loaded->bias == 0.25f && loaded->similarity_weight == -1.5f);
        assert_true(loaded->query_weights == NULL && loaded->dimension == 0);
        assert_null(loaded->levels); /* as in files that were written before there were any */
        tvlm_scorer_destroy(&loaded);
        assert_null(loaded);
        tvlm_scorer_destroy(&loaded);
    }
    tvlm_scorer_destroy(NULL);
}

/* Vectors of as many numbers as features may have, and of one more. */
static void loads_the_longest_query_weights(void **state) {
    static float longest[(TVLM_FEATURES_MAX + 1) * 3];
    tvlm_scorer saved = sample(1), *loaded = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof longest / sizeof *longest; ++i) longest[i] = (float)(i % 7);
    saved.query_weights = longest;
    saved.dimension = TVLM_FEATURES_MAX;
    io_expect(tvlm_scorer_save(io_path("q.safetensors"), &saved, &io_log), TVLM_OK, NULL);
    io_expect(tvlm_scorer_load(io_path("q.safetensors"), &io_log, &loaded), TVLM_OK, NULL);
    assert_int_equal(loaded->dimension, TVLM_FEATURES_MAX);
    assert_memory_equal(loaded->query_weights, longest, 3 * TVLM_FEATURES_MAX * sizeof *longest);
    tvlm_scorer_destroy(&loaded);
}

static void loads_query_weights(void **state) {
    tvlm_scorer saved = sample(9), *loaded = NULL;
    (void)state;
    saved.query_weights = query_weights;
    saved.dimension = 2;
    io_expect(tvlm_scorer_save(io_path("q.safetensors"), &saved, &io_log), TVLM_OK, NULL);
    io_expect(tvlm_scorer_load(io_path("q.safetensors"), &io_log, &loaded), TVLM_OK, NULL);
    assert_int_equal(loaded->dimension, 2);
    assert_memory_equal(loaded->query_weights, query_weights, sizeof query_weights);
    assert_memory_equal(loaded->weights, weights, sizeof weights);
    assert_memory_equal(loaded->channels, channels, sizeof channels);
    tvlm_scorer_destroy(&loaded);
}

static void loads_levels(void **state) {
    static const float levels[3] = {4.0f, -1.0f, 0.0f};
    (void)state;
    for (int with_query = 0; with_query < 2; ++with_query) {
        tvlm_scorer saved = sample(9), *loaded = NULL;
        saved.levels = levels;
        saved.query_weights = with_query ? query_weights : NULL;
        saved.dimension = with_query ? 2 : 0;
        io_expect(tvlm_scorer_save(io_path("l.safetensors"), &saved, &io_log), TVLM_OK, NULL);
        io_expect(tvlm_scorer_load(io_path("l.safetensors"), &io_log, &loaded), TVLM_OK, NULL);
        assert_memory_equal(loaded->levels, levels, sizeof levels);
        assert_memory_equal(loaded->weights, weights, sizeof weights);
        assert_memory_equal(loaded->channels, channels, sizeof channels);
        assert_int_equal(loaded->query_weights != NULL, with_query);
        tvlm_scorer_destroy(&loaded);
    }
}

/* Several outputs, and query weights of all taps. */
static void loads_outputs(void **state) {
    float many[2 * 3 * 9], matrix[2 * 3 * 9 * 4];
    (void)state;
    for (int i = 0; i < 2 * 3 * 9; ++i) many[i] = (float)i - 7.5f;
    for (int i = 0; i < 2 * 3 * 9 * 4; ++i) matrix[i] = 0.25f * (float)i;
    for (int32_t outputs = 1; outputs <= 2; ++outputs)
        for (int32_t taps = 1; taps <= 9; taps += 8) {
            const size_t count = (size_t)(outputs * 3 * taps);
            tvlm_scorer saved = sample(taps), *loaded = NULL;
            saved.weights = many;
            saved.outputs = outputs;
            saved.query_weights = matrix;
            saved.dimension = 4;
            saved.query_taps = taps;
            io_expect(tvlm_scorer_save(io_path("o.safetensors"), &saved, &io_log), TVLM_OK, NULL);
            io_expect(tvlm_scorer_load(io_path("o.safetensors"), &io_log, &loaded), TVLM_OK, NULL);
            assert_true(loaded->outputs == outputs && loaded->taps == taps && loaded->query_taps == taps);
            assert_int_equal(loaded->dimension, 4);
            assert_memory_equal(loaded->weights, many, count * sizeof *many);
            assert_memory_equal(loaded->query_weights, matrix, 4 * count * sizeof *matrix);
            assert_memory_equal(loaded->channels, channels, sizeof channels);
            tvlm_scorer_destroy(&loaded);
        }
}

/* A file of one's own making: at most these three tensors, and the metadata. */
typedef struct file {
    tvlm_tensor tensors[3];
    int32_t count;
    const char *format, *names; /* NULL: not there */
} file;

static tvlm_tensor vector(const char *name, int64_t count) {
    return (tvlm_tensor){
        .name = name, .type = TVLM_ELEMENT_F32, .rank = 1, .shape = {count}, .data = weights};
}

static file good(void) {
    return (file){.tensors = {vector("weights", 2)},
                  .count = 1,
                  .format = "texturevlm.scorer",
                  .names = "edges,entropy"};
}

static tvlm_status load(const file *made, tvlm_scorer **scorer) {
    tvlm_metadata metadata[2];
    int32_t count = 0;
    if (made->format != NULL) metadata[count++] = (tvlm_metadata){"format", made->format};
    if (made->names != NULL) metadata[count++] = (tvlm_metadata){"channels", made->names};
    io_expect(tvlm_safetensors_write(io_path("b.safetensors"), made->tensors, made->count, metadata, count,
                                     &io_log),
              TVLM_OK, NULL);
    return tvlm_scorer_load(io_path("b.safetensors"), &io_log, scorer);
}

static void refuse(const file *made, const char *words) {
    tvlm_scorer *scorer = NULL;
    const tvlm_status status = load(made, &scorer);
    assert_non_null(strstr(io_logged, "b.safetensors"));
    io_expect(status, TVLM_ERROR_FORMAT, words);
    assert_null(scorer);
}

static void the_optional_are_zero(void **state) {
    const file made = good();
    tvlm_scorer *scorer = NULL;
    (void)state;
    io_expect(load(&made, &scorer), TVLM_OK, NULL);
    assert_true(scorer->bias == 0.0f && scorer->similarity_weight == 0.0f);
    assert_int_equal(scorer->channels[1], TVLM_CHANNEL_ENTROPY);
    tvlm_scorer_destroy(&scorer);
}

static void refuses_other_metadata(void **state) {
    file made = good();
    (void)state;
    made.format = NULL;
    refuse(&made, "not a scorer");
    made.format = "texturevlm.basis";
    refuse(&made, "not a scorer");
    made = good();
    made.names = NULL;
    refuse(&made, "name the channels");
    made.names = "";
    refuse(&made, "1 channels are named");
    made.names = "edges";
    refuse(&made, "1 channels are named");
    made.names = "edges,";
    refuse(&made, "no channel ''");
    made.names = "edges, entropy";
    refuse(&made, "no channel ' entropy'");
    made.names = "edges,a_name_that_is_far_longer_than_the_name_of_any_channel_could_ever_be";
    refuse(&made, "no channel 'a_name");
    made.names = "edges,edges";
    refuse(&made, "'edges' stands twice");
}

static void refuses_other_tensors(void **state) {
    static const float wrong[18] = {1.0f, NAN}, beyond[18] = {1e15f, 1.01e15f}, infinite = INFINITY;
    file made = good();
    (void)state;
    made.count = 0;
    refuse(&made, "no tensor 'weights'");
    made = good();
    made.tensors[0].type = TVLM_ELEMENT_F64;
    made.tensors[0].shape[0] = 2;
    refuse(&made, "float32 of shape");
    made = good();
    made.tensors[0].rank = 2;
    made.tensors[0].shape[1] = 1;
    refuse(&made, "float32 of shape");
    made.tensors[0].rank = 3;
    made.tensors[0].shape[2] = 3;
    refuse(&made, "float32 of shape");
    made = good();
    made.tensors[0].shape[0] = 0;
    refuse(&made, "0 channels");
    made = good();
    made.tensors[0].data = wrong;
    refuse(&made, "number 1 of 'weights' is not finite");
    made.tensors[0].data = beyond;
    refuse(&made, "number 1 of 'weights' is beyond 1e15");
    made = good();
    made.tensors[made.count++] = vector("bias", 2);
    refuse(&made, "'bias' is not one float32");
    made.tensors[1] = vector("query_weights", 2);
    refuse(&made, "'query_weights' is not float32 of shape [D, 2]");
    made.tensors[1].rank = 2;
    made.tensors[1].shape[1] = 3;
    refuse(&made, "'query_weights' is not float32 of shape [D, 2]");
    made.tensors[1].shape[0] = 0;
    made.tensors[1].shape[1] = 2;
    refuse(&made, "queries of 0");
    made.tensors[1].shape[0] = 1;
    made.tensors[1].data = wrong;
    refuse(&made, "number 1 of 'query_weights' is not finite");
    made.tensors[1].data = beyond;
    refuse(&made, "number 1 of 'query_weights' is beyond 1e15");
    made.tensors[0].rank = 4;
    made.tensors[0].shape[0] = 18;
    made.tensors[0].shape[1] = 1;
    made.tensors[0].shape[2] = made.tensors[0].shape[3] = 1;
    made.names = "edges";
    refuse(&made, "'weights' is for 18 outputs, not for 1 to 17");
    made.tensors[0].shape[0] = 2;
    refuse(&made, "'query_weights' is not float32 of shape [D, 1], of one output, or [2, 1, 1, 1, D]");
    made.tensors[1].rank = 5;
    made.tensors[1].shape[0] = 2;
    made.tensors[1].shape[1] = 1;
    made.tensors[1].shape[2] = made.tensors[1].shape[3] = 3;
    made.tensors[1].shape[4] = 1;
    refuse(&made, "or [2, 1, 1, 1, D]");
    made.tensors[0].shape[2] = 3;
    refuse(&made, "'weights' is not float32 of shape");
    made = good();
    made.count = 2;
    made.tensors[1] = vector("similarity", 1);
    made.tensors[1].data = &infinite;
    refuse(&made, "number 0 of 'similarity' is not finite");
    made.tensors[1] = vector("levels", 1);
    refuse(&made, "'levels' is not float32 of shape [2]");
    made.tensors[1].type = TVLM_ELEMENT_F16;
    made.tensors[1].shape[0] = 2;
    refuse(&made, "'levels' is not float32 of shape [2]");
    made.tensors[1] = vector("levels", 2);
    made.tensors[1].data = wrong;
    refuse(&made, "number 1 of 'levels' is nan; it is 0 or more, or -1");
    made.tensors[1].data = weights; /* 0.5 and -2 */
    refuse(&made, "number 1 of 'levels' is -2");
}

static void refuses_other_files(void **state) {
    tvlm_scorer *scorer = NULL;
    (void)state;
    io_expect(tvlm_scorer_load(io_path("none.safetensors"), &io_log, &scorer), TVLM_ERROR_IO,
              "none.safetensors");
    io_expect(tvlm_scorer_load(io_put("c.safetensors", "text", 4), &io_log, &scorer), TVLM_ERROR_FORMAT,
              "c.safetensors");
    io_expect(tvlm_scorer_load(NULL, &io_log, &scorer), TVLM_ERROR_ARGUMENT, "NULL");
    io_expect(tvlm_scorer_load("x", &io_log, NULL), TVLM_ERROR_ARGUMENT, "NULL");
    assert_null(scorer);
}

static void does_not_save_what_it_would_not_load(void **state) {
    static const int32_t twice[] = {3, 41, 3}, unknown[] = {3, 41, 999999};
    static const float infinite[3] = {0.0f, -INFINITY, 0.0f};
    tvlm_scorer scorers[13];
    (void)state;
    for (int i = 0; i < 13; ++i) scorers[i] = sample(1);
    scorers[0].channel_count = 0;
    scorers[1].taps = 3;
    scorers[2].channels = twice;
    scorers[3].channels = unknown;
    scorers[4].weights = infinite;
    scorers[5].bias = NAN;
    scorers[6].similarity_weight = INFINITY;
    scorers[7].weights = NULL;
    scorers[8].query_weights = query_weights; /* of dimension 0 */
    scorers[9].levels = infinite;
    scorers[12].outputs = 18;
    scorers[10].outputs = -1;
    scorers[11].outputs = 2;
    scorers[11].query_weights = query_weights;
    scorers[11].dimension = 2; /* and query_taps 0, which is of one output */
    for (int i = 0; i < 13; ++i)
        io_expect(tvlm_scorer_save(io_path("d.safetensors"), &scorers[i], &io_log), TVLM_ERROR_ARGUMENT,
                  "d.safetensors");
    io_expect(tvlm_scorer_save(io_path("d.safetensors"), NULL, &io_log), TVLM_ERROR_ARGUMENT, "NULL");
    assert_int_equal(io_files(false), 0);
}

/* As many channels and outputs as there may be, and one more. Of channels a line tells which number was wrong. */
static void knows_the_most(void **state) {
    static const float none[TVLM_LAYOUT_CHANNELS_MAX + 1];
    tvlm_scorer *loaded = NULL, many = sample(1);
    file f = good();
    (void)state;
    f.tensors[0].data = none;
    f.tensors[0].shape[0] = TVLM_LAYOUT_CHANNELS_MAX;
    io_expect(load(&f, &loaded), TVLM_ERROR_FORMAT, "2 channels are named, 'weights' has 8192");
    f.tensors[0].shape[0] = TVLM_LAYOUT_CHANNELS_MAX + 1;
    io_expect(load(&f, &loaded), TVLM_ERROR_FORMAT, "'weights' is for 8193 channels, not for 1 to 8192");
    f.tensors[0] = (tvlm_tensor){
        .name = "weights", .type = TVLM_ELEMENT_F32, .rank = 4, .shape = {18, 2, 1, 1}, .data = none};
    io_expect(load(&f, &loaded), TVLM_ERROR_FORMAT, "'weights' is for 18 outputs, not for 1 to 17");
    f.tensors[0].shape[0] = 17;
    io_expect(load(&f, &loaded), TVLM_OK, NULL);
    assert_int_equal(loaded->outputs, 17);
    tvlm_scorer_destroy(&loaded);
    many.weights = none;
    many.outputs = 18;
    io_expect(tvlm_scorer_save(io_path("m.safetensors"), &many, &io_log), TVLM_ERROR_ARGUMENT,
              "a scorer of 18 outputs; 1 to 17");
    many.outputs = 17;
    io_expect(tvlm_scorer_save(io_path("m.safetensors"), &many, &io_log), TVLM_OK, NULL);
    /* One channel of one dimension; and as many as there may be, of which each may stand once. */
    tvlm_scorer one = sample(1);
    static const int32_t alike[TVLM_LAYOUT_CHANNELS_MAX];
    one.channel_count = 1;
    one.query_weights = none;
    one.dimension = 1;
    io_expect(tvlm_scorer_save(io_path("m.safetensors"), &one, &io_log), TVLM_OK, NULL);
    one = (tvlm_scorer){.channel_count = TVLM_LAYOUT_CHANNELS_MAX, .channels = alike, .weights = none};
    io_expect(tvlm_scorer_save(io_path("m.safetensors"), &one, &io_log), TVLM_ERROR_ARGUMENT, "stands twice");
    many.channel_count = 0;
    io_expect(tvlm_scorer_save(io_path("m.safetensors"), &many, &io_log), TVLM_ERROR_ARGUMENT,
              "a scorer has channels");
    many.channel_count = TVLM_LAYOUT_CHANNELS_MAX + 1;
    io_expect(tvlm_scorer_save(io_path("m.safetensors"), &many, &io_log), TVLM_ERROR_ARGUMENT,
              "a scorer has channels");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        io_test(loads_what_was_saved),
        io_test(loads_query_weights),
        io_test(loads_the_longest_query_weights),
        io_test(loads_levels),
        io_test(loads_outputs),
        io_test(knows_the_most),
        io_test(the_optional_are_zero),
        io_test(refuses_other_metadata),
        io_test(refuses_other_tensors),
        io_test(refuses_other_files),
        io_test(does_not_save_what_it_would_not_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
