/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_refusals_lab.c: each pointer of each function of the lab that must not be NULL, and reserved words that are not 0, one at
 * a time: refused in a line that names it, and nothing is written.
 */
#include "stack_helper.h"

#include "texturevlm/export.h"
#include "texturevlm/input.h"
#include "texturevlm/lab/attend.h"
#include "texturevlm/lab/backward.h"
#include "texturevlm/lab/codec.h"
#include "texturevlm/lab/explain.h"
#include "texturevlm/lab/fit.h"
#include "texturevlm/lab/footprint.h"
#include "texturevlm/lab/foveated.h"
#include "texturevlm/lab/logpolar.h"
#include "texturevlm/lab/merge.h"
#include "texturevlm/lab/projection.h"
#include "texturevlm/lab/ridge.h"
#include "texturevlm/lab/trainer.h"
#include "texturevlm/lab/vocab.h"

static tvlm_device *device;
static tvlm_stack *stack; /* with features of two dimensions */

static const float unit[4] = {1.0f, 0.0f, 0.0f, 1.0f};
static const int32_t channels[2] = {TVLM_CHANNEL_R, TVLM_CHANNEL_G};

static int open_all(void **state) {
    static const float features[6 * 4 * 2] = {1.0f, 2.0f, 3.0f, -1.0f};
    (void)state;
    device = open_reference();
    stack = random_stack(device, TVLM_FORMAT_F32, 48, 32, 3);
    const tvlm_status status =
        tvlm_stack_set_grid(stack, 0, TVLM_CHANNEL_FEATURE_0,
                            tvlm_grid_input(.data = features, .columns = 6, .rows = 4, .channels = 2));
    return status == TVLM_OK ? 0 : 1;
}

static int close_all(void **state) {
    (void)state;
    tvlm_stack_destroy(&stack);
    tvlm_device_destroy(&device);
    return 0;
}

/* A call is refused in a line that ends with these words. */
static void refuses(const char *call, tvlm_status status, const char *words) {
    const char *const line = test_last_log();
    const size_t length = strlen(line), end = strlen(words);
    if (status != TVLM_ERROR_ARGUMENT) fail_msg("%s: status %d", call, (int)status);
    if (length < end || strcmp(line + length - end, words) != 0)
        fail_msg("%s: '%s' does not end with '%s'", call, line, words);
}
#define REFUSES(words, call) refuses(#call, call, words)
/* The same, where there is nobody to tell. */
#define REFUSES_QUIETLY(call) assert_int_equal(call, TVLM_ERROR_ARGUMENT)
#define NEWER                 .reserved = {0, 1}

static void refuses_reserved(const char *call, tvlm_status status) {
    if (status != TVLM_ERROR_ARGUMENT || strstr(test_last_log(), "reserved words") == NULL)
        fail_msg("%s: status %d, '%s'", call, (int)status, test_last_log());
}
#define REFUSES_NEWER(call) refuses_reserved(#call, call)

static void test_attend(void **state) {
    float out[2], map[4];
    const struct tvlm_attend_params good = {.queries = unit, .dimension = 2, .count = 1};
    (void)state;
    REFUSES_QUIETLY(tvlm_attend(NULL, NULL, &good, 2, out, map, NULL));
    REFUSES("params is NULL", tvlm_attend(stack, NULL, NULL, 2, out, map, NULL));
    REFUSES("out is NULL", tvlm_attend(stack, NULL, &good, 2, NULL, NULL, NULL));
    REFUSES_NEWER(tvlm_attend(stack, NULL, tvlm_attend_params(.queries = unit, .dimension = 2, NEWER), 2, out,
                              NULL, NULL));
}

static void test_backward(void **state) {
    static const tvlm_sample_point point = {3.0f, 4.0f, 0.0f, 0};
    float texels[48 * 32 * 2], places[3];
    struct tvlm_sample_backward_params p = {
        .count = 1, .points = &point, .channels = channels, .channel_count = 2, .gradients = unit};
    const struct tvlm_sample_backward_params good = p;
    (void)state;
    REFUSES_QUIETLY(tvlm_sample_backward(NULL, &good, 1, texels, places));
    REFUSES("params is NULL", tvlm_sample_backward(stack, NULL, 1, texels, places));
    p.points = NULL, REFUSES("points is NULL", tvlm_sample_backward(stack, &p, 1, texels, places));
    p = good, p.channels = NULL,
    REFUSES("channels is NULL", tvlm_sample_backward(stack, &p, 1, texels, places));
    p = good, p.gradients = NULL,
    REFUSES("gradients is NULL", tvlm_sample_backward(stack, &p, 1, texels, places));
    p = good, p.reserved[3] = 1, REFUSES_NEWER(tvlm_sample_backward(stack, &p, 1, texels, places));
    /* Without points, or without channels, there is nothing to read. */
    p = (struct tvlm_sample_backward_params){.channels = channels, .channel_count = 1};
    assert_int_equal(tvlm_sample_backward(stack, &p, 48 * 32, texels, NULL), TVLM_OK);
}

static void test_sample_double(void **state) {
    static const double texels[4] = {1.0, 2.0, 3.0, 4.0}, points[3] = {1.0, 1.0, 0.0}, gradients[1] = {1.0};
    double out[4], places[3];
    const struct tvlm_sample_double_params good = {.texels = texels,
                                                   .width = 2,
                                                   .height = 2,
                                                   .channels = 1,
                                                   .count = 1,
                                                   .points = points,
                                                   .log = &test_log};
    struct tvlm_sample_double_params p = good;
    (void)state;
    REFUSES_QUIETLY(tvlm_sample_double(NULL, out));
    REFUSES_QUIETLY(tvlm_sample_double_backward(NULL, gradients, out, places));
    REFUSES("out is NULL", tvlm_sample_double(&good, NULL));
    REFUSES("gradients is NULL", tvlm_sample_double_backward(&good, NULL, out, places));
    p.texels = NULL, REFUSES("texels is NULL", tvlm_sample_double(&p, out));
    p = good, p.points = NULL, REFUSES("points is NULL", tvlm_sample_double(&p, out));
    p = good, p.reserved[0] = 1, REFUSES_NEWER(tvlm_sample_double(&p, out));
    REFUSES_NEWER(tvlm_sample_double_backward(&p, gradients, out, places));
    assert_int_equal(tvlm_sample_double(&good, out), TVLM_OK);
    assert_true(fabs(out[0] - 2.5) < 1e-12);
}

static void test_codec(void **state) {
    static const float weights[2] = {1.0f, -1.0f};
    struct tvlm_codec_params p = {
        .channels = channels, .channel_count = 2, .k = 1, .encode = unit, .decode = unit};
    tvlm_scorer scorer = {.channel_count = 2, .channels = channels, .weights = weights}, *folded = NULL;
    tvlm_codec *codec = NULL, *other = NULL;
    (void)state;
    assert_int_equal(tvlm_codec_create(&p, &test_log, &codec), TVLM_OK);
    REFUSES("p is NULL", tvlm_codec_create(NULL, &test_log, &other));
    REFUSES("codec is NULL", tvlm_codec_create(&p, &test_log, NULL));
    p.channels = NULL, REFUSES("channels is NULL", tvlm_codec_create(&p, &test_log, &other));
    REFUSES("codec is NULL", tvlm_codec_fold(NULL, &scorer, 0, &test_log, &folded));
    REFUSES("scorer is NULL", tvlm_codec_fold(codec, NULL, 0, &test_log, &folded));
    REFUSES("folded is NULL", tvlm_codec_fold(codec, &scorer, 0, &test_log, NULL));
    scorer.reserved[0] = 1, REFUSES_NEWER(tvlm_codec_fold(codec, &scorer, 0, &test_log, &folded));
    assert_true(folded == NULL && other == NULL);
    tvlm_codec_destroy(&codec);
}

static void test_explain(void **state) {
    const struct tvlm_select_params good = {.k = 3, .strategy = TVLM_STRATEGY_GRID};
    struct tvlm_select_params newer = good;
    tvlm_selection *selection = NULL;
    tvlm_reason reasons[64];
    int32_t count = -1;
    (void)state;
    newer.reserved[0] = 1;
    assert_int_equal(tvlm_select(stack, NULL, &good, &selection), TVLM_OK);
    REFUSES_QUIETLY(tvlm_explain(NULL, NULL, &good, selection, 64, reasons, &count));
    REFUSES("selection is NULL", tvlm_explain(stack, NULL, &good, NULL, 64, reasons, &count));
    REFUSES("channel_count is NULL", tvlm_explain(stack, NULL, &good, selection, 64, reasons, NULL));
    REFUSES("reasons is NULL", tvlm_explain(stack, NULL, &good, selection, 1, NULL, &count));
    REFUSES_NEWER(tvlm_explain(stack, NULL, &newer, selection, 64, reasons, &count));
    assert_int_equal(count, -1);
    assert_int_equal(tvlm_explain(stack, NULL, &good, selection, 64, reasons, &count), TVLM_OK);
    assert_true(count > 0);
    tvlm_selection_destroy(&selection);
}

static void test_fit(void **state) {
    static const float share[6] = {0.5f, 1.0f};
    static const struct tvlm_query query = {.vectors = unit, .dimension = 2};
    const tvlm_scorer *scorer = NULL;
    tvlm_fit *fit = NULL, *asked = NULL;
    int32_t count = -1;
    uint8_t held_out[4];
    (void)state;
    REFUSES("fit is NULL", tvlm_fit_create(NULL, &test_log, NULL));
    REFUSES_NEWER(tvlm_fit_create(tvlm_fit_params(NEWER), &test_log, &fit));
    assert_null(fit);
    assert_int_equal(tvlm_fit_create(tvlm_fit_params(.stride = 16.0f), &test_log, &fit), TVLM_OK);
    assert_int_equal(
        tvlm_fit_create(tvlm_fit_params(.stride = 16.0f, .query_weights = true), &test_log, &asked), TVLM_OK);
    REFUSES_QUIETLY(tvlm_fit_add(NULL, stack, 0, share, 3, 2));
    REFUSES("stack is NULL", tvlm_fit_add(fit, NULL, 0, share, 3, 2));
    REFUSES("share is NULL", tvlm_fit_add(fit, stack, 0, NULL, 3, 2));
    REFUSES_QUIETLY(tvlm_fit_add_query(NULL, stack, 0, &query, share, 3, 2));
    REFUSES("stack is NULL", tvlm_fit_add_query(asked, NULL, 0, &query, share, 3, 2));
    REFUSES("query is NULL", tvlm_fit_add_query(asked, stack, 0, NULL, share, 3, 2));
    REFUSES("share is NULL", tvlm_fit_add_query(asked, stack, 0, &query, NULL, 3, 2));
    assert_int_equal(tvlm_fit_add(fit, stack, 0, share, 3, 2), TVLM_OK);
    REFUSES_QUIETLY(tvlm_fit_solve(NULL, NULL, &scorer));
    REFUSES("scorer is NULL", tvlm_fit_solve(fit, NULL, NULL));
    REFUSES_NEWER(tvlm_fit_solve(fit, tvlm_fit_solve_params(NEWER), &scorer));
    assert_null(scorer);
    REFUSES_QUIETLY(tvlm_fit_split(4, 0.5f, 1, NULL));
    assert_int_equal(tvlm_fit_split(4, 0.01f, 1, held_out), TVLM_OK);
    assert_int_equal(held_out[0] + held_out[1] + held_out[2] + held_out[3], 1); /* one at least */
    assert_null(tvlm_fit_channels(NULL, &count));
    assert_int_equal(count, 0);
    assert_non_null(tvlm_fit_channels(fit, NULL));
    assert_int_equal(tvlm_fit_images(NULL), 0);
    tvlm_fit_destroy(&fit);
    tvlm_fit_destroy(&fit);
    tvlm_fit_destroy(&asked);
}

static void test_footprint(void **state) {
    static const tvlm_footprint one = {10.0f, 10.0f, {4.0f, 0.0f}, {0.0f, 4.0f}, 0};
    static const tvlm_sample_point point = {10.0f, 10.0f, 0.0f, 0};
    static const float size = 8.0f;
    tvlm_footprint found;
    float out[2];
    (void)state;
    REFUSES_QUIETLY(tvlm_stack_sample_footprint(NULL, &one, 1, channels, 2, out));
    REFUSES("footprints is NULL", tvlm_stack_sample_footprint(stack, NULL, 1, channels, 2, out));
    REFUSES("channels is NULL", tvlm_stack_sample_footprint(stack, &one, 1, NULL, 2, out));
    REFUSES("out is NULL", tvlm_stack_sample_footprint(stack, &one, 1, channels, 2, NULL));
    REFUSES_QUIETLY(tvlm_stack_structure(NULL, &point, &size, 1, &found));
    REFUSES("points is NULL", tvlm_stack_structure(stack, NULL, &size, 1, &found));
    REFUSES("sizes is NULL", tvlm_stack_structure(stack, &point, NULL, 1, &found));
    REFUSES("footprints is NULL", tvlm_stack_structure(stack, &point, &size, 1, NULL));
    REFUSES("-1 points", tvlm_stack_structure(stack, &point, &size, -1, &found));
    assert_int_equal(tvlm_stack_structure(stack, &point, &size, 0, &found), TVLM_OK);
    assert_int_equal(tvlm_stack_structure(stack, &point, &size, 1, &found), TVLM_OK);
}

static void test_foveated(void **state) {
    tvlm_position positions[5];
    int32_t count = -1;
    (void)state;
    REFUSES("positions is NULL", tvlm_foveated_place(80, 60, 5, 0, NULL, &test_log, 5, NULL, &count));
    REFUSES("count is NULL", tvlm_foveated_place(80, 60, 5, 0, NULL, &test_log, 5, positions, NULL));
    REFUSES_NEWER(
        tvlm_foveated_place(80, 60, 5, 0, tvlm_foveated_params(NEWER), &test_log, 5, positions, &count));
    assert_int_equal(count, -1);
}

static void test_logpolar(void **state) {
    tvlm_logpolar_info info;
    float samples[4];
    (void)state;
    REFUSES_QUIETLY(tvlm_logpolar_get_info(NULL, NULL, &info));
    REFUSES("info is NULL", tvlm_logpolar_get_info(stack, NULL, NULL));
    REFUSES_NEWER(tvlm_logpolar_get_info(stack, tvlm_logpolar_params(NEWER), &info));
    REFUSES_QUIETLY(tvlm_logpolar(NULL, NULL, 4, samples));
    REFUSES("samples is NULL", tvlm_logpolar(stack, NULL, 4, NULL));
    REFUSES_NEWER(tvlm_logpolar(stack, tvlm_logpolar_params(NEWER), 4, samples));
}

static void test_merge(void **state) {
    tvlm_selection *selection = NULL;
    tvlm_merged_token merged[3];
    float tokens[6];
    (void)state;
    assert_int_equal(tvlm_select(stack, NULL, tvlm_select_params(.k = 3), &selection), TVLM_OK);
    REFUSES_QUIETLY(tvlm_merge_tokens(NULL, selection, NULL, 6, tokens, merged));
    REFUSES("selection is NULL", tvlm_merge_tokens(stack, NULL, NULL, 6, tokens, merged));
    REFUSES("tokens is NULL", tvlm_merge_tokens(stack, selection, NULL, 6, NULL, merged));
    REFUSES("merged is NULL", tvlm_merge_tokens(stack, selection, NULL, 6, tokens, NULL));
    REFUSES_NEWER(tvlm_merge_tokens(stack, selection, tvlm_merge_params(NEWER), 6, tokens, merged));
    assert_int_equal(tvlm_merge_tokens(stack, selection, NULL, 6, tokens, merged), TVLM_OK);
    tvlm_selection_destroy(&selection);
}

static void test_network(void **state) {
    static const char *const names[1] = {"one"};
    const tvlm_network_layer good_layer = {
        .inputs = 2, .outputs = 1, .side = 1, .stride = 1, .weights = unit};
    tvlm_network_layer layer = good_layer;
    const tvlm_network good = {.inputs = channels,
                               .input_count = 2,
                               .outputs = names,
                               .output_count = 1,
                               .layers = &layer,
                               .layer_count = 1};
    tvlm_network network = good;
    (void)state;
    assert_int_equal(tvlm_network_check(&good, &test_log), TVLM_OK);
    REFUSES("network is NULL", tvlm_network_check(NULL, &test_log));
    network.inputs = NULL, REFUSES("inputs is NULL", tvlm_network_check(&network, &test_log));
    network = good, network.outputs = NULL,
    REFUSES("outputs is NULL", tvlm_network_check(&network, &test_log));
    network = good, network.layers = NULL, REFUSES("layers is NULL", tvlm_network_check(&network, &test_log));
    network = good, network.reserved[1] = 1, REFUSES_NEWER(tvlm_network_check(&network, &test_log));
    layer.weights = NULL, REFUSES("weights is NULL", tvlm_network_check(&good, &test_log));
    layer = good_layer, layer.reserved[2] = 1, REFUSES_NEWER(tvlm_network_check(&good, &test_log));
}

static void test_projection(void **state) {
    static const tvlm_sample_point point = {10.0f, 10.0f, 0.0f, 0};
    const struct tvlm_projection_params good = {
        .channels = channels, .channel_count = 2, .outputs = 2, .weights = unit};
    struct tvlm_projection_params p = good;
    tvlm_projection *projection = NULL, *other = NULL;
    float out[2];
    (void)state;
    assert_int_equal(tvlm_projection_create(&good, &test_log, &projection), TVLM_OK);
    REFUSES("params is NULL", tvlm_projection_create(NULL, &test_log, &other));
    REFUSES("projection is NULL", tvlm_projection_create(&good, &test_log, NULL));
    p.channels = NULL, REFUSES("channels is NULL", tvlm_projection_create(&p, &test_log, &other));
    p = good, p.weights = NULL, REFUSES("weights is NULL", tvlm_projection_create(&p, &test_log, &other));
    p = good, p.reserved[0] = 1, REFUSES_NEWER(tvlm_projection_create(&p, &test_log, &other));
    assert_null(other);
    REFUSES_QUIETLY(tvlm_projection_get_params(NULL, &p));
    REFUSES_QUIETLY(tvlm_projection_get_params(projection, NULL));
    REFUSES_QUIETLY(tvlm_projection_apply(projection, NULL, &point, 1, 2, out));
    REFUSES("projection is NULL", tvlm_projection_apply(NULL, stack, &point, 1, 2, out));
    REFUSES("points is NULL", tvlm_projection_apply(projection, stack, NULL, 1, 2, out));
    REFUSES("out is NULL", tvlm_projection_apply(projection, stack, &point, 1, 2, NULL));
    REFUSES_QUIETLY(tvlm_export_set_projection(NULL, projection));
    tvlm_projection_destroy(&projection);
    tvlm_projection_destroy(&projection);
    tvlm_projection_destroy(NULL);
}

static void test_ridge(void **state) {
    const struct tvlm_ridge_params good = {.count = 2, .inputs = 2, .outputs = 1, .x = unit, .y = unit};
    struct tvlm_ridge_params p = good;
    float weights[2], bias[1];
    (void)state;
    REFUSES_QUIETLY(tvlm_ridge(NULL, &good, weights, bias));
    REFUSES("params is NULL", tvlm_ridge(device, NULL, weights, bias));
    REFUSES("weights is NULL", tvlm_ridge(device, &good, NULL, bias));
    REFUSES("bias is NULL", tvlm_ridge(device, &good, weights, NULL));
    p.x = NULL, REFUSES("x is NULL", tvlm_ridge(device, &p, weights, bias));
    p = good, p.y = NULL, REFUSES("y is NULL", tvlm_ridge(device, &p, weights, bias));
    p = good, p.reserved[0] = 1, REFUSES_NEWER(tvlm_ridge(device, &p, weights, bias));
    static const struct {
        int64_t count;
        int32_t inputs, outputs;
        const char *line;
    } rows[] = {{0, 2, 1, "0 rows of 2 numbers, to become 1"},
                {2, 0, 1, "2 rows of 0 numbers, to become 1"},
                {2, 4097, 1, "2 rows of 4097 numbers, to become 1"},
                {2, 2, 0, "2 rows of 2 numbers, to become 0"},
                {2, 2, 65537, "2 rows of 2 numbers, to become 65537"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        p = (struct tvlm_ridge_params){.count = rows[i].count,
                                       .inputs = rows[i].inputs,
                                       .outputs = rows[i].outputs,
                                       .x = unit,
                                       .y = unit};
        refuses("tvlm_ridge", tvlm_ridge(device, &p, weights, bias), rows[i].line);
    }
    p = good, p.count = 1, p.inputs = 1;
    assert_int_equal(tvlm_ridge(device, &p, weights, bias), TVLM_OK);
    assert_true(weights[0] == 0.0f && bias[0] == 1.0f);
}

static void test_trainer(void **state) {
    static const struct {
        struct tvlm_trainer_params params;
        const char *line; /* NULL: it is taken */
    } rows[] = {
        {{.dimension = 0}, "vectors of 0 dimensions: not in 1 .. 65536"},
        {{.dimension = 65537}, "vectors of 65537 dimensions: not in 1 .. 65536"},
        {{.dimension = 1, .k = 1}, NULL},
        {{.dimension = 3, .k = 3}, NULL},
        {{.dimension = 3, .k = 4}, "a basis of 4 components of vectors of 3 dimensions"},
        {{.dimension = 3, .k = -1}, "a basis of -1 components of vectors of 3 dimensions"},
        {{.dimension = 15}, "a basis of 16 components of vectors of 15 dimensions"},
        {{.dimension = 16}, NULL},
        {{.dimension = 3, .k = 1, .method = (tvlm_basis_method)-1}, "there is no method -1 to make a basis"},
        {{.dimension = 3, .k = 1, .method = TVLM_BASIS_RANGE_FINDER}, NULL},
        {{.dimension = 3, .k = 1, .method = (tvlm_basis_method)(TVLM_BASIS_RANGE_FINDER + 1)},
         "there is no method 3 to make a basis"},
    };
    tvlm_trainer *trainer = NULL;
    tvlm_basis *basis = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        const tvlm_status status = tvlm_trainer_create(device, &rows[i].params, &trainer);
        if (rows[i].line == NULL && status != TVLM_OK) fail_msg("row %d: %s", (int)i, test_last_log());
        if (rows[i].line != NULL) refuses("tvlm_trainer_create", status, rows[i].line);
        tvlm_trainer_destroy(&trainer);
        assert_null(trainer);
    }
    REFUSES_QUIETLY(tvlm_trainer_create(NULL, &rows[2].params, &trainer));
    REFUSES("trainer is NULL", tvlm_trainer_create(device, &rows[2].params, NULL));
    REFUSES_NEWER(tvlm_trainer_create(device, tvlm_trainer_params(.dimension = 1, .k = 1, NEWER), &trainer));
    REFUSES_QUIETLY(tvlm_trainer_add(NULL, unit, 1));
    REFUSES_QUIETLY(tvlm_trainer_next_pass(NULL));
    REFUSES_QUIETLY(tvlm_trainer_finish(NULL, &basis));
    assert_int_equal(tvlm_trainer_passes(NULL), 1);
    tvlm_trainer_destroy(NULL);
    for (int centred = 0; centred < 2; ++centred) {
        assert_int_equal(
            tvlm_trainer_create(device, tvlm_trainer_params(.dimension = 2, .k = 1, .centred = centred == 1),
                                &trainer),
            TVLM_OK);
        REFUSES("1 vectors to add", tvlm_trainer_add(trainer, NULL, 1));
        REFUSES("-1 vectors to add", tvlm_trainer_add(trainer, unit, -1));
        assert_int_equal(tvlm_trainer_add(trainer, NULL, 0), TVLM_OK);
        assert_int_equal(tvlm_trainer_add(trainer, unit, centred), TVLM_OK);
        refuses("tvlm_trainer_finish", tvlm_trainer_finish(trainer, &basis),
                centred == 1 ? "1 vectors are too few for 1 components, centred"
                             : "0 vectors are too few for 1 components");
        assert_int_equal(tvlm_trainer_add(trainer, unit + 2, 1), TVLM_OK);
        REFUSES("there are no more passes than 1", tvlm_trainer_next_pass(trainer));
        assert_int_equal(tvlm_trainer_finish(trainer, &basis), TVLM_OK); /* just enough */
        tvlm_basis_destroy(&basis);
        tvlm_trainer_destroy(&trainer);
    }
    REFUSES_QUIETLY(tvlm_basis_of_image(NULL, 0, NULL, &basis));
    REFUSES("basis is NULL", tvlm_basis_of_image(stack, 0, tvlm_image_basis_params(.k = 1), NULL));
    REFUSES_NEWER(tvlm_basis_of_image(stack, 0, tvlm_image_basis_params(.k = 1, NEWER), &basis));
    assert_null(basis);
}

static void test_vocab(void **state) {
    struct tvlm_vocab_params p = {.dimension = 2, .count = 2, .centres = unit};
    tvlm_vocab *vocab = NULL, *other = NULL;
    int32_t ids[2];
    float answers[4];
    (void)state;
    assert_int_equal(tvlm_vocab_create(&p, &test_log, &vocab), TVLM_OK);
    REFUSES("vocab is NULL", tvlm_vocab_create(&p, &test_log, NULL));
    REFUSES("params is NULL", tvlm_vocab_create(NULL, &test_log, &other));
    REFUSES_QUIETLY(tvlm_vocab_get_params(NULL, &p));
    REFUSES_QUIETLY(tvlm_vocab_get_params(vocab, NULL));
    p.centres = NULL, REFUSES("centres is NULL", tvlm_vocab_create(&p, &test_log, &other));
    REFUSES_QUIETLY(tvlm_vocab_assign(NULL, vocab, unit, 2, ids, NULL));
    REFUSES("vocab is NULL", tvlm_vocab_assign(device, NULL, unit, 2, ids, NULL));
    REFUSES("vectors is NULL", tvlm_vocab_assign(device, vocab, NULL, 2, ids, NULL));
    REFUSES("ids is NULL", tvlm_vocab_assign(device, vocab, unit, 2, NULL, NULL));
    REFUSES("vocab is NULL", tvlm_vocab_ask(NULL, &test_log, unit, 2, answers));
    REFUSES("questions is NULL", tvlm_vocab_ask(vocab, &test_log, NULL, 2, answers));
    REFUSES("answers is NULL", tvlm_vocab_ask(vocab, &test_log, unit, 2, NULL));
    REFUSES_QUIETLY(tvlm_stack_assign(NULL, 0, vocab));
    REFUSES("vocab is NULL", tvlm_stack_assign(stack, 0, NULL));
    assert_null(other);
    tvlm_vocab_destroy(&vocab);
    tvlm_vocab_destroy(&vocab);
    tvlm_vocab_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attend),        cmocka_unit_test(test_backward),
        cmocka_unit_test(test_sample_double), cmocka_unit_test(test_codec),
        cmocka_unit_test(test_explain),       cmocka_unit_test(test_fit),
        cmocka_unit_test(test_footprint),     cmocka_unit_test(test_foveated),
        cmocka_unit_test(test_logpolar),      cmocka_unit_test(test_merge),
        cmocka_unit_test(test_network),       cmocka_unit_test(test_projection),
        cmocka_unit_test(test_ridge),         cmocka_unit_test(test_trainer),
        cmocka_unit_test(test_vocab),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
