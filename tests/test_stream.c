/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stream.c: frames of which it is known how they move: what is carried over, what is asked for, and what
 * stays where it was.
 */
#include "stream_helper.h"
#include "texturevlm/stack.h"

enum { CELL = 16, COLUMNS = WIDTH / CELL, ROWS = HEIGHT / CELL, CELLS = COLUMNS * ROWS, DIMENSION = 8 };

/* ---- Frames ---- */

/* Things: blocks of a colour each, with a little noise. */
static uint8_t *things(uint64_t seed) {
    enum { ACROSS = 37, DOWN = 33 };
    uint8_t *pixels = malloc((size_t)WORLD * WORLD * 3);
    uint8_t colours[(WORLD / ACROSS + 1) * (WORLD / DOWN + 1) * 3];
    assert_non_null(pixels);
    for (size_t i = 0; i < sizeof colours; ++i) colours[i] = (uint8_t)(20 + test_random(&seed) % 216);
    for (int32_t i = 0; i < WORLD * WORLD; ++i) {
        const uint8_t *colour = colours + 3 * (i / WORLD / DOWN * (WORLD / ACROSS + 1) + i % WORLD / ACROSS);
        for (int c = 0; c < 3; ++c) pixels[3 * i + c] = (uint8_t)(colour[c] + test_random(&seed) % 12);
    }
    return pixels;
}

/* Pushes what is seen from (x, y); the flow, the same everywhere, is handed in, so that it is known. */
static tvlm_stream_report push(tvlm_stream *stream, int32_t camera, const uint8_t *from, int32_t x, int32_t y,
                               float u, float v, float confidence) {
    uint8_t pixels[WIDTH * HEIGHT * 3];
    const float flow[3] = {u, v, confidence};
    tvlm_stream_report report;
    look(from, x, y, pixels);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    if (tvlm_stream_push(
            stream, camera, &image,
            tvlm_push_params(.flow = tvlm_grid_input(.data = flow, .columns = 1, .rows = 1, .channels = 3)),
            &report) != TVLM_OK)
        fail_msg("push: %s", test_last_log());
    return report;
}

/* ---- Keyframes and cuts ---- */

static void check_keyframes(tvlm_device *device, tvlm_format format) {
    tvlm_stream *stream = open_stream(
        device, tvlm_stream_params(.layout = "motion,fixation", .format = format, .keyframe_interval = 4));
    uint8_t *here = world(1), pixels[WIDTH * HEIGHT * 3];
    look(here, 0, 0, pixels);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    for (int64_t frame = 0; frame < 9; ++frame) {
        const tvlm_stream_report report = push(stream, 0, here, 0, 0, 0.0f, 0.0f, 1.0f);
        assert_int_equal(report.frame, frame);
        assert_int_equal(report.keyframe, frame % 4 == 0);
        assert_false(report.cut);
        assert_true(report.difference == 0.0f);
        assert_int_equal(report.flow, frame > 0);
        assert_true(report.needs_all && report.needs == 1.0f && report.columns == 0);
    }
    tvlm_stream_report report;
    assert_int_equal(tvlm_stream_push(stream, 0, &image, tvlm_push_params(.keyframe = true), &report),
                     TVLM_OK);
    assert_true(report.keyframe && !report.cut);

    /* A white frame: a cut, which counts the interval anew and has no motion; the next has. */
    memset(pixels, 255, sizeof pixels);
    assert_int_equal(tvlm_stream_push(stream, 0, &image, NULL, &report), TVLM_OK);
    assert_true(report.cut && report.keyframe && !report.flow && report.difference > 0.3f);
    size_t count;
    float *motion = read_level(tvlm_stream_stack(stream, 0), 0, TVLM_CHANNEL_MOTION, 0, &count);
    for (size_t i = 0; i < count; ++i) assert_true(motion[i] == 0.0f);
    free(motion);
    memset(pixels, 241, sizeof pixels);
    assert_int_equal(tvlm_stream_push(stream, 0, &image, NULL, &report), TVLM_OK);
    assert_false(report.keyframe);
    motion = read_level(tvlm_stream_stack(stream, 0), 0, TVLM_CHANNEL_MOTION, 0, &count);
    for (size_t i = 0; i < count; ++i) assert_true(motion[i] > 0.05f);
    free(motion);
    free(here);
    tvlm_stream_destroy(&stream);
}

/* ---- Features ---- */

static float *random_features(uint64_t seed) {
    float *features = malloc(sizeof(float) * CELLS * DIMENSION);
    for (int i = 0; i < CELLS * DIMENSION; ++i) features[i] = 2.0f * test_random_unit(&seed) - 1.0f;
    return features;
}

static struct tvlm_grid_input input_of(const float *features) {
    return (struct tvlm_grid_input){
        .data = features, .columns = COLUMNS, .rows = ROWS, .channels = DIMENSION};
}

static void set_features(tvlm_stream *stream, const float *features, const uint8_t *mask) {
    const struct tvlm_grid_input input = input_of(features);
    if (tvlm_stream_set_features(stream, 0, TVLM_CHANNEL_FEATURE_0, &input, mask) != TVLM_OK)
        fail_msg("features: %s", test_last_log());
}

/* expected[cell * DIMENSION + i] against the stack's; 5e-4 of what half keeps of values below 1. */
static void compare_features(tvlm_stream *stream, const float *expected, tvlm_format format) {
    for (int32_t i = 0; i < DIMENSION; ++i) {
        float plane[CELLS];
        size_t count;
        float *got = read_level(tvlm_stream_stack(stream, 0), 0, TVLM_CHANNEL_FEATURE_0 + i, 0, &count);
        assert_int_equal(count, CELLS);
        for (int32_t cell = 0; cell < CELLS; ++cell) plane[cell] = expected[cell * DIMENSION + i];
        test_compare("features", got, plane, CELLS, format == TVLM_FORMAT_F16 ? 1e-3f : 1e-5f, 5e-4f);
        free(got);
    }
}

/* Vectors that are refused change nothing: not what was carried, nor what followed from it. */
static void check_refused_features(tvlm_device *device, tvlm_format format) {
    tvlm_stream *stream = open_stream(device, tvlm_stream_params(.layout = "r", .format = format));
    uint8_t *here = world(2);
    float *features = random_features(3), *wrong = random_features(4), words[2 * DIMENSION];
    bool has = false;
    for (int i = 0; i < 2 * DIMENSION; ++i) words[i] = features[i];
    push(stream, 0, here, 0, 0, 0.0f, 0.0f, 1.0f);
    set_features(stream, features, NULL);
    tvlm_stack *const stack = tvlm_stream_stack(stream, 0);
    assert_int_equal(tvlm_stack_set_words(stack, 0, words, 2, DIMENSION), TVLM_OK);
    wrong[7] = NAN;
    const struct tvlm_grid_input input = input_of(wrong);
    refused(tvlm_stream_set_features(stream, 0, TVLM_CHANNEL_FEATURE_0, &input, NULL), TVLM_ERROR_ARGUMENT,
            "value 7 ");
    compare_features(stream, features, format);
    assert_int_equal(tvlm_stack_has_channel(stack, 0, TVLM_CHANNEL_WORD_0, &has), TVLM_OK);
    assert_true(has);
    free(features);
    free(wrong);
    free(here);
    tvlm_stream_destroy(&stream);
}

/* In the first frame a question is emphasised as much as later, and a channel that needs an earlier frame not at all. */
static void check_first_emphasis(tvlm_device *device, tvlm_format format) {
    tvlm_stream *stream = open_stream(device, tvlm_stream_params(.layout = "r,g,b", .format = format));
    uint8_t *here = world(2);
    static const float map[16] = {1};
    const struct tvlm_query query = {.similarity = map, .columns = 4, .rows = 4};
    tvlm_selection *first = NULL, *alone = NULL;
    struct tvlm_select_params params = {.k = 20, .strategy = TVLM_STRATEGY_BUDGET};
    params.budget.emphasis = 2.0f;
    params.budget.emphasis_channel = TVLM_CHANNEL_QUERY_SIMILARITY;
    push(stream, 0, here, 0, 0, 0.0f, 0.0f, 1.0f);
    assert_int_equal(tvlm_stream_select(stream, 0, &query, &params, &first), TVLM_OK);
    assert_int_equal(tvlm_select(tvlm_stream_stack(stream, 0), &query, &params, &alone), TVLM_OK);
    tvlm_selection_info a, b;
    assert_int_equal(tvlm_selection_get_info(first, &a), TVLM_OK);
    assert_int_equal(tvlm_selection_get_info(alone, &b), TVLM_OK);
    assert_true(a.thumbnail_columns == b.thumbnail_columns && a.thumbnail_rows == b.thumbnail_rows &&
                a.loss == b.loss);
    tvlm_selection_destroy(&first);
    tvlm_selection_destroy(&alone);
    free(here);
    tvlm_stream_destroy(&stream);
}

/* The camera goes one cell to the right: what a cell had, the one to its left has now; the last column is
 * new. */
static void check_carrying(tvlm_device *device, tvlm_format format) {
    tvlm_stream *stream = open_stream(device, tvlm_stream_params(.layout = "r", .format = format));
    uint8_t *here = world(2), mask[CELLS];
    float *features = random_features(3), *fresh = random_features(4), expected[CELLS * DIMENSION] = {0};
    push(stream, 0, here, 0, 0, 0.0f, 0.0f, 1.0f);
    set_features(stream, features, NULL);
    compare_features(stream, features, format);
    tvlm_stream_report report = push(stream, 0, here, CELL, 0, CELL, 0.0f, 1.0f);
    assert_false(report.cut || report.keyframe || report.needs_all);
    assert_int_equal(report.columns, COLUMNS);
    assert_int_equal(report.rows, ROWS);
    assert_true(fabsf(report.needs - 1.0f / COLUMNS) < 1e-6f);
    assert_int_equal(tvlm_stream_needs(stream, 0, CELLS, mask), TVLM_OK);
    for (int32_t cell = 0; cell < CELLS; ++cell) {
        const bool lost = cell % COLUMNS == COLUMNS - 1;
        assert_int_equal(mask[cell], lost);
        if (!lost)
            memcpy(expected + cell * DIMENSION, features + (cell + 1) * DIMENSION, DIMENSION * sizeof(float));
    }
    compare_features(stream, expected, format);

    /* New ones for what is asked for: there they are; elsewhere what was carried. */
    set_features(stream, fresh, mask);
    for (int32_t cell = COLUMNS - 1; cell < CELLS; cell += COLUMNS)
        memcpy(expected + cell * DIMENSION, fresh + cell * DIMENSION, DIMENSION * sizeof(float));
    compare_features(stream, expected, format);
    assert_int_equal(tvlm_stream_needs(stream, 0, CELLS, mask), TVLM_OK);
    for (int32_t cell = 0; cell < CELLS; ++cell) assert_int_equal(mask[cell], 0);

    /* New ones for all: a blend. */
    set_features(stream, fresh, NULL);
    for (int32_t i = 0; i < CELLS * DIMENSION; ++i)
        expected[i] += TVLM_BLEND_DEFAULT * (fresh[i] - expected[i]);
    compare_features(stream, expected, format);

    /* Flow that is too long, then one that is not sure: everything is asked for. */
    report = push(stream, 0, here, CELL, 0, 5.0f * CELL, 0.0f, 1.0f);
    assert_true(report.needs_all && report.needs == 1.0f);
    assert_int_equal(tvlm_stream_needs(stream, 0, CELLS, mask), TVLM_OK);
    for (int32_t cell = 0; cell < CELLS; ++cell) assert_int_equal(mask[cell], 1);
    set_features(stream, features, NULL);
    compare_features(stream, features, format); /* nothing was there to blend with */
    report = push(stream, 0, here, CELL, 0, 0.0f, 0.0f, 0.2f);
    assert_true(report.needs_all && report.needs == 1.0f);
    free(here);
    free(features);
    free(fresh);
    tvlm_stream_destroy(&stream);
}

/* At a keyframe new ones replace the old; without flow, cells that change are asked for. */
static void check_changes(tvlm_device *device, tvlm_format format) {
    tvlm_stream *stream = open_stream(
        device, tvlm_stream_params(.layout = "r", .format = format, .no_flow = true, .keyframe_interval = 3));
    uint8_t *here = world(5), pixels[WIDTH * HEIGHT * 3], mask[CELLS];
    float *features = random_features(6), *fresh = random_features(7);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    tvlm_stream_report report;
    look(here, 0, 0, pixels);
    assert_int_equal(tvlm_stream_push(stream, 0, &image, NULL, NULL), TVLM_OK);
    set_features(stream, features, NULL);
    for (int32_t y = 2 * CELL; y < 3 * CELL; ++y)
        for (int32_t x = 5 * CELL * 3; x < 7 * CELL * 3; ++x)
            pixels[y * WIDTH * 3 + x] = (uint8_t)(255 - pixels[y * WIDTH * 3 + x] / 2);
    assert_int_equal(tvlm_stream_push(stream, 0, &image, NULL, &report), TVLM_OK);
    assert_false(report.flow || report.needs_all || report.keyframe);
    assert_int_equal(tvlm_stream_needs(stream, 0, CELLS, mask), TVLM_OK);
    assert_true(mask[2 * COLUMNS + 5] == 1 && mask[2 * COLUMNS + 6] == 1);
    for (int32_t cell = 0; cell < CELLS; ++cell) /* beside them the filter may see it */
        if (abs(cell / COLUMNS - 2) > 1 || cell % COLUMNS < 4 || cell % COLUMNS > 7)
            assert_int_equal(mask[cell], 0);
    assert_int_equal(tvlm_stream_push(stream, 0, &image, NULL, &report), TVLM_OK);
    assert_false(report.keyframe);
    assert_int_equal(tvlm_stream_push(stream, 0, &image, NULL, &report), TVLM_OK);
    assert_true(report.keyframe && report.needs_all && report.needs < 0.2f);
    set_features(stream, fresh, NULL);
    compare_features(stream, fresh, format);
    free(here);
    free(features);
    free(fresh);
    tvlm_stream_destroy(&stream);
}

/* ---- Regions ---- */

enum { REGIONS = 24 };

static int32_t *labels_of(tvlm_stream *stream) {
    int32_t *labels = malloc(sizeof *labels * WIDTH * HEIGHT);
    assert_int_equal(tvlm_stack_labels(tvlm_stream_stack(stream, 0), 0, WIDTH * HEIGHT, labels), TVLM_OK);
    for (int i = 0; i < WIDTH * HEIGHT; ++i) assert_in_range(labels[i], 0, REGIONS - 1);
    return labels;
}

/* The share of pixels that have the id that was there before, `step` pixels further right. */
static double same_ids(const int32_t *now, const int32_t *before, int32_t step) {
    int32_t same = 0, all = 0;
    for (int32_t y = 0; y < HEIGHT; ++y)
        for (int32_t x = 0; x + step < WIDTH; ++x, ++all)
            same += now[y * WIDTH + x] == before[y * WIDTH + x + step];
    return (double)same / all;
}

/* Of what is still there after the camera went over 54 pixels, nearly two cells of SLIC: the share with its
 * id. */
static double follow_regions(tvlm_device *device, tvlm_format format, bool cuts) {
    enum { STEP = 6, FRAMES = 10 };
    tvlm_stream *stream =
        open_stream(device, tvlm_stream_params(.layout = "r", .format = format, .clusters = REGIONS,
                                               .cut = cuts ? TVLM_EXPLICIT_ZERO : 0.0f));
    uint8_t *here = things(8);
    int32_t *first = NULL, *last = NULL, count, pixels = 0;
    for (int32_t frame = 0; frame < FRAMES; ++frame) {
        push(stream, 0, here, STEP * frame, 0, STEP, 0.0f, 1.0f);
        free(last);
        last = labels_of(stream);
        if (frame == 0) first = last, last = NULL;
    }
    const double share = same_ids(last, first, STEP * (FRAMES - 1));
    tvlm_region regions[REGIONS];
    assert_int_equal(tvlm_stack_regions(tvlm_stream_stack(stream, 0), 0, REGIONS, regions, &count), TVLM_OK);
    for (int32_t i = 0; i < count; ++i) pixels += regions[i].pixels;
    assert_int_equal(pixels, WIDTH * HEIGHT);
    free(first);
    free(last);
    free(here);
    tvlm_stream_destroy(&stream);
    return share;
}

static void check_regions(tvlm_device *device, tvlm_format format) {
    const double carried = follow_regions(device, format, false), anew = follow_regions(device, format, true);
    if (getenv("TVLM_TEST_FIGURES") != NULL)
        printf("the same ids at %.3f of the pixels; begun anew at %.3f\n", carried, anew);
    if (carried < 0.5 || anew > 0.5 * carried)
        fail_msg("%.3f of the pixels keep their ids; begun anew %.3f", carried, anew);
}

/* The kernels begin where the reference begins: the same labels, but for colours that round differently. */
static void check_centres(const test_target *target, tvlm_device *reference) {
    tvlm_device *devices[2] = {target->device, reference};
    int32_t *labels[2];
    uint8_t *here = world(9);
    for (int i = 0; i < 2; ++i) {
        tvlm_stream *stream = open_stream(
            devices[i], tvlm_stream_params(.layout = "r", .format = target->format, .clusters = REGIONS));
        push(stream, 0, here, 0, 0, 0.0f, 0.0f, 1.0f);
        free(labels_of(stream));
        push(stream, 0, here, 20, 10, 20.0f, 10.0f, 1.0f);
        labels[i] = labels_of(stream);
        tvlm_stream_destroy(&stream);
    }
    const double same = same_ids(labels[0], labels[1], 0);
    if (same < 0.98) fail_msg("%.4f of the labels are the reference's", same);
    free(labels[0]);
    free(labels[1]);
    free(here);
}

/* ---- Steady selections ---- */

/* The share of `before`, moved by (dx, dy), with nothing of `now` within one cell; of those still in the
 * image. */
static double jumps(const tvlm_selection *before, const tvlm_selection *now, float dx, float dy) {
    int32_t n, m, jumped = 0, all = 0;
    const tvlm_position *p = tvlm_selection_positions(before, &n), *q = tvlm_selection_positions(now, &m);
    for (int32_t i = 0; i < n; ++i) {
        const float x = p[i].x + dx, y = p[i].y + dy;
        bool found = false;
        if (x < 0.0f || y < 0.0f || x > WIDTH || y > HEIGHT) continue;
        for (int32_t k = 0; k < m; ++k)
            found = found || (fabsf(q[k].x - x) <= CELL && fabsf(q[k].y - y) <= CELL);
        jumped += !found;
        ++all;
    }
    return all > 0 ? (double)jumped / all : 0.0;
}

static double jumps_with(tvlm_device *device, tvlm_format format, float steadiness) {
    enum { STEP = 5, FRAMES = 8, K = 8 };
    tvlm_stream *stream = open_stream(
        device, tvlm_stream_params(.layout = "motion", .format = format, .steadiness = steadiness));
    uint8_t *here = world(10);
    tvlm_selection *before = NULL, *now = NULL;
    double sum = 0.0;
    for (int32_t frame = 0; frame < FRAMES; ++frame) {
        push(stream, 0, here, STEP * frame, 3 * frame, STEP, 3.0f, 1.0f);
        assert_int_equal(tvlm_stream_select(stream, 0, NULL, tvlm_select_params(.k = K), &now), TVLM_OK);
        if (before != NULL) sum += jumps(before, now, -STEP, -3.0f);
        tvlm_selection_destroy(&before);
        before = now;
        now = NULL;
    }
    tvlm_selection_destroy(&before);
    free(here);
    tvlm_stream_destroy(&stream);
    return sum / (FRAMES - 1);
}

static void check_steadiness(tvlm_device *device, tvlm_format format) {
    const double with = jumps_with(device, format, TVLM_STEADINESS_DEFAULT),
                 without = jumps_with(device, format, TVLM_EXPLICIT_ZERO);
    if (getenv("TVLM_TEST_FIGURES") != NULL) printf("jumps %.3f, without a bonus %.3f\n", with, without);
    assert_true(without > 0.0);
    if (with > 0.5 * without) fail_msg("%.3f jump; without a bonus %.3f", with, without);
}

/* Scores of one's own have the bonus, too: where the next ones are all equal, the positions stay. */
static void check_own_steadiness(tvlm_device *device, tvlm_format format) {
    static const int32_t chosen[] = {CELLS - 1, 17, COLUMNS + 2};
    enum { K = sizeof chosen / sizeof *chosen };
    tvlm_stream *stream = open_stream(device, tvlm_stream_params(.layout = "r", .format = format));
    uint8_t *here = world(11);
    float scores[CELLS] = {0};
    for (int i = 0; i < K; ++i) scores[chosen[i]] = 1.0f;
    for (int frame = 0; frame < 2; ++frame) {
        const struct tvlm_scores own = {.values = scores, .columns = COLUMNS, .rows = ROWS};
        tvlm_selection *selection = NULL;
        int32_t kept = 0, count;
        push(stream, 0, here, 0, 0, 0.0f, 0.0f, 1.0f);
        if (tvlm_stream_select(stream, 0, NULL, tvlm_select_params(.k = K, .scores = &own), &selection) !=
            TVLM_OK)
            fail_msg("%s", test_last_log());
        const tvlm_position *p = tvlm_selection_positions(selection, &count);
        for (int32_t i = 0; i < count; ++i)
            for (int c = 0; c < K; ++c) kept += p[i].row * COLUMNS + p[i].column == chosen[c];
        if (kept != K) fail_msg("frame %d: %d of %d positions", frame, (int)kept, (int)K);
        tvlm_selection_destroy(&selection);
        memset(scores, 0, sizeof scores);
    }
    free(here);
    tvlm_stream_destroy(&stream);
}

/* ---- Volumes ---- */

static void push_gray(tvlm_stream *stream, int value) {
    uint8_t pixels[WIDTH * HEIGHT];
    memset(pixels, value, sizeof pixels);
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 1);
    if (tvlm_stream_push(stream, 0, &image, NULL, NULL) != TVLM_OK) fail_msg("push: %s", test_last_log());
}

static void check_volume(tvlm_device *device, tvlm_format format) {
    enum { T = 4 };
    tvlm_stream *stream = open_stream(
        device, tvlm_stream_params(.layout = "r", .format = format, .volume = "r,motion,edges,low,b",
                                   .volume_frames = T, .no_flow = true, .cut = 2.0f));
    tvlm_packed *volume;
    int32_t slot;
    for (int frame = 0; frame < 7; ++frame) {
        push_gray(stream, 10 * frame);
        for (int32_t age = 0; age < T && age <= frame; ++age) {
            float planes[5 * CELLS];
            assert_int_equal(tvlm_stream_volume(stream, 0, age, &volume, &slot), TVLM_OK);
            assert_int_equal(tvlm_packed_read(volume, slot, 5 * CELLS, planes), TVLM_OK);
            const float expected = (float)(10 * (frame - age)) / 255.0f;
            for (int i = 0; i < CELLS; ++i) {
                assert_true(fabsf(planes[i] - expected) < 2e-4f);
                assert_true(fabsf(planes[4 * CELLS + i] - expected) < 2e-4f);
                assert_true(fabsf(planes[CELLS + i] - (frame - age > 0 ? 10.0f / 255.0f : 0.0f)) < 5e-4f);
            }
        }
    }
    refused(tvlm_stream_volume(stream, 0, T, &volume, &slot), TVLM_ERROR_ARGUMENT, "4 frames ago");
    /* Between frames; ages beyond the last are the last. */
    const tvlm_volume_point points[3] = {{50.0f, 50.0f, 1.25f}, {0.0f, 0.0f, 0.0f}, {191.0f, 3.0f, 99.0f}};
    const float expected[3] = {47.5f / 255.0f, 60.0f / 255.0f, 30.0f / 255.0f};
    float got[15];
    assert_int_equal(tvlm_stream_volume_sample(stream, 0, points, 3, got), TVLM_OK);
    for (int i = 0; i < 3; ++i) assert_true(fabsf(got[5 * i] - expected[i]) < 5e-4f);
    tvlm_stream_destroy(&stream);
}

static void check_look_back(tvlm_device *device, tvlm_format format) {
    tvlm_stream *stream = open_stream(
        device, tvlm_stream_params(.layout = "r", .format = format, .volume = "r,motion", .volume_frames = 3,
                                   .look_back = true, .no_flow = true, .cut = 2.0f));
    tvlm_stack *stack = tvlm_stream_stack(stream, 0);
    const int32_t back = tvlm_stack_channel_find(stack, "r@-2"),
                  one = tvlm_stack_channel_find(stack, "motion@-1");
    const float weight = 1.0f;
    assert_true(back >= TVLM_CHANNEL_USER_0 && one >= TVLM_CHANNEL_USER_0);
    assert_int_equal(tvlm_stack_channel_find(stack, "r@-3"), TVLM_CHANNEL_NONE);
    const tvlm_scorer scorer = {.channel_count = 1, .channels = &back, .taps = 1, .weights = &weight};
    for (int frame = 0; frame < 5; ++frame) {
        tvlm_selection *selection = NULL;
        push_gray(stream, 20 * frame);
        assert_int_equal(tvlm_stream_select(stream, 0, NULL,
                                            tvlm_select_params(.k = 1, .score.scorer = &scorer), &selection),
                         TVLM_OK);
        const float score = tvlm_selection_positions(selection, NULL)->score;
        assert_true(fabsf(score - (frame >= 2 ? (float)(20 * (frame - 2)) / 255.0f : 0.0f) -
                          (frame > 0 ? TVLM_STEADINESS_DEFAULT : 0.0f)) < 2e-4f);
        tvlm_selection_destroy(&selection);
    }
    tvlm_stream_destroy(&stream);
    tvlm_stream *none = NULL;
    refused(tvlm_stream_create(device, WIDTH, HEIGHT,
                               tvlm_stream_params(.volume = "r,g,b", .volume_frames = 7, .look_back = true),
                               &none),
            TVLM_ERROR_ARGUMENT, "planes at most");
}

/* ---- What is refused ---- */

/* All of it before there is a stream. */
static void check_parameters(tvlm_device *device, tvlm_format format) {
    const float nan = NAN, two = 2.0f, below = -2.0f;
    tvlm_stream *stream = NULL;
#define REFUSED(LINE, ...)                                                                                   \
    refused(tvlm_stream_create(device, 64, 64, tvlm_stream_params(.format = format, __VA_ARGS__), &stream),  \
            TVLM_ERROR_ARGUMENT, LINE)
    REFUSED("999 cameras", .cameras = 999);
    REFUSED("blend 2", .blend = two);
    REFUSED("blend -2", .blend = below);
    REFUSED("needs_all nan", .needs_all = nan);
    REFUSED("a cut of nan", .cut = nan);
    REFUSED("a confidence of nan", .confidence = nan);
    REFUSED("steadiness of -2", .steadiness = below);
    REFUSED("-2 frames apart", .keyframe_interval = -2);
    REFUSED("flow over -1 cells", .longest = -1.0f);
    REFUSED("a decay of 2", .decay = two);
    REFUSED("a decay of nan", .decay = nan);
    REFUSED("a sigma of -1 pixels", .sigma = -1.0f);
    REFUSED("a sigma of inf pixels", .sigma = INFINITY);
    REFUSED("tiles of 17 pixels", .update = {.tile = 17});
    REFUSED("a threshold of nan", .update = {.threshold = NAN});
    REFUSED("a share of -1", .update = {.saliency_share = -1.0f});
    REFUSED("for -1 frames", .update = {.carried_frames = -1});
    REFUSED("tiles of 17 pixels", .whole = true, .update = {.tile = 17});
    REFUSED("nonsense", .layout = "nonsense");
    REFUSED("nonsense", .volume = "nonsense", .volume_frames = 2);
    REFUSED("1 frames", .volume = "r", .volume_frames = 1);
    REFUSED("level 16", .volume = "r", .volume_frames = 2, .volume_level = 16);
#undef REFUSED
    refused(tvlm_stream_create(device, 0, 9, NULL, &stream), TVLM_ERROR_ARGUMENT, "0x9");
    assert_null(stream);
}

static void check_refused(tvlm_device *device, tvlm_format format) {
    tvlm_stream *stream = NULL;
    uint8_t pixels[64 * 64] = {0}, mask[CELLS] = {0};
    const tvlm_image image = u8_image(pixels, 64, 64, 1), other = u8_image(pixels, 64, 63, 1);
    assert_int_equal(tvlm_stream_create(device, 64, 64, tvlm_stream_params(.format = format), &stream),
                     TVLM_OK);
    tvlm_selection *selection = NULL;
    refused(tvlm_stream_select(stream, 0, NULL, NULL, &selection), TVLM_ERROR_ARGUMENT, "no frame yet");
    refused(tvlm_stream_push(stream, 0, NULL, NULL, NULL), TVLM_ERROR_ARGUMENT, "none was sent");
    refused(tvlm_stream_push(stream, 1, &image, NULL, NULL), TVLM_ERROR_ARGUMENT, "camera 1 of 1");
    assert_int_equal(tvlm_stream_push(stream, 0, &image, NULL, NULL), TVLM_OK);
    refused(tvlm_stream_push(stream, 0, &other, NULL, NULL), TVLM_ERROR_ARGUMENT,
            "64x63 pixels in a stream of 64x64");
    refused(tvlm_stream_push(stream, 0, &image,
                             tvlm_push_params(.fixations = (float[]){1, NAN}, .fixation_count = 1), NULL),
            TVLM_ERROR_ARGUMENT, "fixation 0");
    float *features = random_features(1);
    const struct tvlm_grid_input input = input_of(features);
    refused(tvlm_stream_set_features(stream, 0, TVLM_CHANNEL_GAZE, &input, NULL), TVLM_ERROR_ARGUMENT,
            "feature_0");
    refused(tvlm_stream_set_features(stream, 0, TVLM_CHANNEL_FEATURE_0, &input, mask), TVLM_ERROR_ARGUMENT,
            "none of that size");
    set_features(stream, features, NULL);
    features[3] = NAN;
    assert_int_equal(tvlm_stream_push(stream, 0, &image, NULL, NULL), TVLM_OK);
    refused(tvlm_stream_set_features(stream, 0, TVLM_CHANNEL_FEATURE_0, &input, NULL), TVLM_ERROR_ARGUMENT,
            "finite");
    features[3] = 0.0f;
    float *same = random_features(1);
    compare_features(stream, same, format); /* what was refused changed nothing */
    free(same);
    refused(tvlm_stream_needs(stream, 0, 3, mask), TVLM_ERROR_ARGUMENT, "room for 3");
    tvlm_stream_report report; /* the stream goes on */
    assert_int_equal(tvlm_stream_push(stream, 0, &image, NULL, &report), TVLM_OK);
    assert_int_equal(report.frame, 2);
    free(features);
    tvlm_stream_destroy(&stream);
}

/* ---- Presets ---- */

static void check_presets(tvlm_device *device, tvlm_format format) {
    for (int use = 0; tvlm_stream_preset((tvlm_stream_use)use, &(struct tvlm_stream_params){0}) == TVLM_OK;
         ++use) {
        struct tvlm_stream_params params = {.format = format};
        assert_int_equal(tvlm_stream_use_find(tvlm_stream_use_name((tvlm_stream_use)use)), use);
        assert_int_equal(tvlm_stream_preset((tvlm_stream_use)use, &params), TVLM_OK);
        tvlm_stream *stream = open_stream(device, &params);
        uint8_t *here = world(20), pixels[WIDTH * HEIGHT * 3];
        const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
        const float gaze[2] = {40.0f, 90.0f};
        tvlm_selection *selection = NULL;
        tvlm_stream_report report;
        look(here, 0, 0, pixels);
        for (int frame = 0; frame < 2; ++frame) {
            /* Something changes at (152, 24). */
            for (int y = 16; frame == 1 && y < 32; ++y) memset(pixels + (y * WIDTH + 144) * 3, 255, 48);
            assert_int_equal(tvlm_stream_push(stream, 0, &image,
                                              use == TVLM_STREAM_GAZE
                                                  ? tvlm_push_params(.fixations = gaze, .fixation_count = 1)
                                                  : NULL,
                                              &report),
                             TVLM_OK);
            tvlm_selection_destroy(&selection);
            assert_int_equal(tvlm_stream_select(stream, 0, NULL, tvlm_select_params(.k = 3), &selection),
                             TVLM_OK);
        }
        assert_int_equal(report.flow, use != TVLM_STREAM_SCREEN && use != TVLM_STREAM_GAZE);
        const tvlm_position *best = tvlm_selection_positions(selection, NULL);
        if (use == TVLM_STREAM_STILL) assert_true(hypotf(best->x - 152.0f, best->y - 24.0f) <= 1.5f * CELL);
        if (use == TVLM_STREAM_GAZE) assert_true(hypotf(best->x - 40.0f, best->y - 90.0f) <= 2.0f * CELL);
        tvlm_selection_destroy(&selection);
        free(here);
        tvlm_stream_destroy(&stream);
    }
    assert_int_equal(tvlm_stream_use_find("nonsense"), -1);
}

/* ---- Strategies ---- */

static tvlm_selection *select_by(tvlm_stream *stream, const struct tvlm_select_params *params) {
    tvlm_selection *selection = NULL;
    if (tvlm_stream_select(stream, 0, NULL, params, &selection) != TVLM_OK) fail_msg("%s", test_last_log());
    return selection;
}

/* How many of the positions behind the thumbnail lie on the left. */
static int32_t tiles_on_the_left(tvlm_stream *stream, const struct tvlm_select_params *params) {
    tvlm_selection_info info;
    int32_t count, left = 0;
    tvlm_selection *selection = select_by(stream, params);
    tvlm_selection_get_info(selection, &info);
    const tvlm_position *p = tvlm_selection_positions(selection, &count);
    for (int32_t i = info.thumbnail_cells; i < count; ++i) left += p[i].x < WIDTH / 2;
    assert_int_equal(info.strategy, TVLM_STRATEGY_BUDGET);
    tvlm_selection_destroy(&selection);
    return left;
}

/* The grid is a stream's default. A budget is what it is of an image alone, unless the stream's scorer says what
 * matters: here what is on the left, or on the right, of noise. */
static void check_strategies(tvlm_device *device, tvlm_format format) {
    static const int32_t across[1] = {TVLM_CHANNEL_X};
    static const float right[1] = {1.0f}, left[1] = {-1.0f};
    const tvlm_scorer scorers[2] = {{.channel_count = 1, .channels = across, .taps = 1, .weights = left},
                                    {.channel_count = 1, .channels = across, .taps = 1, .weights = right}};
    const struct tvlm_select_params params = {.strategy = TVLM_STRATEGY_BUDGET, .budget.share = 0.5f};
    uint8_t pixels[WIDTH * HEIGHT * 3];
    const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
    uint64_t random = 21;
    int32_t tiles[2];
    for (size_t i = 0; i < sizeof pixels; ++i) pixels[i] = (uint8_t)test_random(&random);
    for (int i = 0; i < 3; ++i) {
        tvlm_stream *stream =
            open_stream(device, tvlm_stream_params(.format = format, .scorer = i < 2 ? &scorers[i] : NULL));
        assert_int_equal(tvlm_stream_push(stream, 0, &image, NULL, NULL), TVLM_OK);
        if (i < 2) {
            tiles[i] = tiles_on_the_left(stream, &params);
            /* A channel takes the scorer's place. */
            struct tvlm_select_params named = params;
            named.budget.emphasis = 20.0f;
            named.budget.emphasis_channel = TVLM_CHANNEL_X;
            const int32_t there = tiles_on_the_left(stream, &named);
            if (there >= tiles[0] / 2) fail_msg("%d tiles on the left, where the right matters", there);
        } else {
            tvlm_selection_info info;
            tvlm_selection *unnamed = select_by(stream, tvlm_select_params(.k = 9)), *alone = NULL;
            tvlm_selection_get_info(unnamed, &info);
            assert_int_equal(info.strategy, TVLM_STRATEGY_GRID);
            tvlm_selection_destroy(&unnamed);
            tvlm_selection *spent = select_by(stream, &params);
            assert_int_equal(tvlm_select(tvlm_stream_stack(stream, 0), NULL, &params, &alone), TVLM_OK);
            same_positions(spent, alone);
            tvlm_selection_destroy(&spent);
            tvlm_selection_destroy(&alone);
        }
        tvlm_stream_destroy(&stream);
    }
    if (tiles[0] < tiles[1] + 20) fail_msg("left matters: %d tiles there; right: %d", tiles[0], tiles[1]);
}

DEVICE_CHECKS(check_keyframes, check_refused_features, check_first_emphasis, check_carrying, check_changes,
              check_regions, check_steadiness, check_own_steadiness, check_volume, check_look_back,
              check_parameters, check_refused, check_presets, check_strategies)

static void test_centres(void **state) {
    (void)state;
    if (test_for_each_target(check_centres) == 0) skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_reference_f32),
                                       cmocka_unit_test(test_reference_f16), cmocka_unit_test(test_targets),
                                       cmocka_unit_test(test_centres)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
