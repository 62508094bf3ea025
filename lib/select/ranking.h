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

#define TVLM_TOPK_MAX (1 << 28) /* what is ranked is fewer than that */

/* tvlm_topk from and into memory of the device: k pairs as above. It only enqueues. */
tvlm_status tvlm_topk_there(tvlm_device *device, const struct tvlm_memory *scores, int32_t n, int32_t k,
                            const struct tvlm_memory *ranking);

#endif
