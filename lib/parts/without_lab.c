/* SPDX-License-Identifier: Apache-2.0 */
/*
 * without_lab.c: the tables of a build without the lab. What the lab would do is left empty, and is refused where
 * it is asked for.
 */
#include "core/learned.h"
#include "export/inside.h"
#include "reference/reference.h"
#include "select/choose.h"
#include "select/score.h"

const tvlm_chooser tvlm_choosers[TVLM_STRATEGY_COUNT] = {TVLM_CORE_CHOOSERS};

const tvlm_backend tvlm_reference_backend = {REFERENCE_ENTRIES};

tvlm_export_project_function *const tvlm_export_projector = NULL;

tvlm_network_score_function *const tvlm_network_scorer = NULL;
const tvlm_network_functions tvlm_networks = {.check = NULL};
