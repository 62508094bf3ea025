/* SPDX-License-Identifier: Apache-2.0 */
#include "networks.h"

#include <stdio.h>

int network_read(struct tool *tool, const char *path, tvlm_network **network, char names[NETWORK_NAMES]) {
    size_t length = 0;
    names[0] = '\0';
    if (path == NULL) return TOOL_DONE;
    const int code = tool_status(tool, tvlm_network_load(path, &tool->log, network));
    for (int32_t i = 0; code == TOOL_DONE && i < (*network)->output_count; ++i)
        length += (size_t)snprintf(names + length, NETWORK_NAMES - length, "%s%s", i > 0 ? "," : "",
                                   (*network)->outputs[i]);
    return code;
}
