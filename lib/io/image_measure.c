/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_measure.c: reads the sizes of pictures from their headers. It also computes how much memory
 * decoding takes at most with the libraries of this build.
 */
#include <string.h>

#include "io/exif.h"
#include "io/picture.h"

/* The memory that does not grow with the number of pixels: tables, and some rows for each of four
 * components. */
#define FIXED(width) (((uint64_t)1 << 18) + 256 * (uint64_t)(width))

uint64_t tvlm_io_extent_bytes(const tvlm_io_extent *extent, uint64_t count) {
    const uint64_t pixels = (uint64_t)extent->width * extent->height; /* 32 bits each, so no overflow */
    const uint64_t most = UINT64_MAX >> 4;                            /* so that a few can be added up */
    return pixels > most / count ? most : pixels * count;
}

/* ---- JPEG ---- */

unsigned tvlm_io_jpeg_denominator(uint32_t width, uint32_t height, int32_t max_side) {
    enum { largest = 8 }; /* libjpeg decodes at 1/8 .. 8/8; 1/1, 1/2, 1/4 and 1/8 are the fast ones */
    const uint32_t longer = width > height ? width : height;
    unsigned denominator = max_side > 0 ? largest : 1;
    while (denominator > 1 && longer / denominator < (uint32_t)max_side) denominator /= 2;
    return denominator;
}

enum { jpeg_app1 = 0xE1, jpeg_sos = 0xDA, components_max = 4 };

typedef struct jpeg_frame {
    uint32_t width, height;
    int components;
    uint64_t blocks; /* the blocks of 8 x 8 samples in all components */
    bool progressive;
    int orientation;
} jpeg_frame;

static void read_frame(const uint8_t *content, size_t size, bool progressive, jpeg_frame *frame) {
    const int count = size > 5 ? content[5] : 0;
    int widest = 1, highest = 1;
    if (count < 1 || count > components_max || size < 6 + 3 * (size_t)count) return;
    frame->height = tvlm_io_be16(content + 1);
    frame->width = tvlm_io_be16(content + 3);
    frame->components = count;
    frame->progressive = progressive;
    for (int i = 0; i < count; i++) {
        const int across = content[7 + 3 * i] >> 4, down = content[7 + 3 * i] & 15;
        if (across > widest) widest = across;
        if (down > highest) highest = down;
    }
    /* The frame is divided into whole units. Each unit has as many blocks of a component as the component's
     * factors say. */
    const uint64_t columns = (frame->width + 8u * (unsigned)widest - 1) / (8u * (unsigned)widest),
                   rows = (frame->height + 8u * (unsigned)highest - 1) / (8u * (unsigned)highest);
    frame->blocks = 0;
    for (int i = 0; i < count; i++)
        frame->blocks += columns * rows * (unsigned)(content[7 + 3 * i] >> 4) * (content[7 + 3 * i] & 15u);
}

/* Reads all up to the first scan. Returns false if there is no scan. */
static bool read_jpeg(const tvlm_io_source *source, jpeg_frame *frame) {
    const uint8_t *const bytes = source->bytes;
    for (size_t at = 2; at + 4 <= source->size;) {
        const int marker = bytes[at + 1];
        if (bytes[at] != 0xFF || marker == 0xFF || marker == 0 || (marker >= 0xD0 && marker <= 0xD8) ||
            marker == 1) {
            at += bytes[at] == 0xFF && marker != 0xFF ? 2 : 1;
            continue;
        }
        const size_t size = tvlm_io_be16(bytes + at + 2), left = source->size - at - 2;
        const uint8_t *const content = bytes + at + 4;
        if (size < 2 || size > left) return false;
        if (marker >= 0xC0 && marker <= 0xC2) read_frame(content, size - 2, marker == 0xC2, frame);
        if (marker == jpeg_app1 && size >= 8 && memcmp(content, "Exif\0", 6) == 0 && frame->orientation == 0)
            frame->orientation = tvlm_io_exif_orientation(content + 6, size - 8);
        if (marker == jpeg_sos) {
            if (size > 2 && content[0] < frame->components) frame->progressive = true; /* more scans follow */
            return frame->components > 0;
        }
        at += 2 + size;
    }
    return false;
}

void tvlm_io_measure_jpeg(const tvlm_io_source *source, tvlm_io_extent *extent) {
    jpeg_frame frame = {0};
    if (!read_jpeg(source, &frame) || frame.width == 0 || frame.height == 0) return;
    extent->width = frame.width;
    extent->height = frame.height;
    const uint64_t channels = frame.components < 3 ? (uint64_t)frame.components : 3;
#ifdef TVLM_WITH_LIBJPEG
    const unsigned part = tvlm_io_jpeg_denominator(frame.width, frame.height, source->max_side);
    const tvlm_io_extent out = {.width = (frame.width + part - 1) / part,
                                .height = (frame.height + part - 1) / part};
    /* libjpeg keeps the coefficients of all blocks, 64 of two bytes each, until the last scan. */
    const uint64_t kept = frame.progressive ? frame.blocks * 128 : 0;
#else
    const tvlm_io_extent out = *extent;
    /* stb_image keeps the planes and a copy of the file; for a progressive picture, also the coefficients. How large
     * the file is, its beginning does not tell. */
    if (source->part) return;
    const uint64_t kept = frame.blocks * (frame.progressive ? 192 : 64) + source->size;
#endif
    const uint64_t pixels = tvlm_io_extent_bytes(&out, channels);
    extent->memory = pixels * (frame.orientation > 1 ? 2 : 1) + kept + FIXED(frame.width);
}

/* ---- PNG ---- */

/* Finds whether chunks before the pixels make some of them transparent, and whether a chunk may turn the
 * picture. If the bytes end too early to know, the answer is true. */
static void read_chunks(const tvlm_io_source *source, bool *transparent, bool *turned) {
    bool pixels = false;
    *transparent = *turned = false;
    for (size_t at = 8; at + 12 <= source->size;) {
        const uint8_t *const bytes = source->bytes + at;
        const uint32_t size = tvlm_io_be32(bytes);
        const bool there = size <= source->size - at - 12;
        if (memcmp(bytes + 4, "tRNS", 4) == 0) *transparent = true;
        if (memcmp(bytes + 4, "IDAT", 4) == 0) pixels = true;
        if (memcmp(bytes + 4, "IEND", 4) == 0) return;
        if (memcmp(bytes + 4, "eXIf", 4) == 0)
            *turned = *turned || !there || tvlm_io_exif_orientation(bytes + 8, size) > 1;
        if (!there) break;
        at += (size_t)size + 12;
    }
    *transparent = *transparent || !pixels;
    *turned = true;
}

void tvlm_io_measure_png(const tvlm_io_source *source, tvlm_io_extent *extent) {
    static const unsigned channels[] = {1, 0, 3, 3, 2, 0, 4}; /* by colour type; a palette becomes 3 */
    const uint8_t *const bytes = source->bytes;
    bool transparent, turned;
    if (source->size < 33 || memcmp(bytes + 12, "IHDR", 4) != 0 || bytes[25] > 6 || channels[bytes[25]] == 0)
        return;
    extent->width = tvlm_io_be32(bytes + 16);
    extent->height = tvlm_io_be32(bytes + 20);
    read_chunks(source, &transparent, &turned);
    const unsigned deep = bytes[24] == 16 ? 2 : 1, color = bytes[25];
    const unsigned pixel = (channels[color] + (transparent && color < 4 ? 1 : 0)) * deep;
    const uint64_t pixels = tvlm_io_extent_bytes(extent, pixel);
#ifdef TVLM_WITH_LIBPNG
    const uint64_t kept = 0;
#else
    /* stb_image makes room for three things: the compressed data, for which it may double the room; the
     * inflated data; and the pixels to which these are expanded. How large the file is, its beginning does not
     * tell. */
    if (source->part) return;
    const uint64_t kept = 2 * (uint64_t)source->size + 4096 + tvlm_io_extent_bytes(extent, 24);
#endif
    extent->memory = pixels * (turned ? 2 : 1) + kept + FIXED(extent->width);
}

/* ---- BMP ---- */

void tvlm_io_measure_bmp(const tvlm_io_source *source, tvlm_io_extent *extent) {
    enum { core_header = 12 };
    const uint8_t *const bytes = source->bytes;
    if (source->size < 26) return;
    const bool core = tvlm_io_le32(bytes + 14) == core_header;
    const uint32_t height = core ? tvlm_io_le16(bytes + 20) : tvlm_io_le32(bytes + 22);
    extent->width = core ? tvlm_io_le16(bytes + 18) : tvlm_io_le32(bytes + 18);
    extent->height = height > INT32_MAX ? 0u - height : height;
    extent->memory = tvlm_io_extent_bytes(extent, 4) + FIXED(extent->width);
}

/* ---- WebP ---- */

/* Measures a picture, or the canvas of an animation. The orientation (EXIF) is at the end of the file. So the
 * memory is that of a picture that has to be turned. */
void tvlm_io_measure_webp(const tvlm_io_source *source, tvlm_io_extent *extent) {
    /* The pixels twice, the pixels of a lossless picture or frame as 32 bits, and a plane of alpha. */
    enum { pixel_bytes = 4 + 4 + 4 + 1 };
    const uint8_t *const bytes = source->bytes;
    if (source->size < 30) return;
    const uint32_t bits = tvlm_io_le32(bytes + 21);
    if (memcmp(bytes + 12, "VP8X", 4) == 0) {
        extent->width = 1 + (tvlm_io_le32(bytes + 23) >> 8);
        extent->height = 1 + (tvlm_io_le32(bytes + 26) >> 8);
    } else if (memcmp(bytes + 12, "VP8L", 4) == 0) {
        extent->width = 1 + (bits & 0x3FFF);
        extent->height = 1 + (bits >> 14 & 0x3FFF);
    } else if (memcmp(bytes + 12, "VP8 ", 4) == 0) {
        extent->width = tvlm_io_le16(bytes + 26) & 0x3FFF;
        extent->height = tvlm_io_le16(bytes + 28) & 0x3FFF;
    } else {
        return;
    }
    extent->memory = tvlm_io_extent_bytes(extent, pixel_bytes) + FIXED(extent->width);
}
