/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_select_layout.c: which channels the tool has a stack hold: those that a scorer weighs, wherever the weight stands, those of
 * the parts of the score, and that of an emphasis; and what there is no room for. tools/select_layout.c is compiled into this
 * program.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "select_layout.h"
#include "support.h"
#include "texturevlm/lab/network.h"

/* ---- What it needs of the tool ---- */

static char error[200];

int tool_fail(struct tool *tool, const char *format, ...) {
    va_list arguments;
    (void)tool;
    va_start(arguments, format);
    vsnprintf(error, sizeof error, format, arguments);
    va_end(arguments);
    return TOOL_FAILED;
}

int tool_status(struct tool *tool, tvlm_status status) {
    return status == TVLM_OK ? TOOL_DONE : tool_fail(tool, "%s", tvlm_status_string(status));
}

/* ---- Tests ---- */

static const int32_t four[] = {TVLM_CHANNEL_R, TVLM_CHANNEL_EDGES, TVLM_CHANNEL_TEXT, TVLM_CHANNEL_ENTROPY};
static const char *const names[] = {"r", "edges", "text", "entropy"};

static void channels_are_added_that_are_not_there(void **state) {
    char layout[32] = "edges";
    const int32_t none = TVLM_CHANNEL_NONE;
    (void)state;
    assert_int_equal(layout_add(NULL, "it", four, 3, layout, sizeof layout), TOOL_DONE);
    assert_string_equal(layout, "edges,r,text");
    assert_int_equal(layout_add(NULL, "it", four, 4, layout, sizeof layout), TOOL_DONE);
    assert_string_equal(layout, "edges,r,text,entropy");
    assert_int_equal(layout_add(NULL, "it", four, 4, layout, sizeof layout), TOOL_DONE);
    assert_string_equal(layout, "edges,r,text,entropy");
    assert_int_equal(layout_add(NULL, "it", &none, 1, layout, sizeof layout), TOOL_FAILED);
    /* A name is another one where it only begins like one, or ends so. */
    snprintf(layout, sizeof layout, "text_0,context");
    assert_int_equal(layout_add(NULL, "it", four + 2, 1, layout, sizeof layout), TOOL_DONE);
    assert_string_equal(layout, "text_0,context,text");
    layout[0] = '\0';
    assert_int_equal(layout_add(NULL, "it", four, 2, layout, sizeof layout), TOOL_DONE);
    assert_string_equal(layout, "r,edges");
    assert_string_equal(error, tvlm_status_string(TVLM_ERROR_ARGUMENT));
}

/* There must be room for a comma before each name, and for the end of the text. */
static void a_layout_has_an_end(void **state) {
    char layout[32] = "r";
    (void)state;
    assert_int_equal(layout_add(NULL, "it", four + 1, 1, layout, 7), TOOL_FAILED);
    assert_string_equal(error, "it: too many channels are read");
    assert_string_equal(layout, "r");
    assert_int_equal(layout_add(NULL, "it", four + 1, 1, layout, 8), TOOL_DONE);
    assert_string_equal(layout, "r,edges");
    assert_int_equal(layout_add(NULL, "it", four, 2, layout, 8), TOOL_DONE);
}

/* A scorer of four channels, of which one weight is not 0: `weight` of those that are the same for every question, and `asked` of those that hang
 * on it; -1: none. */
static struct tvlm_scorer scorer_of(int32_t outputs, int32_t taps, int32_t dimension, int32_t query_taps,
                                    int32_t weight, int32_t asked) {
    static float weights[64], query_weights[256];
    const int32_t all = outputs * 4 * taps, asked_all = dimension * (query_taps != 0 ? all : 4);
    for (int32_t i = 0; i < 64; ++i) weights[i] = i < all ? 0.0f : 9.0f; /* what lies beyond is not read */
    for (int32_t i = 0; i < 256; ++i) query_weights[i] = i < asked_all ? 0.0f : 9.0f;
    if (weight >= 0) weights[weight] = -0.5f;
    if (asked >= 0) query_weights[asked] = 0.25f;
    return (struct tvlm_scorer){.channels = four,
                                .channel_count = 4,
                                .outputs = outputs,
                                .taps = taps,
                                .weights = weights,
                                .dimension = dimension,
                                .query_taps = query_taps,
                                .query_weights = dimension > 0 ? query_weights : NULL};
}

static void check_layout(const struct tvlm_scorer *scorer, const char *wanted, int32_t at) {
    char layout[64] = "";
    assert_int_equal(scorer_layout(NULL, "s", scorer, layout, sizeof layout), TOOL_DONE);
    if (strcmp(layout, wanted) != 0) fail_msg("weight %d: %s, not %s", at, layout, wanted);
}

static void a_scorer_reads_what_it_weighs(void **state) {
    (void)state;
    for (int32_t taps = 1; taps <= 9; taps += 8)
        for (int32_t at = 0; at < 4 * taps; ++at) {
            const struct tvlm_scorer s = scorer_of(1, taps, 0, 0, at, -1);
            check_layout(&s, names[at / taps], at);
            for (int32_t i = 0; i < 4; ++i) assert_int_equal(scorer_weighs(&s, i), i == at / taps);
        }
    for (int32_t at = 0; at < 12; ++at) { /* three outputs, each with its weights of all channels */
        const struct tvlm_scorer s = scorer_of(3, 1, 0, 0, at, -1);
        check_layout(&s, names[at % 4], at);
    }
    const struct tvlm_scorer s = scorer_of(1, 1, 0, 0, -1, -1);
    check_layout(&s, "r,edges,text,entropy", -1);
    assert_int_equal(scorer_channels(&s), 4);
    for (int32_t i = 0; i < 4; ++i) assert_int_equal(scorer_channel(&s, i), four[i]);
}

/* Of a linear scorer the weights of questions are [dimension][channels]; of one with taps [outputs][channels][taps][dimension]. */
static void a_scorer_reads_what_questions_weigh(void **state) {
    (void)state;
    for (int32_t at = 0; at < 12; ++at) {
        const struct tvlm_scorer s = scorer_of(1, 1, 3, 0, -1, at);
        check_layout(&s, names[at % 4], at);
        for (int32_t i = 0; i < 4; ++i) assert_false(scorer_weighs(&s, i));
    }
    for (int32_t at = 0; at < 4 * 9 * 3; ++at) {
        const struct tvlm_scorer s = scorer_of(1, 9, 3, 9, -1, at);
        check_layout(&s, names[at / 27], at);
    }
    for (int32_t at = 0; at < 2 * 4 * 5; ++at) {
        const struct tvlm_scorer s = scorer_of(2, 1, 5, 1, -1, at);
        check_layout(&s, names[at % 20 / 5], at);
    }
    const struct tvlm_scorer both = scorer_of(1, 1, 3, 0, 3, 1);
    check_layout(&both, "edges,entropy", 1);
    const struct tvlm_scorer neither = scorer_of(1, 1, 3, 0, -1, -1);
    check_layout(&neither, "r,edges,text,entropy", -1);
}

static void a_network_reads_all_of_its_inputs(void **state) {
    const tvlm_network network = {.inputs = four + 1, .input_count = 3};
    const struct tvlm_scorer s = {.network = &network, .channels = four, .channel_count = 4};
    (void)state;
    assert_int_equal(scorer_channels(&s), 3);
    for (int32_t i = 0; i < 3; ++i) {
        assert_int_equal(scorer_channel(&s, i), four[i + 1]);
        assert_true(scorer_weighs(&s, i));
    }
    check_layout(&s, "edges,text,entropy", -1);
}

static void a_scorer_may_read_too_much(void **state) {
    char layout[32] = "";
    const struct tvlm_scorer s = scorer_of(1, 1, 0, 0, -1, -1);
    const struct tvlm_scorer unknown = {.channels = (const int32_t[]){TVLM_CHANNEL_NONE},
                                        .channel_count = 1,
                                        .weights = (const float[]){1.0f},
                                        .outputs = 1,
                                        .taps = 1};
    (void)state;
    assert_int_equal(scorer_layout(NULL, "s.file", &s, layout, strlen("r,edges,text,entropy")), TOOL_FAILED);
    assert_string_equal(error, "s.file: reads too many channels");
    assert_int_equal(scorer_layout(NULL, "s.file", &s, layout, strlen("r,edges,text,entropy") + 1),
                     TOOL_DONE);
    assert_string_equal(layout, "r,edges,text,entropy");
    assert_int_equal(scorer_layout(NULL, "s.file", &unknown, layout, sizeof layout), TOOL_FAILED);
}

static void parts_read_their_channels(void **state) {
    static const struct {
        float weights[3];
        const char *plain, *asked;
    } rows[] = {
        {{1.0f, 1.0f, 1.0f},
         "edges,saliency,eccentricity,entropy",
         "edges,saliency,eccentricity,entropy,query_similarity"},
        {{1.0f, 1.0f, 0.0f}, "edges,saliency,eccentricity,entropy", "edges,saliency,eccentricity,entropy"},
        {{0.1f, 0.0f, 0.0f}, "edges,entropy", "edges,entropy"},
        {{0.0f, 0.1f, 0.0f}, "saliency,eccentricity", "saliency,eccentricity"},
        {{0.1f, 0.0f, 2.0f}, "edges,entropy", "edges,entropy,query_similarity"},
        {{0.0f, 0.1f, 2.0f}, "saliency,eccentricity", "saliency,eccentricity,query_similarity"},
        {{0.0f, 0.0f, 0.1f}, "edges,saliency,eccentricity,entropy", "query_similarity"},
        {{0.0f, 0.0f, 0.0f}, "edges,saliency,eccentricity,entropy", "edges,saliency,eccentricity,entropy"},
    };
    char layout[100];
    option_triple weights = {false, {0.0f, 0.0f, 0.0f}};
    (void)state;
    parts_layout(&weights, false, layout, sizeof layout);
    assert_string_equal(layout, rows[0].plain);
    parts_layout(&weights, true, layout, sizeof layout);
    assert_string_equal(layout, rows[0].asked);
    weights.given = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        memcpy(weights.values, rows[i].weights, sizeof weights.values);
        parts_layout(&weights, false, layout, sizeof layout);
        assert_string_equal(layout, rows[i].plain);
        parts_layout(&weights, true, layout, sizeof layout);
        assert_string_equal(layout, rows[i].asked);
    }
}

static void an_emphasis_reads_its_channel(void **state) {
    char layout[64];
    struct tvlm_budget_params budget = {0};
    (void)state;
    for (int asked = 0; asked < 2; ++asked) {
        budget = (struct tvlm_budget_params){0};
        assert_int_equal(emphasis_layout(NULL, &budget, asked, layout, sizeof layout), TOOL_DONE);
        assert_string_equal(layout, asked ? "query_similarity" : "r,g,b");
        budget.emphasis = 0.5f;
        assert_int_equal(emphasis_layout(NULL, &budget, asked, layout, sizeof layout), TOOL_DONE);
        assert_string_equal(layout, asked ? "query_similarity" : "saliency");
        budget.emphasis_channel = TVLM_CHANNEL_TEXT;
        assert_int_equal(emphasis_layout(NULL, &budget, asked, layout, sizeof layout), TOOL_DONE);
        assert_string_equal(layout, "text");
        budget.emphasis = 0.0f;
        assert_int_equal(emphasis_layout(NULL, &budget, asked, layout, sizeof layout), TOOL_DONE);
        assert_string_equal(layout, "text");
    }
    budget.emphasis_channel = TVLM_CHANNEL_NONE;
    assert_int_equal(emphasis_layout(NULL, &budget, false, layout, sizeof layout), TOOL_FAILED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(channels_are_added_that_are_not_there),
        cmocka_unit_test(a_layout_has_an_end),
        cmocka_unit_test(a_scorer_reads_what_it_weighs),
        cmocka_unit_test(a_scorer_reads_what_questions_weigh),
        cmocka_unit_test(a_network_reads_all_of_its_inputs),
        cmocka_unit_test(a_scorer_may_read_too_much),
        cmocka_unit_test(parts_read_their_channels),
        cmocka_unit_test(an_emphasis_reads_its_channel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
