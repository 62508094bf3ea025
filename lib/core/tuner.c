/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner.c: the names of what is tuned.
 */
#include "core/tuner.h"

#define TUNED_NAME(ID, name, ...) [TVLM_GRID_##ID] = #name,
static const char *const names[TVLM_TUNED_COUNT] = {TVLM_GENERATED_GRIDS(TUNED_NAME) /* */
                                                        [TVLM_TUNED_SOURCE] = "source",
                                                    [TVLM_TUNED_LEVELS] = "levels",
                                                    [TVLM_TUNED_PACK] = "pack",
                                                    [TVLM_TUNED_SCORE] = "score",
                                                    [TVLM_TUNED_TOPK] = "topk",
                                                    [TVLM_TUNED_PATCHES] = "patches",
                                                    [TVLM_TUNED_FEATURES] = "similarity",
                                                    [TVLM_TUNED_PRODUCTS] = "products",
                                                    [TVLM_TUNED_LOSSES] = "losses",
                                                    [TVLM_TUNED_FLOW] = "flow",
                                                    [TVLM_TUNED_EXPORT] = "export"};
#undef TUNED_NAME

const char *tvlm_tuned_name(int32_t stage) {
    return stage >= 0 && stage < TVLM_TUNED_COUNT ? names[stage] : NULL;
}
