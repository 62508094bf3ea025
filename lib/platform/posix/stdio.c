/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/stdio.h"

#include <sys/types.h>
#include <unistd.h>

FILE *tvlm_stdio_open(const char *path, const char *mode) {
    return fopen(path, mode);
}

FILE *tvlm_stdio_of(int file, const char *mode) {
    return fdopen(file, mode);
}

size_t tvlm_stdio_line(FILE *stream, char **line, size_t *room) {
    const ssize_t length = getline(line, room, stream);
    return length > 0 ? (size_t)length : 0;
}

bool tvlm_stdio_is_terminal(FILE *stream) {
    return isatty(fileno(stream)) == 1;
}

void tvlm_stdio_take(FILE *stream) {
    flockfile(stream);
}

void tvlm_stdio_release(FILE *stream) {
    funlockfile(stream);
}
