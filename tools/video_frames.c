/* SPDX-License-Identifier: Apache-2.0 */
#include "video_frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "platform/file.h"
#include "platform/stdio.h"

/* A frame that comes so many seconds after its time is there in time: files round their times. */
#define EARLY 1e-3

/* Keeps a logged line as the reason why a frame is left out. An error about a frame is not an error of the
 * run. */
static void keep_reason(void *user, tvlm_log_level level, const char *message) {
    video_frames *const frames = user;
    if (level == TVLM_LOG_ERROR || level == TVLM_LOG_WARNING)
        snprintf(frames->reason, sizeof frames->reason, "%s", message);
    if (level != TVLM_LOG_ERROR && !frames->quiet) tvlm_log_message(&frames->tool->log, level, "%s", message);
}

static bool ends_as(const char *path, const char *const endings[]) {
    const char *const dot = strrchr(path, '.');
    for (int i = 0; dot != NULL && endings[i] != NULL; ++i)
        if (strcasecmp(dot, endings[i]) == 0) return true;
    return false;
}

/* Recognises a clip by its name. By its bytes a raw MJPEG would be a JPEG, of which only the first picture
 * would be read. */
static bool is_clip(const char *path) {
    static const char *const endings[] = {
        ".mp4",  ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mjpeg", ".mjpg", ".mpeg", ".mpg", ".ts",
        ".m2ts", ".wmv", ".flv", ".ogv", ".3gp",  ".y4m", ".h264",  ".h265", ".hevc", ".ivf", NULL};
    return ends_as(path, endings);
}

/* Recognises the formats of io.h, by the ending of the name or by the first bytes. Two cases are special:
 * - A folder, and a file of less than two bytes, are taken for images. The error comes when they are loaded.
 * - A file that is not a regular file would lose the bytes that are read here. It is taken for a video, which
 *   FFmpeg reads. */
static bool is_image(const char *path) {
    static const char *const endings[] = {".jpg", ".jpeg", ".png", ".bmp", ".ppm", ".pgm", NULL};
    unsigned char head[4] = {0};
    tvlm_file_facts facts;
    if (is_clip(path)) return false;
    if (ends_as(path, endings)) return true;
    if (tvlm_path_facts(path, &facts) && !facts.ordinary) return facts.folder;
    FILE *const file = tvlm_stdio_open(path, "rb");
    const size_t size = file != NULL ? fread(head, 1, sizeof head, file) : 0;
    if (file != NULL) fclose(file);
    if (file != NULL && size < 2) return true;
    return (head[0] == 0xff && head[1] == 0xd8) || memcmp(head, "\x89PNG", 4) == 0 ||
           (head[0] == 'B' && head[1] == 'M') || (head[0] == 'P' && head[1] >= '1' && head[1] <= '7');
}

/* Refuses a clip among several files. They all must be images. */
static int check_no_clip(struct tool *tool, char *const *paths, int32_t count) {
    for (int32_t i = 0; i < count; ++i)
        if (is_clip(paths[i]))
            return tool_fail(tool, "%s: is a clip: it must be the only one, and without images", paths[i]);
    return TOOL_DONE;
}

static int open_video(video_frames *frames, const char *path) {
    const struct tvlm_video_reader_params params = {.stop = frames->stop, .log = &frames->log};
    tvlm_video_info info;
    TOOL_TRY(video_library_load(frames->tool, path, &frames->library));
    const tvlm_status status = frames->library->reader_open(path, &params, &frames->reader);
    if (status != TVLM_OK)
        return tool_fail(frames->tool, "%s",
                         frames->reason[0] != '\0' ? frames->reason : tvlm_status_string(status));
    if (frames->sampling.rate > 0.0)
        return tool_usage(frames->tool, "--rate is for image files; %s has its own times", path);
    (void)frames->library->reader_get_info(frames->reader, &info);
    if (info.rate > 0.0) frames->rate = info.rate;
    frames->total = info.frames;
    return TOOL_DONE;
}

double video_frames_rate(const video_frames *frames) {
    return frames->sampling.fps > 0.0 ? frames->sampling.fps : frames->rate / frames->sampling.every;
}

/* How many of so many frames are given. */
static int64_t count_given(const video_frames *frames, int64_t count) {
    const int64_t every = frames->sampling.every;
    if (count > 0 && frames->sampling.fps > 0.0)
        return 1 + (int64_t)((double)(count - 1) / frames->rate * frames->sampling.fps + EARLY);
    return (count + every - 1) / every;
}

int video_frames_open(struct tool *tool, char *const *paths, int32_t count, const video_sampling *sampling,
                      bool (*stop)(void *user), video_frames *frames) {
    *frames = (video_frames){.tool = tool,
                             .paths = paths,
                             .count = count,
                             .sampling = *sampling,
                             .rate = sampling->rate > 0.0 ? sampling->rate : VIDEO_RATE_DEFAULT,
                             .stop = stop};
    if (sampling->every < 1) frames->sampling.every = 1;
    frames->log = (tvlm_log){keep_reason, frames};
    frames->total = count;
    int code = TOOL_DONE;
    if (count > 1)
        code = check_no_clip(tool, paths, count);
    else if (!is_image(paths[0]))
        code = open_video(frames, paths[0]);
    frames->total = count_given(frames, frames->total);
    return code;
}

void video_frames_release(video_frames *frames) {
    video_held_release(&frames->shown);
    tvlm_image_destroy(&frames->loaded);
    if (frames->library != NULL) frames->library->reader_destroy(&frames->reader);
}

static int next_of_video(video_frames *frames, video_frame *frame) {
    tvlm_video_frame next;
    const tvlm_status status = frames->library->reader_next(frames->reader, &next);
    if (status == TVLM_ERROR_FORMAT || status == TVLM_ERROR_IO) { /* this line is printed at the end */
        frames->damaged = true;
        *frame = (video_frame){.end = true};
        return TOOL_DONE;
    }
    if (status != TVLM_OK)
        return tool_fail(frames->tool, "%s",
                         frames->reason[0] != '\0' ? frames->reason : tvlm_status_string(status));
    *frame = (video_frame){next.image, frames->paths[0], next.time, next.number, next.end};
    return TOOL_DONE;
}

static int next_of_files(video_frames *frames, video_frame *frame) {
    for (; frames->next < frames->count; frames->next += frames->sampling.every) {
        const char *const path = frames->paths[frames->next];
        tvlm_image_destroy(&frames->loaded);
        const tvlm_status status = tvlm_image_load(path, &frames->log, &frames->loaded);
        if (status == TVLM_ERROR_MEMORY || (status != TVLM_OK && frames->count == 1))
            return tool_fail(frames->tool, "%s", frames->reason);
        if (status == TVLM_OK) {
            const double time = (double)frames->next / frames->rate;
            *frame = (video_frame){*frames->loaded, path, time, frames->next, false};
            frames->next += frames->sampling.every;
            return TOOL_DONE;
        }
        ++frames->unread;
        if (frames->quiet) continue;
        tvlm_log_message(&frames->tool->log, TVLM_LOG_WARNING, "frame %lld: %s%s%s: skipped",
                         (long long)frames->next, strstr(frames->reason, path) == NULL ? path : "",
                         strstr(frames->reason, path) == NULL ? ": " : "", frames->reason);
    }
    *frame = (video_frame){.end = true};
    return TOOL_DONE;
}

/* Whether a frame has the size of the first frame, which is the size of the stream. */
static bool fits(video_frames *frames, const video_frame *frame) {
    if (frames->width == 0) {
        frames->width = frame->image.width;
        frames->height = frame->image.height;
    }
    if (frame->image.width == frames->width && frame->image.height == frames->height) return true;
    if (frames->quiet) return false;
    tvlm_log_message(&frames->tool->log, TVLM_LOG_WARNING,
                     "frame %lld: %s: %d x %d pixels in a stream of %d x %d: skipped",
                     (long long)frame->number, frame->path, (int)frame->image.width, (int)frame->image.height,
                     (int)frames->width, (int)frames->height);
    return false;
}

/* Finds the next frame of the video or the files that decodes and fits. */
static int next_frame(video_frames *frames, video_frame *frame) {
    for (;;) {
        const int code = frames->reader != NULL ? next_of_video(frames, frame) : next_of_files(frames, frame);
        if (code != TOOL_DONE) return code;
        if (frame->end) break;
        if (frames->reader != NULL && frame->number % frames->sampling.every != 0) continue;
        if (!fits(frames, frame)) continue;
        ++frames->returned;
        return TOOL_DONE;
    }
    if (frames->returned > 0 || (frames->stop != NULL && frames->stop(NULL))) return TOOL_DONE;
    return tool_fail(frames->tool, "%s: no frame decodes%s%s", frames->paths[0],
                     frames->reason[0] != '\0' ? "; the last: " : "", frames->reason);
}

/* ---- Frames at a rate of their own ---- */

static size_t value_size(tvlm_pixel_type type) {
    return type == TVLM_PIXEL_U8 ? 1 : type == TVLM_PIXEL_U16 ? 2 : sizeof(float);
}

int video_held_copy(struct tool *tool, const video_frame *frame, video_held *held) {
    const tvlm_image *const image = &frame->image;
    const size_t row = (size_t)image->width * (size_t)image->channels * value_size(image->type);
    const size_t size = row * (size_t)image->height;
    const size_t stride = image->row_stride != 0 ? image->row_stride : row;
    if (size > held->capacity) {
        uint8_t *const larger = realloc(held->bytes, size);
        if (larger == NULL) return tool_fail(tool, "no memory for a frame");
        held->bytes = larger;
        held->capacity = size;
    }
    for (int32_t y = 0; y < image->height; ++y)
        memcpy(held->bytes + (size_t)y * row, (const uint8_t *)image->pixels + (size_t)y * stride, row);
    held->frame = *frame;
    held->frame.image.pixels = held->bytes;
    held->frame.image.row_stride = 0;
    return TOOL_DONE;
}

void video_held_release(video_held *held) {
    free(held->bytes);
    *held = (video_held){0};
}

/* Reads the next frame. A clock that begins anew, as where two recordings were put behind each other, goes on from where it was. */
static int read_ahead(video_frames *frames) {
    const double before = frames->ahead.time, usual = 1.0 / frames->rate;
    TOOL_TRY(next_frame(frames, &frames->ahead));
    frames->ahead.time += frames->shift;
    if (!frames->ahead.end && frames->returned > 1 && frames->ahead.time < before - EARLY) {
        frames->shift += before + usual - frames->ahead.time;
        frames->ahead.time = before + usual;
    }
    frames->is_ahead = true;
    return TOOL_DONE;
}

/* Gives the frame that is shown at the next of the times: the last one that came until then. The frame after it is read, and not
 * copied before its time has come. */
static int next_shown(video_frames *frames, video_frame *frame) {
    const int64_t number = frames->given++;
    const double time = (double)number / frames->sampling.fps;
    for (;;) {
        if (!frames->is_ahead) TOOL_TRY(read_ahead(frames));
        if (frames->ahead.end || (number > 0 && frames->ahead.time > time + EARLY)) break;
        TOOL_TRY(video_held_copy(frames->tool, &frames->ahead, &frames->shown));
        frames->is_ahead = false;
        if (number == 0) break;
    }
    *frame = frames->shown.frame;
    frame->end = frames->is_ahead && frames->ahead.end && frames->shown.frame.time < time - EARLY;
    frame->number = number;
    frame->time = time;
    return TOOL_DONE;
}

int video_frames_next(video_frames *frames, video_frame *frame) {
    return frames->sampling.fps > 0.0 ? next_shown(frames, frame) : next_frame(frames, frame);
}

int video_frames_end(video_frames *frames) {
    if (frames->damaged) (void)tool_fail(frames->tool, "%s", frames->reason);
    if (frames->unread > 0)
        (void)tool_fail(frames->tool, "%lld of %d frames cannot be read", (long long)frames->unread,
                        (int)((frames->count + frames->sampling.every - 1) / frames->sampling.every));
    return frames->damaged || frames->unread > 0 ? TOOL_PARTLY : TOOL_DONE;
}
