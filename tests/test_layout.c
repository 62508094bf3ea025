/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channels.h and the registry: every name of doc/channels.md by number, every layout, every refusal.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "support.h"

static const char *const names[60] = {"r",
                                      "g",
                                      "b",
                                      "edges",
                                      "edges_inv",
                                      "high",
                                      "low",
                                      "motion",
                                      "saliency",
                                      "x",
                                      "y",
                                      "eccentricity",
                                      "cluster_id",
                                      "cluster_distance",
                                      "cluster_size",
                                      "prev_relevance",
                                      "prev_saliency",
                                      "fixation",
                                      "embedding_0",
                                      "embedding_1",
                                      "embedding_2",
                                      "embedding_3",
                                      "embedding_4",
                                      "embedding_5",
                                      "embedding_6",
                                      "embedding_7",
                                      "embedding_8",
                                      "embedding_9",
                                      "embedding_10",
                                      "embedding_11",
                                      "embedding_12",
                                      "embedding_13",
                                      "embedding_14",
                                      "embedding_15",
                                      "distance",
                                      "attention_prev",
                                      "attention",
                                      "gaze",
                                      "boundary",
                                      "text",
                                      "laplacian",
                                      "entropy",
                                      "edge_x",
                                      "edge_y",
                                      "rgb_var",
                                      "rgb_mean",
                                      "saliency_fine",
                                      "saliency_mid",
                                      "saliency_coarse",
                                      "flow_u",
                                      "flow_v",
                                      "flow_confidence",
                                      "depth",
                                      "occlusion",
                                      "object_id",
                                      "normal_x",
                                      "normal_y",
                                      "normal_z",
                                      "query_similarity",
                                      "previous_pass"};

static void check_name(int32_t channel, const char *name, const char *family) {
    tvlm_channel_info info;
    assert_int_equal(tvlm_channel_get_info(channel, &info), TVLM_OK);
    assert_string_equal(info.name, name);
    assert_int_equal(info.channel, channel);
    assert_int_equal(tvlm_channel_find(name), channel);
    if (family != NULL) assert_string_equal(info.family, family);
    assert_true(info.low < info.high);
}

static void test_names(void **state) {
    char name[TVLM_CHANNEL_NAME_SIZE];
    (void)state;
    for (int32_t i = 0; i < 60; ++i) check_name(i, names[i], NULL);
    for (int32_t i = 0; i < TVLM_WORDS_MAX; ++i) {
        snprintf(name, sizeof name, "word_%d", (int)i);
        check_name(60 + i, name, "words");
    }
    for (int32_t i = 0; i < TVLM_FEATURES_MAX; ++i) {
        snprintf(name, sizeof name, "feature_%d", (int)i);
        check_name(124 + i, name, "features");
    }
    for (int32_t i = 16; i < TVLM_EMBEDDING_MAX; ++i) {
        snprintf(name, sizeof name, "embedding_%d", (int)i);
        check_name(TVLM_CHANNEL_EMBEDDING_16 + i - 16, name, "embedding");
    }
}

static void test_no_such_channel(void **state) {
    static const char *const wrong[] = {"",
                                        "edge",
                                        "Edges",
                                        "edges ",
                                        "word_64",
                                        "word_-1",
                                        "word_01",
                                        "word_",
                                        "word",
                                        "feature_4096",
                                        "embedding_64",
                                        "embedding_0x1",
                                        "word_99999999999999999999"};
    static const int32_t numbers[] = {-1, 124 + 4096, 8191, 8192 + 48, INT32_MAX, INT32_MIN};
    tvlm_channel_info info;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i)
        assert_int_equal(tvlm_channel_find(wrong[i]), TVLM_CHANNEL_NONE);
    assert_int_equal(tvlm_channel_find(NULL), TVLM_CHANNEL_NONE);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; ++i)
        assert_int_equal(tvlm_channel_get_info(numbers[i], &info), TVLM_ERROR_ARGUMENT);
}

static void check_info(int32_t channel, const char *family, float low, float high, bool identifier,
                       bool handed_in) {
    tvlm_channel_info info;
    assert_int_equal(tvlm_channel_get_info(channel, &info), TVLM_OK);
    assert_string_equal(info.family, family);
    assert_true(info.low == low && info.high == high);
    assert_int_equal(info.identifier, identifier);
    assert_int_equal(info.handed_in, handed_in);
    assert_true(info.available);
}

static void test_infos(void **state) {
    (void)state;
    check_info(TVLM_CHANNEL_R, "visual", 0, 1, false, false);
    check_info(TVLM_CHANNEL_LOW, "visual", 0, 1, false, false);
    check_info(TVLM_CHANNEL_SALIENCY_COARSE, "saliency", 0, 1, false, false);
    check_info(TVLM_CHANNEL_ECCENTRICITY, "position", 0, 1, false, false);
    check_info(TVLM_CHANNEL_LAPLACIAN, "detail", -1, 1, false, false);
    check_info(TVLM_CHANNEL_EDGE_Y, "gradient", -1, 1, false, false);
    check_info(TVLM_CHANNEL_RGB_VAR, "gradient", 0, 1, false, false);
    check_info(TVLM_CHANNEL_QUERY_SIMILARITY, "query", -1, 1, false, true);
    check_info(TVLM_CHANNEL_OBJECT_ID, "scene", 0, 2048, true, true);
    check_info(TVLM_CHANNEL_FLOW_U, "motion", -INFINITY, INFINITY, false, true);
    check_info(TVLM_CHANNEL_GAZE, "attention", 0, 1, false, true);
    check_info(TVLM_CHANNEL_EMBEDDING_16, "embedding", -1, 1, false, true);
    check_info(TVLM_CHANNEL_NORMAL_Z, "scene", -1, 1, false, true);
    check_info(TVLM_CHANNEL_PREVIOUS_PASS, "query", 0, 1, false, true);
    check_info(TVLM_CHANNEL_WORD_0 + 63, "words", -1, 1, false, true);
    check_info(TVLM_CHANNEL_VOCAB_ID, "vocab", 0, 65535, true, true);
    check_info(TVLM_CHANNEL_VOCAB_RESIDUAL, "vocab", 0, 2, false, true);
    check_info(TVLM_CHANNEL_FEATURE_0, "features", -INFINITY, INFINITY, false, true);
}

static void test_places(void **state) {
    (void)state;
    for (int32_t channel = 0; channel < 60; ++channel) {
        const tvlm_channel_place place = tvlm_channel_get_place(channel);
        tvlm_channel_info info;
        assert_int_equal(tvlm_channel_get_info(channel, &info), TVLM_OK);
        assert_int_equal(info.available, place.grid != TVLM_GRID_NONE ||
                                             tvlm_channel_get_replacement(channel).grid != TVLM_GRID_NONE);
        assert_in_range(place.component, 0, 3);
        if (place.grid >= TVLM_GRID_COUNT) continue;
        const tvlm_grid_info *grid = tvlm_grid_get_info(place.grid);
        assert_true(place.layer < grid->layers);
        assert_int_equal(info.identifier, grid->reduce[place.component] == TVLM_REDUCE_MODE);
        for (int32_t other = 0; other < channel; ++other) {
            const tvlm_channel_place o = tvlm_channel_get_place(other);
            assert_false(o.grid == place.grid && o.layer == place.layer && o.component == place.component);
        }
    }
}

static void test_needs_come_first(void **state) {
    (void)state;
    for (int grid = 0; grid < TVLM_GRID_COUNT; ++grid) {
        const tvlm_grid_mask bit = TVLM_GRID_BIT(grid);
        assert_true(tvlm_grid_get_info((tvlm_grid)grid)->needs < bit);
        assert_int_equal(tvlm_grids_with_needs(bit) & bit, bit);
        assert_int_equal(tvlm_grids_with_needs(bit) & tvlm_grid_get_info((tvlm_grid)grid)->needs,
                         tvlm_grid_get_info((tvlm_grid)grid)->needs);
        /* and dependents are what needs turned around */
        for (int other = 0; other < TVLM_GRID_COUNT; ++other)
            if ((tvlm_grids_with_needs(TVLM_GRID_BIT(other)) & bit) != 0)
                assert_true((tvlm_grids_with_dependents(bit) & TVLM_GRID_BIT(other)) != 0);
    }
    assert_int_equal(tvlm_grids_with_dependents(TVLM_GRID_BIT(TVLM_GRID_GAZE)),
                     TVLM_GRID_BIT(TVLM_GRID_GAZE));
    assert_int_equal(tvlm_grids_with_dependents(TVLM_GRID_BIT(TVLM_GRID_DEPTH)),
                     TVLM_GRID_BIT(TVLM_GRID_DEPTH) | TVLM_GRID_BIT(TVLM_GRID_OCCLUSION) |
                         TVLM_GRID_BIT(TVLM_GRID_NORMAL) | TVLM_GRID_BIT(TVLM_GRID_OCCLUSION_MAP) |
                         TVLM_GRID_BIT(TVLM_GRID_NORMAL_MAP));
    assert_int_equal(tvlm_grids_with_needs(0), 0);
    assert_int_equal(tvlm_grids_with_needs(TVLM_GRID_BIT(TVLM_GRID_VISUAL)),
                     TVLM_GRID_BIT(TVLM_GRID_VISUAL) | TVLM_GRID_BIT(TVLM_GRID_SOURCE));
}

/* ---- Layouts ---- */

static void check_layout(const char *name, const int32_t *expected, int32_t expected_count) {
    int32_t channels[64], count = 0;
    assert_int_equal(tvlm_layout_parse(name, &test_log, 0, NULL, &count), TVLM_OK);
    assert_int_equal(count, expected_count);
    channels[expected_count] = 12345;
    assert_int_equal(tvlm_layout_parse(name, &test_log, 64, channels, &count), TVLM_OK);
    assert_memory_equal(channels, expected, (size_t)expected_count * sizeof *expected);
    assert_int_equal(channels[expected_count], 12345);
}

static void test_layouts(void **state) {
    static const int32_t mvp13[] = {0, 1, 2, 10, 9, 11, 3, 4, 40, 6, 7, 8, 34};
    static const int32_t scene18[] = {0, 1, 2, 10, 9, 42, 43, 3, 46, 47, 48, 44, 45, 52, 55, 56, 57, 53};
    static const char *const order[] = {"visual12", "cluster15", "embed31", "temporal34",
                                        "full40",   "mvp13",     "patch13", "scene18"};
    int32_t numbers[40], embed31[31];
    (void)state;
    for (int32_t i = 0; i < 40; ++i) numbers[i] = i;
    for (int32_t i = 0; i < 31; ++i) embed31[i] = i < 15 ? i : i + 3;
    check_layout("visual12", numbers, 12);
    check_layout("cluster15", numbers, 15);
    check_layout("embed31", embed31, 31);
    check_layout("temporal34", numbers, 34);
    check_layout("full40", numbers, 40);
    check_layout("mvp13", mvp13, 13);
    check_layout("patch13", scene18, 13);
    check_layout("scene18", scene18, 18);
    for (int32_t i = 0; i < 8; ++i) assert_string_equal(tvlm_layout_name(i), order[i]);
    assert_null(tvlm_layout_name(8));
    assert_null(tvlm_layout_name(-1));
}

static void test_lists(void **state) {
    static const int32_t expected[] = {3, 0, 41, 0};
    int32_t one = 77, count;
    (void)state;
    check_layout("edges,r,entropy,r", expected, 4);
    check_layout(" edges ,\tr,entropy , r\n", expected, 4);
    check_layout("edges", expected, 1);
    assert_int_equal(tvlm_layout_parse("edges,r", NULL, 1, &one, &count), TVLM_OK);
    assert_int_equal(one, 3);
    assert_int_equal(count, 2);
}

static void check_refused(const char *text, const char *line) {
    int32_t channels[4] = {7, 7, 7, 7}, count = 99;
    assert_int_equal(tvlm_layout_parse(text, &test_log, 4, channels, &count), TVLM_ERROR_ARGUMENT);
    if (strstr(test_last_log(), line) == NULL) fail_msg("'%s' does not say '%s'", test_last_log(), line);
    assert_int_equal(channels[0], 7); /* results are untouched */
    assert_int_equal(tvlm_layout_parse(text, NULL, 0, NULL, &count), TVLM_ERROR_ARGUMENT);
}

static void test_refusals(void **state) {
    char long_name[300];
    (void)state;
    check_refused("edgs", "unknown channel 'edgs'; did you mean 'edges'?");
    check_refused("r,edgs", "unknown channel 'edgs'; did you mean 'edges'?");
    check_refused("r, salienci ,g", "unknown channel 'salienci'; did you mean 'saliency'?");
    check_refused("ful40", "unknown layout 'ful40'; did you mean 'full40'?");
    check_refused("r,full40", "unknown channel 'full40'");
    check_refused("Edges", "did you mean 'edges'?");
    check_refused("r,word_64", "unknown channel 'word_64'");
    check_refused("feature_4096", "unknown channel 'feature_4096'");
    check_refused("", "empty");
    check_refused("  ", "empty");
    check_refused("r,,g", "empty name");
    check_refused("r,", "empty name");
    check_refused(",", "empty name");
    check_refused(NULL, "empty");
    memset(long_name, 'q', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    check_refused(long_name, "unknown channel 'qqqq");
}

static void test_bad_arguments(void **state) {
    int32_t count;
    (void)state;
    assert_int_equal(tvlm_layout_parse("r", NULL, 0, NULL, NULL), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_layout_parse("r", NULL, 1, NULL, &count), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_layout_parse("r", NULL, -1, NULL, &count), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_channel_get_info(0, NULL), TVLM_ERROR_ARGUMENT);
}

/* The longest list that is taken, and one name more. */
static void test_long_list(void **state) {
    const size_t size = 2 * (size_t)(TVLM_LAYOUT_CHANNELS_MAX + 1);
    char *text = malloc(size);
    int32_t count = 0;
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < size; ++i) text[i] = i % 2 == 0 ? 'r' : ',';
    text[size - 1] = '\0';
    assert_int_equal(tvlm_layout_parse(text, &test_log, 0, NULL, &count), TVLM_ERROR_ARGUMENT);
    text[size - 3] = '\0';
    assert_int_equal(tvlm_layout_parse(text, &test_log, 0, NULL, &count), TVLM_OK);
    assert_int_equal(count, TVLM_LAYOUT_CHANNELS_MAX);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_no_such_channel),
        cmocka_unit_test(test_infos),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_needs_come_first),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_bad_arguments),
        cmocka_unit_test(test_long_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
