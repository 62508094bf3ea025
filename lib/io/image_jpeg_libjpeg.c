/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_jpeg_libjpeg.c: decodes JPEG with libjpeg-turbo. It uses the library's defaults (the accurate integer
 * DCT, smooth upsampling of chroma), as Pillow does, so that the pixels are the same as Pillow's.
 *
 * libjpeg reports errors by a callback that must not return, so that the callback leaves it by longjmp. Some
 * of its warnings mean that pixels were made up, because the data end early or have invalid codes. These are
 * errors here: a program that looks at pictures should not look at gray that nobody drew.
 */
#include <setjmp.h>
#include <stdio.h> /* libjpeg's header needs it */
#include <string.h>

#include <jerror.h>
#include <jpeglib.h>

#include "io/decoders.h"

/* The most bytes of coefficients. A coefficient has two bytes. If a file has several scans, libjpeg keeps the
 * coefficients of all its blocks, at whatever size it decodes the picture. The coefficients of the largest
 * gray picture take as many bytes as this limit. */
#define COEFFICIENT_BYTES_MAX ((uint64_t)1 << 32)

/* All state is kept here, and none in local variables: after a longjmp their values cannot be relied on. */
struct job {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jmp_buf escape;
    const tvlm_io_source *source;
    tvlm_io_picture *picture;
    tvlm_status status;
};

static const char *message_of(j_common_ptr jpeg, char text[JMSG_LENGTH_MAX]) {
    jpeg->err->format_message(jpeg, text);
    return text;
}

static tvlm_status explain(struct job *job) {
    char text[JMSG_LENGTH_MAX];
    const tvlm_io_source *const source = job->source;
    const char *const message = message_of((j_common_ptr)&job->jpeg, text);
    switch (job->errors.msg_code) {
    case JERR_OUT_OF_MEMORY:
        return tvlm_fail(source->log, TVLM_ERROR_MEMORY, "no memory for the pixels of %s", source->path);
    case JERR_IMAGE_TOO_BIG:
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_CCIR601_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_SOF_UNSUPPORTED:
        return tvlm_fail(source->log, TVLM_ERROR_UNSUPPORTED,
                         "%s is a JPEG of a kind that is not supported: %s", source->path, message);
    case JWRN_HIT_MARKER:
    case JWRN_JPEG_EOF:
        return tvlm_fail(source->log, TVLM_ERROR_FORMAT,
                         "%s is a truncated JPEG: its data end before its pixels", source->path);
    default:
        return tvlm_fail(source->log, TVLM_ERROR_FORMAT, "%s is a damaged JPEG: %s", source->path, message);
    }
}

static void leave(j_common_ptr jpeg) {
    struct job *const job = jpeg->client_data;
    job->status = explain(job);
    longjmp(job->escape, 1);
}

/* Takes a message. `level` is -1 for a warning; messages of higher levels only trace the decoding. */
static void hear(j_common_ptr jpeg, int level) {
    if (level >= 0) return;
    switch (jpeg->err->msg_code) {
    case JWRN_HIT_MARKER:
    case JWRN_JPEG_EOF:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_MUST_RESYNC: leave(jpeg); break;
    default: break; /* bytes between segments, an unknown version, or an unusual order of scans */
    }
}

static void choose_fraction(struct jpeg_decompress_struct *jpeg, int32_t max_side) {
    jpeg->scale_num = 1;
    jpeg->scale_denom = tvlm_io_jpeg_denominator(jpeg->image_width, jpeg->image_height, max_side);
}

/* Chooses what libjpeg decodes to: gray, RGB, or the four inks, which become RGB afterwards. */
static tvlm_status choose_colors(struct job *job) {
    struct jpeg_decompress_struct *const jpeg = &job->jpeg;
    switch (jpeg->jpeg_color_space) {
    case JCS_GRAYSCALE: jpeg->out_color_space = JCS_GRAYSCALE; return TVLM_OK;
    case JCS_RGB:
    case JCS_YCbCr: jpeg->out_color_space = JCS_RGB; return TVLM_OK;
    case JCS_CMYK:
    case JCS_YCCK: jpeg->out_color_space = JCS_CMYK; return TVLM_OK;
    default:
        return tvlm_fail(job->source->log, TVLM_ERROR_UNSUPPORTED,
                         "%s is a JPEG of a kind that is not supported: %d components", job->source->path,
                         jpeg->num_components);
    }
}

/*
 * Converts a row of the four inks to RGB in place: each colour is multiplied by black, and rounded. The inks
 * are taken as inverted, as Adobe stores them, whether or not the file says that it is Adobe's. All readers
 * do the same.
 */
static void mix_inks(uint8_t *row, uint32_t width) {
    uint8_t *to = row;
    for (const uint8_t *from = row, *const end = row + (size_t)width * 4; from < end; from += 4) {
        const unsigned black = from[3];
        for (int c = 0; c < 3; c++) {
            const unsigned product = from[c] * black + 128;
            *to++ = (uint8_t)((product + (product >> 8)) >> 8);
        }
    }
}

/* Reads rows of inks one by one, into a buffer of their own: a row of inks takes more bytes than a row of
 * RGB. */
static void read_inks(struct job *job) {
    struct jpeg_decompress_struct *const jpeg = &job->jpeg;
    const size_t stride = (size_t)jpeg->output_width * 3;
    JSAMPARRAY row = jpeg->mem->alloc_sarray((j_common_ptr)jpeg, JPOOL_IMAGE, jpeg->output_width * 4, 1);
    while (jpeg->output_scanline < jpeg->output_height) {
        uint8_t *const to = job->picture->pixels + stride * jpeg->output_scanline;
        jpeg_read_scanlines(jpeg, row, 1);
        mix_inks(row[0], jpeg->output_width);
        memcpy(to, row[0], stride);
    }
}

static void read_rows(struct job *job) {
    enum { rows_at_once = 16 };
    struct jpeg_decompress_struct *const jpeg = &job->jpeg;
    const size_t stride = (size_t)jpeg->output_width * (size_t)jpeg->output_components;
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW rows[rows_at_once];
        JDIMENSION count = jpeg->output_height - jpeg->output_scanline;
        if (count > rows_at_once) count = rows_at_once;
        for (JDIMENSION i = 0; i < count; i++)
            rows[i] = job->picture->pixels + stride * (jpeg->output_scanline + i);
        jpeg_read_scanlines(jpeg, rows, count);
    }
}

static tvlm_status check_coefficients(struct job *job) {
    struct jpeg_decompress_struct *const jpeg = &job->jpeg;
    uint64_t blocks = 0;
    for (int i = 0; i < jpeg->num_components; i++)
        blocks += (uint64_t)jpeg->comp_info[i].width_in_blocks * jpeg->comp_info[i].height_in_blocks;
    if (!jpeg_has_multiple_scans(jpeg) || blocks <= COEFFICIENT_BYTES_MAX / sizeof(JBLOCK)) return TVLM_OK;
    return tvlm_fail(job->source->log, TVLM_ERROR_UNSUPPORTED,
                     "%s is too large: %u x %u pixels in several scans, as of a progressive JPEG",
                     job->source->path, (unsigned)jpeg->image_width, (unsigned)jpeg->image_height);
}

/* Decodes the picture. It stops after the last row: tvlm_io_check_jpeg has walked through the whole file
 * before. */
static void decode(struct job *job) {
    struct jpeg_decompress_struct *const jpeg = &job->jpeg;
    jpeg_mem_src(jpeg, job->source->bytes, (unsigned long)job->source->size);
    jpeg_read_header(jpeg, TRUE);
    job->status = choose_colors(job);
    if (job->status == TVLM_OK) job->status = check_coefficients(job);
    if (job->status != TVLM_OK) return;
    choose_fraction(jpeg, job->source->max_side);
    jpeg_calc_output_dimensions(jpeg);
    const bool inks = jpeg->out_color_space == JCS_CMYK;
    job->status = tvlm_io_picture_create(job->source, jpeg->output_width, jpeg->output_height,
                                         inks ? 3 : jpeg->output_components, TVLM_PIXEL_U8, job->picture);
    if (job->status != TVLM_OK) return;
    if (jpeg->scale_denom > 1) {
        job->picture->of_width = (int32_t)jpeg->image_width;
        job->picture->of_height = (int32_t)jpeg->image_height;
    }
    jpeg_start_decompress(jpeg);
    if (inks)
        read_inks(job);
    else
        read_rows(job);
}

static void run(struct job *job) {
    job->jpeg.err = jpeg_std_error(&job->errors);
    job->jpeg.client_data = job;
    job->errors.error_exit = leave;
    job->errors.emit_message = hear;
    if (setjmp(job->escape) == 0) {
        jpeg_create_decompress(&job->jpeg);
        decode(job);
    }
    jpeg_destroy_decompress(&job->jpeg);
}

tvlm_status tvlm_io_decode_jpeg_libjpeg(const tvlm_io_source *source, const tvlm_io_findings *findings,
                                        tvlm_io_picture *picture) {
    struct job job = {.source = source, .picture = picture};
    (void)findings;
    run(&job);
    return job.status;
}

#define QUOTED(text)       #text
#define QUOTED_VALUE(text) QUOTED(text)

#ifdef LIBJPEG_TURBO_VERSION
const char tvlm_io_libjpeg_name[] = "libjpeg-turbo " QUOTED_VALUE(LIBJPEG_TURBO_VERSION);
#else
const char tvlm_io_libjpeg_name[] = "libjpeg " QUOTED_VALUE(JPEG_LIB_VERSION);
#endif
