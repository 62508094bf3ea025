/* SPDX-License-Identifier: Apache-2.0 */
#include "select_outputs.h"

#include <stdio.h>
#include <string.h>

int select_output_name(struct tool *tool, const char *pattern, const char *image, bool several, int32_t query,
                       char *path) {
    char stem[512] = "", number[16] = "";
    const char *const slash = strrchr(pattern, '/');
    const char *const dot = strrchr(slash != NULL ? slash + 1 : pattern, '.');
    const size_t base = dot != NULL ? (size_t)(dot - pattern) : strlen(pattern);
    int length;
    if (several) tool_stem(image, stem, sizeof stem);
    if (query >= 0) snprintf(number, sizeof number, "-q%d", (int)query);
    length = snprintf(path, SELECT_PATH_SIZE, "%.*s%s%s%s%s", (int)base, pattern, several ? "-" : "", stem,
                      number, dot != NULL ? dot : "");
    return length < SELECT_PATH_SIZE ? TOOL_DONE : tool_fail(tool, "%.64s...: the path is too long", pattern);
}

/* Checks that one file of image i can be written, and is no input. */
static int check_name(struct tool *tool, const select_outputs *outputs, const char *pattern, int32_t query,
                      int i, int count, char *const *images, char *path) {
    int code = select_output_name(tool, pattern, images[i], count > 1, query, path);
    if (code == TOOL_DONE) code = tool_check_output(tool, path);
    for (int j = 0; code == TOOL_DONE && j < count; ++j) code = tool_check_distinct(tool, path, images[j]);
    if (code == TOOL_DONE) code = questions_check_output(tool, outputs->questions, path);
    return code;
}

static int check_pattern(struct tool *tool, const select_outputs *outputs, const char *pattern, int count,
                         char *const *images) {
    char path[SELECT_PATH_SIZE], a[512], b[512];
    int code = TOOL_DONE;
    if (pattern == NULL) return code;
    for (int i = 0; code == TOOL_DONE && i < count; ++i) {
        for (int32_t q = 0; code == TOOL_DONE && q < outputs->query_count; ++q)
            code =
                check_name(tool, outputs, pattern, outputs->several_queries ? q : -1, i, count, images, path);
        if (code != TOOL_DONE) break;
        tool_stem(images[i], a, sizeof a);
        for (int j = 0; code == TOOL_DONE && j < i; ++j) {
            tool_stem(images[j], b, sizeof b);
            if (strcmp(a, b) == 0) code = tool_usage(tool, "%s would be written for two images", path);
        }
    }
    return code;
}

static bool are_distinct(const select_outputs *outputs) {
    for (int i = 0; i < SELECT_PATTERNS; ++i) {
        if (tool_same_output(outputs->json, outputs->patterns[i])) return false;
        for (int j = 0; j < i; ++j)
            if (tool_same_output(outputs->patterns[i], outputs->patterns[j])) return false;
    }
    return true;
}

int select_outputs_check(struct tool *tool, const select_outputs *outputs, int count, char *const *images) {
    if (!are_distinct(outputs)) return tool_usage(tool, "two outputs name the same file");
    int code = tool_check_output(tool, outputs->json);
    for (int i = 0; code == TOOL_DONE && i < SELECT_PATTERNS; ++i)
        code = check_pattern(tool, outputs, outputs->patterns[i], count, images);
    for (int i = 0; code == TOOL_DONE && i < count; ++i)
        code = tool_check_distinct(tool, outputs->json, images[i]);
    if (code == TOOL_DONE) code = questions_check_output(tool, outputs->questions, outputs->json);
    return code;
}
