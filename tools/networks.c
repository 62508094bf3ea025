/* SPDX-License-Identifier: Apache-2.0 */
#include "networks.h"

#include <stdio.h>

static const option_spec specs[] = {
    {0, OPTION_INPUT, "network", 0, "FILE.safetensors",
     "makes learned_0 and on, where a --scorer, an --emphasis or a --projection reads them", NO_RANGE, NULL},
};
const option_specs network_specs = OPTION_SPECS("Where to look", specs);

int network_read(struct tool *tool, const char *path, tvlm_network **network, char names[NETWORK_NAMES]) {
    size_t length = 0;
    if (names != NULL) names[0] = '\0';
    if (path == NULL) return TOOL_DONE;
    const int code = network_load(tool, path, network);
    for (int32_t i = 0; code == TOOL_DONE && names != NULL && i < (*network)->output_count; ++i)
        length += (size_t)snprintf(names + length, NETWORK_NAMES - length, "%s%s", i > 0 ? "," : "",
                                   (*network)->outputs[i]);
    return code;
}

/* Finds the highest number of a network's output that a layout reads, or -1 if it reads none. */
static int highest_output(struct tool *tool, const char *layout, int32_t *highest) {
    int32_t channels[TVLM_LAYOUT_CHANNELS_MAX], count = 0;
    const int code =
        tool_status(tool, tvlm_layout_parse(layout, &tool->log, TVLM_LAYOUT_CHANNELS_MAX, channels, &count));
    *highest = -1;
    for (int32_t i = 0; code == TOOL_DONE && i < count; ++i) {
        const int32_t output = channels[i] - TVLM_CHANNEL_LEARNED_0;
        if (output < TVLM_LEARNED_MAX && output > *highest) *highest = output;
    }
    return code;
}

static int check_highest(struct tool *tool, const char *path, const tvlm_network *network, int32_t highest) {
    if (highest < network->output_count) return TOOL_DONE;
    return tool_fail(tool, "%s: learned_%d is read, but it has %d outputs", path, (int)highest,
                     (int)network->output_count);
}

int network_check_layout(struct tool *tool, const char *path, const tvlm_network *network,
                         const char *layout) {
    int32_t highest = -1;
    const int code = highest_output(tool, layout, &highest);
    return code == TOOL_DONE ? check_highest(tool, path, network, highest) : code;
}

int network_read_for(struct tool *tool, const char *path, const char *layout, tvlm_network **network) {
    int32_t highest = -1;
    int code = highest_output(tool, layout, &highest);
    if (code != TOOL_DONE) return code;
    if (highest >= 0 && path == NULL)
        return tool_usage(tool, "learned_%d is read, which is an output of a --network", (int)highest);
    if (highest < 0 && path != NULL)
        return tool_usage(tool, "--network has no effect: nothing reads learned_0 or another of its outputs");
    code = network_read(tool, path, network, NULL);
    return code == TOOL_DONE && *network != NULL ? check_highest(tool, path, *network, highest) : code;
}
