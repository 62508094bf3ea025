/* SPDX-License-Identifier: Apache-2.0 */
#include "io_video/whole.h"

#include <stddef.h>
#include <string.h>

#include "platform/file.h"

/* The most parts of a file that are looked at. A fragmented MP4 has one for each second or so. */
enum { PARTS_MAX = 1 << 20 };

/* The longest page of Ogg: a header of 27 bytes, 255 lengths, and up to 255 bytes for each of these. */
enum { PAGE_MAX = 27 + 255 + 255 * 255 };

typedef struct file {
    int descriptor;
    int64_t size;
} file;

/* Reads bytes of the file. Returns false if the file does not have all of them. */
static bool read_at(const file *from, int64_t at, uint8_t *bytes, size_t size) {
    return at >= 0 && at <= from->size && tvlm_file_seek(from->descriptor, (uint64_t)at) &&
           tvlm_file_get(from->descriptor, bytes, size) == (int64_t)size;
}

static uint64_t big(const uint8_t *bytes, int count) {
    uint64_t value = 0;
    for (int i = 0; i < count; ++i) value = value << 8 | bytes[i];
    return value;
}

static uint64_t little32(const uint8_t *bytes) {
    return bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 | (uint64_t)bytes[3] << 24;
}

/* ISO/IEC 14496-12: the file consists of boxes, each of which begins with its length and four letters. A
 * length of 1 means that the length has 64 bits and follows the letters. A length of 0 means that the box
 * goes to the end. */
static bool is_mp4_cut(const file *from) {
    uint8_t head[16];
    int64_t at = 0;
    for (int i = 0; i < PARTS_MAX && at < from->size; ++i) {
        if (!read_at(from, at, head, 8)) return true;
        uint64_t length = big(head, 4);
        if (length == 1 && !read_at(from, at, head, 16)) return true;
        if (length == 1) length = big(head + 8, 8);
        if (length < 8) return false; /* the box goes to the end, or is not a box */
        if (length > (uint64_t)(from->size - at)) return true;
        at += (int64_t)length;
    }
    return false;
}

/* RIFF: the file is a chunk "RIFF", which begins with these four letters and its length. A file of more than
 * a GiB has several such chunks. */
static bool is_avi_cut(const file *from) {
    uint8_t head[8];
    int64_t at = 0;
    for (int i = 0; i < PARTS_MAX && read_at(from, at, head, 8) && memcmp(head, "RIFF", 4) == 0; ++i) {
        const uint64_t length = little32(head + 4);
        /* Such a length says that the writer could not go back to set it. */
        if (length == 0 || length == UINT32_MAX) return false;
        if (length > (uint64_t)(from->size - at - 8)) return true;
        at += 8 + (int64_t)(length + (length & 1));
    }
    return false;
}

/* Reads a number of EBML (RFC 8794). The zero bits before its first one tell how many bytes it has. Returns
 * how many bytes these are, or 0 if there is no number. If all its bits are ones, the value is "not known",
 * and *value is UINT64_MAX. */
static int ebml_number(const uint8_t *bytes, uint64_t *value) {
    int count = 1;
    while (count <= 8 && (bytes[0] & 0x80 >> (count - 1)) == 0) ++count;
    if (count > 8) return 0;
    const uint64_t mask = ((uint64_t)1 << 7 * count) - 1;
    *value = big(bytes, count) & mask;
    if (*value == mask) *value = UINT64_MAX;
    return count;
}

/* RFC 9559: the file is a header, and then one segment, which contains all the rest. */
static bool is_matroska_cut(const file *from) {
    uint8_t head[12] = {0};
    uint64_t length;
    if (!read_at(from, 0, head, sizeof head)) return false;
    int count = ebml_number(head + 4, &length);
    if (count == 0 || length > (uint64_t)from->size) return false;
    const int64_t segment = 4 + count + (int64_t)length;
    if (!read_at(from, segment, head, sizeof head) || big(head, 4) != 0x18538067) return false;
    count = ebml_number(head + 4, &length);
    return count != 0 && length != UINT64_MAX && length > (uint64_t)(from->size - segment - 4 - count);
}

/* RFC 3533: a complete file ends with a page that says that it is the last one. */
static bool is_ogg_cut(const file *from) {
    static _Thread_local uint8_t tail[PAGE_MAX];
    const size_t size = from->size < PAGE_MAX ? (size_t)from->size : PAGE_MAX;
    if (!read_at(from, from->size - (int64_t)size, tail, size)) return false;
    for (size_t at = size < 27 ? 0 : size - 27 + 1; at-- > 0;) {
        if (memcmp(tail + at, "OggS", 4) != 0) continue;
        size_t end = at + 27 + tail[at + 26];
        for (size_t i = at + 27; i < at + 27 + tail[at + 26] && i < size; ++i) end += tail[i];
        return end > size || (tail[at + 5] & 4) == 0;
    }
    return true;
}

static bool is_cut(const file *from) {
    static const char *const boxes[] = {"ftyp", "moov", "mdat", "free", "skip",
                                        "wide", "styp", "moof", "pnot"};
    uint8_t head[12];
    if (!read_at(from, 0, head, sizeof head)) return false;
    if (memcmp(head, "\x1a\x45\xdf\xa3", 4) == 0) return is_matroska_cut(from);
    if (memcmp(head, "RIFF", 4) == 0 && memcmp(head + 8, "AVI", 3) == 0) return is_avi_cut(from);
    if (memcmp(head, "OggS", 4) == 0) return is_ogg_cut(from);
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; ++i)
        if (memcmp(head + 4, boxes[i], 4) == 0) return is_mp4_cut(from);
    return false;
}

/* ---- From part to part ---- */

/*
 * These functions go from part to part. They return the first place where what follows cannot be a part of
 * the container, or -1 if there is none. At such a place, FFmpeg looks for the next part, and does not report
 * the frames that it has skipped.
 */

/* Returns whether a cluster of Matroska begins with a checksum (RFC 8794, CRC-32) that is not that of its
 * content. */
static bool has_wrong_checksum(const file *from, int64_t at, int64_t length) {
    static _Thread_local uint8_t bytes[65536];
    uint32_t table[256], sum = UINT32_MAX;
    uint8_t head[6];
    if (length < 6 || !read_at(from, at, head, sizeof head) || head[0] != 0xbf || head[1] != 0x84)
        return false;
    for (uint32_t i = 0; i < 256; ++i) {
        table[i] = i;
        for (int bit = 0; bit < 8; ++bit) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0u);
    }
    const int64_t end = at + length;
    for (at += 6; at < end;) {
        const size_t size = end - at < (int64_t)sizeof bytes ? (size_t)(end - at) : sizeof bytes;
        if (!read_at(from, at, bytes, size)) return false;
        for (size_t i = 0; i < size; ++i) sum = sum >> 8 ^ table[(sum ^ bytes[i]) & 0xff];
        at += (int64_t)size;
    }
    return (sum ^ UINT32_MAX) != (uint32_t)little32(head + 2);
}

/* Goes through elements of EBML: those of the segment and, if `clusters` is set, also those in each cluster.
 * A cluster of unknown length is taken for an empty one, so that its elements count as following it. */
static int64_t wrong_element(const file *from, int64_t at, int64_t end, bool clusters) {
    while (at < end) {
        uint8_t head[12] = {0};
        uint64_t length = 0;
        int name = 1, count = 0;
        (void)read_at(from, at, head, from->size - at < 12 ? (size_t)(from->size - at) : sizeof head);
        while (name <= 4 && (head[0] & 0x80 >> (name - 1)) == 0) ++name;
        if (name <= 4) count = ebml_number(head + name, &length);
        if (count == 0) return at;
        const bool cluster = clusters && big(head, 4) == 0x1f43b675;
        const int64_t inside = at + name + count;
        if (length == UINT64_MAX && !cluster) return -1; /* nothing tells where the element ends */
        if (length == UINT64_MAX) length = 0;
        if (length > (uint64_t)(end - inside)) return at;
        const int64_t wrong = cluster ? wrong_element(from, inside, inside + (int64_t)length, false) : -1;
        if (wrong >= 0) return wrong;
        if (cluster && has_wrong_checksum(from, inside, (int64_t)length)) return at;
        at = inside + (int64_t)length;
    }
    return -1;
}

static int64_t wrong_in_matroska(const file *from) {
    uint8_t head[12] = {0};
    uint64_t length;
    if (!read_at(from, 0, head, sizeof head)) return -1;
    int count = ebml_number(head + 4, &length);
    if (count == 0 || length > (uint64_t)from->size) return -1;
    const int64_t segment = 4 + count + (int64_t)length;
    if (!read_at(from, segment, head, sizeof head) || big(head, 4) != 0x18538067) return -1;
    count = ebml_number(head + 4, &length);
    const int64_t inside = segment + 4 + count;
    if (count == 0 || length > (uint64_t)(from->size - inside)) return -1;
    return wrong_element(from, inside, inside + (int64_t)length, true);
}

static bool are_letters(const uint8_t *four) {
    for (int i = 0; i < 4; ++i)
        if (four[i] < ' ' || four[i] > '~') return false;
    return true;
}

/* Goes through chunks of RIFF, and through the chunks in the lists that hold frames. */
static int64_t wrong_chunk(const file *from, int64_t at, int64_t end, int depth) {
    uint8_t head[12];
    bool odd = false;
    while (end - at >= 12 && read_at(from, at, head, sizeof head)) {
        if (odd && !are_letters(head)) { /* some writers leave out the padding byte after an odd length */
            --at;
            if (!read_at(from, at, head, sizeof head)) return -1;
        }
        const uint64_t length = little32(head + 4);
        const bool list = memcmp(head, "LIST", 4) == 0;
        if (!are_letters(head) || length > (uint64_t)(end - at - 8)) return at;
        if (list && length < 4) return -1; /* the writer could not go back to set the length */
        if (list && depth > 0 && (memcmp(head + 8, "movi", 4) == 0 || memcmp(head + 8, "rec ", 4) == 0)) {
            const int64_t wrong = wrong_chunk(from, at + 12, at + 8 + (int64_t)length, depth - 1);
            if (wrong >= 0) return wrong;
        }
        odd = (length & 1) != 0;
        at += 8 + (int64_t)length + odd;
    }
    return -1;
}

static int64_t wrong_in_avi(const file *from) {
    uint8_t head[8];
    int64_t at = 0, wrong = -1;
    for (int i = 0; i < PARTS_MAX && wrong < 0 && read_at(from, at, head, 8) && memcmp(head, "RIFF", 4) == 0;
         ++i) {
        const uint64_t length = little32(head + 4);
        if (length == 0 || length > (uint64_t)(from->size - at - 8)) return -1;
        wrong = wrong_chunk(from, at + 12, at + 8 + (int64_t)length, 2);
        at += 8 + (int64_t)(length + (length & 1));
    }
    return wrong;
}

/* Returns Ogg's checksum of a page. The four bytes of the page that hold the checksum count as 0. */
static uint32_t page_checksum(const uint8_t *page, size_t size) {
    uint32_t table[256], sum = 0;
    for (uint32_t i = 0; i < 256; ++i) {
        table[i] = i << 24;
        for (int bit = 0; bit < 8; ++bit) table[i] = table[i] << 1 ^ (table[i] >> 31 ? 0x04c11db7u : 0u);
    }
    for (size_t i = 0; i < size; ++i) {
        const uint32_t byte = i >= 22 && i < 26 ? 0 : page[i];
        sum = sum << 8 ^ table[(sum >> 24 ^ byte) & 0xff];
    }
    return sum;
}

static int64_t wrong_in_ogg(const file *from) {
    static _Thread_local uint8_t page[PAGE_MAX];
    for (int64_t at = 0; at < from->size;) {
        size_t size = from->size - at < PAGE_MAX ? (size_t)(from->size - at) : PAGE_MAX, length = 0;
        if (!read_at(from, at, page, size)) return -1;
        if (size >= 27 && memcmp(page, "OggS", 4) == 0) length = 27 + (size_t)page[26];
        for (size_t i = 27, end = length; i < end && i < size; ++i) length += page[i];
        if (length == 0 || length > size || page_checksum(page, length) != (uint32_t)little32(page + 22))
            return at;
        at += (int64_t)length;
    }
    return -1;
}

/* FLV: the file consists of tags. A tag has a byte for its kind (sound, pictures or data), 24 bits of length,
 * 7 bytes, the content, and 4 bytes that repeat the length. */
static int64_t wrong_in_flv(const file *from) {
    uint8_t head[11];
    if (!read_at(from, 0, head, 9)) return -1;
    int64_t at = (int64_t)big(head + 5, 4) + 4;
    while (read_at(from, at, head, sizeof head)) {
        const int kind = head[0] & ~0x20; /* without the bit that says that the tag is encrypted */
        if (kind != 8 && kind != 9 && kind != 18) return at;
        at += 11 + (int64_t)big(head + 1, 3) + 4;
    }
    return -1;
}

static int64_t wrong_in(const file *from) {
    uint8_t head[12];
    if (!read_at(from, 0, head, sizeof head)) return -1;
    if (memcmp(head, "\x1a\x45\xdf\xa3", 4) == 0) return wrong_in_matroska(from);
    if (memcmp(head, "RIFF", 4) == 0 && memcmp(head + 8, "AVI", 3) == 0) return wrong_in_avi(from);
    if (memcmp(head, "OggS", 4) == 0) return wrong_in_ogg(from);
    if (memcmp(head, "FLV\1", 4) == 0) return wrong_in_flv(from);
    return -1;
}

/* ---- whole.h ---- */

/* Opens an ordinary file. Anything else is not opened, since that may wait for another process. */
static bool open_file(const char *path, file *from) {
    tvlm_file_facts facts;
    if (!tvlm_path_facts(path, &facts) || !facts.ordinary) return false;
    *from = (file){tvlm_file_open(path, false), (int64_t)facts.size};
    return from->descriptor >= 0;
}

bool video_is_cut(const char *path, int64_t *size) {
    file from;
    if (!open_file(path, &from)) return false;
    const bool cut = is_cut(&from);
    (void)tvlm_file_close(from.descriptor);
    *size = from.size;
    return cut;
}

bool video_is_torn(const char *path, int64_t *at) {
    file from;
    if (!open_file(path, &from)) return false;
    *at = wrong_in(&from);
    (void)tvlm_file_close(from.descriptor);
    return *at >= 0;
}
