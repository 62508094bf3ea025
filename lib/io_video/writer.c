/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/opt.h>
#include <libswscale/swscale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/check.h"
#include "io_video/say.h"
#include "platform/file.h"
#include "platform/temporary.h"
#include "texturevlm/io_video.h"

/*
 * The ticks of a second. At 24, 25, 29.97, 30, 50 and 60 frames a second, a frame has a whole number of them.
 * MPEG-4 allows up to 65535.
 */
#define TICKS        30000
#define RATE_DEFAULT 25.0
#define SIDE_MAX     16384
#define TIME_MAX     1e9
#define BITS_MAX     1e9

struct tvlm_video_writer {
    tvlm_log log;
    char *path;            /* as the caller wrote it, for messages */
    char *target;          /* the file that the path leads to */
    char *temporary;       /* the file that is written; NULL once it is renamed */
    int32_t width, height; /* the size of the frames that are handed in */
    double rate, bit_rate;
    AVFormatContext *container;
    AVCodecContext *encoder;
    AVStream *stream;
    AVPacket *packet;
    AVFrame *rgb;   /* the caller's pixels with room behind them, because swscale reads beyond a row's end */
    AVFrame *frame; /* the pixels as the encoder takes them */
    struct SwsContext *scaler;
    AVRegionOfInterest *regions; /* of the frames that come */
    int32_t region_count;
    AVRational tick; /* a tick of the encoder's clock, in seconds */
    int64_t last;    /* the timestamp of the last frame; -1 before the first */
    double later;    /* how much later than they say frames come: as much as the first one is before 0 */
    bool replaces;   /* a file was there, and `existing` says what it was */
    tvlm_file_facts existing;
    bool failed, finished;
};

bool tvlm_video_writable(const char *path) {
    if (path == NULL) return false;
    const AVOutputFormat *const format = av_guess_format(NULL, path, NULL);
    return format != NULL && format->video_codec != AV_CODEC_ID_NONE &&
           !(format->flags & (AVFMT_NOFILE | AVFMT_NEEDNUMBER)) && strstr(format->name, "image2") == NULL;
}

/* ---- The file ---- */

static tvlm_status cannot_write(const tvlm_video_writer *writer, int code) {
    char words[256];
    tvlm_system_words(code, words, sizeof words);
    return video_fail(&writer->log, TVLM_ERROR_IO, "cannot write %s: %s", writer->path, words);
}

/* Creates the temporary file, which is written until the video is complete. It is in the target's folder,
 * under a name that is free. */
static tvlm_status make_temporary(tvlm_video_writer *writer) {
    const int file = tvlm_temporary_make(writer->target, 0, &writer->temporary);
    if (file < 0 && errno == ENOMEM)
        return video_fail(&writer->log, TVLM_ERROR_MEMORY, "%s: no memory", writer->path);
    if (file < 0) return cannot_write(writer, errno);
    if (writer->replaces) tvlm_file_permit(file, &writer->existing);
    (void)tvlm_file_close(file);
    return TVLM_OK;
}

static tvlm_status find_target(tvlm_video_writer *writer) {
    writer->replaces = tvlm_path_facts(writer->path, &writer->existing);
    if (writer->replaces && !writer->existing.ordinary)
        return video_fail(&writer->log, TVLM_ERROR_IO, "cannot write %s: a video needs an ordinary file",
                          writer->path);
    if (writer->replaces && !tvlm_path_writable(writer->path)) return cannot_write(writer, errno);
    writer->target = tvlm_path_target(writer->path);
    if (writer->target == NULL && errno == ENOMEM)
        return video_fail(&writer->log, TVLM_ERROR_MEMORY, "%s: no memory", writer->path);
    if (writer->target == NULL && errno == ENOENT)
        return video_fail(&writer->log, TVLM_ERROR_IO, "cannot write %s: it is a link that leads to nothing",
                          writer->path);
    return writer->target == NULL ? cannot_write(writer, errno) : TVLM_OK;
}

static tvlm_status open_file(tvlm_video_writer *writer) {
    char *name = NULL;
    VIDEO_TRY(find_target(writer));
    VIDEO_TRY(make_temporary(writer));
    const size_t room = strlen(writer->temporary) + 6;
    if ((name = malloc(room)) == NULL)
        return video_fail(&writer->log, TVLM_ERROR_MEMORY, "%s: no memory", writer->path);
    snprintf(name, room, "file:%s", writer->temporary);
    const int code = avio_open(&writer->container->pb, name, AVIO_FLAG_WRITE);
    free(name);
    return code < 0 ? video_fail_code(&writer->log, TVLM_ERROR_IO, writer->path, "written", code) : TVLM_OK;
}

/* ---- The encoder ---- */

/* Returns the largest even number up to a side. 4:2:0 needs even sides. */
static int even(int32_t side) {
    return (int)(side & ~1);
}

static void set_encoder(tvlm_video_writer *writer, AVCodecContext *encoder) {
    encoder->width = even(writer->width);
    encoder->height = even(writer->height);
    encoder->pix_fmt = AV_PIX_FMT_YUV420P;
    encoder->time_base = writer->tick;
    encoder->framerate = av_d2q(writer->rate, 1001000);
    encoder->color_range = AVCOL_RANGE_MPEG;
    encoder->colorspace = AVCOL_SPC_SMPTE170M; /* the one to which swscale converts RGB */
    encoder->gop_size = 60;
    encoder->thread_count = 0;
    if (writer->container->oformat->flags & AVFMT_GLOBALHEADER) encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    const bool even_quality = writer->bit_rate == 0.0;
    if (!even_quality) encoder->bit_rate = (int64_t)writer->bit_rate;
    if (encoder->codec_id == AV_CODEC_ID_H264) {
        (void)av_opt_set(encoder->priv_data, "preset", "veryfast", 0); /* some encoders lack these two */
        if (even_quality) (void)av_opt_set(encoder->priv_data, "crf", "20", 0);
    } else if (encoder->codec_id == AV_CODEC_ID_VP8 || encoder->codec_id == AV_CODEC_ID_VP9) {
        (void)av_opt_set(encoder->priv_data, "deadline", "realtime", 0);
        (void)av_opt_set(encoder->priv_data, "cpu-used", "6", 0);
        if (even_quality) (void)av_opt_set(encoder->priv_data, "crf", "28", 0);
        if (even_quality) encoder->bit_rate = 0;
    } else if (even_quality) {
        encoder->flags |= AV_CODEC_FLAG_QSCALE;
        encoder->global_quality = 4 * FF_QP2LAMBDA;
    }
}

/* Opens that encoder if it exists and the container takes its codec. Returns whether it did. */
static bool try_encoder(tvlm_video_writer *writer, const AVCodec *codec) {
    const AVOutputFormat *const format = writer->container->oformat;
    if (codec == NULL) return false;
    /* FFmpeg does not know what goes into a transport stream; H.264 does (ISO/IEC 13818-1). */
    const bool stream = codec->id == AV_CODEC_ID_H264 && strcmp(format->name, "mpegts") == 0;
    if (!stream && avformat_query_codec(format, codec->id, FF_COMPLIANCE_NORMAL) != 1) return false;
    AVCodecContext *encoder = avcodec_alloc_context3(codec);
    if (encoder == NULL) return false;
    set_encoder(writer, encoder);
    if (avcodec_open2(encoder, codec, NULL) >= 0) {
        writer->encoder = encoder;
        return true;
    }
    avcodec_free_context(&encoder);
    return false;
}

static tvlm_status open_encoder(tvlm_video_writer *writer) {
    const AVOutputFormat *const format = writer->container->oformat;
    static const char *const names[] = {"libx264", "libopenh264", "libvpx-vp9", "mpeg4"};
    bool open = false;
    for (size_t i = 0; !open && i < sizeof names / sizeof *names; ++i)
        open = try_encoder(writer, avcodec_find_encoder_by_name(names[i]));
    if (!open && !try_encoder(writer, avcodec_find_encoder(format->video_codec)))
        return video_fail(&writer->log, TVLM_ERROR_UNSUPPORTED, "%s: FFmpeg has no encoder for %s videos",
                          writer->path, format->name);
    writer->stream = avformat_new_stream(writer->container, NULL);
    if (writer->stream == NULL)
        return video_fail(&writer->log, TVLM_ERROR_MEMORY, "%s: no memory", writer->path);
    writer->stream->time_base = writer->encoder->time_base;
    writer->stream->avg_frame_rate = writer->encoder->framerate;
    const int code = avcodec_parameters_from_context(writer->stream->codecpar, writer->encoder);
    return code < 0 ? video_fail_code(&writer->log, TVLM_ERROR_MEMORY, writer->path, "encoded", code)
                    : TVLM_OK;
}

static tvlm_status make_frame(tvlm_video_writer *writer) {
    AVFrame *const frame = writer->frame;
    frame->width = writer->encoder->width;
    frame->height = writer->encoder->height;
    frame->format = writer->encoder->pix_fmt;
    frame->color_range = writer->encoder->color_range;
    frame->colorspace = writer->encoder->colorspace;
    writer->rgb->width = frame->width;
    writer->rgb->height = frame->height;
    writer->rgb->format = AV_PIX_FMT_RGB24;
    writer->scaler =
        sws_getContext(frame->width, frame->height, AV_PIX_FMT_RGB24, frame->width, frame->height,
                       writer->encoder->pix_fmt, SWS_BICUBIC | SWS_ACCURATE_RND, NULL, NULL, NULL);
    if (writer->scaler == NULL || av_frame_get_buffer(frame, 0) < 0 ||
        av_frame_get_buffer(writer->rgb, 0) < 0)
        return video_fail(&writer->log, TVLM_ERROR_MEMORY, "%s: no memory", writer->path);
    return TVLM_OK;
}

static tvlm_status open_writer(const char *path, tvlm_video_writer *writer) {
    const AVOutputFormat *const format = av_guess_format(NULL, path, NULL);
    writer->path = strdup(path);
    writer->packet = av_packet_alloc();
    writer->rgb = av_frame_alloc();
    writer->frame = av_frame_alloc();
    if (writer->path == NULL || writer->packet == NULL || writer->rgb == NULL || writer->frame == NULL ||
        avformat_alloc_output_context2(&writer->container, format, NULL, NULL) < 0)
        return video_fail(&writer->log, TVLM_ERROR_MEMORY, "%s: no memory", path);
    /* In formats with a fixed rate, a tick is a frame. */
    writer->tick = (format->flags & AVFMT_VARIABLE_FPS) != 0 ? (AVRational){1, TICKS}
                                                             : av_inv_q(av_d2q(writer->rate, 1001000));
    VIDEO_TRY(open_encoder(writer));
    VIDEO_TRY(make_frame(writer));
    VIDEO_TRY(open_file(writer));
    const int code = avformat_write_header(writer->container, NULL);
    return code < 0 ? video_fail_code(&writer->log, TVLM_ERROR_IO, path, "written", code) : TVLM_OK;
}

tvlm_status tvlm_video_writer_open(const char *path, int32_t width, int32_t height,
                                   const struct tvlm_video_writer_params *params,
                                   tvlm_video_writer **writer) {
    const struct tvlm_video_writer_params none = {0}, *const given = params != NULL ? params : &none;
    if (path == NULL || *path == '\0' || writer == NULL)
        return video_fail(given->log, TVLM_ERROR_ARGUMENT, "tvlm_video_writer_open: no path or no writer");
    if (!tvlm_is_zero(given->reserved, sizeof given->reserved))
        return video_fail(given->log, TVLM_ERROR_ARGUMENT, TVLM_RESERVED_REFUSAL, "tvlm_video_writer_params",
                          TVLM_VERSION_MAJOR, TVLM_VERSION_MINOR, TVLM_VERSION_PATCH);
    if (width < 2 || height < 2 || width > SIDE_MAX || height > SIDE_MAX)
        return video_fail(given->log, TVLM_ERROR_ARGUMENT, "%s: a video of %d x %d; its sides are 2 .. %d",
                          path, (int)width, (int)height, SIDE_MAX);
    if (!isfinite(given->rate) || given->rate < 0.0 || given->rate > TICKS)
        return video_fail(given->log, TVLM_ERROR_ARGUMENT, "%s: %g frames a second", path, given->rate);
    if (!(given->bit_rate >= 0.0 && given->bit_rate <= BITS_MAX))
        return video_fail(given->log, TVLM_ERROR_ARGUMENT, "%s: %g bits a second", path, given->bit_rate);
    if (!tvlm_video_writable(path))
        return video_fail(given->log, TVLM_ERROR_ARGUMENT, "%s: there is no video format of that ending",
                          path);
    video_quiet();
    tvlm_video_writer *made = calloc(1, sizeof *made);
    if (made == NULL) return video_fail(given->log, TVLM_ERROR_MEMORY, "%s: no memory", path);
    if (given->log != NULL) made->log = *given->log;
    made->width = width;
    made->height = height;
    made->rate = given->rate > 0.0 ? given->rate : RATE_DEFAULT;
    made->bit_rate = given->bit_rate;
    made->last = -1;
    const tvlm_status status = open_writer(path, made);
    if (status != TVLM_OK) {
        tvlm_video_writer_destroy(&made);
        return status;
    }
    *writer = made;
    return TVLM_OK;
}

/* ---- Frames ---- */

/* Gives the encoder a frame, or NULL for the end, and writes the packets that come out. */
static tvlm_status encode(tvlm_video_writer *writer, const AVFrame *frame) {
    AVPacket *const packet = writer->packet;
    int code = avcodec_send_frame(writer->encoder, frame);
    while (code >= 0) {
        code = avcodec_receive_packet(writer->encoder, packet);
        if (code < 0) break;
        packet->stream_index = writer->stream->index;
        if (packet->duration == 0) packet->duration = llround(1.0 / (av_q2d(writer->tick) * writer->rate));
        av_packet_rescale_ts(packet, writer->encoder->time_base, writer->stream->time_base);
        code = av_interleaved_write_frame(writer->container, packet);
        av_packet_unref(packet);
    }
    if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) return TVLM_OK;
    writer->failed = true;
    return video_fail_code(&writer->log, TVLM_ERROR_IO, writer->path, "written", code);
}

static bool is_within(const tvlm_video_writer *writer, const tvlm_video_region *region) {
    return region->left >= 0 && region->top >= 0 && region->left < region->right &&
           region->top < region->bottom && region->right <= writer->width &&
           region->bottom <= writer->height && region->quality >= -1.0f && region->quality <= 1.0f;
}

tvlm_status tvlm_video_writer_set_regions(tvlm_video_writer *writer, const tvlm_video_region *regions,
                                          int32_t count) {
    if (writer == NULL) return TVLM_ERROR_ARGUMENT;
    if (count < 0 || (count > 0 && regions == NULL))
        return video_fail(&writer->log, TVLM_ERROR_ARGUMENT, "%s: %d regions, and none are given",
                          writer->path, (int)count);
    for (int32_t i = 0; i < count; ++i)
        if (!is_within(writer, &regions[i]))
            return video_fail(
                &writer->log, TVLM_ERROR_ARGUMENT,
                "%s: region %d, %d,%d to %d,%d of a quality of %g, is not one of a frame of %d x %d",
                writer->path, (int)i, (int)regions[i].left, (int)regions[i].top, (int)regions[i].right,
                (int)regions[i].bottom, (double)regions[i].quality, (int)writer->width, (int)writer->height);
    AVRegionOfInterest *const made = calloc((size_t)count + 1, sizeof *made);
    if (made == NULL) return video_fail(&writer->log, TVLM_ERROR_MEMORY, "%s: no memory", writer->path);
    for (int32_t i = 0; i < count; ++i)
        made[i] = (AVRegionOfInterest){.self_size = sizeof *made,
                                       .top = regions[i].top,
                                       .bottom = regions[i].bottom,
                                       .left = regions[i].left,
                                       .right = regions[i].right,
                                       .qoffset = {(int)lround(-1000.0 * (double)regions[i].quality), 1000}};
    free(writer->regions);
    writer->regions = made;
    writer->region_count = count;
    return TVLM_OK;
}

/* Tells the encoder the regions of a frame. */
static tvlm_status attach_regions(const tvlm_video_writer *writer, AVFrame *frame) {
    const size_t bytes = (size_t)writer->region_count * sizeof *writer->regions;
    av_frame_remove_side_data(frame, AV_FRAME_DATA_REGIONS_OF_INTEREST);
    if (bytes == 0) return TVLM_OK;
    AVFrameSideData *const data = av_frame_new_side_data(frame, AV_FRAME_DATA_REGIONS_OF_INTEREST, bytes);
    if (data == NULL) return video_fail(&writer->log, TVLM_ERROR_MEMORY, "%s: no memory", writer->path);
    memcpy(data->data, writer->regions, bytes);
    return TVLM_OK;
}

static void copy_pixels(const tvlm_image *image, AVFrame *rgb) {
    const size_t row = image->row_stride != 0 ? image->row_stride : 3 * (size_t)image->width;
    for (int y = 0; y < rgb->height; ++y)
        memcpy(rgb->data[0] + (ptrdiff_t)y * rgb->linesize[0],
               (const uint8_t *)image->pixels + (size_t)y * row, 3 * (size_t)rgb->width);
}

tvlm_status tvlm_video_writer_add(tvlm_video_writer *writer, const tvlm_image *image, double time) {
    if (writer == NULL) return TVLM_ERROR_ARGUMENT;
    if (writer->finished)
        return video_fail(&writer->log, TVLM_ERROR_ARGUMENT, "%s: it is finished already", writer->path);
    if (image == NULL || image->pixels == NULL || image->width != writer->width ||
        image->height != writer->height || image->channels != 3 || image->type != TVLM_PIXEL_U8)
        return video_fail(&writer->log, TVLM_ERROR_ARGUMENT, "%s: a frame that is not RGB of %d x %d",
                          writer->path, (int)writer->width, (int)writer->height);
    if (!tvlm_is_zero(image->reserved, sizeof image->reserved))
        return video_fail(&writer->log, TVLM_ERROR_ARGUMENT, TVLM_RESERVED_REFUSAL, "tvlm_image",
                          TVLM_VERSION_MAJOR, TVLM_VERSION_MINOR, TVLM_VERSION_PATCH);
    if (image->row_stride != 0 && image->row_stride < 3 * (size_t)image->width)
        return video_fail(&writer->log, TVLM_ERROR_ARGUMENT, "%s: a row stride of %zu bytes; a row has %zu",
                          writer->path, image->row_stride, 3 * (size_t)image->width);
    if (!(time >= -TIME_MAX && time <= TIME_MAX))
        return video_fail(&writer->log, TVLM_ERROR_ARGUMENT, "%s: a frame at %g s", writer->path, time);
    AVFrame *const frame = writer->frame;
    if (av_frame_make_writable(frame) < 0) /* the encoder may still hold the former content */
        return video_fail(&writer->log, TVLM_ERROR_MEMORY, "%s: no memory", writer->path);
    VIDEO_TRY(attach_regions(writer, frame));
    copy_pixels(image, writer->rgb);
    (void)sws_scale(writer->scaler, (const uint8_t *const *)writer->rgb->data, writer->rgb->linesize, 0,
                    frame->height, frame->data, frame->linesize);
    if (writer->last < 0 && time < 0.0) writer->later = -time;
    const int64_t stamp = llround((time + writer->later) / av_q2d(writer->tick));
    frame->pts = stamp > writer->last ? stamp : writer->last + 1;
    frame->pict_type = AV_PICTURE_TYPE_NONE;
    writer->last = frame->pts;
    return encode(writer, frame);
}

static tvlm_status complete(tvlm_video_writer *writer) {
    if (writer->failed) return TVLM_ERROR_IO;
    VIDEO_TRY(encode(writer, NULL));
    int code = av_write_trailer(writer->container);
    const int closed = avio_closep(&writer->container->pb);
    if (code >= 0) code = closed;
    if (code < 0) return video_fail_code(&writer->log, TVLM_ERROR_IO, writer->path, "written", code);
    if (!tvlm_path_rename(writer->temporary, writer->target)) return cannot_write(writer, errno);
    tvlm_temporary_forget(writer->temporary);
    free(writer->temporary);
    writer->temporary = NULL;
    return TVLM_OK;
}

tvlm_status tvlm_video_writer_finish(tvlm_video_writer *writer) {
    if (writer == NULL) return TVLM_ERROR_ARGUMENT; /* without a log */
    if (writer->finished)
        return video_fail(&writer->log, TVLM_ERROR_ARGUMENT, "%s: it is finished already", writer->path);
    writer->finished = true;
    return complete(writer);
}

void tvlm_video_remove_temporaries(void) {
    tvlm_temporary_remove_all();
}

void tvlm_video_writer_destroy(tvlm_video_writer **writer) {
    if (writer == NULL || *writer == NULL) return;
    tvlm_video_writer *const old = *writer;
    if (old->container != NULL && old->container->pb != NULL) (void)avio_closep(&old->container->pb);
    if (old->temporary != NULL) (void)tvlm_path_remove(old->temporary);
    tvlm_temporary_forget(old->temporary);
    sws_freeContext(old->scaler);
    av_frame_free(&old->rgb);
    av_frame_free(&old->frame);
    av_packet_free(&old->packet);
    avcodec_free_context(&old->encoder);
    avformat_free_context(old->container);
    free(old->regions);
    free(old->temporary);
    free(old->target);
    free(old->path);
    free(old);
    *writer = NULL;
}
