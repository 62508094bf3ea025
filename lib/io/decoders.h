/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decoders.h: which library decodes which format. The build chooses (TVLM_JPEG and so on in CMakeLists.txt):
 * where a format has a library of its own, that one; else stb_image, as far as it goes.
 *
 * A decoder is thread safe: it keeps nothing between calls.
 */
#ifndef TVLM_IO_DECODERS_H
#define TVLM_IO_DECODERS_H

#include "io/picture.h"

typedef struct tvlm_io_decoder {
    const char *format;
    const char *library; /* its name and version; NULL: nothing reads the format */

    /* Reads what the header says of its size. */
    void (*measure)(const tvlm_io_source *source, tvlm_io_extent *extent);

    /* Walks through the file before it is decoded, and finds what decoders do not tell; NULL: nothing to find. */
    tvlm_status (*check)(const tvlm_io_source *source, tvlm_io_findings *findings);

    /* Makes a picture, as it is stored, in an empty one. Where it fails one line in the log says why, and who called releases
     * what there is of the picture. */
    tvlm_status (*decode)(const tvlm_io_source *source, const tvlm_io_findings *findings,
                          tvlm_io_picture *picture);
} tvlm_io_decoder;

/* Those of the formats that may be read; behind them is one whose format is NULL. */
extern const tvlm_io_decoder tvlm_io_decoders[];

/*
 * The decoder of the format that the file begins as. A format without a decoder has one whose `decode` is
 * NULL; NULL where the format is not known at all.
 */
const tvlm_io_decoder *tvlm_io_find_decoder(const tvlm_io_source *source);

/* ---- Those of libraries, each in a file of the format's and the library's name ---- */

tvlm_status tvlm_io_decode_jpeg_libjpeg(const tvlm_io_source *source, const tvlm_io_findings *findings,
                                        tvlm_io_picture *picture);
extern const char tvlm_io_libjpeg_name[];

tvlm_status tvlm_io_decode_png_libpng(const tvlm_io_source *source, const tvlm_io_findings *findings,
                                      tvlm_io_picture *picture);

tvlm_status tvlm_io_check_webp_libwebp(const tvlm_io_source *source, tvlm_io_findings *findings);
tvlm_status tvlm_io_decode_webp_libwebp(const tvlm_io_source *source, const tvlm_io_findings *findings,
                                        tvlm_io_picture *picture);

tvlm_status tvlm_io_decode_heif_libheif(const tvlm_io_source *source, const tvlm_io_findings *findings,
                                        tvlm_io_picture *picture);
void tvlm_io_measure_heif_libheif(const tvlm_io_source *source, tvlm_io_extent *extent);

#endif
