/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Codecs as files: what is saved is what is loaded, and what is no codec is refused with a line that says why.
 */
#include <math.h>

#include "io_helper.h"
#include "texturevlm/lab/codec.h"
#include "texturevlm/lab/io_codec.h"

enum { N = 3, CODES = 2 };

static float values[64];

/* A file of one's own making: at most four tensors, and the metadata (NULL: not there). */
static const float shares[CODES] = {0.75f, 0.125f};

typedef struct file {
    tvlm_tensor tensors[4];
    int32_t count;
    const char *format, *channels, *level;
} file;

static tvlm_tensor tensor(const char *name, int64_t rows, int64_t columns) {
    return (tvlm_tensor){.name = name,
                         .type = TVLM_ELEMENT_F32,
                         .rank = columns > 0 ? 2 : 1,
                         .shape = {rows, columns},
                         .data = values};
}

static file good(void) {
    return (file){.tensors = {tensor("encode", CODES, N), tensor("decode", N, CODES), tensor("mean", N, 0),
                              (tvlm_tensor){.name = "explained_variance_ratio",
                                            .type = TVLM_ELEMENT_F32,
                                            .rank = 1,
                                            .shape = {CODES},
                                            .data = shares}},
                  .count = 4,
                  .format = "texturevlm.codec",
                  .channels = "r,edges,saliency",
                  .level = "3"};
}

static tvlm_status load(const file *made, tvlm_codec **codec) {
    const tvlm_metadata all[] = {
        {"format", made->format}, {"channels", made->channels}, {"level", made->level}};
    tvlm_metadata metadata[3];
    int32_t count = 0;
    for (int i = 0; i < 3; ++i)
        if (all[i].value != NULL) metadata[count++] = all[i];
    io_expect(tvlm_safetensors_write(io_path("c.safetensors"), made->tensors, made->count, metadata, count,
                                     &io_log),
              TVLM_OK, NULL);
    return tvlm_codec_load(io_path("c.safetensors"), &io_log, codec);
}

static void refuse(const file *made, const char *words) {
    tvlm_codec *codec = NULL;
    const tvlm_status status = load(made, &codec);
    assert_non_null(strstr(io_logged, "c.safetensors"));
    io_expect(status, TVLM_ERROR_FORMAT, words);
    assert_null(codec);
}

static void expect(const tvlm_codec *codec, int32_t level) {
    struct tvlm_codec_params p;
    assert_int_equal(tvlm_codec_get_params(codec, &p), TVLM_OK);
    assert_true(p.k == CODES && p.channel_count == N && p.level == level);
    assert_true(p.channels[0] == 0 && p.channels[1] == TVLM_CHANNEL_EDGES &&
                p.channels[2] == TVLM_CHANNEL_SALIENCY);
    assert_memory_equal(p.encode, values, CODES * N * sizeof *values);
    assert_memory_equal(p.decode, values, CODES * N * sizeof *values);
}

static int set_values(void **state) {
    for (size_t i = 0; i < sizeof values / sizeof *values; ++i) values[i] = (float)i - 2.5f;
    return io_setup(state);
}

static void loads_and_saves(void **state) {
    file made = good();
    struct tvlm_codec_params p;
    tvlm_codec *codec = NULL, *again = NULL;
    (void)state;
    io_expect(load(&made, &codec), TVLM_OK, NULL);
    expect(codec, 3);
    io_expect(tvlm_codec_save(io_path("again.safetensors"), codec, &io_log), TVLM_OK, NULL);
    io_expect(tvlm_codec_load(io_path("again.safetensors"), &io_log, &again), TVLM_OK, NULL);
    expect(again, 3);
    assert_int_equal(tvlm_codec_get_params(again, &p), TVLM_OK);
    assert_memory_equal(p.mean, values, N * sizeof *values);
    assert_memory_equal(p.variance, shares, sizeof shares);
    tvlm_codec_destroy(&codec);
    tvlm_codec_destroy(&again);
    /* What is optional. */
    made.level = NULL;
    made.count = 2;
    io_expect(load(&made, &codec), TVLM_OK, NULL);
    expect(codec, 0);
    assert_int_equal(tvlm_codec_get_params(codec, &p), TVLM_OK);
    assert_true(p.mean[0] == 0.0f && p.mean[2] == 0.0f && p.variance[1] == 0.0f);
    tvlm_codec_destroy(&codec);
}

static void loads_doubles(void **state) {
    static double doubles[CODES * N];
    file made = good();
    tvlm_codec *codec = NULL;
    (void)state;
    for (int i = 0; i < CODES * N; ++i) doubles[i] = (double)values[i];
    made.tensors[0].type = TVLM_ELEMENT_F64;
    made.tensors[0].data = doubles;
    io_expect(load(&made, &codec), TVLM_OK, NULL);
    expect(codec, 3);
    tvlm_codec_destroy(&codec);
}

static void refuses(void **state) {
    static float bad[64];
    file made;
    (void)state;
    memcpy(bad, values, sizeof bad);
    bad[4] = NAN;
#define WITH(CHANGE, WORDS)                                                                                  \
    do {                                                                                                     \
        made = good();                                                                                       \
        made.CHANGE;                                                                                         \
        refuse(&made, WORDS);                                                                                \
    } while (0)
    WITH(format = NULL, "is not a codec (its metadata lacks format = texturevlm.codec)");
    WITH(format = "texturevlm.basis", "is not a codec");
    WITH(channels = NULL, "its metadata lacks 'channels'");
    WITH(channels = "r,edges", "it names 2 channels, and 'encode' is for 3");
    WITH(channels = "r,edges,edges", "the channel 'edges' stands twice");
    WITH(channels = "r,edges,edgy", "there is no channel 'edgy'");
    WITH(channels = "r,edges,cluster_id", "cluster_id: it is an identifier");
    WITH(level = "16", "level = 16");
    WITH(level = "one", "level = one");
    WITH(tensors[0] = tensor("encode", N + 1, N), "there is no tensor 'encode' of shape");
    WITH(tensors[0] = tensor("code", CODES, N), "there is no tensor 'encode' of shape");
    WITH(tensors[0] = tensor("encode", CODES, 0), "there is no tensor 'encode' of shape");
    WITH(tensors[1] = tensor("decode", CODES, N), "'decode' has not the shape that 'encode' asks for");
    WITH(tensors[1] = tensor("decoder", N, CODES), "there is no tensor 'decode'");
    WITH(tensors[2] = tensor("mean", N + 1, 0), "'mean' has not the shape");
    WITH(tensors[3] = tensor("explained_variance_ratio", N, 0),
         "'explained_variance_ratio' has not the shape");
    WITH(tensors[1].type = TVLM_ELEMENT_F16, "'decode' is");
    WITH(tensors[0].data = bad, "number 4 of its encode is not finite");
    WITH(tensors[1].data = bad, "number 4 of its decode is not finite");
    bad[4] = values[4];
    bad[1] = -1e30f;
    WITH(tensors[0].data = bad, "number 1 of its encode is -1e+30, beyond 1e+15");
    WITH(tensors[1].data = bad, "number 1 of its decode is -1e+30, beyond 1e+15");
    WITH(tensors[2].data = bad, "number 1 of its mean is -1e+30, beyond 1e+15");
    bad[0] = 0.5f;
    WITH(tensors[3].data = bad, "number 1 of its variance is -1e+30; it is a share, 0 to 1");
}

static void arguments(void **state) {
    tvlm_codec *codec = NULL;
    (void)state;
    io_expect(tvlm_codec_load(NULL, &io_log, &codec), TVLM_ERROR_ARGUMENT, "path or codec is NULL");
    io_expect(tvlm_codec_save("x", NULL, &io_log), TVLM_ERROR_ARGUMENT, "path or codec is NULL");
    assert_int_not_equal(tvlm_codec_load(io_path("none"), &io_log, &codec), TVLM_OK);
    assert_int_equal(io_files(false), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(loads_and_saves, set_values, io_teardown),
        cmocka_unit_test_setup_teardown(loads_doubles, set_values, io_teardown),
        cmocka_unit_test_setup_teardown(refuses, set_values, io_teardown),
        cmocka_unit_test_setup_teardown(arguments, set_values, io_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
