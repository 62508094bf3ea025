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

/* A side has at most so many pixels, and all pixels so many bytes, which stb_image counts with int. */
#define TVLM_IO_SIDE_MAX   (1 << 24)
#define TVLM_IO_PIXELS_MAX ((size_t)INT32_MAX)

/* The most bytes of a file. stb_image counts them with int, and a JPEG gets a few more. */
#define TVLM_IO_FILE_MAX ((size_t)INT32_MAX - 64)

/* stb_image decodes no PNG of more samples. */
#define TVLM_IO_PNG_SAMPLES_MAX ((size_t)1 << 30)

/* Every scan of a progressive JPEG is a walk over all of its pixels. Encoders make about ten. */
#define TVLM_IO_JPEG_SCANS_MAX 100

/* A picture file in memory. */
typedef struct tvlm_io_source {
    const char *path; /* for messages */
    const tvlm_log *log;
    const uint8_t *bytes;
    size_t size;
    int32_t
        max_side; /* where not 0, a decoder may make the picture smaller, its longer side no less than this */
    uint64_t memory; /* where not 0, what decoding may take beside `bytes` */
    bool part;       /* `bytes` are only the first of the file */
} tvlm_io_source;

/* Decoded pixels without gaps between rows. They lie somewhere in `block`, which free() releases. */
typedef struct tvlm_io_picture {
    void *block;
    uint8_t *pixels;
    int32_t width, height, channels;
    tvlm_pixel_type type;        /* TVLM_PIXEL_U8 or TVLM_PIXEL_U16 */
    int32_t of_width, of_height; /* the size that the file has, where this is made smaller; else 0 */
} tvlm_io_picture;

/*
 * Makes room for a picture, whose pixels are not set. Logs what is wrong where it is larger than the limits
 * (UNSUPPORTED) or where there is no memory; `picture` stays as it was then.
 */
tvlm_status tvlm_io_picture_create(const tvlm_io_source *source, uint32_t width, uint32_t height,
                                   int channels, tvlm_pixel_type type, tvlm_io_picture *picture);

/* Releases its pixels and makes it empty. An empty one is fine. */
void tvlm_io_picture_release(tvlm_io_picture *picture);

/* What a header says of a picture, and how many bytes decoding it takes at most. All zero: it does not tell. */
typedef struct tvlm_io_extent {
    uint32_t width, height;
    uint64_t memory;
} tvlm_io_extent;

/* Width x height times `count`, which is not 0; 2^60 - 1 for all that is more. */
uint64_t tvlm_io_extent_bytes(const tvlm_io_extent *extent, uint64_t count);

/* The size that a JPEG is decoded at is 1 / denominator of its own: 1, 2, 4 or 8. */
unsigned tvlm_io_jpeg_denominator(uint32_t width, uint32_t height, int32_t max_side);

/* Read what the headers say. Nothing is logged: what is wrong with them decoding will say. */
void tvlm_io_measure_jpeg(const tvlm_io_source *source, tvlm_io_extent *extent);
void tvlm_io_measure_png(const tvlm_io_source *source, tvlm_io_extent *extent);
void tvlm_io_measure_bmp(const tvlm_io_source *source, tvlm_io_extent *extent);
void tvlm_io_measure_pnm(const tvlm_io_source *source, tvlm_io_extent *extent);
void tvlm_io_measure_webp(const tvlm_io_source *source, tvlm_io_extent *extent);

/* What the walk through a file finds, before it is decoded. Zeros stand for what a format does not have. */
typedef struct tvlm_io_findings {
    int orientation;   /* of EXIF, 1..8; 1 where there is none */
    bool sixteen_bits; /* PNG: its samples have 16 bits */
    size_t largest;    /* PNG: no block that stb_image needs for it has more bytes */
    size_t scan_end;   /* JPEG: where its last scan ends; a marker follows */
    size_t restarts;   /* JPEG: how many restart markers are in its last scan */
} tvlm_io_findings;

/*
 * Check that a file is complete, and find what stb_image does not tell. stb_image fills what is missing with
 * gray or zeros, so the whole of a file is walked through before it is decoded.
 */
tvlm_status tvlm_io_check_jpeg(const tvlm_io_source *source, tvlm_io_findings *findings);
tvlm_status tvlm_io_check_png(const tvlm_io_source *source, tvlm_io_findings *findings);
tvlm_status tvlm_io_check_png_parts(const tvlm_io_source *source,
                                    tvlm_io_findings *findings); /* without the sums, which libpng checks */
tvlm_status tvlm_io_check_bmp(const tvlm_io_source *source);

/* Decodes JPEG, PNG or BMP with stb_image. The file has passed its check. */
tvlm_status tvlm_io_decode_stb(const tvlm_io_source *source, const tvlm_io_findings *findings,
                               tvlm_io_picture *picture);

/*
 * Decodes PPM or PGM. stb_image could read them too, but it leaves 16-bit samples in the order of the file
 * and ignores the largest value that the file declares.
 */
tvlm_status tvlm_io_decode_pnm(const tvlm_io_source *source, tvlm_io_picture *picture);

/* Brings the picture upright; `orientation` is 1..8 as in EXIF. On failure it stays as it was. */
tvlm_status tvlm_io_orient(const tvlm_io_source *source, int orientation, tvlm_io_picture *picture);

#endif
