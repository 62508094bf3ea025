/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/packed.h: packed arrays, for lib/stack and for lib/video, which makes packed arrays of its own.
 */
#ifndef TVLM_STACK_PACKED_H
#define TVLM_STACK_PACKED_H

#include "stack/stack.h"

struct tvlm_packed {
    tvlm_device *device;
    int32_t width, height, channel_count, layers, images;
    int32_t chunk_images, chunk_count; /* as in the stack that it was packed from */
    tvlm_texture **textures;           /* [chunk_count] */
};

/* Hands out the texture that holds image `index` of a packed array. In this texture, the image has the number
 * index - *first_image. It fails with ARGUMENT if there is no such image. */
tvlm_status tvlm_packed_texture(tvlm_packed *packed, int32_t index, tvlm_texture **texture,
                                int32_t *first_image);

#endif
