/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video_frames.h: gives frames in their order, from image files or from a video. A frame that does not decode
 * is left out with a warning. At the end a line says again what is missing.
 */
#ifndef TVLM_TOOLS_VIDEO_FRAMES_H
#define TVLM_TOOLS_VIDEO_FRAMES_H

#include "texturevlm/io.h"
#include "tool.h"
#include "video_library.h"

#define VIDEO_RATE_DEFAULT 25.0

typedef struct video_frames {
    struct tool *tool;
    char *const *paths;
    int32_t count, every;
    double rate;   /* frames per second: as asked for with files, or as a video says */
    int64_t total; /* about how many frames will come; 0: not known */
    bool (*stop)(void *user);
    const video_library *library; /* NULL: frames are files */
    tvlm_video_reader *reader;
    int64_t next; /* the number of the next file */
    tvlm_image *loaded;
    tvlm_log log;
    char reason[900];      /* why the last frame was left out */
    int32_t width, height; /* the size of the first frame; 0 before it */
    int64_t returned;      /* how many frames were returned */
    int64_t unread;        /* how many files could not be read */
    bool damaged;          /* the video is damaged, or ends too early; `reason` says so */
} video_frames;

typedef struct video_frame {
    tvlm_image image; /* valid until the next call */
    const char *path;
    double time;    /* seconds since the first frame */
    int64_t number; /* its number, from 0, among all frames of the video, or among the files */
    bool end;
} video_frame;

/* Opens files, or one video. Every `every`-th frame will be given, counted from the first. A rate <= 0 means
 * the default for files. `stop` is asked while the caller waits for a video; it says whether to stop. */
int video_frames_open(struct tool *tool, char *const *paths, int32_t count, int32_t every, double rate,
                      bool (*stop)(void *user), video_frames *frames);

/* Finds the next frame that decodes and has the size of the first one. Fails at the end if there was no frame
 * at all. */
int video_frames_next(video_frames *frames, video_frame *frame);

/* To be called after the last frame. Returns TOOL_PARTLY, with one line, if frames are missing because a
 * video is damaged or files cannot be read. */
int video_frames_end(video_frames *frames);
void video_frames_release(video_frames *frames);

#endif
