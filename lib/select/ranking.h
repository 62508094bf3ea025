/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select/ranking.h: the K largest of many.
 */
#ifndef TVLM_SELECT_RANKING_H
#define TVLM_SELECT_RANKING_H

#include <stdint.h>

#include "texturevlm/device.h"

/* One entry of a ranking, as backend->topk writes it. */
typedef struct tvlm_ranked {
    int32_t index;
    float score;
} tvlm_ranked;

/* The order of a ranking, for qsort: the largest score first, of equal scores the lower index, and NaN
 * last. */
int tvlm_ranked_compare(const void *a, const void *b);

#define TVLM_TOPK_MAX (1 << 28) /* fewer scores than this can be ranked */

/* tvlm_topk from and into memory of the device. The ranking becomes k entries as above. It only enqueues. */
tvlm_status tvlm_topk_there(tvlm_device *device, const struct tvlm_memory *scores, int32_t n, int32_t k,
                            const struct tvlm_memory *ranking);

#endif
