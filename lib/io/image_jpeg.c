/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_jpeg.c: checks that a JPEG is complete, and finds its orientation.
 *
 * The markers are those of ITU-T T.81, Annex B: an FF byte and one that is neither 0 nor FF.
 */
#include <string.h>

#include "io/exif.h"
#include "io/picture.h"

enum { marker_dht = 0xC4, marker_soi = 0xD8, marker_eoi = 0xD9, marker_sos = 0xDA, marker_app1 = 0xE1 };

enum { components_max = 4 };

struct walk {
    const tvlm_io_source *source;
    size_t at;
    /* The number of scans, where the last one ends, and how many restart markers it has. */
    size_t scans, scan_end, restarts;
    uint8_t component[components_max];
    size_t components;
    unsigned scanned;     /* has a bit for each component of which there was a scan */
    size_t entropy_bytes; /* entropy-coded bytes of all scans so far */
    uint64_t pixels;      /* the pixels of the frame; 0 before its header */
    uint64_t blocks;      /* the 8x8 blocks of all its components */
    int orientation;      /* 0 if there was none so far */
};

static tvlm_status damaged(const struct walk *walk, const char *what) {
    return tvlm_fail(walk->source->log, TVLM_ERROR_FORMAT, "%s is a damaged JPEG: %s", walk->source->path,
                     what);
}

static tvlm_status truncated(const struct walk *walk) {
    return tvlm_fail(walk->source->log, TVLM_ERROR_FORMAT,
                     "%s is a truncated JPEG: it ends after %zu bytes without an end marker",
                     walk->source->path, walk->source->size);
}

/* The markers of frame headers are C0 to CF, except for C4 and CC, which are tables, and C8, which is
 * reserved. */
static bool is_frame(int marker) {
    return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

static bool is_restart(int marker) {
    return marker >= 0xD0 && marker <= 0xD7;
}

/* Returns whether a marker has no segment. These are the restart markers and TEM. */
static bool stands_alone(int marker) {
    return is_restart(marker) || marker == 0x01;
}

/* Returns the next marker, and moves behind it. As in decoders, whatever is before the marker is skipped.
 * Returns -1 at the end of the file. */
static int next_marker(struct walk *walk) {
    const uint8_t *bytes = walk->source->bytes;
    size_t size = walk->source->size;
    while (walk->at < size) {
        const uint8_t *found = memchr(bytes + walk->at, 0xFF, size - walk->at);
        if (found == NULL) break;
        walk->at = (size_t)(found - bytes) + 1;
        while (walk->at < size && bytes[walk->at] == 0xFF) walk->at++;
        if (walk->at < size && bytes[walk->at] != 0) return bytes[walk->at++];
    }
    return -1;
}

/* Moves to the marker that ends a scan. In entropy-coded data, an FF byte is followed by 0, or is part of a
 * restart marker. */
static void skip_scan(struct walk *walk) {
    size_t begin = walk->at, end;
    int marker;
    walk->restarts = 0;
    do {
        marker = next_marker(walk);
        end = walk->at;
        if (is_restart(marker)) walk->restarts++;
    } while (marker >= 0 && stands_alone(marker));
    if (marker >= 0) end = walk->at -= 2;
    walk->scan_end = end;
    walk->entropy_bytes += end - begin;
}

/*
 * Counts the 8x8 blocks of all components. Along its sides, a component has h / h_max and v / v_max times as
 * many samples as the frame (T.81, A.1.1).
 */
static void count_blocks(struct walk *walk, const uint8_t *frame) {
    const uint64_t height = tvlm_io_be16(frame + 1), width = tvlm_io_be16(frame + 3);
    const uint8_t *const factors = frame + 7; /* of the first component; each further one is 3 bytes on */
    uint64_t h_max = 1, v_max = 1;
    for (size_t i = 0; i < walk->components; i++) {
        const uint64_t h = factors[3 * i] >> 4, v = factors[3 * i] & 15;
        if (h > h_max) h_max = h;
        if (v > v_max) v_max = v;
    }
    walk->blocks = 0;
    for (size_t i = 0; i < walk->components; i++) {
        const uint64_t h = factors[3 * i] >> 4, v = factors[3 * i] & 15;
        walk->blocks += (width * h / h_max + 7) / 8 * ((height * v / v_max + 7) / 8);
    }
    walk->pixels = width * height;
}

static tvlm_status read_frame(struct walk *walk, int marker, const uint8_t *segment, size_t size) {
    if (size < 6) return damaged(walk, "its frame header is too short");
    if (marker > 0xC2 || segment[0] != 8)
        return tvlm_fail(walk->source->log, TVLM_ERROR_UNSUPPORTED,
                         "%s is a JPEG of a kind that is not supported (process %d, %d bits)",
                         walk->source->path, marker - 0xC0, segment[0]);
    walk->components = segment[5];
    if (walk->components == 0 || walk->components > components_max || size < 6 + 3 * walk->components)
        return damaged(walk, "its frame header does not describe 1 to 4 components");
    for (size_t i = 0; i < walk->components; i++) walk->component[i] = segment[6 + 3 * i];
    walk->scanned = 0;
    count_blocks(walk, segment);
    return TVLM_OK;
}

/* Reads a scan, which has some of the frame's components, or all. */
static tvlm_status read_scan(struct walk *walk, const uint8_t *segment, size_t size) {
    if (size < 1 || size < 1 + 2 * (size_t)segment[0]) return damaged(walk, "a scan header is too short");
    if (++walk->scans > TVLM_IO_JPEG_SCANS_MAX)
        return tvlm_fail(walk->source->log, TVLM_ERROR_UNSUPPORTED, "%s is a JPEG of more than %d scans",
                         walk->source->path, TVLM_IO_JPEG_SCANS_MAX);
    for (size_t i = 0; i < segment[0]; i++)
        for (size_t k = 0; k < walk->components; k++)
            if (walk->component[k] == segment[1 + 2 * i]) walk->scanned |= 1u << k;
    skip_scan(walk);
    return TVLM_OK;
}

/*
 * Checks Huffman tables. A table has a byte for its class and number, then for each length 1..16 a byte for
 * the number of its codes, and then a byte for each code. stb_image would write beyond its own tables if
 * there were more than 256 codes.
 */
static tvlm_status check_tables(const struct walk *walk, const uint8_t *segment, size_t size) {
    while (size > 0) {
        size_t codes = 0;
        if (size < 17) return damaged(walk, "a Huffman table is cut off");
        for (int length = 1; length <= 16; length++) codes += segment[length];
        if (codes > 256 || codes > size - 17) return damaged(walk, "a Huffman table has too many codes");
        segment += 17 + codes;
        size -= 17 + codes;
    }
    return TVLM_OK;
}

/* Reads the orientation of an EXIF segment. Only the first one counts: a second one would be left by an
 * editor. */
static void read_app1(struct walk *walk, const uint8_t *segment, size_t size) {
    if (walk->orientation != 0 || size < 6 || memcmp(segment, "Exif\0", 6) != 0) return;
    walk->orientation = tvlm_io_exif_orientation(segment + 6, size - 6);
}

static tvlm_status read_segment(struct walk *walk, int marker) {
    const tvlm_io_source *source = walk->source;
    if (source->size - walk->at < 2) return truncated(walk);
    size_t length = tvlm_io_be16(source->bytes + walk->at);
    if (length < 2) return damaged(walk, "a segment is shorter than its own length");
    if (source->size - walk->at < length) return truncated(walk);
    const uint8_t *segment = source->bytes + walk->at + 2;
    walk->at += length;
    if (marker == marker_app1) read_app1(walk, segment, length - 2);
    if (marker == marker_dht) return check_tables(walk, segment, length - 2);
    if (is_frame(marker)) return read_frame(walk, marker, segment, length - 2);
    return marker == marker_sos ? read_scan(walk, segment, length - 2) : TVLM_OK;
}

/*
 * Returns whether the file has enough data for its size in pixels. Every 8x8 block of every component takes
 * at least one bit, which is the code of its mean. A file of fewer bits claims more pixels than it has.
 */
static bool enough_data(const struct walk *walk) {
    return walk->entropy_bytes > 0 && walk->blocks / 8 <= walk->entropy_bytes;
}

tvlm_status tvlm_io_check_jpeg(const tvlm_io_source *source, tvlm_io_findings *findings) {
    struct walk walk = {.source = source};
    int marker = next_marker(&walk);
    if (marker != marker_soi) return damaged(&walk, "it has no start marker");
    while ((marker = next_marker(&walk)) != marker_eoi) {
        if (marker < 0) return truncated(&walk);
        if (stands_alone(marker) || marker == marker_soi) continue;
        tvlm_status status = read_segment(&walk, marker);
        if (status != TVLM_OK) return status;
    }
    if (walk.pixels == 0) return damaged(&walk, "it has no frame, or one without pixels");
    if (!enough_data(&walk)) return damaged(&walk, "it has too few bytes for its size in pixels");
    if (walk.scanned != (1u << walk.components) - 1) return damaged(&walk, "a component has no scan");
    findings->orientation = walk.orientation != 0 ? walk.orientation : 1;
    findings->scan_end = walk.scan_end;
    findings->restarts = walk.restarts;
    return TVLM_OK;
}
