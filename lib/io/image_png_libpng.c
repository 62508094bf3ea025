/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_png_libpng.c: decodes PNG with libpng. The result is the same as stb_image's: a palette becomes RGB
 * or RGBA, a transparent colour becomes alpha, and one to four bits become eight.
 *
 * The whole file is handed in one piece to libpng's interface for files that arrive bit by bit. This
 * interface stops when the pixels are complete, whereas the other one inflates whatever follows. libpng
 * reports errors by a callback that must not return, so that the callback leaves it by longjmp.
 */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <png.h>

#include "io/decoders.h"

/* All state is kept here, and none in local variables: after a longjmp their values cannot be relied on. */
struct job {
    png_structp png;
    png_infop info;
    jmp_buf escape;
    const tvlm_io_source *source;
    tvlm_io_picture *picture;
    size_t stride;
    bool interlaced;
    tvlm_status status;
};

static tvlm_status damaged(const struct job *job, const char *what) {
    return tvlm_fail(job->source->log, TVLM_ERROR_FORMAT, "%s is a damaged PNG: %s", job->source->path, what);
}

static PNG_NORETURN void leave(png_structp png, tvlm_status status) {
    struct job *const job = png_get_error_ptr(png);
    job->status = status;
    longjmp(job->escape, 1);
}

static PNG_NORETURN void fail(png_structp png, png_const_charp message) {
    const struct job *const job = png_get_error_ptr(png);
    if (strstr(message, "memory") != NULL)
        leave(png, tvlm_fail(job->source->log, TVLM_ERROR_MEMORY, "no memory for the pixels of %s",
                             job->source->path));
    leave(png, damaged(job, message));
}

/*
 * Takes a warning. Of libpng's warnings only one concerns the pixels: if zlib cannot read the data, libpng
 * reports a wrong checksum at their end. Data beyond the last pixel do no harm, since they are not inflated.
 */
static void hear(png_structp png, png_const_charp message) {
    const struct job *const job = png_get_error_ptr(png);
    if (strstr(message, "ADLER32") != NULL)
        leave(png, damaged(job, "its data cannot be inflated, or their checksum is wrong"));
}

static void take_header(png_structp png, png_infop info) {
    struct job *const job = png_get_progressive_ptr(png);
    const bool deep = png_get_bit_depth(png, info) == 16;
    const uint16_t one = 1;
    png_set_expand(png);
    if (deep && *(const uint8_t *)&one == 1) png_set_swap(png); /* files have the high byte first */
    job->interlaced = png_set_interlace_handling(png) > 1;
    png_read_update_info(png, info);
    job->stride = png_get_rowbytes(png, info);
    const tvlm_status status = tvlm_io_picture_create(
        job->source, png_get_image_width(png, info), png_get_image_height(png, info),
        png_get_channels(png, info), deep ? TVLM_PIXEL_U16 : TVLM_PIXEL_U8, job->picture);
    if (status != TVLM_OK) leave(png, status);
}

/* Takes a row. It is NULL if a pass of an interlaced picture has no pixels in this row. */
static void take_row(png_structp png, png_bytep row, png_uint_32 number, int pass) {
    const struct job *const job = png_get_progressive_ptr(png);
    (void)pass;
    if (row != NULL) png_progressive_combine_row(png, job->picture->pixels + job->stride * number, row);
}

/* Returns whether the last row of the last pass has come. */
static bool is_complete(const struct job *job) {
    enum { passes = 7 };
    if (job->picture->pixels == NULL) return false;
    if (job->interlaced) return png_get_current_pass_number(job->png) >= passes;
    return png_get_current_row_number(job->png) >= (png_uint_32)job->picture->height;
}

static void decode(struct job *job) {
    png_set_progressive_read_fn(job->png, job, take_header, take_row, NULL);
    png_set_user_limits(job->png, TVLM_IO_SIDE_MAX, TVLM_IO_SIDE_MAX);
    /* Texts and profiles, which may be compressed, are not read. */
    png_set_keep_unknown_chunks(job->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    /* libpng does not write to these bytes, although its parameter is not const. */
    png_process_data(job->png, job->info, (png_bytep)(uintptr_t)job->source->bytes, job->source->size);
    if (!is_complete(job)) job->status = damaged(job, "its data end before its pixels");
}

static void run(struct job *job) {
    job->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, job, fail, hear);
    if (job->png != NULL) job->info = png_create_info_struct(job->png);
    if (job->info == NULL)
        job->status =
            tvlm_fail(job->source->log, TVLM_ERROR_MEMORY, "no memory to decode %s", job->source->path);
    else if (setjmp(job->escape) == 0)
        decode(job);
    png_destroy_read_struct(&job->png, &job->info, NULL);
}

tvlm_status tvlm_io_decode_png_libpng(const tvlm_io_source *source, const tvlm_io_findings *findings,
                                      tvlm_io_picture *picture) {
    struct job job = {.source = source, .picture = picture};
    (void)findings;
    run(&job);
    return job.status;
}
