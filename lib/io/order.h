/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h: elements of arrays, which files hold with their least byte first, on machines of either order.
 */
#ifndef TVLM_IO_ORDER_H
#define TVLM_IO_ORDER_H

#include <stddef.h>

#include "io/io_file.h"

/* Whether this machine has the order of the files. Then nothing is to be done. */
#if defined(__BYTE_ORDER__) && defined(__ORDER_BIG_ENDIAN__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define TVLM_IO_ORDER_OF_FILES 0
#else
#define TVLM_IO_ORDER_OF_FILES 1
#endif

/* Turns elements round that were read from a file: `size` bytes, in elements of `element` bytes. */
void tvlm_io_from_file(void *data, size_t size, size_t element);

/* Writes elements as files have them. */
tvlm_status tvlm_io_output_elements(tvlm_io_output *output, const void *data, size_t size, size_t element);

/* Turns elements round, whatever this machine's order is. */
void tvlm_io_turn(void *data, size_t size, size_t element);

#endif
