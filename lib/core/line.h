/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line.h: makes one plain line of a message.
 */
#ifndef TVLM_CORE_LINE_H
#define TVLM_CORE_LINE_H

/*
 * Replaces control characters, because names in files may hold some, and a terminal would obey them. Those
 * that separate lines or words become blanks. The others become question marks: the rest below 32, 127, and
 * the two bytes of U+0080 to U+009F in UTF-8.
 */
static inline void tvlm_make_plain(char *line) {
    for (char *c = line; *c != '\0'; ++c) {
        const unsigned char byte = (unsigned char)*c, next = (unsigned char)c[1];
        if (byte >= '\t' && byte <= '\r')
            *c = ' ';
        else if (byte < 32 || byte == 127)
            *c = '?';
        else if (byte == 0xC2 && next >= 0x80 && next <= 0x9F)
            c[0] = c[1] = '?';
    }
}

#endif
