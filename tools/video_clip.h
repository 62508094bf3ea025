/* SPDX-License-Identifier: Apache-2.0 */
/*
 * video_clip.h: a budget of tokens for a whole video (texturevlm/clip.h), which `tvlm video` spends where it has --budget,
 * or --share or --tolerance without a strategy.
 */
#ifndef TVLM_TOOLS_VIDEO_CLIP_H
#define TVLM_TOOLS_VIDEO_CLIP_H

#include "json.h"
#include "texturevlm/clip.h"
#include "video.h"
#include "video_overlay.h"

/* Whether the options ask for that. */
bool video_clip_asked(const video_options *options);

/* Refuses options that such a budget does not read. `groups` are the command's. */
int video_clip_check(struct tool *tool, const option_group *groups, const video_options *options);

/* Does all of it. *stop says that a signal has come. */
int video_clip_run(struct tool *tool, const video_options *options, int count, char *const *paths,
                   bool (*stop)(void *user));

/* Whether token i of a slot, which is a cell of a thumbnail, is the first one of it. The others follow. */
static inline bool video_begins_thumbnail(const tvlm_clip_token *tokens, int32_t i) {
    return i == 0 || tokens[i - 1].columns != tokens[i].columns || tokens[i - 1].rows != tokens[i].rows;
}

/* ---- The report (video_report.c) ---- */

/* The tokens of a slot: cells of thumbnails, and squares of 4, 2 and 1 patches; when it begins, and how long it takes. */
enum { VIDEO_REPORT_KINDS = 4 };
typedef struct video_report_slot {
    int32_t tokens[VIDEO_REPORT_KINDS];
    double time, seconds;
} video_report_slot;

/* Draws the tokens a second of slots[count], at least one, over their time, and writes that as a PNG. */
int video_report_write(struct tool *tool, const char *path, const char *title, const video_report_slot *slots,
                       int32_t count);

/* ---- Where a model looks, for encoders (video_regions.c) ---- */

/* Regions of a slot, and what is written of them. */
typedef struct video_regions {
    struct tool *tool;
    const char *path; /* of the lines; NULL: none are written */
    json_writer lines;
    tvlm_video_region *all;
    int32_t count, capacity;
} video_regions;

/* Finds the regions of a slot of a video of width x height pixels, in which a patch is so many pixels wide: the squares that its
 * tokens show, those beside each other as one. What is seen at a quarter of its size is none, nor are thumbnails. */
int video_regions_find(video_regions *regions, const tvlm_clip_token *tokens, int32_t count, float patch,
                       int32_t width, int32_t height);

/* Adds a frame's line, and writes all lines at the end. */
int video_regions_add(video_regions *regions, int64_t number, double time);
int video_regions_write(const video_regions *regions);
void video_regions_release(video_regions *regions);

/* ---- What is seen (video_seen.c) ---- */

/* The picture that a model sees, in which tokens are held. It has the size of the frames. */
typedef struct video_seen {
    const tvlm_log *log;
    int32_t width, height, patch; /* the side of a token in working pixels, and */
    float wide;                   /* how wide it is in pixels of the frames */
    uint8_t *held, *now;          /* RGB: after the last frame of the last slot, and in this frame */
    uint8_t *part, *small;        /* room for a square */
    uint8_t *sheet;               /* the frame, and beside it what is seen */
    bool is_moved;                /* what is held was moved for the next frame, and lies in `now` */
} video_seen;

int video_seen_open(struct tool *tool, const tvlm_clip_info *info, int32_t width, int32_t height,
                    video_seen *seen);
void video_seen_release(video_seen *seen);

/* Moves what is held for the next frame, `part` of the way that a slot's motion goes. */
void video_seen_move(video_seen *seen, const float motion[6], float part);

/*
 * Shows the tokens that a frame's slot buys, tokens[count], and draws the frame beside what is seen, in which they have
 * frames. `last` says that the frame is the last one of its slot, from which on they are held. The picture is valid until
 * the next call.
 */
tvlm_status video_seen_draw(video_seen *seen, const tvlm_image *frame, const tvlm_clip_token *tokens,
                            int32_t count, bool last, tvlm_image *picture);

#endif
