/* SPDX-License-Identifier: Apache-2.0 */
/*
 * networks.h: the network of the option --network FILE.
 */
#ifndef TVLM_TOOLS_NETWORKS_H
#define TVLM_TOOLS_NETWORKS_H

#include "texturevlm/lab/network.h"
#include "tool.h"

/* Room for the names of all outputs with commas between them. */
#define NETWORK_NAMES ((size_t)TVLM_LEARNED_MAX * TVLM_CHANNEL_NAME_SIZE)

/* The option --network of commands that choose positions. Its value is a path. */
extern const option_specs network_specs;

/* Reads a network. If `path` is NULL, *network becomes NULL. `names`, which may be NULL, gets the names of
 * its outputs. */
int network_read(struct tool *tool, const char *path, tvlm_network **network, char names[NETWORK_NAMES]);

/* Reads the network of a command that reads channels by the library's names. Refuses a network if none of
 * its outputs is read. Also refuses a layout that reads an output which the network does not have, or for which
 * there is no network. */
int network_read_for(struct tool *tool, const char *path, const char *layout, tvlm_network **network);

/* Refuses a layout that reads an output which the network from the file `path` does not have. */
int network_check_layout(struct tool *tool, const char *path, const tvlm_network *network,
                         const char *layout);

/* Reads a network, as tvlm_network_load does; and releases it. */
int network_load(struct tool *tool, const char *path, tvlm_network **network);
void network_release(tvlm_network **network);

#endif
