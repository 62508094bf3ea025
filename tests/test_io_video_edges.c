/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_io_video_edges.c: videos at the edges of what is taken: sides, rates and times, rows with gaps, and what is asked
 * of each frame. What is read and written is tested in test_io_video.c.
 */
#include <math.h>

#include "io_helper.h"
#include "texturevlm/io_video.h"

enum { WIDTH = 32, HEIGHT = 16, ROW = 3 * WIDTH, GAP = 7 };

static const uint8_t grey[3 * WIDTH * HEIGHT];

static tvlm_image frame_of(const uint8_t *pixels) {
    return (tvlm_image){
        .pixels = pixels, .width = WIDTH, .height = HEIGHT, .channels = 3, .type = TVLM_PIXEL_U8};
}

/* Whether a writer opens, after which it is closed again. */
static void expect_open(int32_t width, int32_t height, double rate, tvlm_status status, const char *words) {
    tvlm_video_writer *writer = NULL;
    io_expect(tvlm_video_writer_open(io_path("a.avi"), width, height,
                                     tvlm_video_writer_params(.rate = rate, .log = &io_log), &writer),
              status, words);
    assert_int_equal(writer != NULL, status == TVLM_OK);
    tvlm_video_writer_destroy(&writer);
}

static void sides_and_rates(void **state) {
    (void)state;
    expect_open(1, 2, 25.0, TVLM_ERROR_ARGUMENT, "a video of 1 x 2; its sides are 2 .. 16384");
    expect_open(2, 1, 25.0, TVLM_ERROR_ARGUMENT, "a video of 2 x 1; its sides are 2 .. 16384");
    expect_open(16385, 2, 25.0, TVLM_ERROR_ARGUMENT, "a video of 16385 x 2; its sides are 2 .. 16384");
    expect_open(2, 16385, 25.0, TVLM_ERROR_ARGUMENT, "a video of 2 x 16385; its sides are 2 .. 16384");
    expect_open(WIDTH, HEIGHT, 30000.0, TVLM_OK, NULL);
    expect_open(WIDTH, HEIGHT, 30000.5, TVLM_ERROR_ARGUMENT, "30000.5 frames a second");
    expect_open(WIDTH, HEIGHT, -0.5, TVLM_ERROR_ARGUMENT, "-0.5 frames a second");
    expect_open(WIDTH, HEIGHT, INFINITY, TVLM_ERROR_ARGUMENT, "inf frames a second");
    assert_int_equal(io_files(false), 0);
}

/* Writes one frame, and reads it again. */
static void round_trip(const tvlm_image *image, double rate, uint8_t *rgb, tvlm_video_info *info) {
    tvlm_video_writer *writer = NULL;
    tvlm_video_reader *reader = NULL;
    tvlm_video_frame frame;
    const char *const path = io_path("a.avi");
    io_expect(tvlm_video_writer_open(path, image->width, image->height,
                                     tvlm_video_writer_params(.rate = rate, .log = &io_log), &writer),
              TVLM_OK, NULL);
    for (int i = 0; i < 3; ++i) io_expect(tvlm_video_writer_add(writer, image, i / 25.0), TVLM_OK, NULL);
    io_expect(tvlm_video_writer_finish(writer), TVLM_OK, NULL);
    tvlm_video_writer_destroy(&writer);
    io_expect(tvlm_video_reader_open(path, tvlm_video_reader_params(.log = &io_log), &reader), TVLM_OK, NULL);
    io_expect(tvlm_video_reader_get_info(reader, info), TVLM_OK, NULL);
    io_expect(tvlm_video_reader_next(reader, &frame), TVLM_OK, NULL);
    assert_true(frame.image.width == image->width && frame.image.height == image->height);
    memcpy(rgb, frame.image.pixels, 3 * (size_t)image->width * (size_t)image->height);
    tvlm_video_reader_destroy(&reader);
}

/* Rows with gaps between them give the same video, and the usual rate is 25 frames a second. */
static void rows_with_gaps(void **state) {
    static uint8_t tight[HEIGHT * ROW], loose[HEIGHT * (ROW + GAP)], first[HEIGHT * ROW],
        second[HEIGHT * ROW];
    tvlm_video_info info;
    (void)state;
    memset(loose, 255, sizeof loose);
    for (int y = 0; y < HEIGHT; ++y)
        for (int x = 0; x < ROW; ++x)
            tight[y * ROW + x] = loose[y * (ROW + GAP) + x] = (uint8_t)(5 * y + 2 * (x / 3));
    tvlm_image image = frame_of(tight);
    round_trip(&image, 0.0, first, &info);
    if (fabs(info.rate - 25.0) > 0.01) fail_msg("%g frames a second", info.rate);
    assert_true(info.width == WIDTH && info.height == HEIGHT);
    image = frame_of(loose);
    image.row_stride = ROW + GAP;
    round_trip(&image, 25.0, second, &info);
    assert_memory_equal(first, second, sizeof first);
}

static void frames_that_are_none(void **state) {
    const tvlm_image good = frame_of(grey);
    tvlm_image image = good;
    tvlm_video_writer *writer = NULL;
    (void)state;
    io_expect(tvlm_video_writer_open(io_path("a.avi"), WIDTH, HEIGHT,
                                     tvlm_video_writer_params(.log = &io_log), &writer),
              TVLM_OK, NULL);
#define ADD(time) tvlm_video_writer_add(writer, &image, time)
    io_expect(tvlm_video_writer_add(writer, NULL, 0.0), TVLM_ERROR_ARGUMENT, "not RGB of 32 x 16");
    image.pixels = NULL;
    io_expect(ADD(0.0), TVLM_ERROR_ARGUMENT, "not RGB of 32 x 16");
    image = good, image.width = WIDTH - 2;
    io_expect(ADD(0.0), TVLM_ERROR_ARGUMENT, "not RGB of 32 x 16");
    image = good, image.height = HEIGHT + 2;
    io_expect(ADD(0.0), TVLM_ERROR_ARGUMENT, "not RGB of 32 x 16");
    image = good, image.channels = 4;
    io_expect(ADD(0.0), TVLM_ERROR_ARGUMENT, "not RGB of 32 x 16");
    image = good, image.reserved[0] = 1;
    io_expect(ADD(0.0), TVLM_ERROR_ARGUMENT, "tvlm_image: its reserved");
    image = good;
    io_expect(ADD(nextafter(1e9, INFINITY)), TVLM_ERROR_ARGUMENT, "a.avi: a frame at 1e+09 s");
    io_expect(ADD(nextafter(-1e9, -INFINITY)), TVLM_ERROR_ARGUMENT, "a.avi: a frame at -1e+09 s");
    io_expect(ADD(-1e9), TVLM_OK, NULL);
    io_expect(tvlm_video_writer_finish(writer), TVLM_OK, NULL);
    io_expect(ADD(0.0), TVLM_ERROR_ARGUMENT, "a.avi: it is finished already");
#undef ADD
    tvlm_video_writer_destroy(&writer);
}

static void newer_structs(void **state) {
    tvlm_video_writer *writer = NULL;
    tvlm_video_reader *reader = NULL;
    (void)state;
    io_expect(tvlm_video_writer_open(io_path("a.avi"), WIDTH, HEIGHT,
                                     tvlm_video_writer_params(.log = &io_log, .reserved = {1}), &writer),
              TVLM_ERROR_ARGUMENT, "tvlm_video_writer_params: its reserved");
    io_expect(tvlm_video_reader_open(io_path("a.avi"),
                                     tvlm_video_reader_params(.log = &io_log, .reserved = {1}), &reader),
              TVLM_ERROR_ARGUMENT, "tvlm_video_reader_params: its reserved");
    io_expect(tvlm_video_reader_open(io_path("a.avi"),
                                     tvlm_video_reader_params(.log = &io_log, .silence = (double)NAN),
                                     &reader),
              TVLM_ERROR_ARGUMENT, "nan seconds of silence");
    io_expect(tvlm_video_writer_open("", WIDTH, HEIGHT, tvlm_video_writer_params(.log = &io_log), &writer),
              TVLM_ERROR_ARGUMENT, "no path or no writer");
    io_expect(tvlm_video_writer_open(io_path("a.avi"), WIDTH, HEIGHT,
                                     tvlm_video_writer_params(.log = &io_log), NULL),
              TVLM_ERROR_ARGUMENT, "no path or no writer");
    assert_true(writer == NULL && reader == NULL);
}

/* What is there and is no file that may be written stays as it is. */
static void places_that_are_no_files(void **state) {
    tvlm_video_writer *writer = NULL;
    char path[600];
    (void)state;
    snprintf(path, sizeof path, "%s/folder.avi", io_folder);
    assert_int_equal(mkdir(path, 0700), 0);
    io_expect(tvlm_video_writer_open(path, WIDTH, HEIGHT, tvlm_video_writer_params(.log = &io_log), &writer),
              TVLM_ERROR_IO, "folder.avi: a video needs an ordinary file");
    assert_null(writer);
    /* Through a link the file that it leads to is written, and the link stays one. */
    io_put("old.avi", "old", 3);
    assert_int_equal(symlink("old.avi", io_path("link.avi")), 0);
    const tvlm_image image = frame_of(grey);
    snprintf(path, sizeof path, "%s/link.avi", io_folder);
    io_expect(tvlm_video_writer_open(path, WIDTH, HEIGHT, tvlm_video_writer_params(.log = &io_log), &writer),
              TVLM_OK, NULL);
    io_expect(tvlm_video_writer_add(writer, &image, 0.0), TVLM_OK, NULL);
    io_expect(tvlm_video_writer_finish(writer), TVLM_OK, NULL);
    tvlm_video_writer_destroy(&writer);
    struct stat about;
    assert_int_equal(lstat(path, &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    assert_int_equal(stat(io_path("old.avi"), &about), 0);
    assert_true(about.st_size > 1000);
    assert_int_equal(io_files(false), 3); /* and no temporary one */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        io_test(sides_and_rates), io_test(rows_with_gaps),           io_test(frames_that_are_none),
        io_test(newer_structs),   io_test(places_that_are_no_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
