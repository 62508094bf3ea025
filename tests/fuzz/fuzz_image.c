/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_image.c: pictures (tvlm_image_load_for), whole and as small as they can be decoded.
 */
#include "fuzz.h"
#include "texturevlm/io.h"

static tvlm_status load(const uint8_t *data, size_t size, int32_t max_side) {
    tvlm_image *image = NULL;
    const struct tvlm_image_load_params params = {.max_side = max_side, .log = &fuzz_log};
    const tvlm_status status = tvlm_image_load_for(fuzz_file(data, size), &params, &image);
    fuzz_check_status(status);
    fuzz_check((status == TVLM_OK) == (image != NULL));
    if (image != NULL) {
        fuzz_check(image->width >= 1 && image->height >= 1 && image->channels >= 1 && image->channels <= 4);
        fuzz_check((image->of_width == 0 && image->of_height == 0) ||
                   (max_side > 0 && image->of_width >= image->width && image->of_height >= image->height));
        fuzz_touch(image->pixels, (size_t)image->width * (size_t)image->height * (size_t)image->channels *
                                      (image->type == TVLM_PIXEL_U16 ? 2 : 1));
    }
    tvlm_image_destroy(&image);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const tvlm_status whole = load(data, size, 0), small = load(data, size, 1);
    fuzz_check(whole == small || whole == TVLM_ERROR_MEMORY || whole == TVLM_ERROR_UNSUPPORTED);
    return 0;
}
