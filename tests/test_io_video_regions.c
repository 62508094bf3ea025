/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_io_video_regions.c: videos of so many bits a second, and regions of them that are better than the rest.
 */
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io_helper.h"
#include "texturevlm/io_video.h"

enum { WIDTH = 192, HEIGHT = 128, FRAMES = 12 };

static uint8_t rgb[3 * WIDTH * HEIGHT];
static const tvlm_image image = {.pixels = rgb, .width = WIDTH, .height = HEIGHT, .channels = 3};

/* Noise that changes from frame to frame, which takes all the bits that there are. */
static void draw_noise(uint64_t frame) {
    uint64_t random = 2654435761u * (frame + 3);
    for (int i = 0; i < WIDTH * HEIGHT; ++i) memset(rgb + 3 * i, (int)(io_random(&random) % 200), 3);
}

/* How far each half of the decoded frames is off. */
typedef struct halves {
    double left, right;
    long bytes;
} halves;

static void measure(const char *path, halves *found) {
    tvlm_video_reader *reader = NULL;
    tvlm_video_frame frame;
    io_expect(tvlm_video_reader_open(path, tvlm_video_reader_params(.log = &io_log), &reader), TVLM_OK, NULL);
    for (int i = 0; i < FRAMES; ++i) {
        io_expect(tvlm_video_reader_next(reader, &frame), TVLM_OK, NULL);
        draw_noise((uint64_t)i);
        const uint8_t *const got = frame.image.pixels;
        for (int p = 0; p < WIDTH * HEIGHT; ++p)
            *(p % WIDTH < WIDTH / 2 ? &found->left : &found->right) += abs(got[3 * p] - rgb[3 * p]);
    }
    tvlm_video_reader_destroy(&reader);
}

/* Writes the noise, with so much quality for the left half from frame `from` on. */
static halves write_noise(double bit_rate, float quality, int from) {
    const tvlm_video_region left = {0, 0, WIDTH / 2, HEIGHT, quality};
    const char *const path = io_path("a.mp4");
    halves found = {0};
    struct stat about;
    tvlm_video_writer *writer = NULL;
    io_expect(tvlm_video_writer_open(path, WIDTH, HEIGHT,
                                     tvlm_video_writer_params(.bit_rate = bit_rate, .log = &io_log), &writer),
              TVLM_OK, NULL);
    for (int i = 0; i < FRAMES; ++i) {
        draw_noise((uint64_t)i);
        if (i == from) io_expect(tvlm_video_writer_set_regions(writer, &left, 1), TVLM_OK, NULL);
        io_expect(tvlm_video_writer_add(writer, &image, i / 25.0), TVLM_OK, NULL);
    }
    io_expect(tvlm_video_writer_finish(writer), TVLM_OK, NULL);
    tvlm_video_writer_destroy(&writer);
    measure(path, &found);
    assert_int_equal(stat(path, &about), 0);
    found.bytes = (long)about.st_size;
    unlink(path);
    return found;
}

static void bits_are_those_asked_for(void **state) {
    (void)state;
    const halves even = write_noise(0.0, 0.0f, FRAMES), few = write_noise(200e3, 0.0f, FRAMES),
                 more = write_noise(1e6, 0.0f, FRAMES);
    assert_true(few.bytes < more.bytes && more.bytes < even.bytes);
    assert_true(few.left > 1.1 * more.left && more.left > even.left);
}

static void regions_are_better_or_worse(void **state) {
    (void)state;
    const halves none = write_noise(0.0, 0.0f, FRAMES), better = write_noise(0.0, 0.3f, 0),
                 worse = write_noise(0.0, -0.3f, 0), late = write_noise(0.0, 0.3f, FRAMES - 2);
    if (better.left == none.left) {
        print_message("this FFmpeg has no encoder that heeds regions\n");
        skip();
    }
    assert_true(fabs(none.left / none.right - 1.0) < 0.05);
    assert_true(better.left < 0.7 * none.left && fabs(better.right / none.right - 1.0) < 0.1);
    assert_true(worse.left > 1.3 * none.left && fabs(worse.right / none.right - 1.0) < 0.1);
    assert_true(late.left < none.left && late.left > better.left);
}

static void expect_refused(tvlm_video_writer *writer, tvlm_video_region region, const char *words) {
    const tvlm_video_region both[] = {{0, 0, WIDTH, HEIGHT, 1.0f}, region};
    io_expect(tvlm_video_writer_set_regions(writer, both, 2), TVLM_ERROR_ARGUMENT, words);
}

static void refusals(void **state) {
    const tvlm_video_region all[] = {{0, 0, WIDTH, HEIGHT, 1.0f}, {0, 0, 1, 1, -1.0f}};
    tvlm_video_writer *writer = NULL;
    (void)state;
    io_expect(tvlm_video_writer_open(io_path("a.mp4"), WIDTH, HEIGHT,
                                     tvlm_video_writer_params(.log = &io_log), &writer),
              TVLM_OK, NULL);
    io_expect(tvlm_video_writer_set_regions(writer, all, 2), TVLM_OK, NULL);
    io_expect(tvlm_video_writer_set_regions(writer, NULL, 0), TVLM_OK, NULL);
    assert_int_equal(tvlm_video_writer_set_regions(NULL, all, 2), TVLM_ERROR_ARGUMENT);
    io_expect(tvlm_video_writer_set_regions(writer, NULL, 1), TVLM_ERROR_ARGUMENT,
              "1 regions, and none are given");
    io_expect(tvlm_video_writer_set_regions(writer, all, -1), TVLM_ERROR_ARGUMENT, "-1 regions");
    expect_refused(writer, (tvlm_video_region){-1, 0, 4, 4, 0.0f}, "region 1, -1,0 to 4,4 of a quality of 0");
    expect_refused(writer, (tvlm_video_region){0, -1, 4, 4, 0.0f}, "region 1, 0,-1 to 4,4");
    expect_refused(writer, (tvlm_video_region){4, 0, 4, 4, 0.0f}, "region 1, 4,0 to 4,4");
    expect_refused(writer, (tvlm_video_region){0, 4, 4, 4, 0.0f}, "region 1, 0,4 to 4,4");
    expect_refused(writer, (tvlm_video_region){0, 0, WIDTH + 1, 4, 0.0f},
                   "is not one of a frame of 192 x 128");
    expect_refused(writer, (tvlm_video_region){0, 0, 4, HEIGHT + 1, 0.0f},
                   "is not one of a frame of 192 x 128");
    expect_refused(writer, (tvlm_video_region){0, 0, 4, 4, 1.5f}, "of a quality of 1.5");
    expect_refused(writer, (tvlm_video_region){0, 0, 4, 4, -1.5f}, "of a quality of -1.5");
    expect_refused(writer, (tvlm_video_region){0, 0, 4, 4, NAN}, "of a quality of nan");
    tvlm_video_writer_destroy(&writer);
    static const double rates[] = {-1.0, 1.1e9, (double)NAN};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; ++i)
        io_expect(tvlm_video_writer_open(io_path("a.mp4"), WIDTH, HEIGHT,
                                         tvlm_video_writer_params(.bit_rate = rates[i], .log = &io_log),
                                         &writer),
                  TVLM_ERROR_ARGUMENT, "bits a second");
    assert_int_equal(io_files(false), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        io_test(bits_are_those_asked_for),
        io_test(regions_are_better_or_worse),
        io_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
