/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_image.c: pictures (tvlm_image_load).
 */
#include "fuzz.h"
#include "texturevlm/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    tvlm_image *image = NULL;
    const tvlm_status status = tvlm_image_load(fuzz_file(data, size), &fuzz_log, &image);
    fuzz_check_status(status);
    fuzz_check((status == TVLM_OK) == (image != NULL));
    if (image != NULL) {
        fuzz_check(image->width >= 1 && image->height >= 1 && image->channels >= 1 && image->channels <= 4);
        fuzz_touch(image->pixels, (size_t)image->width * (size_t)image->height * (size_t)image->channels *
                                      (image->type == TVLM_PIXEL_U16 ? 2 : 1));
    }
    tvlm_image_destroy(&image);
    return 0;
}
