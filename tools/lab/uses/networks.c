/* SPDX-License-Identifier: Apache-2.0 */
#include "networks.h"

#include "texturevlm/lab/io_network.h"

int network_load(struct tool *tool, const char *path, tvlm_network **network) {
    return tool_status(tool, tvlm_network_load(path, &tool->log, network));
}

void network_release(tvlm_network **network) {
    if (*network != NULL) tvlm_network_destroy(network);
}
