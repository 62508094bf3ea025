/* SPDX-License-Identifier: Apache-2.0 */
#include "io/utf8.h"

#include <stdint.h>

/*
 * Returns how many bytes follow the first byte of a character, or -1 if no character begins with this byte.
 * Sets the range of the second byte, which excludes overlong forms, surrogates, and characters above U+10FFFF
 * (RFC 3629, 4).
 */
static int following(uint8_t first, uint8_t *from, uint8_t *to) {
    *from = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    *to = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (first < 0x80) return 0;
    if (first >= 0xC2 && first <= 0xDF) return 1;
    if (first >= 0xE0 && first <= 0xEF) return 2;
    return first >= 0xF0 && first <= 0xF4 ? 3 : -1;
}

bool tvlm_io_is_utf8(const void *text, size_t size) {
    const uint8_t *at = text, *const end = at + size;
    while (at < end) {
        uint8_t from, to;
        int more = following(*at++, &from, &to);
        if (more < 0 || end - at < more) return false;
        for (; more > 0; --more, ++at) {
            if (*at < from || *at > to) return false;
            from = 0x80;
            to = 0xBF;
        }
    }
    return true;
}
