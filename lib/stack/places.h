/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.h: channels read at places of any kind: points (sample.c) and footprints (footprint.c).
 */
#ifndef TVLM_STACK_PLACES_H
#define TVLM_STACK_PLACES_H

#include "stack/stack.h"

/* What the backend does at them: its `sample` or `footprint`. */
typedef tvlm_status tvlm_places_reader(tvlm_device *device, const tvlm_bundle *bundle, const int32_t *refs,
                                       int32_t count4, tvlm_buffer *places, int32_t count, tvlm_buffer *out);

typedef struct tvlm_places {
    const char *name; /* "points", for messages */
    const void *list; /* of `count`, in whatever form the two functions know */
    int32_t count;
    int32_t (*image)(const void *list, int32_t i);
    /* The i-th, `bytes` large, as the backend takes it from a chunk whose first image is `first`. */
    void (*write)(const tvlm_stack *stack, const void *list, int32_t i, int32_t first, void *place);
    size_t bytes;
    tvlm_places_reader *read;
} tvlm_places;

/*
 * out[place][channel]. Places are sent chunk by chunk, channels bundle by bundle; results are put together on
 * the host. The list is checked, and neither it nor the channels are empty.
 */
tvlm_status tvlm_stack_read_places(tvlm_stack *stack, const tvlm_places *places, const int32_t *channels,
                                   int32_t channel_count, float *out);

#endif
