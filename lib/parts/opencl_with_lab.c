/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opencl_with_lab.c: the table of the OpenCL backend, with what the lab adds to it.
 */
#include "lab/operations.h"
#include "opencl/operations.h"

static const struct tvlm_lab_operations of_lab = {TVLM_LAB_OPERATIONS(OPENCL_ENTRY)};
#define OPENCL_FAMILY_OF_LAB(ID, family, ...) .generate[TVLM_GRID_##ID] = tvlm_opencl_##family,
const tvlm_backend tvlm_opencl_backend = {OPENCL_ENTRIES, TVLM_LAB_GRIDS(OPENCL_FAMILY_OF_LAB).lab = &of_lab};
