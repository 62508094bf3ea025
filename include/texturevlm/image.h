/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image.h: pixels as an application has them.
 */
#ifndef TEXTUREVLM_IMAGE_H
#define TEXTUREVLM_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tvlm_pixel_type {
    TVLM_PIXEL_U8 = 0, /* 0..255 */
    TVLM_PIXEL_U16,    /* 0..65535, native byte order */
    TVLM_PIXEL_F32     /* 0..1; beyond it clamped; NaN becomes 0 */
} tvlm_pixel_type;

/*
 * Interleaved pixels, the first row on top. Values are taken as encoded (sRGB) values and never linearised.
 * channels: 1 gray, 2 gray + alpha, 3 RGB, 4 RGBA; alpha is straight (not premultiplied), and the image is
 * composited on white. The caller owns `pixels`; the library reads them during the call only.
 */
typedef struct tvlm_image {
    const void *pixels;
    int32_t width, height; /* >= 1 */
    int32_t channels;      /* 1..4 */
    tvlm_pixel_type type;
    size_t row_stride; /* bytes from one row to the next; 0: rows follow each other without a gap */
    /* The size of the picture that this is a smaller version of: what tvlm_stack_create_for_image,
     * tvlm_session_stack, tvlm_stack_set_image and tvlm_stack_update_image take gives positions in the pixels of
     * that picture. Nobody else reads it. 0: it is the picture itself. */
    int32_t of_width, of_height;
    uint64_t reserved[3];
} tvlm_image;

#ifdef __cplusplus
}
#endif
#endif
