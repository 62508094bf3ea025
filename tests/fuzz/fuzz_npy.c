/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_npy.c: arrays, whole (tvlm_npy_read) and in pieces (tvlm_npy_reader_open). Both take the same files
 * and find the same in them.
 */
#include <string.h>

#include "fuzz.h"
#include "texturevlm/io.h"

static void check_pieces(tvlm_npy_reader *reader, const tvlm_npy *whole) {
    static uint8_t piece[64 * 8];
    const size_t element = tvlm_element_size(whole->type), count = whole->size / element;
    for (size_t at = 0; at < count; at += 64) {
        const size_t now = count - at < 64 ? count - at : 64;
        fuzz_check(tvlm_npy_reader_read(reader, piece, now) == TVLM_OK);
        fuzz_check(memcmp(piece, (const uint8_t *)whole->data + at * element, now * element) == 0);
    }
    fuzz_check(tvlm_npy_reader_read(reader, piece, 1) == TVLM_ERROR_ARGUMENT);
    fuzz_check_status(TVLM_ERROR_ARGUMENT);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *const path = fuzz_file(data, size);
    tvlm_npy *array = NULL, described = {0};
    tvlm_npy_reader *reader = NULL;
    const tvlm_status status = tvlm_npy_read(path, &fuzz_log, &array);
    fuzz_check_status(status);
    const tvlm_status again = tvlm_npy_reader_open(path, &fuzz_log, &described, &reader);
    fuzz_check_status(again);
    fuzz_check(status == again && (status == TVLM_OK) == (array != NULL));
    if (array != NULL) {
        fuzz_check((uintptr_t)array->data % tvlm_element_size(array->type) == 0);
        fuzz_check(array->type == described.type && array->rank == described.rank &&
                   array->size == described.size &&
                   memcmp(array->shape, described.shape, sizeof array->shape) == 0);
        check_pieces(reader, array);
    }
    tvlm_npy_reader_destroy(&reader);
    tvlm_npy_destroy(&array);
    return 0;
}
