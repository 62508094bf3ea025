/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl_without_lab.c: the table of the OpenCL backend in a build without the lab.
 */
#include "opencl/operations.h"

const tvlm_backend tvlm_opencl_backend = {OPENCL_ENTRIES};
