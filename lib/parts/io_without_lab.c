/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io_without_lab.c: without_lab.c for the library of files.
 */
#include "io/networks.h"

const tvlm_io_network_functions tvlm_io_networks = {0};
