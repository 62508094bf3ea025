/* SPDX-License-Identifier: Apache-2.0 */
/*
 * picture.h: what the parts of the image reader hand to each other.
 */
#ifndef TVLM_IO_PICTURE_H
#define TVLM_IO_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/bytes.h"
#include "texturevlm/io.h"

#define TVLM_IO_SIDE_MAX   (1 << 24)           /* pixels a side */
#define TVLM_IO_PIXELS_MAX ((size_t)INT32_MAX) /* bytes of pixels: stb_image counts them with int */

/* A picture file in memory. */
typedef struct tvlm_io_source {
    const char *path; /* for messages */
    const tvlm_log *log;
    const uint8_t *bytes;
    size_t size;
} tvlm_io_source;

/* Decoded pixels, rows without gaps. free(block) releases them; `pixels` lies somewhere in it. */
typedef struct tvlm_io_picture {
    void *block;
    uint8_t *pixels;
    int32_t width, height, channels;
    tvlm_pixel_type type; /* TVLM_PIXEL_U8 or TVLM_PIXEL_U16 */
} tvlm_io_picture;

/*
 * Is the file complete, and what does stb_image not tell? stb_image fills what is missing with gray or zeros,
 * so each format is walked through first. *orientation: the EXIF orientation, 1..8, 1 where there is none.
 */
tvlm_status tvlm_io_check_jpeg(const tvlm_io_source *source, int *orientation);
tvlm_status tvlm_io_check_png(const tvlm_io_source *source, int *orientation, bool *sixteen_bits);
tvlm_status tvlm_io_check_bmp(const tvlm_io_source *source);

/* JPEG, PNG and BMP through stb_image, after their check. */
tvlm_status tvlm_io_decode_stb(const tvlm_io_source *source, bool sixteen_bits, tvlm_io_picture *picture);

/* PPM and PGM by our own reader: stb_image leaves their 16-bit samples in file order and ignores their
 * maximum. */
tvlm_status tvlm_io_decode_pnm(const tvlm_io_source *source, tvlm_io_picture *picture);

/* Brings the picture upright: orientation 1..8 as EXIF numbers them. On failure it is as before. */
tvlm_status tvlm_io_orient(const tvlm_io_source *source, int orientation, tvlm_io_picture *picture);

#endif
