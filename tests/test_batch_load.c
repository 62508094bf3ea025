/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_batch_load.c: how the tool reads the picture of an input, and which room it takes for that, counted by hand: of
 * files and of pipes, of every length around that of a head, and what is wrong with those that cannot be read. The
 * tool's own parts are linked to this program.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batch_load.h"
#include "io_helper.h"
#include "support.h"
#include "texturevlm/io.h"

enum { HEAD = 65536, PICTURE_MAX = 3 * HEAD }; /* so many bytes are read first */

static uint8_t bytes[PICTURE_MAX];

/* A grey picture of one row, whose file has this many bytes. */
static void make_picture(size_t size) {
    const int head = snprintf((char *)bytes, sizeof bytes, "P5 %6d 1 255\n", (int)(size - 16));
    assert_true(head == 16 && size <= sizeof bytes);
    for (size_t i = 16; i < size; ++i) bytes[i] = (uint8_t)(i * 7 + i / 256);
}

/* One in which nothing but a comment is within the first bytes. */
static size_t make_late_picture(void) {
    memset(bytes, 'x', HEAD);
    memcpy(bytes, "P5 #", 4);
    memcpy(bytes + HEAD, "\n4 2 255\n\1\2\3\4\5\6\7\10", 9 + 8);
    return HEAD + 9 + 8;
}

/* The memory that decoding the picture takes. */
static uint64_t decoding(size_t size) {
    tvlm_image_info info;
    assert_int_equal(tvlm_image_measure(bytes, size, true, "a", NULL, &info), TVLM_OK);
    assert_true(info.memory > 0);
    return info.memory;
}

/* ---- One input ---- */

static batch_load load;
static int64_t number;

static void open_room(uint64_t limit) {
    load = (batch_load){.room = batch_room_open(limit), .log = &test_log};
    assert_non_null(load.room);
    number = 0;
}

static batch_image read_input(const char *path) {
    batch_image one = {.input = {.name = strdup(path)}};
    assert_non_null(one.input.name);
    batch_load_read(&load, number++, &one);
    assert_ptr_equal(one.room, load.room);
    assert_null(one.input.archive);
    return one;
}

/* That all of the room is free again. */
static void expect_free(void) {
    uint64_t all = 0;
    assert_true(batch_room_take(load.room, &all, batch_room_limit(load.room)));
    batch_room_give(load.room, &all, 0);
}

static void expect_failure(const char *path, tvlm_status status, const char *line) {
    batch_image one = read_input(path);
    assert_int_equal(one.status, status);
    assert_string_equal(one.error, line);
    batch_load_decode(&load, &one);
    assert_int_equal(one.status, status); /* the first error stays */
    assert_string_equal(one.error, line);
    assert_true(one.image == NULL && one.bytes == NULL && one.held == 0);
    batch_image_release(&one);
    expect_free();
}

/* That a picture of `size` bytes is read, holds so much, and becomes an image of `pixels` bytes from `first` on. */
static void expect_picture(const char *path, size_t size, uint64_t held, size_t first, size_t pixels) {
    batch_image one = read_input(path);
    if (one.status != TVLM_OK) fail_msg("%zu bytes: %s", size, one.error);
    assert_int_equal(one.size, size);
    assert_memory_equal(one.bytes, bytes, size);
    assert_int_equal(one.held, held);
    batch_load_decode(&load, &one);
    assert_true(one.status == TVLM_OK && one.bytes == NULL && one.image != NULL);
    assert_int_equal(one.held, pixels);
    assert_memory_equal(one.image->pixels, bytes + first, pixels);
    batch_image_release(&one);
    assert_true(one.held == 0 && one.image == NULL);
    expect_free();
}

/* ---- Files ---- */

static void test_files(void **state) {
    static const size_t sizes[] = {17, 1000, HEAD - 1, HEAD, HEAD + 1, 2 * HEAD, PICTURE_MAX};
    (void)state;
    open_room(1 << 24);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        make_picture(sizes[i]);
        expect_picture(io_put("a", bytes, sizes[i]), sizes[i], sizes[i] + decoding(sizes[i]), 16,
                       sizes[i] - 16);
    }
    const size_t late = make_late_picture();
    expect_picture(io_put("a", bytes, late), late, late + decoding(late), late - 8, 8);
    batch_room_close(&load.room);
}

/* The file and what decoding takes must fit the room together, to the last byte. */
static void test_room_for_files(void **state) {
    char line[200];
    (void)state;
    for (int late = 0; late < 2; ++late) {
        size_t size = 2 * HEAD;
        make_picture(size);
        if (late) size = make_late_picture();
        const uint64_t needed = size + decoding(size);
        const char *const path = io_put("a", bytes, size);
        open_room(needed);
        expect_picture(path, size, needed, late ? size - 8 : 16, late ? 8 : size - 16);
        batch_room_close(&load.room);
        open_room(needed - 1);
        snprintf(line, sizeof line,
                 "takes %.1f MiB of memory to read and decode, and --memory allows %.1f MiB for all",
                 (double)needed / 1048576.0, (double)(needed - 1) / 1048576.0);
        expect_failure(path, TVLM_ERROR_MEMORY, line);
        batch_room_close(&load.room);
        if (!late) continue;
        open_room(size - 1); /* not even the file fits */
        snprintf(line, sizeof line,
                 "takes %.1f MiB of memory to read and decode, and --memory allows %.1f MiB for all",
                 (double)size / 1048576.0, (double)(size - 1) / 1048576.0);
        expect_failure(path, TVLM_ERROR_MEMORY, line);
        batch_room_close(&load.room);
    }
}

/* A file of 2^31 - 65 bytes at most may be a picture. */
static void test_long_files(void **state) {
    const int64_t most = INT32_MAX - 64;
    const char *const path = io_put("a", "P5 40000 50000 255\n", 19);
    (void)state;
    open_room(1 << 20);
    assert_int_equal(truncate(path, most), 0);
    batch_image one = read_input(path);
    assert_int_equal(one.status, TVLM_ERROR_MEMORY);
    assert_non_null(
        strstr(one.error, " MiB of memory to read and decode, and --memory allows 1.0 MiB for all"));
    batch_image_release(&one);
    assert_int_equal(truncate(path, most + 1), 0);
    expect_failure(path, TVLM_ERROR_UNSUPPORTED, "has too many bytes for a picture");
    batch_room_close(&load.room);
}

/* ---- Pipes ---- */

static size_t piped;

static void *write_pipe(void *path) {
    FILE *const file = fopen(path, "w");
    if (file != NULL) {
        (void)fwrite(bytes, 1, piped, file);
        (void)fclose(file);
    }
    return NULL;
}

/* Nobody knows how long a pipe is: it is read in pieces, each as long as all before it, and room is taken for the piece. */
static void test_pipes(void **state) {
    static const struct {
        size_t size, room;
    } rows[] = {{17, 17},
                {HEAD - 1, HEAD - 1},
                {HEAD, 2 * HEAD},
                {HEAD + 1, 2 * HEAD},
                {2 * HEAD - 1, 2 * HEAD},
                {2 * HEAD, 4 * HEAD},
                {2 * HEAD + 1, 4 * HEAD}};
    char path[600];
    (void)state;
    snprintf(path, sizeof path, "%s", io_path("pipe"));
    assert_int_equal(mkfifo(path, 0600), 0);
    open_room(1 << 24);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i) {
        pthread_t writer;
        make_picture(piped = rows[i].size);
        assert_int_equal(pthread_create(&writer, NULL, write_pipe, path), 0);
        expect_picture(path, piped, rows[i].room + decoding(piped), 16, piped - 16);
        assert_int_equal(pthread_join(writer, NULL), 0);
    }
    batch_room_close(&load.room);
}

/* ---- What cannot be read ---- */

static void test_none(void **state) {
    char path[600], line[800];
    (void)state;
    open_room(1 << 20);
    snprintf(path, sizeof path, "%s", io_path("none"));
    snprintf(line, sizeof line, "cannot open %s: No such file or directory", path);
    expect_failure(path, TVLM_ERROR_IO, line);
    snprintf(line, sizeof line, "cannot read %s: Is a directory", io_folder);
    expect_failure(io_folder, TVLM_ERROR_IO, line);
    /* What is known against an input, which may exist all the same. */
    make_picture(20);
    batch_image one = {.input = {.name = strdup(io_put("a", bytes, 20)), .error = "is damaged"}};
    batch_load_read(&load, number++, &one);
    assert_int_equal(one.status, TVLM_ERROR_IO);
    assert_string_equal(one.error, "is damaged");
    assert_true(one.size == 0 && one.held == 0);
    batch_image_release(&one);
    /* The line is that of the library, and the first one. */
    tvlm_image_info info;
    const tvlm_status status =
        tvlm_image_measure("hello", 5, true, io_path("a"), tvlm_image_load_params(.log = &test_log), &info);
    assert_int_not_equal(status, TVLM_OK);
    snprintf(line, sizeof line, "%s", test_last_log());
    expect_failure(io_put("a", "hello", 5), status, line);
    /* Of what is no picture, nothing behind the first bytes is read. */
    memset(bytes, 'x', sizeof bytes);
    one = read_input(io_put("a", bytes, 2 * HEAD));
    assert_true(one.status != TVLM_OK && one.size == HEAD && one.held == 0);
    batch_image_release(&one);
    expect_free();
    batch_room_close(&load.room);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        io_test(test_files), io_test(test_room_for_files), io_test(test_long_files),
        io_test(test_pipes), io_test(test_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
