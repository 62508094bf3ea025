/*
 * Any channels at any points. Points are sent chunk by chunk, channels bundle by bundle; results are put
 * together on the host.
 */
#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "stack/stack.h"

/* Bytes of results per launch: bounds the memory of a long list. */
#define BATCH_BYTES ((size_t)64 << 20)

/*
 * Infinities end here. Clamping to the edge is the reader's: each grid has an edge of its own, and a cell
 * grid's lies beyond the image's.
 */
#define FAR 1e9f

typedef struct sampling {
    tvlm_stack *stack;
    const tvlm_sample_point *points;
    int32_t count;
    const int32_t *channels;
    int32_t channel_count;
    float *out;
    int32_t batch;    /* points per launch, at most */
    tvlm_point *sent; /* [batch] */
    int32_t *origin;  /* [batch] which of points[] each is */
    int32_t *refs;    /* [channel_count rounded up to 4] */
    float *received;  /* [batch * (channel_count rounded up to 4)] */
} sampling;

static tvlm_status check_points(const tvlm_stack *stack, const tvlm_sample_point *points, int32_t count) {
    for (int32_t i = 0; i < count; ++i) {
        const tvlm_sample_point *p = &points[i];
        if (isnan(p->x) || isnan(p->y) || isnan(p->level))
            return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "point %d is not a number", (int)i);
        TVLM_TRY(tvlm_stack_check_index(stack, p->index));
    }
    return TVLM_OK;
}

static float between(float value, float low, float high) {
    return fminf(fmaxf(value, low), high);
}

/* Collects the points of `chunk` from *next on, at most a batch; *next is where to go on. */
static int32_t collect(const sampling *s, const tvlm_chunk *chunk, int32_t *next) {
    const tvlm_stack *stack = s->stack;
    int32_t found = 0;
    for (; *next < s->count && found < s->batch; ++*next) {
        const tvlm_sample_point *p = &s->points[*next];
        if (p->index < chunk->first || p->index >= chunk->first + chunk->images) continue;
        s->origin[found] = *next;
        s->sent[found] = (tvlm_point){between(p->x, -FAR, FAR), between(p->y, -FAR, FAR),
                                      between(p->level, 0.0f, (float)(stack->levels - 1)),
                                      (float)(p->index - chunk->first)};
        ++found;
    }
    return found;
}

/* One launch: `taken` channels from `first` on, whose references are in s->refs. */
static tvlm_status launch(const sampling *s, const tvlm_bundle *bundle, int32_t first, int32_t taken,
                          int32_t found, tvlm_buffer *points) {
    const tvlm_backend *backend = s->stack->device->backend;
    const int32_t count4 = (taken + 3) / 4, width = 4 * count4;
    const size_t bytes = (size_t)found * (size_t)width * sizeof(float);
    tvlm_buffer *results;
    for (int32_t i = taken; i < width; ++i) s->refs[i] = TVLM_REF_ZERO;
    TVLM_TRY(tvlm_stack_scratch(s->stack, TVLM_SCRATCH_SAMPLES, bytes, &results));
    TVLM_TRY(backend->sample(s->stack->device, bundle, s->refs, count4, points, found, results));
    TVLM_TRY(backend->buffer_read(s->stack->device, results, 0, bytes, s->received));
    for (int32_t i = 0; i < found; ++i)
        memcpy(s->out + (size_t)s->origin[i] * (size_t)s->channel_count + first,
               s->received + (size_t)i * (size_t)width, (size_t)taken * sizeof(float));
    return TVLM_OK;
}

static tvlm_status sample_batch(const sampling *s, const tvlm_chunk *chunk, int32_t found) {
    const size_t bytes = (size_t)found * sizeof *s->sent;
    tvlm_buffer *points;
    TVLM_TRY(tvlm_stack_scratch(s->stack, TVLM_SCRATCH_POINTS, bytes, &points));
    TVLM_TRY(s->stack->device->backend->buffer_write(s->stack->device, points, 0, bytes, s->sent));
    for (int32_t first = 0, taken; first < s->channel_count; first += taken) {
        tvlm_bundle bundle;
        tvlm_stack_bundle(s->stack, chunk, s->channels + first, s->channel_count - first, &bundle, s->refs,
                          &taken);
        TVLM_TRY(launch(s, &bundle, first, taken, found, points));
    }
    return TVLM_OK;
}

static tvlm_status sample_all(const sampling *s) {
    const tvlm_grid_mask mask = tvlm_stack_grids_of(s->stack, s->channels, s->channel_count);
    for (int32_t i = 0; i < s->stack->chunk_count; ++i) {
        tvlm_chunk *chunk = &s->stack->chunks[i];
        int32_t next = 0;
        for (;;) {
            const int32_t found = collect(s, chunk, &next);
            if (found == 0) break;
            TVLM_TRY(tvlm_stack_ensure(s->stack, chunk, mask));
            TVLM_TRY(sample_batch(s, chunk, found));
        }
    }
    return TVLM_OK;
}

static tvlm_status fail_memory(const tvlm_stack *stack, int32_t count) {
    return tvlm_fail(&stack->device->log, TVLM_ERROR_MEMORY, "no memory to sample %d points", (int)count);
}

tvlm_status tvlm_stack_sample(tvlm_stack *stack, const tvlm_sample_point *points, int32_t count,
                              const int32_t *channels, int32_t channel_count, float *out) {
    if (stack == NULL || count < 0 || channel_count < 0) return TVLM_ERROR_ARGUMENT;
    if (count == 0 || channel_count == 0) return TVLM_OK;
    if (points == NULL || channels == NULL || out == NULL) return TVLM_ERROR_ARGUMENT;
    for (int32_t i = 0; i < channel_count; ++i) TVLM_TRY(tvlm_stack_check_channel(stack, channels[i]));
    if (channel_count > TVLM_LAYOUT_CHANNELS_MAX)
        return tvlm_fail(&stack->device->log, TVLM_ERROR_ARGUMENT, "%d channels; %d at most",
                         (int)channel_count, TVLM_LAYOUT_CHANNELS_MAX);
    TVLM_TRY(check_points(stack, points, count));
    const size_t width = ((size_t)channel_count + 3) / 4 * 4;
    const size_t fit = BATCH_BYTES / (width * sizeof(float));
    sampling s = {.stack = stack,
                  .points = points,
                  .count = count,
                  .channels = channels,
                  .channel_count = channel_count};
    s.out = out;
    s.batch = (size_t)count < fit ? count : (int32_t)fit;
    s.sent = tvlm_allocate((size_t)s.batch, sizeof *s.sent);
    s.origin = tvlm_allocate((size_t)s.batch, sizeof *s.origin);
    s.refs = tvlm_allocate(width, sizeof *s.refs);
    s.received = tvlm_allocate((size_t)s.batch * width, sizeof *s.received);
    const bool made = s.sent != NULL && s.origin != NULL && s.refs != NULL && s.received != NULL;
    const tvlm_status status = made ? sample_all(&s) : fail_memory(stack, count);
    free(s.sent);
    free(s.origin);
    free(s.refs);
    free(s.received);
    return status;
}
