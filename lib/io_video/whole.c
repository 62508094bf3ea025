/* SPDX-License-Identifier: Apache-2.0 */
#include "io_video/whole.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Parts of one file, of which a fragmented MP4 has one for each second or so. */
enum { PARTS_MAX = 1 << 20 };

/* An Ogg page has a header of 27 bytes, up to 255 lengths, and so many times 255 bytes. */
enum { PAGE_MAX = 27 + 255 + 255 * 255 };

typedef struct file {
    int descriptor;
    int64_t size;
} file;

/* False where the file has no such bytes. */
static bool read_at(const file *from, int64_t at, uint8_t *bytes, size_t size) {
    return at >= 0 && at <= from->size && pread(from->descriptor, bytes, size, (off_t)at) == (ssize_t)size;
}

static uint64_t big(const uint8_t *bytes, int count) {
    uint64_t value = 0;
    for (int i = 0; i < count; ++i) value = value << 8 | bytes[i];
    return value;
}

static uint64_t little32(const uint8_t *bytes) {
    return bytes[0] | (uint64_t)bytes[1] << 8 | (uint64_t)bytes[2] << 16 | (uint64_t)bytes[3] << 24;
}

/* ISO/IEC 14496-12: boxes, each of a length and four letters; length 1: it has 64 bits behind the letters; 0: to the end. */
static bool is_mp4_cut(const file *from) {
    uint8_t head[16];
    int64_t at = 0;
    for (int i = 0; i < PARTS_MAX && at < from->size; ++i) {
        if (!read_at(from, at, head, 8)) return true;
        uint64_t length = big(head, 4);
        if (length == 1 && !read_at(from, at, head, 16)) return true;
        if (length == 1) length = big(head + 8, 8);
        if (length < 8) return false; /* it goes to the end, or is none */
        if (length > (uint64_t)(from->size - at)) return true;
        at += (int64_t)length;
    }
    return false;
}

/* RIFF: chunks, of four letters and a length; a file of more than a GiB has several "RIFF". */
static bool is_avi_cut(const file *from) {
    uint8_t head[8];
    int64_t at = 0;
    for (int i = 0; i < PARTS_MAX && read_at(from, at, head, 8) && memcmp(head, "RIFF", 4) == 0; ++i) {
        const uint64_t length = little32(head + 4);
        if (length == 0 || length == UINT32_MAX) return false; /* its writer could not go back to tell */
        if (length > (uint64_t)(from->size - at - 8)) return true;
        at += 8 + (int64_t)(length + (length & 1));
    }
    return false;
}

/* A number of EBML (RFC 8794): the zeros before its first one tell how many bytes it has. Returns how many; 0: none. All ones
 * stand for "not known", *value is UINT64_MAX then. */
static int ebml_number(const uint8_t *bytes, uint64_t *value) {
    int count = 1;
    while (count <= 8 && (bytes[0] & 0x80 >> (count - 1)) == 0) ++count;
    if (count > 8) return 0;
    const uint64_t mask = ((uint64_t)1 << 7 * count) - 1;
    *value = big(bytes, count) & mask;
    if (*value == mask) *value = UINT64_MAX;
    return count;
}

/* The header, and behind it the segment (RFC 9559), which is all. */
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

/* RFC 3533: the last page says that it is the last one. */
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

bool video_is_cut(const char *path, int64_t *size) {
    struct stat info;
    /* What is no ordinary file is not opened: it may wait for its other end. */
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    const file from = {open(path, O_RDONLY | O_CLOEXEC), info.st_size};
    if (from.descriptor < 0) return false;
    const bool cut = is_cut(&from);
    close(from.descriptor);
    *size = from.size;
    return cut;
}
