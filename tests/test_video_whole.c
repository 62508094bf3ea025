/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_video_whole.c: whether a video file was cut off, or is damaged in the middle, for small files that are
 * made here byte by byte: each is cut at every place, and each of its parts damaged. No FFmpeg is needed:
 * lib/io_video/whole.c is compiled into this program.
 */
#include <fcntl.h>

#include "io_helper.h"
#include "io_video/whole.h"

static uint8_t made[1 << 18]; /* the file that a test makes */
static int64_t made_size;

/* ---- Making a file ---- */

static int64_t put(const void *bytes, size_t count) {
    const int64_t at = made_size;
    assert_true((size_t)at + count <= sizeof made);
    memcpy(made + at, bytes, count);
    made_size += (int64_t)count;
    return at;
}

static void set_big(int64_t at, uint64_t value, int count) {
    for (int i = 0; i < count; ++i) made[at + i] = (uint8_t)(value >> 8 * (count - 1 - i));
}

static void set_little(int64_t at, uint64_t value) {
    for (int i = 0; i < 4; ++i) made[at + i] = (uint8_t)(value >> 8 * i);
}

static int64_t put_big(uint64_t value, int count) {
    const int64_t at = put("\0\0\0\0\0\0\0", (size_t)count);
    set_big(at, value, count);
    return at;
}

static int64_t put_little(uint64_t value) {
    const int64_t at = put("\0\0\0", 4);
    set_little(at, value);
    return at;
}

/* Content of `count` bytes that begins like no part of any container. */
static void put_content(size_t count) {
    for (size_t i = 0; i < count; ++i) {
        const uint8_t byte = (uint8_t)(200 + i % 47);
        put(&byte, 1);
    }
}

/* ---- Asking ---- */

static bool is_cut_at(int64_t size) {
    int64_t told = -1;
    const bool cut = video_is_cut(io_put("a", made, (size_t)size), &told);
    assert_int_equal(told, size);
    return cut;
}

/* Where the file is damaged, or -1. */
static int64_t torn(void) {
    int64_t at = -7;
    const bool is_torn = video_is_torn(io_put("a", made, (size_t)made_size), &at);
    assert_true(is_torn ? at >= 0 && at < made_size : at == -1);
    return at;
}

/* Where the file is damaged when one bit of that byte is another. */
static int64_t torn_with(int64_t byte, uint8_t bit) {
    made[byte] ^= bit;
    const int64_t at = torn();
    made[byte] ^= bit;
    return at;
}

/* ---- MP4 ---- */

static int64_t put_box(const char *name, size_t content) {
    const int64_t at = put_big(8 + content, 4);
    put(name, 4);
    put_content(content);
    return at;
}

static void cuts_of_mp4(void **state) {
    (void)state;
    made_size = 0;
    put_box("ftyp", 8);
    const int64_t second = put_box("free", 0);
    const int64_t third = put_big(1, 4);
    put("mdat", 4);
    put_big(16 + 5, 8);
    put_content(5);
    for (int64_t size = 0; size <= made_size; ++size) {
        const bool between = size == second || size == third || size == made_size;
        assert_int_equal(is_cut_at(size), size >= 12 && !between);
    }
    assert_int_equal(torn(), -1); /* boxes have no checksum */
    set_big(third, 0, 4);         /* it goes to the end */
    for (int64_t size = third + 8; size <= made_size; ++size) assert_false(is_cut_at(size));
    set_big(third, 7, 4); /* no box */
    assert_false(is_cut_at(made_size));
    set_big(third, 8, 4); /* a box without content, and then not even the head of one */
    assert_true(is_cut_at(third + 8 + 7));
}

static void boxes_that_begin_an_mp4(void **state) {
    static const char *const names[] = {"ftyp", "moov", "mdat", "free", "skip",
                                        "wide", "styp", "moof", "pnot"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        made_size = 0;
        put_box(names[i], 30);
        assert_true(is_cut_at(made_size - 1));
        assert_false(is_cut_at(made_size));
        ++made[7]; /* the box has another name */
        assert_false(is_cut_at(made_size - 1));
    }
}

/* ---- AVI ---- */

/* Begins a chunk, or with `kind` a list; end_chunk() sets its length. */
static int64_t begin_chunk(const char *name, const char *kind) {
    const int64_t at = put(name, 4);
    put_little(0);
    if (kind != NULL) put(kind, 4);
    return at;
}

static void end_chunk(int64_t at) {
    set_little(at + 4, (uint64_t)(made_size - at - 8));
}

static int64_t put_chunk(const char *name, size_t content, bool padded) {
    const int64_t at = begin_chunk(name, NULL);
    put_content(content);
    end_chunk(at);
    if (padded && content % 2 == 1) put("", 1);
    return at;
}

static void cuts_of_avi(void **state) {
    (void)state;
    made_size = 0;
    const int64_t first = begin_chunk("RIFF", "AVI ");
    put_chunk("JUNK", 20, true);
    put_content(1);
    end_chunk(first);
    put("", 1); /* since its length is odd */
    const int64_t second = begin_chunk("RIFF", "AVIX");
    put_chunk("JUNK", 10, true);
    end_chunk(second);
    for (int64_t size = 0; size <= made_size; ++size) {
        const bool in_first = size >= 12 && size < second - 1,
                   in_second = size >= second + 8 && size < made_size;
        assert_int_equal(is_cut_at(size), in_first || in_second);
    }
    set_little(second + 4, 0); /* the writer could not go back */
    assert_false(is_cut_at(made_size - 1));
    set_little(second + 4, UINT32_MAX);
    assert_false(is_cut_at(made_size - 1));
    set_little(second + 4, UINT32_MAX - 1);
    assert_true(is_cut_at(made_size - 1));
    made[8] = 'B'; /* RIFF, but not AVI */
    assert_false(is_cut_at(20));
}

static void damage_of_avi(void **state) {
    (void)state;
    made_size = 0;
    const int64_t riff = begin_chunk("RIFF", "AVI ");
    const int64_t head = begin_chunk("LIST", "hdrl");
    const int64_t avih = put_chunk("avih", 4, true);
    end_chunk(head);
    const int64_t frames = begin_chunk("LIST", "movi");
    const int64_t odd = put_chunk("00dc", 3, true);
    const int64_t even = put_chunk("01wb", 4, true);
    const int64_t group = begin_chunk("LIST", "rec ");
    const int64_t inside = put_chunk("00dc", 5, true);
    const int64_t deep = begin_chunk("LIST", "rec ");
    const int64_t deepest = put_chunk("00dc", 6, true);
    end_chunk(deep);
    end_chunk(group);
    end_chunk(frames);
    const int64_t last = put_chunk("idx1", 4, true);
    end_chunk(riff);
    const int64_t more = begin_chunk("RIFF", "AVIX");
    const int64_t frames_of_more = begin_chunk("LIST", "movi");
    const int64_t in_more = put_chunk("00dc", 4, true);
    end_chunk(frames_of_more);
    end_chunk(more);
    assert_int_equal(torn(), -1);
    const int64_t looked_at[] = {head, frames, odd, even, group, inside, deep, last, frames_of_more, in_more};
    for (size_t i = 0; i < sizeof looked_at / sizeof *looked_at; ++i)
        for (int letter = 0; letter < 4; ++letter) {
            /* Behind an odd length the place may also be the byte before. */
            const int64_t told = looked_at[i] - (looked_at[i] == even || looked_at[i] == deep);
            assert_int_equal(torn_with(looked_at[i] + letter, 0x80), told);
            made[looked_at[i] + 7] ^= 0x40; /* a length of more than a GiB */
            assert_int_equal(torn(), looked_at[i]);
            made[looked_at[i] + 7] ^= 0x40;
        }
    assert_int_equal(torn_with(avih, 0x80), -1); /* lists without frames are not gone through */
    assert_int_equal(torn_with(deepest, 0x80), -1);
    assert_int_equal(torn_with(more, 0x80), -1); /* no chunk of RIFF: what follows is none of the file's */
    /* Letters are what is printed, from a space to a tilde. */
    const uint8_t name = made[even];
    made[even] = ' ', assert_int_equal(torn(), -1);
    made[even] = '~', assert_int_equal(torn(), -1);
    made[even] = ' ' - 1, assert_int_equal(torn(), even - 1);
    made[even] = '~' + 1, assert_int_equal(torn(), even - 1);
    made[even] = name;
    /* A chunk may fill what contains it, and be no longer. */
    set_little(last + 4, 5);
    assert_int_equal(torn(), last);
    set_little(last + 4, 4);
    set_little(frames_of_more + 4, 3); /* a list has its kind at least: the writer could not go back */
    made[in_more] ^= 0x80;
    assert_int_equal(torn(), -1);
}

/* A part of the file that has an odd length is followed by a byte that does not count. */
static void damage_behind_an_odd_part(void **state) {
    (void)state;
    made_size = 0;
    const int64_t riff = begin_chunk("RIFF", "AVI ");
    put_chunk("JUNK", 20, true);
    put_content(1);
    end_chunk(riff);
    put("", 1);
    const int64_t more = begin_chunk("RIFF", "AVIX");
    const int64_t frames = begin_chunk("LIST", "movi");
    const int64_t chunk = put_chunk("00dc", 4, true);
    put_chunk("00dc", 8, true);
    end_chunk(frames);
    end_chunk(more);
    assert_int_equal(torn(), -1);
    assert_int_equal(torn_with(chunk, 0x80), chunk);
}

/* Some writers leave out the byte behind a chunk of odd length. */
static void avi_without_padding(void **state) {
    (void)state;
    made_size = 0;
    const int64_t riff = begin_chunk("RIFF", "AVI ");
    const int64_t frames = begin_chunk("LIST", "movi");
    put_chunk("00dc", 7, false);
    put_chunk("00dc", 4, false);
    const int64_t last = put_chunk("00dc", 4, false);
    end_chunk(frames);
    end_chunk(riff);
    assert_int_equal(torn(), -1);
    assert_int_equal(torn_with(last, 0x80), last); /* behind a chunk of even length nothing is left out */
}

/* ---- Ogg ---- */

/* CRC-32 bit by bit, of the kind that Ogg has: the highest bit first, nothing inverted. */
static uint32_t ogg_checksum(const uint8_t *bytes, int64_t count) {
    uint32_t sum = 0;
    for (int64_t i = 0; i < count * 8; ++i) {
        const uint32_t bit = (uint32_t)bytes[i / 8] >> (7 - i % 8) & 1u;
        sum = (sum << 1) ^ ((sum >> 31 ^ bit) != 0 ? 0x04c11db7u : 0u);
    }
    return sum;
}

static void end_page(int64_t at) {
    set_little(at + 22, 0);
    set_little(at + 22, ogg_checksum(made + at, made_size - at));
}

static int64_t put_page(uint8_t flags, int segments, size_t each) {
    const int64_t at = put("OggS\0", 5);
    put(&flags, 1);
    put_content(16); /* times and numbers, of which nothing is asked */
    put_little(0);   /* the checksum */
    const uint8_t count = (uint8_t)segments, length = (uint8_t)each;
    put(&count, 1);
    for (int i = 0; i < segments; ++i) put(&length, 1);
    put_content((size_t)segments * each);
    end_page(at);
    return at;
}

static void cuts_and_damage_of_ogg(void **state) {
    (void)state;
    made_size = 0;
    put_page(2, 2, 9);
    const int64_t second = put_page(0, 0, 0);
    const int64_t third = put_page(4, 3, 5);
    for (int64_t size = 0; size <= made_size; ++size)
        assert_int_equal(is_cut_at(size), size >= 12 && size < made_size);
    assert_int_equal(torn(), -1);
    for (int64_t byte = 4; byte < made_size; ++byte)
        for (uint8_t bit = 1; bit != 0; bit = (uint8_t)(bit << 1))
            assert_int_equal(torn_with(byte, bit), byte < second ? 0 : byte < third ? second : third);
    made[third + 5] = 0xfb; /* all flags but that of the last page */
    assert_true(is_cut_at(made_size));
    made[third + 5] = 0xff;
    assert_false(is_cut_at(made_size));
    made[0] = 'o'; /* nothing that is known */
    assert_false(is_cut_at(made_size - 1));
    assert_int_equal(torn(), -1);
}

/* The longest page, and what stands behind a page. */
static void long_pages_of_ogg(void **state) {
    (void)state;
    made_size = 0;
    put_page(0, 255, 255);
    const int64_t last = put_page(4, 255, 255);
    assert_int_equal(made_size, 2 * (27 + 255 + 255 * 255));
    assert_false(is_cut_at(made_size));
    assert_true(is_cut_at(made_size - 1));
    assert_true(is_cut_at(last)); /* the first one alone is no last one */
    assert_int_equal(torn(), -1);
    assert_int_equal(torn_with(made_size - 1, 1), last);
    const int64_t behind = put("?", 1);
    assert_int_equal(torn(), behind);
    made_size = last;
    const int64_t words = put("between pages", 13);
    put_page(4, 1, 1);
    assert_int_equal(torn(), words);
    assert_false(is_cut_at(made_size));
}

/* A page whose head alone is there, and one that says it is longer than what follows. */
static void short_pages_of_ogg(void **state) {
    (void)state;
    made_size = 0;
    put_page(4, 0, 0);
    assert_int_equal(made_size, 27);
    assert_false(is_cut_at(27));
    assert_int_equal(torn(), -1);
    const int64_t second = put_page(4, 1, 200);
    for (made_size = second + 1; made_size < second + 28 + 200; ++made_size) {
        assert_int_equal(torn(), second);
        assert_int_equal(is_cut_at(made_size), made_size >= second + 27);
    }
}

/* ---- Matroska ---- */

/* CRC-32 bit by bit, as EBML has it: the lowest bit first. */
static uint32_t ebml_checksum(const uint8_t *bytes, int64_t count) {
    uint32_t sum = UINT32_MAX;
    for (int64_t i = 0; i < count * 8; ++i) {
        const uint32_t bit = (uint32_t)bytes[i / 8] >> i % 8 & 1u;
        sum = (sum >> 1) ^ (((sum ^ bit) & 1u) != 0 ? 0xedb88320u : 0u);
    }
    return ~sum;
}

/* Begins an element whose length has eight bytes. */
static int64_t begin_element(uint64_t name, int name_bytes) {
    const int64_t at = put_big(name, name_bytes);
    put_big(UINT64_C(1) << 56, 8);
    return at;
}

static void end_element(int64_t at, int name_bytes) {
    set_big(at + name_bytes, UINT64_C(1) << 56 | (uint64_t)(made_size - at - name_bytes - 8), 8);
}

static int64_t put_element(uint64_t name, int name_bytes, size_t content) {
    const int64_t at = begin_element(name, name_bytes);
    put_content(content);
    end_element(at, name_bytes);
    return at;
}

static int64_t put_cluster(size_t content, int64_t *block) {
    const int64_t at = begin_element(0x1f43b675, 4);
    const int64_t checksum = put("\xbf\x84", 2);
    put_little(0);
    put("\xe7\x81", 2); /* its time, with a length of one byte */
    put_content(1);
    *block = put_element(0xa3, 1, content);
    end_element(at, 4);
    set_little(checksum + 2, ebml_checksum(made + checksum + 6, made_size - checksum - 6));
    return at;
}

enum { SEGMENT = 5 + 6 }; /* where the segment begins: behind a header of six bytes */

static int64_t begin_matroska(void) {
    made_size = 0;
    put("\x1a\x45\xdf\xa3\x86", 5);
    put_content(6);
    return begin_element(0x18538067, 4);
}

static void cuts_of_matroska(void **state) {
    (void)state;
    const int64_t segment = begin_matroska();
    assert_int_equal(segment, SEGMENT);
    put_element(0x114d9b74, 4, 10);
    end_element(segment, 4);
    for (int64_t size = 0; size <= made_size; ++size)
        assert_int_equal(is_cut_at(size), size >= segment + 12 && size < made_size);
    set_big(segment + 4, UINT64_C(0x01ffffffffffffff), 8); /* a length that is not known */
    assert_false(is_cut_at(made_size - 1));
    assert_int_equal(torn(), -1);
    set_big(segment + 4, 0, 8); /* no length */
    assert_false(is_cut_at(made_size - 1));
    assert_int_equal(torn(), -1);
    set_big(segment, 0x18538068, 4); /* no segment */
    assert_false(is_cut_at(made_size - 1));
    assert_int_equal(torn(), -1);
    made[4] = 0; /* a header without a length */
    assert_false(is_cut_at(made_size - 1));
    assert_int_equal(torn(), -1);
}

static void damage_of_matroska(void **state) {
    (void)state;
    int64_t block, long_block;
    const int64_t segment = begin_matroska();
    const int64_t seek = put_element(0x114d9b74, 4, 10);
    const int64_t cluster = put_cluster(20, &block);
    const int64_t rest = put_cluster(70000, &long_block);
    const int64_t cues = put_element(0x1c53bb6b, 4, 3);
    end_element(segment, 4);
    assert_int_equal(torn(), -1);
    /* What a cluster contains has a checksum, which is one of its bytes, too. */
    for (int64_t byte = cluster + 14; byte < cluster + 18; ++byte)
        assert_int_equal(torn_with(byte, 8), cluster);
    for (int64_t byte = block + 9; byte < rest; ++byte) assert_int_equal(torn_with(byte, 1), cluster);
    assert_int_equal(torn_with(long_block + 9, 1), rest);
    assert_int_equal(torn_with(long_block + 65536, 1), rest);
    assert_int_equal(torn_with(cues - 1, 1), rest);
    assert_int_equal(torn_with(cluster + 12, 0x20), -1); /* the checksum is now another element */
    assert_int_equal(torn_with(seek + 12, 1), -1);       /* what has none */
    /* Names have one to four bytes, lengths one to eight, and nothing is longer than what it is in. */
    const int64_t elements[] = {seek, cluster, block, cues};
    const int names[] = {4, 4, 1, 4};
    for (int i = 0; i < 4; ++i) {
        const uint8_t name = made[elements[i]], length = made[elements[i] + names[i]];
        made[elements[i]] = 7;
        assert_int_equal(torn(), elements[i]);
        made[elements[i]] = name;
        made[elements[i] + names[i]] = 0;
        assert_int_equal(torn(), elements[i]);
        made[elements[i] + names[i]] = length;
        assert_int_equal(torn_with(elements[i] + names[i] + 5, 0x80), elements[i]);
    }
    set_big(cues + 4, UINT64_C(1) << 56 | 4, 8); /* one byte too many */
    assert_int_equal(torn(), cues);
    set_big(cues + 4, UINT64_C(0x01ffffffffffffff),
            8); /* a length that is not known, and thus the last element */
    assert_int_equal(torn(), -1);
}

/* The elements of a cluster of unknown length count as following it. */
static void clusters_of_unknown_length(void **state) {
    (void)state;
    const int64_t segment = begin_matroska();
    put("\x1f\x43\xb6\x75\xff", 5);
    const int64_t block = put_element(0xa3, 1, 12);
    const int64_t next = put_element(0x1f43b675, 4, 0);
    end_element(segment, 4);
    assert_int_equal(torn(), -1);
    made[block] = 1;
    assert_int_equal(torn(), block);
    made[block] = 0xa3;
    made[next] = 2;
    assert_int_equal(torn(), next);
}

/* ---- FLV ---- */

static int64_t put_tag(uint8_t kind, size_t content) {
    const int64_t at = put(&kind, 1);
    put_big(content, 3);
    put_content(7 + content);
    put_big(11 + content, 4);
    return at;
}

static void damage_of_flv(void **state) {
    (void)state;
    for (uint64_t head = 9; head <= 300; head += 291) {
        made_size = 0;
        put("FLV\1\5", 5);
        put_big(head, 4);
        put_content((size_t)head - 9);
        put_big(0, 4);
        const int64_t tags[] = {put_tag(18, 3), put_tag(9, 70000), put_tag(8, 0), put_tag(9 | 0x20, 300)};
        assert_int_equal(torn(), -1);
        for (int i = 0; i < 4; ++i)
            for (int kind = 0; kind < 256; kind += i == 0 ? 1 : 3) {
                const uint8_t is = made[tags[i]], plain = (uint8_t)kind & 0xdf;
                made[tags[i]] = (uint8_t)kind;
                assert_int_equal(torn(), plain == 8 || plain == 9 || plain == 18 ? -1 : tags[i]);
                made[tags[i]] = is;
            }
        assert_false(is_cut_at(made_size - 1)); /* nothing tells where it ends */
    }
    made[3] = 2; /* another version */
    made[made_size - 311 - 4] = 0;
    assert_int_equal(torn(), -1);
}

/* ---- No video ---- */

static void what_is_no_file(void **state) {
    int64_t number;
    (void)state;
    assert_false(video_is_cut(io_path("none"), &number));
    assert_false(video_is_torn(io_path("none"), &number));
    assert_false(video_is_cut(io_folder, &number));
    assert_int_equal(mkfifo(io_path("pipe"), 0600), 0);
    assert_false(video_is_cut(io_path("pipe"), &number)); /* and does not wait for who writes it */
    assert_false(video_is_torn(io_path("pipe"), &number));
    made_size = 0;
    for (int i = 0; i < 20; ++i) {
        assert_false(is_cut_at(made_size));
        assert_int_equal(torn(), -1);
        put_content(1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        io_test(cuts_of_mp4),
        io_test(boxes_that_begin_an_mp4),
        io_test(cuts_of_avi),
        io_test(damage_of_avi),
        io_test(damage_behind_an_odd_part),
        io_test(avi_without_padding),
        io_test(cuts_and_damage_of_ogg),
        io_test(long_pages_of_ogg),
        io_test(short_pages_of_ogg),
        io_test(cuts_of_matroska),
        io_test(damage_of_matroska),
        io_test(clusters_of_unknown_length),
        io_test(damage_of_flv),
        io_test(what_is_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
