/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack/places.h: channels read at places of any kind, such as points (sample.c).
 */
#ifndef TVLM_STACK_PLACES_H
#define TVLM_STACK_PLACES_H

#include "stack/stack.h"

/* The operation of the backend that reads the places, such as its `sample`. */
typedef tvlm_status tvlm_places_reader(tvlm_device *device, const tvlm_bundle *bundle, const int32_t *refs,
                                       int32_t count4, tvlm_buffer *places, int32_t count, tvlm_buffer *out);

/* A list of places. */
typedef struct tvlm_places {
    const char *name; /* what messages call them, such as "points" */
    const void *list; /* [count], in a form that `image` and `write` know */
    int32_t count;
    /* Returns the image that place i lies in. */
    int32_t (*image)(const void *list, int32_t i);
    /* Writes place i, which takes `bytes` bytes, as the backend wants it for a chunk whose first image is
     * `first`. */
    void (*write)(const tvlm_stack *stack, const void *list, int32_t i, int32_t first, void *place);
    size_t bytes;
    tvlm_places_reader *read;
} tvlm_places;

/*
 * Reads the channels at the places: out[place][channel]. The channels are checked here. The caller has
 * checked the list; neither the list nor the channels are empty. Places are sent chunk by chunk, and channels
 * bundle by bundle. The results are put together on the host.
 */
tvlm_status tvlm_stack_read_places(tvlm_stack *stack, const tvlm_places *places, const int32_t *channels,
                                   int32_t channel_count, float *out);

#endif
