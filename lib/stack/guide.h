/*
 * stack/guide.h: what is known of an image before anything is asked.
 */
#ifndef TVLM_STACK_GUIDE_H
#define TVLM_STACK_GUIDE_H

#include "stack/inside.h"

/*
 * The guide of image `index` for those cells, made if need be; `features` (NULL: none) are those whose means
 * it has. It waits for whatever it is made of, once; valid until the stack changes.
 */
tvlm_status tvlm_stack_guide(tvlm_stack *stack, int32_t index, const tvlm_candidates *cells,
                             const tvlm_features *features, bool embedded, const tvlm_guide **guide);

/* guide_means.c: of the vectors of `features`, [height * width] labels of which are given. */
tvlm_status tvlm_guide_means(tvlm_stack *stack, const tvlm_features *features, const int32_t *labels,
                             tvlm_guide *guide);

void tvlm_guide_release(tvlm_guide *guide);

#endif
