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
    if ((several || query >= 0) && strcmp(pattern, FILES_STDOUT) == 0)
        return tool_usage(tool, "only one picture or array can go to stdout");
    if (several) tool_stem(image, stem, sizeof stem);
    if (query >= 0) snprintf(number, sizeof number, "-q%d", (int)query);
    length = snprintf(path, SELECT_PATH_SIZE, "%.*s%s%s%s%s", (int)base, pattern, several ? "-" : "", stem,
                      number, dot != NULL ? dot : "");
    return length < SELECT_PATH_SIZE ? TOOL_DONE : tool_fail(tool, "%.64s...: the path is too long", pattern);
}

int select_outputs_note(struct tool *tool, const select_outputs *outputs, int count, char *const *images) {
    char path[SELECT_PATH_SIZE];
    int code = TOOL_DONE;
    for (int p = 0; p < SELECT_PATTERNS; ++p) {
        if (outputs->patterns[p].name == NULL) continue;
        for (int i = 0; code == TOOL_DONE && i < count; ++i)
            for (int32_t q = 0; code == TOOL_DONE && q < outputs->query_count; ++q) {
                code = select_output_name(tool, outputs->patterns[p].name, images[i], count > 1,
                                          outputs->several_queries ? q : -1, path);
                if (code == TOOL_DONE) code = files_output(tool, outputs->patterns[p].option, path);
            }
    }
    return code;
}
