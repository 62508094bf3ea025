/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_io_video.c: what is written as a video is read again, frame by frame; what does not decode is left out
 * with a line each; what is no video is refused with one; nothing unfinished is left.
 */
#define _DEFAULT_SOURCE /* NOLINT: for MAP_ANONYMOUS */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "io_helper.h"
#include "texturevlm/io_video.h"

enum { WIDTH = 96, HEIGHT = 64, FRAMES = 24 };

/* A gradient that goes along with a bar whose place is the frame's number. */
static void draw(int32_t number, int32_t width, int32_t height, uint8_t *rgb) {
    for (int32_t y = 0; y < height; ++y) {
        for (int32_t x = 0; x < width; ++x) {
            const bool bar = x / 4 == number % (WIDTH / 4);
            uint8_t *const at = rgb + 3 * (y * width + x);
            at[0] = (uint8_t)(bar ? 250 : 40 + x);
            at[1] = (uint8_t)(bar ? 250 : 60 + y);
            at[2] = (uint8_t)(bar ? 250 : 100);
        }
    }
}

static void write_video(const char *path, int32_t width, int32_t height, int32_t frames, double rate) {
    uint8_t *const rgb = malloc(3 * (size_t)width * (size_t)height);
    const tvlm_image image = {
        .pixels = rgb, .width = width, .height = height, .channels = 3, .type = TVLM_PIXEL_U8};
    tvlm_video_writer *writer = NULL;
    assert_non_null(rgb);
    io_expect(tvlm_video_writer_open(path, width, height,
                                     tvlm_video_writer_params(.rate = rate, .log = &io_log), &writer),
              TVLM_OK, NULL);
    for (int32_t i = 0; i < frames; ++i) {
        draw(i, width, height, rgb);
        io_expect(tvlm_video_writer_add(writer, &image, i / rate), TVLM_OK, NULL);
    }
    assert_int_not_equal(access(path, F_OK), 0); /* not before it is finished */
    io_expect(tvlm_video_writer_finish(writer), TVLM_OK, NULL);
    io_expect(tvlm_video_writer_finish(writer), TVLM_ERROR_ARGUMENT, "finished already");
    tvlm_video_writer_destroy(&writer);
    assert_null(writer);
    free(rgb);
}

/* Writes a video where a file is already. */
static void write_old_video(const char *path) {
    static uint8_t rgb[3 * WIDTH * HEIGHT];
    const tvlm_image image = {
        .pixels = rgb, .width = WIDTH, .height = HEIGHT, .channels = 3, .type = TVLM_PIXEL_U8};
    tvlm_video_writer *writer = NULL;
    io_expect(tvlm_video_writer_open(path, WIDTH, HEIGHT, tvlm_video_writer_params(.log = &io_log), &writer),
              TVLM_OK, NULL);
    io_expect(tvlm_video_writer_add(writer, &image, 0.0), TVLM_OK, NULL);
    io_expect(tvlm_video_writer_finish(writer), TVLM_OK, NULL);
    tvlm_video_writer_destroy(&writer);
}

/* The place of the bar: the brightest column of the middle row. */
static int32_t bar_of(const tvlm_image *image) {
    const uint8_t *const row =
        (const uint8_t *)image->pixels + 3 * (size_t)(image->height / 2 * image->width);
    int32_t best = 0;
    for (int32_t x = 0; x < image->width; ++x) {
        if (row[3 * x + 2] > row[3 * best + 2]) best = x;
    }
    return best / 4;
}

static double mean_error(const tvlm_image *image, int32_t number) {
    const size_t size = 3 * (size_t)image->width * (size_t)image->height;
    uint8_t *const expected = malloc(size);
    double sum = 0.0;
    assert_non_null(expected);
    draw(number, image->width, image->height, expected);
    for (size_t i = 0; i < size; ++i) sum += abs(expected[i] - ((const uint8_t *)image->pixels)[i]);
    free(expected);
    return sum / (double)size;
}

static tvlm_video_reader *open_video(const char *path) {
    tvlm_video_reader *reader = NULL;
    io_expect(tvlm_video_reader_open(path, tvlm_video_reader_params(.log = &io_log), &reader), TVLM_OK, NULL);
    return reader;
}

static void check_round_trip(const char *name, int32_t width, int32_t height, double rate) {
    const char *const path = io_path(name);
    tvlm_video_info info;
    tvlm_video_frame frame;
    write_video(path, width, height, FRAMES, rate);
    tvlm_video_reader *reader = open_video(path);
    tvlm_video_reader_get_info(reader, &info);
    assert_int_equal(info.width, width & ~1);
    assert_int_equal(info.height, height & ~1);
    if (!(fabs(info.rate - rate) < 0.02 * rate)) fail_msg("%s: rate %g", name, info.rate);
    assert_int_equal(info.frames, FRAMES);
    for (int32_t i = 0; i < FRAMES; ++i) {
        io_expect(tvlm_video_reader_next(reader, &frame), TVLM_OK, NULL);
        assert_false(frame.end);
        assert_int_equal(frame.number, i);
        assert_true(fabs(frame.time - i / rate) < 2e-3); /* Matroska counts milliseconds */
        assert_int_equal(frame.image.width, width & ~1);
        assert_int_equal(frame.image.height, height & ~1);
        assert_int_equal(bar_of(&frame.image), i % (WIDTH / 4));
        if (((width | height) & 1) == 0)
            assert_true(mean_error(&frame.image, i) < 4.0); /* lossy; measured: < 2 */
    }
    for (int i = 0; i < 2; ++i) {
        io_expect(tvlm_video_reader_next(reader, &frame), TVLM_OK, NULL);
        assert_true(frame.end);
    }
    tvlm_video_reader_destroy(&reader);
    assert_null(reader);
}

static void writes_and_reads(void **state) {
    (void)state;
    check_round_trip("a.mp4", WIDTH, HEIGHT, 25.0);
    check_round_trip("b.mkv", WIDTH + 2, HEIGHT, 30.0);
    check_round_trip("c.mov", WIDTH + 1, HEIGHT + 1, 24.0);
    check_round_trip("d.avi", WIDTH, HEIGHT, 25.0);
    assert_int_equal(io_files(false), 4);
    tvlm_video_reader_destroy(NULL);
    tvlm_video_writer_destroy(NULL);
}

/* Sets a, b, c, d of the matrix of an MP4 track, as phones do that do not turn the pixels themselves. */
static void set_matrix(uint8_t *bytes, size_t size, const int8_t turn[4]) {
    static const size_t places[4] = {0, 4, 12, 16};
    int tracks = 0;
    for (size_t i = 0; i + 80 < size; ++i) {
        if (memcmp(bytes + i, "tkhd", 4) != 0) continue;
        uint8_t *const matrix = bytes + i + 44;
        assert_memory_equal(matrix, "\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0", 20); /* 16.16: one */
        for (int k = 0; k < 4; ++k) {
            matrix[places[k]] = turn[k] < 0 ? 0xff : 0;
            matrix[places[k] + 1] = (uint8_t)turn[k];
        }
        ++tracks;
    }
    assert_int_equal(tracks, 1);
}

/* Mean difference from the number-th picture, as the matrix shows it: p, q goes to a p + c q, b p + d q,
 * moved to where nothing is negative. */
static double turned_error(const tvlm_image *image, int32_t number, const int8_t turn[4]) {
    static uint8_t expected[3 * WIDTH * HEIGHT];
    double sum = 0.0;
    draw(number, WIDTH, HEIGHT, expected);
    for (int32_t q = 0; q < HEIGHT; ++q) {
        for (int32_t p = 0; p < WIDTH; ++p) {
            int32_t x = turn[0] * p + turn[2] * q, y = turn[1] * p + turn[3] * q;
            if (turn[0] + turn[2] < 0) x += image->width - 1;
            if (turn[1] + turn[3] < 0) y += image->height - 1;
            for (int32_t c = 0; c < 3; ++c)
                sum += abs(expected[3 * (q * WIDTH + p) + c] -
                           ((const uint8_t *)image->pixels)[3 * (y * image->width + x) + c]);
        }
    }
    return sum / (3.0 * WIDTH * HEIGHT);
}

/* Upright, a quarter, a half and three quarters turned, and the same in a mirror. */
static void turns_as_the_file_says(void **state) {
    static const int8_t matrices[8][4] = {{1, 0, 0, 1},  {0, 1, -1, 0}, {-1, 0, 0, -1}, {0, -1, 1, 0},
                                          {-1, 0, 0, 1}, {0, 1, 1, 0},  {1, 0, 0, -1},  {0, -1, -1, 0}};
    void *bytes;
    size_t size;
    (void)state;
    write_video(io_path("upright.mp4"), WIDTH, HEIGHT, 4, 25.0);
    for (int i = 0; i < 8; ++i) {
        const bool lies = matrices[i][0] == 0;
        tvlm_video_info info;
        tvlm_video_frame frame;
        io_expect(tvlm_file_read(io_path("upright.mp4"), &io_log, &bytes, &size), TVLM_OK, NULL);
        set_matrix(bytes, size, matrices[i]);
        tvlm_video_reader *reader = open_video(io_put("turned.mp4", bytes, size));
        free(bytes);
        tvlm_video_reader_get_info(reader, &info);
        assert_int_equal(info.width, lies ? HEIGHT : WIDTH);
        assert_int_equal(info.height, lies ? WIDTH : HEIGHT);
        for (int32_t n = 0; n < 4; ++n) {
            io_expect(tvlm_video_reader_next(reader, &frame), TVLM_OK, NULL);
            assert_int_equal(frame.image.width, info.width);
            assert_int_equal(frame.image.height, info.height);
            const double error = turned_error(&frame.image, n, matrices[i]);
            if (!(error < 4.0)) fail_msg("matrix %d, frame %d: mean error %g", i, (int)n, error);
        }
        tvlm_video_reader_destroy(&reader);
    }
}

/* A writer that is not finished leaves nothing, and what was there stays. */
static void unfinished_leaves_nothing(void **state) {
    static uint8_t rgb[3 * WIDTH * HEIGHT];
    const tvlm_image image = {
        .pixels = rgb, .width = WIDTH, .height = HEIGHT, .channels = 3, .type = TVLM_PIXEL_U8};
    tvlm_video_writer *writer = NULL;
    (void)state;
    io_put("old.mp4", "old", 3);
    io_expect(tvlm_video_writer_open(io_path("old.mp4"), WIDTH, HEIGHT,
                                     tvlm_video_writer_params(.log = &io_log), &writer),
              TVLM_OK, NULL);
    io_expect(tvlm_video_writer_add(writer, &image, 0.0), TVLM_OK, NULL);
    tvlm_video_writer_destroy(&writer);
    assert_null(writer);
    assert_int_equal(io_files(false), 1);
    io_assert_content(io_path("old.mp4"), "old", 3);
}

/* A video that takes the place of a file has its permissions, and a link that leads nowhere is not replaced. */
static void keeps_what_was_set(void **state) {
    struct stat facts;
    tvlm_video_writer *writer = NULL;
    (void)state;
    io_put("own.mp4", "old", 3);
    assert_int_equal(chmod(io_path("own.mp4"), 0600), 0);
    write_old_video(io_path("own.mp4"));
    assert_int_equal(stat(io_path("own.mp4"), &facts), 0);
    assert_int_equal(facts.st_mode & 0777, 0600);
    assert_int_equal(symlink("nowhere", io_path("link.mp4")), 0);
    io_expect(tvlm_video_writer_open(io_path("link.mp4"), WIDTH, HEIGHT,
                                     tvlm_video_writer_params(.log = &io_log), &writer),
              TVLM_ERROR_IO, "a link that leads to nothing");
    assert_null(writer);
}

/* Frames before 0 are as far apart as they say. */
static void begins_at_zero(void **state) {
    static uint8_t rgb[3 * WIDTH * HEIGHT];
    const tvlm_image image = {
        .pixels = rgb, .width = WIDTH, .height = HEIGHT, .channels = 3, .type = TVLM_PIXEL_U8};
    tvlm_video_writer *writer = NULL;
    tvlm_video_frame frame;
    (void)state;
    io_expect(tvlm_video_writer_open(io_path("t.mkv"), WIDTH, HEIGHT,
                                     tvlm_video_writer_params(.log = &io_log), &writer),
              TVLM_OK, NULL);
    for (int32_t i = 0; i < 5; ++i) {
        draw(i, WIDTH, HEIGHT, rgb);
        io_expect(tvlm_video_writer_add(writer, &image, -2.0 + 0.5 * i), TVLM_OK, NULL);
    }
    io_expect(tvlm_video_writer_finish(writer), TVLM_OK, NULL);
    tvlm_video_writer_destroy(&writer);
    tvlm_video_reader *reader = open_video(io_path("t.mkv"));
    for (int32_t i = 0; i < 5; ++i) {
        io_expect(tvlm_video_reader_next(reader, &frame), TVLM_OK, NULL);
        assert_true(fabs(frame.time - 0.5 * i) < 2e-3);
    }
    tvlm_video_reader_destroy(&reader);
}

/* Times that stand still or go back still give a video of all frames, in order. */
static void times_are_put_in_order(void **state) {
    static uint8_t rgb[3 * WIDTH * HEIGHT];
    const tvlm_image image = {
        .pixels = rgb, .width = WIDTH, .height = HEIGHT, .channels = 3, .type = TVLM_PIXEL_U8};
    const double times[] = {0.0, 0.04, 0.04, 0.02, 0.08, 5.0};
    tvlm_video_writer *writer = NULL;
    tvlm_video_frame frame;
    (void)state;
    io_expect(tvlm_video_writer_open(io_path("t.mp4"), WIDTH, HEIGHT,
                                     tvlm_video_writer_params(.log = &io_log), &writer),
              TVLM_OK, NULL);
    for (int32_t i = 0; i < 6; ++i) {
        draw(i, WIDTH, HEIGHT, rgb);
        io_expect(tvlm_video_writer_add(writer, &image, times[i]), TVLM_OK, NULL);
    }
    io_expect(tvlm_video_writer_add(writer, &image, (double)NAN), TVLM_ERROR_ARGUMENT, "a frame at");
    io_expect(tvlm_video_writer_finish(writer), TVLM_OK, NULL);
    io_expect(tvlm_video_writer_finish(writer), TVLM_ERROR_ARGUMENT, "finished already");
    tvlm_video_writer_destroy(&writer);
    tvlm_video_reader *reader = open_video(io_path("t.mp4"));
    double last = -1.0;
    for (int32_t i = 0; i < 6; ++i) {
        io_expect(tvlm_video_reader_next(reader, &frame), TVLM_OK, NULL);
        assert_int_equal(bar_of(&frame.image), i);
        assert_true(frame.time > last);
        last = frame.time;
    }
    assert_true(fabs(last - 5.0) < 1e-3);
    tvlm_video_reader_destroy(&reader);
}

static void expect_no_video(const char *path, tvlm_status status, const char *words) {
    tvlm_video_reader *reader = NULL;
    io_expect(tvlm_video_reader_open(path, tvlm_video_reader_params(.log = &io_log), &reader), status, words);
    assert_null(reader);
}

static void refuses_what_is_no_video(void **state) {
    /* A WAV of 8 kHz, mono, 16 bits, 400 silent samples: sound only. */
    uint8_t wave[44 + 800] = "RIFF\x44\x03\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0"
                             "data\x20\x03\0";
    uint8_t noise[5000];
    uint64_t random = 7;
    (void)state;
    for (size_t i = 0; i < sizeof noise; ++i) noise[i] = (uint8_t)io_random(&random);
    expect_no_video(io_put("sound.wav", wave, sizeof wave), TVLM_ERROR_FORMAT, "no video track");
    expect_no_video(io_put("noise.mp4", noise, sizeof noise), TVLM_ERROR_FORMAT, "noise.mp4: ");
    expect_no_video(io_put("empty.mp4", noise, 0), TVLM_ERROR_FORMAT, "empty.mp4: ");
    expect_no_video(io_path("missing.mp4"), TVLM_ERROR_IO, "missing.mp4: cannot be opened: No such file");
    expect_no_video(io_folder, TVLM_ERROR_IO, "cannot be opened");
    expect_no_video("", TVLM_ERROR_ARGUMENT, "no path");
    expect_no_video(NULL, TVLM_ERROR_ARGUMENT, "no path");
    tvlm_video_reader *reader = NULL;
    io_expect(tvlm_video_reader_open("x", tvlm_video_reader_params(.threads = -1, .log = &io_log), &reader),
              TVLM_ERROR_ARGUMENT, "-1 threads");
}

static void expect_not_written(const char *name, int32_t width, int32_t height, double rate,
                               tvlm_status status, const char *words) {
    tvlm_video_writer *writer = NULL;
    io_expect(tvlm_video_writer_open(io_path(name), width, height,
                                     tvlm_video_writer_params(.rate = rate, .log = &io_log), &writer),
              status, words);
    assert_null(writer);
    assert_int_equal(io_files(false), 0);
}

static void refuses_to_write(void **state) {
    static uint8_t rgb[3 * WIDTH * HEIGHT];
    tvlm_image image = {
        .pixels = rgb, .width = WIDTH, .height = HEIGHT, .channels = 3, .type = TVLM_PIXEL_U8};
    static const int wrong_types[] = {TVLM_PIXEL_U16, TVLM_PIXEL_F32, TVLM_PIXEL_F32 + 1, -1};
    tvlm_video_writer *writer = NULL;
    (void)state;
    assert_true(tvlm_video_writable("a.mp4") && tvlm_video_writable("b/c.webm") &&
                tvlm_video_writable("d.mkv"));
    assert_false(tvlm_video_writable("a.png") || tvlm_video_writable("a.wav") ||
                 tvlm_video_writable("a.xyz") || tvlm_video_writable("a"));
    expect_not_written("a.png", WIDTH, HEIGHT, 25, TVLM_ERROR_ARGUMENT, "no video format of that ending");
    expect_not_written("a.mp4", 1, HEIGHT, 25, TVLM_ERROR_ARGUMENT, "a video of 1 x 64");
    expect_not_written("a.mp4", WIDTH, 16385, 25, TVLM_ERROR_ARGUMENT, "its sides are 2 .. 16384");
    expect_not_written("a.mp4", WIDTH, HEIGHT, -1, TVLM_ERROR_ARGUMENT, "-1 frames a second");
    expect_not_written("a.mp4", WIDTH, HEIGHT, (double)NAN, TVLM_ERROR_ARGUMENT, "frames a second");
    expect_not_written("no/a.mp4", WIDTH, HEIGHT, 25, TVLM_ERROR_IO, "No such file");
    io_expect(tvlm_video_writer_open(io_path("a.mp4"), WIDTH, HEIGHT,
                                     tvlm_video_writer_params(.log = &io_log), &writer),
              TVLM_OK, NULL);
    image.height = HEIGHT - 2;
    io_expect(tvlm_video_writer_add(writer, &image, 0.0), TVLM_ERROR_ARGUMENT, "not RGB of 96 x 64");
    image.height = HEIGHT;
    image.channels = 1;
    io_expect(tvlm_video_writer_add(writer, &image, 0.0), TVLM_ERROR_ARGUMENT, "not RGB of 96 x 64");
    image.channels = 3;
    image.row_stride = 10;
    io_expect(tvlm_video_writer_add(writer, &image, 0.0), TVLM_ERROR_ARGUMENT,
              "a row stride of 10 bytes; a row has 288");
    image.row_stride = 0;
    for (int i = 0; i < 4; ++i) {
        image.type = (tvlm_pixel_type)wrong_types[i];
        io_expect(tvlm_video_writer_add(writer, &image, 0.0), TVLM_ERROR_ARGUMENT, "not RGB of 96 x 64");
    }
    tvlm_video_writer_destroy(&writer);
    assert_int_equal(io_files(false), 0);
}

static uint64_t hash_frame(uint64_t hash, const tvlm_video_frame *frame) {
    const uint8_t *const pixels = frame->image.pixels;
    const size_t size = 3 * (size_t)frame->image.width * (size_t)frame->image.height;
    for (size_t i = 0; i < size; ++i) hash = (hash ^ pixels[i]) * 1099511628211u;
    return (hash ^ (uint64_t)frame->number) * 1099511628211u;
}

static uint64_t read_hash;          /* of the frames that read_all has read */
static tvlm_status read_end_status; /* what came in place of the end */

/* Reads to the end. Frames come in the order of their numbers; each that is missing has had its line, and where one is there
 * is an error in place of the end, once. */
static int32_t read_all(const char *path, int32_t *lines) {
    tvlm_video_reader *reader = NULL;
    tvlm_video_frame frame;
    int32_t frames = 0;
    int64_t last = -1;
    io_lines = 0;
    read_hash = 1469598103934665603u;
    read_end_status = TVLM_OK;
    const tvlm_status status =
        tvlm_video_reader_open(path, tvlm_video_reader_params(.log = &io_log), &reader);
    *lines = io_lines;
    if (status != TVLM_OK) {
        read_end_status = status;
        io_expect(status, status, NULL);
        return 0;
    }
    for (;; ++frames) {
        frame.number = -7;
        read_end_status = tvlm_video_reader_next(reader, &frame);
        if (read_end_status != TVLM_OK) {
            assert_int_equal(read_end_status, TVLM_ERROR_FORMAT);
            assert_int_equal(frame.number, -7);
            assert_int_equal(tvlm_video_reader_next(reader, &frame), TVLM_OK);
            assert_true(frame.end);
        }
        if (frame.end) break;
        assert_true(frame.number > last);
        last = frame.number;
        read_hash = hash_frame(read_hash, &frame);
        (void)bar_of(&frame.image);
    }
    *lines = io_lines;
    assert_true(last < frames + io_lines);
    assert_true(last + 1 == frames || read_end_status == TVLM_ERROR_FORMAT);
    tvlm_video_reader_destroy(&reader);
    return frames;
}

/* What read_all met in place of the end. */
static void expect_end(const char *words) {
    assert_int_equal(read_end_status, TVLM_ERROR_FORMAT);
    if (strstr(io_logged, words) == NULL) fail_msg("\"%s\" is not in: %s", words, io_logged);
    io_lines = 0;
}

/* A hole in the middle: what is before and behind it is read, and each frame that is not has a line. */
static void goes_on_behind_damage(void **state) {
    void *bytes;
    size_t size;
    int32_t lines;
    (void)state;
    write_video(io_path("whole.mp4"), WIDTH, HEIGHT, 6 * FRAMES, 25.0);
    io_expect(tvlm_file_read(io_path("whole.mp4"), &io_log, &bytes, &size), TVLM_OK, NULL);
    assert_int_equal(read_all(io_path("whole.mp4"), &lines), 6 * FRAMES);
    assert_int_equal(lines, 0);
    for (size_t i = size / 2; i < size / 2 + 400; ++i) ((uint8_t *)bytes)[i] ^= 0x5a;
    const int32_t frames = read_all(io_put("hole.mp4", bytes, size), &lines);
    assert_true(lines > 1 && frames > 3 * FRAMES && frames < 6 * FRAMES);
    expect_end("hole.mp4: is damaged: ");
    free(bytes);
    write_video(io_path("long.mkv"), WIDTH, HEIGHT, 6 * FRAMES, 25.0);
    io_expect(tvlm_file_read(io_path("long.mkv"), &io_log, &bytes, &size), TVLM_OK, NULL);
    assert_true(read_all(io_put("cut.mkv", bytes, size / 2), &lines) > FRAMES);
    free(bytes);
}

/* Wherever a container is cut, the frames before the cut come, and then a line that names the cut. */
static void says_what_is_cut(void **state) {
    static const char *const names[] = {"a.mkv", "a.webm", "a.avi", "a.ogv", "a.mp4", "a.mov"};
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; ++n) {
        void *bytes;
        size_t size;
        int32_t lines, before = 0;
        if (!tvlm_video_writable(names[n])) continue;
        write_video(io_path(names[n]), WIDTH, HEIGHT, 4 * FRAMES, 25.0);
        assert_int_equal(read_all(io_path(names[n]), &lines), 4 * FRAMES);
        assert_int_equal(lines, 0);
        io_expect(tvlm_file_read(io_path(names[n]), &io_log, &bytes, &size), TVLM_OK, NULL);
        for (size_t percent = 40; percent < 100; percent += 13) {
            char name[32];
            snprintf(name, sizeof name, "cut.%s", names[n] + 2);
            const char *const path = io_put(name, bytes, size * percent / 100);
            if (strstr("a.mp4 a.mov", names[n]) != NULL) { /* what is where stands at the end */
                expect_no_video(path, TVLM_ERROR_FORMAT, "is cut off after ");
                continue;
            }
            char url[600];
            snprintf(url, sizeof url, "file:%s", path);
            const int32_t as_url = read_all(url, &lines);
            expect_end("is cut off after ");
            const int32_t frames = read_all(path, &lines);
            assert_int_equal(as_url, frames);
            assert_true(frames >= before && frames <= 4 * FRAMES);
            expect_end("is cut off after ");
            before = frames;
        }
        free(bytes);
    }
}

/* Whether an error says that bytes of a clip, or one bit, are others. */
static bool is_told(const char *name, const uint8_t *bytes, size_t size, size_t from, size_t to, bool one) {
    uint8_t *const torn = malloc(size);
    uint64_t random = 5;
    int32_t lines;
    assert_non_null(torn);
    memcpy(torn, bytes, size);
    for (size_t i = from; i < to; ++i) torn[i] = (uint8_t)io_random(&random);
    if (one) torn[from] = bytes[from] ^ 0x10;
    const int32_t frames = read_all(io_put(name, torn, size), &lines);
    free(torn);
    if (frames > 4 * FRAMES) fail_msg("%s: %d frames", name, (int)frames);
    return read_end_status != TVLM_OK;
}

/* What is overwritten in the middle or at the end is told, also where FFmpeg only passes over it: decoders of VP8 and of Theora take
 * anything, and so do readers of most containers. */
static void says_what_is_torn(void **state) {
    static const char *const names[] = {"t.mkv", "t.webm", "t.avi", "t.ogv", "t.flv"};
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; ++n) {
        void *bytes;
        size_t size;
        int32_t lines;
        if (!tvlm_video_writable(names[n])) continue;
        write_video(io_path(names[n]), WIDTH, HEIGHT, 4 * FRAMES, 25.0);
        assert_int_equal(read_all(io_path(names[n]), &lines), 4 * FRAMES);
        assert_int_equal(read_end_status, TVLM_OK);
        assert_int_equal(lines, 0);
        io_expect(tvlm_file_read(io_path(names[n]), &io_log, &bytes, &size), TVLM_OK, NULL);
        for (size_t percent = 30; percent < 70; percent += 9)
            if (!is_told(names[n], bytes, size, size * percent / 100, size * (percent + 15) / 100, false))
                fail_msg("%s: nothing is said of what is torn at %zu %%", names[n], percent);
        if (!is_told(names[n], bytes, size, size / 2, size, false))
            fail_msg("%s: nor of its second half", names[n]);
        /* Where there are checksums a bit is enough. */
        if (strcmp(names[n], "t.ogv") == 0 || strcmp(names[n], "t.mkv") == 0)
            if (!is_told(names[n], bytes, size, size / 2, size / 2 + 1, true))
                fail_msg("%s: nor of a bit", names[n]);
        io_lines = 0;
        free(bytes);
    }
}

/* A damaged clip has the same pixels each time. */
static void decodes_damage_alike(void **state) {
    static const char *const names[] = {"d.mp4", "d.avi", "d.webm", "d.mpg", "d.ogv"};
    uint64_t random = 11;
    int32_t all = 0;
    (void)state;
    for (size_t n = 0; n < sizeof names / sizeof *names; ++n) {
        void *bytes;
        size_t size;
        int32_t lines, first_lines = 0, first_frames = 0;
        if (!tvlm_video_writable(names[n])) continue;
        write_video(io_path(names[n]), WIDTH, HEIGHT, 4 * FRAMES, 25.0);
        io_expect(tvlm_file_read(io_path(names[n]), &io_log, &bytes, &size), TVLM_OK, NULL);
        for (int i = 0; i < 30; ++i)
            ((uint8_t *)bytes)[size / 6 + io_random(&random) % (size * 2 / 3)] ^= (uint8_t)(1u << i % 8);
        const char *const path = io_put(names[n], bytes, size);
        uint64_t first = 0;
        for (int run = 0; run < 10; ++run) {
            const int32_t frames = read_all(path, &lines);
            if (run == 0) first = read_hash, first_frames = frames, first_lines = lines;
            assert_true(read_hash == first);
            all += frames;
            assert_int_equal(frames, first_frames);
            assert_int_equal(lines, first_lines);
        }
        free(bytes);
    }
    assert_true(all > 10 * 4 * FRAMES);
}

/* Whatever the bytes are: it ends, nothing is read beyond its end, and an error has its line. */
static void survives_damage(void **state) {
    void *bytes;
    size_t size;
    uint64_t random = 3;
    int32_t lines, frames = 0;
    (void)state;
    write_video(io_path("small.mp4"), 32, 32, 8, 25.0);
    io_expect(tvlm_file_read(io_path("small.mp4"), &io_log, &bytes, &size), TVLM_OK, NULL);
    uint8_t *const damaged = malloc(size);
    assert_non_null(damaged);
    for (int i = 0; i < 60; ++i) {
        memcpy(damaged, bytes, size);
        io_damage(&random, damaged, size);
        frames += read_all(io_put("damaged.mp4", damaged, i % 4 == 0 ? size * (size_t)i / 60 : size), &lines);
    }
    assert_true(frames > 60);
    free(damaged);
    free(bytes);
}

static bool stop_at_once(void *user) {
    ++*(int *)user;
    return true;
}

/* An application that wants to end is asked, and the video ends. */
static void stops(void **state) {
    int asked = 0;
    tvlm_video_reader *reader = NULL;
    tvlm_video_frame frame;
    (void)state;
    write_video(io_path("s.mp4"), WIDTH, HEIGHT, 4, 25.0);
    const tvlm_status status = tvlm_video_reader_open(
        io_path("s.mp4"), tvlm_video_reader_params(.stop = stop_at_once, .user = &asked, .log = &io_log),
        &reader);
    assert_true(asked > 0);
    if (status == TVLM_OK) {
        assert_int_equal(tvlm_video_reader_next(reader, &frame), TVLM_OK);
        tvlm_video_reader_destroy(&reader);
    } else {
        io_expect(status, TVLM_ERROR_IO, "s.mp4: cannot be opened");
    }
}

/* The last row of the picture ends where the memory ends. */
static void reads_no_byte_behind_the_picture(void **state) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = 16 * page;
    uint8_t *const memory =
        mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory + room, page, PROT_NONE), 0);
    for (int32_t width = 2; width < 140; width += width < 40 ? 1 : 7) {
        for (int32_t height = 2; height < 6; height += 3) {
            const size_t size = 3 * (size_t)width * (size_t)height;
            const tvlm_image image = {.pixels = memory + room - size,
                                      .width = width,
                                      .height = height,
                                      .channels = 3,
                                      .type = TVLM_PIXEL_U8};
            tvlm_video_writer *writer = NULL;
            io_expect(tvlm_video_writer_open(io_path("edge.avi"), width, height,
                                             tvlm_video_writer_params(.log = &io_log), &writer),
                      TVLM_OK, NULL);
            io_expect(tvlm_video_writer_add(writer, &image, 0.0), TVLM_OK, NULL);
            tvlm_video_writer_destroy(&writer);
        }
    }
    munmap(memory, room + page);
}

/* A playlist and other lists of files are refused, whatever their name says. */
static void opens_no_other_file(void **state) {
    static const char playlist[] = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\na.mp4\n#EXT-X-ENDLIST\n";
    static const char live[] = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\na.mp4\n"; /* has no end */
    static const char parts[] = "ffconcat version 1.0\nfile a.mp4\n";
    char text[8192];
    (void)state;
    write_video(io_path("a.mp4"), WIDTH, HEIGHT, 4, 25.0);
    expect_no_video(io_put("list.mp4", playlist, strlen(playlist)), TVLM_ERROR_FORMAT,
                    "may name other files");
    expect_no_video(io_put("live.mp4", live, strlen(live)), TVLM_ERROR_FORMAT, "may name other files");
    expect_no_video(io_put("parts.mp4", parts, strlen(parts)), TVLM_ERROR_FORMAT, "may name other files");
    snprintf(text, sizeof text, "concat:%s", io_path("a.mp4"));
    expect_no_video(text, TVLM_ERROR_FORMAT, "may name other files");
    snprintf(text, sizeof text, "file:%s", io_path("a.mp4"));
    tvlm_video_reader *reader = open_video(text);
    tvlm_video_reader_destroy(&reader);
}

/* A server that takes a connection and never answers. */
static void does_not_wait_for_ever(void **state) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    const int server = socket(AF_INET, SOCK_STREAM, 0);
    tvlm_video_reader *reader = NULL;
    char url[64];
    (void)state;
    if (server < 0 || bind(server, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(server, 4) != 0 || getsockname(server, (struct sockaddr *)&address, &length) != 0)
        skip();
    snprintf(url, sizeof url, "tcp://127.0.0.1:%d", ntohs(address.sin_port));
    io_expect(tvlm_video_reader_open(url, tvlm_video_reader_params(.silence = 0.3, .log = &io_log), &reader),
              TVLM_ERROR_IO, "nothing came for 0.3 seconds");
    assert_null(reader);
    io_expect(tvlm_video_reader_open(url, tvlm_video_reader_params(.silence = -1.0, .log = &io_log), &reader),
              TVLM_ERROR_ARGUMENT, "-1 seconds");
    close(server);
}

static void null_is_an_error(void **state) {
    tvlm_video_info info = {.width = 7};
    tvlm_video_frame frame = {.number = 7};
    const tvlm_image image = {0};
    (void)state;
    assert_false(tvlm_video_writable(NULL));
    assert_int_equal(tvlm_video_reader_get_info(NULL, &info), TVLM_ERROR_ARGUMENT);
    assert_int_equal(info.width, 7);
    assert_int_equal(tvlm_video_reader_next(NULL, &frame), TVLM_ERROR_ARGUMENT);
    assert_int_equal(frame.number, 7);
    assert_int_equal(tvlm_video_writer_add(NULL, &image, 0.0), TVLM_ERROR_ARGUMENT);
    assert_int_equal(tvlm_video_writer_finish(NULL), TVLM_ERROR_ARGUMENT);
    write_video(io_path("a.mp4"), WIDTH, HEIGHT, 4, 25.0);
    tvlm_video_reader *reader = open_video(io_path("a.mp4"));
    io_expect(tvlm_video_reader_next(reader, NULL), TVLM_ERROR_ARGUMENT, "frame is NULL");
    tvlm_video_reader_destroy(&reader);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        io_test(reads_no_byte_behind_the_picture),
        io_test(opens_no_other_file),
        io_test(does_not_wait_for_ever),
        io_test(null_is_an_error),
        io_test(writes_and_reads),
        io_test(turns_as_the_file_says),
        io_test(unfinished_leaves_nothing),
        io_test(times_are_put_in_order),
        io_test(keeps_what_was_set),
        io_test(begins_at_zero),
        io_test(refuses_what_is_no_video),
        io_test(refuses_to_write),
        io_test(goes_on_behind_damage),
        io_test(survives_damage),
        io_test(says_what_is_cut),
        io_test(says_what_is_torn),
        io_test(decodes_damage_alike),
        io_test(stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
