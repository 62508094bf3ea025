/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video.h: the parts of `tvlm video`: its options, its session, and the answer for a frame.
 */
#ifndef TVLM_TOOLS_VIDEO_H
#define TVLM_TOOLS_VIDEO_H

#include "networks.h"
#include "questions.h"
#include "select_budget.h"
#include "shared.h"
#include "texturevlm/draw.h"
#include "texturevlm/stream.h"
#include "tool.h"
#include "video_files.h"
#include "video_frames.h"

/* ---- Gaze (video_gaze.c) ---- */

/* Where somebody looked, from a text file. Each line is "time,x,y": seconds since the first frame, and pixels of the
 * frame. Commas, blanks or tabs separate them. '#' begins a comment. x and y are "nan" while the eyes are shut. */
typedef struct video_gaze {
    double *samples; /* [count][time, x, y], in the order of time */
    size_t count, at;
} video_gaze;

int video_gaze_read(struct tool *tool, const char *path, video_gaze *gaze);

/*
 * Gives the points that were looked at between the time of the last call and that of this call, and returns
 * how many there are. points[2 * i] and points[2 * i + 1] are x and y. They are of the last `capacity`
 * samples at most. If nothing was measured in between, it gives the point that was looked at before. Returns
 * 0 while the eyes are shut. Times must not fall.
 */
int32_t video_gaze_take(video_gaze *gaze, double time, int32_t capacity, float *points);
void video_gaze_release(video_gaze *gaze);

/* ---- The session (video_session.c) ---- */

typedef struct video_options {
    tool_common common;
    sampling_options sampling;
    option_integer frames, keyframe, tile;
    option_integer budget, slot, memory, latency; /* of a budget for the whole video (video_clip.h) */
    option_number hold, bitrate;
    int causal, motion;
    const char *strategy; /* its name; NULL: none was given */
    parameter_options parameters;
    weighing_options weighing;
    option_choice preset; /* an index in video_presets */
    int no_delta;
    option_number rate, steadiness, cut, threshold, carry;
    option_size size;
    const char *overlay, *report, *encode, *roi, *gaze, *network;
    const char *features, *flow, *needs; /* folders with a file for each frame */
    question_options questions;
} video_options;

/* Opens the frames that the options ask for. `stop` as video_frames_open has it. */
int video_open(struct tool *tool, const video_options *options, char *const *paths, int32_t count,
               bool (*stop)(void *user), video_frames *frames);

/* The values of --preset, ended by NULL; and the use that each of them stands for. */
extern const char *const video_presets[];
tvlm_stream_use video_use(int preset);

/* The strategy that the options name, or else the grid. */
tvlm_strategy video_strategy(const video_options *options);

/* The stream, and everything that is kept with it from frame to frame. */
typedef struct video_session {
    struct tool *tool;
    const video_options *options;
    tvlm_device *device;
    tvlm_stream *stream; /* NULL before the first frame */
    struct tvlm_stream_params params;
    questions questions;
    struct tvlm_select_params asks; /* what the options say, without weights and the scorer */
    video_gaze gaze;
    char volume[2048]; /* the channels that are read of earlier frames; "": there are none */
    tvlm_scorer *scorer;
    tvlm_network *network; /* NULL: there is none */
    bool video;            /* whether frames come from a video; their files are then named by numbers */
    video_flow flow;
    int64_t features_read, flows_read; /* how many files of each kind were read */
    int64_t asked;                     /* the number of the last frame whose mask was written; -1: none */
    float *former; /* [former_count][x, y]: the last frame's positions, in its pixels; no thumbnail's */
    int32_t former_count;
} video_session;

/* What is said about a frame. */
typedef struct video_answer {
    const video_frame *frame;
    tvlm_stream_report report;
    tvlm_selection *selection;
    const tvlm_position *positions;
    int32_t count, k, candidates;
    int32_t thumbnail_columns, thumbnail_rows, thumbnail_cells; /* 0: there is none */
    int32_t jumps;                /* how many positions jumped; -1: there were none before */
    struct tvlm_draw_params grid; /* what pictures are told of the candidates */
    bool has_features, has_flow;  /* whether the frame had files for these */
} video_answer;

/* Reads the files that the options name. */
int video_session_open(struct tool *tool, const video_options *options, video_session *session);
void video_session_release(video_session *session);
/* Opens another device after tool_goes_on, and begins a new stream there. With `rewind` the first frame comes
 * next, and otherwise the present one. To the new stream it is the first frame in both cases. */
int video_session_go_on(video_session *session, bool rewind);

/* Makes the frame the present one. `sent` says that video_session_send was called with it before. */
int video_session_push(video_session *session, const video_frame *frame, bool sent, video_answer *answer);
/* Begins to send the next frame to the device. */
int video_session_send(video_session *session, const video_frame *frame);
/* To be called after the last frame. Warns about folders from which nothing was read. */
void video_session_end(const video_session *session);
/* Selects the positions of the present frame. The caller releases the answer by video_answer_release in any
 * case. */
int video_session_select(video_session *session, video_answer *answer);
void video_answer_release(video_answer *answer);

/* Prints an answer as one line of JSON. */
int video_answer_print(const video_session *session, const video_answer *answer);

/* Writes a title such as "frame 12, 0.48 s: ...". */
void video_answer_title(const video_answer *answer, char *title, size_t size);

#endif
