/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/ranking.h: the K largest of many.
 */
#ifndef TVLM_SELECT_RANKING_H
#define TVLM_SELECT_RANKING_H

#include <stdint.h>

/* One entry of a ranking, as backend->topk writes it. */
typedef struct tvlm_ranked {
    int32_t index;
    float score;
} tvlm_ranked;

#define TVLM_TOPK_MAX (1 << 28) /* what is ranked is fewer than that */

#endif
