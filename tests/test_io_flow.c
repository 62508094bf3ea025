/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_io_flow.c: .flo files: what is written is read, and what is none is refused with a line that says why.
 */
#include <math.h>

#include "io_helper.h"
#include "texturevlm/io_flow.h"

/* 2 x 1: (1, -2), (0.5, 2e9: unknown), as Middlebury's own code writes it. */
static const uint8_t sample[] = {'P',  'I',  'E', 'H', 2, 0,    0, 0, 1, 0,    0,    0,    0,    0,
                                 0x80, 0x3f, 0,   0,   0, 0xc0, 0, 0, 0, 0x3f, 0x28, 0x6b, 0xee, 0x4e};

static void writes_and_reads(void **state) {
    const float vectors[4] = {1.0f, -2.0f, 0.5f, 2e9f};
    tvlm_flo *flow = NULL;
    (void)state;
    io_expect(tvlm_flo_write(io_path("a.flo"), 2, 1, vectors, &io_log), TVLM_OK, NULL);
    io_assert_content(io_path("a.flo"), sample, sizeof sample);
    io_expect(tvlm_flo_read(io_path("a.flo"), &io_log, &flow), TVLM_OK, NULL);
    assert_int_equal(flow->width, 2);
    assert_int_equal(flow->height, 1);
    assert_memory_equal(flow->vectors, vectors, sizeof vectors);
    tvlm_flo_destroy(&flow);
    assert_null(flow);
    tvlm_flo_destroy(&flow);
    tvlm_flo_destroy(NULL);
}

/* More than what is written at a time. */
static void writes_many(void **state) {
    enum { WIDTH = 101, HEIGHT = 37 };
    static float vectors[2 * WIDTH * HEIGHT];
    tvlm_flo *flow = NULL;
    (void)state;
    for (size_t i = 0; i < 2 * WIDTH * HEIGHT; ++i) vectors[i] = (float)i - 0.25f;
    io_expect(tvlm_flo_write(io_path("b.flo"), WIDTH, HEIGHT, vectors, &io_log), TVLM_OK, NULL);
    io_expect(tvlm_flo_read(io_path("b.flo"), &io_log, &flow), TVLM_OK, NULL);
    assert_memory_equal(flow->vectors, vectors, sizeof vectors);
    tvlm_flo_destroy(&flow);
}

static void expect_refused(const uint8_t *bytes, size_t size, const char *words) {
    tvlm_flo *flow = NULL;
    io_expect(tvlm_flo_read(io_put("bad.flo", bytes, size), &io_log, &flow), TVLM_ERROR_FORMAT, words);
    assert_null(flow);
}

static void refuses(void **state) {
    uint8_t bytes[sizeof sample + 1] = {0};
    tvlm_flo *flow = NULL;
    (void)state;
    memcpy(bytes, sample, sizeof sample);
    expect_refused(bytes, sizeof bytes, "17 bytes of data where its size needs 16");
    for (size_t size = 0; size < sizeof sample; ++size)
        expect_refused(bytes, size,
                       size < 4    ? "it does not begin with PIEH"
                       : size < 12 ? "it ends within its header"
                                   : "where its size needs 16");
    bytes[3] = 'Q';
    expect_refused(bytes, sizeof sample, "it does not begin with PIEH");
    bytes[3] = 'H';
    bytes[4] = 0;
    expect_refused(bytes, sizeof sample, "its sides");
    bytes[7] = 0x80; /* negative */
    expect_refused(bytes, sizeof sample, "its sides");
    memset(bytes + 4, 0, 8);
    bytes[4] = bytes[8] = 0x9f; /* 99999 x 99999 */
    bytes[5] = bytes[9] = 0x86;
    bytes[6] = bytes[10] = 1;
    expect_refused(bytes, sizeof sample, "where its size needs 79998400008");
    io_expect(tvlm_flo_read(io_path("none.flo"), &io_log, &flow), TVLM_ERROR_IO, "none.flo");
    io_expect(tvlm_flo_read(NULL, &io_log, &flow), TVLM_ERROR_ARGUMENT, NULL);
}

static void refuses_to_write(void **state) {
    const float vectors[2] = {0};
    (void)state;
    io_expect(tvlm_flo_write(io_path("c.flo"), 0, 1, vectors, &io_log), TVLM_ERROR_ARGUMENT, "0x1");
    io_expect(tvlm_flo_write(io_path("c.flo"), 1, 1, NULL, &io_log), TVLM_ERROR_ARGUMENT, "no vectors");
    io_expect(tvlm_flo_write(io_path("no/c.flo"), 1, 1, vectors, &io_log), TVLM_ERROR_IO, "c.flo");
    assert_int_equal(io_files(false), 0);
}

/* The longest sides, those beyond, and as many vectors as are written at a time, and one more. */
static void knows_the_longest(void **state) {
    static float vectors[2 * 100000];
    static const int32_t shapes[][2] = {{99999, 1}, {1, 99999}, {512, 1}, {1, 513}, {1, 1}};
    tvlm_flo *flow = NULL;
    (void)state;
    for (size_t i = 0; i < 2 * 100000; ++i) vectors[i] = 0.5f * (float)i;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) {
        const int32_t width = shapes[i][0], height = shapes[i][1];
        io_expect(tvlm_flo_write(io_path("l.flo"), width, height, vectors, &io_log), TVLM_OK, NULL);
        io_expect(tvlm_flo_read(io_path("l.flo"), &io_log, &flow), TVLM_OK, NULL);
        assert_true(flow->width == width && flow->height == height);
        assert_memory_equal(flow->vectors, vectors, 2 * (size_t)width * (size_t)height * sizeof *vectors);
        tvlm_flo_destroy(&flow);
    }
    for (int across = 0; across < 2; ++across) {
        uint8_t bytes[12] = {'P', 'I', 'E', 'H', 1, 0, 0, 0, 1, 0, 0, 0};
        io_expect(
            tvlm_flo_write(io_path("m.flo"), across ? 100000 : 1, across ? 1 : 100000, vectors, &io_log),
            TVLM_ERROR_ARGUMENT, across ? "100000x1" : "1x100000");
        io_expect(tvlm_flo_write(io_path("m.flo"), across ? 1 : 0, across ? 0 : 1, vectors, &io_log),
                  TVLM_ERROR_ARGUMENT, across ? "1x0" : "0x1");
        memcpy(bytes + (across ? 4 : 8), ((uint8_t[]){0xa0, 0x86, 1, 0}), 4);
        expect_refused(bytes, sizeof bytes, "its sides are not in 1 .. 99999");
        memcpy(bytes + (across ? 4 : 8), ((uint8_t[]){0x9f, 0x86, 1, 0}), 4);
        expect_refused(bytes, sizeof bytes, "0 bytes of data where its size needs 799992");
        memset(bytes + (across ? 4 : 8), 0, 4);
        expect_refused(bytes, sizeof bytes, "its sides are not in 1 .. 99999");
    }
}

/* Whatever a file holds, the answer is a result or a line. */
static void survives_damage(void **state) {
    uint64_t random = 31;
    (void)state;
    for (int i = 0; i < 300; ++i) {
        uint8_t bytes[sizeof sample];
        tvlm_flo *flow = NULL;
        memcpy(bytes, sample, sizeof sample);
        io_damage(&random, bytes, sizeof bytes);
        const tvlm_status status = tvlm_flo_read(io_put("d.flo", bytes, sizeof bytes), &io_log, &flow);
        assert_true(status == TVLM_OK ? flow != NULL : io_lines == 1 && flow == NULL);
        io_lines = 0;
        tvlm_flo_destroy(&flow);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {io_test(writes_and_reads),  io_test(writes_many),
                                       io_test(refuses),           io_test(refuses_to_write),
                                       io_test(knows_the_longest), io_test(survives_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
