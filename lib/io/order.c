/* SPDX-License-Identifier: Apache-2.0 */
#include "io/order.h"

#include <stdint.h>
#include <string.h>

/* The bytes that are turned at a time, of whole elements of every type. */
#define PIECE 4096

void tvlm_io_turn(void *data, size_t size, size_t element) {
    uint8_t *const bytes = data;
    for (size_t at = 0; element > 1 && at < size; at += element)
        for (size_t i = 0; i < element / 2; ++i) {
            const uint8_t kept = bytes[at + i];
            bytes[at + i] = bytes[at + element - 1 - i];
            bytes[at + element - 1 - i] = kept;
        }
}

void tvlm_io_from_file(void *data, size_t size, size_t element) {
    if (!TVLM_IO_ORDER_OF_FILES) tvlm_io_turn(data, size, element);
}

tvlm_status tvlm_io_output_elements(tvlm_io_output *output, const void *data, size_t size, size_t element) {
    uint8_t piece[PIECE];
    tvlm_status status = TVLM_OK;
    if (TVLM_IO_ORDER_OF_FILES || element == 1) return tvlm_io_output_write(output, data, size);
    for (size_t at = 0; status == TVLM_OK && at < size; at += PIECE) {
        const size_t now = size - at < PIECE ? size - at : PIECE;
        memcpy(piece, (const uint8_t *)data + at, now);
        tvlm_io_turn(piece, now, element);
        status = tvlm_io_output_write(output, piece, now);
    }
    return status;
}
