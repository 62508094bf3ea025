/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_exif.c: the orientation of an EXIF block.
 */
#include "fuzz.h"
#include "io/exif.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const int orientation = tvlm_io_exif_orientation(data, size);
    fuzz_check(orientation >= 1 && orientation <= 8);
    return 0;
}
