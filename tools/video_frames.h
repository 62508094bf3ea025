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

/* Which frames are given: every `every`-th one, counted from the first, or, with `fps` above 0, those that are shown at times that
 * lie 1 / fps seconds apart. `rate` are the frames a second of files. What is 0 or below is not asked for. */
typedef struct video_sampling {
    int32_t every;
    double fps, rate;
} video_sampling;

typedef struct video_frame {
    tvlm_image image; /* valid until the next call */
    const char *path;
    double time; /* seconds since the first frame */
    /* Its number, from 0, among all frames of the video, or among the files; with `fps` among those that are given, since a frame
     * that is shown for long is given several times. */
    int64_t number;
    bool end;
} video_frame;

/* A frame that stays valid while the next one is read. */
typedef struct video_held {
    video_frame frame;
    uint8_t *bytes;
    size_t capacity;
} video_held;

typedef struct video_frames {
    struct tool *tool;
    char *const *paths;
    int32_t count;
    video_sampling sampling;
    double rate;   /* frames per second: as asked for with files, or as a video says */
    int64_t total; /* about how many frames will come; 0: not known */
    bool quiet;    /* what is left out is not told, as where frames are only counted */
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
    video_held shown;      /* with `fps`: the last frame that was shown by now */
    video_frame ahead;     /* and the one after it, which is shown later, if it was read already */
    bool is_ahead;
    double shift;  /* what is added to times, since a clock began anew */
    int64_t given; /* with `fps`: how many were */
} video_frames;

/* Opens files, or one video. `stop` is asked while the caller waits for a video; it says whether to stop. */
int video_frames_open(struct tool *tool, char *const *paths, int32_t count, const video_sampling *sampling,
                      bool (*stop)(void *user), video_frames *frames);

/* How many frames a second are given. */
double video_frames_rate(const video_frames *frames);

/* Finds the next frame that decodes and has the size of the first one. Fails at the end if there was no frame
 * at all. */
int video_frames_next(video_frames *frames, video_frame *frame);

/* To be called after the last frame. Returns TOOL_PARTLY, with one line, if frames are missing because a
 * video is damaged or files cannot be read. */
int video_frames_end(video_frames *frames);
void video_frames_release(video_frames *frames);

/* Copies the image of a frame, which *held->frame then points to. `held` begins as zeros, and can be used for one frame after the
 * other. */
int video_held_copy(struct tool *tool, const video_frame *frame, video_held *held);
void video_held_release(video_held *held);

#endif
