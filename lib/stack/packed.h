/*
 * stack/packed.h: packed arrays.
 */
#ifndef TVLM_STACK_PACKED_H
#define TVLM_STACK_PACKED_H

#include "stack/inside.h"

/* The texture that holds image `index` of a packed array, as number index - *first_image. */
tvlm_status tvlm_packed_texture(tvlm_packed *packed, int32_t index, tvlm_texture **texture,
                                int32_t *first_image);

#endif
