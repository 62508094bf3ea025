/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/stdio.h"

#include <io.h>
#include <stdlib.h>
#include <windows.h>

#include "platform/windows/names.h"

FILE *tvlm_stdio_open(const char *path, const char *mode) {
    wchar_t wide[8] = {0};
    for (size_t i = 0; mode[i] != '\0' && i < 7; ++i) wide[i] = (wchar_t)mode[i];
    wchar_t *const name = tvlm_windows_name(path);
    if (name == NULL) return NULL;
    FILE *const stream = _wfopen(name, wide);
    free(name);
    return stream;
}

FILE *tvlm_stdio_of(int file, const char *mode) {
    return _fdopen(file, mode);
}

static bool has_room(char **line, size_t *room, size_t length) {
    if (*line != NULL && *room > length) return true;
    const size_t more = 2 * length + 120;
    char *const larger = realloc(*line, more);
    if (larger == NULL) return false;
    *line = larger;
    *room = more;
    return true;
}

size_t tvlm_stdio_line(FILE *stream, char **line, size_t *room) {
    size_t length = 0;
    for (int byte = 0; byte != '\n' && (byte = fgetc(stream)) != EOF;) {
        if (!has_room(line, room, length + 1)) return 0;
        (*line)[length++] = (char)byte;
    }
    if (length > 0) (*line)[length] = '\0';
    return length;
}

/* A device that is no console, such as NUL, counts as a terminal for the C library. */
bool tvlm_stdio_is_terminal(FILE *stream) {
    DWORD mode;
    return GetConsoleMode((HANDLE)_get_osfhandle(_fileno(stream)), &mode) != 0;
}

void tvlm_stdio_take(FILE *stream) {
    _lock_file(stream);
}

void tvlm_stdio_release(FILE *stream) {
    _unlock_file(stream);
}
