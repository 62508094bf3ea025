/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_with_lab.c: with_lab.c for the library of files.
 */
#include "io/networks.h"
#include "texturevlm/lab/io_network.h"

const tvlm_io_network_functions tvlm_io_networks = {
    .load = tvlm_network_load, .save = tvlm_network_save, .destroy = tvlm_network_destroy};
