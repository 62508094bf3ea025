/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_stream_video.c: a stream on real frames (../shared/data/video/bedroom): how many positions jump from
 * frame to frame, with the bonus for those that stay and without; and that a cut is found where there is one,
 * and nowhere else. Skipped where the frames are not there. TVLM_TEST_FIGURES=1 prints each frame's.
 */
#include "texturevlm/io.h"
#include "texturevlm/stream.h"

#include "stack_helper.h"

enum { FRAMES = 40, STRIDE = 16 };

static tvlm_image *load(const char *folder, int number) {
    char path[512];
    tvlm_image *image = NULL;
    snprintf(path, sizeof path, "%s/%05d.jpg", folder, number);
    assert_int_equal(tvlm_image_load(path, &test_log, &image), TVLM_OK);
    return image;
}

/* Where positions of the last frame are now: p with p + flow(p) = where it was. */
static void follow(tvlm_stack *stack, const tvlm_position *from, int32_t count, float *places) {
    const int32_t channels[2] = {TVLM_CHANNEL_FLOW_U, TVLM_CHANNEL_FLOW_V};
    tvlm_sample_point *points = calloc((size_t)count, sizeof *points);
    float *flow = calloc((size_t)count, 2 * sizeof *flow);
    for (int step = 0; step < 4; ++step) {
        for (int32_t i = 0; i < count; ++i) {
            places[2 * i] = from[i].x - flow[2 * i];
            places[2 * i + 1] = from[i].y - flow[2 * i + 1];
            points[i] = (tvlm_sample_point){places[2 * i], places[2 * i + 1], 1.0f, 0};
        }
        if (step < 3) assert_int_equal(tvlm_stack_sample(stack, points, count, channels, 2, flow), TVLM_OK);
    }
    free(points);
    free(flow);
}

/* Of the positions that are still in the image, the share with none of `now` within one cell. */
static double jumps(tvlm_stack *stack, const tvlm_selection *before, const tvlm_selection *now) {
    int32_t n, m, jumped = 0, all = 0;
    tvlm_selection_info info;
    const tvlm_position *p = tvlm_selection_positions(before, &n), *q = tvlm_selection_positions(now, &m);
    float *places = calloc((size_t)n, 2 * sizeof *places);
    tvlm_selection_get_info(now, &info);
    follow(stack, p, n, places);
    for (int32_t i = 0; i < n; ++i) {
        const float x = places[2 * i], y = places[2 * i + 1];
        bool found = false;
        if (x < 0.0f || y < 0.0f || x > (float)info.width || y > (float)info.height) continue;
        for (int32_t k = 0; k < m && !found; ++k) found = hypotf(q[k].x - x, q[k].y - y) <= STRIDE;
        jumped += !found;
        ++all;
    }
    free(places);
    return (double)jumped / all;
}

typedef struct run {
    double jumps, largest; /* mean share; largest difference between frames */
    int cuts;
} run;

static run run_stream(tvlm_device *device, const char *folder, float steadiness, int32_t k,
                      float min_distance) {
    tvlm_stream *stream = NULL;
    tvlm_selection *before = NULL, *now = NULL;
    run result = {0};
    assert_int_equal(tvlm_stream_create(device, 960, 540,
                                        tvlm_stream_params(.layout = "motion", .steadiness = steadiness),
                                        &stream),
                     TVLM_OK);
    for (int frame = 0; frame < FRAMES; ++frame) {
        tvlm_stream_report report;
        tvlm_image *image = load(folder, frame);
        assert_int_equal(tvlm_stream_push(stream, 0, image, NULL, &report), TVLM_OK);
        assert_int_equal(tvlm_stream_select(stream, 0, NULL,
                                            tvlm_select_params(.k = k, .best.min_distance = min_distance),
                                            &now),
                         TVLM_OK);
        if (before != NULL) {
            const double share = jumps(tvlm_stream_stack(stream, 0), before, now);
            result.jumps += share / (FRAMES - 1);
            if (getenv("TVLM_TEST_FIGURES") != NULL)
                printf("frame %d difference %.3f jumps %.3f\n", frame, (double)report.difference, share);
        }
        result.largest = fmax(result.largest, (double)report.difference);
        result.cuts += report.cut;
        tvlm_selection_destroy(&before);
        before = now;
        now = NULL;
        tvlm_image_destroy(&image);
    }
    tvlm_selection_destroy(&before);
    tvlm_stream_destroy(&stream);
    return result;
}

static char folder[400];

static void test_bedroom(void **state) {
    (void)state;
    const int32_t counts[] = {64, 273};
    tvlm_device *device = test_default_device();
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
        const run with = run_stream(device, folder, TVLM_STEADINESS_DEFAULT, counts[i], 0.0f),
                  without = run_stream(device, folder, TVLM_EXPLICIT_ZERO, counts[i], 0.0f);
        printf(
            "bedroom, k = %d: %.4f of the positions jump; selected independently %.4f (ratio %.2f); largest "
            "difference %.3f\n",
            (int)counts[i], with.jumps, without.jumps, with.jumps / without.jumps, with.largest);
        assert_int_equal(with.cuts, 0);
        assert_true(with.jumps <= 0.5 * without.jumps);
    }
    tvlm_device_destroy(&device);
}

/* From the bedroom to photos and back: each is a cut. */
static void test_cuts(void **state) {
    (void)state;
    static const char *const photos[] = {"chelsea.png", "kodim23.png", "coffee.png", "camera.png"};
    tvlm_device *device = test_default_device();
    for (size_t i = 0; i < sizeof photos / sizeof photos[0]; ++i) {
        char path[512], name[64];
        snprintf(name, sizeof name, "photos/%s", photos[i]);
        if (!test_shared_path(name, path, sizeof path)) continue;
        tvlm_stream *stream = NULL;
        tvlm_stack *stack = NULL;
        tvlm_image *photo = NULL, *frame = load(folder, 5);
        tvlm_stream_report report;
        float *resized = calloc(960 * 540, 3 * sizeof *resized);
        assert_int_equal(tvlm_image_load(path, &test_log, &photo), TVLM_OK);
        assert_int_equal(tvlm_stack_create(device,
                                           tvlm_stack_params(.layout = "r,g,b", .width = 960, .height = 540),
                                           &stack),
                         TVLM_OK);
        assert_int_equal(tvlm_stack_set_image(stack, 0, photo), TVLM_OK);
        tvlm_packed *packed = NULL;
        assert_int_equal(tvlm_stack_pack(stack, NULL, &packed), TVLM_OK);
        float *planes = calloc(960 * 540, 3 * sizeof *planes);
        assert_int_equal(tvlm_packed_read(packed, 0, 960 * 540 * 3, planes), TVLM_OK);
        for (size_t p = 0; p < 960 * 540; ++p)
            for (size_t c = 0; c < 3; ++c) resized[3 * p + c] = planes[c * 960 * 540 + p];
        const tvlm_image cut = {
            .pixels = resized, .width = 960, .height = 540, .channels = 3, .type = TVLM_PIXEL_F32};
        assert_int_equal(tvlm_stream_create(device, 960, 540,
                                            tvlm_stream_params(.layout = "motion", .no_flow = true), &stream),
                         TVLM_OK);
        assert_int_equal(tvlm_stream_push(stream, 0, frame, NULL, &report), TVLM_OK);
        assert_int_equal(tvlm_stream_push(stream, 0, &cut, NULL, &report), TVLM_OK);
        if (getenv("TVLM_TEST_FIGURES") != NULL)
            printf("%s: difference %.3f\n", photos[i], (double)report.difference);
        if (!report.cut) fail_msg("%s: difference %.3f", photos[i], (double)report.difference);
        tvlm_packed_destroy(&packed);
        tvlm_stack_destroy(&stack);
        tvlm_stream_destroy(&stream);
        tvlm_image_destroy(&photo);
        tvlm_image_destroy(&frame);
        free(resized);
        free(planes);
    }
    tvlm_device_destroy(&device);
}

int main(void) {
    if (!test_shared_path("video/bedroom", folder, sizeof folder)) {
        printf("skipped: no frames\n");
        return 77;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cuts), cmocka_unit_test(test_bedroom)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
