/* SPDX-License-Identifier: Apache-2.0 */
/*
 * with_lab.c: the tables of a build with the lab. They name what the core and the lab are made of, so that
 * nothing in the core needs to. without_lab.c takes the place of this file in a build without the lab.
 */
#include "lab/foveated.h"
#include "lab/operations.h"
#include "lab/project.h"
#include "opencl/operations.h"
#include "reference/reference.h"

const tvlm_chooser tvlm_choosers[TVLM_STRATEGY_COUNT] = {
    TVLM_CORE_CHOOSERS, [TVLM_STRATEGY_FOVEATED] = {NULL, tvlm_choose_foveated}};

static const struct tvlm_lab_operations opencl_of_lab = {TVLM_LAB_OPERATIONS(OPENCL_ENTRY)},
                                        reference_of_lab = {TVLM_LAB_OPERATIONS(REFERENCE_ENTRY)};
const tvlm_backend tvlm_opencl_backend = {OPENCL_ENTRIES, .lab = &opencl_of_lab};
const tvlm_backend tvlm_reference_backend = {REFERENCE_ENTRIES, .lab = &reference_of_lab};

tvlm_export_project_function *const tvlm_export_projector = tvlm_export_project;
