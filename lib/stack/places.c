/* SPDX-License-Identifier: Apache-2.0 */
/*
 * places.c: reads channels at places of any kind, in launches of bounded size.
 */
#include "stack/places.h"

#include <string.h>

#include "core/memory.h"
#include "core/try.h"
#include "stack/bundle.h"
#include "stack/grids.h"
#include "stack/inside.h"
#include "stack/make.h"

/* The most bytes of results that a launch may have. It bounds the memory that a long list needs. */
#define BATCH_BYTES ((size_t)64 << 20)

typedef struct reading {
    tvlm_stack *stack;
    const tvlm_places *places;
    const int32_t *channels;
    int32_t channel_count;
    float *out;
    int32_t batch;   /* the most places of a launch */
    uint8_t *sent;   /* [batch * places->bytes]: the places of a launch, as the backend takes them */
    int32_t *origin; /* [batch]: the index of each of these places in the list */
    int32_t *refs;   /* [channel_count rounded up to 4] */
    float *received; /* [batch * (channel_count rounded up to 4)] */
} reading;

/* Collects places of `chunk`, at most a batch of them, from index *next of the list on. Sets *next to the
 * index from which to go on. */
static int32_t collect(const reading *r, const tvlm_chunk *chunk, int32_t *next) {
    const tvlm_places *const places = r->places;
    int32_t found = 0;
    for (; *next < places->count && found < r->batch; ++*next) {
        const int32_t image = places->image(places->list, *next);
        if (image < chunk->first || image >= chunk->first + chunk->images) continue;
        r->origin[found] = *next;
        places->write(r->stack, places->list, *next, chunk->first, r->sent + (size_t)found * places->bytes);
        ++found;
    }
    return found;
}

/* Runs one launch for `taken` channels, from channel `first` on. Their references are in r->refs. */
static tvlm_status launch(const reading *r, const tvlm_bundle *bundle, int32_t first, int32_t taken,
                          int32_t found, tvlm_buffer *sent) {
    const tvlm_backend *const backend = r->stack->device->backend;
    const int32_t count4 = (taken + 3) / 4, width = 4 * count4;
    const size_t bytes = (size_t)found * (size_t)width * sizeof(float);
    tvlm_buffer *results;
    for (int32_t i = taken; i < width; ++i) r->refs[i] = TVLM_REF_ZERO;
    TVLM_TRY(tvlm_stack_scratch(r->stack, TVLM_SCRATCH_SAMPLES, bytes, &results));
    TVLM_TRY(r->places->read(r->stack->device, bundle, r->refs, count4, sent, found, results));
    TVLM_TRY(backend->buffer_read(r->stack->device, results, 0, bytes, r->received));
    for (int32_t i = 0; i < found; ++i)
        memcpy(r->out + (size_t)r->origin[i] * (size_t)r->channel_count + first,
               r->received + (size_t)i * (size_t)width, (size_t)taken * sizeof(float));
    return TVLM_OK;
}

static tvlm_status read_batch(const reading *r, const tvlm_chunk *chunk, int32_t found) {
    const size_t bytes = (size_t)found * r->places->bytes;
    tvlm_buffer *sent;
    TVLM_TRY(tvlm_stack_scratch(r->stack, TVLM_SCRATCH_POINTS, bytes, &sent));
    TVLM_TRY(r->stack->device->backend->buffer_write(r->stack->device, sent, 0, bytes, r->sent));
    for (int32_t first = 0, taken; first < r->channel_count; first += taken) {
        tvlm_bundle bundle;
        tvlm_stack_bundle(r->stack, chunk->first, r->channels + first, r->channel_count - first, &bundle,
                          r->refs, &taken);
        TVLM_TRY(launch(r, &bundle, first, taken, found, sent));
    }
    return TVLM_OK;
}

static tvlm_status read_all(const reading *r) {
    const tvlm_grid_mask mask = tvlm_stack_grids_of(r->stack, r->channels, r->channel_count);
    for (int32_t i = 0; i < r->stack->chunk_count; ++i) {
        tvlm_chunk *const chunk = &r->stack->chunks[i];
        int32_t next = 0, found;
        while ((found = collect(r, chunk, &next)) > 0) {
            TVLM_TRY(tvlm_stack_ensure(r->stack, chunk, mask));
            TVLM_TRY(read_batch(r, chunk, found));
        }
    }
    return TVLM_OK;
}

tvlm_status tvlm_stack_read_places(tvlm_stack *stack, const tvlm_places *places, const int32_t *channels,
                                   int32_t channel_count, float *out) {
    const tvlm_log *const log = &stack->device->log;
    for (int32_t i = 0; i < channel_count; ++i) TVLM_TRY(tvlm_stack_check_channel(stack, channels[i]));
    if (channel_count > TVLM_LAYOUT_CHANNELS_MAX)
        return tvlm_fail(log, TVLM_ERROR_ARGUMENT, "%d channels; %d at most", (int)channel_count,
                         TVLM_LAYOUT_CHANNELS_MAX);
    const size_t width = ((size_t)channel_count + 3) / 4 * 4, fit = BATCH_BYTES / (width * sizeof(float));
    const int32_t batch = (size_t)places->count < fit ? places->count : (int32_t)fit;
    const reading r = {.stack = stack,
                       .places = places,
                       .channels = channels,
                       .channel_count = channel_count,
                       .out = out,
                       .batch = batch,
                       .sent = tvlm_allocate((size_t)batch, places->bytes),
                       .origin = tvlm_allocate((size_t)batch, sizeof *r.origin),
                       .refs = tvlm_allocate(width, sizeof *r.refs),
                       .received = tvlm_allocate((size_t)batch * width, sizeof *r.received)};
    const bool made = r.sent != NULL && r.origin != NULL && r.refs != NULL && r.received != NULL;
    tvlm_status status = TVLM_ERROR_MEMORY;
    if (made)
        status = read_all(&r);
    else
        (void)tvlm_fail(log, status, "no memory to sample %d %s", (int)places->count, places->name);
    free(r.sent);
    free(r.origin);
    free(r.refs);
    free(r.received);
    return status;
}
