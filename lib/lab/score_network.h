/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lab/score_network.h: scorers that are networks (texturevlm/score.h).
 */
#ifndef TVLM_LAB_SCORE_NETWORK_H
#define TVLM_LAB_SCORE_NETWORK_H

#include "select/score.h"

tvlm_network_score_function tvlm_score_by_network;

#endif
