/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stream_drift.c: how far what is carried drifts from what it stands for. A camera goes over a world of
 * which every point has a feature vector; the vectors of frame 0 are carried along the flow that the library
 * itself finds, and their relevance to a question is compared with that of the vectors that are there, by
 * rank, in the cells that still have some. And bedroom's first luma, carried likewise, against each frame's
 * own. bench/drift.py plots what TVLM_DRIFT=1 prints.
 */
#include "texturevlm/io.h"
#include "texturevlm/stream.h"

#include "stack_helper.h"

enum {
    WIDTH = 320,
    HEIGHT = 240,
    CELL = 16,
    COLUMNS = WIDTH / CELL,
    ROWS = HEIGHT / CELL,
    CELLS = COLUMNS * ROWS
};
enum { WORLD = 640, PATCH = 40, PATCHES = WORLD / PATCH, DIMENSION = 8, FRAMES = 31 };

/* Blocks of a colour with texture, and a vector each; between their middles vectors change slowly. */
typedef struct scene {
    uint8_t *pixels;
    float vectors[PATCHES * PATCHES][DIMENSION];
} scene;

static scene make_scene(void) {
    uint64_t seed = 31;
    scene made = {.pixels = test_random_pixels(&seed, WORLD, WORLD, 3)};
    for (int i = 0; i < PATCHES * PATCHES; ++i) {
        uint8_t colour[3];
        for (int c = 0; c < 3; ++c) colour[c] = (uint8_t)(test_random(&seed) % 200);
        for (int k = 0; k < DIMENSION; ++k) made.vectors[i][k] = 2.0f * test_random_unit(&seed) - 1.0f;
        for (int y = 0; y < PATCH; ++y)
            for (int x = 0; x < PATCH; ++x)
                for (int c = 0; c < 3; ++c) {
                    uint8_t *p =
                        made.pixels +
                        ((size_t)(i / PATCHES * PATCH + y) * WORLD + (size_t)(i % PATCHES * PATCH + x)) * 3 +
                        c;
                    *p = (uint8_t)(colour[c] + *p / 5);
                }
    }
    return made;
}

/* What the encoder would say of a cell: the mean over its points of the vectors there. */
static void encode(const scene *s, float x, float y, float *vector) {
    memset(vector, 0, DIMENSION * sizeof *vector);
    for (int j = 0; j < 8; ++j)
        for (int i = 0; i < 8; ++i) {
            const float u = fmaxf((x + 2.0f * (float)i + 1.0f) / PATCH - 0.5f, 0.0f),
                        v = fmaxf((y + 2.0f * (float)j + 1.0f) / PATCH - 0.5f, 0.0f);
            const int c = (int)fminf(u, PATCHES - 2), r = (int)fminf(v, PATCHES - 2);
            const float a = fminf(u - (float)c, 1.0f), b = fminf(v - (float)r, 1.0f);
            for (int k = 0; k < DIMENSION; ++k)
                vector[k] +=
                    ((s->vectors[r * PATCHES + c][k] * (1 - a) + s->vectors[r * PATCHES + c + 1][k] * a) *
                         (1 - b) +
                     (s->vectors[(r + 1) * PATCHES + c][k] * (1 - a) +
                      s->vectors[(r + 1) * PATCHES + c + 1][k] * a) *
                         b) /
                    64;
        }
}

static const float *ranked;
static int by_value(const void *p, const void *q) {
    const float a = ranked[*(const int *)p], b = ranked[*(const int *)q];
    return (a > b) - (a < b);
}

static void ranks_of(const float *values, int count, double *ranks) {
    int *order = calloc((size_t)count, sizeof *order);
    for (int i = 0; i < count; ++i) order[i] = i;
    ranked = values;
    qsort(order, (size_t)count, sizeof *order, by_value);
    for (int i = 0; i < count; ++i) ranks[order[i]] = i;
    free(order);
}

/* Spearman's. */
static double rank_correlation(const float *a, const float *b, int count) {
    double *p = calloc((size_t)count, 2 * sizeof *p), *q = p + count, sum = 0.0;
    ranks_of(a, count, p);
    ranks_of(b, count, q);
    for (int i = 0; i < count; ++i) sum += (p[i] - q[i]) * (p[i] - q[i]);
    free(p);
    return 1.0 - 6.0 * sum / ((double)count * ((double)count * count - 1.0));
}

static float cosine(const float *a, const float *b) {
    double ab = 0.0, aa = 1e-20, bb = 1e-20;
    for (int k = 0; k < DIMENSION; ++k)
        ab += (double)(a[k] * b[k]), aa += (double)(a[k] * a[k]), bb += (double)(b[k] * b[k]);
    return (float)(ab / sqrt(aa * bb));
}

/* The camera's place: a bend, some three pixels a frame. */
static void place(int frame, int *x, int *y) {
    *x = 40 + 3 * frame;
    *y = 60 + (int)(30.0 * sin(frame * 0.2));
}

static double compare(tvlm_stream *stream, const scene *s, int x, int y, int *cells) {
    float got[CELLS], expected[CELLS];
    float carried[DIMENSION][CELLS];
    uint8_t mask[CELLS];
    *cells = 0;
    assert_int_equal(tvlm_stream_needs(stream, 0, CELLS, mask), TVLM_OK);
    for (int k = 0; k < DIMENSION; ++k)
        assert_int_equal(tvlm_stack_read(tvlm_stream_stack(stream, 0), 0, TVLM_CHANNEL_FEATURE_0 + k, 0,
                                         CELLS, carried[k]),
                         TVLM_OK);
    for (int i = 0; i < CELLS; ++i) {
        float own[DIMENSION], fresh[DIMENSION];
        if (mask[i] != 0) continue;
        for (int k = 0; k < DIMENSION; ++k) own[k] = carried[k][i];
        encode(s, (float)(x + i % COLUMNS * CELL), (float)(y + i / COLUMNS * CELL), fresh);
        got[*cells] = cosine(own, s->vectors[100]);
        expected[(*cells)++] = cosine(fresh, s->vectors[100]);
    }
    return rank_correlation(got, expected, *cells);
}

static int devices_seen;

/* The device that a program gets that names none. The test is skipped where there is none. */
static tvlm_device *open_any(void) {
    tvlm_device *device = NULL;
    const tvlm_status status = tvlm_device_open(tvlm_device_params(.log = &test_log), &device);
    if (status == TVLM_ERROR_NO_DEVICE) skip();
    assert_int_equal(status, TVLM_OK);
    ++devices_seen;
    return device;
}

static void test_features(void **state) {
    (void)state;
    const bool print = getenv("TVLM_DRIFT") != NULL;
    const scene s = make_scene();
    tvlm_device *device;
    tvlm_stream *stream = NULL;
    uint8_t *pixels = malloc(WIDTH * HEIGHT * 3);
    static float features[CELLS * DIMENSION];
    double last = 1.0;
    device = open_any();
    assert_int_equal(
        tvlm_stream_create(device, WIDTH, HEIGHT,
                           tvlm_stream_params(.layout = "r", .keyframe_interval = 1000, .needs_all = 1.0f),
                           &stream),
        TVLM_OK);
    for (int frame = 0; frame < FRAMES; ++frame) {
        int x, y, cells;
        tvlm_stream_report report;
        place(frame, &x, &y);
        for (int row = 0; row < HEIGHT; ++row)
            memcpy(pixels + (size_t)row * WIDTH * 3, s.pixels + ((size_t)(y + row) * WORLD + (size_t)x) * 3,
                   WIDTH * 3);
        const tvlm_image image = u8_image(pixels, WIDTH, HEIGHT, 3);
        assert_int_equal(tvlm_stream_push(stream, 0, &image, NULL, &report), TVLM_OK);
        assert_false(report.cut);
        if (frame == 0) {
            for (int i = 0; i < CELLS; ++i)
                encode(&s, (float)(x + i % COLUMNS * CELL), (float)(y + i / COLUMNS * CELL),
                       features + i * DIMENSION);
            assert_int_equal(tvlm_stream_set_features(stream, 0, TVLM_CHANNEL_FEATURE_0,
                                                      tvlm_grid_input(.data = features, .columns = COLUMNS,
                                                                      .rows = ROWS, .channels = DIMENSION),
                                                      NULL),
                             TVLM_OK);
        }
        last = compare(stream, &s, x, y, &cells);
        if (print) printf("drift features %d %.4f %.4f\n", frame, last, (double)cells / CELLS);
        if (frame == 10 && last < 0.9) fail_msg("after 10 frames %.3f", last);
    }
    if (last < 0.8) fail_msg("after 30 frames the rank correlation is %.3f", last);
    tvlm_stream_destroy(&stream);
    tvlm_device_destroy(&device);
    free(pixels);
    free(s.pixels);
}

/* Luma of bedroom's frame 0 at cells of 16, carried as a feature of one channel. */
static void test_luma(void **state) {
    (void)state;
    enum { W = 960, H = 540, ACROSS = 60, DOWN = 34, ALL = ACROSS * DOWN };
    const bool print = getenv("TVLM_DRIFT") != NULL;
    char path[512], folder[400];
    static float luma[ALL], carried[ALL], own[ALL], known[ALL];
    static uint8_t mask[ALL];
    tvlm_device *device;
    tvlm_stream *stream = NULL;
    double last = 1.0;
    if (!test_shared_path("video/bedroom", folder, sizeof folder)) skip();
    device = open_any();
    assert_int_equal(
        tvlm_stream_create(device, W, H,
                           tvlm_stream_params(.layout = "r", .keyframe_interval = 1000, .needs_all = 1.0f),
                           &stream),
        TVLM_OK);
    for (int frame = 0; frame < FRAMES; ++frame) {
        tvlm_image *image = NULL;
        tvlm_sample_point points[ALL];
        const int32_t mean = TVLM_CHANNEL_LOW;
        int cells = 0;
        snprintf(path, sizeof path, "%s/%05d.jpg", folder, frame);
        assert_int_equal(tvlm_image_load(path, &test_log, &image), TVLM_OK);
        assert_int_equal(tvlm_stream_push(stream, 0, image, NULL, NULL), TVLM_OK);
        tvlm_image_destroy(&image);
        for (int i = 0; i < ALL; ++i)
            points[i] =
                (tvlm_sample_point){16.0f * (float)(i % ACROSS) + 8.0f,
                                    fminf(15.882353f * ((float)(i / ACROSS) + 0.5f), 539.0f), 4.0f, 0};
        assert_int_equal(tvlm_stack_sample(tvlm_stream_stack(stream, 0), points, ALL, &mean, 1, luma),
                         TVLM_OK);
        if (frame == 0)
            assert_int_equal(tvlm_stream_set_features(stream, 0, TVLM_CHANNEL_FEATURE_0,
                                                      tvlm_grid_input(.data = luma, .columns = ACROSS,
                                                                      .rows = DOWN, .channels = 1),
                                                      NULL),
                             TVLM_OK);
        assert_int_equal(
            tvlm_stack_read(tvlm_stream_stack(stream, 0), 0, TVLM_CHANNEL_FEATURE_0, 0, ALL, carried),
            TVLM_OK);
        assert_int_equal(tvlm_stream_needs(stream, 0, ALL, mask), TVLM_OK);
        for (int i = 0; i < ALL; ++i)
            if (mask[i] == 0) known[cells] = carried[i], own[cells++] = luma[i];
        last = rank_correlation(known, own, cells);
        if (print) printf("drift luma %d %.4f %.4f\n", frame, last, (double)cells / ALL);
    }
    if (last < 0.9) fail_msg("bedroom's luma after 30 frames: rank correlation %.3f", last);
    tvlm_stream_destroy(&stream);
    tvlm_device_destroy(&device);
}

/* Without a flow a cell forgets its vector where its pixels change in any quarter, and no other cell does. */
static void test_changed(void **state) {
    (void)state;
    enum { SIDE = 64, ACROSS = SIDE / CELL, ALL = ACROSS * ACROSS, CHANGED = 6 };
    static uint8_t pixels[SIDE * SIDE * 3];
    float features[ALL];
    uint8_t mask[ALL];
    tvlm_device *device = open_any();
    const tvlm_image image = u8_image(pixels, SIDE, SIDE, 3);
    for (int i = 0; i < ALL; ++i) features[i] = 1.0f;
    for (int quarter = 0; quarter < 4; ++quarter) {
        tvlm_stream *stream = NULL;
        memset(pixels, 60, sizeof pixels);
        assert_int_equal(tvlm_stream_create(device, SIDE, SIDE,
                                            tvlm_stream_params(.layout = "r", .no_flow = true, .cut = 2.0f,
                                                               .keyframe_interval = 1000, .needs_all = 1.0f),
                                            &stream),
                         TVLM_OK);
        assert_int_equal(tvlm_stream_push(stream, 0, &image, NULL, NULL), TVLM_OK);
        assert_int_equal(tvlm_stream_set_features(stream, 0, TVLM_CHANNEL_FEATURE_0,
                                                  tvlm_grid_input(.data = features, .columns = ACROSS,
                                                                  .rows = ACROSS, .channels = 1),
                                                  NULL),
                         TVLM_OK);
        const int left = CHANGED % ACROSS * CELL + quarter % 2 * CELL / 2,
                  top = CHANGED / ACROSS * CELL + quarter / 2 * CELL / 2;
        for (int y = top; y < top + CELL / 2; ++y)
            memset(pixels + (size_t)(y * SIDE + left) * 3, 200, 3 * CELL / 2);
        assert_int_equal(tvlm_stream_push(stream, 0, &image, NULL, NULL), TVLM_OK);
        assert_int_equal(tvlm_stream_needs(stream, 0, ALL, mask), TVLM_OK);
        for (int i = 0; i < ALL; ++i)
            if ((mask[i] != 0) != (i == CHANGED)) fail_msg("quarter %d: cell %d has %d", quarter, i, mask[i]);
        tvlm_stream_destroy(&stream);
    }
    tvlm_device_destroy(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_features), cmocka_unit_test(test_luma),
                                       cmocka_unit_test(test_changed)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed != 0 ? failed : devices_seen == 0 ? 77 : 0;
}
