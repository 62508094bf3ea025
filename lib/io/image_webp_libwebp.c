/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_webp_libwebp.c: decodes WebP with libwebp. It uses the library's defaults, as Pillow does, so that
 * the pixels are the same as Pillow's. Of an animation it decodes the first frame. If this frame does not
 * cover the canvas, the rest is transparent.
 */
#include <string.h>

#include <webp/decode.h>
#include <webp/demux.h>

#include "io/decoders.h"
#include "io/exif.h"

/* The longest side. Encoders do not make larger pictures. Only the canvas of an animation may say that it is
 * larger. */
enum { side_max = 16384 };

struct job {
    const tvlm_io_source *source;
    WebPDemuxer *demuxer;
    WebPIterator frame;
    tvlm_io_picture *picture;
};

static tvlm_status damaged(const tvlm_io_source *source, const char *what) {
    return tvlm_fail(source->log, TVLM_ERROR_FORMAT, "%s is a damaged WebP: %s", source->path, what);
}

static tvlm_status truncated(const tvlm_io_source *source) {
    return tvlm_fail(source->log, TVLM_ERROR_FORMAT, "%s is a truncated WebP: it ends after %zu bytes",
                     source->path, source->size);
}

static tvlm_status no_memory(const tvlm_io_source *source) {
    return tvlm_fail(source->log, TVLM_ERROR_MEMORY, "no memory for the pixels of %s", source->path);
}

/* Opens the file, whose parts must all be there. The caller deletes the demuxer. */
static tvlm_status open_file(const tvlm_io_source *source, WebPDemuxer **demuxer) {
    const WebPData data = {source->bytes, source->size};
    WebPDemuxState state = WEBP_DEMUX_PARSE_ERROR;
    *demuxer = WebPDemuxPartial(&data, &state);
    if (*demuxer != NULL && state == WEBP_DEMUX_DONE) return TVLM_OK;
    WebPDemuxDelete(*demuxer);
    *demuxer = NULL;
    return state == WEBP_DEMUX_PARSE_ERROR ? damaged(source, "its parts do not fit together")
                                           : truncated(source);
}

/* Returns the orientation of an EXIF block. Some writers put six bytes before the block, as they stand before
 * it in a JPEG. */
static int orientation_of(const uint8_t *bytes, size_t size) {
    const size_t skipped = size >= 6 && memcmp(bytes, "Exif\0", 6) == 0 ? 6 : 0;
    return tvlm_io_exif_orientation(bytes + skipped, size - skipped);
}

tvlm_status tvlm_io_check_webp_libwebp(const tvlm_io_source *source, tvlm_io_findings *findings) {
    WebPDemuxer *demuxer;
    WebPChunkIterator chunk;
    const tvlm_status status = open_file(source, &demuxer);
    if (status != TVLM_OK) return status;
    if (WebPDemuxGetChunk(demuxer, "EXIF", 1, &chunk)) {
        findings->orientation = orientation_of(chunk.chunk.bytes, chunk.chunk.size);
        WebPDemuxReleaseChunkIterator(&chunk);
    }
    WebPDemuxDelete(demuxer);
    return TVLM_OK;
}

/* Decodes the frame to its place in the picture. The caller has checked that it lies within the picture. */
static tvlm_status decode_frame(const struct job *job) {
    const tvlm_io_picture *const picture = job->picture;
    const WebPIterator *const frame = &job->frame;
    const size_t pixel = (size_t)picture->channels, stride = pixel * (size_t)picture->width;
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) return damaged(job->source, "libwebp is of another version");
    config.output.colorspace = picture->channels == 4 ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba =
        picture->pixels + stride * (size_t)frame->y_offset + pixel * (size_t)frame->x_offset;
    config.output.u.RGBA.stride = (int)stride;
    config.output.u.RGBA.size = stride * (size_t)(frame->height - 1) + pixel * (size_t)frame->width;
    const VP8StatusCode status = WebPDecode(frame->fragment.bytes, frame->fragment.size, &config);
    WebPFreeDecBuffer(&config.output);
    switch (status) {
    case VP8_STATUS_OK: return TVLM_OK;
    case VP8_STATUS_OUT_OF_MEMORY: return no_memory(job->source);
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_NOT_ENOUGH_DATA: return damaged(job->source, "its data end before its pixels");
    default: return damaged(job->source, "its data cannot be decoded");
    }
}

static tvlm_status decode(struct job *job) {
    const WebPIterator *const frame = &job->frame;
    const uint32_t width = WebPDemuxGetI(job->demuxer, WEBP_FF_CANVAS_WIDTH),
                   height = WebPDemuxGetI(job->demuxer, WEBP_FF_CANVAS_HEIGHT);
    if (!WebPDemuxGetFrame(job->demuxer, 1, &job->frame)) return damaged(job->source, "it has no picture");
    if (width > side_max || height > side_max)
        return tvlm_fail(job->source->log, TVLM_ERROR_UNSUPPORTED, "%s is too large: %lu x %lu pixels",
                         job->source->path, (unsigned long)width, (unsigned long)height);
    const bool covered = (uint32_t)frame->width == width && (uint32_t)frame->height == height;
    const bool alpha = !covered || (WebPDemuxGetI(job->demuxer, WEBP_FF_FORMAT_FLAGS) & ALPHA_FLAG) != 0;
    if (frame->x_offset < 0 || frame->y_offset < 0 || frame->width < 1 || frame->height < 1 ||
        (uint32_t)frame->x_offset + (uint32_t)frame->width > width ||
        (uint32_t)frame->y_offset + (uint32_t)frame->height > height)
        return damaged(job->source, "its first frame lies outside");
    const tvlm_status status =
        tvlm_io_picture_create(job->source, width, height, alpha ? 4 : 3, TVLM_PIXEL_U8, job->picture);
    if (status != TVLM_OK) return status;
    if (!covered) memset(job->picture->pixels, 0, (size_t)width * height * 4);
    return decode_frame(job);
}

tvlm_status tvlm_io_decode_webp_libwebp(const tvlm_io_source *source, const tvlm_io_findings *findings,
                                        tvlm_io_picture *picture) {
    struct job job = {.source = source, .picture = picture};
    (void)findings;
    tvlm_status status = open_file(source, &job.demuxer);
    if (status != TVLM_OK) return status;
    status = decode(&job);
    WebPDemuxReleaseIterator(&job.frame);
    WebPDemuxDelete(job.demuxer);
    return status;
}
