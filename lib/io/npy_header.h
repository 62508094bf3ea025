/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npy_header.h: the text at the head of a .npy file.
 *
 * A file begins with six magic bytes, two bytes of version, and the length of the text. The length has two
 * bytes in version 1 and four in later ones. The text is a Python dictionary, such as
 *
 *     {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
 *
 * It is padded with blanks and a newline, so that the data begin at a multiple of 64 (numpy/lib/format.py).
 */
#ifndef TVLM_IO_NPY_HEADER_H
#define TVLM_IO_NPY_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "texturevlm/io.h"

/* The bytes before the text in version 1. */
#define TVLM_IO_NPY_PRELUDE 10
/* Any header that is written fits into this: eight sides of 19 digits, and up to 64 bytes to align. */
#define TVLM_IO_NPY_HEADER_ROOM 320

/* Says why a header is refused. The status is TVLM_ERROR_FORMAT or TVLM_ERROR_UNSUPPORTED. */
typedef struct tvlm_io_npy_problem {
    tvlm_status status;
    char words[128];
} tvlm_io_npy_problem;

/*
 * Reads the text of `size` bytes into type, rank and shape. Returns NULL if all is well, and otherwise what
 * is wrong with the text.
 */
const char *tvlm_io_npy_parse(const char *text, size_t size, tvlm_npy *array, tvlm_io_npy_problem *problem);

/* Longer texts are refused. NumPy refuses texts above 1 MiB too, unless it is told to trust the file. */
#define TVLM_IO_NPY_TEXT_MAX ((size_t)1 << 20)
/* The most bytes that may stand before the data. */
#define TVLM_IO_NPY_HEAD_MAX (TVLM_IO_NPY_TEXT_MAX + 12)

/*
 * Reads all that is before the data: type, rank, shape and size of the array, and where its data begin. The
 * file has `size` bytes. `bytes` are the first TVLM_IO_NPY_HEAD_MAX of them, or all if the file is shorter.
 * One line in the log says what is wrong with the file, also if it is too short or too long.
 */
tvlm_status tvlm_io_npy_head(const uint8_t *bytes, size_t size, const char *path, const tvlm_log *log,
                             tvlm_npy *array, size_t *data);

/* Writes a whole header of version 1, including the magic bytes, and returns its size. The arguments must be
 * valid. */
size_t tvlm_io_npy_format(tvlm_element type, int32_t rank, const int64_t *shape,
                          char header[TVLM_IO_NPY_HEADER_ROOM]);

#endif
