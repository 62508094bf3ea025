/* SPDX-License-Identifier: Apache-2.0 */
/*
 * networks.h: what is done with the file of a scorer that is a network, which is of the lab.
 */
#ifndef TVLM_IO_NETWORKS_H
#define TVLM_IO_NETWORKS_H

#include "texturevlm/status.h"

struct tvlm_network;

/* texturevlm/lab/io_network.h. lib/parts has the table; all of it is NULL in a build without the lab. */
typedef struct tvlm_io_network_functions {
    tvlm_status (*load)(const char *path, const tvlm_log *log, struct tvlm_network **network);
    tvlm_status (*save)(const char *path, const struct tvlm_network *network, const tvlm_log *log);
    void (*destroy)(struct tvlm_network **network);
} tvlm_io_network_functions;
extern const tvlm_io_network_functions tvlm_io_networks;

#endif
