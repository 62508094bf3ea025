/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_video.h: videos in and out, through FFmpeg's libraries. A library of its own, texturevlm-video, that
 * needs none of the others: FFmpeg brings a hundred shared objects with it, and who reads no videos should
 * not load them (the tool loads it when it meets a video).
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
    int32_t threads; /* that decode; 0: as FFmpeg thinks best, >= 0 */
    /* Asked while there is waiting for bytes (a pipe, a camera, a network): true is the end of the video. */
    bool (*stop)(void *user);
    void *user;
    const tvlm_log *log; /* copied; used by every call on the reader */
};
#define tvlm_video_reader_params(...) (&(struct tvlm_video_reader_params){__VA_ARGS__})

/* All of it is as the file says; frames may differ. */
typedef struct tvlm_video_info {
    int32_t width, height; /* as shown: after the quarter turns and mirroring that the file asks for */
    double rate;           /* frames a second, on average; 0: not told */
    double duration;       /* seconds; 0: not told */
    int64_t frames;        /* about how many; 0: not told */
    const char *codec;     /* "h264"; static storage */
} tvlm_video_info;

typedef struct tvlm_video_frame {
    tvlm_image image; /* RGB, 8 bits, upright; the reader's, valid until its next call */
    double time;      /* seconds since the first frame's */
    int64_t number; /* 0, 1, ..: of those that were in the file; one that did not decode has its number too */
    bool end;       /* there is no further frame: nothing else is set */
} tvlm_video_frame;

/*
 * Opens a video file, or whatever else FFmpeg reads by that name, and its best video track. Errors: ARGUMENT
 * (path NULL or empty, threads negative), IO (cannot be opened), FORMAT (no container that FFmpeg knows, no
 * video track), UNSUPPORTED (no decoder for it), MEMORY.
 */
TVLM_API tvlm_status tvlm_video_reader_open(const char *path, const struct tvlm_video_reader_params *params,
                                            tvlm_video_reader **reader);
TVLM_API void tvlm_video_reader_destroy(tvlm_video_reader **reader);
TVLM_API void tvlm_video_reader_get_info(const tvlm_video_reader *reader, tvlm_video_info *info);

/*
 * The next frame that decodes. One that does not, or only in parts, is left out with a warning. A frame of
 * another size than those before it is returned as it is. A file that cannot be read to its end ends there,
 * with a warning. Errors: UNSUPPORTED (pixels that cannot be converted), MEMORY.
 */
TVLM_API tvlm_status tvlm_video_reader_next(tvlm_video_reader *reader, tvlm_video_frame *frame);

/* ---- Writing ---- */

typedef struct tvlm_video_writer tvlm_video_writer;

struct tvlm_video_writer_params {
    double rate;         /* frames a second, > 0: for the encoder and the length of the last frame; 0: 25 */
    const tvlm_log *log; /* copied; used by every call on the writer */
};
#define tvlm_video_writer_params(...) (&(struct tvlm_video_writer_params){__VA_ARGS__})

/* Whether there is a video format for a file of that name ("x.mp4", "x.mkv", "x.webm", ...). */
TVLM_API bool tvlm_video_writable(const char *path);

/*
 * Begins a video of that size; its format is the one of the name's ending, the codec H.264 where that and an
 * encoder are there, else what the format uses. A side that is odd loses its last row or column (4:2:0). The
 * file appears by tvlm_video_writer_finish, whole; until then it is written under another name
 * (.tvlm-PID-N.tmp) in the same folder. Errors: ARGUMENT (a side not in 2 .. 16384, no format of that ending,
 * a rate that is negative or not finite), UNSUPPORTED (no encoder), IO, MEMORY.
 */
TVLM_API tvlm_status tvlm_video_writer_open(const char *path, int32_t width, int32_t height,
                                            const struct tvlm_video_writer_params *params,
                                            tvlm_video_writer **writer);

/*
 * Appends a frame of the writer's size: 3 channels of 8 bits. `time` in seconds; one that is not later than
 * the frame before is moved right behind it. Errors: ARGUMENT (another size or type, a time that is not
 * finite), IO (disk full), MEMORY.
 */
TVLM_API tvlm_status tvlm_video_writer_add(tvlm_video_writer *writer, const tvlm_image *image, double time);

/* Completes the file, gives it its name and releases the writer, also when that fails. Errors: IO, MEMORY. */
TVLM_API tvlm_status tvlm_video_writer_finish(tvlm_video_writer **writer);

/* Releases a writer without leaving a file; after finish there is nothing to do. */
TVLM_API void tvlm_video_writer_destroy(tvlm_video_writer **writer);

#ifdef __cplusplus
}
#endif
#endif
