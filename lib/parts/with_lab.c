/* SPDX-License-Identifier: Apache-2.0 */
/*
 * with_lab.c: the tables of a build with the lab. They name what the core and the lab are made of, so that
 * nothing in the core needs to. without_lab.c takes the place of this file in a build without the lab.
 */
#include "lab/foveated.h"
#include "lab/network.h"
#include "lab/operations.h"
#include "lab/project.h"
#include "lab/score_network.h"
#include "reference/reference.h"

const tvlm_chooser tvlm_choosers[TVLM_STRATEGY_COUNT] = {
    TVLM_CORE_CHOOSERS, [TVLM_STRATEGY_FOVEATED] = {NULL, tvlm_choose_foveated}};

static const struct tvlm_lab_operations reference_of_lab = {TVLM_LAB_OPERATIONS(REFERENCE_ENTRY)};
const tvlm_backend tvlm_reference_backend = {REFERENCE_ENTRIES,
                                             TVLM_LAB_GRIDS(REFERENCE_FAMILY).lab = &reference_of_lab};

tvlm_export_project_function *const tvlm_export_projector = tvlm_export_project;

tvlm_network_score_function *const tvlm_network_scorer = tvlm_score_by_network;
const tvlm_network_functions tvlm_networks = {.check = tvlm_network_check,
                                              .describe = tvlm_network_describe,
                                              .copy = tvlm_network_copy,
                                              .work = tvlm_network_work,
                                              .digest = tvlm_network_digest};
