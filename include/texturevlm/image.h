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
    TVLM_PIXEL_F32     /* 0..1; values beyond are clamped, and NaN becomes 0 */
} tvlm_pixel_type;

/*
 * Interleaved pixels, the first row on top. Values are taken as encoded (sRGB) values and never linearised.
 * The channels are 1 gray, 2 gray + alpha, 3 RGB, or 4 RGBA. Alpha is straight (not premultiplied), and the image
 * is composited on white. The caller owns `pixels`; the library reads them during the call only.
 */
typedef struct tvlm_image {
    const void *pixels;
    int32_t width, height; /* >= 1 */
    int32_t channels;      /* 1..4 */
    tvlm_pixel_type type;
    size_t row_stride; /* bytes from one row to the next; 0: rows follow each other without a gap */
    /* Where this image is a smaller version of a picture: the size of that picture. Functions that put the image
     * into a stack (tvlm_stack_create_for_image, tvlm_session_stack, tvlm_stack_set_image,
     * tvlm_stack_update_image), or into a stream, then give positions in the pixels of that picture. Other
     * functions do not read it. 0: this is the picture itself. */
    int32_t of_width, of_height;
    uint64_t reserved[3];
} tvlm_image;

#ifdef __cplusplus
}
#endif
#endif
