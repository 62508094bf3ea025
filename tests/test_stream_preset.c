/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stream_preset.c: what each preset of a stream is. Its numbers were chosen by hand, so that nothing else tells
 * when one of them changes.
 */
#include <string.h>

#include "support.h"
#include "texturevlm/stream.h"

typedef struct preset {
    tvlm_stream_use use;
    const char *name, *layout;
    bool no_flow, keeps;
    int32_t channels[4]; /* of its scorer, if it has one */
    float weights[4], similarity_weight;
} preset;

static const preset presets[] = {
    {.use = TVLM_STREAM_MOVING, .name = "moving"},
    {.use = TVLM_STREAM_STILL,
     .name = "still",
     .keeps = true,
     .channels = {TVLM_CHANNEL_MOTION, TVLM_CHANNEL_SALIENCY, TVLM_CHANNEL_ENTROPY, TVLM_CHANNEL_EDGES},
     .weights = {1.0f, 0.3f, 0.1f, 0.2f},
     .similarity_weight = 0.8f},
    {.use = TVLM_STREAM_SCREEN,
     .name = "screen",
     .layout = "r,g,b,edges,saliency,entropy,text",
     .no_flow = true,
     .keeps = true,
     .channels = {TVLM_CHANNEL_TEXT, TVLM_CHANNEL_EDGES, TVLM_CHANNEL_ENTROPY, TVLM_CHANNEL_SALIENCY},
     .weights = {0.6f, 0.3f, 0.2f, 0.1f},
     .similarity_weight = 0.8f},
    {.use = TVLM_STREAM_GAZE,
     .name = "gaze",
     .no_flow = true,
     .channels = {TVLM_CHANNEL_FIXATION, TVLM_CHANNEL_SALIENCY, TVLM_CHANNEL_ENTROPY,
                  TVLM_CHANNEL_ECCENTRICITY},
     .weights = {0.8f, 0.2f, 0.1f, -0.2f},
     .similarity_weight = 0.6f},
};

static void check_scorer(const tvlm_scorer *scorer, const preset *expected) {
    if (expected->similarity_weight == 0.0f) {
        assert_null(scorer);
        return;
    }
    assert_non_null(scorer);
    assert_int_equal(scorer->channel_count, 4);
    assert_int_equal(scorer->taps, 1);
    assert_memory_equal(scorer->channels, expected->channels, sizeof expected->channels);
    assert_memory_equal(scorer->weights, expected->weights, sizeof expected->weights);
    assert_true(scorer->similarity_weight == expected->similarity_weight);
}

static void test_presets(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof presets / sizeof *presets; ++i) {
        const preset *const expected = &presets[i];
        const float share = expected->keeps ? TVLM_STREAM_SHARE : 0.0f;
        struct tvlm_stream_params params = {
            .keyframe_interval = 7, .layout = "r", .no_flow = !expected->no_flow};
        assert_int_equal(tvlm_stream_preset(expected->use, &params), TVLM_OK);
        assert_true(params.no_flow == expected->no_flow);
        assert_true(params.update.saliency_share == share && params.update.cluster_share == share);
        assert_int_equal(params.keyframe_interval, 7);
        if (expected->layout == NULL)
            assert_null(params.layout);
        else
            assert_string_equal(params.layout, expected->layout);
        check_scorer(params.scorer, expected);
        assert_string_equal(tvlm_stream_use_name(expected->use), expected->name);
        assert_int_equal(tvlm_stream_use_find(expected->name), expected->use);
    }
    assert_true(TVLM_STREAM_SHARE == 0.25f);
}

static void test_refusals(void **state) {
    struct tvlm_stream_params params = {.keyframe_interval = 7};
    (void)state;
    assert_int_equal(tvlm_stream_preset((tvlm_stream_use)-1, &params), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stream_preset((tvlm_stream_use)4, &params), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_stream_preset(TVLM_STREAM_GAZE, NULL), TVLM_ERROR_ARGUMENT);
    assert_null(params.scorer);
    assert_string_equal(tvlm_stream_use_name((tvlm_stream_use)4), "unknown");
    assert_int_equal(tvlm_stream_use_find("none"), -1);
    assert_int_equal(tvlm_stream_use_find(NULL), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_presets), cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
