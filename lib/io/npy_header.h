/* SPDX-License-Identifier: Apache-2.0 */
/*
 * npy_header.h: the text at the head of a .npy file.
 *
 * Six magic bytes, two of version, the length of the text (two bytes in version 1, four after it), then the
 * text: a Python dictionary such as {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, padded with
 * blanks and a newline so that the data begin at a multiple of 64 (numpy/lib/format.py).
 */
#ifndef TVLM_IO_NPY_HEADER_H
#define TVLM_IO_NPY_HEADER_H

#include <stddef.h>
#include <stdint.h>

#include "texturevlm/io.h"

/* Bytes before the text in version 1. */
#define TVLM_IO_NPY_PRELUDE 10
/* Holds any header that is written: eight sides of 19 digits, and 64 to align. */
#define TVLM_IO_NPY_HEADER_ROOM 320

/* Why a header is refused: TVLM_ERROR_FORMAT or TVLM_ERROR_UNSUPPORTED, and room for words about it. */
typedef struct tvlm_io_npy_problem {
    tvlm_status status;
    char words[128];
} tvlm_io_npy_problem;

/* Reads the text of `size` bytes into type, rank and shape. NULL when all is well, else what is wrong with
 * it. */
const char *tvlm_io_npy_parse(const char *text, size_t size, tvlm_npy *array, tvlm_io_npy_problem *problem);

/* The most bytes before the data: NumPy refuses texts above 1 MiB too, unless told to trust the file. */
#define TVLM_IO_NPY_TEXT_MAX ((size_t)1 << 20)
#define TVLM_IO_NPY_HEAD_MAX (TVLM_IO_NPY_TEXT_MAX + 12)

/*
 * All that stands before the data of a file of `size` bytes, of which `bytes` are the first
 * TVLM_IO_NPY_HEAD_MAX, or all: type, rank, shape and size of the array, and where its data begin. One line
 * in the log says what is wrong with it, also when it is too short or long.
 */
tvlm_status tvlm_io_npy_head(const uint8_t *bytes, size_t size, const char *path, const tvlm_log *log,
                             tvlm_npy *array, size_t *data);

/* Writes a whole header of version 1, magic bytes included, and returns its size. The arguments are valid. */
size_t tvlm_io_npy_format(tvlm_element type, int32_t rank, const int64_t *shape,
                          char header[TVLM_IO_NPY_HEADER_ROOM]);

#endif
