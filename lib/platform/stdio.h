/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stdio.h: streams of the C library. What fails leaves the reason in errno.
 */
#ifndef TVLM_PLATFORM_STDIO_H
#define TVLM_PLATFORM_STDIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Opens a file by its name (file.h). `mode` is one of fopen, with a "b": no system then changes a byte. */
FILE *tvlm_stdio_open(const char *path, const char *mode);

/* Makes a stream of an open file, which fclose then closes. NULL: the file is still open. */
FILE *tvlm_stdio_of(int file, const char *mode);

/*
 * Reads a line, with the newline at its end if there is one. *line is memory from malloc of *room bytes, or NULL, and is made
 * larger as needed; the caller frees it in any case. Returns the bytes of the line; 0 at the end, and where reading fails (ferror).
 */
size_t tvlm_stdio_line(FILE *stream, char **line, size_t *room);

/* Whether somebody looks at it. */
bool tvlm_stdio_is_terminal(FILE *stream);

/* Other threads that print to it wait until it is released. A thread may take it several times. */
void tvlm_stdio_take(FILE *stream);
void tvlm_stdio_release(FILE *stream);

#endif
