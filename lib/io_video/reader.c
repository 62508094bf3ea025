/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/check.h"
#include "io_video/pixels.h"
#include "io_video/say.h"
#include "io_video/whole.h"
#include "platform/clock.h"
#include "platform/file.h"
#include "texturevlm/io_video.h"

/*
 * The containers that are read, by FFmpeg's names. Other containers that FFmpeg knows may name further files
 * (a playlist, a list of parts, a script), which FFmpeg would open.
 */
#define FILE_FORMATS                                                                                         \
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpegtsraw,mpeg,mpegvideo,m4v,h263,h264,hevc,av1,obu,"  \
    "ivf,vc1,dirac,dnxhd,mjpeg,mjpeg_2000,flv,live_flv,ogg,asf,rm,nut,mxf,gxf,dv,gif,apng,yuv4mpegpipe,"     \
    "webp_pipe,tiff_pipe,jpegxl_pipe,qoi_pipe,png_pipe,jpeg_pipe,bmp_pipe,ppm_pipe,pgm_pipe,"                \
    "wav,w64,mp3,aac,flac"

/* A URL may also be a camera, or a stream that comes in parts. The parts come through the network as well. */
#define NETWORK_FORMATS FILE_FORMATS ",rtsp,hls"

#define FILE_PROTOCOLS    "file,pipe,fd"
#define NETWORK_PROTOCOLS "http,https,httpproxy,tcp,tls,udp,rtp,srtp,rtmp,rtmps,rtmpt,rtsp,srt,crypto"

#define SILENCE_DEFAULT 60.0

struct tvlm_video_reader {
    tvlm_log log;
    char *path;
    bool (*stop)(void *user);
    void *user;
    double silence;    /* the most seconds that may pass without a byte */
    double last_heard; /* when the last byte came, in seconds of a clock that never goes back */
    bool fell_silent, stopped;
    AVFormatContext *container;
    AVCodecContext *decoder;
    AVStream *stream;
    AVPacket *packet;
    AVFrame *frame;
    video_pixels pixels;
    tvlm_video_info info;
    video_turn turn;
    int64_t number;
    int64_t first;   /* the timestamp of the first frame; AV_NOPTS_VALUE before that frame */
    double last;     /* the time of the last frame that came; -1 if none came yet */
    double furthest; /* where the latest packet of any track ends, in seconds from the container's start */
    bool draining;   /* the container is at its end, and the decoder gives the frames that it still holds */
    int64_t skipped; /* the number of frames that do not decode */
    int error;       /* FFmpeg's error if the container cannot be read to its end; otherwise 0 */
    bool told;       /* the last frame has come, and what is wrong with the file was reported */
};

/* Returns whether FFmpeg must stop. FFmpeg calls this while it waits, and whenever it opens something. */
static int must_stop(void *user) {
    tvlm_video_reader *const reader = user;
    if (reader->stop != NULL && reader->stop(reader->user)) reader->stopped = true;
    if (reader->stopped) return 1;
    reader->fell_silent = tvlm_now() - reader->last_heard > reader->silence;
    return reader->fell_silent;
}

/* Returns the name by which FFmpeg opens a path. A file whose name looks like a protocol ("a:b.mp4") is still
 * a file. */
static char *name_of(const char *path) {
    tvlm_file_facts facts;
    const char *const prefix = tvlm_path_facts(path, &facts) ? "file:" : "";
    const size_t size = strlen(prefix) + strlen(path) + 1;
    char *const name = malloc(size);
    if (name != NULL) snprintf(name, size, "%s%s", prefix, path);
    return name;
}

/* The file that a path means, which FFmpeg also takes as a URL ("file:clip.mkv", "file:///clip.mkv"). */
static const char *file_of(const char *path) {
    tvlm_file_facts facts;
    if (strncmp(path, "file:", 5) != 0 || tvlm_path_facts(path, &facts)) return path;
    path += 5;
    return strncmp(path, "//", 2) == 0 ? path + 2 : path;
}

static tvlm_status silent(const tvlm_video_reader *reader) {
    return video_fail(&reader->log, TVLM_ERROR_IO, "%s: nothing came for %g seconds", reader->path,
                      reader->silence);
}

static tvlm_status open_container(tvlm_video_reader *reader) {
    int64_t size = 0;
    char *const name = name_of(reader->path);
    reader->container = avformat_alloc_context();
    if (name == NULL || reader->container == NULL) {
        free(name);
        return video_fail(&reader->log, TVLM_ERROR_MEMORY, "%s: no memory", reader->path);
    }
    const bool network = strstr(name, "://") != NULL && strncmp(name, "file:", 5) != 0;
    reader->container->interrupt_callback = (AVIOInterruptCB){must_stop, reader};
    reader->container->format_whitelist = av_strdup(network ? NETWORK_FORMATS : FILE_FORMATS);
    reader->container->protocol_whitelist = av_strdup(network ? NETWORK_PROTOCOLS : FILE_PROTOCOLS);
    if (reader->container->format_whitelist == NULL || reader->container->protocol_whitelist == NULL) {
        free(name);
        return video_fail(&reader->log, TVLM_ERROR_MEMORY, "%s: no memory", reader->path);
    }
    /* A failed open releases the context. */
    const int code = avformat_open_input(&reader->container, name, NULL, NULL);
    free(name);
    if (reader->fell_silent) return silent(reader);
    if (code == AVERROR(EINVAL)) /* FFmpeg's error for a format or protocol that is not on the whitelist */
        return video_fail(&reader->log, TVLM_ERROR_FORMAT,
                          "%s: is of a kind that is not read, because it may name other files", reader->path);
    if ((code == AVERROR_INVALIDDATA || code == AVERROR_EOF) && video_is_cut(file_of(reader->path), &size))
        return video_fail(&reader->log, TVLM_ERROR_FORMAT,
                          "%s: is cut off after %lld bytes, and cannot be read", reader->path,
                          (long long)size);
    if (code == AVERROR_INVALIDDATA)
        return video_fail(&reader->log, TVLM_ERROR_FORMAT, "%s: no image and no video that can be read",
                          reader->path);
    if (code < 0) return video_fail_code(&reader->log, TVLM_ERROR_IO, reader->path, "opened", code);
    return TVLM_OK;
}

/*
 * Returns how a video is turned. Phones do not turn the pixels; they write a matrix. Let a, b, c and d be its
 * numbers 0, 1, 3 and 4. The matrix maps the place (p, q) in the stored picture to the place
 * (a p + c q, b p + d q) in the picture that is shown. An angle between two quarter turns is rounded to the
 * nearest one.
 */
static video_turn turn_of(const AVStream *stream) {
#if LIBAVFORMAT_VERSION_INT >= AV_VERSION_INT(60, 15, 100)
    const AVPacketSideData *const data = av_packet_side_data_get(
        stream->codecpar->coded_side_data, stream->codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
    const uint8_t *const bytes = data != NULL && data->size >= 9 * sizeof(int32_t) ? data->data : NULL;
#else
    const uint8_t *const bytes = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, NULL);
#endif
    int32_t matrix[9];
    if (bytes == NULL) return (video_turn){0};
    memcpy(matrix, bytes, sizeof matrix);
    if (fabs((double)matrix[1]) > fabs((double)matrix[0]))
        return (video_turn){.across = true, .back_x = matrix[1] < 0, .back_y = matrix[3] < 0};
    return (video_turn){.back_x = matrix[0] < 0, .back_y = matrix[4] < 0};
}

static tvlm_status open_track(tvlm_video_reader *reader, int32_t threads) {
    const AVCodec *codec = NULL;
    reader->last_heard = tvlm_now();
    int code = avformat_find_stream_info(reader->container, NULL);
    if (reader->fell_silent) return silent(reader);
    if (code < 0) return video_fail_code(&reader->log, TVLM_ERROR_FORMAT, reader->path, "read", code);
    const int track = av_find_best_stream(reader->container, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
    if (track == AVERROR_STREAM_NOT_FOUND)
        return video_fail(&reader->log, TVLM_ERROR_FORMAT, "%s: there is no video track in it", reader->path);
    if (track < 0 || codec == NULL)
        return video_fail(&reader->log, TVLM_ERROR_UNSUPPORTED, "%s: there is no decoder for its video track",
                          reader->path);
    reader->stream = reader->container->streams[track];
    reader->decoder = avcodec_alloc_context3(codec);
    if (reader->decoder == NULL)
        return video_fail(&reader->log, TVLM_ERROR_MEMORY, "%s: no memory", reader->path);
    code = avcodec_parameters_to_context(reader->decoder, reader->stream->codecpar);
    /* One thread is the default. With several, the result of a damaged frame, and of frames that are
     * predicted from it, depends on what was in memory before. */
    reader->decoder->thread_count = threads > 0 ? threads : 1;
    reader->decoder->pkt_timebase = reader->stream->time_base;
    if (code >= 0) code = avcodec_open2(reader->decoder, codec, NULL);
    if (code < 0) return video_fail_code(&reader->log, TVLM_ERROR_UNSUPPORTED, reader->path, "decoded", code);
    return TVLM_OK;
}

static void read_info(tvlm_video_reader *reader) {
    const AVStream *const stream = reader->stream;
    const AVCodecParameters *const codec = stream->codecpar;
    const AVRational rate = stream->avg_frame_rate.num > 0 ? stream->avg_frame_rate : stream->r_frame_rate;
    tvlm_video_info *const info = &reader->info;
    reader->turn = turn_of(stream);
    info->width = reader->turn.across ? codec->height : codec->width;
    info->height = reader->turn.across ? codec->width : codec->height;
    if (rate.num > 0 && rate.den > 0) info->rate = av_q2d(rate);
    if (stream->duration > 0)
        info->duration = (double)stream->duration * av_q2d(stream->time_base);
    else if (reader->container->duration > 0)
        info->duration = (double)reader->container->duration / AV_TIME_BASE;
    info->frames = stream->nb_frames > 0 ? stream->nb_frames : llround(info->duration * info->rate);
    info->codec = avcodec_get_name(codec->codec_id);
}

static tvlm_status open_reader(const char *path, int32_t threads, tvlm_video_reader *reader) {
    const size_t size = strlen(path) + 1;
    reader->path = malloc(size);
    reader->packet = av_packet_alloc();
    reader->frame = av_frame_alloc();
    if (reader->path == NULL || reader->packet == NULL || reader->frame == NULL)
        return video_fail(&reader->log, TVLM_ERROR_MEMORY, "%s: no memory", path);
    memcpy(reader->path, path, size);
    tvlm_status status = open_container(reader);
    if (status == TVLM_OK) status = open_track(reader, threads);
    if (status == TVLM_OK) read_info(reader);
    return status;
}

tvlm_status tvlm_video_reader_open(const char *path, const struct tvlm_video_reader_params *params,
                                   tvlm_video_reader **reader) {
    const struct tvlm_video_reader_params none = {0}, *const given = params != NULL ? params : &none;
    if (path == NULL || *path == '\0' || reader == NULL)
        return video_fail(given->log, TVLM_ERROR_ARGUMENT, "tvlm_video_reader_open: no path or no reader");
    if (!tvlm_is_zero(given->reserved, sizeof given->reserved))
        return video_fail(given->log, TVLM_ERROR_ARGUMENT, TVLM_RESERVED_REFUSAL, "tvlm_video_reader_params",
                          TVLM_VERSION_MAJOR, TVLM_VERSION_MINOR, TVLM_VERSION_PATCH);
    if (given->threads < 0)
        return video_fail(given->log, TVLM_ERROR_ARGUMENT, "tvlm_video_reader_open: %d threads",
                          (int)given->threads);
    if (!(given->silence >= 0.0))
        return video_fail(given->log, TVLM_ERROR_ARGUMENT, "tvlm_video_reader_open: %g seconds of silence",
                          given->silence);
    video_quiet();
    tvlm_video_reader *made = calloc(1, sizeof *made);
    if (made == NULL) return video_fail(given->log, TVLM_ERROR_MEMORY, "%s: no memory", path);
    if (given->log != NULL) made->log = *given->log;
    made->stop = given->stop;
    made->user = given->user;
    made->silence = given->silence > 0.0 ? given->silence : SILENCE_DEFAULT;
    made->last_heard = tvlm_now();
    made->first = AV_NOPTS_VALUE;
    made->last = -1.0;
    const tvlm_status status = open_reader(path, given->threads, made);
    if (status != TVLM_OK) {
        tvlm_video_reader_destroy(&made);
        return status;
    }
    *reader = made;
    return TVLM_OK;
}

void tvlm_video_reader_destroy(tvlm_video_reader **reader) {
    if (reader == NULL || *reader == NULL) return;
    tvlm_video_reader *const old = *reader;
    video_pixels_release(&old->pixels);
    av_frame_free(&old->frame);
    av_packet_free(&old->packet);
    avcodec_free_context(&old->decoder);
    avformat_close_input(&old->container);
    free(old->path);
    free(old);
    *reader = NULL;
}

tvlm_status tvlm_video_reader_get_info(const tvlm_video_reader *reader, tvlm_video_info *info) {
    if (reader == NULL) return TVLM_ERROR_ARGUMENT; /* without a log */
    if (info == NULL)
        return video_fail(&reader->log, TVLM_ERROR_ARGUMENT, "tvlm_video_reader_get_info: info is NULL");
    *info = reader->info;
    return TVLM_OK;
}

/* ---- Frames ---- */

/* Skips a frame that does not decode. The frames after it keep their numbers. */
static void skip(tvlm_video_reader *reader, int code) {
    char words[AV_ERROR_MAX_STRING_SIZE] = "unknown";
    av_strerror(code, words, sizeof words);
    video_warn(&reader->log, "%s: frame %lld does not decode (%s): skipped", reader->path,
               (long long)reader->number++, words);
    ++reader->skipped;
}

/* Notes how far the container goes. A packet of any track counts. */
static void note_time(tvlm_video_reader *reader) {
    const AVPacket *const packet = reader->packet;
    const int64_t first = reader->container->start_time,
                  stamp = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
    if (stamp == AV_NOPTS_VALUE) return;
    const double at = (double)(stamp + packet->duration) *
                      av_q2d(reader->container->streams[packet->stream_index]->time_base);
    reader->furthest =
        fmax(reader->furthest, at - (first != AV_NOPTS_VALUE ? (double)first / AV_TIME_BASE : 0.0));
}

/* Gives the decoder the track's next packet or, if there is none, the end. Returns 0, or the decoder's
 * error. */
static int feed(tvlm_video_reader *reader) {
    AVPacket *const packet = reader->packet;
    int code;
    do {
        av_packet_unref(packet);
        reader->last_heard = tvlm_now();
        code = av_read_frame(reader->container, packet);
        if (code >= 0) note_time(reader);
    } while (code >= 0 && packet->stream_index != reader->stream->index);
    if (code >= 0) {
        code = avcodec_send_packet(reader->decoder, packet);
        av_packet_unref(packet);
        return code;
    }
    const AVIOContext *const bytes = reader->container->pb;
    if (code == AVERROR_EOF && bytes != NULL && bytes->error < 0) code = bytes->error; /* a disk's error */
    if (code != AVERROR_EOF && code != AVERROR_EXIT) reader->error = code;
    reader->draining = true;
    return avcodec_send_packet(reader->decoder, NULL);
}

/* Puts the next frame into reader->frame. Returns 0, AVERROR_EOF or AVERROR(ENOMEM). */
static int decode(tvlm_video_reader *reader) {
    for (;;) {
        int code = avcodec_receive_frame(reader->decoder, reader->frame);
        const bool torn = code == 0 && (reader->frame->decode_error_flags != 0 ||
                                        (reader->frame->flags & AV_FRAME_FLAG_CORRUPT));
        if (code == 0 && !torn) return 0;
        if (code == AVERROR_EOF || code == AVERROR(ENOMEM)) return code;
        if (torn) {
            skip(reader, AVERROR_INVALIDDATA);
            continue;
        }
        if (code != AVERROR(EAGAIN)) {
            skip(reader, code);
            if (reader->draining) return AVERROR_EOF;
            continue;
        }
        code = feed(reader);
        if (code == AVERROR(ENOMEM)) return code;
        if (code < 0 && code != AVERROR_EOF) skip(reader, code);
    }
}

static double time_of(tvlm_video_reader *reader) {
    const int64_t stamp = reader->frame->best_effort_timestamp;
    if (stamp == AV_NOPTS_VALUE)
        return (double)reader->number / (reader->info.rate > 0.0 ? reader->info.rate : 25.0);
    if (reader->first == AV_NOPTS_VALUE) reader->first = stamp;
    return (double)(stamp - reader->first) * av_q2d(reader->stream->time_base);
}

/* Returns how long the video is, or 0 if that is in doubt: a duration that FFmpeg estimates from the bit rate
 * may be wrong. */
static double duration_of(const tvlm_video_reader *reader) {
    return reader->container->duration_estimation_method == AVFMT_DURATION_FROM_BITRATE
               ? 0.0
               : reader->info.duration;
}

/* Reports whether frames are missing, behind the last frame that came or before it. */
static tvlm_status end(tvlm_video_reader *reader) {
    const tvlm_log *const log = &reader->log;
    const double seconds = reader->last < 0.0 ? 0.0 : reader->last, whole = duration_of(reader);
    char words[AV_ERROR_MAX_STRING_SIZE] = "unknown", of[64] = "";
    int64_t size = 0, at = 0;
    const bool told = reader->told;
    reader->told = true;
    if (told || reader->stopped) return TVLM_OK;
    if (whole > 0.0) snprintf(of, sizeof of, " of %.6g", whole);
    if (reader->fell_silent)
        return video_fail(log, TVLM_ERROR_IO, "%s: ends at %.6g%s seconds: nothing came for %g seconds",
                          reader->path, seconds, of, reader->silence);
    if (video_is_cut(file_of(reader->path), &size))
        return video_fail(log, TVLM_ERROR_FORMAT, "%s: is cut off after %lld bytes, at %.6g%s seconds",
                          reader->path, (long long)size, seconds, of);
    if (reader->error != 0) {
        av_strerror(reader->error, words, sizeof words);
        return video_fail(log, TVLM_ERROR_FORMAT, "%s: cannot be read behind %.6g%s seconds: %s",
                          reader->path, seconds, of, words);
    }
    if (reader->skipped > 0)
        return video_fail(log, TVLM_ERROR_FORMAT, "%s: is damaged: %lld of %lld frames do not decode",
                          reader->path, (long long)reader->skipped, (long long)reader->number);
    if (video_is_torn(file_of(reader->path), &at))
        return video_fail(log, TVLM_ERROR_FORMAT,
                          "%s: is damaged at byte %lld: frames may be missing or wrong", reader->path,
                          (long long)at);
    if (whole - seconds <= 1.0 + 0.05 * whole) return TVLM_OK;
    /* If the sound goes on after the last frame, there may have been no more frames, so that this is only a
     * warning. */
    if (whole - reader->furthest > 1.0 + 0.05 * whole)
        return video_fail(log, TVLM_ERROR_FORMAT, "%s: is damaged: it ends at %.6g%s seconds", reader->path,
                          seconds, of);
    video_warn(log, "%s: ends at %.6g%s seconds", reader->path, seconds, of);
    return TVLM_OK;
}

tvlm_status tvlm_video_reader_next(tvlm_video_reader *reader, tvlm_video_frame *frame) {
    tvlm_video_frame next = {.end = true};
    if (reader == NULL) return TVLM_ERROR_ARGUMENT;
    if (frame == NULL)
        return video_fail(&reader->log, TVLM_ERROR_ARGUMENT, "%s: frame is NULL", reader->path);
    int code = reader->told ? AVERROR_EOF : decode(reader);
    if (code == AVERROR(ENOMEM))
        return video_fail(&reader->log, TVLM_ERROR_MEMORY, "%s: no memory", reader->path);
    if (code == 0) {
        next.end = false;
        next.time = reader->last = time_of(reader);
        next.number = reader->number++;
        code = video_pixels_convert(&reader->pixels, reader->frame, reader->turn, &next.image);
        av_frame_unref(reader->frame);
        if (code < 0)
            return video_fail_code(&reader->log, TVLM_ERROR_UNSUPPORTED, reader->path, "converted to RGB",
                                   code);
    }
    const tvlm_status status = next.end ? end(reader) : TVLM_OK;
    if (status == TVLM_OK) *frame = next;
    return status;
}
