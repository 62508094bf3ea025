/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_image_helper.h: what tests of pictures have in common.
 */
#ifndef TEST_IO_IMAGE_HELPER_H
#define TEST_IO_IMAGE_HELPER_H

#include "io_helper.h"
#include "io_samples.h"

/* Whether a format is read by the library whose name begins so. */
static inline bool decodes_by(const char *format, const char *library) {
    tvlm_image_decoder decoders[16];
    int32_t count = 0;
    assert_int_equal(tvlm_image_decoder_list(16, decoders, &count), TVLM_OK);
    for (int32_t i = 0; i < count; i++)
        if (strcmp(decoders[i].format, format) == 0)
            return decoders[i].library != NULL && strncmp(decoders[i].library, library, strlen(library)) == 0;
    fail_msg("no %s in the list", format);
    return false;
}

static inline tvlm_image *load(const char *path) {
    tvlm_image *image = NULL;
    io_expect(tvlm_image_load(path, &io_log, &image), TVLM_OK, NULL);
    assert_non_null(image);
    assert_int_equal(image->row_stride, 0);
    return image;
}

static inline tvlm_image *load_bytes(const void *bytes, size_t size) {
    return load(io_put("sample", bytes, size));
}

static inline void assert_kind(const tvlm_image *image, int width, int height, int channels,
                               tvlm_pixel_type type) {
    assert_int_equal(image->width, width);
    assert_int_equal(image->height, height);
    assert_int_equal(image->channels, channels);
    assert_int_equal(image->type, type);
}

#endif
