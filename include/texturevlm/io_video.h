/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_video.h: videos, read and written through FFmpeg's libraries.
 *
 *     tvlm_video_reader *reader = NULL;
 *     tvlm_video_frame frame = {0};
 *     tvlm_status status = tvlm_video_reader_open("a.mp4", tvlm_video_reader_params(.log = &log), &reader);
 *     while (status == TVLM_OK && (status = tvlm_video_reader_next(reader, &frame)) == TVLM_OK && !frame.end)
 *         ... frame.image ...
 *     tvlm_video_reader_destroy(&reader);
 *
 * This is the header of a library of its own, texturevlm-video, which needs none of the others. FFmpeg brings
 * a hundred shared objects with it, and a program that reads no videos should not have to load them. The tool
 * loads this library when it meets a video.
 *
 * FFmpeg's own messages are switched off (av_log_set_level), unless the application has set a level before.
 */
#ifndef TEXTUREVLM_IO_VIDEO_H
#define TEXTUREVLM_IO_VIDEO_H

#include <stdbool.h>
#include <stdint.h>

#include "image.h"
#include "status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Reading ---- */

typedef struct tvlm_video_reader tvlm_video_reader;

struct tvlm_video_reader_params {
    /*
     * How many threads decode, >= 0; 0 means 1. With several threads, the frames behind a damaged place that are
     * built on it may come out differently each time. With one thread, they are the same always and everywhere.
     */
    int32_t threads;

    /*
     * Is called while the reader waits for bytes (from a pipe, a camera, a network). If it returns true, the
     * video ends there. May be NULL.
     */
    bool (*stop)(void *user);
    void *user; /* goes to `stop` */

    /*
     * How many seconds may pass without any bytes from the network, >= 0; 0 means 60. After that, opening fails,
     * and a video that is open ends there (tvlm_video_reader_next). A pipe is waited for as long as it takes.
     */
    double silence;

    /* Is copied, and used by every call on the reader. May be NULL. */
    const tvlm_log *log;
    uint64_t reserved[4];
};
#define tvlm_video_reader_params(...) TVLM_PARAMS(tvlm_video_reader_params, __VA_ARGS__)

/* What the file says about itself. The frames need not agree with it. */
typedef struct tvlm_video_info {
    int32_t width, height; /* as it is shown: after the quarter turns and mirroring that the file asks for */
    double rate;           /* frames a second, on average; 0 where the file does not tell */
    double duration;       /* in seconds; 0 where the file does not tell */
    int64_t frames;        /* about how many there are; 0 where the file does not tell */
    const char *codec;     /* its short name, such as "h264", in static storage */
    uint64_t reserved[4];
} tvlm_video_info;

typedef struct tvlm_video_frame {
    /* RGB of 8 bits, upright. The reader owns the pixels; they are valid until its next call. */
    tvlm_image image;

    /* Seconds since the first frame. */
    double time;

    /* Counts the frames of the file from 0. A frame that does not decode has its number too. */
    int64_t number;

    /* True behind the last frame. Nothing else is set then. */
    bool end;
    uint64_t reserved[4];
} tvlm_video_frame;

/*
 * Opens a video and the best video track in it. `path` is a file, a pipe or a URL.
 *
 * A file is never trusted to name another one. Only containers that hold their own frames are read (MP4,
 * Matroska, AVI, MPEG, FLV, Ogg and the like, no playlists), and a file may open nothing but itself. A URL
 * ("rtsp://...", "https://...") may also be a stream in parts (HLS), which come through the network and from
 * no local file.
 *
 * Errors:
 *   TVLM_ERROR_ARGUMENT     `path` is NULL or empty, or a parameter is out of range,
 *   TVLM_ERROR_IO           it cannot be opened, or nothing comes,
 *   TVLM_ERROR_FORMAT       it is no container that is read, or has no video track,
 *   TVLM_ERROR_UNSUPPORTED  there is no decoder for it,
 *   TVLM_ERROR_MEMORY.
 */
TVLM_API tvlm_status tvlm_video_reader_open(const char *path, const struct tvlm_video_reader_params *params,
                                            tvlm_video_reader **reader);

/* Releases a reader and sets *reader to NULL. NULL and a NULL *reader are accepted. */
TVLM_API void tvlm_video_reader_destroy(tvlm_video_reader **reader);

/* Fills *info with what the file says about itself. Errors: TVLM_ERROR_ARGUMENT (NULL); *info then stays as it
 * was. */
TVLM_API tvlm_status tvlm_video_reader_get_info(const tvlm_video_reader *reader, tvlm_video_info *info);

/*
 * Decodes the next frame.
 *
 * A frame that does not decode, or decodes only in part, is left out with a warning. The frames behind it, up to
 * the next keyframe, are what the decoder makes of them without it. A frame of another size than those before it
 * is returned as it is.
 *
 * If a video is damaged, the call behind its last frame returns an error in place of the end, once, and leaves
 * *frame as it was:
 *
 *   - TVLM_ERROR_FORMAT
 *       - if frames did not decode;
 *       - if the file cannot be read to its end;
 *       - if the file was cut off, as far as its container tells (MP4, Matroska, WebM, AVI, Ogg);
 *       - if the file holds something that is no part of its container (Matroska, WebM, AVI, Ogg, FLV);
 *       - if all its tracks end well before the duration that the file gives. If only the frames end well before
 *         that, while sound goes on, this is a warning and no error;
 *   - TVLM_ERROR_IO if nothing came any more (tvlm_video_reader_params.silence).
 *
 * Other errors: TVLM_ERROR_ARGUMENT (an argument is NULL), TVLM_ERROR_UNSUPPORTED (the pixels cannot be
 * converted to RGB), and TVLM_ERROR_MEMORY.
 */
TVLM_API tvlm_status tvlm_video_reader_next(tvlm_video_reader *reader, tvlm_video_frame *frame);

/* ---- Writing ---- */

typedef struct tvlm_video_writer tvlm_video_writer;

struct tvlm_video_writer_params {
    /* Frames a second, > 0, or 0 for 25. The encoder and the length of the last frame go by it. */
    double rate;

    /* Is copied, and used by every call on the writer. May be NULL. */
    const tvlm_log *log;

    /* Bits a second, up to 1e9. 0: as many as an even quality takes. */
    double bit_rate;
    uint64_t reserved[3];
};
#define tvlm_video_writer_params(...) TVLM_PARAMS(tvlm_video_writer_params, __VA_ARGS__)

/*
 * Tells whether there is a video format for a file of that name ("x.mp4", "x.mkv", "x.webm"). False for NULL.
 */
TVLM_API bool tvlm_video_writable(const char *path);

/*
 * Begins a video of frames of width x height pixels. After it, call tvlm_video_writer_add for each frame, and
 * then tvlm_video_writer_finish.
 *
 * The ending of the name decides on the format. The codec is H.264 if the format allows it and an encoder is
 * there; otherwise it is the format's usual codec. If a side is odd, its last row or column is left out, because
 * 4:2:0 has half as many samples of colour each way.
 *
 * The file appears, whole, with tvlm_video_writer_finish. Until then it is written under another name
 * (.tvlm-PID-N.tmp) in the same folder.
 *
 * Errors:
 *   TVLM_ERROR_ARGUMENT     a side is not in 2..16384, no format has that ending, or the rate is negative,
 *                           not finite or above 30000, or the bits a second are,
 *   TVLM_ERROR_UNSUPPORTED  there is no encoder for it,
 *   TVLM_ERROR_IO           the file cannot be written,
 *   TVLM_ERROR_MEMORY.
 */
TVLM_API tvlm_status tvlm_video_writer_open(const char *path, int32_t width, int32_t height,
                                            const struct tvlm_video_writer_params *params,
                                            tvlm_video_writer **writer);

/* A part of the frames: from `left` and `top` to the pixels before `right` and `bottom`. `quality` says how much
 * better, 0 to 1, or worse, -1 to 0, it is to be than the rest. */
typedef struct tvlm_video_region {
    int32_t left, top, right, bottom;
    float quality;
} tvlm_video_region;

/*
 * Spends more bits on some parts of the frames that are appended from now on. Where regions overlap the first one
 * counts. None, or a count of 0, treats all parts alike again. Regions are copied. They are FFmpeg's regions of
 * interest (AV_FRAME_DATA_REGIONS_OF_INTEREST), with the quality as the offset of the quantiser. x264 and VP9 heed
 * them, other encoders may not.
 *
 * Errors: TVLM_ERROR_ARGUMENT (NULL, a region that is empty or not within the frame, or a quality that is not within
 * -1 .. 1), TVLM_ERROR_MEMORY. The regions then stay as they were.
 */
TVLM_API tvlm_status tvlm_video_writer_set_regions(tvlm_video_writer *writer,
                                                   const tvlm_video_region *regions, int32_t count);

/*
 * Appends a frame. The image has the size of the writer and 3 channels of 8 bits. `time` is in seconds; a frame
 * that is not later than the one before it is moved to right behind that one. If the first frame is before 0, all
 * are moved by as much, so that the video begins at 0.
 *
 * Errors: TVLM_ERROR_ARGUMENT (NULL, another size or type, a row stride below a row, or a time that is not within 1e9
 * seconds),
 * TVLM_ERROR_IO (the disk is full, say), TVLM_ERROR_MEMORY.
 */
TVLM_API tvlm_status tvlm_video_writer_add(tvlm_video_writer *writer, const tvlm_image *image, double time);

/*
 * Completes the file and gives it its name. Whatever this returns, the writer must still be destroyed by
 * tvlm_video_writer_destroy. Errors: TVLM_ERROR_ARGUMENT (NULL, or it is finished already), TVLM_ERROR_IO,
 * TVLM_ERROR_MEMORY; no file appears then.
 */
TVLM_API tvlm_status tvlm_video_writer_finish(tvlm_video_writer *writer);

/*
 * Releases a writer and sets *writer to NULL. One that was not finished leaves no file. NULL and a NULL
 * *writer are accepted.
 */
TVLM_API void tvlm_video_writer_destroy(tvlm_video_writer **writer);

/* As tvlm_file_remove_temporaries (io.h), for videos. */
TVLM_API void tvlm_video_remove_temporaries(void);

#ifdef __cplusplus
}
#endif
#endif
