/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_decoders.c: the table of decoders, and how files are recognised.
 */
#include <string.h>

#include "core/check.h"
#include "io/decoders.h"

static tvlm_status decode_pnm(const tvlm_io_source *source, const tvlm_io_findings *findings,
                              tvlm_io_picture *picture) {
    (void)findings;
    return tvlm_io_decode_pnm(source, picture);
}

static tvlm_status check_bmp(const tvlm_io_source *source, tvlm_io_findings *findings) {
    (void)findings;
    return tvlm_io_check_bmp(source);
}

/* Places in the table of decoders. Formats after FORMAT_END are recognised, but never read. */
enum format {
    FORMAT_JPEG,
    FORMAT_PNG,
    FORMAT_BMP,
    FORMAT_PNM,
    FORMAT_WEBP,
    FORMAT_HEIF,
    FORMAT_END,
    FORMAT_GIF,
    FORMAT_TIFF,
    FORMAT_JPEG_XL,
    FORMAT_JPEG_2000,
    FORMAT_PDF,
    FORMAT_OPENEXR
};

const tvlm_io_decoder tvlm_io_decoders[] = {
#ifdef TVLM_WITH_LIBJPEG
    [FORMAT_JPEG] = {"JPEG", tvlm_io_libjpeg_name, tvlm_io_measure_jpeg, tvlm_io_check_jpeg,
                     tvlm_io_decode_jpeg_libjpeg},
#else
    [FORMAT_JPEG] = {"JPEG", "stb_image", tvlm_io_measure_jpeg, tvlm_io_check_jpeg, tvlm_io_decode_stb},
#endif
#ifdef TVLM_WITH_LIBPNG
    [FORMAT_PNG] = {"PNG", "libpng " TVLM_WITH_LIBPNG, tvlm_io_measure_png, tvlm_io_check_png_parts,
                    tvlm_io_decode_png_libpng},
#else
    [FORMAT_PNG] = {"PNG", "stb_image", tvlm_io_measure_png, tvlm_io_check_png, tvlm_io_decode_stb},
#endif
    [FORMAT_BMP] = {"BMP", "stb_image", tvlm_io_measure_bmp, check_bmp, tvlm_io_decode_stb},
    [FORMAT_PNM] = {"PPM and PGM", "texturevlm", tvlm_io_measure_pnm, NULL, decode_pnm},
#ifdef TVLM_WITH_LIBWEBP
    [FORMAT_WEBP] = {"WebP", "libwebp " TVLM_WITH_LIBWEBP, tvlm_io_measure_webp, tvlm_io_check_webp_libwebp,
                     tvlm_io_decode_webp_libwebp},
#else
    [FORMAT_WEBP] = {"WebP", NULL, NULL, NULL, NULL},
#endif
#ifdef TVLM_WITH_LIBHEIF
    [FORMAT_HEIF] = {"HEIF and AVIF", "libheif " TVLM_WITH_LIBHEIF, tvlm_io_measure_heif_libheif, NULL,
                     tvlm_io_decode_heif_libheif},
#else
    [FORMAT_HEIF] = {"HEIF and AVIF", NULL, NULL, NULL, NULL},
#endif
    [FORMAT_END] = {NULL, NULL, NULL, NULL, NULL},
    [FORMAT_GIF] = {"GIF", NULL, NULL, NULL, NULL},
    [FORMAT_TIFF] = {"TIFF", NULL, NULL, NULL, NULL},
    [FORMAT_JPEG_XL] = {"JPEG XL", NULL, NULL, NULL, NULL},
    [FORMAT_JPEG_2000] = {"JPEG 2000", NULL, NULL, NULL, NULL},
    [FORMAT_PDF] = {"PDF", NULL, NULL, NULL, NULL},
    [FORMAT_OPENEXR] = {"OpenEXR", NULL, NULL, NULL, NULL},
};

struct signature {
    enum format format;
    size_t offset, size;
    const char *bytes;
};

static const struct signature signatures[] = {
    {FORMAT_JPEG, 0, 3, "\xFF\xD8\xFF"},
    {FORMAT_PNG, 0, 8, "\x89PNG\r\n\x1A\n"},
    {FORMAT_BMP, 0, 2, "BM"},
    {FORMAT_PNM, 0, 2, "P2"},
    {FORMAT_PNM, 0, 2, "P3"},
    {FORMAT_PNM, 0, 2, "P5"},
    {FORMAT_PNM, 0, 2, "P6"},
    {FORMAT_WEBP, 8, 4, "WEBP"},
    {FORMAT_HEIF, 4, 4, "ftyp"},
    {FORMAT_GIF, 0, 4, "GIF8"},
    {FORMAT_TIFF, 0, 4, "II*\0"},
    {FORMAT_TIFF, 0, 4, "MM\0*"},
    {FORMAT_JPEG_XL, 0, 2, "\xFF\x0A"},
    {FORMAT_JPEG_XL, 4, 4, "JXL "},
    {FORMAT_JPEG_2000, 4, 4, "jP  "},
    {FORMAT_PDF, 0, 4, "%PDF"},
    {FORMAT_OPENEXR, 0, 4, "\x76\x2F\x31\x01"},
};

const tvlm_io_decoder *tvlm_io_find_decoder(const tvlm_io_source *source) {
    for (size_t i = 0; i < sizeof signatures / sizeof signatures[0]; i++) {
        const struct signature *candidate = &signatures[i];
        if (source->size >= candidate->offset + candidate->size &&
            memcmp(source->bytes + candidate->offset, candidate->bytes, candidate->size) == 0)
            return &tvlm_io_decoders[candidate->format];
    }
    return NULL;
}

tvlm_status tvlm_image_decoder_list(int32_t capacity, tvlm_image_decoder *decoders, int32_t *count) {
    TVLM_NEED(NULL, count);
    if (capacity < 0 || (capacity > 0 && decoders == NULL)) return TVLM_ERROR_ARGUMENT;
    *count = FORMAT_END;
    for (int32_t i = 0; i < capacity && i < FORMAT_END; i++) {
        const tvlm_io_decoder *const from = &tvlm_io_decoders[i];
        decoders[i] = (tvlm_image_decoder){.format = from->format, .library = from->library};
    }
    return TVLM_OK;
}
