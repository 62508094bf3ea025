/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_bmp.c: checks that a BMP is complete. stb_image reads zeros beyond the end of the file. For an index
 * beyond the palette it reads whatever is on the stack.
 */
#include "io/picture.h"

enum { file_header = 14, core_header = 12, info_header = 40 };

struct bitmap {
    uint32_t offset; /* where the pixels begin */
    uint32_t header; /* bytes of the second header */
    uint32_t width, height, bits, compression;
    size_t stride; /* bytes from one row to the next */
};

static tvlm_status damaged(const tvlm_io_source *source, const char *what) {
    return tvlm_fail(source->log, TVLM_ERROR_FORMAT, "%s is a damaged BMP: %s", source->path, what);
}

static tvlm_status truncated(const tvlm_io_source *source) {
    return tvlm_fail(source->log, TVLM_ERROR_FORMAT, "%s is a truncated BMP: it ends after %zu bytes",
                     source->path, source->size);
}

/* Returns the absolute value of a height. A negative height means that the first row is on top. */
static uint32_t magnitude(uint32_t value) {
    return value > INT32_MAX ? 0u - value : value;
}

static tvlm_status read_headers(const tvlm_io_source *source, struct bitmap *bitmap) {
    const uint8_t *bytes = source->bytes;
    if (source->size < file_header + core_header) return truncated(source);
    bitmap->offset = tvlm_io_le32(bytes + 10);
    bitmap->header = tvlm_io_le32(bytes + 14);
    if (bitmap->header == core_header) {
        bitmap->width = tvlm_io_le16(bytes + 18);
        bitmap->height = tvlm_io_le16(bytes + 20);
        bitmap->bits = tvlm_io_le16(bytes + 24);
        return TVLM_OK;
    }
    if (bitmap->header < info_header) return damaged(source, "its header has an unknown length");
    if (source->size < file_header + info_header) return truncated(source);
    bitmap->width = tvlm_io_le32(bytes + 18);
    bitmap->height = magnitude(tvlm_io_le32(bytes + 22));
    bitmap->bits = tvlm_io_le16(bytes + 28);
    bitmap->compression = tvlm_io_le32(bytes + 30);
    return TVLM_OK;
}

static bool is_depth(uint32_t bits) {
    return bits == 1 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32;
}

/* Counts the colours of the palette as stb_image does: the palette is all that is between the headers and the
 * pixels. */
static size_t palette_colors(const struct bitmap *bitmap) {
    uint32_t used = file_header + bitmap->header, entry = 4;
    if (bitmap->header == core_header) used += 12, entry = 3; /* stb_image adds 12 bytes to it */
    return bitmap->offset > used ? (bitmap->offset - used) / entry : 0;
}

static bool indices_in_palette(const tvlm_io_source *source, const struct bitmap *bitmap) {
    size_t colors = palette_colors(bitmap);
    uint32_t bits = bitmap->bits, mask = (1u << bits) - 1;
    if (colors > mask) return true;
    for (uint32_t y = 0; y < bitmap->height; y++) {
        const uint8_t *row = source->bytes + bitmap->offset + y * bitmap->stride;
        for (uint64_t x = 0; x < bitmap->width; x++) {
            uint32_t shift = 8 - bits - (uint32_t)(x * bits % 8);
            if (((uint32_t)row[x * bits / 8] >> shift & mask) >= colors) return false;
        }
    }
    return true;
}

tvlm_status tvlm_io_check_bmp(const tvlm_io_source *source) {
    struct bitmap bitmap = {0};
    tvlm_status status = read_headers(source, &bitmap);
    if (status != TVLM_OK) return status;
    if (bitmap.width == 0 || bitmap.height == 0) return damaged(source, "it has no pixels");
    if (bitmap.width > TVLM_IO_SIDE_MAX || bitmap.height > TVLM_IO_SIDE_MAX)
        return damaged(source, "its size is out of range");
    if (bitmap.compression != 0 && bitmap.compression != 3)
        return tvlm_fail(source->log, TVLM_ERROR_UNSUPPORTED,
                         "%s is a compressed BMP, which is not supported", source->path);
    if (!is_depth(bitmap.bits)) return damaged(source, "its bits per pixel are out of range");
    uint64_t row_bits = (uint64_t)bitmap.width * bitmap.bits;
    bitmap.stride = (size_t)((row_bits + 31) / 32 * 4);
    /* The padding of the last row may be missing. */
    uint64_t needed = bitmap.offset + (bitmap.height - 1ull) * bitmap.stride + (row_bits + 7) / 8;
    if (needed > source->size) return truncated(source);
    if (bitmap.bits <= 8 && !indices_in_palette(source, &bitmap))
        return damaged(source, "a pixel is not in its palette");
    return TVLM_OK;
}
