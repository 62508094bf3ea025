/* SPDX-License-Identifier: Apache-2.0 */
#include "lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "texturevlm/lab/io_codec.h"

char *codec_names(const int32_t *channels, int32_t count) {
    const size_t size = (size_t)count * (TVLM_CHANNEL_NAME_SIZE + 1);
    char *const names = calloc(size + 1, 1);
    size_t length = 0;
    for (int32_t i = 0; names != NULL && i < count; ++i) {
        tvlm_channel_info info = {.name = ""};
        (void)tvlm_channel_get_info(channels[i], &info); /* it cannot fail: the channels of a codec exist */
        length += (size_t)snprintf(names + length, size + 1 - length, "%s%s", i > 0 ? "," : "", info.name);
    }
    return names;
}

int codec_read_folded(struct tool *tool, const char *path, const tvlm_scorer *scorer, int32_t first,
                      tvlm_codec **codec, tvlm_scorer **folded) {
    const char *const subject = tool->subject;
    int code = tool_status(tool, tvlm_codec_load(path, &tool->log, codec));
    if (code != TOOL_DONE) return code;
    tool->subject = path;
    code = tool_status(tool, tvlm_codec_fold(*codec, scorer, first, &tool->log, folded));
    if (code == TOOL_DONE) tool->subject = subject;
    return code;
}

int codec_layout(struct tool *tool, const char *path, const tvlm_codec *codec, char *layout, size_t size) {
    struct tvlm_codec_params about;
    int code = tool_status(tool, tvlm_codec_get_params(codec, &about));
    if (code != TOOL_DONE) return code;
    char *const names = codec_names(about.channels, about.channel_count);
    const size_t length = strlen(layout);
    if (names == NULL)
        code = tool_fail(tool, "no memory");
    else if (length + strlen(names) + 2 > size)
        code = tool_fail(tool, "%s: reads too many channels", path);
    else
        snprintf(layout + length, size - length, "%s%s", length > 0 ? "," : "", names);
    free(names);
    return code;
}

int codec_check_image(struct tool *tool, const tvlm_codec *codec, tvlm_stack *stack) {
    return tool_status(tool, tvlm_codec_check_image(codec, stack, 0));
}

const tvlm_network *codec_network(const tvlm_codec *codec) {
    return tvlm_codec_network(codec);
}

void codec_release(tvlm_codec **codec, tvlm_scorer **folded) {
    if (*folded != NULL) tvlm_codec_free_scorer(folded);
    if (*codec != NULL) tvlm_codec_destroy(codec);
}
