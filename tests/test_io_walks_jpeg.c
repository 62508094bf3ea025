/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk through a JPEG before it is decoded: what it accepts to the byte, what it refuses in which words, and what it finds on
 * its way. Both sides of each limit. Other formats: test_io_walks.c.
 */
#include "io_bytes_helper.h"

static void refuses_jpeg(const io_bytes *bytes, tvlm_status status, const char *line) {
    tvlm_io_findings findings = {.orientation = 7, .scan_end = 8, .restarts = 9};
    expect_status(checked(tvlm_io_check_jpeg, bytes, &findings), status, line);
    assert_true(findings.orientation == 7 && findings.scan_end == 8 && findings.restarts == 9);
}

static void damaged_jpeg(const io_bytes *bytes, const char *what) {
    char line[200];
    snprintf(line, sizeof line, "a is a damaged JPEG: %s", what);
    refuses_jpeg(bytes, TVLM_ERROR_FORMAT, line);
}

static void truncated_jpeg(const io_bytes *bytes) {
    char line[200];
    snprintf(line, sizeof line, "a is a truncated JPEG: it ends after %zu bytes without an end marker",
             bytes->size);
    refuses_jpeg(bytes, TVLM_ERROR_FORMAT, line);
}

static tvlm_io_findings accepts_jpeg(const io_bytes *bytes) {
    tvlm_io_findings findings = {0};
    io_expect(checked(tvlm_io_check_jpeg, bytes, &findings), TVLM_OK, NULL);
    return findings;
}

static void finish_jpeg(io_bytes *bytes, size_t data) {
    put_many(bytes, 0x55, data);
    put(bytes, "\xFF\xD9", 2);
}

/* Each 8 x 8 block takes a bit at least. */
static void weighs_the_data_of_jpeg(void **state) {
    static const struct {
        uint32_t width, height;
        const char *factors;
        size_t least; /* bytes */
    } rows[] = {{8, 8, "\x11", 1},
                {64, 64, "\x11", 8},
                {72, 64, "\x11", 9},
                {65, 64, "\x11", 9},
                {64, 65, "\x11", 9},
                {64, 71, "\x11", 9},
                {56, 64, "\x11", 7},
                {64, 64, "\x11\x11\x11", 24},
                {64, 64, "\x22\x11\x11", 12},
                {64, 64, "\x21\x11\x11", 16},
                {64, 64, "\x12\x11\x11", 16},
                {64, 64, "\x11\x22\x11", 12},
                {128, 64, "\x41\x11\x11", 24},
                {64, 128, "\x14\x11\x11", 24},
                {64, 72, "\x13\x11\x11", 15},
                {72, 64, "\x31\x11\x11", 15},
                {130, 66, "\x22\x11\x11", 30},
                {128, 128, "\x11\x11\x11\x11", 128},
                {127, 121, "\x42\x21\x12\x11", 52},
                {8, 8, "\x11\x11", 1}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        for (int more = -1; more <= 0; ++more) {
            io_bytes bytes;
            put_start(&bytes);
            put_frame(&bytes, 0xC0, rows[i].width, rows[i].height, rows[i].factors);
            put_scan(&bytes, 1, strlen(rows[i].factors));
            finish_jpeg(&bytes, (size_t)((int)rows[i].least + more));
            if (more < 0) {
                damaged_jpeg(&bytes, "it has too few bytes for its size in pixels");
                continue;
            }
            const tvlm_io_findings found = accepts_jpeg(&bytes);
            assert_int_equal(found.scan_end, bytes.size - 2);
            assert_true(found.restarts == 0 && found.orientation == 1);
        }
}

/* Markers that stand in the data of a scan, and what stands between segments. */
static void finds_the_last_scan(void **state) {
    io_bytes bytes;
    (void)state;
    put_start(&bytes);
    put_jpeg_exif(&bytes, 3);
    put_jpeg_exif(&bytes, 6);
    put(&bytes, "\xFF\x01\xFF\xD8\xFF\xFF", 6); /* markers without a segment, and a fill byte */
    put_frame(&bytes, 0xC2, 64, 64, "\x11\x11");
    put_scan(&bytes, 1, 1);
    put(&bytes, "\xFF\xD0\xFF\xD1\xFF\x00\xFF\xD2", 8);
    put_scan(&bytes, 2, 1);
    put(&bytes, "abcd\xFF\xD0\xFF\0efgh\xFF\xD7ijkl\xFF\xFF\xFF\x01mnop", 26);
    const size_t end = bytes.size;
    put_segment(&bytes, 0xFE, "a comment", 9);
    put(&bytes, "\xFF\xD9 and more", 11);
    const tvlm_io_findings found = accepts_jpeg(&bytes);
    assert_int_equal(found.scan_end, end);
    assert_int_equal(found.restarts, 2);
    assert_int_equal(found.orientation, 3);
}

static void frames_of_jpeg(void **state) {
    io_bytes bytes;
    char line[200];
    (void)state;
    for (int marker = 0xC0; marker <= 0xCF; ++marker)
        for (int bits = 8; bits <= 12; bits += 4) {
            put_start(&bytes);
            put_frame(&bytes, 0xC0, 8, 8, "\x11");
            const size_t second = bytes.size;
            put_frame(&bytes, marker, 8, 8, "\x11");
            bytes.at[second + 4] = (uint8_t)bits;
            if (marker == 0xC4) bytes.size = second, put_segment(&bytes, marker, "", 0); /* a table */
            put_scan(&bytes, 1, 1);
            finish_jpeg(&bytes, 1);
            snprintf(line, sizeof line, "a is a JPEG of a kind that is not supported (process %d, %d bits)",
                     marker - 0xC0, bits);
            if (marker == 0xC4 || marker == 0xC8 || marker == 0xCC || (marker <= 0xC2 && bits == 8))
                accepts_jpeg(&bytes);
            else
                refuses_jpeg(&bytes, TVLM_ERROR_UNSUPPORTED, line);
        }
    static const char *const factors[] = {"", "\x11\x11\x11\x11\x11"};
    for (int i = 0; i < 2; ++i) {
        put_start(&bytes);
        put_frame(&bytes, 0xC0, 8, 8, factors[i]);
        damaged_jpeg(&bytes, "its frame header does not describe 1 to 4 components");
    }
    for (size_t size = 5; size <= 8; ++size) {
        put_start(&bytes);
        put_segment(&bytes, 0xC0, "\x08\0\x08\0\x08\x01\x01\x11\0", size);
        damaged_jpeg(&bytes, size < 6 ? "its frame header is too short"
                                      : "its frame header does not describe 1 to 4 components");
    }
    for (int side = 0; side < 2; ++side) {
        put_start(&bytes);
        put_frame(&bytes, 0xC0, side == 0 ? 0 : 8, side == 0 ? 8 : 0, "\x11");
        put_scan(&bytes, 1, 1);
        finish_jpeg(&bytes, 1);
        damaged_jpeg(&bytes, "it has no frame, or one without pixels");
    }
    put_start(&bytes);
    put(&bytes, "\xFF\xD9", 2);
    damaged_jpeg(&bytes, "it has no frame, or one without pixels");
    put_start(&bytes);
    put_frame(&bytes, 0xC0, 8, 8, "\x11");
    put(&bytes, "\xFF\xD9", 2);
    damaged_jpeg(&bytes, "it has too few bytes for its size in pixels");
    bytes.at[1] = 0xC0;
    damaged_jpeg(&bytes, "it has no start marker");
    bytes.size = 0;
    put(&bytes, "\xFF\xFF\xFF", 3);
    damaged_jpeg(&bytes, "it has no start marker");
}

/* Each component has a scan, alone or with others, since the last frame. */
static void scans_of_jpeg(void **state) {
    io_bytes bytes;
    (void)state;
    for (int missing = 0; missing <= 3; ++missing)
        for (int order = 0; order < 2; ++order) {
            put_start(&bytes);
            put_frame(&bytes, 0xC2, 8, 8, "\x11\x11\x11");
            for (int i = 1; i <= 3; ++i) {
                const int number = order == 0 ? i : 4 - i;
                if (number == missing) continue;
                put_scan(&bytes, (size_t)number, 1);
                put_many(&bytes, 1, 3);
            }
            put(&bytes, "\xFF\xD9", 2);
            if (missing == 0)
                accepts_jpeg(&bytes);
            else
                damaged_jpeg(&bytes, "a component has no scan");
        }
    put_start(&bytes);
    put_frame(&bytes, 0xC2, 8, 8, "\x11\x11");
    put_scan(&bytes, 1, 2);
    put_many(&bytes, 1, 3);
    put_frame(&bytes, 0xC2, 8, 8, "\x11\x11");
    put_scan(&bytes, 2, 1);
    finish_jpeg(&bytes, 3);
    damaged_jpeg(&bytes, "a component has no scan");
    for (size_t size = 0; size <= 3; ++size) {
        put_start(&bytes);
        put_frame(&bytes, 0xC0, 8, 8, "\x11");
        put_segment(&bytes, 0xDA, "\1\1\0", size);
        finish_jpeg(&bytes, 1);
        if (size < 3)
            damaged_jpeg(&bytes, "a scan header is too short");
        else
            accepts_jpeg(&bytes);
    }
}

/* A table has at most 256 codes, and all of them are there. */
static void tables_of_jpeg(void **state) {
    static const struct {
        uint8_t first, last; /* how many codes have one bit, and how many sixteen */
        size_t size;         /* of the segment */
        const char *wrong;
    } rows[] = {{0, 0, 17, NULL},
                {0, 0, 16, "a Huffman table is cut off"},
                {0, 0, 1, "a Huffman table is cut off"},
                {0, 0, 0, NULL},
                {1, 0, 18, NULL},
                {1, 0, 17, "a Huffman table has too many codes"},
                {0, 1, 18, NULL},
                {0, 1, 17, "a Huffman table has too many codes"},
                {1, 255, 17 + 256, NULL},
                {255, 1, 17 + 256, NULL},
                {2, 255, 17 + 257, "a Huffman table has too many codes"},
                {1, 255, 17 + 255, "a Huffman table has too many codes"},
                {0, 0, 34, NULL},
                {0, 0, 33, "a Huffman table is cut off"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i)
        for (int before = 0; before < 2; ++before) {
            uint8_t content[17 + 3 + 17 + 257] = {0};
            io_bytes bytes;
            uint8_t *const table = content + (before == 1 ? 20 : 0);
            if (before == 1) content[2] = 3; /* another table, of three codes */
            table[1] = rows[i].first;
            if (rows[i].size > 16) table[16] = rows[i].last;
            put_start(&bytes);
            put_segment(&bytes, 0xC4, content, rows[i].size + (before == 1 ? 20 : 0));
            put_frame(&bytes, 0xC0, 8, 8, "\x11");
            put_scan(&bytes, 1, 1);
            finish_jpeg(&bytes, 1);
            if (rows[i].wrong == NULL)
                accepts_jpeg(&bytes);
            else
                damaged_jpeg(&bytes, rows[i].wrong);
        }
}

static void cuts_segments_of_jpeg(void **state) {
    io_bytes bytes;
    (void)state;
    put_start(&bytes);
    put_frame(&bytes, 0xC0, 8, 8, "\x11");
    put_scan(&bytes, 1, 1);
    put_many(&bytes, 1, 3);
    const size_t begin = bytes.size;
    truncated_jpeg(&bytes);
    put(&bytes, "\xFF", 1);
    truncated_jpeg(&bytes);
    put(&bytes, "\xFE", 1);
    truncated_jpeg(&bytes);
    put(&bytes, "\0", 1);
    truncated_jpeg(&bytes);
    put(&bytes, "\1", 1);
    damaged_jpeg(&bytes, "a segment is shorter than its own length");
    bytes.at[bytes.size - 1] = 2;
    truncated_jpeg(&bytes); /* of which the segment is whole, and the end is missing */
    put(&bytes, "\xFF\xD9", 2);
    assert_int_equal(accepts_jpeg(&bytes).scan_end, begin);
    bytes.at[bytes.size - 3] = 5;
    truncated_jpeg(&bytes);
    bytes.size = begin;
    put_segment(&bytes, 0xE1, "Exif\0", 5);
    put_segment(&bytes, 0xE1, "Exig\0\0", 6);
    put_segment(&bytes, 0xE1, "Exif\0\0", 6); /* without a number: as if it were 1 */
    put_jpeg_exif(&bytes, 6);
    put(&bytes, "\xFF\xD9", 2);
    assert_int_equal(accepts_jpeg(&bytes).orientation, 1);
    /* A tag that lacks its last byte is none, whatever stands behind the segment. */
    for (size_t lacking = 4; lacking <= 5; ++lacking) {
        io_bytes exif = {.size = 0};
        put(&exif, "Exif\0\0", 6);
        put_exif(&exif, 6);
        bytes.size = begin;
        put_segment(&bytes, 0xE1, exif.at, exif.size - lacking);
        put(&bytes, "\xFF\xD9 and more than a few bytes", 29);
        assert_int_equal(accepts_jpeg(&bytes).orientation, lacking == 4 ? 6 : 1);
    }
    /* Of a segment that is cut nothing is read. */
    put_start(&bytes);
    put(&bytes, "\xFF\xC0\0\x0B\x08\0\x08\0\x08", 9);
    truncated_jpeg(&bytes);
    put_start(&bytes);
    put(&bytes, "\xFF\xC4\0\x20\0", 5);
    truncated_jpeg(&bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        io_test(weighs_the_data_of_jpeg), io_test(finds_the_last_scan), io_test(frames_of_jpeg),
        io_test(scans_of_jpeg),           io_test(tables_of_jpeg),      io_test(cuts_segments_of_jpeg),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
