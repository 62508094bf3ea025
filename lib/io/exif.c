/* SPDX-License-Identifier: Apache-2.0 */
#include "io/exif.h"

#include <stdbool.h>

#include "io/bytes.h"

enum { orientation_tag = 0x0112, type_short = 3, entry_size = 12 };

struct tiff {
    const uint8_t *bytes;
    size_t size;
    bool big_endian;
};

static uint32_t read16(const struct tiff *tiff, size_t at) {
    return tiff->big_endian ? tvlm_io_be16(tiff->bytes + at) : tvlm_io_le16(tiff->bytes + at);
}

static uint32_t read32(const struct tiff *tiff, size_t at) {
    return tiff->big_endian ? tvlm_io_be32(tiff->bytes + at) : tvlm_io_le32(tiff->bytes + at);
}

/* Reads the header: "II" or "MM", then 42 in that byte order, then the place of the first directory. */
static bool read_header(struct tiff *tiff) {
    if (tiff->size < 8 || tiff->bytes[0] != tiff->bytes[1]) return false;
    if (tiff->bytes[0] != 'I' && tiff->bytes[0] != 'M') return false;
    tiff->big_endian = tiff->bytes[0] == 'M';
    return read16(tiff, 2) == 42;
}

int tvlm_io_exif_orientation(const uint8_t *bytes, size_t size) {
    struct tiff tiff = {.bytes = bytes, .size = size};
    if (!read_header(&tiff)) return 1;
    size_t directory = read32(&tiff, 4);
    if (directory > size - 2) return 1;
    size_t count = read16(&tiff, directory), first = directory + 2;
    for (size_t i = 0; i < count && size - first >= entry_size * (i + 1); i++) {
        size_t entry = first + entry_size * i;
        if (read16(&tiff, entry) != orientation_tag) continue;
        uint32_t value = read16(&tiff, entry + 8);
        bool valid = read16(&tiff, entry + 2) == type_short && read32(&tiff, entry + 4) == 1;
        return valid && value >= 1 && value <= 8 ? (int)value : 1;
    }
    return 1;
}
