/* SPDX-License-Identifier: Apache-2.0 */
#include "video.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "texturevlm/io.h"

#define WORD_SIZE 64
#define FARTHEST  1e6 /* in pixels; no screen has a place beyond this */

/* Copies the next word of a line, or "" at the end of the line. Returns the text after the word. */
static const char *next_word(const char *text, char word[WORD_SIZE]) {
    text += strspn(text, " \t,;");
    const size_t length = strcspn(text, " \t,;\r\n#");
    snprintf(word, WORD_SIZE, "%.*s", (int)(length < WORD_SIZE ? length : WORD_SIZE - 1), text);
    return text + length;
}

static int bad(struct tool *tool, const char *path, size_t line, const char *what) {
    return tool_fail(tool, "%s: line %zu: %s", path, line, what);
}

static int add_line(struct tool *tool, const char *path, size_t line, const char *text, video_gaze *gaze) {
    char words[4][WORD_SIZE];
    double *const sample = gaze->samples + 3 * gaze->count;
    for (int i = 0; i < 4; ++i) text = next_word(text, words[i]);
    if (words[0][0] == '\0') return TOOL_DONE;
    if (words[2][0] == '\0' || words[3][0] != '\0') return bad(tool, path, line, "is not \"time,x,y\"");
    for (int i = 0; i < 3; ++i) {
        if (!options_number(words[i], &sample[i])) return bad(tool, path, line, "is not three numbers");
    }
    for (int i = 1; i < 3; ++i) {
        if (isfinite(sample[i]) && fabs(sample[i]) > FARTHEST)
            return bad(tool, path, line, "a position is beyond a million pixels");
    }
    if (!isfinite(sample[0])) return bad(tool, path, line, "the time is not finite");
    if (gaze->count > 0 && sample[0] < sample[-3]) return bad(tool, path, line, "the time goes back");
    ++gaze->count;
    return TOOL_DONE;
}

int video_gaze_read(struct tool *tool, const char *path, video_gaze *gaze) {
    void *bytes = NULL;
    size_t size, lines = 1;
    int code = tool_status(tool, tvlm_file_read(path, &tool->log, &bytes, &size));
    if (code != TOOL_DONE) return code;
    for (size_t i = 0; i < size; ++i) lines += ((const char *)bytes)[i] == '\n';
    gaze->samples = calloc(3 * lines, sizeof *gaze->samples);
    if (gaze->samples == NULL) code = tool_fail(tool, "%s: no memory", path);
    const char *at = bytes; /* a zero byte follows the content */
    for (size_t line = 1; code == TOOL_DONE && *at != '\0'; ++line) {
        code = add_line(tool, path, line, at, gaze);
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    if (code == TOOL_DONE && gaze->count == 0) code = tool_fail(tool, "%s: no line \"time,x,y\" in it", path);
    free(bytes);
    return code;
}

int32_t video_gaze_take(video_gaze *gaze, double time, int32_t capacity, float *points) {
    size_t first = gaze->at;
    int32_t count = 0;
    while (gaze->at < gaze->count && gaze->samples[3 * gaze->at] <= time) ++gaze->at;
    if (first == gaze->at && first > 0) --first;
    if (gaze->at - first > (size_t)capacity) first = gaze->at - (size_t)capacity;
    for (size_t i = first; i < gaze->at; ++i) {
        const double *const sample = gaze->samples + 3 * i;
        if (!isfinite(sample[1]) || !isfinite(sample[2])) continue;
        points[2 * count] = (float)sample[1];
        points[2 * count + 1] = (float)sample[2];
        ++count;
    }
    return count;
}

void video_gaze_release(video_gaze *gaze) {
    free(gaze->samples);
    gaze->samples = NULL;
}
