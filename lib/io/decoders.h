/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decoders.h: which library decodes which format. The build chooses (TVLM_JPEG and so on in CMakeLists.txt).
 * A format is decoded by a library of its own if the build has one, and otherwise by stb_image if that can.
 *
 * A decoder is thread safe: it keeps nothing between calls.
 */
#ifndef TVLM_IO_DECODERS_H
#define TVLM_IO_DECODERS_H

#include "io/picture.h"

typedef struct tvlm_io_decoder {
    const char *format;
    const char *library; /* its name and version; NULL: nothing reads the format */

    /* Reads what the file's header says of the picture's size. */
    void (*measure)(const tvlm_io_source *source, tvlm_io_extent *extent);

    /* Walks through the file before it is decoded, and finds what the decoder does not tell. NULL if there is
     * nothing to find. */
    tvlm_status (*check)(const tvlm_io_source *source, tvlm_io_findings *findings);

    /* Decodes the picture, as it is stored, into an empty one. If it fails, one line in the log says why, and
     * the caller releases what there is of the picture. */
    tvlm_status (*decode)(const tvlm_io_source *source, const tvlm_io_findings *findings,
                          tvlm_io_picture *picture);
} tvlm_io_decoder;

/* The decoders of all formats that can be read. The entry after the last one has NULL as its format. */
extern const tvlm_io_decoder tvlm_io_decoders[];

/*
 * Returns the entry of the format that the file's first bytes are of. If nothing decodes this format, the
 * entry's `decode` is NULL. Returns NULL if the format is not known at all.
 */
const tvlm_io_decoder *tvlm_io_find_decoder(const tvlm_io_source *source);

/* ---- The libraries' decoders, each in a file that is named after the format and the library ---- */

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
