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

/* The most pixels of a side, and the most bytes of all pixels, which stb_image counts with int. */
#define TVLM_IO_SIDE_MAX   (1 << 24)
#define TVLM_IO_PIXELS_MAX ((size_t)INT32_MAX)

/* The most bytes of a file. stb_image counts them with int, and a JPEG gets a few more (image_stb.c). */
#define TVLM_IO_FILE_MAX ((size_t)INT32_MAX - 64)

/* The most samples of a PNG: stb_image decodes no larger one. */
#define TVLM_IO_PNG_SAMPLES_MAX ((size_t)1 << 30)

/* The most scans of a JPEG. For every scan of a progressive one, the decoder goes over all pixels. Encoders
 * make about ten. */
#define TVLM_IO_JPEG_SCANS_MAX 100

/* A picture file in memory. */
typedef struct tvlm_io_source {
    const char *path; /* for messages */
    const tvlm_log *log;
    const uint8_t *bytes;
    size_t size;
    int32_t max_side; /* if not 0, a decoder may make the picture smaller, but no longer side below this */
    uint64_t memory;  /* if not 0, the most memory that decoding may take beside `bytes` */
    bool part;        /* `bytes` are only the beginning of the file */
} tvlm_io_source;

/* Decoded pixels without gaps between rows. They are somewhere in `block`, which free() releases. */
typedef struct tvlm_io_picture {
    void *block;
    uint8_t *pixels;
    int32_t width, height, channels;
    tvlm_pixel_type type;        /* TVLM_PIXEL_U8 or TVLM_PIXEL_U16 */
    int32_t of_width, of_height; /* the file's own size if the picture was made smaller; otherwise 0 */
} tvlm_io_picture;

/*
 * Makes room for a picture, and does not set its pixels. After an error, which is logged, `picture` stays as
 * it was:
 * - UNSUPPORTED if it is larger than the limits above;
 * - FORMAT if it has no pixels, or takes more than source->memory;
 * - MEMORY if there is none.
 */
tvlm_status tvlm_io_picture_create(const tvlm_io_source *source, uint32_t width, uint32_t height,
                                   int channels, tvlm_pixel_type type, tvlm_io_picture *picture);

/* Releases a picture's pixels and makes it empty. It may be empty already. */
void tvlm_io_picture_release(tvlm_io_picture *picture);

/* Makes an image of the picture for the caller, who ends it by tvlm_image_destroy. It has the pixels from then on;
 * if there is no memory, which is logged, they are released. Of `source` only path and log are read. */
tvlm_status tvlm_io_picture_wrap(const tvlm_io_source *source, const tvlm_io_picture *picture,
                                 tvlm_image **image);

/* The size that a header says, and how many bytes decoding the picture takes at most. All are 0 if the header
 * does not tell. */
typedef struct tvlm_io_extent {
    uint32_t width, height;
    uint64_t memory;
} tvlm_io_extent;

/* Returns width x height x `count`, but at most 2^60 - 1. `count` must not be 0. */
uint64_t tvlm_io_extent_bytes(const tvlm_io_extent *extent, uint64_t count);

/* Returns the denominator, 1, 2, 4 or 8, by which a JPEG's own size is divided when it is decoded. */
unsigned tvlm_io_jpeg_denominator(uint32_t width, uint32_t height, int32_t max_side);

/* Read what the headers say. They log nothing: if a header is wrong, decoding will say so. */
void tvlm_io_measure_jpeg(const tvlm_io_source *source, tvlm_io_extent *extent);
void tvlm_io_measure_png(const tvlm_io_source *source, tvlm_io_extent *extent);
void tvlm_io_measure_bmp(const tvlm_io_source *source, tvlm_io_extent *extent);
void tvlm_io_measure_pnm(const tvlm_io_source *source, tvlm_io_extent *extent);
void tvlm_io_measure_webp(const tvlm_io_source *source, tvlm_io_extent *extent);

/* What the walk through a file finds before it is decoded. A member is 0 if it does not apply to the
 * format. */
typedef struct tvlm_io_findings {
    int orientation;   /* that of EXIF, 1..8; 1 if there is none */
    bool sixteen_bits; /* PNG: its samples have 16 bits */
    size_t largest;    /* PNG: the bytes of the largest block that stb_image needs for it */
    size_t scan_end;   /* JPEG: where its last scan ends, and a marker begins */
    size_t restarts;   /* JPEG: how many restart markers are in its last scan */
} tvlm_io_findings;

/*
 * Check that a file is complete, and find what stb_image does not tell. stb_image fills what is missing with
 * gray or zeros, so the whole of a file is walked through before it is decoded.
 */
tvlm_status tvlm_io_check_jpeg(const tvlm_io_source *source, tvlm_io_findings *findings);
tvlm_status tvlm_io_check_png(const tvlm_io_source *source, tvlm_io_findings *findings);
tvlm_status tvlm_io_check_png_parts(const tvlm_io_source *source,
                                    tvlm_io_findings *findings); /* without checksums: libpng checks them */
tvlm_status tvlm_io_check_bmp(const tvlm_io_source *source);

/* Decodes JPEG, PNG or BMP with stb_image. The file must have passed its check. */
tvlm_status tvlm_io_decode_stb(const tvlm_io_source *source, const tvlm_io_findings *findings,
                               tvlm_io_picture *picture);

/*
 * Decodes PPM or PGM. stb_image could read them too, but it leaves 16-bit samples in the order of the file
 * and ignores the largest value that the file declares.
 */
tvlm_status tvlm_io_decode_pnm(const tvlm_io_source *source, tvlm_io_picture *picture);

/* Turns the picture upright; `orientation` is 1..8 as in EXIF. If it fails, the picture stays as it was. */
tvlm_status tvlm_io_orient(const tvlm_io_source *source, int orientation, tvlm_io_picture *picture);

#endif
